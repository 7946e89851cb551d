"""Special functions: values and first derivatives are those of high-precision arithmetic, over the whole domain.

Every function is called as users call it, through `scipy.special`. The walk over op × mode in `test_table.py` has the
other properties (second order, batches, single precision); `check` is run here on what is composed of ops.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc
from harness import check

import wengert as wg
from wengert.box.dispatch import NONDIFFERENTIABLE, UFUNCS
from wengert.capture.hooks import instrument
from wengert.errors import UnsupportedFunctionError
from wengert.ops import bessel, gamma, incomplete, special

LINE = [-20.0, -3.7, -1.0, -0.3, -1e-8, 0.0, 1e-9, 0.2, 1.0, 2.5, 8.9, 12.1]
SMALL = [-3.7, -1.0, -0.3, -1e-8, 0.0, 1e-9, 0.2, 1.0, 2.5, 5.0]
POSITIVE = [1e-10, 1e-3, 0.2, 0.9999999, 1.0, 1.3, 4.0, 11.3, 45.0]
UNIT = [1e-12, 1e-3, 0.2, 0.5, 0.77, 0.999, 1 - 1e-9]


def _ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


UNARY = {
    "erf": (mp.erf, LINE),
    "erfc": (mp.erfc, LINE),
    "erfi": (mp.erfi, SMALL),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [*LINE, 1e3, 1e8]),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), LINE),
    "erfinv": (mp.erfinv, [-1 + 1e-9, -0.4, 1e-10, 0.3, 0.999999]),
    "ndtr": (_ndtr, LINE),
    "log_ndtr": (lambda x: mp.log(_ndtr(x)), [-40.0, -12.0, -2.0, -1e-5, 0.5, 6.0, 12.0]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [*LINE, -700.0, 700.0]),
    "logit": (lambda x: mp.log(x / (1 - x)), UNIT),
    "log_expit": (lambda x: -mp.log(1 + mp.exp(-x)), [*LINE, -500.0, 300.0]),
    "entr": (lambda x: -x * mp.log(x), POSITIVE),
    "exprel": (lambda x: mp.expm1(x) / x if x else mp.mpf(1), [-700.0, *[x for x in LINE if x], 300.0]),
    "exp10": (lambda x: mp.power(10, x), LINE),
    "cosm1": (lambda x: mp.cos(x) - 1, SMALL),
    "sindg": (lambda x: mp.sin(x * mp.pi / 180), LINE),
    "cosdg": (lambda x: mp.cos(x * mp.pi / 180), LINE),
    "tandg": (lambda x: mp.tan(x * mp.pi / 180), LINE),
    "cotdg": (lambda x: mp.cot(x * mp.pi / 180), [-20.0, 0.5, 3.0, 45.0, 100.0]),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)), SMALL),
    "exp1": (mp.e1, POSITIVE),
    "expi": (mp.ei, [-20.0, -1.0, -1e-3, 1e-3, 0.2, 3.0, 30.0]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [1e-6, 0.3, 0.9, 1.1, 1.9]),
    "gamma": (mp.gamma, [-3.7, -1.0001, -0.5, 1e-8, 0.2, 1.0, 1.4616, 2.0, 30.5, 170.0]),
    "gammaln": (mp.loggamma, [1e-8, 0.2, 1.3, 1.9, 30.5, 1e5]),
    "loggamma": (mp.loggamma, [1e-8, 0.2, 1.3, 1.9, 30.5, 1e5]),
    "digamma": (mp.digamma, [-3.7, -0.5, 1e-8, 0.2, 1.0, 30.5, 1e5]),
    "rgamma": (mp.rgamma, [-3.7, -3.0, -2.0, -1.0000001, -1.0, 0.0, 1e-8, 0.2, 0.7, 1.0, 30.5]),
    "zeta": (mp.zeta, [-9.5, -3.5, -2.0, -0.5, -1e-3, 1e-3, 0.3, 0.9, 1.1, 2.0, 7.0, 30.0]),
    "j0": (mp.j0, LINE),
    "j1": (mp.j1, LINE),
    "y0": (lambda x: mp.bessely(0, x), POSITIVE),
    "y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "i0": (lambda x: mp.besseli(0, x), LINE),
    "i1": (lambda x: mp.besseli(1, x), LINE),
    "k0": (lambda x: mp.besselk(0, x), POSITIVE),
    "k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "i0e": (lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), [-30.0, -1.0, 1e-6, 0.3, 8.0, 49.0, 51.0, 1e4]),
    "i1e": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), [-30.0, -1.0, 1e-6, 0.3, 8.0, 49.0, 52.0, 1e4]),
    "k0e": (lambda x: mp.exp(x) * mp.besselk(0, x), [1e-6, 0.3, 8.0, 49.0, 51.0, 1e4]),
    "k1e": (lambda x: mp.exp(x) * mp.besselk(1, x), [1e-6, 0.3, 8.0, 49.0, 52.0, 1e4]),
    "ellipk": (mp.ellipk, [-1e3, -5.0, -0.21, -0.19, 0.0, 1e-9, 0.19, 0.21, 0.5, 0.9, 0.999999]),
    "ellipe": (mp.ellipe, [-1e3, -5.0, -0.21, -0.19, 0.0, 1e-9, 0.19, 0.21, 0.5, 0.9, 0.999999]),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), [1e-200, 1e-10, 0.1, 0.79, 0.81, 1.0, 1.1, 5.0]),
}
TOLERANCE = {"zeta": 1e-11, "log_ndtr": 1e-12, "j0": 5e-12, "j1": 5e-12, "wrightomega": 1e-13}

DIGITS = {"erf": 250, "erfc": 250, "log_expit": 250, "ellipkm1": 250}
"""What the reference needs to see the function change: erf is 1 − 1e-176 at 20."""


@pytest.fixture(autouse=True)
def quiet():
    """Poles and edges of domains are visited on purpose."""
    with np.errstate(all="ignore"), mp.workdps(40):
        yield


def agree(got, expected, rtol, scale=0.0, message=""):
    np.testing.assert_allclose(got, float(mp.re(expected)), rtol=rtol, atol=max(1e-290, rtol * scale), err_msg=message)


@pytest.mark.parametrize("name", UNARY)
def test_of_one_argument(name):
    f, points = UNARY[name]
    function = getattr(sc, name)
    y, y_dot = wg.jvp(lambda x: function(x), (np.array(points),), (np.ones(len(points)),))
    np.testing.assert_array_equal(y, function(np.array(points)))
    rtol = TOLERANCE.get(name, 1e-12)
    for k, x in enumerate(points):
        scale = 1.0 if name[0] in "jy" else 0.0  # they have zeros between the points
        with mp.workdps(DIGITS.get(name, 40)):
            expected = mp.diff(f, mp.mpf(x))
        agree(y_dot[k], expected, rtol, scale, f"{name}({x})")
    single = wg.jvp(lambda x: function(x), (np.float32([0.3, 0.7]),), (np.float32([1, 1]),))[1]
    assert single.dtype == np.float32


COMPLEMENT = [1e-300, 1e-50, 1e-6, 0.3, 1.0, 1.9]


def test_inverses_in_their_tails():
    """The derivative of an inverse at the exact image of a point is the reciprocal of the derivative there."""
    for q in COMPLEMENT:
        y = sc.erfcinv(q)
        got = wg.derivative(lambda q: sc.erfcinv(q))(q)
        agree(got, -mp.sqrt(mp.pi) / 2 * mp.exp(mp.mpf(y) ** 2), 1e-12)
    for p in [1e-300, 1e-10, 0.3, 0.999]:
        agree(wg.derivative(lambda p: sc.ndtri(p))(p), mp.sqrt(2 * mp.pi) * mp.exp(mp.mpf(sc.ndtri(p)) ** 2 / 2), 1e-12)
    for l in [-1e5, -300.0, -2.0, -1e-3]:
        x = mp.mpf(sc.ndtri_exp(l))
        expected = _ndtr(x) / mp.npdf(x)
        agree(wg.derivative(lambda l: sc.ndtri_exp(l))(l), expected, 1e-10)


PAIRS = {
    "xlogy": (lambda x, y: x * mp.log(y), [0.5, 3.0], POSITIVE),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [0.5, 3.0], [-0.999, -1e-9, 1e-9, 4.0]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [1e-9, 0.5, 3.0], [1e-9, 0.500001, 7.0]),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [1e-9, 0.5, 3.0], [2e-9, 0.500001, 7.0]),
    "pseudo_huber": (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [1e-3, 0.5, 3.0], [-4.0, 1e-3, 0.5, 100.0]),
    "boxcox": (lambda x, p: (mp.power(x, p) - 1) / p, [1e-3, 0.9, 1.0, 5.0], [-1.5, 1e-9, 0.5, 2.0]),
    "boxcox1p": (lambda x, p: (mp.power(1 + x, p) - 1) / p, [1e-9, 0.9, 5.0], [-1.5, 1e-9, 0.5, 2.0]),
    "powm1": (lambda x, p: mp.power(x, p) - 1, [1e-3, 0.9, 5.0], [-1.5, 1e-9, 0.5, 2.0]),
    "beta": (mp.beta, [1e-3, 0.4, 1.0, 8.0], [1e-2, 0.7, 3.0, 30.0]),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [1e-3, 0.4, 8.0, 1e5], [1e-2, 0.7, 30.0, 1e6]),
    "poch": (lambda z, m: mp.rf(z, m), [0.3, 2.0, 1e3], [1e-2, 0.5, 3.0]),
    "binom": (mp.binomial, [0.5, 4.5, 10.0, 1e4], [0.3, 1.0, 2.5, 4.0]),
    "ellipkinc": (mp.ellipf, [-4.0, 1e-3, 0.5, 1.5, 1.57, 3.0], [-30.0, -0.5, 0.0, 1e-9, 0.3, 0.9, 0.99999]),
    "ellipeinc": (mp.ellipe, [-4.0, 1e-3, 0.5, 1.5, 1.57, 3.0], [-30.0, -0.5, 0.0, 1e-9, 0.3, 0.9, 0.99999]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_arguments(name):
    f, xs, ys = PAIRS[name]
    function = getattr(sc, name)
    x, y = np.array(xs)[:, None], np.array(ys)
    for orders, (u, v) in {(1, 0): (1.0, 0.0), (0, 1): (0.0, 1.0)}.items():
        z, dot = wg.jvp(lambda x, y: function(x, y), (x, y), (np.full_like(x, u), np.full_like(y, v)))
        np.testing.assert_array_equal(z, function(x, y))
        for i, a in enumerate(xs):
            for j, b in enumerate(ys):
                expected = mp.diff(f, (mp.mpf(a), mp.mpf(b)), orders)
                agree(dot[i, j], expected, 2e-11, message=f"{name}({a}, {b}) {orders}")


def _spherical(f):
    return lambda n, x: mp.sqrt(mp.pi / 2 / x) * f(n + mp.mpf(1) / 2, x)


ORDERED = {
    "jv": (mp.besselj, [-1, 0, 1, 2, 2.5, 10], [1e-3, 0.7, 5.0, 30.0]),
    "yv": (mp.bessely, [-1, 0, 1, 2, 2.5, 10], [1e-3, 0.7, 5.0, 30.0]),
    "iv": (mp.besseli, [-1, 0, 1, 2, 2.5, 10], [1e-3, 0.7, 5.0, 30.0]),
    "kv": (mp.besselk, [-1, 0, 1, 2, 2.5, 10], [1e-3, 0.7, 5.0, 30.0]),
    "ive": (lambda v, x: mp.exp(-x) * mp.besseli(v, x), [0, 1, 2, 2.5, 6], [1e-3, 0.7, 45.0, 90.0, 1e5]),
    "kve": (lambda v, x: mp.exp(x) * mp.besselk(v, x), [0, 2.5], [1e-3, 45.0, 1e5]),
    "expn": (mp.expint, [0, 1, 2, 5], [1e-3, 0.7, 5.0, 30.0]),
    "polygamma": (mp.polygamma, [0, 1, 2, 5], [-1.3, 1e-3, 0.7, 5.0, 1e4]),
    "hyp0f1": (lambda b, z: mp.hyp0f1(b, z), [1, 2.5], [-5.0, 1e-8, 3.0]),
    "spherical_jn": (_spherical(mp.besselj), [0, 1, 4], [0.1, 2.0, 9.0]),
    "spherical_yn": (_spherical(mp.bessely), [0, 1, 4], [0.1, 2.0, 9.0]),
    "spherical_in": (_spherical(mp.besseli), [0, 1, 4], [0.1, 2.0, 9.0]),
    "spherical_kn": (_spherical(mp.besselk), [0, 1, 4], [0.1, 2.0, 9.0]),
    "eval_legendre": (mp.legendre, [0, 1, 2, 7], [-1.0, -0.3, 0.0, 0.999, 1.0, 2.0]),
    "eval_chebyt": (mp.chebyt, [0, 1, 2, 7], [-0.999, -0.3, 0.01, 0.999]),
    "eval_chebyu": (mp.chebyu, [0, 1, 2, 7], [-0.999, -0.3, 0.01, 0.999]),
    "eval_hermite": (mp.hermite, [0, 1, 2, 7], [-2.0, -0.3, 0.01, 3.0]),
    "eval_hermitenorm": (lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n, [0, 1, 2, 7], [-2.0, 0.01, 3.0]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [0, 1, 2, 7], [-2.0, 0.01, 3.0]),
    "eval_sh_legendre": (lambda n, x: mp.legendre(n, 2 * x - 1), [0, 1, 2, 7], [0.0, 0.3, 1.0]),
    "eval_sh_chebyt": (lambda n, x: mp.chebyt(n, 2 * x - 1), [0, 1, 2, 7], [0.1, 0.3, 0.9]),
    "eval_sh_chebyu": (lambda n, x: mp.chebyu(n, 2 * x - 1), [0, 1, 2, 7], [0.1, 0.3, 0.9]),
    "eval_chebyc": (lambda n, x: 2 * mp.chebyt(n, x / 2), [0, 1, 2, 7], [0.1, 0.3, 0.9]),
    "eval_chebys": (lambda n, x: mp.chebyu(n, x / 2), [0, 1, 2, 7], [0.1, 0.3, 0.9]),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_of_an_order_and_an_argument(name):
    f, orders, points = ORDERED[name]
    function = getattr(sc, name)
    for n in orders:
        x = np.array(points)
        y, y_dot = wg.jvp(lambda x: function(n, x), (x,), (np.ones_like(x),))  # noqa: B023
        np.testing.assert_allclose(y, function(n, x), rtol=1e-14)
        for k, t in enumerate(points):
            expected = mp.diff(lambda x: f(n, x), mp.mpf(t))  # noqa: B023
            agree(y_dot[k], expected, 1e-11, 1e-3 if name != "expn" else 0, f"{name}({n}, {t})")


def test_several_results():
    x = np.array([1e-6, 0.3, 2.1, 8.7])
    results = {
        "sici": (mp.si, mp.ci),
        "shichi": (mp.shi, mp.chi),
        "fresnel": (mp.fresnels, mp.fresnelc),
        "airy": (mp.airyai, lambda t: mp.airyai(t, derivative=1), mp.airybi, lambda t: mp.airybi(t, derivative=1)),
    }
    for name, parts in results.items():
        values, dots = wg.jvp(lambda x: getattr(sc, name)(x), (x,), (np.ones_like(x),))  # noqa: B023
        for value, dot, plain, f in zip(values, dots, getattr(sc, name)(x), parts, strict=True):
            np.testing.assert_array_equal(value, plain)
            for k, t in enumerate(x):
                agree(dot[k], mp.diff(f, mp.mpf(t)), 1e-11, message=f"{name}({t})")
    assert wg.derivative(lambda x: sc.sici(x)[0])(0.0) == 1
    assert wg.derivative(lambda x: sc.shichi(x)[0])(0.0) == 1


# ------------------------------------------------------------------------------------------------ incomplete functions


def _lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


GAMMA_POINTS = [
    (a, x) for a in (1e-4, 0.05, 1.0, 2.5, 37.0, 300.0) for x in (1e-8, 0.1, 0.9, 3.0, 30.0, 280.0, 330.0)
]  # fmt: skip


def test_incomplete_gamma_in_both_arguments():
    a, x = np.array(GAMMA_POINTS).T
    in_a = wg.jvp(lambda a: sc.gammainc(a, x), (a,), (np.ones_like(a),))[1]
    in_x = wg.jvp(lambda x: sc.gammainc(a, x), (x,), (np.ones_like(a),))[1]
    upper = wg.jvp(lambda a, x: sc.gammaincc(a, x), (a, x), (np.ones_like(a), np.full_like(a, 0.5)))[1]
    inverse = wg.grad(lambda a, p: np.sum(sc.gammaincinv(a, p)), (0, 1))(a, sc.gammainc(a, x))
    inverse_upper = wg.grad(lambda a, q: np.sum(sc.gammainccinv(a, q)), (0, 1))(a, sc.gammaincc(a, x))
    for k, (s, t) in enumerate(GAMMA_POINTS):
        with mp.workdps(300 if s > 100 or t > 100 else 100):
            s, t = mp.mpf(s), mp.mpf(t)
            by_a = mp.diff(lambda s: _lower_gamma(s, t), s)  # noqa: B023
            by_x = mp.power(t, s - 1) * mp.exp(-t) / mp.gamma(s)
        agree(in_a[k], by_a, 1e-11, message=f"a: {s}, {t}")
        agree(in_x[k], by_x, 1e-12, message=f"x: {s}, {t}")
        agree(upper[k], -by_a - by_x / 2, 1e-11, float(by_a) * 1e-3)
        for way, sign, p in ((inverse, 1, sc.gammainc(a, x)[k]), (inverse_upper, -1, sc.gammaincc(a, x)[k])):
            if 1e-250 < p < 0.99:
                agree(way[0][k], -by_a / by_x, 1e-8)
                agree(way[1][k], sign / by_x, 1e-8)


def _lower_beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True) if x < 0.5 else 1 - mp.betainc(b, a, 0, 1 - x, regularized=True)


BETA_POINTS = [
    (a, b, x)
    for a, b in ((0.01, 0.3), (1.0, 1.0), (2.5, 0.02), (3.0, 30.0), (150.0, 0.5), (80.0, 200.0))
    for x in (1e-6, 0.02, 0.3, 0.8, 1 - 2.0**-20)
]


def test_incomplete_beta_in_all_arguments():
    a, b, x = np.array(BETA_POINTS).T
    gradient = wg.grad(lambda a, b, x: np.sum(sc.betainc(a, b, x)), (0, 1, 2))(a, b, x)
    upper = wg.grad(lambda a, b, x: np.sum(sc.betaincc(a, b, x)), (0, 1, 2))(a, b, x)
    p, q = sc.betainc(a, b, x), sc.betaincc(a, b, x)
    inverse = wg.grad(lambda a, b, p: np.sum(sc.betaincinv(a, b, p)), (0, 1, 2))(a, b, p)
    inverse_upper = wg.grad(lambda a, b, q: np.sum(sc.betainccinv(a, b, q)), (0, 1, 2))(a, b, q)
    for k, point in enumerate(BETA_POINTS):
        s, t, z = map(mp.mpf, point)
        with mp.workdps(300):
            by_a = mp.diff(lambda s: _lower_beta(s, t, z), s)  # noqa: B023
            by_b = mp.diff(lambda t: _lower_beta(s, t, z), t)  # noqa: B023
            by_x = mp.power(z, s - 1) * mp.power(1 - z, t - 1) / mp.beta(s, t)
        for i, expected in enumerate((by_a, by_b, by_x)):
            agree(gradient[i][k], expected, 1e-11, message=f"{point}, argument {i}")
            agree(upper[i][k], -expected, 1e-11)
        for way, sign, value in ((inverse, 1, p[k]), (inverse_upper, -1, q[k])):
            if 1e-200 < value < 0.99:
                agree(way[0][k], -by_a / by_x, 1e-8)
                agree(way[1][k], -by_b / by_x, 1e-8)
                agree(way[2][k], sign / by_x, 1e-8)


def test_incomplete_functions_at_the_edges():
    assert wg.grad(lambda a: sc.gammainc(a, 0.0))(2.0) == 0
    assert wg.grad(lambda x: sc.gammainc(1.0, x))(0.0) == 1
    assert wg.derivative(wg.derivative(lambda x: sc.gammainc(1.0, x)))(0.0) == -1
    assert wg.derivative(wg.derivative(lambda x: sc.gammainc(2.0, x)))(0.0) == 1
    assert wg.grad(lambda a, x: sc.betainc(a, 2.0, x), (0, 1))(1.0, 0.0) == (0, 2)
    assert wg.grad(lambda a, x: sc.betainc(a, 2.0, x), (0, 1))(1.0, 1.0) == (0, 0)
    large = wg.grad(lambda a: sc.gammainc(a, 1e8))(1e8)
    np.testing.assert_allclose(large, -1 / math.sqrt(2 * math.pi * 1e8), rtol=1e-4)


def test_incomplete_functions_to_second_order(rng):
    check(lambda a, x: sc.gammainc(a, x), rng.uniform(0.3, 3, (2, 3)), rng.uniform(0.2, 4, 3), rtol=1e-6)
    check(lambda a, b: sc.betainc(a, b, 0.3), rng.uniform(0.3, 3, (2, 1)), rng.uniform(0.2, 4, 3), rtol=1e-6)
    check(lambda a, x: sc.betaincinv(a, 1.5, x), rng.uniform(0.3, 3, 3), rng.uniform(0.1, 0.9, 3), rtol=1e-6)


# ------------------------------------------------------------------------------------------------------ compositions

COMPOSED = {
    "chdtr": (lambda v, x: sc.chdtr(v, x), 3.0, 2.2),
    "chdtrc": (lambda v, x: sc.chdtrc(v, x), 3.0, 2.2),
    "chdtri": (lambda v, p: sc.chdtri(v, p), 3.0, 0.3),
    "gdtr": (lambda a, b, x: sc.gdtr(a, b, x), 1.2, 3.0, 2.2),
    "gdtrc": (lambda a, b, x: sc.gdtrc(a, b, x), 1.2, 3.0, 2.2),
    "pdtr": (lambda m: sc.pdtr(2, m), 2.2),
    "pdtrc": (lambda m: sc.pdtrc(2, m), 2.2),
    "bdtr": (lambda p: sc.bdtr(2.0, 5, p), 0.4),
    "bdtrc": (lambda p: sc.bdtrc(2.0, 5, p), 0.4),
    "nbdtr": (lambda p: sc.nbdtr(2, 5, p), 0.4),
    "nbdtrc": (lambda p: sc.nbdtrc(2, 5, p), 0.4),
    "fdtr": (lambda a, b, x: sc.fdtr(a, b, x), 3.0, 4.0, 1.7),
    "fdtrc": (lambda a, b, x: sc.fdtrc(a, b, x), 3.0, 4.0, 1.7),
    "hyp2f1": (lambda z: sc.hyp2f1(0.7, 1.2, 2.3, z), 0.4),
    "hyp1f1": (lambda z: sc.hyp1f1(0.7, 2.3, z), 1.4),
    "hyperu": (lambda z: sc.hyperu(0.7, 2.3, z), 1.4),
    "eval_jacobi": (lambda x: sc.eval_jacobi(3, 0.5, 1.5, x), 0.3),
    "eval_gegenbauer": (lambda x: sc.eval_gegenbauer(3, 0.5, x), 0.3),
    "eval_genlaguerre": (lambda x: sc.eval_genlaguerre(3, 0.5, x), 0.3),
    "zetac": (lambda x: sc.zetac(x), 2.3),
    "pdtri": (lambda y: sc.pdtri(2, y), 0.3),
    "bdtri": (lambda y: sc.bdtri(2.0, 5, y), 0.4),
    "nbdtri": (lambda y: sc.nbdtri(2, 5, y), 0.4),
    "gdtrix": (lambda a, b, p: sc.gdtrix(a, b, p), 1.2, 3.0, 0.4),
    "stdtr": (lambda v, t: sc.stdtr(v, t), 3.0, 0.7),
    "stdtrit": (lambda v, p: sc.stdtrit(v, p), 3.0, 0.7),
    "inv_boxcox": (lambda y, p: sc.inv_boxcox(y, p), 0.7, 0.4),
    "inv_boxcox1p": (lambda y, p: sc.inv_boxcox1p(y, p), 0.7, -0.4),
    "ellipj": (lambda u, m: np.stack(sc.ellipj(u, m)), 1.7, 0.6),
    "voigt_profile": (lambda x, sigma, gamma: sc.voigt_profile(x, sigma, gamma), 0.7, 1.2, 0.4),
    "voigt_profile, some of no width": (lambda x, g: sc.voigt_profile(x, np.array([0.0, 1.0]), g), 0.7, 0.4),
    "fdtri": (lambda d, b, p: sc.fdtri(d, b, p), 3.0, 5.0, 0.4),
    "expn of an order that is no integer": (lambda x: sc.expn(np.array([0.0, 0.7, 2.9]), x), 1.2),
    "agm": (lambda a, b: sc.agm(a, b), 0.7, 2.4),
    "eval_sh_jacobi": (lambda p, q, x: sc.eval_sh_jacobi(3, p, q, x), 2.5, 1.3, 0.4),
    "hurwitz": (lambda x, q: sc.zeta(x, q), 2.3, 1.7),
    "lambertw": (lambda x: sc.lambertw(x).real, 0.7),
    "owens_t": (lambda h, a: sc.owens_t(h, a), 0.7, 1.2),
    "huber": (lambda d, r: sc.huber(d, r), 0.7, 1.2),
    "jve": (lambda x: sc.jve(1, x), 1.2),
    "yve": (lambda x: sc.yve(1, x), 1.2),
    "hankel": (lambda x: np.real(sc.hankel1(1, x) * sc.hankel2e(0, x) * sc.hankel1e(2, x)), 1.2),
    "jvp": (lambda x: sc.jvp(1.5, x, 2), 1.2),
    "np.i0": (lambda x: np.i0(x), 1.2),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_in_every_mode(name):
    f, *args = COMPOSED[name]
    check(f, *args, rtol=1e-6, single=name not in ("lambertw", "hankel"))


@pytest.mark.parametrize("name", ["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"])
def test_derivatives_of_bessel_functions_in_both_arguments(name):
    function = getattr(sc, name)
    for n in (0, 1, 3):
        check(instrument(lambda v, z: np.imag(1j * function(v, z, n)) + 0 * v), 1.3, 2.2, rtol=1e-6, second=n == 1)  # noqa: B023


def test_functions_that_are_plain_python():
    """They do not dispatch, and are reached through instrumentation."""

    def several(x):
        return (
            sc.multigammaln(x, 3)
            + sc.comb(x, 2)
            + sc.perm(x, 2)
            + sc.factorial(x)
            + sc.spherical_kn(1, x, derivative=True)
            + sc.spherical_jn(0, x)
            + sc.polygamma(1, x)
            + sc.zeta(x)
            + sc.zeta(x, 2.0)
            + sc.lambertw(x).real
            + math.erf(x)
            + math.lgamma(x)
        )

    np.testing.assert_allclose(wg.grad(several)(2.4), wg.numerical.grad(several)(2.4), rtol=1e-7)
    if hasattr(sc, "softplus"):
        assert wg.grad(lambda x: sc.softplus(x))(0.0) == 0.5


# ------------------------------------------------------------------------------------------------- numerics at edges


def test_logarithms_times_zero():
    assert wg.grad(lambda x, y: sc.xlogy(x, y), (0, 1))(0.0, 2.0) == (math.log(2), 0)
    assert wg.grad(lambda y: sc.xlogy(0.0, y))(0.0) == 0
    assert wg.grad(lambda y: sc.xlog1py(0.0, y))(-1.0) == 0
    assert wg.grad(lambda y: sc.rel_entr(0.0, y))(0.0) == 0
    assert wg.grad(lambda y: sc.kl_div(0.0, y))(2.0) == 1
    assert wg.grad(lambda x: sc.entr(x))(0.0) == math.inf
    assert wg.grad(lambda d, r: sc.pseudo_huber(d, r), (0, 1))(0.0, 0.0) == (0, 0)


def test_saturation():
    x = np.array([-1e4, -800.0, 800.0, 1e4])
    for function in (sc.expit, sc.log_expit, sc.ndtr, sc.erf, sc.erfc, sc.i0e, sc.dawsn):
        first = wg.jvp(lambda x: function(x), (x,), (np.ones(4),))[1]  # noqa: B023
        assert np.all(np.isfinite(first)), function
        second = wg.jvp(wg.grad(lambda x: np.sum(function(x))), (x,), (np.ones(4),))[1]  # noqa: B023
        assert np.all(np.isfinite(second)), function
    # Far in the tail log Φ(x) is −x²/2 − log(−x) …: second derivative −1 + 1/x² …
    tail = np.array([-1e3, -1e6, -1e9])
    first = wg.jvp(lambda x: sc.log_ndtr(x), (tail,), (np.ones(3),))[1]
    np.testing.assert_allclose(first, -tail - 1 / tail, rtol=1e-11)
    second = wg.jvp(wg.grad(lambda x: np.sum(sc.log_ndtr(x))), (tail,), (np.ones(3),))[1]
    np.testing.assert_allclose(second, -1 + 1 / tail**2, rtol=1e-11)
    third = wg.derivative(wg.derivative(wg.derivative(lambda x: sc.log_ndtr(x))))
    for x in (-30.0, -3.0, 0.5, 40.0):
        with mp.workdps(60):
            agree(third(x), mp.diff(lambda t: mp.log(_ndtr(t)), mp.mpf(x), 3) if x < 30 else 0, 1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_higher_derivatives_of_the_scaled_functions(n):
    x = np.array([-2.0, 0.3, 5.0, 9.5, 30.0, 500.0])
    for op, f in ((special.erfcx, UNARY["erfcx"][0]), (special.dawsn, UNARY["dawsn"][0])):
        for t, got in zip(x, op(x, n=n), strict=True):
            with mp.workdps(80):
                agree(got, mp.diff(f, mp.mpf(t), n), 1e-9, message=f"{op}: {t}")
    x = np.array([0.3, 5.0, 48.0, 100.0, 5e3])
    for op, name, sign in ((bessel.ive, "ive", 1), (bessel.kve, "kve", -1)):
        for v in (0, 2.5):
            for t, got in zip(x, op(v, x, n=n), strict=True):
                with mp.workdps(60):  # the derivative is half the second difference in the order
                    terms = [(-1) ** j * math.comb(2 * n, j) * ORDERED[name][0](v - n + j, t) for j in range(2 * n + 1)]
                    agree(got, mp.fsum(terms) * (mp.mpf(sign) / 2) ** n, 1e-7, message=f"{op}: {v}, {t}")


def test_differences_of_polygamma_functions_do_not_cancel():
    for x, h in ((1.0, 1e-9), (1e6, 1.0), (1e6, -3.0), (0.1, 5.0), (-0.5, 0.2), (1e-9, 3e8), (2.5, -2.4), (1e12, 7.0)):
        expected = mp.digamma(mp.mpf(x) + mp.mpf(h)) - mp.digamma(mp.mpf(x))
        agree(gamma.polygamma_step(x, h, n=0), expected, 1e-13 if x < 0 else 4e-15)
    assert gamma.polygamma_step(1.0, np.inf, n=0) == np.inf
    assert gamma.polygamma_step(0.0, 1.0, n=0) == np.inf


def test_binomials_that_vanish():
    for n, k in ((3.0, 5.0), (3.0, -2.0)):
        gradient = wg.grad(lambda n, k: sc.binom(n, k), (0, 1))(n, k)
        agree(gradient[0], mp.diff(lambda n: mp.binomial(n, k), n), 1e-12)  # noqa: B023
        agree(gradient[1], mp.diff(lambda k: mp.binomial(n, k), k), 1e-12)  # noqa: B023


@pytest.mark.parametrize(("n", "k"), [(0.5, 2.5), (2.0, 4.0), (2.5, -1.0)])
def test_higher_derivatives_of_binomials_that_vanish(n, k):
    curve = lambda t: (n + t, k - t * t + 0.3 * t)
    found = wg.taylor(lambda t: sc.binom(*curve(t)), 0.0, 4)
    for a, b in zip(found, mp.taylor(lambda t: mp.binomial(*curve(t)), 0, 4), strict=True):
        agree(a, b, 1e-12)


def test_rising_factorials_where_gamma_functions_have_poles():
    for m in (0, 1, 2, 5):
        p = np.poly1d([1.0])
        for k in range(m):
            p = p * np.poly1d([1.0, k])
        f = lambda z, m=m: sc.poch(z, m)
        for z in (-7.0, -5.0, -3.0, -1.0, 0.0, -0.5, 0.3, 2.5):
            np.testing.assert_allclose(wg.grad(f)(z), p.deriv()(z), rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(wg.grad(wg.grad(f))(z), p.deriv(2)(z), rtol=1e-10, atol=1e-11)
    for z in (0.0, -2.0):  # derivatives of 1/Γ there are (−1)ᶻ·|z|!
        np.testing.assert_allclose(
            wg.grad(lambda z: sc.poch(z, 0.5))(z), sc.gamma(z + 0.5) * sc.gamma(1 - z), rtol=1e-13
        )


def test_complex_arguments():
    z = np.array([0.3 + 0.4j, -1.2 + 0.1j])
    h = 1e-3
    for f in (sc.erf, sc.erfc, sc.gamma, sc.loggamma, sc.exp1, sc.wrightomega, sc.lambertw):
        dot = wg.jvp(lambda z: f(z), (z,), (np.ones(2) + 0j,))[1]  # noqa: B023
        numeric = (8 * (f(z + h) - f(z - h)) - (f(z + 2 * h) - f(z - 2 * h))) / (12 * h)
        np.testing.assert_allclose(dot, numeric, rtol=1e-8)
    with pytest.raises(UnsupportedFunctionError):
        wg.jvp(lambda z: sc.psi(z), (z,), (z,))


# ------------------------------------------------------------------------------------------------------------- errors


def test_parameters_without_a_rule_are_an_error():
    f = lambda n: sc.polygamma(n, 0.3)
    with pytest.raises(UnsupportedFunctionError, match="stop_gradient"):
        wg.grad(f)(1.0)
    assert wg.grad(lambda v: v * f(wg.stop_gradient(v)))(1.0) == f(1.0)


def test_every_ufunc_is_answered():
    for name in dir(sc):
        ufunc = getattr(sc, name)
        if isinstance(ufunc, np.ufunc):
            assert (ufunc in UFUNCS) != (ufunc in NONDIFFERENTIABLE), name


def test_densities_far_from_the_mode():
    for a, x in ((10.0, 1e-8), (37.0, 1e-3), (1e4, 9e3), (1e8, 1.0001e8)):
        with mp.workdps(60):
            s, t = mp.mpf(a), mp.mpf(x)
            expected = mp.exp((s - 1) * mp.log(t) - t - mp.loggamma(s))
        agree(incomplete.gamma_density(a, x), expected, 1e-12 * max(1.0, a / 1e5))


# ---------------------------------------------------------------------------------------------- parameters of all kinds

WHOLE = {
    # functions some of whose parameters SciPy makes whole numbers of, and between which numbers its operands are
    "kn": ((0.2, 4.8), (0.1, 5.0)), "yn": ((0.2, 4.8), (0.1, 5.0)),
    "bdtr": ((-1.5, 6.0), (-1.0, 6.0), (0.0, 1.0)), "bdtrc": ((-1.5, 6.0), (0.0, 6.0), (0.0, 1.0)),
    "bdtri": ((-1.5, 6.0), (-1.0, 6.0), (0.01, 1.0)), "nbdtr": ((-2.5, 6.0), (-1.0, 6.0), (0.0, 1.0)),
    "nbdtrc": ((-2.5, 6.0), (-1.0, 6.0), (0.0, 1.0)), "nbdtri": ((-2.5, 6.0), (1.0, 6.0), (0.01, 1.0)),
    "pdtr": ((-1.5, 6.0), (0.0, 6.0)), "pdtrc": ((-1.5, 6.0), (0.0, 6.0)), "pdtri": ((-1.5, 6.0), (0.01, 0.99)),
    "gdtr": ((0.1, 3.0), (0.1, 3.0), (-1.0, 5.0)), "gdtrc": ((0.1, 3.0), (0.1, 3.0), (-1.0, 5.0)),
    "fdtr": ((-1.0, 5.0), (-1.0, 5.0), (-1.0, 5.0)), "fdtrc": ((-1.0, 5.0), (-1.0, 5.0), (-1.0, 5.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.filterwarnings("ignore")
def test_parameters_that_are_not_whole_or_out_of_range(name, rng):
    """What is compiled or differentiated has SciPy's values, also where there should be no such parameters."""
    f = getattr(sc, name)
    args = [rng.uniform(a, b, 60) for a, b in WHOLE[name]]
    args[0][::3] = np.round(args[0][::3])
    if len(args) > 2:
        args[1][::4] = np.round(args[1][::4])
        args[1][1::4] = args[0][1::4]
    want = f(*args)
    np.testing.assert_allclose(wg.jit(f)(*args), want, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(wg.jvp(lambda x: f(*args[:-1], x), (args[-1],), (args[-1],))[0], want, rtol=1e-9)
    assert np.isnan(want).any() == (name not in ("kn", "yn"))


def test_values_that_are_differences_of_large_ones():
    x = np.array([-3.5, -1e-10, 0.5, 1.5, 30.0, 60.0])
    for f in (sc.zetac, sc.zeta):
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-13)
    np.testing.assert_allclose(wg.jvp(sc.zetac, (x,), (x,))[0], sc.zetac(x), rtol=1e-13)
    a = np.array([1e-300, 1e-20, 1e-3, 0.9, 2.0])
    np.testing.assert_allclose(wg.jit(sc.agm)(a, 0.999), sc.agm(a, 0.999), rtol=1e-13)
    slope = wg.derivatives(lambda a: sc.agm(a, 2.0), order=2)(1e-8)
    with mp.workdps(40):
        want = [float(mp.diff(lambda z: mp.agm(z, 2), mp.mpf(1e-8), k)) for k in range(3)]
    np.testing.assert_allclose(slope, want, rtol=1e-11)


def test_infinitely_many_degrees_of_freedom():
    t, df = np.array([-1.5, 0.3, 2.0]), np.array([np.inf, 3.0, np.inf])
    for f, x in ((sc.stdtr, t), (sc.stdtrit, np.array([0.1, 0.5, 0.8]))):
        np.testing.assert_allclose(wg.jit(f)(df, x), f(df, x), rtol=1e-12, atol=1e-15)
    slope = wg.derivative(lambda t: sc.stdtr(df, t))(t)
    np.testing.assert_allclose(slope[::2], np.exp(-(t[::2] ** 2) / 2) / np.sqrt(2 * np.pi), rtol=1e-13)


def test_jacobis_functions():
    """Against high precision in both arguments, with the limits at m = 0 and 1, where the derivative in m is 0/0."""
    u = [-4.2, -1.0, 1e-9, 0.4, 3.3]
    for m in (0.0, 1e-9, 0.4, 0.99):
        slopes = [wg.jacfwd(lambda u, m: np.stack(sc.ellipj(u, m)), k)(np.array(u), m) for k in (0, 1)]
        for j, x in enumerate(u):
            for i, kind in enumerate(("sn", "cn", "dn")):
                with mp.workdps(40):
                    in_u = mp.diff(lambda u: mp.ellipfun(kind, u, m=m).real, x)  # noqa: B023
                    in_m = mp.diff(lambda m: mp.ellipfun(kind, x, m=m).real, m)  # noqa: B023
                np.testing.assert_allclose(slopes[0][i, j, j], float(in_u), rtol=1e-12, atol=1e-13)
                np.testing.assert_allclose(slopes[1][i, j], float(in_m), rtol=1e-11, atol=1e-13)
    assert wg.grad(lambda u: sc.ellipj(u, 1.0)[0])(0.7) == pytest.approx(1 / np.cosh(0.7) ** 2)


def test_dirichlets_kernel():
    """(1 + 2 Σ cos(k·x))/n for odd n, also at multiples of 2π."""
    x = np.array([0.0, 0.3, -2.0, 2 * np.pi, 7.0])
    f = lambda x: sc.diric(x, 5)
    np.testing.assert_allclose(wg.derivative(f)(x), -2 / 5 * (np.sin(x) + 2 * np.sin(2 * x)), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(wg.derivative(f, order=2)(x), -2 / 5 * (np.cos(x) + 4 * np.cos(2 * x)), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-13)
    several = np.array([1, 4, 0, -2, 2.5])
    np.testing.assert_allclose(wg.jvp(lambda x: sc.diric(x, several), (x,), (x,))[0], sc.diric(x, several), rtol=1e-12)


def test_a_branch_for_each_element():
    """In a batch as well, where the axis of examples is not that of the branches."""
    x, k = np.array([0.3, 0.8]), np.array([0, -1])
    expected = np.stack([sc.lambertw(one, k) for one in x])
    np.testing.assert_allclose(wg.vmap(lambda x: sc.lambertw(x, k))(x), expected)
    slope = wg.jvp(lambda x: sc.lambertw(x, k), (x,), (np.ones(2),))[1]
    w = sc.lambertw(x, k)
    np.testing.assert_allclose(slope, w / (x * (1 + w)), rtol=1e-12)


def test_associated_laguerre_polynomials():
    slope = wg.derivative(lambda x: sc.assoc_laguerre(x, 3, 0.5))(np.array([0.3, 2.0]))
    np.testing.assert_allclose(slope, -sc.eval_genlaguerre(2, 1.5, np.array([0.3, 2.0])), rtol=1e-12)


def test_powers_of_box_and_cox_at_the_end_of_their_domain():
    """There they are −1/p."""
    for f, x in ((sc.boxcox, 0.0), (sc.boxcox1p, -1.0)):
        np.testing.assert_allclose(wg.derivatives(lambda p: f(x, p), order=2)(0.7), [-1 / 0.7, 0.7**-2, -2 * 0.7**-3])  # noqa: B023
