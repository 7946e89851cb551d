"""Distributions of scipy.stats: values are SciPy's, derivatives those of the mathematics, also far out and at edges."""

from __future__ import annotations

import functools
import sys

import mpmath
import numpy as np
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose

import wengert as wg
from wengert.box.distributions.continuous import CONTINUOUS
from wengert.box.distributions.discrete import DISCRETE
from wengert.box.distributions.lookup import MULTIVARIATE
from wengert.errors import UnsupportedFunctionError

# Shape parameters, and points well inside the support of the standardised distribution.
CASES = {
    "norm": ((), [-2.0, 0.3, 1.7]),
    "t": ((3.5,), [-2.0, 0.3, 1.7]),
    "cauchy": ((), [-2.0, 0.3, 1.7]),
    "beta": ((2.3, 1.4), [0.1, 0.5, 0.8]),
    "gamma": ((2.3,), [0.3, 1.0, 4.0]),
    "invgamma": ((4.7,), [0.1, 0.5, 1.4]),
    "chi2": ((3.3,), [0.3, 1.0, 4.0]),
    "f": ((3.3, 5.2), [0.3, 1.0, 4.0]),
    "expon": ((), [0.3, 1.0, 4.0]),
    "laplace": ((), [-2.0, 0.3, 1.7]),
    "logistic": ((), [-2.0, 0.3, 1.7]),
    "lognorm": ((0.7,), [0.3, 1.0, 4.0]),
    "weibull_min": ((1.7,), [0.3, 1.0, 3.0]),
    "pareto": ((2.7,), [1.2, 2.0, 5.0]),
    "uniform": ((), [0.1, 0.5, 0.8]),
    "truncnorm": ((-1.2, 2.1), [-0.8, 0.3, 1.7]),
}
DISCRETE_CASES = {
    "poisson": ((2.7,), [0, 2, 7]),
    "binom": ((9, 0.3), [0, 3, 8]),
    "nbinom": ((3.4, 0.4), [0, 2, 9]),
    "bernoulli": ((0.3,), [0, 1, 1]),
    "geom": ((0.3,), [1, 3, 8]),
}
LOC, SCALE = 0.2, 1.3
OF_DATA = ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"]
OF_PARAMETERS = ["entropy", "mean", "var", "std", "median"]
OF_COUNTS = ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"]
SMOOTH_TWICE = {"logpdf", "logpmf", "cdf", "logcdf", "ppf"}


def agrees_with_scipy(method, args, argnums, second=False):
    """Value and derivatives in the arguments `argnums` of a method of SciPy's, against differences of SciPy."""

    def with_traced(call):
        def f(*traced):
            full = list(args)
            for i, v in zip(argnums, traced, strict=True):
                full[i] = v
            return call(*full)

        return f

    inner = with_traced(lambda *full: method(*full))
    primals = tuple(args[i] for i in argnums)
    weights = tuple(np.ones_like(p) * (0.7 + 0.3 * i) for i, p in enumerate(primals))
    y, dot = wg.jvp(inner, primals, weights)
    assert_allclose(y, method(*args), rtol=1e-11, atol=1e-13)
    expected = wg.numerical.jvp(with_traced(method), primals, weights, method="richardson")
    assert_allclose(dot, expected, rtol=2e-6, atol=1e-7)

    y, pullback = wg.vjp(inner, *primals)
    bars = pullback(np.ones_like(y))
    total = sum(np.sum(b * w) for b, w in zip(bars, weights, strict=True))
    assert_allclose(total, np.sum(dot), rtol=1e-10, atol=1e-12)
    if second:

        def slope(*z):
            return wg.jvp(inner, z, weights)[1]

        expected = wg.numerical.jvp(slope, primals, weights, method="richardson")
        assert_allclose(wg.jvp(slope, primals, weights)[1], expected, rtol=1e-5, atol=1e-6)


def test_every_distribution_has_a_case():
    assert CASES.keys() == CONTINUOUS.keys()
    assert DISCRETE_CASES.keys() == DISCRETE.keys()


@pytest.mark.parametrize("method", OF_DATA)
@pytest.mark.parametrize("name", CASES)
def test_continuous(name, method):
    shapes, points = CASES[name]
    x = np.array([0.1, 0.45, 0.93]) if method in ("ppf", "isf") else LOC + SCALE * np.array(points)
    args = (x, *shapes, LOC, SCALE)
    agrees_with_scipy(getattr(getattr(st, name), method), args, range(len(args)), second=method in SMOOTH_TWICE)


@pytest.mark.parametrize("method", OF_PARAMETERS)
@pytest.mark.parametrize("name", CASES)
def test_properties_of_continuous(name, method):
    args = (*CASES[name][0], LOC, SCALE)
    agrees_with_scipy(getattr(getattr(st, name), method), args, range(len(args)))


@pytest.mark.parametrize("method", OF_COUNTS)
@pytest.mark.parametrize("name", DISCRETE_CASES)
def test_discrete(name, method):
    shapes, points = DISCRETE_CASES[name]
    if name == "bernoulli" and method == "logsf":
        points = [0, 0]  # elsewhere −∞, of which differences are NaN
    argnums = [i + 1 for i, shape in enumerate(DISCRETE[name].shapes) if shape not in DISCRETE[name].counts]
    agrees_with_scipy(
        getattr(getattr(st, name), method), (np.array(points), *shapes), argnums, second=method in SMOOTH_TWICE
    )


@pytest.mark.parametrize("method", ["entropy", "mean", "var", "std"])
@pytest.mark.parametrize("name", DISCRETE_CASES)
def test_properties_of_discrete(name, method):
    argnums = [i for i, shape in enumerate(DISCRETE[name].shapes) if shape not in DISCRETE[name].counts]
    agrees_with_scipy(getattr(getattr(st, name), method), DISCRETE_CASES[name][0], argnums)


def test_quantiles_of_discrete_distributions_are_steps():
    value, slope = wg.value_and_grad(lambda mu: st.poisson.ppf(0.3, mu) * mu)(7.3)
    assert value == st.poisson.ppf(0.3, 7.3) * 7.3
    assert slope == st.poisson.ppf(0.3, 7.3)


def test_discrete_data_have_no_derivative():
    assert wg.grad(lambda k: st.poisson.logpmf(k, 2.5))(3.0) == 0
    assert wg.grad(lambda n: st.binom.logpmf(2, n, 0.3))(5.0) == 0


# ---------------------------------------------------------------------------------------------------------------- tails

mp = mpmath.mp.clone()
mp.dps = 300


def mp_slopes(f, *args):
    """The partial derivatives of a function of mpmath numbers, by central differences of relative step 1e-40."""
    h, found = mp.mpf(10) ** -40, []
    for i, x in enumerate(args):
        above, below = [[*args[:i], x * factor, *args[i + 1 :]] for factor in (1 + h, 1 - h)]
        found.append(float((f(*above) - f(*below)) / (2 * h * x)))
    return found


def in_the_tail(f, reference, *args, rtol=1e-11):
    args = tuple(map(float, args))
    value, slopes = wg.value_and_grad(f, argnums=tuple(range(len(args))))(*args)
    exact = tuple(map(mp.mpf, args))
    assert_allclose(value, float(reference(*exact)), rtol=rtol)
    assert_allclose(slopes, mp_slopes(reference, *exact), rtol=rtol, atol=1e-250)
    compiled = wg.jit(wg.value_and_grad(f, argnums=tuple(range(len(args)))))(*args)
    assert_allclose(compiled[0], value, rtol=1e-13)
    assert_allclose(compiled[1], slopes, rtol=rtol, atol=1e-250)


@pytest.mark.parametrize("x", [-30.0, -1000.0, 6.0])
def test_tails_of_the_normal(x):
    in_the_tail(lambda x: st.norm.logcdf(x), lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), x)
    in_the_tail(lambda x: st.norm.logsf(-x), lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), x)


@pytest.mark.parametrize("x", [-800.0, 40.0])
def test_tails_of_the_logistic(x):
    in_the_tail(lambda x: st.logistic.logcdf(x), lambda x: -mp.log(1 + mp.exp(-x)), x)
    in_the_tail(lambda x: st.logistic.logsf(-x), lambda x: -mp.log(1 + mp.exp(-x)), x)
    in_the_tail(lambda x: st.logistic.logpdf(x), lambda x: -x - 2 * mp.log(1 + mp.exp(-x)), x)


def mp_betainc(a, b, x):
    """Regularised, by the hypergeometric series, which keeps its digits in the lower tail."""
    return x**a * (1 - x) ** b / (a * mp.beta(a, b)) * mp.hyp2f1(a + b, 1, a + 1, x)


def mp_student(t, df):
    return mp_betainc(df / 2, mp.mpf(1) / 2, df / (df + t * t)) / 2


@pytest.mark.parametrize(("x", "df"), [(-4.0, 3.5), (-1e40, 3.5), (-1e200, 2.0), (-300.0, 80.0), (-0.3, 5.0)])
def test_tails_of_student(x, df):
    in_the_tail(lambda x, df: st.t.logcdf(x, df), lambda x, df: mp.log(mp_student(x, df)), x, df, rtol=1e-10)
    in_the_tail(lambda x, df: st.t.logsf(-x, df), lambda x, df: mp.log(mp_student(x, df)), x, df, rtol=1e-10)


def test_student_in_its_centre_and_in_the_limit():
    def logpdf(x, df):
        return (
            mp.loggamma((df + 1) / 2)
            - mp.loggamma(df / 2)
            - mp.log(df * mp.pi) / 2
            - (df + 1) / 2 * mp.log1p(x * x / df)
        )

    in_the_tail(lambda x, df: st.t.logpdf(x, df), logpdf, 1e170, 2.5)
    in_the_tail(lambda x, df: st.t.logpdf(x, df), logpdf, 0.7, 1e4, rtol=1e-9)
    assert_allclose(wg.grad(lambda x: st.t.cdf(x, 5.0))(0.0), st.t.pdf(0.0, 5.0), rtol=1e-14)
    assert_allclose(wg.derivative(lambda q: st.t.ppf(q, 5.0))(0.5), 1 / st.t.pdf(0.0, 5.0), rtol=1e-14)
    mixed = wg.derivative(lambda df: wg.derivative(lambda x: st.t.cdf(x, df))(0.0))(5.0)
    assert_allclose(mixed, wg.derivative(lambda df: st.t.pdf(0.0, df))(5.0), rtol=1e-12)
    assert_allclose(wg.grad(lambda x: st.t.logpdf(x, np.inf))(1.5), -1.5)
    assert_allclose(wg.grad(lambda x: st.t.logcdf(x, np.inf))(-30.0), wg.grad(lambda x: st.norm.logcdf(x))(-30.0))


@pytest.mark.parametrize(("x", "a"), [(1e-100, 5.0), (1e-3, 400.0), (200.0, 900.0)])
def test_lower_tail_of_gamma(x, a):
    def logcdf(x, a):
        return a * mp.log(x) - x - mp.loggamma(a + 1) + mp.log(mp.hyp1f1(1, a + 1, x))

    in_the_tail(lambda x, a: st.gamma.logcdf(x, a), logcdf, x, a)
    in_the_tail(lambda x, a: st.chi2.logcdf(2 * x, 2 * a), logcdf, x, a)
    in_the_tail(lambda x, a: st.invgamma.logsf(1 / x, a), logcdf, x, a)
    assert_allclose(
        wg.hessian(lambda x: st.gamma.logcdf(x, a))(x),
        float(mp.diff(lambda x: logcdf(x, a), x, 2, relative=True)),
        1e-9,
    )


@pytest.mark.parametrize(("x", "a"), [(2000.0, 5.0), (900.0, 0.3), (4000.0, 1500.0), (30.0, 2.0)])
def test_upper_tail_of_gamma(x, a):
    def logsf(x, a):
        return mp.log(mp.gammainc(a, x, mp.inf, regularized=True))

    in_the_tail(lambda x, a: st.gamma.logsf(x, a), logsf, x, a)
    in_the_tail(lambda x, a: st.chi2.logsf(2 * x, 2 * a), logsf, x, a)


@pytest.mark.parametrize(("mu", "k"), [(2000.0, 3), (1e-70, 4), (5.0, 2)])
def test_tails_of_poisson(mu, k):
    in_the_tail(
        lambda mu: st.poisson.logcdf(k, mu), lambda mu: mp.log(mp.gammainc(k + 1, mu, mp.inf, regularized=True)), mu
    )

    def logsf(mu):
        return (k + 1) * mp.log(mu) - mu - mp.loggamma(k + 2) + mp.log(mp.hyp1f1(1, k + 2, mu))

    in_the_tail(lambda mu: st.poisson.logsf(k, mu), logsf, mu)


@pytest.mark.parametrize(("x", "a", "b"), [(1e-60, 5.0, 2.0), (0.05, 300.0, 20.0), (0.3, 2.0, 3.0)])
def test_tails_of_beta(x, a, b):
    def log_betainc(x, a, b):
        return mp.log(mp_betainc(a, b, x))

    in_the_tail(lambda x, a, b: st.beta.logcdf(x, a, b), log_betainc, x, a, b)
    in_the_tail(lambda w, a, b: st.f.logcdf(w * b / a, 2 * a, 2 * b), lambda w, a, b: log_betainc(w / (1 + w), a, b),
                x / (1 - x), a, b)  # fmt: skip
    in_the_tail(lambda p: st.binom.logsf(299, 320, p), lambda p: mp.log(mp_betainc(300, 21, p)), x)
    in_the_tail(lambda p, n: st.nbinom.logcdf(20, n, p), lambda p, n: mp.log(mp_betainc(n, 21, p)), x, a)


@pytest.mark.parametrize(("x", "a", "b"), [(35.5, 35.0, 40.0), (-35.5, -40.0, -35.0), (0.5, -1.0, 50.0)])
def test_tails_of_the_truncated_normal(x, a, b):
    def mass(a, b):
        return mp.ncdf(b) - mp.ncdf(a) if a < 0 else mp.ncdf(-a) - mp.ncdf(-b)

    in_the_tail(
        lambda x, a, b: st.truncnorm.logpdf(x, a, b), lambda x, a, b: mp.log(mp.npdf(x)) - mp.log(mass(a, b)), x, a, b
    )
    in_the_tail(lambda x, a, b: st.truncnorm.cdf(x, a, b), lambda x, a, b: mass(a, x) / mass(a, b), x, a, b, rtol=1e-7)
    q = float(st.truncnorm.cdf(x, a, b))
    slope = wg.grad(lambda q: st.truncnorm.ppf(q, a, b))(q)
    assert_allclose(slope, 1 / st.truncnorm.pdf(st.truncnorm.ppf(q, a, b), a, b), rtol=1e-9)


def test_unbounded_truncation():
    for a, b in ((-np.inf, 1.0), (-1.0, np.inf), (-np.inf, np.inf)):
        x = np.array([-0.5, 0.3])
        for method in ("logpdf", "cdf", "logcdf", "sf", "logsf"):
            agrees_with_scipy(getattr(st.truncnorm, method), (x, a, b), [0])
        agrees_with_scipy(st.truncnorm.ppf, (np.array([0.3, 0.6]), a, b), [0])
    slope = wg.grad(lambda b: st.truncnorm.logpdf(0.3, -np.inf, b))(1.0)
    assert_allclose(slope, -st.norm.pdf(1.0) / st.norm.cdf(1.0))


def test_large_counts():
    """Where the terms of the logarithm are so large that their sum has lost half its digits."""
    k, mu = 10**8, 1.0001e8
    exact = mp.exp(k * mp.log(mp.mpf(mu)) - mu - mp.loggamma(k + 1))
    value, slope = wg.value_and_grad(lambda mu: st.poisson.pmf(k, mu))(mu)
    assert_allclose(value, float(exact), rtol=1e-12)
    assert_allclose(slope, float(exact * (k / mp.mpf(mu) - 1)), rtol=1e-10)
    n, p = 2 * 10**8, 0.50001
    exact = mp.exp(mp.loggamma(n + 1) - 2 * mp.loggamma(k + 1) + k * mp.log(mp.mpf(p)) + k * mp.log(1 - mp.mpf(p)))
    assert_allclose(wg.value_and_grad(lambda p: st.binom.pmf(k, n, p))(p)[0], float(exact), rtol=1e-11)


def test_other_tails():
    in_the_tail(lambda x: st.expon.logcdf(x), lambda x: mp.log(1 - mp.exp(-x)), 1e-100)
    in_the_tail(lambda x: st.expon.logcdf(x), lambda x: mp.log(1 - mp.exp(-x)), 50.0)
    in_the_tail(lambda x: st.laplace.logcdf(x), lambda x: x - mp.log(2), -1000.0)
    in_the_tail(lambda x: st.cauchy.logcdf(x), lambda x: mp.log(mp.atan2(1, -x) / mp.pi), -1e30)
    in_the_tail(lambda x: st.cauchy.logpdf(x), lambda x: -mp.log(mp.pi) - mp.log(1 + x * x), 1e200)
    in_the_tail(lambda x, b: st.pareto.logsf(x, b), lambda x, b: -b * mp.log(x), 1e200, 3.0)
    in_the_tail(lambda x, c: st.weibull_min.logcdf(x, c), lambda x, c: mp.log(-mp.expm1(-(x**c))), 1e-100, 4.0)
    in_the_tail(lambda x, s: st.lognorm.logcdf(x, s), lambda x, s: mp.log(mp.ncdf(mp.log(x) / s)), 1e-20, 0.7)
    in_the_tail(lambda p: st.geom.logsf(10**6, p), lambda p: 10**6 * mp.log(1 - p), 0.3)


# ----------------------------------------------------------------------------------------------------------- boundaries


@pytest.mark.parametrize("name", ["beta", "gamma", "invgamma", "chi2", "f", "expon", "lognorm", "weibull_min",
                                  "pareto", "uniform", "truncnorm"])  # fmt: skip
def test_outside_the_support(name):
    shapes, points = CASES[name]
    distribution, below = getattr(st, name), -4.0
    x = np.array([below, points[0]])  # beside a point inside, which must not be disturbed
    for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):

        def f(x, *parameters):
            return getattr(distribution, method)(x, *parameters)  # noqa: B023

        value, pullback = wg.vjp(f, x, *shapes, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            assert_allclose(value, getattr(distribution, method)(x, *shapes), rtol=1e-12)
        for bar in pullback(np.array([1.0, 0.0])):
            assert np.all(bar == 0), method
        for bar in pullback(np.array([0.0, 1.0])):
            assert np.all(np.isfinite(bar)), method


def test_boundaries_count_as_inside():
    assert wg.value_and_grad(lambda x: st.expon.logpdf(x))(0.0) == (0.0, -1.0)
    assert wg.value_and_grad(lambda x: st.expon.cdf(x))(0.0) == (0.0, 1.0)
    assert wg.value_and_grad(lambda x: st.uniform.cdf(x, 0, 2))(2.0) == (1.0, 0.5)
    assert wg.value_and_grad(lambda x: st.gamma.logpdf(x, 1.0))(0.0) == (0.0, -1.0)
    assert_allclose(wg.value_and_grad(lambda x: st.beta.logpdf(x, 1.0, 3.0))(0.0), (np.log(3), -2.0))
    assert wg.value_and_grad(lambda x: st.gamma.pdf(x, 2.0))(0.0) == (0.0, 1.0)
    assert wg.value_and_grad(lambda x: st.weibull_min.pdf(x, 2.0))(0.0) == (0.0, 2.0)
    assert wg.value_and_grad(lambda x: st.beta.pdf(x, 3.0, 2.0))(1.0)[1] == pytest.approx(-12.0)
    assert_allclose(wg.value_and_grad(lambda x: st.f.pdf(x, 4.0, 2.0))(0.0), (0.0, 8.0))
    value, slope = wg.value_and_grad(lambda x: st.truncnorm.cdf(x, -1.0, 2.0))(-1.0)
    assert value == 0
    assert_allclose(slope, st.truncnorm.pdf(-1.0, -1.0, 2.0))


@pytest.mark.parametrize("name", CASES)
def test_edges_of_quantiles_and_infinite_data(name):
    shapes, distribution = CASES[name][0], getattr(st, name)
    edges, ends = np.array([0.0, 0.5, 1.0, -0.5, 1.5]), np.array([-np.inf, np.inf, np.nan])
    with np.errstate(all="ignore"):
        for method in ("ppf", "isf"):
            call = getattr(distribution, method)
            got = wg.jvp(lambda q: call(q, *shapes), (edges,), (edges * 0,))[0]  # noqa: B023
            assert_allclose(got, call(edges, *shapes), atol=1e-15)
        for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
            call = getattr(distribution, method)
            got = wg.jvp(lambda x: call(x, *shapes), (ends,), (ends * 0,))[0]  # noqa: B023
            expected = call(ends, *shapes)
            if method in ("logpdf", "pdf"):
                expected[:2] = -np.inf if method == "logpdf" else 0.0  # SciPy has NaN for some
            assert_allclose(got, expected)


def test_kinks_and_symmetric_points():
    assert wg.grad(lambda x: st.laplace.logpdf(x))(0.0) == 0
    assert wg.grad(lambda x: st.laplace.cdf(x))(0.0) == 0.5
    assert_allclose(wg.hessian(lambda x: st.logistic.logpdf(x))(0.0), -0.5)
    assert_allclose(wg.grad(lambda q: st.cauchy.ppf(q))(0.5), np.pi)


def test_probabilities_at_their_bounds():
    assert wg.grad(lambda p: st.bernoulli.pmf(1, p))(0.0) == 1
    assert wg.grad(lambda p: st.bernoulli.logpmf(0, p))(0.0) == -1
    assert_allclose(wg.grad(lambda p: st.binom.pmf(1, 5, p))(0.0), 5)
    assert_allclose(wg.grad(lambda p: st.binom.pmf(5, 5, p))(1.0), 5)
    assert wg.grad(lambda p: st.binom.logpmf(0, 5, p))(0.0) == -5
    assert wg.grad(lambda mu: st.poisson.pmf(1, mu))(0.0) == 1
    assert wg.grad(lambda mu: st.poisson.logpmf(0, mu))(0.0) == -1
    assert wg.grad(lambda p: st.geom.logpmf(1, p))(1.0) == 1
    assert wg.grad(lambda p: st.geom.pmf(2, p))(1.0) == -1


def test_impossible_counts():
    k = np.array([-1, 2, 11, 2.5])
    value, slopes = wg.value_and_grad(lambda p: np.sum(st.binom.pmf(k, 10, p)))(0.3)
    assert_allclose(value, st.binom.pmf(2, 10, 0.3))
    assert_allclose(slopes, wg.grad(lambda p: st.binom.pmf(2, 10, p))(0.3))
    logs = wg.jvp(lambda p: st.binom.logpmf(k, 10, p), (0.3,), (1.0,))
    assert_allclose(logs[0], st.binom.logpmf(k, 10, 0.3))
    assert_allclose(logs[1], [0, 2 / 0.3 - 8 / 0.7, 0, 0])
    for method in ("cdf", "sf", "logcdf", "logsf"):
        call = getattr(st.binom, method)
        with np.errstate(divide="ignore"):
            assert_allclose(wg.jvp(lambda p: call(k, 10, p), (0.3,), (1.0,))[0], call(k, 10, 0.3), rtol=1e-12)  # noqa: B023


def test_invalid_parameters_give_nan():
    value, slope = wg.value_and_grad(lambda s: st.norm.pdf(0.3, 0.0, s))(-1.0)
    assert np.isnan(value)
    assert np.isnan(slope)
    assert np.isnan(wg.jvp(lambda p: st.poisson.pmf(2, p), (-1.0,), (1.0,))[0])


# ------------------------------------------------------------------------------------ arguments, frozen, batches, reach


def test_keywords_lists_and_broadcasting():
    x, loc, scale = np.linspace(-1, 1, 4)[:, None], np.array([0.0, 0.5, 2.0]), 1.5

    def by_position(x, loc, scale):
        return np.sum(st.t.logpdf(x, 4.0, loc, scale) ** 2)

    def by_keyword(x, loc, scale):
        return np.sum(st.t.logpdf(x, scale=scale, loc=loc, df=4.0) ** 2)

    expected = wg.numerical.grad(by_position, argnums=(0, 1, 2), method="richardson")(x, loc, scale)
    for f in (by_position, by_keyword):
        for got, want in zip(wg.grad(f, argnums=(0, 1, 2))(x, loc, scale), expected, strict=True):
            assert_allclose(got, want, rtol=1e-7, atol=1e-9)
    assert_allclose(wg.grad(lambda m: np.sum(st.norm.logpdf([0.1, 0.2], loc=[m, 2 * m])))(1.0), -0.9 - 2 * 1.8)
    assert wg.jvp(lambda s: st.norm.entropy(np.zeros(3), s), (2.0,), (1.0,))[1].shape == (3,)
    assert wg.jvp(lambda s: st.uniform.logpdf(np.full(3, 0.5), 0.0, s), (2.0,), (1.0,))[1].tolist() == [-0.5] * 3
    assert_allclose(wg.grad(lambda q: st.norm.ppf(q=q, scale=2.0))(0.5), 2 * np.sqrt(2 * np.pi))
    for wrong in (
        lambda x: st.norm.logpdf(x, 0, 1, 2),
        lambda x: st.gamma.logpdf(x),
        lambda x: st.norm.logpdf(x, shape=1),
        lambda x: st.norm.logpdf(x, 0, loc=1),
    ):
        with pytest.raises(TypeError):
            wg.grad(wrong)(0.3)


@pytest.mark.parametrize("name", CASES)
def test_frozen(name):
    shapes, points = CASES[name]
    x, distribution = points[1], getattr(st, name)

    def direct(x, loc, scale):
        return distribution.logpdf(x, *shapes, loc, scale)

    def frozen(x, loc, scale):
        return distribution(*shapes, loc=loc, scale=scale).logpdf(x)

    expected = wg.grad(direct, argnums=(0, 1, 2))(x, 0.01, 1.1)
    assert wg.grad(frozen, argnums=(0, 1, 2))(x, 0.01, 1.1) == expected
    outside = distribution(*shapes, loc=0.01, scale=1.1)
    assert wg.grad(lambda x: outside.logpdf(x))(x) == expected[0]
    assert wg.grad(lambda s: distribution.freeze(*shapes, 0.0, s).entropy())(2.0) == pytest.approx(0.5)


def test_frozen_discrete_and_multivariate():
    assert_allclose(wg.grad(lambda mu: np.sum(st.poisson(mu).logpmf([1, 2])))(2.0), 3 / 2.0 - 2)
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    x = np.array([0.3, -0.4])
    inside = wg.grad(lambda c: st.multivariate_normal(np.zeros(2), c).logpdf(x))(cov)
    assert_allclose(inside, wg.grad(lambda c: st.multivariate_normal.logpdf(x, cov=c))(cov))
    rv = st.multivariate_normal(np.zeros(2), cov)
    assert_allclose(wg.grad(lambda x: rv.logpdf(x))(x), -np.linalg.solve(cov, x))
    assert_allclose(wg.grad(lambda m: np.sum(st.multivariate_normal(m, cov).mean ** 2))(x), 2 * x)
    rv = st.dirichlet([1.5, 2.0])
    assert_allclose(wg.grad(lambda x: rv.logpdf(x))(np.array([0.3])), 0.5 / 0.3 - 1 / 0.7)
    rv = st.wishart(4, cov)
    assert_allclose(
        wg.grad(lambda x: rv.logpdf(x))(cov), wg.grad(lambda x: st.wishart.logpdf(x, 4, cov))(cov), rtol=1e-12
    )
    rv = st.multivariate_t(np.zeros(2), cov, df=3)
    assert_allclose(wg.grad(lambda x: rv.pdf(x))(x), wg.grad(lambda x: st.multivariate_t.pdf(x, None, cov, 3))(x))


def test_what_is_not_traced_is_scipys_own():
    def f(x):
        rv = st.norm(0.0, 2.0)
        return x * st.norm.cdf(0.3) + rv.var() + type(rv).__name__.count("frozen")

    assert wg.value_and_grad(f)(2.0) == (2 * st.norm.cdf(0.3) + 5, st.norm.cdf(0.3))


def test_without_a_user_function_around():
    assert wg.grad(st.norm.logpdf)(0.3) == -0.3
    assert wg.grad(functools.partial(st.norm.logpdf, scale=2.0))(0.3) == -0.075


def test_batches():
    x, scale = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, 0.7])
    for name, (shapes, points) in {**CASES, "t": ((2.5,), [-1e60, 0.4, 3.0])}.items():
        x = np.array(points)
        for method in ("logpdf", "cdf", "logcdf", "logsf"):
            call = getattr(getattr(st, name), method)

            def f(x, s):
                return call(x, *shapes, 0.0, s)  # noqa: B023

            s = scale if name not in ("beta", "uniform", "truncnorm", "pareto") else np.ones(3)
            one_by_one = [wg.grad(f, argnums=(0, 1))(a, b) for a, b in zip(x, s, strict=True)]
            got = wg.vmap(wg.grad(f, argnums=(0, 1)))(x, s)
            assert_allclose(np.stack(got, 1), one_by_one, rtol=1e-10, err_msg=f"{name}.{method}")
    mu = np.array([0.5, 3.0])
    got = wg.vmap(lambda m: st.poisson.logpmf(np.arange(3), m))(mu)
    assert_allclose(got, st.poisson.logpmf(np.arange(3), mu[:, None]))
    assert_allclose(wg.vmap(lambda m: st.poisson.entropy(m))(mu), st.poisson.entropy(mu), rtol=1e-8)


def test_methods_without_rules_say_so():
    for f in (
        lambda s: st.norm.rvs(scale=s),
        lambda s: st.landau.logpdf(s),
        lambda s: st.truncnorm.moment(3, 0.0, s),
        lambda s: st.norm(s).expect(lambda x: x),
        lambda s: st.multivariate_normal.cdf([0.0, s]),
    ):
        with pytest.raises(UnsupportedFunctionError, match="scipy.stats"):
            wg.grad(f)(0.7)
    with pytest.raises(AttributeError):
        wg.grad(lambda s: st.norm(s).no_such_method())(0.7)


def test_user_subclasses_are_left_alone():
    assert st.norm.__class__.__module__ in sys.modules
    other = st.norm.__class__(a=0.0, b=1.0, name="other")
    with pytest.raises(UnsupportedFunctionError):
        wg.grad(lambda x: other.logpdf(x))(0.3)


# --------------------------------------------------------------------------------------------------------- multivariate

COV = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]])
SPREAD = np.array([[0.7, 0.2, 0.0], [0.2, -0.5, 0.4], [0.0, 0.4, 0.3]])  # a symmetric direction
MEAN = np.array([0.1, -0.4, 0.3])
POINTS = np.array([[0.3, 0.5, -0.2], [1.0, -2.0, 0.4]])


def agrees_along(f, *args, tangents, second=True):
    """Value, first and second derivative along tangents, against SciPy."""
    y, dot = wg.jvp(lambda *a: f(*a), args, tangents)
    assert_allclose(y, f(*args), rtol=1e-12)
    assert_allclose(dot, wg.numerical.jvp(f, args, tangents, method="richardson"), rtol=1e-7, atol=1e-9)

    def slope(*a):
        return wg.jvp(lambda *a: f(*a), a, tangents)[1]

    expected = wg.numerical.jvp(slope, args, tangents, method="richardson")
    assert_allclose(wg.jvp(slope, args, tangents)[1], expected, rtol=1e-6, atol=1e-8)
    bars = wg.grad(lambda *a: np.sum(f(*a)), argnums=tuple(range(len(args))))(*args)
    total = sum(np.sum(b * t) for b, t in zip(bars, tangents, strict=True))
    assert_allclose(total, np.sum(dot), rtol=1e-9, atol=1e-11)


def test_multivariate_normal_and_t():
    tangents = (0.3 * POINTS, MEAN + 1, SPREAD)
    agrees_along(st.multivariate_normal.logpdf, POINTS, MEAN, COV, tangents=tangents)
    agrees_along(st.multivariate_normal.pdf, POINTS, MEAN, COV, tangents=tangents)
    agrees_along(lambda c: st.multivariate_normal.entropy(None, c), COV, tangents=(SPREAD,))
    agrees_along(st.multivariate_t.logpdf, POINTS, MEAN, COV, 3.5, tangents=(*tangents, 1.0))
    agrees_along(st.multivariate_t.pdf, POINTS, MEAN, COV, 3.5, tangents=(*tangents, 1.0))
    agrees_along(lambda c, df: st.multivariate_t.entropy(None, c, df), COV, 3.5, tangents=(SPREAD, 1.0))


def test_forms_of_location_and_covariance():
    x = np.array([0.3, 0.5])
    agrees_along(lambda x, c: st.multivariate_normal.logpdf(x, cov=c), x, 2.0, tangents=(x + 1, 0.5))
    agrees_along(
        lambda x, m, c: st.multivariate_normal.logpdf(x, m, c), x, np.zeros(2), x + 1, tangents=(x, x + 2, x - 2)
    )
    agrees_along(lambda x, m: st.multivariate_normal.logpdf(x, m, 2.0), x, np.zeros(2), tangents=(x, x + 2))
    agrees_along(lambda x: st.multivariate_normal.logpdf(x), 0.7, tangents=(1.0,))
    many = np.linspace(-1, 1, 24).reshape(2, 4, 3)
    agrees_along(lambda x: st.multivariate_normal.logpdf(x, MEAN, COV), many, tangents=(many + 1,))
    agrees_along(lambda x: st.multivariate_t.logpdf(x, MEAN, COV, np.inf), POINTS, tangents=(POINTS,))
    got = wg.grad(lambda c: st.multivariate_normal.logpdf(POINTS[0], MEAN, c))(COV)
    assert_allclose(got, got.T, rtol=1e-12)
    precision, dev = np.linalg.inv(COV), POINTS[0] - MEAN
    assert_allclose(got, 0.5 * (np.outer(precision @ dev, precision @ dev) - precision), rtol=1e-11)
    with pytest.raises(np.linalg.LinAlgError):
        wg.grad(lambda c: st.multivariate_normal.logpdf(x, cov=c))(np.ones((2, 2)))
    with pytest.raises(UnsupportedFunctionError, match="singular"):
        wg.grad(lambda c: st.multivariate_normal.logpdf(x, cov=c, allow_singular=True))(np.ones((2, 2)))


def test_wishart():
    x = COV + 0.5 * np.eye(3)
    agrees_along(st.wishart.logpdf, x, 4.5, COV, tangents=(0.3 * SPREAD, 1.0, SPREAD))
    agrees_along(st.wishart.pdf, x, 4.5, COV, tangents=(0.3 * SPREAD, 1.0, SPREAD))
    stack = np.stack([x, 2 * x], -1)
    agrees_along(lambda x: st.wishart.logpdf(x, 5, COV), stack, tangents=(np.stack([SPREAD, -SPREAD], -1),))
    agrees_along(st.wishart.entropy, 4.5, COV, tangents=(1.0, SPREAD))
    agrees_along(lambda x, s: st.wishart.logpdf(x, 3, s), np.array([0.5, 2.0]), 1.5, tangents=(np.ones(2), 1.0))


def test_dirichlet():
    alpha, x = np.array([1.5, 0.7, 3.0]), np.array([0.2, 0.5, 0.3])
    agrees_along(st.dirichlet.logpdf, x[:2], alpha, tangents=(np.array([0.3, -1.0]), np.array([1.0, 0.2, -0.4])))
    agrees_along(st.dirichlet.pdf, x[:2], alpha, tangents=(np.array([0.3, -1.0]), np.array([1.0, 0.2, -0.4])))
    for method in (st.dirichlet.entropy, st.dirichlet.mean, st.dirichlet.var):
        agrees_along(method, alpha, tangents=(np.array([1.0, 0.2, -0.4]),))
    columns = np.stack([x[:2], [0.1, 0.1]], -1)
    agrees_along(lambda x: st.dirichlet.logpdf(x, alpha), columns, tangents=(columns - 0.3,))
    assert_allclose(wg.grad(lambda x: st.dirichlet.logpdf(x, alpha))(x), (alpha - 1) / x)
    for bad in (np.array([0.2, 0.9, 0.3]), np.array([-0.2, 0.9, 0.3]), np.array([0.2])):
        with pytest.raises(ValueError):
            wg.grad(lambda x: st.dirichlet.logpdf(x, alpha))(bad)


def test_multinomial():
    p, x = np.array([0.2, 0.5, 0.3]), np.array([[1, 2, 3], [0, 4, 2], [1, 1, 1]])
    y, pullback = wg.vjp(lambda p: st.multinomial.logpmf(x, 6, p), p)
    assert_allclose(y, st.multinomial.logpmf(x, 6, p), rtol=1e-13)
    for k in range(3):
        assert_allclose(pullback(np.eye(3)[k])[0], x[k] / p if k < 2 else np.zeros(3))
    assert_allclose(wg.hessian(lambda p: st.multinomial.logpmf(x[0], 6, p))(p), np.diag(-x[0] / p**2))
    y, slope = wg.value_and_grad(lambda p: st.multinomial.pmf(x[0], 6, p))(p)
    assert_allclose(slope, y * x[0] / p)
    assert_allclose(wg.jvp(lambda p: st.multinomial.mean(6, p), (p,), (p,))[1], 6 * p)
    along = np.array([0.3, -0.5, 0.2])  # stays on the simplex
    n = np.array([4, 6])

    def entropy(t):
        return st.multinomial.entropy(n, p + t * along)

    value, dot = wg.jvp(entropy, (0.0,), (1.0,))
    assert_allclose(value, st.multinomial.entropy(n, p), rtol=1e-12)
    assert_allclose(dot, (entropy(1e-5) - entropy(-1e-5)) / 2e-5, rtol=1e-8)


def test_multivariate_batches():
    def f(x, c):
        return st.multivariate_normal.logpdf(x, MEAN, c) + st.multivariate_t.logpdf(x, MEAN, c, 3.5)

    covs = np.stack([COV, 2 * COV])
    got = wg.vmap(wg.grad(f, argnums=(0, 1)))(POINTS, covs)
    for k in range(2):
        for a, b in zip(got, wg.grad(f, argnums=(0, 1))(POINTS[k], covs[k]), strict=True):
            assert_allclose(a[k], b, rtol=1e-10)


def test_batches_of_probabilities_and_parameters():
    rng = np.random.default_rng(0)
    p, simplex = rng.uniform(0.1, 0.9, 4), rng.dirichlet([1, 2, 3], 4)
    shapes = np.stack([COV, 2 * COV, COV + np.eye(3), 3 * COV])
    for f, *args in (
        (lambda p: np.sum(st.binom.pmf([0, 3, 12], 9, p)) + st.binom.logcdf(3, 9, p) + st.binom.entropy(7, p), p),
        (lambda p, n: st.nbinom.logpmf(3, n, p) + st.nbinom.logsf(3, n, p) + st.nbinom.entropy(n, p), p, 5 * p),
        (lambda m: st.poisson.logcdf(3, m) + st.poisson.logsf(3, m), np.array([1e-40, 1.0, 5.0, 3000.0])),
        (lambda q, df: st.t.ppf(q, df) + st.f.ppf(q, df, 3.0) + st.beta.isf(q, df, 2.0), p, 8 * p),
        (lambda q, a: st.truncnorm.ppf(q, a, a + 3), p, np.array([-3.0, -0.5, 0.5, 4.0])),
        (lambda x, a: st.dirichlet.logpdf(x, a) + st.dirichlet.entropy(a), simplex[:, :2], 3 * simplex),
        (lambda p: st.multinomial.logpmf([1, 2, 3], 6, p) + st.multinomial.entropy(6, p), simplex),
        (lambda x, df, s: st.wishart(df, s).logpdf(x) + st.wishart.entropy(df, s), shapes, 4 + p, shapes[::-1]),
    ):
        derivative = wg.grad(f, argnums=tuple(range(len(args))))
        got = wg.vmap(derivative)(*args)
        for k in range(4):
            for a, b in zip(got, derivative(*[a[k] for a in args]), strict=True):
                assert_allclose(a[k], b, rtol=1e-9, atol=1e-12)


def test_every_multivariate_distribution_is_in_scipy():
    for name, methods in MULTIVARIATE.items():
        for method in methods:
            assert callable(getattr(getattr(st, name), method))


def test_moments_of_the_truncated_normal_distribution():
    """∂mean/∂a = h·(mean − a) and ∂var/∂a = h·(var − (mean − a)²), with the density h at a."""
    for a, b in ((-1.2, 2.1), (3.0, np.inf), (-8.0, 9.0), (0.3, 0.3001), (-0.9, np.inf), (0.9, 1.2)):
        mean, by_a = wg.value_and_grad(lambda a: st.truncnorm.mean(a, b))(a)  # noqa: B023
        var, var_by_a = wg.value_and_grad(lambda a: st.truncnorm.var(a, b))(a)  # noqa: B023
        h = st.truncnorm.pdf(a, a, b)
        assert_allclose(by_a, h * (mean - a), rtol=1e-10)
        assert_allclose(var_by_a, h * (var - (mean - a) ** 2), rtol=1e-6 if b - a < 0.1 else 1e-10)
    # Far out the excess over a is exponential: mean a + 1/a − 2/a³, variance 1/a² − 6/a⁴.
    y, slope = wg.value_and_grad(lambda a: st.truncnorm.var(a, np.inf))(1e4)
    assert_allclose([y, slope], [1e-8 - 6e-16, -2e-12 + 24e-20], rtol=1e-9)


def test_a_constant_singular_covariance_matrix():
    cov = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    x, mean = np.array([0.3, 0.3, -0.5]), np.array([0.1, 0.1, 0.2])

    def f(x, mean):
        return st.multivariate_normal.logpdf(x, mean, cov, allow_singular=True)

    value, (by_x, by_mean) = wg.value_and_grad(f, (0, 1))(x, mean)
    assert_allclose(value, f(x, mean), rtol=1e-12)
    assert_allclose(by_x, -np.linalg.pinv(cov) @ (x - mean), rtol=1e-10)
    assert_allclose(by_mean, -by_x)
    value, slope = wg.value_and_grad(lambda x: f(x, mean))(x + np.array([0.1, 0.0, 0.0]))
    assert value == -np.inf
    assert not np.any(slope)
    with pytest.raises(UnsupportedFunctionError, match="singular"):
        wg.grad(lambda c: st.multivariate_normal.logpdf(x, mean, c, allow_singular=True))(cov)


OF_OTHER_METHODS = {
    "stats": lambda a: sum(st.weibull_min.stats(a)),
    "stats of one": lambda a: st.norm.stats(a, 2 * a, moments="v") * 1.0,
    "stats of all kinds": lambda a: sum(st.weibull_min.stats(a, 0.3, 2 * a, moments="mvsk")),
    "stats of shapes": lambda a: st.lognorm(0.5 * a).stats(moments="sk")[1],
    "stats in their order": lambda a: st.norm.stats(loc=a, scale=2 * a, moments="vm")[1],
    "stats frozen": lambda a: st.gamma(a, scale=2.0).stats("v") * 1.0,
    "stats discrete": lambda a: sum(st.poisson.stats(a)),
    "interval": lambda a: sum(st.gamma.interval(0.9, a)),
    "interval frozen": lambda a: st.norm(a, a).interval(0.9)[1],
    "interval of its confidence": lambda a: st.norm.interval(a / 2, loc=a)[1],
}


@pytest.mark.parametrize("name", OF_OTHER_METHODS)
def test_methods_that_are_written_with_others(name):
    f, x, h = OF_OTHER_METHODS[name], 1.3, 1e-3
    slope = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    for way in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        assert_allclose(way(x), slope, rtol=1e-9)
    assert_allclose(wg.jit(f)(x), f(x), rtol=1e-13)
    assert_allclose(wg.vmap(f)(np.array([x, 1.4])), [f(x), f(1.4)], rtol=1e-13)


def test_what_is_not_written_with_others():
    with pytest.raises(UnsupportedFunctionError, match="moments='sk'"):
        wg.grad(lambda a: sum(st.argus.stats(a, moments="sk")))(1.3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        wg.grad(lambda a: st.norm.interval(a, loc=a)[0])(1.3)
