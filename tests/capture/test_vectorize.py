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


def quadratic(x):
    form = np.vectorize(lambda A, v, k=1.0: (k * A @ v, v @ A @ v), signature="(m,m),(m)->(m),()", excluded={"k"})
    rows, values = form(np.stack([np.outer(x, x), np.eye(8)]), x, k=2.0)
    return rows[0] * values[1] + values[0] + rows[1]


def closed_over(x):
    return np.vectorize(lambda v: v * x.sum(), signature="(n)->(n)")(np.ones((2, 8)))[1]


@pytest.mark.parametrize("f", [quadratic, closed_over])
def test_signatures(f):
    np.testing.assert_allclose(wg.jit(f)(X), f(X), rtol=1e-13)
    expected = np.stack([(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(8)], 1)
    for operator in (wg.jacfwd, wg.jacrev, lambda f: wg.jit(wg.jacrev(f)), lambda f: wg.jacfwd(wg.jit(f))):
        np.testing.assert_allclose(operator(f)(X), expected, rtol=1e-7, atol=1e-8)


def test_parts_that_do_not_fit_a_signature():
    product = np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
    for a, b, message in ((X, X[:3], "inconsistent size"), (X, 1.0, "enough dimensions")):
        with pytest.raises(ValueError, match=message):
            product(a, b)
        with pytest.raises(ValueError, match=message):
            wg.grad(lambda x, a=a, b=b: product(a * x, b))(1.0)


def pairs_as_objects(x):
    pair = np.vectorize(lambda a, b: (a**2, a * b) if a > 1 else (a, b), excluded=[1], otypes=[np.ndarray])
    return np.sum(np.array(pair(np.array([[x, 2 * x]]), x).tolist()))


def objects_beside_numbers(x):
    squares, plain = np.vectorize(lambda a: (a**2, a), otypes=[object, float])(np.array([x, 2 * x]))
    return np.sum(squares * plain)


@pytest.mark.parametrize(("f", "slope"), [(pairs_as_objects, 16 * 1.25), (objects_beside_numbers, 27 * 1.25**2)])
@pytest.mark.parametrize("way", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_results_that_are_kept_as_objects(f, slope, way):
    np.testing.assert_allclose(way(f)(1.25), slope)
    np.testing.assert_allclose(wg.vmap(f)(np.array([1.25, 1.5])), [f(1.25), f(1.5)])


def test_that_as_many_types_are_given_as_there_are_results():
    with pytest.raises(ValueError, match="1 otypes, and the function returns 2 values"):
        wg.grad(lambda x: np.sum(np.vectorize(lambda a: (a**2, a), otypes="f")(np.array([x, 2 * x]))[0]))(1.25)
