"""Linear filters along the last axis: `recursive_filter`, by substitution, and `convolve_nd` of two vectors.

y₀, y₁, … follow from each other, a₀ yₙ = xₙ − a₁ yₙ₋₁ − a₂ yₙ₋₂ − …; where a₀ is zero there is no solution: NaN, as
`ops/filters.py` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import I64, Buffer, known, load_element, minus, offset_of, plus, store_at
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.linalg.direct_convolution import convolve

MOST = 1 << 14
"""Products of more terms are left to those who know a quicker way."""


def _recursive_filter(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (a, x), (out,) = inputs, outs
    d, count = out.dtype, known(a.lengths[-1])
    if a.ndim != 1 or count is None or d.kind != "f" or a.dtype != d or x.dtype != d or x.ndim != out.ndim:
        return NotImplemented

    def coefficient(k: Any) -> Any:
        return load_element(cx.builder, a.pointer, offset_of(cx.builder, a, [k]), d)

    first = coefficient(I64(0))
    is_nothing = cx.builder.fcmp_ordered("==", first, scalars.constant(0, d))
    with cx.loops(list(out.lengths[:-1])) as lane, cx.loop(out.lengths[-1], unrolled=False) as n:
        b = cx.builder
        total = Accumulator(cx, d)
        total.set(load_element(b, x.pointer, offset_of(b, x, [*lane, n]), d))
        before = b.select(b.icmp_signed("<", n, I64(count - 1)), n, I64(count - 1))
        with cx.loop(before, unrolled=False) as k:
            b = cx.builder
            back = plus(b, k, I64(1))
            earlier = load_element(b, out.pointer, offset_of(b, out, [*lane, minus(b, n, back)]), d)
            total.set(b.fsub(total.get(), b.fmul(coefficient(back), earlier)))
        b = cx.builder
        y = b.select(is_nothing, scalars.constant(np.nan, d), b.fdiv(total.get(), first))
        store_at(b, y, out, [*lane, n])
    return "native"


def _convolve_nd(cx: Any, inputs: list[Buffer], outs: list[Buffer], rank: int, mode: str) -> Any:
    a, v = inputs
    lengths = [known(x.lengths[0]) or 0 for x in inputs]
    if rank != 1 or a.ndim != 1 or v.ndim != 1 or (mode != "full" and lengths[0] < lengths[1]):
        return NotImplemented
    return NotImplemented if lengths[0] * lengths[1] > MOST else convolve(cx, inputs, outs, mode)


RULES: dict[str, Callable] = {"recursive_filter": _recursive_filter, "convolve_nd": _convolve_nd}
"""By name of the op: `(cx, inputs, outs, **params)`, whose result is `NotImplemented` where it has no code."""
