"""Where a function's source is: from a code object to the node of the syntax tree it was compiled from.

A whole file is parsed once and its functions and lambdas are indexed by first line and name. Nothing is guessed: if the
source cannot be had, or does not fit the code object (the file was edited since), there is no node, and the function
runs as it is.
"""

from __future__ import annotations

import ast
import linecache
import threading
from dataclasses import dataclass
from types import CodeType
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Located:
    """A function's node, and the classes around it (they matter for the mangling of private names)."""

    node: FunctionNode
    classes: tuple[str, ...]


_index: dict[str, dict[tuple[str, int], list[Located]]] = {}
_lock = threading.Lock()


def locate(code: CodeType, module_globals: dict[str, Any]) -> Located | None:
    """The node that a code object was compiled from, or `None`."""
    lines = linecache.getlines(code.co_filename, module_globals)
    if not lines:
        return None
    with _lock:
        key = f"{code.co_filename}:{hash(tuple(lines))}"
        if key not in _index:
            try:
                _index[key] = _functions_of(ast.parse("".join(lines)))
            except (SyntaxError, ValueError):
                _index[key] = {}
        found = _index[key].get((code.co_name, code.co_firstlineno), [])
    found = [candidate for candidate in found if _arguments(candidate.node.args) == _arguments_of_code(code)]
    if len(found) > 1:
        found = _by_position(found, code)
    return found[0] if found else None


def _functions_of(tree: ast.Module) -> dict[tuple[str, int], list[Located]]:
    index: dict[tuple[str, int], list[Located]] = {}

    def walk(node: ast.AST, classes: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                walk(child, (*classes, child.name))
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *[d.lineno for d in child.decorator_list]])
                index.setdefault((child.name, first), []).append(Located(child, classes))
            elif isinstance(child, ast.Lambda):
                index.setdefault(("<lambda>", child.lineno), []).append(Located(child, classes))
            walk(child, classes)

    walk(tree, ())
    return index


def _arguments(args: ast.arguments) -> tuple[str, ...]:
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return (*names, *[a.arg for a in (args.vararg, args.kwarg) if a is not None])


def _arguments_of_code(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def _by_position(candidates: list[Located], code: CodeType) -> list[Located]:
    """Of several lambdas on one line, those whose body holds all the instructions; the smallest first."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    places = [p for p in places if p != (code.co_firstlineno, 0)]

    def holds(candidate: Located) -> bool:
        body = candidate.node.body if isinstance(candidate.node, ast.Lambda) else candidate.node
        start = (body.lineno, body.col_offset)
        end = (body.end_lineno, body.end_col_offset)
        return all(start <= place <= end for place in places)

    def size(candidate: Located) -> tuple[int, int]:
        node = candidate.node
        return ((node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset)

    return sorted([c for c in candidates if holds(c)], key=size)
