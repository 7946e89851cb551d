"""Interpolators of SciPy that are made inside of a function: compiled, differentiated, in batches."""

import numpy as np
import pytest
import scipy.integrate as si
import scipy.interpolate as sp

import wengert as wg

X = np.linspace(0.0, 1.0, 8)
Y = np.exp(-X) + 0.05 * np.sin(9 * X)
KNOTS = np.array([0, 0, 0, 0, 0.5, 1, 1, 1, 1])
PROGRAMS = {
    "CubicSpline": lambda y: sp.CubicSpline(X, y)(np.array([0.37, 0.8])),
    "natural": lambda y: sp.CubicSpline(X, y, bc_type="natural").derivative()(0.37),
    "knots": lambda y: sp.CubicSpline(np.cumsum(np.abs(y)), y)(1.3),
    "pchip": lambda y: sp.PchipInterpolator(X, y)(0.37),
    "akima": lambda y: sp.Akima1DInterpolator(X, y)(0.37),
    "make_interp_spline": lambda y: sp.make_interp_spline(X, y)(0.37),
    "columns": lambda y: sp.make_interp_spline(X, np.stack([y, y**2], 1), k=2)(0.37),
    "interp1d": lambda y: sp.interp1d(X, y)(0.37) + sp.interp1d(X, y, kind="cubic")(0.6),
    "UnivariateSpline": lambda y: sp.UnivariateSpline(X, y, s=0)(0.37),
    "InterpolatedUnivariateSpline": lambda y: sp.InterpolatedUnivariateSpline(X, y, k=2)(0.37),
    "splrep": lambda y: sp.splev(0.37, sp.splrep(X, y)),
    "barycentric": lambda y: sp.BarycentricInterpolator(X, y)(0.37),
    "krogh": lambda y: sp.KroghInterpolator(X, y)(0.37),
    "grid": lambda y: sp.RegularGridInterpolator((X,), y)(np.array([0.37])),
    "least squares": lambda y: sp.make_lsq_spline(X, y, KNOTS)(0.37),
    "nearest": lambda y: sp.LSQUnivariateSpline(X, y, [0.5], w=1 + X, bbox=[-0.1, 1.1])(0.37),
    "lagrange": lambda y: sp.lagrange(X, y)(0.37),
    "smoothing": lambda y: sp.make_smoothing_spline(X, y, lam=0.1)(0.37),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    total = lambda y: np.sum(f(y))
    direction = np.cos(np.arange(8.0))
    slope = (total(Y + 1e-6 * direction) - total(Y - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(wg.grad(total)(Y) @ direction, slope, rtol=1e-6)


@pytest.mark.parametrize(
    "name", ["make_interp_spline", "grid", "krogh", "least squares", "nearest", "lagrange", "smoothing"]
)
def test_compiled(name):
    f = PROGRAMS[name]
    np.testing.assert_allclose(wg.jit(f)(Y), f(Y), rtol=1e-12)


def test_compiled_gradients():
    f = lambda y: np.sum(PROGRAMS["CubicSpline"](y))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(Y), wg.grad(f)(Y), atol=1e-12)


def test_batches():
    f = PROGRAMS["CubicSpline"]
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(np.stack([Y, 2 * Y])), [f(Y), f(2 * Y)])


def test_compiled_checks():
    with pytest.raises(ValueError, match="strictly increasing"):
        wg.jit(lambda x: sp.CubicSpline(x, Y)(0.3))(X[::-1].copy())
    with pytest.raises(ValueError, match="outside the interpolation range"):
        wg.jit(lambda x: sp.interp1d(X, Y)(x))(1.5)


def test_the_estimate_of_the_error_of_an_integral():
    f = lambda a: si.quad(lambda x: np.exp(-a * x * x), 0.0, 1.0)
    compiled = wg.jit(f)
    for a in (1.3, 40.0):
        np.testing.assert_allclose(compiled(a), f(a), rtol=1e-12)
