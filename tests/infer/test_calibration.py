"""The sampler as a whole: simulation-based calibration of three models, and Geweke's joint test."""

import numpy as np
import pytest
from scipy import stats

from wengert import infer
from wengert.algorithms.nuts import nuts_transition
from wengert.algorithms.trajectories import hmc_transition
from wengert.infer.adaptation import METRICS
from wengert.infer.diagnostics import ess_mean
from wengert.infer.engine import BLOCK, Engine, first_order
from wengert.infer.simulate import OtherDataPosterior


def location_and_scale(y):
    mu = infer.sample("mu", stats.norm(1.0, 2.0))
    infer.observe(y, stats.norm(mu, infer.sample("sigma", stats.gamma(3.0, scale=0.3))))


def counts(y):
    infer.observe(y, stats.poisson(infer.sample("rate", stats.gamma(2.0, scale=1.5))))


X = np.linspace(-1.5, 1.5, 12)


def slope_and_intercept(y):
    a, b = infer.sample("a", stats.norm(0, 1)), infer.sample("b", stats.norm(0, 2))
    infer.observe(y, stats.bernoulli(1 / (1 + np.exp(-(a + b * X)))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data"), [(location_and_scale, np.zeros(6)), (counts, np.zeros(4)), (slope_and_intercept, np.zeros(12))]
)
def test_ranks_are_uniform(model, data):
    found = infer.sbc(model, data, simulations=100, draws=49, seed=3)
    assert found.ok, found
    assert "log-density" in found.ranks


@pytest.mark.parametrize("transition", [nuts_transition, hmc_transition])
def test_alternating_data_and_parameters_leaves_the_prior_as_it_is(transition, rng):
    """Geweke (2004): y given the parameters, then one transition of them given y, over and over, draws from the joint
    distribution, of which the prior is a part."""
    target = OtherDataPosterior(location_and_scale, (np.zeros(3),), {"observed": np.zeros(3)})
    metric = METRICS["diag"]
    engine = Engine(target, transition, metric.velocity, metric.kick, first_order)
    scales = metric.first(2)
    engine.prepare(scales, np.zeros(2))
    u, path = target.unconstrain({"mu": 1.0, "sigma": 0.9}), []
    normals, seeds = np.zeros((BLOCK, 2)), np.zeros(BLOCK, np.uint64)
    for _ in range(4000):
        target.data["observed"][...] = rng.normal(u[0], np.exp(u[1]), 3)
        state = (u, np.float64(0.0), np.zeros(2))
        *_, lp, g = engine.run(scales, state, np.array([-np.inf, 0, 0, 0, 0]), -1.0, normals, seeds, 1, 1)
        normals[0], seeds[0] = rng.standard_normal(2), rng.integers(0, 2**63)
        still = np.array([np.log(0.25), 0, 0, 0, 0])
        u = engine.run(scales, (u, np.float64(lp), np.asarray(g)), still, -1.0, normals, seeds, 1, 6)[0]
        path.append(u)
    path = np.array(path)
    prior = stats.gamma(3.0, scale=0.3)
    for x, mean in (
        (path[:, 0], 1.0),
        ((path[:, 0] - 1) ** 2, 4.0),
        (np.exp(path[:, 1]), prior.mean()),
        (np.exp(2 * path[:, 1]), prior.var() + prior.mean() ** 2),
    ):
        error = np.std(x) / np.sqrt(ess_mean(x[None, :]))
        assert abs(np.mean(x) - mean) < 4.5 * error, (np.mean(x), mean, error)
