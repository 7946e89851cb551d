"""`vmap` of functions that decide by looking at values: each example goes its own way.

The reference is a loop over the examples in plain Python.
"""

from __future__ import annotations

import collections

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConcretizationError, MismatchError

X = np.array([1.3, 2.1, 5.2, 20.4, 0.2])
ROWS = np.array([[0.1, 1.0, 2.0], [0.1, 0.2, 2.0], [0.7, 0.8, 0.3]])


def branch(x):
    if x > 2:
        return np.sin(x) * x
    return x**2


def search(x):
    while x < 10:
        x = x * 1.5
    return x


def both(x):
    return x * 2 if x > 1 and x < 6 else -x


def counted(x):
    s = x
    for _ in range(int(wg.stop_gradient(x))):
        s = s * 1.1 + np.sin(s)
    return s


def left_early(x):
    s = 0.0
    for i in range(30):
        s = s + np.sqrt(x) * i
        if s > 10:
            break
    return s


def compared(x):
    return max(x, 2.0) * min(x, 3.0)


SCALAR = [branch, search, both, counted, left_early, compared]


def masked_write(x):
    x = x.copy()
    x[x < 0.5] = 0.0
    return np.sum(x**2)


def masked_update(x):
    x = x * 1.0
    x[x > 0.5] *= 3.0
    return np.sum(x**2)


def masked_values(x):
    x = x.copy()
    x[x < 0.5] = np.sin(x[x < 0.5])
    return np.sum(x**3)


def masked_sum(x):
    return np.sum(np.sin(x[x > 0.5]))


def positions(x):
    return np.sum(x[np.nonzero(x > 0.5)[0]] ** 2)


def sorted_by_hand(x):
    x = x.copy()
    for i in range(3):
        for j in range(2 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x[0] * 2 + x[1] ** 2 + x[2] ** 3


VECTOR = [masked_write, masked_update, masked_values, masked_sum, positions, sorted_by_hand]
CASES = [(f, X) for f in SCALAR] + [(f, ROWS) for f in VECTOR]
EVERY = pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])


def alone(f, x):
    return np.array([f(v.copy()) for v in x])


def same(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@EVERY
def test_values(f, x):
    before = x.copy()
    same(wg.vmap(f)(x), alone(f, x))
    np.testing.assert_array_equal(x, before)


@EVERY
def test_derivatives_inside_and_outside(f, x):
    want = alone(wg.grad(f), x)
    same(wg.vmap(wg.grad(f))(x), want)
    same(wg.grad(lambda x: np.sum(wg.vmap(f)(x)))(x), want)
    _, dot = wg.jvp(wg.vmap(f), (x,), (np.ones_like(x),))
    same(dot, want if x.ndim == 1 else want.sum(axis=1))
    flat = wg.jacfwd(wg.vmap(f))(x)
    same(np.stack([flat[k, k] for k in range(len(x))]), want)


def test_masks_in_compiled_batches():
    f = masked_write
    same(wg.jit(wg.vmap(f))(ROWS), alone(f, ROWS))
    same(wg.jit(wg.vmap(wg.grad(f)))(ROWS), alone(wg.grad(f), ROWS))
    same(wg.vmap(wg.grad(wg.jit(f)))(ROWS), alone(wg.grad(f), ROWS))


def test_second_derivatives():
    want = alone(wg.grad(wg.grad(branch)), X)
    same(wg.vmap(wg.grad(wg.grad(branch)))(X), want)


def test_nested_batches():
    y = np.array([0.5, 1.5])

    def f(x, y):
        if x * y > 2:
            return x * y
        return x - y

    want = np.array([[f(a, b) for b in y] for a in X])
    same(wg.vmap(wg.vmap(f, (None, 0)), (0, None))(X, y), want)
    same(wg.vmap(wg.vmap(branch))(np.stack([X, 2 * X])), [alone(branch, X), alone(branch, 2 * X)])


def test_decisions_that_agree_are_made_together():
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x) if x > 0 else x

    same(wg.vmap(f)(X), np.sin(X))
    assert len(calls) == 1


def test_jacobians_do_not_split():
    """The directions of a Jacobian are a batch too, but decisions are about the value."""
    calls = []

    def f(x):
        calls.append(1)
        return x * x if x[0] > 0 else x

    same(wg.jacfwd(f)(X), np.diag(2 * X))
    assert len(calls) == 1


def test_effects_happen_once_for_each_example():
    log, counter, total = [], np.zeros(1), {"n": 0}

    class State:
        calls = 0

    state = State()

    def f(x):
        log.append("called")
        counter[0] += 1
        total["n"] += 1
        state.calls = state.calls + 1
        if x > 2:
            return x
        return -x

    same(wg.vmap(f)(X), alone(lambda x: x if x > 2 else -x, X))
    assert len(log) == counter[0] == total["n"] == state.calls == len(X)


def test_results_of_different_kinds_are_refused():
    with pytest.raises(MismatchError, match="other containers"):
        wg.vmap(lambda x: (x, x) if x > 2 else x)(X)
    with pytest.raises(MismatchError, match="other shapes"):
        wg.vmap(lambda x: x[x > 0.5])(ROWS)


def test_what_cannot_be_compiled_says_what_to_do():
    with pytest.raises(ConcretizationError, match="length that differs between examples"):
        wg.jit(wg.vmap(lambda x: x[x > 0.5]))(ROWS)


def test_containers_and_axes():
    def f(p, scale):
        return {"y": p["a"] * scale if p["a"] > 2 else -p["b"], "z": (p["b"],)}

    b = np.arange(10.0).reshape(5, 2)
    got = wg.vmap(f, ({"a": 0, "b": 0}, None), {"y": 1, "z": (0,)})({"a": X, "b": b}, np.ones(2))
    want = [f({"a": x, "b": r}, np.ones(2)) for x, r in zip(X, b, strict=True)]
    same(got["y"], np.stack([w["y"] for w in want], 1))
    same(got["z"][0], b)


def test_what_was_written_before_the_examples_part_is_forgotten():
    """The first attempt, on all examples, may have written to the arguments."""

    def f(x, a):
        x *= a
        x[0] = 2 * a
        return np.sum(x * min(0.5, a))

    a = np.array([0.1, 0.7, 2.0])
    want = np.array([f(x.copy(), v) for x, v in zip(ROWS, a, strict=True)])
    before = ROWS.copy()
    same(wg.vmap(f)(ROWS, a), want)
    same(ROWS, before)
    alone = [wg.grad(f, (0, 1))(x, v) for x, v in zip(ROWS, a, strict=True)]
    for k, got in enumerate(wg.grad(lambda X, a: np.sum(wg.vmap(f)(X, a)), (0, 1))(ROWS, a)):
        same(got, np.stack([g[k] for g in alone]))


def test_each_example_finds_what_all_share_as_it_was_given():
    def f(z, x):
        z[0] += 1.0
        return z * x if x > 2 else z

    want = np.stack([f(np.zeros(2), x) for x in X])
    z = np.zeros(2)
    same(wg.vmap(f, (None, 0))(z, X), want)
    same(z, [1.0, 0.0])  # once: all examples write the same
    z = np.zeros(2)
    same(wg.jit(wg.vmap(f, (None, 0)))(z, X), want)
    same(z, [1.0, 0.0])

    def total(z, x):
        y = wg.vmap(f, (None, 0))(z, x)
        return np.sum(y) + np.sum(z)  # what was written counts

    same(wg.grad(total)(np.zeros(2), X), np.full(2, sum(x if x > 2 else 1 for x in X) + 1))


def test_examples_cannot_write_different_values_into_one_array():
    def f(z, x):
        if x > 2:
            z[0] = x
        return z[0] * x

    with pytest.raises(wg.errors.InPlaceError, match="they share"):
        wg.vmap(f, (None, 0))(np.zeros(2), X)


def test_sets_and_queues_outside_are_put_back():
    seen, last = set(), collections.deque(maxlen=10)

    def f(x):
        seen.add(len(seen))
        last.append(1)
        return x if x > 2 else -x

    wg.vmap(f)(X)
    assert len(seen) == len(last) == len(X)


def test_attributes_of_functions_and_classes_outside_are_put_back():
    class Meter:
        calls = 0
        seen: list = []

    def count(x):
        count.calls += 1
        Meter.calls += 1
        Meter.seen.append(1)
        return x * count.calls * Meter.calls

    def f(x):
        y = count(x)
        return y if x > 2 else -y

    found = []
    for run in (lambda f, X: [f(x) for x in X], lambda f, X: wg.vmap(f)(X)):
        count.calls, Meter.calls, Meter.seen = 0, 0, []
        found.append((list(run(f, X)), count.calls, Meter.calls, len(Meter.seen)))
    assert found[0] == found[1]


def of_one_element(x):
    if x > 1:
        x = x * 3
    return x[0] if not x > 4 else -x[0]


def test_arrays_of_one_element_decide():
    x = np.array([[1.3], [1.43], [0.91]])
    expected = [3.9, -4.29, 0.91]
    np.testing.assert_allclose(wg.vmap(of_one_element)(x), expected)
    np.testing.assert_allclose(wg.jit(wg.vmap(of_one_element))(x), expected)
    np.testing.assert_allclose(wg.vmap(wg.grad(of_one_element))(x), [[3.0], [-3.0], [1.0]])
    with pytest.raises(ValueError, match="truth value of an array"):
        wg.vmap(of_one_element)(np.ones((3, 2)))
