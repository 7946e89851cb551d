"""The source of functions of this package as syntax trees, and how to cut pieces out of it and change them."""

from __future__ import annotations

import ast
import sys
import textwrap
from functools import lru_cache
from types import ModuleType
from typing import Any

from wengert.ops.choice import Choice

PACKAGE = __name__.split(".")[0]


class NoSource(Exception):
    """Why something cannot be written out."""


@lru_cache(maxsize=64)
def _read(name: str) -> tuple[str, ast.Module]:
    with open(sys.modules[name].__file__ or "", encoding="utf-8") as file:
        text = file.read()
    return text, ast.parse(text)


def tree_of(module: ModuleType) -> ast.Module:
    if module.__name__.split(".")[0] != PACKAGE:
        raise NoSource(f"it needs something of {module.__name__}")
    return _read(module.__name__)[1]


@lru_cache(maxsize=512)
def code_of(impl: Any) -> tuple[ModuleType, ast.FunctionDef | ast.Lambda]:
    """The module and the syntax tree of a function or lambda."""
    module = sys.modules[impl.__module__]
    code = impl.__code__
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if node.lineno == code.co_firstlineno or any(d.lineno == code.co_firstlineno for d in node.decorator_list):
                return module, node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            lines = [position for position in code.co_positions() if position[2] is not None]
            columns = {(line, column) for line, _, column, _ in lines if line and line > 0}
            inside = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
            if all(inside[0] <= place < inside[1] for place in columns if place != (code.co_firstlineno, 0)):
                return module, node
    raise NoSource("its source is not there")


def assigned(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name
    }


def chosen_now(module: ModuleType, statement: ast.stmt) -> list[ast.stmt]:
    """A statement; of one that asks which subgradients are chosen now, what it comes to."""
    if isinstance(statement, ast.If):
        words = [n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)]
        if words and all(isinstance(getattr(module, w, None), Choice) for w in words):
            answer = eval(compile(ast.Expression(statement.test), "<test>", "eval"), vars(module))
            return statement.body if answer else statement.orelse
    return [statement]


def targets_of(node: ast.AST) -> set[str]:
    """The names that a statement of a module assigns to."""
    if isinstance(node, ast.Assign):
        return set().union(*[assigned(target) for target in node.targets])
    return assigned(node.target) if isinstance(node, ast.AnnAssign) else set()


def value_of(module: ModuleType, node: ast.AST, own: set[str]) -> Any:
    """The value of a dotted global name."""
    if isinstance(node, ast.Name):
        return None if node.id in own else getattr(module, node.id, None)
    if isinstance(node, ast.Attribute):
        owner = value_of(module, node.value, own)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


def edited(module: ModuleType, node: Any, edits: list[tuple[ast.AST, str]]) -> str:
    """The source of a node with some of its parts replaced; an annotation goes together with its sign."""
    text = _read(module.__name__)[0]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    raw = text.encode()

    def span(n: Any) -> tuple[int, int]:
        return starts[n.lineno - 1] + n.col_offset, starts[n.end_lineno - 1] + n.end_col_offset

    begin, end = span(node)
    begin_line = starts[node.lineno - 1]
    indent = raw[begin_line:begin]
    pieces = raw[begin:end]
    for part, new in sorted(edits, key=lambda edit: span(edit[0]), reverse=True):
        first, last = span(part)
        if not new:
            while raw[first - 1 : first] in (b" ", b":", b">", b"-"):
                first -= 1
            if raw[last : last + 2] == b" =" and raw[last + 2 : last + 3] == b" ":
                pass
        pieces = pieces[: first - begin] + new.encode() + pieces[last - begin :]
    whole = pieces.decode()
    if isinstance(node, ast.expr):
        return " ".join(line.strip() for line in whole.splitlines())
    return textwrap.dedent((indent.decode() if not indent.strip() else "") + whole)
