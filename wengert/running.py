"""What is running in a thread: the transformations, the block that is being captured, and who looks on.

Every mode enters and leaves in the same way (`entered`). Nothing here knows what a transformation does: a trace is
whatever `ops/op.py` calls one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

chosen: list[Any] = [None]
"""An array of the library in which arrays are made in threads where nothing else is said; `None` for NumPy."""
KEEP = object()
"""Stands for the library from before."""


class State:
    """How many transformations run, their traces, those that record linear programs, the innermost block that is being
    captured (`ir/build.py`), where in the source, if that is known otherwise, who looks on while derivatives are taken
    (`modes/watching.py`), usually nobody, in which library arrays are made (`ops/library.py`), usually NumPy, what
    reverse mode may keep (`control/budget.py`), usually everything, whether functions are tried only to see how
    arrays lie in memory (`box/memory.py`), so that nothing of it is recorded, where a traced value was last refused
    as a number, the derivatives that are zero in a program that may yet be captured otherwise (`modes/cuts.py`), and
    whether the cotangents of a sweep have come through a selection (`modes/linear.py`, `pull`)."""

    __slots__ = (
        *(
            "afterwards",
            "budget",
            "capture",
            "constants",
            "cut_at",
            "depth",
            "library",
            "selected",
            "source",
            "tapes",
            "traces",
            "trying",
        ),
        "watch",
    )

    def __init__(self) -> None:
        self.afterwards: list[Callable[[], None]] = []
        """What is done when no transformation runs any more."""
        self.depth = 0
        self.tapes: tuple = ()
        self.traces: tuple = ()
        self.capture: Any = None
        self.source: Any = None
        self.watch: Any = None
        self.library: Any = chosen[0]
        self.budget: Any = None
        self.cut_at: Any = None
        self.constants: list[Any] | None = None
        self.trying = False
        self.selected = False


class _Running(threading.local):
    """Each thread's own state, fetched once where it is needed: access to what is local to a thread is slow."""

    def __init__(self) -> None:
        self.state = State()


running = _Running()


class _Captures:
    """How many blocks are being captured in all threads together: where there are none, no thread need be asked."""

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def add(self, n: int) -> None:
        with self._lock:
            self.count += n


captures = _Captures()


@contextmanager
def only_trying() -> Iterator[None]:
    """While functions are tried only to see how arrays lie in memory."""
    state = running.state
    before, state.trying = state.trying, True
    try:
        yield
    finally:
        state.trying = before


def differentiating() -> bool:
    """Whether a differentiation is running in this thread."""
    return running.state.depth > 0


class entered:
    """While a trace runs; afterwards its values must not be used. `records`: it keeps values for a later sweep.
    `library`: an array of the library in which arrays are made meanwhile, `None` for NumPy; as before if it is KEEP.

    >>> class Trace:
    ...     alive = True
    >>> trace = Trace()
    >>> with entered(trace):
    ...     differentiating()
    True
    >>> differentiating(), trace.alive
    (False, False)
    """

    __slots__ = ("_library", "_outer", "_records", "_state", "_trace")

    def __init__(self, trace: Any, records: bool = False, library: Any = KEEP):
        self._trace = trace
        self._records = records
        self._library = library

    def __enter__(self) -> None:
        state = self._state = running.state
        self._outer = state.traces, state.tapes, state.library
        state.depth += 1
        state.traces = (*state.traces, self._trace)
        if self._records:
            state.tapes = (*state.tapes, self._trace)
        if self._library is not KEEP:
            state.library = self._library

    def __exit__(self, *_: Any) -> None:
        self._state.depth -= 1
        self._state.traces, self._state.tapes, self._state.library = self._outer
        self._trace.alive = False
        if not self._state.depth:
            self._state.cut_at = None  # what was refused there is of no more interest
            if self._state.afterwards:
                pending, self._state.afterwards = self._state.afterwards, []
                for do in pending:
                    do()


class making:
    """While arrays are made in the library of an array, `None` for NumPy; KEEP leaves all as it is."""

    __slots__ = ("_library", "_outer", "_state")

    def __init__(self, library: Any):
        self._library = library

    def __enter__(self) -> None:
        self._state = running.state
        self._outer = self._state.library
        if self._library is not KEEP:
            self._state.library = self._library

    def __exit__(self, *_: Any) -> None:
        self._state.library = self._outer
