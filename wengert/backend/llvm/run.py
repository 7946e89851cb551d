"""Which file writes the code of which node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from wengert.backend.llvm import control
from wengert.backend.llvm.arrays.add_parts import add_parts
from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import I64, Buffer, is_native
from wengert.backend.llvm.arrays.composed import compose, natively, reshape_made
from wengert.backend.llvm.arrays.composed import how as how_composed
from wengert.backend.llvm.arrays.exponential import logsumexp, softmax
from wengert.backend.llvm.arrays.fused import run_fused
from wengert.backend.llvm.arrays.norm import is_native as is_native_norm
from wengert.backend.llvm.arrays.norm import norm
from wengert.backend.llvm.arrays.positions import is_searched_natively, searchsorted, true_positions
from wengert.backend.llvm.arrays.reduction import Fold, is_reduced_natively, linear_recurrence, reduce, scan, shares
from wengert.backend.llvm.arrays.search import arg_extreme
from wengert.backend.llvm.arrays.sorting import argsort, is_sorted_natively
from wengert.backend.llvm.arrays.writing import concatenate, is_written_natively, padded, scatter, write
from wengert.backend.llvm.calls import callback
from wengert.backend.llvm.context import CannotStandAlone
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.linalg import library
from wengert.backend.plan import access
from wengert.backend.plan.memory import Kind
from wengert.ir.node import Node, Var
from wengert.ops.choice import choice


def run_block(em: Emitter, frame: Frame) -> None:
    """Write the code of all nodes of a block."""
    around, em.folds = em.folds, _folds(em, frame)
    run_nodes(em, frame, range(len(frame.plan.block.nodes)))
    em.folds = around


def run_nodes(em: Emitter, frame: Frame, numbers: range) -> None:
    """Write the code of some nodes of a block, which follow each other."""
    nodes, done = frame.plan.block.nodes, numbers.start
    for i in numbers:
        if i < done:
            continue  # together with one before
        if any(v in frame.values for v in nodes[i].outs):
            em.report.append((nodes[i].op.name, "native"))  # while its operand was made
            continue
        before, em.cx.source = em.cx.source, nodes[i].source or em.cx.source
        how = None
        if em.outline is not None:
            how = em.outline.run(em, frame, i, numbers, run_nodes)
        if how is None:
            how = run_fused(em, frame, i, numbers.stop, lambda k: _run(em, frame, nodes[k], k))
        if how is None and em.outline is not None:
            how = em.outline.run_one(em, frame, i, numbers, run_nodes)
        if how is None:
            how = [_run(em, frame, nodes[i], i)]
        done = i + len(how)
        em.report += zip([node.op.name for node in nodes[i:done]], how, strict=True)
        em.cx.source = before


def _folds(em: Emitter, frame: Frame) -> dict[Var, list[Node]]:
    """Sums and extremes of all elements of an array that is made: one pass through memory does both.

    Parts of large kernels are functions for one node each.
    """
    found: dict[Var, list[Node]] = {}
    if em.outline is None:
        for node in frame.plan.block.nodes:
            if access.is_reduction(node) and Fold.takes(node):
                x = node.args[0]
                if isinstance(x, Var) and frame.plan.kinds[x] is Kind.MADE:
                    found.setdefault(x, []).append(node)
    return found


class Emission(NamedTuple):
    """How the value of a node is written, if `when(node)` holds: `write(em, frame, node, number of the node)`."""

    write: Callable[[Emitter, Frame, Node, int], Any]
    when: Callable[[Node], bool] = lambda node: True


def _array(write: Callable[[Emitter, Frame, Node], Any], when: Callable[[Node], bool] = lambda node: True) -> Emission:
    """An emission that need not know which node of the block it is about."""
    return Emission(lambda em, frame, node, i: write(em, frame, node), when)


def _has_axes(node: Node) -> bool:
    return node.outs[0].type.ndim > 0


def _is_real_array(node: Node) -> bool:
    return node.args[0].type.dtype.kind == "f" and node.args[0].type.ndim > 0


def _shares_ties(node: Node) -> bool:
    return choice.ties == "share" and _has_axes(node) and node.outs[0].type.dtype.kind == "f"


_written = Emission(
    lambda em, frame, node, i: _scalar_or(write(em, frame, node, i), node.outs[0]), is_written_natively
)  # fmt: skip
_scanned = _array(scan, _has_axes)
_extreme = _array(arg_extreme, lambda node: node.args[0].type.dtype.kind != "c")
_reduced = _array(reduce, is_reduced_natively)

CONTROL: dict[str, Callable[[Emitter, Frame, Node, int], None]] = {
    "loop": lambda em, frame, node, i: control.loop(em, frame, node, i, run_block),
    "while": lambda em, frame, node, i: control.while_(em, frame, node, i, run_block),
    "cond": lambda em, frame, node, i: control.cond(em, frame, node, i, run_block),
    "require": lambda em, frame, node, i: control.require(em, frame, node),
}
"""Ops that decide what is run."""

EMISSIONS: dict[str, Emission] = {
    "add_parts": Emission(add_parts),
    "store": _written,
    "add_at": _written,
    "scatter": _array(scatter, lambda node: is_written_natively(node) and _has_axes(node)),
    "padded": _array(padded),
    "concatenate": _array(concatenate),
    "cumsum": _scanned,
    "cumprod": _scanned,
    "logsumexp": _array(logsumexp, _is_real_array),
    "softmax": _array(softmax, _is_real_array),
    "norm": _array(norm, is_native_norm),
    "shares": _array(shares, _shares_ties),
    "linear_recurrence": _array(linear_recurrence, _has_axes),
    "searchsorted": _array(searchsorted, is_searched_natively),
    "argsort": _array(argsort, is_sorted_natively),
    "true_positions": _array(
        true_positions, lambda node: node.args[0].type.dtype.kind == "b" and node.args[0].type.ndim > 0
    ),
    "argmax": _extreme,
    "argmin": _extreme,
}
"""Ops that have code of their own here, for arrays in memory. Reductions, by their trait, are `_reduced`."""

COMPOSED = ("iota", "size")
"""Ops that are computed while they are read, as elementwise ones and views are."""


def _run(em: Emitter, frame: Frame, node: Node, i: int) -> str:
    name = node.op.name
    if name in CONTROL:
        CONTROL[name](em, frame, node, i)
        return "native"
    if name in COMPOSED or access.is_view(node) or _composes(node):
        _compose(em, frame, node)
        return how_composed(node)
    emission = _reduced if access.is_reduction(node) else EMISSIONS.get(name)
    if emission is None or not _is_native(node) or not emission.when(node):
        return _foreign(em, frame, node)
    frame.values[node.outs[0]] = emission.write(em, frame, node, i)
    return "native"


def _is_native(node: Node) -> bool:
    return all(is_native(v.type.dtype) for v in (*node.args, *node.outs))


def _composes(node: Node) -> bool:
    return (access.is_elementwise(node) or node.op.name == "index") and natively(node)


def _scalar_or(value: Array, out: Var) -> Any:
    return value if out.type.ndim else value.load([])


def _compose(em: Emitter, frame: Frame, node: Node) -> None:
    out = node.outs[0]
    kind = frame.plan.kinds[out]
    if kind is Kind.MADE and node.op.name == "reshape":
        frame.values[out] = reshape_made(em, frame, node)
        return
    if kind in (Kind.LAZY, Kind.VIEW) and any(isinstance(a, Var) and a not in frame.values for a in node.args):
        return  # nobody reads it, nor what it is made of (see `fused.py`)
    value = compose(em, frame, node)
    if kind is Kind.SCALAR:
        frame.values[out] = scalar = value.load([]) if isinstance(value, Array) else value
        em.cx.ranges.note_node(node, [em.value(frame, a) for a in node.args if not a.type.ndim], scalar)
    elif kind is Kind.MADE:
        folds = {node.outs[0]: Fold(em.cx, node) for node in em.folds.get(out, ())}
        frame.values[out] = em.make(value, frame.plan.slots[out], list(folds.values()))
        frame.values.update({v: fold.result() for v, fold in folds.items()})
    else:
        frame.values[out] = value


def _foreign(em: Emitter, frame: Frame, node: Node) -> str:
    """A library's routine, or Python."""
    cx = em.cx
    inputs = [_operand_buffer(em, frame, a) for a in node.args]
    how: Any = NotImplemented
    if _is_native(node):
        how = _by_library(em, frame, node, inputs)
    if how is not NotImplemented:
        return how
    if cx.standalone:
        raise CannotStandAlone(node.op.name, node.source)
    cx.fail_now()
    sizes = [em.integer(frame, s) for s in node.sizes]
    found = callback.emit(cx, node, inputs, sizes)
    for v, buffer in zip(node.outs, found, strict=True):
        array = in_memory(cx, buffer)
        frame.values[v] = array.load([]) if not v.type.ndim else em.make(array, frame.plan.slots[v])
    return "callback"


def _operand_buffer(em: Emitter, frame: Frame, operand: Any) -> Buffer:
    return em.in_buffer(em.array(frame, operand))


def _by_library(em: Emitter, frame: Frame, node: Node, inputs: list[Buffer]) -> Any:
    lengths = _result_lengths(em, node, inputs)
    if lengths is None:
        return NotImplemented
    outs = []
    for v, own in zip(node.outs, lengths, strict=True):
        if v.type.ndim:
            outs.append(em.allocate(frame.plan.slots[v], own))
        else:
            outs.append(Buffer(em.cx.scratch(v.type.dtype.itemsize), [], None, v.type.dtype, writable=True))
    how = library.emit(em.cx, node, inputs, outs)
    if how is NotImplemented:
        return how
    for v, out in zip(node.outs, outs, strict=True):
        if v.type.ndim:
            frame.values[v] = em.made(frame.plan.slots[v], out)
        else:
            frame.values[v] = in_memory(em.cx, out).load([])
    em.work(I64(1024))
    return how


def _result_lengths(em: Emitter, node: Node, inputs: list[Buffer]) -> list[list[ir.Value]] | None:
    """The lengths of the results of a library's routine; `None` where they are known only afterwards."""
    if all(v.type.is_static for v in node.outs):
        return [[I64(n) for n in v.type.shape] for v in node.outs]
    if node.op.name == "matmul" and len(inputs) == 2 and all(1 <= x.ndim <= 2 for x in inputs):
        x, y = inputs
        em.cx.fail_if_differ(x.lengths[-1], y.lengths[0], "matmul: the inner lengths {0} and {1} differ")
        return [[*x.lengths[:-1], *y.lengths[1:]]]
    return None


__all__ = ["run_block"]
