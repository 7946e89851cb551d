"""Batches: a value with a hidden leading axis.

A `Batch` looks like one example; its value holds all of them, stacked along axis 0. Forward mode with many tangents
and reverse mode with many cotangents are the ordinary modes with a `Batch` for the tangent.

An op without a batch rule is applied example by example: right, but slow.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.functions.operands import NUMBERS, promoting
from wengert.box.writing import overwrite
from wengert.errors import ConcretizationError, Signal, WengertError
from wengert.modes.mode import Mode
from wengert.ops.derive import Control, Unmapped
from wengert.ops.numbers import python_number
from wengert.ops.op import TABLE, Op, Traced, call, fresh_tag
from wengert.ops.shape import astype, broadcast_to
from wengert.ops.store import place_in_batch
from wengert.ops.succeeds import ask_before
from wengert.ops.traits import PLACE, VALUES
from wengert.running import running
from wengert.types import SCALARS, Aval, dtype_of, shape_of


class Batch(Box):
    """Many examples that look like one."""

    __slots__ = ()
    _state = ("_owner", "_value", "_is_pythons")

    _owner: BatchTrace

    def __init__(self, trace: BatchTrace, value: Any, is_pythons: bool = False):
        self._owner = trace
        self._value = value
        self._is_pythons = is_pythons

    @property
    def _is_python_number(self) -> bool:
        """The examples lie in an array, which does not say it."""
        return self._is_pythons

    @Box.shape.getter  # type: ignore[attr-defined]
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._value)[1:]

    def __bool__(self) -> bool:
        size, v = self._owner.size, self._numbers()
        if not size:
            return False
        if shape_of(v) != (size,):
            return bool(np.zeros(shape_of(v)[1:], bool))  # NumPy's error for arrays of more or fewer elements than one
        some = np.any(v)
        if bool(np.equal(some, np.all(v))):
            return bool(some)
        raise self._owner.apart("a decision by a value")

    def __int__(self) -> int:
        return int(self._common("int(x) of a value"))

    def __float__(self) -> float:
        return float(self._common("float(x) of a value"))

    def __hash__(self) -> int:
        if self.shape or self.dtype.kind not in "biu":
            return super().__hash__()
        return hash(self._common("a key"))

    def __index__(self) -> int:
        return operator.index(self._common("an index or a number of repetitions"))

    def _numbers(self) -> Any:
        """The one element that each example has; what there is if it has several, or none."""
        shape = shape_of(self._value)
        is_one = len(shape) > 1 and all(n == 1 for n in shape[1:])
        return np.reshape(self._value, (self._owner.size,)) if is_one else self._value

    def _common(self, what: str) -> Any:
        """The number that all examples have in common."""
        v = self._value
        if shape_of(v) != (self._owner.size,):
            return v
        if not self._owner.size:
            return dtype_of(v).type(0)
        if bool(np.all(np.equal(v, v[0]))):
            return v[0]
        raise self._owner.apart(what)


class Apart(Signal):
    """Examples of a batch go different ways: from here on they have to be run one by one."""

    def __init__(self, trace: BatchTrace):
        self.trace = trace


class ExamplesDiffer(ConcretizationError):
    """The same, where nobody waits to run them one by one, or the batch is one of code that an op holds."""


Batch.__name__ = "traced array"


@functools.cache
def _class_in_python(op: Op, kinds: str) -> type:
    """The class of what an elementwise op gives for numbers of Python's own: for `*` another of them, for `np.sin` one
    of NumPy's."""
    with np.errstate(all="ignore"):
        return op.impl(*[NUMBERS[kind] for kind in kinds]).__class__


def _of_pythons_numbers(op: Op, args: tuple, values: tuple, mapped: tuple, params: dict) -> tuple[bool, tuple]:
    """Whether an op of Python's numbers, one in each example, makes such numbers, and the operands that it is given."""
    if not all(a.__class__ in SCALARS or (isinstance(a, Box) and a._is_python_number) for a in args):
        return False, _promoted_weakly(args, values, mapped)
    return (False, values) if params else _in_python(op, args, values, mapped)


def _in_python(op: Op, args: tuple, values: tuple, mapped: tuple) -> tuple[bool, tuple]:
    """Whether an op of numbers of Python's own gives such a number, and what goes into it. Truth values count for most
    operators: two of them add up to 2."""
    kinds = "".join([dtype_of(a).kind for a in args])
    found = _class_in_python(op, kinds)
    if found is int and set(kinds) == {"b"}:
        wide = np.dtype(np.int64)
        values = tuple([astype(v, dtype=wide) if m else int(v) for v, m in zip(values, mapped, strict=True)])
    return found in SCALARS, values


def _promoted_weakly(args: tuple, values: tuple, mapped: tuple) -> tuple:
    """What goes into an op, where numbers of Python's own take over the precision of NumPy's that they meet."""
    promoted = np.result_type(*map(promoting, args))
    if promoted.kind not in "fc" or promoted == np.result_type(*map(dtype_of, args)):
        return values
    return tuple(
        [astype(v, dtype=promoted) if m and a._is_pythons else v for a, v, m in zip(args, values, mapped, strict=True)]
    )


class BatchTrace(Mode):
    """One hidden axis."""

    __slots__ = ("alive", "shown", "size", "splits", "tag")
    name = "batch"
    boxes = Batch
    companions = 0
    batches = True

    def __init__(self, size: int):
        self.tag = fresh_tag()
        self.alive = True
        self.size = size
        self.shown = False
        """Whether there is a text of the examples, all together."""
        self.splits = False
        """Whether somebody waits to run the examples one by one, if they go different ways (`Apart`)."""

    def apart(self, what: str) -> BaseException:
        """What is raised where examples go different ways."""
        if self.splits:
            return Apart(self)
        return ExamplesDiffer(
            f"{what} that differs between examples",
            remedy="use np.where(condition, a, b) instead of if and of masks, and np.logical_and instead of and",
        )

    def note_text(self, is_part: bool) -> None:
        if is_part and self.splits and running.state.capture is None:
            raise Apart(self)  # a part of a text that is being put together, which each example has for itself
        self.shown = True

    @property
    def key(self) -> Any:
        return ("batch", self.size)

    def fresh(self) -> BatchTrace:
        return BatchTrace(self.size)

    def split(self, box: Any) -> list[Any]:
        return [box._value]

    def join(self, parts: Sequence[Any]) -> Batch:
        return Batch(self, *parts)

    def constant(self, x: Any) -> list[Any]:
        return [self.unwrap(x)]

    def avals(self, aval: Aval) -> list[Aval]:
        return [Aval((self.size, *aval.shape), aval.dtype)]

    def unstacked(self, parts: list[Any]) -> list[Any]:
        return [np.moveaxis(parts[0], 1, 0)]

    def some(self, parts: Sequence[Any]) -> Any:
        return call(TABLE["any"], parts[0], axis=(0,))

    def most(self, parts: Sequence[Any]) -> Any:
        return np.max(parts[0], initial=0) if parts[0].__class__ is np.ndarray or not self.size else np.max(parts[0])

    def wrap(self, stacked: Any) -> Batch:
        """Examples, stacked along axis 0, as one value."""
        return Batch(self, stacked)

    def unwrap(self, x: Any) -> Any:
        """The stacked examples of a value, which may be the same for all of them."""
        if x.__class__ is Batch and x._owner is self:
            return x._value
        return call(broadcast_to, x, shape=(self.size, *shape_of(x)))

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        capture = running.state.capture
        if capture is not None and capture.tag > self.tag:
            return capture.process(op, args, params)
        if op.__class__ is Control:
            try:
                return op.lift(self, args, params)
            except ExamplesDiffer as error:
                if self.splits:
                    raise Apart(self) from error
                raise
        mapped = tuple([a.__class__ is Batch and a._owner is self for a in args])
        values = tuple([a._value if m else a for a, m in zip(args, mapped, strict=True)])
        is_pythons = op is python_number and not shape_of(args[0])
        if op.elementwise and not is_pythons and any(m and a._is_pythons for a, m in zip(args, mapped, strict=True)):
            is_pythons, values = _of_pythons_numbers(op, args, values, mapped, params)
        if op.raises in (VALUES, PLACE) and op.pure and not op.effect and capture is not None:
            ask_before(op, args, params)
        try:
            y = NotImplemented if op.batch is None else op.batch(values, mapped, params)
            if y is NotImplemented:
                y = self._one_by_one(op, values, mapped, params)
        except (ArithmeticError, LookupError, RuntimeError, ValueError) as error:
            if capture is not None or not self.splits or isinstance(error, WengertError):
                raise
            raise Apart(self) from error  # a `try` may catch it, for the examples for which it is raised
        if y.__class__ is tuple:
            return tuple([part.value if part.__class__ is Unmapped else Batch(self, part) for part in y])
        return y.value if y.__class__ is Unmapped else Batch(self, y, is_pythons)

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        capture = running.state.capture
        if any(isinstance(a, Traced) for a in arrays) or (capture is not None and capture.tag > self.tag):
            return NotImplemented
        mine = self.owns(v)
        found = place_in_batch(shape_of(box._value), v._value if mine else v, mine, arrays, pattern)
        if found is NotImplemented:
            return NotImplemented
        v, pattern = found
        overwrite(box, "_value", v, pattern, arrays)
        return None

    def _one_by_one(self, op: Op, values: tuple, mapped: tuple, params: dict) -> Any:
        results = [
            call(op, *[v[k] if m else v for v, m in zip(values, mapped, strict=True)], **params)
            for k in range(self.size)
        ]
        if results[0].__class__ is tuple:
            return tuple([self._stacked(op, parts) for parts in zip(*results, strict=True)])
        return self._stacked(op, results)

    def _stacked(self, op: Op, examples: Sequence[Any]) -> Any:
        if any(shape_of(x) != shape_of(examples[0]) for x in examples):
            what = "an array" if op.name == "true_positions" else f"{op.name} gives arrays"
            raise self.apart(f"{what} of a length")
        return np.stack(examples)
