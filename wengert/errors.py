"""The errors users see, and the words that go into them.

Every error says three things: what happened, on which line of the user's own source, and what to write instead.
The line is found by walking the stack outwards past this package and the array libraries (`user_location`), so it
is right however deep in NumPy's dispatch the problem was noticed. New kinds of failure get a class here; the class
derives from the builtin exception that a NumPy user would have caught (`TypeError`, `ValueError`, …).
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import FrameType

_PACKAGE = str(Path(__file__).parent) + os.sep
_LIBRARIES = ("numpy", "scipy", "optree", "dask", "distributed")


@lru_cache(maxsize=4096)
def is_library_file(filename: str) -> bool:
    """Whether a file belongs to this package or an array library, not to the user."""
    if filename.startswith(_PACKAGE):
        return True
    parts = Path(filename).parts
    if "site-packages" not in parts:
        return filename.startswith("<frozen")
    after = parts[parts.index("site-packages") + 1 :]
    return bool(after) and after[0] in _LIBRARIES


def user_frame(start: FrameType | None = None) -> FrameType | None:
    """The innermost frame of the user's own code; only of what was called from the frame `start`, if it is given."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library_file(frame.f_code.co_filename):
        frame = frame.f_back if frame is not start else None
    return frame


def user_location() -> str:
    """Where in the user's source we are: `file:line: expression`, or an empty string if nowhere."""
    frame = user_frame()
    if frame is None:
        return ""
    filename = frame.f_code.co_filename
    line = linecache.getline(filename, frame.f_lineno, frame.f_globals).strip()
    return f"{filename}:{frame.f_lineno}" + (f": {line}" if line else "")


class WengertError(Exception):
    """Base of every error this package raises on purpose.

    >>> raise WengertError("it broke", remedy="mend it")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    wengert.errors.WengertError: it broke
      remedy: mend it
    ...
    """

    def __init__(self, problem: str, *, remedy: str = ""):
        text = problem
        if remedy:
            text += f"\n  remedy: {remedy}"
        where = user_location()
        if where:
            text += f"\n  at {where}"
        super().__init__(text)


class Signal(BaseException):
    """How parts of this package tell each other to begin again; never seen by users, nor caught by their code."""


REFUSALS = (WengertError, Signal)
"""What users' handlers and context managers let pass unless they name it: a program that went on after a refusal would
compute something else than it does without us."""


class NonScalarOutputError(WengertError, TypeError):
    """`grad` of a function whose result is not one real number."""


class NotDifferentiableInputError(WengertError, TypeError):
    """An input that has no derivative: an integer, a boolean, a string, an arbitrary object."""


class NotDifferentiableOutputError(WengertError, TypeError):
    """An output that has no derivative: a function, a string, an arbitrary object."""


class ConcretizationError(WengertError, TypeError):
    """A traced value was asked to become an ordinary number or array, which would cut its derivative."""


class EscapedValueError(WengertError, RuntimeError):
    """A traced value was used after the differentiation it belongs to had ended."""


class MismatchError(WengertError, ValueError):
    """Tangents or cotangents that do not fit the values they belong to."""


class UnsupportedFunctionError(WengertError, NotImplementedError):
    """A function, or an option of one, that has no derivative rule here."""


class InPlaceError(WengertError, TypeError):
    """A traced value would have to be written into memory that cannot hold it."""


class NotLinearError(WengertError, TypeError):
    """A rule that must be linear in its tangent (or cotangent) was not."""


class RepeatedValuesError(WengertError, ArithmeticError):
    """A derivative through eigenvectors or singular vectors that are not determined, because their values coincide."""


class NonFiniteError(WengertError, FloatingPointError):
    """A value or a derivative became NaN or infinite, found by `wg.debug_nans`.

    `name` is the operation, `operands` are the values it was applied to, `file` and `line` say where; `sweep` is what
    was being computed: "function", "forward" (tangents) or "reverse" (cotangents).
    """

    def __init__(self, problem: str, *, remedy: str = "", details: Sequence[str] = (), name: str = "",
                 operands: tuple = (), place: tuple[str, int] | None = None, sweep: str = ""):  # fmt: skip
        self.name, self.operands, self.sweep = name, operands, sweep
        self.file, self.line = place or ("", 0)
        lines = [problem]
        if place is not None:
            text = linecache.getline(self.file, self.line).strip()
            lines.append(f"  at {self.file}:{self.line}" + (f": {text}" if text else ""))
        lines += [f"  {line}" for line in details]
        if remedy:
            lines.append(f"  remedy: {remedy}")
        Exception.__init__(self, "\n".join(lines))


class MissingPackageError(WengertError, ImportError):
    """A function needs a package that is not installed."""


class NoClosedFormError(WengertError, TypeError):
    """A program that is not one expression: it decides by values, or does what the algebra system has no word for."""


class StagingError(WengertError, TypeError):
    """Python code that cannot become part of a compiled program."""
