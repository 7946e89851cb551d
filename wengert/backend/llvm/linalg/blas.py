"""Products of matrices: BLAS for large ones, loops for small ones and for numbers that BLAS does not know.

A product C = X·Y of matrices stored by rows is, read by columns as Fortran does, Cᵀ = Yᵀ·Xᵀ: no matrix is transposed in
memory. A matrix whose rows or columns lie in a row is passed as it is; any other is copied first.

Sums are in no particular order (as in BLAS), so loops vectorise; the products are fused with the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I64,
    POINTER,
    Complex,
    Scalar,
    element_pointer,
    known,
    plus,
    product,
    register_type,
    times,
)
from wengert.backend.llvm.linalg import zero_rows
from wengert.backend.llvm.linalg.matrices import Matrix, at_least_one, call, copy, fresh, letter, number
from wengert.backend.llvm.linalg.subnormal import LiftedFactor
from wengert.backend.llvm.linalg.tiles import Dots, Tile, widths_of
from wengert.backend.llvm.machine.hints import vector_bytes
from wengert.backend.llvm.threads.sharing import shared

SMALL = 8000
"""Products of fewer multiplications than this are loops rather than calls of BLAS."""

SMALL_BY_VECTOR = 40_000
"""The same for a matrix by a vector, which is limited by memory: a call does not pay early."""

SMALL_IN_VECTORS = 64_000
"""The same for loops written in vectors. Against OpenBLAS: at 8³ twice as fast, at 20³ by half, from 40³ on equal."""

PANEL = 4096
"""If the second factor has at most so many elements, or twice as many in few columns, loops in vectors are as fast as
BLAS for any number of rows."""

REREAD = 1 << 20
"""Bytes of a first factor that stays in the cache while it is read again for each few columns of the second. With the
longest vectors tiles then take 0.6 to 0.9 of the time of OpenBLAS, which copies both factors."""

DEEP = 2048
"""Products up to which a sum is that long that a few columns of the second factor stay in the cache."""

MANY_ROWS = 64
"""From so many on it pays to copy a second factor whose columns lie in a row."""

LONG_SUM = 512
"""Bytes of a row and a column from which on sums over vectors of them are quicker than copying the second factor; with
many rows they have to be twice as long,"""

MOST_ROWS = 192
"""and with more than these a copy is quicker."""

FEW_ROWS = 8
"""With fewer, tiles are quicker than BLAS, but not than loops written in vectors."""

MANY_COLUMNS = 32
"""From so many on it pays to look at the first factor before (see `subnormal.py`)."""

_FLAGS = ("reassoc", "contract")


def is_narrow(rows: int, columns: int) -> bool:
    """Whether a second factor is small enough to stay in the cache while all rows of the first go by."""
    return rows * columns <= (PANEL if columns > 64 else 2 * PANEL)


def is_tiled(rows: int, inner: int, columns: int, dtype: np.dtype) -> bool:
    """Whether tiles are faster than BLAS for matrices that are not small."""
    if vector_bytes() < 64 or rows * inner * dtype.itemsize > REREAD or inner > DEEP:
        return False
    lanes = 64 // dtype.itemsize
    return 4 * lanes * len(widths_of(columns, lanes)) <= 5 * columns  # few lanes of the last vectors are empty


def multiply(cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
    """z = x·y, where z is stored by rows."""
    m, n, k = known(x.rows), known(y.columns), known(x.columns)
    work = product(cx.builder, [x.rows, y.columns, x.columns])
    in_vectors = z.dtype.kind == "f" and known(y.right) == 1 and None not in (m, n)
    limit = SMALL_BY_VECTOR if 1 in (m, n) else SMALL_IN_VECTORS if in_vectors else SMALL
    alike = z.dtype.kind == "f" and x.dtype == y.dtype == z.dtype and known(z.right) == 1
    if alike and m is not None and n is not None and k is not None and n > 1 and _has_rows(m, m * n * k, limit):
        if _in_tiles(cx, x, y, z, (m, k, n)):
            return
    size = known(work)
    if z.dtype.kind not in "fc" or (m == n == 1) or (size is not None and size < limit):
        _by_loops(cx, x, y, z)
    elif size is not None:
        _by_gemm(cx, x, y, z)
    else:
        few = cx.builder.icmp_signed("<", work, I64(limit))
        with cx.builder.if_else(few) as (then, otherwise):
            with then:
                _by_loops(cx, x, y, z)
            with otherwise:
                _by_gemm(cx, x, y, z)


def _in_tiles(cx: Any, x: Matrix, y: Matrix, z: Matrix, lengths: tuple[int, int, int]) -> bool:
    """z = x·y in tiles; False, with nothing written, if another way is faster."""
    m, k, n = lengths
    narrow, straight_rows, tiled = is_narrow(k, n), known(y.right) == 1, is_tiled(m, k, n, z.dtype)
    long_sum = LONG_SUM if narrow or m < MANY_ROWS else 2 * LONG_SUM
    sums_are_long = known(y.down) == known(x.right) == 1 and k * z.dtype.itemsize >= long_sum
    by_dots = m < MOST_ROWS and sums_are_long and (narrow or tiled)
    if not (by_dots or narrow or (tiled and (straight_rows or m >= MANY_ROWS))):
        return False
    if not by_dots and not straight_rows:  # many rows make up for a copy
        packed = fresh(cx, y.rows, y.columns, y.dtype)
        copy(cx, y, packed)
        y = packed
    write = _by_dots if by_dots else _by_columns
    if n >= MANY_COLUMNS:
        lifted = LiftedFactor(cx, x, y)
        write(cx, lifted.matrix, y, z)
        lifted.settle(z)
    else:
        write(cx, x, y, z)
    return True


def _has_rows(rows: int, products: int, limit: int) -> bool:
    """Whether there are rows enough for tiles."""
    return rows >= FEW_ROWS or (rows > 1 and products >= limit)


# ------------------------------------------------------------------------------------------------------------ loops


def product_of(cx: Any, x: Scalar, y: Scalar, dtype: np.dtype) -> Scalar:
    if dtype.kind == "f":
        return cx.builder.fmul(x, y, flags=_FLAGS)
    return scalars.emit(cx, "multiply", {}, dtype, [x, y], [dtype] * 2, [False] * 2)


def _plus(cx: Any, x: Scalar, y: Scalar, dtype: np.dtype) -> Scalar:
    if dtype.kind == "f":
        return cx.builder.fadd(x, y, flags=_FLAGS)
    if dtype.kind == "c":
        return Complex(*[cx.builder.fadd(p, q, flags=_FLAGS) for p, q in zip(x, y, strict=True)])
    return scalars.emit(cx, "add", {}, dtype, [x, y], [dtype] * 2, [False] * 2)


class Sum:
    """A sum in a variable."""

    def __init__(self, cx: Any, dtype: np.dtype):
        self.cx, self.dtype = cx, dtype
        self.zero = scalars.constant(0, dtype)
        self.places = [cx.on_stack(v.type) for v in _parts(self.zero)]
        self.set(self.zero)

    def set(self, value: Scalar) -> None:
        for v, place in zip(_parts(value), self.places, strict=True):
            self.cx.builder.store(v, place)

    def get(self) -> Scalar:
        found = [self.cx.builder.load(p, typ=v.type) for p, v in zip(self.places, _parts(self.zero), strict=True)]
        return Complex(*found) if len(found) == 2 else found[0]

    def add(self, value: Scalar) -> None:
        self.set(_plus(self.cx, self.get(), value, self.dtype))


def _parts(value: Scalar) -> tuple[ir.Value, ...]:
    return tuple(value) if isinstance(value, Complex) else (value,)


def _by_loops(cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
    """The innermost loop goes along what lies in a row: sums along columns of y if it has one, else rows of z."""
    if z.dtype.kind == "f" and x.dtype == y.dtype == z.dtype and known(x.rows) and known(y.columns):
        if known(y.right) == 1 and known(y.columns) != 1:
            _by_columns(cx, x, y, z)
            return
        if known(y.down) == 1 and known(x.right) == 1 and known(x.columns):
            _by_sums(cx, x, y, z)
            return
    if known(y.columns) == 1 and known(x.right) != 1 and known(x.down) == 1:
        # A transposed matrix by a vector: as a vector by the matrix.
        _by_loops(cx, y.transposed, x.transposed, z.transposed)
        return

    def load(a: Matrix, i: ir.Value, j: ir.Value) -> Scalar:
        return scalars.convert(cx, a.load(cx, i, j), a.dtype, z.dtype)

    if known(y.columns) == 1 or (known(y.right) != 1 and known(y.down) == 1 and known(x.right) == 1):
        with cx.loop(z.rows) as i, cx.loop(z.columns) as j:
            total = Sum(cx, z.dtype)
            with cx.loop(x.columns) as k:
                total.add(product_of(cx, load(x, i, k), load(y, k, j), z.dtype))
            z.store(cx, total.get(), i, j)
        return
    with cx.loop(z.rows) as i:
        with cx.loop(z.columns) as j:
            z.store(cx, scalars.constant(0, z.dtype), i, j)
        with cx.loop(x.columns) as k:
            factor = load(x, i, k)
            with cx.loop(z.columns) as j:
                term = product_of(cx, factor, load(y, k, j), z.dtype)
                z.store(cx, _plus(cx, z.load(cx, i, j), term, z.dtype), i, j)


# ----------------------------------------------------------------------------------------- loops written in vectors

_ROWS = 4
"""So many rows at once share what is loaded of the other factor."""
_COLUMNS = 4
"""So many columns at once that lie in a row: with 4 rows, 16 sums in registers."""
_PANEL = 4
"""So many vectors of columns at once: with 4 rows, 16 sums in registers."""
_WRITTEN_OUT = 3
"""More panels of columns than these are a loop."""
_OVERLAP = 3
"""From so many blocks of rows on, the last one overlaps the one before, rather than being of another size."""


def _vector(cx: Any, x: Matrix, i: ir.Value, j: ir.Value, type: ir.Type) -> ir.Value:
    """Elements in a row from (i, j) on."""
    place = element_pointer(cx.builder, x.pointer, x.offset(cx, i, j), x.dtype)
    return cx.builder.load(place, typ=type, align=x.dtype.itemsize)


def _zero(type: ir.VectorType) -> ir.Constant:
    return ir.Constant(type, [0.0] * type.count)


def _fused(cx: Any, total: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
    return cx.builder.fadd(total, cx.builder.fmul(x, y, flags=("contract",)), flags=("contract",))


def _row_blocks(cx: Any, x: Matrix, z: Matrix, body: Any, rows: int = _ROWS) -> None:
    """`body(first row, how many)` for all rows, in blocks of so many. The last is smaller, or begins earlier."""
    m = known(x.rows) or 0
    blocks, rest = divmod(m, rows)
    cost = rows * (known(x.columns) or 1) * (known(z.columns) or 1)
    if rest and blocks >= _OVERLAP:
        with shared(cx, [I64(blocks + 1)], weight=cost, cost=blocks * cost) as (block,):
            first = times(cx.builder, block, I64(rows))
            is_last = cx.builder.icmp_signed("==", block, I64(blocks))
            body(cx.builder.select(is_last, I64(m - rows), first), rows)
        return
    if blocks:
        with shared(cx, [I64(blocks)], weight=cost, cost=blocks * cost) as (block,):
            body(times(cx.builder, block, I64(rows)), rows)
    if rest:
        body(I64(m - rest), rest)


def has_many_zero_rows(x: Matrix, y: Matrix, z: Matrix) -> bool:
    """Whether `multiply_other_rows` can be used, and pays where y has rows of zeros."""
    m, n, k = known(x.rows), known(y.columns), known(x.columns)
    if m is None or n is None or k is None or not x.dtype == y.dtype == z.dtype or z.dtype.kind != "f":
        return False
    if known(y.right) != 1 or known(z.right) != 1:
        return False
    return m >= zero_rows.FEWEST_ROWS and k >= zero_rows.FEWEST_PRODUCTS and n > 1 and is_narrow(k, n)


def multiply_other_rows(cx: Any, x: Matrix, y: Matrix, z: Matrix, finite: ir.Value) -> None:
    """z = x·y without the rows of y that are zero, if x is `finite`."""
    listed, count = zero_rows.other_rows(cx, y, finite)
    with cx.builder.if_else(cx.builder.icmp_signed("<", count, y.rows)) as (then, otherwise):
        with then:
            few = Matrix(x.pointer, x.rows, count, x.down, x.right, x.dtype)
            _by_columns(cx, few, y, z, listed)
        with otherwise:
            multiply(cx, x, y, z)


def _by_columns(cx: Any, x: Matrix, y: Matrix, z: Matrix, listed: ir.Value | None = None) -> None:
    """Rows of y lie in a row: each sum is a vector of columns of z. Only those of y are added that are `listed`."""
    lanes = 64 // z.dtype.itemsize
    columns, whole = known(y.columns) or 0, _PANEL * lanes
    panels = columns // whole

    def write(start: ir.Value, panel: tuple[int, ...]) -> None:
        def body(i: ir.Value, rows: int) -> None:
            Tile(z.dtype, rows, panel).write(
                cx,
                x.part(cx, i, I64(0), I64(rows)),
                y.part(cx, I64(0), start),
                z.part(cx, i, start, I64(rows)),
                listed,
            )

        # A sum waits for the one before: eight of them keep the processor busy.
        _row_blocks(cx, x, z, body, 2 * _ROWS if len(panel) <= 2 and (known(x.rows) or 0) >= 2 * _ROWS else _ROWS)

    written = 0
    if panels > _WRITTEN_OUT:
        written = panels * whole
        with cx.loop(I64(panels)) as k:
            write(times(cx.builder, k, I64(whole)), (lanes,) * _PANEL)
    widths = widths_of(columns - written, lanes)
    for first in range(0, len(widths), _PANEL):
        write(I64(written + sum(widths[:first])), tuple(widths[first : first + _PANEL]))


def _by_dots(cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
    """Rows of x and columns of y lie in a row: each sum is over vectors of them, and over their lanes at the end."""
    b, m, n = cx.builder, known(x.rows) or 0, known(y.columns) or 0
    blocks, rest = divmod(n, _COLUMNS)
    cost = _COLUMNS * m * (known(x.columns) or 1)

    def body(j: ir.Value, columns: int) -> None:
        part = y.part(cx, I64(0), j)
        with cx.loop(I64(m // _ROWS)) as block:
            i = times(b, block, I64(_ROWS))
            Dots(z.dtype, _ROWS, columns).write(cx, x.part(cx, i, I64(0)), part, z.part(cx, i, j))
        if m % _ROWS:
            i = I64(m - m % _ROWS)
            Dots(z.dtype, m % _ROWS, columns).write(cx, x.part(cx, i, I64(0)), part, z.part(cx, i, j))

    if blocks:
        with shared(cx, [I64(blocks)], weight=cost, cost=blocks * cost) as (block,):
            body(times(b, block, I64(_COLUMNS)), _COLUMNS)
    if rest:
        body(I64(n - rest), rest)


def _by_sums(cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
    """The same where it is little work, without a function for tiles."""
    b, d = cx.builder, z.dtype
    t = ir.VectorType(register_type(d), 64 // d.itemsize)
    length = known(x.columns) or 0
    whole, rest = divmod(length, t.count)

    def body(i: ir.Value, rows: int) -> None:
        with cx.loop(z.columns) as j:
            sums = [cx.on_stack(t) for _ in range(rows)]
            for place in sums:
                b.store(_zero(t), place)
            with cx.loop(I64(whole)) as chunk:
                k = times(b, chunk, I64(t.count))
                v = _vector(cx, y.transposed, j, k, t)
                for r, place in enumerate(sums):
                    u = _vector(cx, x, plus(b, i, I64(r)), k, t)
                    b.store(_fused(cx, b.load(place, typ=t), u, v), place)
            for r, place in enumerate(sums):
                parts = b.load(place, typ=t)
                add = cx.declare(f"llvm.vector.reduce.fadd.v{t.count}f{8 * d.itemsize}", t.element, [t.element, t])
                total = b.call(add, [t.element(-0.0), parts], fastmath=("reassoc",)) if whole else t.element(0.0)
                row = plus(b, i, I64(r))
                for k in range(length - rest, length):
                    total = _fused(cx, total, x.load(cx, row, I64(k)), y.load(cx, I64(k), j))
                z.store(cx, total, row, j)

    _row_blocks(cx, x, z, body)


# ------------------------------------------------------------------------------------------------------------- gemm


def straight(cx: Any, x: Matrix, dtype: np.dtype) -> tuple[ir.Value, str, ir.Value]:
    """A matrix as BLAS takes it: pointer, "N" if stored by rows or "T" if by columns, and the distance of these."""
    for matrix, flag in ((x, "N"), (x.transposed, "T")):
        if matrix.dtype != dtype or known(matrix.right) != 1:
            continue
        down, columns = known(matrix.down), known(matrix.columns)
        if down is not None and columns is not None:
            if down >= columns:
                return matrix.pointer, flag, at_least_one(cx, matrix.down)
        elif matrix.down is matrix.columns:
            return matrix.pointer, flag, at_least_one(cx, matrix.down)
        else:
            return _straight_or_copied(cx, matrix, flag)
    packed = fresh(cx, x.rows, x.columns, dtype)
    copy(cx, x, packed)
    return packed.pointer, "N", at_least_one(cx, x.columns)


def _straight_or_copied(cx: Any, x: Matrix, flag: str) -> tuple[ir.Value, str, ir.Value]:
    """Of a matrix whose rows are known only at run time to lie far enough apart."""
    b = cx.builder
    pointer, leading = cx.on_stack(POINTER), cx.on_stack(I64)
    b.store(x.pointer, pointer)
    b.store(at_least_one(cx, x.down), leading)
    with b.if_then(b.icmp_signed("<", x.down, x.columns), likely=False):
        packed = fresh(cx, x.rows, x.columns, x.dtype)
        copy(cx, x, packed)
        b.store(packed.pointer, pointer)
        b.store(at_least_one(cx, x.columns), leading)
    return b.load(pointer, typ=POINTER), flag, b.load(leading, typ=I64)


def _by_gemm(cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
    d = z.dtype
    if known(x.rows) == 1 and known(y.columns) != 1 and _is_vector(x.transposed, d):
        x, y, z = y.transposed, x.transposed, z.transposed  # a vector by a matrix: the transposed matrix by the vector
    x_pointer, x_flag, x_apart = straight(cx, x, d)
    one, zero = number(cx, 1, d), number(cx, 0, d)
    if known(y.columns) == 1 and _is_vector(y, d):
        # By columns, a matrix stored by rows is its transpose.
        transposed = x_flag == "N"
        sizes = (x.columns, x.rows) if transposed else (x.rows, x.columns)
        call(
            cx, "blas", letter(d) + "gemv", "T" if transposed else "N", *sizes, one, x_pointer, x_apart, y.pointer,
            y.down, zero, z.pointer, at_least_one(cx, z.down),
        )  # fmt: skip
        return
    y_pointer, y_flag, y_apart = straight(cx, y, d)
    call(
        cx, "blas", letter(d) + "gemm", y_flag, x_flag, y.columns, x.rows, x.columns, one, y_pointer, y_apart,
        x_pointer, x_apart, zero, z.pointer, at_least_one(cx, z.down),
    )  # fmt: skip


def _is_vector(y: Matrix, dtype: np.dtype) -> bool:
    """Whether a matrix of one column is as BLAS takes vectors."""
    return y.dtype == dtype and (known(y.down) or 0) >= 1
