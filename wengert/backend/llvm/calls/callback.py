"""Ops that go back to Python: the op's own `impl` on views of the kernel's memory, under the GIL.

A call has two steps, since only the result knows its size: the first computes, keeps the results and says how long they
are; native code finds memory for them; the second copies them there. Where all sizes are known beforehand both are one.
An exception is kept (`faults.py`) and raised unchanged when the kernel has returned.

Results are kept per thread and call, so a kernel may run in several threads, and a callback may run a kernel.
"""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I1, I32, I64, POINTER, VOID, Buffer, known, product, times
from wengert.backend.llvm.calls import faults
from wengert.backend.llvm.context import CannotStandAlone
from wengert.backend.llvm.linalg.matrices import strides_of
from wengert.errors import StagingError
from wengert.ir.node import Const, Node, map_refs

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

_VIEWS = 32
"""So many views of memory are kept for a callback. They are looked at only when that memory is passed again."""


class _Words:
    """A row of 64-bit words that native code and Python pass to each other: how it is laid out.

    For each operand: address, lengths, strides in bytes; then the sizes; then for each result: address, lengths.
    """

    def __init__(self, node: Node):
        place = 0
        self.operands: list[int] = []
        for a in node.args:
            self.operands.append(place)
            place += 1 + 2 * a.type.ndim
        self.sizes = place
        place += len(node.sizes)
        self.results: list[int] = []
        for v in node.outs:
            self.results.append(place)
            place += 1 + v.type.ndim
        self.count = place


class Callback:
    """One node's way back to Python: the two functions that native code calls."""

    def __init__(self, node: Node):
        self.node = node
        self.op = node.op
        self.params = node.params
        self.words = _Words(node)
        self.row = ctypes.c_int64 * max(self.words.count, 1)
        self.operands = [a.type for a in node.args]
        self.results = [v.type for v in node.outs]
        self.size_count = len(node.sizes)
        self.constants = {k: a.value for k, a in enumerate(node.args) if isinstance(a, Const)}
        copies = any(map(callable, node.params.values()))
        self.read = [_reading(a, copies) for a in node.args]
        self.is_plain = all(f is None for f in self.read)
        self.static = all(t.is_static for t in self.results)
        self.expected = [(t.shape, t.dtype) for t in self.results]
        self.views: dict[Any, Any] = {}
        self.kept = threading.local()
        self.compute = _PROTOTYPE(self._compute)
        self.fetch = _PROTOTYPE(self._fetch)

    def addresses(self, number: int) -> dict[str, int | None]:
        """Where the functions lie, by the symbols that the code has for the callback of that number."""
        both = {"compute": self.compute, "fetch": self.fetch}
        return {_symbol(number, name): ctypes.cast(f, ctypes.c_void_p).value for name, f in both.items()}

    def _compute(self, address: int, _: int) -> int:
        """Compute; then copy results where they belong, or, if sizes are not known, keep them and tell their sizes."""
        try:
            words = self.row.from_address(address)
            args = self._operands(words, address)
            params = self.params
            if self.size_count:
                sizes = words[self.words.sizes : self.words.sizes + self.size_count]
                params = map_refs(params, lambda ref: sizes[ref.k])
            y = self.op.impl(*args, **params)
            arrays = [np.asarray(r) for r in (y if isinstance(y, tuple) else (y,))] if self.results else []
            self._check(arrays)
            if self.static:
                self._copy(words, arrays)
            else:
                for k, array in enumerate(arrays):
                    start = self.words.results[k] + 1
                    words[start : start + array.ndim] = list(array.shape)
                self.kept.__dict__.setdefault("stack", []).append(arrays)
        except BaseException as error:
            return faults.leave(error)
        return faults.OK

    def _fetch(self, address: int, _: int) -> int:
        try:
            words = self.row.from_address(address)
            self._copy(words, self.kept.stack.pop())
        except BaseException as error:
            return faults.leave(error)
        return faults.OK

    def _operands(self, words: Any, address: int) -> Any:
        """Views of the operands, which are kept: memory often lies where it lay in the last call."""
        key = ctypes.string_at(address, 8 * self.words.sizes)
        views = self.views.get(key)
        if views is None:
            views = self._keep(key, [self._view_of(words, k) for k in range(len(self.operands))])
        if self.is_plain:
            return views
        return [view if f is None else f(view) for view, f in zip(views, self.read, strict=True)]

    def _view_of(self, words: Any, k: int) -> Any:
        if k in self.constants:
            return self.constants[k]
        type, place = self.operands[k], self.words.operands[k]
        n = type.ndim
        lengths, strides = words[place + 1 : place + 1 + n], words[place + 1 + n : place + 1 + 2 * n]
        view = _view(words[place], tuple(lengths), tuple(strides), type.dtype)
        view.flags.writeable = False
        return view

    def _keep(self, key: Any, value: Any) -> Any:
        if len(self.views) >= _VIEWS:
            self.views.clear()
        self.views[key] = value
        return value

    def _check(self, arrays: list[np.ndarray]) -> None:
        if len(arrays) != len(self.results):
            raise TypeError(f"{self.op.name} gave {len(arrays)} results where {len(self.results)} were expected")
        for array, type, expected in zip(arrays, self.results, self.expected, strict=True):
            if (array.shape, array.dtype) == expected:
                continue
            right = len(type.shape) == array.ndim and all(
                n.__class__ is not int or n == length for n, length in zip(type.shape, array.shape, strict=True)
            )
            if not right:
                raise TypeError(f"{self.op.name} gave a result of shape {array.shape} where {type} was expected")
            if array.dtype != type.dtype and not np.can_cast(array.dtype, type.dtype, "same_kind"):
                kind = "complex" if array.dtype.kind == "c" else array.dtype
                raise StagingError(
                    f"{self.op.name} gave a result of type {array.dtype} where {type} was expected: which type "
                    "depends on values, and in a compiled function it must not",
                    remedy=f"convert the operand first, as in a.astype({kind})",
                )

    def _copy(self, words: Any, arrays: list[np.ndarray]) -> None:
        for k, (array, type) in enumerate(zip(arrays, self.results, strict=True)):
            key = (words[self.words.results[k]], array.shape, k)
            target = self.views.get(key)
            if target is None:
                target = self._keep(key, _view(key[0], array.shape, None, type.dtype))
            target[...] = array


def _reading(operand: Any, copies: bool) -> Any:
    """What is done with the view of an operand at each call; `None` if nothing."""
    if isinstance(operand, Const):
        return None
    if operand.type.ndim:
        return np.ndarray.copy if copies else None  # a function of the caller's might keep it
    return np.ndarray.item if operand.type.weak else _element


def _element(view: np.ndarray) -> Any:
    return view[()]


def _view(address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype) -> np.ndarray:
    """Memory of the kernel as an array, without a copy."""
    if not address or 0 in shape:
        return np.empty(shape, dtype)
    low = high = 0
    if strides is None:
        high = math.prod(shape) * dtype.itemsize
    else:
        reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + dtype.itemsize
    memory = (ctypes.c_char * (high - low)).from_address(address + low)
    return np.ndarray(shape, dtype, memory, -low, strides)  # type: ignore[arg-type]


def emit(cx: Any, node: Node, inputs: list[Buffer], sizes: list[ir.Value]) -> list[Buffer]:
    """Code that has Python compute a node; its results, C-contiguous, in memory of the kernel."""
    number, back = len(cx.callbacks), Callback(node)
    cx.callbacks.append(back)
    layout, b = back.words, cx.builder
    words = cx.on_stack(I64, max(layout.count, 1))

    def put(value: ir.Value, place: int) -> None:
        b.store(value, b.gep(words, [I64(place)], source_etype=I64), align=8)

    for buffer, place in zip(inputs, layout.operands, strict=True):
        put(b.ptrtoint(buffer.pointer, I64), place)
        width = I64(buffer.dtype.itemsize)
        for k, (n, stride) in enumerate(zip(buffer.lengths, strides_of(cx, buffer), strict=True)):
            put(n, place + 1 + k)
            put(times(b, stride, width), place + 1 + buffer.ndim + k)
    for k, size in enumerate(sizes):
        put(size, layout.sizes + k)
    outs: list[Buffer] = []

    def reserve(place: int, lengths: list[ir.Value], dtype: np.dtype) -> None:
        nbytes = times(b, product(b, lengths), I64(dtype.itemsize))
        amount = known(nbytes)
        pointer = cx.scratch(max(amount, 1) if amount is not None else nbytes)
        put(b.ptrtoint(pointer, I64), place)
        outs.append(Buffer(pointer, lengths, None, dtype, writable=True))

    if back.static:
        for v, place in zip(node.outs, layout.results, strict=True):
            reserve(place, [I64(n) for n in v.type.shape], v.type.dtype)
        _call(cx, _symbol(number, "compute"), words)
        return outs
    _call(cx, _symbol(number, "compute"), words)
    for v, place in zip(node.outs, layout.results, strict=True):
        lengths: list[ir.Value] = [
            I64(n) if isinstance(n, int) else b.load(b.gep(words, [I64(place + 1 + k)], source_etype=I64), typ=I64)
            for k, n in enumerate(v.type.shape)
        ]
        reserve(place, lengths, v.type.dtype)
    _call(cx, _symbol(number, "fetch"), words)
    return outs


def emit_rarely(cx: Any, condition: ir.Value, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> None:
    """Code that has Python compute a node if the condition holds, in place of what is in `outs` (contiguous)."""
    if cx.standalone:
        raise CannotStandAlone(node.op.name, node.source)
    assert not node.sizes
    cx.fail_now()
    with cx.when(condition):
        memcpy = cx.declare("llvm.memcpy.p0.p0.i64", VOID, [POINTER, POINTER, I64, I1])
        for found, out in zip(emit(cx, node, inputs, []), outs, strict=True):
            nbytes = times(cx.builder, product(cx.builder, out.lengths), I64(out.dtype.itemsize))
            cx.builder.call(memcpy, [out.pointer, found.pointer, nbytes, I1(0)])


def _symbol(number: int, function: str) -> str:
    return f"wg_callback_{number}_{function}"


def _call(cx: Any, symbol: str, words: ir.Value) -> None:
    """Call a function of a callback, and leave the kernel if it raised."""
    status = cx.builder.call(cx.declare(symbol, I32, [POINTER, POINTER]), [words, POINTER(None)])
    cx.raise_if(cx.builder.icmp_signed("!=", status, I32(faults.OK)))
