"""What was compiled for the last few functions: solving the same problem again, for other data, compiles nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_MOST = 16
"""So many functions are kept with what was compiled for them."""


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
            found = self._things.pop(key, None) or make()
            self._things[key] = found
            while len(self._things) > _MOST:
                del self._things[next(iter(self._things))]
        return found
