"""More distributions against SciPy's own numbers, and differences of them, eagerly and compiled."""

import numpy as np
import pytest
from harness import slope_by_differences as differences
from scipy import stats

import wengert as wg
from wengert.box.distributions.further import FURTHER

SHAPES = {
    "chi": (3.5,), "lomax": (1.7,), "fisk": (2.3,), "burr12": (2.1, 1.4), "gengamma": (1.6, 1.3), "nakagami": (1.8,),
    "invgauss": (0.8,), "betaprime": (2.5, 3.1), "skewnorm": (1.5,), "gennorm": (1.7,), "exponnorm": (1.2,),
    "genlogistic": (1.6,), "johnsonsu": (0.4, 1.3), "loggamma": (1.9,), "laplace_asymmetric": (1.4,),
    "vonmises": (2.2,), "powerlaw": (2.4,), "triang": (0.35,), "reciprocal": (0.5, 3.0), "truncexpon": (2.5,),
    "randint": (1, 6), "betabinom": (7, 1.6, 2.3), "logser": (0.6,), "dlaplace": (0.8,),
}  # fmt: skip
METHODS = ("cdf", "sf", "logcdf", "logsf", "ppf", "isf")
WHOLE = {"randint": (0, 1), "betabinom": (0,)}


@pytest.mark.parametrize("name", FURTHER)
def test_values_and_derivatives(name):
    distribution, shapes, row = getattr(stats, name), SHAPES.get(name, ()), FURTHER[name]
    discrete = hasattr(distribution, "pmf")
    x = distribution.ppf(np.array([0.15, 0.4, 0.8]), *shapes)
    method = distribution.logpmf if discrete else distribution.logpdf
    places = [k for k in range(len(shapes)) if k not in WHOLE.get(name, ())]
    parameters = [*shapes] if discrete else [*shapes, 0.2, 1.3]
    if not discrete:
        places += [len(shapes), len(shapes) + 1]
        x = 0.2 + 1.3 * x
    f = lambda p, x: np.sum(method(x, *[p[places.index(k)] if k in places else v for k, v in enumerate(parameters)]))
    p = np.array([parameters[k] for k in places], dtype=float)
    if len(p):
        expected = [
            differences(lambda v, k=k: f(np.where(np.arange(len(p)) == k, v, p), x), p[k]) for k in range(len(p))
        ]
        for gradient in (wg.grad(f), wg.jit(wg.grad(f))):
            np.testing.assert_allclose(gradient(p, x), expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(wg.value_and_grad(f)(p, x)[0], f(p, x), rtol=1e-12)
        np.testing.assert_allclose(wg.jit(f)(p, x), f(p, x), rtol=1e-12)
    if not discrete:
        expected = [differences(lambda v: method(v, *parameters), point) for point in x]
        np.testing.assert_allclose(wg.grad(f, argnums=1)(p, x), expected, rtol=1e-6, atol=1e-8)
        outside = wg.jit(lambda x: method(x, *parameters))(np.array([-3.0, 0.9]))
        np.testing.assert_allclose(outside, method(np.array([-3.0, 0.9]), *parameters), rtol=1e-12)
    for other in ("cdf", "sf", "ppf", "logsf", "logcdf", "mean", "var"):
        if getattr(row, other, None) is not None:
            data = () if other in ("mean", "var") else (np.array([0.2, 0.7]) if other == "ppf" else x,)
            g = lambda scale, other=other, data=data: getattr(distribution, other)(*data, *shapes, 0.2, scale)
            np.testing.assert_allclose(wg.jvp(g, (1.3,), (1.0,))[0], g(1.3), rtol=1e-11)
            np.testing.assert_allclose(wg.jvp(g, (1.3,), (1.0,))[1], differences(g, 1.3), rtol=1e-6, atol=1e-8)


SHAPED = [(name, m) for name in SHAPES for m in METHODS if getattr(FURTHER[name], m, None) is not None]


@pytest.mark.parametrize(("name", "method"), [*SHAPED, ("gengamma, falling", "cdf"), ("gengamma, falling", "sf")])
def test_probabilities_move_with_shapes(name, method):
    name, shapes = ("gengamma", (1.6, -1.3)) if "falling" in name else (name, SHAPES[name])
    q = np.array([0.1, 0.45, 0.9])
    distribution, p = getattr(stats, name), np.array(shapes)
    x = q if method in ("ppf", "isf") else distribution.ppf(q, *shapes)
    f = lambda p, x: np.sum(getattr(distribution, method)(x, *p))
    expected = [differences(lambda v, k=k: f(np.where(np.arange(len(p)) == k, v, p), x), p[k]) for k in range(len(p))]
    for value_and_grad in (wg.value_and_grad(f), wg.jit(wg.value_and_grad(f))):
        value, gradient = value_and_grad(p, x)
        np.testing.assert_allclose(value, f(p, x), rtol=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_values_with_probabilities():
    def f(p, k):
        d = stats.rv_discrete(values=([1, 3, 4], p / np.sum(p)))
        return np.sum(d.logpmf(k)) + d.mean() + d.pmf(3)

    p, k = np.array([0.2, 0.5, 0.9]), np.array([1, 4, 4])
    expected = [differences(lambda v, i=i: f(np.where(np.arange(3) == i, v, p), k), p[i]) for i in range(3)]
    np.testing.assert_allclose(wg.grad(f)(p, k), expected, rtol=1e-7)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(p, k), expected, rtol=1e-7)
    assert wg.jit(lambda p: stats.rv_discrete(values=([1, 3], p)).logpmf(2))(np.array([0.5, 0.5])) == -np.inf


def test_supports_of_traced_parameters():
    f = lambda p: sum(stats.uniform(p[0], p[1]).support()) + stats.halfnorm(p[0], p[1]).support()[0]
    assert np.isclose(wg.jit(f)(np.array([1.0, 2.0])), 5.0)
    assert wg.jvp(lambda s: stats.halfnorm(0, s).support()[1] + 0 * s, (1.0,), (1.0,))[0] == np.inf


@pytest.mark.parametrize("name", ["landau", "tukeylambda", "nchypergeom_wallenius"])
def test_a_distribution_without_formulas_is_named(name):
    shapes = {"tukeylambda": (2.2,), "nchypergeom_wallenius": (20, 7, 12, 0.6)}.get(name, ())
    method = "logpmf" if "hypergeom" in name else "logpdf"
    for called in (
        lambda x: getattr(getattr(stats, name)(*shapes), method)(x),
        lambda x: getattr(getattr(stats, name), method)(x, *shapes),
    ):
        with pytest.raises(wg.errors.UnsupportedFunctionError, match=rf"scipy\.stats\.{name}\.{method}"):
            wg.grad(called)(0.3)
