"""`norm`: the root of a sum of squares. Where squares may have left the range of numbers, they are computed again, of
elements that are scaled by the largest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import Scalar, product, register_type
from wengert.backend.llvm.arrays.exponential import Lanes
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.sharing import shared
from wengert.ir.node import Node
from wengert.ops.products import SAFE


def norm(em: Emitter, frame: Frame, node: Node) -> Any:
    cx, dtype = em.cx, node.outs[0].type.dtype
    lanes = Lanes(em, em.array(frame, node.args[0]), node.params["axis"], may_be_empty=True)
    number = register_type(dtype)

    def op(name: str, *values: Scalar) -> Scalar:
        return scalars.emit(cx, name, {}, dtype, list(values), [dtype] * len(values), [False] * len(values))

    def total(name: str, start: float, outer: Sequence[ir.Value], each: Callable[[Scalar], Scalar]) -> Scalar:
        found = lanes.running(name, start)
        with shared(cx, lanes.inner, dtype, totals=[found]) as inner:
            found.add(each(lanes.x.load(lanes.indices(outer, inner))))
        em.work(product(cx.builder, lanes.inner))
        return found.result()

    def one(outer: Sequence[ir.Value]) -> Scalar:
        y = op("sqrt", total("sum", 0.0, outer, lambda x: cx.builder.fmul(x, x)))
        result = cx.on_stack(number)
        cx.builder.store(y, result)
        safe = [
            cx.builder.fcmp_ordered(">", y, number(float(SAFE[dtype]))),
            cx.builder.fcmp_ordered("<", y, number(math.inf)),
        ]
        with cx.builder.if_then(cx.builder.not_(cx.builder.and_(*safe)), likely=False):
            top = total("max", 0.0, outer, lambda x: op("absolute", x))
            usable = cx.builder.and_(
                cx.builder.fcmp_ordered(">", top, number(0.0)), cx.builder.fcmp_ordered("<", top, number(math.inf))
            )
            top = cx.builder.select(usable, top, number(1.0))

            def square(x: Scalar) -> Scalar:
                scaled = cx.builder.fdiv(x, top)
                return cx.builder.fmul(scaled, scaled)

            cx.builder.store(cx.builder.fmul(op("sqrt", total("sum", 0.0, outer, square)), top), result)
        return cx.builder.load(result, typ=number)

    return lanes.reduced(frame, node, one)


def is_native(node: Node) -> bool:
    """Of real numbers in the precision of the result."""
    x = node.args[0].type
    return x.ndim > 0 and x.dtype == node.outs[0].type.dtype and np.dtype(x.dtype) in SAFE
