"""Values that are None or not, depending on what only the compiled program knows: `jit(f)` is `f`."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError

# ------------------------------------------------------------------------------------------------------ the programs


def no_return_at_the_end(x):
    if x > 1:
        return 2 * x
    elif x < -1:
        return x * x


def helper(x):
    if x > 1:
        return np.sin(x)
    return None


def looks_at_a_result(x):
    y = helper(x)
    if y is None:
        return 3 * x
    return y * x


def not_none(x):
    y = helper(x)
    return y * x if y is not None else 3 * x


def equals_none(x):
    y = helper(x)
    if y == None:  # noqa: E711
        return 3 * x
    return y


def differs_from_none(x):
    y = helper(x)
    if y != None and y > 0.5:  # noqa: E711
        return y
    return 5 * x


def the_other_way_round(x):
    y = helper(x)
    if None is not y:
        return y
    return 5 * x


def truth(x):
    y = None
    if x > 0:
        y = x - 1
    if y:
        return y * 2
    return -x


def negated(x):
    y = None
    if x > 0:
        y = x - 1
    if not y:
        return x * 7
    return y


def or_else(x):
    y = None
    if x > 0:
        y = x - 1
    y = y or 4.5
    return y * x


def and_then(x):
    y = None
    if x > 0:
        y = x - 1
    z = y and y * 3
    if z is None:
        return -100.0
    return z + 1


def instance(x):
    y = helper(x)
    if isinstance(y, type(None)):
        return x
    return y if isinstance(y, float) else 8.0


def bracket(x):
    a = b = None
    for k in range(6):
        f = x - k
        if f < 0:
            a = x + k
        else:
            b = x * k
    if a is not None and b is not None:
        return a * b
    if a is None:
        return b - 1
    return a + 1


def uses_none(x):
    y = helper(x)
    return y + 1


def uses_none_reflected(x):
    return 2.0 * helper(x)


def uses_none_in_numpy(x):
    return np.exp(helper(x))


def uses_none_in_math(x):
    return math.exp(helper(x))


def uses_none_in_a_list(x):
    return np.sum(np.array([helper(x), x]))


def uses_none_unary(x):
    return -helper(x)


def uses_none_in_a_comparison(x):
    y = helper(x)
    return 1.0 if y > 0 else 2.0


def stored_in_an_array(x):
    a = np.zeros(3)
    if (y := helper(x)) is not None:
        a[1] = y
    return a


def in_a_list(x):
    kept = [None, 2.0]
    if x > 0:
        kept[0] = x
    kept.append(helper(x))
    return 1.0 + x if kept[0] is None else kept[0] * kept[1] if kept[2] is None else kept[2]


def in_a_dict(x):
    d = {"a": helper(x)}
    d["b"] = None if x > 2 else x
    if d["a"] is None:
        return d["b"]
    if d.get("b") is None:
        return d["a"]
    return d["a"] + d["b"]


class Phase:
    def __init__(self, rho=None):
        self.rho = rho

    def density(self):
        return 1.0 if self.rho is None else self.rho


def in_an_attribute(x):
    phase = Phase()
    if x > 1:
        phase.rho = x * x
    return phase.density() * 2


def in_a_constructor(x):
    return Phase(helper(x)).density()


@dataclasses.dataclass
class Record:
    value: float | None = None


def in_a_dataclass(x):
    r = Record(helper(x))
    return x if r.value is None else r.value


def with_default(x, y=None):
    if y is None:
        return x
    return x + y


def passed_on(x):
    return with_default(x, helper(x))


def merged_again(x):
    y = helper(x)
    if x < -1:
        y = x * 3
    elif x < -3:
        y = None
    return 11.0 if y is None else y


def set_back_to_none(x):
    y = x
    if x > 2:
        y = None
    if x < 0:
        y = None
    return y


def a_pair_or_none(x):
    p = None
    if x > 0:
        p = (x, 2 * x)
    if p is None:
        return x
    a, b = p
    return a * b


def in_a_result(x):
    return {"y": helper(x), "x": [x, helper(-x)]}


def an_array_or_none(x):
    v = None
    if x > 0:
        v = np.array([x, 2.0, 3.0])
    if v is None:
        return 0.0 * x
    return np.sum(v * v) + v[1]


def equal_to_a_number(x):
    y = helper(x) if x < 3 else 4.0
    return 1.0 if y == 4.0 else 2.0


def only_one_branch_goes_on(x):
    nothing = None
    if x > 3 and nothing and nothing.attribute:
        y = 2.0
    else:
        y = x
    if x > 3.5:
        z = nothing.attribute
    else:
        z = x
    return y * z


def in_a_chain(x):
    y = helper(x)
    z = None
    return 1.0 if y is z is None else 2.0


def of_a_loop(x):
    last = None
    n = 0
    while x > 1:
        if x > 3:
            last = x
        x = x / 2
        n += 1
    return n if last is None else last


def taken_and_given_back(x):
    held, s = None, 0.0
    for k in range(9):
        if held is None:
            held = x * k
        else:
            s = s + held * k
            held = None
    return s + held


def in_a_generator(x):
    y = helper(x)

    def items():
        yield 1.0
        yield x

    return sum(items()) if y is None else y


def a_lambda(x):
    y = helper(x)
    return (lambda: 2.0 if y is None else y)()


def reads_an_attribute(x):
    return helper(x).real


def another_name(x):
    a, b = np.zeros(3), None
    if x > 1:
        b = a
    if b is not None:
        b[0] = x
    return a


def another_name_in_a_loop(x):
    a, b = np.zeros(3), None
    for k in range(7):
        if x > k:
            b = a
        if b is not None:
            b[0] += x
    return a


def made_in_a_loop(x):
    b = None
    for k in range(6):
        if x * k > 3 and b is None:
            b = np.zeros(3)
        if b is not None:
            b[1] += x * k
    return b


def until_none(x):
    n, y = 0, x
    while y is not None:
        n += 1
        y = y - 1 if y > 1 else None
    return n


def in_a_message(x):
    y = helper(x)
    if x < -3:
        raise TypeError(f"{y} is {y!r}, None")
    return x


def any_of_them(x):
    return 1.0 if any(v is None for v in [helper(x), x]) else 2.0


def number_or_one(v):
    return 1.0 if v is None else v


def mapped(x):
    return list(map(number_or_one, [helper(x), x]))


def largest(x):
    return max(helper(x), x)


class Wrapped:
    def __init__(self, value=None):
        self._value = value

    @property
    def value(self):
        return 0.0 if self._value is None else self._value

    def __add__(self, other):
        return Wrapped(None if self._value is None or other is None else self._value + other)


def with_operators(x):
    return (Wrapped(x) + helper(x)).value


def by_keyword(x):
    def g(*args, **options):
        return 0.0 if options["y"] is None or args[0] is None else args[0] + options["y"]

    return g(helper(x), y=helper(x + 1))


def grown(x):
    kept = []
    for k in range(6):
        kept.append(None if x > k else x * k)
    return sum(1.0 if v is None else v for v in kept)


def tuples_in_a_loop(x):
    t = (None, x)
    for k in range(6):
        if x > k:
            t = (x * k, t[0])
    return t


def derivative_inside(x):
    b = helper(x)
    return wg.grad(lambda t: t * t if b is None else t * b)(x)


def bisection(x):
    low = high = None
    for _ in range(50):
        if low is not None and high is not None and high - low < 1e-3:
            break
        middle = 0.5 * (low + high) if low is not None and high is not None else x if low is None else low * 2 + 1
        if middle * middle < 7:
            low = middle
        else:
            high = middle
        if low is None:
            x = x - 1
    return low


def added_to(x):
    y = helper(x)
    y += 1
    return y


def zero_for_none(x):
    return 1.0 if (helper(x) or 0.0) == 0.0 else 2.0


NUMBERS = (-4.0, -1.0, 0.5, 1.0, 1.5, 2.5, 4.5)


def bounded(x):
    return np.clip(x, None if x > 2 else 1.25, 4.0)


def is_false(x):
    flag = None
    if x > 0:
        flag = x > 2
    return 2 * x if flag is False else 3 * x if flag is True else 4 * x


def integer_or_float(x):
    k = None
    if x > 0:
        k = 1
    if x > 2:
        k = x
    return k


def written_in_place(x):
    a = np.ones(2) * x if x > 0 else None
    a += 1
    b = a
    b *= x
    return a


def filtered(x):
    found = [None, None]
    for k in range(4):
        if x > k:
            found[k % 2] = x * k
    return sum([v for v in found if v is not None])


OF_NUMBERS = [
    no_return_at_the_end, looks_at_a_result, not_none, equals_none, differs_from_none, the_other_way_round, truth,
    negated, or_else, and_then, instance, bracket, uses_none, uses_none_reflected, uses_none_in_numpy,
    uses_none_in_math, uses_none_unary, uses_none_in_a_comparison, stored_in_an_array, in_a_list, in_a_dict,
    in_an_attribute, in_a_constructor, in_a_dataclass, passed_on, merged_again, set_back_to_none, a_pair_or_none,
    in_a_result, an_array_or_none, equal_to_a_number, in_a_chain, only_one_branch_goes_on, of_a_loop,
    taken_and_given_back, in_a_generator, a_lambda, reads_an_attribute, another_name, another_name_in_a_loop,
    made_in_a_loop, until_none, in_a_message, any_of_them, mapped, largest, with_operators, by_keyword, grown,
    tuples_in_a_loop, derivative_inside, bisection, added_to, zero_for_none, bounded, is_false, integer_or_float,
    written_in_place, filtered,
]  # fmt: skip


def smallest(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best


def smallest_positive(xs):
    best = None
    for x in xs:
        if x > 0 and (best is None or x < best):
            best = x
    return best


def place_of_the_first(xs):
    found = None
    for k in range(len(xs)):
        if found is None and xs[k] > 0:
            found = k
    return -1 if found is None else found


def with_break(xs):
    found = None
    for x in xs:
        if x > 2:
            found = x * x
            break
    if found is None:
        return xs[0]
    return found


def last_two(xs):
    before = now = None
    for x in xs:
        if x > 0:
            before, now = now, x
    if before is None:
        return now
    return now - before


def in_an_object(xs):
    phase = Phase()
    for x in xs:
        if x > 0:
            phase.rho = x if phase.rho is None else phase.rho + x
    return phase.density()


def rows(xs):
    kept = None
    for k in range(len(xs)):
        if xs[k] > 0:
            kept = xs[:3] * xs[k]
    return xs[0] if kept is None else np.sum(kept)


ARRAYS = ([1.0, -1, 2, -3, -4, 5], [-1.0, -2, -3, -4, -5, -6], [-1.0, -1, -1, -1, 0.25, 0.125], [3.0, 2, 1, 4, 5, 6])
OF_ARRAYS = [
    smallest, smallest_positive, place_of_the_first, with_break, last_two, in_an_object, rows,
]  # fmt: skip
CASES = [(f, x) for f in OF_NUMBERS for x in NUMBERS] + [(f, np.array(x)) for f in OF_ARRAYS for x in ARRAYS]


def same(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return np.allclose(a, b, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("f", "x"), CASES)
def test_as_in_python(f, x):
    try:
        expected = f(x)
    except (TypeError, AttributeError) as error:
        with pytest.raises(type(error), match=r"None"):
            wg.jit(f)(x)
    else:
        assert same(wg.jit(f)(x), expected)


def difference(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


DIFFERENTIABLE = [looks_at_a_result, or_else, and_then, in_an_attribute, in_a_constructor, merged_again, a_pair_or_none,
                  an_array_or_none, passed_on, bracket]  # fmt: skip


@pytest.mark.parametrize("f", DIFFERENTIABLE)
@pytest.mark.parametrize("x", [-2.1, 0.6, 1.7, 4.6])
def test_derivatives(f, x):
    expected = difference(f, x)
    for derivative in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jit(wg.grad(wg.jit(f)))):
        np.testing.assert_allclose(derivative(x), expected, rtol=1e-6, atol=1e-8)
    dot = wg.jit(lambda x: wg.jvp(f, (x,), (1.0,))[1])(x)
    np.testing.assert_allclose(dot, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", DIFFERENTIABLE)
def test_examples_that_differ(f):
    x = np.array([-2.1, 0.6, 1.7, 4.6])
    expected = [f(t) for t in x]
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(x), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.vmap(wg.jit(f))(x), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(x), [difference(f, t) for t in x], rtol=1e-6, atol=1e-8)


def test_garbage_contributes_nothing():
    def f(x):
        y = None
        if x > 0:
            y = np.log(x)
        return x * x if y is None else y

    assert wg.jit(wg.grad(f))(-3.0) == -6.0
    assert wg.grad(wg.jit(f))(-3.0) == -6.0
    assert wg.jit(wg.grad(f))(0.5) == 2.0


@pytest.mark.parametrize("transformed", [wg.jit(wg.grad(helper)), wg.jit(lambda x: wg.value_and_grad(helper)(x)[1])])
def test_the_derivative_of_none(transformed):
    assert transformed(1.5) == pytest.approx(math.cos(1.5))
    with pytest.raises(TypeError, match="None"):
        transformed(0.5)


def test_one_example_that_is_none():
    np.testing.assert_allclose(wg.jit(wg.vmap(helper))(np.array([1.5, 2.0])), np.sin([1.5, 2.0]))
    with pytest.raises(TypeError, match="None"):
        wg.jit(wg.vmap(helper))(np.array([1.5, 0.0]))


def test_jit_in_jit():
    inner = wg.jit(helper)
    f = wg.jit(lambda x: x if inner(x) is None else inner(x))
    assert f(0.5) == 0.5
    assert f(1.5) == pytest.approx(math.sin(1.5))


def test_printed(capsys):
    @wg.jit
    def f(x):
        y = helper(x)
        print("y:", y)
        return x

    f(0.5)
    assert capsys.readouterr().out == "y: None\n"


# ---------------------------------------------------------------------------------------------- what cannot be known


def matched(x):
    match helper(x):
        case None:
            return x
        case _:
            return 2 * x


def key(x):
    return {None: 1.0}.get(helper(x), 2.0)


def evaluated(x):
    y = helper(x)  # noqa: F841
    return eval("1.0 if y is None else 2.0")


def compared_as_part(x):
    return 1.0 if [helper(x)] == [None] else 2.0


@pytest.mark.parametrize("f", [matched, compared_as_part, evaluated])
def test_matched(f):
    for x in (0.5, -0.5, 1.5, 2.5):
        assert wg.jit(f)(x) == f(x)


def test_refused_only_where_it_is_a_number():
    compiled = wg.jit(key)
    outcomes = {}
    for x in (0.5, -0.5, 2.5):
        try:
            outcomes[x] = compiled(x) == key(x)
        except WengertError as refusal:
            outcomes[x] = "used as a key of a dict" in str(refusal) and helper(x) is not None
    assert all(outcomes.values()), outcomes
    with pytest.raises(WengertError, match=r"(?s)used as a key of a dict.*remedy"):
        compiled(next(x for x in outcomes if helper(x) is not None))


def test_a_caught_error():
    def f(x):
        y = helper(x)
        try:
            return y + 1
        except TypeError:
            return x

    compiled = wg.jit(f)
    for x in (0.5, -0.5, 1.5, 2.5):
        assert compiled(x) == f(x)
        assert wg.grad(compiled)(x) == wg.grad(f)(x)


def test_whether_none_is_in_a_list():
    def f(x):
        return 1.0 if None in [helper(x), x] else 2.0

    for x in (0.5, -0.5, 2.0):
        assert wg.jit(f)(x) == f(x)
