"""Objects that are subscripted to make arrays: `np.r_[x, 1.0]`, `np.c_[x, y]`, `np.mgrid[0:x:5j]`, `np.ogrid`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, SUBSCRIPTED
from wengert.box.functions.operands import array, cast
from wengert.errors import UnsupportedFunctionError
from wengert.ops import shape as s
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.types import SCALARS, dtype_of, ndim_of, shape_of


def _points(item: slice, function: str) -> Any:
    """What a slice stands for: `start:stop:step`, or `start:stop:5j` with so many points."""
    start, stop, step = (0 if item.start is None else item.start), item.stop, (1 if item.step is None else item.step)
    if isinstance(step, complex):
        return FUNCTIONS[np.linspace](start, stop, int(abs(step)))
    if not any(isinstance(end, Traced) for end in (start, stop, step)):
        return np.arange(start, stop, step)
    known = [stop_gradient(end) for end in (start, stop, step)]
    if any(isinstance(end, Traced) for end in known):
        raise UnsupportedFunctionError(
            f"{function} with bounds that are known only when the compiled program runs has no known length",
            remedy="give the number of points, as in start:stop:5j, or use np.linspace",
        )
    return start + step * np.arange(max(math.ceil((known[1] - known[0]) / known[2]), 0))


def _concatenated(maker: Any, key: Any) -> Any:
    """As `numpy.lib._index_tricks_impl.AxisConcatenator`, whose comments explain the numbers."""
    items = list(key) if isinstance(key, tuple) else [key]
    axis, ndmin, trans1d = maker.axis, maker.ndmin, maker.trans1d
    if items and isinstance(items[0], str):
        directive = items.pop(0)
        if directive in ("r", "c"):
            raise UnsupportedFunctionError(
                f"np.r_[{directive!r}, …] of traced values makes a matrix", remedy="use np.stack or np.c_"
            )
        numbers = [int(n) for n in directive.split(",")]
        numbers += [axis, ndmin, trans1d][len(numbers) :]
        axis, ndmin, trans1d = numbers
    pieces, kinds = [], []
    for item in items:
        piece = _points(item, "np.r_") if isinstance(item, slice) else array(item)
        old = ndim_of(piece) if not isinstance(item, slice) else 1
        missing = max(ndmin, 1) - ndim_of(piece)
        if missing > 0:
            piece = s.reshape(array(piece), shape=(1,) * missing + shape_of(piece))
            if trans1d != -1 and old > 0:
                rank = ndim_of(piece)
                places = list(range(rank))
                first = trans1d if trans1d >= 0 else trans1d + missing + 1
                piece = s.transpose(piece, axes=(*places[:first], *places[missing:], *places[first:missing]))
        pieces.append(piece)
        kinds.append(item if item.__class__ in SCALARS else dtype_of(piece))
    dtype = np.result_type(*kinds)
    return FUNCTIONS[np.concatenate]([cast(p, dtype) for p in pieces], axis % ndim_of(pieces[0]))


def _grid(maker: Any, key: Any) -> Any:
    several = isinstance(key, tuple)
    lines = [_points(item, "np.mgrid") for item in (key if several else (key,))]
    if not several:
        return lines[0]
    n = len(lines)
    lines = [s.reshape(array(x), shape=(1,) * k + shape_of(x) + (1,) * (n - k - 1)) for k, x in enumerate(lines)]
    if maker.sparse:
        return tuple(lines)
    shape = tuple(shape_of(x)[k] for k, x in enumerate(lines))
    return FUNCTIONS[np.stack]([s.broadcast_to(x, shape=shape) for x in lines])


SUBSCRIPTED[type(np.r_)] = SUBSCRIPTED[type(np.c_)] = _concatenated
SUBSCRIPTED[type(np.mgrid)] = SUBSCRIPTED[type(np.ogrid)] = _grid
