"""Nested containers: tuples, lists, dicts, named tuples, dataclasses, over optree.

Every operator takes and returns nested containers; this file is the only one that knows how they are taken apart.
`None` is an empty container. A dataclass is registered with optree when it is first met, so that users need not
do it; fields declared with `field(metadata={"static": True})` are part of the structure instead of the data.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import optree

NAMESPACE = "wengert"


class Fields(NamedTuple):
    """The fields of a dataclass: those that are parts, and those that belong to the structure."""

    data: tuple[str, ...]
    static: tuple[str, ...]


_fields: dict[type, Fields] = {}
_registered: set[type] = set()
_not_dataclasses: set[type] = set()
_values: tuple[type, ...] = ()
"""Classes that are containers to those who take everything apart, and one value each to those who differentiate."""
_looking: set[type] = set()
"""Classes that are put together in a way that depends on the parts."""
_lock = threading.Lock()


def _register_dataclass(cls: type) -> None:
    fields = tuple([f.name for f in dataclasses.fields(cls) if not f.metadata.get("static")])
    static = tuple([f.name for f in dataclasses.fields(cls) if f.metadata.get("static")])

    def take_apart(instance: Any) -> tuple:
        return (
            tuple(getattr(instance, name) for name in fields),
            tuple(getattr(instance, name) for name in static),
            fields,
        )

    def put_together(static_values: Any, children: Any) -> Any:
        # `__init__` and `__post_init__` may demand real numbers, and the children may be traced: set fields directly.
        instance = object.__new__(cls)
        for name, value in zip(fields, children, strict=True):
            object.__setattr__(instance, name, value)
        for name, value in zip(static, static_values, strict=True):
            object.__setattr__(instance, name, value)
        return instance

    optree.register_pytree_node(cls, take_apart, put_together, namespace=NAMESPACE)
    _fields[cls] = Fields(fields, static)


_stand_ins: dict[type, Callable[[Any], Any]] = {}
"""Classes whose objects stand for another value -> that value."""


def _register_dataclasses_among(leaves: list[Any]) -> bool:
    """Register the dataclasses that optree took for leaves; tell whether there were any, so that it must look again."""
    unknown: set[Any] = {leaf.__class__ for leaf in leaves} - _not_dataclasses
    if not unknown:
        return False
    found: set[Any] = {cls for cls in unknown if dataclasses.is_dataclass(cls)}
    _not_dataclasses.update(unknown - found)
    with _lock:
        for cls in found - _registered:
            try:
                _register_dataclass(cls)
            except ValueError:  # the user did it
                pass
            _registered.add(cls)
    return bool(found)


def register(
    cls: type, take_apart: Callable, put_together: Callable, is_value: bool = False, looks: bool = False
) -> None:
    """Let a class be a container: `take_apart` gives parts, what else there is to it, and names of the parts.

    With `is_value` it is one value all the same where values are meant (`flatten_values`): an interval has two bounds,
    but a derivative with respect to it is not one with respect to each bound. If `put_together` looks at the parts,
    `looks` says so: what it gives is then another container for other parts.
    """
    global _values
    if looks:
        _looking.add(cls)
    optree.register_pytree_node(cls, take_apart, put_together, namespace=NAMESPACE)
    if is_value:
        _values += (cls,)


def depends_on_leaves(structure: Any) -> bool:
    """Whether what a structure is put together to depends on what its leaves are."""
    return structure.type in _looking or any(map(depends_on_leaves, structure.children()))


def fields_of(cls: type) -> Fields | None:
    """The fields of a dataclass that is a container because it is one, not because a user said so."""
    return _fields.get(cls)


def is_tuple(cls: type) -> bool:
    """Whether a class is that of tuples, or of named tuples, whose items are its parts."""
    return cls is tuple or optree.is_namedtuple_class(cls)


def orders_of_keys(tree: Any) -> tuple:
    """The keys of all dicts in a container, in the order in which each has them; structures do not tell that.

    >>> orders_of_keys(({"b": 1.0, "a": [{}]}, 2.0))
    (('b', 'a'), ())
    """
    found: list[tuple] = []
    pending = [tree]
    while pending:
        thing = pending.pop()
        if isinstance(thing, dict):
            found.append(tuple(thing))
            pending += thing.values()
        elif thing.__class__ is list or thing.__class__ is tuple:
            pending += thing
        elif thing.__class__ not in _not_dataclasses:
            parts = optree.tree_leaves(thing, is_leaf=lambda x, whole=thing: x is not whole, namespace=NAMESPACE)  # type: ignore[misc]
            pending += [part for part in parts if part is not thing]
    return tuple(found)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a container, and its structure.

    >>> flatten({"a": 1.0, "b": (2.0, 3.0)})[0]
    [1.0, 2.0, 3.0]
    """
    leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    while _register_dataclasses_among(leaves):  # once per level of dataclasses that were never met before
        leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    return (_without_stand_ins(leaves) if _stand_ins else leaves), structure


def stand_in(cls: type, value: Callable[[Any], Any]) -> None:
    """Let a leaf of a class, or of one derived from it, count as the value that it stands for."""
    _stand_ins[cls] = value


def _without_stand_ins(leaves: list[Any]) -> list[Any]:
    for cls, value in _stand_ins.items():
        leaves = [value(leaf) if isinstance(leaf, cls) else leaf for leaf in leaves]
    return leaves


def flatten_until(tree: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Any]:
    """The leaves of a container and its structure, where some containers are leaves."""
    flatten(tree)  # registers dataclasses
    leaves, structure = optree.tree_flatten(tree, is_leaf=is_leaf, namespace=NAMESPACE)
    return (_without_stand_ins(leaves) if _stand_ins else leaves), structure


def flatten_values(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a container and its structure, where a value that has parts is a leaf (`register`)."""
    if not _values:
        return flatten(tree)
    return flatten_until(tree, lambda x: isinstance(x, _values))


def unflatten(structure: Any, leaves: Any) -> Any:
    """The container of that structure with these leaves.

    >>> leaves, structure = flatten((1.0, [2.0]))
    >>> unflatten(structure, [10.0, 20.0])
    (10.0, [20.0])
    """
    return optree.tree_unflatten(structure, leaves)


def map(function: Callable, tree: Any, *rest: Any) -> Any:
    """Apply a function to the leaves of one or several containers of the same structure.

    >>> map(lambda a, b: a + b, {"x": 1.0}, {"x": 2.0})
    {'x': 3.0}
    """
    leaves, structure = flatten(tree)
    columns = [leaves]
    for other in rest:
        other_leaves, other_structure = flatten(other)
        if other_structure != structure:
            raise ValueError(f"containers differ: {structure} and {other_structure}")
        columns.append(other_leaves)
    return unflatten(structure, [function(*row) for row in zip(*columns, strict=True)])


def leaves(tree: Any) -> list[Any]:
    """Only the leaves.

    >>> leaves([1.0, (2.0, None)])
    [1.0, 2.0]
    """
    return flatten(tree)[0]


def paths(tree: Any) -> list[str]:
    """A readable name for each leaf, for error messages.

    >>> paths({"a": [1.0, 2.0]})
    ["['a'][0]", "['a'][1]"]
    """
    flatten(tree)  # registers dataclasses
    return [accessor.codify("") for accessor in optree.tree_accessors(tree, namespace=NAMESPACE)]


def is_leaf(structure: Any) -> bool:
    """Whether a structure is that of a single leaf.

    >>> is_leaf(flatten(1.0)[1]), is_leaf(flatten([1.0])[1])
    (True, False)
    """
    return structure.is_leaf()
