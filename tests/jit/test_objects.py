"""Lists, dicts, tuples and instances that change in loops and branches which are staged: compiled, everybody who holds
one sees what plain Python shows."""

from __future__ import annotations

import collections
import dataclasses
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from jit.everywhere import agrees, close, value

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.5, 1.5, 2.5])


class Filter:
    def __init__(self, a):
        self.a, self.state, self.log = a, 0.0, []

    def __call__(self, u):
        self.state = self.a * self.state + u
        self.log.append(self.state)
        return self.state


class Body:
    def __init__(self, k):
        self.k, self.x, self.v, self.steps = k, 1.0, 0.0, 0

    def step(self, h):
        self.v -= h * self.k * self.x
        self.x += h * self.v
        self.steps += 1


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class State:
    x: Any
    v: Any

    def moved(self, h):
        return State(self.x + h * self.v, self.v - h * self.x)


def rebound_dict(x):
    p = {"a": x, "b": np.ones(2) * x}
    for _ in range(30):
        p = {k: v - 0.1 * v for k, v in p.items()}
    return p["a"] + p["b"].sum()


def rebound_list(x):
    p = [x, 2.0 * x]
    for _ in range(10):
        g = [2.0 * w for w in p]
        p = [w - 0.1 * d for w, d in zip(p, g, strict=True)]
    return p[0] * p[1]


def rebound_nested(x):
    p = {"layers": [(x, x * 2), (x * 3, 1.0)], "scale": 0.5}
    for _ in range(9):
        p = {"layers": [(w * 0.9, b + p["scale"]) for w, b in p["layers"]], "scale": p["scale"] * 0.5}
    return sum(w * b for w, b in p["layers"])


def rebound_named_tuple(x):
    p = Pair(x, 1.0)
    for _ in range(8):
        p = Pair(p.second, p.first * 0.5 + p.second)
    return p.first * p.second


def rebound_dataclass(x):
    s = State(x, 0.5)
    for _ in range(12):
        s = s.moved(0.1)
    return s.x * s.v


def rebound_instance(x):
    s = Slotted(x, [1.0, x])
    for _ in range(12):
        s = Slotted(s.a * 0.9, [s.b[1], s.b[0] * s.a])
    return s.a + s.b[0] - 3 * s.b[1]


def attributes(k):
    body = Body(k)
    for _ in range(20):
        body.step(0.1)
    return body.x * body.v + body.steps


def attributes_of_two(k):
    one, two = Body(k), Body(2.0)
    for _ in range(12):
        one.step(0.1)
        two.k = one.x
        two.step(0.05)
    return two.x + one.v


def shared_object(k):
    body = Body(k)
    holders = [body, body]
    for i in range(10):
        holders[0].x = holders[1].x * 0.9 + body.v
        body.v = body.v + 0.01 * i
    return holders[1].x + body.v


def attributes_in_while(k):
    body = Body(k)
    while body.x > 0.5:
        body.step(0.05)
    return body.v + body.steps * 0.0


def attributes_in_branch(x):
    body = Body(x)
    if x > 1.0:
        body.x = x * x
    else:
        body.v = x
        body.x = 3.0
    return body.x + 2 * body.v


def filtered(a):
    filt = Filter(a)
    total = 0.0
    for i in range(8):
        total = total + filt(float(i))
    return total + len(filt.log) + filt.log[3]


def entries(x):
    d = {"a": x, "n": 0}
    e = d
    for i in range(10):
        d["a"] += e["a"] * 0.1
        e["n"] += i
    return d["a"] * d["n"]


def two_names(x):
    a = [0.0, 0.0]
    b = a
    for _ in range(10):
        a[0] = a[0] + x
        a[1] = b[0] * b[0]
    return b[1] + a[0]


def in_a_branch(x):
    a = [x, 1.0]
    b = a
    if x > 1.0:
        a[0] = x * x
        a[1] = b[0] + 1.0
    return b[0] * b[1]


def list_of_arrays(x):
    rows = [x.copy(), np.zeros(3)]
    for i in range(3, 9):
        rows[0][i % 3] = rows[1][0] + i * x[1]
        rows[1] += rows[0]
    return rows[0] + rows[1]


def items_replaced(x):
    rows = [x * 1.0, x * 2.0]
    for _ in range(9):
        rows[0], rows[1] = rows[1] * 0.5, rows[0]
    return rows[0] - rows[1]


def nested_lists(x):
    m = [[x, 0.0], [0.0, 1.0]]
    for i in range(10):
        m[i % 2][0] = m[1][1] * x + m[0][0]
        m[1][1] = m[0][1] + 0.5
        m[0][1] = m[1][0]
    return m[0][0] + m[0][1] * m[1][0]


def queue(x):
    q = collections.deque([x, 1.0, 2.0])
    for _ in range(12):
        q.append(q[0] * 0.5 + q[2])
        q.popleft()
    return q[0] + q[1] * q[2]


def default_dict(x):
    d = collections.defaultdict(float, a=0.0)
    for i in range(10):
        d["a"] += x * i
    return d["a"]


def returned_early(x):
    s = State(x, 1.0)
    for _ in range(20):
        s = s.moved(0.1)
        if s.x > 2.0:
            return s.v
    return s.x


def inner_loop(x):
    s = Body(x)
    total = 0.0
    for _ in range(6):
        for _ in range(5):
            s.step(0.01)
        total = total + s.x
    return total


def branch_in_loop(x):
    s = Body(x)
    best = [0.0, 0.0]
    for _ in range(10):
        s.step(0.2)
        if s.v < best[0]:
            best[0] = s.v
            best[1] = s.x
    return best[0] + 2 * best[1]


def made_in_the_loop(x):
    total = 0.0
    for i in range(10):
        s = Body(x)
        s.step(0.1)
        l = [s.x] * 2
        l.append(s.v * i)
        l[0] *= 2.0
        total += sum(l)
    return total


def none_at_first(x):
    last = None
    total = 0.0
    for i in range(700):
        now = x * (i % 5)
        if last is not None:
            total = total + now * last
        last = now
    return total * 1e-2


def number_at_first(x):
    total = 0
    for i in range(700):
        total = total + x * (i % 3)
    return total * 1e-2


def merged_tuples(x):
    t = (x, 2.0) if x > 1.0 else (2 * x, 3.0)
    return t[0] * t[1]


def merged_objects(x):
    s = State(x, 1.0)
    if x > 1.0:
        s = State(x * x, x)
    return s.x * s.v


def set_dynamically(x):
    body = Body(x)
    for _ in range(10):
        setattr(body, "x", getattr(body, "x") * 0.9)  # noqa: B009, B010
        body.__dict__["v"] = body.x
    del body.steps
    return body.x + body.v


def remembered(x):
    known = {}

    def fibonacci(n):
        if n < 2:
            return x
        if n not in known:
            known[n] = fibonacci(n - 1) + 0.1 * fibonacci(n - 2)
        return known[n]

    return fibonacci(20)


def targets(x):
    body = Body(x)
    for body.k in range(3, 12):
        body.x, [body.v, last] = body.v + body.k * x, (body.x * 0.1, 2.0)
    return body.x + body.v * last


SCALAR = [
    rebound_dict, rebound_list, rebound_nested, rebound_named_tuple, rebound_dataclass, rebound_instance, attributes,
    attributes_of_two, shared_object, attributes_in_while, attributes_in_branch, filtered, entries, two_names,
    in_a_branch, nested_lists, queue, default_dict, returned_early, inner_loop, branch_in_loop, made_in_the_loop,
    none_at_first, merged_tuples, merged_objects, set_dynamically, targets, remembered,
]  # fmt: skip


@pytest.mark.parametrize("f", SCALAR, ids=lambda f: f.__name__)
def test_of_a_number(f):
    agrees(f, 1.3, batch=f is not attributes_in_while)
    if f in (attributes_in_branch, in_a_branch, merged_tuples, merged_objects):
        agrees(f, 0.7)


@pytest.mark.parametrize("f", [list_of_arrays, items_replaced, number_at_first], ids=lambda f: f.__name__)
def test_of_an_array(f):
    agrees(f, X)


# ------------------------------------------------------------------------------------------------ what is refused


def different_lengths(x):
    t = [x]
    if x > 1.0:
        t.append(2.0)
    return t[0]


def tuples_of_different_lengths(x):
    t = (x, x) if x > 1.0 else (x,)
    return t[0]


def none_or_text(x):
    y = None
    if x > 1.0:
        y = "more"
    return 1.0 if y is None else x


def other_keys(x):
    d = {"a": x}
    if x > 1.0:
        d["b"] = 2.0
    return d["a"]


def changed_after_a_merge(x):
    a = [x]
    b = a
    if x > 1.0:
        a = [2.0 * x]
    a[0] = 7.0
    return b[0]


@pytest.mark.parametrize("x", [2.0, 0.5])
def test_changed_after_a_merge(x):
    assert wg.jit(changed_after_a_merge)(x) == changed_after_a_merge(x)


def changed_and_rebound(x, n):
    a = [x]
    b = a
    for _ in range(int(n)):
        a[0] = a[0] + 1.0
        a = [a[0] * 0.5]
    return b[0]


def other_classes(x):
    s = Body(x)
    if x > 1.0:
        s = Filter(x)
    return s.k if isinstance(s, Body) else s.a


@pytest.mark.parametrize(
    ("f", "args", "words"),
    [
        (changed_and_rebound, (2.0, 7.0), ("another object",)),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_what_is_refused(f, args, words):
    with pytest.raises(StagingError) as error:
        wg.jit(f)(*args)
    text = str(error.value)
    assert all(word in text for word in words), text
    assert "remedy" in text
    assert "test_objects.py" in text


DIFFERENT = [different_lengths, tuples_of_different_lengths, none_or_text, other_keys, other_classes]


@pytest.mark.parametrize("f", DIFFERENT, ids=lambda f: f.__name__)
def test_branches_that_cannot_be_put_together(f):
    g = wg.jit(f)
    for x in (2.0, 0.5, 3.0):
        close(value(g, x), f(x))


def in_a_long_loop(f):
    def both(x):
        total = 0.0
        for k in range(600):
            total = total + f(x * k)
        return total

    return both


def test_both_ways_in_one_call_are_refused():
    with pytest.raises(StagingError, match="'b'") as error:
        wg.jit(in_a_long_loop(other_keys))(0.01)
    assert "remedy" in str(error.value)


@pytest.mark.parametrize("f", [tuples_of_different_lengths, none_or_text, other_classes], ids=lambda f: f.__name__)
def test_both_ways_in_one_call(f):
    np.testing.assert_allclose(wg.jit(in_a_long_loop(f))(0.01), in_a_long_loop(f)(0.01), rtol=1e-13)


class Mixture:
    """Numbers that Python knows beside arrays that loops give other values."""

    def __init__(self, k, scale):
        self.k, self.scale = k, scale

    def fit(self, x):
        self.w = np.full(self.k, 1 / self.k)
        for _ in range(6):
            self.w = self.w * np.sum(x) + self.scale
            self.w = self.w / sum(self.w[j] for j in range(self.k))
        return self


def test_a_number_stays_known_where_a_loop_changes_other_attributes():
    def f(x):
        fitted = Mixture(3, x[:3]).fit(x)
        return sum(fitted.w[j] * x[j] for j in range(fitted.k))

    agrees(f, np.array([0.4, 0.2, 0.3, 0.6]))


def test_a_known_number_of_iterations_is_run_one_by_one_where_staging_is_not_possible():
    def f(x):
        return changed_and_rebound(x, 7)

    close(value(wg.jit(f), 2.0), f(2.0))


def test_objects_of_the_caller_are_changed_at_each_call():
    body = Body(1.0)

    def f(x):
        for _ in range(10):
            body.x = body.x + x
        return body.x

    compiled = wg.jit(f)
    for k in (1, 2):
        assert compiled(2.0) == body.x == 1.0 + 20.0 * k


class Element:
    def __init__(self, mass, table):
        self.mass, self.table = mass, table


class Elements:
    """A table whose items know the table: there are ways from each object to itself."""

    def __init__(self):
        self.light, self.heavy = Element(2.0, self), Element(3.0, self)


def test_objects_from_outside_that_hold_themselves():
    table = Elements()

    def f(x):
        if x > 1:
            parts, density = [(2, table.light), (1, table.heavy)], x
        else:
            parts, density = [(2, table.light), (1, table.heavy)], x * x
        one = table.light if x > 2 else table.heavy
        return density * sum(n * element.mass for n, element in parts) + one.mass

    compiled, slope = wg.jit(f), wg.jit(wg.grad(f))
    for mass in (2.0, 5.0):
        table.light.mass = mass
        for x in (0.5, 1.5, 2.5):
            assert compiled(x) == f(x)
            assert slope(x) == wg.grad(f)(x)


def test_lists_that_data_fill_in_a_namespace():
    def f(x):
        log, t = [], x
        while t < 10:
            log.append(t)
            t = t * 2
        found = SimpleNamespace(log=log, last=(t, log))
        return sum(found.log) * len(found.last[1])

    assert wg.jit(f)(1.5) == f(1.5) == 31.5
    assert wg.jit(wg.grad(f))(1.5) == wg.grad(wg.jit(f))(1.5) == 21.0
