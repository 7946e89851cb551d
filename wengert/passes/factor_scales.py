"""Products of a matrix with a multiple of a vector, where there is one with the vector itself.

The gradient of `c(x @ A @ x)` has `x @ A`, from the function, and `A @ (s * x)`, with a number s that is known only
when the function is. That is `s * (A @ x)`, whose product is either there already or goes through A together with the
other (`strip_mine.py`).
"""

from __future__ import annotations

from wengert.ir.analysis.uses import makers_of
from wengert.ir.node import Block, Node, Operand, Type, Var
from wengert.ops.op import TABLE
from wengert.passes.rewrite import rebuilt, with_blocks


def factor_scales(block: Block) -> Block:
    """A block, and those inside, in which numbers stand before such products."""
    makers = makers_of(block.nodes)
    products = {found for node in block.nodes if (found := _factors(node, makers)) is not None}
    nodes: list[Node] = []
    for node in block.nodes:
        node = with_blocks(node, factor_scales)
        factors = _factors(node, makers)
        multiple = _multiple(makers.get(factors[1])) if factors is not None else None  # type: ignore[arg-type]
        if factors is None or multiple is None or (factors[0], multiple[1]) not in products:
            nodes.append(node)
            continue
        s, v = multiple
        args = [v if a is factors[1] else a for a in node.args]
        whole = Var(Type(node.outs[0].type.shape, node.outs[0].type.dtype))
        nodes.append(Node(node.op, tuple(args), node.params, (whole,), (), node.source))
        nodes.append(Node(TABLE["multiply"], (s, whole), {}, node.outs, (), node.source))
    return rebuilt(block, block.params, nodes, block.results)


def _factors(node: Node, makers: dict[Var, Node]) -> tuple[Operand, Operand] | None:
    """The matrix, however it is turned, and the vector of a product."""
    if node.op.name != "matmul":
        return None
    ranks = [a.type.ndim for a in node.args]
    if sorted(ranks) != [1, 2] or len({a.type.dtype for a in (*node.args, *node.outs)}) != 1:
        return None
    matrix, vector = node.args if ranks[0] == 2 else node.args[::-1]
    maker = makers.get(matrix) if isinstance(matrix, Var) else None
    while maker is not None and maker.op.name == "transpose":
        matrix = maker.args[0]
        maker = makers.get(matrix) if isinstance(matrix, Var) else None
    return (matrix, vector) if node.outs[0].type.dtype.kind == "f" else None


def _multiple(node: Node | None) -> tuple[Operand, Operand] | None:
    """The number and the vector that a node multiplies."""
    if node is None or node.op.name != "multiply":
        return None
    a, b = node.args
    if a.type.ndim > b.type.ndim:
        a, b = b, a
    same = a.type.dtype == b.type.dtype == node.outs[0].type.dtype
    return (a, b) if a.type.ndim == 0 and b.type.ndim == 1 and same else None
