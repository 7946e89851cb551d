"""Stacks of matrices in memory, and calls of Fortran routines on them: what `blas.py` and `lapack.py` are written with.

A `Matrix` is one matrix of a buffer: where it begins and how far apart rows and columns are. Fortran's matrices have
columns in a row in memory; a C-contiguous matrix is, read so, its own transpose.

Fortran takes every argument by address. `call` does that: an i64 becomes a 32-bit integer in memory, a str a letter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I8,
    I32,
    I64,
    POINTER,
    VOID,
    Buffer,
    Complex,
    Scalar,
    contiguous_strides,
    element_pointer,
    known,
    load_element,
    plus,
    product,
    store_element,
    times,
)
from wengert.backend.llvm.arrays.transposition import copy_transposed, has_blocks
from wengert.backend.llvm.machine import natives
from wengert.backend.llvm.machine.internal import internal_constant
from wengert.backend.llvm.threads.sharing import shared

CALL = 1 << 13
"""Instructions that the call of a routine takes, about."""


@dataclass
class Matrix:
    """One matrix: `rows` × `columns` elements, `down` and `right` elements apart."""

    pointer: ir.Value
    rows: ir.Value
    columns: ir.Value
    down: ir.Value
    right: ir.Value
    dtype: np.dtype

    @property
    def transposed(self) -> Matrix:
        """The transpose, of the same memory."""
        return Matrix(self.pointer, self.columns, self.rows, self.right, self.down, self.dtype)

    def part(self, cx: Any, i: ir.Value, j: ir.Value, rows: ir.Value | None = None) -> Matrix:
        """The part from (i, j) on, of so many rows; the number of its columns stays what it was."""
        offset = self.offset(cx, i, j)
        pointer = self.pointer if known(offset) == 0 else element_pointer(cx.builder, self.pointer, offset, self.dtype)
        return Matrix(pointer, self.rows if rows is None else rows, self.columns, self.down, self.right, self.dtype)

    def offset(self, cx: Any, i: ir.Value, j: ir.Value) -> ir.Value:
        b = cx.builder
        return plus(b, times(b, i, self.down), times(b, j, self.right))

    def load(self, cx: Any, i: ir.Value, j: ir.Value) -> Scalar:
        return load_element(cx.builder, self.pointer, self.offset(cx, i, j), self.dtype)

    def store(self, cx: Any, value: Scalar, i: ir.Value, j: ir.Value) -> None:
        store_element(cx.builder, value, self.pointer, self.offset(cx, i, j), self.dtype)


def scratch(cx: Any, count: ir.Value, dtype: np.dtype) -> ir.Value:
    """Memory for so many elements."""
    n = known(count)
    return cx.scratch(n * dtype.itemsize if n is not None else times(cx.builder, count, I64(dtype.itemsize)))


def fresh(cx: Any, rows: ir.Value, columns: ir.Value, dtype: np.dtype, by_columns: bool = False) -> Matrix:
    """An empty matrix of its own memory, by rows or by columns."""
    pointer = scratch(cx, product(cx.builder, [rows, columns]), dtype)
    if by_columns:
        return Matrix(pointer, rows, columns, I64(1), rows, dtype)
    return Matrix(pointer, rows, columns, columns, I64(1), dtype)


def flat(x: Matrix) -> Matrix:
    """A matrix whose elements lie all in a row as one with a single row; any other as it is."""
    rows, columns, down, right = map(known, (x.rows, x.columns, x.down, x.right))
    if rows is None or columns is None or right != 1 or down != columns:
        return x
    return Matrix(x.pointer, I64(1), I64(rows * columns), I64(rows * columns), x.right, x.dtype)


def matrix_of(arguments: Sequence[ir.Value], dtype: np.dtype) -> Matrix:
    """A matrix from the arguments of a function: where it begins, rows, columns, and how far apart these are."""
    pointer, rows, columns, down, right = arguments
    return Matrix(pointer, rows, columns, down, right, dtype)


def copy(cx: Any, source: Matrix, target: Matrix) -> None:
    """Elements from one matrix to another of the same size, in the order of the target's memory."""
    if known(target.down) == 1 and known(target.right) != 1:
        source, target = source.transposed, target.transposed
    if source.dtype == target.dtype and has_blocks(source.dtype) and known(source.down) == known(target.right) == 1:
        copy_transposed(
            cx, source.dtype, source.pointer, source.right, target.pointer, target.down, target.rows, target.columns
        )
        return
    with cx.loop(target.rows) as i, cx.loop(target.columns) as j:
        value = scalars.convert(cx, source.load(cx, i, j), source.dtype, target.dtype)
        target.store(cx, value, i, j)


def fill(cx: Any, target: Matrix, value: Callable[[ir.Value, ir.Value], Scalar]) -> None:
    """Every element of a matrix from its indices."""
    with cx.loop(target.rows) as i, cx.loop(target.columns) as j:
        target.store(cx, value(i, j), i, j)


def choose(cx: Any, condition: ir.Value, x: Scalar, y: Scalar) -> Scalar:
    """x if the condition holds, else y."""
    if isinstance(x, Complex):
        return Complex(*[cx.builder.select(condition, p, q) for p, q in zip(x, y, strict=True)])
    return cx.builder.select(condition, x, y)


# ----------------------------------------------------------------------------------------------------------- stacks


def strides_of(cx: Any, buffer: Buffer) -> list[ir.Value]:
    return buffer.strides if buffer.strides is not None else contiguous_strides(cx.builder, buffer.lengths)


def part(cx: Any, buffer: Buffer, lead: Sequence[ir.Value], indices: Sequence[ir.Value], core: int) -> Buffer:
    """The last `core` axes of a buffer at some indices of the axes in front, which broadcast to `lead`."""
    strides = strides_of(cx, buffer)
    own = buffer.ndim - core
    offset: ir.Value = I64(0)
    for k in range(own):
        place = len(lead) - own + k
        if known(buffer.lengths[k]) == 1 and known(lead[place]) != 1:
            continue  # it broadcasts
        offset = plus(cx.builder, offset, times(cx.builder, indices[place], strides[k]))
    pointer = buffer.pointer
    if known(offset) != 0:
        pointer = element_pointer(cx.builder, pointer, offset, buffer.dtype)
    return Buffer(pointer, list(buffer.lengths[own:]), list(strides[own:]), buffer.dtype)


def as_matrix(buffer: Buffer) -> Matrix:
    """A buffer of two axes and known strides."""
    assert buffer.strides is not None
    rows, columns = buffer.lengths
    down, right = buffer.strides
    return Matrix(buffer.pointer, rows, columns, down, right, buffer.dtype)


def _core_cost(buffer: Buffer, core: int) -> int:
    """About what a routine for one item takes."""
    lengths = [known(n) or 1 for n in buffer.lengths[buffer.ndim - core :]]
    return 4 * math.prod(lengths) * max(lengths, default=1)


@contextmanager
def each(cx: Any, lead: Sequence[ir.Value], *stacks: tuple[Buffer, int], call: bool = True) -> Iterator[list[Any]]:
    """A loop over a stack: of each buffer its part, as a Matrix if the core has two axes, else a Buffer.

    Threads may share it, so memory for work is to be had inside. `call` says that a routine is called for each item.
    """
    cost = max([_core_cost(buffer, core) for buffer, core in stacks]) + (CALL if call else 0)
    count = math.prod([known(n) or 0 for n in lead])
    with shared(cx, list(lead), weight=cost, cost=count * cost) as indices:
        parts = [part(cx, buffer, lead, indices, core) for buffer, core in stacks]
        yield [as_matrix(p) if p.ndim == 2 else p for p in parts]


# ---------------------------------------------------------------------------------------------------- Fortran calls


def letter(dtype: np.dtype) -> str:
    """With which the names of routines for a dtype begin."""
    return {"f": "s", "d": "d", "F": "c", "D": "z"}[dtype.char]


def number(cx: Any, value: Any, dtype: np.dtype) -> ir.Value:
    """A constant of a dtype in memory."""
    place = cx.scratch(dtype.itemsize)
    store_element(cx.builder, scalars.constant(value, dtype), place, I64(0), dtype)
    return place


def integer(cx: Any, value: ir.Value | int) -> ir.Value:
    """A 32-bit integer in memory."""
    place = cx.on_stack(I32)
    if isinstance(value, int):
        value = I32(value)
    n = known(value)
    cx.builder.store(I32(n) if n is not None else cx.builder.trunc(value, I32) if value.type != I32 else value, place)
    return place


def character(cx: Any, text: str) -> ir.Value:
    """A letter in memory."""
    name = f"wg_letter_{text}"
    found = cx.module.globals.get(name)
    if found is None:
        found = internal_constant(cx.module, name, I8(ord(text)))
    return found


def call(cx: Any, library: str, routine: str, *arguments: Any) -> None:
    """A routine of "blas" or "lapack". Arguments: letters (str), integers (int or i64), or pointers."""
    find = natives.blas if library == "blas" else natives.lapack
    address = find(routine)
    assert address is not None, routine
    places = []
    for a in arguments:
        if isinstance(a, str):
            places.append(character(cx, a))
        elif isinstance(a, int) or isinstance(a.type, ir.IntType):
            places.append(integer(cx, a))
        else:
            places.append(a)
    function = cx.declare(f"wg_{library}_{routine}", VOID, [POINTER] * len(places), address)
    cx.builder.call(function, places)


class Info:
    """The status that a routine of LAPACK reports: 0, or where it failed."""

    def __init__(self, cx: Any):
        self.cx = cx
        self.place = integer(cx, 0)

    @property
    def value(self) -> ir.Value:
        return self.cx.builder.load(self.place, typ=I32)

    @property
    def failed(self) -> ir.Value:
        """Also for negative ones: gesdd reports so that a matrix has elements that are no numbers, and does nothing."""
        return self.cx.builder.icmp_signed("!=", self.value, I32(0))

    def check(self, message: str) -> None:
        """Raise LinAlgError if the routine failed."""
        self.cx.fail_if(self.failed, "LinAlgError", message)


def at_least_one(cx: Any, n: ir.Value) -> ir.Value:
    """A leading dimension: Fortran wants it positive also for empty matrices."""
    size = known(n)
    if size is not None:
        return I64(max(size, 1))
    return cx.builder.select(cx.builder.icmp_signed(">", n, I64(1)), n, I64(1))


def smaller(cx: Any, m: ir.Value, n: ir.Value) -> ir.Value:
    x, y = known(m), known(n)
    if x is not None and y is not None:
        return I64(min(x, y))
    return cx.builder.select(cx.builder.icmp_signed("<", m, n), m, n)


def workspace(cx: Any, dtype: np.dtype, query: Callable[[ir.Value, ir.Value], None]) -> tuple[ir.Value, ir.Value]:
    """Memory of the size that a routine asks for, and its length; `query(work, lwork)` calls it with lwork = −1."""
    probe = cx.scratch(16)
    query(probe, I64(-1))
    wanted = load_element(cx.builder, probe, I64(0), dtype)
    length = scalars.convert(cx, wanted, dtype, np.dtype(np.int64))
    length = cx.builder.select(cx.builder.icmp_signed(">", length, I64(1)), length, I64(1))
    return scratch(cx, length, dtype), length
