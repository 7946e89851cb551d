"""What a compiled program does and asks outside: printing, logging, warnings, the time.

Such a call is no part of the computation: it happens at every call of the compiled function, in order, with the values
that the program has then. It becomes the op `act`, a call back to Python. What gives something that is no number (a
date, a text that someone types) is refused, since the program would be compiled for what it was the first time; files
that are read are part of the program (`files.py`).
"""

from __future__ import annotations

import builtins
import datetime
import functools
import io
import itertools
import logging
import os
import pathlib
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert import tree
from wengert.capture.assuming import Telling
from wengert.capture.containers import about_to_go_on
from wengert.capture.effects import USED_UP_ONCE
from wengert.capture.files import Refused, into_stream, reading, reads_by_name
from wengert.capture.session import current
from wengert.capture.values import is_symbolic
from wengert.control.effects import called_back
from wengert.errors import StagingError
from wengert.ir.infer import Found

NUMBER = Found((), np.dtype(np.float64), True)
INTEGER = Found((), np.dtype(np.int64), True)


def _in_order(f: Callable, results: Sequence[Found] = (), failures: Sequence[str] = ()) -> Callable:
    """A function that is called back, whatever its arguments are.

    A `try` around what prints, logs or warns is not meant for that: should it raise, the exception is not caught.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        symbols = [x for x in leaves if is_symbolic(x)]

        def function(*values: Any) -> Any:
            rest = iter(values)
            a, kw = tree.unflatten(structure, [next(rest) if is_symbolic(x) else x for x in leaves])
            return f(*a, **kw)

        found = called_back(function if results else Telling(function), symbols, results, failures=failures)
        return found[0] if results else None

    return called


def _printing(*args: Any, **kwargs: Any) -> None:
    """`print`. What goes into a stream that was made inside, or that `sys.stdout` was directed to, can be read there:
    it is written while the function is captured."""
    file = kwargs.get("file")
    file = sys.stdout if file is None else file
    if isinstance(file, io.IOBase) and current.session is not None and current.session.is_made_inside(file):
        about_to_go_on(file, "a stream is printed into")
        into_stream(print, *args, **kwargs)
    else:
        _in_order(print)(*args, **kwargs)


_TOLD = frozenset(
    (
        shutil.rmtree, signal.raise_signal,
        *[getattr(os, name) for name in (
            "_exit", "abort", "chdir", "chmod", "kill", "killpg", "link", "makedirs", "mkdir", "putenv", "remove",
            "rename", "renames", "replace", "rmdir", "symlink", "truncate", "unlink", "unsetenv", "utime",
        ) if hasattr(os, name)],
    )
)  # fmt: skip
"""What the system is told to do, which may be impossible."""
_IMPOSSIBLE = (
    "OSError", "FileExistsError", "FileNotFoundError", "PermissionError", "NotADirectoryError", "IsADirectoryError",
    "ProcessLookupError",
)  # fmt: skip
_WITHOUT_RESULT: tuple[Any, ...] = (
    print, warnings.warn, time.sleep, logging.debug, logging.info, logging.warning, logging.error, logging.critical,
    logging.exception, logging.log, *_TOLD,
)  # fmt: skip
CALLED_BACK: dict[Any, Sequence[Found]] = dict.fromkeys(_WITHOUT_RESULT, ())
for _name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    for _suffix, _result in (("", NUMBER), ("_ns", INTEGER)):
        if hasattr(time, _name + _suffix):
            CALLED_BACK[getattr(time, _name + _suffix)] = (_result,)
"""Functions that are called whenever the program comes to them, with the types of their results."""

_OF_PATHS: dict[str, Sequence[Found] | None] = {
    **dict.fromkeys(("mkdir", "touch", "unlink", "rmdir", "chmod", "lchmod", "symlink_to", "hardlink_to"), ()),
    **dict.fromkeys(("write_text", "write_bytes"), (INTEGER,)),
    **dict.fromkeys(("rename", "replace", "copy", "copy_into", "move", "move_into")),
}
"""Methods of paths that change files, with the types of their results; nothing for those that give other things."""
_LOGGING = frozenset(("debug", "info", "warning", "warn", "error", "critical", "exception", "log"))

_REFUSED: set[Any] = {
    builtins.input, builtins.open, io.open, os.urandom, os.system, uuid.uuid1, uuid.uuid4, time.localtime, time.gmtime,
    time.ctime, time.strftime, os.open, os.popen,
    shutil.copy, shutil.copy2, shutil.copyfile, shutil.copytree, shutil.move,
    subprocess.run, subprocess.Popen, subprocess.call, subprocess.check_call, subprocess.check_output,
    subprocess.getoutput, subprocess.getstatusoutput, tempfile.mkstemp, tempfile.mkdtemp, tempfile.NamedTemporaryFile,
    tempfile.TemporaryFile, tempfile.TemporaryDirectory, np.load, np.loadtxt, np.genfromtxt, np.fromfile,
    np.save, np.savez, np.savetxt, np.memmap, *[getattr(secrets, name) for name in secrets.__all__],
}  # fmt: skip


def next_number(counter: Any) -> Callable | None:
    """What is called for `next` of an `itertools.count` from outside: it goes on whenever the program comes to it."""
    session = current.session
    if counter.__class__ is not itertools.count or session is None or id(counter) not in session.frozen:
        return None
    if session.frozen[id(counter)][1] is not USED_UP_ONCE or "." in repr(counter):
        return None
    return _in_order(functools.partial(next, counter), (INTEGER,))


def _refuse(f: Any) -> StagingError:
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__qualname__", getattr(f, "__name__", repr(f)))
    module = str(getattr(f, "__module__", None) or getattr(owner, "__module__", ""))
    module = "os" if module == os.name else module.replace("numpy", "np", 1)
    shown = name if module in ("builtins", "_io", "io", "") else f"{module}.{name}"
    return StagingError(
        f"{shown} in a compiled function would be called only once, when it is compiled",
        remedy="call it outside and pass what it gives as an argument, or use jit(f, fallback=True)",
    )


def _or_refused(f: Any, reads: Callable) -> Callable:
    """A file that is read while a program is captured, or an error that says why not."""

    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return reads(*args, **kwargs)
        except Refused:
            raise _refuse(f) from None

    return called


def outside(f: Any) -> Callable | None:
    """What is called for a function that has to do with the world outside; `None` for all others."""
    kind = type(f)
    if kind is MethodType or kind is BuiltinFunctionType:
        owner = f.__self__
        if isinstance(owner, logging.Logger) and f.__name__ in _LOGGING:
            return _in_order(f)
        if reads := reading(f):
            return _or_refused(f, reads)
        if isinstance(owner, pathlib.Path) and f.__name__ in _OF_PATHS:
            results = _OF_PATHS[f.__name__]
            if results is None:
                raise _refuse(f)
            return _in_order(f, results, _IMPOSSIBLE)
        if isinstance(owner, io.IOBase) or owner is sys.stdout or owner is sys.stderr:
            if f.__name__ in ("write", "writelines", "flush"):
                return _in_order(f)
            raise _refuse(f)
        if isinstance(owner, queue.Queue):  # with locks, that are not part of a program
            about_to_go_on(owner, "a queue is used")
            return f
        if isinstance(owner, type) and issubclass(owner, datetime.date) and f.__name__ in ("now", "utcnow", "today"):
            raise _refuse(f)
    if kind is FunctionType and f.__module__ == "numexpr.necompiler" and f.__name__ in ("evaluate", "re_evaluate"):
        raise StagingError(
            "numexpr.evaluate in a compiled function: it looks for its variables where it is called",
            remedy="write the expression with NumPy's operators and functions",
        )
    if kind is FunctionType and reads_by_name(f) and (reads := reading(f)):
        return _or_refused(f, reads)
    try:
        known, refused = f in CALLED_BACK, f in _REFUSED
    except TypeError:  # not hashable
        return None
    if refused:
        if reads := reading(f):
            return _or_refused(f, reads)
        raise _refuse(f)
    if f is print:
        return _printing
    failures = _IMPOSSIBLE if known and f in _TOLD else ("ValueError",) if f is time.sleep else ()
    return _in_order(f, CALLED_BACK[f], failures) if known else None
