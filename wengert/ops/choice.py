"""Where a function has a kink there is a choice of derivative; this is which one the rows take.

Each thread has its own. `wg.subgradient` sets it for a while.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Choice(threading.local):
    """`ties`: who gets the derivative of a maximum or minimum if several are equal. `kinks`: the slope of |x| at 0.
    `watched`: whether somebody looks on (`modes/watching.py`), so that compiled code is not run."""

    ties = "share"
    kinks = "zero"
    watched = False

    def is_default(self) -> bool:
        return not self.__dict__ or (self.ties == "share" and self.kinks == "zero" and not self.watched)


TIES = ("share", "first", "last")
KINKS = ("zero", "left", "right")

choice = Choice()

chosen = ctypes.c_int64(0)
"""How many, in all threads, have chosen something else at the moment. Compiled code looks here before it runs."""
_lock = threading.Lock()


@contextmanager
def choosing() -> Iterator[None]:
    """A time in which this thread's choice may be another one than by default."""
    with _lock:
        chosen.value += 1
    try:
        yield
    finally:
        with _lock:
            chosen.value -= 1
