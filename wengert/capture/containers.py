"""Lists and dicts that staged suites write to.

A suite is run on copies of the containers that it may write to, so that what it does to them can be seen and undone.
Afterwards the container itself gets the new items, because others may hold it.
"""

from __future__ import annotations

from typing import Any

from wengert.ir.build import Capture

MUTABLE = (list, dict)


def copied(value: Any, capture: Capture) -> Any:
    """A copy of a container, with the containers in it, that a block may write to; anything else as it is."""
    if value.__class__ is list:
        new: Any = [copied(item, capture) for item in value]
    elif value.__class__ is dict:
        new = {key: copied(item, capture) for key, item in value.items()}
    elif value.__class__ is tuple:
        return tuple([copied(item, capture) for item in value])
    else:
        return value
    capture.note_created(new)
    return new


def noted(value: Any, capture: Capture) -> Any:
    """The same container, which was made for a block."""
    if value.__class__ in MUTABLE:
        capture.note_created(value)
        for item in value.values() if value.__class__ is dict else value:
            noted(item, capture)
    return value


def unchanged(value: Any, original: Any) -> bool:
    """Whether a copy still holds what the original holds."""
    if value.__class__ is not original.__class__ or value.__class__ not in (list, dict, tuple):
        return value is original
    if len(value) != len(original):
        return False
    if value.__class__ is dict:
        return value.keys() == original.keys() and all(unchanged(value[key], original[key]) for key in value)
    return all(unchanged(a, b) for a, b in zip(value, original, strict=True))


def refilled(original: Any, new: Any) -> Any:
    """The original container, with the items of another one of its kind; anything else is replaced."""
    if original.__class__ is not new.__class__ or original.__class__ not in MUTABLE or original is new:
        return new
    if original.__class__ is list and len(original) == len(new):
        original[:] = [refilled(a, b) for a, b in zip(original, new, strict=True)]
    elif original.__class__ is dict and original.keys() == new.keys():
        original.update({key: refilled(original[key], new[key]) for key in new})
    else:
        return new
    return original
