"""Variables, attributes and containers that expressions change, or not, as data decide: compiled, as in Python.

One function runs on data that take both ways, in one call of compiled code after the other.
"""

import collections
import functools
import operator

import numpy as np
import pytest

import wengert as wg

X = np.sin(np.arange(7.0) * 2.1) + 0.05
CALLS = 0.0


def chained(x):
    n = 0.0

    def f(v):
        nonlocal n
        n = n + 1.0
        return v

    b = -0.2 < f(x[0]) < f(x[1]) < f(x[2])
    return x[0] * n + b


def handed_on(x):
    n = 0.0

    def bump(v):
        nonlocal n
        n = n + v
        return n

    def apply(g, v):
        return g(v) if v > 0 else v

    def decide(g, v):
        return v > 0.2 and g(v) > 0.1

    s = 0.0
    for v in x:
        s += apply(bump, v) + (1.5 * v if decide(bump, v) else 0.0)
    return s + 2 * n


def of_two_closures(x):
    def make(k):
        n = 0.0

        def f(v):
            nonlocal n
            n = n + k * v
            return n

        return f

    a, b = make(1.0), make(2.0)
    s = sum(a(v) if v > 0 else b(v) for v in x)
    for v in x:
        g = make(v)
        s += (g(1.0) + g(2.0)) if v > 0 else g(1.0)
    return s + 3 * a(0.0) + 5 * b(0.0)


def of_a_generator(x):
    n = 0.0

    def numbers():
        def f(v):
            nonlocal n
            n = n + v
            return v

        for v in x:
            yield f, v

    s = sum((f(v) if v > 0 else -v) for f, v in numbers())
    return s + n


def bound_globally(x):
    global CALLS
    before, CALLS = CALLS, 0.0

    def f(v):
        global CALLS
        CALLS = CALLS + v
        return v

    s = sum(f(v) if v > 0 else 0.1 for v in x)
    r, CALLS = s + 2 * CALLS, before
    return r


def of_a_decorator(x):
    def counted(g):
        @functools.wraps(g)
        def wrapper(*args):
            wrapper.n += 1
            return g(*args)

        wrapper.n = 0
        return wrapper

    h = counted(lambda v: v * v)
    s = sum(h(v) if v > 0 else 0.5 * v for v in x)
    return s * h.n


def by_methods_of_containers(x):
    out, d, q = [0.0, 0.0], {"a": 1.0}, collections.deque([1.0, 2.0, 3.0])
    s = 0.0
    for v in x:
        out.__setitem__(0, out[0] + v) if v > 0 else list.__setitem__(out, 1, 2 * v)
        operator.setitem(out, 0, out[0] * 0.9) if v > 0.3 else None
        if v > 0.2:
            dict.update(d, a=d["a"] * (1 + v))
            q.rotate(1)
        s += q[0] * v
    return s + out[0] + out[1] * d["a"]


class Cached:
    def __init__(self, v):
        self.v, self.n = v, 0

    @functools.cached_property
    def square(self):
        self.n += 1
        return self.v**2


def cached_in_a_branch(x):
    return sum(c.square * c.square if v > 0 else c.square for v in x if (c := Cached(v)))


def cached_in_a_loop(x):
    b, s = Cached(x[0]), 0.0
    for v in x:
        s += b.square * v
    return s * b.n


def found_missing_at_first(x):
    class Store:
        def get(self, v):
            if not hasattr(self, "first"):
                self.first = 2 * v
            return self.first

    store, d, e, s = Store(), {}, {}, 0.0
    for v in x:
        s += store.get(v) * v + len(e) + d.get("k", 1.0)
        d["k"] = d.get("k", 2.0) * 0.5 + v
        e.setdefault("k", v)
    return s + e["k"]


def of_known_items(x):
    seen = []

    def f(i):
        seen.append(i)
        return i > 2

    return x[0] * any(f(i) for i in range(6)) + len(seen) + x[1] * all(v < 5 for v in x)


RIGHT = [
    chained, handed_on, of_two_closures, of_a_generator, bound_globally, of_a_decorator, by_methods_of_containers,
    cached_in_a_branch, cached_in_a_loop, found_missing_at_first, of_known_items,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_effects_that_data_decide(f):
    compiled, gradient, derivative = wg.jit(f), wg.grad(f), wg.jit(wg.grad(f))
    for x in (X, -0.9 * X[::-1], np.roll(X, 2), abs(X)):
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(derivative(x), gradient(x), rtol=1e-12)
    xs = np.stack([X, -0.9 * X[::-1]])
    np.testing.assert_allclose(wg.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)


def binds_a_name(x):
    return 2 * w if any((w := v) < -0.3 for v in x) else np.sum(x)


def adds(x):
    acc = np.zeros(1)

    def f(v):
        acc[0] += v
        return v > -0.3

    return acc[0] + all(f(v) for v in x)


@pytest.mark.parametrize("f", [binds_a_name, adds])
def test_items_that_any_or_all_may_not_come_to(f):
    with pytest.raises(wg.errors.StagingError, match="known only when the compiled program runs"):
        wg.jit(f)(X)
