"""`np.vectorize`: objects made anywhere, types as NumPy has them, compiled as a loop."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NotDifferentiableOutputError, StagingError


def kink(x, k=2):
    if x > 0.5:
        return x**k
    return 0.1 * x


OUTSIDE = np.vectorize(kink)
X = np.linspace(0.05, 1, 8)
SLOPES = np.where(X > 0.5, 2 * X, 0.1)


def inside(x):
    return np.vectorize(kink, excluded=[1])(x, 2)


def of_two(x):
    low, high = np.vectorize(lambda v: (0.1 * v, kink(v)))(x)
    return np.where(x > 0.5, high, low)


def broadcast(x):
    return np.vectorize(kink)(x[:, None], np.array([2, 3]))[:, 0]


@pytest.mark.parametrize("f", [OUTSIDE, inside, of_two, broadcast], ids=["outside", "inside", "of two", "broadcast"])
def test_derivatives(f):
    for operator in (wg.jacfwd, wg.jacrev, lambda f: wg.jit(wg.jacrev(f)), lambda f: wg.jacfwd(wg.jit(f))):
        np.testing.assert_allclose(operator(f)(X), np.diag(SLOPES), rtol=1e-14)


def test_a_loop_is_compiled():
    lines = [len(str(wg.jit(OUTSIDE).lower(np.linspace(0, 1, n))).splitlines()) for n in (50, 100)]
    assert lines[0] == lines[1]


def test_the_first_element_decides_the_type():
    step = np.vectorize(lambda v: 0 if v < 0.3 else v * v)
    with pytest.raises(NotDifferentiableOutputError, match="int"):
        wg.grad(lambda x: np.sum(step(x)))(X)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(step(x)))(X[::-1]), np.where(X < 0.3, 0, 2 * X)[::-1])
    with pytest.raises(StagingError, match="otypes"):
        wg.jit(step)(X)
    typed = np.vectorize(lambda v: 0 if v < 0.3 else v * v, otypes=[float])
    np.testing.assert_allclose(wg.jit(typed)(X), typed(X))
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(typed(x)))(X), np.where(X < 0.3, 0, 2 * X))


def test_what_arrays_have():
    def f(x):
        assert not hasattr(x, "__call__")  # noqa: B004
        assert getattr(x, "__call__", None) is None  # noqa: B004
        assert hasattr(x, "__len__")
        return np.sum(x)

    assert wg.jit(wg.grad(f))(X).shape == wg.grad(f)(X).shape
