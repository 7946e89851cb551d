"""Bessel functions in their order: against high-precision arithmetic, and by what holds for every order."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc
from harness import check

import wengert as wg
from wengert.errors import UnsupportedFunctionError
from wengert.ops.orders import jv_by_order, kve_by_order, yv_by_order
from wengert.ops.stencils import differentiated, weights

FUNCTIONS = {
    "jv": mp.besselj,
    "yv": mp.bessely,
    "iv": mp.besseli,
    "kv": mp.besselk,
    "ive": lambda v, x: mp.exp(-x) * mp.besseli(v, x),
    "kve": lambda v, x: mp.exp(x) * mp.besselk(v, x),
}
ORDERS = [-20.3, -2.5, -2.0, -0.3, 0.0, 1e-3, 0.5, 1.0, 3.0, 10.2, 50.0]
POINTS = [1e-8, 1e-3, 0.3, 1.0, 5.0, 20.0, 50.3, 300.0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_derivatives(name):
    f, exact = getattr(sc, name), FUNCTIONS[name]
    v, x = np.array(ORDERS)[:, None], np.array(POINTS)
    with np.errstate(all="ignore"):
        y, dot = wg.jvp(lambda v: f(v, x), (v,), (np.ones_like(v),))
        np.testing.assert_array_equal(y, f(v, x))
    for i, order in enumerate(ORDERS):
        for j, t in enumerate(POINTS):
            if not 1e-290 < abs(y[i, j]) < 1e290:
                continue
            with mp.workdps(40):
                expected = mp.diff(lambda s: exact(s, mp.mpf(t)), mp.mpf(order))  # noqa: B023
            # Of the size of the function nearby: it may be even in the order, or vary slowly.
            scale = abs(float(expected)) + (1e-2 if name[0] in "ik" else 1) * abs(y[i, j])
            assert abs(dot[i, j] - float(expected)) < 2e-11 * scale, (order, t)


def test_k_is_accurate_where_it_hardly_depends_on_the_order():
    for v in (1e-9, 1e-3, 0.5):
        for x in (1e-3, 1.0, 100.0, 1e4):
            with mp.workdps(50):
                expected = mp.diff(lambda s: FUNCTIONS["kve"](s, mp.mpf(x)), mp.mpf(v))  # noqa: B023
            np.testing.assert_allclose(kve_by_order(v, x, m=1, n=0), float(expected), rtol=1e-13)


def test_half_integer_orders_in_closed_form():
    """DLMF 10.15.6–9: ∂J/∂ν at ν = ±½ by sine and cosine integrals."""
    x = np.array([0.2, 1.0, 7.0, 30.0])
    si, ci = sc.sici(2 * x)
    factor = np.sqrt(2 / (np.pi * x))
    slope = wg.jvp(lambda v: sc.jv(v, x), (0.5,), (1.0,))[1]
    np.testing.assert_allclose(slope, factor * (ci * np.sin(x) - si * np.cos(x)), rtol=1e-11, atol=1e-13)
    slope = wg.jvp(lambda v: sc.jv(v, x), (-0.5,), (1.0,))[1]
    np.testing.assert_allclose(slope, factor * (ci * np.cos(x) + si * np.sin(x)), rtol=1e-11, atol=1e-13)
    slope = wg.jvp(lambda v: sc.yv(v, x), (0.5,), (1.0,))[1]
    expected = factor * (ci * np.cos(x) + (si - np.pi) * np.sin(x))
    np.testing.assert_allclose(slope, expected, rtol=1e-11, atol=1e-13)


def test_wronskian_in_the_order():
    """J(v+1)·Y(v) − J(v)·Y(v+1) = 2/(πx) for every v: its derivatives in v vanish, to every order."""
    x = np.array([0.3, 2.0, 11.0])

    def wronskian(v):
        return sc.jv(v + 1, x) * sc.yv(v, x) - sc.jv(v, x) * sc.yv(v + 1, x)

    for v in (0.0, 0.7, 4.0):
        first = wg.jvp(wronskian, (v,), (1.0,))[1]
        second = wg.jvp(lambda v: wg.jvp(wronskian, (v,), (1.0,))[1], (v,), (1.0,))[1]
        size = np.abs(sc.jv(v, x) * sc.yv(v + 1, x)) + 2 / (np.pi * x)
        assert np.all(np.abs(first) < 1e-11 * size)
        assert np.all(np.abs(second) < 1e-9 * size)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "ive", "kve"])
def test_all_modes(name):
    f = getattr(sc, name)
    check(lambda v, x: f(v, x), np.array([0.4, 1.7, 3.0]), np.array([0.6, 2.2, 5.0]), rtol=1e-6)


@pytest.mark.parametrize("name", ["hankel1", "hankel2", "hankel1e", "hankel2e"])
def test_hankel_functions(name):
    f = getattr(sc, name)
    check(lambda v, x: np.real(f(v, x)) + 3 * np.imag(f(v, x)), np.array([0.4, 1.7]), np.array([0.6, 5.0]), rtol=1e-6)


def test_third_derivatives():
    for v, x in ((0.4, 1.3), (2.0, 6.0)):
        for op, exact in ((jv_by_order, mp.besselj), (yv_by_order, mp.bessely)):
            with mp.workdps(40):
                expected = mp.diff(lambda s: exact(s, mp.mpf(x)), mp.mpf(v), 3)  # noqa: B023
            np.testing.assert_allclose(op(v, x, n=3), float(expected), rtol=1e-9)


def test_edges():
    assert wg.grad(lambda v: sc.jv(v, 0.0))(1.5) == 0
    assert np.isnan(wg.grad(lambda v: sc.jv(v, -1.0))(2.0))  # of a real order it is not real there
    assert wg.grad(lambda v: sc.kv(v, 1.3))(0.0) == 0
    assert wg.grad(lambda v: sc.jv(v, np.float32(1.3)))(np.float32(0.5)).dtype == np.float32
    with pytest.raises(UnsupportedFunctionError, match="complex"):
        wg.grad(lambda v: np.real(sc.jv(v, 1.0 + 1j)))(0.5)
    for name in ("spherical_jn", "spherical_kn"):
        with pytest.raises(UnsupportedFunctionError, match="integer"):
            wg.grad(lambda v: getattr(sc, name)(v, 2.0))(1.0)  # noqa: B023


# ------------------------------------------------------------------------------------------------------------ stencils


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_weights_are_exact_for_polynomials(n):
    w = np.array(weights(n))
    half = len(w) // 2
    for power in range(10):
        got = np.sum(w * np.arange(-half, half + 1.0) ** power)
        np.testing.assert_allclose(got, float(np.prod(range(1, n + 1))) if power == n else 0.0, atol=1e-7)


def test_an_inaccurate_function_is_an_error():
    """A function with a step, or with noise, is noticed."""
    at = np.array([0.3])
    with pytest.raises(UnsupportedFunctionError, match="stop_gradient"):
        differentiated("f", lambda v: np.where(v > 0.31, 1 + 1e-8, 1.0), [at], [1], [np.array([1.0])])
    with pytest.raises(UnsupportedFunctionError, match=r"\(0.3,\)"):
        differentiated("f", lambda v: np.round(np.sin(v), 8), [at], [1], [np.array([1.0])])
    with pytest.raises(UnsupportedFunctionError):
        differentiated("f", lambda v: np.sin(40 * v), [at], [1], [np.array([1.0])])
    got = differentiated("f", np.sin, [at], [1], [np.array([1.0])])
    np.testing.assert_allclose(got, np.cos(at), rtol=1e-14)
