"""What makes compiled functions arrive in other processes: how derivatives are pickled, and the source they need.

Pickle knows functions by name only, and what `grad` returns has none. But it is a function inside `grad` of this
package, which is there on the other side as well, with values in its closure. So it is pickled as the place of its
code, and those values. (Cloudpickle, which Dask and joblib use, can do without; `concurrent.futures` cannot.)

A worker that is given a function of a notebook, by value, has no file to read its source from, and without source a
function is not instrumented. So the source of such functions travels along.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import linecache
import os
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from wengert.box.contents import in_cell
from wengert.errors import is_library_file

_PACKAGE = __name__.split(".")[0]


class Inner:
    """Stands for a function that was made inside a function of this package; unpickled it is that function."""

    def __init__(self, *recipe: Any):
        self._recipe = recipe

    def __reduce__(self) -> Any:
        return _inner, self._recipe


def _inner(module: str, outer: str, path: tuple[int, ...], qualname: str, contents: tuple, defaults: tuple | None,
           wrapped: Any) -> Any:  # fmt: skip
    namespace = vars(importlib.import_module(module))
    code = inspect.unwrap(namespace[outer]).__code__
    for k in path:
        code = code.co_consts[k]
    if code.co_qualname != qualname:
        raise ImportError(f"{module}.{outer} is of another version where {qualname} was pickled")
    made = FunctionType(code, namespace, code.co_name, defaults, tuple([CellType(x) for x in contents]))
    return made if wrapped is None else functools.update_wrapper(made, wrapped, updated=())


def _paths(code: CodeType, before: tuple[int, ...] = ()) -> Iterator[tuple[CodeType, tuple[int, ...]]]:
    """The code objects inside a code object, and where they are."""
    for k, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield constant, (*before, k)
            yield from _paths(constant, (*before, k))


def portable(f: Any) -> Any:
    """A function as it can be pickled: one from inside this package as its place and closure, any other as it is.

    >>> import pickle, numpy as np, wengert as wg
    >>> pickle.loads(pickle.dumps(portable(wg.grad(wg.grad(np.sin)))))(0.5)
    np.float64(-0.479426)
    """
    if type(f) is not FunctionType or ".<locals>." not in f.__code__.co_qualname or f.__kwdefaults__:
        return f
    module, outer = f.__globals__.get("__name__", ""), f.__code__.co_qualname.split(".")[0]
    around = inspect.unwrap(f.__globals__[outer]) if outer in f.__globals__ else None
    if module.split(".")[0] != _PACKAGE or type(around) is not FunctionType:
        return f
    path = next((path for code, path in _paths(around.__code__) if code is f.__code__), None)
    if path is None:
        return f
    contents = tuple([portable(cell.cell_contents) for cell in f.__closure__ or ()])
    wrapped = portable(getattr(f, "__wrapped__", None))
    return Inner(module, outer, path, f.__code__.co_qualname, contents, f.__defaults__, wrapped)


def sources_of(f: Any) -> dict[str, str]:
    """The source, by file name, of a function and the functions it uses, as far as it lies in no file."""
    found: dict[str, str] = {}
    pending, seen = [f], set()
    while pending:
        g = inspect.unwrap(pending.pop()) if callable(pending[-1]) else pending.pop()
        if type(g) is not FunctionType or id(g) in seen:
            continue
        seen.add(id(g))
        name = g.__code__.co_filename
        if not os.path.exists(name):
            lines = linecache.getlines(name, g.__globals__)
            if lines:
                found[name] = "".join(lines)
        if not is_library_file(name) and "site-packages" not in name:
            pending += [g.__globals__[n] for n in g.__code__.co_names if n in g.__globals__]
        pending += map(in_cell, g.__closure__ or ())
    return found


def keep_sources(sources: dict[str, str]) -> None:
    """Let source that travelled be found where it arrived."""
    for name, text in sources.items():
        if not linecache.getlines(name):
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
