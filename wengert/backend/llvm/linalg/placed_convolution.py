"""Convolutions without columns: what meets a weight is a row of the picture itself, from another element on.

Along the last axis, at steps of one place, the elements that meet a weight lie in a row in memory already. So a row of
results is a product of matrices, weights · columns, in which each row of the second factor has a place in the picture
(`Tile`), and the gradient of a row of weights is one as well, with the results in front:

    y[o, p, :] = Σ w[o, r] · x[place r + p: …]        w[o, c, k, :] = Σ y[o, q] · x[place q + k: …]

The gradient of the picture is the convolution of the results, with zeros around them, with the weights turned round. A
zero times an infinite weight is no number where nothing meets it, so it is for finite weights only.

Copied into columns, a picture is as many times as large as the kernel has weights. That pays where the columns are used
for many channels, and fit the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    dot,
    element_pointer,
    known,
    load_element,
    plus,
    store_element,
    times,
)
from wengert.backend.llvm.linalg.matrices import Matrix, scratch, strides_of
from wengert.backend.llvm.linalg.tiles import Tile, widths_of
from wengert.backend.llvm.linalg.zero_rows import is_finite
from wengert.backend.llvm.machine.hints import vector_bytes
from wengert.backend.llvm.threads.sharing import shared

FEW_CHANNELS = 8
"""With fewer channels of results columns are not used often enough."""

LARGE = 1 << 21
"""Bytes of the columns of one example that are too many."""

_LONG = 2048
"""Longer sums are added up in parts, since errors of rounding grow with the length."""

_PLACE = np.dtype(np.int64)


@dataclass
class Geometry:
    """Sizes of a convolution: `outputs` and `inputs` channels in each of the groups."""

    examples: int
    groups: int
    outputs: int
    inputs: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    places: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    dtype: np.dtype

    @property
    def rows(self) -> int:
        """Of the columns: the weights of an output channel."""
        return self.inputs * math.prod(self.kernel)

    @property
    def each(self) -> int:
        """Columns of one example."""
        return math.prod(self.places)


def conv(cx: Any, geo: Geometry, x: Buffer, w: Buffer, y: Buffer) -> None:
    """Arrays whose elements lie in order; along the last axis the kernel goes by steps of one place."""
    steps = _steps(geo.size)
    of_channels = math.prod(geo.size)
    lengths = (geo.inputs, *geo.kernel)
    apart = (of_channels, *[s * d for s, d in zip(steps, geo.dilation, strict=True)])
    places = _listed(cx, lengths, apart)
    *outer, n = geo.places
    cost = 2 * geo.outputs * geo.rows * n
    loop = shared(
        cx, [I64(m) for m in (geo.examples, geo.groups, *outer)], weight=cost,
        cost=geo.examples * geo.groups * math.prod(outer) * cost,
    )  # fmt: skip
    with loop as (e, g, *p):
        b = cx.builder
        example = plus(b, times(b, e, I64(geo.groups)), g)
        strided = [s * d for s, d in zip(steps, geo.strides, strict=True)]
        at = plus(b, times(b, example, I64(geo.inputs * of_channels)), _dot(b, p, strided))
        to = plus(b, times(b, example, I64(geo.outputs * geo.each)), _dot(b, p, _steps(geo.places)))
        weights = _matrix(b, w, times(b, g, I64(geo.outputs * geo.rows)), geo.outputs, geo.rows, geo.rows)
        picture = _matrix(b, x, at, geo.rows, n, 0)
        _in_tiles(cx, weights, picture, _matrix(b, y, to, geo.outputs, n, geo.each), places)


def conv_input(cx: Any, geo: Geometry, y: Buffer, w: Buffer, x: Buffer) -> None:
    """Of finite weights, at steps of one place along all axes."""
    around = [(k - 1) * d for k, d in zip(geo.kernel, geo.dilation, strict=True)]
    padded = tuple([p + 2 * a for p, a in zip(geo.places, around, strict=True)])
    count = geo.examples * geo.groups * geo.outputs
    wide = _empty(cx, (count, *padded), geo.dtype)
    _clear(cx, wide)
    from_, into = _steps(geo.places), _steps(padded)
    with cx.loop(I64(count)) as c, cx.loops([I64(n) for n in geo.places], geo.dtype) as p:
        b = cx.builder
        at = plus(b, times(b, c, I64(geo.each)), _dot(b, p, from_))
        to = plus(b, times(b, c, I64(math.prod(padded))), _dot(b, p, into))
        to = plus(b, to, I64(sum(a * s for a, s in zip(around, into, strict=True))))
        store_element(b, load_element(b, y.pointer, at, geo.dtype), wide.pointer, to, geo.dtype)
    back = replace(geo, outputs=geo.inputs, inputs=geo.outputs, size=padded, places=geo.size)
    conv(cx, back, wide, turned(cx, w, geo.groups, geo.kernel, geo.outputs, geo.inputs), x)


def conv_input_by_terms(cx: Any, geo: Geometry, y: Buffer, w: Buffer, x: Buffer) -> None:
    """The same for any weights, of one channel in each group."""
    _clear(cx, x)
    of_channels, into = math.prod(geo.size), _steps(geo.size)
    with cx.loops([I64(n) for n in (geo.examples, geo.groups, *geo.kernel)]) as (e, g, *k):
        b = cx.builder
        example = plus(b, times(b, e, I64(geo.groups)), g)
        factor = load_element(b, w.pointer, _dot(b, [g, *k], [math.prod(geo.kernel), *_steps(geo.kernel)]), geo.dtype)
        with cx.loops([I64(n) for n in geo.places]) as p:
            b = cx.builder
            at = _dot(b, [example, *p], [geo.each, *_steps(geo.places)])
            to = plus(b, _dot(b, [example, *p], [of_channels, *into]), _dot(b, k, into))
            term = b.fmul(factor, load_element(b, y.pointer, at, geo.dtype))
            store_element(b, b.fadd(load_element(b, x.pointer, to, geo.dtype), term), x.pointer, to, geo.dtype)


def turned(cx: Any, w: Buffer, groups: int, kernel: tuple[int, ...], outputs: int = 1, inputs: int = 1) -> Buffer:
    """Weights from the last to the first, with input channels in front of the output channels."""
    taps = math.prod(kernel)
    found = _empty(cx, (groups * inputs * outputs * taps,), w.dtype)
    with cx.loops([I64(n) for n in (groups, outputs, inputs, taps)]) as (g, o, c, k):
        b = cx.builder
        at = _dot(b, [g, o, c, k], [outputs * inputs * taps, inputs * taps, taps, 1])
        to = _dot(b, [g, c, o], [outputs * inputs * taps, outputs * taps, taps])
        to = plus(b, to, b.sub(I64(taps - 1), k))
        store_element(b, load_element(b, w.pointer, at, w.dtype), found.pointer, to, w.dtype)
    return found


@contextmanager
def if_finite(cx: Any, w: Buffer, count: int, dtype: np.dtype) -> Iterator[Any]:
    """Two branches: where so many weights are finite, and where they are not."""
    weights = Matrix(w.pointer, I64(1), I64(count), I64(count), I64(1), dtype)
    with cx.builder.if_else(cx.builder.trunc(is_finite(cx, weights), ir.IntType(1))) as branches:
        yield branches


def conv_weight(cx: Any, geo: Geometry, x: Buffer, y: Buffer, w: Buffer) -> None:
    """Arrays whose elements lie in order; weights that follow each other meet elements that do."""
    steps = _steps(geo.size)
    of_channels = math.prod(geo.size)
    places = _listed(cx, geo.places, [s * d for s, d in zip(steps, geo.strides, strict=True)])
    *outer, n = geo.kernel
    size = geo.outputs * geo.rows
    _clear(cx, Buffer(w.pointer, [I64(geo.groups * size)], None, geo.dtype))
    part = _empty(cx, (geo.outputs, n), geo.dtype)
    dilated = [s * d for s, d in zip(steps, geo.dilation, strict=True)][: len(outer)]
    with cx.loops([I64(m) for m in (geo.examples, geo.groups, geo.inputs, *outer)]) as (e, g, c, *k):
        b = cx.builder
        example = plus(b, times(b, e, I64(geo.groups)), g)
        channel = plus(b, times(b, example, I64(geo.inputs)), c)
        at = plus(b, times(b, channel, I64(of_channels)), _dot(b, k, dilated))
        to = plus(b, times(b, g, I64(size)), times(b, c, I64(math.prod(geo.kernel))))
        to = plus(b, to, _dot(b, k, _steps(geo.kernel)))
        first = times(b, example, I64(geo.outputs * geo.each))

        def add_up(start: ir.Value, count: int) -> None:
            given = _matrix(cx.builder, y, plus(cx.builder, first, start), geo.outputs, count, geo.each)
            sums = _matrix(cx.builder, part, I64(0), geo.outputs, n, n)
            listed = element_pointer(cx.builder, places, start, _PLACE)
            _in_tiles(cx, given, _matrix(cx.builder, x, at, count, n, 0), sums, listed)
            with cx.loops([I64(geo.outputs), I64(n)], geo.dtype) as (o, i):
                b = cx.builder
                place = plus(b, to, plus(b, times(b, o, I64(geo.rows)), i))
                term = load_element(b, part.pointer, plus(b, times(b, o, I64(n)), i), geo.dtype)
                total = b.fadd(load_element(b, w.pointer, place, geo.dtype), term)
                store_element(b, total, w.pointer, place, geo.dtype)

        whole, rest = divmod(geo.each, _LONG)
        with cx.loop(I64(whole)) as q:
            add_up(times(cx.builder, q, I64(_LONG)), _LONG)
        if rest:
            add_up(I64(geo.each - rest), rest)


def _steps(lengths: Sequence[int]) -> list[int]:
    """How far apart elements lie along axes of such lengths."""
    return [math.prod(lengths[a + 1 :]) for a in range(len(lengths))]


def _dot(b: ir.IRBuilder, at: Sequence[ir.Value], steps: Sequence[int]) -> ir.Value:
    """Σ index · step; the last steps may have no index."""
    return dot(b, at, [I64(step) for step in steps[: len(at)]])


def _matrix(b: ir.IRBuilder, buffer: Buffer, at: ir.Value, rows: int, columns: int, down: int) -> Matrix:
    pointer = element_pointer(b, buffer.pointer, at, buffer.dtype)
    return Matrix(pointer, I64(rows), I64(columns), I64(down), I64(1), buffer.dtype)


def _empty(cx: Any, shape: tuple[int, ...], dtype: np.dtype) -> Buffer:
    lengths = [I64(n) for n in shape]
    return Buffer(scratch(cx, I64(math.prod(shape)), dtype), lengths, None, dtype)


def _clear(cx: Any, buffer: Buffer) -> None:
    zero = scalars.constant(0, buffer.dtype)
    count = I64(math.prod(known(n) or 0 for n in buffer.lengths))
    with cx.loops([count], buffer.dtype) as (i,):
        store_element(cx.builder, zero, buffer.pointer, i, buffer.dtype)


def _listed(cx: Any, lengths: Sequence[int], steps: Sequence[int]) -> ir.Value:
    """Where elements lie that are met one after the other, in memory."""
    places = scratch(cx, I64(math.prod(lengths)), _PLACE)
    with cx.loops([I64(n) for n in lengths]) as at:
        b = cx.builder
        store_element(b, _dot(b, at, steps), places, _dot(b, at, _steps(lengths)), _PLACE)
    return places


def _in_tiles(cx: Any, x: Matrix, y: Matrix, z: Matrix, places: ir.Value) -> None:
    """z = x·y, where each row of y begins at one of the places."""
    lanes = vector_bytes() // z.dtype.itemsize
    m, n = known(x.rows) or 0, known(y.columns) or 0
    together = min(m, 4)
    panel = max(vector_bytes() // 4 // together, 1)  # of 32 registers half are sums; shorter vectors have 16
    for first in range(0, m, together):
        rows = min(together, m - first)
        x_rows, z_rows = x.part(cx, I64(first), I64(0), I64(rows)), z.part(cx, I64(first), I64(0), I64(rows))
        whole = panel * lanes
        with cx.loop(I64(n // whole)) as k:
            start = times(cx.builder, k, I64(whole))
            tile = Tile(z.dtype, rows, (lanes,) * panel)
            tile.write(cx, x_rows, y.part(cx, I64(0), start), z_rows.part(cx, I64(0), start), places, placed=True)
        if n % whole:
            start, widths = I64(n - n % whole), tuple(widths_of(n % whole, lanes))
            tile = Tile(z.dtype, rows, widths)
            tile.write(cx, x_rows, y.part(cx, I64(0), start), z_rows.part(cx, I64(0), start), places, placed=True)


def in_order(cx: Any, buffer: Buffer) -> Buffer:
    """The buffer if its elements lie in order, else a copy."""
    lengths = [known(n) for n in buffer.lengths]
    wanted, step = [], 1
    for n in reversed(lengths):
        wanted.append(step)
        step *= n  # type: ignore[operator]
    strides = [known(s) for s in strides_of(cx, buffer)]
    if all(n == 1 or s == v for n, s, v in zip(lengths, strides, wanted[::-1], strict=True)):
        return Buffer(buffer.pointer, buffer.lengths, None, buffer.dtype)
    new = Buffer(scratch(cx, I64(step), buffer.dtype), buffer.lengths, None, buffer.dtype)
    with cx.loops(buffer.lengths, buffer.dtype) as at:
        value = load_element(cx.builder, buffer.pointer, dot(cx.builder, at, strides_of(cx, buffer)), buffer.dtype)
        store_element(cx.builder, value, new.pointer, dot(cx.builder, at, strides_of(cx, new)), buffer.dtype)
    return new
