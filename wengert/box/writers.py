"""NumPy's functions that write into an array, and its functions that return views, on traced arrays.

Both are built on `writing.py`. Importing this module puts them into the tables of `dispatch.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import FUNCTIONS, UFUNCS, WRITERS, first_by_name, implements, implements_blind, name_of
from wengert.box.functions.lengths import refuse_if
from wengert.box.functions.operands import array, cast, fitted, holds_traced, operand, pick, promoting, size_of
from wengert.box.functions.shapes import relaid
from wengert.box.memory import laid_out, lengths, lies_as_in_c, order_by, order_like, shares
from wengert.box.ufunc_methods import METHODS
from wengert.box.writing import (
    HoldsNoDerivative,
    array_like,
    clone,
    in_order_that_is,
    link,
    replace,
    set_item,
    settled,
    settled_index,
)
from wengert.errors import UnsupportedFunctionError
from wengert.ops import library
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index, scatter, split_index
from wengert.ops.op import Op, Traced, call
from wengert.ops.store import add_at, counted
from wengert.running import running
from wengert.strides import UNKNOWN, in_order, order_of
from wengert.types import dtype_of, ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------------- writers


def _writes(function: Any) -> Callable[[Callable], Callable]:
    """Declare how a NumPy function writes to a traced array. Into a plain one it writes plain values, as ever."""

    def register(implementation: Callable) -> Callable:
        @functools.wraps(implementation)
        def writer(*args: Any, **kwargs: Any) -> None:
            if not args and first in kwargs:
                args = (kwargs.pop(first),)
            target, args = args[0], args[1:]
            if isinstance(target, Traced):
                implementation(target, *args, **kwargs)
                return
            args, kwargs = tuple([settled(a) for a in args]), {k: settled(a) for k, a in kwargs.items()}
            if function is np.copyto and dtype_of(target).kind in "iub" and kwargs.get("casting") == "unsafe":
                args = cast(array(args[0]), dtype_of(target)), *args[1:]  # which has no derivative
            if holds_traced([*args, *kwargs.values()]):
                raise HoldsNoDerivative(
                    f"{name_of(function)} writes a traced value into a plain array",
                    remedy="create the array in the differentiated function with np.zeros, np.empty or np.copy",
                )
            function(target, *args, **kwargs)

        first = next(iter(inspect.signature(implementation).parameters))
        WRITERS.add(function)
        return implements(function)(first_by_name(function, writer))

    return register


@_writes(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    src = fitted(src, dtype_of(dst))
    new = array(src) if where is True else FUNCTIONS[np.where](where, src, dst)
    if shape_of(new) == shape_of(dst):
        replace(dst, new)
    elif np.can_cast(dtype_of(new), dtype_of(dst), casting):  # type: ignore[arg-type]
        set_item(dst, Ellipsis, new)
    else:
        raise TypeError(f"Cannot cast array data from {dtype_of(new)!r} to {dtype_of(dst)!r} by the rule {casting!r}")


@_writes(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    positions = np.ravel(settled(array(ind)))
    n = size_of(a)
    if dtype_of(positions) == np.uint64:
        positions = positions.astype(np.intp)  # as NumPy does: what is beyond wraps around
    if mode == "wrap":
        positions = positions % n
    elif mode == "clip":
        positions = np.clip(positions, 0, n - 1)
    else:
        outside = np.any((positions < -n) | (positions >= n))
        refuse_if(outside, IndexError, f"index out of bounds for array of size {n}")
    if len(positions):
        values = np.ravel(array(fitted(v, dtype_of(a))))
        set_item(a, np.unravel_index(positions % n, a.shape), values[np.arange(len(positions)) % size_of(values)])


@_writes(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    mask = np.reshape(settled(array(mask)), np.shape(arr)) != 0
    values = np.ravel(array(fitted(vals, dtype_of(arr))))
    if size_of(values):
        taken = pick(values, (np.cumsum(np.ravel(mask)) - 1) % size_of(values))
        set_item(arr, Ellipsis, np.where(mask, np.reshape(taken, np.shape(arr)), arr))
    elif np.any(mask):
        raise ValueError("Cannot insert from an empty array!")


@_writes(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    mask = np.reshape(settled(array(mask)), np.shape(a)) != 0
    values = np.ravel(array(fitted(values, dtype_of(a))))
    if size_of(values) == 1:
        set_item(a, Ellipsis, np.where(mask, values[0], a))
    elif size_of(values):
        taken = values[np.arange(size_of(a)) % size_of(values)]
        set_item(a, Ellipsis, np.where(mask, np.reshape(taken, np.shape(a)), a))


@_writes(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    indices = settled(array(indices))
    if axis is None:
        put(arr, indices, values)
        return
    axis = normalize_axis_index(axis, ndim_of(arr))
    if dtype_of(indices).kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if ndim_of(arr) != ndim_of(indices):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    grid = list(np.ogrid[tuple(slice(n) for n in shape_of(arr))])
    grid[axis] = indices
    set_item(arr, tuple(grid), values)


@_writes(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    positions = np.zeros(shape_of(a))
    np.fill_diagonal(positions, 1, wrap)
    put(a, np.flatnonzero(positions), val)


def at(ufunc: Any, op: Any, a: Any, indices: Any, b: Any = None) -> None:
    """`np.add.at(a, indices, b)`: elements that are named twice are operated on twice."""
    if not isinstance(a, Traced):
        if isinstance(settled(array(b)), Traced) or holds_traced(settled_index(indices)):
            raise HoldsNoDerivative(
                f"{name_of(ufunc)}.at writes traced values, or at traced places, into a plain array",
                remedy="create the array in the differentiated function with np.zeros, np.empty or np.copy",
            )
        ufunc.at(a, settled_index(indices), *([] if b is None else [settled(array(b))]))
        return
    if _are_elsewhere(indices):
        _at_symbols(ufunc, a, settled_index(indices), b)
        return
    place = counted(shape_of(a))[settled_index(indices)]
    positions = np.ravel(place)
    values = None if b is None else np.ravel(np.broadcast_to(_in_common(a, b), np.shape(place)))
    if ufunc in (np.add, np.subtract) and len(positions) > 1:
        positions, which = np.unique(positions, return_inverse=True)
        values = scatter(settled(values), which, patterns=((ARRAY,),), shape=positions.shape)
    # Positions that come up for the k-th time are handled together, one such round after the other.
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    first = np.searchsorted(ordered, ordered)
    rounds = np.empty(len(positions), int)
    rounds[order] = np.arange(len(positions)) - first
    for k in range(rounds.max(initial=-1) + 1):
        chosen = np.flatnonzero(rounds == k)
        _at_positions(UFUNCS[ufunc], a, positions[chosen], None if values is None else values[chosen])


def _are_elsewhere(idx: Any) -> bool:
    """Whether an index has symbols in it, or arrays of another library."""
    items = [settled(item) for item in (idx if isinstance(idx, tuple) else (idx,))]
    captures = running.state.capture is not None
    return any((captures and isinstance(item, Traced)) or library.is_foreign(item) for item in items)


def _at_symbols(ufunc: Any, a: Any, idx: Any, b: Any) -> None:
    """`at` positions that are known only when the compiled program runs, or only on a device."""
    if ufunc not in (np.add, np.subtract):
        raise UnsupportedFunctionError(
            f"{name_of(ufunc)}.at with indices that are known only when the compiled program runs, or on a device",
            remedy="write a loop over the indices",
        )
    pattern, arrays = split_index(idx)
    v = settled(_in_common(a, b)) if ufunc is np.add else -settled(_in_common(a, b))
    old = settled(a)
    replace(a, call(add_at, clone(old) if isinstance(old, Traced) else old, v, *arrays, pattern=pattern))


def _in_common(a: Any, b: Any) -> Any:
    """The values in the type in which NumPy adds them to the elements: what is added up beforehand must not overflow,
    or be true or false, where the sum with the array would be a number."""
    b = operand(b)
    return cast(array(b), np.result_type(dtype_of(a), promoting(b)))


def _at_positions(op: Any, a: Any, positions: np.ndarray, values: Any) -> None:
    place = np.unravel_index(positions, shape_of(a))
    old = a[place]
    set_item(a, place, op(old) if values is None else op(old, values))


METHODS["at"] = at

# ------------------------------------------------------------------------------------------------------------ views


def _viewing(function: Any, implementation: Callable, *, sometimes: bool = False, readonly: bool = False) -> Callable:
    """An implementation whose result is a view of its first argument."""

    @functools.wraps(implementation)
    def viewing(x: Any, *args: Any, **kwargs: Any) -> Any:
        y = implementation(x, *args, **kwargs)
        if not isinstance(x, Traced):
            return y
        if not (shape_of(x) or shape_of(y)) and (function is np.flip or _is_of_numpy(x)) and not readonly:
            return y  # of one of NumPy's numbers, these functions make a number; `np.flip` also of an array of no axes
        known = shares(function, args, kwargs, x) if sometimes else True
        if known is False:
            return s.copy(y) if y is x else y
        if isinstance(y, (list, tuple)):
            for k, part in enumerate(y):
                link(part, x, lambda root, k=k: implementation(root, *args, **kwargs)[k], readonly=readonly)
            return y
        if known is None and y is x:
            y = link(s.copy(x), x, s.copy)
        y = link(y, x, lambda root: implementation(root, *args, **kwargs), readonly=readonly)
        if known is None and isinstance(y, Traced) and y is not x:
            y._view_of.certain = False  # type: ignore[attr-defined]
        return y

    return viewing


def _is_of_numpy(x: Any) -> bool:
    """Whether a traced value stands for one of NumPy's numbers, which has the methods of an array."""
    return not (shape_of(x) or x._is_array or x._is_python_number)


_MAKE_VIEWS = (
    "transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims flip "
    "fliplr flipud rot90 split array_split hsplit vsplit dsplit unstack"
)
for _name in _MAKE_VIEWS.split():
    if hasattr(np, _name):
        FUNCTIONS[getattr(np, _name)] = _viewing(getattr(np, _name), FUNCTIONS[getattr(np, _name)])
_transposed: Any = np.linalg.matrix_transpose
FUNCTIONS[_transposed] = _viewing(_transposed, FUNCTIONS[_transposed])
_reshaping: tuple[Any, ...] = (np.reshape, np.ravel)
for _function in _reshaping:
    FUNCTIONS[_function] = _viewing(_function, FUNCTIONS[_function], sometimes=True)


def _in_order_of_memory(reshaping: Callable) -> Callable:
    """`reshape` or `ravel` with an order that depends on how the array lies in memory, as a view in a known order."""

    @functools.wraps(reshaping)
    def reshaped(a: Any, *args: Any, **kwargs: Any) -> Any:
        known = inspect.signature(reshaping).bind(a, *args, **kwargs)
        order = known.arguments.get("order")
        if order not in ("A", "K") or (order == "K" and "shape" in known.arguments):
            return reshaping(a, *args, **kwargs)
        a = array(a)
        memory = laid_out(a) if ndim_of(a) > 1 else None
        if order == "K" and memory is not None and (axes := order_of(memory)) is not None:
            a = FUNCTIONS[np.transpose](a, axes)
        is_fortran = order == "A" and memory is not None and memory.flags.fnc
        known.arguments |= {next(iter(known.arguments)): a, "order": "F" if is_fortran else "C"}
        return reshaping(*known.args, **known.kwargs)

    return reshaped


for _function in _reshaping:
    FUNCTIONS[_function] = _in_order_of_memory(FUNCTIONS[_function])
_windows: Any = np.lib.stride_tricks.sliding_window_view
_read_only: tuple[Any, ...] = (np.diagonal, np.linalg.diagonal, np.broadcast_to, _windows)
for _frozen in _read_only:
    FUNCTIONS[_frozen] = _viewing(_frozen, FUNCTIONS[_frozen], readonly=True)


@implements_blind(np.lib.stride_tricks.as_strided)
def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    x = array(x)
    shape = shape_of(x) if shape is None else tuple(shape)
    if strides is None:  # those of an array of this shape, as NumPy has it of what lies in order
        strides = np.cumprod([dtype_of(x).itemsize, *shape[:0:-1]])[::-1][: len(shape)].tolist()
    places, rest = np.zeros((), int), 0
    for length, stride in zip(shape, strides, strict=True):
        step, more = divmod(stride, dtype_of(x).itemsize)
        places, rest = np.add.outer(places, np.arange(length) * step), rest or more
    n = size_of(x)
    is_in_order = isinstance(n, int) and laid_out(x).flags.c_contiguous
    if rest or not is_in_order or (places.size and not 0 <= places.min() <= places.max() < n):
        raise UnsupportedFunctionError(
            "np.lib.stride_tricks.as_strided of traced values that do not lie one after the other, or beyond them",
            remedy="apply it to np.ascontiguousarray(x), or use np.lib.stride_tricks.sliding_window_view, or an index",
        )

    def strided(root: Any) -> Any:
        return index(s.reshape(root, shape=(n,)), places, pattern=(ARRAY,))

    y = strided(x)
    return link(y, x, strided, readonly=not writeable) if isinstance(x, Traced) else y


def _part(op: Op) -> Callable:
    """Real or imaginary parts, as a view. Those of the positions of elements are where the elements are."""

    def implementation(val: Any) -> Any:
        return call(op, val) if dtype_of(val).kind == "c" else val

    def part(val: Any) -> Any:
        val = array(val)
        if dtype_of(val).kind == "c":
            y = implementation(val)
            return link(y, val, implementation, part=op) if isinstance(val, Traced) and shape_of(val) else y
        if op is s.real:
            return val
        zero = dtype_of(val).type(0)
        return s.filled(zero, shape_of(val)) if shape_of(val) else zero

    return part


FUNCTIONS[np.real], FUNCTIONS[np.imag] = _part(s.real), _part(s.imag)


def _of_each(function: Any, implementation: Callable) -> Callable:
    """An implementation that makes a view of each of its arguments, of one or of several, where NumPy's does."""

    def part(k: int, args: tuple, kwargs: dict, of: Callable) -> Callable:
        """How the k-th result is got from the k-th argument."""

        def function(x: Any) -> Any:
            found = of(*args[:k], x, *args[k + 1 :], **kwargs)
            return found[k] if isinstance(found, (tuple, list)) else found

        return function

    @functools.wraps(implementation)
    def viewing(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("copy", function is np.meshgrid):
            return implementation(*args, **kwargs)
        plain = tuple([np.empty(lengths(shape_of(a)), dtype_of(a)) if isinstance(a, Traced) else a for a in args])
        # A view is got from its own argument again when others are gone: of these only the shapes count.
        others = plain if all(n.__class__ is int for a in args for n in shape_of(a)) else args
        views = [
            _viewing(part(k, plain, kwargs, function), part(k, others, kwargs, implementation), sometimes=True)(a)
            for k, a in enumerate(args)
        ]
        if function is np.meshgrid and kwargs.get("sparse"):
            return views  # a list, as in NumPy
        return views[0] if len(views) == 1 and function in _AT_LEAST else tuple(views)

    return viewing


_AT_LEAST: tuple[Any, ...] = (np.atleast_1d, np.atleast_2d, np.atleast_3d)
for _function in (*_AT_LEAST, np.broadcast_arrays, np.meshgrid):
    FUNCTIONS[_function] = _of_each(_function, FUNCTIONS[_function])
FUNCTIONS[np.diag] = _viewing(np.diag, FUNCTIONS[np.diag], sometimes=True, readonly=True)
_einsum = FUNCTIONS[np.einsum]


@implements(np.einsum)
@functools.wraps(_einsum)
def einsum(*operands: Any, **options: Any) -> Any:
    named = isinstance(operands[0], str)  # np.einsum("ii->i", x) is a view of the diagonal
    if len(operands) > (2 if named else 3) or not set(options) <= {"optimize"}:
        return _einsum(*operands, **options)
    before, after = (operands[:1], ()) if named else ((), operands[1:])

    def of(function: Callable) -> Callable:
        return lambda x: function(*before, x, *after, **options)

    return _viewing(of(np.einsum), of(_einsum), sometimes=True)(operands[len(before)])


_nan_to_num = FUNCTIONS[np.nan_to_num]


@implements(np.nan_to_num)
@functools.wraps(_nan_to_num)
def nan_to_num(x: Any, copy: bool = True, **options: Any) -> Any:
    y = _nan_to_num(x, True, **options)
    return y if copy or not isinstance(x, Traced) or not shape_of(x) else replace(x, y)


# ------------------------------------------------------------------------------------------------------ arrays alike


def _alike(implementation: Callable) -> Callable:
    """`np.zeros_like` and its relatives: what they make lies in memory as what it is like, unless they are told."""

    @functools.wraps(implementation)
    def alike(a: Any, *args: Any, **kwargs: Any) -> Any:
        y = implementation(a, *args, **kwargs)
        known = inspect.signature(implementation).bind(a, *args, **kwargs).arguments
        if not isinstance(a, Traced) or y.__class__ is not np.ndarray or y.ndim < 2 or known.get("shape") is not None:
            return y
        axes = order_like(a, known.get("order", "K"))
        if axes == UNKNOWN:
            return in_order_that_is(y, UNKNOWN)
        if axes is None:
            return y
        new = in_order(y.shape, axes, y.dtype)
        new[...] = y
        return new

    return alike


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    FUNCTIONS[getattr(np, _name)] = _alike(FUNCTIONS[getattr(np, _name)])


def _as_numpys(function: Any, order_by: Callable = order_by) -> Callable:
    """An implementation that makes its result otherwise than NumPy does, so that it may lie otherwise in memory."""
    implementation = FUNCTIONS[function]

    @functools.wraps(implementation)
    def lying(*args: Any, **kwargs: Any) -> Any:
        y = implementation(*args, **kwargs)
        if not isinstance(y, Traced) or ndim_of(y) < 2 or all(map(lies_as_in_c, (y, *args, *kwargs.values()))):
            return y
        order = order_by(function, args, kwargs, y)
        if order == UNKNOWN:
            return y if running.state.capture is None else in_order_that_is(y, UNKNOWN)
        return y if order == order_like(y, "K") else relaid(y, order)

    return lying


_LIE_OTHERWISE = (
    "choose compress cross delete gradient insert median nanmedian nanpercentile nanquantile "
    "pad partition percentile polyval quantile roll select sort take unwrap"
)
for _name in _LIE_OTHERWISE.split():
    FUNCTIONS[getattr(np, _name)] = _as_numpys(getattr(np, _name))
# (which calls functions of the user's)
FUNCTIONS[np.piecewise] = _as_numpys(np.piecewise, lambda f, args, kwargs, y: order_like(args[0], "K"))

# ----------------------------------------------------------------------------------------------------------- copies


def _copying(implementation: Callable) -> Callable:
    """An implementation whose result is never its argument, nor an array in it."""

    @functools.wraps(implementation)
    def copying(x: Any, *args: Any, **kwargs: Any) -> Any:
        y = implementation(x, *args, **kwargs)
        same = y is x or (x.__class__ in (list, tuple) and any(y is item for item in x))
        if same and isinstance(y, Traced) and kwargs.get("copy") is not False:
            y = s.copy(y)
        return array_like(x, y) if isinstance(x, Traced) else y

    return copying


for _name in ["astype", "concatenate", "concat", "column_stack", "pad"]:
    if hasattr(np, _name):
        FUNCTIONS[getattr(np, _name)] = first_by_name(getattr(np, _name), _copying(FUNCTIONS[getattr(np, _name)]))
