"""Products of one matrix with many, in which most rows of the many are zero.

Tangents of forward mode are such: of a direction only the few values that depend on it have a tangent that is not zero,

    x of shape (100, 22), y of shape (26, 22, 16):      x @ y[d] = Σ over k of x[:, k] · y[d, k, :]

and which these are is found by looking at y, once for all rows of x. A row of zeros adds zeros, whatever it is times,
unless that is infinite or no number. So x is looked at first; where it is finite, sums go through the other rows only
(`Tile`), and are the same bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, load_element, plus, store_element
from wengert.backend.llvm.linalg.matrices import Matrix, flat, matrix_of, scratch
from wengert.backend.llvm.machine.subroutines import shared_function

FEWEST_ROWS, FEWEST_PRODUCTS, FEWEST_MATRICES = 32, 8, 4
"""Of x; of each sum; of matrices that x is multiplied with. With fewer it does not pay to look."""

_INDEX = np.dtype(np.int64)


def is_finite(cx: Any, x: Matrix) -> ir.Value:
    """Whether all elements of a matrix are finite, as 0 or 1."""
    x = flat(x)
    function = shared_function(
        cx, f"finite_{x.dtype.char}", [POINTER, *[I64] * 4, POINTER],
        lambda inner, given: _look_for_infinite(inner, matrix_of(given[:5], x.dtype), given[5]),
    )  # fmt: skip
    place = cx.on_stack(I32)
    cx.builder.call(function, [x.pointer, x.rows, x.columns, x.down, x.right, place])
    return cx.builder.load(place, typ=I32)


def other_rows(cx: Any, y: Matrix, finite: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The numbers of the rows that are not zero, in memory, and how many there are; all, unless `finite`."""
    numbers, count = scratch(cx, y.rows, _INDEX), cx.on_stack(I64)
    function = shared_function(
        cx, f"other_rows_{y.dtype.char}", [POINTER, *[I64] * 4, I32, POINTER, POINTER],
        lambda inner, given: _list_rows(inner, matrix_of(given[:5], y.dtype), *given[5:]),
    )  # fmt: skip
    cx.builder.call(function, [y.pointer, y.rows, y.columns, y.down, y.right, finite, numbers, count])
    return numbers, cx.builder.load(count, typ=I64)


def _look_for_infinite(cx: Any, x: Matrix, place: ir.Value) -> None:
    """An exponent of all ones is that of infinities and of what is no number."""
    exponent = int(np.array(np.inf, x.dtype).view(f"u{x.dtype.itemsize}"))
    found = _any(cx, x.rows, x, lambda bits: cx.builder.icmp_unsigned(
        ">=", cx.builder.and_(bits, bits.type((1 << (bits.type.width - 1)) - 1)), bits.type(exponent)
    ))  # fmt: skip
    cx.builder.store(cx.builder.zext(cx.builder.not_(found), I32), place)


def _list_rows(cx: Any, y: Matrix, finite: ir.Value, numbers: ir.Value, count: ir.Value) -> None:
    b = cx.builder
    b.store(I64(0), count)
    all_rows = b.icmp_signed("==", finite, I32(0))
    with cx.loop(y.rows, unrolled=False) as k:
        b = cx.builder
        row = Matrix(y.part(cx, k, I64(0)).pointer, I64(1), y.columns, y.down, I64(1), y.dtype)
        counts = _any(cx, I64(1), row, lambda bits: b.icmp_unsigned("!=", b.shl(bits, bits.type(1)), bits.type(0)))
        so_far = b.load(count, typ=I64)
        store_element(b, k, numbers, so_far, _INDEX)
        b.store(plus(b, so_far, b.zext(b.or_(counts, all_rows), I64)), count)


def _any(cx: Any, rows: ir.Value, x: Matrix, holds: Any) -> ir.Value:
    """Whether something holds for the bits of some element."""
    word, unsigned = ir.IntType(8 * x.dtype.itemsize), np.dtype(f"u{x.dtype.itemsize}")
    found = cx.on_stack(word)
    cx.builder.store(word(0), found)
    with cx.loop(rows) as i, cx.loop(x.columns, lanes=unsigned) as j:
        b = cx.builder
        bits = load_element(b, x.pointer, x.offset(cx, i, j), unsigned)
        b.store(b.or_(b.load(found, typ=word), b.zext(holds(bits), word)), found)
    return cx.builder.icmp_unsigned("!=", cx.builder.load(found, typ=word), word(0))
