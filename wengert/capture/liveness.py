"""Which variables a loop must hand from one iteration to the next: those that may be read before they are written.

An analysis of the body of a function without jumps (`flags.py`), backwards: a name is live where its value may still be
read. It errs on one side only: a name may be called live although it is not. Names that nested functions, classes or
generators take from around them are live everywhere, and in a `try` every write may be the last one that happened.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from wengert.capture.names import bound, captured, read

Live = frozenset[str]


def mark_live(body: list[ast.stmt]) -> None:
    """Give each loop and `if` the attribute `live`: the names that are live where an iteration, or the `if`, ends."""
    _before(body, frozenset(), frozenset(captured(body)))


def live_before(suite: Iterable[Any], after: Live) -> Live:
    """The names that are live before statements, given those live after them."""
    return _before(suite, after, frozenset())


def _before(suite: Iterable[Any], after: Live, always: Live) -> Live:
    """The names that are live before a suite, given those live after it and those live all the time."""
    live = after | always
    for node in reversed(list(suite)):
        live = _before_statement(node, live, always) | always
    return live


def _before_statement(node: Any, after: Live, always: Live) -> Live:
    if isinstance(node, ast.Return):
        return frozenset(read(node))
    if isinstance(node, ast.If):
        node.live = after  # type: ignore[attr-defined]
        return _before(node.body, after, always) | _before(node.orelse, after, always) | read(node.test)
    if isinstance(node, ast.For):
        go_on = getattr(node, "go_on", None)
        again = after | (read(go_on) if go_on is not None else set())
        first = ast.Assign([node.target], ast.Constant(None))
        node.live = again | _before([first, *node.body], again, always)  # type: ignore[attr-defined]
        _before([first, *node.body], node.live, always)  # type: ignore[attr-defined]  # for the loops inside
        return node.live | read(node.iter)  # type: ignore[attr-defined]
    if isinstance(node, ast.While):
        again = after | read(node.test)
        node.live = again | _before(node.body, again, always)  # type: ignore[attr-defined]
        _before(node.body, node.live, always)  # type: ignore[attr-defined]
        return node.live  # type: ignore[attr-defined]
    if isinstance(node, (ast.Try, ast.TryStar)):
        last = _before(node.finalbody, after, always)
        if node.finalbody:
            always = always | last
        caught = frozenset().union(*[_before(h.body, last, always) for h in node.handlers])
        caught = caught.union(*[read(h.type) for h in node.handlers if h.type is not None])
        regular = _before(node.orelse, last, always)
        return _before(node.body, regular, always | caught) | caught
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inside = _before(node.body, after, always | after)  # an exception may be swallowed
        return inside.union(*[read(item) for item in node.items])
    return (after - _written(node)) | read(node)


def _written(node: Any) -> set[str]:
    """The names that a simple statement is certain to bind."""
    if isinstance(node, ast.Assign):
        return set(bound(node.targets))
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return set(bound([node.target]))
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return set(bound([node]))
    return {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()
