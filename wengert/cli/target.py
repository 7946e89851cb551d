"""`file.py:f` or `package.module:f`: the function that a command is about."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from wengert.cli.problem import TargetError, UsageError
from wengert.errors import is_library_file


def split(target: str) -> tuple[str, str]:
    """The module (a path or a dotted name) and the function, which may be empty."""
    where, colon, name = target.rpartition(":")
    if not colon or name.startswith(("/", "\\")):  # no colon, or that of a drive
        return target, ""
    return where, name


def load_module(where: str) -> ModuleType:
    """The module at a path or of a dotted name. A file finds its neighbours, as by `python file`."""
    if where.endswith(".py") or "/" in where or "\\" in where or where.startswith("."):
        return _from_file(Path(where))
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name is None or not where.startswith(error.name):
            raise _failed(where, error) from error
        near = Path(where.replace(".", "/") + ".py")
        remedy = (
            f"write {near} if you mean the file" if near.exists() else "write the path of a file, such as model.py:f"
        )
        raise UsageError(f"there is no module {where}", remedy=remedy) from error
    except Exception as error:
        raise _failed(where, error) from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        here = sorted(p.name for p in path.parent.glob("*.py")) if path.parent.is_dir() else []
        near = get_close_matches(path.name, here, 1)
        remedy = f"did you mean {path.with_name(near[0])}?" if near else "give the path of a Python file"
        raise UsageError(f"there is no file {path}", remedy=remedy)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"_target_{path.stem}"
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file", remedy="give the path of a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(str(path), error) from error
    return module


def _failed(where: str, error: Exception) -> TargetError:
    return TargetError(
        f"{where} cannot be loaded: {type(error).__name__}: {error}{place_of(error)}",
        remedy="mend the file; --debug shows the whole traceback",
    )


def place_of(error: BaseException) -> str:
    """Where in the user's own source an error comes from, as ` (file:line)`; empty if nowhere."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    found = ""
    at = error.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if not is_library_file(file) and not file.startswith("<") and "importlib" not in file:
            found = f" ({file}:{at.tb_lineno})"
        at = at.tb_next
    return found


def functions_of(module: ModuleType) -> dict[str, Callable]:
    """The public functions that a module itself defines, in the order of its source; decorated ones too."""
    found: dict[str, Callable] = {}
    for name, thing in vars(module).items():
        if name.startswith("_") or not callable(thing) or isinstance(thing, type):
            continue
        if getattr(thing, "__module__", None) == module.__name__:
            found[name] = thing
    return found


def load(target: str) -> tuple[str, Callable]:
    """The name and the function that a target means."""
    where, name = split(target)
    module = load_module(where)
    if not name:
        known = functions_of(module)
        if len(known) == 1:
            return next(iter(known.items()))
        which = ", ".join(known) or "none"
        raise UsageError(f"which function of {where}? it defines {which}", remedy=f"write {where}:name")
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            choices = [n for n in vars(found) if not n.startswith("_")] if hasattr(found, "__dict__") else []
            near = get_close_matches(part, choices, 1)
            defined = ", ".join(functions_of(module)) or "no function"
            remedy = f"did you mean {where}:{near[0]}?" if near else f"it defines {defined}"
            raise UsageError(f"{where} has no {part}", remedy=remedy)
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{target} is of class {type(found).__name__}, and not a function", remedy="name a function")
    return name, found


def signature_of(f: Callable) -> inspect.Signature | None:
    """The parameters of a function, if Python knows them."""
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        return None
