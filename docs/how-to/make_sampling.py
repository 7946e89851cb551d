"""The pictures of `when-sampling-fails.md`: divergences in a funnel, energies, ranks.

`python docs/how-to/make_sampling.py` writes them beside the page.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

from wengert import infer

HERE = Path(__file__).parent
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def centred(y):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.expon(scale=5))
    theta = infer.sample("theta", stats.norm(mu, tau), shape=8)
    infer.observe(y, stats.norm(theta, ERROR))


def small(y):
    mu = infer.sample("mu", stats.norm(0, 2))
    infer.observe(y, stats.norm(mu, infer.sample("sigma", stats.gamma(3, scale=0.3))))


if __name__ == "__main__":
    result = infer.nuts(centred, Y, progress=False)
    result.draws["log tau"] = np.log(result.draws["tau"])
    infer.plot_pairs(result, names=["log tau", "theta[0]", "mu"], most=1200).save(HERE / "sampling-pairs.svg")
    infer.plot_energy(result).save(HERE / "sampling-energy.svg")
    infer.sbc(small, np.zeros(5), simulations=400).picture().save(HERE / "sampling-ranks.svg")
