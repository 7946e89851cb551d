"""What reverse mode may keep of a program's loops: a number of states, or a number of bytes.

The budget is that of the operator that runs in this thread (`grad(f, checkpoints=5)`); what is done for it, also the
derivatives of blocks inside, finds it in `running.state.budget`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from wengert.errors import BudgetError, user_location
from wengert.graphs.checkpoints import Segments, best_segments
from wengert.running import running


class Budget(NamedTuple):
    """At most so many states of each loop, the first one included, or so many bytes for all of them; and a folder for
    states that find no room."""

    checkpoints: int | None = None
    memory: int | None = None
    spill: str | None = None


class LoopSizes(NamedTuple):
    """What is known of a loop: how often it runs, if that is known, and how many bytes a state of it takes, what an
    iteration keeps for the reverse sweep, and what is kept of each iteration in any case."""

    iterations: int | None
    state: int
    residuals: int
    always: int = 0

    @property
    def least(self) -> int:
        return self.state + self.residuals + self.always * (self.iterations or 0)


class CallProtocol(Protocol):
    """A call that may be kept, or run again."""

    taken: int

    def drop(self) -> int:
        """Keep it no longer; how much that gives back."""


class Account:
    """A budget while it is spent. `inner` is that of what is inside another loop, where nothing is refused: the loop
    around it may still do with less."""

    def __init__(
        self, budget: Budget, inner: bool = False, notes: list[tuple[str, str]] | None = None, calls: bool = True
    ):
        self.checkpoints = budget.checkpoints
        self.left = self.memory = budget.memory
        self.spill = budget.spill
        self.inner = inner
        self.calls = calls and budget.memory is not None
        """Whether calls of functions are units that are kept, or run again."""
        self.loops: list[LoopSizes] = []
        """Those that have got a part of it."""
        self.taken = 0
        """What these take together, which inside of another loop may be more than there was."""
        self.kept: list[CallProtocol] = []
        """Calls of which everything is kept, in their order."""
        self.states = self.least = self.largest = 0
        """What the states of calls take, alone and with the call that takes most to be run again; what that takes."""
        self.known: set[int] = set()
        """Arrays, by their ids, that take no room: arguments, and what has been counted already."""
        self.notes = [] if notes is None else notes
        """What was chosen for which loop."""

    @property
    def key(self) -> Any:
        """What a derivative that is made now depends on."""
        return self.checkpoints, self.left, self.inner, self.spill

    def segments_on_disk(self, loop: LoopSizes) -> Segments | None:
        """How a loop is to be reversed whose states are kept on disk, all of them; memory is for residuals."""
        length = 1
        if self.left is not None:
            in_memory = loop._replace(state=0)
            if in_memory.least > self.left and not self.inner:
                self._refuse(in_memory)
            always = in_memory.least - loop.residuals
            share = max(self.left - always, 0) // 2
            if loop.iterations is not None and loop.iterations * loop.residuals <= share:
                return self.segments(loop)
            length = max(share // max(loop.residuals, 1), 1)
            self.left = max(self.left - always - length * loop.residuals, 0)
            self.loops.append(in_memory)
        found = Segments(_ALL if loop.iterations is None else -(-loop.iterations // length), length)
        self._note(loop, found, ", on disk")
        return found

    def segments(self, loop: LoopSizes) -> Segments | None:
        """How a loop is to be reversed; None if everything can be kept."""
        if self.checkpoints is not None:
            number = self.checkpoints if loop.iterations is None else max(min(self.checkpoints, loop.iterations), 1)
            found: Segments | None = Segments(number, 1)
        else:
            self.make_room((self.memory or 0) // 2)  # calls can be run again instead
            if not self.inner and loop.least > (self.left or 0):
                self._refuse(loop)
            found = self._share(loop)
        self._note(loop, found)
        return found

    def _share(self, loop: LoopSizes) -> Segments | None:
        """Of memory a loop gets half of what is left, since there may be more loops, but not too little."""
        assert self.left is not None
        always = loop.always * (loop.iterations or 0)
        share = max(self.left // 2, min(_ENOUGH * loop.least, self.left)) - always
        everything = None if loop.iterations is None else loop.iterations * loop.residuals
        if everything is not None and everything <= share:
            found, spent = None, everything
        else:
            found = best_segments(loop.iterations, loop.state, loop.residuals, share) or Segments(1, 1)
            spent = found.states * loop.state + found.length * loop.residuals
        self.left = max(self.left - always - spent, 0)
        self.taken += always + spent
        self.loops.append(loop)
        return found

    def _refuse(self, loop: LoopSizes) -> None:
        least, step = loop.least, max(loop.least // 64, 1)
        while not _is_enough([*self.loops, loop], least):
            least += step
        raise BudgetError(
            f"a loop cannot be reversed within {described_bytes(self.memory or 0)}"
            + (f", of which {described_bytes(self.left or 0)} are left" if self.loops else "")
            + f": one state of it and what one iteration keeps take {described_bytes(loop.least)}",
            remedy=f'the least possible is memory="{least}B"; with wg.checkpoint a function inside of it keeps less',
        )

    def make_room(self, wanted: int) -> None:
        """Drop what calls keep, the oldest first, until so much is left."""
        assert self.left is not None
        while self.left < wanted and self.kept:
            self.left += self.kept.pop(0).drop()

    def keep_call(self, call: CallProtocol, name: str, state: int, size: int, least: int) -> bool:
        """Whether there is room for what a call keeps: its state, of so many bytes, and all else, which takes `size`.
        Running it again takes `least`."""
        assert self.left is not None
        room = self.left + sum(c.taken for c in self.kept)
        if state + least > room and not self.inner:
            assert self.memory is not None
            refuse_straight(f"a call of {name}", least, self.memory, room, state + least)
        self.states += state
        self.least = max(self.least, self.states + least)
        self.largest = max(self.largest, least)
        if size <= room - state:
            self.make_room(state + size)
        self.left = max(self.left - state, 0)
        if size > self.left:
            return False
        self.left -= size
        self.kept.append(call)
        return True

    def _note(self, loop: LoopSizes, found: Segments | None, where: str = "") -> None:
        if found is None:
            text = "everything is kept"
        else:
            number = "all" if found.states == _ALL else found.states
            text = f"{number} checkpoint{'s' * (found.states > 1)} of {described_bytes(loop.state)}{where}"
            if found.length > 1:
                text += f", {found.length} iterations at a time"
            if loop.iterations is not None:
                text += f", {found.repeated(loop.iterations)} of {loop.iterations} iterations run again"
        self.notes.append((f"reverse of the loop at {user_location()}", text))


def refuse_straight(what: str, size: int, memory: int, left: int, least: int) -> None:
    """Say that code which cannot be run again in parts keeps too much."""
    raise BudgetError(
        f"{what} keeps {described_bytes(size)} that cannot be divided further, and of {described_bytes(memory)} there "
        f"are {described_bytes(left)} left",
        remedy="put parts of what it does outside of loops into functions of their own, which are then run again one "
        f'by one; or give more: so far the least possible is memory="{memory - left + least}B"',
    )


_ALL = 2**62
"""More states than there are iterations."""
_ENOUGH = 8
"""A loop gets so many times the least that it needs, before others are thought of."""


def _is_enough(loops: list[LoopSizes], memory: int) -> bool:
    """Whether so much is enough for all these loops."""
    tried = Account(Budget(memory=memory))
    for loop in loops:
        if loop.least > (tried.left or 0):
            return False
        tried._share(loop)
    return True


def predicted(loops: list[LoopSizes], memory: int) -> tuple[int, int] | None:
    """What loops, of which it is known how often they run, take of so much memory, and how many iterations are run
    again; None if it is not enough."""
    if not _is_enough(loops, memory):
        return None
    tried, repeated = Account(Budget(memory=memory)), 0
    for loop in loops:
        found = tried._share(loop)
        repeated += 0 if found is None else found.repeated(loop.iterations or 0)
    return memory - (tried.left or 0), repeated


def described_bytes(n: int, digits: int = 4) -> str:
    """A number of bytes, for people.

    >>> described_bytes(1500000)
    '1.5 MB'
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:.{digits}g} {unit}"
    return f"{n} B"


def account() -> Account | None:
    """The budget of the operator that runs."""
    return running.state.budget


def key_of_budget() -> Any:
    """The same, as part of a key under which derivatives are kept."""
    now = account()
    return None if now is None else now.key


@contextmanager
def under(budget: Budget | None) -> Iterator[Account | None]:
    """While this budget holds; if there is none, the one around it does."""
    state = running.state
    if budget is None:
        yield state.budget
        return
    outer, state.budget = state.budget, Account(budget)
    try:
        yield state.budget
    finally:
        state.budget = outer


@contextmanager
def inside(memory: int, calls: bool = False) -> Iterator[Account]:
    """While the body of a loop, or a call, is differentiated, for which there is so much."""
    state = running.state
    outer, state.budget = state.budget, Account(Budget(memory=memory), True, state.budget.notes, calls)
    state.budget.known |= outer.known
    try:
        yield state.budget
    finally:
        state.budget = outer


@contextmanager
def without_budget() -> Iterator[None]:
    """While there is none: a program that is compiled does not depend on who called for it."""
    state = running.state
    outer, state.budget = state.budget, None
    try:
        yield
    finally:
        state.budget = outer
