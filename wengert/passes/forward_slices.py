"""Loops that read rows of the beginning of an array read them in the array itself.

What an inner loop saves for the reverse sweep has as many rows as the loop had iterations. It is kept in an array with
room for the largest number of iterations, and given to the backward loop as a part of that:

    y = x[0:n];  loop k < n: … y[n - 1 - k] …      becomes      loop k < n: … x[n - 1 - k] …

The rows must be known to be among the first n (`ir/analysis/ranges.py`). Then the lengths of all arrays are known.
"""

from __future__ import annotations

from wengert.ir.analysis.affine import Affine, least
from wengert.ir.analysis.ranges import NestBlock, bounds_around, nest
from wengert.ir.analysis.uses import makers_of
from wengert.ir.node import Block, Node, Operand, Ref, Var
from wengert.ops.index import ARRAY
from wengert.passes.rewrite import rebuilt, with_params


def forward_slices(block: Block) -> Block:
    """A block whose loops read rows in whole arrays."""
    outermost = NestBlock(block, None, 0, {})
    nest(outermost)
    return _rewritten(outermost)


def _rewritten(scope: NestBlock) -> Block:
    makers = makers_of(scope.block.nodes)
    nodes: list[Node] = []
    for i, node in enumerate(scope.block.nodes):
        inside = {which: s for (j, which), s in scope.inner.items() if j == i}
        blocks = {which: _rewritten(s) for which, s in inside.items()}
        node = with_params(node, blocks)
        if node.op.name == "loop":
            node = _of_whole_arrays(scope, inside["body"], node, makers)
        nodes.append(node)
    return rebuilt(scope.block, scope.block.params, nodes, scope.block.results)


def _of_whole_arrays(around: NestBlock, inner: NestBlock, node: Node, makers: dict[Var, Node]) -> Node:
    body, first = node.params["body"], 1 + node.params["carried"]
    args, params, nodes = list(node.args), list(body.params), list(body.nodes)
    for k in range(first, len(args)):
        x = args[k]
        maker = makers.get(x) if isinstance(x, Var) else None
        rows = None if maker is None else _first_rows(around, maker)
        if maker is None or rows is None or not _reads_only(inner, nodes, params[k], rows, body):
            continue
        old, args[k] = params[k], maker.args[0]
        new = params[k] = Var(maker.args[0].type, old.hint, None, old.stable)
        nodes = [
            Node(n.op, (new, *n.args[1:]), n.params, n.outs, n.sizes, n.source) if old in n.args else n for n in nodes
        ]
    if all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    changed = {**node.params, "body": Block(params, nodes, body.results)}
    return Node(node.op, tuple(args), changed, node.outs, node.sizes, node.source)


def _first_rows(scope: NestBlock, node: Node) -> Affine | None:
    """How many rows an index takes from the beginning of an array, if that is all it does."""
    if node.op.name != "index" or len(node.args) != 1 or len(node.sizes) != 1 or not node.args[0].type.is_static:
        return None
    first, *rest = node.params["pattern"]
    if first.__class__ is not slice or first.start not in (None, 0) or first.step not in (None, 1):
        return None
    if first.stop.__class__ is not Ref or any(item != slice(None) for item in rest):
        return None
    rows = scope.integer(node.sizes[0])
    smallest = None if rows is None else least(rows, bounds_around(scope))
    return rows if smallest is not None and smallest >= 0 else None


def _reads_only(scope: NestBlock, nodes: list[Node], array: Operand, rows: Affine, body: Block) -> bool:
    """Whether an array is only read, row by row, and only from so many rows."""
    bounds = bounds_around(scope)
    for node in nodes:
        if not any(a is array for a in (*node.args, *node.sizes)):
            continue
        if node.op.name != "index" or any(a is array for a in (*node.args[1:], *node.sizes)):
            return False
        if node.params["pattern"][0] is not ARRAY or node.args[1].type.shape:
            return False
        at = scope.integer(node.args[1])
        if at is None:
            return False
        lowest, room = least(at, bounds), least(rows - 1 - at, bounds)
        if lowest is None or lowest < 0 or room is None or room < 0:
            return False
    return all(r is not array for r in body.results)
