"""Which parameters of a function are used only to read items: `def rate(p): return p["rate"] * other(p)`.

A container from outside that is passed to such a function need not be compared as a whole whenever the program is
called, only what was read of it. Passing it on to another function counts as reading if that one only reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from wengert.capture.expressions import is_plain_call
from wengert.capture.locate import FunctionNode, locate
from wengert.capture.lower import can_be_lowered
from wengert.capture.names import FUNCTIONS, body_of

_known: dict[CodeType, frozenset[str]] = {}


def containers_only_read(f: Any, passed: Sequence[Any], args: tuple, kwargs: dict[str, Any]) -> Iterator[Any]:
    """Those containers among the arguments of a call, of the ones that were `passed`, of which only items are read."""
    first = 0
    if f.__class__ is MethodType:
        f, first = f.__func__, 1
    if f.__class__ is not FunctionType:
        return
    code = f.__code__
    if code not in _known:
        found = locate(code, f.__globals__)
        _known[code] = frozenset() if found is None else only_read(found.node)
    names = code.co_varnames[first : code.co_argcount]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if name in _known[code] and any(value is container for container in passed):
            yield value


def only_read(function: FunctionNode) -> frozenset[str]:
    """The parameters of which only items are read, and which are passed on to other functions.

    >>> [f] = ast.parse("def f(p, q, r, s): return p['a'] + len(q) + (lambda: r[0] + s.x)()").body
    >>> sorted(only_read(f))
    ['p', 'q', 'r']

    (What `len` does with `q` is seen where it is called.)
    """
    if not can_be_lowered(function):
        return frozenset()  # what it does is not seen
    arguments = function.args
    parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    others: set[str] = set()
    pending: list[tuple[ast.AST, bool]] = [(node, False) for node in body_of(function)]
    while pending:
        node, is_inside = pending.pop()
        is_inside = is_inside or isinstance(node, (*FUNCTIONS, ast.ClassDef))
        inside: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name):
            others.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            others.update(node.names)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            inside = [node.slice]
        elif isinstance(node, ast.Call) and is_plain_call(node) and not is_inside:
            given = [*node.args, *[k.value for k in node.keywords]]
            inside = [] if _is_get(node.func) else [node.func]
            inside += [a for a in given if not isinstance(a, ast.Name)]
        pending += [(child, is_inside) for child in inside]
    return frozenset(parameters - others)


def _is_get(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "get" and isinstance(function.value, ast.Name)
