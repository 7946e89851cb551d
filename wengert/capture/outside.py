"""What a compiled program does and asks outside: printing, logging, warnings, the time.

Such a call is no part of the computation: it happens at every call of the compiled function, in order, with the values
that the program has then. It becomes the op `act`, a call back to Python. What gives something that is no number (a
date, a text that someone types) is refused, since the program would be compiled for what it was the first time; files
that are read are part of the program (`files.py`).
"""

from __future__ import annotations

import builtins
import datetime
import io
import logging
import os
import secrets
import subprocess
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert import tree
from wengert.capture.files import Refused, reading, reads_by_name
from wengert.capture.values import is_symbolic
from wengert.control.effects import called_back
from wengert.errors import StagingError
from wengert.ir.infer import Found

NUMBER = Found((), np.dtype(np.float64), True)
INTEGER = Found((), np.dtype(np.int64), True)


def _in_order(f: Callable, results: Sequence[Found] = ()) -> Callable:
    """A function that is called back, whatever its arguments are."""

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        symbols = [x for x in leaves if is_symbolic(x)]

        def function(*values: Any) -> Any:
            rest = iter(values)
            a, kw = tree.unflatten(structure, [next(rest) if is_symbolic(x) else x for x in leaves])
            y = f(*a, **kw)
            return y if results else ()

        found = called_back(function, symbols, results)
        return found[0] if results else None

    return called


_WITHOUT_RESULT: tuple[Any, ...] = (
    print, warnings.warn, time.sleep, logging.debug, logging.info, logging.warning, logging.error, logging.critical,
    logging.exception, logging.log,
)  # fmt: skip
CALLED_BACK: dict[Any, Sequence[Found]] = dict.fromkeys(_WITHOUT_RESULT, ())
for _name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    for _suffix, _result in (("", NUMBER), ("_ns", INTEGER)):
        if hasattr(time, _name + _suffix):
            CALLED_BACK[getattr(time, _name + _suffix)] = (_result,)
"""Functions that are called whenever the program comes to them, with the types of their results."""

_LOGGING = frozenset(("debug", "info", "warning", "warn", "error", "critical", "exception", "log"))

_REFUSED: set[Any] = {
    builtins.input, builtins.open, io.open, os.urandom, os.system, uuid.uuid1, uuid.uuid4, time.localtime, time.gmtime,
    time.ctime, time.strftime, subprocess.run, subprocess.Popen, np.load, np.loadtxt, np.genfromtxt, np.fromfile,
    np.save, np.savez, np.savetxt, np.memmap, *[getattr(secrets, name) for name in secrets.__all__],
}  # fmt: skip


def _refuse(f: Any) -> StagingError:
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__qualname__", getattr(f, "__name__", repr(f)))
    module = getattr(f, "__module__", None) or getattr(owner, "__module__", "")
    shown = name if module in ("builtins", "_io", "io", "") else f"{module}.{name}".replace("numpy.", "np.", 1)
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
    kind = f.__class__
    if kind is MethodType or kind is BuiltinFunctionType:
        owner = f.__self__
        if isinstance(owner, logging.Logger) and f.__name__ in _LOGGING:
            return _in_order(f)
        if reads := reading(f):
            return _or_refused(f, reads)
        if isinstance(owner, io.IOBase) or owner is sys.stdout or owner is sys.stderr:
            if f.__name__ in ("write", "writelines", "flush"):
                return _in_order(f)
            raise _refuse(f)
        if isinstance(owner, type) and issubclass(owner, datetime.date) and f.__name__ in ("now", "utcnow", "today"):
            raise _refuse(f)
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
    return _in_order(f, CALLED_BACK[f]) if known else None
