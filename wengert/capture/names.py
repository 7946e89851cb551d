"""Which names a piece of syntax binds, writes into and reads, by Python's rules of scope.

Pure questions about syntax trees: nothing is changed here, and nothing is known of hooks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MARKS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_CONSUMERS = {"sum", "any", "all", "min", "max", "list", "tuple", "set", "frozenset", "dict", "sorted"}
"""Builtins that have used up a generator when they return."""


@dataclass(frozen=True)
class FunctionScope:
    """The names of one function: its parameters, what is local to it, and what it declares otherwise.

    `first` is the first positional parameter, which is what `super()` takes for the instance.
    """

    first: str | None
    parameters: tuple[str, ...]
    local: frozenset[str]
    as_global: frozenset[str]
    as_nonlocal: frozenset[str]


def scope_of(function: Any) -> FunctionScope:
    """The scope of a function or lambda."""
    args = function.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    parameters = tuple([a.arg for a in every if a is not None])
    body = body_of(function)
    declarations = [node for node in own_nodes(body) if isinstance(node, (ast.Global, ast.Nonlocal))]
    as_global = frozenset(name for node in declarations if isinstance(node, ast.Global) for name in node.names)
    as_nonlocal = frozenset(name for node in declarations if isinstance(node, ast.Nonlocal) for name in node.names)
    local = frozenset((*parameters, *bound(body))) - as_global - as_nonlocal
    first = parameters[0] if args.posonlyargs or args.args else None
    return FunctionScope(first, parameters, local, as_global, as_nonlocal)


def body_of(function: Any) -> list[Any]:
    """What a function or lambda executes."""
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes that belong to the same function: nested functions and classes are given, but not what they hold."""
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if node.__class__ is not ast.Name and node.__class__ is not ast.Constant:  # these hold nothing
            pending += evaluated_here(node)[::-1]


def evaluated_here(node: Any) -> Sequence[ast.AST]:
    """The children of a node that are evaluated in the scope in which the node stands."""
    if isinstance(node, FUNCTIONS):
        args = node.args
        defaults = (*args.defaults, *[default for default in args.kw_defaults if default is not None])
        return (*getattr(node, "decorator_list", ()), *defaults)
    if isinstance(node, ast.ClassDef):
        return (*node.decorator_list, *node.bases, *[keyword.value for keyword in node.keywords])
    return _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """What a node holds, but for marks such as `Load` and `Add`."""
    found: list[ast.AST] = []
    kind = node.__class__
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple([field for field in kind._fields if field not in _PLAIN])
    for field in fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST) and not isinstance(item, _MARKS)]
        elif isinstance(value, ast.AST) and not isinstance(value, _MARKS):
            found.append(value)
    return found


_PLAIN = frozenset(("ctx", "op", "ops", "id", "attr", "arg", "kind", "conversion", "level", "module", "type_comment"))
"""Fields that hold marks and texts only, in whatever kind of node."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def bound(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are bound, or deleted, in order of appearance."""
    names: dict[str, None] = {}
    in_comprehensions: set[ast.AST] = set()
    for node in own_nodes(nodes):
        if isinstance(node, COMPREHENSIONS) or node in in_comprehensions:
            in_comprehensions.update(evaluated_here(node))
        if node.__class__ not in _NEVER_BIND:
            names.update(dict.fromkeys(_bound(node, node in in_comprehensions)))
    return list(names)


_NEVER_BIND = frozenset((ast.Constant, ast.Call, ast.BinOp, ast.Attribute, ast.Subscript, ast.Assign, ast.Expr))


def _bound(node: Any, in_comprehension: bool) -> Iterator[str]:
    """The names that a node binds, without what it holds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and not in_comprehension:
        yield node.id
    elif isinstance(node, ast.NamedExpr):  # binds in the function, also from inside a comprehension
        yield node.target.id
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from [(alias.asname or alias.name).split(".")[0] for alias in node.names]


def stored(nodes: Iterable[ast.AST]) -> list[str]:
    """The names of containers that are written into: `a[i] = …`, `a[i][j] += …`, `a += …`, `f(…, out=a)`."""
    names: dict[str, None] = {}
    for node in own_nodes(nodes):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            container: ast.expr | None = node
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            container = node.target
        elif isinstance(node, ast.keyword) and node.arg == "out":
            container = node.value
        else:
            continue
        for item in container.elts if isinstance(container, ast.Tuple) else [container]:
            while isinstance(item, ast.Subscript):
                item = item.value
            if isinstance(item, ast.Name):
                names[item.id] = None
    return list(names)


class Summary(NamedTuple):
    """What statements do to names: those they bind, those of containers they write into; and whether they call."""

    bound: tuple[str, ...]
    stored: tuple[str, ...]
    calls: bool


class Summaries:
    """Summaries of statements of a tree that does not change, each looked at once, however deep it is nested."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ast.AST, Summary]] = {}  # by id; the node itself keeps that from being used again

    def of(self, nodes: Iterable[ast.AST]) -> Summary:
        """The summary of several statements, or of other pieces of syntax."""
        every = [self._of_one(node) for node in nodes]
        binds = dict.fromkeys(name for one in every for name in one.bound)
        stores = dict.fromkeys(name for one in every for name in one.stored)
        return Summary(tuple(binds), tuple(stores), any(one.calls for one in every))

    def _of_one(self, node: ast.AST) -> Summary:
        if not isinstance(node, _HOLD_STATEMENTS):
            calls = any(inner.__class__ is ast.Call for inner in own_nodes([node]))
            return Summary(tuple(bound([node])), tuple(stored([node])), calls)
        found = self._known.get(id(node))
        if found is None:
            inside = self.of(evaluated_here(node))
            found = self._known[id(node)] = node, inside._replace(bound=(*_bound(node, False), *inside.bound))
        return found[1]


_HOLD_STATEMENTS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.ExceptHandler,
    ast.Match, ast.match_case,
)  # fmt: skip


def read(node: Any) -> set[str]:
    """The names that are read when an expression or simple statement is executed."""
    if isinstance(node, ast.Name):
        return {node.id} if not isinstance(node.ctx, ast.Store) else set()
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | read(node.value)
    if isinstance(node, COMPREHENSIONS):
        own = {name for generator in node.generators for name in bound([generator.target])}
        inside = set().union(*[read(child) for child in ast.iter_child_nodes(node)])
        return read(node.generators[0].iter) | (inside - own)
    return set().union(*[read(child) for child in evaluated_here(node)])


def captured(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that functions, classes and generators inside the given nodes take from around them."""
    names: set[str] = set()
    used_up: set[ast.AST] = set()
    for node in own_nodes(nodes):
        if isinstance(node, FUNCTIONS):
            names |= _mentioned(body_of(node)) - scope_of(node).local
        elif isinstance(node, ast.ClassDef):
            names |= _mentioned(node.body)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONSUMERS:
            used_up.update(node.args)
        elif isinstance(node, ast.GeneratorExp) and node not in used_up:
            names |= read(node)
    return names


def rebound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that functions inside the given nodes declare nonlocal: a call may bind them."""
    inside = [inner for node in nodes for inner in ast.walk(node)]
    return set().union(*[node.names for node in inside if isinstance(node, ast.Nonlocal)])


def _mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    inside = [inner for node in nodes for inner in ast.walk(node)]
    names = {node.id for node in inside if isinstance(node, ast.Name)}
    return names.union(*[node.names for node in inside if isinstance(node, (ast.Global, ast.Nonlocal))])


def binds_in_place(node: ast.AST) -> bool:
    """Whether an expression must be evaluated in the function itself: it binds a name there, or suspends it."""
    kinds = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(inner, kinds) for inner in own_nodes([node]))
