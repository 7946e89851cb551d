"""Effective sample sizes of autoregressions, whose correlation time is known; R-hat of chains that differ."""

import numpy as np
import pytest

from wengert.infer import diagnostics as dg


def autoregression(rng, phi, chains=8, n=20000):
    x = np.zeros((chains, n))
    x[:, 0] = rng.normal(size=chains) / np.sqrt(1 - phi**2)
    noise = rng.normal(size=(chains, n))
    for t in range(1, n):
        x[:, t] = phi * x[:, t - 1] + noise[:, t]
    return x


@pytest.mark.parametrize("phi", [0.0, 0.6, -0.4])
def test_autoregressions(phi, rng):
    x = autoregression(rng, phi)
    expected = x.size * (1 - phi) / (1 + phi)
    assert abs(dg.ess_mean(x) / expected - 1) < 0.1
    assert abs(dg.ess_bulk(x) / expected - 1) < 0.1
    assert abs(dg.mcse_mean(x) / np.sqrt(1 / (1 - phi**2) / expected) - 1) < 0.1
    assert dg.rhat(x) < 1.002


def test_chains_that_differ(rng):
    x = rng.normal(size=(4, 1000))
    assert dg.rhat(x) < 1.01
    shifted = x + np.array([0, 0, 0, 3.0])[:, None]
    assert dg.rhat(shifted) > 1.3
    assert dg.ess_bulk(shifted) < 20
    wider = x * np.array([1, 1, 1, 5.0])[:, None]
    assert dg.rhat(wider) > 1.1  # by folding: the means agree
    assert np.isnan(dg.rhat(np.ones((4, 100))))
    assert abs(dg.mcse_sd(x) / (1 / np.sqrt(2 * x.size)) - 1) < 0.2
