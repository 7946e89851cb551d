"""The branch: `cond(pred, *args; then, orelse)`. Both blocks take the arguments; their results have the same types.

Reverse mode runs the branch that is taken with its residuals as further results (those of the other branch are zeros
then), and later the transpose of the same branch. It is given what has arrived at the arguments so far, so an array of
which a branch reads one element is passed through in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.writing import zeros
from wengert.control.blocks import (
    Linearised,
    Transposed,
    batch_size,
    batched,
    block_of,
    padded,
    padded_zeros,
    tangents,
    unpadded,
    with_lengths,
)
from wengert.control.examples import one_by_one
from wengert.control.loop import unwrapped
from wengert.ir.analysis.raising import blocks_may_raise
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type, Var
from wengert.modes.dual import Dual, DualTrace, push
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control, Unmapped
from wengert.ops.elementwise import where
from wengert.ops.op import call
from wengert.ops.shape import reshape
from wengert.types import aval_of, shape_of


def _impl(pred: Any, *args: Any, then: Block, orelse: Block) -> tuple:
    return tuple(run(then if pred else orelse, args))


# ------------------------------------------------------------------------------------------------------ forward mode


def _push(trace: DualTrace, args: tuple, params: dict) -> Any:
    mine, values = unwrapped(trace, Dual, args)
    dots = [a._tangent for a, m in zip(args, mine, strict=True) if m]
    branches = [tangents(params[name], mine[1:]) for name in ("then", "orelse")]
    outs = [a or b for a, b in zip(branches[0][1], branches[1][1], strict=True)]
    if not any(outs):
        return call(cond, *values, **params)
    blocks = [_with_all_tangents(block, own, outs) for block, own in branches]
    results = call(cond, *values, *dots, then=blocks[0], orelse=blocks[1])
    n, found = len(outs), iter(results[len(outs) :])
    return tuple([Dual(trace, y, next(found)) if o else y for y, o in zip(results[:n], outs, strict=True)])


def _with_all_tangents(block: Block, own: Sequence[bool], outs: Sequence[bool]) -> Block:
    """A branch that gives tangents of all results of which one of the branches has tangents."""
    if list(own) == list(outs):
        return block

    def function(*params: Any) -> list[Any]:
        results = run(block, params)
        values, found = results[: len(own)], iter(results[len(own) :])
        y_dots = [next(found) if o else None for o in own]
        wanted = [(y, d) for y, d, o in zip(values, y_dots, outs, strict=True) if o]
        return [*values, *[zeros(*aval_of(y)) if d is None else d for y, d in wanted]]

    return block_of(function, block.params)


# ------------------------------------------------------------------------------------------------------ reverse mode


class _Branch:
    """One branch for reverse mode."""

    def __init__(self, block: Block, mine: Sequence[bool]):
        self.source = Linearised(block, mine, bounded=True)
        self.outputs = self.source.active_outputs
        self._transposed: dict[tuple, Transposed] = {}

    def transposed(self, running: Sequence[bool]) -> Transposed:
        """The transposed branch, where something has arrived at these of the active arguments."""
        key = tuple(running)
        if key not in self._transposed:
            self._transposed[key] = Transposed(self.source, running)
        return self._transposed[key]

    def find_residuals(self) -> None:
        """Find what has to be kept, whatever has arrived."""
        own = {id(p._node): k for k, p in enumerate(self.source.params)}
        n = len(self.source.places)
        residuals = [*self.transposed([False] * n).residuals, *self.transposed([True] * n).residuals]
        found = with_lengths(residuals)
        self.invariant = {id(r._node): own[id(r._node)] for r in found if id(r._node) in own}
        self.saved = [r for r in found if id(r._node) not in own]


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    mine, values = unwrapped(trace, Tape, args)
    branches = [_Branch(params[name], mine[1:]) for name in ("then", "orelse")]
    outs = [a or b for a, b in zip(*[b.outputs for b in branches], strict=True)]
    if not any(outs):
        return call(cond, *values, **params)
    for branch in branches:
        branch.find_residuals()
    first, second = branches
    n = len(outs)
    then = _with_zeros(first.source.primal(first.saved, padded), n + len(first.saved), second.saved)
    orelse = _with_zeros(second.source.primal(second.saved, padded), n, first.saved)
    results = call(cond, *values, then=then, orelse=orelse)
    ys = results[:n]
    kept = [results[n : n + len(first.saved)], results[n + len(first.saved) :]]
    inputs = [a._node for a, m in zip(args, mine, strict=True) if m]

    def pull(cts: Sequence[Any], so_far: Sequence[Any]) -> Sequence[Any]:
        running = [t is not None for t in so_far]
        totals = [t for t in so_far if t is not None]
        operands = [*cts, *totals, *kept[0], *kept[1], *values[1:]]
        counts = (len(cts), len(totals), len(kept[0]), len(kept[1]))
        params = [var_like(x) for x in operands]
        blocks = [_backward(b, k, outs, running, counts, params) for k, b in enumerate(branches)]
        return call(cond, values[0], *operands, then=blocks[0], orelse=blocks[1])

    def tangent(dots: Sequence[Any]) -> list[Any]:
        given = iter(dots)
        all_dots = [next(given) if m else None for m in mine]
        y, y_dots = push(lambda *xs: list(call(cond, *xs, **params)), values, all_dots)
        return [zeros(*aval_of(v)) if d is None else d for v, d, o in zip(y, y_dots, outs, strict=True) if o]

    active = [y for y, o in zip(ys, outs, strict=True) if o]
    boxes = iter(trace.custom(inputs, active, pull, push=tangent, accumulates=True))
    return tuple([next(boxes) if o else y for y, o in zip(ys, outs, strict=True)])


def _with_zeros(block: Block, place: int, others: Sequence[Any]) -> Block:
    """A branch with zeros among its results, where the other branch has its residuals."""
    filler = block_of(lambda: [padded_zeros(r) for r in others], [])
    results = [*block.results[:place], *filler.results, *block.results[place:]]
    return Block(block.params, [*block.nodes, *filler.nodes], results)


def _backward(
    branch: _Branch, which: int, outs: Sequence[bool], running: Sequence[bool], counts: tuple, params: Sequence[Var]
) -> Block:
    n, m, first, second = counts

    def function(*given: Any) -> list[Any]:
        cts, rest = given[:n], given[n:]
        totals, rest = rest[:m], rest[m:]
        kept = (rest[:first], rest[first : first + second])[which]
        arguments = rest[first + second :]
        found = dict(zip([id(r._node) for r in branch.saved], kept, strict=True))
        found.update({key: arguments[place] for key, place in branch.invariant.items()})
        wanted = [own for own, o in zip(branch.outputs, outs, strict=True) if o]
        arrived = [ct for ct, own in zip(cts, wanted, strict=True) if own]
        transposed = branch.transposed(running)
        return run(transposed.block, [*arrived, *totals, *[unpadded(r, found) for r in transposed.residuals]])

    return block_of(function, params)


# ----------------------------------------------------------------------------------------------------------- batches


def _batch(args: Any, mapped: Any, params: dict) -> Any:
    n = batch_size(args, mapped)
    then, orelse = params["then"], params["orelse"]
    if mapped[0] and blocks_may_raise(then, orelse):
        types = [Type((), np.dtype(bool)), *[p.type for p in then.params]]
        return one_by_one(cond, args, mapped, types, params, n)
    found = [batched(block, mapped[1:], n)[1] for block in (then, orelse)]
    want = [mapped[0] or a or b for a, b in zip(*found, strict=True)]
    blocks = [batched(block, mapped[1:], n, want)[0] for block in (then, orelse)]
    if not mapped[0]:
        results = call(cond, *args, then=blocks[0], orelse=blocks[1])
        return tuple([y if w else Unmapped(y) for y, w in zip(results, want, strict=True)])
    taken, other = run(blocks[0], args[1:]), run(blocks[1], args[1:])  # both, because examples differ
    return tuple([where(reshape(args[0], shape=(n,) + (1,) * (len(shape_of(a)) - 1)), a, b)
                  for a, b in zip(taken, other, strict=True)])  # fmt: skip


def _types(args: Sequence[Any], params: dict) -> list[Found]:
    found = []
    for a, b in zip(params["then"].results, params["orelse"].results, strict=True):
        shape = tuple([m if m == n else Dyn(None if None in (_bound(m), _bound(n)) else max(_bound(m), _bound(n)))  # type: ignore[type-var]
                       for m, n in zip(a.type.shape, b.type.shape, strict=True)])  # fmt: skip
        found.append(Found(shape, np.result_type(a.type.dtype, b.type.dtype), a.type.weak and b.type.weak))
    return found


def _bound(n: Any) -> int | None:
    return n if n.__class__ is int else n.bound


cond = Control("cond", _impl, push=_push, record=_record, batch=_batch, types=_types)
