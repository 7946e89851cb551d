"""Sampling side by side: `python benchmarks/infer.py [names]` from the root of the repository.

The no-U-turn sampler of wengert, and of NumPyro (on the CPU), Stan (pystan) and nutpie (on models of PyMC) where they
are installed, on posteriors that are written in all these languages (`infer_peers.py`): 4 chains, 1000 transitions of
warm-up and 1000 draws each, diagonal metric, acceptance rate 0.8. Shown are, for each, the effective sample size (bulk;
smallest over all parameters) per second of warm-up and draws with compiled code, and per 1000 gradients of the draws;
and the seconds to the first draw, with everything that has to be compiled. Seconds are those that processors worked, in
this process and those that it started, so that others who use the machine do not count. Set WENGERT_CACHE=0, lest code
be found on disk, and OPENBLAS_NUM_THREADS=1, lest the chains of the others wait for each other's threads.
"""

import argparse
import contextlib
import importlib.util
import io
import time
from typing import NamedTuple

import infer_peers
import numpy as np
import psutil
from scipy import stats

import wengert as wg
from wengert import infer
from wengert.infer import chains
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


# ------------------------------------------------------------------------------------------------------------ measuring


def smallest(draws):
    """The smallest effective sample size over all numbers."""
    return min(
        ess_bulk(x.reshape(*x.shape[:2], -1)[:, :, k]) for x in draws.values() for k in range(int(np.prod(x.shape[2:])))
    )


class Clock:
    """Seconds of processors, of this process and its children, since it was made or last read."""

    def __init__(self):
        self.process = psutil.Process()
        self.last = self._now()

    def _now(self):
        found = time.process_time()
        for process in self.process.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                found += sum(process.cpu_times()[:4])  # of children that ended as well
        return found

    def read(self):
        before, self.last = self.last, self._now()
        return self.last - before


class Measured(NamedTuple):
    """What is compared; the seconds are those of warm-up and draws, the gradients those of the draws."""

    draws: dict
    seconds: float
    gradients: int
    first_draw: float
    divergences: int

    @property
    def row(self):
        ess = smallest(self.draws)
        return ess / self.seconds, 1000 * ess / self.gradients, self.first_draw, self.divergences


def of_wengert(name, model, args):
    clock = Clock()
    infer.nuts(model, *args, draws=1, warmup=WARMUP, chains=1, progress=False)
    first_draw = clock.read()
    run_all, seconds = chains.run_all, 0.0

    def timed(*given):
        nonlocal seconds
        clock.read()
        interrupted = run_all(*given)
        seconds = clock.read()
        return interrupted

    chains.run_all = timed
    try:
        result = infer.nuts(model, *args, draws=DRAWS, warmup=WARMUP, chains=CHAINS, progress=False)
    finally:
        chains.run_all = run_all
    return Measured(result.draws, seconds, result.info["gradients"], first_draw, int(np.sum(result.stats["diverging"])))


def of_numpyro(name, model, args):
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS

    numpyro.set_host_device_count(CHAINS)
    numpyro.enable_x64()
    model = infer_peers.numpyro_models()[name]
    args = tuple([jax.numpy.asarray(a) for a in args])
    extra = ("num_steps", "diverging")
    clock = Clock()
    first = MCMC(NUTS(model), num_warmup=WARMUP, num_samples=1, num_chains=1, progress_bar=False)
    first.run(jax.random.PRNGKey(0), *args)
    first_draw = clock.read()
    mcmc = MCMC(NUTS(model), num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, progress_bar=False,
                chain_method="parallel")  # fmt: skip
    mcmc.run(jax.random.PRNGKey(0), *args, extra_fields=extra)
    jax.block_until_ready(mcmc.get_samples())
    clock.read()
    mcmc.run(jax.random.PRNGKey(1), *args, extra_fields=extra)
    jax.block_until_ready(mcmc.get_samples())
    seconds = clock.read()
    fields = mcmc.get_extra_fields()
    return Measured(
        {name: np.asarray(x) for name, x in mcmc.get_samples(group_by_chain=True).items()},
        seconds,
        int(fields["num_steps"].sum()),
        first_draw,
        int(fields["diverging"].sum()),
    )


def of_stan(name, model, args):
    import stan

    given = infer_peers.stan_data(name, args)
    clock = Clock()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        # A comment makes the program another one, since those that were compiled before are kept.
        program = stan.build(infer_peers.STAN[name][1] + f"// {time.time()}\n", data=given, random_seed=0)
        program.sample(num_chains=1, num_warmup=WARMUP, num_samples=1)
        first_draw = clock.read()
        fit = program.sample(num_chains=CHAINS, num_warmup=WARMUP, num_samples=DRAWS)
        seconds = clock.read()
    by_chain = lambda x: np.moveaxis(np.asarray(x).reshape(*np.shape(x)[:-1], DRAWS, CHAINS), (-1, -2), (0, 1))
    draws = {key: by_chain(fit[key]) for key in fit.param_names}
    return Measured(draws, seconds, int(np.sum(fit["n_leapfrog__"])), first_draw, int(np.sum(fit["divergent__"])))


def of_nutpie(name, model, args):
    import nutpie

    clock = Clock()
    model = infer_peers.pymc_model(name, args)
    if model is None:
        return None
    compiled = nutpie.compile_pymc_model(model)
    options = {"tune": WARMUP, "progress_bar": False, "save_warmup": False}
    nutpie.sample(compiled, draws=1, chains=1, seed=0, **options)
    first_draw = clock.read()
    trace = nutpie.sample(compiled, draws=DRAWS, chains=CHAINS, seed=1, **options)
    seconds = clock.read()
    stats = trace.sample_stats
    draws = {rv.name: trace.posterior[rv.name].values for rv in model.free_RVs}
    return Measured(
        draws, seconds, int(np.sum(stats["n_steps"].values)), first_draw, int(np.sum(stats["diverging"].values))
    )


PEERS = {"numpyro": of_numpyro, "stan": of_stan, "nutpie": of_nutpie}


def main():
    global WARMUP, DRAWS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=DRAWS, help="transitions of warm-up, and draws, of each chain")
    parser.add_argument("--peers", nargs="*", default=[name for name in PEERS if importlib.util.find_spec(name)])
    options = parser.parse_args()
    names, WARMUP, DRAWS = options.names, options.draws, options.draws
    print(f"{'':12} {'':8} {'ESS/s':>10} {'per 1000 gradients':>20} {'first draw (s)':>16} {'divergences':>12}")
    ratios = []
    for name, (model, args) in data().items():
        if names and name not in names:
            continue
        found = {"wengert": of_wengert(name, model, args).row}
        for peer in options.peers:
            measured = PEERS[peer](name, model, args)
            if measured is not None:
                found[peer] = measured.row
        for who, row in found.items():
            print(f"{name:12} {who:8} {row[0]:>10.4g} {row[1]:>20.4g} {row[2]:>16.3g} {row[3]:>12}", flush=True)
        ours, *theirs = found.values()
        if theirs:
            ratios.append([ours[0] / max(row[0] for row in theirs), ours[2] / min(row[2] for row in theirs)])
            print(f"{name:12} ESS/s over the best peer {ratios[-1][0]:.2f}; first draw {ratios[-1][1]:.2f}", flush=True)
    if ratios:
        print("geometric means: ESS/s {:.2f}, first draw {:.2f}".format(*np.exp(np.mean(np.log(ratios), axis=0))))


if __name__ == "__main__":
    main()
