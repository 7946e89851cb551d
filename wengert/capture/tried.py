"""Functions of `math`, and divisions, that fail for some examples of a batch, where somebody would notice.

In a batch `math.sqrt(x)` and `1 / float(x)` are NaN or infinite for the examples for which Python raises. If the call
stands in a `try`, what its handlers do is another way for these examples to go (`Apart` in `modes/batch.py`). Whether
it does, the tables of exceptions of the frames say (Python's Objects/exception_handling_notes.txt): they are looked
at when something failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from wengert.box.box import plain
from wengert.ops.op import Traced
from wengert.ops.succeeds import Handlers

_OWN = __name__.partition(".")[0] + "."
_OPERATORS = frozenset([f"{_OWN}api.{name}" for name in ("vmap", "enclose", "natural", "centred", "subdivision")])


def refuse_failures(what: str, args: Sequence[Any], results: Sequence[Any]) -> None:
    """Have examples go different ways if some have no finite result of finite arguments, and this is in a `try`."""
    batch = next((trace for a in args for trace in _batches(a)), None)
    if batch is None:
        return
    finite = np.all([np.all(np.isfinite(plain(a))) for a in args])
    if finite and not all(np.all(np.isfinite(plain(y))) for y in results) and _is_tried(sys._getframe(2)):
        raise batch.apart(f"{what} is tried, and fails for some value")


def demand_alike(is_ok: Callable[[], Any], error: str) -> None:
    """Refuse what fails for some numbers of an interval and not for others, in a `try` of an enclosed function. It is
    asked there only: a comparison is noted as a place where the function may jump."""
    if not _is_tried(sys._getframe(2)):
        return
    ok = plain(is_ok())
    if isinstance(ok, Traced) and ok._owner.encloses and ok._owner.tag:
        raise ok._owner.apart(f"{error} for some numbers, in a try,")  # type: ignore[attr-defined]


Handlers.demand_alike = demand_alike


def part_ways(fails: Callable[[], bool], *operands: Any) -> None:
    """Have examples go different ways if an operator of Python's raises for some of their numbers, in a `try`."""
    batch = next((trace for x in operands for trace in _batches(x)), None)
    if batch is not None and _is_tried(sys._getframe(2)) and fails():
        raise batch.apart("a division is tried, and fails for some value")


Handlers.part_ways = part_ways


def _batches(x: Any) -> Iterator[Any]:
    while isinstance(x, Traced):
        if x._owner.batches:
            yield x._owner
        x = getattr(x, "_value", None)


def _is_tried(frame: FrameType | None) -> bool:
    """Whether a frame, or one that called it, is in a `try`, up to the operator that makes the batch or interval."""
    while frame is not None and frame.f_globals.get("__name__") not in _OPERATORS:
        if not str(frame.f_globals.get("__name__")).startswith(_OWN):
            if any(start <= frame.f_lasti < end for start, end in _guarded(frame.f_code)):
                return True
        frame = frame.f_back
    return False


def _guarded(code: CodeType) -> Iterator[tuple[int, int]]:
    """The ranges of instructions that have handlers."""
    numbers = _numbers(code.co_exceptiontable)
    for start in numbers:
        length, _, _ = next(numbers), next(numbers), next(numbers)
        yield 2 * start, 2 * (start + length)


def _numbers(table: bytes) -> Iterator[int]:
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            yield number
            number = 0
