"""What makes compiled functions arrive in other processes: how derivatives are pickled, and the source they need.

Pickle knows functions by name only, and what `grad` returns has none. But it is known how it was made: by an operator of
this package from values that its closure holds under the names of the operator's parameters. So it is pickled as that
call. (Cloudpickle, which Dask and joblib use, can do without; `concurrent.futures` cannot.)

A worker that is given a function of a notebook, by value, has no file to read its source from, and without source a
function is not instrumented. So the source of such functions travels along.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import os
from types import FunctionType
from typing import Any

_PACKAGE = __name__.split(".")[0]


class Made:
    """Stands for a function that an operator made; pickled it becomes the call that makes it."""

    def __init__(self, module: str, operator: str, given: dict[str, Any]):
        self._recipe = (module, operator, given)

    def __reduce__(self) -> Any:
        return made, self._recipe


def made(module: str, operator: str, given: dict[str, Any]) -> Any:
    """What an operator makes of these arguments."""
    return getattr(importlib.import_module(module), operator)(**given)


def portable(f: Any) -> Any:
    """A function as it can be pickled: one that an operator of this package made as that call, any other as it is.

    >>> import pickle, numpy as np, wengert as wg
    >>> pickle.loads(pickle.dumps(portable(wg.grad(wg.grad(np.sin)))))(0.5)
    np.float64(-0.479426)
    """
    if f.__class__ is not FunctionType or f.__code__.co_qualname.count(".<locals>.") != 1:
        return f
    operator = f.__code__.co_qualname.split(".")[0]
    module = f.__globals__.get("__name__", "")
    maker = f.__globals__.get(operator)
    if module.split(".")[0] != _PACKAGE or maker.__class__ is not FunctionType:
        return f
    parameters = inspect.signature(maker).parameters
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    if not cells.keys() <= parameters.keys():
        return f
    needed = {name for name, p in parameters.items() if p.default is p.empty}
    if not needed <= cells.keys() or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
        return f
    return Made(module, operator, {name: portable(cell.cell_contents) for name, cell in cells.items()})


def sources_of(f: Any) -> dict[str, str]:
    """The source, by file name, of a function and the functions it uses, as far as it lies in no file."""
    found: dict[str, str] = {}
    pending, seen = [f], set()
    while pending:
        g = inspect.unwrap(pending.pop()) if callable(pending[-1]) else pending.pop()
        if g.__class__ is not FunctionType or id(g) in seen:
            continue
        seen.add(id(g))
        name = g.__code__.co_filename
        if not os.path.exists(name):
            lines = linecache.getlines(name, g.__globals__)
            if lines:
                found[name] = "".join(lines)
        pending += [g.__globals__[n] for n in g.__code__.co_names if n in g.__globals__]
        for cell in g.__closure__ or ():
            try:
                pending.append(cell.cell_contents)
            except ValueError:  # not filled yet
                continue
    return found


def keep_sources(sources: dict[str, str]) -> None:
    """Let source that travelled be found where it arrived."""
    for name, text in sources.items():
        if not linecache.getlines(name):
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
