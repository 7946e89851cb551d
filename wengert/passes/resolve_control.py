"""Identities of ops that hold code: calls, branches and iterations that are known to run, or not to.

What is put in place of such an op are copies of the nodes of its block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from wengert.ir.analysis.keys import operand_key
from wengert.ir.node import Block, Const, Node, Operand, Type, Var
from wengert.passes.rewrite import Environment, const, fits, inlined, with_env
from wengert.passes.scope import Rewritten, Scope


def _in_place(block: Block, args: tuple[Operand, ...], outs: Sequence[Var], scope: Scope) -> list[Operand] | None:
    """The results of a block whose nodes are put here; `None`, and nothing is put, if types would not fit.

    `outs` are what the first results stand for.
    """
    if not all(fits(a.type, p.type) for p, a in zip(block.params, args, strict=True)):
        return None
    if not all(fits(_bound(r, block, args).type, out.type) for r, out in zip(block.results, outs, strict=False)):
        return None
    nodes, results = inlined(block, args)
    for inner in nodes:
        scope.add(inner)
    return results


def _call(node: Node, scope: Scope) -> Rewritten:
    results = _in_place(node.params["body"], node.args, node.outs, scope)
    return None if results is None else tuple(results)


def _cond(node: Node, scope: Scope) -> Rewritten:
    pred, args = node.args[0], node.args[1:]
    then, orelse = node.params["then"], node.params["orelse"]
    if isinstance(pred, Const):
        results = _in_place(then if pred.value else orelse, args, node.outs, scope)
        return None if results is None else tuple(results)
    # Results that are the same in both branches need no branch. The node stays for the others.
    for out, a, b in zip(node.outs, then.results, orelse.results, strict=True):
        x, y = _from_outside(a, then, args), _from_outside(b, orelse, args)
        if x is not None and y is not None and fits(x.type, out.type) and operand_key(x) == operand_key(y):
            scope.env[out] = x
    return _known_inside(node) or _constants_inside(node, 1)


def _known_inside(node: Node) -> Rewritten:
    """A branch that is taken knows what the condition was, if it is also given the condition."""
    pred, args = node.args[0], node.args[1:]
    places = [i for i, a in enumerate(args) if a is pred]
    if not places:
        return None
    params = dict(node.params)
    for key, truth in (("then", True), ("orelse", False)):
        answer = const(truth if pred.type.weak else np.bool_(truth))
        block = node.params[key]
        params[key] = with_env(block, {block.params[i]: answer for i in places})
    if all(params[key] is p for key, p in node.params.items()):
        return None
    return Node(node.op, node.args, params, node.outs, node.sizes, node.source)


def _bound(result: Operand, block: Block, args: tuple[Operand, ...]) -> Operand:
    """A result as it will be: a parameter is what it is bound to."""
    found = _from_outside(result, block, args)
    return result if found is None else found


def _starts_fit(node: Node, inits: Sequence[Operand]) -> bool:
    """Whether carried values may stand for the results they would be if no iteration is run."""
    return all(fits(x.type, out.type) for x, out in zip(inits, node.outs, strict=False))


def _from_outside(result: Operand, block: Block, args: tuple[Operand, ...]) -> Operand | None:
    if isinstance(result, Const):
        return result
    return args[block.params.index(result)] if result in block.params else None


def _loop(node: Node, scope: Scope) -> Rewritten:
    count, *args = node.args
    body, carried = node.params["body"], node.params["carried"]
    if isinstance(count, Const) and count.value <= 0 and _starts_fit(node, args[:carried]):
        types = [Type((0, *r.type.shape), r.type.dtype) for r in body.results[carried:]]
        if all(t == out.type and t.is_static for t, out in zip(types, node.outs[carried:], strict=True)):
            return (*args[:carried], *[const(np.zeros(t.shape, t.dtype)) for t in types])
    if isinstance(count, Const) and count.value == 1:
        types = [Type((1, *r.type.shape), r.type.dtype) for r in body.results[carried:]]
        if all(t == out.type and t.is_static for t, out in zip(types, node.outs[carried:], strict=True)):
            results = _in_place(body, (const(0), *args), node.outs[:carried], scope)
            if results is not None:
                return (
                    *results[:carried],
                    *[
                        scope.new("reshape", (r,), {"shape": t.shape}, t, node.source)
                        for r, t in zip(results[carried:], types, strict=True)
                    ],
                )
    return _constants_inside(node, 1, carried)


def _while(node: Node, scope: Scope) -> Rewritten:
    test, carried = node.params["test"], node.params["carried"]
    (answer,) = test.results
    if (
        isinstance(answer, Const)
        and not answer.value
        and len(node.outs) == carried + 1
        and _starts_fit(node, node.args[:carried])
    ):
        return (*node.args[:carried], const(0))
    return _constants_inside(node, 0, carried)


def _constants_inside(node: Node, before: int, carried: int = 0) -> Rewritten:
    """A parameter that is bound to a constant is that constant; who uses it inside may be folded then."""
    params = dict(node.params)
    for key, block in node.params.items():
        if block.__class__ is Block:
            own = block.params[len(block.params) - (len(node.args) - before) :]  # without what counts the iterations
            env: Environment = {
                p: a
                for p, a in list(zip(own, node.args[before:], strict=True))[carried:]
                if isinstance(a, Const) and a.type == p.type
            }
            params[key] = with_env(block, env) if env else block
    if all(params[key] is p for key, p in node.params.items()):
        return None
    return Node(node.op, node.args, params, node.outs, node.sizes, node.source)


def _require(node: Node, scope: Scope) -> Rewritten:
    """A condition that is met needs no test."""
    ok = node.args[0]
    return () if isinstance(ok, Const) and np.all(ok.value) and len(node.args) == 1 else None


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {
    "call": _call,
    "cond": _cond,
    "loop": _loop,
    "while": _while,
    "require": _require,
}
"""By op, the rule that may concern it."""
