"""Discrete sites are summed out: against sums over all values by hand, and the forward algorithm in plain NumPy."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

import wengert as wg
from wengert import infer

Y = np.array([-1.0, 0.3, 2.5, 2.0, -0.4])
GROUP = np.array([0, 1, 1, 2, 0])


def mixture(y):
    p = infer.sample("p", stats.beta(2, 3))
    mu = infer.sample("mu", stats.norm(0, 2), shape=2)
    z = infer.sample("z", stats.bernoulli(p), shape=len(y))
    infer.observe(y, stats.norm(mu[z], 0.7))


def mixture_by_hand(x, y):
    parts = [np.log1p(-x["p"]), np.log(x["p"])] + stats.norm.logpdf(y[:, None], x["mu"], 0.7)
    total = np.sum(special.logsumexp(parts, axis=1))
    return total + stats.beta.logpdf(x["p"], 2, 3) + np.sum(stats.norm.logpdf(x["mu"], 0, 2))


def grouped(y):
    mu = infer.sample("mu", stats.norm(0, 2), shape=3)
    w = infer.sample("w", stats.dirichlet([1.0, 2.0, 1.5]))
    with infer.plate("groups", 3):
        z = infer.sample("z", stats.binom(2, w[0]))
    infer.observe(y, stats.norm(mu[z[GROUP]], 0.7))
    infer.observe(y[0], stats.norm(np.sum(mu), 2.0))


def grouped_by_hand(x, y):
    total = stats.dirichlet.logpdf(x["w"], [1.0, 2.0, 1.5]) + np.sum(stats.norm.logpdf(x["mu"], 0, 2))
    total += stats.norm.logpdf(y[0], np.sum(x["mu"]), 2)
    for g in range(3):
        each = [
            stats.binom.logpmf(k, 2, x["w"][0]) + np.sum(stats.norm.logpdf(y[g == GROUP], x["mu"][k], 0.7))
            for k in range(3)
        ]
        total += special.logsumexp(each)
    return total


def chain(y):
    stay = infer.sample("stay", stats.beta(3, 2), shape=3)
    P = np.stack([stay, 1 - stay]).T @ np.array([[1.0, 0.0, 0.0], [0.0, 0.4, 0.6]])
    mu = infer.sample("mu", stats.norm(0, 2), shape=3)
    z = infer.sample("z0", stats.randint(0, 3))
    infer.observe(y[0], stats.norm(mu[z], 0.7))
    for t in range(1, len(y)):
        z = infer.sample(f"z{t}", stats.rv_discrete(values=([0, 1, 2], P[z])))
        infer.observe(y[t], stats.norm(mu[z], 0.7))


def chain_by_hand(x, y):
    P = np.stack([x["stay"], 0.4 * (1 - x["stay"]), 0.6 * (1 - x["stay"])], axis=1)
    paths = []
    for path in itertools.product(range(3), repeat=len(y)):
        p = -np.log(3) + np.sum(np.log(P[path[:-1], path[1:]]))
        paths.append(p + np.sum(stats.norm.logpdf(y, x["mu"][list(path)], 0.7)))
    return (
        special.logsumexp(paths) + np.sum(stats.beta.logpdf(x["stay"], 3, 2)) + np.sum(stats.norm.logpdf(x["mu"], 0, 2))
    )


def entangled(y):
    """A site that all others depend on, and one for each observation."""
    mu = infer.sample("mu", stats.norm(0, 2), shape=2)
    shift = infer.sample("shift", stats.bernoulli(0.3))
    z = infer.sample("z", stats.bernoulli(0.2 + 0.5 * shift), shape=len(y))
    for_all = infer.sample("s", stats.bernoulli(np.where(shift == 1, 0.1, 0.6)))
    infer.observe(y, stats.norm(mu[z] + shift + 0.5 * for_all, 0.7))


def entangled_by_hand(x, y):
    each = []
    for shift, s in itertools.product((0, 1), repeat=2):
        p = 0.2 + 0.5 * shift
        parts = np.log([1 - p, p]) + stats.norm.logpdf(y[:, None], x["mu"] + shift + 0.5 * s, 0.7)
        q = 0.1 if shift else 0.6
        prior = np.log(0.3 if shift else 0.7) + np.log(q if s else 1 - q)
        each.append(prior + np.sum(special.logsumexp(parts, axis=1)))
    return special.logsumexp(each) + np.sum(stats.norm.logpdf(x["mu"], 0, 2))


COUNTS = np.array([[3, 2, 5], [0, 1, 0], [6, 4, 4]])


def abundance(y):
    """How many animals live at each place, of which some are counted at each visit (Royle 2004)."""
    rate, p = 8.0 * infer.sample("p", stats.beta(2, 2)), infer.sample("stay", stats.beta(3, 2))
    number = infer.sample("number", stats.randint(0, 30), shape=(len(COUNTS), 1))
    infer.factor(stats.poisson(rate).logpmf(number) + np.log(30.0))
    infer.observe(COUNTS, stats.binom(number, p))


def abundance_by_hand(x, y):
    number = np.arange(30)
    total = stats.beta.logpdf(x["p"], 2, 2) + stats.beta.logpdf(x["stay"], 3, 2)
    for counts in COUNTS:
        seen = np.sum(stats.binom.logpmf(counts, number[:, None], x["stay"]), axis=1)
        total += special.logsumexp(stats.poisson.logpmf(number, 8 * x["p"]) + seen)
    return total


def jacobian(posterior, u):
    """log |∂x/∂u| of all sites: their density without prior and data."""
    names = {"p": infer.transforms.unit_interval, "w": infer.transforms.simplex, "stay": infer.transforms.unit_interval}
    places = posterior.sites.items()
    return sum(names[n].log_jacobian(u[site.start : site.stop]) for n, site in places if n in names)


@pytest.mark.parametrize(
    ("model", "by_hand"),
    [
        (mixture, mixture_by_hand),
        (grouped, grouped_by_hand),
        (chain, chain_by_hand),
        (entangled, entangled_by_hand),
        (abundance, abundance_by_hand),
    ],
)
def test_sums_over_all_values(model, by_hand, rng):
    p = infer.posterior(model, Y)
    u = rng.normal(size=p.size)
    value = lambda u: by_hand(p.constrain(u), Y) + jacobian(p, u)
    np.testing.assert_allclose(p.log_density(u), value(u), rtol=1e-12)
    h = 1e-5 * np.eye(p.size)
    expected = [(8 * (value(u + e) - value(u - e)) - (value(u + 2 * e) - value(u - 2 * e))) / 12e-5 for e in h]
    np.testing.assert_allclose(wg.grad(p.log_density)(u), expected, rtol=1e-7, atol=1e-7)
    compiled = wg.jit(wg.value_and_grad(p.log_density))(u)
    np.testing.assert_allclose(compiled[0], value(u), rtol=1e-12)
    np.testing.assert_allclose(compiled[1], expected, rtol=1e-7, atol=1e-7)


def counted(y):
    p = infer.sample("p", stats.beta(1, 1))
    z = infer.sample("z", stats.bernoulli(p), shape=4)
    infer.observe(y[0], stats.norm(np.sum(z), 1.0))


def products(y):
    p = infer.sample("p", stats.beta(1, 1))
    z = infer.sample("z", stats.bernoulli(p), shape=len(y))
    infer.observe(y, stats.norm(z * np.roll(z, 1), 1.0))


def infinite(y):
    rate = infer.sample("rate", stats.expon())
    infer.observe(y, stats.norm(infer.sample("k", stats.poisson(rate)), 1.0))


def recorded(y):
    p = infer.sample("p", stats.beta(1, 1))
    z = infer.sample("z", stats.bernoulli(p), shape=len(y))
    infer.record("mean", 2.0 * z)
    infer.observe(y, stats.norm(z, 1.0))


@pytest.mark.parametrize(
    ("model", "says"),
    [(counted, "several of their elements"), (products, "several of their elements"), (infinite, "infinitely many")],
)
def test_what_cannot_be_summed_out_is_refused(model, says):
    with pytest.raises(infer.ModelError, match=says):
        infer.posterior(model, Y)


def test_records_of_what_is_summed_out_are_refused():
    p = infer.posterior(recorded, Y)
    assert np.isfinite(p.log_density(np.zeros(1)))
    with pytest.raises(infer.ModelError, match="which is summed out"):
        p.constrain(np.zeros(1))


def test_a_mixture_is_sampled():
    result = infer.nuts(mixture, Y, draws=400, warmup=300, chains=2, seed=1)
    assert set(result.draws) == {"p", "mu"}
    assert result.info["compiled"]
