"""SciPy's distributions of the newer kind (`stats.Normal`), beside closed forms and the older kind."""

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.errors import UnsupportedFunctionError

pytestmark = pytest.mark.skipif(not hasattr(stats, "Binomial"), reason="SciPy has them since 1.16")

X = np.array([0.5, 1.2])
PHI = lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

CASES = {
    "logpdf in mu": (lambda a: np.sum(stats.Normal(mu=a, sigma=1.5).logpdf(X)), lambda a: np.sum(X - a) / 2.25),
    "ccdf in sigma": (lambda a: np.sum(stats.Normal(sigma=a).ccdf(X)), lambda a: np.sum(PHI(X / a) * X / a**2)),
    "moments": (lambda a: stats.Normal(mu=a, sigma=a).mean() + stats.Normal(sigma=a).variance(), lambda a: 1 + 2 * a),
    "uniform": (lambda a: np.sum(stats.Uniform(a=a, b=3.0).logpdf(X)), lambda a: 2 / (3 - a)),
    "data of a plain one": (lambda a: np.sum(stats.Normal().logpdf(a * X)), lambda a: -a * np.sum(X**2)),
    "logistic": (lambda a: stats.Logistic().logpdf(a), lambda a: -np.tanh(a / 2)),
    "counts": (lambda a: stats.Binomial(n=5, p=a).logpmf(2), lambda a: 2 / a - 3 / (1 - a)),
}


@pytest.mark.parametrize(("f", "slope"), CASES.values(), ids=list(CASES))
def test_values_are_scipys_and_derivatives_exact(f, slope):
    a = 0.4
    assert np.isclose(wg.jit(f)(a), f(a), rtol=1e-13)
    for gradient in (wg.grad(f), wg.jit(wg.grad(f))):
        np.testing.assert_allclose(gradient(a), slope(a), rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda a: np.sum(stats.Normal(mu=a).sample(3)), "standard variates"),
        (lambda a: stats.Normal(mu=a).cdf(0.0, 1.0), "difference of two calls"),
        (lambda a: stats.Uniform(a=a).mean(), "needs the parameter 'b'"),
    ],
)
def test_what_has_no_rule_says_what_to_do(f, text):
    with pytest.raises(UnsupportedFunctionError, match=text):
        wg.grad(f)(0.4)


def test_models_take_both_kinds():
    def newer(y):
        mu = infer.sample("mu", stats.Normal(mu=0.0, sigma=2.0))
        p = infer.sample("p", stats.Uniform(a=0.0, b=1.0))
        infer.observe(y, stats.Normal(mu=mu, sigma=1.0))
        infer.observe(2, stats.Binomial(n=5, p=p))

    def older(y):
        mu = infer.sample("mu", stats.norm(0.0, 2.0))
        p = infer.sample("p", stats.uniform(0.0, 1.0))
        infer.observe(y, stats.norm(mu, 1.0))
        infer.observe(2, stats.binom(5, p))

    at = np.array([0.3, -0.2])
    assert np.isclose(infer.posterior(newer, X).log_density(at), infer.posterior(older, X).log_density(at), rtol=1e-14)

    def unknown(y):
        infer.observe(y, stats.make_distribution(stats.gamma)(a=2.0))

    with pytest.raises(infer.ModelError, match="newer kind"):
        infer.posterior(unknown, X)
