"""Scalars in registers and arrays in memory, as the emitters hand them to each other.

A scalar is an LLVM value (i1 for bool in registers, iN, float, double) or, for complex dtypes, a `Complex` pair of
them. In memory a bool is one byte and a complex number two floats in a row, as in NumPy.

A `Buffer` describes elements in memory: where they begin, how many along each axis, how far apart. Strides count
elements, not bytes; `None` says C-contiguous. Pointers are opaque (`ptr`).

`element_type`, `load_element` and `store_element` are the only places that know how elements lie in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir


class IntType(ir.IntType):
    """An integer type. Its small constants are made once, since code is full of them."""

    _instance_cache: dict[int, ir.IntType] = {}
    _constants: dict[int, ir.Constant]

    def __new__(cls, bits: int) -> IntType:
        self = super().__new__(cls, bits)
        self.__dict__.setdefault("_constants", {})
        return self

    def __call__(self, value: Any) -> ir.Constant:
        if value.__class__ is not int or not -2 <= value < 1024:
            return ir.Constant(self, value)
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = ir.Constant(self, value)
        return found


I1, I8, I32, I64 = (IntType(n) for n in (1, 8, 32, 64))
F32, F64 = ir.FloatType(), ir.DoubleType()
VOID = ir.VoidType()
POINTER = ir.PointerType()


class Complex(NamedTuple):
    """A complex number in registers."""

    re: ir.Value
    im: ir.Value


Scalar = Any
"""An LLVM value or a `Complex`."""


@dataclass
class Buffer:
    """Elements in memory."""

    pointer: ir.Value
    lengths: list[ir.Value]
    strides: list[ir.Value] | None
    dtype: np.dtype
    writable: bool = False

    @property
    def ndim(self) -> int:
        return len(self.lengths)


def register_type(dtype: np.dtype) -> ir.Type:
    """The LLVM type of a real scalar in a register; of a complex one, that of its parts.

    Of dtypes that native code does not compute with (float16, longdouble) it is a row of bytes.
    """
    if dtype.kind == "b":
        return I1
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    part = {"f": F32, "d": F64, "F": F32, "D": F64}.get(dtype.char)
    return part if part is not None else ir.ArrayType(I8, dtype.itemsize)  # to be moved, not to be computed with


def element_type(dtype: np.dtype) -> ir.Type:
    """The LLVM type of one element in memory."""
    if dtype.kind == "b":
        return I8
    if dtype.kind == "c":
        part = register_type(dtype)
        return ir.LiteralStructType([part, part])
    return register_type(dtype)


def is_native(dtype: np.dtype) -> bool:
    """Whether elements of this dtype have a register type here."""
    return dtype.kind in "biu" or dtype.char in "fdFD"


def alignment(dtype: np.dtype) -> int:
    """How elements of this dtype are aligned in memory, at least."""
    return dtype.itemsize if is_native(dtype) else 1


def element_pointer(builder: ir.IRBuilder, pointer: ir.Value, offset: ir.Value, dtype: np.dtype) -> ir.Value:
    """Where the element `offset` elements after `pointer` lies."""
    return builder.gep(pointer, [offset], inbounds=True, source_etype=element_type(dtype))


def load_element(builder: ir.IRBuilder, pointer: ir.Value, offset: ir.Value, dtype: np.dtype) -> Scalar:
    """The element `offset` elements after `pointer`."""
    place = element_pointer(builder, pointer, offset, dtype)
    if dtype.kind == "c":
        part, size = register_type(dtype), dtype.itemsize // 2
        second = builder.gep(place, [I64(1)], inbounds=True, source_etype=part)
        return Complex(builder.load(place, typ=part, align=size), builder.load(second, typ=part, align=size))
    value = builder.load(place, typ=element_type(dtype), align=alignment(dtype))
    return builder.icmp_unsigned("!=", value, I8(0)) if dtype.kind == "b" else value


def store_element(builder: ir.IRBuilder, value: Scalar, pointer: ir.Value, offset: ir.Value, dtype: np.dtype) -> None:
    """Write the element `offset` elements after `pointer`."""
    place = element_pointer(builder, pointer, offset, dtype)
    if dtype.kind == "c":
        part, size = register_type(dtype), dtype.itemsize // 2
        second = builder.gep(place, [I64(1)], inbounds=True, source_etype=part)
        builder.store(value.re, place, align=size)
        builder.store(value.im, second, align=size)
        return
    if dtype.kind == "b":
        value = builder.zext(value, I8)
    builder.store(value, place, align=alignment(dtype))


def offset_of(builder: ir.IRBuilder, buffer: Buffer, indices: Sequence[ir.Value]) -> ir.Value:
    """How many elements after the pointer of a buffer the element at these indices lies."""
    strides = buffer.strides
    if strides is None:
        strides = contiguous_strides(builder, buffer.lengths)
    return dot(builder, indices, strides)


def store_at(builder: ir.IRBuilder, value: Scalar, buffer: Buffer, indices: Sequence[ir.Value]) -> None:
    """Write the element of a buffer at these indices."""
    store_element(builder, value, buffer.pointer, offset_of(builder, buffer, indices), buffer.dtype)


def contiguous_strides(builder: ir.IRBuilder, lengths: Sequence[ir.Value]) -> list[ir.Value]:
    """Element strides of a C-contiguous array."""
    strides: list[ir.Value] = []
    step: ir.Value = I64(1)
    for n in reversed(lengths):
        strides.append(step)
        step = times(builder, step, n)
    return strides[::-1]


# ------------------------------------------------------- integer arithmetic that folds constants while it emits


def known(value: ir.Value) -> int | None:
    """The number an i64 value is known to be while emitting, if any."""
    return value.constant if isinstance(value, ir.Constant) and isinstance(value.constant, int) else None


def times(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return I64(x * y)
    if x == 0 or y == 0:
        return I64(0)
    if x == 1:
        return b
    if y == 1:
        return a
    return builder.mul(a, b, flags=("nsw",))


def plus(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return I64(x + y)
    if x == 0:
        return b
    if y == 0:
        return a
    return builder.add(a, b, flags=("nsw",))


def minus(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return I64(x - y)
    if y == 0:
        return a
    return builder.sub(a, b, flags=("nsw",))


def dot(builder: ir.IRBuilder, indices: Sequence[ir.Value], strides: Sequence[ir.Value]) -> ir.Value:
    """Σ index · stride."""
    total: ir.Value = I64(0)
    for index, stride in zip(indices, strides, strict=True):
        total = plus(builder, total, times(builder, index, stride))
    return total


def product(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
    """The product of i64 values."""
    total: ir.Value = I64(1)
    for value in values:
        total = times(builder, total, value)
    return total
