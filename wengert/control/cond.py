"""The branch: `cond(pred, *args; then, orelse)`. Both blocks take the arguments; their results have the same types.

Reverse mode runs the branch that is taken with its residuals as further results, and later the transpose of the same
branch. It is given what has arrived at the arguments so far, so an array of which a branch reads one element is passed
through in place. Only one branch is taken, so a residual of one and a residual of the other, of the same type, are the
same result; and scalars that are cheap to compute from other scalars are computed again. So the levels of a long chain
of branches (`elif`) do not each keep what all levels inside them keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import (
    Linearised,
    Transposed,
    block_of,
    padded_if_bounded,
    tangent_through,
    unpadded,
    unwrapped,
    with_lengths,
    zeros_for,
)
from wengert.control.differing import demand_nothing_outside, one_by_one
from wengert.control.lifting import joined, lifted, parts_of
from wengert.control.remat import recomputed
from wengert.errors import ConcretizationError
from wengert.ir.analysis.raising import blocks_may_raise
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Type
from wengert.modes.mode import Mode
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops.derive import Control
from wengert.ops.elementwise import where
from wengert.ops.op import call
from wengert.types import shape_of


def _impl(pred: Any, *args: Any, then: Block, orelse: Block) -> tuple:
    return tuple(run(then if pred else orelse, args))


# -------------------------------------------------------------------------------------------------------- every mode


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    pred, *operands = args
    if mode.owns(pred):
        pred = mode.decided(pred)
        args = (pred, *operands)
    branches = [params[name] for name in ("then", "orelse")]
    differs = mode.owns(pred)
    if differs:
        demand_nothing_outside(mode, *branches)
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
    for a, b in zip(*[block.results for block in branches], strict=True):
        if a.type.shape != b.type.shape or any(n.__class__ is Dyn for n in a.type.shape):
            raise ConcretizationError(
                "an array has a length that differs between examples, since they take different branches of an if",
                remedy="let it have one length in both branches, or loop over the examples",
            )
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
        return self._transposed[key].now()

    def find_residuals(self) -> None:
        """Find what has to be kept, whatever has arrived."""
        own = {id(p._node): k for k, p in enumerate(self.source.params)}
        n = len(self.source.places)
        residuals = [*self.transposed([False] * n).residuals, *self.transposed([True] * n).residuals]
        found = with_lengths(residuals)
        self.invariant = {id(r._node): own[id(r._node)] for r in found if id(r._node) in own}
        saved = [r._node for r in found if id(r._node) not in own]
        scalars = [p._node for p in self.source.params if not p._node.type.shape]
        self.again, chosen, taken, *_ = recomputed(saved, self.source.capture.nodes, scalars)
        self.given_again = [*[own[id(v)] for v in scalars], *taken]
        """Operands of `again`: places of arguments, and residuals."""
        self.computed_again = chosen
        left = set(chosen)
        self.saved = [r for r in found if id(r._node) not in own and r._node not in left]

    def needed(self) -> set[int]:
        """The places of the arguments that are residuals, or from which residuals are computed again."""
        return {*self.invariant.values(), *[x for x in self.given_again if x.__class__ is int]}

    def residuals(self, kept: Sequence[Any], arguments: dict[int, Any]) -> dict[int, Any]:
        """All residuals by variable, from those that were kept and from arguments, by their places."""
        found = dict(zip([id(r._node) for r in self.saved], kept, strict=True))
        given = [arguments[x] if x.__class__ is int else found[id(x)] for x in self.given_again]
        found.update(zip(map(id, self.computed_again), run(self.again, given), strict=True))
        found.update({key: arguments[place] for key, place in self.invariant.items()})
        return found


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    mine, values = unwrapped(trace, Tape, args)
    branches = [_Branch(params[name], mine[1:]) for name in ("then", "orelse")]
    outs = [a or b for a, b in zip(*[b.outputs for b in branches], strict=True)]
    if not any(outs):
        return call(cond, *values, **params)
    for branch in branches:
        branch.find_residuals()
    n = len(outs)
    pairs = _paired(*[branch.saved for branch in branches])
    for which, branch in enumerate(branches):
        branch.saved = [pair[which] for pair in pairs if pair[which] is not None]
    then, orelse = [_forward(branch, n, which, pairs) for which, branch in enumerate(branches)]
    results = call(cond, *values, then=then, orelse=orelse)
    ys, kept = results[:n], list(results[n:])
    inputs = [a._node for a, m in zip(args, mine, strict=True) if m]
    needed = sorted(branches[0].needed() | branches[1].needed())

    def pull(cts: Sequence[Any], so_far: Sequence[Any]) -> Sequence[Any]:
        running = [t is not None for t in so_far]
        totals = [t for t in so_far if t is not None]
        operands = [*cts, *totals, *kept, *[values[1 + place] for place in needed]]
        counts = (len(cts), len(totals), len(kept))
        params = [var_like(x) for x in operands]
        own = [[k for k, pair in enumerate(pairs) if pair[which] is not None] for which in range(2)]
        blocks = [_backward(b, k, outs, running, counts, params, needed) for b, k in zip(branches, own, strict=True)]
        return call(cond, values[0], *operands, then=blocks[0], orelse=blocks[1])

    tangent = tangent_through(cond, mine, values, params, outs)
    active = [y for y, o in zip(ys, outs, strict=True) if o]
    holding = (values, kept)
    boxes = iter(trace.custom(inputs, active, pull, push=tangent, accumulates=True, selects=True, kept=holding))
    return tuple([next(boxes) if o else y for y, o in zip(ys, outs, strict=True)])


_Pair = tuple[Any, Any]
"""A residual of the one branch, or `None`, and one of the other."""


def _paired(first: Sequence[Any], second: Sequence[Any]) -> list[_Pair]:
    """The residuals of both branches; those of a pair are kept in the same form."""
    waiting: dict[Any, list[Any]] = {}
    for r in second:
        waiting.setdefault(_kept_type(r), []).append(r)
    pairs: list[_Pair] = []
    for r in first:
        others = waiting.get(_kept_type(r))
        pairs.append((r, others.pop(0) if others else None))
    return [*pairs, *[(None, r) for rest in waiting.values() for r in rest]]


def _kept_type(r: Any) -> Any:
    return tuple([_bound(n) for n in shape_of(r)]), r.dtype, r._node.type.weak


def _forward(branch: _Branch, n: int, which: int, pairs: Sequence[_Pair]) -> Block:
    """A branch with n results, and residuals behind them: zeros where only the other branch has one."""
    block = branch.source.primal(branch.saved, padded_if_bounded)
    filler = block_of(lambda: [zeros_for(pair[1 - which]) for pair in pairs if pair[which] is None], [])
    own, others = iter(block.results[n:]), iter(filler.results)
    kept = [next(others if pair[which] is None else own) for pair in pairs]
    return Block(block.params, [*block.nodes, *filler.nodes], [*block.results[:n], *kept])


def _backward(branch: _Branch, own: Sequence[int], outs: Sequence[bool], running: Sequence[bool], counts: tuple,
              params: Any, needed: Sequence[int]) -> Block:  # fmt: skip
    """The transposed branch, as a function of all that both have; `own` are the places of its residuals among those,
    `needed` those of the arguments."""
    n, m, k = counts

    def function(*given: Any) -> list[Any]:
        cts, totals, kept = given[:n], given[n : n + m], given[n + m : n + m + k]
        arguments = dict(zip(needed, given[n + m + k :], strict=True))
        found = branch.residuals([kept[place] for place in own], arguments)
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


cond = Control("cond", _impl, lift=_lift, record=_record, types=_types, selects=True)
