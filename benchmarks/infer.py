"""Sampling side by side: `python benchmarks/infer.py [names]` from the root of the repository.

The no-U-turn sampler of wengert and of NumPyro (if it is installed, on the CPU) on posteriors that are written in both
languages: 4 chains, 1000 transitions of warm-up and 1000 draws each, diagonal metric, acceptance rate 0.8. Shown are,
for each, the effective sample size (bulk; smallest over all parameters) per second of sampling with compiled code,
and per 1000 gradients; and the seconds to the first draw in a fresh process, with everything that has to be compiled.
"""

import argparse
import importlib.util
import time

import numpy as np
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.infer.diagnostics import ess_bulk

RNG = np.random.default_rng(0)
CHAINS, WARMUP, DRAWS = 4, 1000, 1000


# ------------------------------------------------------------------------------------------------------------- models


def schools(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.halfcauchy(0, 5))
    z = infer.sample("z", stats.norm(0, 1), shape=8)
    infer.observe(y, stats.norm(mu + tau * z, s))


def logistic(X, y):
    b = infer.sample("b", stats.norm(0, 1), shape=X.shape[1])
    eta = X @ b
    infer.factor(np.sum(y * eta - np.logaddexp(0.0, eta)))


def radon(county, floor, y):
    mu = infer.sample("mu", stats.norm(0, 10))
    sigma_a = infer.sample("sigma_a", stats.halfnorm(0, 1))
    sigma_y = infer.sample("sigma_y", stats.halfnorm(0, 1))
    beta = infer.sample("beta", stats.norm(0, 10))
    raw = infer.sample("raw", stats.norm(0, 1), shape=85)
    infer.observe(y, stats.norm(mu + sigma_a * raw[county] + beta * floor, sigma_y))


def process(x, y):
    rho = infer.sample("rho", stats.gamma(5, scale=0.4))
    alpha = infer.sample("alpha", stats.halfnorm(0, 2))
    sigma = infer.sample("sigma", stats.halfnorm(0, 1))
    distance = (x[:, None] - x[None, :]) ** 2
    K = alpha**2 * np.exp(-0.5 * distance / rho**2) + (sigma**2 + 1e-8) * np.eye(len(x))
    infer.observe(y, stats.multivariate_normal(np.zeros(len(x)), K))


def lotka(t, y):
    theta = infer.sample("theta", stats.lognorm(0.5, scale=np.array([0.55, 0.028, 0.8, 0.024])))
    start = infer.sample("start", stats.lognorm(0.3, scale=np.array([30.0, 5.0])))
    sigma = infer.sample("sigma", stats.lognorm(1.0, scale=0.3), shape=2)

    def slope(t, z):
        a, b, c, d = theta
        return np.array([(a - b * z[1]) * z[0], (-c + d * z[0]) * z[1]])

    z = wg.odeint(slope, start, t, rtol=1e-6, atol=1e-6)
    infer.observe(np.log(y), stats.norm(np.log(z), sigma))


def hidden(y):
    stay = infer.sample("stay", stats.beta(8, 2), shape=2)
    mu = infer.sample("mu", stats.norm(np.array([3.0, 10.0]), 1.0))
    P = np.stack([stay[0], 1 - stay[1]])  # probability of state 0 after states 0 and 1
    z = infer.sample("z0", stats.bernoulli(0.5))
    infer.observe(y[0], stats.norm(mu[z], 1.0))
    for t in range(1, len(y)):
        z = infer.sample(f"z{t}", stats.bernoulli(1 - P[z]))
        infer.observe(y[t], stats.norm(mu[z], 1.0))


def mixture(y):
    theta = infer.sample("theta", stats.beta(5, 5))
    mu = infer.sample("mu", stats.norm(0, 2), shape=2, transform=infer.transforms.ordered)
    sigma = infer.sample("sigma", stats.halfnorm(0, 2), shape=2)
    z = infer.sample("z", stats.bernoulli(1 - theta), shape=len(y))
    infer.observe(y, stats.norm(mu[z], sigma[z]))


def regression(X, y):
    b = infer.sample("b", stats.norm(0, 1), shape=X.shape[1])
    sigma = infer.sample("sigma", stats.halfnorm(0, 1))
    infer.observe(y, stats.norm(X @ b, sigma))


def data():
    X = RNG.normal(size=(10_000, 25))
    county = RNG.integers(0, 85, 919)
    floor = RNG.integers(0, 2, 919).astype(float)
    x = np.linspace(0, 10, 50)
    states = np.cumsum(RNG.random(100) < 0.15) % 2
    times = np.arange(0.0, 21.0)
    wide = RNG.normal(size=(500, 200))
    t, b = RNG.random(10_000), RNG.normal(size=25) / 3
    lynx = wg.odeint(
        lambda t, z: np.array([(0.55 - 0.028 * z[1]) * z[0], (-0.8 + 0.024 * z[0]) * z[1]]),
        np.array([30.0, 5.0]),
        times,
    )
    return {
        "schools": (schools, (np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18]))),
        "logistic": (logistic, (X, (t < 1 / (1 + np.exp(-X @ b))).astype(float))),
        "radon": (radon, (county, floor, 1.4 + 0.3 * RNG.normal(size=85)[county] - 0.6 * floor + RNG.normal(size=919))),
        "process": (process, (x, np.sin(x) + 0.3 * RNG.normal(size=50))),
        "lotka": (lotka, (times, lynx * np.exp(0.25 * RNG.normal(size=(21, 2))))),
        "hidden": (hidden, (np.where(states, 10.0, 3.0) + RNG.normal(size=100),)),
        "mixture": (mixture, (np.concatenate([RNG.normal(-1, 0.7, 400), RNG.normal(2, 1, 600)]),)),
        "regression": (regression, (wide, wide @ RNG.normal(size=200) + RNG.normal(size=500))),
    }


# ------------------------------------------------------------------------------------------------ the same in NumPyro


def numpyro_models():
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from jax.experimental.ode import odeint

    def schools(y, s):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        z = numpyro.sample("z", dist.Normal(0, 1).expand([8]))
        numpyro.sample("y", dist.Normal(mu + tau * z, s), obs=y)

    def logistic(X, y):
        b = numpyro.sample("b", dist.Normal(0, 1).expand([X.shape[1]]))
        numpyro.sample("y", dist.Bernoulli(logits=X @ b), obs=y)

    def radon(county, floor, y):
        mu = numpyro.sample("mu", dist.Normal(0, 10))
        sigma_a = numpyro.sample("sigma_a", dist.HalfNormal(1))
        sigma_y = numpyro.sample("sigma_y", dist.HalfNormal(1))
        beta = numpyro.sample("beta", dist.Normal(0, 10))
        raw = numpyro.sample("raw", dist.Normal(0, 1).expand([85]))
        numpyro.sample("y", dist.Normal(mu + sigma_a * raw[county] + beta * floor, sigma_y), obs=y)

    def process(x, y):
        rho = numpyro.sample("rho", dist.Gamma(5, 2.5))
        alpha = numpyro.sample("alpha", dist.HalfNormal(2))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1))
        distance = (x[:, None] - x[None, :]) ** 2
        K = alpha**2 * jnp.exp(-0.5 * distance / rho**2) + (sigma**2 + 1e-8) * jnp.eye(len(x))
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), K), obs=y)

    def lotka(t, y):
        theta = numpyro.sample("theta", dist.LogNormal(jnp.log(jnp.array([0.55, 0.028, 0.8, 0.024])), 0.5))
        start = numpyro.sample("start", dist.LogNormal(jnp.log(jnp.array([30.0, 5.0])), 0.3))
        sigma = numpyro.sample("sigma", dist.LogNormal(jnp.log(0.3), 1.0).expand([2]))
        slope = lambda z, t, th: jnp.array([(th[0] - th[1] * z[1]) * z[0], (-th[2] + th[3] * z[0]) * z[1]])
        z = odeint(slope, start, t, theta, rtol=1e-6, atol=1e-6, mxstep=1000)
        numpyro.sample("y", dist.Normal(jnp.log(z), sigma), obs=jnp.log(y))

    def hidden(y):
        stay = numpyro.sample("stay", dist.Beta(8, 2).expand([2]))
        mu = numpyro.sample("mu", dist.Normal(jnp.array([3.0, 10.0]), 1.0))
        P = jnp.log(jnp.array([[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]))
        unit = dist.Normal(mu, 1.0)

        def step(alpha, value):
            return jax.scipy.special.logsumexp(alpha[:, None] + P, axis=0) + unit.log_prob(value), None

        alpha, _ = jax.lax.scan(step, jnp.log(0.5) + unit.log_prob(y[0]), y[1:])
        numpyro.factor("y", jax.scipy.special.logsumexp(alpha))

    def mixture(y):
        theta = numpyro.sample("theta", dist.Beta(5, 5))
        mu = numpyro.sample("mu", dist.TransformedDistribution(
            dist.Normal(0, 1).expand([2]).to_event(1), dist.transforms.OrderedTransform()))  # fmt: skip
        numpyro.factor("prior", dist.Normal(0, 2).log_prob(mu).sum() - dist.Normal(0, 1).log_prob(
            jnp.array([mu[0], jnp.log(mu[1] - mu[0])])).sum() + jnp.log(mu[1] - mu[0]))  # fmt: skip
        sigma = numpyro.sample("sigma", dist.HalfNormal(2).expand([2]))
        numpyro.sample("y", dist.MixtureSameFamily(
            dist.Categorical(probs=jnp.array([theta, 1 - theta])), dist.Normal(mu, sigma)), obs=y)  # fmt: skip

    def regression(X, y):
        b = numpyro.sample("b", dist.Normal(0, 1).expand([X.shape[1]]))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(X @ b, sigma), obs=y)

    return locals()


# ------------------------------------------------------------------------------------------------------------ measuring


def smallest(draws):
    """The smallest effective sample size over all numbers."""
    return min(
        ess_bulk(x.reshape(*x.shape[:2], -1)[:, :, k]) for x in draws.values() for k in range(int(np.prod(x.shape[2:])))
    )


def of_wengert(name, model, args):
    began = time.perf_counter()
    infer.posterior(model, *args)
    setup = time.perf_counter() - began
    result = infer.nuts(model, *args, draws=DRAWS, warmup=WARMUP, chains=CHAINS, progress=False)
    info = result.info
    ess = smallest(result.draws)
    return (
        ess / info["sampling_seconds"],
        1000 * ess / (info["gradients"] + info["warmup_gradients"]),
        setup + info["seconds_to_first_draw"],
        int(np.sum(result.stats["diverging"])),
    )


def of_numpyro(name, model, args):
    import jax
    from numpyro.infer import MCMC, NUTS

    model = numpyro_models()[name]
    args = tuple([jax.numpy.asarray(a) for a in args])
    extra = ("num_steps", "diverging")
    began = time.perf_counter()
    first = MCMC(NUTS(model), num_warmup=WARMUP, num_samples=1, num_chains=1, progress_bar=False)
    first.run(jax.random.PRNGKey(0), *args)
    first_draw = time.perf_counter() - began
    mcmc = MCMC(NUTS(model), num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, progress_bar=False,
                chain_method="parallel")  # fmt: skip
    mcmc.run(jax.random.PRNGKey(0), *args, extra_fields=extra)
    jax.block_until_ready(mcmc.get_samples())
    began = time.perf_counter()
    mcmc.run(jax.random.PRNGKey(1), *args, extra_fields=extra)
    jax.block_until_ready(mcmc.get_samples())
    seconds = time.perf_counter() - began
    ess = smallest({name: np.asarray(x) for name, x in mcmc.get_samples(group_by_chain=True).items()})
    fields = mcmc.get_extra_fields()
    return ess / seconds, 1000 * ess / (2 * int(fields["num_steps"].sum())), first_draw, int(fields["diverging"].sum())


def main():
    global WARMUP, DRAWS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=DRAWS, help="transitions of warm-up, and draws, of each chain")
    options = parser.parse_args()
    names, WARMUP, DRAWS = options.names, options.draws, options.draws
    peer = importlib.util.find_spec("numpyro") is not None
    if peer:
        import numpyro

        numpyro.set_host_device_count(CHAINS)
        numpyro.enable_x64()
    print(f"{'':12} {'ESS/s':>22} {'ESS per 1000 gradients':>26} {'seconds to first draw':>24} {'divergences':>12}")
    ratios = []
    for name, (model, args) in data().items():
        if names and name not in names:
            continue
        ours = of_wengert(name, model, args)
        theirs = of_numpyro(name, model, args) if peer else (float("nan"),) * 4
        ratios.append(ours[0] / theirs[0])
        pairs = [f"{a:>10.4g} /{b:>10.4g}" for a, b in zip(ours, theirs, strict=True)]
        print(
            f"{name:12} {pairs[0]:>22} {pairs[1]:>26} {pairs[2]:>24} {pairs[3]:>12}  ratio {ratios[-1]:.2f}", flush=True
        )
    print(f"wengert / NumPyro; geometric mean of the ratios of ESS/s: {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
