"""Batches: a value with a hidden leading axis.

A `Batch` looks like one example; its value holds all of them, stacked along axis 0. Forward mode with many tangents
and reverse mode with many cotangents are the ordinary modes with a `Batch` for the tangent.

An op without a batch rule is applied example by example: right, but slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.writing import overwrite
from wengert.errors import ConcretizationError
from wengert.ops.derive import Unmapped
from wengert.ops.op import Op, Trace, Traced, call, fresh_tag
from wengert.ops.shape import broadcast_to
from wengert.ops.store import place_in_batch
from wengert.running import running
from wengert.types import dtype_of, shape_of


class Batch(Box):
    """Many examples that look like one."""

    __slots__ = ()

    def __init__(self, trace: BatchTrace, value: Any):
        self._owner = trace
        self._value = value

    @Box.shape.getter  # type: ignore[attr-defined]
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._value)[1:]

    @Box.dtype.getter  # type: ignore[attr-defined]
    def dtype(self) -> np.dtype:
        return dtype_of(self._value)

    def __bool__(self) -> bool:
        raise ConcretizationError(
            "a decision by a value that differs between examples",
            remedy="use np.where(condition, a, b) instead of if, and np.logical_and instead of and",
        )


class BatchTrace(Trace):
    """One hidden axis."""

    __slots__ = ("size", "tag")
    batches = True

    def __init__(self, size: int):
        self.tag = fresh_tag()
        self.size = size

    def wrap(self, stacked: Any) -> Batch:
        """Examples, stacked along axis 0, as one value."""
        return Batch(self, stacked)

    def owns(self, x: Any) -> bool:
        """Whether a value differs between the examples of this batch."""
        return x.__class__ is Batch and x._owner is self

    def unwrap(self, x: Any) -> Any:
        """The stacked examples of a value, which may be the same for all of them."""
        if x.__class__ is Batch and x._owner is self:
            return x._value
        return call(broadcast_to, x, shape=(self.size, *shape_of(x)))

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        capture = running.state.capture
        if capture is not None and capture.tag > self.tag:
            return capture.process(op, args, params)
        mapped = tuple([a.__class__ is Batch and a._owner is self for a in args])
        values = tuple([a._value if m else a for a, m in zip(args, mapped, strict=True)])
        y = NotImplemented if op.batch is None else op.batch(values, mapped, params)
        if y is NotImplemented:
            y = self._one_by_one(op, values, mapped, params)
        if y.__class__ is tuple:
            return tuple([part.value if part.__class__ is Unmapped else Batch(self, part) for part in y])
        return y.value if y.__class__ is Unmapped else Batch(self, y)

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
            return tuple(np.stack(parts) for parts in zip(*results, strict=True))
        return np.stack(results)
