"""Numbers in registers: constants, and conversion between dtypes as NumPy's `astype` does it.

Nothing here knows of ops. Scalars are as `buffer.py` describes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F64, I1, I64, Complex, Scalar, register_type

BOOL = np.dtype(np.bool_)


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex number; any other dtype itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def constant(number: Any, dtype: np.dtype) -> Scalar:
    """A number as a constant of a dtype. An integer that the dtype cannot hold raises OverflowError, as in NumPy."""
    if dtype.kind == "c":
        number = complex(number)
        part = real_dtype(dtype)
        return Complex(constant(number.real, part), constant(number.imag, part))
    if dtype.kind == "b":
        return I1(int(bool(number)))
    type = register_type(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        number = int(number)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"{number} does not fit into {dtype}")
        return type(number)
    return type(float(dtype.type(number)))


def known_number(value: Scalar, dtype: np.dtype) -> Any:
    """The Python number that a scalar is known to be while emitting, or `None`."""
    if isinstance(value, Complex):
        re, im = known_number(value.re, real_dtype(dtype)), known_number(value.im, real_dtype(dtype))
        return None if re is None or im is None else complex(re, im)
    if not isinstance(value, ir.Constant) or not isinstance(value.constant, (bool, int, float)):
        return None
    return {"b": bool, "f": float}.get(dtype.kind, int)(value.constant)


def convert(cx: Any, value: Scalar, from_dtype: np.dtype, to_dtype: np.dtype) -> Scalar:
    """A scalar in another dtype, as `astype` gives it; of a complex number that becomes real, the real part."""
    b, source, target = cx.builder, from_dtype, to_dtype
    if source == target:
        return value
    if target.kind == "b":
        return _is_not_zero(b, value, source)
    if target.kind == "c":
        part = real_dtype(target)
        if source.kind == "c":
            before = real_dtype(source)
            return Complex(convert(cx, value.re, before, part), convert(cx, value.im, before, part))
        return Complex(convert(cx, value, source, part), register_type(part)(0.0))
    if source.kind == "c":
        return convert(cx, value.re, real_dtype(source), target)
    number = known_number(value, source)
    if number is not None and target.kind == "f":
        return constant(number, target)
    type = register_type(target)
    if target.kind == "f":
        if source.kind == "f":
            return b.fpext(value, type) if target.itemsize > source.itemsize else b.fptrunc(value, type)
        return b.sitofp(value, type) if source.kind == "i" else b.uitofp(value, type)
    if source.kind == "f":
        return _truncated(b, value, source, target)
    if source.kind == "b":
        return b.zext(value, type)
    if target.itemsize == source.itemsize:
        return value
    if target.itemsize < source.itemsize:
        return b.trunc(value, type)
    return b.sext(value, type) if source.kind == "i" else b.zext(value, type)


def _is_not_zero(b: ir.IRBuilder, value: Scalar, source: np.dtype) -> ir.Value:
    if source.kind == "c":
        zero = value.re.type(0.0)
        return b.or_(b.fcmp_unordered("!=", value.re, zero), b.fcmp_unordered("!=", value.im, zero))
    if source.kind == "f":
        return b.fcmp_unordered("!=", value, value.type(0.0))
    return b.icmp_unsigned("!=", value, value.type(0))


def _truncated(b: ir.IRBuilder, value: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
    """A float as an integer. What does not fit is, as on x86, the smallest integer; LLVM would leave it undefined."""
    wide = value if source.itemsize == 8 else b.fpext(value, F64)
    top, least = F64(2.0**63), I64(-(2**63))
    fits = b.and_(b.fcmp_ordered("<", wide, top), b.fcmp_ordered(">=", wide, F64(-(2.0**63))))
    small = b.select(fits, b.fptosi(wide, I64), least)
    if target == np.dtype(np.uint64):
        rest = b.fsub(wide, top)
        in_upper_half = b.and_(b.fcmp_ordered(">=", wide, top), b.fcmp_ordered("<", rest, top))
        return b.select(in_upper_half, b.xor(b.fptosi(rest, I64), least), small)
    if target.itemsize == 8:
        return small
    type = register_type(target)
    if target == np.dtype(np.int32):
        fits = b.and_(b.fcmp_ordered("<", wide, F64(2.0**31)), b.fcmp_ordered(">", wide, F64(-(2.0**31) - 1)))
        return b.select(fits, b.trunc(small, type), type(-(2**31)))
    return b.trunc(small, type)
