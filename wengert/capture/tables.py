"""Dicts and sets with keys that only the program knows: `counts[int(x)] += w`, `seen.add(int(x))`.

Such a key cannot be hashed. So where nothing else helps (a loop that is written out may know its keys) the function is
captured once more, and what is made where that dict or set was made is an `OpenDict` or `OpenSet`
(`followed/tables.py`): lists, of keys and of values, which the program fills.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from wengert.capture.classes import meet
from wengert.capture.containers import note_created
from wengert.capture.followed import tables
from wengert.capture.followed.tables import Group, OpenDict, OpenGroups, OpenSet, OpenTable
from wengert.capture.followed.unknown_content import OF_LISTS, ComputesKeys
from wengert.capture.instrument import staged
from wengert.capture.opened import is_open
from wengert.capture.session import current
from wengert.capture.values import is_symbolic
from wengert.errors import user_frame
from wengert.types import dtype_of, shape_of

_KINDS = (dict, defaultdict, OrderedDict, Counter, set)


def is_computed(key: Any) -> bool:
    """Whether a key is, or has in it, a number that only the program knows."""
    if key.__class__ is tuple:
        return any(map(is_computed, key))
    return is_symbolic(key) and not shape_of(key) and dtype_of(key).kind in "biuf"


def made_dict(mapping: Any) -> Any:
    """What stands for a dict that was just made."""
    session = current.session
    if session is None or mapping.__class__ not in _KINDS:
        return note_created(mapping)
    frame = user_frame()
    place = "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    if place in session.tables:
        return _as_table(mapping, place)
    session.dicts[id(mapping)] = (mapping, place)
    return note_created(mapping)


def _as_table(mapping: Any, place: str = "") -> OpenTable:
    if mapping.__class__ is set:
        meet(OpenSet)
        return note_created(OpenSet(note_created(list(mapping))))
    default = getattr(mapping, "default_factory", None)
    if default is list or (current.session is not None and place + OF_LISTS in current.session.tables):
        meet(OpenGroups)
        meet(Group)
        names, owners, things = [note_created([]) for _ in range(3)]
        table = note_created(OpenGroups(names, owners, things, default))
        for key, value in mapping.items():
            staged(OpenGroups.put_last)(table, key, value)
        return table
    meet(OpenDict)
    names, under = [note_created(list(part)) for part in (mapping, mapping.values())]
    return note_created(OpenDict(names, under, default, mapping.__class__ is Counter, place))


def refuse_computed(mapping: Any, key: Any) -> None:
    """Begin again, with a table in place of a dict or set, if this key is one that cannot be hashed."""
    session = current.session
    if session is None or not is_computed(key):
        return
    made, place = session.dicts.get(id(mapping), (None, ""))
    if made is mapping:
        raise ComputesKeys(place)


def keys_of(x: Any, in_any_order: bool = False) -> Any:
    """What a loop over a table goes through; anything else as it is. The order of a set is not known."""
    if x.__class__ is Group:
        return staged(Group.keys)(x)
    is_table = x.__class__ in (OpenDict, OpenGroups) or (in_any_order and x.__class__ is OpenSet)
    return staged(OpenTable.keys)(x) if is_table else x


def list_of_group(args: Any) -> Any:
    """The arguments of a function that is not followed, with what is in lists under computed keys."""
    return list(map(keys_of, args)) if any(a.__class__ is Group for a in args) else args


def length_of(x: OpenTable | Group) -> Any:
    """`len(x)`."""
    return staged(Group.count_of_items if x.__class__ is Group else tables.length)(x)


def making(kind: type) -> Callable:
    """`dict(…)`, `Counter(…)` and their like, given a table, or keys that only the program knows."""

    def make(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and kind in (dict, Counter, set):
            (things,) = args
            if things.__class__ is OpenDict and kind is dict:
                table = staged(OpenDict.copy)(things)
                table.default, table.counts = None, False
                return table
            if things.__class__ is OpenSet and kind is set:
                return staged(OpenSet.copy)(things)
            if is_open(things) or (things.__class__ in (list, tuple) and any(map(_has_key, things))):
                table = _as_table(kind(**kwargs))
                filled = {dict: OpenDict.update, set: OpenSet.update}.get(kind, tables.filled)
                staged(filled)(table, things)
                return table
        return made_dict(kind(*args, **kwargs))

    def _has_key(thing: Any) -> bool:
        return is_computed(thing if kind is not dict else thing[0] if thing.__class__ in (tuple, list) and thing else 0)

    return make


MAKING: dict[Any, Callable] = {kind: making(kind) for kind in _KINDS}
