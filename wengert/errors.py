"""The errors users see, and the words that go into them.

Every error says three things: what happened, on which line of the user's own source, and what to write instead.
The line is found by walking the stack outwards past this package and the array libraries (`user_location`), so it
is right however deep in NumPy's dispatch the problem was noticed. New kinds of failure get a class here; the class
derives from the builtin exception that a NumPy user would have caught (`TypeError`, `ValueError`, …).
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import linecache
import opcode
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, TypeVar

from wengert.packages import is_followed, is_ours, is_own_file

F = TypeVar("F", bound=Callable[..., Any])


def is_library_file(filename: str) -> bool:
    """Whether a file belongs to this package or a library that is not followed, not to the user."""
    return is_ours(filename) or not is_followed(filename)


def user_frame(start: FrameType | None = None) -> FrameType | None:
    """The innermost frame of the user's own code; only of what was called from the frame `start`, if it is given."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_ours(filename) and is_followed(filename):
            break
        frame = frame.f_back if frame is not start else None
    return frame


def warn_user(warning: Warning) -> None:
    """A warning on the line of the user's that has led to it."""
    frame = user_frame()
    place = ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    registry = {} if frame is None else frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(warning, None, *place, registry=registry)


def user_location() -> str:
    """Where in the user's source we are: `file:line: expression`, or an empty string if nowhere.

    In an installed package it is the line there, and the user's own line that led to it.
    """
    frame = user_frame()
    if frame is None:
        return ""
    found = described_line(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    if is_own_file(frame.f_code.co_filename):
        return found
    while frame is not None and not is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None:
        found += f"\n  called at {described_line(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)}"
    return found


def described_line(filename: str, number: int, module_globals: dict | None = None) -> str:
    line = linecache.getline(filename, number, module_globals).strip()
    return f"{filename}:{number}" + (f": {line}" if line else "")


class WengertError(Exception):
    """Base of every error this package raises on purpose.

    >>> raise WengertError("it broke", remedy="mend it")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    wengert.errors.WengertError: it broke
      remedy: mend it
    ...
    """

    page = ""
    """The page of the documentation that says more."""

    def __init_subclass__(cls, **options: Any):
        """Classes by which parts of this package tell refusals apart are called what users can catch."""
        super().__init_subclass__(**options)
        if cls.__module__.startswith("wengert.") and not cls.__name__.endswith("Error"):
            public = next(base for base in cls.__mro__[1:] if base.__name__.endswith("Error"))
            cls.__name__, cls.__qualname__, cls.__module__ = public.__name__, public.__qualname__, public.__module__

    def __init__(self, problem: str, *, remedy: str = "", where: str | None = None):
        text = problem
        if remedy:
            text += f"\n  remedy: {remedy}"
        where = user_location() if where is None else where
        if where:
            text += f"\n  at {where}"
        if self.page:
            text += f"\n  more: docs/errors/{self.page}.md"
        super().__init__(text)


class Signal(BaseException):
    """How parts of this package tell each other to begin again; never seen by users, nor caught by their code."""


REFUSALS = (WengertError, Signal)
"""What users' handlers and context managers let pass unless they name it: a program that went on after a refusal would
compute something else than it does without us."""


class NonScalarOutputError(WengertError, TypeError):
    """`grad` of a function whose result is not one real number."""

    page = "not-a-scalar"


class NotDifferentiableInputError(WengertError, TypeError):
    """An input that has no derivative: an integer, a boolean, a string, an arbitrary object."""

    page = "inputs-and-outputs"


class NotDifferentiableOutputError(WengertError, TypeError):
    """An output that has no derivative: a function, a string, an arbitrary object."""

    page = "inputs-and-outputs"


class NotAFunctionError(WengertError, TypeError):
    """An operator was given something that cannot be called."""

    page = "not-a-function"


class _Refusals(threading.local):
    """How many conversions of traced values were refused in a thread: C code may forget the error that said so."""

    of_conversions = 0


refusals = _Refusals()


class ConcretizationError(WengertError, TypeError):
    """A traced value was asked to become an ordinary number or array, which would cut its derivative."""

    page = "traced-values"

    def __init__(self, problem: str, *, remedy: str = "", where: str | None = None):
        refusals.of_conversions += 1
        super().__init__(problem, remedy=remedy, where=where)


class UndecidedError(WengertError, ValueError):
    """A decision by an interval whose numbers do not all decide alike."""

    page = "undecided"


class EscapedValueError(WengertError, RuntimeError):
    """A traced value was used after the differentiation it belongs to had ended."""

    page = "escaped-values"


class MismatchError(WengertError, ValueError):
    """Tangents or cotangents that do not fit the values they belong to."""

    page = "mismatch"


class PatternError(WengertError, ValueError):
    """A sparsity pattern that is none, or does not fit the matrix or the function it is used for."""

    page = "patterns"


class DeviceError(WengertError, ValueError):
    """Arrays lie on another device than those they meet, or than a solver computes on."""

    page = "devices"


class UnsupportedFunctionError(WengertError, NotImplementedError):
    """A function, or an option of one, that has no derivative rule here."""

    page = "no-rule"


class UnsupportedAttributeError(UnsupportedFunctionError, AttributeError):
    """An attribute of NumPy's arrays that traced ones have not."""


class InPlaceError(WengertError, TypeError):
    """A traced value would have to be written into memory that cannot hold it."""

    page = "in-place"


class NotLinearError(WengertError, TypeError):
    """A rule that must be linear in its tangent (or cotangent) was not."""

    page = "custom-rules"


class RepeatedValuesError(WengertError, ArithmeticError):
    """A derivative through eigenvectors or singular vectors that are not determined, because their values coincide."""

    page = "repeated-values"


class ConvergenceError(WengertError, ArithmeticError):
    """What a solver returned is no answer, or one without a derivative."""

    page = "convergence"


class EstimatorError(WengertError, ValueError):
    """A way to estimate the gradient of an expectation that does not fit the distribution."""

    page = "models"


class BudgetError(WengertError, MemoryError):
    """What reverse mode has to keep does not fit into the memory that it was given."""

    page = "budget"


class NonFiniteError(WengertError, FloatingPointError):
    """A value or a derivative became NaN or infinite, found by `wg.debug_nans`.

    `name` is the operation, `operands` are the values it was applied to, `file` and `line` say where; `sweep` is what
    was being computed: "function", "forward" (tangents) or "reverse" (cotangents).
    """

    page = "not-finite"

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
        lines.append(f"  more: docs/errors/{self.page}.md")
        Exception.__init__(self, "\n".join(lines))


class VerificationError(WengertError, AssertionError):
    """A compiled function did something else than the function itself, found by `jit(f, verify=True)`.

    `expected` is what plain Python gives, `got` what the compiled function gave.
    """

    page = "checks"

    def __init__(self, problem: str, *, remedy: str = "", expected: Any = None, got: Any = None):
        self.expected, self.got = expected, got
        super().__init__(problem, remedy=remedy)


_SPEAKS_OF_COMPILED_CODE = re.compile(r"\bcompiled (function|program|code)\b")


def is_refusal(error: Exception) -> bool:
    """Whether an error says that something cannot be done here which Python can do. What compiled code finds out when
    it runs has a class of Python's, and speaks of compiled code."""
    if isinstance(error, WengertError):
        return not isinstance(error, VerificationError)
    return _SPEAKS_OF_COMPILED_CODE.search(str(error)) is not None


class MissingPackageError(WengertError, ImportError):
    """A function needs a package that is not installed."""

    page = "missing-packages"


class NoClosedFormError(WengertError, TypeError):
    """A program that is not one expression: it decides by values, or does what the algebra system has no word for."""

    page = "closed-forms"


class StagingError(WengertError, TypeError):
    """Python code that cannot become part of a compiled program."""

    page = "staging"


class ConstantResultWarning(UserWarning):
    """A result that does not depend on the arguments, because on its way the derivative was cut."""


# ---------------------------------------------------------------------------------------------- errors on their way out


def explained(error: Exception) -> WengertError | None:
    """Take our frames out of the traceback of an error that is about to reach the user.

    Returns an error that says more, if there is one. With WENGERT_FULL_TRACEBACK set nothing is taken out.
    """
    frames = _frames_of_others(error)
    if not os.environ.get("WENGERT_FULL_TRACEBACK"):
        told: BaseException | None = error
        while told is not None:  # and of those that it came of
            clean = None
            for kept in reversed(_frames_of_others(told)):
                clean = TracebackType(clean, kept.tb_frame, kept.tb_lasti, kept.tb_lineno)
            told.__traceback__ = clean
            before = told.__context__
            if isinstance(before, Signal) or (type(before) is type(told) and str(before) == str(told)):
                told.__suppress_context__ = True  # it was tried in two ways
            told = told.__cause__ or (None if told.__suppress_context__ else before)
    if isinstance(error, WengertError):
        _mention_missing_source(error, frames)
    if not isinstance(error, WengertError) and isinstance(error, (TypeError, ValueError)):
        if isinstance(error.__cause__ or error.__context__, ConcretizationError) and "array element" in str(error):
            return _not_written(frames)
        said = _said(error)
        if _OUR_CLASS.search(said) and not (_PYTHONS_WORDS.match(said) or _OF_NO_NUMBER.match(said)):
            return _not_taken(error, frames)
        if _OF_CYTHON.match(str(error)):
            return _not_taken_by_compiled_code(error, frames)
        if str(error) == NO_ARRAY:
            return ConcretizationError(
                "NumPy makes an ordinary array of an object whose __array__ gives one of traced values: its derivative "
                "would be lost",
                remedy="make the array first, np.asarray(thing), and compute with that",
                where=_where(frames),
            )
    if isinstance(error, ctypes.ArgumentError):
        return _not_taken_by_compiled_code(error, frames)
    return None


NO_ARRAY = "object __array__ method not producing an array"
"""What NumPy says of an object whose `__array__` gives an array of traced values."""


def _where(frames: list[TracebackType]) -> str | None:
    """The line in the innermost of these frames that is of followed code."""
    lines = [(t.tb_frame, t.tb_lineno) for t in frames if is_followed(t.tb_frame.f_code.co_filename)]
    return described_line(lines[-1][0].f_code.co_filename, lines[-1][1], lines[-1][0].f_globals) if lines else None


def told(function: F) -> F:
    """What users call: its errors show frames of the user's code only."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            other = explained(error)
            if other is None:
                raise  # without a frame of this function
            try:
                raise other from None
            except WengertError:  # raised again, it has no frame of this function
                other.__traceback__ = error.__traceback__
                raise

    return called  # type: ignore[return-value]


def _frames_of_others(error: BaseException) -> list[TracebackType]:
    """The frames of a traceback that are not ours, nor of the libraries by which we compute."""
    frames = []
    trace, is_below = error.__traceback__, False
    while trace is not None:
        frame = trace.tb_frame
        is_below = is_ours(frame.f_code.co_filename) or (is_below and _module_of(frame) in ("numpy", "optree"))
        if not is_below:
            frames.append(trace)
        trace = trace.tb_next
    return frames


def _module_of(frame: FrameType) -> str:
    """The name of the package that a function belongs to."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


_OUR_CLASS = re.compile(
    r"\bwengert\.(?:modes|ir|box)\.[\w.]+|\btraced array\b"
    r"|(?:\bTraced\(.*?\)|<symbol .*?>), input_type=\w+|\bTraced\([^()]*\)"
)
_OUR_VALUE = re.compile(r"\bTraced\(.*?\)+|<symbol .*?>|\btraced array\b")
"""How a traced value is called where libraries say what they were given; `input_type` is pydantic's way."""


_WITHOUT_ARITHMETIC = r"'(?:NoneType|str|bytes|dict|list|set|function|method|type|module)'"
_OF_NO_NUMBER = re.compile(
    r"(?:unsupported operand type\(s\) for|.* not supported between instances of) .*?"
    rf"(?:{_WITHOUT_ARITHMETIC} and |and {_WITHOUT_ARITHMETIC}$)"
    r"|can only concatenate \w+ \(not |.* object is not callable$"
)
"""What Python says of an operator between a number, traced or not, and None or a text, and of a call of a number."""


_PYTHONS_WORDS = re.compile(
    r"unsupported operand type|can only concatenate |.* object is not callable$|cannot convert .* object to bytes"
    r"|ord\(\) expected|.* argument after \*\* must be a mapping|expected a sequence of integers or a single integer"
)
"""How Python refuses any number, traced or not."""


def _said(error: BaseException) -> str:
    """The words of an error. Where the user's own code raises it, a value in them complains of nothing."""
    return _OUR_VALUE.sub("a number", str(error)) if _is_of_user(error) else str(error)


def _is_of_user(error: BaseException) -> bool:
    """Whether the user's own `raise` raises an error, rather than what is called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_own_file(trace.tb_frame.f_code.co_filename):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opcode.opmap["RAISE_VARARGS"]


def names_our_class(error: BaseException) -> bool:
    """Whether code that was given a traced value complains of its class, and would not complain of a number."""
    said = _said(error) if isinstance(error, (TypeError, ValueError)) else ""
    return _OUR_CLASS.search(said) is not None and _OF_NO_NUMBER.match(said) is None


def _not_taken(error: TypeError | ValueError, frames: list[TracebackType]) -> WengertError | None:
    """The error for that of code which looks at the class of what it is given, and names ours."""
    if not frames:
        return None
    followed = [trace for trace in frames if is_followed(trace.tb_frame.f_code.co_filename)]
    last, said = frames[-1].tb_frame.f_code, _OUR_CLASS.sub("a traced value", str(error))
    called = frames[frames.index(followed[-1]) + 1 if followed else 0 :]
    is_python = bool(called) and _is_of_python(called[0].tb_frame)
    what = _name_in_library(called[0].tb_frame) if called else f"{last.co_name} in {os.path.basename(last.co_filename)}"
    if followed and frames[-1] is followed[-1]:
        what = "what is called here"
        why = "it is compiled, or a class that looks at what it is given: use numbers and arrays in its place"
    elif is_python:
        why = "it knows Python's own numbers only: give it float(wg.stop_gradient(x)), which is a constant"
    elif os.path.isfile(last.co_filename):
        why = (
            "its package is left alone; if it has a calculus of its own use our operators in place of its, if it only "
            "holds or checks values a dataclass"
        )
    else:
        why = "it is compiled, by Cython, mypyc or the like: install the package as source (pip install --no-binary)"
    return UnsupportedFunctionError(
        f"{what} does not take traced values: {said.partition(chr(10) * 2)[0][:_LONGEST]}",
        remedy=why
        if is_python
        else f"{why}, give the function a rule with wg.custom_jvp or wg.custom_vjp, or apply it to wg.stop_gradient(x)",
        where=_where(followed),
    )


def _name_in_library(frame: FrameType) -> str:
    """What a function of a library is called, with its module."""
    return f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}".lstrip(".")


def _is_of_python(frame: FrameType) -> bool:
    return _module_of(frame) in sys.stdlib_module_names


_OF_CYTHON = re.compile(r"No matching signature found|Buffer dtype mismatch, .*\bobject'?$")
"""What compiled code of a library says that was given traced values, of whose class it knows nothing."""


def _not_taken_by_compiled_code(error: Exception, frames: list[TracebackType]) -> WengertError | None:
    """The error for it names the library's function that followed code has called, if it is one of Python's."""

    def is_inside(trace: TracebackType) -> bool:
        filename = trace.tb_frame.f_code.co_filename
        return filename.endswith(".pyx") or not is_followed(filename)

    inside = list(itertools.takewhile(is_inside, reversed(frames)))
    if len(inside) == len(frames):
        return None
    caller, name = frames[-len(inside) - 1], "what is called here"
    if inside:
        name = _name_in_library(inside[-1].tb_frame)
    return UnsupportedFunctionError(
        f"{name} does not take traced values: it is compiled, or calls compiled code, which says {str(error)!r}",
        remedy="use a function in Python in its place, give it a rule with wg.custom_jvp or wg.custom_vjp, or apply it "
        "to wg.stop_gradient(x)",
        where=described_line(caller.tb_frame.f_code.co_filename, caller.tb_lineno, caller.tb_frame.f_globals),
    )


_LONGEST = 300
"""Of what a library says, that is shown. Some list every field."""


def _mention_missing_source(error: WengertError, frames: list[TracebackType]) -> None:
    """Say that a function could not be rewritten, where that may be why something was refused."""
    for trace in reversed(frames):
        code = trace.tb_frame.f_code
        if is_followed(code.co_filename):
            if trace.tb_frame.f_globals.__class__ is not dict and not getattr(error, "__notes__", ()):
                error.add_note(
                    f"  note: the source of {code.co_name} cannot be had, so that its control flow and its writes to "
                    "arrays cannot be followed; put it into a file, or a notebook"
                )
            return


def _not_written(frames: list[TracebackType]) -> WengertError | None:
    """The error for NumPy's, where it could not write a traced value into a plain array."""
    for trace in reversed(frames):
        code = trace.tb_frame.f_code
        if is_followed(code.co_filename):
            where = described_line(code.co_filename, trace.tb_lineno, trace.tb_frame.f_globals)
            if any(name.startswith("_wengert_") for name in code.co_freevars):
                return InPlaceError(
                    "a traced value is written into an array that was made outside of the differentiated function",
                    remedy="write into a copy of it that is made in the function: a = a.copy()",
                    where=where,
                )
            return InPlaceError(
                f"a traced value is written into a plain array in {code.co_name}, and that cannot be followed, because "
                f"the source of {code.co_name} cannot be had",
                remedy="put the function into a file (or a notebook), or make the array with np.zeros, np.empty or "
                "np.array([...]) in the function, or import wengert.numpy as np there",
                where=where,
            )
    return None
