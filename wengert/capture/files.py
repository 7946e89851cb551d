"""Files that a compiled function reads: tables and coefficients that some packages fetch anew at every call.

What is in a file does not depend on the arguments, so it is read once, when the function is compiled, and is part of
the program; a guard asks at every call whether the file is still the same (`guards.py`). Files that are written to, and
whatever else is open, stay refused (`outside.py`).
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.capture.containers import about_to_go_on
from wengert.capture.guards import FileGuard
from wengert.capture.session import Session, current
from wengert.capture.values import is_symbolic
from wengert.errors import StagingError

_OPENING = (builtins.open, io.open)
_READING_BY_NAME = (np.load, np.loadtxt, np.genfromtxt, np.fromfile)
_OF_SCIPY = ("loadmat", "mmread", "read", "readsav", "hb_read")
_NAMES = ("file", "filename", "filepath_or_buffer", "path_or_buf", "path", "io", "fname", "file_name", "source")
"""What libraries call the argument that names the file."""
_GOING_ON = frozenset(("read", "read1", "readline", "readlines", "readinto", "readinto1", "seek", "truncate",
                       "write", "writelines"))  # fmt: skip
"""Methods of streams after which they go on somewhere else, as iterators do: a suite that is staged runs only once."""
_METHODS_OF_PATHS = ("open", "read_text", "read_bytes")


def reading(f: Any) -> Callable | None:
    """What is called for a function that opens or reads a file; `None` for others, and where it must not be."""
    session = current.session
    if session is None:
        return None
    owner = getattr(f, "__self__", None)
    if isinstance(owner, pathlib.Path):
        name = getattr(f, "__name__", "")
        return functools.partial(_read, session, f, owner, name == "open") if name in _METHODS_OF_PATHS else None
    if isinstance(owner, io.IOBase):
        if not session.is_made_inside(owner):
            return None
        if f.__name__ in _GOING_ON:
            about_to_go_on(owner, "a stream or file that was opened outside is read or written")
            return functools.partial(into_stream, f)
        return f
    is_opening = any(f is opens for opens in _OPENING)
    if is_opening or any(f is reads for reads in _READING_BY_NAME) or reads_by_name(f):
        return functools.partial(_by_name, session, f, is_opening)
    return None


def into_stream(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What reads or writes a stream that was made inside, which is done while a function is captured."""
    if any(map(is_symbolic, tree.leaves((args, kwargs)))):
        raise StagingError(
            "a value that is known only when the compiled program runs is written into a stream that was made inside",
            remedy="keep the values in a list or an array and write them outside, or use jit(f, fallback=True)",
        )
    return f(*args, **kwargs)


def reads_by_name(f: Any) -> bool:
    """Whether it reads a file that its first argument names: `pandas.read_csv`, `scipy.io.loadmat`."""
    module, name = str(getattr(f, "__module__", "")), str(getattr(f, "__name__", ""))
    if module.partition(".")[0] == "pandas":
        return name.startswith("read_")
    return module.startswith("scipy.io") and name in _OF_SCIPY


def _by_name(session: Session, f: Callable, is_opening: bool, /, *args: Any, **kwargs: Any) -> Any:
    name = args[0] if args else next((kwargs[key] for key in _NAMES if key in kwargs), None)
    if isinstance(name, (io.StringIO, io.BytesIO)) or (isinstance(name, io.IOBase) and session.is_made_inside(name)):
        return f(*args, **kwargs)
    return _read(session, f, name, is_opening, *args, **kwargs)


def _read(session: Session, f: Callable, name: Any, is_opening: bool, /, *args: Any, **kwargs: Any) -> Any:
    """A file of that name, opened or read."""
    mode = kwargs.get("mode", next(iter(args[not isinstance(getattr(f, "__self__", None), pathlib.Path) :]), "r"))
    changes = kwargs.get("mmap_mode") is not None or (is_opening and not set(str(mode)) <= set("rbtU"))
    is_named = isinstance(name, (str, bytes, os.PathLike))
    if not is_named or changes or "opener" in kwargs or any(map(is_symbolic, tree.leaves((args, kwargs)))):
        raise Refused
    session.guards.append(FileGuard.of(name))
    found = f(*args, **kwargs)
    return session.made(found) if is_opening else found


class Refused(Exception):
    """A file that cannot be part of a program."""
