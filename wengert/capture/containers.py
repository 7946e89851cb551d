"""Python's own objects in staged suites: what they hold, how values are taken apart, and which may be changed.

Lists, dicts, sets and instances have an identity: whoever holds one sees what is done to it. A staged suite therefore
works on the objects themselves. The first change of an object that was there before the suite is noted, with what it
held (`about_to_change`); whoever captured the suite reads what it holds at the end, puts back what it held, and gives
it the results of the `cond` or loop. See `docs/names.md` for worked examples.

A variable that stands for *another* object after a branch or an iteration is carried by value: `flatten` takes the
object apart, and another one is built of the results. Nobody can say then which of two objects it is, so it must not be
changed while the old one may be seen elsewhere (`freeze`).
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from wengert.box.array_classes import Holding, held_with_parts, parts_of_held
from wengert.box.box import Box
from wengert.box.contents import Content, Slot, own_slots
from wengert.capture.kinds import is_object
from wengert.capture.objects import MUTABLE, content, put
from wengert.capture.one_of import MOST, OneOf, ValueKind, code_of, is_constant, one_of, only_values
from wengert.capture.opened import Opened, PooledRow
from wengert.capture.outlived import is_outlived
from wengert.capture.references import NeedsReferences, refers
from wengert.capture.session import current
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import equal, is_number
from wengert.counted import all_count, counts
from wengert.errors import StagingError
from wengert.ir.build import Capture
from wengert.running import running
from wengert.types import own_dict, shape_of


class Structure(NamedTuple):
    """What a container is like but for its leaves: its class, the names of its parts, and their structures."""

    kind: Any
    keys: tuple
    parts: tuple

    @property
    def num_leaves(self) -> int:
        return 1 if self is LEAF else sum(part.num_leaves for part in self.parts)


LEAF = Structure(None, (), ())


# ------------------------------------------------------------------------------------------------------ taking apart


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """The leaves of a value (numbers, arrays, and whatever else is no container or instance) and its structure."""
    found: list[Any] = []
    return found, _flatten(value, found, ())


def leaves(value: Any) -> list[Any]:
    return flatten(value)[0]


def leaves_within(value: Any) -> list[Any]:
    """The leaves of a value, each once, also if there is a way from an object in it to itself."""
    found, seen, pending = [], {}, [value]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        parts = parts_of(one)
        if parts is None:
            found.append(one)
        else:
            pending += parts.values()
    return found


def _flatten(value: Any, found: list[Any], around: tuple) -> Structure:
    parts = parts_of(value)
    if parts is None:
        found.append(value)
        return LEAF
    if any(value is outer for outer in around):
        raise HoldsItself(value)
    inside, first = (*around, value), len(found)
    try:
        return Structure(kind_of(value), tuple(parts), tuple([_flatten(p, found, inside) for p in parts.values()]))
    except HoldsItself as error:
        if error.thing is not value or not _is_from_outside(value):
            raise
    found[first:] = [value]
    return LEAF


class HoldsItself(StagingError):
    """There is a way from an object to itself. One from outside counts as a whole; another cannot be taken apart."""

    def __init__(self, thing: Any):
        super().__init__(f"a {type(thing).__name__} that holds itself, in a loop or branch that is staged",
                         remedy="keep what changes in arrays and numbers")  # fmt: skip
        self.thing = thing


def _is_from_outside(thing: Any) -> bool:
    session = current.session
    return session is not None and is_object(thing) and not session.is_made_inside(thing)


class ContainerKind(NamedTuple):
    """Containers of a class to which there is more than their parts: `made(more, parts)` is one again."""

    parts: Callable[[Any], dict[Any, Any]]
    more: Callable[[Any], Any]
    made: Callable[[Any, dict[Any, Any]], Any]


def _row_of_pool(pool: Any, parts: dict[Any, Any]) -> PooledRow:
    pool.escapes = pool.escapes or running.state.capture is pool.home
    return PooledRow(pool, parts["ref"])


_KINDS: dict[type, ContainerKind] = {
    Holding: ContainerKind(parts_of_held, lambda x: x.__class__, held_with_parts),
    Opened: ContainerKind(
        lambda x: dict(enumerate(x.rows)), lambda x: x.kind, lambda kind, parts: Opened(kind, [*parts.values()])
    ),
    PooledRow: ContainerKind(lambda x: {"ref": x.ref}, lambda x: x.pool, _row_of_pool),
    OneOf: ContainerKind(
        lambda x: {"which": x.which, **x.values},
        lambda x: x.codes,
        lambda codes, parts: one_of(parts.pop("which"), codes, parts),
    ),
    defaultdict: ContainerKind(dict, lambda x: x.default_factory, defaultdict),
}


def kind_of(value: Any) -> Any:
    """What `rebuilt` has to know of a container besides its parts."""
    kind = Holding if isinstance(value, Holding) else value.__class__
    return (kind, _KINDS[kind].more(value)) if kind in _KINDS else kind


def parts_of(value: Any) -> dict[Any, Any] | None:
    """The parts of a container or instance by their names; `None` for a leaf."""
    kind = Holding if isinstance(value, Holding) else value.__class__
    if kind in _KINDS:
        return _KINDS[kind].parts(value)
    if kind is list or kind is tuple or (isinstance(value, tuple) and hasattr(value.__class__, "_fields")):
        return dict(enumerate(value))
    if kind is dict or kind is OrderedDict:
        return dict(value)
    if value is None:
        return {}
    if kind is Perhaps:
        return {"value": value.value, "has": value.has}
    return attributes_of(value) if is_taken_apart(value) else None


def is_taken_apart(value: Any) -> bool:
    """Whether a value is an instance whose attributes are all there is to it."""
    return is_object(value) and not isinstance(value, _WHOLE)


_WHOLE = (BaseException, *MUTABLE, tuple, str, bytes, int, float, complex, Enum, np.ma.MaskedArray)
"""Instances that are more than their attributes. (There is one object for each member of an enumeration.)"""


def attributes_of(thing: Any) -> dict[str, Any]:
    """The attributes of an instance, as staged code sees them."""
    session = current.session
    own = {**own_dict(thing), **own_slots(thing)}
    return own if session is None else {name: session.attribute(thing, name, value) for name, value in own.items()}


def _is_whole(value: Any) -> bool:
    """Whether an object is not taken apart although it has attributes."""
    return is_object(value) and flatten(value)[1] is LEAF


def leaves_as(structure: Structure, value: Any) -> list[Any] | None:
    """The leaves of a value, as those of a structure that takes more; `None` if it does not fit."""
    if value is UNDEFINED:
        return [UNDEFINED] * structure.num_leaves
    if is_one_of(structure):
        return _leaves_of_one(structure, value)
    own = parts_of(value)
    if structure is LEAF or own is None:
        return [value] if structure is LEAF and (own is None or _is_whole(value)) else None
    if kind_of(value) != structure.kind or tuple(own) != structure.keys:
        return None
    found = []
    for part, inside in zip(structure.parts, own.values(), strict=True):
        leaves_of_part = leaves_as(part, inside)
        if leaves_of_part is None:
            return None
        found += leaves_of_part
    return found


def is_one_of(structure: Structure) -> bool:
    return structure.kind.__class__ is tuple and structure.kind[0] is OneOf


def _leaves_of_one(structure: Structure, value: Any) -> list[Any] | None:
    """The leaves of a value that is one of several; `None` if it is none of these."""
    if is_reference(value) and code_of(value) in structure.kind[1]:  # also where it was made
        one: OneOf | None = referred(value)
    else:
        one = codes_of(value, running.state.capture, structure.kind[1])
    if one is None or not set(one.codes) <= set(structure.kind[1]):
        return None
    found = [one.which]
    for code, part in zip(structure.keys[1:], structure.parts[1:], strict=True):
        inside = leaves_as(part, one.values.get(code, UNDEFINED))
        if inside is None:
            return None
        found += inside
    return found


def codes_of(x: Any, capture: Any, beside: Sequence[int]) -> OneOf | None:
    """A thing as one of several, of which there may be only one; `None` if it cannot be.

    `beside` are the numbers of what it may be instead: numbers that may be None are no constants.
    """
    if x.__class__ is OneOf:
        return x
    if is_reference(x) and id(x) not in capture.created:
        return referred(x)
    kind = _value_kind(x)
    if is_constant(x, [capture]) and not (kind is not None and _holds_numbers(x) and _takes(kind, beside)):
        code = code_of(x)
        return OneOf(code, (code,), {})
    if kind is None:
        return None
    code = code_of(kind)
    return OneOf(code, (code,), {code: x})


def referred(x: Any) -> OneOf:
    """An object as the one thing that a name stands for."""
    return OneOf(code_of(x), (code_of(x),), {})


def is_reference(x: Any) -> bool:
    """Whether it is an object for which names stand by reference."""
    return refers() and (isinstance(x, MUTABLE) or is_taken_apart(x))


def hold_references(*lists: Sequence[Any]) -> bool:
    """Whether lists of one length hold objects for which names stand by reference."""
    if not refers() or len({len(items) for items in lists}) != 1 or not 0 < len(lists[0]) <= MOST:
        return False
    return all(x.__class__ is OneOf or is_taken_apart(x) for items in lists for x in items)


def codes_beside(x: Any) -> tuple[int, ...]:
    """The numbers of what something may be, if it is one of several or None."""
    return x.codes if x.__class__ is OneOf else (code_of(None),) if x is None else ()


def _takes(kind: ValueKind, beside: Sequence[int]) -> bool:
    return only_values(beside) or code_of(kind) in beside


def _holds_numbers(x: Any) -> bool:
    found = leaves(x)
    return bool(found) and all(map(is_number, found))


def _value_kind(x: Any) -> ValueKind | None:
    """What tells a value from those of other kinds, if it can be one of several."""
    if is_number(x):
        return ValueKind(Box, (len(shape_of(x)),))
    own = parts_of(x)
    if isinstance(x, MUTABLE) or x.__class__ in (Perhaps, Opened, PooledRow):
        return None
    return None if own is None else ValueKind(kind_of(x), tuple(own))


def joined(a: Structure, b: Structure, x: Any, y: Any, with_none: bool) -> Structure | None:
    """The structure that values of both fit into, if there is one; x and y are such values.

    What is None in one and not in the other is one of several things in it if `with_none`.
    """
    if a is LEAF and b is LEAF and (x is UNDEFINED or (is_number(x) and is_number(y)) or equal(x, y)):
        return LEAF
    if is_one_of(a) or is_one_of(b) or (_is_plain_constant(x) and _is_plain_constant(y)):
        return _one_of_both(a, b, x, y, with_none)
    if a is not LEAF and b is not LEAF and a.kind == b.kind and a.keys == b.keys:
        own = [parts_of(v) or dict.fromkeys(a.keys, UNDEFINED) for v in (x, y)]
        pairs = zip(a.parts, b.parts, a.keys, strict=True)
        inside = [joined(p, q, own[0][key], own[1][key], with_none) for p, q, key in pairs]
        return None if None in inside else Structure(a.kind, a.keys, tuple(inside))
    return _one_of_both(a, b, x, y, with_none) if with_none else None


def _is_plain_constant(x: Any) -> bool:
    return not is_number(x) and (is_constant(x, [running.state.capture]) or _is_known_reference(x))


def _is_known_reference(x: Any) -> bool:
    return is_reference(x) and id(x) not in running.state.capture.created


def _one_of_both(a: Structure, b: Structure, x: Any, y: Any, with_none: bool) -> Structure | None:
    """The structure of what is one of the things that fit into one or the other."""
    codes: set[int] = set()
    values: dict[int, Structure] = {}
    for structure, value, other, beside in ((a, x, b, y), (b, y, a, x)):
        if is_one_of(structure):
            codes.update(structure.kind[1])
            new = [(code, part, UNDEFINED) for code, part in zip(structure.keys[1:], structure.parts[1:], strict=True)]
        else:
            around = other.kind[1] if is_one_of(other) else codes_beside(beside)
            one = codes_of(value, running.state.capture, around)
            if one is None:
                return None
            codes.update(one.codes)
            new = [(code, flatten(inside)[1], inside) for code, inside in one.values.items()]
        for code, part, inside in new:
            found = joined(values[code], part, UNDEFINED, inside, with_none) if code in values else part
            if found is None:
                return None
            values[code] = found
    if len(codes) > MOST:
        return None
    return Structure((OneOf, tuple(sorted(codes))), ("which", *values), (LEAF, *values.values()))


def unflatten(structure: Structure, found: Any, note: Callable[[Any], Any] = lambda thing: thing) -> Any:
    """A value of that structure with these leaves; `note` is called with each container that is made."""
    return _unflatten(structure, iter(found), note)


def _unflatten(structure: Structure, found: Iterator, note: Callable[[Any], Any]) -> Any:
    if structure is LEAF:
        return next(found)
    parts = [_unflatten(part, found, note) for part in structure.parts]
    if is_one_of(structure):  # which may be a constant
        return rebuilt(structure.kind, structure.keys, parts)
    return note(rebuilt(structure.kind, structure.keys, parts))


def rebuilt(kind: Any, keys: tuple, parts: list[Any]) -> Any:
    """A container or instance of a class, with these parts."""
    if kind is type(None):
        return None
    if kind is list and len(parts) == 1 and parts[0].__class__ is PooledRow:
        parts[0].holder = parts
        return parts
    if kind is list or kind is tuple:
        return kind(parts)
    if kind is Perhaps:
        return Perhaps(*parts)
    if kind.__class__ is tuple:
        return _KINDS[kind[0]].made(kind[1], dict(zip(keys, parts, strict=True)))
    if issubclass(kind, tuple):
        return tuple.__new__(kind, parts)  # as `_make`, which classes with `_fields` need not have
    if issubclass(kind, dict):
        return kind(zip(keys, parts, strict=True))
    new = SimpleNamespace.__new__(kind) if issubclass(kind, SimpleNamespace) else object.__new__(kind)
    for name, part in zip(keys, parts, strict=True):
        object.__setattr__(new, name, part)
    if current.session is not None:
        current.session.made(new)
    return new


# ------------------------------------------------------------------------------------------------------------ changes


def described_slot(thing: Any, slot: Slot) -> str:
    """What a place is called in messages."""
    kind, key = slot
    if kind == "variable":
        return key or "a variable that functions share"
    owner = type(thing).__name__
    return f"attribute {key} of a {owner}" if kind == "attribute" else f"{kind} {key!r} of a {owner}"


def depth() -> int:
    """In how many blocks we are."""
    return len([t for t in running.state.traces if t.__class__ is Capture])


def stages() -> bool:
    """Whether a suite of this function is being staged: it may or may not run.

    A compiled function that another one calls is captured while the other is.
    """
    capture, session = running.state.capture, current.session
    return capture is not None and (depth() > 1 if session is None else capture is not session.top)


def about_to_change(thing: Any, slot: Slot | None = None) -> None:
    """Note that an object is changed, at a place or anywhere: in a suite that is staged, if it was there before."""
    session = current.session
    if session is not None and session.frozen.get(id(thing), (None,))[0] is thing and not is_outlived(thing):
        raise NeedsReferences(session.frozen[id(thing)][1], remedy="change a copy: make one before the branch or loop")
    note_change(thing, slot)


def note_change(thing: Any, slot: Slot | None = None) -> None:
    """The same for a change that branches have made, where it was asked whether they may."""
    capture = running.state.capture
    session = current.session
    if session is not None:
        session.effects.note_write(thing, slot, capture is not session.top)
    if capture is not None and capture.journal is not None:
        capture.journal.append((thing, content(thing)))
    if capture is None or not stages():
        return
    if id(thing) not in capture.objects and id(thing) not in capture.created:
        capture.objects[id(thing)] = (thing, content(thing))


RESUMING = frozenset(("send", "throw", "close", "__next__"))
"""and those that go on with an iterator."""
_LEFT = "an iterator or generator is used again, of which a loop that only the program can leave has used up some"


def about_to_leave(iterable: Any) -> None:
    """Only the program knows how much of an iterable is used up, which matters if that is an iterator."""
    if hasattr(iterable.__class__, "__next__") and current.session is not None:
        current.session.frozen[id(iterable)] = (iterable, _LEFT)


def about_to_iterate(thing: Any) -> Any:
    """Refuse to use up an iterator from outside of a suite that is staged: it may be that the suite does not run. And
    one from outside of the function, which would go on once, when it is compiled."""
    session = current.session
    if hasattr(thing.__class__, "__next__") and session is not None:
        frozen, why = session.frozen.get(id(thing), (None, ""))
        if frozen is thing:
            raise StagingError(why, remedy="make a list of it before, and use an index, which an attribute may hold")
    if hasattr(thing.__class__, "__next__"):
        about_to_go_on(thing, "an iterator or generator from outside is used up")
    return thing


def about_to_go_on(thing: Any, what: str) -> None:
    """Refuse to change what nobody can put back, in a suite that is staged: it runs once for all iterations."""
    if stages() and id(thing) not in running.state.capture.created:
        raise StagingError(
            f"{what} in a loop or branch that is staged",
            remedy="make a list of it before, and use an index, or iterate over it outside",
        )


def note_created(thing: Any) -> Any:
    """A list, dict, instance or iterator was just made."""
    if running.state.capture is not None:
        running.state.capture.note_created(thing)
    return thing


def freeze(thing: Any, why: str) -> Any:
    """Refuse changes of an object: it is not known which one it is."""
    if current.session is not None and (isinstance(thing, MUTABLE) or is_taken_apart(thing)):
        current.session.frozen[id(thing)] = (thing, why)
    return thing


def freeze_all(value: Any, why: str) -> None:
    """Refuse changes of all lists, dicts and instances that a value consists of."""
    for thing in containers_in(value):
        freeze(thing, why)


def containers_in(value: Any) -> Iterator[Any]:
    """The lists, dicts and instances that a value consists of."""
    if isinstance(value, MUTABLE) or is_taken_apart(value):
        yield value
    for part in (parts_of(value) or {}).values():
        yield from containers_in(part)


def stand_in(thing: Any, why: str | None = None) -> Any:
    """Note that an object was made which stands for one of several: nobody may ask which one it is, nor change it."""
    if current.session is not None and thing is not None and thing.__class__ not in (Perhaps, Opened, PooledRow, OneOf):
        current.session.chosen[id(thing)] = (thing, None, None, None)
    return thing if why is None else freeze(thing, why)


def all_made_in(capture: Capture, value: Any) -> bool:
    """Whether a suite has made all lists, dicts and instances that a value consists of: nobody outside holds one."""
    frozen: Any = () if current.session is None else current.session.frozen
    return all(id(thing) in capture.created and id(thing) not in frozen for thing in containers_in(value))


Contents = dict[int, tuple[Any, Content]]
"""Objects, by their ids, with what they hold."""


def contents(objects: Contents) -> Contents:
    """The same objects with what they hold now."""
    return {key: (thing, content(thing)) for key, (thing, _) in objects.items()}


def put_all(objects: Contents) -> None:
    for thing, held in objects.values():
        put(thing, held)


def held_elsewhere(before: Contents, now: Contents, keep: Sequence[Any]) -> set[int]:
    """Which of the objects that a suite has changed somebody holds who is not of the suite: the others were made in it.

    `before` and `now` are what the objects held before and after the suite, `keep` is what it has computed. The
    variables, and the objects themselves, must be as they were before the suite.
    """
    found: set[int] = set()
    for key in now:
        known = sum(x is now[key][0] for x in keep)
        known += sum(x is now[key][0] for _, slots in now.values() for x in slots.values())
        if sys.getrefcount(now[key][0]) - known > _WITHOUT_OTHERS:
            found.add(key)
    return found


@counts
def _references_without_others() -> int:
    """How many references to an object that nobody else holds are counted above."""
    before: Contents = {0: ([], {})}
    now = contents(before)
    return sys.getrefcount(now[0][0])


_WITHOUT_OTHERS = _references_without_others()


all_count(globals())
