"""Numbers that the counters of loops decide: if such a loop is unrolled, they are known.

    for i in range(6):
        for j in range(i):                how often this is done, and whether
            if (i + j) % 2 == 0:          something is appended, is known of each i and j
                pairs.append(x[i] - x[j])

The length of a list that grows so is no matter of data, but in a program with such loops it is computed. Jacobians and
patterns need to know it: a function that cannot be captured otherwise is captured once more, with loops of few
iterations unrolled where they decide lengths (`program.py`, `stage.py`).
"""

from __future__ import annotations

import math
from typing import Any

from wengert.capture.session import current
from wengert.ir.node import Const
from wengert.ir.numbers import innermost
from wengert.ir.symbol import Sym

_MOST = 1024
"""Loops of at most so many iterations together, one in the other, are unrolled for a length."""


def decided_by_few_iterations(x: Any, times: int = 1) -> bool:
    """Whether loops are to be unrolled so that it is known what a number is: their counters, and nothing else, decide
    it, and they have few iterations together, each of which does something so many `times`."""
    symbol, session = innermost(x), current.session
    counters: dict[int, int] = {}
    if symbol.__class__ is not Sym or session is None or not _decide(symbol, counters):
        return False
    is_it = bool(counters) and math.prod(counters.values()) * times <= _MOST
    session.could_unroll = session.could_unroll or is_it
    return is_it and session.unrolls


def note_counter(k: Any, last: int | None) -> None:
    """Remember that a symbol is the counter of a loop, and which is the last of its iterations at most, if known."""
    if current.session is not None and last is not None:
        current.session.counters[k._node] = last + 1


def _decide(symbol: Sym, counters: dict[int, int]) -> bool:
    capture: Any = symbol._owner
    made = {id(out): node for node in capture.nodes for out in node.outs}
    places = {id(p): k for k, p in enumerate(capture.params)}
    todo: list[Any] = [symbol._node]
    seen: set[int] = set()
    while todo:
        var = todo.pop()
        if id(var) in seen or var.__class__ is Const:
            continue
        seen.add(id(var))
        if (node := made.get(id(var))) is not None:
            if node.op.effect:
                return False
            todo += (*node.args, *node.sizes)
        elif (k := places.get(id(var))) is None:
            return False
        elif (outside := capture.captured[k]) is not None:
            outer = innermost(outside)
            if outer.__class__ is not Sym or not _decide(outer, counters):
                return False
        elif (n := current.session.counters.get(var)) is None:  # type: ignore[union-attr]
            return False
        else:
            counters[id(var)] = n
    return True
