"""What a list, dict, set or instance holds, place by place: to read it, to put it back, and to make another like it."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import CellType
from typing import Any

from wengert.types import has_own_dict, own_dict

Slot = tuple[str, Any]
"""One place in an object: ("item", 3), ("key", "a"), ("element", 7), ("attribute", "state")."""
Content = dict[Slot, Any]


class Holder:
    """A class of ours whose instances hold what is the user's in their attributes: a function that an operator has made
    of his, or what stands for an object of SciPy's with traced values in it."""

    __slots__ = ()


def slot_names(kind: type) -> Iterator[str]:
    for cls in kind.__mro__:
        names = cls.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                yield (
                    f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
                )


def own_slots(thing: Any) -> dict[str, Any]:
    """What the slots of an object hold, without asking a `__getattr__` of its class for those that are empty."""
    found: dict[str, Any] = {}
    for name in slot_names(type(thing)):
        try:
            found[name] = object.__getattribute__(thing, name)
        except AttributeError:
            continue
    return found


def in_cell(cell: CellType, empty: Any = None) -> Any:
    """The value of a variable of a closure; `empty` if it has none yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return empty


def _dict_of(thing: Any) -> type[dict]:
    """The class whose methods know the order of a dict: an `OrderedDict` keeps one of its own."""
    return OrderedDict if isinstance(thing, OrderedDict) else dict


def content(thing: Any) -> Content:
    """What an object holds."""
    found: Content = {}
    if isinstance(thing, (list, deque)):
        found.update({("item", k): item for k, item in enumerate(thing)})
    elif isinstance(thing, dict):
        found.update({("key", key): item for key, item in _dict_of(thing).items(thing)})
    elif isinstance(thing, set):
        found.update({("element", item): True for item in thing})
    for name, value in (*own_dict(thing).items(), *own_slots(thing).items()):
        found["attribute", name] = value
    return found


def put(thing: Any, new: Content) -> None:
    """Let an object hold this, and nothing else."""
    if isinstance(thing, list):
        list.__setitem__(thing, slice(None), [v for (kind, _), v in new.items() if kind == "item"])
    elif isinstance(thing, deque):
        items = [v for (kind, _), v in new.items() if kind == "item"]
        deque.clear(thing)
        deque.extend(thing, items)
    elif isinstance(thing, dict):
        entries = {key: v for (kind, key), v in new.items() if kind == "key"}
        base = _dict_of(thing)
        base.clear(thing)
        for key, v in entries.items():
            base.__setitem__(thing, key, v)
    elif isinstance(thing, set):
        set.clear(thing)
        set.update(thing, [key for kind, key in new if kind == "element"])
    attributes = {key: v for (kind, key), v in new.items() if kind == "attribute"}
    has_dict = has_own_dict(thing)
    own = own_dict(thing)
    for name in [name for name in own if name not in attributes]:
        del own[name]
    for name in own_slots(thing):
        if name not in attributes:
            object.__delattr__(thing, name)
    for name, value in attributes.items():
        if has_dict and (name in own or not hasattr(type(thing), name) or isinstance(thing, type)):
            own[name] = value
        else:
            object.__setattr__(thing, name, value)


_CONTAINERS: tuple[Any, ...] = (OrderedDict, defaultdict, dict, list, deque)


def blank(thing: Any) -> Any:
    """Another object of the same class, for `put`; no code of the class runs."""
    kind = type(thing)
    for base in _CONTAINERS:
        if issubclass(kind, base):
            new = base.__new__(kind)
            if base is defaultdict:
                new.default_factory = thing.default_factory
            elif base is deque:
                deque.__init__(new, maxlen=thing.maxlen)
            return new
    try:
        return object.__new__(kind)
    except TypeError:  # a class derived from one that is written in C
        return copy.copy(thing)
