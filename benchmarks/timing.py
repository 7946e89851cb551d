"""Time several functions against each other.

The functions take turns: in each round every function is sampled once, so that whatever else the machine does hits all
of them alike, and each has samples from the whole length of the run, the quiet stretches too. One sample calls a
function as often as it takes to last `seconds`. What counts is the shortest sample, the one disturbed least. A function
so slow that all its samples would take longer than `budget` sits out some of the rounds, evenly, but has `fewest`.

The clock is the one on the wall, unless the processor's time is asked for: on a busy machine that is the steadier one.

The garbage collector stays on, since the garbage that a tool makes is part of its price; but it starts every sample
clean, and what was alive before (modules, compiled code) is frozen, so that nobody pays for the others' objects.
"""

import gc
from collections.abc import Callable, Hashable
from itertools import repeat
from time import perf_counter, process_time

CLOCKS = {"wall": perf_counter, "cpu": process_time}


def interleaved(
    functions: dict[Hashable, Callable], rounds: int, seconds: float, budget: float, fewest: int, clock: str = "wall"
) -> dict[Hashable, list[float]]:
    """Return, for each function, the seconds per call in each round that it took part in."""
    calls, turns, now = {}, {}, CLOCKS[clock]
    for name, function in functions.items():
        per_call, calls[name] = sample(function, seconds, 1, now)
        turns[name] = min(rounds, max(fewest, int(budget / (per_call * calls[name]))))
    samples = {name: [] for name in functions}
    gc.collect()
    gc.freeze()
    for k in range(rounds):
        for name, function in functions.items():
            if k * turns[name] % rounds >= turns[name]:  # true in all but `turns` of the rounds
                continue
            gc.collect()
            per_call, calls[name] = sample(function, seconds, calls[name], now)
            samples[name].append(per_call)
    gc.unfreeze()
    return samples


def sample(function: Callable, seconds: float, calls: int, now: Callable[[], float]) -> tuple[float, int]:
    """Return the seconds per call in a run of at least `seconds`, and how many calls that took; try `calls` first."""
    while (taken := elapsed(function, calls, now)) < seconds:
        calls = max(calls + 1, min(10 * calls, int(1.2 * calls * seconds / taken) if taken else 10 * calls))
    return taken / calls, calls


def elapsed(function: Callable, calls: int, now: Callable[[], float]) -> float:
    """Return the seconds that a number of calls take."""
    start = now()
    for _ in repeat(None, calls):
        function()
    return now() - start
