"""One capture of a whole function: what it takes from outside besides its arguments.

Arrays that the function finds in globals, closures, attributes and containers are inputs of the program: they are
fetched again at each call, and written back if the program writes to them. Numbers and strings that it finds there,
and small arrays of integers, which often say how a program is to be built, are part of the program; `Guard`s compare
them at each call, so that nothing is ever stale.

Of a container only those items count that the function reads by an index or by `get` (`params["rate"]`), of a named
tuple its fields too, also by another name (`only_read.py`) and in functions to which it is passed (`reading.py`); if it
does anything else with it (takes its length, goes through it), all that is in it does.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import itertools
import os
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from contextvars import ContextVar
from io import IOBase
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from wengert.box.array_classes import Held, can_hold, held_around
from wengert.box.box import Box
from wengert.box.subclasses import base_array, means_something_else, refusal
from wengert.capture.behaviour import Behaviour, BehaviourGuard, methods_among
from wengert.capture.classes import followed, meet_again
from wengert.capture.deep import EndlessRecursion, frames_allowed
from wengert.capture.effects import USED_UP_ONCE, Effects
from wengert.capture.guards import (
    PLAIN_NUMBERS,
    AnyGuard,
    ArrayGuard,
    ContentsGuard,
    FunctionGuard,
    Guard,
    IdentityGuard,
    NumbersGuard,
    Path,
    has_contents,
    has_fields,
    holds_parts,
    is_number,
    itself,
    place_of,
)
from wengert.capture.instrument import STAGED, is_user_code
from wengert.capture.kinds import (
    class_sharing,
    is_method_of_array,
    is_object,
    is_of_libraries,
    is_of_user,
    refuse_iterator,
)
from wengert.capture.objects import MUTABLE, Global, content, held_in
from wengert.capture.of_code import names_in
from wengert.capture.paths import (
    attribute_at,
    base_array_at,
    contains,
    content_of,
    form_at,
    global_at,
    is_at_both,
    item_at,
    keys_at,
    memory_at,
    part_at,
    path_to,
)
from wengert.capture.reading import containers_only_read
from wengert.capture.undefined import UNDEFINED
from wengert.control.derived import all_hold
from wengert.errors import Signal
from wengert.ir.build import Capture, type_of_value
from wengert.ir.node import Const, Var
from wengert.ir.symbol import Sym
from wengert.ops.library import is_foreign
from wengert.running import running
from wengert.strides import array_order
from wengert.types import own_dict

_ALL = object()
_NUMBERS = (int, float, complex, bool, str, bytes, type(None), np.generic)


SMALL = 4096
"""Arrays of integers with at most so many elements are part of the program."""


class WrittenTo(Signal):
    """An array that was taken for a constant is written to: it has to be an input."""


class ValuesDecide(Signal):
    """The values of some arguments (by their places) decide about types: they have to be part of the program."""

    def __init__(self, places: set[int]):
        self.places = places


class Session:
    """See the module's text. `variable` are arrays (their ids) that are inputs although small and of integers, `held`
    arrays that are part of the program although they are not."""

    def __init__(self, top: Capture, variable: set[int], held: Container[int] = (),
                 opened: dict[tuple[int, Any], Any] | None = None):  # fmt: skip
        self.variable, self.held = variable, held
        self.opened = {} if opened is None else opened
        """Attributes, and items of lists and dicts, whose numbers or arrays the function changes, with what they are
        in: they are inputs (`left.py`)."""
        self.top = top
        self.guards: list[AnyGuard] = []
        self.notes: list[tuple[str, str]] = []
        """What was decided while the function was captured, for people who ask: an operator, and what it chose."""
        self.paths: dict[int, tuple[Any, Path]] = {}
        """Arrays that come from outside, and containers and objects in which there may be some: how to fetch them."""
        self.inputs: list[tuple[Any, Path, Var]] = []
        """Arrays that are inputs besides the arguments, with the box that stands for each."""
        self.arguments: list[Any] = []
        self.formals: Sequence[Var] = ()
        """The variables of the arguments."""
        self.values: Sequence[Any] = ()
        """The arguments of the call for which the program is captured."""
        self.read_values: dict[int, np.ndarray] = {}
        """Those whose values were read: the program is for such values only (`hold_to_value`)."""
        self.effects = Effects()
        self.frozen: dict[int, tuple[Any, str]] = {}
        """Lists, dicts, instances and counts that must not be changed, and why (`containers.py`)."""
        self.chosen: dict[int, tuple[Any, Any, Any, Any]] = {}
        """Lists, dicts and instances that stand for one of several, as data say: the condition, and the two of which
        they are one (`identified.py`); nothing if that is not known (`stand_in` in `containers.py`)."""
        self.standing: dict[int, tuple[Any, list[Any]]] = {}
        """Objects, and what may stand for them (`outlived.py`)."""
        self.orders: dict[int, tuple[Any, list[Any]]] = {}
        """Those that data have put into an order, or that came out of that, with both (`ordering.py`)."""
        self.gone: dict[int, Any] = {}
        """Those that nobody holds any more."""
        self.constants: list[Any] = [] if current.session is None else current.session.constants
        """Texts, functions and objects that data choose among, by their numbers (`one_of.py`)."""
        self.answers: dict[int, tuple[Any, Any]] = {}
        """Truth values of the program that say which of them something is, and what they say."""
        self.facts: list[tuple[Any, bool]] = []
        """Which of these answers are yes, or no, in the branches that are being captured."""
        self.grown: dict[int, tuple[list, tuple, Any]] = {}
        """Lists that have grown in a loop, with the items they held then, and the array of these (`growing.py`)."""
        self.closed: dict[int, tuple[list, tuple, Any]] = {}
        """Lists that were open, with the items they hold since, and what stood for these (`placed.py`)."""
        self.pools: list[Any] = []
        """Arrays in which items of lists are (`opening.py`)."""
        self.assumed: Any = None
        self.tables: set[str] = set() if current.session is None else set(current.session.tables)
        """Where dicts are made that have keys which only the program knows; and where others were made."""
        self.dicts: dict[int, tuple[Any, str]] = {}
        """Which branches are taken, by assumption (`assuming.py`); None if nothing is assumed."""
        self.deepest: int | None = None
        """How many calls of one function may be under way; with more the program raises, if it gets there."""
        self.refers: bool = current.session is not None and current.session.refers
        """Whether names stand for objects by reference (`references.py`)."""
        self.machines: set[Any] = set() if current.session is None else current.session.machines
        """The code of functions that call themselves until data say that it is enough (`recursing.py`)."""
        self.code: Any = None
        """The code that captures the function."""
        self.branches = 0
        """How many branches have been staged since that is so."""
        self.attempts: list[Any] = []
        """The `try` statements whose suites are running, from the outermost on (`exceptions.py`)."""
        self.raising: set[Any] = set()
        """The code of loops in which something may be raised that is caught outside (`leaving.py`)."""
        self.one_by_one: set[Any] = set()
        """The code of `while` loops whose first iterations need not be tried out (`staged_loops.py`)."""
        self.counters: dict[Var, int] = {} if current.session is None else current.session.counters
        """Counters of loops, and how many iterations these have at most."""
        self.unrolls: bool = current.session is not None and current.session.unrolls
        """Whether loops are unrolled so that lengths are known of lists that grow in them, if that is possible, which
        is noted (`counters.py`)."""
        self.could_unroll = False
        self._inside: dict[int, Any] = {}
        self._uses: dict[int, list[Any]] = {}
        """Containers from outside that the function got hold of, and how often other than to read an item."""
        self.passed: list[Any] = []
        """Containers that are arguments of calls whose arguments are being computed."""
        self._under_way: int = 0 if current.session is None else current.session._under_way
        """How many calls of users' functions are under way."""
        self._is_inside = current.session is not None
        self._read: set[tuple[int, Any]] = set()
        self._held: list[np.ndarray] = []
        """Arrays in containers of which all was read."""
        self._boxes: dict[int, Any] = {}
        self._of_derived_classes: dict[int, Any] = {}
        self._numbers: dict[tuple[int, Any], Any] = {}
        self._constants: dict[int, np.ndarray] = {}
        self._originals: dict[int, np.ndarray] = {}
        self._entered: set[int] = set()
        self._functions: list[FunctionType] = []
        """Users' functions that were called."""
        self.places: dict[Any, tuple[Any, Path]] = {}
        """What was found where."""
        self._globals: dict[tuple[int, str], Global] = {}
        self._objects: dict[int, tuple[Any, type]] = {}
        """Objects from outside, with their classes."""
        self._classes: dict[type, tuple[type, ...]] = {}
        """Users' classes whose instances were met, with their bases."""
        self._behaviours: dict[type, Behaviour] = {}

    def enter(self, f: Any) -> None:
        """A user's function is called: look at what it refers to."""
        while type(f) is MethodType:
            owner, f = f.__self__, f.__func__
            self.operates(owner)
            if is_object(owner):
                self.found(owner, functools.partial(itself, owner))
                called = getattr(owner.__class__, "__call__", None)  # noqa: B004
                if followed(called) is f:  # nobody read it: `owner(...)` was called
                    self.found(called, functools.partial(getattr, owner.__class__, "__call__"))
        if type(f) is not FunctionType or id(f) in self._entered or not is_user_code(f.__code__):
            return
        self._entered.add(id(f))
        self._functions.append(f)
        self.paths[id(f)] = (f, functools.partial(itself, f))  # keeps it alive
        self.watch(f)
        for name in f.__globals__.keys() & names_in(f.__code__):
            self.found(f.__globals__[name], global_at(f.__globals__, name))
        is_inside = f.__code__ in STAGED.finished  # then so are its variables; others were seen with those around it
        for cell in f.__closure__ or ():
            held = held_in(cell)
            if held is UNDEFINED:
                continue
            if not is_inside:
                self.found(held, content_of(cell))
            elif len(self._functions) == 1:  # it is what is compiled
                refuse_iterator(held)
        defaults = f.__defaults__ or ()
        if defaults and all(isinstance(default, _NUMBERS) for default in defaults):
            self.guards.append(
                NumbersGuard(functools.partial(getattr, f, "__defaults__"), tuple, None, list(defaults), defaults)
            )
        else:
            for k, default in enumerate(defaults):
                self._given(default, functools.partial(item_at, functools.partial(getattr, f, "__defaults__"), k))
        for name, default in (f.__kwdefaults__ or {}).items():
            self._given(default, functools.partial(item_at, functools.partial(getattr, f, "__kwdefaults__"), name))

    def watch(self, f: Any) -> None:
        """Note the variables outside that a function from outside can bind."""
        while type(f) is MethodType:
            f = f.__func__
        if type(f) is not FunctionType or not is_user_code(f.__code__):
            return
        bound = {i.argval for i in dis.get_instructions(f.__code__) if i.opname in ("STORE_GLOBAL", "STORE_DEREF")}
        for name in bound.intersection(f.__code__.co_names):
            self.effects.note_global(f.__globals__, name)
        if f.__code__ in STAGED.finished:
            return  # it was defined inside, and so are its variables
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self.effects.note_cell(cell, name, name in bound)

    def global_variable(self, namespace: dict, name: str) -> Global:
        """What stands for a global variable: one object for each."""
        return self._globals.setdefault((id(namespace), name), Global(namespace, name))

    def made(self, thing: Any) -> Any:
        """An object was made inside: what it holds is no business of the outside."""
        self._inside[id(thing)] = thing
        self._met(thing.__class__)
        return thing

    def is_made_inside(self, thing: Any) -> bool:
        """Whether an object was made while the function ran, in the block that is captured now too."""
        within = running.state.capture
        return id(thing) in self._inside or (self.top if within is None else within).has_created(thing)

    def operates(self, thing: Any) -> None:
        """An object (or a class) is there whose methods Python may call by itself: what these are is part of the
        program, and so is the class of an object from outside."""
        if isinstance(thing, type):
            self._met(thing)
        elif self._met(thing.__class__) and id(thing) not in self._inside and id(thing) not in self.top.created:
            self._objects.setdefault(id(thing), (thing, thing.__class__))

    def _met(self, kind: type) -> bool:
        """A class of the user's: see `behaviour.py`."""
        if kind in self._classes:
            return True
        if kind.__module__ == "builtins" or not is_of_user(kind):
            return False
        meet_again(kind)
        self._classes[kind] = kind.__mro__
        for base in kind.__mro__:
            if base not in self._behaviours and base.__module__ != "builtins" and is_of_user(base):
                self._behaviours[base] = Behaviour.of(base)
        self._met(type(kind))
        return True

    def found(self, value: Any, path: Path) -> None:
        """Something was found outside."""
        place = place_of(path)
        if place in self.places and self.places[place][0] is value:
            return
        self.places[place] = value, path
        if isinstance(value, np.void):
            self.guards.append(Guard(functools.partial(_bytes_at, path), value.tobytes()))
        elif isinstance(value, _NUMBERS):
            self.guards.append(Guard(path, value))
        elif isinstance(value, (np.ndarray, Box)) or is_foreign(value):
            self._note_path(value, path)
            if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc":
                self.guards.append(ContentsGuard.of(path, value))
                if value.dtype == object:
                    self.effects.note_objects(value)
        elif id(value) in self.top.created or id(value) in self._inside:
            return  # a function that was defined inside refers to it
        elif isinstance(value, ModuleType):
            name = place[-1] if place.__class__ is tuple else ""
            if name not in (value.__name__.rpartition(".")[-1], _ABBREVIATED.get(value.__name__)):
                self.guards.append(IdentityGuard(path, value))
        else:
            refuse_iterator(value)
            if isinstance(value, IOBase):
                self.frozen[id(value)] = value, "a file that was opened outside is read by a compiled function"
            self.operates(value)
            self._found_outside(value, path)

    def _found_outside(self, value: Any, path: Path) -> None:
        """A container, function or object was found that was not made inside."""
        if holds_parts(value):
            self._note_path(value, path)
            if value.__class__ is list:
                self.effects.note_list(value)
            elif isinstance(value, dict):
                self.effects.note_dict(value)
            return
        elif has_contents(value):
            self.guards.append(ContentsGuard.of(path, value))
            self._note_path(value, path)
            self.effects.note_container(value)
            for slot, item in content(value).items():
                if isinstance(item, MUTABLE) or is_object(item):  # what it holds can be changed, too
                    self.found(item, functools.partial(part_at, path, slot))
        else:
            is_function = type(value) is FunctionType
            guard = FunctionGuard(path, value, value.__code__) if is_function else IdentityGuard(path, value)
            is_attribute = path.__class__ is functools.partial and path.func is getattr
            if not is_attribute or all_hold([guard]):  # otherwise it is made anew whenever it is read
                self.guards.append(guard)
        if type(value) is FunctionType:
            self.watch(value)
            self.effects.note_function(value)
        elif type(value) is BuiltinFunctionType and isinstance(value.__self__, MUTABLE):
            self.found(value.__self__, functools.partial(getattr, value, "__self__"))
        elif isinstance(value, threading.local):
            self.effects.note_own_data(value)
        elif value.__class__ is ContextVar:
            self.effects.note_context(value)
            self.found(value.get(None), functools.partial(value.get, None))
        elif value.__class__ is functools.partial:
            self._look_into(value)
        elif is_object(value):
            self.paths.setdefault(id(value), (value, path))
            self.effects.note_object(value)
        elif value.__class__ is itertools.count:
            self.frozen[id(value)] = value, USED_UP_ONCE
        elif is_of_libraries(value):
            self._look_at_attributes(value)
        elif is_method_of_array(value):
            self._given(value.__self__, functools.partial(itself, value.__self__))

    def _note_path(self, value: Any, path: Path) -> None:
        """How to fetch an array or a container; if it was found elsewhere, too, it has to be the same there."""
        known = self.paths.setdefault(id(value), (value, path))
        if known[1] is not path:
            self.guards.append(Guard(functools.partial(is_at_both, known[1], path), True))

    def _given(self, value: Any, path: Path) -> None:
        """An argument that a function was given in advance, by a default or a partial. Code need not load it from
        anywhere, so all of it is part of the program, unless it comes to be an input."""
        self.found(value, path)
        if value.__class__ is np.ndarray:
            self._held.append(value)
        elif holds_parts(value):
            self._whole(value)

    def _look_into(self, partial: functools.partial) -> None:
        """The arguments that a function was given in advance are constants of the program."""
        for value in (partial.func, *partial.args, *partial.keywords.values()):
            self._given(value, functools.partial(itself, value))

    def _look_at_attributes(self, thing: Any) -> None:
        """The numbers and arrays that an object of NumPy or SciPy holds, or one that it leaves its work to, are part of
        the program."""
        names = [*own_dict(thing), *[n for c in thing.__class__.__mro__ for n in _slots(c)]]
        for name in names:
            value = getattr(thing, name, None)
            if isinstance(value, (np.ndarray, np.generic, int, float, complex)):
                self._given(value, functools.partial(getattr, thing, name))
            elif is_of_libraries(value):
                self.found(value, functools.partial(getattr, thing, name))

    def attribute(self, owner: Any, name: str, value: Any) -> Any:
        """`owner.name` was read."""
        is_libraries = (owner.__class__ is ModuleType or isinstance(owner, type)) and not is_of_user(owner)
        if id(owner) in self._inside and not isinstance(owner, (np.ndarray, Box)):
            kind = class_sharing(owner, name, value)
            if kind is not None:
                owner = kind
        if is_libraries and (value is os.environ or value is os.getenv):
            self.found(os.environ, functools.partial(getattr, os, "environ"))
        if isinstance(owner, (np.ndarray, Box)) or is_libraries or self.is_made_inside(owner):
            if holds_parts(value):
                self._note_use(value)
            return value
        if type(value) is BuiltinFunctionType and value.__self__ is owner:
            return value
        if (id(owner), ("attribute", name)) in self.opened and is_number(value):
            return value  # which the function has put there: before, the input was there (`left.py`)
        known = self.paths.get(id(owner)) if isinstance(owner, tuple) else None
        at = functools.partial(getattr, owner) if known is None else functools.partial(attribute_at, known[1])
        self.found(value, functools.partial(at, name))
        return self.external(value)

    def counted(self, owner: Any, slot: Any, value: Any) -> Any:
        """The input for a number that the function changes at each call."""
        box = self._numbers.get((id(owner), slot))
        if box is None:
            box = self._numbers[id(owner), slot] = self.top.formal(type_of_value(value))
            place = object()  # which tells it from other numbers of that value
            self._boxes[id(place)] = box
            self.inputs.append((place, path_to(owner, slot), box._node))
        return box

    def holds_at_each_call(self, thing: Any, slot: Any, value: Any) -> None:
        """The program is for what is at a place now."""
        self.found(value, path_to(thing, slot))

    def is_still_there(self, thing: Any) -> None:
        """The program changes a list or dict: it must be found where it was."""
        known = self.paths.get(id(thing))
        if known is not None and known[0] is thing:
            self.guards.append(IdentityGuard(known[1], thing))

    def reads(self, thing: Any, slot: Any) -> bool:
        """Whether an item of a list or dict was read, or all of them."""
        is_used = self._uses.get(id(thing), (thing, 0))[1] > 0
        return is_used or (id(thing), slot) in self._read or (id(thing), _ALL) in self._read

    def number_at(self, path: Any, value: Any) -> Any:
        """A number was read that a program captured before changes: in an attribute, an item or a variable."""
        if path.func is getattr and path.args[1] != "cell_contents":
            owner, name = path.args
            return self.attribute(owner, name, value)
        self.found(value, path)
        return value

    def looked_for(self, owner: Any, name: str, found: bool) -> None:
        """It was asked whether something has an attribute."""
        where = owner.__class__ if id(owner) in self._inside else owner
        if id(owner) not in self._inside or (not found and is_of_user(where)):
            self.guards.append(Guard(functools.partial(hasattr, where, name), found))

    def item(self, container: Any, key: Any, value: Any) -> Any:
        """`container[key]` was read."""
        known = self.paths.get(id(container))
        if known is not None and known[0] is container and holds_parts(container):
            if key.__class__ is slice:
                self._whole(container)
            elif (id(container), key) not in self._read and not isinstance(value, Box):
                self._read.add((id(container), key))
                self.found(value, functools.partial(item_at, known[1], key))
        elif container.__class__ is dict and "__builtins__" in container and isinstance(key, str):  # globals()
            self.found(value, global_at(container, key))
        return self.external(value)

    def used_by_item(self, container: Any) -> None:
        """What was last done to get hold of a container was only to read an item of it."""
        noted = self._uses.get(id(container))
        if noted is not None and noted[0] is container:
            noted[1] -= 1

    def about_objects(self) -> Iterator[Any]:
        """All lists and tuples in which something is noted about objects, and which therefore hold these."""
        yield self.passed
        for kept in (self.orders, self.chosen, self.frozen, self.standing, self._uses, self.paths, self._objects):
            yield from kept.values()
        for _, standing in self.standing.values():
            yield standing
        for _, groups in self.orders.values():
            for group in groups:
                yield from group

    @property
    def made_inside(self) -> dict[int, Any]:
        """Objects that were made inside, by their ids."""
        return self._inside

    def note_passed(self, container: Any, is_read: bool) -> None:
        """A container is an argument of a call. `is_read`: it was got hold of there, and that was noted."""
        if not is_read:
            self._note_use(container)
        self.passed.append(container)

    def pass_on(self, f: Any, target: Callable, before: int, /, *args: Any, **kwargs: Any) -> Any:
        """Call a user's function. If it does nothing but read items of a container that it is given, passing it on was
        no other use. `before`: how many containers were passed when the call began."""
        passed = self.passed[before:]
        if passed:
            del self.passed[before:]
            for container in containers_only_read(f, passed, args, kwargs):
                self.used_by_item(container)
        if self._under_way >= frames_allowed():  # Python's own count is for what we do (`deep.py`)
            is_decided = self._is_inside or running.state.capture is not self.top
            raise (RecursionError if is_decided else EndlessRecursion)("maximum recursion depth exceeded")
        self._under_way += 1
        try:
            return target(*args, **kwargs)
        finally:
            self._under_way -= 1

    def get(self, container: dict, key: Any, default: Any = None, /) -> Any:
        """`container.get(key, default)`."""
        known = self.paths.get(id(container))
        if known is None or known[0] is not container:
            return container.get(key, default)
        if key in container:
            return self.item(container, key, container[key])
        path = known[1]
        self.guards.append(Guard(functools.partial(contains, path, key), False))
        return default

    def _note_use(self, container: Any) -> None:
        noted = self._uses.setdefault(id(container), [container, 0])
        noted[1] += 1

    def _whole(self, container: Any) -> None:
        """All that is in a container from outside, and in those inside of it, is part of the program, or an input."""
        pending = [container]
        while pending:
            container = pending.pop()
            known = self.paths.get(id(container))
            if known is None or known[0] is not container or (id(container), _ALL) in self._read:
                continue
            self._read.add((id(container), _ALL))
            path = known[1]
            of_dict = isinstance(container, dict)
            held = self.effects.held_before(container)  # (the function may have changed it)
            if held is None:
                held = dict(container) if of_dict else dict(enumerate(container))
            values = list(held.values())
            inputs = {key for key in held if (id(container), key) in self.opened}
            if not inputs and all(v.__class__ in PLAIN_NUMBERS for v in values):
                self.guards.append(
                    NumbersGuard(
                        path,
                        container.__class__,
                        list(held) if of_dict else None,
                        values,
                        container if isinstance(container, tuple) else None,
                    )
                )
                continue
            self.guards.append(Guard(functools.partial(form_at, path), (container.__class__, len(values))))
            for key, value in held.items():
                if key in inputs:
                    continue
                self.found(value, functools.partial(item_at, path, key))
                if holds_parts(value):
                    pending.append(value)
                elif value.__class__ is np.ndarray:
                    self._held.append(value)

    def evaluated(self, text: Any, names: dict[str, Any]) -> None:
        """A text is about to be evaluated, in a module with these names: nobody sees what it reads there."""
        with contextlib.suppress(SyntaxError, TypeError, ValueError):  # which it will raise
            self._all_in_reach(names, text if isinstance(text, CodeType) else compile(text, "<text>", "exec"))

    def _all_in_reach(self, names: dict[str, Any], code: CodeType) -> None:
        """Whatever code can come to by names of its module is part of the program."""
        for name in names_in(code) & names.keys():
            self._all_in(names[name], global_at(names, name))

    def _all_in(self, value: Any, path: Path) -> None:
        """All that can be read of something is part of the program."""
        pending, seen = [(value, path)], set()
        while pending:
            value, path = pending.pop()
            if id(value) in seen or value is UNDEFINED:
                continue
            seen.add(id(value))
            self._given(value, path)
            if is_object(value):
                held = content(value)
                self.guards.append(Guard(functools.partial(keys_at, path), tuple(held)))
                pending += [(part, functools.partial(part_at, path, key)) for key, part in held.items()]

    def external(self, value: Any) -> Any:
        """What stands for a value from outside in the program: for an array an input, else the value itself."""
        if value.__class__ is not np.ndarray and not isinstance(value, np.ndarray) and not is_foreign(value):
            if holds_parts(value):
                self._note_use(value)
            return value
        if isinstance(value, Held) or value is np.ma.masked:
            return value
        known = self.paths.get(id(value))
        if known is not None and known[0] is not value:
            known = None
        if can_hold(type(value)) and known is not None:
            return self._held_array(value, known[1])
        if means_something_else(value.__class__) and not can_hold(type(value)):
            raise refusal(value)
        if known is None or value.dtype.kind not in "biufc":
            return value
        box = self._boxes.get(id(value))
        is_small = value.size <= SMALL and (value.dtype.kind in "iub" or id(value) in self.held)
        if box is None and is_small and id(value) not in self.variable:
            return self._constant(value, known[1])
        if box is None:
            box = self._boxes[id(value)] = self.top.formal(type_of_value(base_array(value)))
            box._node.order = array_order(value)
            if not value.shape:
                self.top.arrays.add(id(box))  # it can be written to, as a number cannot
            is_itself = value.__class__ is np.ndarray or is_foreign(value)
            self.inputs.append(
                (value, known[1] if is_itself else functools.partial(base_array_at, known[1]), box._node)
            )
        return box

    def _constant(self, value: np.ndarray, path: Path) -> np.ndarray:
        """A copy of an array from outside, which is part of the program."""
        if id(value) not in self._constants:
            frozen = value.copy()
            frozen.flags.writeable = False
            self._constants[id(value)] = frozen
            self._originals[id(frozen)] = value
            self.guards.append(ArrayGuard(path, frozen))
        return self._constants[id(value)]

    def _held_array(self, value: Any, path: Path) -> Any:
        """What stands for an array of a derived class from outside: one that holds an input of the program."""
        found = self._of_derived_classes.get(id(value))
        if found is None:
            box = self._boxes[id(value)] = self.top.formal(type_of_value(np.ndarray.view(value, np.ndarray)))
            box._node.order = array_order(value)
            self.inputs.append((value, functools.partial(memory_at, path), box._node))
            parts = dict(value.__dict__)
            for name, part in parts.items():
                self.found(part, functools.partial(getattr, value, name))
            held = {name: self.external(part) for name, part in parts.items()}
            found = self._of_derived_classes[id(value)] = held_around(value, box, held)
        return found

    def items(self, iterable: Any) -> Any:
        """What stands for the items of a list or tuple that may come from outside."""
        known = self.paths.get(id(iterable)) if iterable.__class__ in (list, tuple) else None
        if known is None or known[0] is not iterable:
            return iterable
        self._whole(iterable)
        new = [self.external(item) for item in iterable]
        if all(a is b for a, b in zip(new, iterable, strict=True)):
            return iterable
        return tuple(new) if iterable.__class__ is tuple else new

    def unpacked(self, iterable: Any, reads: Sequence[Sequence[str] | None]) -> Any:
        """What stands for the items of a list or tuple that is taken apart: `a, b = pair`. `reads` says of which names
        only items and some attributes are read later on."""
        known = self.paths.get(id(iterable)) if iterable.__class__ is list or isinstance(iterable, tuple) else None
        if known is None or known[0] is not iterable or len(iterable) != len(reads):
            return self.items(iterable)
        self.guards.append(Guard(functools.partial(form_at, known[1]), (iterable.__class__, len(iterable))))
        new = [self.item(iterable, k, item) for k, item in enumerate(iterable)]
        for item, attributes in zip(iterable, reads, strict=True):
            if attributes is not None and has_fields(item, attributes):
                self.used_by_item(item)
        return new

    def mapping(self, thing: dict) -> dict:
        """A dict that may come from outside with what stands for its values."""
        known = self.paths.get(id(thing))
        self._whole(thing)
        return {k: self.external(v) for k, v in thing.items()} if known and known[0] is thing else thing

    def seal(self) -> None:
        """Guard what is in containers that were used otherwise than by their items: all of it may be part of the
        program, arrays too."""
        for f in self._functions:
            made = STAGED.made.get(f.__code__)
            if made is not None and made[0] is None:  # it has no source: nobody saw what it read
                self._all_in_reach(f.__globals__, f.__code__)
                for cell in f.__closure__ or ():
                    self._all_in(held_in(cell), content_of(cell))
        for container, count in list(self._uses.values()):
            if count > 0:
                self._whole(container)
        for array in self._held:
            known = self.paths.get(id(array))
            if known and known[0] is array and id(array) not in self._boxes and id(array) not in self._constants:
                self.guards.append(ArrayGuard(known[1], array.copy()))
        self.guards.extend(self.effects.guards())
        if self._classes:
            objects, classes = [list(part) for part in zip(*self._objects.values(), strict=True)] or ([], [])
            met, behaviours = list(self._classes.items()), list(self._behaviours.values())
            codes = methods_among(self._functions, behaviours)
            self.guards.append(BehaviourGuard(objects, classes, met, behaviours, codes))

    def about_to_write(self, constant: np.ndarray) -> None:
        """An array is written to that may have been taken for a constant."""
        original = self._originals.get(id(constant))
        if original is not None:
            self.variable.add(id(original))
            raise WrittenTo

    def written(self) -> list[int]:
        """Which of the inputs were written to."""
        return [k for k, (value, _, var) in enumerate(self.inputs) if self._boxes[id(value)]._node is not var]

    def is_from_outside(self, box: Any) -> bool:
        """Whether a box stands for an argument, or an array that was found outside."""
        return any(box is x for x in self.arguments) or any(box is x for x in self._boxes.values())

    def demand_value(self, x: Any) -> None:
        """Have the program captured again with the value of `x`, if that is computed from integer arguments alone."""
        makers = {id(out): node for node in self.top.nodes for out in node.outs}
        formals = {id(a._node): k for k, a in enumerate(self.arguments)}
        places, pending = set(), [x._node]
        while pending:
            var = pending.pop()
            if isinstance(var, Const):
                continue
            if id(var) in formals and not var.type.shape and var.type.dtype.kind in "biu":
                places.add(formals[id(var)])
            elif id(var) in makers and not makers[id(var)].blocks:
                pending += [*makers[id(var)].args, *makers[id(var)].sizes]
            else:
                return
        if places:
            raise ValuesDecide(places)

    def value_of(self, x: Any) -> np.ndarray | None:
        """The value of an argument that is an array of integers, in the call for which the program is captured."""
        for box, var, value in zip(self.arguments, self.formals, self.values, strict=False):
            if box is x and x._node is var and value.__class__ is np.ndarray and value.dtype.kind in "biu":
                return value
        return None

    def hold_to_value(self, x: Any) -> None:
        """Have the program be for calls only in which an argument, an array of integers, has the value of this one.

        It still reads the argument, which may be returned, and written to later on.
        """
        place = next(k for k, box in enumerate(self.arguments) if box is x)
        self.read_values.setdefault(place, self.values[place].copy())

    def stands_for(self, value: Any) -> Any:
        """The box that stands for an array from outside."""
        return self._boxes.get(id(value), value)

    def box_of(self, value: Any) -> Any:
        return self._boxes[id(value)]


def _bytes_at(path: Path) -> bytes:
    """A record, which is a view of an array, as its bytes."""
    return path().tobytes()


_ABBREVIATED = {"numpy": "np", "scipy": "sp", "wengert": "wg"}
"""Names that everybody gives to a library: nobody gives them to something else, and looking costs time at each call."""


def _slots(kind: type) -> tuple[str, ...]:
    names = kind.__dict__.get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)


class _Current(threading.local):
    session: Session | None = None
    constants: list[Any] | None = None
    """What numbers of things stand for (`one_of.py`) where the results of a program are put together."""

    def __init__(self) -> None:
        self.attempts: list[Any] = []
        """`try` statements that are entered outside of a session, where rules of a program are derived from it."""


current = _Current()


def demand_value(x: Any) -> None:
    """See `Session.demand_value`."""
    if current.session is not None and isinstance(x, Sym):
        current.session.demand_value(x)
