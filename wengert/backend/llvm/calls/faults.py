"""How native code says that something went wrong, and what Python makes of it.

A kernel returns a status. `OK` is success; `RAISED` says that a callback raised, and left its exception here, in
`leave`; `SIGNALLED` that the handler of a signal did (Ctrl-C), and the exception is in the fault record; any other
number is a place in the kernel's list of `Fault`s, whose message may have holes for up to four integers that the kernel
wrote into its fault record.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, NamedTuple

from wengert import raised
from wengert.ir.node import Source

OK, RAISED, SIGNALLED, FIRST = 0, 1, 2, 3
"""Statuses: success, an exception was left here, a signal's handler raised, the first that stands for a `Fault`."""

HOLES = 4
"""How many integers a message may need."""

RECORD = HOLES + 3
"""How many words a fault record has: behind the integers, the parts of an exception that a signal's handler raised."""

_restore = ctypes.pythonapi.PyErr_Restore
_restore.argtypes, _restore.restype = [ctypes.c_void_p] * 3, None

_left = threading.local()


class Fault(NamedTuple):
    """One thing that can go wrong: the exception's class by name, its message with holes, and the user's line."""

    kind: str
    message: str
    source: Source | None = None

    def exception(self, values: Any = ()) -> BaseException:
        text = self.message.format(*values)
        if self.source is not None:
            text = f"{text} (at {self.source.file}:{self.source.line})"
        return raised.made(self.kind, text)


def leave(exception: BaseException) -> int:
    """Keep an exception for when the kernel of this thread has returned; the status to return."""
    _left.exception = exception
    return RAISED


def take() -> BaseException:
    """The exception that was left in this thread."""
    exception = getattr(_left, "exception", None)
    _left.exception = None
    return exception if exception is not None else SystemError("native code reported an exception that nobody left")


def exception_for(status: int, known: list[Fault], values: list[int]) -> BaseException:
    """What to raise for a status that is not `OK`."""
    if status == SIGNALLED:
        try:
            _restore(*[v or None for v in values[HOLES:RECORD]])
        except BaseException as exception:
            return exception.with_traceback(None)
    return take() if status == RAISED else known[status - FIRST].exception(values)
