"""What was compiled for functions: solving the same problem again, for other data, compiles nothing.

A function of the user's keeps what belongs to it. Of other things that can be called the last few are remembered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

_MOST = 16
"""So many functions are kept with what was compiled for them."""
_KEPT = "__wengert_twin_programs"
"""The attribute of a function that keeps what was compiled for it; those called `__wengert_twin…` stay with it."""


class LastUsed:
    """The things that were asked for last, by key; thread-safe."""

    def __init__(self) -> None:
        self._things: dict[Any, Any] = {}
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """The thing of a key, made if it is not there; anew each time if the key cannot be looked up."""
        try:
            hash(key)
        except TypeError:
            return make()
        with self._lock:
            found = self._things.pop(key) if key in self._things else make()
            self._things[key] = found
            while len(self._things) > _MOST:
                del self._things[next(iter(self._things))]
        return found


_of_others = LastUsed()


def kept_with(f: Callable, *key: Any) -> dict[Any, Any]:
    """What was made for a function, by name; `key` says under which circumstances."""
    if getattr(f, "is_compiled", False):  # a sum over data, which is not to be kept in memory
        return {}
    if type(f) is not FunctionType:
        return _of_others.get((f, *key), dict)
    kept: dict[Any, dict] = f.__dict__.setdefault(_KEPT, {})
    if key not in kept:
        kept[key] = {}
    return kept[key]


def made(kept: dict[Any, Any], name: Any, make: Callable[[], Any]) -> Any:
    """The thing of this name, made if it is not there."""
    if name not in kept:
        kept[name] = make()
    return kept[name]
