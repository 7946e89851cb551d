"""What all passes need: nodes and blocks with something replaced, and copies of blocks in another place.

No pass changes a block it is given. What a pass leaves as it is it shares, down to the block itself: a pass that has
found nothing to do returns its argument, which is how the pipeline knows that it is done.

A value is replaced only by one of the same type, or of one that says more about its lengths: nothing that uses it has
to change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ir.check import type_of_value
from wengert.ir.node import Block, Const, Dyn, Node, Operand, Type, Var

Environment = dict[Var, Operand]
"""What stands for values from now on."""


def const(value: Any) -> Const:
    """A constant operand."""
    if isinstance(value, np.ndarray):
        if not value.shape:
            value = value[()]
        elif value.flags.writeable:
            value = value.copy()
            value.flags.writeable = False
    return Const(value, type_of_value(value))


def fits(new: Type, old: Type) -> bool:
    """Whether a value of one type may stand for a value of another: it is the same, or says more about lengths.

    >>> f64 = np.dtype(float)
    >>> fits(Type((3,), f64), Type((Dyn(5),), f64)), fits(Type((Dyn(5),), f64), Type((3,), f64))
    (True, False)
    """
    if new == old:
        return True
    if (new.dtype, new.weak, new.ndim) != (old.dtype, old.weak, old.ndim):
        return False
    return all(_says_more(n, m) for n, m in zip(new.shape, old.shape, strict=True))


def _says_more(n: int | Dyn, m: int | Dyn) -> bool:
    if isinstance(m, int):
        return n == m
    bound = n if isinstance(n, int) else n.bound
    return m.bound is None or (bound is not None and bound <= m.bound)


def replaced(operand: Operand, env: Environment) -> Operand:
    """What stands for an operand."""
    return env.get(operand, operand) if isinstance(operand, Var) else operand


def all_replaced(operands: Sequence[Operand], env: Environment) -> tuple[Operand, ...]:
    return tuple([env.get(a, a) if a.__class__ is Var else a for a in operands])


def same(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    """Whether two sequences have the very same elements."""
    return len(xs) == len(ys) and all(map(operator.is_, xs, ys))


def substituted(node: Node, env: Environment) -> Node:
    """A node with its operands replaced."""
    if not env:
        return node
    args, sizes = all_replaced(node.args, env), all_replaced(node.sizes, env)
    if same(args, node.args) and same(sizes, node.sizes):
        return node
    return Node(node.op, args, node.params, node.outs, sizes, node.source)


def with_blocks(node: Node, function: Callable[[Block], Block]) -> Node:
    """A node with its blocks replaced."""
    if not node.blocks:
        return node
    return with_params(node, {key: function(p) for key, p in node.params.items() if p.__class__ is Block})


def with_params(node: Node, changed: dict[str, Any]) -> Node:
    """A node with some of its parameters replaced."""
    if all(node.params[key] is p for key, p in changed.items()):
        return node
    return Node(node.op, node.args, {**node.params, **changed}, node.outs, node.sizes, node.source)


def rebuilt(block: Block, params: list[Var], nodes: list[Node], results: Sequence[Operand]) -> Block:
    """A block with these parts; the same one if they are its own."""
    if same(params, block.params) and same(nodes, block.nodes) and same(results, block.results):
        return block
    return Block(params, nodes, list(results))


def with_env(block: Block, env: Environment) -> Block:
    """A block with some of its values replaced everywhere."""
    nodes = [substituted(node, env) for node in block.nodes]
    return rebuilt(block, block.params, nodes, all_replaced(block.results, env))


def renamed(node: Node, env: Environment) -> Node:
    """A copy of a node with results of its own. `env`, which says what stands for its operands, learns them."""
    outs = tuple([Var(out.type, out.hint) for out in node.outs])
    copy = Node(
        node.op, all_replaced(node.args, env), node.params, outs, all_replaced(node.sizes, env), node.source
    )  # fmt: skip
    env.update(zip(node.outs, outs, strict=True))
    return copy


def inlined(block: Block, args: Sequence[Operand]) -> tuple[list[Node], list[Operand]]:
    """The nodes of a block for these arguments, to stand in another block, and its results there.

    All values get copies: the block may stand in several places.
    """
    env: Environment = dict(zip(block.params, args, strict=True))
    nodes = [renamed(node, env) for node in block.nodes]
    return nodes, [replaced(r, env) for r in block.results]


def has_effects(node: Node) -> bool:
    """Whether a node does more than compute its results, or a block in it does."""
    return node.op.effect or any(map(_has_effects, node.blocks))


def _has_effects(block: Block) -> bool:
    found = block.derived.get("effects")
    if found is None:
        found = block.derived["effects"] = any(map(has_effects, block.nodes))
    return found
