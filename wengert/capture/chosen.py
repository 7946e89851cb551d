"""Lists of numbers of which only the running program knows how many there are: the items that a condition chooses.

    [f(v) for v in x if v > 0]      ->      filtered([chosen(v > 0, lambda: f(v)) for v in x])

`chosen` is asked for each item. What Python can decide it decides, and then the result is a list. Otherwise the item is
a branch of the program, and the result is an open list (`opened.py`): the numbers as an array, of which a mask has
taken those that count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.functions.operands import array
from wengert.box.writing import settled
from wengert.capture.containers import LEAF, note_created
from wengert.capture.deciding import condition
from wengert.capture.iteration import DataChoose, refused
from wengert.capture.open_lists import JOINING, as_an_array
from wengert.capture.opened import ItemKind, Opened, is_open
from wengert.capture.opening import whole
from wengert.capture.stage import ifexp
from wengert.capture.values import is_number, is_symbolic, truth
from wengert.ir.node import Type
from wengert.ir.numbers import python_class
from wengert.ir.symbol import known
from wengert.ops.op import Traced
from wengert.ops.shape import copy
from wengert.types import dtype_of, shape_of

_REMEDY = "use a mask, x[x > 0], or np.where, or a for loop with an if"


_KNOWING = (len, min, max, sorted, map, type, isinstance, callable, *JOINING)
"""Builtins that know such lists."""
_SUMMING = (sum, math.fsum)
_LIBRARIES = ("numpy", "scipy", "statistics")


def in_place_of_lists(f: Any, args: Any) -> Any:
    """The arguments of a function that takes an array where it takes a list of numbers, as arrays where need be."""
    if f in _KNOWING or not any(map(_is_listed, args)):
        return args
    module = str(getattr(f, "__module__", None) or type(f).__module__)
    if f not in _SUMMING and module.partition(".")[0] not in _LIBRARIES and not isinstance(f, np.ufunc):
        refused()
    if f in _SUMMING and not all(map(_holds_numbers, args)):
        refused()
    return [as_array_of(a) for a in args]


def _is_listed(x: Any) -> bool:
    """Whether only the program knows how many items there are in a list, or in one inside of it."""
    if is_open(x):
        return True
    return x.__class__ in (list, tuple) and any(map(_is_listed, x))


def _holds_numbers(x: Any) -> bool:
    return not is_open(x) or whole(x).kind.structure is LEAF


def as_array_of(x: Any) -> Any:
    """An open list, or those in a tuple or list, as arrays."""
    if is_open(x):
        return as_an_array(x)
    if x.__class__ in (list, tuple) and _is_listed(x):
        return x.__class__([as_array_of(item) for item in x])
    return x


_NOT_CHOSEN: Any = object()


def chosen(test: Any, item: Callable[[], Any]) -> Any:
    """Whether an item of a comprehension counts, and the item; both known when the program runs, or neither."""
    test = condition(test)
    if not is_symbolic(test):
        return (True, item()) if test else _NOT_CHOSEN
    made: list[Any] = []

    def then() -> Any:
        made.append(item())
        if not is_number(made[-1]) or shape_of(made[-1]):
            raise DataChoose(
                "a condition of a comprehension depends on a value that is known only when the compiled program runs, "
                "and its items are not numbers", remedy=_REMEDY,
            )  # fmt: skip
        return made[-1]

    value = ifexp(test, then, lambda: 0)
    return truth(test), value, python_class(made[-1])


def filtered(items: list) -> Any:
    """The list of the items that count."""
    counting = [item for item in items if item is not _NOT_CHOSEN]
    if all(len(item) == 2 for item in counting):
        return note_created([value for _, value in counting])
    if not all(is_number(item[1]) and not shape_of(item[1]) for item in counting):
        raise DataChoose("a condition of a comprehension depends on a value that is known only when the compiled "
                           "program runs, and its items are not numbers", remedy=_REMEDY)  # fmt: skip
    kinds = {item[2] if len(item) > 2 else python_class(item[1]) or item[1].__class__ for item in counting}
    numbers = array([item[1] for item in counting])
    mask = array([item[0] for item in counting])
    is_pythons = len(kinds) == 1 and kinds <= {float, int}
    kind = ItemKind(LEAF, (Type((), dtype_of(numbers), is_pythons),), ("",))
    return note_created([Opened(kind, [numbers[mask]])])


def numbers_of(x: Any, as_pythons: bool = False) -> list | None:
    """The elements of an array, of which only the program knows how many there are, as a list; `None` for all else."""
    if not isinstance(x, Box) or x.ndim != 1 or not isinstance(known(x.shape[0]), Traced):
        return None
    kind = ItemKind(LEAF, (Type((), dtype_of(x), as_pythons),), ("",))
    return note_created([Opened(kind, [copy(settled(x))])])
