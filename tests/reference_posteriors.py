"""Posteriors of posteriordb as models of `wengert.infer`, beside the moments of their reference draws.

`python tests/reference_posteriors.py [names]` samples them all and prints a table; tests do so with a few, and compare
all densities at the points that the data state. A model's `record` names what the reference calls so.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats

import wengert as wg
from wengert import infer

DATA = Path(__file__).parents[2] / "shared" / "testdata" / "posteriors"


def arma(y):
    mu = infer.sample("mu", stats.norm(0, 10))
    phi = infer.sample("phi", stats.norm(0, 2))
    theta = infer.sample("theta", stats.norm(0, 2))
    sigma = infer.sample("sigma", stats.halfcauchy(0, 2.5))
    error = np.zeros(len(y))
    error[0] = y[0] - (mu + phi * mu)
    for t in range(1, len(y)):
        error[t] = y[t] - (mu + phi * y[t - 1] + theta * error[t - 1])
    infer.observe(error, stats.norm(0, sigma))


def diamonds(X, y):
    b = infer.sample("b", stats.norm(0, 1), shape=X.shape[1])
    intercept = infer.sample("Intercept", stats.t(3, 8, 10))
    sigma = infer.sample("sigma", stats.t(3, 0, 10), transform=infer.transforms.positive)
    infer.observe(y, stats.norm(intercept + X @ b, sigma))


def schools(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.halfcauchy(0, 5))
    z = infer.sample("z", stats.norm(0, 1), shape=len(y))
    theta = infer.record("theta", mu + tau * z)
    infer.observe(y, stats.norm(theta, s))


def garch(y, sigma1):
    mu = infer.sample("mu", infer.flat())
    alpha0 = infer.sample("alpha0", infer.flat(infer.transforms.positive))
    alpha1 = infer.sample("alpha1", infer.flat(infer.transforms.unit_interval))
    beta1 = infer.sample("beta1", infer.flat(infer.transforms.interval(0, 1 - alpha1)))
    sigma = np.zeros(len(y))
    sigma[0] = sigma1
    for t in range(1, len(y)):
        sigma[t] = np.sqrt(alpha0 + alpha1 * (y[t - 1] - mu) ** 2 + beta1 * sigma[t - 1] ** 2)
    infer.observe(y, stats.norm(mu, sigma))


def counts_of_a_process(x, k):
    rho = infer.sample("rho", stats.gamma(25, scale=1 / 4))
    alpha = infer.sample("alpha", stats.halfnorm(0, 2))
    z = infer.sample("f_tilde", stats.norm(0, 1), shape=len(x))
    K = alpha**2 * np.exp(-0.5 * (x[:, None] - x) ** 2 / rho**2) + 1e-10 * np.eye(len(x))
    f = infer.record("f", np.linalg.cholesky(K) @ z)
    infer.observe(k, stats.poisson(np.exp(f)))


def hidden_markov(y):
    rows = infer.sample("rows", stats.dirichlet([1.0, 1.0]), shape=2)
    infer.record("theta1", rows[0])
    infer.record("theta2", rows[1])
    mu = infer.sample("mu", stats.norm([3.0, 10.0], 1), transform=infer.transforms.positive_ordered)
    z = infer.sample("z0", stats.bernoulli(0.5))
    infer.observe(y[0], stats.norm(mu[z], 1))
    for t in range(1, len(y)):
        z = infer.sample(f"z{t}", stats.bernoulli(rows[z, 1]))
        infer.observe(y[t], stats.norm(mu[z], 1))


def lotka_volterra(t, y):
    theta = infer.sample("theta", stats.norm([1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05]),
                         transform=infer.transforms.positive)  # fmt: skip
    start = infer.sample("z_init", stats.lognorm(1, scale=10), shape=2)
    sigma = infer.sample("sigma", stats.lognorm(1, scale=np.exp(-1)), shape=2)

    def slope(t, z):
        return np.array([(theta[0] - theta[1] * z[1]) * z[0], (-theta[2] + theta[3] * z[0]) * z[1]])

    z = wg.odeint(slope, start, t, rtol=1e-7, atol=1e-7)
    infer.observe(y, stats.lognorm(sigma, scale=z))


def interaction(h, q, y):
    beta = infer.sample("beta", infer.flat(), shape=4)
    sigma = infer.sample("sigma", infer.flat(infer.transforms.positive))
    infer.observe(y, stats.norm(beta[0] + beta[1] * h + beta[2] * q + beta[3] * h * q, sigma))


def mixture(y):
    mu = infer.sample("mu", stats.norm(0, 2), shape=2, transform=infer.transforms.ordered)
    sigma = infer.sample("sigma", stats.halfnorm(0, 2), shape=2)
    theta = infer.sample("theta", stats.beta(5, 5))
    z = infer.sample("z", stats.bernoulli(1 - theta), shape=len(y))
    infer.observe(y, stats.norm(mu[z], sigma[z]))


def regression(X, y):
    beta = infer.sample("beta", infer.flat(), shape=X.shape[1])
    sigma = infer.sample("sigma", infer.flat(infer.transforms.positive))
    infer.observe(y, stats.norm(X @ beta, sigma))


def logit(X, y):
    alpha = infer.sample("alpha", infer.flat())
    beta = infer.sample("beta", infer.flat(), shape=X.shape[1])
    infer.observe(y, stats.bernoulli(1 / (1 + np.exp(-(alpha + X @ beta)))))


def radon(county, X, y):
    beta = infer.sample("beta", stats.norm(0, 10), shape=2)
    mu = infer.sample("mu_alpha", stats.norm(0, 10))
    sigma_alpha = infer.sample("sigma_alpha", stats.halfnorm(0, 1))
    sigma_y = infer.sample("sigma_y", stats.halfnorm(0, 1))
    raw = infer.sample("raw", stats.norm(0, 1), shape=85)
    alpha = infer.record("alpha", mu + sigma_alpha * raw)
    infer.observe(y, stats.norm(alpha[county] + X @ beta, sigma_y))


def blr(X, y):
    beta = infer.sample("beta", stats.norm(0, 10), shape=X.shape[1])
    sigma = infer.sample("sigma", stats.halfnorm(0, 10))
    infer.observe(y, stats.norm(X @ beta, sigma))


def _mesquite(d):
    area = d["diam1"] * d["diam2"]
    columns = [area * d["canopy_height"], area, d["diam1"] / d["diam2"], d["total_height"]]
    X = np.stack([np.ones(len(area)), *map(np.log, columns), d["group"]], axis=1)
    return X, np.log(d["weight"])


def _nes(d):
    ages = [d["age_discrete"] == k for k in (2, 3, 4)]
    columns = [d["real_ideo"], d["race_adj"], *ages, d["educ1"], d["gender"], d["income"]]
    return np.stack([np.ones(len(ages[0])), *columns], axis=1).astype(float), d["partyid7"].astype(float)


def _wells(d):
    a, b = (d["dist"] - np.mean(d["dist"])) / 100, d["arsenic"] - np.mean(d["arsenic"])
    return np.stack([a, b, a * b], axis=1), d["switched"]


POSTERIORS = {  # the model and its arguments, from the data of a file
    "arma-arma11": (arma, lambda d: (d["y"],)),
    "diamonds-diamonds": (diamonds, lambda d: (d["X"][:, 1:] - np.mean(d["X"][:, 1:], axis=0), d["Y"])),
    "eight_schools-eight_schools_noncentered": (schools, lambda d: (d["y"], d["sigma"])),
    "garch-garch11": (garch, lambda d: (d["y"], d["sigma1"])),
    "gp_pois_regr-gp_pois_regr": (counts_of_a_process, lambda d: (d["x"], d["k"])),
    "hmm_example-hmm_example": (hidden_markov, lambda d: (d["y"],)),
    "hudson_lynx_hare-lotka_volterra": (
        lotka_volterra,
        lambda d: (np.append(0.0, d["ts"]), np.concatenate([d["y_init"][None], d["y"]])),
    ),
    "kidiq_with_mom_work-kidscore_interaction_c2": (
        interaction,
        lambda d: (d["mom_hs"] - 0.5, d["mom_iq"] - 100, d["kid_score"]),
    ),
    "low_dim_gauss_mix-low_dim_gauss_mix": (mixture, lambda d: (d["y"],)),
    "mesquite-logmesquite_logvash": (regression, _mesquite),
    "nes1980-nes": (regression, _nes),
    "nes_logit_data-nes_logit_model": (logit, lambda d: (d["income"][:, None], d["vote"])),
    "radon_mn-radon_hierarchical_intercept_noncentered": (
        radon,
        lambda d: (d["county_idx"] - 1, np.stack([d["log_uppm"], d["floor_measure"]], axis=1), d["log_radon"]),
    ),
    "sblrc-blr": (blr, lambda d: (d["X"], d["y"])),
    "sblri-blr": (blr, lambda d: (d["X"], d["y"])),
    "wells_data-wells_interaction_c_model": (logit, _wells),
}
SETTINGS = {  # what a user would choose: strongly correlated unknowns want a dense metric, funnels small steps
    "diamonds-diamonds": {"metric": "dense"},
    "eight_schools-eight_schools_noncentered": {"target_accept": 0.95},
}


def read(name):
    """Everything a file says."""
    found = json.loads((DATA / f"{name}.json").read_text())
    found["data"] = {key: np.array(value) for key, value in found["data"].items()}
    return found


def place(label):
    """`beta[2]`, counted from one, as the name of a site and an index."""
    name, _, index = label.partition("[")
    return (name, int(index[:-1]) - 1) if index else (name, None)


def parameters(point, labels):
    """The numbers of these names, from a container of sites and records."""
    found = []
    for label in labels:
        name, index = place(label)
        found.append(point[name] if index is None else point[name][index])
    return np.stack(found)


def sites_of(name, at, labels):
    """The values of a model's sites where the parameters of the reference are these."""
    found = {}
    for label, value in zip(labels, at, strict=True):
        found.setdefault(place(label)[0], []).append(value)
    point = {key: np.array(x) if place_is_array(labels, key) else x[0] for key, x in found.items()}
    if name.startswith("eight"):
        point["z"] = (point["theta"] - point["mu"]) / point["tau"]
    if name.startswith("radon"):
        point["raw"] = (point["alpha"] - point["mu_alpha"]) / point["sigma_alpha"]
    if name.startswith("hmm"):
        rows = np.array([point["theta1"][0], point["theta2"][0]])
        point["rows"] = np.stack([rows, 1 - rows], axis=1)
    return point


def place_is_array(labels, name):
    """Whether a site has several numbers, or an index at least."""
    return any(label.startswith(f"{name}[") for label in labels)


def compare(name, **settings):
    """Sample a posterior: the largest deviations of mean and sd in standard errors, R-hat, and what it took."""
    file = read(name)
    model, arguments = POSTERIORS[name]
    began = time.perf_counter()
    settings = {"seed": 1, **SETTINGS.get(name, {}), **settings}
    result = infer.nuts(model, *arguments(file["data"]), progress=False, **settings)
    seconds = time.perf_counter() - began
    summary = result.summary()
    exact = "posteriordb draws" not in file["reference"]
    worst_mean = worst_sd = worst_rhat = 0.0
    least = np.inf
    for label, reference in file["reference_summary"].items():
        site, index = place(label)
        row = summary[site if index is None else f"{site}[{index}]"]
        mean, sd = reference["mean"], reference["sd"]
        of_mean, of_sd = (0.0, 0.0) if exact else (sd / 100, 1.5 * sd / np.sqrt(2e4))
        worst_mean = max(worst_mean, abs(row.mean - mean) / np.hypot(row.mcse_mean, of_mean))
        worst_sd = max(worst_sd, abs(row.sd - sd) / np.hypot(row.mcse_sd, of_sd))
        worst_rhat, least = max(worst_rhat, row.r_hat), min(least, row.ess_bulk)
    return {
        "mean": worst_mean,
        "sd": worst_sd,
        "r_hat": worst_rhat,
        "ess": least,
        "divergences": int(np.sum(result.stats["diverging"])),
        "compile": result.info["compile_seconds"],
        "seconds": seconds,
        "gradients": result.info["gradients"] + result.info["warmup_gradients"],
        "compiled": result.info["compiled"],
    }


def main():
    print(f"{'posterior':30} {'mean':>6} {'sd':>6} {'R-hat':>7} {'ESS':>7} {'div.':>5} {'compile':>8} {'total s':>8}")
    for name in POSTERIORS:
        if sys.argv[1:] and not any(name.startswith(wanted) for wanted in sys.argv[1:]):
            continue
        r = compare(name)
        print(
            f"{name[:30]:30} {r['mean']:6.2f} {r['sd']:6.2f} {r['r_hat']:7.4f} {r['ess']:7.0f} {r['divergences']:5d} "
            f"{r['compile']:8.1f} {r['seconds']:8.1f} {'' if r['compiled'] else 'not compiled'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
