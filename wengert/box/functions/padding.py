"""np.pad, every mode but functions of the user's own.

Axes are padded one after another, as NumPy does, which defines the corners. Where the padding only repeats elements
(edge, reflect, symmetric, wrap), positions are padded by NumPy and the elements gathered from there. Elsewhere
the padding of one axis is two pieces, before and after, that are joined to the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import implements, lookup
from wengert.box.functions.lengths import known, refuse_if
from wengert.box.functions.operands import array, cast, fitted, join, operand, part, pick, unsupported_option
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.sizes import counting
from wengert.types import dtype_of, ndim_of, shape_of

_OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "minimum": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "empty": None,
    "edge": None,
    "wrap": None,
}
_STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    x = _array(array)
    widths = _widths(pad_width, ndim_of(x))
    if callable(mode):
        raise unsupported_option("np.pad", "a function for a mode", "compute the padding and np.concatenate it")
    if mode not in _OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    wrong = set(kwargs) - {_OPTIONS[mode]}
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {wrong}")
    if mode not in ("constant", "empty"):
        for axis, pair in enumerate(widths):
            if shape_of(x)[axis] == 0 and any(pair):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    pad_axis = _rule(mode, ndim_of(x), kwargs)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = pad_axis(x, axis, before, after)
    return x


_array = array  # the name that NumPy gives to a parameter of pad


def _widths(pad_width: Any, ndim: int) -> list[list[int]]:
    if isinstance(pad_width, dict):
        given = pad_width
        pad_width = np.zeros((ndim, 2), int)
        for axis, width in given.items():
            pad_width[axis] = width
    pad_width = np.asarray(pad_width)
    if pad_width.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if pad_width.size and pad_width.min() < 0:
        raise ValueError("index can't contain negative values")
    return np.broadcast_to(pad_width, (ndim, 2)).tolist()


def _pairs(values: Any, ndim: int) -> Any:
    """One value, or two, or two per axis: always two per axis."""
    return s.broadcast_to(_array(operand(values)), shape=(ndim, 2))


def _put_in(values: Any, dtype: np.dtype) -> Any:
    """NumPy writes the constants as numbers of its own: those that do not fit wrap around only if there is no sign."""
    return fitted(values, dtype) if dtype.kind == "i" else values


def _rule(mode: Any, ndim: int, options: dict) -> Callable:
    """How one axis is padded: a function of the array, the axis and the two widths."""
    if mode == "empty":
        return lambda x, axis, before, after: _between(x, axis, *[_block(0, x, axis, n) for n in (before, after)])
    if mode == "constant":
        given = options.get("constant_values", 0)
        return lambda x, axis, *widths: _constant(x, axis, _pairs(_put_in(given, dtype_of(x)), ndim), widths)
    if mode == "linear_ramp":
        ends = _pairs(options.get("end_values", 0), ndim)
        return lambda x, axis, *widths: _linear_ramp(x, axis, ends, widths)
    if mode in _STATISTICS:
        lengths = _stat_lengths(options.get("stat_length"), ndim)
        return lambda x, axis, *widths: _statistic(x, axis, mode, lengths[axis], widths)
    if mode in ("reflect", "symmetric") and options.get("reflect_type", "even") == "odd":
        return lambda x, axis, *widths: _odd_reflection(x, axis, mode == "symmetric", widths)
    return lambda x, axis, *widths: pick(x, _padded_positions(shape_of(x)[axis], widths, mode), axis)


def _padded_positions(n: Any, widths: Any, mode: Any) -> Any:
    """Where the elements of a padded axis come from."""
    if n.__class__ is int:
        return np.pad(np.arange(n), widths, mode)
    n = known(n)
    refuse_if(n < 1, ValueError, f"can't extend an empty axis using mode {mode!r}")
    places = counting(n + sum(widths)) - widths[0]
    if mode == "edge":
        return e.minimum(e.maximum(places, 0), n - 1)
    if mode == "wrap":
        return places % n
    period = 2 * n if mode == "symmetric" else e.maximum(2 * n - 2, 1)
    places = places % period
    return e.minimum(places, period - (mode == "symmetric") - places)


def _between(x: Any, axis: int, before: Any, after: Any) -> Any:
    return join([cast(before, dtype_of(x)), x, cast(after, dtype_of(x))], axis)


def _block(value: Any, x: Any, axis: int, width: int) -> Any:
    """A value spread over the padding of `x` on one side."""
    shape = shape_of(x)
    return s.broadcast_to(cast(_array(value), dtype_of(x)), shape=(*shape[:axis], width, *shape[axis + 1 :]))


def _constant(x: Any, axis: int, constants: Any, widths: Any) -> Any:
    return _between(x, axis, *[_block(index(constants, pattern=(axis, k)), x, axis, widths[k]) for k in (0, 1)])


def _linear_ramp(x: Any, axis: int, ends: Any, widths: Any) -> Any:
    """As `np.linspace` with the dtype of the array."""
    inexact = dtype_of(x) if dtype_of(x).kind in "fc" else np.dtype(np.float64)
    ramps = []
    for k, edge in enumerate((part(x, axis, slice(0, 1)), part(x, axis, slice(-1, None)))):
        steps = np.arange(widths[k])[:: 1 - 2 * k] / max(widths[k], 1)
        steps = steps.astype(inexact).reshape((-1,) + (1,) * (ndim_of(x) - axis - 1))
        end = cast(cast(index(ends, pattern=(axis, k)), dtype_of(x)), inexact)
        ramp = end + (cast(edge, inexact) - end) * steps
        ramps.append(cast(e.floor(ramp) if dtype_of(x).kind in "iu" else ramp, dtype_of(x)))
    return _between(x, axis, *ramps)


def _stat_lengths(stat_length: Any, ndim: int) -> list:
    if stat_length is None:
        return [(None, None)] * ndim
    lengths = np.broadcast_to(np.asarray(stat_length), (ndim, 2)).astype(int)
    if (lengths < 0).any():
        raise ValueError("index can't contain negative values")
    return lengths.tolist()


def _statistic(x: Any, axis: int, mode: str, lengths: Any, widths: Any) -> Any:
    statistic = lookup(_STATISTICS[mode])
    n = shape_of(x)[axis]
    counts = [n if length is None else min(length, n) for length in lengths]
    if 0 in counts and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    blocks = []
    for k, near in enumerate((slice(0, counts[0]), slice(n - counts[1], n))):
        value = statistic(part(x, axis, near), axis=axis, keepdims=True)
        blocks.append(_block(value, x, axis, widths[k]))
    return _between(x, axis, *blocks)


def _odd_reflection(x: Any, axis: int, include_edge: bool, widths: Any) -> Any:
    """Reflection in the point at each edge, again and again until the padding is wide enough.

    As NumPy, a pass reflects only whole copies of the original array.
    """
    n = shape_of(x)[axis]
    if n == 1:
        return pick(x, np.pad([0], widths, "edge"), axis)
    before, after = widths
    first = 0 if include_edge else 1
    period = n - first
    while before or after:
        length = shape_of(x)[axis]
        whole = (length - first) // period * period
        left, right = min(whole, before), min(whole, after)
        start, end = part(x, axis, slice(0, 1)), part(x, axis, slice(length - 1, length))
        head = s.flip(part(x, axis, slice(first, first + left)), axis=(axis,))
        tail = s.flip(part(x, axis, slice(length - first - right, length - first)), axis=(axis,))
        x = join([2 * start - head, x, 2 * end - tail], axis)
        before, after = before - left, after - right
    return x
