"""Index arrays of other libraries, checked: CuPy wraps a place outside of an array around instead of raising.

Whether a place is inside is computed where the array lies, and asking for the answer waits for it. So while a compiled
program runs (`later`), the answers are collected, and asked for once, at its end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from wengert.ops import library
from wengert.running import running

_MOST = 256
"""So many questions are kept at most: their arrays stay in memory."""


class _Question(NamedTuple):
    """Whether an index array is inside along an axis of some length; where in the source it is used."""

    is_outside: Any
    indices: Any
    axis: int
    length: int
    source: Any

    def fail(self) -> None:
        outside = self.indices[(self.indices < -self.length) | (self.indices >= self.length)]
        where = "" if self.source is None else f" (at {self.source.file}:{self.source.line})"
        raise IndexError(
            f"index {int(outside.reshape(-1)[0])} is out of bounds for axis {self.axis} with size {self.length}{where}"
        )


class _Open(threading.local):
    questions: list[_Question] | None = None


_open = _Open()


def check(x: Any, place: tuple) -> None:
    """See to it that an index names elements of an array of another library: now, or at the end of the program."""
    axis = 0
    for item in _spelt_out(place, x.ndim):
        if item is None or item.__class__ is bool:
            continue
        if library.is_foreign(item) or item.__class__ is np.ndarray:
            if item.dtype.kind == "b":
                axis += item.ndim
                continue
            _ask(item, axis, x.shape[axis])
        axis += 1


def _spelt_out(place: tuple, ndim: int) -> list[Any]:
    """An index with a slice for each axis that `...` stands for."""
    used = sum(_axes_of(item) for item in place)
    whole = [slice(None)] * (ndim - used)
    return [each for item in place for each in (whole if item is Ellipsis else [item])]


def _axes_of(item: Any) -> int:
    if item is None or item is Ellipsis or item.__class__ is bool:
        return 0
    return item.ndim if hasattr(item, "dtype") and item.dtype.kind == "b" else 1


def _ask(indices: Any, axis: int, length: int) -> None:
    is_outside = np.any((indices < -length) | (indices >= length))
    question = _Question(is_outside, indices, axis, length, running.state.source)
    if _open.questions is None or indices.__class__ is np.ndarray:
        _answer([question])
    else:
        _open.questions.append(question)
        if len(_open.questions) >= _MOST:
            _answer(_open.questions)
            _open.questions.clear()


def _answer(questions: list[_Question]) -> None:
    """Raise an error for the first array that names a place outside."""
    if len(questions) > 1 and not bool(np.any(np.stack([q.is_outside for q in questions]))):
        return
    for q in questions:
        if bool(q.is_outside):
            q.fail()


@contextmanager
def later() -> Iterator[None]:
    """Ask at the end, once for all."""
    if _open.questions is not None:
        yield
        return
    _open.questions = questions = []
    try:
        yield
    finally:
        _open.questions = None
    _answer(questions)
