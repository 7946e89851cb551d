"""Everything that Python code can reach, as it is at one moment, so that the code can be run again from there.

Variables of functions, globals that they name, lists, dicts, sets, instances of users' classes, traced arrays, random
generators: a `Snapshot` knows what each of these holds, and puts it back. Values of traced arrays are not copied: while
they are held here they are not written in place.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Collection, Iterable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.box.box import Box
from wengert.box.contents import in_cell
from wengert.box.writing import become, clone, make_views_stale
from wengert.capture.draws import GENERATORS
from wengert.capture.instrument import is_user_code
from wengert.capture.kinds import is_object
from wengert.capture.objects import MUTABLE, content, put
from wengert.capture.of_code import found_once
from wengert.control.states_on_disk import PlaceOnDisk, StatesOnDisk
from wengert.types import PLAIN, wrapped_in

_SIMPLE = frozenset((*PLAIN, str, bytes, bool, int, float, complex, type(None), slice, range)) - {np.ndarray}


class HeldPlace(NamedTuple):
    """Something that can hold something else: how to ask it, and how to let it hold what it held."""

    get: Callable[[], Any]
    put: Callable[[Any], None]
    held: Any


class Reachable:
    """What can be reached: places, root boxes, plain arrays and random generators, each once, in a fixed order."""

    def __init__(self, roots: Iterable[Any]):
        self.things: list[Any] = []
        """Everything that holds something, so that it is found again where nothing else leads to it any more."""
        self.boxes: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self.generators: list[Any] = []
        self._cells: list[CellType] = []
        self._globals: list[tuple[dict, str]] = []
        self._objects: list[Any] = []
        self._seen: set[Any] = set()
        self._look([*reversed(list(roots)), random._inst, np.random.mtrand._rand])

    def _look(self, pending: list[Any]) -> None:
        seen = self._seen
        while pending:
            x = pending.pop()
            kind = x.__class__
            if kind in _SIMPLE or id(x) in seen:
                continue
            seen.add(id(x))
            if isinstance(x, Box):
                while x._view_of is not None:
                    x = x._view_of.root
                if ("root", id(x)) not in seen:
                    seen.add(("root", id(x)))
                    self.boxes.append(x)
            elif kind is np.ndarray:
                self.arrays.append(x)
            elif kind is FunctionType:
                pending += self._function(x)
            elif kind is CellType:
                self._cells.append(x)
                pending.append(in_cell(x))
            elif kind is MethodType:
                pending += [x.__self__, x.__func__]
            elif kind is functools.partial:
                pending += [*x.keywords.values(), *x.args, x.func]
            elif kind is tuple:
                pending += reversed(x)
            elif isinstance(x, GENERATORS):
                self.generators.append(x)
            elif isinstance(x, (type, ModuleType)):
                continue
            elif isinstance(x, MUTABLE) or is_object(x):
                self._objects.append(x)
                self.things.append(x)
                pending += reversed(list(content(x).values()))
            elif isinstance(x, tuple):
                pending += reversed(list(x))
            else:
                pending.append(wrapped_in(x))  # grad(f) calls f

    def _function(self, f: FunctionType) -> list[Any]:
        if not is_user_code(f.__code__):
            return [wrapped_in(f)]
        found: list[Any] = [f.__kwdefaults__, f.__defaults__]
        for name in _names_in(f.__code__):
            if name in f.__globals__ and (id(f.__globals__), name) not in self._seen:
                self._seen.add((id(f.__globals__), name))
                self._globals.append((f.__globals__, name))
                found.append(f.__globals__[name])
        return [*found, *reversed(f.__closure__ or ())]

    def places(self) -> list[HeldPlace]:
        """What all of it holds now."""
        found = [HeldPlace(functools.partial(in_cell, c, _NOTHING), functools.partial(_fill, c), in_cell(c, _NOTHING))
                 for c in self._cells]  # fmt: skip
        found += [HeldPlace(functools.partial(dict.get, namespace, name, _NOTHING),
                        functools.partial(_bind, namespace, name), namespace.get(name, _NOTHING))
                  for namespace, name in self._globals]  # fmt: skip
        found += [HeldPlace(functools.partial(state_of, g), functools.partial(set_state, g), state_of(g))
                  for g in self.generators]  # fmt: skip
        return found


class Snapshot:
    """What can be reached from some roots, as it is now."""

    def __init__(self, roots: Iterable[Any]):
        reached = Reachable(roots)
        self._places = reached.places()
        self._variables = len(self._places) - len(reached.generators)
        self._objects = [(x, content(x)) for x in reached._objects]
        self.boxes = [(box, clone(box)) for box in reached.boxes]

    def move_to(self, disk: StatesOnDisk, staying: Collection[int]) -> None:
        """Let values of traced arrays lie on disk, but those, named by their ids, that are kept in memory anyway."""
        self._disk = disk
        for _, held in self.boxes:
            value: Any = getattr(held, "_value", None)
            if disk.takes(value) and id(value) not in staying:
                held._value = disk.write(value)

    def let_go(self, later: Snapshot) -> None:
        """Boxes that nobody reaches any more at a later moment need not hold their values until they are put back."""
        alive = {id(box) for box, _ in later.boxes}
        for box, held in self.boxes:
            if id(box) not in alive and getattr(held, "_value", None).__class__ is PlaceOnDisk:
                box._value = held._value

    def has_changed(self) -> bool:
        """Whether a variable or an object holds something else now."""
        return any(place.get() is not place.held for place in self._places[: self._variables]) or any(
            _differ(content(x), held) for x, held in self._objects
        )

    def restore_generators(self) -> None:
        """Put random generators back, and nothing else."""
        for place in self._places[self._variables :]:
            place.put(place.held)

    def restore(self) -> None:
        """Put everything back."""
        for place in self._places:
            if place.get() is not place.held:
                place.put(place.held)
        for x, held in self._objects:
            if _differ(content(x), held):
                put(x, held)
        for box, held in self.boxes:
            if getattr(held, "_value", None).__class__ is PlaceOnDisk:
                held = clone(held)
                held._value = self._disk.read(held._value)
            become(box, held)
            make_views_stale(box)


def _differ(now: dict, held: dict) -> bool:
    return list(now) != list(held) or any(now[slot] is not held[slot] for slot in now)


_NOTHING = object()


def _fill(cell: CellType, value: Any) -> None:
    if value is _NOTHING:
        del cell.cell_contents
    else:
        cell.cell_contents = value


def _bind(namespace: dict, name: str, value: Any) -> None:
    if value is _NOTHING:
        namespace.pop(name, None)
    else:
        namespace[name] = value


def state_of(generator: Any) -> Any:
    """The state of a random generator."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state() if isinstance(generator, np.random.RandomState) else generator.getstate()


def set_state(generator: Any, state: Any) -> None:
    """Let a random generator go on from a state."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


@found_once
def _names_in(code: CodeType) -> tuple[str, ...]:
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(_names_in(constant)))
    return tuple(names)
