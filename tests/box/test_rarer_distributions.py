"""Rarer distributions against SciPy's own numbers, and differences of them, eagerly and compiled."""

import numpy as np
import pytest
from harness import slope_by_differences as differences
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats._distn_infrastructure import rv_continuous_frozen, rv_discrete_frozen, rv_frozen

import wengert as wg
from wengert.box.distributions.further_multivariate import FURTHER_MULTIVARIATE
from wengert.box.distributions.rarer import RARER as SELDOM
from wengert.box.distributions.rarest import RAREST
from wengert.box.distributions.summed import SUMMED

RARER = {**SELDOM, **RAREST, **SUMMED}

SHAPES = {
    "genpareto": (0.3,), "genextreme": (-0.2,), "invweibull": (1.7,), "weibull_max": (2.3,), "gompertz": (0.8,),
    "erlang": (3.0,), "alpha": (1.4,), "burr": (2.1, 1.4), "exponpow": (1.6,), "exponweib": (1.3, 1.8),
    "fatiguelife": (0.7,), "genexpon": (1.1, 0.6, 1.7), "halfgennorm": (1.3,), "kappa3": (1.4,), "loglaplace": (2.2,),
    "mielke": (2.4, 1.9), "powerlognorm": (1.6, 0.8), "geninvgauss": (0.7, 1.5), "recipinvgauss": (0.8,),
    "rel_breitwigner": (1.5,), "rice": (1.2,), "ncx2": (2.5, 1.7), "foldcauchy": (1.3,), "foldnorm": (1.1,),
    "dgamma": (2.3,), "dweibull": (2.2,), "skewcauchy": (0.4,), "powernorm": (1.8,), "jf_skew_t": (2.3, 1.4),
    "crystalball": (1.1, 2.3), "genhyperbolic": (0.6, 1.5, 0.4), "norminvgauss": (1.6, 0.5), "argus": (1.3,),
    "bradford": (1.8,), "genhalflogistic": (0.6,), "johnsonsb": (0.4, 1.3), "rdist": (3.4,), "trapezoid": (0.3, 0.6),
    "truncpareto": (1.4, 4.0), "truncweibull_min": (1.6, 0.3, 2.0), "wrapcauchy": (0.4,), "planck": (0.7,),
    "boltzmann": (0.6, 9), "yulesimon": (2.4,), "zipf": (2.6,), "betanbinom": (4, 3.6, 2.3),
    "pearson3": (0.7,), "vonmises_line": (1.3,), "dpareto_lognorm": (0.3, 0.8, 1.7, 2.2), "skellam": (2.3, 1.4),
    "zipfian": (0.8, 12), "hypergeom": (20, 7, 12), "nhypergeom": (20, 7, 5),
    "nct": (3.4, 0.7), "gausshyper": (1.8, 2.4, 1.3, 0.6), "kappa4": (0.3, -0.2), "irwinhall": (5,),
    "nchypergeom_fisher": (20, 7, 12, 0.6),
}  # fmt: skip
WHOLE = {"boltzmann": (1,), "betanbinom": (0,), "zipfian": (1,), "hypergeom": (0, 1, 2), "nhypergeom": (0, 1, 2),
         "irwinhall": (0,), "nchypergeom_fisher": (0, 1, 2)}  # fmt: skip
METHODS = ("cdf", "sf", "logcdf", "logsf", "ppf", "isf")


def log_density(name):
    """The log-density as a function of a vector of parameters and points; the vector and points well inside."""
    distribution, shapes = getattr(stats, name), SHAPES.get(name, ())
    discrete = hasattr(distribution, "pmf")
    q = distribution.ppf(np.array([0.15, 0.4, 0.8]), *shapes)
    whole = WHOLE.get(name, ())
    parameters = [*shapes] if discrete else [*shapes, 0.2, 1.3]
    places = [k for k in range(len(parameters)) if k not in whole]
    method = distribution.logpmf if discrete else distribution.logpdf
    f = lambda p, x: np.sum(method(x, *[p[places.index(k)] if k in places else v for k, v in enumerate(parameters)]))
    return f, np.array([parameters[k] for k in places], dtype=float), q if discrete else 0.2 + 1.3 * q


@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
@pytest.mark.parametrize("name", RARER)
def test_values_and_derivatives(name):
    f, p, x = log_density(name)
    expected = [differences(lambda v, k=k: f(np.where(np.arange(len(p)) == k, v, p), x), p[k]) for k in range(len(p))]
    value, gradient = wg.value_and_grad(f)(p, x)
    assert_allclose(value, f(p, x), rtol=1e-12)
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    shapes, distribution = SHAPES.get(name, ()), getattr(stats, name)
    if hasattr(distribution, "pmf"):
        return
    slopes = [differences(lambda v: distribution.logpdf(v, *shapes, 0.2, 1.3), point) for point in x]
    assert_allclose(wg.grad(f, argnums=1)(p, x), slopes, rtol=1e-6, atol=1e-7)
    for method in METHODS:
        if getattr(RARER[name], method, None) is None:
            continue
        data = np.array([0.2, 0.7]) if method in ("ppf", "isf") else x
        g = lambda shift, method=method, data=data: getattr(distribution, method)(data, *shapes, shift, 1.3)
        y, slope = wg.jvp(g, (0.2,), (1.0,))
        assert_allclose(y, g(0.2), rtol=1e-10)
        assert_allclose(slope, differences(g, 0.2), rtol=1e-5, atol=1e-8)
        for k in range(len(shapes)):
            g = lambda v, k=k, method=method, data=data: getattr(distribution, method)(
                data, *shapes[:k], v, *shapes[k + 1 :], 0.2, 1.3
            )
            if name != "erlang":
                assert_allclose(wg.jvp(g, (shapes[k],), (1.0,))[1], differences(g, shapes[k]), rtol=1e-5, atol=1e-7)


def test_skew_distribution_at_its_location():
    """Formulas for both sides meet at zero, where |z| has no slope but the density has one."""
    f = lambda x: stats.jf_skew_t.logpdf(x, 8.0, 4.0)
    for derivative in (wg.grad(f), wg.jit(wg.grad(f))):
        assert_allclose(derivative(0.0), differences(f, 0.0), rtol=1e-6)


@pytest.mark.slow
def test_compiled_and_outside_of_the_support():
    """All of them as one program, at points inside and at one that may lie outside."""
    names = [name for name in RARER if name != "geninvgauss"]  # beyond its support SciPy's own is slow to say so
    parts = [log_density(name) for name in names]
    far = [[*x, -5.0] for _, _, x in parts]

    def every(ps):
        return [np.exp(f(p, v)) for (f, _, _), p, x in zip(parts, ps, far, strict=True) for v in (x[1], x[3])]

    ps = [p for _, p, _ in parts]
    assert_allclose(wg.jit(every)(ps), every(ps), rtol=1e-11)


@pytest.mark.parametrize("name", ["genpareto", "genextreme"])
def test_shapes_near_zero(name):
    """Where the general formula has 0/0 at shape 0: value and derivatives against the exponential and Gumbel's."""
    distribution = getattr(stats, name)
    x, sign = np.array([0.3, 1.7]), 1 if name == "genpareto" else -1
    f = lambda c: distribution.logpdf(x, c)
    # log1p(cx)/c = x − cx²/2 + …: genpareto's logarithm is −x + c(x²/2 − x) + …; in genextreme s = −x − cx²/2 − …
    first = x * x / 2 - x if sign == 1 else x - 0.5 * x * x + 0.5 * x * x * np.exp(-x)
    base = -x if sign == 1 else -x - np.exp(-x)
    for c in (0.0, 1e-9, -1e-9):
        y, slope = wg.jvp(f, (c,), (1.0,))
        assert_allclose(y, base, rtol=1e-8)
        assert_allclose(slope, first, rtol=1e-7)
    for c in (0.2, -0.2):  # both sides of what the series is used for
        y, slope = wg.jvp(f, (c,), (1.0,))
        assert_allclose(slope, differences(f, c), rtol=1e-7)
        assert_allclose(wg.jit(lambda c: wg.jvp(f, (c,), (1.0,)))(c), (y, slope), rtol=1e-12)
    assert wg.jit(lambda c: distribution.logpdf(9.0, c))(-sign * 0.5) == -np.inf


def test_noncentral_chi_squared_tends_to_the_central_one():
    """∂logpdf/∂nc = x/(2df) − ½ at nc = 0; the series and Bessel's function agree where they meet."""
    f = lambda nc: stats.ncx2.logpdf(1.7, 2.5, nc)
    y, slope = wg.jvp(f, (0.0,), (1.0,))
    assert_allclose([y, slope], [stats.chi2.logpdf(1.7, 2.5), 1.7 / 5 - 0.5], rtol=1e-12)
    at = 0.2 / 1.7
    (y1, s1), (y2, s2) = [wg.jvp(f, (at * (1 + e),), (1.0,)) for e in (-1e-9, 1e-9)]
    assert_allclose([y1, s1], [y2, s2], rtol=1e-8)


def _matrix(k, n):
    a = np.random.default_rng(k).normal(size=(n, n))
    return a @ a.T + np.eye(n)


UNIT = np.array([[2.0, 1.0, 2.0], [0.0, 0.0, 3.0]]) / 3
SEVERAL = {
    "invwishart": (lambda df, s: stats.invwishart(df, s * _matrix(0, 3)).logpdf(_matrix(1, 3)), (5.5, 0.7)),
    "matrix_normal": (
        lambda m, r, c: stats.matrix_normal(m * np.ones((2, 3)), r * _matrix(2, 2), c * _matrix(3, 3)).logpdf(
            np.arange(12.0).reshape(2, 2, 3)
        ),
        (0.3, 1.2, 0.8),
    ),
    "vonmises_fisher": (lambda k: stats.vonmises_fisher(UNIT[0], k).logpdf(UNIT), (2.3,)),
    "dirichlet_multinomial": (
        lambda a, b: stats.dirichlet_multinomial(a * np.array([0.5, 1.0, 2.0]) ** b, 6).logpmf([[1, 2, 3], [3, 3, 0]]),
        (1.3, 0.7),
    ),
}


@pytest.mark.parametrize("name", FURTHER_MULTIVARIATE)
def test_vectors_and_matrices(name):
    f, at = SEVERAL[name]
    expected = [differences(lambda v, k=k: f(*at[:k], v, *at[k + 1 :]), at[k]) for k in range(len(at))]
    got = wg.jacobian(f, argnums=tuple(range(len(at))), mode="forward")(*at)
    assert_allclose(got, expected, rtol=1e-7, atol=1e-8)
    value, gradient = wg.jit(wg.value_and_grad(lambda *p: np.sum(f(*p))))(*at)
    assert_allclose(value, np.sum(f(*at)), rtol=1e-12)
    assert_allclose(gradient, np.sum(expected[0]), rtol=1e-7)


def test_the_derivative_in_a_matrix_that_is_inverse_wishart():
    x, s = _matrix(1, 3), _matrix(0, 3)
    y = np.linalg.inv(x)
    expected = -0.5 * (5.5 + 4) * y + 0.5 * y @ s @ y
    assert_allclose(wg.grad(lambda x: stats.invwishart.logpdf(x, 5.5, s))(x), expected, rtol=1e-10)


def test_pearson3_around_the_normal_distribution():
    """To first order in the skewness s the density is φ(z)(1 + s(z³ − 3z)/6); at ±2/s the support ends."""
    z = np.array([-2.0, -0.3, 1.7])
    value, slope = wg.jvp(lambda s: stats.pearson3.logpdf(z, s), (0.0,), (1.0,))
    assert_allclose(value, stats.norm.logpdf(z), rtol=1e-15)
    assert_allclose(slope, (z**3 - 3 * z) / 6, rtol=1e-14)
    for skew in (0.15, -0.15, 0.5, 3.0):  # on both sides of where power series are used
        x = np.sign(skew) * np.array([-0.6, 0.2, 1.9])
        gamma = lambda s, x=x: np.sum(stats.gamma.logpdf(4 / s**2 + 2 * x / s, 4 / s**2) + np.log(2 / abs(s)))
        ours = wg.value_and_grad(lambda s, x=x: np.sum(stats.pearson3.logpdf(x, s)))(skew)
        assert_allclose(ours, wg.value_and_grad(gamma)(skew), rtol=1e-10)
    assert stats.pearson3.logpdf(-2.5, 1.0) == -np.inf == wg.jit(stats.pearson3.logpdf)(-2.5, 1.0)


def test_counts_that_have_no_derivative_are_as_in_scipy():
    for shapes, k in (((20, 7, 12), [0, 3, 7, 8]), ((10, 0, 3), [0, 1])):
        ours = wg.jvp(lambda s, k=k, shapes=shapes: s * stats.hypergeom(*shapes).logpmf(k), (1.0,), (1.0,))[0]
        assert_allclose(ours, stats.hypergeom(*shapes).logpmf(k), rtol=1e-12)
    f = lambda M: stats.nhypergeom(M, np.array([7.0, 7.0, 3.0]), np.array([5.0, 0.0, 0.0])).logpmf([2, 0, 1])
    assert_allclose(wg.jvp(f, (20.0,), (1.0,))[0], f(20.0), rtol=1e-12)


def test_lists_of_values_with_a_location():
    values = stats.rv_discrete(values=([0, 1, 3], [0.2, 0.3, 0.5]))
    for dist in (values(), values(loc=2), values(2)):
        k = np.array([0, 2, 3, 5])
        assert_allclose(wg.jit(lambda k, dist=dist: dist.logpmf(k))(k), dist.logpmf(k))
    assert_allclose(wg.jit(lambda k: values.logpmf(k, loc=2))(k), values.logpmf(k, loc=2))


def test_frozen_angles_on_a_line():
    """SciPy makes it of the class of vonmises, with another support."""
    frozen = lambda kappa: stats.vonmises_line(kappa, loc=0.4, scale=1.5).logpdf(1.1)
    assert_allclose(wg.grad(frozen)(1.3), differences(frozen, 1.3), rtol=1e-8)


S = stats
FAMILIES_IN_FAMILIES = {
    "t": (lambda x, df: S.nct.logpdf(x, df, 0.0), lambda x, df: S.t.logpdf(x, df)),
    "beta": (lambda x, a: S.gausshyper.logpdf(0.2 * x, a, 0.7, 0.0, 2.0), lambda x, a: S.beta.logpdf(0.2 * x, a, 0.7)),
    "genextreme": (lambda x, k: S.kappa4.logpdf(x, 0.0, k), lambda x, k: S.genextreme.logpdf(x, k)),
    "logistic": (lambda x, s: S.kappa4.logpdf(x, -1.0, 0.0, 0.0, s), lambda x, s: S.logistic.logpdf(x, 0.0, s)),
    "hypergeom": (
        lambda x, s: S.nchypergeom_fisher.logpmf([2, 5], 20, 7, 12, s / s) * x,
        lambda x, s: S.hypergeom.logpmf([2, 5], 20, 7, 12) * x,
    ),
}


@pytest.mark.parametrize("name", FAMILIES_IN_FAMILIES)
def test_special_cases_are_other_distributions(name):
    general, special = FAMILIES_IN_FAMILIES[name]
    x, at = np.array([0.4, 2.3]), 0.3
    assert_allclose(general(x, at), special(x, at), rtol=1e-12)
    for k in (0, 1):
        tangents = [np.ones(2), 0.0] if k == 0 else [np.zeros(2), 1.0]
        got, expected = (wg.jvp(f, (x, at), tuple(tangents))[1] for f in (general, special))
        assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_the_class_of_a_frozen_distribution_is_scipys():
    def f(x):
        norm, poisson = stats.norm(loc=x), stats.poisson(x)
        assert isinstance(norm, rv_frozen)
        assert isinstance(norm, rv_continuous_frozen)
        assert isinstance(poisson, rv_discrete_frozen)
        assert not isinstance(norm, (rv_discrete_frozen, float))
        return norm.ppf(0.3) * x + poisson.logpmf(2)

    for g in (wg.grad(f), wg.jit(wg.grad(f))):
        assert_allclose(g(1.2), 2.4 + stats.norm.ppf(0.3) + 2 / 1.2 - 1, rtol=1e-12)
