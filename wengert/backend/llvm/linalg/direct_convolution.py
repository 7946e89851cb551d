"""`convolve`, the product of two polynomials: a multiple of the longer one for each coefficient of the shorter one."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import I64, Buffer, known, load_element, plus, store_element, times
from wengert.backend.llvm.linalg.matrices import strides_of


def convolve(cx: Any, inputs: list[Buffer], outs: list[Buffer], mode: str) -> Any:
    """In mode "full" element i of the one and j of the other meet at i + j; in "valid" only where all of `v` meets."""
    (a, v), (out,) = inputs, outs
    n, m = known(a.lengths[0]), known(v.lengths[0])
    dtype = out.dtype
    if n is None or m is None or dtype.kind != "f" or a.dtype != dtype or v.dtype != dtype:
        return NotImplemented
    if mode == "full" and m > n:
        a, v, n, m = v, a, m, n
    (a_stride,), (v_stride,) = strides_of(cx, a), strides_of(cx, v)

    def element(buffer: Buffer, i: ir.Value, stride: ir.Value) -> ir.Value:
        return load_element(cx.builder, buffer.pointer, times(cx.builder, i, stride), dtype)

    with cx.loop(out.lengths[0], lanes=dtype) as i:
        store_element(cx.builder, scalars.constant(0, dtype), out.pointer, i, dtype)
    with cx.loop(I64(m), unrolled=False) as j:
        weight = element(v, j if mode == "full" else cx.builder.sub(I64(m - 1), j), v_stride)
        with cx.loop(I64(n if mode == "full" else n - m + 1), lanes=np.dtype(dtype)) as i:
            shifted = plus(cx.builder, i, j)
            x, place = (i, shifted) if mode == "full" else (shifted, i)
            term = cx.builder.fmul(weight, element(a, x, a_stride))
            total = cx.builder.fadd(load_element(cx.builder, out.pointer, place, dtype), term)
            store_element(cx.builder, total, out.pointer, place, dtype)
    return "native"
