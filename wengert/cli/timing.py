"""Time several functions against each other: in turns, so that noise hits all alike; the shortest sample counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from time import perf_counter


def shortest(
    functions: Mapping[str, Callable], seconds: float, rounds: int, step: Callable[[str], None]
) -> dict[str, float]:
    """The seconds per call of each function. A sample lasts `seconds` at least; `step` is told what is measured."""
    calls = dict.fromkeys(functions, 1)
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            step(name)
            while (taken := elapsed(function, calls[name])) < seconds:
                calls[name] = max(calls[name] + 1, min(10 * calls[name], int(1.2 * calls[name] * seconds / taken)))
            best[name] = min(best[name], taken / calls[name])
    return best


def elapsed(function: Callable, calls: int) -> float:
    """The seconds that a number of calls take."""
    start = perf_counter()
    for _ in repeat(None, calls):
        function()
    return perf_counter() - start


def readable(seconds: float) -> str:
    """A time with its unit.

    >>> readable(0.0000123)
    '12.3 µs'
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
