"""Names that a condition of a comprehension binds, as a loop of their own:

    [y for u in x if (y := f(u)) > 0]      ->      [y for u in x for y in (f(u),) if y > 0]

Data may then decide what counts (`chosen.py`). That is right where the comprehension alone reads the name, and where
the condition binds it in any case.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container
from typing import Any

from wengert.capture.names import COMPREHENSIONS, own_nodes
from wengert.capture.syntax import at, load


def name_apart(body: list[Any], shared: Container[str]) -> None:
    """Rewrite the comprehensions in the statements of a function; `shared` are variables that are not its own."""
    inside = [node for statement in body for node in ast.walk(statement)]
    if not any(isinstance(node, ast.NamedExpr) for node in inside):
        return
    mentioned = Counter(node.id for node in inside if isinstance(node, ast.Name))
    found = [(node, _conditions_that_bind(node)) for node in inside if isinstance(node, COMPREHENSIONS)]
    here: Counter[str] = Counter()
    for node, tests in found:
        names = {named.target.id for named in tests.values()}
        here.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in names)
    own = {name for name in here if here[name] == mentioned[name] and name not in shared}
    for node, tests in found:
        _apart(node, {test: named for test, named in tests.items() if named.target.id in own})


def _conditions_that_bind(node: Any) -> dict[ast.expr, Any]:
    """The conditions of a comprehension that bind a name in any case; those that `and` joins are taken apart."""
    tests: dict[ast.expr, Any] = {}
    for generator in node.generators:
        generator.ifs = [part for test in generator.ifs for part in _parts(test)]
        for test in generator.ifs:
            bound = [n for n in own_nodes([test]) if isinstance(n, ast.NamedExpr)]
            if len(bound) == 1 and bound[0] in _evaluated(test):
                tests[test] = bound[0]
    names = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {test: named for test, named in tests.items() if names[named.target.id] == 1}


def _apart(node: Any, bind: dict[ast.expr, Any]) -> None:
    generators: list[Any] = []
    for generator in node.generators:
        generators.append(generator)
        tests, generator.ifs = generator.ifs, []
        for test in tests:
            if test in bind:
                named = bind[test]
                values = at(ast.Tuple([named.value], ast.Load()), test)
                target = at(ast.Name(named.target.id, ast.Store()), test)
                generators.append(ast.comprehension(target, values, [], 0))
                test = _Replaced(named).visit(test)
            generators[-1].ifs.append(test)
    node.generators = generators


def _parts(test: ast.expr) -> list[ast.expr]:
    """The conditions that `and` joins."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _parts(value)]
    return [test]


def _evaluated(test: Any) -> list[ast.AST]:
    """The parts of a condition that are evaluated in any case, and before which nothing happens."""
    found: list[ast.AST] = []
    while True:
        found.append(test)
        if isinstance(test, ast.Compare):
            test = test.comparators[0] if isinstance(test.left, (ast.Name, ast.Constant)) else test.left
        elif isinstance(test, ast.BinOp):
            test = test.right if isinstance(test.left, (ast.Name, ast.Constant)) else test.left
        elif isinstance(test, ast.BoolOp):
            test = test.values[0]
        elif isinstance(test, ast.UnaryOp):
            test = test.operand
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.args:
            test = test.args[0]
        elif isinstance(test, (ast.Attribute, ast.Subscript, ast.NamedExpr)):
            test = test.value
        else:
            return found


class _Replaced(ast.NodeTransformer):
    def __init__(self, named: Any):
        self.named = named

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        return at(load(node.target.id), node) if node is self.named else node
