"""Ops that hold code, on the examples of a batch one by one.

A branch or loop is batched by running its blocks on all examples at once. That is right only if a block may also be run
on examples that do not get there: it must end, and raise nothing. Blocks that might are run in a loop over
the examples instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.control.blocks import block_of
from wengert.ir.build import var_like
from wengert.ir.infer import Found
from wengert.ir.node import Type, Var
from wengert.ops.index import ARRAY, index
from wengert.ops.op import TABLE, Op, call
from wengert.ops.shape import as_integer, astype
from wengert.running import running


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
