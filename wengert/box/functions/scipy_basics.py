"""Functions of SciPy that are plain Python, written in ops: softmax and its relatives, the trapezoidal rule.

SciPy converts what it is given to plain arrays, so these are reached through instrumentation (`capture/`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
from scipy._lib import _array_api

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.operands import array, cast
from wengert.box.functions.reductions import kept_shape, reduced_axes
from wengert.box.functions.statistics import logsumexp as _logsumexp
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.types import dtype_of, is_inexact, ndim_of, shape_of


@implements_blind(scipy.special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    if return_sign:
        raise UnsupportedFunctionError("logsumexp with return_sign=True of traced values", remedy="leave it out")
    return _logsumexp(array(a), axis=axis, b=b, keepdims=keepdims)


def _largest(x: Any, axes: tuple[int, ...]) -> Any:
    """The largest elements along some axes."""
    return s.reshape(r.max(e.stop_gradient(x), axis=axes), shape=kept_shape(shape_of(x), axes))


@implements_blind(scipy.special.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    x = _floating(x)
    axes = reduced_axes(axis, ndim_of(x))
    if dtype_of(x).kind == "c" or _encloses(x):
        return e.exp(x - _logsumexp(x, axis=axes, keepdims=True))
    top = _largest(x, axes)
    return r.softmax(x, axis=axes) + (top - top)  # NaN beside what is infinite, as in SciPy


@implements_blind(scipy.special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    """The largest element is taken off first: beside a large one the logarithm of a sum of exponentials is lost."""
    x = _floating(x)
    axes = reduced_axes(axis, ndim_of(x))
    if not (dtype_of(x).kind == "c" or _encloses(x)):
        top = _largest(x, axes)
        x = x - e.where(e.isfinite(top), top, 0)
    return x - _logsumexp(x, axis=axes, keepdims=True)


def _encloses(x: Any) -> bool:
    """Whether x is an interval, of which a difference from itself is not zero."""
    return isinstance(x, Traced) and x._owner.encloses


def _floating(x: Any) -> Any:
    x = array(x)
    return x if is_inexact(dtype_of(x)) else cast(x, np.float64)


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    """SciPy's own `asarray`, which those of its modules call that are followed (`packages.py`)."""
    implements_blind(_array_api.np_compat.asarray)(_asarray)


def _asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    x = array(obj)
    return x if dtype is None else cast(x, np.dtype(dtype))


@when_imported("scipy.integrate")
def _integrate(module: Any) -> None:
    implements_blind(module.trapezoid)(trapezoid)


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return FUNCTIONS[np.trapezoid](y, x, dx, axis)
