"""Files that a compiled function reads: tables and coefficients that some packages fetch anew at every call.

What is in a file does not depend on the arguments, so it is read once, when the function is compiled, and is part of
the program; a guard asks at every call whether the file is still the same (`FileGuard`). Files that are written to, and
whatever else is open, stay refused (`outside.py`).
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import io
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.capture.session import current
from wengert.capture.values import is_symbolic

_OPENING = (builtins.open, io.open)
_READING_BY_NAME = (np.load, np.loadtxt, np.genfromtxt, np.fromfile)
_METHODS_OF_PATHS = ("open", "read_text", "read_bytes")
_TICK = 2_000_000_000
"""Nanoseconds within which a file may change twice and bear the same date, in the coarsest of usual file systems."""


class FileGuard(NamedTuple):
    """What a file held; None for one that was not there."""

    name: Any
    status: tuple | None
    digest: bytes | None
    is_old: bool
    """Whether it was written long enough before for its date to tell that it has not been written again."""

    @classmethod
    def of(cls, name: Any) -> FileGuard:
        status = _status(name)
        is_old = status is not None and max(status[:2]) < time.time_ns() - _TICK
        return cls(name, status, _digest(name), is_old)

    def holds(self) -> bool:
        if self.is_old and _status(self.name) == self.status:
            return True
        return _digest(self.name) == self.digest


def _status(name: Any) -> tuple | None:
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def _digest(name: Any) -> bytes | None:
    try:
        with open(name, "rb") as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except (OSError, ValueError):
        return None


def reading(f: Any) -> Callable | None:
    """What is called for a function that opens or reads a file; `None` for others, and where it must not be."""
    if current.session is None:
        return None
    owner = getattr(f, "__self__", None)
    if isinstance(owner, pathlib.Path):
        name = getattr(f, "__name__", "")
        return functools.partial(_read, f, owner, name == "open") if name in _METHODS_OF_PATHS else None
    if isinstance(owner, io.IOBase):
        return f if current.session.is_made_inside(owner) else None
    is_opening = any(f is opens for opens in _OPENING)
    if is_opening or any(f is reads for reads in _READING_BY_NAME):
        return functools.partial(_by_name, f, is_opening)
    return None


def _by_name(f: Callable, is_opening: bool, /, name: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(name, io.IOBase) and current.session.is_made_inside(name):
        return f(name, *args, **kwargs)
    return _read(f, name, is_opening, name, *args, **kwargs)


def _read(f: Callable, name: Any, is_opening: bool, /, *args: Any, **kwargs: Any) -> Any:
    """A file of that name, opened or read."""
    mode = kwargs.get("mode", next(iter(args[not isinstance(getattr(f, "__self__", None), pathlib.Path) :]), "r"))
    changes = kwargs.get("mmap_mode") is not None or (is_opening and not set(str(mode)) <= set("rbtU"))
    is_named = isinstance(name, (str, bytes, os.PathLike))
    if not is_named or changes or "opener" in kwargs or any(map(is_symbolic, tree.leaves((args, kwargs)))):
        raise Refused
    current.session.guards.append(FileGuard.of(name))
    found = f(*args, **kwargs)
    return current.session.made(found) if is_opening else found


class Refused(Exception):
    """A file that cannot be part of a program."""
