"""What decides where a value is tested, as in `if x:`, that the program alone knows: one of several things, or a
list that data fill."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from wengert.box.array_classes import Holding, held
from wengert.box.writing import settled
from wengert.capture.classes import Follow, followed
from wengert.capture.one_of import OneOf, whether
from wengert.capture.opened import has_items, is_open
from wengert.ops.op import TABLE, Traced, call
from wengert.types import dtype_of


def condition(x: Any) -> Any:
    """What decides where `x` is tested: a symbol, or something that Python can test."""
    if isinstance(x, Holding):
        return held(x)
    if is_open(x):
        return has_items(x)
    if x.__class__ is OneOf:
        return whether(x, _truth)
    return _as_its_class_says(x)


def method_of_class(x: Any, name: str) -> Callable | None:
    """The special method of a user's class, as code that is staged; `None` if the class has none of its own."""
    method = getattr(type(x), name, None)
    if type(method) is not FunctionType or isinstance(x, Traced):
        return None
    method = followed(method)
    if not Follow.is_user_code(method.__code__):
        return None
    Follow.operates(x)
    return Follow.instrument(method)


def _as_its_class_says(x: Any) -> Any:
    """What the `__bool__` or `__len__` of a user's class says, where that may be a symbol; anything else as it is."""
    method = method_of_class(x, "__bool__")
    if method is None:
        length = None if hasattr(type(x), "__bool__") else method_of_class(x, "__len__")
        count = None if length is None else settled(held(length(x)))
        return call(TABLE["greater"], count, 0) if isinstance(count, Traced) else x
    found = settled(held(method(x)))
    is_answer = isinstance(found, (bool, np.bool_)) or (isinstance(found, Traced) and dtype_of(found).kind == "b")
    return found if is_answer else x  # (of which Python says that it is none)


def where_true(x: Any) -> Any:
    """What a thing is where it counts as true: one of those that do, or may."""
    return x.among([c for c in x.possible if _truth(x.alternative(c)) is not False]) if x.__class__ is OneOf else x


def _truth(x: Any) -> Any:
    decides = condition(x)
    return decides if isinstance(decides, Traced) else bool(decides)
