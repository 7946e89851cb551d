"""The form of a call: which of its arguments are data, and what besides them tells programs apart.

Containers are taken apart. Arrays and numbers are data: of these the program knows class, dtype and shape. All else is
part of the program: it is compiled anew for another text, function or object.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.api.arguments import shared_array
from wengert.backend.llvm.calls.recipe import LeafNumber, Static
from wengert.box.box import Box
from wengert.box.subclasses import base_array
from wengert.ir.build import type_of_value
from wengert.ops.choice import choice
from wengert.ops.library import is_foreign
from wengert.types import SCALARS

_NUMBERS = (np.ndarray, np.generic, Box)


class Form(NamedTuple):
    """A call taken apart.

    `leaves` are those that are data, `key` is what tells programs apart. `rebuild` puts args and kwargs together from
    other leaves, `names` names the leaves. `is_plain`: whether they are plain arrays and numbers, as they were given.
    `twin` has args and kwargs with the numbers of leaves in their places.
    """

    leaves: list[Any]
    key: Any
    rebuild: Callable[[Sequence[Any]], tuple[tuple, dict]]
    names: Callable[[], list[str]]
    is_plain: bool
    twin: Callable[[], tuple[tuple, dict]]


def form_of_call(
    f: Callable,
    static_argnums: Sequence[int],
    static_argnames: Collection[str],
    sees_order: bool,
    args: tuple,
    kwargs: dict,
) -> Form:
    """Take a call apart. `sees_order`: whether the function may see in which order arguments are named."""
    static: tuple = ()
    if static_argnums or static_argnames:
        args, kwargs, static = _without_static(f, static_argnums, static_argnames, args, kwargs)
    everything, structure = tree.flatten((args, kwargs))
    is_plain = True
    for k, x in enumerate(everything):
        if x.__class__ is np.ndarray and x.dtype.kind in "biufc":
            is_plain = is_plain and x.dtype is np.dtype(x.dtype.char)
            continue
        if x.__class__ is not np.ndarray and isinstance(x, np.ndarray):
            everything[k], is_plain = base_array(x), False
        elif x.__class__ is int and not -(1 << 63) <= x < 1 << 63:
            raise OverflowError("an argument of a compiled function is a Python integer that 64 bits cannot hold")
        elif isinstance(x, Box) or is_foreign(x):
            is_plain = False
        elif hasattr(type(x), "__dlpack__"):
            shared = shared_array(x)
            everything[k], is_plain = x if shared is None else shared, False
    is_data = list(map(_is_data, everything))
    places = [k for k, so in enumerate(is_data) if so]
    leaves = [everything[k] for k in places]
    key = (
        structure,
        tree.orders_of_keys((args, kwargs if sees_order else [kwargs[name] for name in sorted(kwargs)])),
        tuple([_key_of(x) for x in leaves]),
        tuple([_static_key(x) for x, so in zip(everything, is_data, strict=True) if not so]),
        tuple([(place, _static_key(x)) for place, x in static]),
        choice.kinks,
        choice.ties,
    )

    def filled(new: Sequence[Any], rest: list[Any]) -> tuple[tuple, dict]:
        for k, x in zip(places, new, strict=True):
            rest[k] = x
        return tree.unflatten(structure, rest)

    def rebuild(new: Sequence[Any]) -> tuple[tuple, dict]:
        return _with_static(*filled(new, list(everything)), static)

    def twin() -> tuple[tuple, dict]:
        numbered = filled([LeafNumber(k) for k in range(len(places))], [Static] * len(everything))
        return _with_static(*numbered, tuple([(place, Static) for place, _ in static]))

    return Form(leaves, key, rebuild, functools.partial(_names_of, f, (args, kwargs), places), is_plain, twin)


def _is_data(x: Any) -> bool:
    if x.__class__ in SCALARS:
        return True
    return (isinstance(x, _NUMBERS) or is_foreign(x)) and x.dtype.kind in "biufc"


def sees_order(f: Callable) -> bool:
    """Whether a function may see in which order arguments are named."""
    try:
        return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return True


def _without_static(
    f: Callable, static_argnums: Sequence[int], static_argnames: Collection[str], args: tuple, kwargs: dict
) -> tuple[tuple, dict, tuple]:
    numbers = {k % len(args) for k in static_argnums if -len(args) <= k < len(args)} if args else set()
    if static_argnames:
        try:
            parameters = list(inspect.signature(f).parameters)
        except (TypeError, ValueError):
            parameters = []
        numbers |= {k for k, name in enumerate(parameters[: len(args)]) if name in static_argnames}
    static: list[tuple[Any, Any]] = [(k, args[k]) for k in sorted(numbers)]
    static += [(name, kwargs[name]) for name in sorted(kwargs.keys() & static_argnames)]
    rest = {name: x for name, x in kwargs.items() if name not in static_argnames}
    return tuple([None if k in numbers else a for k, a in enumerate(args)]), rest, tuple(static)


def _with_static(args: tuple, kwargs: dict, static: tuple) -> tuple[tuple, dict]:
    if not static:
        return args, kwargs
    filled, named = list(args), dict(kwargs)
    for place, x in static:
        if place.__class__ is int:
            filled[place] = x
        else:
            named[place] = x
    return tuple(filled), named


def _key_of(x: Any) -> Any:
    if x.__class__ is np.ndarray:
        return (x.dtype, x.shape)
    if is_foreign(x):
        return (x.__class__, x.dtype, x.shape)
    if isinstance(x, Box):
        return type_of_value(x), x._is_array
    return type_of_value(x) if isinstance(x, np.generic) else x.__class__


def _static_key(x: Any) -> Any:
    """What tells static values apart: what they are equal to, and otherwise which they are.

    >>> _static_key((1, 0.0)) == _static_key((True, 0.0)), _static_key(0.0) == _static_key(-0.0)
    (False, False)
    """
    if isinstance(x, tuple):
        return (x.__class__, tuple(map(_static_key, x)))
    if isinstance(x, frozenset):
        return (x.__class__, frozenset(map(_static_key, x)))
    if isinstance(x, (float, complex)):
        return (x.__class__, repr(x))
    try:
        hash(x)
    except (TypeError, ValueError):  # a memoryview has its own opinion
        return _Same(x)
    return (x.__class__, x)


class _Same:
    """An object that cannot be a key, as one: it is equal to itself. Holds it, so that nothing else takes its place."""

    def __init__(self, thing: Any):
        self._thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._thing is self._thing

    def __hash__(self) -> int:
        return id(self._thing)


def _names_of(f: Callable, arguments: tuple[tuple, dict], places: Sequence[int]) -> list[str]:
    """Names for the leaves that are data, from the names of the parameters."""
    args, kwargs = arguments
    try:
        signature = inspect.signature(f).parameters.values()
        parameters = [p.name for p in signature if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for k, a in enumerate(args):
        names += _leaf_names(parameters[k] if k < len(parameters) else f"arg{k}", a)
    for name in sorted(kwargs):
        names += _leaf_names(name, kwargs[name])
    return [names[k] if k < len(names) else f"arg{k}" for k in places]


def _leaf_names(name: str, argument: Any) -> list[str]:
    """The name of an argument, with what leads to each of its leaves.

    >>> _leaf_names("p", {"w": [1.0, 2.0], "b": 3.0})
    ['p_b', 'p_w_0', 'p_w_1']
    """
    if not tree.is_leaf(tree.flatten(argument)[1]):
        return ["_".join([name, *re.findall(r"\w+", path)]) for path in tree.paths(argument)]
    return [name]
