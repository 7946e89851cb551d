"""Conditions that bind names, as statements of their own.

The condition of a staged loop is a block that only decides; what it binds belongs to the iteration. So

    while (e := f(x)) > 1:          while True:
        x = x - e                       if not (e := f(x)) > 1:
                                            break
                                        x = x - e

and so does what it calls, if that may bind variables of this function. What comes after `and` and `or` is evaluated
or not; where it binds a name, an `if` decides that:

    if a and (e := f(x)) > 1:       t = a
        …                           if t:
                                        t = (e := f(x)) > 1
                                    if t:
                                        …

This is done before jumps become flags (`flags.py`).
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from wengert.capture.names import own_nodes, rebound
from wengert.capture.syntax import OURS, assign, at, load


def with_conditions_apart(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function; the statements given may be changed."""
    apart = _Apart(bool(rebound(body)))
    return apart.suite(body) if apart.concerns(body) else body


class _Apart:
    """`by_others` says whether a function inside binds variables of this one."""

    def __init__(self, by_others: bool):
        self.by_others = by_others
        self.numbers = itertools.count(1)

    def concerns(self, body: list[ast.stmt]) -> bool:
        return self.by_others or any(isinstance(node, ast.NamedExpr) for node in own_nodes(body))

    def binds(self, node: ast.AST) -> bool:
        kinds = (ast.NamedExpr, ast.Call) if self.by_others else ast.NamedExpr
        return any(isinstance(inner, kinds) for inner in own_nodes([node]))

    def suite(self, statements: list[Any]) -> list[ast.stmt]:
        return [new for node in statements for new in self.statement(node)]

    def statement(self, node: Any) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [node]
        if isinstance(node, ast.While) and self.binds(node.test):
            leave: list[ast.stmt] = [at(ast.Break(), node.test)]
            if node.orelse:
                ended = self._name()
                before, leave = [at(assign(ended, ast.Constant(False)), node)], [_flagged(ended, node.test), *leave]
                after = [at(ast.If(load(ended), node.orelse, []), node.orelse[0])]
            node.body.insert(0, at(ast.If(ast.UnaryOp(ast.Not(), node.test), leave, []), node.test))
            node.test, node.orelse = at(ast.Constant(True), node.test), []
        elif isinstance(node, ast.If):
            before, node.test = self._decided(node.test)
        for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if getattr(owner, field, None):
                    setattr(owner, field, self.suite(getattr(owner, field)))
        return [*before, node, *self.suite(after)]

    def _name(self) -> str:
        return f"{OURS}condition_{next(self.numbers)}"

    def _decided(self, test: Any) -> tuple[list[ast.stmt], ast.expr]:
        """Statements that evaluate as much of a condition as must be, and what it then is."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            statements, test.operand = self._decided(test.operand)
            return statements, test
        if not (isinstance(test, ast.BoolOp) and any(self.binds(value) for value in test.values[1:])):
            return [], test
        name = self._name()
        statements, first = self._decided(test.values[0])
        statements.append(at(assign(name, first), first))
        rest = test.values[1] if len(test.values) == 2 else at(ast.BoolOp(test.op, test.values[1:]), test)
        inner, last = self._decided(rest)
        inner.append(at(assign(name, last), last))
        go_on: ast.expr = load(name) if isinstance(test.op, ast.And) else ast.UnaryOp(ast.Not(), load(name))
        return [*statements, at(ast.If(go_on, inner, []), test)], at(load(name), test)


def _flagged(name: str, where: ast.AST) -> ast.stmt:
    return at(assign(name, ast.Constant(True)), where)
