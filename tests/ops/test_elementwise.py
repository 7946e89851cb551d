"""Every elementwise op: all modes agree (`check`), and the partials are those of high-precision arithmetic."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from harness import check

import wengert as wg
from wengert.ops import elementwise as e
from wengert.ops.derive import Elementwise, Zero
from wengert.ops.op import TABLE, call

ALL = [-30.0, -3.7, -1.0, -0.3, -1e-8, 1e-9, 0.2, 0.9999, 1.0, 2.5, 17.0]
AND_ZERO = [0.0, *ALL]
POSITIVE = [1e-12, 0.03, 0.5, 1.0, 1.0000001, 3.0, 1e5]
INSIDE = [-0.999999, -0.7, -1e-10, 0.0, 0.1, 0.5, 0.99999]


def _signed(f):
    return lambda x: mp.sign(x) * f(abs(x))


UNARY = {
    "negative": (lambda x: -x, AND_ZERO),
    "positive": (lambda x: x, AND_ZERO),
    "reciprocal": (lambda x: 1 / x, ALL),
    "square": (lambda x: x * x, AND_ZERO),
    "sqrt": (mp.sqrt, POSITIVE),
    "cbrt": (_signed(mp.cbrt), ALL),
    "exp": (mp.exp, AND_ZERO),
    "exp2": (lambda x: mp.power(2, x), AND_ZERO),
    "expm1": (mp.expm1, AND_ZERO),
    "log": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x, 2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "log1p": (mp.log1p, [-0.999, -0.4, -1e-10, 0.0, 1e-10, 2.0, 1e8]),
    "sin": (mp.sin, AND_ZERO),
    "cos": (mp.cos, ALL),
    "tan": (mp.tan, AND_ZERO),
    "arcsin": (mp.asin, INSIDE),
    "arccos": (mp.acos, INSIDE),
    "arctan": (mp.atan, AND_ZERO),
    "degrees": (mp.degrees, AND_ZERO),
    "radians": (mp.radians, AND_ZERO),
    "sinh": (mp.sinh, AND_ZERO),
    "cosh": (mp.cosh, ALL),
    "tanh": (mp.tanh, AND_ZERO),
    "sech_squared": (lambda x: mp.sech(x) ** 2, ALL),
    "one_minus_square": (lambda x: 1 - x * x, [*AND_ZERO, 1 - 1e-9]),
    "arcsinh": (mp.asinh, AND_ZERO),
    "arccosh": (mp.acosh, [1.0001, 1.5, 3.0, 1e7]),
    "arctanh": (mp.atanh, INSIDE),
    "absolute": (abs, ALL),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [*AND_ZERO, -700.0, 700.0]),
}
BINARY = {
    "add": (lambda x, y: x + y, ALL, ALL),
    "subtract": (lambda x, y: x - y, ALL, ALL),
    "multiply": (lambda x, y: x * y, ALL, ALL),
    "divide": (lambda x, y: x / y, AND_ZERO, ALL),
    "power": (mp.power, POSITIVE, [-3.0, -0.5, 1e-3, 0.0, 1.0, 1.5, 2.0, 3.0]),
    "remainder": (lambda x, y: x - y * mp.floor(x / y), [-7.3, -0.2, 0.4, 9.1], [-2.5, -0.7, 1.1, 30.0]),
    "fmod": (lambda x, y: x - y * _truncated(x / y), [-7.3, -0.2, 0.4, 9.1], [-2.5, -0.7, 1.1, 30.0]),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), ALL, ALL),
    "logaddexp2": (lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y), 2), ALL, ALL),
    "arctan2": (mp.atan2, ALL, AND_ZERO),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), ALL, AND_ZERO),
    "copysign": (lambda x, y: abs(x) * mp.sign(y), ALL, ALL),
    "maximum": (max, [-1.0, 0.5], [-2.0, 0.7]),
    "minimum": (min, [-1.0, 0.5], [-2.0, 0.7]),
    "fmax": (max, [-1.0, 0.5], [-2.0, 0.7]),
    "fmin": (min, [-1.0, 0.5], [-2.0, 0.7]),
}
ELSEWHERE = {"where", "nan_to_num", "ldexp", "power_log", "heaviside", "sinc"}
"""Ops with tests of their own below."""


def _truncated(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


@pytest.fixture(autouse=True)
def quiet():
    """Poles and edges of domains are visited on purpose."""
    with np.errstate(all="ignore"), mp.workdps(40):
        yield


def test_every_elementwise_op_is_tested_here():
    here = {name for name, op in TABLE.items() if isinstance(op, Elementwise) and getattr(e, name, None) is op}
    assert here == set(UNARY) | set(BINARY) | ELSEWHERE


@pytest.mark.parametrize("name", UNARY)
def test_unary_partials_to_rounding(name):
    f, points = UNARY[name]
    x = np.array(points)
    y, y_dot = wg.jvp(TABLE[name], (x,), (np.ones_like(x),))
    np.testing.assert_allclose(y, [float(mp.re(f(mp.mpf(t)))) for t in points], rtol=1e-14)
    np.testing.assert_allclose(y_dot, [float(mp.diff(f, t)) for t in points], rtol=2e-13, atol=1e-300)
    single = wg.jvp(TABLE[name], (x.astype(np.float32),), (np.ones_like(x, np.float32),))[1]
    assert single.dtype == np.float32


@pytest.mark.parametrize("name", BINARY)
def test_binary_partials_to_rounding(name):
    f, xs, ys = BINARY[name]
    x, y = np.array(xs)[:, None], np.array(ys)
    for orders, (u, v) in {(1, 0): (1.0, 0.0), (0, 1): (0.0, 1.0)}.items():
        dot = wg.jvp(TABLE[name], (x, y), (np.full_like(x, u), np.full_like(y, v)))[1]
        for i, a in enumerate(xs):
            for j, b in enumerate(ys):
                if abs(a) == abs(b) and name in ("copysign", "remainder", "fmod"):
                    continue
                expected = float(mp.diff(f, (mp.mpf(a), mp.mpf(b)), orders))
                np.testing.assert_allclose(dot[i, j], expected, rtol=1e-12, atol=1e-290, err_msg=f"{a}, {b}")


SHAPES = [(), (4,), (0,), (2, 3), (2, 0)]


def _points(points, shape, rng, spread=0.01):
    inside = [p for p in points if 1e-3 < abs(p) < 10] or points
    return rng.choice(inside, shape) * (1 + spread * rng.uniform(-1, 0, shape))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_in_every_mode(name, shape, rng):
    check(TABLE[name], _points(UNARY[name][1], shape, rng), rtol=1e-6)


PAIRS = [((), ()), ((3, 1), (1, 4)), ((2, 3), ()), ((), (3,)), ((3,), (2, 3)), ((0,), (1,)), ((2, 1), (0,))]


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_in_every_mode(name, shapes, rng):
    _, xs, ys = BINARY[name]
    check(TABLE[name], _points(xs, shapes[0], rng), _points(ys, shapes[1], rng), rtol=1e-6)


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if isinstance(op, Zero) and hasattr(e, name)])
def test_locally_constant_ops_have_no_tangent(name):
    op = TABLE[name]
    x = np.array([0.5, -1.5, 2.0])
    arguments = op.impl.nin if isinstance(op.impl, np.ufunc) else 2 if name == "isclose" else 1
    y, y_dot = wg.jvp(lambda t: call(op, *[t] * arguments) * 1.0, (x,), (x,))
    np.testing.assert_array_equal(y_dot, np.zeros(3))


# ------------------------------------------------------------------------------------------------ ops of their own kind


def test_where(rng):
    mask = np.array([[True, False, True], [False, False, True]])
    check(lambda x, y: e.where(mask, x, y), rng.normal(size=(2, 3)), rng.normal(size=3))
    check(lambda x: e.where(mask[0], x, 1.0) ** 2, rng.normal(size=(2, 1)))


def test_where_does_not_spread_infinities():
    x = np.array([0.0, 4.0])
    gradient = wg.grad(lambda x: np.sum(e.where(x > 0, np.sqrt(e.where(x > 0, x, 1.0)), 0.0)))(x)
    np.testing.assert_array_equal(gradient, [0.0, 0.25])


def test_nan_to_num():
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    y, y_dot = wg.jvp(np.nan_to_num, (x,), (np.full(4, 3.0),))
    np.testing.assert_array_equal(y, np.nan_to_num(x))
    np.testing.assert_array_equal(y_dot, [3.0, 0.0, 0.0, 0.0])


def test_ldexp(rng):
    check(lambda x: e.ldexp(x, np.array([1, -3, 0])), rng.normal(size=(2, 3)))


def test_heaviside(rng):
    check(lambda x, h: e.heaviside(x, h), np.array([-1.0, 0.5, 2.0]), rng.normal(size=3))
    assert wg.grad(e.heaviside, argnums=1)(0.0, 0.5) == 1.0


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_sinc_of_every_order(order):
    points = [0.0, 1e-9, -1e-4, 0.3, 0.999, -1.7, 4.2, 33.3]

    def f(t):
        return mp.sinc(mp.pi * t)

    g = lambda t: e.sinc(t, n=0)
    for _ in range(order):
        g = (lambda inner: lambda t: wg.jvp(inner, (t,), (np.ones_like(t),))[1])(g)
    expected = [float(mp.diff(f, t, order)) for t in points]
    np.testing.assert_allclose(g(np.array(points)), expected, rtol=1e-10, atol=1e-11 * np.pi**order)
    check(np.sinc, np.array([0.3, -1.7]))


# ------------------------------------------------------------------------------------------------------- special points


def partial(f, *args, which=0):
    return wg.grad(lambda *a: f(*a) * 1.0, argnums=which)(*args)


@pytest.mark.parametrize("x", [0.0, np.float64(0.0), np.array(0.0)], ids=["float", "float64", "0-d"])
def test_functions_of_numpy_at_poles(x):
    assert partial(np.log, x) == np.inf
    assert partial(np.sqrt, x) == np.inf
    assert partial(lambda t: t**0.5, x) == np.inf
    assert partial(np.log1p, x - 1) == np.inf
    assert partial(np.arctanh, x + 1) == np.inf


@pytest.mark.parametrize("x", [np.float64(0.0), np.array(0.0)], ids=["float64", "0-d"])
def test_operators_at_poles(x):
    assert partial(lambda t: 1 / t, x) == -np.inf
    assert partial(lambda t: t**-1, x) == -np.inf
    assert partial(lambda t: (1.0 + x) / t, x) == -np.inf
    assert partial(lambda t: t / x, 1.0) == np.inf
    assert np.isnan(partial(lambda t: t**1.5, x - 2.0))


def test_operators_of_pythons_numbers_raise_where_python_does():
    for f, x in ((lambda t: 1 / t, 0.0), (lambda t: t**-1, 0.0), (lambda t: t / 0.0, 1.0)):
        with pytest.raises(ZeroDivisionError):
            f(x)
        with pytest.raises(ZeroDivisionError):
            partial(f, x)


def test_powers_of_negative_numbers():
    x = np.array([-2.0, -0.5, 3.0])
    for p in (3, 3.0, -2, 2, 1, 0, 5):
        expected = 0 * x if p == 0 else p * x ** (p - 1.0)
        np.testing.assert_allclose(wg.grad(lambda x, p=p: np.sum(x**p))(x), expected, rtol=1e-15)
        np.testing.assert_allclose(wg.grad(lambda x, p=p: np.sum(x ** np.float64(p)))(x), expected, rtol=1e-15)
        np.testing.assert_allclose(wg.grad(lambda x, p=p: np.sum(x ** np.full(3, p)))(x), expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", [int, float, np.uint8, np.float32])
def test_powers_with_arrays_of_exponents(dtype):
    exponents = np.arange(3, dtype=dtype)
    for x in (0.0, -3.0, 2.0):
        np.testing.assert_array_equal(wg.jvp(lambda x: x**exponents, (x,), (1.0,))[1], [0.0, 1.0, 2 * x])
        np.testing.assert_array_equal(
            wg.jvp(lambda x: wg.jvp(lambda x: x**exponents, (x,), (1.0,))[1], (x,), (1.0,))[1], [0.0, 0.0, 2.0]
        )
    assert wg.jvp(lambda x: x**exponents, (np.inf,), (1.0,))[1][0] == 0


def test_powers_of_zero_in_the_exponent():
    p = np.array([0.5, 1.0, 2.0])
    np.testing.assert_array_equal(wg.grad(lambda p: np.sum(0.0**p))(p), 0 * p)
    np.testing.assert_array_equal(wg.grad(lambda p: np.sum(np.zeros(3) ** p))(p), 0 * p)
    assert partial(e.power, 0.0, 0.0, which=1) == -np.inf
    assert partial(lambda p: 2**p, 3.0) == pytest.approx(8 * np.log(2))
    assert partial(lambda p: np.int8(2) ** p, 3.0) == pytest.approx(8 * np.log(2), rel=1e-15)


def test_mixed_second_derivatives_of_powers():
    def mixed(x, p):
        return wg.grad(lambda p: wg.grad(lambda x: x**p)(x))(p), wg.grad(lambda x: wg.grad(lambda p: x**p)(p))(x)

    for x, p in [(2.0, 0.0), (2.0, 1.0), (0.3, 2.0), (0.0, 2.0), (0.0, 3.5)]:
        expected = x ** (p - 1) * (1 + p * np.log(x)) if x else 0.0
        assert mixed(x, p) == pytest.approx((expected, expected))
    assert mixed(0.0, 1.0)[1] == -np.inf


def test_remainder_belongs_to_its_quotient():
    for x, y in [(1.0, 0.1), (-1.0, 0.1), (7.0, -2.0), (-7.0, 2.0), (0.3, 0.1), (-1.0, np.inf)]:
        assert partial(np.remainder, x, y, which=1) == -np.floor_divide(x, y)
        assert partial(np.remainder, x, y) == 1.0


def test_subgradients_of_least_norm():
    assert partial(np.absolute, 0.0) == 0.0
    assert wg.grad(np.hypot, argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert wg.grad(wg.grad(lambda x: np.hypot(x, 0.0)))(0.0) == 0.0
    assert partial(np.copysign, 0.0, -1.0) == 0.0
    assert partial(np.copysign, -2.0, 3.0) == -1.0
    assert partial(np.copysign, -2.0, -0.0) == 1.0
    assert wg.grad(np.hypot, argnums=(0, 1))(3e200, 4e200) == pytest.approx((0.6, 0.8))


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_ties_share_equally(f):
    assert wg.grad(f, argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    np.testing.assert_array_equal(wg.jvp(lambda x: f(x, np.uint8([1, 2, 3])), (np.full(3, 2.0),), (np.ones(3),))[1],
                                  [1, 0.5, 0] if f in (np.maximum, np.fmax) else [0, 0.5, 1])  # fmt: skip


def test_which_one_is_chosen_beside_nan():
    assert wg.grad(np.maximum, argnums=(0, 1))(np.nan, 2.0) == (1.0, 0.0)
    assert wg.grad(np.minimum, argnums=(0, 1))(1.0, np.nan) == (0.0, 1.0)
    assert wg.grad(np.fmax, argnums=(0, 1))(np.nan, 2.0) == (0.0, 1.0)
    assert wg.grad(np.fmin, argnums=(0, 1))(1.0, np.nan) == (1.0, 0.0)


@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2])
def test_shares_of_infinite_terms(f):
    inf = np.inf
    assert wg.grad(f, argnums=(0, 1))(inf, 1.0) == (1.0, 0.0)
    assert wg.grad(f, argnums=(0, 1))(-inf, 1.0) == (0.0, 1.0)
    assert wg.grad(f, argnums=(0, 1))(-inf, -inf) == pytest.approx((0.5, 0.5))
    assert wg.grad(f, argnums=(0, 1))(1e300, -1e300) == (1.0, 0.0)


def test_tails():
    assert partial(np.tanh, 300.0) == pytest.approx(4 * np.exp(-600.0), rel=1e-12)
    assert partial(np.tanh, 1000.0) == 0.0
    assert partial(np.arctan, np.inf) == 0.0
    assert partial(np.arctan2, 1e200, 1e200) == pytest.approx(0.5e-200)
    assert partial(np.exp, -np.inf) == 0.0


# -------------------------------------------------------------------------------------------------------- mixed dtypes


@pytest.mark.parametrize("f", [
    lambda x: x * 2.0, lambda x: 2 * x, lambda x: 1.5 / x, lambda x: x / 3, lambda x: x**2.5, lambda x: 2.0**x,
    lambda x: x - 1.0, lambda x: np.maximum(x, 0.0), lambda x: np.minimum(1, x), lambda x: np.hypot(x, 1.0),
    lambda x: np.arctan2(1.0, x), lambda x: np.logaddexp(0.0, x), lambda x: x % 0.7, lambda x: np.sinc(x),
    lambda x: np.copysign(x, -1.0), lambda x: np.clip(x, 0.1, 0.9), lambda x: np.fmod(x, 0.3), lambda x: x**2,
])  # fmt: skip
def test_python_numbers_do_not_widen_float32(f):
    x = np.float32([0.5, 1.25, 2.0])
    assert f(x).dtype == np.float32
    y, y_dot = wg.jvp(f, (x,), (np.ones_like(x),))
    assert y.dtype == y_dot.dtype == np.float32
    (x_bar,) = wg.vjp(f, x)[1](np.ones_like(x))
    assert x_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, wg.grad(lambda x: np.sum(f(x)))(x.astype(float)), rtol=1e-5)


def test_integer_constants_beside_traced_floats(rng):
    n = np.arange(3)
    x = rng.uniform(0.5, 2.0, size=(2, 3))
    check(lambda x: n * x + x / (1 + n) - n, x)
    check(lambda x: x**n, x)
    check(lambda x: (n + 1) ** x, x)
    check(lambda x: np.maximum(x, n) + np.remainder(x, n + 1), x)
    check(lambda x: np.float32([1, 2, 3]) * x, x, single=False)


def test_float32_and_float64_together():
    x, y = np.float32([1.0, 2.0]), np.array([3.0, 4.0])
    x_bar, y_bar = wg.grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(x, y)
    assert x_bar.dtype == np.float32
    assert y_bar.dtype == np.float64


def test_complex_arguments_where_analytic():
    z = np.array([0.3 + 0.4j, -1.2 + 0.1j])
    names = "exp log sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh sqrt reciprocal square"
    for name in [*names.split(), "expm1", "log1p", "log2", "log10", "exp2"]:
        f = TABLE[name]
        h = 1e-6
        _, dot = wg.jvp(f, (z,), (np.ones_like(z),))
        np.testing.assert_allclose(dot, (f(z + h) - f(z - h)) / (2 * h), rtol=1e-7, err_msg=name)
        _, turned = wg.jvp(f, (z,), (1j * np.ones_like(z),))
        np.testing.assert_allclose(turned, 1j * dot, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctanh", "tanh", "arctan", "arcsinh", "tan"])
def test_second_derivatives_vanish_at_zero_to_rounding(name):
    points = [1e-8, -1e-12, 3e-5]
    expected = [float(mp.diff(UNARY[name][0], t, 2)) for t in map(mp.mpf, points)]
    second = wg.derivative(TABLE[name], order=2)
    np.testing.assert_allclose(second(np.array(points)), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.derivative(wg.derivative(TABLE[name]))(np.array(points)), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "f", [lambda x: np.logaddexp(0.0, x), lambda x: np.logaddexp(x, 0.0), lambda x: np.logaddexp2(1, x)]
)
def test_slopes_of_single_numbers_are_computed_in_single_precision(f):
    x = np.linspace(-3, 3, 8, dtype=np.float32)
    program = wg.jit(wg.grad(lambda x: np.sum(f(x)))).lower(x).ir
    assert "f64[" not in program
