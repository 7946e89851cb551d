"""Which of its parameters a function may write to: itself, through other names and views, or by handing them on.

    def step(u, v):             def loss(x, A):
        w = u[1:]                   step(A, x)
        w[0] = 1.0                  return np.sum(A * x)

`step` writes to u, so `loss` writes to A. What may be written to is put into cells before a derivative operator calls
the function, so that the caller's arrays stay as they are. A parameter too many costs a little time, one too few would
be an array of the caller that changes; so in doubt it is written to.

The syntax says what happens in one function (`writes_of`); whom it calls is known when it runs, so calls are noted by
the names of the functions and looked up later (`may_write`).

An array may also be in a container: the items of `t = [A] + [x]` share memory with A and x; nothing of `y = A + x` does
so, unless A is a container itself (`SharedAs`).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.box.dispatch import place_of_out

Write = tuple[str, str, str]
"""A parameter, with what `SharedAs` says of it; whom it is handed to (as written in the source; empty if the function
itself writes to it) and as which argument: its position (of those that `*args` stands for, the first one's, and `*`),
its name, or `ANY`."""

SharedAs = str
"""How the value of an expression shares memory with that of a name: as it is (empty), in a container (`*`), or only if
that is a container, whose items it then has (`[]`): `A + B`, `A.copy()`."""

_READING = frozenset([
    "abs", "all", "any", "bool", "complex", "divmod", "enumerate", "float", "format", "getattr", "hasattr",
    "hash", "id", "int", "isinstance", "iter", "len", "list", "max", "min", "next", "pow", "print", "range",
    "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip", "dict", "vars",
    "callable",
])  # fmt: skip
"""Builtins that write to no array."""
_WRITERS = frozenset(("copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis", "at", "shuffle"))
"""Functions of NumPy and SciPy that write to their first argument."""
_SHARING = frozenset([
    "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "array", "ravel", "reshape", "transpose",
    "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d", "moveaxis", "swapaxes", "rollaxis",
    "flip", "fliplr", "flipud", "rot90", "diagonal", "diag", "split", "array_split", "hsplit", "vsplit",
    "dsplit", "real", "imag", "broadcast_to", "broadcast_arrays", "nditer", "ndenumerate", "matrix_transpose",
    "permute_dims", "require", "asarray_chkfinite", "nan_to_num", "sliding_window_view", "as_strided", "unstack",
    "astype", "real_if_close", "trim_zeros", "asmatrix", "frombuffer", "from_dlpack", "einsum", "ix_", "meshgrid",
    "diff", "histogram", "histogram_bin_edges", "polyder", "polyint", "matrix_power", "fractional_matrix_power", "fftn",
    "ifftn",
])  # fmt: skip
"""Functions of NumPy and SciPy whose results may share memory with their arguments."""

_HOLDING = frozenset([
    "list", "tuple", "dict", "set", "sorted", "zip", "map", "filter", "reversed", "enumerate", "iter",
])  # fmt: skip
"""Builtins that give containers of what they are given."""

_COMPUTING = frozenset([
    "sum", "mean", "max", "min", "prod", "std", "var", "dot", "cumsum", "cumprod", "all",
    "any", "argmax", "argmin", "item", "tolist", "tobytes", "clip", "round", "trace", "argsort", "nonzero",
    "repeat", "take", "flatten", "choose", "compress", "searchsorted", "ptp",
])  # fmt: skip
"""Methods of arrays whose results share no memory with them."""


def writes_of(function: ast.AST, libraries: frozenset[str] = frozenset()) -> frozenset[Write]:
    """What a function may do to its parameters. `libraries` are the names of NumPy and SciPy in its module, whose
    functions compute new arrays; what those of other libraries give, `itertools.chain(A)`, holds what they are
    given."""
    args = function.args  # type: ignore[attr-defined]
    parameters = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if a]
    stands_for: dict[str, set[tuple[str, SharedAs]]] = {name: {(name, "")} for name in parameters}
    nodes = [node for node in ast.walk(function) if node is not function]
    while sum(_bind(node, stands_for, libraries) for node in nodes):
        pass
    own = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    found: set[Write] = set()
    for node in nodes:
        for name, callee, place in _writes(node, libraries, own):
            found |= {(p + kind, callee, place) for p, kind in stands_for.get(name, ())}
    return frozenset(found)


def _bind(node: ast.AST, stands_for: dict[str, set[tuple[str, SharedAs]]], libraries: frozenset[str]) -> bool:
    """Names that stand for a parameter, or for what shares memory with it, from here on."""
    changed = False
    for names, values in _bound(node):
        pairs = [pair for value in values for pair in _shared(value, libraries)]
        sources = {(p, kind or how) for name, how in pairs for p, kind in stands_for.get(name, ())}
        for name in names if sources else ():
            known = stands_for.setdefault(name, set())
            changed = changed or not sources <= known
            known |= sources
    return changed


def _bound(node: ast.AST) -> Iterator[tuple[list[str], list[ast.expr | None]]]:
    """The names that a piece of syntax binds, and expressions of which they stand for the values, or for parts."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield _names_in(target), [node.value]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        yield _names_in(node.target), [node.value]
    elif isinstance(node, ast.AugAssign):
        load = ast.Constant(None)
        yield _names_in(node.target), [ast.BinOp(load, node.op, node.value)]
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield _names_in(node.target), [node.iter]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield _names_in(node.optional_vars), [node.context_expr]
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):  # what calls and attributes give
        given = [n for n in ast.walk(node) if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom))]
        held = node.body if isinstance(node, ast.ClassDef) else []
        yield [node.name], [n.value for n in (*given, *[n for n in held if isinstance(n, ast.Assign)])]
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        for arg, value in zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True):
            yield [arg.arg], [value]
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield [arg.arg], [default]


def _names_in(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def _shared(value: ast.expr | None, libraries: frozenset[str]) -> Iterator[tuple[str, SharedAs]]:
    """The names whose memory the value of an expression may share, and how. What is computed is new."""
    if isinstance(value, ast.Name):
        yield value.id, ""
    elif isinstance(value, (ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Constant)) or value is None:
        return
    elif isinstance(value, ast.BinOp):
        if isinstance(value.op, (ast.Add, ast.Mult, ast.BitOr)) and not _is_number(value):
            for side in (value.left, value.right):
                yield from [(name, how or "[]") for name, how in _shared(side, libraries)]
    elif isinstance(value, ast.Lambda):
        yield from _shared(value.body, libraries)
    elif isinstance(value, ast.Subscript):
        yield from _shared(value.value, libraries)
    elif isinstance(value, ast.Call):
        yield from _shared_by_call(value, libraries)
    else:
        holds = isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))
        for child in ast.iter_child_nodes(value):
            inner = child.iter if isinstance(child, ast.comprehension) else child
            if isinstance(inner, ast.expr):
                yield from [(name, how or "*" * holds) for name, how in _shared(inner, libraries)]


def _shared_by_call(value: ast.Call, libraries: frozenset[str]) -> Iterator[tuple[str, SharedAs]]:
    callee = _dotted(value.func)
    of_library = callee.split(".")[0] in libraries
    last = value.func.attr if isinstance(value.func, ast.Attribute) else callee
    if of_library and (last not in _SHARING):
        return
    if not of_library:
        if last in _COMPUTING and isinstance(value.func, ast.Attribute):
            return
        kept: SharedAs = "[]" if last == "copy" else ""
        whose = value.func.value if isinstance(value.func, ast.Attribute) else value.func
        yield from [(name, how or kept) for name, how in _shared(whose, libraries)]
    for argument in [*value.args, *[k.value for k in value.keywords]]:
        yield from [(name, how or "*" * (callee in _HOLDING)) for name, how in _shared(argument, libraries)]


def _is_number(value: ast.expr) -> bool:
    """Whether the value of an expression cannot be a container, and so is a number or an array."""
    if isinstance(value, ast.Constant):
        return not isinstance(value.value, (str, bytes)) and value.value is not None
    if not isinstance(value, ast.BinOp):
        return isinstance(value, ast.UnaryOp)
    if isinstance(value.op, (ast.Add, ast.BitOr)):
        return _is_number(value.left) or _is_number(value.right)
    if isinstance(value.op, ast.Mult):  # a list by an integer is a list
        sides = (value.left, value.right)
        return all(map(_is_number, sides)) or any(
            _is_number(s) and (isinstance(s, ast.BinOp) or isinstance(getattr(s, "value", None), float)) for s in sides
        )
    return not isinstance(value.op, ast.Mod)


def _dotted(node: ast.expr) -> str:
    """`np.add.at` of such an expression; empty if it is anything else than names and dots."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner else ""  # type: ignore[attr-defined]


def _writes(node: ast.AST, libraries: frozenset[str], own: dict[str, Any]) -> Iterator[Write]:
    """Names that this piece of syntax writes to, or hands to others. `own` are functions that are defined beside it."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension)):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets = [node.optional_vars]
    for target in [t for whole in targets for t in ast.walk(whole) if isinstance(t, ast.expr)]:
        if not isinstance(getattr(target, "ctx", None), ast.Store):
            continue
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            for name, _ in _shared(target.value, libraries):
                yield name, "", ""
        elif isinstance(target, ast.Name) and isinstance(node, ast.AugAssign):
            yield target.id, "", ""
    if isinstance(node, ast.Attribute) and node.attr in _WRITING_METHODS:  # also if it is called later
        for name, _ in _shared(node.value, libraries):
            yield name, "", ""
    if isinstance(node, ast.Call):
        yield from _handed_on(node, libraries, own)


def _handed_on(node: ast.Call, libraries: frozenset[str], own: dict[str, Any]) -> Iterator[Write]:
    callee = _dotted(node.func)
    of_library = callee.split(".")[0] in libraries
    last = node.func.attr if isinstance(node.func, ast.Attribute) else callee  # of `A[0].fill`, too
    if isinstance(node.func, ast.Attribute) and (last in _WRITING_METHODS or last.startswith("__")):
        of_class = "ndarray" in callee.split(".")  # np.ndarray.sort(A)
        for name, _ in _shared(node.args[0] if of_class and node.args else node.func.value, libraries):
            yield name, "", ""
    if callee in _READING:
        return
    if of_library:
        for argument in _written_by_library(node, last):
            yield from [(name, "", "") for name, _ in _shared(argument, libraries)]
        yield from _handed_to_a_function(node, libraries, own)
        return
    for k, argument in enumerate(node.args):
        starred = isinstance(argument, ast.Starred)
        for name, _ in _shared(argument.value if starred else argument, libraries):  # type: ignore[attr-defined]
            yield name, callee, f"{k}*" if starred else str(k)
    for keyword in node.keywords:
        for name, _ in _shared(keyword.value, libraries):
            yield name, callee if keyword.arg else "", keyword.arg or ""


def _handed_to_a_function(node: ast.Call, libraries: frozenset[str], own: dict[str, Any]) -> Iterator[Write]:
    """What a function of a library hands on to the function that it is given: `solve_ivp(f, (0, 1), y, args=(A,))`."""
    arguments = [*node.args, *[k.value for k in node.keywords]]
    functions = [*node.args[:1], *[k.value for k in node.keywords if k.arg in ("fun", "func", "f", "jac")]]
    for function in functions:
        known = function if isinstance(function, ast.Lambda) else own.get(_dotted(function))
        if known is None:
            ways = {(_dotted(function), ANY)} if _dotted(function) else set()
        else:
            ways = {(callee, place) for _, callee, place in writes_of(known, libraries)}
        for argument in arguments if ways else ():
            if argument is not function:
                yield from [(name, *way) for name, _ in _shared(argument, libraries) for way in ways]


def _written_by_library(node: ast.Call, name: str) -> Iterator[ast.expr]:
    """The arguments that a function of NumPy's or SciPy's writes to."""
    yield from [k.value for k in node.keywords if k.arg == "out"]
    if name in _WRITERS and node.args:
        first = node.args[0]
        yield first.value if isinstance(first, ast.Starred) else first
    overwrites = name == "nan_to_num" or any((k.arg or "").startswith("overwrite") for k in node.keywords)
    yield from node.args if overwrites else node.args[place_of_out(getattr(np, name, None)) :]


_WRITING_METHODS = frozenset([
    "fill", "sort", "partition", "put", "resize", "setfield", "byteswap", "itemset", "__setitem__",
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__imatmul__",
    "__iand__", "__ior__", "__ixor__",
])  # fmt: skip

ANY = "any"
"""In place of an argument's position: as one of them, which is not known."""


def may_write(
    f: FunctionType, name: str, holds: bool, writes_of_function: Callable[[FunctionType], Any], seen: tuple = ()
) -> bool:
    """Whether a function may write to one of its parameters, or, if that is a container (it `holds` arrays), to one of
    its items. `writes_of_function` gives what is noted of a function."""
    if (f.__code__, name, holds) in seen:
        return False  # a function that calls itself writes only where it writes otherwise
    noted = writes_of_function(f)
    if noted is None:
        return True
    seen = (*seen, (f.__code__, name, holds))
    meant = {name: holds, f"{name}*": True} | ({f"{name}[]": True} if holds else {})
    return any(
        not callee or _callee_writes(_found(callee, f), place, meant[parameter], writes_of_function, seen)
        for parameter, callee, place in noted
        if parameter in meant
    )


def _callee_writes(
    g: Any, place: str, holds: bool, writes_of_function: Callable[[FunctionType], Any], seen: tuple
) -> bool:
    if isinstance(g, BuiltinFunctionType):
        if g is setattr:
            return True
        return g.__module__ == "_operator" and (g.__name__[0] == "i" or g.__name__ in ("setitem", "delitem"))
    if isinstance(g, type) and g.__module__ in ("itertools", "collections"):
        return False
    if not isinstance(g, FunctionType):
        return place != ANY
    first = place.rstrip("*")
    if place == ANY:
        names: list[str | None] = [*g.__code__.co_varnames[: g.__code__.co_argcount]]
    elif not first.isdigit():
        names = [parameter_named(g, place)]
    elif place == first:
        names = [parameter_at(g, int(place))]
    else:
        code = g.__code__
        names = [parameter_at(g, k) for k in range(int(first), max(code.co_argcount, int(first)) + 1)]
        names = [name for k, name in enumerate(names) if name or not k]
    return any(name is None or may_write(g, name, holds, writes_of_function, seen) for name in names)


def parameter_at(f: FunctionType, position: int) -> str | None:
    """The parameter that gets what is passed at a position; `None` if there is none."""
    code = f.__code__
    if position < code.co_argcount:
        return code.co_varnames[position]
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & CO_VARARGS else None


def parameter_named(f: FunctionType, name: str) -> str | None:
    """The parameter that gets what is passed by a name; `None` if there is none."""
    code = f.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    if name in code.co_varnames[code.co_posonlyargcount : count]:
        return name
    return code.co_varnames[count + bool(code.co_flags & CO_VARARGS)] if code.co_flags & CO_VARKEYWORDS else None


def _found(callee: str, f: FunctionType) -> Any:
    """What stands behind a name in a function, if that is known before it runs."""
    first, *rest = callee.split(".")
    code = f.__code__
    if first in code.co_varnames:
        return None
    if first in code.co_freevars:
        try:
            found = (f.__closure__ or ())[code.co_freevars.index(first)].cell_contents
        except (ValueError, IndexError):
            return None
    else:
        found = f.__globals__.get(first, getattr(builtins, first, None))
    for name in rest:
        if not isinstance(found, ModuleType):
            return None
        found = getattr(found, name, None)
    return found
