"""Twins of functions whose source cannot be had: typed at a prompt, made by `exec`, of a file that changed since.

Their code cannot be rewritten, but what its global names mean can be chosen. The twin runs the same code in a namespace
of its own, which looks every name up where the function would, and hands out what instrumented code would call: of
modules their stand-ins, of functions twins and replacements. So constructors, `math`, builtins and other functions of
the user's are as in instrumented code. What is missing is what syntax would tell: control flow cannot be staged, and
plain arrays that come from methods (`a.copy()`) cannot be written to; for these there are errors that say so.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.capture.rewrite import CALL
from wengert.counted import with_references

_LOOKS_AROUND = frozenset(("globals", "locals", "vars", "dir", "eval", "exec", "__import__"))
_ITERATORS = (range, enumerate, zip, reversed, map, filter)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, type(np.sum))


def _is_function(value: Any) -> bool:
    """Whether something is called and nothing else: classes, which have other uses too, stay what they are."""
    return isinstance(value, _FUNCTIONS) or any(value is kind for kind in _ITERATORS)


class Namespace(dict):
    """The globals of a twin. It is empty but for what Python itself looks up, so every name is missing."""

    __slots__ = ("load", "names", "of")

    def __init__(self, names: dict[str, Any], of: Any, load: Callable | None):
        super().__init__({name: names[name] for name in ("__name__", "__package__", "__spec__") if name in names})
        self.names = names
        self.of = of
        self.load = load

    def __missing__(self, name: str) -> Any:
        if name in self.names:
            value = self.meaning(self.names[name])
            return value if self.load is None else self.load(name, value)
        value = getattr(builtins, name, self)
        if value is self:
            raise KeyError(name)
        return self.meaning(value)

    def meaning(self, value: Any) -> Any:
        """What stands for a value in a twin."""
        if value.__class__ is ModuleType:
            return Module(value, self)
        if _is_function(value):
            return self.of.hooks[CALL].cell_contents(value)
        return value


class Module:
    """A module, as twins see it."""

    __slots__ = ("_wengert_module", "_wengert_namespace")

    def __init__(self, module: ModuleType, namespace: Namespace):
        self._wengert_module = module
        self._wengert_namespace = namespace

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wengert_module, name)
        if isinstance(value, (ModuleType, *_FUNCTIONS)):
            return self._wengert_namespace.meaning(value)
        return value

    def __repr__(self) -> str:
        return repr(self._wengert_module)


def twin_without_source(f: FunctionType, of: Any, load: Callable | None) -> Any:
    """The twin of a function in a namespace of its own; the function itself if that changed nothing, or too much."""
    names = f.__globals__.names if isinstance(f.__globals__, Namespace) else f.__globals__
    if isinstance(f.__globals__, Namespace) and f.__globals__.of is of:
        return f
    if not _asks_for_something(f, names) or _needs_its_globals(f.__code__):
        return f
    namespace = Namespace(names, of, load)
    closure = tuple([_translated(cell, namespace) for cell in f.__closure__ or ()]) or None
    twin = FunctionType(with_references(f.__code__), namespace, f.__name__, f.__defaults__, closure)
    twin.__kwdefaults__, twin.__doc__ = f.__kwdefaults__, f.__doc__
    twin.__qualname__, twin.__module__ = f.__qualname__, f.__module__
    twin.__dict__.update(f.__dict__)
    return twin


def _translated(cell: CellType, namespace: Namespace) -> CellType:
    """A free variable that is a function or a module, as the twin is to see it; others are shared."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell  # empty yet
    return CellType(namespace.meaning(value)) if isinstance(value, (ModuleType, *_FUNCTIONS)) else cell


def _codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _codes(constant)
    return found


def _asks_for_something(f: FunctionType, names: dict[str, Any]) -> bool:
    """Whether a function has names that mean something else in a twin."""
    for code in _codes(f.__code__):
        for name in code.co_names:
            value = names.get(name, getattr(builtins, name, None))
            if isinstance(value, (ModuleType, np.ndarray)) or _is_function(value):
                return True
    for cell in f.__closure__ or ():
        try:
            if isinstance(cell.cell_contents, (ModuleType, *_FUNCTIONS)):
                return True
        except ValueError:
            pass  # empty yet
    return False


def _needs_its_globals(code: CodeType) -> bool:
    """Whether code binds global names, looks at its frame, or defines classes, whose names are looked up otherwise."""
    for inner in _codes(code):
        if not _LOOKS_AROUND.isdisjoint(inner.co_names):
            return True
        for instruction in dis.get_instructions(inner):
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_BUILD_CLASS"):
                return True
    return False
