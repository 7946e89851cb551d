"""What Python and NumPy make of numbers: arrays without axes are arrays, results of NumPy's functions are NumPy's, and
the order of NaNs is that of the comparisons. The reference is the function itself."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

ZERO_D = np.array(1.5)
SINGLE = np.ones(2, np.float32)
NANS = [np.array([3.0, np.nan, 1.0]), np.array([np.nan, 2.0, 1.0]), np.array([2.0, 5.0, np.nan]), np.full(3, np.nan)]


@pytest.mark.parametrize("x", [ZERO_D, np.float64(1.5), 1.5, np.ones(2)], ids=["0-d", "scalar", "float", "array"])
@pytest.mark.parametrize(
    "f",
    [lambda x: isinstance(x, np.ndarray), lambda x: isinstance(x, float), lambda x: np.isscalar(x),
     lambda x: isinstance(x + 1, np.ndarray), lambda x: type(x) is np.ndarray, lambda x: isinstance(x * 2.0, float)],
)  # fmt: skip
def test_arrays_without_axes_are_arrays(f, x):
    assert wg.jit(f)(x) == f(x)


@pytest.mark.parametrize(
    "f",
    [np.add, np.multiply, np.subtract, np.divide, np.dot, np.inner, np.vdot, np.hypot, np.maximum, np.power],
    ids=lambda f: f.__name__,
)
def test_results_of_numpy_are_of_double_precision(f):
    def scaled(x, s):
        return f(s, 2.0) * x

    want = scaled(SINGLE, 1.5)
    for g in (
        wg.jit(scaled),
        wg.jit(lambda x, s: wg.jvp(scaled, (x, s), (x, 1.0))[0]),
        wg.jit(wg.vmap(scaled, (0, None))),
        lambda x, s: wg.jvp(scaled, (x, s), (x, 1.0))[0],
        lambda x, s: wg.vjp(scaled, x, s)[0],
        lambda x, s: wg.jvp(lambda s: wg.vjp(scaled, x, s)[0], (s,), (1.0,))[0],
    ):
        got = g(SINGLE, 1.5)
        assert got.dtype == want.dtype == np.float64
        np.testing.assert_allclose(got, want, rtol=1e-15)
    assert wg.jit(lambda x, s: (s * 2.0 + 1) * x)(SINGLE, 1.5).dtype == np.float32  # operators of Python's numbers


def test_the_real_part_of_a_number_of_pythons_is_one():
    def scaled(x, s):
        return np.real(s) * x

    for g in (scaled, wg.jit(scaled), lambda x, s: wg.jvp(scaled, (x, s), (x, 1.0))[0]):
        assert g(SINGLE, 1.5).dtype == np.float32


@pytest.mark.parametrize("x", NANS, ids=str)
@pytest.mark.parametrize("f", [min, max])
def test_the_first_is_kept_unless_another_is_better(f, x):
    np.testing.assert_array_equal(wg.jit(lambda x: f(x))(x), f(x))
    np.testing.assert_array_equal(wg.jit(lambda x: f(x[0], x[1], x[2]))(x), f(*x))


@pytest.mark.parametrize("f", [min, max])
def test_the_derivative_is_that_of_the_first(f):
    x = np.array([2.0, 1.0, 1.0, 2.0])
    np.testing.assert_array_equal(wg.jit(wg.grad(lambda x: f(x)))(x), wg.grad(lambda x: f(x))(x))


def test_recursion_by_an_argument():
    def power(u, k):
        return 1.0 if k == 0 else u * power(u, k - 1)

    compiled = wg.jit(power)
    for k in (3, 0, 4):
        assert compiled(1.5, k) == power(1.5, k)
        assert wg.jit(wg.grad(power))(1.5, k) == pytest.approx(k * 1.5 ** (k - 1))


@pytest.mark.parametrize("a", [1.084, 3.1])
def test_digits_of_numbers_of_python_beside_short_floats(a):
    def in_an_expression(u, a):
        return a + (u[1] if a > 2 else 0.25)

    def in_a_branch(u, a):
        v = 0.25
        if a > 2:
            v = u[1]
        return v * a

    def in_a_loop(u, a):
        s = 0.0
        for v in u:
            s += v if a > 2 else 0.0
        return s

    u = np.array([0.3, 0.7, 0.9], np.float32)
    for f in (in_an_expression, in_a_branch, in_a_loop):
        assert float(wg.jit(f)(u, a)) == pytest.approx(float(f(u, a)), rel=1e-15 if f is not in_a_loop else 1e-7)
