"""Posteriors of posteriordb (BSD-3), against the moments of its reference draws: within four standard errors."""

import numpy as np
import pytest
from scipy import stats

from wengert import infer

Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
S = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools(y, s):
    mu = infer.sample("mu", stats.norm(0, 5))
    tau = infer.sample("tau", stats.halfcauchy(0, 5))
    z = infer.sample("z", stats.norm(0, 1), shape=8)
    infer.record("theta", mu + tau * z)
    infer.observe(y, stats.norm(mu + tau * z, s))


REFERENCE = {  # mean and standard deviation of 10,000 nearly independent draws
    "mu": (4.410518337, 3.309296477),
    "tau": (3.602059524, 3.198477671),
    "theta[0]": (6.150502293, 5.615863419),
    "theta[2]": (3.90590609, 5.280711952),
    "theta[7]": (4.883996944, 5.317692056),
}


@pytest.mark.parametrize("metric", ["diag"])
def test_eight_schools(metric):
    result = infer.nuts(schools, Y, S, draws=2000, seed=1, metric=metric, target_accept=0.95)
    summary = result.summary()
    for name, (mean, sd) in REFERENCE.items():
        row = summary[name]
        assert abs(row.mean - mean) < 4 * np.hypot(row.mcse_mean, sd / 100)
        assert abs(row.sd - sd) < 4 * np.hypot(row.mcse_sd, 1.5 * sd / np.sqrt(2e4))
        assert row.r_hat < 1.01
    assert np.sum(result.stats["diverging"]) <= 2
