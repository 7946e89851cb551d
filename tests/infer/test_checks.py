"""Checks for users: what `infer.check` finds in models that are wrong, calibration, pictures, amortised posteriors."""

import re
import xml.dom.minidom
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer

Y = np.array([1.0, 2.0])


def location_and_scale(y):
    mu = infer.sample("mu", stats.norm(0, 10))
    infer.observe(y, stats.norm(mu, infer.sample("sigma", stats.expon())))


def redundant(y):
    a, b = infer.sample("a", infer.flat()), infer.sample("b", infer.flat())
    infer.observe(y, stats.norm(a + b, 1.0))


def negative_scale(y):
    infer.observe(y, stats.norm(0, infer.sample("s", stats.norm(0, 1))))


def unused(y):
    infer.observe(y, stats.norm(infer.sample("s", infer.flat(), shape=2)[0], 1))


def steps(y):
    s = infer.sample("s", stats.norm(0, 1))
    infer.observe(y, stats.norm(np.floor(s * 1e4) / 1e4, 1))


def of_many_scales(y):
    small = infer.sample("small", stats.norm(0, 1e-5))
    infer.observe(y, stats.norm(infer.sample("large", stats.norm(0, 1e3)) + small, 1e3))


@wg.custom_jvp
def square(x):
    return x * x


@square.defjvp
def _(primals, tangents):
    return square(primals[0]), 3 * primals[0] * tangents[0]


def test_a_sound_model_has_no_problem():
    report = infer.check(location_and_scale, Y)
    assert report.ok
    assert repr(report) == "no problem was found"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (redundant, "does not change along a − b"),
        (negative_scale, r"NaN at \d+ of 20 points, because of observation 1"),
        (unused, r"does not depend on s\[1\]"),
        (steps, "not that of differences"),
    ],
)
def test_problems_are_found_and_named(model, said):
    report = infer.check(model, Y)
    assert len(report.problems) == 1
    assert re.search(said, report.problems[0])


def equicorrelated(y):
    """A matrix of correlations only where they are above −1/2; elsewhere NumPy raises."""
    rho = infer.sample("rho", stats.uniform(-1, 2))
    L = np.linalg.cholesky((1 - rho) * np.eye(3) + rho)
    infer.observe(y @ np.linalg.inv(L).T, stats.norm(0, 1))
    infer.factor(-len(y) * np.sum(np.log(np.diagonal(L))))


def test_a_density_that_raises_at_some_points():
    """They are points of no density, for `check` and for approximations as for samplers."""
    y = np.random.default_rng(0).standard_normal((40, 3)) @ np.linalg.cholesky(0.5 * np.eye(3) + 0.5).T
    (problem,) = infer.check(equicorrelated, y).problems
    assert re.search(r"raises at \d+ of 20 points \(LinAlgError: .*rho", problem)
    at = np.linspace(-0.49, 0.99, 1000)
    density = infer.posterior(equicorrelated, y).log_density
    logs = np.array([density(np.log([(1 + r) / (1 - r)])) for r in at])
    weights = np.exp(logs - logs.max()) / (1 - at**2)  # the density of rho itself
    exact = np.sum(weights * at) / np.sum(weights)
    ways = (infer.pathfinder, infer.laplace, infer.advi)
    means = [fit(equicorrelated, y).mean["rho"] for fit in ways]
    np.testing.assert_allclose(means, exact, atol=0.01)


def test_mistakes_in_a_model_are_not_taken_for_points_of_no_density():
    def typo(y):
        infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 1)), sigma))  # noqa: F821

    for ask in (infer.check, infer.pathfinder, infer.nuts):
        with pytest.raises(NameError, match="sigma"):
            ask(typo, Y)
    with pytest.raises(IndexError):
        infer.pathfinder(lambda x: -(x[2] ** 2), init=np.zeros(2))


def test_of_a_log_density_as_well():
    assert "not that of differences" in infer.check(lambda x: -square(x), init=1.0).problems[0]
    assert re.search("small varies by about 1.0e-05, large by", infer.check(of_many_scales, Y).notes[0])


def normal_mean(y):
    infer.observe(y, stats.norm(infer.sample("mu", stats.norm(1.0, 2.0)), 0.5))


def exact(factor):
    """Draws of the posterior of `normal_mean`, in closed form, with a standard deviation that is wrong by a factor."""

    def sampler(target, draws, seed):
        y = target.data["observed"]
        precision = 1 / 4 + y.size / 0.25
        loc = (1 / 4 + y.sum() / 0.25) / precision
        return {"mu": np.random.default_rng(seed).normal(loc, factor * precision**-0.5, draws)}

    return sampler


def test_calibration_tells_right_from_wrong():
    right = infer.sbc(normal_mean, np.zeros(4), sampler=exact(1.0), simulations=200, draws=50)
    assert right.ok
    assert right.ranks["mu"].shape == (200,)
    assert not infer.sbc(normal_mean, np.zeros(4), sampler=exact(0.5), simulations=200, draws=50).ok
    xml.dom.minidom.parseString(right.picture().svg)
    with pytest.raises(infer.ModelError, match="cannot be drawn from infer.flat"):
        infer.sbc(redundant, Y, sampler=exact(1.0))


def test_pictures_of_draws(rng, tmp_path):
    draws = {"tau": rng.exponential(size=(2, 100)), "theta": rng.normal(size=(2, 100, 3))}
    result = SimpleNamespace(draws=draws, stats={"diverging": draws["tau"] < 0.1, "energy": rng.normal(size=(2, 100))})
    pairs = infer.plot_pairs(result, names=["tau", "theta[1]"])
    diverged = int(np.sum(draws["tau"] < 0.1))
    assert f"{diverged} of 200 transitions diverged" in pairs.svg
    assert pairs.svg.count('r="2.2"') == diverged
    pairs.save(tmp_path / "pairs.svg")
    xml.dom.minidom.parse(str(tmp_path / "pairs.svg"))
    xml.dom.minidom.parseString(infer.plot_energy(result).svg)
    with pytest.raises(ValueError, match="there are tau, theta"):
        infer.plot_pairs(result, names=["nu"])


@pytest.mark.slow
def test_an_encoder_gives_the_posterior_of_new_data(rng):
    encoder = infer.amortized(normal_mean, np.zeros(4), simulations=800, hidden=16)
    for _ in range(3):
        y = rng.normal(rng.normal(1, 2), 0.5, 4)
        precision = 1 / 4 + 4 / 0.25
        loc, sd = (1 / 4 + y.sum() / 0.25) / precision, precision**-0.5
        fit = encoder.posterior(y)
        assert abs(fit.mean["mu"] - loc) < 0.5 * sd
        assert abs(fit.sd["mu"] / sd - 1) < 0.25
