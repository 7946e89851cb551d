"""What a loop carries from one iteration to the next: the variables that its suite binds, the arrays that it writes to.

Which these are, and their types, is found by running the suite again until nothing new turns up: a number may turn out
to become a float, an array that was only read may be written to further down. Variables are carried by value; which
arrays they stand for is looked at by `identity.py`.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wengert.box.box import Box
from wengert.box.writing import SETTLING, clone, settled
from wengert.capture.containers import (
    Structure,
    about_to_change,
    all_made_in,
    containers_in,
    contents,
    described_slot,
    flatten,
    freeze_all,
    held_elsewhere,
    hold_references,
    is_one_of,
    is_reference,
    is_taken_apart,
    joined,
    leaves,
    leaves_as,
    note_created,
    put_all,
    stand_in,
    unflatten,
)  # fmt: skip
from wengert.capture.growing import Grows
from wengert.capture.identity import Again, Identity, Key
from wengert.capture.objects import Slot, content, held_in, put
from wengert.capture.opened import is_open, stand_for_others
from wengert.capture.opening import as_one
from wengert.capture.references import NeedsReferences, refers
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.capture.values import (
    DtypeDiffers,
    FirstDiffers,
    assign,
    converted,
    described,
    equal,
    is_number,
    may_be_integer,
    note_either,
    note_mixed,
    widened,
)
from wengert.errors import StagingError
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.node import Type, Var
from wengert.ir.orders import order_now
from wengert.ir.symbol import Sym
from wengert.ops.op import Traced
from wengert.running import running
from wengert.strides import UNKNOWN

_TRIES = 24
"""So often a suite is captured until what is carried into it is what comes out; each time more is known of it."""


def _numeric(value: Any) -> bool:
    return any(is_number(leaf) for leaf in leaves(value))


class Variables(NamedTuple):
    """The variables of a suite: how to get and set them all, their names, which of them are written into, and those
    whose value nobody needs when an iteration is over (`lower.py`)."""

    get: Callable[[], tuple]
    set: Callable[[tuple], None]
    names: tuple
    stores: tuple = ()
    temporaries: tuple = ()


def cells_of(get: Callable) -> frozenset[int]:
    """The variables that a function gets, by their cells."""
    cells = getattr(get, "__closure__", None) or ()
    inner = [v.get for v in map(held_in, cells) if isinstance(v, Variables)]
    return frozenset(map(id, cells)).union(*map(cells_of, inner))


def forget_variables(capture: Capture, get: Callable) -> None:
    """Variables that a suite gets and sets by their names are none of the objects that it changes."""
    if capture.objects:
        for key in cells_of(get):
            capture.objects.pop(key, None)


class Carried:
    """What a loop carries from one iteration to the next: variables that are bound, and arrays that are written to."""

    def __init__(self, loop: Variables, is_rest: bool = False):
        self.loop = loop
        self.names = list(loop.names)
        self.tag = running.state.capture.tag
        self.may_not_run = True
        """Whether it may be that there is no iteration at all."""
        self.is_rest = is_rest
        """Whether the first iteration was taken out, so that what differs in it is no excuse."""
        self.slots: list[tuple[Any, Slot]] = []
        """Places in lists, dicts and instances that the loop changes: they are carried as if they were variables."""
        self.objects: dict[int, Any] = {}
        self.state = loop.get()
        self.bound: list[int] = []
        self.roots: dict[int, Any] = {}
        self.root_names: dict[int, str] = {}
        self.types: dict[Any, Type] = {}
        self.orders: dict[Key, Any] = {}
        """Orders in memory (`ir/orders.py`) that are not those of before the loop: an iteration changes them."""
        self.mixed: dict[Key, bool] = {}
        """Whether something may be an integer of Python's after an iteration."""
        self.made: dict[int, bool] = {}
        """Whether a list or an object that a variable stands for after an iteration was made in it."""
        self.before: dict[int, Any] = {}
        """What else a variable may stand for after the loop."""
        self.structures: dict[int, Structure] = {}
        self.opened: dict[Key, tuple[Any, Var]] = {}
        self.adopted: dict[int, Var] = {}
        self.identity = Identity()
        self.local = [k for k, name in enumerate(self.names) if name in loop.temporaries]
        self._new: list[tuple[Any, Slot, bool]] = []
        for k, (name, value) in enumerate(zip(self.names, self.state, strict=True)):
            if k in self.local:
                continue
            if name in loop.stores:
                if isinstance(value, Box) and (value.shape or value._view_of is not None):
                    self.root_names.setdefault(id(value), name)
                    self.add_root(value)
                    continue
            if is_number(value):
                self.bound.append(k)

    # ------------------------------------------------------------------------------- variables, and places in objects

    def get(self) -> tuple:
        """The values of the variables and places."""
        held = {key: content(thing) for key, thing in self.objects.items()}
        return (*self.loop.get(), *[held[id(thing)].get(slot, UNDEFINED) for thing, slot in self.slots])

    def set(self, values: Sequence[Any]) -> None:
        """Give the variables and places these values."""
        n = len(values) - len(self.slots)
        self.loop.set(tuple(values[:n]))
        new: dict[int, dict[Slot, Any]] = {key: {} for key in self.objects}
        for (thing, slot), value in zip(self.slots, values[n:], strict=True):
            if value is not UNDEFINED:
                new[id(thing)][slot] = value
        for key, thing in self.objects.items():
            put(thing, new[key])

    def _add_places(self) -> None:
        """Carry places that were found to change. Objects hold what they held before the loop."""
        for thing, slot, changes in self._new:
            self.objects[id(thing)] = thing
            self.slots.append((thing, slot))
            self.names.append(described_slot(thing, slot))
            value = content(thing).get(slot, UNDEFINED)
            self.state = (*self.state, value)
            if changes and is_number(value):
                self.bound.append(len(self.names) - 1)
        self._new = []

    def _look_for_places(self, capture: Capture, after: Sequence[Any]) -> None:
        """Note places in objects that the loop changes, and that it was not known to change."""
        if not capture.objects:
            return
        now = contents(capture.objects)
        self.set(self.state)
        put_all(capture.objects)
        held = held_elsewhere(capture.objects, now, after)
        put_all(now)
        self.loop.set(tuple(after[: len(self.loop.names)]))
        known = {(id(thing), slot) for thing, slot in self.slots}
        for key, (thing, before) in capture.objects.items():
            if key not in held:
                continue  # it was made in the loop
            slots = now[key][1]
            gone = [slot for slot in before if slot not in slots]
            more = [slot for slot in slots if slot not in before and slot[0] in ("item", "element")]
            if (grows := _grows(thing, before, slots)) is not None:
                found = [_grows(*capture.objects[other], now[other][1]) for other in now if other in held]
                grows.others = [other for other in found if other is not None and other.thing is not thing]
                raise grows
            if gone or more:
                raise StagingError(f"a {type(thing).__name__} becomes {'shorter' if gone else 'longer'} in a loop",
                                   remedy="fill an array that was made before instead")  # fmt: skip
            for slot in slots:
                if slot not in before:  # which the first iteration may have found out
                    raise FirstDiffers(f"{described_slot(thing, slot)} gets a value in a loop",
                                       remedy="give it one before the loop")  # fmt: skip
            for slot, value in slots.items():
                if (key, slot) not in known:  # a number that stays what it is remains one that Python knows
                    self._new.append((thing, slot, value is not before[slot]))

    def _perhaps(self, k: int, now: Any) -> Any:
        """The value of a variable that gets one in the loop: afterwards it has none if the loop does not run."""
        if not self.may_not_run or self.names[k].startswith("_wengert") or now.__class__ is Perhaps:
            return now
        if k >= len(self.loop.names):
            raise StagingError(f"{self.names[k]} gets a value in a loop that may not run at all",
                               remedy="give it one before the loop")  # fmt: skip
        return Perhaps(now, True)

    def add_root(self, box: Any) -> None:
        """Carry an array that is written to."""
        root = box if box._view_of is None else box._view_of.root
        if not root._is_cell or root._value.ndim:
            self.roots[id(root)] = root

    def open(self, capture: Capture) -> list[Sym]:
        """Put parameters of a block in place of what is carried."""
        values = list(self.state)
        formals: list[Sym] = []
        self.opened.clear()
        for k in self.bound:
            found, structure = self.leaves(k)
            new: list[Any] = []
            for j, leaf in enumerate(found):
                if leaf is not UNDEFINED and not is_number(leaf):
                    new.append(leaf)
                    continue
                type = self.types.get((k, j)) or type_of_value(leaf)
                symbol = capture.formal(type, hint=self._hint(k))
                if len(type.shape) > 1:
                    symbol._node.order = self._order(k, j, leaf)
                note_either(symbol, leaf, symbol)
                symbol._node.mixed = type.dtype.kind == "f" and not type.shape and may_be_integer(leaf)
                formals.append(symbol)
                new.append(clone(symbol))
                if type.shape:
                    self.opened[k, j] = (new[-1], symbol._node)
            values[k] = unflatten(structure, new, functools.partial(stand_in, why=self._is_changed(k)))
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            formals.append(clone(capture.adopt(root, self.root_names.get(id(root)))))
            self.adopted[id(root)] = formals[-1]._node
        for key, thing in self.objects.items():
            capture.objects[key] = (thing, content(thing))
        self.set(tuple(values))
        return formals + self.identity.open(capture)

    def _order(self, k: int, j: int, before: Any) -> Any:
        """How what is carried lies in memory when an iteration begins."""
        return self.orders[k, j] if (k, j) in self.orders else UNKNOWN if before is UNDEFINED else order_now(before)

    def versions(self, capture: Capture) -> list[Any]:
        """What tells whether arrays and objects from outside were changed in a block."""
        arrays = [id(getattr(settled(root), "_node", root)) for root, _ in capture.written.values()]
        objects = [[id(x) for x in content(thing).values()] for thing, _ in capture.objects.values()]
        heads = [id(settled(box)._node) for box, _ in self.opened.values()]
        return [arrays, objects, heads]

    def _hint(self, k: int) -> str | None:
        name = self.names[k]
        return None if name.startswith("_wengert") or k >= len(self.loop.names) else name

    def _is_changed(self, k: int) -> str:
        return f"{self.names[k]} is changed in a loop that also lets it stand for another object"

    def leaves(self, k: int) -> tuple[list[Any], Any]:
        structure = self.structures.get(k)
        if structure is None:
            return flatten(self.state[k])
        found = leaves_as(structure, self.state[k])
        if found is None:
            raise StagingError(f"{self.names[k]} is of another kind before a loop than in it",
                               remedy="let it be of one kind, with the same parts")  # fmt: skip
        return found, structure

    def leaves_at_end(self, k: int, now: Any) -> list[Any]:
        """The leaves of a variable's value after an iteration, in the same places."""
        found = leaves_as(self.leaves(k)[1], now)
        return leaves(now) if found is None else found

    def _join(self, k: int, structure: Structure, now: Any) -> bool:
        """Let a variable be what it is before the loop and after an iteration: None, perhaps."""
        common = joined(structure, flatten(now)[1], self.state[k], now, self.is_rest)
        if common is None or common == structure:
            return False
        before, after = leaves_as(common, self.state[k]), leaves_as(common, now)
        if before is None or after is None:
            return False
        self.structures[k] = common
        self.types = {key: type for key, type in self.types.items() if key[0] != k}
        for j, (old, new) in enumerate(zip(before, after, strict=True)):
            if old is UNDEFINED and not is_number(new):
                raise StagingError(
                    f"{self.names[k]} becomes {described(now)} in a loop", remedy="use numbers and arrays"
                )
            if old is UNDEFINED:
                self.types[k, j] = type_of_value(new)
        return True

    def close(self, capture: Capture) -> list[Any]:
        """What is carried after an iteration; raise `Again` if more has to be carried than was known."""
        forget_variables(capture, self.loop.get)
        after = self.get()
        self._look_for_places(capture, after)
        again = capture.restart or bool(self._new)
        again = self._bind_more(after) or again
        for root, _ in capture.written.values():
            if id(root) not in self.roots:
                self.roots[id(root)] = root
                again = True
        if again:
            raise Again
        outputs: list[Any] = []
        for k in self.bound:
            again = self._close_variable(k, capture, after[k], outputs) or again
        if again:
            raise Again
        for root in self.roots.values():
            outputs.append((settled(root) if not isinstance(settled(root), Traced) else clone(settled(root)), None))
        return outputs

    def _bind_more(self, after: Sequence[Any]) -> bool:
        """Carry variables that turn out to be bound in the loop; whether there are any."""
        count = len(self.bound)
        for k, (before, now) in enumerate(zip(self.state, after, strict=True)):
            if k in self.local or k in self.bound or now is before:
                continue
            if now is UNDEFINED or (not _numeric(now) and not _numeric(before) and equal(before, now)):
                continue
            if before is UNDEFINED:
                found, structure = flatten(self._perhaps(k, now))
                if not found or not all(is_number(leaf) for leaf in found):
                    self._is_lost(k, now)
                    self.local.append(k)  # cannot be used after the loop
                    continue
                self.structures[k] = structure
                self.types.update({(k, j): type_of_value(leaf) for j, leaf in enumerate(found)})
            elif is_reference(before) and is_reference(now):
                self._join(k, flatten(before)[1], now)  # unless the loop has made it
            elif not _numeric(now) and not self._join(k, flatten(before)[1], now):
                raise FirstDiffers(f"{self.names[k]} becomes {described(now)} in a loop",
                                   remedy="use numbers and arrays")  # fmt: skip
            self.bound.append(k)
        return len(self.bound) > count

    def _close_variable(self, k: int, capture: Capture, after: Any, outputs: list[Any]) -> bool:
        """Add the leaves that a variable has after an iteration to what is carried; whether they differ from what was
        known of them."""
        self._refuse_two_names(k, after)
        found, structure = self.leaves(k)
        before, now = self.state[k], after
        if now.__class__ is not Perhaps and (before.__class__ is Perhaps or before is UNDEFINED):
            now = Perhaps(now, True) if before.__class__ is Perhaps else self._perhaps(k, now)
        self.made[k] = all_made_in(capture, now)
        if not self.made[k]:
            self.before[k] = now
        now = as_one(now)
        if is_reference(before) and is_reference(now) and not is_one_of(structure) and self._join(k, structure, now):
            return True
        new = leaves_as(structure, now)
        if new is None and (self.is_rest or is_open(now)) and before.__class__ is now.__class__ is list:
            raise Grows(before, len(before), list(now))
        if new is None and self._join(k, structure, now):
            return True
        if new is None:
            raise FirstDiffers(
                f"{self.names[k]} is {described(before)} before a loop and {described(after)} after an iteration",
                remedy="let it be of one kind, with the same number of items",
            )
        again = False
        for j, (old, value) in enumerate(zip(found, new, strict=True)):
            if old is not UNDEFINED and not is_number(old):
                if equal(old, value):
                    continue
                if self._join(k, structure, now):
                    return True
                raise FirstDiffers(f"{self.names[k]} changes in a loop, and holds {described(old)}",
                                   remedy="use numbers and arrays")  # fmt: skip
            known = self.types.get((k, j)) or type_of_value(old)
            wide = known if value is UNDEFINED else widened(known, type_of_value(value), self.names[k], True)
            if wide != known:
                if wide.dtype != known.dtype and not known.weak and old is not UNDEFINED:
                    self._refuse_dtype(k, known, wide)
                self.types[(k, j)] = wide
                again = True
            order = self._order(k, j, old)
            if order != UNKNOWN and value is not UNDEFINED and order_now(value) != order:
                self.orders[k, j] = UNKNOWN
                again = True
            outputs.append((value, wide))
            self.mixed[k, j] = may_be_integer(value)
        return again

    def _refuse_two_names(self, k: int, now: Any) -> None:
        """Refuse an object that the loop changes, and that a variable stands for at the beginning of an iteration."""
        if self._is_reference(k):
            return
        for value, kind in ((now, NeedsReferences), (self.state[k], FirstDiffers)):
            if any(id(part) in self.objects for part in containers_in(value)):
                raise kind(f"a loop changes an object that {self.names[k]} may stand for", remedy="change a copy")

    def _is_reference(self, k: int) -> bool:
        return refers() and k in self.structures and is_one_of(self.structures[k])

    def _refuse_dtype(self, k: int, before: Type, after: Type) -> None:
        """What has another dtype after an iteration has that of before if there is none."""
        name = self.names[k]
        raise DtypeDiffers(
            f"{name} is of type {before.dtype} before a loop and of type {after.dtype} after an iteration, and whether "
            "there is one is known only when the compiled program runs",
            remedy=f"convert it before the loop, {name} = {name}.astype(np.{after.dtype}), or pass the number of "
            "iterations as a static argument (static_argnums)",
        )

    def starts(self) -> list[Any]:
        """What is carried before the first iteration."""
        values: list[Any] = []
        for k in self.bound:
            for j, leaf in enumerate(self.leaves(k)[0]):
                if leaf is UNDEFINED or is_number(leaf):
                    values.append(converted(leaf, self.types.get((k, j)) or type_of_value(leaf)))
        return values + [settled(root) for root in self.roots.values()] + self.identity.starts()

    def finish(self, results: Sequence[Any], count: Any) -> None:
        """Bind what is carried after the last iteration, the `count`-th. If that cannot be done, the loop has not been:
        its iterations may be done in another way."""
        before = [settled(root) for root in self.roots.values()]
        try:
            self._finish(results, count)
        except Exception:
            for root, content_before in zip(self.roots.values(), before, strict=True):
                assign(root, content_before)
            self.set(self.state)
            raise

    def _finish(self, results: Sequence[Any], count: Any) -> None:
        remaining = iter([SETTLING.wrap(x) for x in results])  # (plain arrays, if the loop has plain operands only)
        values = list(self.state)
        found: dict[Key, Any] = {}
        for k in self.bound:
            for j, leaf in enumerate(self.leaves(k)[0]):
                found[k, j] = next(remaining) if leaf is UNDEFINED or is_number(leaf) else leaf
                if self.may_not_run and is_number(leaf):
                    note_either(found[k, j], leaf, found[k, j])
                if is_number(found[k, j]):
                    before = self.may_not_run and is_number(leaf) and may_be_integer(leaf)
                    note_mixed(found[k, j], before or self.mixed.get((k, j), False))
        for k in self.local:
            values[k] = UNDEFINED
        for root in self.roots.values():
            assign(root, next(remaining))
        self.identity.settle(self, found, list(remaining), count)
        for k in self.bound:
            old, structure = self.leaves(k)
            given = functools.partial(self._given, k)
            values[k] = unflatten(structure, [found[k, j] for j in range(len(old))], given)
        for thing in self.objects.values():
            about_to_change(thing)
        self.set(tuple(values))
        for k in self.bound:
            if not self._is_reference(k) and (self.may_not_run or not self.made.get(k, True)):
                why = f"an object is changed that {self.names[k]} may have come to stand for in a loop"
                for value in (self.state[k], self.before.get(k)):
                    freeze_all(value, why)

    def _given(self, k: int, thing: Any) -> Any:
        """A container that a variable stands for after the loop: a new one, if there was an iteration that made it."""
        note_created(thing)
        if self.made.get(k, True) and not self.may_not_run:
            return stand_in(thing) if is_taken_apart(thing) else thing
        why = f"a {type(thing).__name__} is changed that is a new one or not, depending on whether a loop has run"
        if not self.made.get(k, True):
            why = f"a {type(thing).__name__} is changed that {self.names[k]} has come to stand for in a loop"
        return stand_in(thing, why)

    def _is_lost(self, k: int, now: Any) -> None:
        """Refuse what gets into an object in a loop, and cannot be carried."""
        if k >= len(self.loop.names):
            raise StagingError(f"{self.names[k]} becomes {described(now)} in a loop", remedy="set it before the loop")

    def run(self, function: Callable[[Capture], Any]) -> tuple[Capture, list[Any], Any]:
        """Capture a suite, as often as needed: the block, what is carried after it, and what the function returns."""
        for _ in range(_TRIES):
            capture = Capture(varying=True)
            try:
                with capturing(capture):
                    capture.links.states.append((self.tag, self.state))
                    try:
                        result = function(capture)
                    finally:
                        capture.links.states.pop()
                    try:
                        outputs = self.close(capture)
                        outputs += self.identity.look(self, capture, self.get())  # (not above, where names hold arrays)
                        ends = [v if t is None else converted(v, t) for v, t in outputs]
                        return capture, [capture.operand(v) for v in ends], result
                    except Again:
                        continue
            finally:
                capture.restore()
                capture.written.clear()  # a capture lives on in its symbols, and must not hold these arrays
                put_all(capture.objects)
                capture.objects.clear()
                self.set(self.state)
                self._add_places()
        raise StagingError("what a loop carries changes its shape from iteration to iteration",
                           remedy="make arrays of their final shape before the loop")  # fmt: skip


def _grows(thing: Any, before: dict[Slot, Any], after: dict[Slot, Any]) -> Grows | None:
    """Whether a list or deque has another length, or other kinds of items, after an iteration."""
    if thing.__class__ not in (list, deque):
        return None
    first, items = ([v for (kind, _), v in all.items() if kind == "item"] for all in (before, after))
    is_other = stand_for_others(first, items) and not hold_references(first, items)
    return Grows(thing, len(first), items) if is_other else None
