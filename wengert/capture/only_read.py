"""Which variables of a function are used only to read items: `q = p["of"]; return q["rate"] * other(p)`.

A question about syntax. What reads: an index, `get`, taking apart (`a, b = p`), passing on to a function, which is
asked in turn (`reading.py`), and an attribute, if what the variable holds turns out to be a named tuple.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from wengert.capture.names import FUNCTIONS, body_of, scope_of

_BINDING = ("name", "asname", "rest")
"""Fields of syntax that binds names without `ast.Name`: definitions, imports, handlers, patterns."""

Reads = dict[str, tuple[str, ...]]
"""Variables of which only items are read, with the attributes that are."""


def is_plain_call(node: ast.Call) -> bool:
    """Whether it is written which argument is which."""
    return not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg is not None for k in node.keywords)


def only_read(function: Any) -> Reads:
    """The parameters of which only items are read, and the local variables that are bound once, before anything is
    decided: those are never joined with others.

    >>> [f] = ast.parse("def f(p, q, r, s, t): return p['a'] + len(q) + (lambda: r[0] + s.x)() + sum(t + t)").body
    >>> only_read(f)
    {'p': (), 'q': (), 'r': (), 's': ('x',)}

    (What `len` does with `q` is seen where it is called.)
    """
    scope = scope_of(function)
    body = body_of(function)
    early = dict.fromkeys(_bound_early(body))
    names = {*scope.parameters, *early}.intersection(scope.local)
    others: set[str] = set()
    attributes: dict[str, list[str]] = {}
    pending: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while pending:
        node, is_inside = pending.pop()
        is_inside = is_inside or isinstance(node, (*FUNCTIONS, ast.ClassDef))
        inside: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name):
            if node.id in early and early[node.id] is None and isinstance(node.ctx, ast.Store) and not is_inside:
                early[node.id] = node
            elif early.get(node.id) is not node:
                others.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            others.update(node.names)
        elif any(isinstance(getattr(node, field, None), str) for field in _BINDING):
            others.update([getattr(node, field) for field in _BINDING if isinstance(getattr(node, field, None), str)])
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            inside = [node.slice]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            attributes.setdefault(node.value.id, []).append(node.attr)
            inside = []
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and unpacked_names(node) is not None:
            inside = list(node.targets)
        elif isinstance(node, ast.Call) and is_plain_call(node) and not is_inside:
            given = [*node.args, *[k.value for k in node.keywords]]
            inside = [] if _is_get(node.func) else [node.func]
            inside += [a for a in given if not isinstance(a, ast.Name)]
        pending += [(child, is_inside) for child in inside]
    return {name: tuple(attributes.get(name, ())) for name in sorted(names - others)}


def _bound_early(body: list[Any]) -> Iterator[str]:
    """The variables that statements of a function bind before one of them may leave it: whatever comes after such a
    statement is part of a branch."""
    for statement in body:
        if any(isinstance(node, (ast.Return, ast.Raise, ast.Assert)) for node in ast.walk(statement)):
            return
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            yield from [target.id] if isinstance(target, ast.Name) else unpacked_names(statement) or []


def unpacked_names(node: ast.Assign) -> list[str] | None:
    """The names in `a, b = value`; None for any other assignment."""
    [target, *others] = node.targets
    if others or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    names = [part.id for part in target.elts if isinstance(part, ast.Name)]
    return names if len(names) == len(target.elts) else None


def _is_get(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "get" and isinstance(function.value, ast.Name)
