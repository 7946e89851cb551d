"""Models of many kinds: log-densities against SciPy's, gradients against differences, eagerly and compiled."""

import numpy as np
import pytest
from scipy import special, stats

import wengert as wg
from wengert import infer

T = infer.transforms
RNG = np.random.default_rng(3)
X = RNG.normal(size=(7, 2))
COUNTS = np.array([0, 3, 1, 0, 7, 2, 0])
TIMES = np.array([0.4, 1.2, 2.2, 0.9, 3.1, 0.2, 1.0])
SEEN = np.array([True, True, False, True, False, True, True])
Z = RNG.normal(size=7)
CHOICES = np.array([0, 1, 2, 2, 1, 0, 3])
GROUP = np.array([0, 0, 1, 1, 2, 2, 2])


def poisson():
    b = infer.sample("b", stats.norm(0, 2), shape=2)
    infer.observe(COUNTS, stats.poisson(TIMES * np.exp(X @ b)))


def poisson_by_hand(b):
    return stats.norm.logpdf(b, 0, 2).sum() + stats.poisson.logpmf(COUNTS, TIMES * np.exp(X @ b)).sum()


def negative_binomial():
    b = infer.sample("b", stats.norm(0, 2), shape=2)
    phi = infer.sample("phi", stats.invgamma(2.0))
    mu = np.exp(X @ b)
    infer.observe(COUNTS, stats.nbinom(phi, phi / (phi + mu)))


def negative_binomial_by_hand(b, phi):
    mu = np.exp(X @ b)
    prior = stats.norm.logpdf(b, 0, 2).sum() + stats.invgamma.logpdf(phi, 2)
    return prior + stats.nbinom.logpmf(COUNTS, phi, phi / (phi + mu)).sum()


def ordered_logit():
    b = infer.sample("b", stats.laplace(0, 1), shape=2)
    cuts = infer.sample("cuts", stats.norm(0, 3), shape=3, transform=T.ordered)
    below = special.expit(cuts - (X @ b)[:, None])
    whole = np.concatenate([np.zeros((7, 1)), below, np.ones((7, 1))], axis=1)
    infer.factor(np.log(np.diff(whole, axis=1)[np.arange(7), CHOICES]))


def ordered_logit_by_hand(b, cuts):
    prior = stats.laplace.logpdf(b).sum() + stats.norm.logpdf(cuts, 0, 3).sum()
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    eta = X @ b
    parts = stats.logistic.cdf(edges[CHOICES + 1] - eta) - stats.logistic.cdf(edges[CHOICES] - eta)
    return prior + np.log(parts).sum()


def survival():
    k = infer.sample("k", stats.gamma(2, scale=0.5))
    b = infer.sample("b", stats.t(3), shape=2)
    scale = np.exp(X @ b)
    dist = stats.weibull_min(k, scale=scale)
    infer.factor(np.where(SEEN, dist.logpdf(TIMES), dist.logsf(TIMES)))


def survival_by_hand(k, b):
    scale = np.exp(X @ b)
    parts = np.where(SEEN, np.log(k / scale) + (k - 1) * np.log(TIMES / scale), 0) - (TIMES / scale) ** k
    return stats.gamma.logpdf(k, 2, scale=0.5) + stats.t.logpdf(b, 3).sum() + parts.sum()


def zero_inflated():
    p = infer.sample("p", stats.beta(2, 2))
    rate = infer.sample("rate", stats.lognorm(1.0))
    z = infer.sample("z", stats.bernoulli(p), shape=7)
    infer.observe(COUNTS, stats.poisson(rate * z))


def zero_inflated_by_hand(p, rate):
    parts = p * stats.poisson.pmf(COUNTS, rate) + (1 - p) * (COUNTS == 0)
    return stats.beta.logpdf(p, 2, 2) + stats.lognorm.logpdf(rate, 1) + np.log(parts).sum()


def proportions():
    a = infer.sample("a", stats.expon(), shape=3)
    p = infer.sample("p", stats.dirichlet(np.array([1.0, 2.0, 1.5])), shape=2)
    infer.observe(np.array([3, 1, 4]), stats.multinomial(8, p[0]))
    infer.observe(np.array([0, 2, 2]), stats.multinomial(4, p[1]))
    infer.factor(stats.dirichlet(a).logpdf(p[0]))


def proportions_by_hand(a, p):
    total = stats.expon.logpdf(a).sum() + sum(stats.dirichlet.logpdf(row, [1.0, 2.0, 1.5]) for row in p)
    total += stats.multinomial.logpmf([3, 1, 4], 8, p[0]) + stats.multinomial.logpmf([0, 2, 2], 4, p[1])
    return total + stats.dirichlet.logpdf(p[0], a)


def correlated():
    scales = infer.sample("scales", stats.halfnorm(0, 1), shape=3)
    L = infer.sample("L", infer.lkj_cholesky(3, 2.5))
    D = scales[:, None] * L
    infer.observe(np.reshape(Z[:6], (2, 3)), stats.multivariate_normal(np.zeros(3), D @ D.T))


def correlated_by_hand(scales, L):
    logs = np.log(np.diagonal(L))
    constant = 0.0
    for k in (1, 2):
        beta = 2.5 + 0.5 * (2 - k)
        constant += (3 - k) * np.log(2 ** (2 * beta - 1) * special.beta(beta, beta))
    prior = stats.halfnorm.logpdf(scales).sum() + (2 + 3) * logs[0] + (1 + 3) * logs[1] + 3 * logs[2] - constant
    cov = np.diag(scales) @ L @ L.T @ np.diag(scales)
    return prior + stats.multivariate_normal.logpdf(Z[:6].reshape(2, 3), np.zeros(3), cov).sum()


def process():
    rho = infer.sample("rho", stats.invgamma(5, scale=5))
    noise = infer.sample("noise", stats.halfcauchy(0, 1))
    d = np.abs(TIMES[:, None] - TIMES)
    K = (1 + np.sqrt(3) * d / rho) * np.exp(-np.sqrt(3) * d / rho) + noise**2 * np.eye(7)
    infer.observe(Z, stats.multivariate_normal(np.zeros(7), K))


def process_by_hand(rho, noise):
    d = np.abs(TIMES[:, None] - TIMES)
    K = (1 + np.sqrt(3) * d / rho) * np.exp(-np.sqrt(3) * d / rho) + noise**2 * np.eye(7)
    prior = stats.invgamma.logpdf(rho, 5, scale=5) + stats.halfcauchy.logpdf(noise)
    return prior + stats.multivariate_normal.logpdf(Z, np.zeros(7), K)


def robust_series():
    phi = infer.sample("phi", stats.uniform(-1, 2))
    nu = infer.sample("nu", stats.truncnorm(-1, 4, loc=4, scale=2))
    s = infer.sample("s", stats.expon(scale=2))
    infer.observe(Z[0], stats.t(nu, 0, s / np.sqrt(1 - phi**2)))
    for k in range(1, len(Z)):
        infer.observe(Z[k], stats.t(nu, phi * Z[k - 1], s))


def robust_series_by_hand(phi, nu, s):
    prior = np.log(0.5) + stats.truncnorm.logpdf(nu, -1, 4, 4, 2) + stats.expon.logpdf(s, scale=2)
    first = stats.t.logpdf(Z[0], nu, 0, s / np.sqrt(1 - phi**2))
    return prior + first + stats.t.logpdf(Z[1:], nu, phi * Z[:-1], s).sum()


def three_rates():
    w = infer.sample("w", stats.dirichlet(np.ones(3)))
    rates = infer.sample("rates", stats.gamma(2, scale=2), shape=3, transform=T.positive_ordered)
    k = infer.sample("k", stats.rv_discrete(values=(np.arange(3), w)), shape=7)
    infer.observe(COUNTS, stats.poisson(rates[k]))


def three_rates_by_hand(w, rates):
    parts = stats.poisson.pmf(COUNTS[:, None], rates) @ w
    return stats.dirichlet.logpdf(w, np.ones(3)) + stats.gamma.logpdf(rates, 2, scale=2).sum() + np.log(parts).sum()


def varying():
    mu = infer.sample("mu", stats.norm(0, 1), shape=2)
    tau = infer.sample("tau", stats.halfnorm(0, 1), shape=2)
    with infer.plate("groups", 3):
        a = infer.sample("a", stats.norm(mu[0], tau[0]))
        b = infer.sample("b", stats.norm(mu[1], tau[1]))
    infer.observe(SEEN.astype(int), stats.bernoulli(special.expit(a[GROUP] + b[GROUP] * X[:, 0])))


def varying_by_hand(mu, tau, a, b):
    prior = stats.norm.logpdf(mu).sum() + stats.halfnorm.logpdf(tau).sum()
    prior += stats.norm.logpdf(a, mu[0], tau[0]).sum() + stats.norm.logpdf(b, mu[1], tau[1]).sum()
    return prior + stats.bernoulli.logpmf(SEEN, special.expit(a[GROUP] + b[GROUP] * X[:, 0])).sum()


def overdispersed():
    a = infer.sample("a", stats.pareto(2.0), shape=2)
    infer.observe(COUNTS, stats.betabinom(9, a[0], a[1]))
    angle = infer.sample("angle", stats.vonmises(2.0, 0.5))
    infer.observe(Z, stats.vonmises(1.5, angle))


def overdispersed_by_hand(a, angle):
    total = stats.pareto.logpdf(a, 2).sum() + stats.betabinom.logpmf(COUNTS, 9, *a).sum()
    return total + stats.vonmises.logpdf(angle, 2, 0.5) + stats.vonmises.logpdf(Z, 1.5, angle).sum()


def changepoint():
    early = infer.sample("early", stats.expon(scale=2))
    late = infer.sample("late", stats.expon(scale=2))
    when = infer.sample("when", stats.randint(1, 7))
    infer.observe(COUNTS, stats.poisson(np.where(np.arange(7) < when, early, late)))


def changepoint_by_hand(early, late):
    each = [stats.poisson.logpmf(COUNTS, np.where(np.arange(7) < k, early, late)).sum() for k in range(1, 7)]
    return stats.expon.logpdf([early, late], scale=2).sum() - np.log(6) + special.logsumexp(each)


def local_level():
    """Kalman's filter."""
    q = infer.sample("q", stats.halfnorm(0, 1))
    r = infer.sample("r", stats.halfnorm(0, 1))
    mean, var = 0.0, 4.0
    for k in range(len(Z)):
        infer.observe(Z[k], stats.norm(mean, np.sqrt(var + r**2)))
        gain = var / (var + r**2)
        mean = mean + gain * (Z[k] - mean)
        var = (1 - gain) * var + q**2


def local_level_by_hand(q, r):
    steps = np.minimum.outer(np.arange(7), np.arange(7))
    K = 4.0 + q**2 * steps + r**2 * np.eye(7)
    return stats.halfnorm.logpdf([q, r]).sum() + stats.multivariate_normal.logpdf(Z, np.zeros(7), K)


def left_to_right():
    """A chain in which most transitions are impossible."""
    stay = infer.sample("stay", stats.beta(2, 2), shape=2)
    mu = infer.sample("mu", stats.norm(0, 2), shape=3)
    P = np.zeros((3, 3))
    P[0, 0], P[0, 1], P[1, 1], P[1, 2], P[2, 2] = stay[0], 1 - stay[0], stay[1], 1 - stay[1], 1.0
    z = infer.sample("z0", stats.rv_discrete(values=([0, 1, 2], [1.0, 0.0, 0.0])))
    infer.observe(Z[0], stats.norm(mu[z], 1))
    for t in range(1, len(Z)):
        z = infer.sample(f"z{t}", stats.rv_discrete(values=([0, 1, 2], P[z])))
        infer.observe(Z[t], stats.norm(mu[z], 1))


def left_to_right_by_hand(stay, mu):
    parts = []
    for a in range(1, 8):  # so many times in the first state, up to b in the second
        for b in range(a + 1, 8) if a < 7 else (7,):
            path = np.array([0] * a + [1] * (b - a) + [2] * (7 - b))
            p = stay[0] ** (a - 1) * ((1 - stay[0]) * stay[1] ** (b - a - 1) if a < 7 else 1.0)
            p *= 1 - stay[1] if b < 7 else 1.0
            parts.append(p * np.prod(stats.norm.pdf(Z, mu[path], 1)))
    return stats.beta.logpdf(stay, 2, 2).sum() + stats.norm.logpdf(mu, 0, 2).sum() + np.log(sum(parts))


MODELS = {
    left_to_right: (left_to_right_by_hand, {"stay": T.unit_interval}),
    poisson: (poisson_by_hand, {}),
    negative_binomial: (negative_binomial_by_hand, {"phi": T.positive}),
    ordered_logit: (ordered_logit_by_hand, {"cuts": T.ordered}),
    survival: (survival_by_hand, {"k": T.positive}),
    zero_inflated: (zero_inflated_by_hand, {"p": T.unit_interval, "rate": T.positive}),
    proportions: (proportions_by_hand, {"a": T.positive, "p": T.simplex}),
    correlated: (correlated_by_hand, {"scales": T.positive, "L": T.correlation_cholesky}),
    process: (process_by_hand, {"rho": T.positive, "noise": T.positive}),
    robust_series: (robust_series_by_hand, {"phi": T.interval(-1, 1), "nu": T.interval(2, 12), "s": T.positive}),
    three_rates: (three_rates_by_hand, {"w": T.simplex, "rates": T.positive_ordered}),
    varying: (varying_by_hand, {"tau": T.positive}),
    overdispersed: (overdispersed_by_hand, {"a": T.lower(1.0), "angle": T.interval(0.5 - np.pi, 0.5 + np.pi)}),
    changepoint: (changepoint_by_hand, {"early": T.positive, "late": T.positive}),
    local_level: (local_level_by_hand, {"q": T.positive, "r": T.positive}),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_densities_and_gradients(model, rng):
    by_hand, supports = MODELS[model]
    p = infer.posterior(model)
    u = 0.5 * rng.normal(size=p.size)

    def value(u):
        parts = {name: np.reshape(u[site.start : site.stop], site.inner) for name, site in p.sites.items()}
        point = {name: supports.get(name, T.real).forward(part) for name, part in parts.items()}
        return by_hand(**point) + sum(t.log_jacobian(parts[name]) for name, t in supports.items())

    np.testing.assert_allclose(p.log_density(u), value(u), rtol=1e-10)
    h = 1e-4 * np.eye(p.size)
    slope = [(8 * (value(u + e) - value(u - e)) - (value(u + 2 * e) - value(u - 2 * e))) / 12e-4 for e in h]
    np.testing.assert_allclose(wg.grad(p.log_density)(u), slope, rtol=1e-6, atol=1e-7)
    compiled = wg.jit(wg.value_and_grad(p.log_density))(u)
    np.testing.assert_allclose(compiled[0], value(u), rtol=1e-10)
    np.testing.assert_allclose(compiled[1], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("eta", [0.7, 2.0])
def test_correlations_of_the_lkj_distribution(eta, rng):
    """Each correlation is a beta distribution on (−1, 1); matrix and factor agree; the density integrates to one."""
    n = 4
    matrices = infer.lkj(n, eta).rvs(4000, random_state=rng)
    both = eta + 0.5 * n - 1
    for i, j in ((1, 0), (3, 2)):
        assert stats.kstest((1 + matrices[:, i, j]) / 2, stats.beta(both, both).cdf).pvalue > 1e-3
    factor = np.linalg.cholesky(matrices[0])
    jacobian = np.sum(np.arange(n - 1, -1, -1) * np.log(np.diagonal(factor)))
    found = infer.lkj_cholesky(n, eta).logpdf(factor)
    np.testing.assert_allclose(found, infer.lkj(n, eta).logpdf(matrices[0]) + jacobian, rtol=1e-12)
    r = np.linspace(-1, 1, 2001)[1:-1]
    two = np.array([[[1, x], [x, 1]] for x in r])
    np.testing.assert_allclose(infer.lkj(2, eta).logpdf(two), stats.beta.logpdf((1 + r) / 2, eta, eta) - np.log(2))


def test_what_a_model_writes_to_its_values_changes_nothing_else():
    """`mu = m; mu += 1` is arithmetic if m is a number, and an array that a site gave is the model's own."""
    y, u = np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.5, -0.3, 0.2, 0.4])

    def writing(y):
        s = infer.sample("s", stats.expon())
        h = infer.sample("h", stats.norm(0, 1), shape=3)
        m = infer.sample("m", stats.norm(0, 1))
        mu = m
        mu += 1
        h[0] /= np.sqrt(1 + s)
        h += m
        infer.record("path", h)
        h *= 2
        infer.observe(y, stats.norm(h + mu, 1))

    def pure(y):
        s = infer.sample("s", stats.expon())
        h = infer.sample("h", stats.norm(0, 1), shape=3)
        m = infer.sample("m", stats.norm(0, 1))
        path = infer.record("path", h * np.stack([1 / np.sqrt(1 + s), 1.0, 1.0]) + m)
        infer.observe(y, stats.norm(2 * path + (m + 1), 1))

    p, q = infer.posterior(writing, y), infer.posterior(pure, y)
    for way in (lambda f: f, wg.jit):
        np.testing.assert_allclose(way(p.log_density)(u), q.log_density(u), rtol=1e-14)
        np.testing.assert_allclose(way(wg.grad(p.log_density))(u), wg.grad(q.log_density)(u), rtol=1e-12, atol=1e-14)
    for name, value in q.constrain(u).items():
        np.testing.assert_allclose(p.constrain(u)[name], value, rtol=1e-14)
    draws = {"s": np.ones((1, 2)), "h": np.ones((1, 2, 3)), "m": np.ones((1, 2))}
    for see in (
        lambda model: infer.prior_predictive(model, y, draws=3),
        lambda model: infer.posterior_predictive(model, y, draws=draws),
        lambda model: infer.log_likelihood(model, y, draws=draws),
    ):
        for name, value in see(pure).items():
            np.testing.assert_allclose(see(writing)[name], value, rtol=1e-14)
    assert np.all(draws["h"] == 1)

    def density(x):
        s = x["s"]
        s += 1
        return -(x["s"] ** 2)

    p = infer.posterior(density, init={"s": 1.0})
    assert p.log_density(np.array([3.0])) == p.value_and_gradient(np.array([3.0]))[0] == -9.0


def test_what_is_given_is_checked():
    flat = lambda q: -(q**2)
    with pytest.raises(infer.ModelError, match="init="):
        infer.nuts(flat, progress=False)
    with pytest.raises(infer.ModelError, match="returned nothing"):
        infer.nuts(lambda q: None, init=0.0, progress=False)
    with pytest.raises(ValueError, match="between 0 and 1"):
        infer.nuts(flat, init=0.0, target_accept=1.5, progress=False)

    def model(y):
        infer.observe(y, stats.norm(infer.sample("mu", stats.norm(0, 1)), 1.0))

    with pytest.raises(infer.ModelError, match="'m'.*'mu'"):
        infer.nuts(model, 0.3, init={"m": 0.0}, progress=False)
    with pytest.raises(infer.ModelError, match="takes other arguments"):
        infer.nuts(model, progress=False)


def test_a_support_whose_end_depends_on_a_sign():
    """A site with a generalised Pareto distribution: with a given shape, with one that is a site, and a transform."""

    def model(c):
        scale = infer.sample("scale", stats.halfnorm(0, 1))
        infer.sample("x", stats.genpareto(c, scale=scale))

    for c, x in ((-0.5, 0.7), (0.5, 3.0)):
        p = infer.posterior(model, c)
        u = p.unconstrain({"scale": 0.8, "x": x})
        end = 1.6 if c < 0 else np.inf
        log_slope = np.log(x) if c > 0 else np.log(x * (end - x) / end)
        expected = stats.halfnorm.logpdf(0.8) + np.log(0.8) + stats.genpareto.logpdf(x, c, scale=0.8) + log_slope
        np.testing.assert_allclose(wg.jit(p.log_density)(u), expected, rtol=1e-12)

    def shape_is_a_site(transform):
        c = infer.sample("c", stats.halfnorm(0, 1))
        infer.sample("x", stats.genpareto(c), transform=transform)

    with pytest.raises(infer.ModelError, match="transform="):
        infer.posterior(shape_is_a_site, None)
    p = infer.posterior(shape_is_a_site, infer.transforms.positive)
    expected = stats.halfnorm.logpdf(1.0) + stats.genpareto.logpdf(1.0, 1.0)
    np.testing.assert_allclose(wg.jit(p.log_density)(np.zeros(2)), expected, rtol=1e-12)


def test_a_normal_distribution_cut_off_where_its_location_is_a_site():
    """The end of the support, computed from sites, is a number at all of their values: the density compiles."""

    def model(low):
        mu = infer.sample("mu", stats.norm(0, 1))
        infer.sample("x", stats.truncnorm((low - mu) / 2.0, np.inf, loc=mu, scale=2.0))

    p = infer.posterior(model, 0.5)
    mu, x = 0.3, 1.7
    u = p.unconstrain({"mu": mu, "x": x})
    expected = stats.norm.logpdf(mu) + stats.norm.logpdf(x, mu, 2.0) - stats.norm.logsf(0.5, mu, 2.0) + np.log(x - 0.5)
    np.testing.assert_allclose(wg.jit(p.log_density)(u), expected, rtol=1e-12)


def test_mixtures_of_lists_of_discrete_distributions_and_as_priors():
    """A mixture may have components of several families, may be discrete, and may be a prior."""

    def model(y, counts):
        w = infer.sample("w", stats.beta(2, 2))
        rate = infer.sample("rate", infer.mixture([0.3, 0.7], stats.gamma([2.0, 5.0])))
        loc = infer.sample("loc", infer.mixture([0.5, 0.5], [stats.norm(-1, 0.5), stats.t(3)]), shape=2)
        infer.observe(y, infer.mixture(np.stack([w, 1 - w]), [stats.norm(loc[0], 1), stats.laplace(loc[1], 2)]))
        infer.observe(counts, infer.mixture(np.stack([w, 1 - w]), [stats.randint(0, 1), stats.poisson(rate)]))

    y, counts = np.array([-0.5, 1.0, 4.0]), np.array([0, 0, 3])
    p = infer.posterior(model, y, counts)
    w, rate, loc = 0.3, 1.7, np.array([-0.4, 0.9])
    u = p.unconstrain({"w": w, "rate": rate, "loc": loc})
    expected = (
        stats.beta.logpdf(w, 2, 2)
        + np.log(w * (1 - w) * rate)
        + np.log(0.3 * stats.gamma.pdf(rate, 2) + 0.7 * stats.gamma.pdf(rate, 5))
        + np.log(0.5 * stats.norm.pdf(loc, -1, 0.5) + 0.5 * stats.t.pdf(loc, 3)).sum()
        + np.log(w * stats.norm.pdf(y, loc[0]) + (1 - w) * stats.laplace.pdf(y, loc[1], 2)).sum()
        + np.log(w * (counts == 0) + (1 - w) * stats.poisson.pmf(counts, rate)).sum()
    )
    value, gradient = wg.jit(wg.value_and_grad(p.log_density))(u)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    steps = 1e-5 * np.eye(4)
    slopes = [(p.log_density(u + h) - p.log_density(u - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)
    outside = infer.mixture([0.3, 0.7], stats.gamma([2.0, 5.0])).logpdf(np.array([-1.0, 2.0]))
    assert outside[0] == -np.inf
    assert np.isfinite(outside[1])
    drawn = infer.mixture([0.25, 0.75], [stats.randint(0, 1), stats.randint(5, 6)]).rvs(4000, random_state=1)
    assert abs(np.mean(drawn == 5) - 0.75) < 0.04
    with pytest.raises(infer.ModelError, match="weights of shape"):
        infer.mixture([0.5, 0.5], [stats.norm(), stats.norm(), stats.norm()])
    with pytest.raises(infer.ModelError, match="with a density and without"):
        infer.mixture([0.5, 0.5], [stats.norm(), stats.poisson(1)])


VECTORS = {
    "dirichlet": lambda a: stats.dirichlet(a * np.array([1.0, 2.0, 1.5])),
    "wishart": lambda a: stats.wishart(5, a * np.eye(2)),
    "invwishart": lambda a: stats.invwishart(5, a * np.eye(2)),
    "multivariate_normal": lambda a: stats.multivariate_normal(np.zeros(2), a * np.eye(2)),
    "vonmises_fisher": lambda a: stats.vonmises_fisher(np.array([1.0, 0.0, 0.0]), a),
    "matrix_normal": lambda a: stats.matrix_normal(np.zeros((2, 3)), a * np.eye(2)),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("shape", [None, 4, (2, 3)])
def test_as_many_values_of_a_distribution_of_vectors_as_the_shape_says(name, shape):
    """How the density changes with a parameter is the sum over the values, as SciPy has them one by one."""
    dist = VECTORS[name]

    def model():
        a = infer.sample("a", stats.expon())
        infer.sample("x", dist(a), shape=shape)

    count = () if shape is None else np.broadcast_shapes(shape)
    x = infer.prior_predictive(model, draws=3, seed=0)["x"][1]
    event = np.shape(dist(1.0).rvs(2, random_state=0))[1:]
    assert x.shape == (*count, *event)
    posterior = infer.posterior(model)
    at = lambda a: posterior.log_density(posterior.unconstrain({"a": a, "x": x})) + a - np.log(a)
    values = np.reshape(x, (-1, *event))
    each = sum(dist(1.3).logpdf(value) - dist(0.7).logpdf(value) for value in values)
    np.testing.assert_allclose(at(1.3) - at(0.7), np.sum(each), rtol=1e-10)
