"""What became of one composition: the same as NumPy, wrong, an error that says nothing, a refusal, or too slow."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wengert as wg

BAD = ("wrong", "error", "slow", "crash")
OUR_FAULT = (wg.errors.VerificationError, wg.errors.EscapedValueError, wg.errors.MismatchError, wg.errors.DeviceError,
             wg.errors.NotLinearError, wg.errors.NonFiniteError, wg.errors.NotDifferentiableInputError,
             wg.errors.NotAFunctionError, wg.errors.MissingPackageError, wg.errors.ConvergenceError)  # fmt: skip
"""Errors that no program of the generator deserves: it gives operators what they take, and its own rules are right."""


@dataclass(frozen=True)
class Outcome:
    """`kind` is same, wrong, error, refusal, slow or crash; `reason` groups what has the same cause, as far as one can
    tell from outside; `detail` is for reading."""

    kind: str
    reason: str = ""
    detail: str = ""
    where: str = ""

    @property
    def is_bad(self) -> bool:
        return self.kind in BAD

    @property
    def group(self) -> tuple[str, str]:
        return self.kind, self.reason


SAME = Outcome("same")


class TooSlow(BaseException):
    """Not an `Exception`: programs catch those."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupts what takes more of the processor's time, where that is possible (the main thread, between Python's
    instructions). Other processes' time does not count: a busy machine finds no slow programs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TooSlow

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def of_exception(error: BaseException) -> Outcome:
    text = str(error).split("\n")[0]
    if isinstance(error, wg.errors.VerificationError):
        return Outcome("wrong", f"VerificationError: {normal(text)}", str(error))
    if isinstance(error, Exception) and wg.errors.is_refusal(error) and not isinstance(error, OUR_FAULT):
        return Outcome("refusal", f"{type(error).__name__}: {normal(text)}", str(error))
    if isinstance(error, TooSlow):
        return Outcome("slow", "slow", "")
    place = _place(error)
    detail = "".join(traceback.format_exception(error)[-4:])
    return Outcome("error", f"{type(error).__name__}: {normal(text)[:80]} at {place}", detail, place)


def _place(error: BaseException) -> str:
    """The innermost line of the package: errors from one place mostly have one cause."""
    found = "?"
    for frame in traceback.extract_tb(error.__traceback__):
        if "/wengert/" in frame.filename:
            found = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.name}"
    return found


def normal(text: str) -> str:
    """A message without the names and numbers of one program."""
    text = re.sub(r" \(at .*", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"\b[a-zA-Z]+\d+\b(?!\()", "NAME", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", text)
    text = re.sub(r"\((\d+,? ?)*\)|\[(\d+,? ?)*\]", "SHAPE", text)
    return re.sub(r"-?\d+(\.\d+)?", "#", text)
