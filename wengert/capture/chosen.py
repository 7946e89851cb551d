"""Lists of numbers of which only the running program knows how many there are: the items that a condition chooses.

    [f(v) for v in x if v > 0]      ->      filtered([chosen(v > 0, lambda: f(v)) for v in x])

`chosen` is asked for each item. What Python can decide it decides, and then the result is a list. Otherwise the item is
a branch of the program, and the result is a `ChosenItems`: the numbers as an array, of which a mask has taken those
that count. It can be iterated over, read at a place, counted, tested and given to functions that take a list of numbers
as an array; whatever else is done to it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.functions.operands import array
from wengert.capture.containers import note_created
from wengert.capture.iteration import ChosenItems, refused
from wengert.capture.optional import condition
from wengert.capture.stage import ifexp
from wengert.capture.values import is_number, is_symbolic, truth
from wengert.errors import StagingError
from wengert.ir.numbers import python_class
from wengert.types import shape_of

_REMEDY = "use a mask, x[x > 0], or np.where, or a for loop with an if"


_COUNTING = (len, sum, min, max)
_LIBRARIES = ("numpy", "scipy")


def in_place_of_lists(f: Any, args: Any) -> Any:
    """The arguments of a function that takes an array where it takes a list of numbers, as arrays where need be."""
    if not any(a.__class__ is ChosenItems or (a.__class__ in (list, tuple) and _holds_listed(a)) for a in args):
        return args
    module = str(getattr(f, "__module__", None) or type(f).__module__)
    if f not in _COUNTING and module.partition(".")[0] not in _LIBRARIES and not isinstance(f, np.ufunc):
        refused()
    return [as_array_of(a) for a in args]


def _holds_listed(things: Any) -> bool:
    return any(item.__class__ is ChosenItems for item in things)


def as_array_of(x: Any) -> Any:
    """A `ChosenItems`, or those in a tuple or list, as arrays."""
    if x.__class__ in (list, tuple) and _holds_listed(x):
        return x.__class__([as_array_of(item) for item in x])
    return x.array if x.__class__ is ChosenItems else x


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
            raise StagingError(
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
        raise StagingError("a condition of a comprehension depends on a value that is known only when the compiled "
                           "program runs, and its items are not numbers", remedy=_REMEDY)  # fmt: skip
    kinds = {item[2] if len(item) > 2 else python_class(item[1]) or item[1].__class__ for item in counting}
    kind = kinds.pop() if len(kinds) == 1 else None
    numbers = array([item[1] for item in counting])
    mask = array([item[0] for item in counting])
    return ChosenItems(numbers[mask], kind if kind in (float, int) else None)
