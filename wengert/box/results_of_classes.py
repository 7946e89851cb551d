"""What a NumPy function does with arguments of classes derived from `np.ndarray`.

A sum is of the class, with its attributes; a cross product is a plain array; `np.median` is of the class, `np.copy` is
not. And a function may use what the class has made otherwise: `np.polyval` multiplies with the operators of its
argument, `np.sum` calls its method. There is no rule to it, so NumPy is asked: the function is called with arrays of
numbers that have the same shapes, of a class that remembers what it was made like and whether such a method was used.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.types import dtype_of, shape_of


class OfClass:
    """Of a result: the class that it has, and the argument that it is made like, if there is one."""

    __slots__ = ("kind", "like")

    def __init__(self, kind: type, like: Any):
        self.kind, self.like = kind, like


class TrialRun:
    """What was found out about a call.

    `results` is an OfClass for each result, or `None` for one of no derived class; several are in a list. `is_others`
    says that the function uses methods that a class has made otherwise.
    """

    __slots__ = ("is_others", "results")

    def __init__(self) -> None:
        self.results: Any = None
        self.is_others = False


class _Trial(np.ndarray):
    """An array that knows the place of the argument that it was made like."""

    place: int | None = None
    found: TrialRun | None = None

    def __array_finalize__(self, like: Any) -> None:
        self.place = getattr(like, "place", None)
        self.found = getattr(like, "found", None)


_OF_MAKING = frozenset(
    (
        "__new__", "__init__", "__array_finalize__", "__array_prepare__", "__array_priority__",
        "__doc__", "__repr__", "__str__", "__format__", "__reduce__", "__reduce_ex__", "__setstate__", "__hash__",
        "__class__", "__dir__", "__sizeof__", "__init_subclass__", "__subclasshook__", "__class_getitem__",
        "__getattribute__", "__setattr__", "__delattr__", "__copy__", "__deepcopy__",
    )
)  # fmt: skip
"""What NumPy's functions do not compute with, and what is called where an array is made."""


@functools.lru_cache(maxsize=1024)
def made_otherwise(between: tuple[type, ...]) -> frozenset[str]:
    """The methods and attributes of `np.ndarray` that classes derived from it have made otherwise."""
    names = {name for cls in between for name in vars(cls)}
    return frozenset(name for name in names - _OF_MAKING if hasattr(np.ndarray, name))


@functools.lru_cache(maxsize=1024)
def _trial_class(names: frozenset[str]) -> type:
    """The class of arrays on which a function is tried that may use such methods."""
    return type("_Trial", (_Trial,), {name: _noting(name) for name in names})


def _noting(name: str) -> Any:
    original = getattr(np.ndarray, name)
    if not callable(original):

        def attribute(self: Any) -> Any:
            _note(self)
            return getattr(self.view(np.ndarray), name)

        return property(attribute)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        _note(self)
        if name == "__array_ufunc__":
            ufunc, way, *inputs = args
            out = tuple([_plain(x) for x in kwargs.pop("out", ())])
            return getattr(ufunc, way)(*[_plain(x) for x in inputs], **kwargs, **({"out": out} if out else {}))
        if name == "__array_function__":
            return args[0]._implementation(*args[2], **args[3])
        return original(self, *args, **kwargs)

    return method


def _note(x: Any) -> None:
    if x.found is not None:
        x.found.is_others = True


def _plain(x: Any) -> Any:
    return np.ndarray.view(x, np.ndarray) if isinstance(x, _Trial) else x


def tried(function: Callable, args: tuple, kwargs: dict, held_in: Callable, names_of: Callable) -> TrialRun:
    """What a function does with such arguments; `held_in` tells these from others, `names_of` the methods that their
    class has made otherwise."""
    found, objects = TrialRun(), []

    def numbers(x: Any) -> Any:
        """Numbers in place of traced values, and arrays of the class above in place of those of derived classes."""
        if x.__class__ in (list, tuple):
            return x.__class__([numbers(item) for item in x])
        array = held_in(x)
        if array is not x:
            trial: Any = _any_numbers(shape_of(array), dtype_of(array)).view(_trial_class(names_of(x)))
            trial.place, trial.found = len(objects), found
            objects.append(x)
            return trial
        return _any_numbers(shape_of(x), dtype_of(x))[()] if isinstance(x, Traced) else x

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which the call proper gives
        try:
            y = function(*map(numbers, args), **{name: numbers(a) for name, a in kwargs.items()})
        except Exception as error:
            if found.is_others:
                return found
            name = getattr(function, "__name__", "a function")
            raise UnsupportedFunctionError(
                f"{name} of an array of a derived class with traced values: what its result is cannot be told",
                remedy="give it the plain array, np.asarray(x)",
            ) from error
    found.results = _described(y, objects)
    return found


def _described(y: Any, objects: list[Any]) -> Any:
    if isinstance(y, (list, tuple)):
        return [_described(part, objects) for part in y]
    if not isinstance(y, _Trial):
        return None
    like = None if y.place is None else objects[y.place]
    return OfClass(type(objects[0] if like is None else like), like)


def _any_numbers(shape: tuple, dtype: np.dtype) -> np.ndarray:
    """Numbers of no meaning, between 1 and 2; a matrix of them has an inverse."""
    size = int(np.prod(shape))
    values = 1 + (0.618033988749895 * np.arange(1, size + 1)) % 1
    return np.reshape(values, shape).astype(dtype)
