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
    block_of,
    padded,
    padded_zeros,
    unpadded,
    unwrapped,
    with_lengths,
)
from wengert.control.differing import one_by_one
from wengert.control.lifting import joined, lifted, parts_of
from wengert.ir.analysis.raising import blocks_may_raise
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type, Var
from wengert.modes.dual import push
from wengert.modes.mode import Mode
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control
from wengert.ops.elementwise import where
from wengert.ops.op import call
from wengert.types import aval_of


def _impl(pred: Any, *args: Any, then: Block, orelse: Block) -> tuple:
    return tuple(run(then if pred else orelse, args))


# -------------------------------------------------------------------------------------------------------- every mode


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    pred, *operands = args
    branches = [params[name] for name in ("then", "orelse")]
    differs = mode.owns(pred)
    if differs and mode.batches and blocks_may_raise(*branches):
        types = [Type((), np.dtype(bool)), *[p.type for p in branches[0].params]]
        return one_by_one(mode, cond, args, types, params)
    given = parts_of(mode, operands)
    found = [lifted(block, mode, given.boxed)[1] for block in branches]
    outs = [differs or a or b for a, b in zip(*found, strict=True)]
    then, orelse = [lifted(block, mode, given.boxed, outs)[0] for block in branches]
    values, n = [*given.leading, *given.companions], len(outs)
    if not differs:
        results = call(cond, pred, *values, then=then, orelse=orelse)
        return joined(mode, results[:n], results[n:], outs)
    taken, other = [joined(mode, ys[:n], ys[n:], outs) for ys in (run(then, values), run(orelse, values))]
    return tuple([call(where, pred, a, b) for a, b in zip(taken, other, strict=True)])


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


def _types(args: Sequence[Any], params: dict) -> list[Found]:
    found = []
    for a, b in zip(params["then"].results, params["orelse"].results, strict=True):
        shape = tuple([m if m == n else Dyn(None if None in (_bound(m), _bound(n)) else max(_bound(m), _bound(n)))  # type: ignore[type-var]
                       for m, n in zip(a.type.shape, b.type.shape, strict=True)])  # fmt: skip
        found.append(Found(shape, np.result_type(a.type.dtype, b.type.dtype), a.type.weak and b.type.weak))
    return found


def _bound(n: Any) -> int | None:
    return n if n.__class__ is int else n.bound


cond = Control("cond", _impl, lift=_lift, record=_record, types=_types)
