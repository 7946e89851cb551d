"""What warm-up learns: step size and metric, in Stan's windows.

Warm-up ends with a few transitions that adapt the step size only, to a higher rate if there were divergences just
before. Before lie windows, each twice as long as the one before; at the end of each the metric is estimated anew from
its draws, and the step size starts again. While chains still travel to where the posterior is, short windows learn the
scales of the numbers from draws and gradients: with a metric that knows nothing trajectories would be long, and most of
the warm-up would be spent there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wengert.algorithms import metrics


class Window(NamedTuple):
    """Some transitions of the warm-up, and whether the metric is estimated after them; early on from few draws."""

    length: int
    learns: bool
    early: bool = False


def windows(warmup: int) -> list[Window]:
    """Stan's schedule, with its first 75 transitions in windows that learn the scales.

    >>> [window.length for window in windows(1000)]
    [10, 15, 18, 32, 25, 50, 100, 200, 500, 50]
    """
    if warmup < 20:
        return [Window(warmup, False)] if warmup else []
    first, base, last = (75, 25, 50) if warmup >= 150 else (int(0.15 * warmup), 0, int(0.1 * warmup))
    base = base or warmup - first - last
    found = [Window(length, True, early=True) for length in _early(first)]
    left = warmup - first - last
    while left > 0:
        length = left if left < 3 * base else base
        found.append(Window(length, True))
        left -= length
        base *= 2
    return [*found, Window(last, False)]


def _early(first: int) -> list[int]:
    """The first transitions, in windows that grow."""
    if first < 30:
        return [first]
    lengths = [first // 7, first // 5, first // 4]
    return [*lengths, first - sum(lengths)]


def scales_squared(draws: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """√(var x / var ∇log p) for each number: its variance, where it is normal and independent of the others.

    Two draws of such a one are enough, since its gradient is −x/σ²; of correlated ones it is the diagonal metric with
    the least Fisher divergence (Seyboldt, Carlson and Carpenter 2024, which nutpie implements).
    """
    spread, slope = np.var(draws, axis=0), np.var(gradients, axis=0)
    usable = np.isfinite(slope) & (slope > 0) & (spread > 0)
    ratio = np.sqrt(spread / np.where(usable, slope, 1.0))
    return np.clip(np.where(usable, ratio, 1.0), 1e-20, 1e20)


class Metric:
    """A kind of metric: how it begins, and how it is estimated from draws and gradients of a window."""

    velocity = staticmethod(metrics.diagonal_velocity)
    kick = staticmethod(metrics.diagonal_kick)

    def first(self, size: int) -> tuple[np.ndarray, ...]:
        return (np.ones(size),)

    def estimate(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        n = len(draws)
        return ((n / (n + 5.0)) * np.var(draws, axis=0, ddof=1) + 1e-3 * (5.0 / (n + 5.0)),)

    def of_few(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        """An estimate from so few draws that directions cannot be told."""
        return (scales_squared(draws, gradients),)


class DenseMetric(Metric):
    """The whole covariance matrix."""

    velocity = staticmethod(metrics.dense_velocity)
    kick = staticmethod(metrics.dense_kick)

    def first(self, size: int) -> tuple[np.ndarray, ...]:
        return np.eye(size), np.eye(size)

    def estimate(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        n, size = draws.shape
        covariance = np.atleast_2d(np.cov(draws, rowvar=False))
        covariance = (n / (n + 5.0)) * covariance + 1e-3 * (5.0 / (n + 5.0)) * np.eye(size)
        return covariance, np.linalg.inv(np.linalg.cholesky(covariance))

    def of_few(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        squares = scales_squared(draws, gradients)
        return np.diag(squares), np.diag(1 / np.sqrt(squares))


_RANK = 10


class LowRankMetric(Metric):
    """Variances, and the directions in which draws (scaled by them) are spread much more or much less than that.

    Few directions are kept: those of the largest and smallest eigenvalues of the correlations.
    """

    velocity = staticmethod(metrics.low_rank_velocity)
    kick = staticmethod(metrics.low_rank_kick)

    def first(self, size: int) -> tuple[np.ndarray, ...]:
        rank = min(_RANK, size)
        return np.ones(size), np.eye(size)[:, :rank].copy(), np.ones(rank)

    def estimate(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        n, size = draws.shape
        scales = np.sqrt((n / (n + 5.0)) * np.var(draws, axis=0, ddof=1) + 1e-3 * (5.0 / (n + 5.0)))
        scaled = (draws - np.mean(draws, axis=0)) / scales
        _, singular, rows = np.linalg.svd(scaled, full_matrices=False)
        values = (singular**2 + 5.0) / (n + 5.0)
        rank = min(_RANK, size)
        order = np.argsort(-np.abs(np.log(values[: min(n, size)])))[:rank]
        vectors, kept = np.zeros((size, rank)), np.ones(rank)
        vectors[:, : len(order)], kept[: len(order)] = rows[order].T, values[order]
        if len(order) < rank:
            vectors = np.linalg.qr(np.concatenate([vectors[:, : len(order)], np.eye(size)], axis=1))[0][:, :rank]
        return scales, np.ascontiguousarray(vectors), kept

    def of_few(self, draws: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, ...]:
        _, vectors, kept = self.first(draws.shape[1])
        return np.sqrt(scales_squared(draws, gradients)), vectors, kept


METRICS: dict[str, Metric] = {"diag": Metric(), "dense": DenseMetric(), "low-rank": LowRankMetric()}
