"""Lengths in implementations of NumPy's functions: numbers, or symbols of a program that is being captured.

`y = x[x > 0]` has a length that a captured program knows only when it runs. A condition on such a length cannot decide
anything now: what NumPy refuses is refused when the program runs (`refuse_if`), and formulas take the larger or the
smaller length (`larger`, `smaller`) where Python's `max` and `min` would have to know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops.op import Traced, call
from wengert.ops.sizes import counting, require
from wengert.raised import name_of
from wengert.types import dtype_of, shape_of


def refuse_if(wrong: Any, error: type[Exception], message: str) -> None:
    """Raise an error if something is wrong; where that is known only when a captured program runs, it raises."""
    if isinstance(wrong, Traced):
        call(require, e.logical_not(wrong), error=name_of(error), message=message)
    elif wrong:
        raise error(message)


def agree(lengths: Sequence[Any], others: Sequence[Any], error: type[Exception], message: str) -> None:
    """Raise an error if lengths differ: now, or when a captured program runs, as far as it knows them only then."""
    if len(lengths) != len(others):
        raise error(message)
    for n, m in zip(lengths, others, strict=True):
        if n.__class__ is int is m.__class__:
            refuse_if(n != m, error, message)
        elif not _are_one(n, m):
            refuse_if(e.not_equal(known(n), known(m)), error, message)


def known(n: Any) -> Any:
    """A length as a number: an int, or a symbol of a program that is being captured."""
    return getattr(n, "sym", n)


def most(n: Any) -> int:
    """The largest that a length can be."""
    if n.__class__ is int:
        return n
    if n.bound is None:
        raise UnsupportedFunctionError(
            "least squares with a number of rows of which nothing says how large it is at most",
            remedy="make the rows an array of a fixed size, with zeros behind, and as many weights",
        )
    return n.bound


def is_of_program(n: Any) -> bool:
    """Whether integers are a symbol of a program that is being captured."""
    return isinstance(n, Traced) and hasattr(n, "_span") and dtype_of(n).kind in "iu"


def is_length(n: Any) -> bool:
    """Whether that is one integer, which may be a length."""
    return is_of_program(n) and not shape_of(n)


def _are_one(n: Any, m: Any) -> bool:
    """Whether two lengths are the same symbol. (Symbols answer `==` only when the program runs.)"""
    return getattr(known(n), "_node", n) is getattr(known(m), "_node", m)


def smaller(n: Any, m: Any) -> Any:
    """The smaller one of two lengths."""
    return min(n, m) if n.__class__ is int is m.__class__ else n if _are_one(n, m) else e.minimum(known(n), known(m))


def larger(n: Any, m: Any) -> Any:
    """The larger one of two lengths."""
    return max(n, m) if n.__class__ is int is m.__class__ else n if _are_one(n, m) else e.maximum(known(n), known(m))


def diagonal_length(rows: Any, columns: Any, offset: int) -> Any:
    """How many elements a diagonal of a matrix has."""
    return smaller(_less(rows, max(-offset, 0)), _less(columns, max(offset, 0)))


def _less(n: Any, k: int) -> Any:
    return larger(known(n) - k, 0) if k else n


def diagonal_places(count: Any, offset: int) -> tuple[Any, Any]:
    """The rows and the columns of the elements of a diagonal."""
    steps = counting(count)
    return steps + max(-offset, 0), steps + max(offset, 0)
