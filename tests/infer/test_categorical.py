"""`infer.categorical`: sites that are summed out, observed values, draws, gradients of expectations."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import wengert as wg
from wengert import infer

RNG = np.random.default_rng(0)
Y, ROWS, MU = RNG.normal(size=5), RNG.dirichlet(np.ones(3), 5), np.array([-1.0, 0.0, 2.0])


def test_probabilities_for_each_element_are_summed_out():
    def model(y, x):
        slope = infer.sample("slope", stats.norm(0, 1))
        weights = np.exp(slope * x)
        z = infer.sample("z", infer.categorical(weights / np.sum(weights, axis=-1, keepdims=True)))
        infer.observe(y, stats.norm(MU[z], 1.0))

    p = infer.posterior(model, Y, ROWS)
    weights = np.exp(0.7 * ROWS) / np.sum(np.exp(0.7 * ROWS), axis=1, keepdims=True)
    inner = np.sum(weights * stats.norm.pdf(Y[:, None], MU, 1.0), axis=1)
    np.testing.assert_allclose(p.log_density(np.array([0.7])), stats.norm.logpdf(0.7) + np.sum(np.log(inner)))


def test_a_chain_of_states_with_a_transition_matrix():
    def model(y):
        mu = infer.sample("mu", stats.norm(0, 1), shape=3)
        z = infer.sample("z0", infer.categorical(np.ones(3) / 3))
        infer.observe(y[0], stats.norm(mu[z], 1.0))
        for t in range(1, len(y)):
            z = infer.sample(f"z{t}", infer.categorical(ROWS[:3][z]))
            infer.observe(y[t], stats.norm(mu[z], 1.0))

    forward = stats.norm.pdf(Y[0], MU, 1.0) / 3
    for y in Y[1:]:
        forward = (forward @ ROWS[:3]) * stats.norm.pdf(y, MU, 1.0)
    expected = np.log(np.sum(forward)) + np.sum(stats.norm.logpdf(MU))
    np.testing.assert_allclose(wg.jit(infer.posterior(model, Y).log_density)(MU), expected)


def test_observed_categories_draws_and_values_that_are_none():
    d = infer.categorical(ROWS)
    np.testing.assert_allclose(
        d.logpmf(np.array([0, 2, 1, 3, -1])), [*np.log(ROWS[[0, 1, 2], [0, 2, 1]]), *[-np.inf] * 2]
    )
    drawn = d.rvs(size=(20000, 5), random_state=1)
    for k in range(3):
        assert np.all(np.abs(np.mean(drawn == k, axis=0) - ROWS[:, k]) < 5 * np.sqrt(0.25 / 20000))
    for wrong in ([0.2, 0.2], [-0.1, 1.1], 0.3):
        with pytest.raises(infer.ModelError, match="categor"):
            infer.categorical(wrong)


CUTS = np.array([-1.0, 0.5, 2.0])
BY_LOGITS = {
    "bernoulli": (infer.bernoulli_logit, lambda eta: stats.bernoulli(expit(eta))),
    "binomial": (lambda eta: infer.binomial_logit(4, eta), lambda eta: stats.binom(4, expit(eta))),
    "poisson": (infer.poisson_log, lambda eta: stats.poisson(np.exp(eta))),
    "ordered": (
        lambda eta: infer.ordered_logistic(eta, CUTS),
        lambda eta: infer.categorical(np.diff(expit(CUTS - eta), prepend=0.0, append=1.0)),
    ),
}


@pytest.mark.parametrize("name", BY_LOGITS)
def test_probabilities_given_by_logits(name):
    """They are those of SciPy's distributions; far out, where these round to zero, log-densities are linear."""
    ours, theirs = BY_LOGITS[name]
    for eta in (-1.3, 0.2, 2.0):
        np.testing.assert_allclose(ours(eta).pmf(np.arange(-1, 6)), theirs(eta).pmf(np.arange(-1, 6)), atol=1e-15)
    probabilities = ours(0.2).pmf(np.arange(6))
    drawn = np.bincount(ours(0.2).rvs(size=20000, random_state=1), minlength=6)[:6] / 20000
    assert np.all(np.abs(drawn - probabilities) < 5 * np.sqrt(0.25 / 20000))
    far = lambda eta: ours(eta).logpmf(np.array([1, 1]))[0]
    assert np.isfinite(far(-800.0))
    assert wg.jit(wg.grad(far))(-800.0) == 1.0
    model = lambda y: infer.observe(y, ours(infer.sample("b", stats.norm(0, 5)) * np.arange(3.0)))
    y = np.array([1, 0, 1])
    expected = stats.norm(0, 5).logpdf(0.3) + sum(np.log(theirs(0.3 * k).pmf(y[k])) for k in range(3))
    np.testing.assert_allclose(infer.posterior(model, y).log_density(np.array([0.3])), expected)


def test_the_score_of_categories():
    softmax = lambda logits: np.exp(logits) / np.sum(np.exp(logits))
    at = np.array([0.1, 0.2, -0.3])
    found = infer.expectation_grad(
        np.sin, lambda p: infer.categorical(softmax(p)), at, estimator="score", samples=20000, per_sample=True
    )
    p = softmax(at)
    exact = p * (np.sin(np.arange(3)) - p @ np.sin(np.arange(3)))
    assert np.all(np.abs(np.mean(found, axis=0) - exact) < 5 * np.std(found, axis=0) / np.sqrt(20000))


def test_probabilities_are_checked_on_numbers_and_not_in_the_density():
    """A check in the density would be computed for each site at each point."""

    def chain(scale):
        rows = infer.sample("rows", stats.dirichlet(np.ones(2)), shape=2)
        z = infer.sample("z0", infer.categorical(np.array([0.5, 0.5])))
        for t in range(1, 4):
            z = infer.sample(f"z{t}", infer.categorical(scale * rows[z]))
        infer.observe(0.3, stats.norm(z, 1.0))

    program = wg.jit(infer.posterior(chain, 1.0).log_density).lower(np.zeros(2)).ir
    assert "infer.categorical" not in program
    assert "isclose" not in program
    with pytest.raises(infer.ModelError, match="do not add up to one"):
        infer.posterior(chain, 2.0)
