"""Functions and methods of NumPy that meet traced values where NumPy's protocols do not look.

`np.sum([x, y])` converts the list before anybody is asked, and so do `np.hypot([x, 1.0], y)`, `np.add.reduce([x, y])`
and `A.dot(x)`, a method of a plain array. Instrumented code calls what these functions return instead (`capture/`),
which look for traced values and then do what is meant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.cells import without_cells
from wengert.box.constructors import CONSTRUCTORS, as_made
from wengert.box.dispatch import FUNCTIONS, if_present
from wengert.box.functions.operands import array_of, holds_traced, operand
from wengert.errors import NO_ARRAY, InPlaceError
from wengert.ops.op import Traced

_LISTS = (list, tuple)
_OF_LISTS = frozenset((np.array, np.asarray, np.full, np.full_like, np.copy))
"""Constructors that look into lists themselves."""

_OF_SEQUENCES = frozenset(
    (np.concatenate, if_present("concat"), np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block,
     np.choose, np.select, np.piecewise, np.lexsort, np.linalg.multi_dot, np.histogramdd)
)  # fmt: skip
"""Functions of several arrays in a list."""


_OF_LENGTHS = frozenset((np.reshape, np.broadcast_to, np.resize, np.tile, np.roll))
"""Functions of an array whose further arguments are lengths."""


def _has_lists_of_traced(args: Iterable[Any]) -> bool:
    return any(isinstance(a, _LISTS) and holds_traced(a) for a in args)


def _taking_objects(target: Callable) -> Callable:
    """`target`, of objects that are arrays by their `__array__` too."""

    @functools.wraps(target)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except ValueError as error:
            if str(error) != NO_ARRAY:
                raise
        return target(*[array_of(a) for a in args], **{k: array_of(a) for k, a in kwargs.items()})

    return called


@functools.cache
def taking_lists(f: Any, target: Callable) -> Callable:
    """`target`, which is called for a ufunc or a function `f` of NumPy; lists in which there are traced values too."""
    if f in _OF_LISTS:
        return _taking_objects(target)
    target = _taking_objects(target)

    def called(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            if isinstance(a, _LISTS) and holds_traced(a):
                return _with_lists(f, target, args, kwargs)
        if kwargs and _has_lists_of_traced(kwargs.values()):
            return _with_lists(f, target, args, kwargs)
        return target(*args, **kwargs)

    if f.__class__ is not np.ufunc or f.nin != 1:
        return called

    def of_one(x: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or isinstance(x, _LISTS):
            return called(x, *args, **kwargs)
        return target(x)

    return of_one


def _with_lists(f: Any, target: Callable, args: tuple, kwargs: dict) -> Any:
    if f.__class__ is np.ufunc:
        return target(*[operand(a) for a in args], **kwargs)
    if f in CONSTRUCTORS and f not in FUNCTIONS:
        return target(*args, **kwargs)
    if f in _OF_LENGTHS:
        args = tuple([operand(a) if k == 0 and holds_traced(a) else a for k, a in enumerate(args)])
    elif f not in _OF_SEQUENCES:
        args = tuple([operand(a) if holds_traced(a) else a for a in args])
        kwargs = {k: operand(a) if holds_traced(a) else a for k, a in kwargs.items()}
    found: Any = _a_traced_value((*args, *kwargs.values()))
    return as_made(f, Box.__array_function__(found, f, (), args, kwargs))


def _a_traced_value(x: Any) -> Any:
    if isinstance(x, _LISTS):
        return next((found for found in map(_a_traced_value, x) if found is not None), None)
    return x if isinstance(x, Traced) else None


def method_of_ufunc(method: Any) -> Callable:
    """`np.add.reduce`, of lists in which there are traced values too."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return method(*([operand(a) for a in args] if _has_lists_of_traced(args) else args), **kwargs)

    return called


_WRITING = frozenset(("fill", "put", "itemset", "sort", "partition", "__setitem__"))


def method_of_array(method: Any) -> Callable:
    """A method of a plain array, such as `A.dot`, of traced values too."""

    def called(*args: Any, **kwargs: Any) -> Any:
        for a in (*args, *kwargs.values()):
            if isinstance(a, Traced) or (isinstance(a, _LISTS) and holds_traced(a)):
                return _with_traced(method, args, kwargs)
        return method(*args, **kwargs)

    return called


def _with_traced(method: Any, args: tuple, kwargs: dict) -> Any:
    array, name = method.__self__, method.__name__
    if name in _WRITING:
        raise InPlaceError(
            f"the method {name} writes a traced value into a plain array",
            remedy="create the array in the differentiated function with np.zeros, np.empty or np.copy",
        )
    function = getattr(np, name, None)
    if function in FUNCTIONS:
        given = (*args[:1], array, *args[1:]) if name == "compress" else (array, *args)
        return Box.__array_function__(_a_traced_value((*args, *kwargs.values())), function, (), given, kwargs)
    return method(*without_cells(args), **without_cells(kwargs))
