"""A compiled function returns the arrays that the function would: its arguments, parts of them, or the same one twice.

What is written to one of them is seen in the other. Each program is called three times, since native code takes over
the second call.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.arange(6.0).reshape(2, 3) + 1


def _twice(x):
    y = x * 2
    return y, y


def _with_a_part(x):
    y = x * 2
    return y[0], {"whole": y}


def _overlapping(x):
    y = x * 2
    return y[:, 1:], y[:, :-1]


def _projected(x):
    norm = np.sqrt(np.sum(x * x))
    return x if norm < 10 else x / norm


def _one_of_two(x, y):
    for i in range(5):
        if np.mean(x) > np.mean(y) * i:
            return y
        y[0] += 0.5
    x[0] += 1.0
    return x


FUNCTIONS = [
    lambda x: x,
    lambda x: x[1:],
    lambda x: x.T,
    lambda x: x.reshape(-1)[::2],
    lambda x: (x, x[0], x * 2),
    lambda x: [x[:, 0], x[:, 0]],
    lambda x: [x * 2] * 2,
    lambda x: x.copy(),
    lambda x: x[np.array([0, 1])],
    _twice,
    _with_a_part,
    _overlapping,
    _projected,
]


def _arrays(result):
    return wg.tree.leaves(result)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_what_is_written_to_results(f, size):
    compiled = wg.jit(f)
    for _ in range(3):
        x, expected = size * X, size * X
        results, right = _arrays(compiled(x)), _arrays(f(expected))
        for k in range(len(results)):
            results[k][..., -1] += 7.0 + k
            right[k][..., -1] += 7.0 + k
        for got, wanted in zip([x, *results], [expected, *right], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_arrays_from_outside():
    class Simulation:
        def __init__(self):
            self.u = np.zeros(3)

        def step(self, k):
            self.u += k
            return self.u

    simulation, step = Simulation(), wg.jit(Simulation.step)
    for _ in range(3):
        assert step(simulation, 1.0) is simulation.u
    np.testing.assert_array_equal(simulation.u, 3.0)


def test_read_only_parts():
    y = wg.jit(lambda x: np.broadcast_to(x, (3, 2)))(np.ones(2))
    assert not y.flags.writeable or y.base is None  # a copy, or as NumPy has it


HELPERS = [lambda x, y: y, lambda x, y: y[:2], lambda x, y: y if np.sum(x) > 0 else x * 1.0, _one_of_two]


@pytest.mark.parametrize("helper", HELPERS)
def test_helpers(helper):
    """Compiled functions inside of differentiated and compiled ones, and of batches."""

    def program(h):
        def f(x):
            w = x * 1.5
            z = x * x
            u = h(z, w)
            w[1] += x[0] ** 2
            u[0] *= 3.0
            return np.sum(u * u) + np.sum(w * x)

        return f

    plain, f = program(helper), program(wg.jit(helper))
    x = np.array([0.3, -0.7, 1.1])
    gradient = [np.imag(plain(x + 1e-30j * e)) / 1e-30 for e in np.eye(3)] if helper is not _one_of_two else None
    for g in (wg.value_and_grad(f), wg.jit(wg.value_and_grad(f)), wg.value_and_grad(wg.jit(f))):
        value, dx = g(x)
        np.testing.assert_allclose(value, plain(x.copy()), rtol=1e-13)
        if gradient is not None:
            np.testing.assert_allclose(dx, gradient, rtol=1e-12)
        else:
            np.testing.assert_allclose(dx, wg.grad(plain)(x), rtol=1e-12)
    np.testing.assert_allclose(wg.vmap(f)(np.stack([x, x])), [plain(x)] * 2, rtol=1e-13)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(np.stack([x, x])), [plain(x)] * 2, rtol=1e-13)


def test_examples_that_get_different_arrays():
    either = wg.jit(lambda x, y: y if np.sum(x) > 0 else x)

    def f(x):
        y = x * 2
        z = either(x, y)
        y[0] = 5.0
        return np.sum(z)

    batch = np.array([[1.0, 2.0], [-1.0, -2.0]])
    with pytest.raises(wg.errors.InPlaceError, match="for some examples of a batch"):
        wg.vmap(f)(batch)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(batch), [9.0, -3.0])
    np.testing.assert_allclose(wg.vmap(lambda x: np.sum(either(x, x * 2)))(batch), [6.0, -3.0])

    def g(x):
        z = either(x * 1.0, x * 2)
        z[0] = 5.0  # nobody has the arrays that it may be
        return np.sum(z)

    np.testing.assert_allclose(wg.vmap(g)(batch), [9.0, 3.0])
