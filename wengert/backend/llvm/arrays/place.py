"""Places in an array: what an index means in native code.

`CheckedIndex` takes the lengths of an array and an index (pattern and arrays, see `ops/index.py`), checks the index
once, and then maps indices of the part to indices of the array. Reading (`index`) and writing (`store`, `add_at`,
`scatter`) share it. Where the index is basic the map is affine, and the part of a buffer is a buffer.

Negative indices count from the end, slices clip, others out of range raise IndexError, as in NumPy. Arrays and ints
that are separated by slices put their axes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array, strides_of
from wengert.backend.llvm.arrays.buffer import I64, Buffer, known, minus, plus, times
from wengert.backend.llvm.context import Context
from wengert.backend.plan.access import is_supported
from wengert.ir.node import Dyn
from wengert.ops.index import ARRAY, arrays_come_first, axes_used, explicit

_MOST = (1 << 63) - 1


class UnsupportedIndex(Exception):
    """There is no native code for this index."""


class _Slice(NamedTuple):
    start: ir.Value
    step: int
    axis: int  # of the part


class CheckedIndex:
    """The part of an array that an index names. `arrays` are `Array`s, or i64 values for 0-d ones."""

    def __init__(
        self,
        cx: Context,
        lengths: Sequence[ir.Value],
        pattern: tuple,
        arrays: Sequence[Any],
        part: tuple[int | Dyn, ...] | None = None,
    ):
        if not is_supported(pattern):
            raise UnsupportedIndex
        self.cx = cx
        self.lengths: list[ir.Value] = []
        self.selectors: list[Any] = []  # for each axis of the array: an i64 value, a _Slice, or an Array
        self.fancy = any(isinstance(a, Array) for a in arrays)
        pattern = explicit(pattern, len(lengths))
        pattern += (slice(None),) * (len(lengths) - axes_used(pattern))
        remaining = iter(arrays)
        items = [next(remaining) if item is ARRAY else item for item in pattern]
        first = self._fancy_position(pattern, items)
        if self.fancy:
            self._broadcast([a for a in arrays if isinstance(a, Array)])
        else:
            self.joint: list[ir.Value] = []
        axis = 0
        for k, item in enumerate(items):
            if self.fancy and first == k:
                self.joint_at = len(self.lengths)
                self.lengths += self.joint
            if item is Ellipsis:
                continue
            if item is None:
                self.lengths.append(I64(1))
            elif isinstance(item, slice):
                self._slice(item, lengths[axis])
                axis += 1
            else:
                self.selectors.append(self._checked(item, axis, lengths[axis]))
                axis += 1
        if part is not None:
            self._agree(part)
        self.of = list(lengths)

    def _fancy_position(self, pattern: tuple, items: list) -> int:
        """Before which item the axes of the arrays come."""
        if not self.fancy or arrays_come_first(pattern):
            return 0
        return next(k for k, item in enumerate(items) if item is not None and not isinstance(item, slice))

    def _agree(self, part: tuple[int | Dyn, ...]) -> None:
        """Lengths that the program knows are taken from there, once they were checked."""
        cx = self.cx
        assert len(part) == len(self.lengths), "the part has another rank than its type says"
        for k, n in enumerate(part):
            if isinstance(n, int) and known(self.lengths[k]) != n:
                wrong = cx.builder.icmp_signed("!=", self.lengths[k], I64(n))
                cx.fail_if(
                    wrong, "ValueError", f"an index gives {{0}} elements where {n} were expected", self.lengths[k]
                )
                self.lengths[k] = I64(n)

    # -------------------------------------------------------------------------------------------------- the parts

    def _slice(self, item: slice, n: ir.Value) -> None:
        step = 1 if item.step is None else item.step
        start, length = slice_bounds(self.cx, item.start, item.stop, step, n)
        self.selectors.append(_Slice(start, step, len(self.lengths)))
        self.lengths.append(length)

    def _checked(self, item: Any, axis: int, n: ir.Value) -> Any:
        if isinstance(item, Array):
            self._check_all(item, axis, n)
            return item, n
        index = I64(item) if isinstance(item, int) else item
        return self._wrapped(index, axis, n, check=True)

    def _wrapped(self, index: ir.Value, axis: int, n: ir.Value, check: bool) -> ir.Value:
        b = self.cx.builder
        i, m = known(index), known(n)
        if i is not None and m is not None and -m <= i < m:
            return I64(i % m)
        found = index
        within = self.cx.ranges.within
        if m is not None and within(index, 0, m - 1):
            return index
        if (i is None or i < 0) and not within(index, 0, _MOST):
            negative = b.icmp_signed("<", index, I64(0))
            found = b.select(negative, b.add(index, n), index)
        if check and (m is None or not within(index, -m, m - 1)):
            outside = b.icmp_unsigned(">=", found, n)
            message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
            self.cx.fail_if(outside, "IndexError", message, index, n)
        return found

    def _check_all(self, array: Array, axis: int, n: ir.Value) -> None:
        if array.flat is not None:
            total: ir.Value = I64(1)
            for length in array.lengths:
                total = times(self.cx.builder, total, length)
            with self.cx.loop(total) as i:
                self._wrapped(array.flat(i), axis, n, check=True)
            return
        with self.cx.loops(array.lengths) as indices:
            self._wrapped(array.load(indices), axis, n, check=True)

    def _broadcast(self, arrays: list[Array]) -> None:
        """The lengths of the arrays, broadcast against each other."""
        rank = max(a.ndim for a in arrays)
        joint: list[ir.Value] = [I64(1)] * rank
        for a in arrays:
            for k, n in enumerate(a.lengths, rank - a.ndim):
                if known(joint[k]) == 1:
                    joint[k] = n
                elif known(n) != 1:
                    message = "shape mismatch: indexing arrays could not be broadcast together with lengths {0} and {1}"
                    self.cx.fail_if_differ(joint[k], n, message, "IndexError")
        self.joint = joint

    # -------------------------------------------------------------------------------------------------- the map

    def indices(self, part: Sequence[ir.Value]) -> list[ir.Value]:
        """The indices in the array of the element at these indices of the part."""
        b = self.cx.builder
        found: list[ir.Value] = []
        for selector in self.selectors:
            if isinstance(selector, _Slice):
                step = times(b, part[selector.axis], I64(selector.step))
                found.append(plus(b, selector.start, step))
            elif isinstance(selector, tuple):
                array, n = selector
                found.append(self._wrapped(array.load(self._own(array, part)), 0, n, check=False))
            else:
                found.append(selector)
        return found

    def _own(self, array: Array, part: Sequence[ir.Value]) -> list[ir.Value]:
        shared = part[self.joint_at : self.joint_at + len(self.joint)][len(self.joint) - array.ndim :]
        return [I64(0) if known(n) == 1 else i for i, n in zip(shared, array.lengths, strict=True)]

    def affine(self, buffer: Buffer | None) -> tuple[ir.Value, list[ir.Value], bool] | None:
        """Offset and strides of the part of a buffer, and whether it is C-contiguous; `None` if it is no such part."""
        if buffer is None or self.fancy:
            return None
        b = self.cx.builder
        own = strides_of(self.cx, buffer)
        start: ir.Value = I64(0)
        strides: list[ir.Value] = [I64(1)] * len(self.lengths)
        contiguous = buffer.strides is None
        whole_so_far = False  # once an axis is kept, all later ones must be whole
        for selector, stride, n in zip(self.selectors, own, self.of, strict=True):
            if isinstance(selector, _Slice):
                length = self.lengths[selector.axis]
                whole = length is n or (known(length) is not None and known(length) == known(n))
                contiguous = contiguous and selector.step == 1 and (whole or not whole_so_far)
                whole_so_far = True
                start = plus(b, start, times(b, selector.start, stride))
                strides[selector.axis] = times(b, stride, I64(selector.step))
            else:
                contiguous = contiguous and not whole_so_far
                start = plus(b, start, times(b, selector, stride))
        return start, strides, contiguous


def slice_bounds(cx: Context, start: Any, stop: Any, step: int, n: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Where a slice of an axis of length n begins, and its length. Bounds are ints, i64 values or None."""
    b = cx.builder
    m = known(n)
    start, stop = _plain(start), _plain(stop)
    if m is not None and not isinstance(start, ir.Value) and not isinstance(stop, ir.Value):
        first, last, _ = slice(start, stop, step).indices(m)
        return I64(first), I64(len(range(first, last, step)))
    lowest = I64(0) if step > 0 else I64(-1)
    highest = n if step > 0 else minus(b, n, I64(1))

    def clipped(bound: Any, default: ir.Value) -> ir.Value:
        if bound is None:
            return default
        if bound.__class__ is int and bound == 0 and step > 0:
            return I64(0)
        value = I64(bound) if isinstance(bound, int) else bound
        if m is not None and step > 0 and cx.ranges.within(value, 0, m):
            return value
        if not isinstance(bound, int):
            value = b.select(b.icmp_signed("<", value, I64(0)), b.add(value, n), value)
        elif bound < 0:
            value = plus(b, value, n)
        value = b.select(b.icmp_signed("<", value, lowest), lowest, value)
        return b.select(b.icmp_signed(">", value, highest), highest, value)

    first = clipped(start, I64(0) if step > 0 else highest)
    last = clipped(stop, n if step > 0 else I64(-1))
    if step > 0:
        apart = cx.ranges.difference(last, first)
        length = minus(b, last, first) if apart is None else I64(max(apart, 0))
        if step != 1:
            length = b.sdiv(b.add(length, I64(step - 1)), I64(step))
    else:
        length = minus(b, first, last)
        if step != -1:
            length = b.sdiv(b.add(length, I64(-step - 1)), I64(-step))
    if known(length) is None:
        length = b.select(b.icmp_signed("<", length, I64(0)), I64(0), length)
    return first, length


def _plain(bound: Any) -> Any:
    """A bound as an int where it is known."""
    if isinstance(bound, ir.Constant):
        return known(bound)
    return bound
