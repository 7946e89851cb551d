"""The rewriting of a function's syntax tree.

These are rewritten, each into a call of a hook (see `hooks.py`), with line and column kept:

    f(…)        call(f)(…)                         what is called may be replaced, or instrumented in its turn
    "…" % x     format("…", x)                     shows traced numbers as f-strings do
    A @ […]     operate(matmul, A, […])            NumPy would convert the list before anybody is asked; any operator
                                                   of something that is written as a list, and all products
    x.__class__ class_of(x)                        a traced value has the class of what it stands for
    except E:   except refused(lambda: E): raise   before it: errors of ours pass, unless they are named
    y = …       y = own(…)                         an array that was just made may be written to later; wherever a
                                                   value gets a holder: names, results, items, arguments
    a[i]        read(a, i)                         a plain array may be read at an index that is traced (in a batch)
    a[i] = v    a = store(v, a, i, True)           a plain array that v cannot be written into becomes one that can
    a += v      a = augment(iadd, a, v)            likewise; items and attributes too

The rest stays as it is: operators, comparison and control flow need no help, because traced values have them.
The names of the hooks reach the function as free variables, so neither its globals nor its locals are touched.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from wengert.capture.matching import MATCHED
from wengert.capture.syntax import OURS, at, copied, hook, load, targets_in, with_names
from wengert.counted import LENDS

_NAMES = """
    call own refused read store store_in_item store_in_attribute augment augment_item augment_attribute slice format
    operate class_of read_text set_in locals
"""
HOOKS = (*[f"_wengert_{name}" for name in _NAMES.split()], MATCHED)
(
    CALL, OWN, REFUSED, READ, STORE, STORE_IN_ITEM, STORE_IN_ATTRIBUTE, AUGMENT, AUGMENT_ITEM, AUGMENT_ATTRIBUTE, SLICE,
    FORMAT, OPERATE, CLASS_OF, READ_TEXT, SET_IN, LOCALS, _,
) = HOOKS  # fmt: skip
_CONTAINER, _KEY, _ITEM = "_wengert_container", "_wengert_key", "_wengert_item"

_NEEDS_ITS_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint", "__import__"}
"""Functions that look at the frame they are called from: they are called as written."""

_GIVE_SEVERAL_VIEWS = {"split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "broadcast_arrays"}
"""Functions of NumPy whose results share the memory of what they are given."""

_CHANGING = {"flat", "real", "imag", "shape", "strides", "dtype"}
"""Attributes of arrays that change the array when they are set."""

_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_",
    ast.BitOr: "or_", ast.BitXor: "xor",
}  # fmt: skip


_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


class Rewriter(ast.NodeTransformer):
    """Rewrites a function. `scopes` holds, for each function around the current node, the names local to it.

    If the function is `staged`, the bounds of slices may be traced. `libraries` are globals that are modules of
    libraries: their functions do not keep what they are given. `lists` has the names of lists and tuples, likewise.
    """

    def __init__(self, staged: bool = False, libraries: frozenset[str] = frozenset()) -> None:
        self.scopes: list[set[str]] = []
        self.lists: list[set[str]] = []
        self.staged = staged
        self.libraries = libraries

    # -------------------------------------------------------------------------------------------------- scopes

    def _function(self, node: ast.AST) -> ast.AST:
        returns = getattr(node, "returns", None) if self.scopes else None  # (as in `visit_arg`)
        if not isinstance(node, ast.Lambda):
            node.returns = None  # type: ignore[attr-defined]
        # A suite that was lowered to a function has the variables of the function it stands in.
        is_suite = isinstance(node, ast.FunctionDef) and node.name.startswith(OURS)
        self.scopes.append(self.scopes[-1] if is_suite else _local_names(node))
        self.lists.append(_names_of_lists(node))
        held = [_held(name, node) for name in _parameters_written(node)] if LENDS else []
        self.generic_visit(node)
        self.lists.pop()
        self.scopes.pop()
        if isinstance(node, ast.FunctionDef) and not is_suite:
            node.body[:0] = held
            if not getattr(node, "is_method", False):  # `@f` above a function calls f
                node.decorator_list = [at(hook(CALL, d), d) for d in node.decorator_list]
        if isinstance(node, ast.Lambda):
            node.body = _own(node.body)
        elif returns is not None:
            node.returns = returns  # type: ignore[attr-defined]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.scopes.append(set())
        for child in node.body:
            child.is_method = True  # type: ignore[attr-defined]
        self.generic_visit(node)
        self.scopes.pop()
        return node

    def _is_local(self, name: str) -> bool:
        return bool(self.scopes) and name in self.scopes[-1]

    # --------------------------------------------------------------------------------------------------- calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        keeps = not isinstance(function, ast.Attribute) or function.attr in _GIVE_SEVERAL_VIEWS
        keeps = keeps or not self._is_library(function.value)  # type: ignore[attr-defined]
        self.generic_visit(node)
        if keeps and not (isinstance(function, ast.Name) and function.id.startswith(OURS)):
            node.args = [_own(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = _own(keyword.value)
        if getattr(function, "id", None) in ("eval", "exec") and node.args:
            node.args[0] = at(hook(READ_TEXT, node.args[0]), node.args[0])
        of_something = bool(node.args) and getattr(function, "id", None) in ("vars", "dir")
        if of_something or not (isinstance(function, ast.Name) and self._is_called_as_written(function.id)):
            node.func = at(hook(CALL, node.func, *_operands(node)), function)
        return node

    def _is_called_as_written(self, name: str) -> bool:
        return name.startswith(OURS) or (name in _NEEDS_ITS_FRAME and not self._is_local(name))

    def _is_library(self, node: ast.expr) -> bool:
        """Whether an expression is a library, or a module in one: `np`, `np.linalg`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.libraries and not self._is_local(node.id)

    # ------------------------------------------------------------------------------------ values that get a holder

    def _value(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:  # type: ignore[attr-defined]
            node.value = _own(node.value)  # type: ignore[attr-defined]
        return node

    visit_Return = visit_NamedExpr = visit_Yield = _value

    def _items(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            node.elts = [_own(item) for item in node.elts]  # type: ignore[attr-defined]
        return node

    visit_Tuple = visit_List = _items

    def _item(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        node.elt = _own(node.elt)  # type: ignore[attr-defined]
        return node

    visit_ListComp = visit_GeneratorExp = _item

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        node.values = [_own(value) for value in node.values]
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        node.value = _own(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_class = node.attr == "__class__" and isinstance(node.ctx, ast.Load)
        if node.attr in _CHANGING and isinstance(node.ctx, ast.Store):
            node.value = at(hook(SET_IN, node.value), node.value)
        return at(hook(CLASS_OF, node.value), node) if is_class else node

    # ---------------------------------------------------------------------------------------------- formatting

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        is_text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        is_text = is_text or isinstance(node.right, (ast.Tuple, ast.Dict))  # as in: template % (name, value)
        if isinstance(node.op, ast.Mod) and is_text:
            new = hook(FORMAT, node.left, node.right)
        elif isinstance(node.op, ast.MatMult) or self._is_list(node.left) != self._is_list(node.right):
            new = hook(OPERATE, ast.Constant(_OPERATORS[type(node.op)]), node.left, node.right)
        else:
            return node
        return at(new, node)

    def _is_list(self, node: ast.expr) -> bool:
        return _is_list(node) or (isinstance(node, ast.Name) and any(node.id in names for names in self.lists))

    # ------------------------------------------------------------------------------------------------ handlers

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self.generic_visit(node)
        if node.handlers:
            types = [copied(handler.type) for handler in node.handlers if handler.type is not None]
            thunk = ast.Lambda(_NO_ARGUMENTS, ast.Tuple(types, ast.Load()))
            first = ast.ExceptHandler(hook(REFUSED, thunk), None, [ast.Raise(None, None)])
            node.handlers.insert(0, at(first, node.handlers[0]))
        return node

    # --------------------------------------------------------------------------------------------------- reads

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self.visit(item) for item in node.slice.elts]
        else:
            node.slice = self.visit(node.slice)
        makes_arrays = getattr(node.value, "attr", getattr(node.value, "id", None)) in ("r_", "c_", "mgrid", "ogrid")
        if not isinstance(node.ctx, ast.Load) or (
            not self.staged and not makes_arrays and _is_constant_index(node.slice)
        ):
            return node  # (in staged code anything may come from outside)
        return at(hook(READ, node.value, as_expression(node.slice)), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        if len(self.scopes) == 1:  # inner functions keep theirs: a decorator may ask, as `singledispatch` does
            node.annotation = None
        return node

    # -------------------------------------------------------------------------------------------------- stores

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Subscript):
            if any(isinstance(part, ast.Subscript) for target in node.targets for part in targets_in(target)):
                return self._one_by_one(node)
            return self._value(node)
        target = node.targets[0]
        outer = target.value if isinstance(target.value, ast.Subscript) else None
        self.generic_visit(node)
        if outer is not None:  # which is a call by now
            target.value = outer
        container, key = target.value, as_expression(target.slice)
        if isinstance(container, ast.Attribute):
            stored = hook(STORE_IN_ATTRIBUTE, node.value, container.value, ast.Constant(container.attr), key)
            return self._statement(ast.Expr(stored), node)
        if isinstance(container, ast.Subscript):
            stored = hook(STORE_IN_ITEM, node.value, container.value, as_expression(container.slice), key)
            return self._statement(ast.Expr(stored), node)
        return self._bind(container, lambda rebinds: hook(STORE, node.value, container, key, rebinds), node)

    def _one_by_one(self, node: ast.Assign) -> list[ast.stmt]:
        """`a[i], b = v` as `t0, t1 = v; a[i] = t0; b = t1`, in the order in which Python assigns."""
        names: list[str] = []
        targets = [with_names(target, names, _ITEM) for target in node.targets]
        parts = [part for target in node.targets for part in targets_in(target)]
        statements: list[ast.stmt] = [ast.Assign(targets, node.value)]
        statements += [ast.Assign([part], load(name)) for part, name in zip(parts, names, strict=True)]
        statements.append(ast.Assign([ast.Name(name, ast.Store()) for name in names], ast.Constant(None)))
        rewritten: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(self._statement(statement, node))
            rewritten += new if isinstance(new, list) else [new]
        return rewritten

    def visit_For(self, node: ast.For) -> ast.AST:
        if any(isinstance(part, ast.Subscript) for part in targets_in(node.target)):
            first = ast.Assign([node.target], load(_ITEM))
            node.target = at(ast.Name(_ITEM, ast.Store()), node.target)
            node.body.insert(0, self._statement(first, node))
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        if node.value is not None and isinstance(node.target, ast.Subscript):
            return self.visit(self._statement(ast.Assign([node.target], node.value), node))
        if node.value is not None:
            node.value = _own(self.visit(node.value))
        return node

    def _statement(self, new: ast.stmt, node: ast.stmt) -> ast.stmt:
        return at(new, node)

    def _bind(self, container: ast.expr, stored: Callable[[ast.expr], ast.expr], node: ast.stmt) -> ast.stmt:
        """Bind what a store returns to the local name it was read from; elsewhere the name stays as it is."""
        if isinstance(container, ast.Name) and self._is_local(container.id):
            name = ast.Name(container.id, ast.Store())
            return self._statement(ast.Assign([name], stored(ast.Constant(True))), node)
        return self._statement(ast.Expr(stored(ast.Constant(False))), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        target, operator = node.target, ast.Constant("i" + _OPERATORS[type(node.op)].rstrip("_"))
        if isinstance(target, ast.Name):
            value = hook(AUGMENT, operator, load(target.id), node.value)
            return self._statement(ast.Assign([ast.Name(target.id, ast.Store())], value), node)
        if isinstance(target, ast.Attribute):
            value = hook(AUGMENT_ATTRIBUTE, operator, target.value, ast.Constant(target.attr), node.value)
            return self._statement(ast.Expr(value), node)
        # Python reads a[i] before it computes what is added to it.
        container = ast.NamedExpr(ast.Name(_CONTAINER, ast.Store()), target.value)
        key = ast.NamedExpr(ast.Name(_KEY, ast.Store()), as_expression(target.slice))
        old: ast.expr = ast.Subscript(load(_CONTAINER), load(_KEY), ast.Load())
        if self.staged:
            old = hook(READ, load(_CONTAINER), load(_KEY))
        forget = ast.Assign([ast.Name(_CONTAINER, ast.Store()), ast.Name(_KEY, ast.Store())], ast.Constant(None))
        bound = self._bind(
            target.value,
            lambda rebinds: hook(AUGMENT_ITEM, operator, container, key, old, node.value, rebinds),
            node,
        )
        return [bound, self._statement(forget, node)]


def _operands(call: ast.Call) -> list[ast.expr]:
    """How many operands a ufunc would be given, if that may be more than it reads: those beyond are written to."""
    count = OUT if any(keyword.arg == "out" for keyword in call.keywords) else len(call.args)
    if any(keyword.arg is not None and keyword.arg.startswith("overwrite_") for keyword in call.keywords):
        count = OVERWRITING
    given = max([_kind(a) for a in (*call.args, *[keyword.value for keyword in call.keywords])], default=CONSTANTS)
    if given != ANYTHING:
        return [ast.Constant(count), ast.Constant(given)]
    return [ast.Constant(count)] if count > 1 else []


OUT, OVERWRITING = 99, 98
"""Said instead of how many operands there are."""
CONSTANTS, NUMBERS, ANYTHING = 0, 1, 2
"""What the arguments of a call are: constants written out, also expressions that cannot be lists, or anything."""


def _kind(argument: ast.expr) -> int:
    if isinstance(argument, (ast.Constant, ast.Lambda)):
        return CONSTANTS
    if isinstance(argument, (ast.UnaryOp, ast.Compare)):
        return NUMBERS
    if isinstance(argument, ast.BinOp) and not isinstance(argument.op, ast.Add):  # that may join lists
        sides = (argument.left, argument.right)
        if isinstance(argument.op, ast.Mult):  # it may repeat a list, but not a float's number of times
            is_float = any(isinstance(s, ast.Constant) and s.value.__class__ in (float, complex) for s in sides)
            return NUMBERS if is_float else max(map(_kind, sides))
        return ANYTHING if any(isinstance(side, (ast.List, ast.Tuple, ast.ListComp)) for side in sides) else NUMBERS
    return ANYTHING


def _names_of_lists(function: ast.AST) -> set[str]:
    """The names that stand for lists or tuples somewhere in a function."""
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _is_list(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _parameters_written(function: ast.AST) -> list[str]:
    """The parameters that are written to, as in `p[k] = v` and `p += v`."""
    targets: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            targets.append(node.value)
        elif isinstance(node, ast.AugAssign):
            targets.append(node.target)
    written = {target.id for target in targets if isinstance(target, ast.Name)}
    args = function.args  # type: ignore[attr-defined]
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg in written]


def _held(name: str, function: ast.AST) -> ast.stmt:
    """`p = (p,)[0]`: what the caller has lent (`counted.py`), the function then holds as well.

    (Python knows of `p = p` that it was lent, and lends it on.)
    """
    item = ast.Subscript(ast.Tuple([load(name)], ast.Load()), ast.Constant(0), ast.Load())
    return at(ast.Assign([ast.Name(name, ast.Store())], item), function)


def _is_list(node: ast.expr) -> bool:
    """Whether an expression is a list or tuple in which there may be traced values."""
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith(OURS) and node.args
    ):
        node = node.args[0]  # (as lowered code marks what it makes)
    if isinstance(node, (ast.List, ast.Tuple)):
        return not all(isinstance(item, ast.Constant) for item in node.elts)
    return isinstance(node, ast.ListComp)


def _own(value: ast.expr) -> ast.expr:
    """A value that gets a holder: if it may be an array that was just made, it goes through the hook."""
    if isinstance(value, ast.IfExp):
        value.body, value.orelse = _own(value.body), _own(value.orelse)
        return value
    made = value
    while isinstance(made, ast.Attribute):
        made = made.value
    if not isinstance(made, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)) or _is_ours(made):
        return value
    return at(hook(OWN, value), value)


def _is_ours(node: ast.expr) -> bool:
    """Whether an expression is a hook that makes no arrays, or a variable of ours."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id.startswith(OURS)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _NEEDS_ITS_FRAME | _MAKES_NOTHING
    )


_MAKES_NOTHING = {SLICE, OWN, STORE}


def _is_constant_index(index: ast.expr) -> bool:
    """Whether an index is of a kind that cannot be traced: numbers written out, slices, strings, and tuples of them."""
    if isinstance(index, ast.Tuple):
        return all(_is_constant_index(item) for item in index.elts)
    if isinstance(index, ast.UnaryOp):
        return _is_constant_index(index.operand)
    return isinstance(index, (ast.Constant, ast.Slice))


def as_expression(index: ast.expr) -> ast.expr:
    """An index as an ordinary expression: slices become calls."""
    if isinstance(index, ast.Slice):
        parts = [part if part is not None else ast.Constant(None) for part in (index.lower, index.upper, index.step)]
        return hook(SLICE, *parts)
    if isinstance(index, ast.Tuple):
        return ast.Tuple([as_expression(item) for item in index.elts], ast.Load())
    return index


def _local_names(function: ast.AST) -> set[str]:
    """Names that are local to a function: arguments and whatever is bound in it, less what it declares otherwise."""
    names: set[str] = set()
    elsewhere: set[str] = set()

    def collect(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(child.name)
                continue
            if isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                names.update(n.target.id for n in ast.walk(child) if isinstance(n, ast.NamedExpr))
                continue
            if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
                names.add(child.id)
            elif isinstance(child, (ast.Global, ast.Nonlocal)):
                elsewhere.update(child.names)
            elif isinstance(child, ast.ExceptHandler) and child.name:
                names.add(child.name)
            elif isinstance(child, (ast.Import, ast.ImportFrom)):
                names.update((alias.asname or alias.name).split(".")[0] for alias in child.names)
            collect(child)

    args = function.args  # type: ignore[attr-defined]
    for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if a is not None:
            names.add(a.arg)
    if not isinstance(function, ast.Lambda):
        for statement in function.body:  # type: ignore[attr-defined]
            collect(ast.Module([statement], []))
    return names - elsewhere


class PrivateNames(ast.NodeTransformer):
    """Spells out private attributes, `self.__x`, as Python does in a class: hooks are given their names as strings."""

    def __init__(self, classes: tuple[str, ...]) -> None:
        self.classes = classes

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        around, self.classes = self.classes, (*self.classes, node.name)
        self.generic_visit(node)
        self.classes = around
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = self.classes[-1].lstrip("_") if self.classes else ""
        if owner and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{owner}{node.attr}"
        return self.generic_visit(node)
