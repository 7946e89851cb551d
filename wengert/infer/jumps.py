"""Whether a function jumps between some of its draws, found by bisection.

An estimator that moves draws with the parameters differentiates f, and what a draw gains by moving across a jump is in
no derivative. Between two draws a continuous function has a difference that halves with their distance; across a jump
it stays, down to neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_SUSPECTS = 32
"""So many pairs of draws are looked at, twice."""
_SMALL = 1e-4
"""Differences of less than so many standard deviations of f do not count."""
_ROUNDING = 1e-10
"""Nor do those below this part of its values."""
_HALVINGS = 1100
"""More than a float64 has."""


def jump_of(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, moving: np.ndarray) -> np.ndarray | None:
    """A point next to which f jumps, or nothing. Only elements of a draw that are `moving` change on the way there.

    f gives the values of draws, which lie along the leading axis of x.
    """
    values = np.asarray(f(x), float)
    finite = values[np.isfinite(values)]
    if len(finite) < 2 or not np.any(moving):
        return None
    least = max(_SMALL * np.std(finite), _ROUNDING * np.max(np.abs(finite)))
    a, b = _neighbours(x, values) if x.ndim == 1 else _pairs(x, moving)
    at_a, at_b = np.asarray(f(a), float), np.asarray(f(b), float)
    for _ in range(_HALVINGS):
        large = np.abs(at_b - at_a) > least
        a, b, at_a, at_b = a[large], b[large], at_a[large], at_b[large]
        if not len(a):
            return None
        middle = a + 0.5 * (b - a)
        at_end = np.all(((middle == a) | (middle == b)).reshape(len(a), -1), axis=1)
        if np.any(at_end):
            return a[np.argmax(at_end)]
        at_middle = np.asarray(f(middle), float)
        left = np.abs(at_middle - at_a) > np.abs(at_b - at_middle)
        sides = left.reshape(-1, *[1] * (x.ndim - 1))
        a, b = np.where(sides, a, middle), np.where(sides, middle, b)
        at_a, at_b = np.where(left, at_a, at_middle), np.where(left, at_middle, at_b)
    return None


def _neighbours(x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of draws of one number: of neighbours those that differ most, and those that do by far the steepest."""
    order = np.argsort(x)
    x, values = x[order], values[order]
    with np.errstate(all="ignore"):
        difference = np.nan_to_num(np.abs(np.diff(values)), nan=0.0)
        slope = np.nan_to_num(difference / np.diff(x), nan=0.0)
        around = np.concatenate([[0.0], slope, [0.0]])
        steeper = np.nan_to_num(slope / np.maximum(around[:-2], around[2:]), nan=0.0)
    first = np.unique([np.argsort(-measure)[:_SUSPECTS] for measure in (difference, steeper)])
    return x[first], x[first + 1]


def _pairs(x: np.ndarray, moving: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of draws of several numbers, where those that do not move are alike."""
    n = min(4 * _SUSPECTS, len(x) // 2)
    a = x[:n]
    return a, np.where(moving[:n], x[n : 2 * n], a)
