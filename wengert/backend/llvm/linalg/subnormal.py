"""Products with factors so small that processors take a detour.

A number below 2⁻¹⁰²² (2⁻¹²⁶ in single precision) has fewer digits, and an instruction that meets one may take a hundred
times as long. Weights of a softmax are often that small. In a product of matrices each of them is met once for every
column, so it pays to look for them first: where there are some, the factor is taken times a power of two, in which they
are numbers like any other, and the product is divided by it. Both are exact, unless the product is out of range, which
is looked for as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, known, load_element, register_type, store_element
from wengert.backend.llvm.linalg.matrices import Matrix, flat, fresh, matrix_of
from wengert.backend.llvm.machine.subroutines import shared_function

_LIFT = {"d": 64, "f": 32}
_HIGH = {"d": 300, "f": 40}
"""Exponents of two: of the factor; of numbers above which it is left out."""


class LiftedFactor:
    """A factor of a product in memory of its own, times a power of two where it has subnormal numbers.

    `matrix` is to be multiplied instead of it; `settle` then brings the product back.
    """

    def __init__(self, cx: Any, x: Matrix, y: Matrix):
        self.cx, self.dtype = cx, x.dtype
        self.lifted = cx.on_stack(I32)
        by_columns = known(x.right) != 1 and known(x.down) == 1
        self.matrix = fresh(cx, x.rows, x.columns, x.dtype, by_columns)
        source, target = (x.transposed, self.matrix.transposed) if by_columns else (x, self.matrix)
        in_a_row = known(source.right) == 1
        if flat(source) is not source:
            source, target = flat(source), flat(target)
        kind = "row" if in_a_row else "any"
        function = shared_function(
            cx, f"lifted_{x.dtype.char}_{kind}", [POINTER, *_SIZES, POINTER, *_SIZES, POINTER, *_SIZES, POINTER],
            lambda inner, arguments: _lift(inner, x.dtype, in_a_row, arguments),
        )  # fmt: skip
        matrices = [v for m in (source, target, flat(y)) for v in (m.pointer, m.rows, m.columns, m.down, m.right)]
        cx.builder.call(function, [*matrices, self.lifted])

    def settle(self, z: Matrix) -> None:
        b = self.cx.builder
        with b.if_then(b.icmp_signed("!=", b.load(self.lifted, typ=I32), I32(0)), likely=False):
            function = shared_function(
                self.cx, f"settled_{self.dtype.char}", [POINTER, *_SIZES],
                lambda cx, arguments: _scale(cx, matrix_of(arguments, self.dtype), -1),
            )  # fmt: skip
            b.call(function, [z.pointer, z.rows, z.columns, z.down, z.right])


_SIZES = [I64] * 4
"""Rows, columns, and how far apart they are."""


def _lift(cx: Any, dtype: np.dtype, in_a_row: bool, arguments: Sequence[ir.Value]) -> None:
    """Copy one matrix to another; if it has subnormal numbers, and a third allows that, times a power of two."""
    source, target = [matrix_of(arguments[k : k + 5], dtype) for k in (0, 5)]
    place = arguments[15]
    if in_a_row:
        source.right = I64(1)
    target.right = I64(1)
    cx.builder.store(I32(0), place)
    low, high = _extremes(cx, source, is_rare=not in_a_row, copy_to=target)
    least_normal = float(np.finfo(dtype).smallest_normal)
    with cx.builder.if_then(_is_below(cx, dtype, cx.builder.add(low, low.type(1)), least_normal), likely=False):
        rest = shared_function(
            cx, f"raised_{dtype.char}", [POINTER, *_SIZES, POINTER, *_SIZES, high.type, POINTER],
            lambda inner, arguments: _raise(inner, dtype, arguments),
        )  # fmt: skip
        cx.builder.call(rest, [*arguments[5:15], high, place])


def _raise(cx: Any, dtype: np.dtype, arguments: Sequence[ir.Value]) -> None:
    """Take a matrix times a power of two, if its greatest number and that of another one allow it."""
    target, other = [matrix_of(arguments[k : k + 5], dtype) for k in (0, 5)]
    _, greatest = _extremes(cx, other, is_rare=True)
    fits = [_is_below(cx, dtype, top, 2.0 ** _HIGH[dtype.char]) for top in (arguments[10], greatest)]
    with cx.builder.if_then(cx.builder.and_(*fits)):
        _scale(cx, target, 1)
        cx.builder.store(I32(1), arguments[11])


def _extremes(cx: Any, x: Matrix, is_rare: bool, copy_to: Matrix | None = None) -> tuple[ir.Value, ir.Value]:
    """The least and the greatest absolute value, zero left out, as bits less one: these are in the same order."""
    word = ir.IntType(8 * x.dtype.itemsize)
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    least, greatest = cx.on_stack(word), cx.on_stack(word)
    cx.builder.store(word(-1), least)
    cx.builder.store(word(0), greatest)
    smaller, larger = [cx.declare(f"llvm.{f}.i{word.width}", word, [word, word]) for f in ("umin", "umax")]
    with cx.loop(x.rows) as i, cx.loop(x.columns, lanes=unsigned, is_rare=is_rare) as j:
        b = cx.builder
        value = load_element(b, x.pointer, x.offset(cx, i, j), unsigned)
        if copy_to is not None:
            store_element(b, value, copy_to.pointer, copy_to.offset(cx, i, j), unsigned)
        size = b.and_(value, word((1 << (word.width - 1)) - 1))
        b.store(b.call(smaller, [b.sub(size, word(1)), b.load(least, typ=word)]), least)
        b.store(b.call(larger, [size, b.load(greatest, typ=word)]), greatest)
    return cx.builder.load(least, typ=word), cx.builder.load(greatest, typ=word)


def _is_below(cx: Any, dtype: np.dtype, bits: ir.Value, number: float) -> ir.Value:
    bound = int(np.array(number, dtype).view(f"u{dtype.itemsize}"))
    return cx.builder.icmp_unsigned("<", bits, bits.type(bound))


def _scale(cx: Any, x: Matrix, sign: int) -> None:
    power = register_type(x.dtype)(float(2.0 ** (sign * _LIFT[x.dtype.char])))
    with cx.loop(x.rows) as i, cx.loop(x.columns, is_rare=True) as j:
        x.store(cx, cx.builder.fmul(x.load(cx, i, j), power), i, j)
