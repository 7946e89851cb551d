"""The garbage collector during a capture: it goes through what the capture made, not through the whole process.

Whether somebody has an array is asked by counting references, and what only a cycle holds nobody has, so where the
answer matters cycles are collected first (`identity.py`, `ir/aliases.py`). A process may hold millions of objects,
and a collection looks at each. The arrays in question are made during the capture, so what was there before is put
aside for as long as it lasts. (A cycle that such an object is part of is not found then: what it holds is taken for
held, which is safe.)
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
def only_what_is_made() -> Iterator[None]:
    """Collections look at what is made from now on; inside another capture, at what is made from the outer one on."""
    global _count, _is_ours
    with _lock:
        _count += 1
        if _count == 1 and not gc.get_freeze_count():
            gc.freeze()
            _is_ours = True
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if _count == 0 and _is_ours:
                gc.unfreeze()
                _is_ours = False


__all__ = ["only_what_is_made"]
