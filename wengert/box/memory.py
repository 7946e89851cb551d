"""How arrays lie in memory, as far as NumPy lets it be seen: whether `ravel` and `reshape` return views or copies.

`laid_out(x)` is an array, with elements that mean nothing, whose strides are those that NumPy's array would have in
place of the traced one. A view is laid out as what its function makes of an array that is laid out as its root. Behind
other boxes there is an array, or a symbol, whose variable knows its order (`ir/orders.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError, WengertError
from wengert.ops.op import Traced
from wengert.running import only_trying
from wengert.strides import UNKNOWN, array_order, in_order, in_several_ways, order_of, strided
from wengert.types import dtype_of, ndim_of, shape_of


class UnknownOrder(UnsupportedFunctionError):
    """It cannot be told how an array lies in memory."""


class UnknownPlace(UnknownOrder):
    """A view is at a place that is known only when a captured program runs."""


_SOME_LENGTH = 5
"""Stands for a length that is known only when a captured program runs: more than one."""


def laid_out(x: Any) -> Any:
    """See the module's text."""
    if not isinstance(x, Traced):
        return _like(x)
    view = x._view_of  # type: ignore[attr-defined]
    if view is not None:
        root = laid_out(view.root)
        try:
            with only_trying():
                return view.function(root if view.root.shape == view.shape else root.reshape(lengths(view.shape)))
        except (WengertError, TypeError, ValueError, IndexError) as error:
            raise UnknownPlace("the place of a part of an array is known only when the program runs",
                               remedy="copy it first: x[:n].copy()") from error  # fmt: skip
    x = settled(x)
    if not isinstance(x, Traced):
        return _like(x)
    return _behind(x, lengths(shape_of(x)))


def _behind(x: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a box that is not a view is made of: an array, or a symbol."""
    if "_value" not in x._state:
        order = x._order()
        if order == UNKNOWN and shape:
            raise UnknownOrder(
                "how an array lies in memory is not known in this compiled function",
                remedy="ask for x.copy().flags, which is in C order",
            )
        return in_order(shape, None if order == UNKNOWN else order, dtype_of(x))
    inside = laid_out(x._value)
    if inside.shape == shape:
        return inside
    return inside[0] if inside.shape[1:] == shape and inside.shape[0] else np.empty(shape, dtype_of(x))


def _like(x: Any) -> np.ndarray:
    """A NumPy array that lies as an array of any library does, or as a number."""
    if x.__class__ is np.ndarray:
        return x
    shape, dtype = lengths(shape_of(x)), dtype_of(x)
    strides = getattr(x, "strides", None)
    return strided(shape, strides, dtype) if strides else np.empty(shape, dtype)


def order_given(x: Any) -> Any:
    """The order of an array that a program is given, traced or not: UNKNOWN if there are gaps."""
    try:
        return array_order(laid_out(x)) if isinstance(x, Traced) else array_order(x)
    except UnknownOrder:
        return UNKNOWN


def order_like(a: Any, order: str) -> Any:
    """The order of an array that is made like another one: as in C or Fortran, or ("K", "A") as that lies, if it can
    be told."""
    backwards = tuple(range(ndim_of(a)))[::-1]
    if order == "C" or len(backwards) < 2:
        return None
    if order == "F":
        return backwards
    try:
        probe = laid_out(a)
    except UnknownOrder:
        return UNKNOWN
    return order_of(probe) if order == "K" else backwards if probe.flags.fnc else None


def order_by(function: Callable, args: tuple, kwargs: dict, y: Any) -> Any:
    """The order that NumPy's function gives its result, which is `y`, where operands do not lie as in C; `None` is that
    of C, and UNKNOWN that it cannot be told."""

    def probe(x: Any) -> Any:
        if isinstance(x, Traced):
            return np.zeros_like(laid_out(x))
        return [probe(item) for item in x] if x.__class__ in (list, tuple) else x

    try:
        with only_trying(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*map(probe, args), **{name: probe(x) for name, x in kwargs.items()})
    except Exception:  # zeros need not be what the function wants, nor lengths that are not known
        return UNKNOWN
    return order_of(found) if np.ndim(found) == ndim_of(y) else UNKNOWN


def lies_as_in_c(x: Any) -> bool:
    """Whether an operand lies as in C for certain, or has no order; lists do if their items do."""
    if not isinstance(x, Traced):
        is_list = x.__class__ in (list, tuple)
        return all(map(lies_as_in_c, x)) if is_list else x.__class__ is not np.ndarray or x.flags.c_contiguous
    try:
        return ndim_of(x) < 2 or order_of(laid_out(x)) is None
    except UnknownOrder:
        return False


def lengths(shape: tuple) -> tuple[int, ...]:
    """A shape in numbers."""
    return tuple([n if n.__class__ is int else _SOME_LENGTH for n in shape])


def shares(function: Callable, args: tuple, kwargs: dict, x: Any) -> bool | None:
    """Whether NumPy's function would return a view of an array laid out as `x` is; `None` if that cannot be told."""
    try:
        probes = [laid_out(x)]
    except UnknownOrder:
        probes = in_several_ways(lengths(shape_of(x)), dtype_of(x))
    args, kwargs = tuple(map(_in_numbers, args)), {name: _in_numbers(a) for name, a in kwargs.items()}
    try:
        found = [np.may_share_memory(probe, function(probe, *args, **kwargs)) for probe in probes]
    except (TypeError, ValueError):  # lengths that are known only when a captured program runs
        return True if len(probes) == 1 and probes[0].flags.c_contiguous else None
    return found[0] if all(f == found[0] for f in found) else None


def _in_numbers(length: Any) -> Any:
    """Lengths that are known only when a captured program runs, as numbers."""
    if length.__class__ is tuple or length.__class__ is list:
        return tuple(map(_in_numbers, length))
    is_number = length is None or length.__class__ in (int, str, bool)
    return length if is_number or (isinstance(length, Traced) and shape_of(length)) else _some_length(length)


def _some_length(length: Any) -> Any:
    return _SOME_LENGTH if isinstance(length, Traced) or hasattr(length, "sym") else length
