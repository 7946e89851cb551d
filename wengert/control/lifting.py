"""Ops that hold code, lifted over the protocol of modes (`modes/mode.py`), for all modes at once.

`lifted` runs a block on boxes of a mode, in a capture; what the mode does to the symbols is the new block. Its
parameters are the leading values of all parameters, then the companions of those that are boxes; its results in the
same way. The ops (`loop.py`, `while_.py`, `cond.py`, `call.py`) put it where the block was.

A carried value of a loop is a box if it starts as one, or if the body makes it one: the smallest such set is found by
lifting the body again until it does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wengert.box.writing import settled
from wengert.control.derived import derived
from wengert.ir.build import Capture, capturing
from wengert.ir.infer import Found, found
from wengert.ir.interpret import run
from wengert.ir.node import Block, Type, Var
from wengert.ir.symbol import type_of
from wengert.modes.dual import check_not_inner
from wengert.modes.mode import Mode
from wengert.running import entered
from wengert.types import Aval


class Parts(NamedTuple):
    """Operands, taken apart: which are boxes of the mode, all leading values, and the companions of the boxes."""

    boxed: list[bool]
    leading: list[Any]
    companions: list[Any]


def types_of_body(args: Sequence[Any], params: dict) -> list[Found]:
    """The results of an op are those of its block."""
    return [found(r.type) for r in params["body"].results]


def parts_of(mode: Mode, args: Sequence[Any], boxed: Sequence[bool] | None = None) -> Parts:
    """Take operands apart. Those that `boxed` names are made boxes if they are none."""
    own = [mode.owns(a) for a in args]
    boxed = own if boxed is None else list(boxed)
    leading, companions = [], []
    for a, o, b in zip(args, own, boxed, strict=True):
        if b:
            first, *rest = mode.split(a) if o else mode.constant(a)
            leading.append(first)
            companions.extend(rest)
        else:
            leading.append(a)
    return Parts(boxed, leading, companions)


def joined(mode: Mode, leading: Sequence[Any], companions: Sequence[Any], boxed: Sequence[bool]) -> tuple:
    """Results put together again."""
    rest, n = iter(companions), mode.companions
    return tuple([mode.join([y, *[next(rest) for _ in range(n)]]) if b else y
                  for y, b in zip(leading, boxed, strict=True)])  # fmt: skip


def lifted(
    block: Block, mode: Mode, boxed: Sequence[bool], wanted: Sequence[bool] | None = None, decides: bool = False
) -> tuple[Block, list[bool]]:
    """A block on boxes of a mode, for parameters that are boxes or not, and which of its results are boxes.

    Results that are `wanted` as boxes are made boxes in any case; those of a block that `decides` whether a loop goes
    on are none, if the mode has it so.
    """
    if wanted is not None:
        found = lifted(block, mode, boxed)
        if all(o or not w for o, w in zip(found[1], wanted, strict=True)):
            return found
    key = ("lifted", mode.key, tuple(boxed), None if wanted is None else tuple(wanted), decides)
    return derived(block, key, lambda: _lifted(block, mode, boxed, wanted, decides))


def _lifted(
    block: Block, mode: Mode, boxed: Sequence[bool], wanted: Sequence[bool] | None, decides: bool
) -> tuple[Block, list[bool]]:
    capture = Capture()
    with capturing(capture):
        trace = mode.fresh()
        leading = [capture.formal_like(_leading(mode, p) if b else p) for p, b in zip(block.params, boxed, strict=True)]
        xs: list[Any] = []
        for p, x, b in zip(block.params, leading, boxed, strict=True):
            if b:
                kept = x._node.type.shape == p.type.shape  # then lengths that are not known yet are the same ones
                avals = mode.avals(Aval(x.shape if kept else p.type.shape, p.type.dtype))[1:]  # type: ignore[arg-type]
                hint = p.hint and f"{p.hint}_dot"
                rest = [
                    capture.formal_like(Var(type_of(*a), hint, None, p.stable), a.shape if kept else None)
                    for a in avals
                ]
                x = trace.join([x, *rest])
            xs.append(x)
        ys = _run(trace, block, xs)
        if decides:
            ys = [trace.decided_always(y) if trace.owns(y) else y for y in ys]
        own = [trace.owns(y) for y in ys]
        outs = own if wanted is None else [o or w for o, w in zip(own, wanted, strict=True)]
        found = parts_of(trace, ys, outs)
        return capture.block([*found.leading, *found.companions]), outs


def _leading(mode: Mode, p: Var) -> Var:
    """A variable for the leading value of a box of which a variable is one example."""
    aval = mode.avals(Aval(p.type.shape, p.type.dtype))[0]  # type: ignore[arg-type]
    if aval.shape == p.type.shape and aval.dtype == p.type.dtype:
        return p
    return Var(Type(aval.shape, aval.dtype), p.hint, None, p.stable)


def _run(trace: Any, block: Block, xs: Sequence[Any]) -> list[Any]:
    """The results of a block on boxes, while their transformation runs."""
    with entered(trace):
        ys = [settled(y) for y in run(block, xs)]
        for y in ys:
            if not trace.owns(y):
                check_not_inner(y, trace.tag)
        return ys


class Body(NamedTuple):
    """The body of a loop, lifted: again a body, with as many carried values and constants more as there are companions.

    `boxed` says which carried values are boxes, `results` which results of the body.
    """

    block: Block
    boxed: list[bool]
    results: list[bool]


def lifted_body(mode: Mode, body: Block, before: int, carried: int, boxed: Sequence[bool]) -> Body:
    """Lift the body of a loop, of which `before` parameters stand in front of the carried ones."""
    state, consts = list(boxed[:carried]), list(boxed[carried:])
    while True:
        wanted = [*state, *[False] * (len(body.results) - carried)]
        block, outs = lifted(body, mode, [*[False] * before, *state, *consts], wanted)
        if outs[:carried] == state:
            break
        state = outs[:carried]
    params = arranged(block.params, before + carried, len(body.params), mode.companions * sum(state))
    results = arranged(block.results, carried, len(body.results), mode.companions * sum(state))
    return Body(Block(params, block.nodes, results), state, outs)


def arranged(items: Sequence[Any], first: int, leading: int, companions: int) -> list[Any]:
    """Leading values and then companions, arranged so that the first so many are followed by their companions."""
    middle = leading + companions
    return [*items[:first], *items[leading:middle], *items[first:leading], *items[middle:]]


def lifted_test(mode: Mode, test: Block, carried: int, state: Sequence[bool], consts: Sequence[bool]) -> tuple:
    """The test of a loop, lifted, with the parameters of its lifted body; and whether its result is a box."""
    block, (boxed,) = lifted(test, mode, [*state, *consts], decides=True)
    params = arranged(block.params, carried, len(test.params), mode.companions * sum(state))
    return Block(params, block.nodes, block.results), boxed


def loop_operands(mode: Mode, args: Sequence[Any], carried: int, state: Sequence[bool]) -> tuple[list[Any], int]:
    """The operands for a lifted loop, and how many of them are carried values."""
    first = parts_of(mode, args[:carried], state)
    rest = parts_of(mode, args[carried:])
    operands = [*first.leading, *first.companions, *rest.leading, *rest.companions]
    return operands, carried + len(first.companions)


def loop_results(mode: Mode, results: Sequence[Any], carried: int, body: Body) -> tuple[tuple, tuple]:
    """The carried values and the ys of a lifted loop, put together again."""
    n = carried + mode.companions * sum(body.boxed)
    final = joined(mode, results[:carried], results[carried:n], body.boxed)
    ys = body.results[carried:]
    rest, k = list(results[n + len(ys) :]), mode.companions
    stacked = []
    for y, b in zip(results[n : n + len(ys)], ys, strict=True):
        if b:
            parts, rest = [y, *rest[:k]], rest[k:]
            y = mode.join(mode.unstacked(parts))
        stacked.append(y)
    return final, tuple(stacked)
