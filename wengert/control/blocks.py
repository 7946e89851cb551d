"""What reverse mode makes of a block: two blocks, found by running the mode over it.

`Linearised` runs a block on a tape, in a capture. The first block is the block itself with residuals as further
results, the second one the transposed linear map, which takes cotangents and residuals. Residuals are those values of
the first block that the second one uses: they are found by capturing the second and looking what it takes from outside.
(What all other modes make of a block is in `lifting.py`.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from wengert.box.functions.operands import join
from wengert.box.writing import zeros
from wengert.errors import UnsupportedFunctionError
from wengert.ir.build import Capture, capturing, type_of_value
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn, Node, Type, Var, all_nodes
from wengert.ir.symbol import Dim, Sym
from wengert.modes.dual import push
from wengert.modes.linear import selected
from wengert.modes.tape import record
from wengert.ops.guarded import guarded_product
from wengert.ops.index import index
from wengert.ops.op import Op, call
from wengert.ops.sizes import padded as with_room
from wengert.running import running
from wengert.types import aval_of, shape_of


def block_of(function: Callable[..., Sequence[Any]], params: Sequence[Var]) -> Block:
    """The block of a function of values like these variables, which uses nothing else."""
    capture = Capture()
    with capturing(capture):
        outputs = function(*[capture.formal_like(p) for p in params])
        block = capture.block(outputs)
    assert len(block.params) == len(params), "a block uses a value from outside"
    return block


def strong(type: Type) -> Type:
    """The type of a tangent or cotangent of a value of this type."""
    return Type(type.shape, type.dtype)


def unwrapped(trace: Any, kind: Any, args: Sequence[Any]) -> tuple[list[bool], list[Any]]:
    """Which operands belong to a trace, and what is inside them."""
    mine = [a.__class__ is kind and a._owner is trace for a in args]
    return mine, [a._value if m else a for a, m in zip(args, mine, strict=True)]


def tangent_through(
    op: Op, mine: Sequence[bool], values: Sequence[Any], params: dict, wanted: Sequence[bool]
) -> Callable:
    """How tangents of operands go through an op that holds code, to those of its results that are wanted: by forward
    mode, from the values of all operands."""

    def tangent(dots: Sequence[Any]) -> list[Any]:
        given = iter(dots)
        all_dots = [next(given) if m else None for m in mine]
        ys, y_dots = push(lambda *xs: list(call(op, *xs, **params)), values, all_dots)
        return [zeros(*aval_of(y)) if d is None else d for y, d, w in zip(ys, y_dots, wanted, strict=True) if w]

    return tangent


# ------------------------------------------------------------------------------------------------------ reverse mode


class Linearised:
    """A block run on a tape: its values and its linear part, whose coefficients are symbols of `capture`."""

    def __init__(self, block: Block, active: Sequence[bool], bounded: bool = False):
        """`bounded` says that only what has a bounded length can be a residual, as in the body of a loop."""
        self.block = block
        self.capture = Capture()
        self.capture.bounded = bounded
        self.places = [k for k, a in enumerate(active) if a]
        with capturing(self.capture):
            self.params = [self.capture.formal_like(p) for p in block.params]

            def function(*chosen: Any) -> list[Any]:
                xs: list[Any] = list(self.params)
                for k, x in zip(self.places, chosen, strict=True):
                    xs[k] = x
                return run(block, xs)

            self.values, self.linear = record(function, [self.params[k] for k in self.places])
        self.active_outputs = [place is not None for place in self.linear.outputs]

    def primal(self, residuals: Sequence[Sym], kept: Callable[[Any], Any] | None = None) -> Block:
        """The block with residuals as further results; `kept` says in which form (`padded`)."""
        capture = self.capture
        capture.alive = True
        with capturing(capture):
            outputs = [*self.values, *[r if kept is None else kept(r) for r in residuals]]
            return Block(capture.params, capture.nodes, [capture.operand(y) for y in outputs])

    def collecting(
        self, saved: Sequence[Sym], ragged: Sequence[Sym], place: int, carried: int
    ) -> tuple[Block, list[Sym]]:
        """The block of a loop with residuals as further results, and with arrays that it carries, as parameters from
        `place` on, behind which the rows of ragged residuals are put; and where those of an iteration begin."""
        block, capture = self.primal(saved, padded), self.capture
        block, capture = self.primal(saved, padded), self.capture
        if not ragged:
            return block, []
        capture.alive = True
        with capturing(capture):
            rows = [capture.formal(Type((Dyn(), *shape_of(r)[1:]), r.dtype)) for r in ragged]
            begins = [shape_of(x)[0].sym for x in rows]
            longer = [capture.operand(join([x, r], 0)) for x, r in zip(rows, ragged, strict=True)]
            given, new = capture.params[: -len(rows)], capture.params[-len(rows) :]
            params = [*given[:place], *new, *given[place:]]
            ends = [capture.operand(x) for x in begins]
            results = [*block.results[:carried], *longer, *block.results[carried:], *ends]
            return Block(params, capture.nodes, results), begins


class Transposed:
    """The transposed linear part of a block.

    The parameters of `block` are the cotangents of the active results, what has arrived so far at those active
    parameters for which `running` says that something may have, and the residuals. Its results are what has arrived at
    the active parameters then.
    """

    def __init__(self, source: Linearised, running: Sequence[bool], is_behind: bool = False):
        """`is_behind`: the cotangents come through a selection."""
        self._source, self._running, self._is_behind = source, running, is_behind
        self._behind: Transposed | None = None
        capture = Capture(also=(source.capture,))
        with capturing(capture):
            cts = [
                capture.formal(strong(type_of_value(y)), shape_of(y)) if active else None
                for y, active in zip(source.values, source.active_outputs, strict=True)
            ]
            params = [source.params[place] for place in source.places]
            so_far = [
                capture.formal(strong(x._node.type), x.shape) if r else None
                for x, r in zip(params, running, strict=True)
            ]
            totals = selected(partial(source.linear.pull, so_far=so_far), cts, yes=is_behind)
            outputs = [zeros(x.shape, x.dtype) if ct is None else ct for x, ct in zip(params, totals, strict=True)]
            self.block = capture.block(outputs)
        self.residuals: list[Any] = [x for x in capture.captured if x is not None]

    def now(self) -> Transposed:
        """The same for the cotangents of the sweep that is running."""
        if self._is_behind or not running.state.selected:
            return self
        if self._behind is None:
            self._behind = Transposed(self._source, self._running, True)
        return self._behind


def selects(*blocks: Block) -> bool:
    """Whether not all values in blocks are used every time, so that the cotangents of some are zero."""
    return any(_selects(node) for block in blocks for node in all_nodes(block))


def _selects(node: Node) -> bool:
    if node.op is index:
        return any(x.type.shape for x in node.args[1:])
    return getattr(node.op, "selects", False) or node.op is guarded_product


# ---------------------------------------------------------------------------------------- residuals of varying length


def padded(x: Any) -> Any:
    """A residual as it is kept: with its largest length along axes whose length is known only at run time."""
    shape = shape_of(x)
    if all(n.__class__ is int for n in shape):
        return x
    if any(n.__class__ is Dim and n.bound is None for n in shape):
        refuse_ragged()
    return with_room(x, shape=tuple([n if n.__class__ is int else n.bound for n in shape]))


def refuse_ragged() -> NoReturn:
    raise UnsupportedFunctionError(
        "reverse mode through a loop or branch in which an array has a length without a known bound",
        remedy="make the array of a fixed size outside of the loop, and use slices of it",
    )


def is_ragged(x: Any) -> bool:
    """Whether rows of a residual are kept one after the other, since nothing says how many there are at most."""
    first, *rest = shape_of(x) or (0,)
    return first.__class__ is Dim and first.bound is None and all(n.__class__ is int for n in rest)


def padded_if_bounded(x: Any) -> Any:
    """A residual as a branch keeps it, where nothing needs a fixed size: as it is, if it has no largest length."""
    return x if any(n.__class__ is Dim and n.bound is None for n in shape_of(x)) else padded(x)


def zeros_for(x: Sym) -> Any:
    """What the other branch has in place of a residual that is kept so: a number of Python's for one of those."""
    if x._node.type.weak:
        return x.dtype.type(0).item()
    shape = shape_of(x)
    without_bound = any(n.__class__ is Dim and n.bound is None for n in shape)
    return np.zeros([n if n.__class__ is int else 0 if without_bound else n.bound for n in shape], x.dtype)


def with_lengths(residuals: Sequence[Any]) -> list[Any]:
    """Residuals, and those of their lengths that are known only at run time."""
    found: dict[int, Any] = {id(r._node): r for r in residuals}
    for r in residuals:
        for n in shape_of(r):
            if n.__class__ is Dim:
                found.setdefault(id(n.sym._node), n.sym)
    return list(found.values())


def unpadded(r: Any, kept: dict[int, Any]) -> Any:
    """A residual, from what was kept of all of them by variable."""
    x = kept[id(r._node)]
    if is_ragged(r) or all(n.__class__ is int for n in shape_of(r)):
        return x
    pattern = []
    for n in shape_of(r):
        if n.__class__ is int:
            pattern.append(slice(None))
            continue
        length = kept[id(n.sym._node)]
        if length.__class__ is Sym:
            length._span = (0, n.bound)
        pattern.append(slice(0, length))
    return index(x, pattern=tuple(pattern))
