"""Copies of matrices that lie by columns into ones that lie by rows, in square blocks.

Element by element, one of both is read or written across its rows, where each element is in another line of the cache.
A square of as many rows as a vector has lanes is loaded in vectors, transposed in registers, and stored in vectors: in
step s of log₂ n, vectors whose numbers differ in bit s exchange the lanes that differ in it (Eklundh 1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import (
    I32,
    I64,
    POINTER,
    element_pointer,
    load_element,
    register_type,
    store_element,
)
from wengert.backend.llvm.machine.hints import vector_bytes
from wengert.backend.llvm.machine.subroutines import shared_function


def copy_transposed(cx: Any, dtype: np.dtype, source: ir.Value, right: ir.Value, target: ir.Value, down: ir.Value,
                    rows: ir.Value, columns: ir.Value) -> None:  # fmt: skip
    """Elements of a matrix whose columns lie in a row, `right` elements apart, to one whose rows do, `down` apart."""
    function = shared_function(
        cx, f"transposed_{dtype.char}", [POINTER, I64, POINTER, I64, I64, I64],
        lambda inner, arguments: _write(inner, dtype, arguments),
    )  # fmt: skip
    cx.builder.call(function, [source, right, target, down, rows, columns])


def has_blocks(dtype: np.dtype) -> bool:
    """Whether numbers of this type can be copied so."""
    return dtype.kind == "f" and dtype.itemsize in (4, 8)


def _write(cx: Any, dtype: np.dtype, arguments: Sequence[ir.Value]) -> None:
    b = cx.builder
    source, right, target, down, rows, columns = arguments
    n = vector_bytes() // dtype.itemsize
    vector = ir.VectorType(register_type(dtype), n)

    def place(pointer: ir.Value, far: ir.Value, apart: ir.Value, near: ir.Value) -> ir.Value:
        return element_pointer(b, pointer, b.add(b.mul(far, apart), near), dtype)

    def one(i: ir.Value, j: ir.Value) -> None:
        value = load_element(b, place(source, j, right, i), I64(0), dtype)
        store_element(b, value, place(target, i, down, j), I64(0), dtype)

    whole_rows, whole_columns = [b.sdiv(count, I64(n)) for count in (rows, columns)]
    first_row, first_column = [b.mul(count, I64(n)) for count in (whole_rows, whole_columns)]
    with cx.loop(whole_rows) as p, cx.loop(whole_columns) as q:
        i, j = b.mul(p, I64(n)), b.mul(q, I64(n))
        found = [b.load(place(source, b.add(j, I64(r)), right, i), typ=vector, align=dtype.itemsize) for r in range(n)]
        for r, value in enumerate(_transposed(b, found)):
            b.store(value, place(target, b.add(i, I64(r)), down, j), align=dtype.itemsize)
    with cx.loop(first_row) as i, cx.loop(b.sub(columns, first_column)) as j:
        one(i, b.add(first_column, j))
    with cx.loop(b.sub(rows, first_row)) as i, cx.loop(columns) as j:
        one(b.add(first_row, i), j)


def _transposed(b: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
    """A square of vectors, transposed."""
    n, step = len(rows), 1
    while step < n:
        lanes = range(n)
        low = [k if not k & step else n + k - step for k in lanes]
        high = [k + step if not k & step else n + k for k in lanes]
        for r in range(n):
            if not r & step:
                pair = rows[r], rows[r + step]
                rows[r], rows[r + step] = [
                    b.shuffle_vector(*pair, ir.Constant(ir.VectorType(I32, n), chosen)) for chosen in (low, high)
                ]
        step *= 2
    return rows
