"""Residuals that are cheaper to compute again than to keep.

A residual of a loop body is computed again in the backward loop if that takes only cheap operations on what is there
anyway: the counter, constants of the loop and elements of them, and other residuals, which are kept. So the indices of
a nest of loops, and the elements of arrays that no loop writes to, are never stored. An array that a loop further out
writes to has to be stored itself, in each of its iterations; that is done if it is not larger than all the elements
that are read of it (`is_worth_keeping`). Nor are elements of arrays that are written to,
where they are found in the finished array: a `reread` (`stable_reads.py`) is read there.

An array that has another length in each iteration would be kept with room for the longest, which may be as much as
there is in all iterations together: the rows of a sparse matrix, `v[p[i] : p[i + 1]] @ x[j[p[i] : p[i + 1]]]`. So parts
of arrays that are there are taken again, and what is computed from these element by element, at more cost than else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wengert.control.stable_reads import read_at_end, reread
from wengert.ir.node import Block, Const, Node, Var
from wengert.ops.traits import Cost

_MOST = 8
"""So many operations are cheaper than a store and a load."""
_MORE = 2
"""So many are cheaper in any case, however many there are that are done for another variable anyway."""
_MOST_OF_ARRAYS = 3
"""So many, if they are done for all elements of an array: they become part of the loop that uses the result."""
_MOST_OF_VARYING = 64
"""So many, if the array has another length in each iteration."""


def is_worth_keeping(x: Var, nodes: Sequence[Node], iterations: int | None) -> bool:
    """Whether to keep a whole array, invariant in a loop of so many iterations, rather than what it reads of it."""
    if not x.type.shape or not x.type.is_static or iterations is None:
        return False
    reads = sum(node.op.name == "index" and node.args[0] is x and not node.outs[0].type.shape for node in nodes)
    return 2 * math.prod([n for n in x.type.shape if isinstance(n, int)]) <= 3 * reads * iterations


def recomputed(
    variables: Sequence[Var], nodes: Sequence[Node], available: Sequence[Var], iterations: int | None = None
) -> tuple[Block, list[Var], list[Var]]:
    """A block that computes those of the variables that are cheap, from what is available and from the others.

    `iterations` is the largest number of iterations of the loop, if it is known. The parameters of the block are all
    that are available, and those others. Also returned: which variables it computes, and which others it takes.
    """
    made = {out: node for node in nodes for out in node.outs}
    position = {out: i for i, node in enumerate(nodes) for out in node.outs}
    given = set(available)
    readable = {x for x in available if x.stable or is_worth_keeping(x, nodes, iterations)}
    chosen: list[Var] = []
    taken: list[Var] = []
    needed: set[int] = set()
    for var in sorted(variables, key=lambda v: position.get(v, -1)):
        if var in given:
            continue
        used = _needed(var, made, given, readable, needed)
        if used is not None:
            chosen.append(var)
            needed |= used
        elif var.type.is_static and var.type.dtype.kind in "fc":
            given.add(var)
            taken.append(var)
    kept = [read_at_end(node) if node.op is reread else node for node in nodes if id(node) in needed]
    return Block([*available, *taken], kept, list(chosen)), chosen, taken


def _needed(var: Var, made: dict[Var, Node], given: set[Var], readable: set[Var], done: set[int]) -> set[int] | None:
    """The nodes that compute a variable from what is given, if they are cheap and few. `done` are done anyway."""
    nodes: set[int] = set()
    cost = extra = 0
    varies = not var.type.is_static
    most = _MOST_OF_VARYING if varies else _MOST_OF_ARRAYS if var.type.shape else _MOST
    stack: list[Any] = [var]
    while stack:
        x = stack.pop()
        if x.__class__ is Const or x in given:
            continue
        node = made.get(x)
        if node is None or not _is_cheap(node, given, readable, varies):
            return None
        if id(node) not in nodes:
            nodes.add(id(node))
            cost += max(node.op.cost, 1)
            extra += 0 if id(node) in done else max(node.op.cost, 1)
            if cost > most and extra > _MORE:
                return None
            stack.extend((*(node.args[1:] if node.op is reread else node.args), *node.sizes))
    return nodes


def _is_cheap(node: Node, given: set[Var], readable: set[Var], varies: bool) -> bool:
    if node.op is reread:
        return True
    if len(node.outs) != 1 or not (varies or node.outs[0].type.is_static):
        return False
    name = node.op.name
    if name == "index":  # one element of an array that is there; for what varies in length, any part of it
        scalars = not node.outs[0].type.shape and all(not a.type.shape for a in node.args[1:])
        return varies or (scalars and node.args[0] in readable)
    if name == "size":
        return varies or node.args[0] in given
    return node.op.elementwise and node.op.cost <= (Cost.DEAR if varies else Cost.MODERATE)
