"""What is the same in every iteration of a loop is computed once, before it.

Carried values that the body returns as they are become constants of the loop. Then nodes that depend on nothing but
constants of the loop move out of its body (and out of the test of a `while`).

A loop may run no iteration at all. So what can raise moves out only if the loop surely runs, and comes to it before any
effect; whatever else moves out at worst computes something nobody needs. Arrays that are made out of nothing stay,
since to have them in memory is what costs; they are made anew outside for whoever needs them there. Nothing moves out
of branches: they keep work from being done.
"""

from __future__ import annotations

from collections.abc import Sequence

from wengert.ir.analysis.raising import may_raise
from wengert.ir.loops import LOOPS, loop_parts
from wengert.ir.node import Block, Const, Node, Operand, Var
from wengert.passes.rewrite import Environment, fits, has_effects, rebuilt, renamed, replaced, substituted, with_blocks


def hoist(block: Block) -> Block:
    """A block whose loops do nothing twice."""
    env: Environment = {}
    nodes: list[Node] = []
    for node in block.nodes:
        node = with_blocks(substituted(node, env), hoist)
        if node.op.name in LOOPS:
            node = _without_constants(node, env)
            before, node = _lifted(node)
            nodes.extend(before)
        nodes.append(node)
    return rebuilt(block, block.params, nodes, [replaced(r, env) for r in block.results])


def _without_constants(node: Node, env: Environment) -> Node:
    """Carried values that stay as they are become constants; `env` learns what their last values are."""
    parts = loop_parts(node)
    first, carried, body, test = parts.first, parts.carried, parts.body, parts.test
    stays = [
        (r is p or (r in parts.inside and node.args[body.params.index(r)] is init)) and fits(init.type, out.type)
        for r, p, init, out in zip(body.results, parts.state, parts.starts, parts.finals, strict=False)
    ]
    if not any(stays):
        return node
    env.update({out: init for out, init, s in zip(parts.finals, parts.starts, stays, strict=True) if s})
    order = [i for i, s in enumerate(stays) if not s] + [i for i, s in enumerate(stays) if s]
    order += range(carried, len(node.args) - first)
    changes = [i for i, s in enumerate(stays) if not s]
    params = dict(node.params)
    params["carried"] = len(changes)
    params["body"] = Block(
        [*body.params[:first], *[body.params[first + i] for i in order]],
        body.nodes,
        [body.results[i] for i in changes] + body.results[carried:],
    )
    if test is not None:
        params["test"] = Block([test.params[i] for i in order], test.nodes, test.results)
    args = (*node.args[:first], *[node.args[first + i] for i in order])
    outs = tuple([node.outs[i] for i in changes]) + node.outs[carried:]
    return Node(node.op, args, params, outs, node.sizes, node.source)


def _lifted(node: Node) -> tuple[list[Node], Node]:
    """The nodes that stand before a loop from now on, and the loop."""
    parts = loop_parts(node)
    first, carried, body, test = parts.first, parts.carried, parts.body, parts.test
    runs = bool(first) and isinstance(node.args[0], Const) and node.args[0].value > 0
    before: list[Node] = []
    consts = parts.consts
    new_args: list[Operand] = []
    new_body, from_body = _emptied(body, parts.inside, consts, runs, before, new_args)
    params = dict(node.params)
    if test is None:
        params["body"] = _with_params(new_body, from_body)
    else:
        mark = len(new_args)
        new_test, from_test = _emptied(test, test.params[carried:], consts, False, before, new_args)
        # Both blocks have the same parameters, whether they use them or not.
        params["body"] = _with_params(new_body, [*from_body, *[Var(a.type) for a in new_args[mark:]]])
        params["test"] = _with_params(new_test, [*[Var(a.type) for a in new_args[:mark]], *from_test])
    if not before:
        return [], node
    return before, Node(node.op, (*node.args, *new_args), params, node.outs, node.sizes, node.source)


def _with_params(block: Block, more: Sequence[Var]) -> Block:
    return Block([*block.params, *more], block.nodes, block.results) if more else block


def _emptied(
    block: Block,
    consts: Sequence[Var],
    args: Sequence[Operand],
    runs: bool,
    before: list[Node],
    new_args: list[Operand],
) -> tuple[Block, list[Var]]:
    """A block without what is the same in every iteration, and the parameters that it needs instead.

    What moves out is added to `before`, the operands for the parameters to `new_args`.
    """
    outside: Environment = dict(zip(consts, args, strict=True))
    waiting: dict[Var, Node] = {}
    moved: list[Var] = []
    stay: list[Node] = []
    pure = True  # nothing that may have raised, or has effects, has been left behind

    def moves(node: Node) -> bool:
        if not all(isinstance(a, Const) or a in outside or a in waiting for a in (*node.args, *node.sizes)):
            return False
        return not has_effects(node) and (not may_raise(node) or (runs and pure))

    def bring(operand: Operand) -> None:
        """What stays inside but is needed outside as well is made there too."""
        if isinstance(operand, Var) and operand in waiting:
            maker = waiting.pop(operand)
            for a in (*maker.args, *maker.sizes):
                bring(a)
            before.append(renamed(maker, outside))

    for node in block.nodes:
        if node.op.expands and moves(node):
            waiting[node.outs[0]] = node
            stay.append(node)
        elif node.args and moves(node):
            for a in (*node.args, *node.sizes):
                bring(a)
            before.append(renamed(node, outside))
            moved.extend(node.outs)
        else:
            stay.append(node)
            pure = pure and not has_effects(node) and not may_raise(node)
    used = {a for node in stay for a in (*node.args, *node.sizes)} | set(block.results)
    params = [v for v in moved if v in used]
    new_args.extend([outside[v] for v in params])
    return rebuilt(block, block.params, stay, block.results), params
