"""Recipes: how a call is taken apart, and its result put together, as words that native code reads (`dispatch.py`).

    f({"w": w, "b": [b, None]}, 3)

    DICT   slot 0, keys ("w", "b")        slots 2 and 3: its values, in this order
    LEAF   slot 1, number 2, class int
    LEAF   slot 2, number 1               an array: the kernel looks at its type
    LIST   slot 3, length 2               slots 4 and 5
    LEAF   slot 4, number 0
    SAME   slot 5, None

Slots are the arguments, then what steps find in them. Whatever is not data has to be the same thing again, or an equal
text or integer. Numbers have to be of the very class that they were: for a Python number the program may be another one
than for NumPy's. A dict has to have its keys in the order in which it had them, since a function can see that.

The result is put together on a stack: RESULT, LEAF and CONSTANT put something on it, the others take as many things off
it as they have parts. Containers that are not made natively are made by a call of Python.

Containers of other classes, such as those that users have registered, have no recipe: such calls are for Python.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.capture.returned import Origin, Shared, WithoutAxes, as_returned, without_axes
from wengert.ir.node import Type

MOST = 4096
"""A call with more slots has no recipe: they lie on the stack of a thread."""


class RecipeStep:
    """The words of a step: what to do, with which slot, and two more."""

    WORDS = 4
    LEAF, SAME, TUPLE, LIST, DICT, CLASS, ATTRIBUTE = range(7)


class Make:
    """The words of a step that makes something: what, and two more."""

    WORDS = 3
    RESULT, LEAF, CONSTANT, TUPLE, LIST, DICT, CALL = range(7)


class LeafNumber(int):
    """In the place of a leaf that is data: its number."""


class Static:
    """In the place of something that has to be the same in every call."""


class Words:
    """Words in memory, and the objects whose addresses are among them."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def address(self, thing: Any) -> int:
        """That of an object, which is kept."""
        self.held.append(thing)
        return id(thing)

    def array(self, words: Iterable[int]) -> int:
        """The address of an array of words, which is kept."""
        words = list(words)
        if not words:
            return 0
        made = (ctypes.c_int64 * len(words))(*words)
        self.held.append(made)
        return ctypes.addressof(made)

    def objects(self, things: Iterable[Any]) -> int:
        return self.array([self.address(thing) for thing in things])


class NoRecipe(Exception):
    """There is no recipe for a container."""


class _Steps:
    def __init__(self, words: Words, given: int, pinned: dict[int, Any]):
        self.words, self.slots, self.pinned = words, given, pinned
        self.steps: list[tuple[int, int, int, int]] = []
        self.said: list[Any] = []
        """The steps with what stands at addresses."""
        self.waiting: list[tuple[int, Any, Any]] = []
        self.leaves: dict[int, Any] = {}

    def all(self, things: Iterable[tuple[Any, Any]]) -> list[tuple[int, int, int, int]]:
        self.waiting += [(k, *both) for k, both in enumerate(things)]
        while self.waiting:
            self._one(*self.waiting.pop(0))
            if self.slots > MOST:
                raise NoRecipe
        return self.steps

    def _one(self, slot: int, thing: Any, twin: Any) -> None:
        kind = thing.__class__
        if twin.__class__ is LeafNumber:
            self._leaf(slot, thing, twin)
        elif twin is Static or thing is None:
            self._same(slot, thing)
        elif kind is list or tree.is_tuple(kind):
            self._step(
                RecipeStep.LIST if kind is list else RecipeStep.TUPLE, slot, self.words.address(kind), len(thing), kind
            )
            self._push(thing, twin)
        elif kind is dict:
            if not all(key.__class__ in (str, int) for key in thing):
                raise NoRecipe
            self._step(RecipeStep.DICT, slot, self.words.objects(thing), len(thing), tuple(thing))
            self._push(thing.values(), [twin[key] for key in thing])
        elif (fields := tree.fields_of(kind)) is not None:
            self._step(RecipeStep.CLASS, slot, self.words.address(kind), said=kind)
            for name in (*fields.data, *fields.static):
                self._step(RecipeStep.ATTRIBUTE, slot, self.words.address(name), said=name)
                self._push([getattr(thing, name)], [getattr(twin, name) if name in fields.data else Static])
        else:
            raise NoRecipe

    def _leaf(self, slot: int, thing: Any, number: int) -> None:
        kind = thing.__class__
        self.leaves[number] = thing
        if number in self.pinned:
            if kind is not int:
                raise NoRecipe
            self._same(slot, self.pinned[number])
        is_array = kind is np.ndarray and thing.ndim
        self._step(RecipeStep.LEAF, slot, number, 0 if is_array else self.words.address(kind), kind)

    def _same(self, slot: int, thing: Any) -> None:
        is_compared = thing.__class__ in (str, int)
        self._step(RecipeStep.SAME, slot, self.words.address(thing), said=thing if is_compared else id(thing))

    def _step(self, what: int, slot: int, a: int, n: int = 0, said: Any = None) -> None:
        self.steps.append((what, slot, a, n))
        self.said.append((what, slot, said.__class__, said))

    def _push(self, things: Iterable[Any], twins: Iterable[Any]) -> None:
        for thing, twin in zip(things, twins, strict=True):
            self.waiting.append((self.slots, thing, twin))
            self.slots += 1


def _makes(words: Words, twin: Any, places: Sequence[tuple[str, Any]], found: list[tuple[int, int, int]]) -> None:
    """The steps that make a container, whose twin has numbers of places for leaves."""
    kind = twin.__class__
    if kind is LeafNumber:
        what, place = places[twin]
        if what == "constant":
            found.append((Make.CONSTANT, words.address(place), 0))
        else:
            found.append((Make.RESULT if what == "result" else Make.LEAF, 0, place))
            if place.__class__ is WithoutAxes:
                found.append((Make.CALL, words.address(without_axes), 1))
    elif twin is None:
        found.append((Make.CONSTANT, words.address(None), 0))
    elif kind in (tuple, list, dict):
        for part in twin.values() if kind is dict else twin:
            _makes(words, part, places, found)
        if kind is dict:
            found.append((Make.DICT, words.objects(twin), len(twin)))
        else:
            found.append((Make.TUPLE if kind is tuple else Make.LIST, 0, len(twin)))
    else:
        leaves, structure = tree.flatten(twin)
        for leaf in leaves:
            _makes(words, leaf, places, found)
        found.append((Make.CALL, words.address(functools.partial(_put_together, structure)), len(leaves)))


def _makes_shared(
    words: Words, structure: Any, places: Sequence[tuple[str, Any]], results: tuple[int, int],
    shared: Sequence[Shared], leaves: int, found: list[tuple[int, int, int]],
) -> None:  # fmt: skip
    """The steps that make a container of arrays some of which the caller has already."""
    needed = sorted({one.number for one in shared if one.origin is Origin.INPUT})
    if needed and needed[-1] >= leaves:
        raise NoRecipe
    for k in range(len(places)):
        _makes(words, LeafNumber(k), places, found)
    found += [(Make.RESULT, 0, results[0] + k) for k in range(results[1])]
    found += [(Make.LEAF, 0, k) for k in needed]
    together = functools.partial(_put_together_shared, structure, shared, len(places), results[1], needed)
    found.append((Make.CALL, words.address(together), len(places) + results[1] + len(needed)))


def _put_together_shared(
    structure: Any, shared: Sequence[Shared], count: int, further: int, needed: Sequence[int], *given: Any
) -> Any:
    leaves, extras = list(given[:count]), given[count : count + further]
    as_returned(shared, leaves, dict(zip(needed, given[count + further :], strict=True)), extras)
    return tree.unflatten(structure, leaves)


def _put_together(structure: Any, *leaves: Any) -> Any:
    return tree.unflatten(structure, leaves)


class CallWay:
    """One way from a call into a program; its words are those whose numbers stand here."""

    (TAKE, POSITIONAL, NAMED, NAMES, STEP_COUNT, STEPS, SLOTS, LEAVES, RESULTS, MORE, TYPES, ORDERED, MAKE_COUNT,
     MAKES) = range(14)  # fmt: skip

    def __init__(
        self,
        take: int,
        args: tuple,
        kwargs: dict[str, Any],
        twin: tuple[Sequence[Any], dict[str, Any]],
        pinned: dict[int, Any],
        inputs: Sequence[Type],
        more: Callable[[], tuple | None] | None,
        order_matters: bool,
        structure: Any,
        places: Sequence[tuple[str, Any]],
        results: tuple[int, int],
        shared: Sequence[Shared] = (),
    ):
        """The way of this call.

        Args:
            take: the address of the kernel's function (`entry.py`); who keeps a way keeps the kernel.
            args, kwargs: what the call was given.
            twin: the same with a `LeafNumber` for each array or number, and `Static` for what is part of the program.
            pinned: the values of leaves that are part of the program.
            inputs: the types that the kernel takes: of the leaves, then of what `more` gives.
            more: gives a tuple of further inputs, or None if the program is not for what is found outside now.
            order_matters: whether arrays have to lie in memory as those of this call do.
            structure, places: the containers of the result, and what stands for each leaf there: a result, a leaf of
                the arguments, or a constant.
            results: how many the kernel gives, and how many further ones that tell what is shared.
            shared: which arrays of the result the caller has already (`capture/returned.py`).
        """
        words = self._words = Words()
        given = len(args) + len(kwargs)
        steps = _Steps(words, given, pinned)
        things = [*zip(args, twin[0], strict=True), *[(x, twin[1][name]) for name, x in kwargs.items()]]
        found = steps.all(things)
        if found == [(RecipeStep.LEAF, k, k, 0) for k in range(given)]:
            found = []  # the arguments are the leaves
        makes: list[tuple[int, int, int]] = []
        if shared:
            _makes_shared(words, structure, places, results, shared, len(steps.leaves), makes)
        elif tree.depends_on_leaves(structure):
            for k in range(len(places)):
                _makes(words, LeafNumber(k), places, makes)
            together = functools.partial(_put_together, structure)
            makes.append((Make.CALL, words.address(together), len(places)))
        else:
            _makes(words, tree.unflatten(structure, [LeafNumber(k) for k in range(len(places))]), places, makes)
        if makes == [(Make.RESULT, 0, 0)]:
            makes = []
        self.form = (steps.said, len(args), list(kwargs))
        """What tells ways into one program apart."""
        line = [0] * 14
        line[CallWay.TAKE], line[CallWay.POSITIONAL] = take, len(args)
        line[CallWay.NAMED], line[CallWay.NAMES] = len(kwargs), words.objects(kwargs)
        line[CallWay.STEP_COUNT], line[CallWay.STEPS] = len(found), words.array(_joined(found))
        line[CallWay.SLOTS], line[CallWay.LEAVES] = steps.slots, len(steps.leaves)
        line[CallWay.RESULTS] = sum(results)
        line[CallWay.MORE] = 0 if more is None else words.address(more)
        line[CallWay.MAKE_COUNT], line[CallWay.MAKES] = len(makes), words.array(_joined(makes))
        line[CallWay.TYPES] = words.array(
            [_type(words, t, steps.leaves.get(k), order_matters) for k, t in enumerate(inputs)]
        )
        line[CallWay.ORDERED] = order_matters and not all(map(_is_in_c_order, steps.leaves.values()))
        self.address = words.array(line)


def _joined(steps: Iterable[tuple[int, ...]]) -> list[int]:
    return [word for step in steps for word in step]


ANY_ORDER, C_ORDER, THESE_STRIDES = range(3)
"""How an array may lie in memory."""


def _type(words: Words, type: Type, array: Any, order_matters: bool) -> int:
    """The address of dtype, order, rank, lengths and strides of an array; null for numbers."""
    if not type.ndim or not type.is_static:
        return 0
    order, strides = (C_ORDER if order_matters else ANY_ORDER), [0] * type.ndim
    if order_matters and not _is_in_c_order(array):
        order, strides = THESE_STRIDES, array.strides
    return words.array([words.address(np.dtype(type.dtype.char)), order, type.ndim, *type.shape, *strides])  # type: ignore[list-item]


def _is_in_c_order(x: Any) -> bool:
    return x.__class__ is not np.ndarray or x.flags.c_contiguous
