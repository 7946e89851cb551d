"""Chains of discrete sites, written as loops: against sums over all paths, whatever differs between iterations."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

import wengert as wg
from wengert import infer

Y = np.array([-1.0, 0.3, 2.5, 2.0, -0.4, 0.9])


def changing(y):
    """Emissions whose means are written to in the loop, so that equal expressions have different values."""
    mu = infer.sample("mu", stats.norm(0, 2), shape=2)
    level = np.zeros(2)
    level[:] = mu
    z = infer.sample("z0", stats.bernoulli(0.3))
    infer.observe(y[0], stats.norm(level[z], 0.7))
    for t in range(1, len(y)):
        level[1] = level[1] + 0.5 * mu[0]
        z = infer.sample(f"z{t}", stats.bernoulli(0.2 + 0.1 * t * z / len(y)))
        infer.observe(y[t], stats.norm(level[z], 0.7))


def changing_by_path(x, y, path):
    mu, total = x["mu"], np.log(0.3 if path[0] else 0.7)
    for t in range(1, len(y)):
        p = 0.2 + 0.1 * t * path[t - 1] / len(y)
        total += np.log(p if path[t] else 1 - p)
    means = [(mu[0], mu[1] + 0.5 * t * mu[0])[path[t]] for t in range(len(y))]
    return total + np.sum(stats.norm.logpdf(y, means, 0.7)) + np.sum(stats.norm.logpdf(mu, 0, 2))


def vectors(y):
    """Three states by lists of values, two numbers observed at a time, sometimes none; a scale by the state."""
    w = infer.sample("w", stats.dirichlet(np.ones(3)), shape=3)
    mu = infer.sample("mu", stats.norm(0, 2), shape=(3, 2))
    z = infer.sample("z0", stats.rv_discrete(values=([0, 1, 2], [0.2, 0.3, 0.5])))
    for t in range(len(y)):
        if t:
            z = infer.sample(f"z{t}", stats.rv_discrete(values=([0, 1, 2], w[z])))
        if t % 3 != 1:
            infer.observe(np.array([y[t], -y[t]]), stats.norm(mu[z], scale=0.7 + 0.1 * z))


def vectors_by_path(x, y, path):
    total = np.log([0.2, 0.3, 0.5])[path[0]] + np.sum(np.log(x["w"][list(path[:-1]), list(path[1:])]))
    for t in range(len(y)):
        if t % 3 != 1:
            total += np.sum(stats.norm.logpdf([y[t], -y[t]], x["mu"][path[t]], 0.7 + 0.1 * path[t]))
    prior = sum(stats.dirichlet.logpdf(row, np.ones(3)) for row in x["w"])
    return total + prior + np.sum(stats.norm.logpdf(x["mu"], 0, 2))


def remembering(y):
    """The state before the last counts too: no chain of the first order."""
    mu = infer.sample("mu", stats.norm(0, 2), shape=2)
    before, z = infer.sample("z0", stats.bernoulli(0.4)), infer.sample("z1", stats.bernoulli(0.6))
    infer.observe(y[0], stats.norm(mu[before], 0.7))
    infer.observe(y[1], stats.norm(mu[z], 0.7))
    for t in range(2, len(y)):
        before, z = z, infer.sample(f"z{t}", stats.bernoulli(0.1 + 0.3 * z + 0.4 * before))
        infer.observe(y[t], stats.norm(mu[z], 0.7))


def remembering_by_path(x, y, path):
    total = np.log(0.4 if path[0] else 0.6) + np.log(0.6 if path[1] else 0.4)
    for t in range(2, len(y)):
        p = 0.1 + 0.3 * path[t - 1] + 0.4 * path[t - 2]
        total += np.log(p if path[t] else 1 - p)
    return total + np.sum(stats.norm.logpdf(y, x["mu"][list(path)], 0.7)) + np.sum(stats.norm.logpdf(x["mu"], 0, 2))


@pytest.mark.parametrize(
    ("model", "by_path", "states"),
    [(changing, changing_by_path, 2), (vectors, vectors_by_path, 3), (remembering, remembering_by_path, 2)],
)
def test_chains_are_sums_over_all_paths(model, by_path, states, rng):
    p = infer.posterior(model, Y)
    u = 0.5 * rng.normal(size=p.size)

    def value(u):
        x = p.constrain(u)
        paths = itertools.product(range(states), repeat=len(Y))
        jacobian = infer.transforms.simplex.log_jacobian(u[:6].reshape(3, 2)) if "w" in x else 0.0
        return special.logsumexp([by_path(x, Y, path) for path in paths]) + jacobian

    np.testing.assert_allclose(p.log_density(u), value(u), rtol=1e-12)
    v, e = rng.normal(size=p.size), 1e-5
    slope = (value(u + e * v) - value(u - e * v)) / (2 * e)
    np.testing.assert_allclose(wg.grad(p.log_density)(u) @ v, slope, rtol=1e-6)
    compiled = wg.jit(wg.value_and_grad(p.log_density))(u)
    np.testing.assert_allclose(compiled[0], value(u), rtol=1e-12)
    np.testing.assert_allclose(compiled[1] @ v, slope, rtol=1e-6)


def long_chain(y):
    stay = infer.sample("stay", stats.beta(3, 2), shape=2)
    mu = infer.sample("mu", stats.norm(0, 2), shape=2)
    p = np.stack([1 - stay[0], stay[1]])
    z = infer.sample("z0", stats.bernoulli(0.5))
    infer.observe(y[0], stats.norm(mu[z], 1))
    for t in range(1, len(y)):
        z = infer.sample(f"z{t}", stats.bernoulli(p[z]))
        infer.observe(y[t], stats.norm(mu[z], 1))


def test_what_is_compiled_does_not_grow_with_the_chain(rng):
    lines = []
    for length in (8, 24):
        p = infer.posterior(long_chain, rng.normal(size=length))
        text = str(wg.jit(wg.grad(p.log_density)).lower(np.zeros(4)).ir)
        lines.append(sum(" = " in line for line in text.split("constants {")[0].splitlines()))
    assert abs(lines[1] - lines[0]) < 5
