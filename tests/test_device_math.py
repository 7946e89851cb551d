"""Elementary functions of kernels, which have no C library (`backend/gpu/math.py`): within 3 units in the last place of
mpmath, and NumPy's answers for zeros, infinities and NaN."""

from __future__ import annotations

from typing import Any

import emulated_device
import mpmath
import numpy as np
import pytest
import scipy.special
from strict_array import host, strict

import wengert as wg
from wengert.backend.gpu.math import _AS_VECTORS, LANES, TWINS

assert emulated_device

NAMES = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "exp": "exp",
    "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "cbrt": "cbrt",
    "erf": "erf",
}  # fmt: skip
FUNCTIONS: dict[str, Any] = {n: getattr(np, n, None) or getattr(scipy.special, n) for n in NAMES}
OF_TWO: dict[str, Any] = {"arctan2": np.arctan2, "hypot": np.hypot, "power": np.power}


def points(name: str) -> np.ndarray:
    """Arguments of all sizes at which a function is defined."""
    rng = np.random.default_rng(7)
    if name in ("arcsin", "arccos", "arctanh"):
        return np.concatenate([rng.uniform(-1, 1, 100), 1 - 10.0 ** rng.uniform(-12, -1, 30)])
    x = np.concatenate([rng.normal(size=80), 10 * rng.normal(size=40), 10.0 ** rng.uniform(-8, 2, 40)])
    if name in ("sin", "cos"):
        hard = [1e22, 2.0**29, 6381956970095103 * 2.0**797, *np.pi * np.arange(1, 20), *np.pi * (np.arange(20) + 0.5)]
        return np.concatenate([x, 1e9 * rng.normal(size=20), 10.0 ** rng.uniform(5, 300, 30), hard])
    if name.startswith("log") or name == "arccosh":
        return np.abs(x) + (name == "arccosh")
    return x


def exact(name: str, x: np.ndarray) -> list[Any]:
    other = {
        "exp2": lambda t: mpmath.mpf(2) ** t,
        "log2": lambda t: mpmath.log(t, 2),
        "cbrt": lambda t: mpmath.sign(t) * mpmath.cbrt(abs(t)),
    }
    f = other.get(name) or getattr(mpmath, NAMES[name])
    with mpmath.workdps(40):
        return [f(mpmath.mpf(float(v))) for v in x]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_in_the_last_place(name):
    x = points(name)
    y = host(wg.jit(FUNCTIONS[name])(strict(x)))
    with mpmath.workdps(40):
        errors = [
            abs(mpmath.mpf(float(a)) - b) / np.spacing(abs(float(b))) for a, b in zip(y, exact(name, x), strict=True)
        ]
    assert max(errors) < 3


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.0, 1e-310, 1e308, -1e308])


def assert_alike(got: np.ndarray, right: np.ndarray) -> None:
    np.testing.assert_allclose(got, right, rtol=1e-13)
    known = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(right)[known])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name):
    with np.errstate(all="ignore"):
        assert_alike(host(wg.jit(FUNCTIONS[name])(strict(SPECIAL))), FUNCTIONS[name](SPECIAL))


def in_single(f: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a kernel makes of numbers of single precision, and NumPy in double precision."""
    got = host(wg.jit(f)(strict(x)))
    assert got.dtype == np.float32
    return got, f(x.astype(np.float64))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single_precision(name):
    """Within 3 units in the last place, and NumPy's answers for special values."""
    with np.errstate(all="ignore"):
        x = np.concatenate([points(name), 100 * np.random.default_rng(1).normal(size=50)]).astype(np.float32)
        got, right = in_single(FUNCTIONS[name], x)
        single = right.astype(np.float32)
        is_finite = np.isfinite(single)
        errors = np.abs(got[is_finite] - right[is_finite]) / np.spacing(np.abs(single[is_finite]))
        assert np.max(errors) < 3
        np.testing.assert_array_equal(got[~is_finite], single[~is_finite])
        got, right = in_single(FUNCTIONS[name], np.array([*SPECIAL[:9], 1e-40, 3e38, -3e38, 44, -89, 95], np.float32))
        np.testing.assert_allclose(got, right.astype(np.float32), rtol=4e-7, atol=1.5e-45)
        known = ~np.isnan(right)
        np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(right)[known])


@pytest.mark.parametrize("function", [np.tanh, np.sin, np.cos], ids=lambda f: f.__name__)
def test_derivatives_in_single_precision(function):
    x = np.concatenate([points("tanh"), np.linspace(-45, 45, 61), [0.0, 1e5, -3e4]]).astype(np.float32)
    got, right = in_single(wg.grad(lambda x: np.sum(function(x))), x)
    assert np.all(np.abs(got - right) <= 7 * np.maximum(np.spacing(np.abs(right.astype(np.float32))), 1.5e-45))


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name, rng):
    x, y = [part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL)]
    with np.errstate(all="ignore"):
        assert_alike(host(wg.jit(OF_TWO[name])(strict(x), strict(y))), OF_TWO[name](x, y))
    x, y = np.abs(rng.normal(size=(2, 200))) * 3
    np.testing.assert_allclose(host(wg.jit(OF_TWO[name])(strict(x), strict(y))), OF_TWO[name](x, y), rtol=1e-15 * 4)


def test_all_are_tried():
    assert {*NAMES.values(), "atan2", "hypot", "pow", "sech_squared"} == {*LANES, *_AS_VECTORS, *TWINS}


@pytest.mark.parametrize("function", [np.tanh, np.sin, np.cos, np.cosh], ids=lambda f: f.__name__)
def test_functions_with_their_derivatives(function):
    """From one kernel, for arguments of all sizes, where tanh is nearly one as well."""
    slope = {
        np.tanh: lambda t: mpmath.sech(t) ** 2,
        np.sin: mpmath.cos,
        np.cos: lambda t: -mpmath.sin(t),
        np.cosh: mpmath.sinh,
    }
    x = np.concatenate([points("tanh"), np.linspace(-350, 350, 41), [0.0, 355.0, 370.0, 1e-300, 600.0]])
    got = host(wg.jit(wg.grad(lambda x: np.sum(function(x))))(strict(x)))
    with mpmath.workdps(40):
        for t, y in zip(x, got, strict=True):
            right = slope[function](mpmath.mpf(float(t)))
            assert abs(mpmath.mpf(float(y)) - right) <= 4 * np.spacing(abs(float(right)))


def test_quotients_by_one_divisor_share_its_inverse():
    """They are corrected products, within one unit in the last place; what is huge, tiny or not finite is divided."""
    rng = np.random.default_rng(3)
    x, y, z = 10.0 ** rng.uniform(-100, 100, (3, 200)) * rng.choice([-1, 1], (3, 200))
    compiled = wg.jit(lambda x, y, z: (x / y, z / y, 1 / y))
    assert compiled.lower(strict(x), strict(y), strict(z)).ptx.count("rcp.rn.f64") == 1
    for got, right in zip(compiled(strict(x), strict(y), strict(z)), (x / y, z / y, 1 / y), strict=True):
        assert np.max(np.abs(host(got) - right) / np.spacing(np.abs(right))) <= 1
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 5e-324, 1e-310, 2.5e-308, 1e-5, 1e300, 1.7e308]
    x, y = [a.ravel() for a in np.meshgrid(special, special)]
    with np.errstate(all="ignore"):
        for got, right in zip(compiled(strict(x), strict(y), strict(-x)), (x / y, -x / y, 1 / y), strict=True):
            assert_alike(host(got), right)


def test_exp_and_tanh_of_one_number_begin_together(rng):
    """They are of one family (`TWINS`), and right in all of its parts, usual or not."""
    f = lambda x: np.sum(np.exp(-x) * np.tanh(x) + np.exp(x))
    x = np.concatenate([rng.normal(size=20), [-0.0, 1e-300, 340.0, -340.0, 360.0, -360.0, 700.0, 745.0, 800.0, np.nan]])
    x = np.concatenate([x, np.linspace(-0.4, 0.4, 30)])
    with np.errstate(all="ignore"):
        exact = -np.exp(-x) * np.tanh(x) + np.exp(-x) / np.cosh(x) ** 2 + np.exp(x)
        np.testing.assert_allclose(host(wg.jit(wg.grad(f))(strict(x))), exact, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unusual_numbers_among_usual_ones(dtype):
    """A kernel computes elements in the short ways, and once more where any number on the way was unusual."""

    def f(x, y):
        return np.sin(x) * np.exp(-y) + np.tanh(y) / (1 + x * x) + np.cos(y) / x + np.sqrt(np.abs(x * y)) / y

    largest = float(np.finfo(dtype).max)
    unusual = [
        0.0,
        -0.0,
        1e-300,
        1e300,
        2.0**30,
        -(2.0**30),
        349.9,
        351.0,
        -43.5,
        720.0,
        -760.0,
        np.inf,
        -np.inf,
        np.nan,
    ]
    sides = np.array([*unusual, 0.7, -1.3, largest, 5e-324], dtype)
    x, y = [a.ravel() for a in np.meshgrid(sides, sides)]
    with np.errstate(all="ignore"):
        value = f(x, y)
        slope = wg.grad(lambda y: np.sum(f(x, y)))(y)
    tolerance = dict(rtol=300 * np.finfo(dtype).eps, atol=0, equal_nan=True)
    np.testing.assert_allclose(host(wg.jit(f)(strict(x), strict(y))), value, **tolerance)
    found = host(wg.jit(wg.grad(lambda y, x: np.sum(f(x, y))))(strict(y), strict(x)))
    np.testing.assert_allclose(found, slope, **tolerance)
