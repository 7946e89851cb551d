"""Products with factors so small that processors take a detour.

A number below 2⁻¹⁰²² (2⁻¹²⁶ in single precision) has fewer digits, and an instruction that meets one may take a hundred
times as long. Weights of a softmax are often that small. In a product of matrices each of them is met once for every
column, so it pays to look for them first: where there are some, the factor is taken times a power of two, in which they
are numbers like any other, and the product is divided by it. Both are exact, unless the product is out of range, which
is looked for as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.buffer import known, load_element, register_type, store_element
from wengert.backend.llvm.matrices import Matrix, fresh

_LIFT = {"d": 64, "f": 32}
_HIGH = {"d": 300, "f": 40}
"""Exponents of two: of the factor; of numbers above which it is left out."""


class Lifted:
    """A factor of a product in memory of its own, times a power of two where it has subnormal numbers.

    `matrix` is to be multiplied instead of it; `settle` then brings the product back.
    """

    def __init__(self, cx: Any, x: Matrix, y: Matrix):
        self.cx, self.dtype = cx, x.dtype
        b, self.type = cx.builder, register_type(x.dtype)
        self.matrix = fresh(cx, x.rows, x.columns, x.dtype)
        self.lifted = cx.on_stack(ir.IntType(1))
        low, high = self._extremes(x, copy_to=self.matrix)
        b.store(ir.IntType(1)(0), self.lifted)
        least_normal = float(np.finfo(self.dtype).smallest_normal)
        with b.if_then(self._is_below(b.add(low, low.type(1)), least_normal), likely=False):
            _, other = self._extremes(y)
            fits = [self._is_below(top, 2.0 ** _HIGH[self.dtype.char]) for top in (high, other)]
            with cx.builder.if_then(cx.builder.and_(*fits)):
                self._scale(self.matrix, 1)
                cx.builder.store(ir.IntType(1)(1), self.lifted)

    def settle(self, z: Matrix) -> None:
        b = self.cx.builder
        with b.if_then(b.load(self.lifted, typ=ir.IntType(1)), likely=False):
            self._scale(z, -1)

    def _power(self, exponent: int) -> ir.Constant:
        return self.type(float(2.0**exponent))

    def _extremes(self, x: Matrix, copy_to: Matrix | None = None) -> tuple[ir.Value, ir.Value]:
        """The least and the greatest absolute value, zero left out, as bits less one: these are in the same order."""
        cx = self.cx
        word = ir.IntType(8 * self.dtype.itemsize)
        unsigned = np.dtype(f"u{self.dtype.itemsize}")
        least, greatest = cx.on_stack(word), cx.on_stack(word)
        cx.builder.store(word(-1), least)
        cx.builder.store(word(0), greatest)
        if known(x.right) != 1 and known(x.down) == 1:
            x, copy_to = x.turned, copy_to.turned if copy_to is not None else None
        smaller, larger = [cx.declare(f"llvm.{f}.i{word.width}", word, [word, word]) for f in ("umin", "umax")]
        with cx.loop(x.rows) as i, cx.loop(x.columns, lanes=unsigned) as j:
            b = cx.builder
            value = load_element(b, x.pointer, x.offset(cx, i, j), unsigned)
            if copy_to is not None:
                store_element(b, value, copy_to.pointer, copy_to.offset(cx, i, j), unsigned)
            size = b.and_(value, word((1 << (word.width - 1)) - 1))
            b.store(b.call(smaller, [b.sub(size, word(1)), b.load(least, typ=word)]), least)
            b.store(b.call(larger, [size, b.load(greatest, typ=word)]), greatest)
        return cx.builder.load(least, typ=word), cx.builder.load(greatest, typ=word)

    def _is_below(self, bits: ir.Value, number: float) -> ir.Value:
        bound = int(np.array(number, self.dtype).view(f"u{self.dtype.itemsize}"))
        return self.cx.builder.icmp_unsigned("<", bits, bits.type(bound))

    def _scale(self, x: Matrix, sign: int) -> None:
        cx = self.cx
        with cx.loop(x.rows) as i, cx.loop(x.columns) as j:
            x.store(cx, cx.builder.fmul(x.load(cx, i, j), self._power(sign * _LIFT[self.dtype.char])), i, j)
