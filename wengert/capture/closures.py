"""Variables of closures, as they were when a function was called.

A rule of a user's is run when a mode comes to its op, long after the suite in which the function was called has been
captured. By then a variable that only this suite binds has no value any more, or may have none:

    if x > 0:
        @wg.custom_jvp
        def square(u): ...
        @square.defjvp
        def rule(primals, tangents): return square(*primals), ...    # `square` is a variable of the suite
        y = square(x)

So the op remembers what such variables held, and they hold it again while the rule runs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType
from typing import Any

from wengert.capture.objects import held_in
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.types import own_dict

Variables = list[tuple[CellType, Any]]


def variables_of(functions: Iterable[Any]) -> Variables:
    """The variables that functions, and the functions in these variables, take from around them, and what they hold."""
    found: dict[int, tuple[CellType, Any]] = {}
    seen: set[int] = set()
    waiting = list(functions)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if type(thing) is FunctionType:
            for cell in thing.__closure__ or ():
                value = held_in(cell)
                if _has_value(value):
                    found[id(cell)] = cell, value
                    waiting.append(value)
        elif thing.__class__ is tuple:
            waiting += thing
        elif type(thing) is MethodType:
            waiting += (thing.__func__, thing.__self__)
        elif isinstance(thing, functools.partial):
            waiting += (thing.func, *thing.args, *thing.keywords.values())
        elif callable(thing) and not isinstance(thing, type):
            waiting += own_dict(thing).values()
    return list(found.values())


@contextmanager
def holding_again(variables: Variables) -> Iterator[None]:
    """While those of the variables that have lost their values since then have them again."""
    lost = [(cell, value, now) for cell, value in variables if not _has_value(now := held_in(cell))]
    for cell, value, _ in lost:
        cell.cell_contents = value
    try:
        yield
    finally:
        for cell, _, now in lost:
            cell.cell_contents = now


def _has_value(value: Any) -> bool:
    return value is not UNDEFINED and value.__class__ is not Perhaps
