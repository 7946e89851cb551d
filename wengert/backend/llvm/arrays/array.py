"""Arrays that are computed by whoever reads them.

An `Array` has lengths (i64 values) and a way to load the element at some indices. It may lie in memory (`buffer`), or
be an expression over others that do. Elementwise ops, views and gathers only compose loads: that is how loops fuse.

`flat`, if there is one, loads by position in C order: then one loop does for arrays of any rank.

An array knows the slots it reads and at which epoch of each (see `memory.py`). A load from a slot that was written to
since is a mistake in the plan; it is found while code is written, not when a number is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    Scalar,
    contiguous_strides,
    element_type,
    known,
    load_element,
    minus,
    offset_of,
    plus,
    times,
)
from wengert.backend.llvm.context import Context
from wengert.backend.plan.memory import Slot

Load = Callable[[Sequence[ir.Value]], Scalar]


@dataclass
class Array:
    """See the module's text."""

    lengths: list[ir.Value]
    dtype: np.dtype
    load: Load
    flat: Callable[[ir.Value], Scalar] | None = None
    buffer: Buffer | None = None
    epochs: dict[int, tuple[Slot, int]] = field(default_factory=dict)
    whole: bool = False  # it is all of a slot, in order

    @property
    def ndim(self) -> int:
        return len(self.lengths)

    def slots(self) -> list[Slot]:
        return [slot for slot, _ in self.epochs.values()]

    def check(self) -> None:
        """Whether what is to be read is still there."""
        for slot, epoch in self.epochs.values():
            assert slot.epoch == epoch, "the plan lets a value be overwritten that is still read"


NEVER_ONE = " (a length that is known only when the compiled program runs is never taken for one)"
"""Why something is not broadcast that NumPy would broadcast."""


def in_memory(cx: Context, buffer: Buffer, slot: Slot | None = None) -> Array:
    """The array that lies in a buffer."""
    epochs = {id(slot): (slot, slot.epoch)} if slot is not None else {}
    found = reading(cx, buffer, epochs)
    found.whole = slot is not None
    return found


def reading(cx: Context, buffer: Buffer, epochs: dict[int, tuple[Slot, int]]) -> Array:
    def check() -> None:
        for slot, epoch in epochs.values():
            assert slot.epoch == epoch, "the plan lets a value be overwritten that is still read"

    def load(indices: Sequence[ir.Value]) -> Scalar:
        check()
        return load_element(cx.builder, buffer.pointer, offset_of(cx.builder, buffer, indices), buffer.dtype)

    def flat(position: ir.Value) -> Scalar:
        check()
        return load_element(cx.builder, buffer.pointer, position, buffer.dtype)

    return Array(buffer.lengths, buffer.dtype, load, flat if buffer.strides is None else None, buffer, epochs)


def joined(arrays: Sequence[Array]) -> dict[int, tuple[Slot, int]]:
    """What is read when all of these are."""
    epochs: dict[int, tuple[Slot, int]] = {}
    for a in arrays:
        epochs.update(a.epochs)
    return epochs


def strides_of(cx: Context, buffer: Buffer) -> list[ir.Value]:
    return contiguous_strides(cx.builder, buffer.lengths) if buffer.strides is None else buffer.strides


def same_known_lengths(a: Sequence[ir.Value], b: Sequence[ir.Value]) -> bool:
    """Whether lengths are the same for sure: equal constants, or the very same value."""
    return len(a) == len(b) and all(same_length(x, y) for x, y in zip(a, b, strict=True))


def same_length(x: ir.Value, y: ir.Value) -> bool:
    return x is y or (known(x) is not None and known(x) == known(y))


# ------------------------------------------------------------------------------------------------------------- views


def remapped(
    cx: Context,
    x: Array,
    lengths: list[ir.Value],
    indices_of: Callable[[Sequence[ir.Value]], list[ir.Value]],
    start: ir.Value | None = None,
    strides: list[ir.Value] | None = None,
    contiguous: bool = False,
) -> Array:
    """The elements of x under other indices: `indices_of(indices of the result)` are those in x.

    If x lies in memory and the map is affine, `start` (an offset in elements) and `strides` say so as well, and the
    result lies in memory too. `contiguous` says that these strides are those of C order.
    """
    if x.buffer is not None and strides is not None:
        pointer = x.buffer.pointer
        if start is not None and known(start) != 0:
            pointer = cx.builder.gep(pointer, [start], inbounds=True, source_etype=element_type(x.dtype))
        return reading(cx, Buffer(pointer, lengths, None if contiguous else strides, x.dtype), x.epochs)
    return Array(lengths, x.dtype, lambda indices: x.load(indices_of(indices)), None, None, x.epochs)


def transposed(cx: Context, x: Array, axes: Sequence[int]) -> Array:
    def indices_of(indices: Sequence[ir.Value]) -> list[ir.Value]:
        found: list[ir.Value] = [I64(0)] * len(axes)
        for index, axis in zip(indices, axes, strict=True):
            found[axis] = index
        return found

    strides = [strides_of(cx, x.buffer)[a] for a in axes] if x.buffer is not None else None
    return remapped(cx, x, [x.lengths[a] for a in axes], indices_of, None, strides, tuple(axes) == tuple(range(x.ndim)))


def broadcasted(cx: Context, x: Array, lengths: list[ir.Value]) -> Array:
    """x with axes of length one, or missing in front, repeated. Lengths were checked."""
    extra = len(lengths) - x.ndim
    if extra == 0 and same_known_lengths(x.lengths, lengths):
        return x
    stretched = [known(n) == 1 and known(m) != 1 for n, m in zip(x.lengths, lengths[extra:], strict=True)]

    def indices_of(indices: Sequence[ir.Value]) -> list[ir.Value]:
        return [I64(0) if s else i for i, s in zip(indices[extra:], stretched, strict=True)]

    strides = None
    if x.buffer is not None:
        own = [I64(0) if s else stride for stride, s in zip(strides_of(cx, x.buffer), stretched, strict=True)]
        strides = [I64(0)] * extra + own
    return remapped(cx, x, lengths, indices_of, None, strides)


def flipped(cx: Context, x: Array, axes: Sequence[int]) -> Array:
    def mirrored(index: ir.Value, k: int) -> ir.Value:
        b = cx.builder
        return minus(b, minus(b, x.lengths[k], I64(1)), index) if k in axes else index

    def indices_of(indices: Sequence[ir.Value]) -> list[ir.Value]:
        return [mirrored(index, k) for k, index in enumerate(indices)]

    start: ir.Value | None = None
    strides = None
    if x.buffer is not None:
        b, own = cx.builder, strides_of(cx, x.buffer)
        start = I64(0)
        strides = []
        for k, stride in enumerate(own):
            if k in axes:
                start = plus(b, start, times(b, minus(b, x.lengths[k], I64(1)), stride))
                strides.append(times(b, stride, I64(-1)))
            else:
                strides.append(stride)
    return remapped(cx, x, x.lengths, indices_of, start, strides)


def constant_array(cx: Context, value: Scalar, dtype: np.dtype, lengths: list[ir.Value]) -> Array:
    """One scalar, everywhere."""
    return Array(lengths, dtype, lambda indices: value, lambda position: value)


def respaced(cx: Context, x: Array, lengths: list[ir.Value], kept: Sequence[int | None]) -> Array:
    """x with axes of length one added or left out: axis k of the result is axis kept[k] of x, or a new one."""

    def indices_of(indices: Sequence[ir.Value]) -> list[ir.Value]:
        found: list[ir.Value] = [I64(0)] * x.ndim
        for index, k in zip(indices, kept, strict=True):
            if k is not None:
                found[k] = index
        return found

    strides, contiguous = None, False
    if x.buffer is not None:
        own = strides_of(cx, x.buffer)
        strides = [I64(1) if k is None else own[k] for k in kept]
        contiguous = x.buffer.strides is None
    found = remapped(cx, x, lengths, indices_of, None, strides, contiguous)
    if found.flat is None:
        found.flat = x.flat
    return found
