"""Truth values of Python's own numbers are Python's: there is one True, and two of them add up to 2.

What plain Python computes is the reference, for a Python float, a NumPy scalar and a 0-d array.
"""

import numpy as np
import pytest

import wengert as wg


def is_true(x):
    return x * (2 if (x > 0) is True else 3)


def is_not_false(x):
    positive = bool(x > 0)
    return x * 2 if positive is not False else x * 3


def is_another(x):
    return x * (2 if bool(x > 0) is bool(x > 1) else 3)


def negated(x):
    return x * (2 if (not x) is False else 3)


def equal(x):
    return x * (2 if (x == 1.5) is True else 3)


def unlike_text(x):
    return x * (2 if (x == "a") is False else 3)


def counted(x):
    return x * ((x > 0) + (x < 5))


def subtracted(x):
    return x * ((x > 0) - (x < -5))


LOW, HIGH = 0, 1


def counted_with_names(x):
    """Comparisons with what is no literal."""
    low = -5
    return x * ((x > LOW) + (x > HIGH) + (x > low) + (x > LOW) + (x == 1.5 * HIGH) + (x != LOW) + (x <= HIGH + 2))


def subtracted_with_names(x):
    return x * ((x >= LOW) - (x == HIGH) - (x < -HIGH))


def minus(x):
    return x * -(x > 0)


def inverted(x):
    return x * ~(x > 0)


def to_a_power(x):
    return x * (x > 0) ** 2


def chained(x):
    return x * (2 if (0 < x < 5) is True else 3)


def class_of(x):
    return x * (2 if (x > 0).__class__ is bool else 3)


def small_integer(x):
    n = 0
    while n < x:
        n += 1
    return x * (5 if n is 2 else 7)  # noqa: F632


def of_branches(x):
    if x * x > 2:
        high = x > 1
    else:
        high = x > 3
    return x * (2 if high is True else 3)


def of_loops(x):
    found = False
    for k in range(20):
        found = x > k - 7
    found = bool(found)
    for _ in range(10):
        found = not found
    return x * (2 if found is False else 3)


def of_functions(x):
    def decide(x):
        if x < 0:
            return x > -1
        return x > 1

    return x * (2 if decide(x) is True else 3) + x * (decide(x) + decide(x + 1))


def is_in(x):
    near = round(x) in (0, 2, 3)
    return x * (2 if near is True else 3) + x * (near + (x in [1.5]))


def is_in_others(x):
    k = round(x)
    answers = (k in {2: 1}, k in range(3), k in {2, 5}, x in np.array([1.5]), k not in [2])
    return x * sum(2**i for i, answer in enumerate(answers) if isinstance(answer, bool) and answer is True)


def of_any_and_all(x):
    some, every = any([x > 9, x > 1]), all([x > 0, x < 9])
    return x * (2 if some is True else 3) * (5 if every is True else 7)


PROGRAMS = [
    is_in, is_in_others, of_any_and_all,
    is_true, is_not_false, is_another, negated, equal, unlike_text, counted, subtracted, counted_with_names,
    subtracted_with_names, minus, inverted, to_a_power,
    chained, class_of, small_integer, of_branches, of_loops, of_functions,
]  # fmt: skip
PLACEMENTS = {
    "plain": lambda f: f,
    "jit": wg.jit,
    "jvp": lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[0],
    "grad": lambda f: lambda x: wg.grad(f)(x) * x,  # each program is linear near the point
    "jit(grad)": lambda f: lambda x: wg.jit(wg.grad(f))(x) * x,
}


def outcome(f, x):
    try:
        return float(f(x))
    except TypeError:  # NumPy's truth values have no minus
        return TypeError


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("placement", list(PLACEMENTS)[1:])
def test_as_in_python(program, placement):
    for x in (1.5, -1.5, np.float64(1.5)):
        assert outcome(PLACEMENTS[placement](program), x) == outcome(program, x), repr(x)


def test_match_of_a_truth_value():
    def f(x):
        match x > 0:
            case True:
                return 2 * x
        return 3 * x

    for x in (1.5, -1.5, np.float64(1.5)):
        assert wg.grad(f)(x) == f(x) / x == wg.jit(f)(x) / x


def test_match_of_what_is_in_a_tuple():
    def f(x, n):
        match (n in (0, 2, 3), n % 2):
            case (True, 0):
                return x
            case (False, k):
                return x * (k + 1)
            case _:
                return x * 3

    xs, ns = np.array([1.5, -0.5, 2.5, 3.5]), np.array([0, 1, 2, 3])
    expected = [f(x, n) for x, n in zip(xs, ns, strict=True)]
    for compiled in (wg.vmap(wg.jit(f)), wg.jit(wg.vmap(f)), wg.vmap(f)):
        np.testing.assert_array_equal(compiled(xs, ns), expected)
    np.testing.assert_array_equal([wg.jit(f)(x, n) for x, n in zip(xs, ns, strict=True)], expected)
    np.testing.assert_array_equal(wg.vmap(wg.jit(wg.grad(f)))(xs, ns), expected / xs)
