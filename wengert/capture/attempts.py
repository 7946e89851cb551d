"""`try` statements: what is raised in the suite becomes a jump to the handlers.

Whether a `raise` is reached may be known only when the compiled program runs, and then no exception can be raised while
the program is captured. So

    try:                             raised = 0
        if x > 1:                    try:
            raise ValueError             if x > 1:
        y = x                                raised = raised_here(lambda: ValueError)      # a jump to the end
    except ValueError as e:              y = x
        y = 0                        except BaseException as error:
    else:                                raised = caught(trying, error)
        z = 1                        if not raised:
                                         z = 1
                                     elif catches(trying, raised, lambda: ValueError, lambda: ()):
                                         e = error_of(trying, raised, lambda: ValueError, lambda: ())
                                         y = 0
                                     else:
                                         raise error_of(trying, raised, lambda: BaseException, lambda: (ValueError,))

`raised` is a number that says which exception it is (`exceptions.py`), and 0 if there is none. Where everything is
known while the program is captured `raised_here` raises, and Python does what it always does. The jump itself is made
by `flags.py`: the `raise` bears the number of the `try` as its attribute `jump`, and the `try` as `owns`. `trying` is
this execution of the `try`, a variable that `lower.py` binds.

A statement of the suite may also fail by itself, as `y = 1 / x` does: then there is a jump too, before it has had any
effect. Such a statement, and all that follows it in the suite, become functions, and `attempted` in `retrying.py`
calls them:

    y = 1 / x                        attempted(trying, lambda: y = 1 / x, lambda: rest, lambda: raised = failed(trying))
    rest

`with suppress(ValueError): …` becomes a `try` in the `with` statement (`managers.py`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable
from typing import Any

from wengert.capture.flags import completes
from wengert.capture.lowered import CATCHES, CAUGHT, ERROR_OF, SWALLOWED
from wengert.capture.names import own_nodes
from wengert.capture.syntax import OURS, assign, at, attempt_of, copied, hook, load, thunk

RAISED = f"{OURS}raised_"
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Assert)
_MAY_FAIL = (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Call, ast.Attribute, ast.Subscript, ast.Assert)
_AT_MOST = 40
"""So many statements of one `try` are watched: what follows one of them is a function inside that of the one before."""


def with_raises_as_jumps(body: list[Any]) -> list[Any]:
    """The body of a function with such statements rewritten. The statements given may be changed."""
    return _suite(body, itertools.count(1))


def _suite(statements: list[Any], numbers: Any) -> list[Any]:
    out: list[Any] = []
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.append(node)
            continue
        if isinstance(node, ast.With) and (suppressing := _suppressing(node, next(numbers))):
            out += _suite(suppressing, numbers)
            continue
        for owner in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if suite := getattr(owner, field, None):
                    setattr(owner, field, _suite(suite, numbers))
        if isinstance(node, ast.Try) and node.handlers:
            raises, number = list(_raises(node.body)), next(numbers)
            watch = _Watch(number)
            body = watch.suite(node.body)
            if watch.count <= _AT_MOST:
                node.body = body
            if raises or 0 < watch.count <= _AT_MOST:
                out += _rewritten(node, raises, number)
                continue
        out.append(node)
    return out


def _suppressing(node: ast.With, number: int) -> list[Any]:
    """`with suppress(E): suite` as `m = suppress(E)`, `with m:` and a `try` with that suite; nothing for others."""
    first, *rest = node.items
    if not any(_is_suppress(item) for item in node.items):
        return []
    suite = [at(ast.With(rest, node.body), node)] if rest else node.body
    if not _is_suppress(first):
        return [at(ast.With([first], suite), node)]
    manager = f"{OURS}manager_{number}"
    handler = at(ast.ExceptHandler(hook(SWALLOWED, load(manager)), None, [at(ast.Pass(), node)]), node)
    tried = at(ast.Try(suite, [handler], [], []), node)
    whole = at(ast.With([ast.withitem(load(manager), None)], [tried]), node)
    return [at(assign(manager, first.context_expr), node), whole]


def _is_suppress(item: ast.withitem) -> bool:
    call = item.context_expr
    name = isinstance(call, ast.Call) and (getattr(call.func, "id", None) or getattr(call.func, "attr", None))
    return name == "suppress" and item.optional_vars is None


class _Watch:
    """Finds the statements of a `try` that may fail by themselves, but for those of a `try` inside. A loop is
    one of them.

    A statement becomes `if False: <a jump to the handlers>`, with itself in the other branch: so it looks to those who
    ask which names are bound and read. What follows it comes there too (`flags.py`). The `if` bears the number of the
    `try` as its attribute `attempts`, and `retrying.attempted` decides.
    """

    def __init__(self, number: int):
        self.number, self.count = number, 0

    def suite(self, statements: list[Any]) -> list[Any]:
        """The suite with those statements marked; the statements given are not changed, but for suites in them."""
        out: list[Any] = []
        for node in statements:
            if isinstance(node, _SIMPLE) and _may_fail(node):
                out.append(self._marked(node))
                continue
            if isinstance(node, ast.If) and not hasattr(node, "attempts"):
                if _may_fail(node.test):
                    name = f"{OURS}test_{self.number}_{self.count}"
                    out.append(self._marked(at(assign(name, node.test), node.test)))
                    node = at(ast.If(at(load(name), node.test), node.body, node.orelse), node)
                else:
                    node = at(ast.If(node.test, node.body, node.orelse), node)
                node.body, node.orelse = self.suite(node.body), self.suite(node.orelse)
            elif isinstance(node, (ast.For, ast.While)):  # one statement, whatever becomes of its jumps
                out.append(self._marked(at(ast.If(ast.Constant(True), [node], []), node)))
                continue
            elif isinstance(node, ast.With):
                node = at(ast.With(node.items, self.suite(node.body)), node)
            elif isinstance(node, ast.Try) and not node.handlers:
                node = at(ast.Try(self.suite(node.body), [], [], node.finalbody), node)
            out.append(node)
        return out

    def _marked(self, node: Any) -> ast.stmt:
        self.count += 1
        jump: Any = at(ast.Raise(None, None), node)
        jump.jump = self.number
        marked: Any = at(ast.If(ast.Constant(False), [jump], [node]), node)
        marked.attempts = self.number
        return marked


def _may_fail(node: ast.AST) -> bool:
    """Whether something is computed; what we have written ourselves does not fail."""
    for inner in own_nodes([node]):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id.startswith(OURS):
            return False
    return any(isinstance(inner, _MAY_FAIL) and not _is_stored(inner) for inner in own_nodes([node]))


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


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
    store = at(assign(flag, hook(CAUGHT, attempt_of(number), load(name))), node)
    caught = at(ast.ExceptHandler(load("BaseException"), name, [store]), node)
    body: Any = at(ast.Try(node.body, [caught], [], []), node)
    kinds = [handler.type or load("BaseException") for handler in node.handlers]
    body.owns, body.kinds = number, kinds

    def asked(name: str, where: ast.AST, k: int) -> ast.expr:
        """A question about the k-th handler: what it catches, and what those before it do."""
        kind = copied(kinds[k]) if k < len(kinds) else load("BaseException")
        before = ast.Tuple([copied(other) for other in kinds[:k]], ast.Load())
        return at(hook(name, attempt_of(number), load(flag), thunk(at(kind, where)), thunk(at(before, where))), where)

    orelse: list[Any] = [at(ast.Raise(asked(ERROR_OF, node, len(kinds)), None), node)]
    for k, handler in reversed(list(enumerate(node.handlers))):
        for inner in own_nodes(handler.body):
            if isinstance(inner, ast.Raise) and inner.exc is None and not hasattr(inner, "jump"):
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
