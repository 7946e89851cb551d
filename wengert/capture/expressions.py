"""The lowering of expressions (see `lower.py` for what becomes of them)."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from wengert.capture.lowered import (
    AND,
    ATTR,
    BASE,
    BUILTIN,
    CHAIN,
    CHOSEN,
    CHOSEN_OF,
    DEFAULT,
    DEFINED,
    EQUAL,
    FILTERED,
    HELD,
    IFEXP,
    IS,
    ITERATE,
    KEPT,
    LISTED,
    LOAD,
    MADE,
    NOT,
    OF_ITEM,
    OR,
    ORDERED,
    OVER_ITEMS,
    PASSED,
    REBINDS,
    SUBJECT,
    TEST,
    TEXT,
)
from wengert.capture.names import FunctionScope, Summaries, binds_in_place, bound, scope_of
from wengert.capture.objects import CHANGING
from wengert.capture.only_read import Reads, is_plain_call
from wengert.capture.syntax import OURS, arguments, at, copied, hook, load, statement, strings, thunk

_COMPARISONS = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "is_",
    ast.IsNot: "is_not", ast.In: "contains", ast.NotIn: "not_contains",
}  # fmt: skip


def with_identity(node: ast.Compare) -> ast.AST:
    """`a is b` or `a in b`, if that is what it is, as a call: what a name stands for may be None or not, and what is in
    a tuple may be known only when a program runs."""
    if isinstance(node.ops[0], (ast.In, ast.NotIn)) and not binds_in_place(node.comparators[0]):
        return at(hook(CHAIN, node.left, strings([_COMPARISONS[type(node.ops[0])]]), thunk(node.comparators[0])), node)
    if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return node
    return at(hook(IS, node.left, node.comparators[0], ast.Constant(isinstance(node.ops[0], ast.Is))), node)


def _is_hook(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _is_get(node: ast.Call) -> bool:
    """Whether a call, whose parts are lowered, is `container.get(…)` of something that is read in this place."""
    if not _is_hook(node.func, ATTR):
        return False
    base, name = node.func.args  # type: ignore[attr-defined]
    return name.value == "get" and is_read_here(base)


def is_read_here(node: ast.AST) -> bool:
    """Whether an expression, which is lowered, gets hold of something that may come from outside."""
    return isinstance(node, ast.Subscript) or _is_hook(node, LOAD, ATTR)


def _given(operand: ast.expr) -> ast.expr:
    """A function that gives the value of an operand that is evaluated in any case: here, if it binds a name."""
    if not binds_in_place(operand):
        return thunk(operand)
    value = f"{OURS}value"
    return at(ast.Call(ast.Lambda(arguments(value), thunk(at(load(value), operand))), [operand], []), operand)


def said_to_rebind(node: Any) -> list[ast.stmt]:
    """A statement that says which variables from around it a function binds, if it does."""
    scope = scope_of(node)
    names = [load(name) for name in sorted(scope.as_nonlocal | scope.as_global)]
    if not names:
        return []
    return [statement(hook(REBINDS, thunk(at(ast.Tuple(list(names), ast.Load()), node.body[0]))), node.body[0])]


def _sure(node: ast.Name, *is_free: ast.expr) -> ast.expr:
    """A variable that may have no value, where it must have one."""
    if hasattr(node, "may_have_none"):  # (see `local_values.py`)
        return node
    return at(hook(DEFINED, ast.Constant(node.id), node, *is_free), node)


class Reading(ast.NodeTransformer):
    """Lowers what is read, and `is`, where nothing else is lowered, in a generator for instance: what comes from
    outside is an input or guarded there too, and what may be None must not look as if it were not. Functions say which
    variables from around them they bind. `free` are the free variables of the outermost function."""

    def __init__(self, free: frozenset[str], local: Iterable[str] = (), unsure: frozenset[str] = frozenset()) -> None:
        self.free = free
        self.local = frozenset(local)  # what is bound here, or in functions around
        self.unsure = unsure  # those of functions around that may hold UNDEFINED
        self.as_global: frozenset[str] = frozenset()

    def _within(self, node: Any, names: Iterable[str], as_global: frozenset[str] = frozenset()) -> None:
        """Visit what a node holds, in which these names are bound, too."""
        around = self.local, self.as_global, self.unsure
        self.local, self.as_global = self.local.union(names) - as_global, self.as_global.difference(names) | as_global
        self.unsure = self.unsure.difference(names, as_global)
        self.generic_visit(node)
        self.local, self.as_global, self.unsure = around

    def _function(self, node: Any) -> ast.AST:
        scope = scope_of(node)
        self._within(node, scope.local, scope.as_global)
        return node

    visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._within(node, bound(node.body))
        return node

    def _comprehension(self, node: Any) -> ast.AST:
        self._within(node, [name for g in node.generators for name in bound([g.target])])
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if not isinstance(node.ctx, ast.Load) or name.startswith(OURS):
            return node
        if name in self.unsure:
            return _sure(node, ast.Constant(True))
        if name in self.local:
            return node
        if name not in self.as_global and hasattr(builtins, name) and name not in self.free:
            return node
        return at(hook(LOAD, ast.Constant(name), node), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return at(hook(ATTR, node.value, ast.Constant(node.attr)), node) if isinstance(node.ctx, ast.Load) else node

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        said = said_to_rebind(node)
        self._function(node)
        docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        declared = [s for s in node.body if isinstance(s, (ast.Global, ast.Nonlocal))]
        rest = [s for s in node.body[len(docstring) :] if not isinstance(s, (ast.Global, ast.Nonlocal))]
        node.body = [*docstring, *declared, *said, *rest]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return with_identity(node)
        operators = strings([_COMPARISONS[type(operator)] for operator in node.ops])
        if not any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) or any(
            map(binds_in_place, node.comparators)
        ):
            return node
        return at(hook(CHAIN, node.left, operators, *[thunk(operand) for operand in node.comparators]), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec") and node.args:
            around = [ast.Call(load(name), [], []) for name in ("locals", "globals")]  # what the text may look at
            node.args[0] = at(hook(SUBJECT, node.args[0], *around), node.args[0])
        return node


def _may_be_lists(node: ast.Compare) -> bool:
    """Whether a comparison may be one of lists: it is not if there is a number or a text on one side."""
    return not any(isinstance(x, (ast.Constant, ast.JoinedStr, ast.BinOp)) for x in (node.left, *node.comparators))


def tested(test: ast.expr) -> ast.expr:
    """A condition: of the operands of `and` and `or` only their truth counts, which a list has whatever it holds."""
    if not isinstance(test, ast.BoolOp):
        return test
    values = [tested(v) for v in test.values]
    twice = [_doubly_negated(v) if isinstance(v, (ast.Name, ast.Attribute, ast.Subscript)) else v for v in values]
    return at(ast.BoolOp(test.op, twice), test)


def _doubly_negated(x: ast.expr) -> ast.expr:
    return at(ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), x)), x)


def _joins_lists(node: ast.AST) -> bool:
    """Whether an expression makes a new list of others: `[0.0] * 3`, `[x] + rest`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
        return _joins_lists(node.left) or _joins_lists(node.right)
    return isinstance(node, (ast.List, ast.ListComp))


_NEUTRAL = {"sum": 0, "any": False, "all": True, "len": 0}
"""What an item that does not count is, for builtins that go through all items."""


def _all_of(tests: list[ast.expr]) -> ast.expr:
    """What holds if all conditions do."""
    if not tests:
        return ast.Constant(True)
    return tests[0] if len(tests) == 1 else hook(AND, *[thunk(test) for test in tests])


def _stops_early(node: ast.Call) -> bool:
    """Whether a call is any(…) or all(…) of items that are made one by one."""
    is_named = isinstance(node.func, ast.Name) and node.func.id in ("any", "all")
    return is_named and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)


def _changes_an_item(node: ast.Call) -> bool:
    """Whether a call is that of a method which changes an item at a place that may be computed: `a[k].append(x)`."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING else None
    return isinstance(owner, ast.Subscript) and not isinstance(owner.slice, (ast.Constant, ast.Slice, ast.Tuple))


class Expressions(ast.NodeTransformer):
    """Lowers the expressions of one function, except the functions among them.

    `around` are the names of the functions around it in the same source, `unsure` those that may hold UNDEFINED, `free`
    the free variables of the outermost.
    """

    def __init__(
        self,
        scope: FunctionScope,
        around: frozenset[str],
        free: frozenset[str],
        in_class: bool,
        numbers: Iterator,
        unsure: frozenset[str] = frozenset(),
    ):
        self.unsure = unsure
        self.scope, self.around, self.free, self.in_class, self.numbers = scope, around, free, in_class, numbers
        self.hidden: list[str] = []  # the variables of the comprehensions around the current node
        self.optional: frozenset[str] = frozenset()  # the parameters of a lambda that have defaults
        self.tentative: frozenset[str] = frozenset()  # the local variables that may hold UNDEFINED
        self.only_read: Reads = {}
        self.summaries = Summaries()
        self.loaded: Counter[str] = Counter()  # how often names are read
        self.by_others: list[str] = []  # those that a call of a function inside may bind
        self.assigned = set(scope.parameters)  # those that have been given a value, certainly, at the current node
        self.deleted: set[str] = set()  # those that may have lost it again
        self.after_suite: set[str] = set()  # `assigned` at the end of the suite that was lowered last

    def _is_own(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.scope.local and node.id not in self.hidden

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if not isinstance(node.ctx, ast.Load) or name.startswith(OURS) or name in self.hidden:
            return node
        if name in self.optional:
            return at(hook(DEFAULT, node), node)
        if name in self.scope.local:
            if name in self.tentative and (name not in self.assigned or name in self.deleted):
                return _sure(node)
            return node
        if name not in self.scope.as_global:
            if name in self.unsure:
                return _sure(node, ast.Constant(True))
            if name in self.around or (hasattr(builtins, name) and name not in self.free):
                return node
        return at(hook(LOAD, ast.Constant(name), node), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return node
        if is_read_here(node.value) and node.attr != "get":  # for which see `visit_Call`
            node.value = at(hook(BASE, node.value, strings([node.attr])), node.value)
        return at(hook(ATTR, node.value, ast.Constant(node.attr)), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Attribute):
            node.value.value = self.visit(node.value.value)  # `rewrite.py` stores into attributes by their names
        elif not (isinstance(node.ctx, ast.Store) and self._is_own(node.value)):  # these it binds again
            node.value = self.visit(node.value)
            if isinstance(node.ctx, ast.Load) and isinstance(node.value, (ast.Call, ast.Subscript)):
                node.value = at(hook(BASE, node.value), node.value)
        node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords
        if is_super and self.in_class and self.scope.first and "super" not in self.around | self.scope.local:
            node.args = [load("__class__"), load(self.scope.first)]  # suites do not have these at hand
            return node
        if _stops_early(node) and binds_in_place(node.args[0].elt):  # type: ignore[attr-defined]
            items: Any = node.args[0]
            items.elt = at(hook(TEST, items.elt), items.elt)
        if isinstance(node.func, ast.Name) and node.func.id == "next" and len(node.args) in (1, 2):
            if isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
                node.args = [self.visit(a) for a in node.args]
                node.args[0] = at(hook(HELD, node.args[0]), node.args[0])
                return node
        everything = self._with_all_items(node)
        if everything is not None:
            return everything
        if _changes_an_item(node):
            item: Any = node.func.value  # type: ignore[attr-defined]
            called = hook(OF_ITEM, self.visit(item.value), self.visit(item.slice), ast.Constant(node.func.attr))  # type: ignore[attr-defined]
            new = at(ast.Call(at(called, node.func), [], []), node)
            new.args = [self.visit(a) for a in node.args]
            new.keywords = [self.visit(k) for k in node.keywords]
            return new
        self.generic_visit(node)
        if _is_get(node):
            base = node.func.args[0]  # type: ignore[attr-defined]
            node.func.args[0] = at(hook(BASE, base), base)  # type: ignore[attr-defined]
        if is_plain_call(node):
            node.args = [self._passed(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = self._passed(keyword.value)
        return node

    def _with_all_items(self, node: ast.Call) -> ast.AST | None:
        """`sum(v for v in x if v > 0)` as `sum((v if v > 0 else 0) for v in x)`, if the name is that of the builtin
        when it runs: whether an item counts may then be known only to the program. `any`, `all`, `len` alike; `min` and
        `max` are given a list instead of a generator."""
        name = getattr(node.func, "id", None)
        if name in ("min", "max"):
            return self._of_a_list(node, name)
        if name not in _NEUTRAL or len(node.args) != 1 or node.keywords or binds_in_place(node):
            return None
        items, builtin = node.args[0], "sum" if name == "len" else name
        kinds = (ast.ListComp,) if name == "len" else (ast.ListComp, ast.GeneratorExp)
        is_fit = isinstance(items, kinds) and not any(g.is_async for g in items.generators)
        if not is_fit or not items.generators[-1].ifs or any(g.ifs for g in items.generators[:-1]):  # type: ignore[attr-defined]
            return None
        if name == "len" and not isinstance(items.elt, (ast.Name, ast.Constant)):  # type: ignore[attr-defined]
            return None  # what makes the items may raise, or do something
        if {name, builtin} & (self.scope.local | self.scope.as_global | self.around | self.free):
            return None
        every = copied(items)
        last = every.generators[-1]
        test = last.ifs[0] if len(last.ifs) == 1 else at(ast.BoolOp(ast.And(), last.ifs), items)
        value = ast.Constant(1) if name == "len" else every.elt
        every.elt = at(ast.IfExp(test, value, ast.Constant(_NEUTRAL[name])), items)
        last.ifs = []
        is_builtin: list[ast.expr] = [hook(BUILTIN, ast.Constant(n), load(n)) for n in sorted({name, builtin})]
        known = is_builtin[0] if len(is_builtin) == 1 else ast.BoolOp(ast.And(), is_builtin)
        self.generic_visit(node)
        whole = at(ast.Call(load(builtin), [self.visit(every)], []), items)
        return at(ast.IfExp(known, whole, node), node)

    def _of_a_list(self, node: ast.Call, name: str) -> ast.AST | None:
        """`min(v for v in x if v > 0)` as `min([v for v in x if v > 0])`, if the name is that of the builtin."""
        items = node.args[0] if len(node.args) == 1 else None
        if not isinstance(items, ast.GeneratorExp) or not items.generators[-1].ifs or binds_in_place(node):
            return None
        if name in self.scope.local | self.scope.as_global | self.around | self.free:
            return None
        whole = copied(node)
        whole.args = [at(ast.ListComp(whole.args[0].elt, whole.args[0].generators), items)]
        self.generic_visit(node)
        self.generic_visit(whole)
        return at(ast.IfExp(hook(BUILTIN, ast.Constant(name), load(name)), whole, node), node)

    def _passed(self, argument: ast.expr) -> ast.expr:
        """An argument that may be a container from outside (`session.py`)."""
        is_read = is_read_here(argument)
        if not is_read and not self._is_own(argument):
            return argument
        return at(hook(PASSED, argument, ast.Constant(is_read)), argument)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first, *others = node.values
        if any(map(binds_in_place, others)):
            return node
        every = [_given(first), *[thunk(v) for v in others]]
        return at(hook(AND if isinstance(node.op, ast.And) else OR, *every), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            node.operand = tested(node.operand)
        self.generic_visit(node)
        return at(hook(NOT, node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = tested(node.test)
        self.generic_visit(node)
        if binds_in_place(node.body) or binds_in_place(node.orelse):
            return node
        return at(hook(IFEXP, node.test, thunk(node.body), thunk(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and _may_be_lists(node):
                positive = ast.Constant(isinstance(node.ops[0], ast.Eq))
                return at(hook(EQUAL, node.left, node.comparators[0], positive), node)
            if isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and _may_be_lists(node):
                name = ast.Constant(_COMPARISONS[type(node.ops[0])])
                return at(hook(ORDERED, node.left, node.comparators[0], name), node)
            return with_identity(node)
        first, *others = node.comparators
        if any(map(binds_in_place, others)):
            return node
        operators = strings([_COMPARISONS[type(operator)] for operator in node.ops])
        return at(hook(CHAIN, node.left, operators, _given(first), *[thunk(operand) for operand in others]), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        parts = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = part.format_spec or ast.Constant("")
                part = ast.Tuple([part.value, ast.Constant(part.conversion), spec], ast.Load())
            parts.append(part)
        return at(hook(TEXT, *parts), node)

    def _comprehension(self, node: Any) -> ast.AST:
        if any(generator.is_async for generator in node.generators):
            return node
        hidden = self.hidden
        every: list[list[ast.expr]] = []
        for k, generator in enumerate(node.generators):
            generator.iter = at(hook(ITERATE, self.visit(generator.iter)), generator.iter)
            if k == 0:  # the first is evaluated outside
                self.hidden = [*hidden, *[name for g in node.generators for name in bound([g.target])]]
            generator.target = self.visit(generator.target)
            every.append([self.visit(test) for test in generator.ifs])
            generator.ifs = [at(hook(TEST, test), test) for test in every[-1]]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self.hidden = hidden
        if isinstance(node, (ast.DictComp, ast.SetComp)) and len(every) == 1 and not binds_in_place(node):
            return self._kept(node, every[0])
        if binds_in_place(node) or not isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._over_items(node, at(hook(MADE, node), node))
        first: Any = node.generators[0].iter
        if isinstance(node, ast.GeneratorExp):
            chooses = every[-1] if len(every) == 1 else any(every)
            if chooses:
                return self._chosen_of(node, every, first.args[0])
            return self._over_items(node, at(hook(MADE, node), node))
        if len(every) == 1 and not every[0]:
            return self._over_items(node, at(hook(MADE, node), node))
        choose = self._chosen_of(node, every, load(f"{OURS}items"))
        if every[-1]:
            node.generators[-1].ifs = []
            node.elt = at(hook(CHOSEN, _all_of(every[-1]), thunk(node.elt)), node.elt)
        items = self._over_items(node, at(hook(FILTERED if every[-1] else MADE, node), node))
        items.func = load(LISTED)  # type: ignore[attr-defined]
        items.args.append(at(ast.Lambda(arguments(f"{OURS}items"), choose), node))  # type: ignore[attr-defined]
        return items

    def _chosen_of(self, node: Any, every: list[list[ast.expr]], iterable: ast.expr, k: int = 0) -> ast.expr:
        """A comprehension from its k-th `for` on, as a generator in which data may decide what counts: in Python's way,
        and item by item. `every` are the conditions, as they were visited."""
        items, each, is_last = f"{OURS}items", f"{OURS}each", k == len(every) - 1
        target, tests = node.generators[k].target, every[k]
        value: ast.expr = copied(node.elt)
        if not is_last:
            following: Any = node.generators[k + 1].iter
            value = self._chosen_of(node, every, copied(following.args[0]), k + 1)
        here = ast.comprehension(copied(target), at(hook(ITERATE, load(items)), node),
                                 [at(hook(TEST, copied(test)), test) for test in tests], 0)  # fmt: skip
        inside = [] if is_last else [ast.comprehension(ast.Name(each, ast.Store()), copied(value), [], 0)]
        found = copied(value) if is_last else load(each)
        native = ast.Lambda(arguments(items), at(ast.GeneratorExp(found, [here, *inside]), node))
        pair = ast.Tuple([thunk(at(_all_of(copied(tests)), node)), thunk(value)], ast.Load())
        one = ast.comprehension(copied(target), load(items), [], 0)
        choose = ast.Lambda(arguments(items), at(ast.ListComp(at(pair, node), [one]), node))
        nested = [] if is_last else [ast.Constant(True)]
        return at(hook(CHOSEN_OF, iterable, at(native, node), at(choose, node), *nested), node)

    def _kept(self, node: Any, tests: list[ast.expr]) -> ast.expr:
        """A dict or set of which data may decide what is in it: in Python's way, if there are no conditions, and item
        by item."""
        items, is_dict = f"{OURS}items", isinstance(node, ast.DictComp)
        first: Any = node.generators[0].iter
        made = ast.Tuple([copied(node.key), copied(node.value)], ast.Load()) if is_dict else copied(node.elt)
        target = copied(node.generators[0].target)
        pair = ast.Tuple([thunk(at(_all_of(copied(tests)), node)), thunk(at(made, node))], ast.Load())
        one = ast.ListComp(at(pair, node), [ast.comprehension(target, load(items), [], 0)])
        source, native = first.args[0], ast.Constant(None)
        if not tests:
            node.generators[0].iter = at(hook(ITERATE, load(items)), first)
            native = at(ast.Lambda(arguments(items), at(hook(MADE, node), node)), node)
        choose = at(ast.Lambda(arguments(items), at(one, node)), node)
        return at(hook(KEPT, source, native, choose, ast.Constant(is_dict)), node)

    def _over_items(self, node: Any, made: ast.expr) -> ast.expr:
        """A comprehension as a function of what it goes through first: how many items there are may be known only to
        the program."""
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or binds_in_place(node):
            return made
        first: Any = node.generators[0].iter
        items = f"{OURS}items"
        node.generators[0].iter = at(hook(ITERATE, load(items)), first)
        lazy = [ast.Constant(True)] if isinstance(node, ast.GeneratorExp) else []
        return at(hook(OVER_ITEMS, first.args[0], at(ast.Lambda(arguments(items), made), node), *lazy), node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return at(hook(MADE, node), node) if isinstance(node.ctx, ast.Load) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        joins = _joins_lists(node)
        self.generic_visit(node)
        return at(hook(MADE, node), node) if joins else node

    def visit_Dict(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        return at(hook(MADE, node), node)

    visit_Set = visit_Dict
