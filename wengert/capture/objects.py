"""What a list, dict, set or instance holds, place by place: to read it, and to put it back.

A variable that functions share is such an object too, with one place: the cell of a closure, or a `Global`.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from types import CellType
from typing import Any, NamedTuple

from wengert.capture.undefined import UNDEFINED
from wengert.types import has_own_dict, own_dict

MUTABLE = (list, dict, set, deque)
CHANGING = frozenset(
    (
        "append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "setdefault", "popitem",
        "popleft", "appendleft", "extendleft", "rotate", "sort", "reverse", "move_to_end", "difference_update",
        "intersection_update", "symmetric_difference_update", "__init__", "__setitem__", "__delitem__", "__iadd__",
        "__imul__", "__ior__", "__iand__", "__isub__", "__ixor__", "__setstate__",
    )
)  # fmt: skip
"""Methods that change what they belong to."""
Slot = tuple[str, Any]
"""One place in an object: ("item", 3), ("key", "a"), ("element", 7), ("attribute", "state")."""
Content = dict[Slot, Any]


_VARIABLE: Slot = ("variable", "")


class Global(NamedTuple):
    """A global variable."""

    namespace: dict
    name: str

    def content(self) -> Content:
        return {_VARIABLE: self.namespace[self.name]} if self.name in self.namespace else {}

    def put(self, new: Content) -> None:
        if new:
            self.namespace[self.name] = new[_VARIABLE]
        else:
            self.namespace.pop(self.name, None)


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
    for name in slot_names(thing.__class__):
        try:
            found[name] = object.__getattribute__(thing, name)
        except AttributeError:
            continue
    return found


def held_in(cell: CellType) -> Any:
    """The value of a variable of a closure."""
    try:
        return cell.cell_contents
    except ValueError:  # it has none yet
        return UNDEFINED


def _dict_of(thing: Any) -> type[dict]:
    """The class whose methods know the order of a dict: an `OrderedDict` keeps one of its own."""
    return OrderedDict if isinstance(thing, OrderedDict) else dict


def content(thing: Any) -> Content:
    """What an object holds."""
    if thing.__class__ is CellType:
        value = held_in(thing)
        return {} if value is UNDEFINED else {_VARIABLE: value}
    if thing.__class__ is Global:
        return thing.content()
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
    if thing.__class__ is CellType:
        thing.cell_contents = new.get(_VARIABLE, UNDEFINED)
        return
    if thing.__class__ is Global:
        thing.put(new)
        return
    if isinstance(thing, list):
        list.__setitem__(thing, slice(None), [v for (kind, _), v in new.items() if kind == "item"])
    elif isinstance(thing, deque):
        items = [v for (kind, _), v in new.items() if kind == "item"]
        deque.clear(thing)
        deque.extend(thing, items)
    elif isinstance(thing, dict):
        entries = {key: v for (kind, key), v in new.items() if kind == "key"}
        kind = _dict_of(thing)
        kind.clear(thing)
        for key, v in entries.items():
            kind.__setitem__(thing, key, v)
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
