"""Samplers against distributions that are known, in all metrics; the same draws in every way to run them."""

import importlib.util
import json
import warnings
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.algorithms.chains import STATISTICS
from wengert.infer import NotCompiledWarning, diagnostics
from wengert.infer.adaptation import METRICS
from wengert.infer.chains import Chain, Settings
from wengert.infer.engine import BLOCK

COVARIANCE = np.array([[1.0, 1.6, 0.0], [1.6, 4.0, 0.3], [0.0, 0.3, 0.25]])
PRECISION = np.linalg.inv(COVARIANCE)
MEAN = np.array([1.0, -2.0, 0.5])


def normal(x):
    return -0.5 * (x - MEAN) @ PRECISION @ (x - MEAN)


def check(draws, mean, sd, errors=5.0):
    """Means and standard deviations within some Monte Carlo standard errors."""
    for k in range(len(mean)):
        y = draws[:, :, k]
        assert diagnostics.rhat(y) < 1.03
        assert abs(np.mean(y) - mean[k]) < errors * diagnostics.mcse_mean(y)
        assert abs(np.std(y) - sd[k]) < errors * diagnostics.mcse_sd(y)


@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (infer.nuts, {}),
        (infer.nuts, {"metric": "dense"}),
        (infer.nuts, {"metric": "low-rank"}),
        (infer.hmc, {}),
        (infer.mala, {"draws": 4000}),
        (infer.slice, {"draws": 4000}),
        (infer.random_walk, {"draws": 10000}),
    ],
    ids=["nuts", "dense", "low-rank", "hmc", "mala", "slice", "random_walk"],
)
def test_a_normal_distribution(sampler, options):
    result = sampler(normal, init=np.zeros(3), seed=3, **options)
    check(result.draws, MEAN, np.sqrt(np.diag(COVARIANCE)))
    assert result.info["compiled"]
    correlation = np.corrcoef(result.draws.reshape(-1, 3).T)[0, 1]
    assert abs(correlation - 0.8) < 0.05


def model(y):
    mu = infer.sample("mu", stats.norm(1.0, 2.0))
    sigma2 = infer.sample("sigma2", stats.invgamma(3.0, scale=2.0))
    infer.record("sigma", np.sqrt(sigma2))
    infer.observe(y, stats.norm(mu, np.sqrt(sigma2)))


def moments_by_quadrature(y):
    mu, s = np.linspace(-8, 8, 1201)[:, None], np.exp(np.linspace(-4, 5, 1201))[None, :]
    logp = stats.norm.logpdf(mu, 1, 2) + stats.invgamma.logpdf(s, 3, scale=2) + np.log(s)
    for value in y:
        logp = logp + stats.norm.logpdf(value, mu, np.sqrt(s))
    p = np.exp(logp - np.max(logp))
    p /= np.sum(p)
    found = {}
    for name, x in {"mu": mu, "sigma2": s, "sigma": np.sqrt(s)}.items():
        mean = np.sum(p * x)
        found[name] = mean, np.sqrt(np.sum(p * (x - mean) ** 2))
    return found


def test_a_model_against_quadrature():
    y = np.array([0.5, 2.0, 3.0, 1.0])
    result = infer.nuts(model, y, seed=1, draws=2000)
    summary = result.summary()
    for name, (mean, sd) in moments_by_quadrature(y).items():
        row = summary[name]
        assert abs(row.mean - mean) < 4 * row.mcse_mean
        assert abs(row.sd - sd) < 4.5 * row.mcse_sd
        assert row.r_hat < 1.01
        assert row.ess_bulk > 1000
    assert result.draws["mu"].shape == (4, 2000)
    assert "mu" in repr(summary)
    assert not np.any(result.stats["diverging"])


def test_seeds_give_the_same_draws_whatever_runs_them(monkeypatch):
    run = lambda **options: infer.nuts(normal, init=np.zeros(3), draws=120, warmup=100, seed=7, **options).draws
    expected = run(chains=3)
    np.testing.assert_array_equal(run(chains=3, workers=1), expected)
    np.testing.assert_array_equal(run(chains=2), expected[:2])
    monkeypatch.setattr("wengert.infer.chains.BLOCK", 7)
    monkeypatch.setattr("wengert.infer.engine.BLOCK", 7)
    np.testing.assert_array_equal(run(chains=3), expected)
    assert np.any(infer.nuts(normal, init=np.zeros(3), draws=120, warmup=100, seed=8, chains=3).draws != expected)


def test_a_density_that_raises_or_is_no_number_is_rejected():
    def raises(x):
        if x[0] < 0.0:
            raise ValueError("negative")
        return -x[0] - 0.5 * x[1] ** 2

    def is_nan(x):
        return np.log(np.where(x[0] < 0.0, np.nan, 1.0)) - x[0] - 0.5 * x[1] ** 2

    with np.errstate(all="ignore"):
        results = [infer.nuts(f, init=np.ones(2), draws=500, warmup=300, chains=2, seed=2) for f in (raises, is_nan)]
    for result in results:
        assert np.all(result.draws[..., 0] > 0)
        assert np.sum(result.stats["failed"]) > 10
        assert any("no number" in note for note in result.info["notes"])
        x = result.draws[..., 0]  # exponential: mean and standard deviation are 1
        assert abs(np.mean(x) - 1) < 4 / np.sqrt(diagnostics.ess_bulk(x))
    np.testing.assert_allclose(results[0].draws, results[1].draws, rtol=1e-8, atol=1e-9)


def test_what_cannot_be_compiled_runs_in_python_and_says_why():
    def uncompilable(x):
        return -0.5 * np.sum(x * x) * min(len(json.dumps(wg.stop_gradient(x).tolist())), 1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = infer.nuts(uncompilable, init=np.zeros(2), draws=60, warmup=60, chains=1, seed=2)
    assert not result.info["compiled"]
    assert any(w.category is NotCompiledWarning and "cannot be compiled" in str(w.message) for w in seen)
    assert result.draws.shape == (1, 60, 2)


def test_a_density_without_derivative_is_refused():
    """What has no rule is no point of density zero: nothing was ever drawn."""

    def model():
        infer.sample("x", stats.levy_stable(1.8, 0.0))

    with pytest.raises(wg.errors.UnsupportedFunctionError, match="levy_stable"):
        infer.nuts(model, draws=5, warmup=5, chains=1)


def test_a_generator_may_be_the_seed():
    draws = [
        infer.nuts(normal, init=np.zeros(3), draws=5, warmup=5, chains=2, seed=np.random.default_rng(k)).draws
        for k in (1, 1, 2)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_results_without_and_with_arviz():
    result = infer.nuts(normal, init=np.zeros(3), draws=50, warmup=50, chains=2)
    assert set(result.stats) >= {"diverging", "energy", "tree_depth", "n_steps", "step_size", "acceptance_rate", "lp"}
    assert result.stats["diverging"].dtype == bool
    assert list(result.summary()) == ["x[0]", "x[1]", "x[2]"]
    found = result.to_arviz(log_likelihood={"y": np.zeros((2, 50, 4))})  # ArviZ's, or a dictionary of these groups
    assert found.posterior["x"].shape == (2, 50, 3) == found["posterior"]["x"].shape
    assert found.sample_stats["diverging"].shape == (2, 50)
    assert found.log_likelihood["y"].shape == (2, 50, 4)
    if importlib.util.find_spec("arviz") is None:
        assert isinstance(found, dict)
        assert not hasattr(found, "prior")


def test_containers_in_containers_are_summarised():
    """Each array has a row for each of its numbers, however deep it lies."""
    init = {"a": {"b": np.zeros(2), "c": [0.0, 1.0]}, "d": 0.0}
    density = lambda p: -0.5 * (np.sum(p["a"]["b"] ** 2) + p["a"]["c"][0] ** 2 + p["a"]["c"][1] ** 2 + p["d"] ** 2)
    result = infer.nuts(density, init=init, draws=10, warmup=20, chains=2, progress=False)
    assert list(result.summary()) == ["a.b[0]", "a.b[1]", "a.c[0]", "a.c[1]", "d"]
    assert set(result.to_arviz()["posterior"]) == {"a.b", "a.c[0]", "a.c[1]", "d"}


@pytest.mark.parametrize("warmup", [20, 40])
def test_short_warm_ups_end_with_steps_that_are_accepted(warmup):
    """A few transitions after the last estimate of the metric cannot come back from steps ten times too long."""
    result = infer.nuts(normal, init=np.zeros(3), draws=50, warmup=warmup, chains=4, progress=False)
    assert np.mean(result.stats["acceptance_rate"]) > 0.6


def test_what_makes_a_density_no_number_is_named():
    def negative(y):
        s = infer.sample("s", stats.expon())
        infer.observe(y, stats.expon(scale=s))

    with pytest.raises(infer.ModelError, match=r"−∞ because of observation 1 \(expon\)"):
        infer.nuts(negative, -np.ones(3), progress=False)

    def scale_below_zero():
        infer.sample("a", stats.norm(0, -1))

    with pytest.raises(infer.ModelError, match="NaN because of site 'a'"):
        infer.nuts(scale_below_zero, progress=False)


def test_observations_that_would_be_counted_several_times_are_refused():
    def model(y):
        mu = infer.sample("mu", stats.norm(0, 1), shape=(10, 1))
        infer.observe(y, stats.norm(mu, 1))

    with pytest.raises(infer.ModelError, match=r"values of shape \(10,\).*have shape \(10, 1\)"):
        infer.posterior(model, np.zeros(10))
    assert infer.posterior(model, 0.5).size == 10  # one value of many distributions


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="metric is one of"):
        infer.nuts(normal, init=np.zeros(3), metric="diagonal")
    with pytest.raises(infer.ModelError, match="no point was found"):
        infer.nuts(lambda x: np.sum(x) * np.nan, init=np.zeros(2))
    with pytest.raises(ValueError, match="at least 1"):
        infer.nuts(normal, init=np.zeros(3), draws=0)


@pytest.mark.parametrize(("which", "wanted"), [(range(700), 0.8), ([700], 0.9), (range(800, 900), 0.95)])
def test_the_last_window_aims_at_a_higher_rate_where_transitions_diverged_before(which, wanted):
    """An engine that only counts; the last window that learns the metric is that of transitions 450 to 949."""
    targets = []

    class Recorder:
        posterior = SimpleNamespace(size=1, start=lambda rng: np.zeros(1))

        def run(self, metric, state, averaging, target, normals, seeds, count, limit):
            statistics = np.zeros((BLOCK, len(STATISTICS)))
            if target > 0:
                here = np.arange(len(targets), len(targets) + count)
                statistics[:count, STATISTICS.index("diverging")] = np.isin(here, which)
                targets.extend([target] * count)
            draws = np.asarray(normals)
            return *state, averaging, draws, -draws, statistics, np.float64(0.0), np.zeros(1)

    settings = Settings(10, 1000, 0.8, 10, 1.0)
    Chain(Recorder(), METRICS["diag"], settings, np.random.default_rng(0), None).run(Event())
    assert len(targets) == 1000
    assert set(targets[:950]) == {0.8}
    np.testing.assert_allclose(targets[950:], wanted)
