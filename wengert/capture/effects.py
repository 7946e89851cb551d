"""What a function changes outside while it is captured: containers, objects and variables of Python.

A compiled program writes to arrays. If the function also binds a global, sets an attribute of an object from outside or
changes a list from outside, that would happen when it is captured, with symbols, and never again. So what is there
before is noted, put back afterwards, and a difference is refused, except what is kept for later (`kept.py`).

A place that is written to without being changed is guarded: it must hold at each call what it held then.
"""

from __future__ import annotations

import functools
import threading
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Container, Mapping
from contextvars import Context, ContextVar
from types import CellType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.box.contents import in_cell
from wengert.box.writing import become, clone, make_views_stale, plain, settled
from wengert.capture.objects import content, put
from wengert.errors import StagingError, user_location
from wengert.ops.op import Traced
from wengert.types import SCALARS, own_dict

MISSING = object()
USED_UP_ONCE = "a compiled function uses up an iterator from outside, which would happen only once, when it is compiled"
OWN = "__wengert_"


class Place(NamedTuple):
    """Something from outside that can be changed, with what it held before."""

    thing: Any
    what: str
    get: Callable[[], dict]
    put: Callable[[dict], None]
    before: dict
    is_compared: bool = False
    """Whether all that it holds is part of the program, and compared at each call."""


class Change(NamedTuple):
    """A place that holds something else now."""

    key: Any
    place: Place
    now: dict
    is_of_arrays: bool
    """Whether only arrays from outside are written to: `self.w += 1` binds the array that is there."""


class Effects:
    """Things from outside, with what they were like before."""

    def __init__(self) -> None:
        self._noted: dict[Any, Place] = {}
        self._written: dict[Any, set] = {}
        """Which of them were written to: their slots, or everything."""
        self.left: set[tuple[Any, Any]] = set()
        """Which slots get something new at each call (`left.py`)."""
        self.logs: set[Any] = set()
        """Lists that get something at each call that does not depend on the arguments (`kept.py`)."""
        self.perhaps: set[int] = set()
        """Things that are changed in some calls only."""
        self._lines: dict[Any, str] = {}
        """Where in the user's source that was."""

    def _note(self, key: Any, thing: Any, what: str, get: Callable[[], dict], put: Callable[[dict], None],
              is_compared: bool = False) -> None:  # fmt: skip
        if key not in self._noted:
            self._noted[key] = Place(thing, what, get, put, get(), is_compared)

    def note_list(self, thing: list) -> None:
        def put(before: dict) -> None:
            thing[:] = before.values()

        self._note(id(thing), thing, "a list", lambda: dict(enumerate(thing)), put)

    def note_dict(self, thing: dict) -> None:
        self._note(id(thing), thing, "a dict", lambda: dict(thing), lambda before: _refill(thing, before))

    def held_before(self, thing: Any) -> dict | None:
        """What a list or dict held before the function ran, by its places, if it was noted."""
        place = self._noted.get(id(thing)) if thing.__class__ is list or isinstance(thing, dict) else None
        return None if place is None else place.before

    def note_object(self, thing: Any) -> None:
        self._note(id(thing), thing, f"an attribute of a {type(thing).__name__}", lambda: content(thing),
                   lambda before: put(thing, before))  # fmt: skip

    def note_container(self, thing: Any) -> None:
        """A container other than a plain list, tuple or dict."""
        name = type(thing).__name__
        what = f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
        if isinstance(thing, (deque, dict, set)):
            put_ = functools.partial(put, thing)
            self._note(id(thing), thing, what, lambda: content(thing), put_, not own_dict(thing))
        maps = thing.maps if isinstance(thing, ChainMap) else ()
        for part in [thing.data] if isinstance(thing, (UserDict, UserList)) else maps:
            if isinstance(part, (list, dict)):
                self._note(id(part), part, what, functools.partial(content, part), functools.partial(put, part))

    def note_function(self, thing: FunctionType) -> None:
        """The attributes of a function, but for those that are ours."""

        def get() -> dict:
            return {slot: value for slot, value in content(thing).items() if not slot[1].startswith(OWN)}

        def put_back(before: dict) -> None:
            put(thing, {**{slot: value for slot, value in content(thing).items() if slot[1].startswith(OWN)}, **before})

        self._note(id(thing), thing, "an attribute of a function", get, put_back)

    def note_objects(self, thing: np.ndarray) -> None:
        """An array of objects."""
        flat = thing.reshape(-1) if thing.flags.c_contiguous else thing.flat

        def put(before: dict) -> None:
            for k, item in before.items():
                flat[k] = item

        self._note(id(thing), thing, "an array of objects", lambda: dict(enumerate(thing.flat)), put)

    def note_own_data(self, thing: threading.local) -> None:
        """What a thread has of its own."""
        own = vars(thing)
        self._note(id(thing), thing, "a threading.local", lambda: dict(own), functools.partial(_refill, own))

    def note_context(self, variable: ContextVar) -> None:
        def put(before: dict) -> None:
            value = before["value"]
            if value is MISSING:  # then it has its default again: only who has set it could unset it
                value = Context().run(_value_of, variable)
            variable.set(value)

        what = f"the context variable {variable.name}"
        self._note(id(variable), variable, what, lambda: {"value": variable.get(MISSING)}, put)

    def note_array(self, thing: np.ndarray) -> None:
        def put(before: dict) -> None:
            thing[...] = before["content"]

        kept = thing.copy()

        def get() -> dict:
            return {"content": kept if thing.tobytes() == kept.tobytes() else thing}

        if thing.flags.writeable and thing.dtype.kind in "biufc":
            self._note(id(thing), thing, "an array", get, put)

    def note_box(self, thing: Any) -> None:
        """An array that is traced outside; while its value is held here it is not written in place."""
        while thing._view_of is not None:
            thing = thing._view_of.root

        def put(before: dict) -> None:
            become(thing, before["kept"])
            make_views_stale(thing)

        held = settled(thing)
        kept = clone(held) if isinstance(held, Traced) else held

        def get() -> dict:
            now = settled(thing)
            if not isinstance(now, Traced):
                return {"kept": now}
            same = now.__class__ is kept.__class__ and all(getattr(now, s) is getattr(kept, s) for s in now._state)  # type: ignore[attr-defined]
            return {"kept": kept if same else now}

        self._note(id(thing), thing, "an array", get, put)

    def note_cell(self, cell: CellType, name: str, is_bound: bool = False) -> None:
        def get() -> dict:
            held = in_cell(cell, MISSING)
            return {} if held is MISSING else {name: held}

        def put(before: dict) -> None:
            if name in before:
                cell.cell_contents = before[name]

        self._note(id(cell), cell, f"the variable {name}", get, put)
        if is_bound:
            self._written.setdefault(id(cell), {name})

    def note_global(self, namespace: dict, name: str) -> None:
        def put(before: dict) -> None:
            namespace.pop(name, None)
            namespace.update(before)

        self._note((id(namespace), name), namespace, f"the global variable {name}",
                   lambda: _entry(namespace, name), put)  # fmt: skip
        self._written.setdefault((id(namespace), name), {name})

    def arrays(self) -> list[np.ndarray]:
        """What the arrays among them hold now."""
        return [np.array(plain(thing)) for thing, what, *_ in self._noted.values() if what == "an array"]

    def note_attribute(self, owner: type | ModuleType, name: str) -> None:
        """An attribute of a class, or of a module, that is about to be set or deleted."""
        own = vars(owner)

        def put(before: dict) -> None:
            if name in before:
                setattr(owner, name, before[name])
            elif name in own:
                delattr(owner, name)

        self._note(
            (id(owner), name), owner, f"the attribute {name} of {owner.__name__}", lambda: _entry(own, name), put
        )
        self._written.setdefault((id(owner), name), {name})

    def note_write(self, thing: Any, slot: Any = None, perhaps: bool = False) -> None:
        """A thing is about to be changed: at a place in it, or anywhere; `perhaps`, if data say so."""
        if perhaps:
            self.perhaps.add(id(thing))
        if id(thing) in self._noted:
            self._written.setdefault(id(thing), set()).add(MISSING if slot is None else slot)
            self._lines.setdefault(id(thing), user_location())

    def adopt(self, key: Any, place: Place, slots: tuple) -> None:
        """A place that a program which was captured before is about to change."""
        if key not in self._noted:
            self._noted[key] = place._replace(before=place.get())
        self._written.setdefault(key, set()).update(slots)

    def changes(self, stands_for: Callable[[Any], Any]) -> list[Change]:
        """What is not as it was before. `stands_for(x)` is what stands for x in the program."""
        found = []
        for key, place in self._noted.items():
            now, before = place.get(), place.before
            if now.keys() == before.keys() and all(now[k] is before[k] for k in now):
                continue
            same = now.keys() == before.keys() and all(
                now[k] is before[k] or now[k] is stands_for(before[k]) for k in now
            )
            found.append(Change(key, place, now, same))
        return found

    def undo(self, stands_for: Callable[[Any], Any] = lambda x: x) -> StagingError | None:
        """Put back what was there; the error for what was changed."""
        changed = None
        for change in self.changes(stands_for):
            change.place.put(change.place.before)
            changed = changed if change.is_of_arrays else self.refused(change)
        return changed

    def refused(self, change: Change) -> StagingError:
        """The error for a change, with the line that made it, as far as that is known."""
        what, before, now = change.place.what, change.place.before, change.now
        if what.startswith("an attribute of"):
            names = [k for k in (*now, *before) if now.get(k, MISSING) is not before.get(k, MISSING)]
            name = names[0][-1] if names and isinstance(names[0], tuple) else None  # ("attribute", name)
            what = what if name is None else f"the attribute {name} of {what.removeprefix('an attribute of ')}"
        return refuse(what, self._lines.get(change.key))

    def read_later(self, reached: Container[Any], names: Container[str]) -> StagingError | None:
        """The error if something was written to that functions reach which are called when the program runs: an
        attribute whose name they mention, or anything else."""
        for key, slots in self._written.items():
            if key in reached and any(slot.__class__ is not tuple or slot[-1] in names for slot in slots):
                return read_later(self._noted[key].what, self._lines.get(key))
        return None

    def guards(self) -> list[PlaceGuard]:
        """Guards for places that were written to, and hold what they held before."""
        found = []
        for key, slots in self._written.items():
            place = self._noted[key]
            before = place.before
            if MISSING not in slots:
                before = {slot: before.get(slot, MISSING) for slot in slots}
            before = {slot: value for slot, value in before.items() if (key, slot) not in self.left}
            found.append(PlaceGuard(place.get, before, place.before.keys() if MISSING in slots else None))
        return found


class PlaceGuard(NamedTuple):
    """A place that the function writes to must hold what it held: then writing it changes nothing."""

    path: Callable[[], dict]
    before: dict
    keys: Any
    """Of all that it held, if nothing may have come or gone."""

    def holds(self) -> bool:
        now = self.path()
        if self.keys is not None and now.keys() != self.keys:
            return False
        for slot, value in self.before.items():
            found = now.get(slot, MISSING)
            if found is not value and not (
                found.__class__ is value.__class__ and value.__class__ in COMPARED and found == value
            ):
                return False
        return True


COMPARED = frozenset((*SCALARS, str, bytes))


def refuse(what: str, where: str | None = None) -> StagingError:
    """The error for a change outside."""
    return StagingError(
        f"a compiled function changes {what} from outside, which would happen only once",
        remedy="return the new value and assign it where the function is called, or keep it in an array",
        where=where,
    )


def read_later(what: str, where: str | None = None) -> StagingError:
    """The error for a change outside that a solver would see too early or too late."""
    return StagingError(
        f"a compiled function changes {what} from outside, which a function reads that it gives to a solver or an "
        "integrator: this one is called when all changes have been made",
        remedy="read what it needs into a variable before (k = table[0]), and use that in the function, or args=",
        where=where,
    )


def _entry(names: Mapping[str, Any], name: str) -> dict:
    return {name: names[name]} if name in names else {}


def _refill(thing: dict, before: dict) -> None:
    thing.clear()
    thing.update(before)


def _value_of(variable: ContextVar) -> Any:
    try:
        return variable.get()
    except LookupError:
        return None
