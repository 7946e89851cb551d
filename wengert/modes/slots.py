"""Sparse forward accumulation: tangents that hold their nonzero derivatives, and nothing else.

A tangent is a few *slots*. A slot has, for each element of the value, the number of an element of the arguments (known
when the program is captured; -1 for none), and the derivative with respect to that element:

    y = x[1:] * x[:-1]        numbers 1, 2, 3, …    derivatives x[:-1]
                              numbers 0, 1, 2, …    derivatives x[1:]

So the derivatives of y are as many arrays of y's shape as y has arguments per element, whatever the size of the whole,
where a batch of directions has room for each direction in each value, nearly all of it zero. Seeds are the number 1,
and products with it are none. Slots are merged where they have the same numbers, or complement each other, as the parts
of an array do that is written part by part.

That works for what is done to elements, and for what moves them. A sum over many elements has a slot for each of
them: it is *deferred*, which does no harm if nobody wants its tangent, as that of the value of which a gradient is
taken; or, if the trace `assembles`, its derivatives are held one by one, to be added up in the end
(`contributions.py`). What cannot be done (code that is held, a deferred result that is wanted, a place that is not
known) raises `GivenUp`; there are always the ways of `batch.py`.

(Sparse vectors of derivatives are in Griewank and Walther 2008, §7.2; what is new here is that their index sets are
known beforehand, so that nothing is left of them in compiled code.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.box.abstract import AbstractBox
from wengert.errors import Signal
from wengert.modes.contributions import Contributions, after, contributed, pairs_of
from wengert.modes.mode import Mode
from wengert.ops.derive import Control, Elementwise, Multilinear, Zero, result_aval
from wengert.ops.elementwise import where
from wengert.ops.index import ARRAY, index
from wengert.ops.links import Added, Pairs, Taken, joint_links, links
from wengert.ops.op import Op, Traced, call, fresh_tag
from wengert.ops.shape import broadcast_to, concatenate, reshape
from wengert.running import running
from wengert.types import Aval, aval_of, is_inexact, shape_of

MOST = 64
"""So many slots a tangent may have."""
_FEW = 12
"""Sums that would have more are not made, if what is added up may be held instead."""


class GivenUp(Signal):
    """Derivatives cannot be accumulated in slots."""


class TangentSlot(NamedTuple):
    """For each element the number of an element of the arguments, and the derivative: an array, or one for all."""

    numbers: np.ndarray
    value: Any


class Slots(AbstractBox):
    """A tangent in slots; `_node` has them, and contributions; None if they are deferred."""

    __slots__ = ()
    _state = ("_owner", "_aval", "_node")
    _owner: SlotTrace

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            raise GivenUp
        return super().__getattr__(name)


Slots.__name__ = "traced array"


class SlotTrace(Mode):
    """Derivatives with respect to the elements of some arguments.

    `known` says what a value is that is known although it is traced: an array that the program finds outside. `work`
    adds up elements of slots, `elements` those of the values, to compare with what a batch of directions would cost.
    """

    __slots__ = ("alive", "assembles", "elements", "known", "tag", "weighs", "work")
    name = "slots"
    boxes = Slots
    companions = 0

    def __init__(self, known: Callable[[Any], Any], assembles: bool = False, weighs: bool = False):
        self.tag = fresh_tag()
        self.alive = True
        self.known = known
        self.assembles = assembles
        """Whether large sums hold what is to be added up in the end."""
        self.weighs = weighs
        """Whether any op that is linear is taken for the matrix that it is, which costs a call for each column."""
        self.work = self.elements = 0

    def unit(self, aval: Aval, start: int) -> Slots:
        """The tangent of an argument whose elements have the numbers from `start` on."""
        return Slots(self, aval, [TangentSlot(np.arange(start, start + aval.size), aval.dtype.type(1))])

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        capture = running.state.capture
        if op.__class__ is Control or (capture is not None and capture.tag > self.tag):
            raise GivenUp
        data = op.data_count(args, params)
        args = (*args[:data], *[self.known(a) if isinstance(a, Traced) else a for a in args[data:]])
        active = [k for k, a in enumerate(args) if self.owns(a)]
        if not isinstance(op, Zero) and not all(op.is_linear(k) for k in active):
            raise GivenUp
        aval = result_aval(op, args, params)
        if isinstance(op, Zero) or not is_inexact(aval.dtype):
            return Slots(self, aval, [])
        if any(args[k]._node is None for k in active):
            return Slots(self, aval, None)
        found: list[TangentSlot] | None = []
        loose: list[Contributions] = []
        for k in active:
            slots, others = divided(args[k]._node)
            moved = after(op, k, args, aval, params, others) if others else []
            more = _of_operand(op, k, args, slots, aval, params)
            if found is None or more is None or moved is None:
                found = None
            else:
                loose += [*moved, *divided(more)[1]]
                found = merged([*found, *divided(more)[0]], aval.shape)
        if found is None or len(found) > MOST:
            return Slots(self, aval, None)
        self.elements += aval.size
        self.work += aval.size * len(found) + sum(len(c.rows) for c in loose)
        return Slots(self, aval, [*found, *loose])


def divided(node: Sequence[TangentSlot | Contributions]) -> tuple[list[TangentSlot], list[Contributions]]:
    """Slots, and contributions."""
    slots = [s for s in node if s.__class__ is TangentSlot]
    return slots, [s for s in node if s.__class__ is Contributions]


def _of_operand(
    op: Op, k: int, args: Sequence[Any], own: list[TangentSlot], aval: Aval, params: dict
) -> list[TangentSlot] | list[Contributions] | None:
    """What the slots of one operand become; None if there would be too many."""
    if not own:
        return []
    if op.elementwise:
        return _of_elements(op, k, args, own, aval, params)
    weigh = args[k]._owner.weighs
    if op.combine == "add" and isinstance(op, Multilinear):
        product = _contracted(op, k, args, own, aval, params)
        return product if product is not None or not weigh else _weighed(op, k, args, own, aval, params)
    if not op.moves and not op.adds:
        return _weighed(op, k, args, own, aval, params) if weigh else None
    (step,) = joint_links(op, [k], args, aval.shape, params) or links(op, k, args, aval.shape, params)
    if op.moves and step.__class__ is not Taken:
        raise GivenUp  # it is not known where elements come from
    if isinstance(step, Taken):
        sources: list[np.ndarray] | None = [step.places]
    else:
        assembles = args[k]._owner.assembles
        sources = _ranked(step, aval.size, (_FEW if assembles else MOST) // len(own))
        if sources is None and assembles:
            size = args[k]._aval.size
            return [contributed(step, s.numbers, reshape(_filled(s.value, args[k].shape), shape=(size,))) for s in own]
    if sources is None:
        return None
    if len(sources) == 1:
        return [TangentSlot(_at(s.numbers, sources[0]), _applied(op, k, args, s, params)) for s in own]
    patterns = [_slices_at(places, args[k].shape, aval.shape) for places in sources]
    found: list[TangentSlot] = []
    for s in own:
        whole = _filled(s.value, args[k].shape)
        for places, pattern in zip(sources, patterns, strict=True):
            if pattern is not None:
                value = index(whole, pattern=pattern)
            else:
                flat = reshape(whole, shape=(len(s.numbers),))
                value = index(flat, np.maximum(places, 0), pattern=(ARRAY,))
            found.append(TangentSlot(_at(s.numbers, places), reshape(value, shape=aval.shape)))
    return found


def _of_elements(
    op: Op, k: int, args: Sequence[Any], own: list[TangentSlot], aval: Aval, params: dict
) -> list[TangentSlot]:
    """What the slots of one operand of an elementwise op become."""
    steps = links(op, k, args, aval.shape, params)
    if isinstance(op, Elementwise):
        c = op.coefficient(k, None, tuple(args), params)
        return [TangentSlot(_moved(s.numbers, steps), op.scale(c, s.value)) for s in own]
    if any(isinstance(a, Slots) for j, a in enumerate(args) if j != k):
        raise GivenUp
    return [TangentSlot(_moved(s.numbers, steps), call(op, *args[:k], s.value, *args[k + 1 :], **params)) for s in own]


def _slices_at(places: np.ndarray, own: tuple, result: tuple) -> tuple | None:
    """Slices that take the elements at flat places of an array, in the order of a result; None if none do.

    The terms of a sum along an axis are slices `x[:, k : k + 1]`, which are computed where they are read. A gather
    would have to wait for all of `x`.
    """
    if not len(places) or places.min() < 0:
        return None
    along = [a for a, n in enumerate(result) if n != 1]
    pattern: list[slice] = []
    kept = []
    for axis, coordinate in enumerate(np.unravel_index(places, own)):
        first = int(coordinate[0])
        if np.all(coordinate == first):
            pattern.append(slice(first, first + 1, None))
            continue
        if len(kept) == len(along) or result[along[len(kept)]] != own[axis]:
            return None
        b = along[len(kept)]
        counted = np.arange(own[axis]).reshape([-1 if j == b else 1 for j in range(len(result))])
        if not np.array_equal(coordinate.reshape(result), np.broadcast_to(counted, result)):
            return None
        pattern.append(slice(None, None, None))
        kept.append(b)
    return tuple(pattern) if len(kept) == len(along) else None


def _contracted(
    op: Op, k: int, args: Sequence[Any], slots: list[TangentSlot], aval: Aval, params: dict
) -> list[TangentSlot] | None:
    """A product that sums over few elements: each term of the sum by itself."""
    shapes = [shape_of(a) for a in args]
    cuts = op.axes(shapes, aval.shape, params) if op.axes is not None else []
    own = args[k].shape
    summed = [c for c in cuts if c.axis is None and c.needs[k] is not None]
    linked: list[Any] = [(c.needs[k], c.axis) for c in cuts if c.axis is not None and c.needs[k] is not None]
    if len(summed) != 1:
        return None
    (cut,) = summed
    along_own: Any = cut.needs[k]
    if {along_own, *[a for a, _ in linked]} != {a for a, n in enumerate(own) if n != 1}:
        return None
    length = own[along_own]
    if length * len(slots) > MOST:
        return None
    places = np.zeros((1,) * len(aval.shape), np.int64)
    for axis, b in linked:
        along = np.arange(own[axis]).reshape([own[axis] if j == b else 1 for j in range(len(aval.shape))])
        places = places + along * math.prod(own[axis + 1 :])
    stride = math.prod(own[along_own + 1 :])
    found = []
    for term in range(length):
        at = np.broadcast_to(places + term * stride, aval.shape).ravel()
        held = [a if j == k else _term(a, cut.needs[j], term) for j, a in enumerate(args)]
        for s in slots:
            held[k] = _term(_filled(s.value, own), along_own, term)
            found.append(TangentSlot(_at(s.numbers, at), call(op, *held, **params)))
    return found


_WEIGHTS = 1 << 16
"""So many elements a matrix may have that an op is taken for."""


def _weighed(
    op: Op, k: int, args: Sequence[Any], own: list[TangentSlot], aval: Aval, params: dict
) -> list[TangentSlot] | None:
    """Of an op that is linear, such as a transform or a solution: sums with the weights in its matrix."""
    size, shape, dtype = args[k]._aval.size, args[k].shape, args[k]._aval.dtype
    if size * aval.size > _WEIGHTS or dtype.kind == "c":
        return None  # (of complex numbers it need not be linear, but in their parts)
    given = [np.zeros(*a._aval) if isinstance(a, Slots) else a for a in args]
    columns = []
    for unit in np.eye(size, dtype=dtype):
        given[k] = unit.reshape(shape)
        columns.append(reshape(call(op, *given, **params), shape=(1, aval.size)))
    if not columns or not aval.size:
        return []
    weights = concatenate(*columns, axis=0)
    nonzero = np.ones(shape_of(weights), bool) if isinstance(weights, Traced) else np.asarray(weights) != 0
    counts = nonzero.sum(axis=0)
    if counts.max() * len(own) > MOST:
        return None
    order = np.argsort(~nonzero, axis=0, kind="stable")  # the columns of each row that are not zero, first
    found = []
    for rank in range(counts.max()):
        places = np.where(rank < counts, order[rank], -1)
        at = np.maximum(places, 0)
        weight = index(weights, at, np.arange(aval.size), pattern=(ARRAY, ARRAY))
        for s in own:
            part = index(reshape(_filled(s.value, shape), shape=(size,)), at, pattern=(ARRAY,))
            found.append(TangentSlot(_at(s.numbers, places), reshape(weight * part, shape=aval.shape)))
    return found


def _term(x: Any, axis: int | None, term: int) -> Any:
    """A slice of length one."""
    return x if axis is None else index(x, pattern=(*(slice(None),) * axis, slice(term, term + 1)))


def _applied(op: Op, k: int, args: Sequence[Any], slot: TangentSlot, params: dict) -> Any:
    """An op that moves elements, of the derivatives in a slot."""
    if not shape_of(slot.value):
        return slot.value
    given = [
        _filled(slot.value, shape_of(a)) if j == k else np.zeros(*aval_of(a)) if j < op.data_count(args, params) else a
        for j, a in enumerate(args)
    ]
    return call(op, *given, **params)


def _ranked(step: Added | Pairs, count: int, most: int) -> list[np.ndarray] | None:
    """Where the elements of sums come from: the first ones of all sums, the second ones, …; None if there are more."""
    rows, columns = pairs_of(step)
    if len(rows) > most * count:
        return None
    order = np.argsort(rows, kind="stable")
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows, side="left")
    if rank.max(initial=0) >= most:
        return None
    sources = []
    for r in range(int(rank.max(initial=0)) + 1):
        places = np.full(count, -1)
        places[rows[rank == r]] = columns[rank == r]
        sources.append(places)
    return sources


def _moved(numbers: np.ndarray, steps: Sequence[Any]) -> np.ndarray:
    for step in steps:
        numbers = _at(numbers, step.places)
    return numbers


def _at(numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places < 0, -1, numbers[places]) if len(numbers) else np.full(len(places), -1)


def _filled(value: Any, shape: tuple) -> Any:
    return value if shape_of(value) == shape else call(broadcast_to, value, shape=shape)


# --------------------------------------------------------------------------------------------------------- merging


def merged(slots: Sequence[TangentSlot], shape: tuple) -> list[TangentSlot]:
    """As few slots as can be: those are put together that nowhere have two different numbers."""
    found: list[TangentSlot] = []
    for slot in slots:
        for place, other in enumerate(found):
            both = _together(other, slot, shape)
            if both is not None:
                found[place] = both
                break
        else:
            found.append(slot)
    return found


def _together(a: TangentSlot, b: TangentSlot, shape: tuple) -> TangentSlot | None:
    m, n = a.numbers, b.numbers
    if m is n or np.array_equal(m, n):
        return TangentSlot(m, a.value + b.value)
    if len(m) and m[0] != n[0] and m[0] >= 0 and n[0] >= 0:
        return None
    has, other = m >= 0, n >= 0
    if not np.all(~has | ~other | (m == n)):
        return None
    numbers = np.where(has, m, n)
    mask = _mask(has, shape)
    if not np.any(has & other):
        return TangentSlot(numbers, call(where, mask, a.value, b.value))
    value = call(where, mask, a.value, 0) + call(where, _mask(other, shape), b.value, 0)
    return TangentSlot(numbers, value)


def _mask(has: np.ndarray, shape: tuple) -> np.ndarray:
    """Flat truth values in a shape that broadcasts to the given one, as small as can be: what is the same in all rows
    is known beforehand, and a row can be read without the others."""
    mask = has.reshape(shape)
    for axis in range(len(shape)):
        first = mask[(*(slice(None),) * axis, slice(0, 1))]
        if np.array_equal(mask, np.broadcast_to(first, mask.shape)):
            mask = first
    return mask
