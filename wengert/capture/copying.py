"""`copy.copy` and `copy.deepcopy` in staged code: what is copied may come from outside.

Python's own functions would copy what an array from outside holds while the program is captured. Here containers and
instances are copied part by part, each part read as staged code reads it, so arrays from outside are inputs of the
program. The copies are made inside, and may be changed. Whatever says itself how it is copied is left to Python.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.constructors import CONSTRUCTORS
from wengert.box.functions.shapes import copied
from wengert.capture import hooks
from wengert.capture.containers import attributes_of, is_taken_apart, note_created
from wengert.capture.session import current
from wengert.ops.op import Traced
from wengert.types import shape_of

_OWN_WAYS = ("__copy__", "__deepcopy__", "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__",
             "__getnewargs__", "__getnewargs_ex__")  # fmt: skip


def staged_copy(x: Any) -> Any:
    """`copy.copy(x)`."""
    return _copied(x, lambda part: part, copy.copy)


def staged_deepcopy(x: Any, memo: dict | None = None) -> Any:
    """`copy.deepcopy(x)`."""
    if memo is not None:
        return hooks.call(copy.deepcopy)(x, memo)
    made: dict[int, tuple[Any, Any]] = {}

    def deeply(part: Any) -> Any:
        if id(part) not in made:
            made[id(part)] = (part, None)
            new = _copied(part, deeply, hooks.call(copy.deepcopy), lambda new: made.update({id(part): (part, new)}))
            made[id(part)] = (part, new)
        return made[id(part)][1]

    return deeply(x)


def _copied(x: Any, part: Callable, otherwise: Callable, note: Callable = lambda new: None) -> Any:
    session = current.session
    if isinstance(x, Traced):
        return copied(x) if shape_of(x) else x
    if x.__class__ is np.ndarray:
        return CONSTRUCTORS[np.copy](x)
    if session is None:
        return otherwise(x)
    if x.__class__ is list:
        new: Any = note_created([])
        note(new)
        new.extend([part(item) for item in session.items(x)])
        return new
    if x.__class__ is dict:
        new = note_created({})
        note(new)
        new.update({key: part(value) for key, value in session.mapping(x).items()})
        return new
    if x.__class__ is tuple:
        items = session.items(x)
        parts = tuple([part(item) for item in items])
        return items if all(a is b for a, b in zip(parts, items, strict=True)) else parts
    if is_taken_apart(x) and not any(_is_own(x.__class__, name) for name in _OWN_WAYS):
        new = note_created(session.made(object.__new__(x.__class__)))
        note(new)
        for name, value in attributes_of(x).items():
            object.__setattr__(new, name, part(value))
        return new
    return otherwise(x)


def _is_own(kind: type, name: str) -> bool:
    return getattr(kind, name, None) is not getattr(object, name, None)


COPYING = {copy.copy: staged_copy, copy.deepcopy: staged_deepcopy}
