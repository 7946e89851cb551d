"""The garbage collector during a capture: the first collection goes through everything, others through what is new.

Whether somebody has an array is asked by counting references, and what only a cycle holds nobody has, so where the
answer matters cycles are collected first (`capture/identity.py`, `ir/aliases.py`). A process may hold millions of
objects, and a collection looks at each. The cycles in question are made during the capture, so what was there at the
first collection is put aside until the capture ends. (A cycle that such an object is part of is not found then: what it
holds is taken for held, which is safe.)
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_count = 0
"""How many captures run, in all threads."""
_is_ours = False
"""Whether what is put aside was put there by a capture: others use `gc.freeze` too, and theirs stays."""


@contextlib.contextmanager
def set_aside() -> Iterator[None]:
    """While something is captured: what a collection has seen need not be looked at again. Captures may be nested."""
    global _count, _is_ours
    with _lock:
        _count += 1
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if _count == 0 and _is_ours:
                gc.unfreeze()
                _is_ours = False


def collect() -> None:
    """Free what only cycles hold."""
    global _is_ours
    gc.collect()
    with _lock:
        if _count and not _is_ours and not gc.get_freeze_count():
            gc.freeze()
            _is_ours = True


__all__ = ["collect", "set_aside"]
