"""Linear filters along the last axis: `recursive_filter`, by substitution; and `convolve_nd`, of two vectors by the
terms of its sum, of pictures as the convolution of channels that it is (`placed_convolution.py`).

y₀, y₁, … follow from each other, a₀ yₙ = xₙ − a₁ yₙ₋₁ − a₂ yₙ₋₂ − …; where a₀ is zero there is no solution: NaN, as
`ops/filters.py` has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import I64, Buffer, known, load_element, minus, offset_of, plus, store_at
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.linalg import placed_convolution
from wengert.backend.llvm.linalg.direct_convolution import convolve
from wengert.ops.filters import FFT_PAYS

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
    if rank > 1:
        return _of_pictures(cx, inputs, outs[0], rank, mode)
    lengths = [known(x.lengths[0]) or 0 for x in inputs]
    if a.ndim != 1 or v.ndim != 1 or (mode != "full" and lengths[0] < lengths[1]):
        return NotImplemented
    return NotImplemented if lengths[0] * lengths[1] > MOST else convolve(cx, inputs, outs, mode)


def _of_pictures(cx: Any, inputs: list[Buffer], out: Buffer, rank: int, mode: str) -> Any:
    """Each of some pictures with the same kernel, or with one of its own."""
    sizes = [[known(n) or 0 for n in x.lengths] for x in (*inputs, out)]
    if any(0 in size for size in sizes) or out.dtype.kind != "f":
        return NotImplemented
    (count, own), (others, other), (_, whole) = [(math.prod(s[:-rank]), tuple(s[-rank:])) for s in sizes]
    fewest = min(math.prod(other), math.prod(own if mode == "full" else whole))
    if others not in (1, count) or fewest >= FFT_PAYS or any(x.dtype != out.dtype for x in inputs):
        return NotImplemented
    if count > 1 and others == count and sizes[0][:-rank] != sizes[1][:-rank]:
        return NotImplemented
    ones, groups = (1,) * rank, others
    a, v = [placed_convolution.in_order(cx, x) for x in inputs]
    geometry = placed_convolution.Geometry(count // groups, groups, 1, 1, own, other, whole, ones, ones, out.dtype)
    if mode == "full":
        # What is added up for the gradient of a picture whose results are `a`.
        back = replace(geometry, size=whole, places=own)
        if math.prod(other) > math.prod(own) and groups == count:
            back, a, v = replace(back, kernel=own, places=other), v, a
        _where_finite(cx, back, a, v, out)
        return "native"
    turned = placed_convolution.turned(cx, v, groups, other)
    if math.prod(other) <= math.prod(whole):
        placed_convolution.conv(cx, geometry, a, turned, out)
    elif groups == count:
        placed_convolution.conv_weight(cx, replace(geometry, kernel=whole, places=other), a, turned, out)
    else:
        return NotImplemented
    return "native"


def _where_finite(cx: Any, geometry: Any, y: Buffer, w: Buffer, x: Buffer) -> None:
    """A gradient of pictures; where a weight is infinite, term by term."""
    count = geometry.groups * math.prod(geometry.kernel)
    with placed_convolution.if_finite(cx, w, count, x.dtype) as (then, otherwise):
        with then:
            placed_convolution.conv_input(cx, geometry, y, w, x)
        with otherwise:
            placed_convolution.conv_input_by_terms(cx, geometry, y, w, x)


RULES: dict[str, Callable] = {"recursive_filter": _recursive_filter, "convolve_nd": _convolve_nd}
"""By name of the op: `(cx, inputs, outs, **params)`, whose result is `NotImplemented` where it has no code."""
