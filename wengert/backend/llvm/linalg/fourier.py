"""Fourier transforms by the inner loops of NumPy's own ufuncs, which are pocketfft's.

Those ufuncs have the signature (n),()->(m): the operand along the axis, a factor, the result along the axis. Their
loops (`natives.py`) go over one more axis by themselves, the longest of the others here; they keep the plans of the
last lengths, need no GIL, and take any strides. So results are NumPy's, to the last bit. Single precision is
transformed in double, as NumPy does it mostly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import (
    I64,
    POINTER,
    VOID,
    Buffer,
    element_pointer,
    known,
    load_element,
    offset_of,
    plus,
    store_element,
    times,
)
from wengert.backend.llvm.linalg.matrices import number, scratch, strides_of
from wengert.backend.llvm.machine import natives
from wengert.backend.llvm.scalars.values import convert


def _factor(norm: str, n: int, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def _emit(cx: Any, x: Buffer, out: Buffer, axis: int, name: str, factor: float, types: str) -> Any:
    """All transforms along an axis by the loop for these types."""
    ufunc = natives.fourier_ufunc(name)
    loop = None if ufunc is None else natives.inner_loop(ufunc, types)
    if loop is None or any(known(n) is None for n in (*x.lengths, *out.lengths)):
        return NotImplemented
    result = out
    if x.dtype.char != types[0]:
        given, x = x, _room(cx, x, np.dtype(types[0]))
        _copy(cx, given, x)
    if out.dtype.char != types[2]:
        out = _room(cx, out, np.dtype(types[2]))
    others = [k for k in range(x.ndim) if k != axis]
    along = max(others, key=lambda k: known(x.lengths[k]) or 0, default=None)
    scale = number(cx, factor, np.dtype(np.float64))
    around = [k for k in others if k != along]
    with cx.loops([x.lengths[k] for k in around]) as counters:
        indices = dict(zip(around, counters, strict=True))
        places, steps = [], []
        for buffer in (x, out):
            strides, size = strides_of(cx, buffer), I64(buffer.dtype.itemsize)
            offset: ir.Value = I64(0)
            for k, i in indices.items():
                offset = plus(cx.builder, offset, times(cx.builder, i, strides[k]))
            places.append(element_pointer(cx.builder, buffer.pointer, offset, buffer.dtype))
            steps.append([times(cx.builder, strides[k], size) if k is not None else I64(0) for k in (along, axis)])
        count = I64(1) if along is None else x.lengths[along]
        (x_outer, x_inner), (out_outer, out_inner) = steps
        _call(
            cx, loop, [places[0], scale, places[1]], [count, x.lengths[axis], out.lengths[axis]],
            [x_outer, I64(0), out_outer, x_inner, out_inner],
        )  # fmt: skip
    if out is not result:
        _copy(cx, out, result)
    return "library"


def _room(cx: Any, like: Buffer, dtype: np.dtype) -> Buffer:
    """Memory for an array of the same shape."""
    count = math.prod([known(n) or 0 for n in like.lengths])
    return Buffer(scratch(cx, I64(count), dtype), list(like.lengths), None, dtype)


def _copy(cx: Any, source: Buffer, target: Buffer) -> None:
    """All elements, in the dtype of the target."""
    lengths, places = list(source.lengths), [source, target]
    if all(buffer.strides is None for buffer in places):
        lengths = [I64(math.prod([known(n) or 0 for n in lengths]))]
        places = [Buffer(buffer.pointer, lengths, [I64(1)], buffer.dtype) for buffer in places]
    with cx.loops(lengths) as indices:
        x, y = [offset_of(cx.builder, buffer, indices) for buffer in places]
        value = convert(cx, load_element(cx.builder, source.pointer, x, source.dtype), source.dtype, target.dtype)
        store_element(cx.builder, value, target.pointer, y, target.dtype)


def _call(cx: Any, loop: natives.UfuncLoop, places: list, lengths: list, steps: list) -> None:
    """The loop of a ufunc with a signature: first the lengths and steps of the axis that it goes over by itself."""
    inner = cx.declare(loop.symbol, VOID, [POINTER] * 4, natives.address(loop.symbol))
    data: ir.Value = POINTER(None)
    if loop.data is not None:
        cx.addresses[loop.data] = natives.address(loop.data)
        data = cx.module.globals.get(loop.data) or ir.GlobalVariable(cx.module, ir.IntType(8), loop.data)

    def in_a_row(values: list, type: ir.Type) -> ir.Value:
        row = cx.on_stack(type, len(values))
        for k, value in enumerate(values):
            cx.builder.store(value, cx.builder.gep(row, [I64(k)], source_etype=type))
        return row

    cx.builder.call(inner, [in_a_row(places, POINTER), in_a_row(lengths, I64), in_a_row(steps, I64), data])


def _complex(inverse: bool) -> Callable:
    def rule(cx: Any, inputs: list[Buffer], outs: list[Buffer], axis: int, norm: str) -> Any:
        (x,), (out,) = inputs, outs
        factor = _factor(norm, known(x.lengths[axis]) or 1, inverse)
        return _emit(cx, x, out, axis, "ifft" if inverse else "fft", factor, "DdD")

    return rule


def _rfft(cx: Any, inputs: list[Buffer], outs: list[Buffer], axis: int, norm: str) -> Any:
    (x,), (out,) = inputs, outs
    n = known(x.lengths[axis]) or 1
    return _emit(cx, x, out, axis, "rfft_n_odd" if n % 2 else "rfft_n_even", _factor(norm, n, False), "ddD")


def _irfft(cx: Any, inputs: list[Buffer], outs: list[Buffer], n: int, axis: int, norm: str) -> Any:
    (x,), (out,) = inputs, outs
    return _emit(cx, x, out, axis, "irfft", _factor(norm, n, True), "Ddd")


RULES: dict[str, Callable] = {"fft": _complex(False), "ifft": _complex(True), "rfft": _rfft, "irfft": _irfft}
"""By name of the op: `(cx, inputs, outs, **params)`, whose result is `NotImplemented` where it has no code."""
