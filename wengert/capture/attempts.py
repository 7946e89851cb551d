"""`try` statements in whose suite something is raised: the `raise` becomes a jump to the handlers.

Whether a `raise` is reached may be known only when the compiled program runs, and then no exception can be raised while
the program is captured. So

    try:                             raised = 0
        if x > 1:                    try:
            raise ValueError             if x > 1:
        y = x                                raised = raised_here(lambda: ValueError)      # a jump to the end
    except ValueError as e:              y = x
        y = 0                        except BaseException as error:
    else:                                raised = caught(1, error)
        z = 1                        if not raised:
                                         z = 1
                                     elif catches(1, raised, lambda: ValueError, lambda: ()):
                                         e = error_of(1, raised, lambda: ValueError, lambda: ())
                                         y = 0
                                     else:
                                         raise error_of(1, raised, lambda: BaseException, lambda: (ValueError,))

`raised` is a number that says which exception it is (`exceptions.py`), and 0 if there is none. Where everything is
known while the program is captured `raised_here` raises, and Python does what it always does. The jump itself is made
by `flags.py`: the `raise` bears the number of the `try` as its attribute `jump`, and the `try` as `owns`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable
from typing import Any

from wengert.capture.flags import completes
from wengert.capture.lowered import CATCHES, CAUGHT, ERROR_OF
from wengert.capture.names import own_nodes
from wengert.capture.syntax import OURS, assign, at, copied, hook, load, thunk

RAISED = f"{OURS}raised_"


def with_raises_as_jumps(body: list[Any]) -> list[Any]:
    """The body of a function with such statements rewritten. The statements given may be changed."""
    return _suite(body, itertools.count(1))


def _suite(statements: list[Any], numbers: Any) -> list[Any]:
    out: list[Any] = []
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.append(node)
            continue
        for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if suite := getattr(owner, field, None):
                    setattr(owner, field, _suite(suite, numbers))
        if isinstance(node, ast.Try) and node.handlers and (raises := list(_raises(node.body))):
            out += _rewritten(node, raises, next(numbers))
        else:
            out.append(node)
    return out


def _raises(statements: Iterable[Any]) -> Iterable[ast.Raise]:
    """The `raise` statements that a `try` around these statements may catch."""
    for node in own_nodes(statements):
        if isinstance(node, ast.Raise) and node.exc is not None and not hasattr(node, "jump"):
            yield node


def _deletes(statements: Iterable[Any], name: str) -> bool:
    nodes = own_nodes(statements)
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del) and n.id == name for n in nodes)


def _rewritten(node: ast.Try, raises: list[ast.Raise], number: int) -> list[Any]:
    flag = f"{RAISED}{number}"
    regular = completes(node.body)
    for statement in raises:
        statement.jump = number  # type: ignore[attr-defined]
    name = f"{OURS}error_{number}"
    store = at(assign(flag, hook(CAUGHT, ast.Constant(number), load(name))), node)
    caught = at(ast.ExceptHandler(load("BaseException"), name, [store]), node)
    body: Any = at(ast.Try(node.body, [caught], [], []), node)
    kinds = [handler.type or load("BaseException") for handler in node.handlers]
    body.owns, body.kinds = number, kinds

    def asked(name: str, where: ast.AST, k: int) -> ast.expr:
        """A question about the k-th handler: what it catches, and what those before it do."""
        kind = copied(kinds[k]) if k < len(kinds) else load("BaseException")
        before = ast.Tuple([copied(other) for other in kinds[:k]], ast.Load())
        return at(hook(name, ast.Constant(number), load(flag), thunk(at(kind, where)), thunk(at(before, where))), where)

    orelse: list[Any] = [at(ast.Raise(asked(ERROR_OF, node, len(kinds)), None), node)]
    for k, handler in reversed(list(enumerate(node.handlers))):
        for inner in own_nodes(handler.body):
            if isinstance(inner, ast.Raise) and inner.exc is None:
                inner.exc = asked(ERROR_OF, inner, k)
        suite = list(handler.body)
        if handler.name:
            suite.insert(0, at(assign(handler.name, asked(ERROR_OF, handler, k)), handler))
            if completes(handler.body) and not _deletes(handler.body, handler.name):  # as Python does
                suite.append(at(ast.Delete([ast.Name(handler.name, ast.Del())]), handler))
        orelse = [at(ast.If(asked(CATCHES, handler, k), suite, orelse), handler)]
    if regular:
        nothing = [at(ast.Pass(), node)]
        orelse = [at(ast.If(ast.UnaryOp(ast.Not(), load(flag)), node.orelse or nothing, orelse), node)]
    whole = [at(assign(flag, ast.Constant(0)), node), body, *orelse]
    return [at(ast.Try(whole, [], [], node.finalbody), node)] if node.finalbody else whole
