"""NumPy's constructors for functions that are being differentiated.

They take what NumPy's take, traced values included, and return arrays that traced values can be written into (cells).
Arrays of integers and booleans stay plain: they cannot hold a derivative.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.box import plain
from wengert.box.cells import cell, lent, without_cells
from wengert.box.dispatch import FUNCTIONS, entered_in
from wengert.box.functions.operands import array as as_operand
from wengert.box.functions.operands import array_of, cast, fitted, holds_traced
from wengert.box.functions.shapes import copied, relaid
from wengert.box.memory import UnknownOrder, laid_out, order_like
from wengert.box.writing import in_order_that_is, own_array, settled
from wengert.errors import NO_ARRAY
from wengert.ops import library
from wengert.ops import shape as s
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require as demand
from wengert.running import making, running
from wengert.strides import UNKNOWN
from wengert.types import dtype_of, ndim_of, shape_of

CONSTRUCTORS: dict[Any, Callable] = {}
"""NumPy's constructor -> ours."""


_constructs = functools.partial(entered_in, CONSTRUCTORS)


def _of_plain(function: Callable) -> Callable:
    """A constructor whose arguments are plain, or that dispatches on traced ones by itself."""

    asks = _asks_library(function)

    @functools.wraps(function)
    def construct(*args: Any, **kwargs: Any) -> Any:
        y = asks(*args, **kwargs) if running.state.library is not None else function(*args, **kwargs)
        if y.__class__ is np.ndarray:
            return y if any(_is_view(y, x) for x in args) else _own(y)
        return as_made(function, cell(y))

    return construct


def as_made(function: Any, y: Any) -> Any:
    """What a function of NumPy's gives to the user: some give an array, also if it has no axes."""
    is_number = function in _BARE and isinstance(y, Traced) and not (shape_of(y) or y._is_array)  # type: ignore[attr-defined]
    return own_array(y) if is_number else y


_BARE: frozenset[Any] = frozenset((np.where, np.select, np.piecewise, np.tensordot, np.linalg.tensordot, np.i0, np.cov,
                                   np.roll, np.cross, np.linalg.cross, np.real_if_close, np.pad, np.zeros_like,
                                   np.ones_like, np.full_like, np.empty_like))  # fmt: skip
"""Functions whose result is an array, also if it has no axes. Most of NumPy's then give a number."""


_TAKES_LIKE: frozenset[Any] = frozenset((np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri))
"""Constructors that ask a library by themselves (NEP 35)."""
_ONES_LIKE: dict[Any, Callable] = {
    np.ones: lambda like, shape, dtype=float, order="C": library.filled_like(like, shape, 1, dtype),
    np.eye: lambda like, N, M=None, k=0, dtype=float, order="C": library.eye_like(like, N, M, k, dtype),
}
"""Those of them that hand on options that other libraries do not have."""
_SPACED = frozenset((np.linspace, np.logspace))


def _asks_library(function: Callable) -> Callable:
    """The constructor, in the library of the running transformation, if its arrays are of floating type: integers are
    positions and numbers of things, which Python wants to know, and follow what they meet."""

    def construct(*args: Any, **kwargs: Any) -> Any:
        like = library.near()
        if like is None or "like" in kwargs:
            return function(*args, **kwargs)
        if function in _TAKES_LIKE:
            places = {np.zeros: 1, np.ones: 1, np.empty: 1, np.eye: 3, np.identity: 1, np.tri: 3}
            k = places[function]
            dtype = kwargs.get("dtype", args[k] if len(args) > k else None)
            if np.dtype(dtype).kind not in "fc":
                return function(*args, **kwargs)
            if library.is_mutable(like) and function in (np.ones, np.eye):
                return _ONES_LIKE[function](like, *args, **kwargs)
            return function(*args, **kwargs, like=like)
        if function in _SPACED and not holds_traced(list(args)) and all(np.ndim(a) == 0 for a in args):
            return function(library.filled_like(like, (), args[0], float), *args[1:], **kwargs)
        return function(*args, **kwargs)

    return construct


def _is_view(y: np.ndarray, x: Any) -> bool:
    """Whether a result shares the memory of an operand, so that it is no array of its own."""
    return library.may_share(y, x)


def _to_be_written(function: Callable) -> Callable:
    """A constructor of arrays that are made to be written to."""

    asks = _asks_library(function)

    @functools.wraps(function)
    def construct(*args: Any, **kwargs: Any) -> Any:
        return _own(asks(*args, **kwargs) if running.state.library is not None else function(*args, **kwargs))

    return construct


def _own(x: Any) -> Any:
    """An array of one's own, that may be written to."""
    if shape_of(x) or not (isinstance(x, Traced) or _can_be_written(x)):
        return cell(x)
    return own_array(x)


def _can_be_written(x: Any) -> bool:
    return x.__class__ is np.ndarray and x.dtype.kind in "fc" and bool(running.state.depth)


def as_argument(box: Any, value: Any) -> Any:
    """A box as argument of a function, in place of a value: an array of no axes stays one, which `+=` writes to."""
    is_array = value._is_array if isinstance(value, Traced) else value.__class__ is np.ndarray  # type: ignore[attr-defined]
    return _own(box) if is_array and box is not value and not shape_of(value) else box


def _unwritten(empty: Callable, zeros: Callable) -> Callable:
    """`np.empty`, or `np.empty_like`. What happens to lie in memory is no part of a program, which would be another one
    in the next process: in a compiled one it is zeros."""

    @functools.wraps(empty)
    def construct(*args: Any, **kwargs: Any) -> Any:
        if running.state.capture is None:
            return empty(*args, **kwargs)
        made = zeros(*args, **kwargs)
        return made if dtype_of(made).kind in "biufc" else empty(*args, **kwargs)

    return construct


for _name in ["zeros", "ones", "zeros_like", "ones_like"]:
    CONSTRUCTORS[getattr(np, _name)] = _to_be_written(getattr(np, _name))
for _name, _zeros in [("empty", np.zeros), ("empty_like", np.zeros_like)]:
    CONSTRUCTORS[getattr(np, _name)] = _unwritten(_to_be_written(getattr(np, _name)), CONSTRUCTORS[_zeros])


def _bare(shape: Any, dtype: Any = float, buffer: Any = None, offset: Any = 0, strides: Any = None,
          order: Any = None) -> Any:  # fmt: skip
    """`np.ndarray(shape)`, which is what `np.empty` gives, unless it is to lie in memory that is there."""
    if buffer is None and strides is None:
        return CONSTRUCTORS[np.empty](shape, dtype, "C" if order is None else order)
    memory = without_cells(buffer)
    found = np.ndarray(shape, dtype, memory, offset, strides, order)
    return found if memory is buffer else lent(found, [memory])


CONSTRUCTORS[np.ndarray] = _bare
_MAKE_ARRAYS = (
    "eye identity tri linspace logspace geomspace frombuffer loadtxt genfromtxt diag diagflat stack concatenate vstack "
    "hstack dstack column_stack block tile repeat meshgrid where roll vander broadcast_arrays tril triu outer kron"
)
for _name in _MAKE_ARRAYS.split():
    CONSTRUCTORS[getattr(np, _name)] = _of_plain(getattr(np, _name))
for _function in _BARE - CONSTRUCTORS.keys():
    CONSTRUCTORS[_function] = _of_plain(_function)


_COPY_MODES = np._CopyMode


@_constructs(np.array)
def array(object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
          like: Any = None) -> Any:  # fmt: skip
    if copy.__class__ is _COPY_MODES:
        copy = {0: False, 1: True, 2: None}[copy.value]
    if library.is_foreign(object):
        made: Any = np.array(object, dtype, copy=copy, order=order, ndmin=ndmin)  # type: ignore[call-overload]
        return cell(made)  # of its own library
    if running.state.library is not None and not holds_traced(object) and library.holds_foreign(object):
        made = library.from_lists(object, dtype)
        return cell(made.reshape((1,) * (ndmin - made.ndim) + made.shape) if ndmin > made.ndim else made)
    if not holds_traced(object):
        return _plain_array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    if isinstance(object, Traced) and not copy and not object._is_python_number:  # type: ignore[attr-defined]
        if dtype is None or np.dtype(dtype) == dtype_of(object):
            y: Any = _in_order(object, order) if order in ("C", "F") else object
            if y is object or copy is None:
                return y.reshape((1,) * (ndmin - ndim_of(y)) + y.shape) if ndmin > ndim_of(y) else y
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if dtype is not None and np.dtype(dtype).kind == "O":
        return _of_objects(object)
    x = settled(as_operand(object if dtype is None else fitted(object, np.dtype(dtype))))
    wanted = "C" if order not in ("C", "F") and object.__class__ in (list, tuple) else order
    if x is object and copy:
        x = copied(x, order)
    elif wanted in ("C", "F"):
        x = _in_order(x, wanted)
    if dtype is not None:
        x = cast(x, dtype)
    missing = ndmin - ndim_of(x)
    return _own(s.reshape(x, shape=(1,) * missing + shape_of(x)) if missing > 0 else x)


def _plain_array(obj: Any, dtype: Any, **options: Any) -> Any:
    try:
        made: Any = np.array(obj, dtype, **options)
    except ValueError as error:
        if str(error) != NO_ARRAY:
            raise
        return array(array_of(obj), dtype, **options)
    is_new = options["copy"] or (made is not obj and made.base is None)  # or the array itself, or other people's memory
    return _own(made) if is_new else made


def _of_objects(obj: Any) -> np.ndarray:
    """An array of objects, which are what they are. The elements of arrays are its own, if these have one shape."""
    shape = _nested_shape(obj)
    y = np.empty(shape, object)
    for place in np.ndindex(*shape):
        y[place] = functools.reduce(lambda item, k: item[k], place, obj)
    return y


def _nested_shape(obj: Any) -> tuple[int, ...]:
    if isinstance(obj, (list, tuple)):
        alike = itertools.takewhile(lambda sizes: len(set(sizes)) == 1, zip(*map(_nested_shape, obj), strict=False))
        return (len(obj), *[sizes[0] for sizes in alike])
    return shape_of(obj) if isinstance(obj, (Traced, np.ndarray)) else ()


@_constructs(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    if isinstance(iter, Traced) and ndim_of(iter) == 1 and count < 0:
        return cell(copied(cast(iter, dtype)))
    items = list(itertools.islice(iter, count) if count >= 0 else iter)
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    if holds_traced(items):
        return cell(cast(as_operand(items), dtype))
    return cell(np.fromiter(items, dtype, count, **options))


@_constructs(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    return _with_axes(_in_order(asarray(a, dtype), "C"))


@_constructs(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    return _with_axes(_in_order(asarray(a, dtype), "F"))


def _with_axes(x: Any) -> Any:
    """These functions give every array an axis at least."""
    return x if ndim_of(x) else x.reshape(1)


def _in_order(x: Any, order: str) -> Any:
    """An array, or a copy of it that lies in memory in an order."""
    if not isinstance(x, Traced) or ndim_of(x) < 2:
        if isinstance(x, Traced):
            return x
        y = np.asarray(x, order=order)  # type: ignore[call-overload]
        return y if y is x else cell(y)
    try:
        flags = laid_out(x).flags
    except UnknownOrder:
        return copied(x, order)
    return x if (flags.c_contiguous if order == "C" else flags.f_contiguous) else copied(x, order)


@_constructs(np.asarray, np.asanyarray)
def asarray(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    if isinstance(a, Traced) and (dtype is None or np.dtype(dtype) == dtype_of(a)):
        if a._is_python_number or not (shape_of(a) or a._is_array):  # type: ignore[attr-defined]
            return own_array(s.copy(a))  # which no longer takes over the dtype of what it meets
        return a if order not in ("C", "F") else _in_order(a, order)
    return array(a, dtype, copy=None, order=order or "K")


@_constructs(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    y = asarray(a, dtype, order)
    if dtype_of(y).kind not in "fc":
        return y
    ok = np.isfinite(plain(y)).all()
    if isinstance(ok, Traced):
        call(demand, ok, error="ValueError", message=_NOT_FINITE)
    elif not ok:
        raise ValueError(_NOT_FINITE)
    return y


_NOT_FINITE = "array must not contain infs or NaNs"


@_constructs(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, **options: Any) -> Any:
    wanted = {str(r).upper()[0] for r in requirements or ()} if isinstance(requirements, (list, tuple, set)) else set(
        str(requirements or "").upper()[:1]
    )  # fmt: skip
    return asarray(a, dtype, "F" if "F" in wanted else "C" if "C" in wanted else None)


@_constructs(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return array(a, order=order)


@_constructs(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
    if not holds_traced(fill_value):
        like = fill_value if library.is_foreign(fill_value) and not fill_value.ndim else None
        if isinstance(fill_value, (float, np.inexact)):
            like = library.near()
        if like is None:
            return _own(np.full(shape, fill_value, dtype, order))  # type: ignore[call-overload]
        return _own(library.filled_like(like, shape, fill_value, dtype_of(fill_value) if dtype is None else dtype))
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(shape)
    x = settled(as_operand(fill_value))
    y = s.copy(s.broadcast_to(x if dtype is None else cast(x, dtype), shape=shape))
    return _own(copied(y, order))


@_constructs(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
              **options: Any) -> Any:  # fmt: skip
    with making(library.example_of([a])):
        y = full(shape_of(a) if shape is None else shape, fill_value, dtype_of(a) if dtype is None else dtype)
    axes = order_like(a, order) if shape is None else None
    if axes is None:
        return y
    return _own(in_order_that_is(y, UNKNOWN) if axes == UNKNOWN else relaid(settled(y), axes))


def _one_number(x: Any) -> Any:
    """The number behind a traced one; examples of a batch have to agree."""
    known: Any = stop_gradient(x)
    if not isinstance(known, Traced):
        return known
    number: Any = int if dtype_of(known).kind in "biu" else float
    return number(known)


def bounds_of_arange(args: tuple, options: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Start, stop, step and type that `np.arange` is given, by place or by name.

    Without a stop what is given as start is it, however many others there are: `np.arange(n, step=2)`.
    """
    names = ("start", "stop", "step", "dtype")
    if len(args) > 4 or not options.keys().isdisjoint(names[: len(args)]):
        np.arange(*[1 for _ in args], **options)  # raises what it raises
    given = dict(zip(names, args, strict=False)) | options
    start, stop, step, dtype = [given.get(name) for name in names]
    if stop is None:
        start, stop = None, start
    if stop is None:
        np.arange(*args, **options)
    return 0 if start is None else start, stop, 1 if step is None else step, dtype


@_constructs(np.arange)
def arange(*args: Any, **kwargs: Any) -> Any:
    if not any(isinstance(a, Traced) for a in (*args, *kwargs.values())):
        like = library.near() if any(isinstance(a, float) for a in args) and "dtype" not in kwargs else None
        return cell(np.arange(*args, **kwargs) if like is None else np.arange(*args, **kwargs, like=like))
    start, stop, step, dtype = bounds_of_arange(args, kwargs)
    if not isinstance(start, Traced) and not isinstance(step, Traced):
        return cell(np.arange(start, _one_number(stop), step, dtype=dtype))
    count = math.ceil(_one_number((stop - start) / step))
    found = start + step * np.arange(max(count, 0))
    return found if dtype is None else cast(found, dtype)


@_constructs(np.isscalar)
def isscalar(element: Any) -> bool:
    return np.isscalar(element) or (isinstance(element, Traced) and not shape_of(element))


@_constructs(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    FUNCTIONS[np.copyto](dst, src, casting, where)
