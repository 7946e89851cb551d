"""What is derived from a block is kept with it, as long as what it was made of is the same.

Nearly everything that is derived depends on the block alone. But a derivative rule of the user's (`custom.py`) is
Python code, which may read numbers and arrays outside: whoever runs it says so (`depends_on`), and what was derived is
made anew when they have changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from wengert.ir.node import Block


class GuardProtocol(Protocol):
    """Something found outside."""

    def holds(self) -> bool:
        """Whether it is still the same; an error says that it is not there any more."""


def all_hold(guards: Iterable[GuardProtocol]) -> bool:
    """Whether nothing has changed that guards watch; what cannot be fetched any more has."""
    try:
        return all(guard.holds() for guard in guards)
    except Exception:  # fetching may run the user's code, which raises what it likes
        return False


class _Collecting(threading.local):
    guards: list[Any] | None = None


_collecting = _Collecting()


def derived(block: Block, key: Any, make: Callable[[], Any]) -> Any:
    """What `make` gives, once for each key."""
    found = block.derived.get(key)
    if found is None or not all_hold(found[1]):
        outer, _collecting.guards = _collecting.guards, []
        try:
            made = make()
            found = block.derived[key] = (made, _collecting.guards)
        finally:
            _collecting.guards = outer
    depends_on(found[1])
    return found[0]


def depends_on(guards: Sequence[GuardProtocol]) -> None:
    """What is being derived depends on things outside."""
    if guards and _collecting.guards is not None:
        _collecting.guards.extend(guards)
