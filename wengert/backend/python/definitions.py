"""The definitions a generated file needs besides its functions: imports, constants, and functions that compute ops
which NumPy and SciPy have no name for.

Such a function is not written here a second time: it is the source of the op's own `impl`, with everything it refers
to, taken from the modules of the table; so it cannot be out of date. Annotations are left out, and ops it calls are
replaced by the functions that compute them.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from wengert.backend.python.literals import SMALL, array, definition, pattern_of
from wengert.backend.python.syntax import (
    PACKAGE,
    NoSource,
    assigned,
    chosen_now,
    code_of,
    edited,
    targets_of,
    tree_of,
    value_of,
)
from wengert.backend.python.text import ATOM, Text
from wengert.errors import UnsupportedFunctionError, WengertError
from wengert.ops import library, within
from wengert.ops.choice import Choice
from wengert.ops.op import Op
from wengert.types import dtype_of, ndim_of, shape_of

_MODULES = {"numpy": ("import numpy as np", "np"), "scipy.special": ("from scipy import special", "special")}
"""Modules that go by another name than their own."""


_SAME = {"sum", "max", "min", "prod", "where", "broadcast_to", "transpose", "flip", "cumsum", "divide", "copy"}
_SAME |= {"add", "subtract", "multiply", "matmul", "real", "imag", "conjugate", "absolute"}
"""Ops that functions of NumPy compute, with the same parameters under the same names."""
_ON_PLAIN = {
    "zeros": "np.zeros({0}, {1})", "ones": "np.ones({0}, {1})", "full": "np.full({0}, {1}, {2})",
    "eye": "np.eye({0}, dtype={1})", "tri": "np.tri({0}, {1}, {2}, dtype={3})", "arange": "np.arange({0}, {1})",
    "largest": "np.max({0}, axis={1}, keepdims=True, initial=0)", "moved": "{0}", "is_foreign": "False",
    "together": "None", "by_companion": "NotImplemented",
    "is_mutable": "False", "check": "None",
}  # fmt: skip
"""What functions that ask in which library an array is to be made (`ops/library.py`, `ops/within.py`) are for arrays of
NumPy's."""
_QUESTIONS = {shape_of: "np.shape", ndim_of: "np.ndim", dtype_of: "np.result_type"}
"""Functions of this package that NumPy has, for plain values, under another name."""


class Definitions:
    """What has been asked for so far, in an order in which it can be executed."""

    def __init__(self) -> None:
        self.imports: dict[str, None] = {"import numpy as np": None}
        self.blocks: list[str] = []
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._kept: list[Any] = []  # what is known by id stays alive

    # ---------------------------------------------------------------------------------------------------- constants

    def array(self, value: np.ndarray) -> Text:
        """An expression for a constant array; a large one becomes a constant of the file."""
        if value.size <= SMALL or pattern_of(value) is not None:
            return array(value)
        key = ("array", id(value))
        if key not in self._names:
            self._kept.append(value)
            self._names[key] = name = self._fresh("_constant")
            if "base64" in (block := definition(name, value)):
                self.imports["import base64"] = None
            self.blocks.append(block)
        return Text(self._names[key])

    # ------------------------------------------------------------------------------------------------------ modules

    def module(self, name: str) -> str:
        """What a module is called in the file."""
        first, _, rest = name.partition(".")
        if first == "numpy" and rest:  # a part of NumPy that comes with it
            return f"{self.module(first)}.{rest}"
        statement, called = _MODULES.get(name, (f"import {name}", name))
        self.imports[statement] = None
        return called

    def ufunc(self, ufunc: np.ufunc) -> str | None:
        """What a ufunc of NumPy or `scipy.special` is called."""
        for module in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
                return f"{self.module(module)}.{ufunc.__name__}"
        return None

    # ---------------------------------------------------------------------------------------------------- functions

    def of_op(self, op: Op) -> str:
        """The name of a function that computes an op; its definition is added if need be."""
        try:
            return self._function(op.impl, op.name)
        except NoSource as reason:
            raise UnsupportedFunctionError(
                f"the op {op.name} in Python source ({reason})",
                remedy="its implementation cannot be written out without the library",
            ) from None

    def inlined(self, impl: Callable, args: list[Text], params: dict[str, str]) -> str | None:
        """The body of a lambda with its arguments filled in, if each of them stands in it once; else `None`."""
        if getattr(impl, "__name__", "") != "<lambda>" or impl.__code__.co_freevars:
            return None
        module, node = code_of(impl)
        if not isinstance(node, ast.Lambda) or node.args.vararg or node.args.kwarg:
            return None
        names = [a.arg for a in node.args.args]
        if len(args) > len(names):
            return None
        texts = dict(zip(names, args, strict=False)) | {k: Text(v) for k, v in params.items()}
        words = [n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)]
        plain = all(w in names or isinstance(getattr(module, w, None), ModuleType) for w in words)
        if not plain or sorted(w for w in words if w in names) != sorted(texts):
            return None
        if any((isinstance(n, (ast.IfExp, ast.Tuple)) and n is not node.body) or isinstance(n, ast.IfExp)
               for n in ast.walk(node.body)):  # fmt: skip
            return None
        return self._source(module, node.body, set(), texts)

    def _function(self, impl: Any, name: str) -> str:
        if isinstance(impl, np.ufunc):
            found = self.ufunc(impl)
            if found is None:
                raise NoSource(f"{impl.__name__} is not public")
            return found
        key = ("function", id(impl))
        if key in self._names:
            return self._names[key]
        if not hasattr(impl, "__code__") or impl.__module__.split(".")[0] != PACKAGE:
            return self._public(impl)
        cells = {
            free: Text(self._value(cell.cell_contents))
            for free, cell in zip(impl.__code__.co_freevars, impl.__closure__ or (), strict=True)
        }
        self._kept.append(impl)
        module, node = code_of(impl)
        self._names[key] = called = self._fresh("_" + name.lstrip("_"))
        if isinstance(node, ast.Lambda):
            arguments = ast.unparse(self._arguments(module, node.args))
            own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
            self.blocks.append(f"def {called}({arguments}):\n    return {self._source(module, node.body, own, cells)}")
        else:
            self.blocks.append(self._def(module, node, called, cells))
        return called

    def _row(self, op: Op) -> str:
        """The function that computes an op, where another one calls it."""
        return f"np.{op.name}" if op.name in _SAME else self._function(op.impl, op.name)

    def _value(self, value: Any) -> str:
        """What a value that a function has from outside is called."""
        if isinstance(value, Op):
            return self._row(value)
        if isinstance(value, (bool, int, float, str)):
            return repr(value)
        return self._function(value, getattr(value, "__name__", "function"))

    def callable(self, value: Any) -> str:
        """What a function is called that anybody can import."""
        try:
            return self.ufunc(value) or "" if isinstance(value, np.ufunc) else self._public(value)
        except NoSource as reason:
            raise UnsupportedFunctionError(f"a function of yours in Python source: {reason}",
                                           remedy="use functions of NumPy and SciPy") from None  # fmt: skip

    def sparse(self, matrix: Any) -> str:
        """A constant sparse matrix."""
        key = ("sparse", id(matrix))
        if key not in self._names:
            self._kept.append(matrix)
            rows = matrix.tocsr()
            name, module = self._fresh("_matrix"), self.module("scipy.sparse")
            parts = [self.array(np.array(part)).text for part in (rows.data, rows.indices, rows.indptr)]
            self.blocks.append(f"{name} = {module}.csr_array(({', '.join(parts)}), shape={rows.shape})")
            self._names[key] = name
        return self._names[key]

    def _def(self, module: ModuleType, node: ast.FunctionDef, called: str, texts: dict[str, Text]) -> str:
        bare = self._arguments(module, node.args)
        own = {a.arg for a in ast.walk(bare) if isinstance(a, ast.arg)} | assigned(node)
        chosen = [each for statement in node.body for each in chosen_now(module, statement)]
        lines = [self._source(module, statement, own, texts) for statement in chosen]
        decorators = "".join(f"@{self._source(module, d, set(), {})}\n" for d in node.decorator_list)
        body = textwrap.indent("\n".join(lines), "    ")
        return f"{decorators}def {called}({ast.unparse(bare)}):\n{body}"

    def _arguments(self, module: ModuleType, given: ast.arguments) -> ast.arguments:
        """The arguments of a function without annotations; what their defaults refer to is added."""
        bare = copy.deepcopy(given)
        for argument in ast.walk(bare):
            if isinstance(argument, ast.arg):
                argument.annotation = None

        def default(value: ast.expr) -> ast.expr:
            return ast.parse(self._source(module, value, set(), {}), mode="eval").body

        bare.defaults = [default(d) for d in given.defaults]
        bare.kw_defaults = [d if d is None else default(d) for d in given.kw_defaults]
        return bare

    def _public(self, value: Any) -> str:
        module = getattr(value, "__module__", None) or ""
        name = getattr(value, "__name__", "")
        public = module.split("._")[0]
        if public and public.split(".")[0] != PACKAGE and getattr(sys.modules.get(public), name, None) is value:
            return name if public == "builtins" else f"{self.module(public)}.{name}"
        raise NoSource(f"{name or value!r} has no public name")

    # --------------------------------------------------------------------------- source text with names made right

    def _source(self, module: ModuleType, node: ast.AST, own: set[str], texts: dict[str, Text]) -> str:
        """The source of a statement or expression, with global names as they are called in the file."""
        edits: list[tuple[ast.AST, str]] = []
        self._collect(module, node, own | assigned(node), texts, edits)
        return edited(module, node, edits)

    def _collect(self, module: ModuleType, node: ast.AST, own: set[str], texts: dict, edits: list) -> None:
        if isinstance(node, (ast.Attribute, ast.Call)):
            found = self._in_place_of(module, node, own, texts)
            if found is not None:
                edits.append((node, found))
                return
        if isinstance(node, ast.Call):  # an argument needs no parentheses
            for argument in [*node.args, *[k.value for k in node.keywords]]:
                if isinstance(argument, ast.Name) and argument.id in texts:
                    edits.append((argument, texts[argument.id].text))
                else:
                    self._collect(module, argument, own, texts, edits)
            self._collect(module, node.func, own, texts, edits)
            return
        if isinstance(node, ast.Name):
            if node.id in texts:
                edits.append((node, texts[node.id].within(ATOM)))
            elif node.id not in own and isinstance(node.ctx, ast.Load):
                called = self._global(module, node.id)
                if called != node.id:
                    edits.append((node, called))
            return
        annotation = getattr(node, "returns" if isinstance(node, ast.FunctionDef) else "annotation", None)
        if annotation is not None:
            edits.append((annotation, ""))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            own = own | {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        if isinstance(node, ast.FunctionDef):
            own = own | assigned(node)
        for child in ast.iter_child_nodes(node):
            if child is not annotation:
                self._collect(module, child, own, texts, edits)

    def _in_place_of(self, module: ModuleType, node: Any, own: set[str], texts: dict[str, Text]) -> str | None:
        """The source of an attribute or call that reads otherwise in the file than here, if it does."""
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id not in own:
                owner = getattr(module, node.value.id, None)
                if isinstance(owner, Choice):  # what is chosen now; the file has no such switch
                    return repr(getattr(owner, node.attr))
                if isinstance(owner, Op) and node.attr == "impl":
                    return self._row(owner)
            value = value_of(module, node, own)
            return self.module(value.__name__) if isinstance(value, ModuleType) else None
        if isinstance(node.func, ast.Name) and node.func.id not in own:
            raised = getattr(module, node.func.id, None)
            if isinstance(raised, type) and issubclass(raised, WengertError):
                builtin = next(c.__name__ for c in raised.__mro__ if c.__module__ == "builtins")
                inner: list[tuple[ast.AST, str]] = []
                self._collect(module, node.args[0], own, texts, inner)
                return f"{builtin}({edited(module, node.args[0], inner)})"
        asks = getattr(value_of(module, node.func, own), "__module__", "") in (library.__name__, within.__name__)
        return self._on_plain(module, node, own, texts) if asks else None

    def _on_plain(self, module: ModuleType, node: ast.Call, own: set[str], texts: dict[str, Text]) -> str:
        """The source of a call of a function that asks for the library of values."""

        def text(argument: ast.AST) -> str:
            inner: list[tuple[ast.AST, str]] = []
            self._collect(module, argument, own, texts, inner)
            return edited(module, argument, inner)

        given = [text(a) for a in node.args if not isinstance(a, ast.Starred)]
        named = "".join(f", {text(k.value)}" for k in node.keywords)
        name = value_of(module, node.func, own).__name__
        found = _ON_PLAIN[name].format(*given)
        return f"{found[:-1]}{named})" if named else found if name != "moved" else f"({found})"

    def _global(self, module: ModuleType, name: str) -> str:
        """What a global name of a module is called in the file, its definition added if need be."""
        if not hasattr(module, name):
            if hasattr(builtins, name):
                return name
            raise NoSource(f"{name} is unknown in {module.__name__}")
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            return self.module(value.__name__)
        if value is library.special:
            return self.module("scipy.special")
        if isinstance(value, Op):
            return self._row(value)
        if isinstance(value, np.ufunc):
            return self._function(value, name)
        if value.__class__ is FunctionType and value in _QUESTIONS:
            return _QUESTIONS[value]
        if hasattr(value, "__code__") and not isinstance(value, type):
            return self._function(value, name)
        if callable(value) and not hasattr(value, "__wrapped__"):
            try:
                return self._public(value)
            except NoSource:
                pass
        return self._assignment(module, name)

    def _assignment(self, module: ModuleType, name: str) -> str:
        """A constant, class or decorated function of one of the modules of this package."""
        tree = tree_of(module)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self._global(importlib.import_module(node.module or ""), alias.name)
            targets = targets_of(node)
            if name in targets:
                key = ("assignment", module.__name__, name)
                if key not in self._names:
                    for target in targets:
                        called = self._fresh("_" + target.lstrip("_"))
                        self._names["assignment", module.__name__, target] = called
                    text = self._source(module, node, set(), {})
                    edits = [
                        (n, self._names["assignment", module.__name__, n.id])
                        for n in ast.walk(node)
                        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in targets
                    ]
                    if any(new != n.id for n, new in edits):
                        more: list[tuple[ast.AST, str]] = []
                        self._collect(module, node, set(targets) | assigned(node), {}, more)
                        text = edited(module, node, [*more, *edits])
                    self.blocks.append(text)
                return self._names[key]
            if isinstance(node, ast.ClassDef) and node.name == name and name.startswith("_"):
                key = ("assignment", module.__name__, name)
                if key not in self._names:
                    self._names[key] = name
                    self.blocks.append(self._source(module, node, {name}, {}))
                return name
            if isinstance(node, ast.FunctionDef) and node.name == name:
                key = ("assignment", module.__name__, name)
                if key not in self._names:
                    self._names[key] = called = self._fresh("_" + name.lstrip("_"))
                    self.blocks.append(self._def(module, node, called, {}))
                return self._names[key]
        raise NoSource(f"{name} of {module.__name__} is neither a function nor a constant")

    def _fresh(self, name: str) -> str:
        called, k = name, 1
        while called in self._used:
            called, k = f"{name}_{k}", k + 1
        self._used.add(called)
        return called
