"""`matmul` and `einsum`: sums of products of arrays, as products of matrices.

Each axis has a letter. Letters that always stand next to each other in memory become one; of a letter that both factors
have and the result has not, the products are summed. With one letter of each factor that the result has, that is a
product of matrices (`blas.py`); all other letters are loops around it, in which rows of zeros are left out
(`zero_rows.py`). Where the summed letters cannot become one, a
factor is first copied into the right order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    Scalar,
    element_pointer,
    known,
    load_element,
    plus,
    product,
    store_element,
    times,
)
from wengert.backend.llvm.linalg.blas import (
    SMALL_IN_VECTORS,
    Sum,
    has_many_zero_rows,
    is_narrow,
    multiply,
    multiply_other_rows,
    product_of,
)
from wengert.backend.llvm.linalg.matrices import CALL, Matrix, as_matrix, at_least_one, part, scratch, strides_of
from wengert.backend.llvm.linalg.zero_rows import FEWEST_MATRICES, is_finite
from wengert.backend.llvm.threads.sharing import shared

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

SMALL = 20_000
"""Sums of products of another form are loops if there are fewer than so many multiplications."""


@dataclass
class Factor:
    """An array in memory: how far apart elements are along each letter."""

    pointer: ir.Value
    dtype: np.dtype
    steps: dict[str, int]

    def at(self, cx: Any, indices: dict[str, ir.Value]) -> ir.Value:
        """The address of the part at some indices."""
        offset: ir.Value = I64(0)
        for c, step in self.steps.items():
            if c in indices:
                offset = plus(cx.builder, offset, times(cx.builder, indices[c], I64(step)))
        return self.pointer if known(offset) == 0 else element_pointer(cx.builder, self.pointer, offset, self.dtype)


def matmul(cx: Any, inputs: list[Buffer], out: Buffer) -> Any:
    """`x @ y`, of stacks and vectors, into `out`."""
    x, y = inputs
    if not x.ndim or not y.ndim:
        return NotImplemented
    x_core, y_core = min(x.ndim, 2), min(y.ndim, 2)
    out_core = x_core + y_core - 2
    lead = out.lengths[: out.ndim - out_core]
    if len(lead) + 3 <= len(_LETTERS):
        letters = _LETTERS[: len(lead)]
        own = [letters[len(lead) - (b.ndim - core) :] for b, core in ((x, x_core), (y, y_core))]
        terms = [own[0] + "yz"[2 - x_core :], own[1] + "zx"[:y_core]]
        if contract(cx, inputs, out, terms, letters + "y"[: x_core - 1] + "x"[: y_core - 1]):
            return "blas"
    summed, rows = x.lengths[-1], y.lengths[-y_core]
    if known(summed) is None or known(rows) is None:
        message = "matmul: Input operand 1 has a mismatch in its core dimension 0"
        cx.fail_if(cx.builder.icmp_signed("!=", summed, rows), "ValueError", message)
    with shared(cx, list(lead), weight=CALL) as indices:
        a, b, c = (
            part(cx, buffer, lead, indices, core) for buffer, core in ((x, x_core), (y, y_core), (out, out_core))
        )
        left = as_matrix(a) if x_core == 2 else _row(a)
        right = as_matrix(b) if y_core == 2 else _row(b).transposed
        down = at_least_one(cx, right.columns)
        multiply(cx, left, right, Matrix(c.pointer, left.rows, right.columns, down, I64(1), out.dtype))
    return "blas"


def _row(v: Buffer) -> Matrix:
    assert v.strides is not None
    return Matrix(v.pointer, I64(1), v.lengths[0], v.lengths[0], v.strides[0], v.dtype)


def einsum(cx: Any, inputs: list[Buffer], out: Buffer, subscripts: str) -> Any:
    """A contraction: of two factors by products of matrices where it is one, any small one by loops."""
    left, result = subscripts.split("->")
    letters = left.split(",")
    lengths: dict[str, ir.Value] = {}
    for own, buffer in zip(letters, inputs, strict=True):
        for c, n in zip(own, buffer.lengths, strict=True):
            if c not in lengths or known(lengths[c]) == 1:
                lengths[c] = n
    if any(known(n) is None for n in lengths.values()):
        return NotImplemented
    if len(inputs) == 2 and contract(cx, inputs, out, letters, result):
        return "blas"
    if any(known(n) != known(lengths[c]) for own, b in zip(letters, inputs, strict=True)
           for c, n in zip(own, b.lengths, strict=True)):  # fmt: skip
        return NotImplemented  # lengths of one broadcast
    size = known(product(cx.builder, list(lengths.values())))
    if size is None or size > SMALL:
        return NotImplemented
    strides = [dict(zip(own, strides_of(cx, b), strict=True)) for own, b in zip(letters, inputs, strict=True)]
    summed = [c for c in lengths if c not in result]
    with cx.loops([lengths[c] for c in result]) as indices:
        total = Sum(cx, out.dtype)
        with cx.loops([lengths[c] for c in summed]) as inner:
            at = dict(zip([*result, *summed], [*indices, *inner], strict=True))
            term: Scalar = None
            for buffer, steps in zip(inputs, strides, strict=True):
                value = load_element(cx.builder, buffer.pointer, _offset(cx, at, steps), buffer.dtype)
                value = scalars.convert(cx, value, buffer.dtype, out.dtype)
                term = value if term is None else product_of(cx, term, value, out.dtype)
            total.add(term)
        offset = _offset(cx, at, dict(zip(result, strides_of(cx, out), strict=True)))
        store_element(cx.builder, total.get(), out.pointer, offset, out.dtype)
    return "blas"


def _offset(cx: Any, at: dict[str, ir.Value], strides: dict[str, ir.Value]) -> ir.Value:
    total: ir.Value = I64(0)
    for c, stride in strides.items():
        total = plus(cx.builder, total, product(cx.builder, [at[c], stride]))
    return total


# --------------------------------------------------------------------------------------------------- two factors


def contract(cx: Any, inputs: list[Buffer], out: Buffer, letters: list[str], result: str) -> bool:
    """Two factors by products of matrices; False, with nothing written, if it is not one or lengths are not known."""
    if any(len(set(own)) != len(own) for own in (*letters, result)) or out.strides is not None:
        return False
    sizes: dict[str, int] = {}
    pairs = zip((*letters, result), (*inputs, out), strict=True)
    found = [_factor(cx, own, buffer, sizes) for own, buffer in pairs]
    factors = [factor for factor in found if factor is not None]
    if len(factors) < 3:
        return False
    x, y, z = factors
    if any(c not in z.steps and not (c in x.steps and c in y.steps) for c in sizes):
        return False
    if any(c not in x.steps and c not in y.steps for c in z.steps):
        return False
    _merge(factors, sizes)
    summed = [c for c in x.steps if c in y.steps and c not in z.steps]
    if len(summed) > 1:
        # The order of the larger factor stays.
        kept = max((x, y), key=lambda f: math.prod([sizes[c] for c in f.steps]))
        order = sorted(summed, key=lambda c: -kept.steps[c])
        x, y = [f if _is_chain(f, order, sizes) else _packed(cx, f, order, sizes) for f in (x, y)]
        _merge([x, y, z], sizes)
        summed = [c for c in x.steps if c in y.steps and c not in z.steps]
        assert len(summed) == 1
    _by_matrices(cx, x, y, z, sizes, summed[0] if summed else None)
    return True


def _factor(cx: Any, letters: str, buffer: Buffer, sizes: dict[str, int]) -> Factor | None:
    """A factor, and `sizes` with the lengths of its letters; None if one is not known, or another than before."""
    steps: dict[str, int] = {}
    for c, n, stride in zip(letters, map(known, buffer.lengths), map(known, strides_of(cx, buffer)), strict=True):
        if n is None or n == 0 or stride is None:
            return None
        if n != 1:  # axes of length one broadcast, or are nowhere
            if sizes.setdefault(c, n) != n:
                return None
            steps[c] = stride
    return Factor(buffer.pointer, buffer.dtype, steps)


def _merge(factors: Sequence[Factor], sizes: dict[str, int]) -> None:
    """Letters that stand next to each other wherever they stand become one."""
    again = True
    while again:
        again = False
        for p in list(sizes):
            for q in list(sizes):
                if p == q or p not in sizes or q not in sizes:
                    continue
                if all(
                    (p in f.steps) == (q in f.steps) and (p not in f.steps or f.steps[p] == f.steps[q] * sizes[q])
                    for f in factors
                ):
                    sizes[q] *= sizes.pop(p)
                    for f in factors:
                        f.steps.pop(p, None)
                    again = True


def _is_chain(factor: Factor, order: Sequence[str], sizes: dict[str, int]) -> bool:
    return all(factor.steps[p] == factor.steps[q] * sizes[q] for p, q in itertools.pairwise(order))


def _packed(cx: Any, factor: Factor, order: Sequence[str], sizes: dict[str, int]) -> Factor:
    """A copy of a factor in which some letters are the last, in this order."""
    others = sorted([c for c in factor.steps if c not in order], key=lambda c: -factor.steps[c])
    all_letters = [*others, *order]
    count = math.prod([sizes[c] for c in all_letters])
    steps: dict[str, int] = {}
    step = 1
    for c in reversed(all_letters):
        steps[c] = step
        step *= sizes[c]
    new = Factor(scratch(cx, I64(count), factor.dtype), factor.dtype, steps)
    with cx.loops([I64(sizes[c]) for c in all_letters]) as indices:
        at = dict(zip(all_letters, indices, strict=True))
        value = load_element(cx.builder, factor.at(cx, at), I64(0), factor.dtype)
        store_element(cx.builder, value, new.at(cx, at), I64(0), factor.dtype)
    return new


def _by_matrices(cx: Any, x: Factor, y: Factor, z: Factor, sizes: dict[str, int], summed: str | None) -> None:
    row, column = _rows_and_columns(x, y, z, sizes, summed)
    if (row is not None and row in y.steps) or (column is not None and column in x.steps):
        x, y = y, x
    if _is_worth_packing(x, y, z, sizes, summed, column):
        y = _packed(cx, y, [c for c in (summed, column) if c is not None], sizes)
    outer = sorted([c for c in z.steps if c not in (row, column)], key=lambda c: -z.steps[c])

    def matrix(f: Factor, at: dict[str, ir.Value], down: str | None, right: str | None) -> Matrix:
        rows, columns = [sizes[c] if c else 1 for c in (down, right)]
        return Matrix(
            f.at(cx, at), I64(rows), I64(columns), I64(f.steps[down] if down else max(columns, 1)),
            I64(f.steps[right] if right else 1), f.dtype,
        )  # fmt: skip

    once = math.prod([sizes[c] for c in (row, column, summed) if c is not None])
    count = math.prod([sizes[c] for c in outer])
    alone = [matrix(x, {}, row, summed), matrix(y, {}, summed, column), matrix(z, {}, row, column)]
    skips = not any(c in x.steps for c in outer) and count >= FEWEST_MATRICES and has_many_zero_rows(*alone)
    finite = is_finite(cx, alone[0]) if skips else None
    with shared(cx, [I64(sizes[c]) for c in outer], weight=once, cost=count * once) as indices:
        at = dict(zip(outer, indices, strict=True))
        factors = (matrix(x, at, row, summed), matrix(y, at, summed, column), matrix(z, at, row, column))
        if finite is not None:
            multiply_other_rows(cx, *factors, finite)
        else:
            multiply(cx, *factors)


def _is_worth_packing(
    x: Factor, y: Factor, z: Factor, sizes: dict[str, int], summed: str | None, column: str | None
) -> bool:
    """Whether the second factor is used often enough that a copy pays in which its columns lie in a row."""
    if column is None or summed is None or y.steps[column] == 1 or not x.dtype == y.dtype == z.dtype:
        return False
    if z.dtype.kind != "f" or not is_narrow(sizes[summed], sizes[column]):
        return False
    often = math.prod([n for c, n in sizes.items() if c not in y.steps])
    return often >= 256 or (often >= 8 and (sizes[summed] < 32 or y.steps[summed] != 1))


def _rows_and_columns(
    x: Factor, y: Factor, z: Factor, sizes: dict[str, int], summed: str | None
) -> tuple[str | None, str | None]:
    """The letters for rows and columns of the products: columns lie in a row in the result, unless they are too few."""
    own = [[c for c in f.steps if c in z.steps and c not in g.steps] for f, g in ((x, y), (y, x))]
    column = next((c for cs in own for c in cs if z.steps[c] == 1), None)
    if column is None:
        longest = sorted(own[0] + own[1], key=lambda c: sizes[c])
        return (longest[-1] if longest else None), None
    mine, others = (y, own[1]) if column in own[0] else (x, own[0])
    row = max(others, key=lambda c: sizes[c], default=None)
    if row is not None and summed is not None and sizes[column] < 8 and z.dtype.kind == "f":
        if mine.steps[row] == 1 and sizes[row] >= 16 and sizes[row] * sizes[summed] * sizes[column] < SMALL_IN_VECTORS:
            return column, row
    return row, column
