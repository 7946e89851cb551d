"""B-splines of scipy.signal: coefficients of splines through samples, their values, and separable filters of images.

Coefficients are what two recursive filters of first order make of the samples, one forwards and one backwards, with the
pole of the spline. Values weigh the four (quadratic: three) coefficients around a point, as functions of its distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.filters import lfilter
from wengert.box.functions.images import convolve1d, floating
from wengert.box.functions.operands import array, cast, unsupported_option
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.types import dtype_of, ndim_of, shape_of


def _coefficients(signal: Any, pole: float, scale: float) -> Any:
    n = shape_of(signal)[0]
    first = index(signal, pattern=(0,)) + pole * s.sum(pole ** np.arange(n) * signal, axis=(0,))
    if n == 1:
        return s.reshape(first * (pole / (pole - 1)), shape=(1,))
    state = s.reshape(first * pole, shape=(1,))
    later, _ = lfilter([1.0], [1.0, -pole], index(signal, pattern=(slice(1, None),)), zi=state)
    forwards = FUNCTIONS[np.concatenate]([s.reshape(first, shape=(1,)), later])
    final = s.reshape(index(forwards, pattern=(n - 1,)) * (pole / (pole - 1)), shape=(1,))
    rest = s.flip(index(forwards, pattern=(slice(0, n - 1),)), axis=(0,))
    earlier, _ = lfilter([-pole], [1.0, -pole], rest, zi=final * pole)
    return FUNCTIONS[np.concatenate]([s.flip(earlier, axis=(0,)), final]) * scale


def _samples(signal: Any) -> Any:
    (x,) = floating(array(signal))
    if ndim_of(x) != 1 or not shape_of(x)[0]:
        raise ValueError("the samples of a spline are an array of one axis that is not empty")
    return x


def _cspline1d(original: Callable) -> Callable:
    def cspline1d(signal: Any, lamb: Any = 0.0) -> Any:
        x = _samples(signal)
        if isinstance(lamb, Traced):
            raise unsupported_option("scipy.signal.cspline1d", "a traced lamb", "use wg.stop_gradient(lamb)")
        if lamb == 0:
            return _coefficients(x, math.sqrt(3) - 2, 6.0)
        n = shape_of(x)[0]  # smoothing is linear in the samples, so SciPy's own answers to unit samples are its matrix
        return matmul(np.stack([original(one, lamb) for one in np.eye(n)], axis=1), x)

    return cspline1d


def qspline1d(signal: Any, lamb: Any = 0.0) -> Any:
    if isinstance(lamb, Traced) or lamb != 0:
        raise ValueError("Smoothing quadratic splines not supported yet.")
    return _coefficients(_samples(signal), 2 * math.sqrt(2) - 3, 8.0)


def _cubic(x: Any) -> Any:
    """The cubic B-spline, |x| < 2."""
    x = e.absolute(x)
    near, far = 2 / 3 - x * x * (2 - x) / 2, (2 - x) * (2 - x) * (2 - x) / 6
    return e.where(e.less(x, 1), near, e.where(e.less(x, 2), far, 0.0))


def _quadratic(x: Any) -> Any:
    """The quadratic B-spline, |x| < 3/2."""
    x = e.absolute(x)
    far = (x - 1.5) * (x - 1.5) / 2
    return e.where(e.less(x, 0.5), 0.75 - x * x, e.where(e.less(x, 1.5), far, 0.0))


def _values(basis: Callable, reach: float) -> Callable:
    def evaluated(cj: Any, newx: Any, dx: Any = 1.0, x0: Any = 0) -> Any:
        c, x = array(cj), floating(array(newx))[0]
        n = shape_of(c)[0]
        if not n:
            raise ValueError("Spline coefficients 'cj' must not be empty.")
        x = (x - x0) / dx
        if n > 1:  # mirrored at the first and the last sample
            around = x - (2 * (n - 1)) * e.floor(x / (2 * (n - 1)))
            x = e.where(e.less_equal(around, n - 1), around, 2 * (n - 1) - around)
        lowest = e.floor(x - reach) + 1
        y: Any = x * 0
        for k in range(math.floor(2 * reach)):
            place = lowest + k
            own = cast(e.minimum(e.maximum(place, 0), n - 1), np.int64)
            y = y + index(c, own, pattern=(ARRAY,)) * basis(x - place)
        return cast(y, dtype_of(c))

    return evaluated


def sepfir2d(input: Any, hrow: Any, hcol: Any) -> Any:
    x, row, column = floating(array(input), array(hrow), array(hcol))
    if ndim_of(x) != 2 or ndim_of(row) != 1 or ndim_of(column) != 1:
        raise ValueError("sepfir2d takes an image and two filters of one axis")
    if not (shape_of(row)[0] % 2 and shape_of(column)[0] % 2):
        raise ValueError("hrow and hcol must be odd length")
    return convolve1d(convolve1d(x, row, 1), column, 0)


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    implements_blind(module.cspline1d)(_cspline1d(module.cspline1d))
    implements_blind(module.qspline1d)(qspline1d)
    implements_blind(module.cspline1d_eval)(_values(_cubic, 2.0))
    implements_blind(module.qspline1d_eval)(_values(_quadratic, 1.5))
    implements_blind(module.sepfir2d)(sepfir2d)
