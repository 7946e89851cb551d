"""Ops that hold code, on the examples of a batch one by one.

A branch or loop is batched by running its blocks on all examples at once. That is right only if a block may also be run
on examples that do not get there: it must end, and raise nothing. Blocks that might (`may_fail`) are run in a loop over
the examples instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import block_of
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.node import Block, Const, Node, Type, Var, all_nodes
from wengert.ops.index import ARRAY, index
from wengert.ops.op import TABLE, Op, call
from wengert.ops.shape import as_integer, astype
from wengert.running import running

_RAISING = frozenset(("require", "while", "cholesky", "solve", "inv", "eigh", "eigvalsh", "solve_factored", "factors"))


def may_fail(*blocks: Block) -> bool:
    """Whether a block might raise, or not end, on values that it is not meant for."""
    return any(_may_fail(node) for block in blocks for node in all_nodes(block))


def _may_fail(node: Node) -> bool:
    if node.op.name not in ("index", "store", "add_at"):
        return node.op.name in _RAISING
    places = node.args[1 if node.op.name == "index" else 2 :]
    items = [item for item in node.params["pattern"] if item is not None]
    if not places:
        return False
    if Ellipsis in items:
        return True
    waiting = iter(places)
    for n, item in zip(node.args[0].type.shape, items, strict=False):
        if item is ARRAY and not _is_within(next(waiting), n):
            return True
    return next(waiting, None) is not None


def _is_within(place: Any, n: Any) -> bool:
    """Whether an index is certain to lie inside an axis."""
    if place.__class__ is Const:
        low, high = np.min(place.value, initial=0), np.max(place.value, initial=0)
    elif place.span is None:
        return False
    else:
        low, high = place.span
    return n.__class__ is int and low is not None and high is not None and -n <= low and high < n


def one_by_one(
    op: Op, args: Sequence[Any], mapped: Sequence[bool], types: Sequence[Type], params: dict, n: int
) -> tuple:
    """The results of an op for each of n examples, stacked. `types` are those of the operands for one example."""

    def function(k: Any, *operands: Any) -> list[Any]:
        xs = [_number(index(a, k, pattern=(ARRAY,)), t) if m else a
              for a, m, t in zip(operands, mapped, types, strict=True)]  # fmt: skip
        return list(call(op, *xs, **params))

    counter = Var(Type((), np.dtype(np.int64), True), None, (0, n - 1), False)
    block = block_of(function, [counter, *[var_like(a) for a in args]])
    return tuple(call(TABLE["loop"], n, *args, body=block, carried=0))


def _number(x: Any, type: Type) -> Any:
    """An element as the kind of scalar that a block expects."""
    if not type.weak:
        return x
    op = astype if type.dtype.kind in "fc" else as_integer
    return running.state.capture.emit(op, (x,), {"dtype": type.dtype}, [Found((), type.dtype, True)])[0]
