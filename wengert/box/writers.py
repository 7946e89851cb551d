"""NumPy's functions that write into an array, and its functions that return views, on traced arrays.

Both are built on `writing.py`. Importing this module puts them into the tables of `dispatch.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, UFUNCS, implements, name_of
from wengert.box.functions.operands import array, size_of
from wengert.box.ufunc_methods import METHODS
from wengert.box.writing import link, replace, set_item, settled
from wengert.errors import InPlaceError
from wengert.ops.op import Traced
from wengert.types import ndim_of, shape_of

# ---------------------------------------------------------------------------------------------------------- writers


def _target(x: Any, function: Any) -> Any:
    """The array that is written to, which must be one that can hold traced values."""
    if not isinstance(x, Traced):
        raise InPlaceError(
            f"{name_of(function)} writes a traced value into a plain array",
            remedy="create the array in the differentiated function with np.zeros, np.empty or np.copy",
        )
    return x


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    dst = _target(dst, np.copyto)
    replace(dst, src if where is True else FUNCTIONS[np.where](where, src, dst))


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    a = _target(a, np.put)
    positions = np.ravel(settled(array(ind)))
    n = size_of(a)
    if mode == "wrap":
        positions = positions % n
    elif mode == "clip":
        positions = np.clip(positions, 0, n - 1)
    elif np.any((positions < -n) | (positions >= n)):
        raise IndexError(f"index out of bounds for array of size {n}")
    if len(positions):
        values = np.ravel(array(v))
        set_item(a, np.unravel_index(positions % n, a.shape), values[np.arange(len(positions)) % size_of(values)])


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    arr = _target(arr, np.place)
    positions = np.flatnonzero(settled(array(mask)))
    put(arr, positions, vals)


@implements(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    a = _target(a, np.putmask)
    positions = np.flatnonzero(settled(array(mask)))
    values = np.ravel(array(values))
    if len(positions):
        set_item(a, np.unravel_index(positions, a.shape), values[positions % size_of(values)])


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    arr = _target(arr, np.put_along_axis)
    indices = settled(array(indices))
    if axis is None:
        put(arr, indices, values)
        return
    axis = axis % ndim_of(arr)
    grid = list(np.ogrid[tuple(slice(n) for n in shape_of(arr))])
    grid[axis] = indices
    set_item(arr, tuple(grid), values)


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    a = _target(a, np.fill_diagonal)
    positions = np.zeros(shape_of(a))
    np.fill_diagonal(positions, 1, wrap)
    put(a, np.flatnonzero(positions), val)


def at(ufunc: Any, op: Any, a: Any, indices: Any, b: Any = None) -> None:
    """`np.add.at(a, indices, b)`: elements that are named twice are operated on twice."""
    a = _target(a, ufunc)
    place = np.arange(size_of(a)).reshape(shape_of(a))[_plain_index(indices)]
    if b is None:
        _at_positions(UFUNCS[ufunc], a, np.unique(place), None)
        return
    positions = np.ravel(place)
    values = np.ravel(np.broadcast_to(array(b), np.shape(place)))
    # Positions that come up for the k-th time are handled together, one such round after the other.
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    first = np.searchsorted(ordered, ordered)
    rounds = np.empty(len(positions), int)
    rounds[order] = np.arange(len(positions)) - first
    for k in range(rounds.max(initial=-1) + 1):
        chosen = np.flatnonzero(rounds == k)
        _at_positions(UFUNCS[ufunc], a, positions[chosen], values[chosen])


def _plain_index(idx: Any) -> Any:
    return tuple([settled(item) for item in idx]) if isinstance(idx, tuple) else settled(idx)


def _at_positions(op: Any, a: Any, positions: np.ndarray, values: Any) -> None:
    place = np.unravel_index(positions, shape_of(a))
    old = a[place]
    set_item(a, place, op(old) if values is None else op(old, values))


METHODS["at"] = at

# ------------------------------------------------------------------------------------------------------------ views


def _shares(function: Callable, args: tuple, kwargs: dict, x: Any) -> bool:
    """Whether NumPy's function would return a view of an array laid out as `x` is."""
    view = x.view_of
    probe = np.empty(shape_of(x) if view is None else shape_of(view.root))
    return np.may_share_memory(probe, function(probe if view is None else view.function(probe), *args, **kwargs))


def _viewing(function: Any, implementation: Callable, *, sometimes: bool = False, readonly: bool = False) -> Callable:
    """An implementation whose result is a view of its first argument."""

    @functools.wraps(implementation)
    def viewing(x: Any, *args: Any, **kwargs: Any) -> Any:
        y = implementation(x, *args, **kwargs)
        if not isinstance(x, Traced) or (sometimes and not _shares(function, args, kwargs, x)):
            return y
        if isinstance(y, (list, tuple)):
            for k, part in enumerate(y):
                link(part, x, lambda root, k=k: implementation(root, *args, **kwargs)[k], readonly=readonly)
            return y
        return link(y, x, lambda root: implementation(root, *args, **kwargs), readonly=readonly)

    return viewing


for _name in [
    "transpose",
    "permute_dims",
    "matrix_transpose",
    "swapaxes",
    "moveaxis",
    "rollaxis",
    "squeeze",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "split",
    "array_split",
    "hsplit",
    "vsplit",
    "dsplit",
    "unstack",
]:
    if hasattr(np, _name):
        FUNCTIONS[getattr(np, _name)] = _viewing(getattr(np, _name), FUNCTIONS[getattr(np, _name)])
for _function in (np.reshape, np.ravel):
    FUNCTIONS[_function] = _viewing(_function, FUNCTIONS[_function], sometimes=True)
for _frozen in (np.diagonal, np.broadcast_to):
    FUNCTIONS[_frozen] = _viewing(_frozen, FUNCTIONS[_frozen], readonly=True)
