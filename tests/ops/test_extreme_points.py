"""First and second derivatives of elementwise functions at extreme points, against arithmetic with many digits.

Differences of the function itself, in mpmath, with steps so small and digits so many that nothing is lost. What is too
large for float64 must come out infinite, with the right sign; what is too small may come out as zero.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.special as sc

import wengert as wg

mp = pytest.importorskip("mpmath")

POINTS = [1e-300, 1e-20, 1e-8, 0.5, 2.0, 30.0, 690.0, 1e16, 1e300]
EVERYWHERE = (-np.inf, np.inf)
POSITIVE = (0, np.inf)
UNIT = (-1, 1)

FUNCTIONS = {
    "x**x": (lambda x: x**x, lambda x: x**x, (0, 140)),
    "x**(2*x)": (lambda x: x ** (2 * x), lambda x: x ** (2 * x), (0, 50)),
    "2**x": (lambda x: 2.0**x, lambda x: mp.mpf(2) ** x, EVERYWHERE),
    "x**2.5": (lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), POSITIVE),
    "x**0.3": (lambda x: x**0.3, lambda x: x ** mp.mpf(0.3), POSITIVE),
    "x**-1.5": (lambda x: x**-1.5, lambda x: x ** mp.mpf(-1.5), POSITIVE),
    "1/x": (lambda x: 1 / x, lambda x: 1 / x, EVERYWHERE),
    "sqrt": (np.sqrt, mp.sqrt, POSITIVE),
    "exp": (np.exp, mp.exp, EVERYWHERE),
    "expm1": (np.expm1, mp.expm1, EVERYWHERE),
    "log": (np.log, mp.log, POSITIVE),
    "log1p": (np.log1p, mp.log1p, (-1, np.inf)),
    "logaddexp": (lambda x: np.logaddexp(x, 0.0), lambda x: mp.log1p(mp.exp(x)), (-1e5, 1e5)),
    "arctan": (np.arctan, mp.atan, EVERYWHERE),
    "arctan2": (lambda x: np.arctan2(1.0, x), lambda x: mp.atan2(1, x), EVERYWHERE),
    "sinh": (np.sinh, mp.sinh, EVERYWHERE),
    "tanh": (np.tanh, mp.tanh, (-1e3, 1e3)),
    "arcsinh": (np.arcsinh, mp.asinh, EVERYWHERE),
    "sinc": (np.sinc, lambda x: mp.sin(mp.pi * x) / (mp.pi * x), (-30, 30)),
    "xlogy": (lambda x: sc.xlogy(x, x), lambda x: x * mp.log(x), POSITIVE),
    "xlogy in y": (lambda x: sc.xlogy(2.0, x), lambda x: 2 * mp.log(x), POSITIVE),
    "xlog1py": (lambda x: sc.xlog1py(x, x), lambda x: x * mp.log1p(x), POSITIVE),
    "entr": (sc.entr, lambda x: -x * mp.log(x), POSITIVE),
    "rel_entr": (lambda x: sc.rel_entr(x, 2.0), lambda x: x * mp.log(x / 2), POSITIVE),
    "kl_div": (lambda x: sc.kl_div(x, 3.0), lambda x: x * mp.log(x / 3) - x + 3, POSITIVE),
    "logit": (sc.logit, lambda x: mp.log(x) - mp.log(1 - x), (0, 1)),
    "log_expit": (sc.log_expit, lambda x: -mp.log1p(mp.exp(-x)), (-1e5, 1e5)),
    "expit": (sc.expit, lambda x: 1 / (1 + mp.exp(-x)), (-1e3, 1e3)),
    "erf": (sc.erf, mp.erf, (-40, 40)),
    "exprel": (sc.exprel, lambda x: mp.expm1(x) / x, (-1e5, 1e5)),
    "boxcox": (lambda x: sc.boxcox(x, 0.3), lambda x: (x ** mp.mpf(0.3) - 1) / mp.mpf(0.3), POSITIVE),
}
DIFFERENCES = {"expit": 1e-16, "sinc": 1e-14}
"""Second derivatives that come out of a difference of larger numbers, and their rounding."""

CASES = [
    (name, x)
    for name, (_, _, (low, high)) in FUNCTIONS.items()
    for x in [*POINTS, *[-p for p in POINTS]]
    if low < x < high
]


@functools.cache
def expected(name, x):
    """First and second derivative, by differences."""
    f = FUNCTIONS[name][1]
    with mp.workdps(1000):
        x = mp.mpf(x)
        h = abs(x) * mp.mpf(10) ** -12 if abs(x) < 1 else mp.mpf(10) ** -12 * min(abs(x), 1)
        below, here, above = f(x - h), f(x), f(x + h)
        return mp.re((above - below) / (2 * h)), mp.re((above - 2 * here + below) / (h * h))


def assert_is(found, exact, atol=1e-300):
    if abs(exact) > 1.5e308:
        assert found == np.inf * int(mp.sign(exact))
    else:
        assert found == pytest.approx(float(exact), rel=1e-9, abs=atol)


@pytest.mark.parametrize(("name", "x"), CASES)
def test_first_and_second_derivatives(name, x):
    f = FUNCTIONS[name][0]
    first, second = expected(name, x)
    atol = DIFFERENCES.get(name, 1e-300)
    x = np.float64(x)  # Python's own floats raise where the function overflows
    with np.errstate(all="ignore"):
        assert_is(wg.grad(f)(x), first)
        assert_is(wg.grad(wg.grad(f))(x), second, atol)
        assert_is(wg.jvp(wg.grad(f), (x,), (1.0,))[1], second, atol)


def test_compiled_powers():
    f = lambda x: x**x
    for x in (1e-300, 1e-20, 0.5, 3.0):
        assert wg.jit(wg.grad(wg.grad(f)))(x) == pytest.approx(float(expected("x**x", x)[1]), rel=1e-9)


def test_powers_at_zero():
    """0^p for exponents on both sides of where the formula changes."""
    f = lambda x, p: x**p
    p = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
    with np.errstate(all="ignore"):
        slopes = wg.grad(lambda x: np.sum(f(x, p)))(np.zeros(6))
    np.testing.assert_array_equal(slopes, [0, np.inf, np.inf, 1, 0, 0])


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_third_derivatives_of_powers_of_one(p):
    """x^p in both: at x = 1 the logarithm is zero, and what it is multiplied with is not."""
    f = lambda z: z[0] ** z[1]
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = p * (p - 1) * (p - 2)
    expected[0, 0, 1] = expected[0, 1, 0] = expected[1, 0, 0] = 2 * p - 1
    for outer, inner in ((wg.jacfwd, wg.jacfwd), (wg.jacrev, wg.jacfwd), (wg.jacfwd, wg.jacrev)):
        third = outer(inner(wg.jacfwd(f)))
        for derivative in (third, wg.jit(third)):
            np.testing.assert_allclose(derivative(np.array([1.0, p])), expected, atol=1e-13)
