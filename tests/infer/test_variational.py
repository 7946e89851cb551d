"""Variational inference against posteriors in closed form."""

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.infer.pareto import tail_shape
from wengert.infer.variational_families import RealNVP

A = np.array([[2.0, 1.9, 0.0], [1.9, 3.0, 0.3], [0.0, 0.3, 1.0]])
COVARIANCE = np.linalg.inv(A)
EVIDENCE = 1.5 * np.log(2 * np.pi) - 0.5 * np.log(np.linalg.det(A))


def gaussian(x):
    return -0.5 * (x["a"] - 1) @ A @ (x["a"] - 1)


START = {"a": np.zeros(3)}


def test_a_normal_target_is_met_exactly():
    fit = infer.laplace(gaussian, init=START)
    np.testing.assert_allclose(fit.mean["a"], 1.0, rtol=1e-9)
    np.testing.assert_allclose(fit.sd["a"] ** 2, np.diag(COVARIANCE), rtol=1e-9)
    np.testing.assert_allclose(fit.elbo, EVIDENCE, rtol=1e-9)
    assert fit.khat == 0
    fit = infer.advi(gaussian, init=START, family="full-rank")
    assert fit.converged
    np.testing.assert_allclose(fit.mean["a"], 1.0, atol=5e-3)
    np.testing.assert_allclose(fit.moments[1] @ fit.moments[1].T, COVARIANCE, atol=1e-2)
    np.testing.assert_allclose(fit.elbo, EVIDENCE, atol=1e-3)
    drawn = fit.sample(20_000, seed=1)["a"]
    np.testing.assert_allclose(np.cov(drawn.T), COVARIANCE, atol=0.1)


def test_independent_normals_have_the_conditional_variances():
    # The mean field nearest to a normal distribution has the variances 1/Aᵢᵢ.
    fit = infer.advi(gaussian, init=START, tol=1e-3)
    assert fit.converged
    np.testing.assert_allclose(fit.mean["a"], 1.0, atol=0.04)
    np.testing.assert_allclose(fit.sd["a"], 1 / np.sqrt(np.diag(A)), rtol=0.03)
    assert fit.elbo < EVIDENCE
    # The bound with more draws is nearer to the evidence.
    assert fit.elbo < fit.importance_bound(10) < fit.importance_bound(200) < EVIDENCE + 0.05


def unknown_mean(y):
    mu = infer.sample("mu", stats.norm(1.0, 2.0))
    infer.observe(y, stats.norm(mu, 0.5))


def test_a_conjugate_posterior(rng):
    y = rng.normal(0.3, 0.5, 20)
    precision = 1 / 4 + 20 / 0.25
    mean, sd = (1 / 4 + y.sum() / 0.25) / precision, precision**-0.5
    for fit in (
        infer.laplace(unknown_mean, y),
        infer.pathfinder(unknown_mean, y),
        infer.advi(unknown_mean, y, batch_size=5),
    ):
        assert abs(fit.mean["mu"] - mean) < 0.1 * sd
        assert abs(fit.sd["mu"] / sd - 1) < 0.05
        assert fit.khat < 0.7


def test_a_support_is_kept(rng):
    # A gamma prior and Poisson counts: the posterior is gamma(a + Σy, scale=1/(b + n)).
    y = rng.poisson(3.0, 30)

    def model(y):
        infer.observe(y, stats.poisson(infer.sample("rate", stats.gamma(2.0, scale=1.0))))

    exact = stats.gamma(2 + y.sum(), scale=1 / 31)
    fit = infer.advi(model, y)
    np.testing.assert_allclose(fit.mean["rate"], exact.mean(), rtol=5e-3)
    np.testing.assert_allclose(fit.sd["rate"], exact.std(), rtol=0.03)
    density = lambda x: stats.gamma(2.0).logpdf(x["rate"]) + np.sum(stats.poisson(x["rate"]).logpmf(y))
    other = infer.laplace(density, init={"rate": 1.0}, support={"rate": infer.transforms.positive})
    np.testing.assert_allclose(other.mean["rate"], exact.mean(), rtol=5e-3)
    # Importance weights make up for the rest.
    np.testing.assert_allclose(other.resample(4000)["rate"].std(), exact.std(), rtol=0.05)


def test_a_number_for_how_heavy_weights_are(rng):
    for shape in (0.3, 0.8, 1.5):
        log_weights = stats.genpareto(shape, scale=0.1).logpdf(1) + np.log(
            stats.genpareto(shape).rvs(40_000, random_state=rng)
        )
        assert abs(tail_shape(log_weights) - shape) < 0.2
    assert tail_shape(np.append(np.zeros(100), np.nan)) == np.inf


def banana(x):
    return -0.125 * x[0] ** 2 - 2 * (x[1] - 0.5 * x[0] ** 2) ** 2


def test_couplings_are_taken_back():
    flow, rng = RealNVP(3, layers=3), np.random.default_rng(0)
    phi, eps = 0.4 * rng.standard_normal(flow.size), rng.standard_normal(3)
    y, log_jacobian = flow.push(phi, eps)
    back, same = flow.pull(phi, y)
    np.testing.assert_allclose(back, eps, rtol=1e-12)
    np.testing.assert_allclose(same, log_jacobian, rtol=1e-12)
    exact = np.linalg.slogdet(wg.jacobian(lambda e: flow.push(phi, e)[0])(eps))[1]
    np.testing.assert_allclose(log_jacobian, exact, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::wengert.infer.NotConvergedWarning")
def test_flows_bend_where_normals_cannot():
    evidence = np.log(2 * np.pi)
    straight = infer.advi(banana, init=np.zeros(2), family="full-rank").elbo
    planar = infer.advi(banana, init=np.zeros(2), family="planar", steps=1000)
    coupled = infer.advi(banana, init=np.zeros(2), family="real-nvp", steps=2000)
    assert straight + 0.2 < planar.elbo < coupled.elbo < evidence
    assert coupled.elbo > evidence - 0.1
    # log q of a flow is right: the density it says it has integrates importance weights to the evidence.
    u, ratios = coupled.log_ratios(100_000)
    assert abs(np.log(np.mean(np.exp(ratios))) - evidence) < 0.1


def test_what_was_not_found_is_said():
    funnel = lambda x: -0.5 * x[0] ** 2 / 9 + np.sum(-0.5 * x[1:] ** 2 * np.exp(-x[0]) - 0.5 * x[0])
    with pytest.warns(infer.NotConvergedWarning, match="khat"):
        assert infer.pathfinder(funnel, init=np.ones(9)).khat > 0.7
    with pytest.warns(infer.NotConvergedWarning, match="after 200 steps"):
        fit = infer.advi(gaussian, init=START, steps=200)
    assert not fit.converged
    with pytest.raises(wg.errors.ConvergenceError, match=r"in which \['b'\] changes most"):
        infer.laplace(lambda x: -np.cosh(x["a"] + 1e-9 * x["b"]), init={"a": 0.1, "b": 0.2})
    with pytest.raises(ValueError, match="family is one of mean-field"):
        infer.advi(gaussian, init=START, family="nice")
    with pytest.raises(infer.ModelError, match="belongs to the data"):
        infer.advi(gaussian, init=START, batch_size=3)


def test_what_cannot_be_compiled_runs_as_it_is():
    density = lambda x: -0.5 * np.sum(x**2) + 0.0 * len({int(v > 0) for v in x})
    with pytest.warns(infer.NotCompiledWarning, match="runs as plain Python: a traced value is put into a set"):
        fit = infer.laplace(density, init=np.ones(2))
    np.testing.assert_allclose(fit.sd, 1.0, rtol=1e-6)
