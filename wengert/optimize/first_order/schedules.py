"""Schedules: a learning rate, or another number, as a function of the number of updates that were done before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.errors import MismatchError


def constant(value: float) -> Callable[[Any], Any]:
    """Always the same number.

    >>> constant(0.1)(7)
    0.1
    """
    return lambda count: value


def exponential_decay(value: float, rate: float, steps: int = 1, staircase: bool = False) -> Callable[[Any], Any]:
    """value · rate^(count / steps); with `staircase`, the quotient is rounded down.

    >>> exponential_decay(1.0, 0.5, steps=10)(20)
    np.float64(0.25)
    """

    def schedule(count: Any) -> Any:
        exponent = np.floor(count / steps) if staircase else count / steps
        return value * np.power(rate, exponent)

    return schedule


def cosine_decay(value: float, steps: int, end: float = 0.0) -> Callable[[Any], Any]:
    """From `value` to `end` along half a period of the cosine, in so many steps (Loshchilov and Hutter 2017).

    >>> cosine_decay(1.0, 100)(50).round(12)
    np.float64(0.5)
    """
    return lambda count: end + (value - end) * 0.5 * (1 + np.cos(np.pi * np.minimum(count / steps, 1.0)))


def linear_ramp(start: float, end: float, steps: int) -> Callable[[Any], Any]:
    """From one number to another along a line, in so many steps, and constant from then on.

    >>> linear_ramp(0.0, 1.0, 10)(5)
    np.float64(0.5)
    """
    return lambda count: start + (end - start) * np.minimum(count / steps, 1.0)


def warmup(schedule: float | Callable[[Any], Any], steps: int, start: float = 0.0) -> Callable[[Any], Any]:
    """From `start` up to a schedule's first value along a line, in so many steps; then the schedule from its beginning.

    >>> float(warmup(cosine_decay(1.0, 100), 10)(5))
    0.5
    """
    after = schedule if callable(schedule) else constant(schedule)

    def warmed(count: Any) -> Any:
        rising = start + (after(0) - start) * np.minimum(count / steps, 1.0)
        return np.where(count < steps, rising, after(np.maximum(count - steps, 0)))

    return warmed


def piecewise(values: Sequence[float], boundaries: Sequence[int]) -> Callable[[Any], Any]:
    """values[k] until the update number boundaries[k], and the last value from then on.

    >>> float(piecewise([1.0, 0.1, 0.01], [10, 20])(10))
    0.1
    """
    if len(values) != len(boundaries) + 1:
        raise MismatchError(
            f"{len(values)} values and {len(boundaries)} boundaries between them",
            remedy="give one value more than boundaries: piecewise([0.1, 0.01], [1000])",
        )

    def schedule(count: Any) -> Any:
        value: Any = values[0]
        for edge, after in zip(boundaries, values[1:], strict=True):
            value = np.where(count >= edge, after, value)
        return value

    return schedule
