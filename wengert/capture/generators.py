"""Generators turned inside out: where data decide what is yielded, the loop around is called for each item.

A generator cannot be staged: Python keeps its state between two items, and decides in it. But a loop over a generator
is the code of the generator, with the suite of the loop in place of each `yield`. So a generator function becomes

    def halves(x):                  def halves(x):
        while x > 0.1:                  def native(x): …                        the generator as it was written
            yield x          ->         def pushed(x, emit):
            x = x * 0.5                     while x > 0.1:
                                                emit(x)
                                                x = x * 0.5
                                        def stopped(x, emit): …                 the same with `if emit(x): return`
                                        return generated(lambda: native(x), lambda emit: pushed(x, emit), …)

and whoever goes through what it returns (`generated.py`) chooses. The suites of `pushed` carry the variables of the
loop around, too: `extended(emit, …)` adds these to those of the suite. What uses the value of a `yield`, or has one
inside of `try` or `with`, stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from wengert.capture.lowered import GENERATED
from wengert.capture.names import own_nodes, scope_of
from wengert.capture.syntax import OURS, arguments, at, copied, function, hook, load, statement

EMIT = f"{OURS}emit"
_FROM = f"{OURS}from"
_HOLDING: Any = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)


def turned_inside_out(node: Any) -> bool:
    """Rewrite a generator function, if it is one that can be; whether it was."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith(OURS) or not _can_be_pushed(node):
        return False
    scope = scope_of(node)
    native: Any = function(f"{OURS}native", scope.parameters, copied(node.body), node)
    pushed: Any = function(f"{OURS}pushed", (*scope.parameters, EMIT), _pushed(copied(node.body), False), node)
    stopped: Any = function(f"{OURS}stopped", (*scope.parameters, EMIT), _pushed(copied(node.body), True), node)

    def called(f: Any, *more: str) -> ast.expr:
        parameters: list[ast.expr] = [load(name) for name in (*scope.parameters, *more)]
        return at(ast.Lambda(arguments(*more), ast.Call(load(f.name), parameters, [])), node)

    made = hook(GENERATED, called(native), called(pushed, EMIT), called(stopped, EMIT))
    docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    node.body = [*docstring, native, pushed, stopped, at(ast.Return(at(made, node)), node)]
    return True


def _can_be_pushed(node: ast.FunctionDef) -> bool:
    nodes = list(own_nodes(node.body))
    yields = [n for n in nodes if isinstance(n, (ast.Yield, ast.YieldFrom))]
    if not yields or any(isinstance(n, (ast.Nonlocal, ast.Global, ast.Await)) for n in nodes):
        return False
    inside = [n for holder in nodes if isinstance(holder, _HOLDING) for n in own_nodes([holder])]
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in inside):
        return False
    if any(isinstance(n, ast.Name) and n.id in ("locals", "eval", "exec", "vars", "dir") for n in nodes):
        return False
    alone = [n.value for n in nodes if isinstance(n, ast.Expr)]
    return all(any(y is value for value in alone) for y in yields)


def _pushed(body: list[Any], may_stop: bool) -> list[Any]:
    """Statements with calls in place of each `yield`."""
    out: list[Any] = []
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
            out.append(_emitted(node.value.value or at(ast.Constant(None), node), node, may_stop))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.YieldFrom):
            suite = [_emitted(load(_FROM), node, may_stop)]
            out.append(at(ast.For(ast.Name(_FROM, ast.Store()), node.value.value, suite, [], None), node))
        else:
            for suite in _suites(node):
                suite[:] = _pushed(suite, may_stop)
            out.append(node)
    return out


def _emitted(value: ast.expr, where: ast.AST, may_stop: bool) -> ast.stmt:
    call = at(ast.Call(load(EMIT), [value], []), where)
    return at(ast.If(call, [at(ast.Return(None), where)], []), where) if may_stop else statement(call, where)


def _suites(node: Any) -> Iterator[list[Any]]:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for owner in (node, *getattr(node, "cases", ())):
            for field in ("body", "orelse"):
                if isinstance(suite := getattr(owner, field, None), list):
                    yield suite


def may_be_used_again(loop: ast.For, loaded: Mapping[str, int]) -> bool:
    """Whether what a loop goes through may have another use: it has a name, and that is not read here only."""
    if isinstance(loop.iter, ast.Name):
        return loaded[loop.iter.id] != 1 or getattr(loop, "is_inside", False)
    return isinstance(loop.iter, (ast.Attribute, ast.Subscript))


def emits(nodes: list[Any]) -> bool:
    """Whether statements call what goes through the items."""
    return any(isinstance(n, ast.Name) and n.id == EMIT for n in own_nodes(nodes))
