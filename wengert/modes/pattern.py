"""Patterns: which elements of the arguments a tangent depends on.

A `Pattern` looks like a tangent and has no value, only a set of numbers for each of its elements: those of the
elements of the arguments that it depends on (`sets.py`). The pattern of a Jacobian is forward mode with such tangents.
What is not linear never meets one, since forward mode has taken derivatives before: a comparison has no tangent, the
tangent of a product is a sum of two terms, and a coefficient that is known to be zero cuts. So the pattern is that of
the derivatives which are computed, whatever rules they come from, and what ops must say is what their linear part looks
like (`ops/links.py`). The pattern of a Hessian is that of the Jacobian of the gradient.

In a program that is to serve for all values of the arguments, values that depend on them are not known. They are
`Pattern`s that depend on nothing. All others are computed: loop counters, indices, constants (`control/united.py`).

(Index sets propagated beside values are due to Dixon, Maany and Mohseninia 1990; Griewank and Walther 2008, §7.1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.abstract import AbstractBox
from wengert.errors import Signal, StagingError
from wengert.modes.mode import Mode
from wengert.modes.sets import Sets, one_set, stacked, united
from wengert.ops.derive import Control, Elementwise, Zero, result_aval
from wengert.ops.index import ARRAY, index
from wengert.ops.links import joint_links, links
from wengert.ops.op import Op, Traced, fresh_tag
from wengert.ops.store import store
from wengert.types import Aval, aval_of, is_inexact, ndim_of


class Pattern(AbstractBox):
    """A value of which is known on which elements of the arguments its elements depend.

    `_node` has the sets, or None if they are empty. `_span` is true of what a loop has made in iterations whose number
    is not known: the array has a first axis of length one, on which all of them are united.
    """

    __slots__ = ()
    _state = ("_owner", "_node", "_aval", "_span")

    _owner: PatternTrace

    def __init__(self, trace: PatternTrace, aval: Aval, sets: Sets | None, any_number: bool = False):
        self._owner = trace
        self._node = sets
        self._aval = aval
        self._span = any_number

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            raise not_known("a value")
        return super().__getattr__(name)

    def __bool__(self) -> bool:
        raise not_known("a decision")

    def __int__(self) -> int:
        raise not_known("a number")

    def __float__(self) -> float:
        raise not_known("a number")

    def __index__(self) -> int:
        raise not_known("a length or a place")

    def __repr__(self) -> str:
        return f"<pattern of shape {self._aval.shape}>"


Pattern.__name__ = "traced array"


def not_known(what: str) -> StagingError:
    """The error for something that is known only at a point."""
    return StagingError(
        f"{what} that depends on the values of the arguments, so that there is no one pattern for all of them",
        remedy="ask for the pattern at this point, wg.sparsity(f, local=True), or give one yourself, sparse=pattern",
    )


class PatternTrace(Mode):
    """Tangents that depend on `width` elements of the arguments."""

    __slots__ = ("alive", "asks", "tag", "width")
    name = "pattern"
    boxes = Pattern
    companions = 0

    def __init__(self, width: int):
        self.tag = fresh_tag()
        self.alive = True
        self.width = width
        self.asks = False
        """Whether an op that reads or writes at unknown places is an error: they could be known."""

    def unit(self, aval: Aval, start: int) -> Pattern:
        """The tangent of an argument whose elements have the numbers from `start` on."""
        return Pattern(self, aval, Sets.units(aval.size, start, self.width))

    def unknown(self, aval: Aval) -> Pattern:
        """A value that is not known, and does not depend on anything."""
        return Pattern(self, aval, None)

    def sets_of(self, x: Any) -> Sets:
        """The sets of anything: what is plain depends on nothing."""
        if self.owns(x) and x._node is not None:
            return x._node
        return Sets.empty(aval_of(x).size, self.width)

    def results(self, op: Op, args: Sequence[Any], params: dict) -> tuple[bool, list[Aval]]:
        """Whether an op gives a tuple, and shapes and dtypes of its results."""
        return False, [result_aval(op, args, params)]

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if op.__class__ is Control:
            return op.lift(self, args, params)
        one = self._of_one_element(op, args, params)
        if one is not None:
            return one
        any_number = False
        for a in args:
            if a.__class__ is Pattern and a._span and not _reads_somewhere(op, args, params):
                any_number = _keeps_length(op, args)
                if not any_number:
                    raise not_known("the number of iterations of a loop")
        several, avals = self.results(op, args, params)
        data = op.data_count(args, params)
        active = [k for k, a in enumerate(args[:data]) if self.owns(a) and a._node is not None]
        if isinstance(op, Zero):
            active = []
        if self.asks and active and any(self.owns(a) for a in args[data:]):
            raise PlacesUnknown
        made = []
        for aval in avals:
            if not active or not is_inexact(aval.dtype):
                made.append(Pattern(self, aval, None, any_number))
            else:
                made.append(Pattern(self, aval, _result_sets(op, active, args, aval.shape, params), any_number))
        return tuple(made) if several else made[0]

    def _of_one_element(self, op: Op, args: tuple, params: dict) -> Pattern | None:
        """A number, or one element that is read or written: what loops of Python do. None for anything else."""
        first = args[0]
        if op is index or op is store:
            if not self.owns(first) or first._span or not is_inexact(first.dtype):
                return None
            k = _place(params["pattern"], first.shape)
            if k is None:
                return None
            sets = self.sets_of(first)
            if op is index:
                row = sets.rows[k]
                return Pattern(self, Aval((), first.dtype), one_set(row, self.width) if len(row) else None)
            if len(args) != 2 or ndim_of(args[1]):
                return None
            return Pattern(self, first._aval, sets.with_row(k, self.sets_of(args[1]).indices))
        if params or not isinstance(op, Elementwise):
            return None
        union = None
        for k, a in enumerate(args):
            if self.owns(a):
                if a._aval != _NUMBER:
                    return None
                if a._node is not None and not _vanishes(op, k, args):
                    union = a._node if union is None else united(union, a._node)
            elif a.__class__ is not float and a.__class__ is not np.float64:
                return None
        return Pattern(self, _NUMBER, union)


_NUMBER = Aval((), np.dtype(float))


def _place(pattern: tuple, shape: tuple) -> int | None:
    """Which element of an array a pattern of integers means."""
    if len(pattern) != len(shape):
        return None
    place = 0
    for k, n in zip(pattern, shape, strict=True):
        if k.__class__ is not int or not -n <= k < n:
            return None
        place = place * n + k % n
    return place


def _vanishes(op: Elementwise, k: int, args: tuple) -> bool:
    """Whether an op on numbers is linear in one of them, with a coefficient that is known and zero."""
    if not op.is_linear(k) or not callable(op.partials[k]):
        return False
    c = op.coefficient(k, None, args, {})
    return not isinstance(c, Traced) and not c


class PlacesUnknown(Signal):
    """Derivatives are read or written at places that are not known."""


def _reads_somewhere(op: Op, args: Sequence[Any], params: dict) -> bool:
    """Whether an op reads what an iteration has made, it is not known which."""
    return op is index and params["pattern"][0] is ARRAY and args[1].__class__ is Pattern and not args[1].shape


def _keeps_length(op: Op, args: Sequence[Any]) -> bool:
    """Whether an op works on each iteration's values by themselves."""
    rank = max(ndim_of(a) for a in args)
    return op.elementwise and all(a.__class__ is Pattern and a._span for a in args if ndim_of(a) == rank)


def _result_sets(op: Op, active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> Sets | None:
    steps = joint_links(op, active, args, shape, params)
    if steps is not None:
        total = stacked([args[k]._node for k in active]).after(steps)
    else:
        total = args[active[0]]._node.after(links(op, active[0], args, shape, params))
        for k in active[1:]:
            total = united(total, args[k]._node.after(links(op, k, args, shape, params)))
    return total if len(total.indices) else None
