"""Pieces of syntax: the nodes that lowered functions are built of.

`at` gives a node the place of another, so that tracebacks point at the user's lines; children without a place get that
of their parents in the end.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any

OURS = "_wengert_"
"""How names begin that are not the user's: of hooks, flags, and what suites become."""


def at(new: Any, where: ast.AST) -> Any:
    return ast.copy_location(new, where)


def copied(tree: Any) -> Any:
    """A copy of a piece of syntax: of its nodes and lists. What else is in it (names, numbers, marks) nobody changes.

    >>> ast.unparse(copied(ast.parse("y = [x, 2]")))
    'y = [x, 2]'
    """
    if isinstance(tree, ast.AST):
        if not tree._fields and not tree._attributes:
            return tree
        new = tree.__class__.__new__(tree.__class__)
        new.__dict__.update([(field, copied(part)) for field, part in tree.__dict__.items()])
        return new
    return [copied(part) for part in tree] if tree.__class__ is list else tree


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def attempt_of(number: int) -> ast.Name:
    """The variable that holds an execution of a `try`, which bears that number."""
    return load(f"{OURS}trying_{number}")


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def strings(names: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def hook(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(load(name), list(args), [])


def statement(value: ast.expr, where: ast.AST) -> ast.stmt:
    return at(ast.Expr(at(value, where)), where)


def arguments(*names: str) -> ast.arguments:
    parameters = [ast.arg(name) for name in names]
    return ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])


def thunk(value: ast.expr) -> ast.Lambda:
    return at(ast.Lambda(arguments(), value), value)


_EMPTY_FUNCTION = ast.parse("def f(): pass").body[0]
"""Has all fields that this version of Python wants."""


def function(name: str, parameters: Iterable[str], body: list[ast.stmt], where: ast.AST) -> ast.FunctionDef:
    function: Any = at(copy.copy(_EMPTY_FUNCTION), where)
    function.name, function.args, function.body = name, arguments(*parameters), body
    return function


def targets_in(target: ast.expr) -> list[ast.expr]:
    """What a target of an assignment assigns to, from left to right."""
    if isinstance(target, ast.Starred):
        return targets_in(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for item in target.elts for part in targets_in(item)]
    return [target]


def with_names(target: ast.expr, names: list[str], prefix: str) -> ast.expr:
    """A target of the same structure that assigns to names of ours, which are added to `names`."""
    if isinstance(target, ast.Starred):
        return ast.Starred(with_names(target.value, names, prefix), ast.Store())
    if isinstance(target, (ast.Tuple, ast.List)):
        return type(target)([with_names(item, names, prefix) for item in target.elts], ast.Store())
    names.append(f"{prefix}{len(names)}")
    return ast.Name(names[-1], ast.Store())
