"""Spectra and the watch over repeated values (`ops/repeated.py`): Python is called only where values do coincide.

Almost all matrices have different eigenvalues. So LAPACK computes vectors, native code looks whether some values cannot
be told apart, and only then Python does it all over again, by the op's own `impl`. The same holds for the ops that look
at what passes through them: with an empty mask there is nothing to look at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import (
    I1,
    I64,
    Buffer,
    known,
    load_element,
    minus,
    offset_of,
    plus,
    product,
    store_at,
    store_element,
)
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.calls import callback
from wengert.backend.llvm.linalg import lapack
from wengert.backend.llvm.linalg.matrices import part
from wengert.box.dispatch import entered_in
from wengert.ir.node import Node

RULES: dict[str, Callable] = {}
"""By name of the op: `(cx, node, inputs, outs)`, whose result is `NotImplemented` where it has no code."""

_BOOL = np.dtype(bool)
_FEW_DIGITS = 1e-8


_rule = functools.partial(entered_in, RULES)


# ------------------------------------------------------------------------------------------------- looking at values


class _Flag:
    """Whether something was found so far."""

    def __init__(self, cx: Any):
        self.cx, self.found = cx, Accumulator(cx, _BOOL)
        self.found.set(I1(0))

    def note(self, condition: ir.Value) -> None:
        self.found.set(self.cx.builder.or_(self.found.get(), condition))

    def get(self) -> ir.Value:
        return self.found.get()


def _at(cx: Any, buffer: Buffer, i: ir.Value) -> ir.Value:
    """The i-th element of a buffer with one axis."""
    return load_element(cx.builder, buffer.pointer, offset_of(cx.builder, buffer, [i]), buffer.dtype)


def _size_of(cx: Any, x: ir.Value) -> ir.Value:
    b = cx.builder
    return b.select(b.fcmp_ordered("<", x, ir.Constant(x.type, 0.0)), b.fneg(x), x)


def _tolerance(cx: Any, w: Buffer, size: int) -> ir.Value:
    """As `ops/repeated.py` has it; NaN if a value is."""
    top = Accumulator(cx, w.dtype)
    top.set(scalars.constant(0.0, w.dtype))
    with cx.loop(w.lengths[0]) as i:
        x, before = _size_of(cx, _at(cx, w, i)), top.get()
        b = cx.builder
        larger = b.or_(b.fcmp_ordered(">", x, before), b.fcmp_unordered("uno", x, x))
        top.set(b.select(larger, x, before))
    return cx.builder.fmul(top.get(), scalars.constant(8 * size * float(np.finfo(w.dtype).eps), w.dtype))


def _gap(cx: Any, w: Buffer, i: ir.Value) -> ir.Value:
    """Between the i-th value and the next."""
    b = cx.builder
    return _size_of(cx, b.fsub(_at(cx, w, plus(b, i, I64(1))), _at(cx, w, i)))


def _apart(cx: Any, gap: ir.Value, tolerance: ir.Value) -> ir.Value:
    return cx.builder.fcmp_ordered(">", gap, tolerance)


def _note_coincidences(cx: Any, flag: _Flag, w: Buffer, size: int, zeros: bool) -> None:
    """Note whether some of these values, in order, cannot be told apart, or (with `zeros`) from zero."""
    tolerance = _tolerance(cx, w, size)
    with cx.loop(minus(cx.builder, w.lengths[0], I64(1))) as i:
        flag.note(cx.builder.not_(_apart(cx, _gap(cx, w, i), tolerance)))
    if zeros:
        with cx.loop(w.lengths[0]) as i:
            flag.note(cx.builder.fcmp_ordered("<=", _at(cx, w, i), tolerance))


def _stack(cx: Any, w: Buffer) -> Any:
    """A loop over the axes in front of the last."""
    return cx.loops(list(w.lengths[:-1]))


def _lane(cx: Any, w: Buffer, indices: Sequence[ir.Value]) -> Buffer:
    return part(cx, w, w.lengths[:-1], indices, 1)


# ------------------------------------------------------------------------------------------------------------ spectra


def _same(x: Sequence[ir.Value], y: Sequence[ir.Value]) -> bool:
    return len(x) == len(y) and all(known(m) is not None and known(m) == known(n) for m, n in zip(x, y, strict=True))


def _spectrum(
    cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer], values: Buffer, zeros: bool, compute: Callable
) -> Any:
    a = inputs[0]
    lead = a.lengths[:-2]
    if not _same(lead, values.lengths[:-1]) or cx.standalone:
        return NotImplemented
    if compute(cx, [a], outs) is NotImplemented:
        return NotImplemented
    flag = _Flag(cx)
    with _stack(cx, values) as indices:
        _note_coincidences(cx, flag, _lane(cx, values, indices), max(known(n) or 0 for n in a.lengths[-2:]), zeros)
    callback.emit_rarely(cx, flag.get(), node, inputs, outs)
    return "lapack"


@_rule("eigh_repeated")
def _eigh_repeated(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    def compute(cx: Any, inputs: list[Buffer], outs: list[Buffer]) -> Any:
        return lapack.eigh(cx, inputs, outs, **node.params)

    return _spectrum(cx, node, inputs, outs, outs[0], False, compute)


@_rule("svd_repeated")
def _svd_repeated(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    return _spectrum(cx, node, inputs, outs, outs[1], True, lapack.svd)


# ------------------------------------------------------------------------------------------------------ masks of values


@_rule("groups")
def _groups(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    """Chains of neighbours that cannot be told apart: from each value on as long as there is no gap, both ways."""
    (w,), (out,) = inputs, outs
    with _stack(cx, w) as indices:
        own = _lane(cx, w, indices)
        tolerance = _tolerance(cx, own, node.params["size"])
        with cx.loop(own.lengths[0]) as i:
            together = Accumulator(cx, _BOOL)
            together.set(I1(1))
            with cx.loop(minus(cx.builder, own.lengths[0], i)) as k:
                b = cx.builder
                j = plus(b, i, k)
                first = b.icmp_signed("==", k, I64(0))
                before = b.select(first, j, minus(b, j, I64(1)))
                gap = _size_of(cx, b.fsub(_at(cx, own, j), _at(cx, own, before)))
                linked = b.or_(first, b.not_(_apart(cx, gap, tolerance)))
                together.set(b.and_(together.get(), linked))
                for pair in ((i, j), (j, i)):
                    place = offset_of(b, out, [*indices, *pair])
                    store_element(b, together.get(), out.pointer, place, _BOOL)
    return "native"


@_rule("null_mask")
def _null_mask(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (s,), (out,) = inputs, outs
    with _stack(cx, s) as indices:
        own = _lane(cx, s, indices)
        tolerance = _tolerance(cx, own, node.params["size"])
        with cx.loop(own.lengths[0]) as i:
            b = cx.builder
            nothing = b.fcmp_ordered("<=", _at(cx, own, i), tolerance)
            store_at(b, nothing, out, [*indices, i])
    return "native"


@_rule("unclear")
def _unclear(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (w,), (out,) = inputs, outs
    with _stack(cx, w) as indices:
        flag = _Flag(cx)
        _note_coincidences(cx, flag, _lane(cx, w, indices), node.params["size"], node.params["zeros"])
        store_at(cx.builder, flag.get(), out, [*indices, I64(0)])
    return "native"


@_rule("gaps_are_safe")
def _gaps_are_safe(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    (w,), (out,) = inputs, outs
    if cx.standalone:
        return NotImplemented
    _zero(cx, out)
    if float(np.finfo(w.dtype).eps) >= _FEW_DIGITS:
        return "native"
    flag = _Flag(cx)
    with _stack(cx, w) as indices:
        own = _lane(cx, w, indices)
        tolerance = _tolerance(cx, own, node.params["size"])
        with cx.loop(minus(cx.builder, own.lengths[0], I64(1))) as i:
            gap, b = _gap(cx, own, i), cx.builder
            scaled = b.fmul(gap, scalars.constant(_FEW_DIGITS, w.dtype))
            close = b.fcmp_ordered("<", scaled, b.fmul(tolerance, scalars.constant(0.125, w.dtype)))
            flag.note(b.and_(close, _apart(cx, gap, tolerance)))
    callback.emit_rarely(cx, flag.get(), node, inputs, outs)
    return "native"


# ---------------------------------------------------------------------------------------------------------- the watch


def _zero(cx: Any, out: Buffer) -> None:
    zero = scalars.constant(0, out.dtype)
    with cx.loop(product(cx.builder, out.lengths)) as i:
        store_element(cx.builder, zero, out.pointer, i, out.dtype)


def _copy(cx: Any, x: Buffer, out: Buffer) -> None:
    with cx.loops(list(out.lengths)) as indices:
        b = cx.builder
        value = load_element(b, x.pointer, offset_of(b, x, indices), x.dtype)
        store_at(b, value, out, indices)


@_rule("equal_cotangents", "zero_cotangents", "refuse_derivative_if")
def _as_it_is(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
    if not _same(inputs[0].lengths, outs[0].lengths):
        return NotImplemented
    _copy(cx, inputs[0], outs[0])
    return "native"


def _watched(make: Callable, is_diagonal: bool = False) -> Callable:
    """A rule for what Python looks at where the mask, the second operand, holds (or holds off its diagonal)."""

    def rule(cx: Any, node: Node, inputs: list[Buffer], outs: list[Buffer]) -> Any:
        x, mask = inputs
        if cx.standalone or not _same(x.lengths, outs[0].lengths):
            return NotImplemented
        make(cx, x, outs[0])
        flag = _Flag(cx)
        with cx.loops(list(mask.lengths)) as indices:
            b = cx.builder
            holds = load_element(b, mask.pointer, offset_of(b, mask, indices), _BOOL)
            flag.note(b.and_(holds, b.icmp_signed("!=", *indices[-2:])) if is_diagonal else holds)
        callback.emit_rarely(cx, flag.get(), node, inputs, outs)
        return "native"

    return rule


_rule("refuse_if", "zero_cotangents_back")(_watched(_copy))
_rule("equal_cotangents_back")(_watched(_copy, is_diagonal=True))
_rule("zero_rotation", "zero_rotation_back")(_watched(lambda cx, x, out: _zero(cx, out)))
