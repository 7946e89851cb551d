"""Several parts of one array are taken together, where that is all that is used of it.

`y[a]`, `y[b]` and `y[c]` are parts of `y[rows]` with `rows = [*a, *b, *c]`. If these are fewer rows than y has, and
nothing else uses y, then `y[rows]` can be computed without the others (`push_selections.py`).
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from wengert.ir.analysis.raising import may_raise
from wengert.ir.analysis.regions import region_of
from wengert.ir.node import Block, Node, Operand, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE
from wengert.passes.push_selections import is_much_less, part_by_rows
from wengert.passes.rewrite import rebuilt, with_blocks


class _Parts(NamedTuple):
    """Nodes that take parts of an array, by their numbers in the block, and what has to be known before the first."""

    axis: int
    users: list[int]
    before: list[int]


def merge_selections(block: Block) -> Block:
    """A block, and those inside, in which parts of an array that is used in no other way are taken together."""
    nodes = [with_blocks(node, merge_selections) for node in block.nodes]
    seen: set[Var] = set()
    while True:
        found = _first(nodes, block, seen)
        if found is None:
            break
        nodes = _joined(nodes, *found)
    return rebuilt(block, block.params, nodes, block.results)


def _first(nodes: list[Node], block: Block, seen: set[Var]) -> tuple[Var, _Parts] | None:
    candidates = [node.args[0] for node in nodes if node.op.name == "index" and ARRAY in node.params["pattern"]]
    if len(candidates) < 2:
        return None
    makers = {v: k for k, node in enumerate(nodes) for v in node.outs}
    users: dict[Operand, list[int]] = {}
    for k, node in enumerate(nodes):
        for a in dict.fromkeys((*node.args, *node.sizes)):
            users.setdefault(a, []).append(k)
    results = set(block.results)
    for x in dict.fromkeys(candidates):
        if isinstance(x, Var) and x not in seen and x in makers and x not in results and len(users[x]) > 1:
            seen.add(x)
            parts = _parts(x, nodes, makers, users[x])
            if parts is not None:
                return x, parts
    return None


def _parts(x: Var, nodes: list[Node], makers: dict[Var, int], users: list[int]) -> _Parts | None:
    axes, length, dtypes = set(), 0, set()
    for k in users:
        axis = part_by_rows(nodes[k])
        if axis is None or nodes[k].args[0] is not x or nodes[k].args[1] is x:
            return None
        axes.add(axis)
        rows = nodes[k].args[1].type
        dtypes.add(rows.dtype)
        length += rows.shape[0]  # type: ignore[operator]
    if len(axes) != 1 or len(dtypes) != 1 or nodes[makers[x]].blocks:
        return None
    (axis,) = axes
    n: Any = x.type.shape[axis]
    if not is_much_less(length, n, nodes[makers[x]], lambda v: nodes[makers[v]] if v in makers else None):
        return None
    before: set[int] = set()
    left = [nodes[k].args[1] for k in users]
    while left:
        maker = makers.get(left.pop(), -1)  # type: ignore[arg-type]
        if maker > users[0] and maker not in before:
            if not _is_movable(nodes[maker]):
                return None
            before.add(maker)
            left += nodes[maker].args
    return _Parts(axis, users, sorted(before))


def _is_movable(node: Node) -> bool:
    if node.sizes or node.blocks:
        return False
    if node.op.name == "index":
        return len(node.args) == 1 and region_of(node).exists
    return (node.op.elementwise or (node.op.moves and node.op.view)) and not may_raise(node)


def _joined(nodes: list[Node], x: Var, parts: _Parts) -> list[Node]:
    axis, users, before = parts
    first = nodes[users[0]]
    rows = [nodes[k].args[1] for k in users]
    ends = list(accumulate([r.type.shape[0] for r in rows]))
    every = Var(Type((ends[-1],), rows[0].type.dtype))
    shape = list(x.type.shape)
    shape[axis] = ends[-1]
    together = Var(Type(tuple(shape), x.type.dtype))
    whole = (slice(None),) * axis
    new: list[Node] = []
    for k, node in enumerate(nodes):
        if k == users[0]:
            new += [nodes[j] for j in before]
            new.append(Node(TABLE["concatenate"], tuple(rows), {"axis": 0}, (every,), (), first.source))
            pattern = (*whole, ARRAY)
            new.append(Node(TABLE["index"], (x, every), {"pattern": pattern}, (together,), (), first.source))
        if k in users:
            end = ends[users.index(k)]
            start = end - node.args[1].type.shape[0]  # type: ignore[operator]
            pattern = (*whole, slice(start, end))
            new.append(Node(TABLE["index"], (together,), {"pattern": pattern}, node.outs, (), node.source))
        elif k not in before:
            new.append(node)
    return new
