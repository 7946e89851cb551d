"""Room for deep recursion while source is rewritten, captured and compiled.

Syntax trees, and blocks in blocks, are as deep as the user's source: 400 terms in a sum, 200 `elif`s. Walking over them
takes a few of Python's frames for each level, more than the thousand that Python allows by default. These frames lie on
the heap, so there may be more of them while we are at work. And the garbage collector is to look less often
(`ir/garbage.py`).
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from wengert.ir import garbage

_FRAMES = 10_000
"""With twice as many, calls through code in C (partial functions, operators, attributes) fill a stack of 8 MB."""
_lock = threading.Lock()
_inside = 0
_before = 0

F = TypeVar("F", bound=Callable[..., Any])


def deeply(f: F) -> F:
    """A function that may recurse deeply, and makes many objects."""

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        _enter()
        try:
            return f(*args, **kwargs)
        finally:
            _leave()

    return called  # type: ignore[return-value]


def _enter() -> None:
    global _inside, _before
    garbage.begin_work()
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _FRAMES))
        _inside += 1


def _leave() -> None:
    global _inside
    garbage.end_work()
    with _lock:
        _inside -= 1
        if not _inside and sys.getrecursionlimit() == max(_before, _FRAMES):
            sys.setrecursionlimit(_before)


class EndlessRecursion(RecursionError):
    """Python's, of calls that no data decide: neither would they end without us."""


EndlessRecursion.__name__ = EndlessRecursion.__qualname__ = "RecursionError"
EndlessRecursion.__module__ = "builtins"


def frames_allowed() -> int:
    """How many calls may be under way in programs of users."""
    return _before if _inside else sys.getrecursionlimit()
