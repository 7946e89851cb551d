"""How to fetch again what a compiled function has found outside: functions that are composed to paths."""

from __future__ import annotations

import functools
import operator
from types import CellType
from typing import Any

import numpy as np

from wengert.box.subclasses import base_array
from wengert.capture.guards import Path, itself
from wengert.capture.objects import Global, content


def global_at(namespace: dict, name: str) -> Path:
    return functools.partial(operator.getitem, namespace, name)


def item_at(path: Path, key: Any) -> Any:
    return path()[key]


def path_to(thing: Any, slot: Any) -> Path:
    """How to fetch what is at a place in an object, a list or a dict, or in a variable."""
    if thing.__class__ is list or thing.__class__ is dict:
        return functools.partial(item_at, functools.partial(itself, thing), slot)
    if thing.__class__ is Global:
        return global_at(thing.namespace, thing.name)
    if thing.__class__ is CellType:
        return content_of(thing)
    return functools.partial(getattr, thing, slot[1])


def keys_at(path: Path) -> tuple:
    return tuple(content(path()))


def part_at(path: Path, key: Any) -> Any:
    return content(path())[key]


def memory_at(path: Path) -> Any:
    return np.ndarray.view(path(), np.ndarray)


def base_array_at(path: Path) -> Any:
    return base_array(path())


def attribute_at(path: Path, name: str) -> Any:
    return getattr(path(), name)


def contains(path: Path, key: Any) -> bool:
    return key in path()


def form_at(path: Path) -> tuple[type, int]:
    found = path()
    return found.__class__, len(found)


def is_at_both(path: Path, other: Path) -> bool:
    return path() is other()


def content_of(cell: CellType) -> Path:
    return functools.partial(getattr, cell, "cell_contents")
