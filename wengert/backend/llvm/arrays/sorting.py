"""`argsort`, by NumPy's own functions (`natives.py`), so that equal elements come in NumPy's order.

These functions are the fastest there are for a processor, need no GIL, and sort positions by elements in a row.
What Python's `sorted` does is a stable sort, but for NaN, which is left to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backend.llvm.arrays.array import Array
from wengert.backend.llvm.arrays.buffer import (
    I32,
    I64,
    POINTER,
    element_pointer,
    load_element,
    offset_of,
    product,
    store_element,
    times,
)
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.calls import callback
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.machine import natives
from wengert.ir.node import Node

_INT = np.dtype(np.int64)
_KINDS = {None: "quicksort", "quicksort": "quicksort", "stable": "stable", "mergesort": "stable", "python": "stable"}
"""Which function a parameter of NumPy's means. A heap sort, which versions differ in, is left to Python."""


def _function(node: Node) -> tuple[str, int | None]:
    kind, type = _KINDS.get(node.params.get("kind"), ""), node.args[0].type.dtype.char
    return f"wg_sort_{kind}_{type}", natives.argsort(kind, type)


def is_sorted_natively(node: Node) -> bool:
    return node.args[0].type.ndim > 0 and node.outs[0].type.dtype == _INT and _function(node)[1] is not None


def argsort(em: Emitter, frame: Frame, node: Node) -> Array:
    cx, dtype = em.cx, node.args[0].type.dtype
    x = em.array(frame, node.args[0])
    axis = node.params["axis"] % x.ndim
    rest = [k for k in range(x.ndim) if k != axis]
    count, is_last = x.lengths[axis], axis == x.ndim - 1
    slot = frame.plan.slots[node.outs[0]]
    target = em.allocate(slot, x.lengths)
    symbol, address = _function(node)
    function = cx.declare(symbol, I32, [POINTER, POINTER, I64, POINTER], address)
    values = cx.scratch(_bytes(em, count, dtype))
    apart = None if is_last else cx.scratch(_bytes(em, count, _INT))
    seen = Accumulator(cx, np.dtype(bool))
    seen.set(cx.builder.icmp_signed("!=", I64(0), I64(0)))
    watches = node.params.get("kind") == "python" and dtype.kind == "f"
    with cx.loops([x.lengths[k] for k in rest]) as outer:
        at = dict(zip(rest, outer, strict=True))

        def indices(i: Any, at: dict = at) -> list[Any]:
            return [at.get(k, i) for k in range(x.ndim)]

        start = offset_of(cx.builder, target, indices(I64(0)))
        places = element_pointer(cx.builder, target.pointer, start, _INT) if apart is None else apart
        with cx.loop(count) as i:
            value = x.load(indices(i))
            if watches:
                seen.set(cx.builder.or_(seen.get(), cx.builder.fcmp_unordered("uno", value, value)))
            store_element(cx.builder, value, values, i, dtype)
            store_element(cx.builder, i, places, i, _INT)
        status = cx.builder.call(function, [values, places, count, POINTER(None)])
        cx.fail_if(cx.builder.icmp_signed("<", status, I32(0)), "MemoryError", "no memory to sort in")
        if apart is not None:
            with cx.loop(count) as i:
                place = offset_of(cx.builder, target, indices(i))
                store_element(cx.builder, load_element(cx.builder, apart, i, _INT), target.pointer, place, _INT)
    if watches:
        callback.emit_rarely(cx, seen.get(), node, [em.in_buffer(x)], [target])
    em.work(times(cx.builder, product(cx.builder, x.lengths), I64(16)))
    return em.made(slot, target)


def _bytes(em: Emitter, count: Any, dtype: np.dtype) -> Any:
    nbytes = em.byte_count([count], dtype)
    return nbytes.constant if isinstance(getattr(nbytes, "constant", None), int) else nbytes
