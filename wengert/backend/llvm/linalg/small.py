"""Linear algebra of small matrices, in registers.

A call of LAPACK takes longer than the work itself when a matrix has a few rows. Here all elements of a matrix are
values of the program, loops over them are written out, and there is nothing to pay per item of a stack.

Rows are exchanged by choosing between values: whoever has the larger element becomes the pivot row, one row after the
other. That ends with the pivots of LAPACK, except that other rows may stand in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import I1, Buffer, Scalar, known, store_element
from wengert.backend.llvm.arrays.buffer import I64 as INDEX
from wengert.backend.llvm.linalg.matrices import Matrix, each

LARGEST = 6
"""Rows. The code grows with their cube."""

RULES: dict[str, Callable] = {}
"""As those of `lapack.py`."""

_Rows = list[list[ir.Value]]


def _rule(function: Callable) -> Callable:
    RULES[function.__name__] = function
    return function


def _is_small(inputs: list[Buffer], outs: list[Buffer]) -> bool:
    """Whether the first of some arrays is a stack of small real matrices."""
    n = known(inputs[0].lengths[-1]) if inputs[0].ndim >= 2 else None
    return n is not None and n <= LARGEST and all(b.dtype.char in "fd" for b in outs) and inputs[0].dtype.kind in "fiub"


class _Numbers:
    """Arithmetic of one real dtype."""

    def __init__(self, cx: Any, dtype: np.dtype):
        self.cx, self.dtype = cx, dtype

    def rows(self, a: Matrix) -> _Rows:
        """All elements of a matrix."""
        n, m = known(a.rows) or 0, known(a.columns) or 0
        return [
            [
                scalars.convert(self.cx, a.load(self.cx, INDEX(i), INDEX(j)), a.dtype, self.dtype)
                for j in range(m)
            ]
            for i in range(n)
        ]  # fmt: skip

    def op(self, name: str, *values: Scalar) -> Scalar:
        return scalars.emit(
            self.cx, name, {}, self.dtype, list(values), [self.dtype] * len(values), [False] * len(values)
        )

    def less(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        """x − y·z."""
        b = self.cx.builder
        return b.fsub(x, b.fmul(y, z, flags=("contract",)), flags=("contract",))

    def number(self, value: float) -> ir.Value:
        return scalars.constant(value, self.dtype)


class _Factors:
    """P A = L U with the larger pivots, in place of the elements of A."""

    def __init__(self, numbers: _Numbers, rows: _Rows):
        self.numbers, self.rows = numbers, rows
        self.exchanges: list[tuple[int, int, ir.Value]] = []
        b, n = numbers.cx.builder, len(rows)
        self.is_singular: ir.Value = I1(0)
        for k in range(n):
            for i in range(k + 1, n):
                here, there = (numbers.op("absolute", rows[r][k]) for r in (k, i))
                larger = b.fcmp_ordered(">", there, here)
                self.exchanges.append((k, i, larger))
                pairs = [self._chosen(larger, p, q) for p, q in zip(rows[k], rows[i], strict=True)]
                rows[k], rows[i] = [p for p, _ in pairs], [q for _, q in pairs]
            pivot = rows[k][k]
            self.is_singular = b.or_(self.is_singular, b.fcmp_ordered("==", pivot, numbers.number(0)))
            for i in range(k + 1, n):
                factor = rows[i][k] = b.fdiv(rows[i][k], pivot)
                for j in range(k + 1, n):
                    rows[i][j] = numbers.less(rows[i][j], factor, rows[k][j])

    def _chosen(self, exchange: ir.Value, p: ir.Value, q: ir.Value) -> tuple[ir.Value, ir.Value]:
        select = self.numbers.cx.builder.select
        return select(exchange, q, p), select(exchange, p, q)

    @property
    def diagonal(self) -> list[ir.Value]:
        return [row[i] for i, row in enumerate(self.rows)]

    @property
    def is_odd(self) -> ir.Value:
        """Whether rows were exchanged an odd number of times."""
        odd: ir.Value = I1(0)
        for _, _, exchange in self.exchanges:
            odd = self.numbers.cx.builder.xor(odd, exchange)
        return odd

    def solve(self, v: list[ir.Value]) -> list[ir.Value]:
        v = list(v)
        for k, i, exchange in self.exchanges:
            v[k], v[i] = self._chosen(exchange, v[k], v[i])
        v = substituted(self.numbers, self.rows, v, lower=True, unit=True)
        return substituted(self.numbers, self.rows, v, lower=False, unit=False)


def substituted(numbers: _Numbers, rows: _Rows, v: list[ir.Value], lower: bool, unit: bool) -> list[ir.Value]:
    """The solution of a triangular system."""
    n, v = len(rows), list(v)
    for i in range(n) if lower else reversed(range(n)):
        for j in range(i) if lower else range(i + 1, n):
            v[i] = numbers.less(v[i], rows[i][j], v[j])
        if not unit:
            v[i] = numbers.cx.builder.fdiv(v[i], rows[i][i])
    return v


def _columns(cx: Any, numbers: _Numbers, b: Matrix, x: Matrix, solve: Callable[[list], list]) -> None:
    """Solve for each column of b into that of x."""
    n = known(x.rows) or 0
    with cx.loop(x.columns) as j:
        v = [scalars.convert(cx, b.load(cx, INDEX(i), j), b.dtype, numbers.dtype) for i in range(n)]
        for i, value in enumerate(solve(v)):
            x.store(cx, value, INDEX(i), j)


@_rule
def solve(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a, b), (out,) = inputs, outs
    if not _is_small(inputs, outs) or b.ndim < 2:
        return NotImplemented
    numbers = _Numbers(cx, out.dtype)
    with each(cx, out.lengths[:-2], (a, 2), (b, 2), (out, 2), call=False) as (a1, b1, x):
        factors = _Factors(numbers, numbers.rows(a1))
        cx.fail_if(factors.is_singular, "LinAlgError", "Singular matrix")
        _columns(cx, numbers, b1, x, factors.solve)
    return "native"


@_rule
def inv(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a,), (out,) = inputs, outs
    if not _is_small(inputs, outs):
        return NotImplemented
    numbers, n = _Numbers(cx, out.dtype), known(a.lengths[-1]) or 0
    with each(cx, out.lengths[:-2], (a, 2), (out, 2), call=False) as (a1, x):
        factors = _Factors(numbers, numbers.rows(a1))
        cx.fail_if(factors.is_singular, "LinAlgError", "Singular matrix")
        for j in range(n):
            unit = [numbers.number(float(i == j)) for i in range(n)]
            for i, value in enumerate(factors.solve(unit)):
                x.store(cx, value, INDEX(i), INDEX(j))
    return "native"


@_rule
def solve_triangular(cx: Any, inputs: list[Buffer], outs: list[Buffer], lower: bool, unit: bool) -> Any:
    (a, b), (out,) = inputs, outs
    if not _is_small(inputs, outs) or b.ndim < 2:
        return NotImplemented
    alone = a.ndim == b.ndim == 2
    message = "singular matrix: resolution failed at diagonal {0}" if alone else "Singular matrix"
    numbers = _Numbers(cx, out.dtype)
    with each(cx, out.lengths[:-2], (a, 2), (b, 2), (out, 2), call=False) as (a1, b1, x):
        rows = numbers.rows(a1)
        for i, row in enumerate(rows if not unit else ()):
            nothing = cx.builder.fcmp_ordered("==", row[i], numbers.number(0))
            cx.fail_if(nothing, "LinAlgError", message, *([INDEX(i)] if alone else []))
        _columns(cx, numbers, b1, x, lambda v: substituted(numbers, rows, v, lower, unit))
    return "native"


@_rule
def cholesky(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a,), (out,) = inputs, outs
    if not _is_small(inputs, outs):
        return NotImplemented
    numbers, n = _Numbers(cx, out.dtype), known(a.lengths[-1]) or 0
    with each(cx, out.lengths[:-2], (a, 2), (out, 2), call=False) as (a1, x):
        rows, b = numbers.rows(a1), cx.builder
        for j in range(n):
            for k in range(j):
                rows[j][j] = numbers.less(rows[j][j], rows[j][k], rows[j][k])
            is_bad = b.fcmp_unordered("<=", rows[j][j], numbers.number(0))  # or no number
            cx.fail_if(is_bad, "LinAlgError", "Matrix is not positive definite")
            rows[j][j] = numbers.op("sqrt", rows[j][j])
            for i in range(j + 1, n):
                for k in range(j):
                    rows[i][j] = numbers.less(rows[i][j], rows[i][k], rows[j][k])
                rows[i][j] = b.fdiv(rows[i][j], rows[j][j])
        for i in range(n):
            for j in range(n):
                x.store(cx, rows[i][j] if j <= i else numbers.number(0), INDEX(i), INDEX(j))
    return "native"


@_rule
def slogdet(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """Sign and logarithm; of a singular matrix 0 and −∞."""
    (a,), (sign_out, log_out) = inputs, outs
    if not _is_small(inputs, outs):
        return NotImplemented
    numbers = _Numbers(cx, sign_out.dtype)
    with each(cx, sign_out.lengths, (a, 2), (sign_out, 0), (log_out, 0), call=False) as (a1, *results):
        factors = _Factors(numbers, numbers.rows(a1))
        for result, value in zip(results, _sign_and_log(numbers, factors), strict=True):
            store_element(cx.builder, value, result.pointer, INDEX(0), result.dtype)
    return "native"


def _sign_and_log(numbers: _Numbers, factors: _Factors) -> tuple[ir.Value, ir.Value]:
    b = numbers.cx.builder
    sign = b.select(factors.is_odd, numbers.number(-1), numbers.number(1))
    log = numbers.number(0)
    for x in factors.diagonal:
        sign = b.fmul(sign, numbers.op("sign", x))
        log = b.fadd(log, numbers.op("log", numbers.op("absolute", x)))
    sign = b.select(factors.is_singular, numbers.number(0), sign)
    return sign, b.select(factors.is_singular, numbers.number(-np.inf), log)


@_rule
def det(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """The product of the pivots; by logarithms, as NumPy has it, where a part of the product is out of range."""
    (a,), (out,) = inputs, outs
    if not _is_small(inputs, outs):
        return NotImplemented
    numbers, d = _Numbers(cx, out.dtype), out.dtype
    with each(cx, out.lengths, (a, 2), (out, 0), call=False) as (a1, result):
        b = cx.builder
        factors = _Factors(numbers, numbers.rows(a1))
        product = b.select(factors.is_odd, numbers.number(-1), numbers.number(1))
        in_range: ir.Value = I1(1)
        for x in factors.diagonal:
            product = b.fmul(product, x)
            size = numbers.op("absolute", product)
            in_range = b.and_(in_range, b.fcmp_ordered(">=", size, numbers.number(float(np.finfo(d).tiny))))
            in_range = b.and_(in_range, b.fcmp_ordered("<", size, numbers.number(np.inf)))
        store_element(b, product, result.pointer, INDEX(0), d)
        with b.if_then(b.not_(in_range), likely=False):
            sign, log = _sign_and_log(numbers, factors)
            other = b.fmul(sign, numbers.op("exp", log))
            other = b.select(factors.is_singular, numbers.number(0), other)
            store_element(b, other, result.pointer, INDEX(0), d)
    return "native"
