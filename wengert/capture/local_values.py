"""`locals()`, written out: a dict of the variables that have a value, whatever becomes of the function.

In a function that is instrumented a frame holds more than the user's variables, and in one that is lowered (`lower.py`)
variables live in several frames. So the call names them:

    locals()        {**local_values(("a", "b"), lambda: a, lambda: b)}        for the variables a and b

Variables without a value are left out, as in Python. Calls in comprehensions, other than in what these go through, and
in bodies of classes stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from wengert.capture.names import scope_of
from wengert.capture.rewrite import LOCALS
from wengert.capture.syntax import at, hook, load, strings, thunk
from wengert.capture.undefined import UNDEFINED, Perhaps
from wengert.errors import StagingError


def with_locals_written_out(node: Any, free: Iterable[str], module_globals: dict[str, Any]) -> Any:
    """A function, in place, in which calls of `locals` and of `vars` without arguments name the variables."""
    if "locals" in module_globals or not any(n.__class__ is ast.Name and n.id in _CALLED for n in ast.walk(node)):
        return node
    return _WrittenOut(frozenset(free)).visit(node)


_CALLED = ("locals", "vars")


class _WrittenOut(ast.NodeTransformer):
    def __init__(self, free: frozenset[str]) -> None:
        self.free = free
        self.around: frozenset[str] = frozenset()
        """The variables of the functions around the current one."""
        self.names: list[str] | None = None
        """Those that the current function has, or `None` where there is no function of its own."""

    def _function(self, node: Any) -> ast.AST:
        outside = self.names, self.around
        scope = scope_of(node)
        mentioned = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        from_outside = (self.around | self.free) & mentioned - scope.local - {"__class__"}
        rest = sorted(scope.local.difference(scope.parameters))
        names = [*scope.parameters, *rest, *sorted(from_outside)]
        self.names = None if "locals" in names or "vars" in names else names
        self.around = self.around | scope.local
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(statement) for statement in node.body]
        self.names, self.around = outside
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def _elsewhere(self, node: ast.AST) -> ast.AST:
        names, self.names = self.names, None
        self.generic_visit(node)
        self.names = names
        return node

    visit_ClassDef = _elsewhere

    def _comprehension(self, node: Any) -> ast.AST:
        node.generators[0].iter = self.visit(node.generators[0].iter)  # which belongs to the function around it
        return self._elsewhere(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.names is None or node.args or node.keywords or getattr(node.func, "id", None) not in _CALLED:
            return node
        thunks = [thunk(at(_whatever_it_is(name), node)) for name in self.names]
        return at(ast.Dict([None], [at(hook(LOCALS, strings(self.names), *thunks), node)]), node)


def _whatever_it_is(name: str) -> Any:
    """The variable, also if it has no value: for that it is not asked (`expressions.py`)."""
    node: Any = load(name)
    node.may_have_none = True
    return node


def local_values(names: tuple[str, ...], *values: Callable[[], Any]) -> dict[str, Any]:
    """The variables that have a value, by name."""
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        try:
            v = value()
        except NameError:
            continue
        if v.__class__ is Perhaps:
            raise StagingError(
                f"locals() where {name!r} has a value or not, which is known only when the compiled program runs",
                remedy="give it a value before the if or the loop, None for instance",
            )
        if v is not UNDEFINED:
            found[name] = v
    return found
