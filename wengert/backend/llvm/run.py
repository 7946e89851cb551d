"""Which file writes the code of which node."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from wengert.backend.llvm import control
from wengert.backend.llvm.arrays.add_parts import add_parts
from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import I64, Buffer, is_native, known
from wengert.backend.llvm.arrays.composed import compose, natively, reshape_made
from wengert.backend.llvm.arrays.composed import how as how_composed
from wengert.backend.llvm.arrays.exponential import logsumexp, softmax
from wengert.backend.llvm.arrays.fused import run_fused
from wengert.backend.llvm.arrays.reduction import Fold, is_reduced_natively, linear_recurrence, reduce, scan, shares
from wengert.backend.llvm.arrays.search import arg_extreme
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
            how = em.outline.run(em, frame, i, run_nodes)
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


def _run(em: Emitter, frame: Frame, node: Node, i: int) -> str:
    name = node.op.name
    if name == "loop":
        control.loop(em, frame, node, i, run_block)
    elif name == "while":
        control.while_(em, frame, node, i, run_block)
    elif name == "cond":
        control.cond(em, frame, node, i, run_block)
    elif name == "require":
        control.require(em, frame, node)
    elif name in ("iota", "size") or access.is_view(node) or _composes(node):
        _compose(em, frame, node)
        return how_composed(node)
    elif not all(is_native(v.type.dtype) for v in (*node.args, *node.outs)):
        return _foreign(em, frame, node)
    elif name == "add_parts":
        frame.values[node.outs[0]] = add_parts(em, frame, node, i)
    elif node.op.writes and is_written_natively(node):
        frame.values[node.outs[0]] = _scalar_or(write(em, frame, node, i), node.outs[0])
    elif name == "scatter" and is_written_natively(node) and node.outs[0].type.ndim:
        frame.values[node.outs[0]] = scatter(em, frame, node)
    elif name == "padded":
        frame.values[node.outs[0]] = padded(em, frame, node)
    elif name == "concatenate":
        frame.values[node.outs[0]] = concatenate(em, frame, node)
    elif access.is_reduction(node) and is_reduced_natively(node):
        frame.values[node.outs[0]] = reduce(em, frame, node)
    elif name in ("cumsum", "cumprod") and node.outs[0].type.ndim:
        frame.values[node.outs[0]] = scan(em, frame, node)
    elif name in ("logsumexp", "softmax") and node.args[0].type.dtype.kind == "f" and node.args[0].type.ndim:
        frame.values[node.outs[0]] = logsumexp(em, frame, node) if name == "logsumexp" else softmax(em, frame, node)
    elif name == "shares" and choice.ties == "share" and node.outs[0].type.ndim and node.outs[0].type.dtype.kind == "f":
        frame.values[node.outs[0]] = shares(em, frame, node)
    elif name == "linear_recurrence" and node.outs[0].type.ndim:
        frame.values[node.outs[0]] = linear_recurrence(em, frame, node)
    elif name in ("argmax", "argmin") and node.args[0].type.dtype.kind != "c":
        frame.values[node.outs[0]] = arg_extreme(em, frame, node)
    else:
        return _foreign(em, frame, node)
    return "native"


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
    if all(is_native(v.type.dtype) for v in (*node.args, *node.outs)):
        how = _by_library(em, frame, node, inputs)
    if how is not NotImplemented:
        return how
    if cx.standalone:
        raise CannotStandAlone(node.op.name, node.source)
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
            slot = frame.plan.slots[v]
            slot.epoch += 1
            frame.values[v] = in_memory(em.cx, out, slot)
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
        inner, other = x.lengths[-1], y.lengths[0]
        if inner is not other and (known(inner) is None or known(inner) != known(other)):
            em.cx.fail_if(
                em.cx.builder.icmp_signed("!=", inner, other), "ValueError",
                "matmul: the inner lengths {0} and {1} differ", inner, other,
            )  # fmt: skip
        return [[*x.lengths[:-1], *y.lengths[1:]]]
    return None


__all__ = ["run_block"]
