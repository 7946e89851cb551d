"""`--at` and `--arg`: the point at which a function is evaluated, and the arguments that are differentiated.

A value is a Python expression; `np` and `pi` are known. A list of numbers is an array of floats, as people mean it on a
command line. The arguments are bound to the function's parameters here, so that a mistake is named before anything
runs.
"""

from __future__ import annotations

import argparse
import inspect
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wengert import tree
from wengert.cli.problem import UsageError
from wengert.cli.target import load, signature_of
from wengert.types import dtype_of, is_inexact

_NAMED = re.compile(r"\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)\s*=(?!=)(.*)", re.DOTALL)
_WORDS = {"np": np, "numpy": np, "math": math, "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Call:
    """A function, its arguments, and which of them are differentiated."""

    name: str
    function: Callable
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: tuple[str, ...]
    argnums: tuple[int, ...]

    @property
    def inputs(self) -> dict[str, Any]:
        """The arguments that are differentiated, by name."""
        return {self.names[k]: self.args[k] for k in self.argnums}


def add_arguments(
    parser: argparse.ArgumentParser, target: str = "FILE:FUNCTION", about: str = "model.py:f, or package.module:f"
) -> None:
    """The function, and the options that say at which point."""
    parser.add_argument("target", metavar=target, help=about)
    group = parser.add_argument_group("where")
    group.add_argument(
        "--at", action="append", default=[], metavar="VALUE",
        help="an argument as a Python expression, by position ('[1.0, 2.0]') or by name (x='[1.0, 2.0]'); repeat it",
    )  # fmt: skip
    group.add_argument(
        "--arg", action="append", default=[], metavar="FILE",
        help="arguments from a file: every array of a .npz by its name, or x=FILE.npy; repeat it",
    )  # fmt: skip
    group.add_argument(
        "--wrt", metavar="NAMES",
        help="differentiate with respect to these arguments, separated by commas (default: the floating-point ones)",
    )  # fmt: skip


def expression(text: str) -> Any:
    """The value of an expression; lists of numbers are arrays."""
    try:
        value = eval(compile(text.strip(), "<--at>", "eval"), dict(_WORDS))
    except Exception as error:
        raise UsageError(
            f"{text!r} is no Python expression: {error}", remedy="write for instance 2.0, '[1.0, 2.0]' or 'np.ones(3)'"
        ) from error
    return with_arrays(value)


def with_arrays(value: Any) -> Any:
    """The value with arrays of floats for lists of numbers.

    >>> with_arrays({"w": [1, 2], "b": 3})
    {'w': array([1., 2.]), 'b': 3}
    """
    if isinstance(value, dict):
        return {key: with_arrays(v) for key, v in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(with_arrays(v) for v in value)
    if isinstance(value, list):
        try:
            array = np.array(value)
        except ValueError:
            array = np.array(None)
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
        return array if array.dtype.kind in "bc" else [with_arrays(v) for v in value]
    return value


def given(at: Iterable[str], files: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    """What the options give, by position and by name."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for file in files:
        named |= _from_file(file)
    for text in at:
        match = _NAMED.fullmatch(text)
        if match is None:
            positional.append(expression(text))
        else:
            named[match.group(1)] = expression(match.group(2))
    return positional, named


def _from_file(text: str) -> dict[str, Any]:
    match = _NAMED.fullmatch(text)
    name, path = (match.group(1), Path(match.group(2))) if match else ("", Path(text))
    if not path.is_file():
        raise UsageError(f"there is no file {path}", remedy="give --arg a .npz file, or name=FILE.npy")
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:  # NumPy takes whatever it does not know for pickled objects
        raise UsageError(
            f"{path} holds no arrays that NumPy saved", remedy="write it with np.savez or np.save"
        ) from error
    if isinstance(found, np.ndarray):
        if not name:
            raise UsageError(f"{path} holds one array without a name", remedy=f"write --arg x={path}")
        return {name: found[()]}
    return {(f"{name}.{key}" if name else key): found[key][()] for key in found.files}


def call_of(options: argparse.Namespace) -> Call:
    """The call that a command line asks for."""
    name, function = load(options.target)
    positional, named = given(options.at, options.arg)
    return bound(name, function, positional, named, options.wrt)


def bound(name: str, function: Callable, positional: list[Any], named: dict[str, Any], wrt: str | None = None) -> Call:
    """The arguments bound to the function's parameters."""
    signature = signature_of(function)
    if signature is None:
        if named:
            raise UsageError(f"the parameters of {name} have no names", remedy="give --at values by position")
        names = tuple(f"x{k + 1}" for k in range(len(positional)))
        return Call(name, function, tuple(positional), {}, names, _chosen(name, positional, names, names, wrt))
    shown = f"{name}{signature}"
    unknown = [n for n in named if n not in signature.parameters and not _takes_any(signature)]
    if unknown:
        raise UsageError(f"{name} has no argument {unknown[0]}", remedy=f"the function is {shown}")
    try:
        arguments = signature.bind_partial(*positional, **named)
    except TypeError as error:
        raise UsageError(f"{name} cannot be called so: {error}", remedy=f"the function is {shown}") from error
    explicit = set(arguments.arguments)
    missing = [
        p.name for p in signature.parameters.values()
        if p.name not in explicit and p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]  # fmt: skip
    if missing:
        raise UsageError(
            f"{name} needs {' and '.join(missing)}", remedy=" ".join(f"--at {m}='[1.0, 2.0]'" for m in missing[:3])
        )
    arguments.apply_defaults()
    for p in signature.parameters.values():
        if p.name in explicit and p.annotation in (float, "float") and arguments.arguments[p.name].__class__ is int:
            arguments.arguments[p.name] = float(arguments.arguments[p.name])
    args, names = arguments.args, _names(signature, arguments)
    mine = tuple(n for n in names if n.partition("[")[0] in explicit) or names
    return Call(name, function, args, arguments.kwargs, names, _chosen(name, args, names, mine, wrt))


def _takes_any(signature: inspect.Signature) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())


def _names(signature: inspect.Signature, arguments: inspect.BoundArguments) -> tuple[str, ...]:
    found: list[str] = []
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            found += [f"{p.name}[{k}]" for k in range(len(arguments.arguments.get(p.name, ())))]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and len(found) < len(arguments.args):
            found.append(p.name)
    return tuple(found)


def has_floats(value: Any) -> bool:
    """Whether there is a number with a derivative in a container."""
    return any(map(_is_float, tree.leaves(value)))


def _is_float(leaf: Any) -> bool:
    try:
        return is_inexact(dtype_of(leaf))
    except (TypeError, ValueError):
        return False


def _chosen(name: str, args: Any, names: tuple[str, ...], mine: tuple[str, ...], wrt: str | None) -> tuple[int, ...]:
    """Which arguments are differentiated: those that were asked for, otherwise those given that hold floats."""
    if wrt:
        wanted = [n.strip() for n in wrt.split(",") if n.strip()]
        unknown = [n for n in wanted if n not in names]
        if unknown:
            raise UsageError(f"{name} has no argument {unknown[0]} by position", remedy=f"choose of {', '.join(names)}")
        found = tuple(names.index(n) for n in wanted)
        for k in found:
            if not has_floats(args[k]):
                raise UsageError(f"{names[k]} = {args[k]!r} has no derivative", remedy="write 2.0 instead of 2")
        return found
    found = tuple(k for k, n in enumerate(names) if n in mine and has_floats(args[k]))
    if not found:
        raise UsageError(
            f"there is no floating-point number among the arguments of {name}",
            remedy="write --at 2.0 instead of --at 2, and --at '[1, 2]' for an array"
            if args
            else "give a point, for instance --at '[1.0, 2.0]'",
        )
    return found
