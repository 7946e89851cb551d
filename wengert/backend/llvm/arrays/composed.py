"""Results that are computed while they are read: elementwise ops, views, `iota`, `index`.

`compose` gives the value of such a node without writing a loop: a scalar, or an Array whose loads are composed of the
operands' loads. What must be checked (lengths that agree, indices in range) is checked at once, where the node stands.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import (
    NEVER_ONE,
    Array,
    broadcasted,
    constant_array,
    flipped,
    joined,
    remapped,
    respaced,
    same_known_lengths,
    transposed,
)
from wengert.backend.llvm.arrays.buffer import I64, Buffer, Complex, Scalar, is_native, known, product
from wengert.backend.llvm.arrays.place import CheckedIndex
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.plan import access
from wengert.backend.plan.access import is_supported
from wengert.ir.node import Const, Node, Operand, Type, Var

# ------------------------------------------------------------------------------------------------ is there code for it


def natively(node: Node) -> bool:
    """Whether a node of an elementwise op, or an index, has native code."""
    if node.params or node.sizes or any(a.__class__ is Const for a in node.args):
        return _natively(node)
    key = (node.op.name, *[(v.type.dtype, v.type.weak) for v in (*node.outs, *node.args)])
    found = _known.get(key)
    if found is None:
        found = _known[key] = _natively(node)
    return found


_known: dict[tuple, bool] = {}
"""The same by op and dtypes, for nodes that have nothing else to look at."""


def _natively(node: Node) -> bool:
    types = [a.type for a in (*node.args, *node.outs)]
    if not all(is_native(t.dtype) for t in types):
        return False
    if node.op.name == "index":
        return is_supported(node.params["pattern"])
    if node.sizes:
        return False
    constants = [_number(a) if isinstance(a, Const) and not a.type.shape else None for a in node.args]
    dtypes, weak = [a.type.dtype for a in node.args], [a.type.weak for a in node.args]
    return scalars.supports(node.op.name, node.params, node.outs[0].type.dtype, dtypes, weak, constants)


def how(node: Node) -> str:
    """How such a node is computed: by a function of SciPy, or natively."""
    return _how(node.op.name)


@functools.cache
def _how(name: str) -> str:
    return "special" if hasattr(scipy.special, name) and not hasattr(np, name) else "native"


def _number(operand: Const) -> Any:
    return operand.value.item() if hasattr(operand.value, "item") else operand.value


def scalar_result(cx: Context, node: Node, values: Sequence[Scalar]) -> Scalar:
    """One element of the result of an elementwise op."""
    dtypes = [a.type.dtype for a in node.args]
    weak = [a.type.weak for a in node.args]
    out = node.outs[0].type.dtype
    if access.is_identity(node):
        return values[0]
    found = scalars.emit(cx, node.op.name, node.params, out, values, dtypes, weak)
    if found is NotImplemented:
        # There is code for operands in general, but not for these constants: make them look like any other.
        hidden = [_hidden(cx, v, d) for v, d in zip(values, dtypes, strict=True)]
        found = scalars.emit(cx, node.op.name, node.params, out, hidden, dtypes, weak)
    assert found is not NotImplemented
    return found


def _hidden(cx: Context, value: Scalar, dtype: np.dtype) -> Scalar:
    if isinstance(value, Complex):
        return Complex(*[_hidden(cx, part, dtype) for part in value])
    if not isinstance(value, ir.Constant):
        return value
    place = cx.on_stack(value.type)
    cx.builder.store(value, place)
    return cx.builder.load(place, typ=value.type)


# ------------------------------------------------------------------------------------------------ the nodes


def compose(em: Emitter, frame: Frame, node: Node) -> Any:
    """The value of a node: a scalar, or an Array that is computed while it is read."""
    name = node.op.name
    if name == "iota":
        return _iota(em, frame, node)
    if name == "size":
        return em.array(frame, node.args[0]).lengths[node.params["axis"]]
    if name == "index":
        return _index(em, frame, node)
    if access.is_rearrangement(node):
        return _rearranged(em, frame, node)
    if access.is_identity(node):
        return em.value(frame, node.args[0])
    return elementwise(em, frame, node)


def elementwise(em: Emitter, frame: Frame, node: Node) -> Any:
    cx, out = em.cx, node.outs[0].type
    if out.ndim == 0:
        return scalar_result(cx, node, [em.value(frame, a) for a in node.args])
    arrays = [em.array(frame, a) for a in node.args]
    lengths = broadcast_lengths(cx, [a.type for a in node.args], arrays, out)
    return pointwise(cx, lengths, out.dtype, arrays, lambda values: scalar_result(cx, node, values))


def pointwise(cx: Context, lengths: list[ir.Value], dtype: np.dtype, arrays: Sequence[Array], combine: Any) -> Array:
    """The array of `combine(elements)`, of arrays that are broadcast to these lengths."""
    whole = [broadcasted(cx, a, lengths) if a.ndim else a for a in arrays]

    def load(indices: Sequence[ir.Value]) -> Scalar:
        return combine([a.load(indices if a.ndim else []) for a in whole])

    def flat(position: ir.Value) -> Scalar:
        return combine([a.flat(position) if a.ndim else a.load([]) for a in whole])  # type: ignore[misc]

    can_be_flat = all(not a.ndim or (a.flat is not None and same_known_lengths(a.lengths, lengths)) for a in whole)
    return Array(lengths, dtype, load, flat if can_be_flat else None, None, joined(whole))


def broadcast_lengths(cx: Context, types: Sequence[Type], arrays: Sequence[Array], out: Type) -> list[ir.Value]:
    """The lengths of the result of an elementwise op, after a check that the operands' agree."""
    lengths: list[ir.Value] = []
    for k, n in enumerate(out.shape):
        length: ir.Value | None = I64(n) if isinstance(n, int) else None
        for type, a in zip(types, arrays, strict=True):
            axis = k - (out.ndim - type.ndim)
            if axis < 0 or type.shape[axis] == 1:
                continue
            own = a.lengths[axis]
            if length is None:
                length = own
            elif own is not length and (known(own) is None or known(own) != known(length)):
                cx.fail_if(
                    cx.builder.icmp_signed("!=", own, length), "ValueError",
                    "operands could not be broadcast together: lengths {0} and {1}" + NEVER_ONE, length, own,
                )  # fmt: skip
        assert length is not None
        lengths.append(length)
    return lengths


def lengths_from(em: Emitter, shape: Sequence[Any]) -> list[ir.Value]:
    """Lengths from a parameter: ints, or i64 values that must not be negative."""
    lengths = []
    for n in shape:
        if isinstance(n, int):
            lengths.append(I64(n))
        else:
            em.cx.fail_if(
                em.cx.builder.icmp_signed("<", n, I64(0)), "ValueError", "negative dimensions are not allowed"
            )
            lengths.append(n)
    return lengths


def _iota(em: Emitter, frame: Frame, node: Node) -> Array:
    (n,) = lengths_from(em, [em.params(frame, node)["n"]])
    return Array([n], np.dtype(np.int64), lambda indices: indices[0], lambda position: position)


def _index(em: Emitter, frame: Frame, node: Node) -> Any:
    cx = em.cx
    x = em.array(frame, node.args[0])
    pattern = em.params(frame, node)["pattern"]
    place = CheckedIndex(cx, x.lengths, pattern, index_operands(em, frame, node.args[1:]), node.outs[0].type.shape)
    if not place.lengths:
        return x.load(place.indices([]))
    arrays = [a for a in (em.value(frame, a) for a in node.args[1:]) if isinstance(a, Array)]
    affine = place.affine(x.buffer)
    if affine is not None:
        start, strides, contiguous = affine
        return remapped(cx, x, place.lengths, place.indices, start, strides, contiguous)
    found = Array(place.lengths, x.dtype, lambda indices: x.load(place.indices(indices)))
    found.epochs = joined([x, *arrays])
    return found


def index_operands(em: Emitter, frame: Frame, operands: Sequence[Operand]) -> list[Any]:
    """The arrays of an index: i64 values for scalars, Arrays of i64 otherwise."""
    cx, found = em.cx, []
    for operand in operands:
        if operand.type.ndim == 0:
            value = em.integer(frame, operand)
            span = em.intervals.get(operand) if isinstance(operand, Var) else None
            if span is not None:
                cx.ranges.note(value, *span)
            found.append(value)
            continue
        a = em.array(frame, operand)
        dtype = operand.type.dtype
        if dtype != np.int64:
            a = pointwise(
                cx, a.lengths, np.dtype(np.int64), [a],
                lambda v, d=dtype: scalars.convert(cx, v[0], d, np.dtype(np.int64)),
            )  # fmt: skip
        found.append(a)
    return found


def _rearranged(em: Emitter, frame: Frame, node: Node) -> Any:
    cx, name = em.cx, node.op.name
    value = em.value(frame, node.args[0])
    params = em.params(frame, node)
    if name in ("reshape", "broadcast_to"):
        if not node.outs[0].type.shape:
            return value.load([I64(0)] * value.ndim) if isinstance(value, Array) else value
        lengths = lengths_from(em, params["shape"])
        if not isinstance(value, Array):
            if name == "reshape":
                _same_size(cx, [], lengths)
            return constant_array(cx, value, node.args[0].type.dtype, lengths)
        return reshaped(em, value, lengths) if name == "reshape" else _broadcast_to(cx, node, value, lengths)
    if not isinstance(value, Array):
        return value
    if name == "transpose":
        return transposed(cx, value, params["axes"])
    return flipped(cx, value, params["axis"])


def _broadcast_to(cx: Context, node: Node, x: Array, lengths: list[ir.Value]) -> Array:
    extra = len(lengths) - x.ndim
    for k, n in enumerate(node.args[0].type.shape):
        own, wanted = x.lengths[k], lengths[k + extra]
        if n != 1:
            cx.fail_if_differ(own, wanted, "an axis of length {0} cannot be broadcast to length {1}" + NEVER_ONE)
    return broadcasted(cx, x, lengths)


def _same_size(cx: Context, old: Sequence[ir.Value], new: Sequence[ir.Value]) -> None:
    before, after = product(cx.builder, old), product(cx.builder, new)
    cx.fail_if_differ(before, after, "cannot reshape an array of {0} elements into {1}")


def reshaped(em: Emitter, x: Array, lengths: list[ir.Value]) -> Array:
    """x in another shape; the plan sees to it that this is possible without work, or makes x first."""
    cx = em.cx
    kept = _respacing(x.lengths, lengths)
    if kept is not None:
        return respaced(cx, x, lengths, kept)
    _same_size(cx, x.lengths, lengths)
    if x.buffer is not None and x.buffer.strides is None:
        return remapped(cx, x, lengths, list, I64(0), [I64(1)] * len(lengths), contiguous=True)
    raise AssertionError("a reshape that needs memory was planned without")


def _respacing(old: Sequence[ir.Value], new: Sequence[ir.Value]) -> list[int | None] | None:
    """For each new axis the old one it is, or None, if shapes differ by axes of length one only."""
    kept: list[int | None] = []
    left = [k for k, n in enumerate(old) if known(n) != 1]
    for n in new:
        if known(n) == 1:
            kept.append(None)
        elif left and known(n) is not None and known(n) == known(old[left[0]]):
            kept.append(left.pop(0))
        else:
            return None
    return kept if not left else None


def reshape_made(em: Emitter, frame: Frame, node: Node) -> Array:
    """A reshape for which the elements are copied into the slot of the result."""
    x = em.array(frame, node.args[0])
    lengths = lengths_from(em, em.params(frame, node)["shape"])
    _same_size(em.cx, x.lengths, lengths)
    slot = frame.plan.slots[node.outs[0]]
    target = em.allocate(slot, lengths)
    em.fill(x, Buffer(target.pointer, x.lengths, None, target.dtype, writable=True))
    return em.made(slot, target)
