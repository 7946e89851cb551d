"""Numbers evenly spaced between traced ends: linspace, logspace, geomspace."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions.lengths import is_length, larger, refuse_if
from wengert.box.functions.operands import array, cast, operand, promoting
from wengert.box.functions.products import move_axis
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.sizes import counting
from wengert.types import SCALARS, dtype_of, ndim_of, shape_of


def _fractions(num: Any, endpoint: bool, *ends: Any) -> Any:
    """0 … 1 along a first axis, before those of the ends."""
    rank = max(ndim_of(x) for x in ends)
    dtype = np.result_type(*[promoting(x) for x in ends], 1.0)
    real = np.zeros((), dtype).real.dtype
    if is_length(num):
        refuse_if(num < 0, ValueError, "Number of samples must be non-negative.")
        steps = cast(larger(num - 1 if endpoint else num, 1), real)
        return s.reshape(cast(counting(num), real), shape=(num,) + (1,) * rank) / steps
    n = operator.index(num)
    if n < 0:
        raise ValueError(f"Number of samples, {n}, must be non-negative.")
    steps = n - 1 if endpoint else n
    return (np.arange(n).reshape((n,) + (1,) * rank) / max(steps, 1)).astype(real)


def _finish(y: Any, dtype: Any, axis: int) -> Any:
    y = y if dtype is None else cast(y, dtype)
    return move_axis(y, 0, axis)


def _inexact(x: Any) -> Any:
    """An end, not of a type in which differences wrap around."""
    if x.__class__ in SCALARS or dtype_of(x).kind in "fc":
        return x
    return x * 1.0 if promoting(x).__class__ in SCALARS else cast(x, np.float64)


def _as_numpy_adds(start: Any, stop: Any, t: Any, y: Any) -> Any:
    """The same to the last digit as NumPy's, where the next integer below depends on it."""
    places = np.arange(len(t)).reshape(np.shape(t))
    first, last = places == 0, t == 1
    step = (stop - start) / round(1 / t.flat[1]) if len(t) > 1 else stop - start
    return e.where(np.logical_or(first, last), y, places * step + start)


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """start·(1 − t) + stop·t, which is exact at both ends. Integers are asked for as the next ones below."""
    start, stop = _inexact(operand(start)), _inexact(operand(stop))
    t = _fractions(num, endpoint, start, stop)
    y = start * (1 - t) + stop * t
    if dtype is not None and np.dtype(dtype).kind in "iu":
        y = e.floor(_as_numpy_adds(start, stop, t, y))
    y = _finish(y, dtype, axis)
    if not retstep:
        return y
    if is_length(num):
        steps = cast(num, np.float64) - bool(endpoint)
        return y, e.where(e.greater(steps, 0), (stop - start) / steps, np.nan)
    steps = operator.index(num) - bool(endpoint)
    return y, ((stop - start) / steps if steps > 0 else np.nan)


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    start, stop, base = operand(start), operand(stop), operand(base)
    rank = max(ndim_of(start), ndim_of(stop), ndim_of(base))
    if ndim_of(base):
        start, stop = _of_rank(start, rank), _of_rank(stop, rank)
    exponents = linspace(start, stop, num, endpoint)
    return _finish(e.power(base, exponents), dtype, axis)


def _of_rank(x: Any, rank: int) -> Any:
    return s.reshape(x, shape=(1,) * (rank - ndim_of(x)) + shape_of(x))


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """start · (stop / start)^t."""
    start, stop = array(start), array(stop)
    t = _fractions(num, endpoint, start, stop)
    return _finish(start * e.power(stop / start, t), dtype, axis)
