"""Which states of a chain of steps to keep, so that it can be reversed with the fewest repeated steps.

Griewank's binomial checkpointing (Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26, 2000). With s states that
can be kept and r repetitions, a chain of C(s + r, s) steps can be reversed; the least number of repeated steps for l
steps is r l − C(s + r, r − 1), with the smallest r that suffices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Action(NamedTuple):
    """One thing to do: "store" the state before step `start`; "restore" it; "advance" from step `start` to `end`
    without keeping anything; "reverse" step `start`, which runs it once more, recorded."""

    what: str
    start: int
    end: int


class Schedule(list):
    """The actions, in order; `evaluations` is how many steps are repeated, those of "reverse" not counted."""

    def __init__(self, turns: int, checkpoints: int):
        super().__init__(_reversed(0, turns, checkpoints, True))
        self.turns = turns
        self.checkpoints = checkpoints
        self.evaluations = sum(a.end - a.start for a in self if a.what == "advance")


def checkpoint_schedule(turns: int, checkpoints: int) -> Schedule:
    """How to reverse a loop of so many iterations while keeping at most so many states, the first one included.

    Returns a list of actions with `.evaluations`, the number of iterations that are run again, the least possible.

    >>> schedule = checkpoint_schedule(5, 2)
    >>> schedule.evaluations
    6
    >>> [action.what for action in schedule][:5]
    ['store', 'advance', 'store', 'advance', 'reverse']
    """
    if turns < 0 or checkpoints < 1:
        raise ValueError(
            f"a schedule needs at least one checkpoint, and no fewer than 0 turns, not {turns}, {checkpoints}"
        )
    return Schedule(turns, checkpoints)


def least_evaluations(turns: int, checkpoints: int) -> int:
    """The least number of repeated steps.

    >>> least_evaluations(100, 5), least_evaluations(1000, 10)
    (316, 3636)
    """
    if turns <= 1:
        return 0
    s = min(checkpoints, turns - 1)
    r = 1
    while math.comb(s + r, s) < turns:
        r += 1
    return r * turns - math.comb(s + r, r - 1)


def best_split(turns: int, checkpoints: int) -> int:
    """After how many steps the next state is best kept, of at least two states and two steps.

    Of the splits that are optimal (those between which both parts keep their number of repetitions) the last one:
    with β(s, r) = C(s + r, s) and the least r for which β(s, r) is enough, min(β(s, r − 1), l − β(s − 1, r − 1)).
    """
    s, r, before, reach = checkpoints, 0, 0, 1
    while reach < turns:
        r += 1
        before, reach = reach, reach * (s + r) // r
    return min(before, turns - before * s // (s + r - 1))


def least_useful(kept: Sequence[int], at: int, checkpoints: int) -> int | None:
    """Which of the states that are kept gives way to the one before step `at`, where nobody knows how many steps there
    will be: its place among them, or None if the new one is not kept. All states that there may be are kept.

    A chain whose steps are repeated at most r times has at most β(s, r − 1) steps between two states, where s may be
    kept from the first of these on, and r + 1 after the last (Griewank and Walther). With the least r for which that
    is possible, nothing is done, or the two gaps are joined that are the shortest together; the steps that are repeated
    are then within the bound r l, as those of Stumm and Walther (SIAM J. Sci. Comput. 32, 2010).
    """
    ends = [*kept[1:], at]
    joined = [(ends[j] - kept[j - 1], j) for j in range(1, len(kept))]
    r = 1
    while True:
        if at + 1 - kept[-1] <= r + 1:
            return None
        found = [(n, j) for n, j in joined if n <= math.comb(checkpoints - j + r, r - 1)]
        if found:
            return min(found)[1]
        r += 1


class Segments(NamedTuple):
    """How to reverse a loop: with so many states kept, so many iterations at a time, of which everything is kept."""

    states: int
    length: int

    def repeated(self, turns: int) -> int:
        """How many iterations are run again before they are reversed."""
        return self.length * least_evaluations(-(-turns // self.length), self.states)


def best_segments(turns: int | None, state: int, residuals: int, memory: int) -> Segments | None:
    """The segments with the fewest repeated iterations, of those that fit into memory; None if there are none.

    A state takes so many bytes, the residuals of an iteration as many again for each of a segment. Where the number of
    iterations is not known, half of the memory is for states.

    >>> best_segments(2000, 2, 12, 1200)
    Segments(states=22, length=91)
    """
    if memory < state + residuals:
        return None
    if turns is None:
        return Segments(max(memory // (2 * max(state, 1)), 1), max(memory // (2 * max(residuals, 1)), 1))
    found, length, longest = [], 1, min((memory - state) // max(residuals, 1), max(turns, 1))
    while length <= longest:
        states = (memory - length * residuals) // max(state, 1)
        found.append(Segments(max(min(states, -(-turns // length)), 1), length))
        length += max(length // 8, 1)
    return min(found, key=lambda segments: (segments.repeated(turns), segments.states))


def _reversed(start: int, end: int, checkpoints: int, store: bool) -> Iterator[Action]:
    """Reverse steps start … end − 1; we are at the state before the first; `store` says that it is not kept yet."""
    stack = [(start, end, checkpoints, store)]
    while stack:
        start, end, free, store = stack.pop()
        if end <= start:
            continue
        if store and end - start > 1:
            yield Action("store", start, start)
        elif not store:
            yield Action("restore", start, start)
        if end - start == 1:
            yield Action("reverse", start, end)
        elif free == 1:
            for k in range(end - 1, start, -1):
                if k < end - 1:
                    yield Action("restore", start, start)
                yield Action("advance", start, k)
                yield Action("reverse", k, k + 1)
            yield Action("restore", start, start)
            yield Action("reverse", start, start + 1)
        else:
            middle = start + best_split(end - start, free)
            yield Action("advance", start, middle)
            stack.append((start, middle, free, False))
            stack.append((middle, end, free - 1, True))
