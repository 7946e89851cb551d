"""Functions that the reverse sweep runs again: `checkpoint(*args, *taken; name, function, body, keep)`.

Reverse mode keeps the operands of the op, and nothing of what happens inside; when the sweep comes to it, the function
is run once more, recorded, and pulled back. Memory is that of the longest such function instead of all of them, for one
more evaluation. Every other mode goes through the function, which stays one.

The function is Python code, from a list of values to a list of values; in a program that is captured it is a block,
`body`. A block that does more than compute (it draws random numbers) is not run again: its residuals are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.writing import plain, settled, zeros
from wengert.control.blocks import unwrapped
from wengert.control.call import call as call_block
from wengert.control.custom import PYTHON, staged
from wengert.control.lifting import joined, lifted, parts_of, types_of_body
from wengert.errors import UnsupportedFunctionError
from wengert.identical import fingerprint
from wengert.ir.interpret import run
from wengert.ir.node import Block, all_nodes
from wengert.modes.dual import push
from wengert.modes.mode import Mode
from wengert.modes.tape import ResultsOfOps, Tape, TapeTrace, record
from wengert.ops.derive import Control
from wengert.ops.op import Traced, call
from wengert.running import entered, running
from wengert.types import aval_of, dtype_of, is_inexact


def _impl(
    *args: Any, name: str, function: Callable, body: Block | None = None, taken: int = 0, keep: frozenset = frozenset()
) -> tuple:
    return tuple(function(args) if body is None else run(body, args))


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    body, function = params.get("body"), params["function"]
    if type(mode).split is Mode.split:  # patterns: nothing is kept for a reverse sweep
        return tuple(function(args) if body is None else run(body, args))
    given = parts_of(mode, args)
    if body is not None:
        block, outs = lifted(body, mode, given.boxed)
        results = call(checkpoint, *given.leading, *given.companions, **{**params, "body": block})
        return joined(mode, results[: len(outs)], results[len(outs) :], outs)
    count = len(args)

    def on_boxes(parts: Sequence[Any]) -> list[Any]:
        trace = mode.fresh()
        with entered(trace):
            boxes = list(joined(trace, parts[:count], parts[count:], given.boxed))
            ys = [settled(y) for y in function(boxes)]
            all_parts = [trace.split(y) if trace.owns(y) else trace.constant(y) for y in ys]
            return [p[0] for p in all_parts] + [q for p in all_parts for q in p[1:]]

    results = call(
        checkpoint, *given.leading, *given.companions, name=params["name"], function=on_boxes, keep=_kept(params)
    )
    outs = [True] * (len(results) // (1 + mode.companions))
    return joined(mode, results[: len(outs)], results[len(outs) :], outs)


def _record(trace: TapeTrace, args: tuple, params: dict) -> tuple:
    body = params.get("body")
    mine, values = unwrapped(trace, Tape, args)
    if body is None and running.state.capture is not None:
        operands, captured = _stage(tuple(values), params)
        if _does_more(captured["body"]):
            return _as_it_is(args, params)
        # What it reads outside is an operand: it may have been written to when the block runs again.
        values, params, body = list(operands), captured, captured["body"]
    elif body is not None and _does_more(body):
        return call_block.record(trace, args, {"body": body, "name": params["name"]})
    places = [k for k, m in enumerate(mine) if m]
    function = params["function"] if body is None else lambda xs: run(body, xs)
    results, ops = _first_run(function, values, params)
    active = [is_inexact(dtype_of(y)) for y in results]
    numbers = _numbers_of(results) if body is None else None

    def again(*chosen: Any) -> list[Any]:
        xs = list(values)
        for k, x in zip(places, chosen, strict=True):
            xs[k] = x
        ys = function(xs)
        if numbers is not None and _numbers_of(ys) != numbers:
            raise UnsupportedFunctionError(
                f"{params['name']}, which is checkpointed, gave other numbers when it was run again",
                remedy="give it copies of arrays that are written to later: wg.checkpoint(f)(x.copy())",
            )
        return [y for y, a in zip(ys, active, strict=True) if a]

    def pull(cts: Sequence[Any]) -> list[Any]:
        _, program = record(again, [values[k] for k in places], None if ops is None else ops.again())
        pulled = program.pull(list(cts), consume=True)
        return [zeros(*aval_of(values[k])) if ct is None else ct for k, ct in zip(places, pulled, strict=True)]

    def tangent(dots: Sequence[Any]) -> list[Any]:
        ys, y_dots = push(again, [values[k] for k in places], dots)
        return [zeros(*aval_of(y)) if d is None else d for y, d in zip(ys, y_dots, strict=True)]

    inputs = [args[k]._node for k in places]
    used = [y for y, a in zip(results, active, strict=True) if a]
    boxes = iter(trace.custom(inputs, used, pull, push=tangent, selects=True, kept=(values,)))
    return tuple([next(boxes) if a else y for y, a in zip(results, active, strict=True)])


def _numbers_of(ys: Sequence[Any]) -> int | None:
    """By which one sees whether these were the results before; `None` in a program, whose numbers are not known."""
    values = [plain(y) for y in ys]
    return None if any(isinstance(y, Traced) for y in values) else fingerprint(values)


def _kept(params: dict) -> frozenset[str]:
    return params.get("keep", frozenset())


def _first_run(function: Callable, values: Sequence[Any], params: dict) -> tuple[list[Any], ResultsOfOps | None]:
    """The results; and those of ops inside that are kept all the same, which then are results too."""
    keep = _kept(params)
    if not keep:
        return list(call(checkpoint, *values, **params)), None
    count = [0]

    def with_kept(xs: Sequence[Any]) -> list[Any]:
        ops = ResultsOfOps(keep)
        ys, _ = record(lambda *xs: function(xs), xs, ops)
        count[0] = len(ys)
        return [*ys, *ops.kept]

    found = call(checkpoint, *values, name=params["name"], function=with_kept)
    return list(found[: count[0]]), ResultsOfOps(keep, found[count[0] :])


def _does_more(body: Block) -> bool:
    """Whether a block does more than compute, so that it must not be run twice."""
    return any(not node.op.pure for node in all_nodes(body))


def _as_it_is(args: tuple, params: dict) -> tuple:
    """The function on boxes of reverse mode, which keeps what happens inside."""
    return tuple(params["function"](args))


def _stage(args: tuple, params: dict) -> tuple[tuple, dict]:
    return (args, params) if "body" in params else staged(args, params, params["name"], params["function"])


checkpoint = Control("checkpoint", _impl, lift=_lift, record=_record, types=types_of_body, stage=_stage)
PYTHON.add(checkpoint)


def read_only(x: Any) -> Any:
    """An array that must not be written to, for it will be needed once more."""
    if x.__class__ is not np.ndarray:
        return x
    view = x.view()
    view.flags.writeable = False
    return view
