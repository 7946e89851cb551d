"""Samplers with stochastic gradients or a metric that varies; draws of a model itself."""

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.algorithms.jacobi import symmetric_eigen
from wengert.infer import diagnostics

X = np.random.default_rng(5).normal(size=(60, 2))
Y = X @ [1.0, -2.0] + 0.5 * np.random.default_rng(6).normal(size=60)


def regression(X, y):
    b = infer.sample("b", stats.norm(0, 2), shape=2)
    infer.record("double", 2 * b)
    infer.observe(y, stats.norm(X @ b, 0.5))


PRECISION = X.T @ X / 0.25 + np.eye(2) / 4
MEAN = np.linalg.solve(PRECISION, X.T @ Y / 0.25)
SD = np.sqrt(np.diag(np.linalg.inv(PRECISION)))


@pytest.mark.parametrize(
    ("sampler", "options", "wider"),
    [(infer.sgld, {}, 1.15), (infer.sghmc, {}, 1.08), (infer.sgld, {"batch_size": 20, "step_size": 0.3}, 1.4)],
)
def test_stochastic_gradients(sampler, options, wider):
    b = sampler(regression, X, Y, draws=3000, warmup=200, chains=2, **options).draws["b"]
    for k in range(2):
        assert abs(np.mean(b[..., k]) - MEAN[k]) < 5 * diagnostics.mcse_mean(b[..., k])
        assert 0.85 < np.std(b[..., k]) / SD[k] < wider


@pytest.mark.slow
def test_a_metric_that_follows_the_hessian():
    density = lambda x: np.sum(stats.norm(0, np.array([1.0, 0.01])).logpdf(x)) - 0.1 * x[0] ** 4
    result = infer.riemannian_hmc(density, init=np.zeros(2), draws=300, warmup=80, chains=2, seed=4)
    grid = np.linspace(-6, 6, 4001)
    p = np.exp(-0.5 * grid**2 - 0.1 * grid**4)
    sd = np.sqrt(np.sum(p * grid**2) / np.sum(p)), 0.01
    assert result.info["compiled"]
    for k in range(2):
        x = result.draws[..., k]
        assert abs(np.mean(x)) < 5 * diagnostics.mcse_mean(x)
        assert abs(np.std(x) - sd[k]) < 5 * diagnostics.mcse_sd(x)


def test_which_scales_the_metric_follows():
    """A deviation of 100 is a curvature of 1e-4, which α = 2 takes for a half: 25 steps are then a short way."""
    options = {"init": np.zeros(2), "draws": 200, "warmup": 60, "chains": 2, "seed": 4}
    wide = infer.riemannian_hmc(lambda x: -0.5e-4 * x[0] ** 2 - 50 * x[1] ** 2, alpha=1e6, **options).draws[..., 0]
    assert abs(np.std(wide) - 100) < 5 * diagnostics.mcse_sd(wide)
    assert diagnostics.ess_bulk(wide) > 100
    with pytest.raises(ValueError, match="alpha"):
        infer.riemannian_hmc(lambda x: -0.5 * x[0] ** 2, alpha=0.0, **options)


def test_riemannian_chains_that_start_far_away_arrive():
    """Small scales are far in the tail, where only tiny steps of a changing metric can be solved for."""
    y = np.random.default_rng(0).normal(1, 2, 200)

    def model(y):
        m = infer.sample("m", stats.norm(0, 10))
        s = infer.sample("s", stats.halfcauchy(0, 5))
        infer.observe(y, stats.norm(m, s))

    result = infer.riemannian_hmc(
        model, y, init={"m": -1.0, "s": 0.15}, draws=200, warmup=200, chains=2, progress=False
    )
    np.testing.assert_allclose(result.draws["m"].mean(1), np.mean(y), atol=0.1)
    np.testing.assert_allclose(result.draws["s"].mean(1), np.std(y), atol=0.1)


def test_draws_of_a_model_itself():
    prior = infer.prior_predictive(regression, X, Y, draws=800)
    assert prior["observed"].shape == (800, 60)
    np.testing.assert_allclose(prior["double"], 2 * prior["b"])
    assert abs(np.std(prior["b"]) - 2) < 0.2
    assert abs(np.std(prior["observed"][:, 0]) - np.sqrt(4 * X[0] @ X[0] + 0.25)) < 0.4
    draws = infer.nuts(regression, X, Y, draws=100, warmup=200, chains=2)
    new = infer.posterior_predictive(regression, X, Y, draws=draws)["observed"]
    assert new.shape == (2, 100, 60)
    assert np.max(np.abs(np.mean(new, axis=(0, 1)) - X @ MEAN)) < 0.25
    found = infer.log_likelihood(regression, X, Y, draws=draws)["observed"]
    expected = stats.norm.logpdf(Y, draws.draws["b"] @ X.T, 0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(infer.ModelError, match="cannot be drawn"):
        infer.prior_predictive(lambda: infer.sample("x", infer.flat()))


def test_counts_of_a_dirichlet_multinomial_are_drawn():
    """SciPy's distribution has no `rvs`."""
    dist = stats.dirichlet_multinomial([1.0, 2.0, 3.0], 20)

    def model(y):
        infer.sample("x", stats.norm())
        infer.observe(y, dist)

    y = infer.prior_predictive(model, np.zeros((4, 3)), draws=2000, seed=1)["observed"].reshape(-1, 3)
    assert np.all(np.sum(y, axis=1) == 20)
    errors = np.sqrt(np.diag(dist.cov()) / len(y))
    assert np.all(np.abs(np.mean(y, axis=0) - dist.mean()) < 5 * errors)
    np.testing.assert_allclose(np.cov(y.T), dist.cov(), rtol=0.15)


def test_new_data_of_a_model_with_factors():
    """A factor (four values beyond 2, say) has weighed the draws of sites; sites that are drawn now would miss it."""

    def censored(y, n, discrete=False):
        mu = infer.sample("mu", stats.norm(0, 5))
        infer.observe(y, stats.norm(mu, 1.0))
        infer.factor(n * stats.norm(mu, 1.0).logsf(2.0))
        if discrete:
            infer.observe(y, stats.norm(infer.sample("z", stats.bernoulli(0.5)), 1.0))

    given = {"mu": np.full((2, 100), 30.0)}
    new = infer.posterior_predictive(censored, np.zeros(3), 4, draws=given)["observed"]
    assert new.shape == (2, 100, 3)
    assert abs(np.mean(new) - 30) < 5 / np.sqrt(600)
    with pytest.raises(infer.ModelError, match="factor"):
        infer.posterior_predictive(censored, np.zeros(3), 4, True, draws=given)
    with pytest.raises(infer.ModelError, match="factor"):
        infer.prior_predictive(censored, np.zeros(3), 4)
    with pytest.raises(infer.ModelError, match="observes nothing"):
        infer.posterior_predictive(lambda: infer.factor(infer.sample("mu", stats.norm())), draws=given)


def test_draws_that_do_not_fit_a_model():
    """A site without draws is not drawn from the prior beside others from the posterior."""
    draws = {"double": np.ones((2, 4, 2))}
    for function in (infer.posterior_predictive, infer.log_likelihood):
        with pytest.raises(infer.ModelError, match="no draws of site 'b'"):
            function(regression, X, Y, draws=draws)
        for wrong in ({"b": np.ones(2)}, {"b": np.ones((2, 4, 2)), "c": np.ones((2, 5))}, {}):
            with pytest.raises(infer.ModelError, match="axes chain and draw"):
                function(regression, X, Y, draws=wrong)


def test_shapes_that_do_not_fit_are_named():
    def model(y, b=3, plate=2):
        with infer.plate("p", plate):
            infer.sample("a", stats.norm(np.zeros(2), 1))
        infer.observe(y, stats.norm(infer.sample("b", stats.norm(), shape=b), 1))

    with pytest.raises(infer.ModelError, match=r"values of shape \(3,\) are observed.*shape \(2,\)"):
        infer.posterior(model, np.zeros(3), 2)
    with pytest.raises(infer.ModelError, match="site 'a' have shape"):
        infer.posterior(model, np.zeros(3), 3, 5)
    fitting = infer.posterior(model, np.zeros(3))
    with pytest.raises(infer.ModelError, match=r"shape \(2,\) for site 'b'"):
        fitting.unconstrain({"a": 0.0, "b": np.zeros(2)})
    np.testing.assert_array_equal(fitting.unconstrain({"a": 1.0, "b": np.arange(3.0)}), [1, 1, 0, 1, 2])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rotations_find_eigenvalues(n):
    """V diag(w) Vᵀ is the matrix and V orthogonal; small eigenvalues of a graded matrix keep their digits."""
    matrix = np.random.default_rng(n).normal(size=(n, n))
    matrix = matrix + matrix.T
    compiled = wg.jit(symmetric_eigen)
    for scale in (1.0, 1e-9, 1e9):
        w, v = compiled(scale * matrix)
        np.testing.assert_allclose((v * w) @ v.T, scale * matrix, atol=1e-14 * n * scale)
        np.testing.assert_allclose(v.T @ v, np.eye(n), atol=1e-14 * n)
    d = 10.0 ** np.arange(n)
    graded = np.outer(d, d) * (1 + np.eye(n))  # its eigenvalues are about d²·(k + 1)/k, its determinant is known
    np.testing.assert_allclose(np.prod(compiled(graded)[0]), (n + 1) * np.prod(d) ** 2, rtol=1e-12)
