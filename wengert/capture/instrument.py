"""From a user's function to its instrumented twin.

The twin is compiled from the rewritten syntax tree (`rewrite.py`) under the same file name, with the same line numbers,
and shares everything with the original: globals, closure cells, defaults. So tracebacks, breakpoints and coverage point
at the user's lines, and what the original would see the twin sees.

It is made once per code object. Only users' code is rewritten: nothing that is installed (in a `site-packages`),
nothing of the standard library, nothing of this package.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dataclasses
import functools
import os
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType
from typing import Any

from wengert.box.distributions.lookup import is_of_scipy_stats, stand_in
from wengert.capture.locate import Located, locate
from wengert.capture.rewrite import HOOKS, Rewriter, written_parameters

TWIN, _WRITES = "__wengert_twin__", "__wengert_writes__"
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
_LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})

_twins: dict[int, tuple[CodeType, CodeType | None, frozenset[str]]] = {}
_ours: dict[int, CodeType] = {}
_lock = threading.RLock()


def instrument(f: Any) -> Any:
    """The instrumented twin of a callable; the callable itself where there is nothing to rewrite."""
    kind = f.__class__
    if kind is FunctionType:
        if id(f.__code__) in _ours:
            return f
        twin = f.__dict__.get(TWIN)
        if twin is not None and twin[0] is f.__code__:
            return twin[1]
        return _twin_of_function(f)
    if kind is MethodType:
        if is_of_scipy_stats(f):
            return stand_in(f)
        function = instrument(f.__func__)
        return f if function is f.__func__ else MethodType(function, f.__self__)
    if kind is functools.partial:
        function = instrument(f.func)
        args = tuple([instrument(a) if is_user_function(a) else a for a in f.args])
        return f if function is f.func and args == f.args else functools.partial(function, *args, **f.keywords)
    if kind is type or isinstance(f, type):
        return _twin_of_class(f)
    if kind is BuiltinFunctionType:
        return f
    if is_of_scipy_stats(f):
        return stand_in(f)
    method = kind.__dict__.get("__call__") or getattr(kind, "__call__", None)  # noqa: B004
    if method.__class__ is FunctionType and is_user_code(method.__code__):
        function = instrument(method)
        return f if function is method else MethodType(function, f)
    return f


def is_user_function(f: Any) -> bool:
    """Whether something is a function, method or partial of the user's."""
    while f.__class__ is functools.partial:
        f = f.func
    if f.__class__ is MethodType:
        f = f.__func__
    return f.__class__ is FunctionType and is_user_code(f.__code__)


@functools.lru_cache(maxsize=4096)
def _is_user_file(filename: str) -> bool:
    return not filename.startswith((_PACKAGE, "<frozen", *_LIBRARIES)) and "site-packages" not in filename


def is_user_code(code: CodeType) -> bool:
    """Whether a code object is of the user's own source."""
    return _is_user_file(code.co_filename)


def written_positions(f: Any) -> frozenset[int]:
    """The positional parameters that an instrumented function writes to, as its caller counts them."""
    before = 0
    while f.__class__ is not FunctionType:
        if f.__class__ is functools.partial:
            before += len(f.args)
            f = f.func
        elif f.__class__ is MethodType:
            before += 1
            f = f.__func__
        else:
            return frozenset()
    positions = f.__dict__.get(_WRITES)
    if not positions:
        return frozenset()
    return positions if not before else frozenset(k - before for k in positions if k >= before)


def _twin_of_function(f: FunctionType) -> Any:
    code = f.__code__
    with _lock:
        known = _twins.get(id(code))
        if known is None or known[0] is not code:
            known = _twins[id(code)] = (code, *_compile_twin(code, f.__globals__))
    _, new_code, writes = known
    if new_code is None:
        twin: Any = f
    else:
        cells = dict(zip(code.co_freevars, f.__closure__ or (), strict=True))
        closure = tuple([_HOOK_CELLS[n] if n in _HOOK_CELLS else cells[n] for n in new_code.co_freevars])
        twin = FunctionType(new_code, f.__globals__, f.__name__, f.__defaults__, closure)
        twin.__kwdefaults__ = f.__kwdefaults__
        twin.__qualname__, twin.__module__, twin.__doc__ = f.__qualname__, f.__module__, f.__doc__
        twin.__dict__.update({k: v for k, v in f.__dict__.items() if k != TWIN})
        twin.__dict__[_WRITES] = frozenset(
            k for k, name in enumerate(new_code.co_varnames[: new_code.co_argcount]) if name in writes
        )
    f.__dict__[TWIN] = (code, twin)
    return twin


def _compile_twin(code: CodeType, module_globals: dict[str, Any]) -> tuple[CodeType | None, frozenset[str]]:
    """The code of the twin, or `None` if the function runs as it is."""
    if not is_user_code(code):
        return None, frozenset()
    located = locate(code, module_globals)
    if located is None:
        return None, frozenset()
    node = copy.deepcopy(located.node)
    writes = written_parameters(node)
    if not isinstance(node, ast.Lambda):
        node.decorator_list = []
    tree = _in_a_factory(Rewriter().visit(node), located, code.co_freevars)
    compiled = compile(tree, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE_FLAGS)
    found = _find(compiled, code)
    if found is None or set(found.co_freevars) - set(code.co_freevars) - set(HOOKS):
        return None, frozenset()
    found = found.replace(co_qualname=code.co_qualname)
    _adopt(found)
    return found, writes


_FUTURE_FLAGS = __future__.annotations.compiler_flag
_HOOK_CELLS: dict[str, CellType] = {}
"""The free variables of twins that are ours; filled in by `hooks.py`."""


def set_hooks(table: dict[str, Callable]) -> None:
    """Say what the hooks do."""
    _HOOK_CELLS.update({name: CellType(function) for name, function in table.items()})


def _in_a_factory(node: Any, located: Located, free: tuple[str, ...]) -> ast.Module:
    """A module in which the function stands as it stood: inside its classes, with its free variables around it."""
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Expr(node)]
    else:
        body = [node]
    for name in reversed(located.classes):
        body = [ast.ClassDef(name=name, bases=[], keywords=[], body=body, decorator_list=[], **_TYPE_PARAMS)]
    outermost = getattr(body[0], "name", None)
    if outermost is not None and outermost not in free:
        body.insert(0, ast.Global([outermost]))  # a function that calls itself, or names its class, means the global
    parameters = [ast.arg(name) for name in (*HOOKS, *[n for n in free if n != "__class__"])]
    arguments = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
    factory = ast.FunctionDef(
        name="_wengert_factory", args=arguments, body=body, decorator_list=[], returns=None, **_TYPE_PARAMS
    )
    module = ast.Module([factory], [])
    for outer in ast.walk(module):
        if isinstance(outer, (ast.stmt, ast.arg)) and not hasattr(outer, "lineno"):
            ast.copy_location(outer, located.node)
    return ast.fix_missing_locations(module)


_TYPE_PARAMS: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


def _find(compiled: CodeType, original: CodeType) -> CodeType | None:
    """The code object of the function in a compiled factory: the outermost one of its name."""
    level = [compiled]
    while level:
        inner = [c for code in level for c in code.co_consts if isinstance(c, CodeType)]
        for code in inner:
            if code.co_name == original.co_name:
                return code
        level = inner
    return None


def _adopt(code: CodeType) -> None:
    """Remember that a code object, and those inside it, are instrumented."""
    _ours[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _adopt(constant)


def _twin_of_class(cls: Any) -> Any:
    """A constructor with an instrumented `__init__`, or `__post_init__` of a dataclass, for users' ordinary classes."""
    if type(cls).__call__ is not type.__call__ or getattr(cls, "__new__", None) is not object.__new__:
        return cls
    init: Any = getattr(cls, "__init__", None)
    if init.__class__ is FunctionType and (twin := instrument(init)) is not init:

        def construct(*args: Any, **kwargs: Any) -> Any:
            instance = object.__new__(cls)
            twin(instance, *args, **kwargs)
            return instance

        return construct
    after = getattr(cls, "__post_init__", None)
    if dataclasses.is_dataclass(cls) and after.__class__ is FunctionType and hasattr(cls, "__dict__"):
        after_twin = instrument(after)

        def construct_dataclass(*args: Any, **kwargs: Any) -> Any:
            instance: Any = object.__new__(cls)  # type: ignore[arg-type]
            own = getattr(instance, "__dict__", None)
            if own is None or after_twin is after:
                return cls(*args, **kwargs)  # type: ignore[operator]
            own["__post_init__"] = MethodType(after_twin, instance)  # found before the method of the class
            try:
                init(instance, *args, **kwargs)
            finally:
                own.pop("__post_init__", None)
            return instance

        return construct_dataclass
    return cls
