"""Convolutions of channels (`ops/convolution.py`) as products of matrices.

The elements that meet each weight are copied into a row each (im2col), for as many examples at a time as stay in the
cache; few channels, and pictures whose columns would be large, do without (`placed_convolution.py`). Then a convolution
is weights · columns, the gradient of the weights is result · columnsᵀ, added up over the examples, and that of the
input is weightsᵀ · result, whose rows are added where they came from. A kernel of one element that meets all places
needs no columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I64,
    POINTER,
    Buffer,
    dot,
    element_pointer,
    known,
    load_element,
    minus,
    plus,
    store_element,
    times,
)
from wengert.backend.llvm.linalg import placed_convolution
from wengert.backend.llvm.linalg.blas import is_tiled, multiply
from wengert.backend.llvm.linalg.matrices import (
    Matrix,
    at_least_one,
    call,
    copy,
    fresh,
    letter,
    number,
    scratch,
    strides_of,
)
from wengert.backend.llvm.linalg.placed_convolution import Geometry, in_order
from wengert.backend.llvm.machine.subroutines import shared_function
from wengert.backend.llvm.threads.sharing import shared

_CACHED = 1 << 19
"""Bytes of columns that are made at a time, about."""

_FEWEST = 256
"""So many columns make a product of matrices worth its while."""


_FEWEST_ROWS = 8
"""So many rows of a first factor make tiles of a product worth their while."""


def _together(geo: Geometry) -> int:
    """How many examples are done at a time."""
    fit = _CACHED // max(geo.rows * geo.each * geo.dtype.itemsize, 1)
    least = -(-_FEWEST // max(geo.each, 1))
    return min(geo.examples, max(1, min(fit, least)))


def emit(cx: Any, name: str, inputs: list[Buffer], out: Buffer, params: dict) -> Any:
    """One of the three ops, into `out`."""
    shapes = [[known(n) for n in b.lengths] for b in (*inputs, out)]
    if any(n is None for shape in shapes for n in shape) or any(b.dtype != out.dtype for b in inputs):
        return NotImplemented
    order = {"conv": (0, 1, 2), "conv_input": (2, 1, 0), "conv_weight": (0, 2, 1)}[name]
    x, w, y = [shapes[k] for k in order]
    g = params["groups"]
    geometry = Geometry(
        x[0], g, w[0] // g, w[1], tuple(x[2:]), tuple(w[2:]), tuple(y[2:]),  # type: ignore[arg-type]
        params["strides"], params["dilation"], out.dtype,
    )  # fmt: skip
    if _needs_no_columns(name, geometry):
        _placed(cx, name, geometry, inputs, out)
    else:
        _RULES[name](cx, geometry, *inputs, out)
    return "blas"


def _needs_no_columns(name: str, geo: Geometry) -> bool:
    """Whether a convolution is quicker without columns (`placed_convolution.py`), and can be done so."""
    few = geo.outputs < placed_convolution.FEW_CHANNELS
    is_worth_it = few or geo.rows * geo.each * geo.dtype.itemsize > placed_convolution.LARGE
    if geo.dtype.kind != "f" or math.prod(geo.kernel) == 1 or not is_worth_it:
        return False
    if name == "conv_weight":
        return geo.dilation[-1] == 1 and geo.kernel[-1] > 2
    return geo.strides[-1] == 1 if name == "conv" else set(geo.strides) == {1}


def _placed(cx: Any, name: str, geo: Geometry, inputs: list[Buffer], out: Buffer) -> None:
    a, b = [in_order(cx, buffer) for buffer in inputs]
    if name != "conv_input":
        (placed_convolution.conv if name == "conv" else placed_convolution.conv_weight)(cx, geo, a, b, out)
        return
    with placed_convolution.if_finite(cx, b, geo.groups * geo.outputs * geo.rows, geo.dtype) as (then, otherwise):
        with then:
            placed_convolution.conv_input(cx, geo, a, b, out)
        with otherwise:
            _conv_input(cx, geo, a, b, out)


def _conv(cx: Any, geo: Geometry, x: Buffer, w: Buffer, y: Buffer) -> None:
    w = in_order(cx, w)
    with _blocks(cx, geo, True) as (start, count), cx.loop(I64(geo.groups)) as group:
        columns = _columns(cx, geo, x, start, count, group)
        found = _result_rows(cx, geo, y, start, count, group)
        _gemm(cx, _weights(cx, geo, w, group), columns, found, add=False)
        if _together(geo) > 1:
            _move(cx, geo, y, found, start, count, group, into=True)


def _conv_input(cx: Any, geo: Geometry, y: Buffer, w: Buffer, x: Buffer) -> None:
    y, w = in_order(cx, y), in_order(cx, w)
    whole = geo.groups * geo.inputs * math.prod(geo.size)
    with _blocks(cx, geo, True) as (start, count):
        _clear(cx, x, times(cx.builder, start, I64(whole)), times(cx.builder, count, I64(whole)))
        with cx.loop(I64(geo.groups)) as group:
            given = _result_rows(cx, geo, y, start, count, group)
            if _together(geo) > 1:
                _move(cx, geo, y, given, start, count, group, into=False)
            columns = _empty_columns(cx, geo, count)
            _gemm(cx, _weights(cx, geo, w, group).transposed, given, columns, add=False)
            _each_row(cx, geo, x, columns, start, count, group, back=True)


def _conv_weight(cx: Any, geo: Geometry, x: Buffer, y: Buffer, w: Buffer) -> None:
    y = in_order(cx, y)
    if geo.examples % _together(geo) == 0 and _is_tiled(geo.rows, _together(geo) * geo.each, geo.outputs, geo.dtype):
        _conv_weight_by_tiles(cx, geo, x, y, w)
        return
    _clear(cx, w, I64(0), I64(geo.groups * geo.outputs * geo.rows))
    with _blocks(cx, geo, False) as (start, count), cx.loop(I64(geo.groups)) as group:
        columns = _columns(cx, geo, x, start, count, group)
        given = _result_rows(cx, geo, y, start, count, group)
        if _together(geo) > 1:
            _move(cx, geo, y, given, start, count, group, into=False)
        _gemm(cx, given, columns.transposed, _weights(cx, geo, w, group), add=True)


def _conv_weight_by_tiles(cx: Any, geo: Geometry, x: Buffer, y: Buffer, w: Buffer) -> None:
    """columns · resultᵀ, added up over the examples, and transposed at the end: tiles read rows of both factors."""
    size = geo.rows * geo.outputs
    everything = Buffer(scratch(cx, I64(geo.groups * size), geo.dtype), [I64(geo.groups * size)], None, geo.dtype)
    _clear(cx, everything, I64(0), I64(geo.groups * size))
    with _blocks(cx, geo, False) as (start, count), cx.loop(I64(geo.groups)) as group:
        columns = _columns(cx, geo, x, start, count, group)
        given = _result_rows(cx, geo, y, start, count, group)
        if _together(geo) > 1:
            _move(cx, geo, y, given, start, count, group, into=False)
        transposed = fresh(cx, given.columns, given.rows, geo.dtype)
        copy(cx, given.transposed, transposed)
        part = fresh(cx, I64(geo.rows), I64(geo.outputs), geo.dtype)
        multiply(cx, columns, transposed, part)
        b, first = cx.builder, times(cx.builder, group, I64(size))
        with cx.loops([I64(size)], geo.dtype) as (i,):
            at = plus(b, first, i)
            pair = [load_element(b, everything.pointer, at, geo.dtype), load_element(b, part.pointer, i, geo.dtype)]
            store_element(b, b.fadd(*pair), everything.pointer, at, geo.dtype)
    with cx.loop(I64(geo.groups)) as group:
        place = element_pointer(cx.builder, everything.pointer, times(cx.builder, group, I64(size)), geo.dtype)
        found = Matrix(place, I64(geo.rows), I64(geo.outputs), I64(geo.outputs), I64(1), geo.dtype)
        copy(cx, found.transposed, _weights(cx, geo, w, group))


_RULES: dict[str, Callable[..., None]] = {"conv": _conv, "conv_input": _conv_input, "conv_weight": _conv_weight}
NAMES = frozenset(_RULES)


# --------------------------------------------------------------------------------------------------------- the parts


@contextmanager
def _blocks(cx: Any, geo: Geometry, apart: bool) -> Iterator[tuple[ir.Value, ir.Value]]:
    """A loop over blocks of examples: the first, and how many there are. Threads share it if they are `apart`."""
    n, step = geo.examples, _together(geo)
    blocks = -(-n // step)
    work = 2 * geo.groups * geo.outputs * geo.rows * geo.each * step
    loop = shared(cx, [I64(blocks)], weight=work, cost=blocks * work) if apart else cx.loops([I64(blocks)])
    with loop as (block,):
        b = cx.builder
        start = times(b, block, I64(step))
        count: ir.Value = I64(step)
        if n % step:
            left = minus(b, I64(n), start)
            count = b.select(b.icmp_signed("<", left, count), left, count)
        yield start, count


def _clear(cx: Any, buffer: Buffer, start: ir.Value, count: ir.Value) -> None:
    zero = scalars.constant(0, buffer.dtype)
    with cx.loops([count], buffer.dtype) as (i,):
        store_element(cx.builder, zero, buffer.pointer, plus(cx.builder, start, i), buffer.dtype)


def _weights(cx: Any, geo: Geometry, w: Buffer, group: ir.Value) -> Matrix:
    place = times(cx.builder, group, I64(geo.outputs * geo.rows))
    pointer = element_pointer(cx.builder, w.pointer, place, geo.dtype)
    return Matrix(pointer, I64(geo.outputs), I64(geo.rows), I64(geo.rows), I64(1), geo.dtype)


def _empty_columns(cx: Any, geo: Geometry, count: ir.Value) -> Matrix:
    wide = _together(geo) * geo.each
    pointer = scratch(cx, I64(geo.rows * wide), geo.dtype)
    return Matrix(pointer, I64(geo.rows), times(cx.builder, count, I64(geo.each)), I64(wide), I64(1), geo.dtype)


def _columns(cx: Any, geo: Geometry, x: Buffer, start: ir.Value, count: ir.Value, group: ir.Value) -> Matrix:
    """The elements that meet each weight, in a row each."""
    steps = [known(s) for s in strides_of(cx, x)]
    plain = _together(geo) == 1 and geo.places == geo.size and math.prod(geo.kernel) == 1
    if plain and _is_flat(steps[2:], geo.size):
        at = dot(cx.builder, [start, times(cx.builder, group, I64(geo.inputs))], strides_of(cx, x)[:2])
        pointer = element_pointer(cx.builder, x.pointer, at, geo.dtype)
        down = I64(steps[1]) if geo.inputs > 1 else I64(geo.each)
        return Matrix(pointer, I64(geo.rows), I64(geo.each), down, I64(1), geo.dtype)
    columns = _empty_columns(cx, geo, count)
    _each_row(cx, geo, x, columns, start, count, group, back=False)
    return columns


def _is_flat(steps: Sequence[int | None], size: Sequence[int]) -> bool:
    step = 1
    for n, s in zip(reversed(size), reversed(steps), strict=True):
        if n != 1 and s != step:
            return False
        step *= n
    return True


def _each_row(
    cx: Any, geo: Geometry, x: Buffer, columns: Matrix, start: ir.Value, count: ir.Value, group: ir.Value, back: bool
) -> None:
    """From x into columns, or `back`, where they are added."""
    b, dtype, steps = cx.builder, geo.dtype, strides_of(cx, x)
    dilated = [times(b, I64(d), s) for d, s in zip(geo.dilation, steps[2:], strict=True)]
    strided = [times(b, I64(d), s) for d, s in zip(geo.strides, steps[2:], strict=True)]
    places, along = list(geo.places), list(strided)
    while len(places) > 1 and known(along[-2]) == (known(along[-1]) or 0) * places[-1] and known(along[-1]):
        last = places.pop()  # rows that follow each other without a gap
        places[-1] *= last
        along.pop(-2)
    own = [math.prod(geo.kernel[a + 1 :]) for a in range(len(geo.kernel))]
    *outer, n = places
    rows = outer.pop() if outer else 1
    down = along[-2] if len(along) > 1 else I64(0)
    function = _rows_function(cx, dtype, n, known(along[-1]), back)
    with cx.loops([I64(m) for m in (geo.inputs, *geo.kernel)]) as (channel, *k):
        row = dot(cx.builder, [channel, *k], [I64(own[0] * geo.kernel[0]), *map(I64, own)])
        first = plus(b, times(b, group, I64(geo.inputs)), channel)
        source = plus(b, times(b, first, steps[1]), dot(cx.builder, k, dilated))
        target = times(b, row, columns.down)
        with cx.loop(count) as e, cx.loops([I64(m) for m in outer]) as p:
            at = plus(b, source, times(b, plus(b, start, e), steps[0]))
            at = plus(b, at, dot(cx.builder, p, along[: len(outer)]))
            to = plus(b, target, times(b, e, I64(geo.each)))
            if p:
                to = plus(b, to, times(b, p[0], I64(rows * n)))
            pointers = [element_pointer(b, x.pointer, at, dtype), element_pointer(b, columns.pointer, to, dtype)]
            b.call(function, [*pointers, I64(rows), down, along[-1]])


def _rows_function(cx: Any, dtype: np.dtype, n: int, step: int | None, back: bool) -> ir.Function:
    """Rows of n elements from a picture into columns, where they lie without gaps, or back, where they are added.

    As a function of its own, whose pointers lead to memory that is apart, it becomes vectors wherever it is used.
    """

    def write(inner: Any, arguments: Sequence[ir.Value]) -> None:
        picture, columns, rows, down, right = arguments
        b, right = inner.builder, right if step is None else I64(step)
        with inner.loop(rows, unrolled=False) as i, inner.loops([I64(n)], dtype) as (j,):
            at, to = plus(b, times(b, i, down), times(b, j, right)), plus(b, times(b, i, I64(n)), j)
            if back:
                pair = [load_element(b, pointer, k, dtype) for pointer, k in ((picture, at), (columns, to))]
                total = scalars.emit(inner, "add", {}, dtype, pair, [dtype] * 2, [False] * 2)
                store_element(b, total, picture, at, dtype)
            else:
                store_element(b, load_element(b, picture, at, dtype), columns, to, dtype)

    name = f"columns_{'back' if back else 'from'}_{dtype.char}_{n}_{'any' if step is None else step}"
    return shared_function(cx, name, [POINTER, POINTER, I64, I64, I64], write)


def _result_rows(cx: Any, geo: Geometry, y: Buffer, start: ir.Value, count: ir.Value, group: ir.Value) -> Matrix:
    """Results of a group as a matrix, channels by places: of one example in place, of several in other memory."""
    n = I64(geo.each)
    if _together(geo) == 1:
        first = plus(cx.builder, times(cx.builder, start, I64(geo.groups)), group)
        at = times(cx.builder, first, I64(geo.outputs * geo.each))
        return Matrix(element_pointer(cx.builder, y.pointer, at, geo.dtype), I64(geo.outputs), n, n, I64(1), geo.dtype)
    wide = _together(geo) * geo.each
    pointer = scratch(cx, I64(geo.outputs * wide), geo.dtype)
    return Matrix(pointer, I64(geo.outputs), times(cx.builder, count, n), I64(wide), I64(1), geo.dtype)


def _move(
    cx: Any, geo: Geometry, y: Buffer, rows: Matrix, start: ir.Value, count: ir.Value, group: ir.Value, into: bool
) -> None:
    """Rows of several examples `into` y, or from there."""
    b, n = cx.builder, I64(geo.each)
    with cx.loop(count) as e:
        example = plus(b, times(b, plus(b, start, e), I64(geo.groups)), group)
        with cx.loop(I64(geo.outputs)) as o:
            there = times(b, plus(b, times(b, example, I64(geo.outputs)), o), n)
            here = plus(b, times(b, o, rows.down), times(b, e, n))
            with cx.loops([n], geo.dtype) as (p,):
                source, target = (rows.pointer, y.pointer) if into else (y.pointer, rows.pointer)
                at, to = (here, there) if into else (there, here)
                value = load_element(b, source, plus(b, at, p), geo.dtype)
                store_element(b, value, target, plus(b, to, p), geo.dtype)


def _is_tiled(rows: int, inner: int, columns: int, dtype: np.dtype) -> bool:
    return dtype.kind == "f" and rows >= _FEWEST_ROWS and is_tiled(rows, inner, columns, dtype)


def _gemm(cx: Any, x: Matrix, y: Matrix, z: Matrix, add: bool) -> None:
    """z = x·y, or what was there and x·y; z is stored by rows."""
    d = z.dtype
    m, n, k = known(x.rows), known(y.columns), known(x.columns)
    if not add and m is not None and n is not None and k is not None and known(y.right) == 1 and _is_tiled(m, k, n, d):
        multiply(cx, x, y, z)
        return
    one = number(cx, 1, d)
    x_pointer, x_flag, x_apart = _as_stored(x)
    y_pointer, y_flag, y_apart = _as_stored(y)
    call(
        cx, "blas", letter(d) + "gemm", y_flag, x_flag, y.columns, x.rows, x.columns, one, y_pointer, y_apart,
        x_pointer, x_apart, one if add else number(cx, 0, d), z.pointer, at_least_one(cx, z.down),
    )  # fmt: skip


def _as_stored(x: Matrix) -> tuple[ir.Value, str, ir.Value]:
    """A matrix whose rows, or columns, lie in a row: pointer, how it is stored, and how far apart these are.

    Of a single row it does not matter how far the next one is, but BLAS wants that to be further than its end.
    """
    matrix, flag = (x, "N") if known(x.right) == 1 else (x.transposed, "T")
    assert known(matrix.right) == 1
    down, columns = known(matrix.down), known(matrix.columns)
    return matrix.pointer, flag, I64(max(down, columns)) if None not in (down, columns) else matrix.down  # type: ignore[type-var]
