"""What is done once a library has been imported by someone.

So functions of large libraries mean something here without everyone having to import those libraries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

PENDING: dict[str, list[Callable[[Any], None]]] = {}
"""Modules that may be imported later -> what to do with them then."""


def when_imported(module: str) -> Callable[[Callable], Callable]:
    """Declare that what follows is called with a module once it is imported by someone."""

    def register(action: Callable) -> Callable:
        PENDING.setdefault(module, []).append(action)
        return action

    return register


def look_for_imports() -> None:
    """Do what is pending for modules that have been imported since; that may leave more to do."""
    while names := [name for name in PENDING if name in sys.modules]:
        for name in names:
            for action in PENDING.pop(name, ()):
                action(sys.modules[name])
