"""The pictures of the pages on inference: `python docs/how-to/make_infer.py` (needs matplotlib)."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from wengert import infer

HERE = Path(__file__).parent
Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
S = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def centred(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.halfcauchy(0, 5))
    theta = infer.sample("theta", stats.norm(mu, tau), shape=8)
    infer.observe(y, stats.norm(theta, s))


def non_centred(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.halfcauchy(0, 5))
    z = infer.sample("z", stats.norm(0, 1), shape=8)
    theta = infer.record("theta", mu + tau * z)
    infer.observe(y, stats.norm(theta, s))


def main():
    result = infer.nuts(non_centred, Y, S)
    figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    theta = result.draws["theta"].reshape(-1, 8)
    for k in range(8):
        low, middle, high = np.quantile(theta[:, k], [0.05, 0.5, 0.95])
        axis.plot([low, high], [k, k], color="tab:blue", lw=3)
        axis.plot(middle, k, "o", color="tab:blue")
        axis.plot(Y[k], k, "x", color="tab:orange")
    axis.set(xlabel="effect", ylabel="school", title="90 % intervals (blue), estimates of single schools (orange)")
    figure.savefig(HERE / "first-posterior.svg")
    figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained", sharex=True, sharey=True)
    for axis, model, title in zip(axes, (centred, non_centred), ("centred", "not centred"), strict=True):
        result = infer.nuts(model, Y, S)
        tau, first = np.log(result.draws["tau"]).ravel(), result.draws["theta"][..., 0].ravel()
        bad = result.stats["diverging"].ravel()
        axis.plot(first[~bad][::10], tau[~bad][::10], ".", ms=3, alpha=0.5)
        axis.plot(first[bad], tau[bad], ".", ms=5, color="tab:red")
        axis.set(title=f"{title}: {np.sum(bad)} divergences", xlabel="effect of school 0", ylim=(-4, 4))
    axes[0].set(ylabel="log tau")
    figure.savefig(HERE / "hierarchical-models.svg")


if __name__ == "__main__":
    main()
