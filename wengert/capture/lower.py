"""The lowering of control flow: what a function decides, and what it reads from outside, goes through hooks.

It is applied to the syntax tree of a function before `rewrite.py`, for the kind of twin that is staged. Jumps have
become flags (`flags.py`); then suites become functions, which share the variables of the function they stand in:

    if c: y = 1             def then(): nonlocal y; y = 1
                            if_(c, then, None, get, set, names, temporaries)     get() -> (y,), set((v,)) binds them
    for x in xs: s += x     for_(xs, body, go_on, get, set, names, stores, temporaries)     body(item), go_on() or None
    while c: s += 1         while_(test, body, get, set, names, stores, temporaries)
    a and b, a or b         and_(lambda: a, lambda: b), or_(…)
    not a                   not_(a)
    a if c else b           ifexp(c, lambda: a, lambda: b)
    a < b <= c              chain(a, ("lt", "le"), lambda: b, lambda: c)
    [x for x in xs if c]    [x for x in iterate(xs) if test(c)]
    assert c, m             assert_(c, lambda: m)
    raise e from c          raise_(lambda: e, lambda: c)
    try: …                  with trying(lambda: the kinds of exceptions that are caught): …        (see `attempts.py`)
    g, a.b                  load("g", g), attr(a, "b")
    y = a + b               y = named("y", a + b)                        also `a, b = …`, and what a `for` binds
    a.b = v, del a.b        set_attribute(v, a, "b"), delete_attribute(a, "b")
    del a[k]                delete_item(a, k)
    return value            given(value)                                 at the end of a function with other returns
    [a, b], {k: v}          made([a, b]), made({k: v})                   also what comprehensions give
    nonlocal a, b           rebinds(lambda: (a, b))                      where the function begins; `global` too
    sum(e for x in y if t)  sum((e if t else 0) for x in y) if builtin("sum", sum) else sum(…)        any, all, len too
    [e for x in y if t]     filtered([chosen(t, lambda: e) for x in y])
    (e for x in y if t)     chosen_of(y, lambda items: (e for x in items if t), …)        (see `generated.py`)
    {k: v for x in y if t}  kept(y, None, lambda items: [(lambda: t, lambda: (k, v)) for x in items], True)    sets too
    a[k].append(x)          of_item(a, k, "append")(x)                   also other methods that change a list
    yield e                 emit(e), in a function beside the generator                   (see `generators.py`)
    def f(x): … f(x / 2)    … begins with: if recurses(lambda: (f,)): return machine(x)   (see `recursion.py`)

What `load` loads is neither local, nor of a function around it in the same source, nor a builtin. `names` are the
variables that the suites may bind; `stores` those of them that are written into; `temporaries` those whose value nobody
needs when the `if` is over, or the iteration, be it the last or not (`liveness.py`). A variable that may have no value
holds UNDEFINED, and `defined("y", y)` stands where such a variable is read. With hooks that do what Python does, the
lowered function does what the original did.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from wengert.capture.attempts import with_raises_as_jumps
from wengert.capture.conditions import with_conditions_apart
from wengert.capture.expressions import Expressions, Reading, is_read_here, said_to_rebind, tested
from wengert.capture.flags import VALUE, jumps_out_of_finally, without_jumps
from wengert.capture.generators import EMIT, emits, may_be_used_again, turned_inside_out
from wengert.capture.liveness import mark_live
from wengert.capture.lowered import (
    ASSERT,
    ATTEMPTED,
    BASE,
    DEFAULT,
    DELETE_ATTRIBUTE,
    DELETE_ITEM,
    EXTENDED,
    FOR,
    GIVEN,
    HELD,
    IF,
    ITERATE,
    LOWERED_HOOKS,
    MANAGED,
    NAMED,
    OWN_ERRORS,
    RAISE,
    SET_ATTRIBUTE,
    TRYING,
    UNDEFINED_NAME,
    WHILE,
)
from wengert.capture.named_apart import name_apart
from wengert.capture.names import binds_in_place, body_of, bound, evaluated_here, own_nodes, rebound, scope_of
from wengert.capture.only_read import only_read, unpacked_names
from wengert.capture.recursion import asked_first, callees_of, machine_of
from wengert.capture.rewrite import as_expression
from wengert.capture.syntax import (
    OURS,
    assign,
    at,
    attempt_of,
    copied,
    function,
    hook,
    load,
    statement,
    strings,
    targets_in,
    thunk,
    with_names,
)
from wengert.capture.undefined import UNDEFINED, Undefined, defined

__all__ = ["LOWERED_HOOKS", "UNDEFINED", "Undefined", "defined", "lower"]

_VALUES, _NEXT, _CAUGHT = "_wengert_values", "_wengert_next", "_wengert_caught"
_SEVERAL = (ast.Tuple, ast.List)

Function = TypeVar("Function", ast.FunctionDef, ast.Lambda)


def lower(node: Function, free: tuple[str, ...]) -> Function:
    """A function with its control flow lowered (in place), unless that of this function must stay as it is.

    `free` are the free variables of the function.
    """
    turned_inside_out(node)
    if not can_be_lowered(node):
        return Reading(frozenset(free)).visit(node)
    lowering = _Lowering(scope_of(node), frozenset(), frozenset(free), "__class__" in free, itertools.count(1))
    lowering.function(node, _with_defaults(node.args))
    return node


def _is_ours(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith(OURS)


def _with_defaults(args: ast.arguments) -> list[str]:
    """The parameters that have a default: if it is an array, it comes from outside like those that names stand for."""
    positional = [*args.posonlyargs, *args.args]
    optional = positional[len(positional) - len(args.defaults) :]
    named = [a for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is not None]
    return [a.arg for a in (*optional, *named)]


def can_be_lowered(node: Any) -> bool:
    """Not generators and coroutines, and nothing that looks at its own frame."""
    if isinstance(node, ast.AsyncFunctionDef):
        return False
    body, local = body_of(node), scope_of(node).local
    for inner in own_nodes(body):
        if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await)):
            return False
        if isinstance(inner, ast.Name) and inner.id in ("locals", "eval", "exec") and inner.id not in local:
            return False
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in ("vars", "dir"):
            if not inner.args:
                return False
    return not jumps_out_of_finally(body)


class _Lowering(Expressions):
    """Lowers one function, and those inside it by others of its kind."""

    # ----------------------------------------------------------------------------------------------- functions

    def function(self, node: Any, optional: Sequence[str] = ()) -> None:
        """Lower the function itself, some of whose parameters may stand for what was there before it was called."""
        if isinstance(node, ast.Lambda):
            self.optional = frozenset(optional)
            node.body = self.visit(node.body)
            return
        machine = machine_of(node)
        callees = callees_of(node)
        self.only_read = only_read(node)
        docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = node.body[len(docstring) :]
        name_apart(body, self.scope.as_global | self.scope.as_nonlocal)
        body = with_conditions_apart(body)
        body = without_jumps(with_raises_as_jumps(body) or [at(ast.Pass(), node.body[0])])
        mark_live(body)
        self.loaded = Counter(n.id for n in own_nodes(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        own = self.scope.local.union(name for name in bound(body) if name.startswith(OURS))
        self.scope = dataclasses.replace(self.scope, local=own)
        self.deleted = _deleted(body)
        gone = own.difference(bound(body), self.scope.parameters)  # only bound where nothing ever runs
        self.by_others = sorted(own & rebound(body))
        self.tentative = own & (gone | _in_suites_and_thunks(body)).union(self.by_others)
        start: list[ast.stmt] = self._declarations(self.scope.as_global | self.scope.as_nonlocal)
        start += said_to_rebind(node)
        empty = [ast.Name(name, ast.Store()) for name in sorted(self.tentative.difference(self.scope.parameters))]
        if empty:
            start.append(ast.Assign(list(empty), load(UNDEFINED_NAME)))
        start += [ast.Assign([ast.Name(name, ast.Store())], hook(DEFAULT, load(name))) for name in optional]
        suite = self._suite(body)
        if machine is not None:
            self._nested(machine, self.in_class)
            suite[:0] = asked_first(machine, self.visit(callees), self.scope.parameters)
        node.body = [*docstring, *[at(new, body[0]) for new in start], *suite]

    def _nested(self, node: Any, in_class: bool) -> None:
        """Lower a function inside this one."""
        around = (self.around - self.scope.as_global) | self.scope.local | set(self.hidden)
        if not getattr(node, "decorator_list", ()):
            turned_inside_out(node)
        inherited = self.unsure - self.scope.as_global - self.scope.local
        unsure = (inherited | self.tentative).difference(self.hidden)
        if can_be_lowered(node):
            _Lowering(scope_of(node), around, self.free, in_class, self.numbers, unsure).function(node)
        else:
            Reading(self.free, around, unsure).visit(node)

    def _defaults(self, args: ast.arguments) -> None:
        """What is evaluated where the function is defined."""
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [default and self.visit(default) for default in args.kw_defaults]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        self._nested(node, self.in_class)
        return node

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._defaults(node.args)
        self._nested(node, self.in_class)
        self.assigned.add(node.name)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, [self.visit(part) for part in getattr(node, field)])
        for method in node.body:  # the rest of a class is a scope of its own kind
            if isinstance(method, ast.FunctionDef):
                self._nested(method, True)
        self.assigned.add(node.name)
        return node

    # ---------------------------------------------------------------------------------------------- statements

    def _suite(self, statements: list[Any]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in statements:
            new = self.visit(node)
            out += new if isinstance(new, list) else [new]
        return out

    def _as_function(self, role: str, suite: list[Any], where: ast.AST, *parameters: str) -> ast.FunctionDef:
        """A suite as a function of the given parameters, which shares the variables of this one."""
        declarations = self._declarations(self._names(suite))
        before, self.assigned = self.assigned, set(self.assigned)
        body = [*[at(new, suite[0]) for new in declarations], *self._suite(suite)]
        self.after_suite, self.assigned = self.assigned, before
        return function(f"{OURS}{role}_{next(self.numbers)}", parameters, body, where)

    def _declarations(self, names: Iterable[str]) -> list[ast.stmt]:
        names = sorted(names)
        as_global = [name for name in names if name in self.scope.as_global]
        others = [name for name in names if name not in self.scope.as_global]
        declarations: list[ast.stmt] = [ast.Global(as_global)] if as_global else []
        return [*declarations, ast.Nonlocal(others)] if others else declarations

    def _names(self, nodes: Iterable[ast.AST]) -> list[str]:
        """The variables that are bound, by the function as written or by the rewriting of what is written into."""
        found = self.summaries.of(nodes)
        return list(dict.fromkeys([*found.bound, *self._local(found.stored), *(self.by_others if found.calls else ())]))

    def _stores(self, nodes: Iterable[ast.AST]) -> list[str]:
        return self._local(self.summaries.of(nodes).stored)

    def _local(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in self.scope.local]

    def _access(self, names: list[str], where: ast.AST) -> tuple[list[ast.stmt], list[ast.expr]]:
        """Functions that get and set variables: their definitions, and the arguments that a hook is given."""
        elsewhere = [name for name in names if name not in self.scope.local]  # these may have no value, nor get one
        peeked = [f"{OURS}peeked_{k}" for k in range(len(elsewhere))]
        read = [load(peeked[elsewhere.index(name)] if name in elsewhere else name) for name in names]
        getter: list[ast.stmt] = []
        for name, peek in zip(elsewhere, peeked, strict=True):
            nothing = ast.ExceptHandler(load("NameError"), None, [assign(peek, load(UNDEFINED_NAME))])
            getter.append(ast.Try([assign(peek, load(name))], [nothing], [], []))
        getter.append(ast.Return(ast.Tuple(list(read), ast.Load())))
        setter: list[ast.stmt] = self._declarations(names)
        for k, name in enumerate(names):
            value = ast.Subscript(load(_VALUES), ast.Constant(k), ast.Load())
            new: ast.stmt = assign(name, value)
            if name in elsewhere:
                test = ast.Compare(copy.copy(value), [ast.IsNot()], [load(UNDEFINED_NAME)])
                new = ast.If(test, [new], [])
            setter.append(new)
        number = next(self.numbers)
        get = function(f"{OURS}get_{number}", (), getter, where)
        set_ = function(f"{OURS}set_{number}", (_VALUES,), setter or [ast.Pass()], where)
        return [get, set_], [load(get.name), load(set_.name), strings(names)]

    def _attempted(self, node: Any) -> list[ast.stmt]:
        """A statement in a `try` that may fail by itself: a jump if it does, otherwise what follows (`attempts.py`)."""
        names = self._names([*node.body, *node.orelse])
        temporaries = self._temporaries(names, node)
        failed = self._as_function("failed", node.body, node)
        before = self.assigned
        attempt = self._as_function("attempt", node.orelse[:1], node)
        functions, rest = [failed, attempt], ast.Constant(None)
        if node.orelse[1:]:
            self.assigned = self.after_suite
            functions.append(self._as_function("rest", node.orelse[1:], node))
            rest = load(functions[2].name)  # type: ignore[assignment]
            self.assigned = before
        access, arguments = self._access(names, node)
        every = _with_consumer(node, [*arguments, temporaries])
        made = hook(ATTEMPTED, attempt_of(node.attempts), load(attempt.name), rest, load(failed.name), *every)
        return [*functions, *access, statement(made, node)]

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        if hasattr(node, "attempts"):
            return self._attempted(node)
        test = self.visit(tested(node.test))
        names = self._names([*node.body, *node.orelse])
        temporaries = self._temporaries(names, node)
        then = self._as_function("then", node.body, node)
        assigned = self.after_suite
        branches, orelse = [then], ast.Constant(None)
        if node.orelse:
            branches.append(self._as_function("orelse", node.orelse, node))
            orelse = load(branches[1].name)  # type: ignore[assignment]
            self.assigned |= assigned & self.after_suite
        access, arguments = self._access(names, node)
        call = hook(IF, test, load(then.name), orelse, *_with_consumer(node, [*arguments, temporaries]))
        return [*branches, *access, statement(call, node.test)]

    def visit_For(self, node: Any) -> list[ast.stmt]:
        iterable = self.visit(node.iter)
        if node.go_on is not None and may_be_used_again(node, self.loaded):
            iterable = at(hook(HELD, iterable), node.iter)
        first = at(ast.Assign([node.target], load(_NEXT)), node.target)
        names = self._names([first, *node.body])
        hints = [strings(self._stores([first, *node.body])), self._temporaries(names, node)]
        body = self._as_function("body", [first, *node.body], node, _NEXT)
        go_on = ast.Constant(None) if node.go_on is None else thunk(self.visit(node.go_on))
        access, arguments = self._access(names, node)
        call = hook(FOR, iterable, load(body.name), go_on, *_with_consumer(node, [*arguments, *hints]))
        return [body, *access, statement(call, node.iter)]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        names = self._names([node.test, *node.body])
        hints = [strings(self._stores([node.test, *node.body])), self._temporaries(names, node)]
        test = self._as_function("test", [at(ast.Return(tested(node.test)), node.test)], node)
        body = self._as_function("body", node.body, node)
        access, arguments = self._access(names, node)
        call = hook(WHILE, load(test.name), load(body.name), *_with_consumer(node, [*arguments, *hints]))
        return [test, body, *access, statement(call, node.test)]

    def _temporaries(self, names: list[str], node: Any) -> ast.expr:
        return strings(name for name in names if name in self.scope.local and name not in node.live)

    def visit_Try(self, node: Any) -> ast.AST:
        before = set(self.assigned)
        kinds = [handler.type or load("BaseException") for handler in node.handlers]
        kinds = [self.visit(copied(kind)) for kind in getattr(node, "kinds", kinds)]
        node.body = self._suite(node.body)
        if kinds and isinstance(node, ast.Try):
            name = ast.Name(attempt_of(node.owns).id, ast.Store()) if hasattr(node, "owns") else None
            attempt = ast.withitem(hook(TRYING, thunk(at(ast.Tuple(kinds, ast.Load()), node))), name)
            node.body = [at(ast.With([attempt], node.body), node)]
        node.orelse = self._suite(node.orelse)
        for handler in node.handlers:
            self.assigned = set(before)
            handler.type = handler.type and self.visit(handler.type)
            if handler.name in self.tentative:
                handler.name, handler.body = self._caught(handler)
            else:
                handler.body = self._suite(handler.body)
        if kinds and isinstance(node, ast.Try):  # what the compiler has to say is not for the user's handlers
            node.handlers.insert(0, at(ast.ExceptHandler(load(OWN_ERRORS), None, [at(ast.Raise(), node)]), node))
        self.assigned = before
        node.finalbody = self._suite(node.finalbody)
        return node

    visit_TryStar = visit_Try

    def _caught(self, handler: Any) -> tuple[str, list[ast.stmt]]:
        """A handler whose variable has no value afterwards, without deleting it."""
        name = f"{_CAUGHT}_{next(self.numbers)}"
        bind = at(assign(handler.name, load(name)), handler)
        forget = at(assign(handler.name, load(UNDEFINED_NAME)), handler)
        return name, [bind, at(ast.Try(self._suite(handler.body), [], [], [forget]), handler)]

    def visit_With(self, node: ast.With) -> ast.AST:
        before = set(self.assigned)
        for item in node.items:
            manager = self.visit(item.context_expr)
            item.context_expr = manager if _is_ours(manager) else at(hook(MANAGED, manager), manager)
            if item.optional_vars is not None:
                item.optional_vars = self.visit(item.optional_vars)
                self.assigned.update(bound([item.optional_vars]))
        node.body = self._suite(node.body)
        self.assigned = before
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        parts = [part for target in node.targets for part in targets_in(target)]
        if any(isinstance(part, ast.Attribute) for part in parts):
            return self._with_attributes(node, parts)
        if len(node.targets) == 1 and any(isinstance(part, _SEVERAL) for part in getattr(node.targets[0], "elts", ())):
            return self._level_by_level(node, node.targets[0].elts)  # type: ignore[attr-defined]
        node.value = self.visit(node.value)
        if any(isinstance(target, _SEVERAL) for target in node.targets):
            if not isinstance(node.value, _SEVERAL):
                node.value = at(self._taken_apart(node), node.value)
        elif len(node.targets) == 1 and is_read_here(node.value):
            reads = self.only_read.get(getattr(node.targets[0], "id", ""))
            if reads is not None:
                node.value = at(hook(BASE, node.value, strings(reads)), node.value)
        names = _names_of(node.targets[0])
        if names is not None and not isinstance(node.value, ast.Constant):
            if not isinstance(node.value, ast.Name) or node.value.id == _NEXT:
                node.value = at(hook(NAMED, names, node.value), node.value)
        sure = self._made_sure(parts, node)
        node.targets = [self.visit(target) for target in node.targets]
        self.assigned.update(bound(node.targets))
        return [*sure, node] if sure else node

    def _level_by_level(self, node: ast.Assign, parts: list[ast.expr]) -> list[ast.stmt]:
        """`(a, b), c = v` as `t0, t1 = v; a, b = t0; c = t1`: what is taken apart at each level may be known to the
        program alone."""
        number = next(self.numbers)
        names = [f"{OURS}level_{number}_{k}" for k in range(len(parts))]
        stored = [ast.Name(name, ast.Store()) for name in names]
        apart: list[ast.expr] = [ast.Starred(to, ast.Store()) if isinstance(part, ast.Starred) else to
                                 for part, to in zip(parts, stored, strict=True)]  # fmt: skip
        statements = [at(ast.Assign([at(ast.Tuple(apart, ast.Store()), node)], node.value), node)]
        for part, name in zip(parts, names, strict=True):
            target = part.value if isinstance(part, ast.Starred) else part
            statements.append(at(ast.Assign([target], load(name)), node))
        return self._suite(statements)

    def _made_sure(self, targets: Sequence[ast.expr], node: ast.stmt) -> list[ast.stmt]:
        """Statements that demand a value of variables of the function's own that are written to, where one may have
        none: `y[k] = v` binds y again."""
        sure = []
        for target in targets:
            if isinstance(target, ast.Subscript) and self._is_own(target.value):
                loaded = self.visit(at(load(target.value.id), target))  # type: ignore[attr-defined]
                if isinstance(loaded, ast.Call):
                    sure.append(at(assign(target.value.id, loaded), node))  # type: ignore[attr-defined]
        return sure

    def _taken_apart(self, node: ast.Assign) -> ast.expr:
        """What `a, b = value` goes through."""
        names = unpacked_names(node)
        if names is None:
            return hook(ITERATE, node.value)
        value = at(hook(BASE, node.value), node.value) if is_read_here(node.value) else node.value
        reads = [self.only_read.get(name) for name in names]
        said = [ast.Constant(None) if names is None else strings(names) for names in reads]
        return hook(ITERATE, value, ast.Tuple(said, ast.Load()))

    def _with_attributes(self, node: ast.Assign, parts: list[ast.expr]) -> list[ast.stmt]:
        """`a.b = v` as a call; `a.b, c = v` as `t0, t1 = v; a.b = t0; c = t1`, in the order in which Python assigns."""
        if len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Attribute):
            value, owner = self.visit(node.value), self.visit(target.value)
            return [statement(hook(SET_ATTRIBUTE, value, owner, ast.Constant(target.attr)), node)]
        names: list[str] = []
        number = next(self.numbers)
        targets = [with_names(target, names, f"{OURS}part_{number}_") for target in node.targets]
        statements = [at(ast.Assign(targets, node.value), node)]
        statements += [at(ast.Assign([part], load(name)), node) for part, name in zip(parts, names, strict=True)]
        return self._suite(statements)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == VALUE:
            return at(ast.Return(at(hook(GIVEN, node.value), node)), node)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return at(ast.Pass(), node)
        return self.visit(at(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node: Any) -> ast.AST | list[ast.stmt]:
        target = node.target
        sure = self._made_sure([target], node)
        if isinstance(target, ast.Subscript):
            if not self._is_own(target.value):
                target.value = self.visit(target.value)
            target.slice = self.visit(target.slice)
        else:
            node.target = self.visit(target)
        node.value = self.visit(node.value)
        if isinstance(target, ast.Name):
            loaded = self.visit(at(load(target.id), target))
            if isinstance(loaded, ast.Call):  # the variable is of a module, or may have no value
                return [at(assign(target.id, loaded), node), node]
        return [*sure, node] if sure else node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for target in [part for parts in node.targets for part in targets_in(parts)]:
            if isinstance(target, ast.Name) and target.id in self.tentative:
                out.append(statement(self.visit(at(load(target.id), target)), target))
                out.append(at(assign(target.id, load(UNDEFINED_NAME)), node))
            elif isinstance(target, ast.Attribute):
                out.append(statement(hook(DELETE_ATTRIBUTE, self.visit(target.value), ast.Constant(target.attr)), node))
            elif isinstance(target, ast.Subscript):
                key = self.visit(at(as_expression(target.slice), node))
                out.append(statement(hook(DELETE_ITEM, self.visit(target.value), key), node))
            else:
                out.append(at(ast.Delete([self.visit(target)]), node))
        return out

    def _import(self, node: Any) -> ast.AST:
        self.assigned.update(bound([node]))
        return node

    visit_Import = visit_ImportFrom = _import

    def _declaration(self, node: Any) -> ast.AST:
        return at(ast.Pass(), node)  # they stand at the beginning of the function

    visit_Global = visit_Nonlocal = _declaration

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        if not __debug__ or (node.msg is not None and binds_in_place(node.msg)):
            return self.generic_visit(node)
        test = self.visit(node.test)
        message = ast.Constant(None) if node.msg is None else thunk(self.visit(node.msg))
        return statement(hook(ASSERT, test, message), node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.exc is None or binds_in_place(node):
            return self.generic_visit(node)
        cause = ast.Constant(None) if node.cause is None else thunk(self.visit(node.cause))
        return statement(hook(RAISE, thunk(self.visit(node.exc)), cause), node)


def _with_consumer(node: Any, arguments: list[ast.expr]) -> list[ast.expr]:
    """How a statement gets and sets variables, with those of who goes through the items of a generator."""
    return [ast.Starred(hook(EXTENDED, load(EMIT), *arguments), ast.Load())] if emits([node]) else arguments


def _in_suites_and_thunks(body: list[ast.stmt]) -> set[str]:
    """The names in what becomes functions, where Python takes a variable without a value for another error."""
    names: set[str] = set()
    pending: list[Any] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.If, ast.For, ast.While)):
            names.update(bound([node]))
        if isinstance(node, (ast.If, ast.For, ast.While, ast.IfExp, ast.BoolOp, ast.Compare)):
            names.update(inner.id for inner in own_nodes([node]) if isinstance(inner, ast.Name))
        else:
            pending += evaluated_here(node)
    return names


def _deleted(body: list[ast.stmt]) -> set[str]:
    """The names that are deleted somewhere, as are the variables of exception handlers."""
    nodes = list(own_nodes(body))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    return names | {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}


def _names_of(target: ast.expr) -> ast.expr | None:
    """The name of a user's that is bound, or a tuple of those."""
    if isinstance(target, ast.Name):
        return None if target.id.startswith(OURS) else ast.Constant(target.id)
    if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
        return strings([part.id for part in target.elts])  # type: ignore[attr-defined]
    return None
