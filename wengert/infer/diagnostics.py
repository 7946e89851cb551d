"""Whether chains have mixed: rank-normalised split R-hat, effective sample sizes, Monte Carlo errors.

Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021), "Rank-normalization, folding, and localization". Draws have the
axes (chain, draw).
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats


def _split(x: np.ndarray) -> np.ndarray:
    """Chains cut into halves."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _rank_normalised(x: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(x, method="average").reshape(x.shape)
    return special.ndtri((ranks - 0.375) / (x.size + 0.25))


def _plain_rhat(x: np.ndarray) -> float:
    n = x.shape[1]
    within = np.mean(np.var(x, axis=1, ddof=1))
    between = np.var(np.mean(x, axis=1), ddof=1)
    return float(np.sqrt((between + within * (n - 1) / n) / within))


def _is_usable(x: np.ndarray) -> bool:
    return x.shape[1] >= 4 and bool(np.all(np.isfinite(x))) and bool(np.ptp(x) > 0)


def rhat(draws: np.ndarray) -> float:
    """The larger of rank-normalised split R-hat of the draws and of their distances from the median; NaN for constants.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(rhat(x) < 1.01), bool(rhat(x + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    x = np.asarray(draws, dtype=float)
    if not _is_usable(x):
        return float("nan")
    x = _split(x)
    folded = np.abs(x - np.median(x))
    return max(_plain_rhat(_rank_normalised(x)), _plain_rhat(_rank_normalised(folded)))


def _autocovariance(x: np.ndarray) -> np.ndarray:
    """Of each chain, by Fourier's transform."""
    n = x.shape[1]
    padded = 1 << (2 * n - 1).bit_length()
    centred = x - np.mean(x, axis=1, keepdims=True)
    transformed = np.fft.rfft(centred, padded, axis=1)
    return np.fft.irfft(np.abs(transformed) ** 2, padded, axis=1)[:, :n] / n


def _plain_ess(x: np.ndarray) -> float:
    """Geyer's initial monotone sequence over the autocorrelations of all chains."""
    chains, n = x.shape
    if not _is_usable(x):
        return float("nan") if not np.all(np.isfinite(x)) else float(x.size)
    covariance = _autocovariance(x)
    variance = np.mean(covariance[:, 0]) * n / (n - 1)
    total = variance * (n - 1) / n
    if chains > 1:
        total += np.var(np.mean(x, axis=1), ddof=1)
    rho = 1 - (variance - np.mean(covariance, axis=0) * n / (n - 1)) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs < 0)) if np.any(pairs < 0) else len(pairs)
    pairs = np.minimum.accumulate(pairs[: max(stop, 1)])
    after = rho[2 * len(pairs)] if 2 * len(pairs) < n else 0.0
    tau = -1 + 2 * np.sum(pairs) + max(after, 0.0)
    tau = max(tau, 1 / np.log10(x.size))
    return float(x.size / tau)


def ess_bulk(draws: np.ndarray) -> float:
    """The effective number of draws for the middle of the distribution."""
    x = np.asarray(draws, dtype=float)
    return _plain_ess(_rank_normalised(_split(x))) if _is_usable(x) else _plain_ess(x)


def ess_tail(draws: np.ndarray) -> float:
    """The smaller of the effective numbers of draws for the quantiles 5 % and 95 %."""
    x = np.asarray(draws, dtype=float)
    if not _is_usable(x):
        return _plain_ess(x)
    return min(_plain_ess(_split((x <= np.quantile(x, q)).astype(float))) for q in (0.05, 0.95))


def ess_mean(draws: np.ndarray) -> float:
    """The effective number of draws for the mean."""
    return _plain_ess(_split(np.asarray(draws, dtype=float)))


def mcse_mean(draws: np.ndarray) -> float:
    """The Monte Carlo standard error of the mean."""
    x = np.asarray(draws, dtype=float)
    return float(np.std(x, ddof=1) / np.sqrt(ess_mean(x)))


def mcse_sd(draws: np.ndarray) -> float:
    """The Monte Carlo standard error of the standard deviation, from that of the variance."""
    x = np.asarray(draws, dtype=float)
    squares = (x - np.mean(x)) ** 2
    variance = np.mean(squares)
    if not variance > 0:
        return 0.0
    spread = np.sqrt(np.var(squares) / ess_mean(squares))
    return float(spread / (2 * np.sqrt(variance)))
