"""The garbage collector during a capture: the first collection goes through everything, others through what is new.

Whether somebody has an array is asked by counting references, and what only a cycle holds nobody has, so where the
answer matters cycles are collected first (`capture/identity.py`, `ir/aliases.py`). A process may hold millions of
objects, and a collection looks at each. The cycles in question are made during the capture, so what was there at the
first collection is put aside until the capture ends. (A cycle that such an object is part of is not found then: what it
holds is taken for held, which is safe.)

By itself Python looks for cycles whenever there are some hundreds of objects more than before. Programs are nothing
but small objects that live until they are compiled, so nearly every look is for nothing; while we are at work, it looks
less often (`begin_work`).
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.RLock()  # (a collection may run code of users, which may come here again)
_count = 0
"""How many captures run, in all threads."""
_is_ours = False
"""Whether what is put aside was put there by a capture: others use `gc.freeze` too, and theirs stays."""
_is_theirs = False
"""Whether others have put something aside. (To ask takes as long as there is much of it, so that is done once.)"""
_at_work = 0
_before = 0
OBJECTS = 100_000
"""After so many new objects Python looks for cycles while we are at work; it has no more garbage than that to keep."""


@contextlib.contextmanager
def set_aside() -> Iterator[None]:
    """While something is captured: what a collection has seen need not be looked at again. Captures may be nested."""
    global _count, _is_ours, _is_theirs
    with _lock:
        _count += 1
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if _count == 0:
                if _is_ours:
                    gc.unfreeze()
                _is_ours = _is_theirs = False


def collect() -> None:
    """Free what only cycles hold."""
    global _is_ours, _is_theirs
    gc.collect()
    with _lock:
        if _count and not _is_ours and not _is_theirs:
            _is_theirs = gc.get_freeze_count() > 0
            if not _is_theirs:
                gc.freeze()
                _is_ours = True


def begin_work() -> None:
    """From now on Python looks for cycles less often, unless it was told not to at all; until `end_work`."""
    global _at_work, _before
    with _lock:
        _at_work += 1
        if _at_work == 1:
            _before, *others = gc.get_threshold()
            if 0 < _before < OBJECTS:
                gc.set_threshold(OBJECTS, *others)


def end_work() -> None:
    """What was before `begin_work`, unless somebody has changed it meanwhile."""
    global _at_work
    with _lock:
        _at_work -= 1
        now, *others = gc.get_threshold()
        if not _at_work and now == OBJECTS and 0 < _before < OBJECTS:
            gc.set_threshold(_before, *others)


__all__ = ["begin_work", "collect", "end_work", "set_aside"]
