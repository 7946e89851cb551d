"""Intervals for users: `interval`, and `enclose`, which runs a function on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.centred import centred
from wengert.api.natural import natural
from wengert.api.operators import operation, result_of
from wengert.errors import MismatchError, user_location
from wengert.modes.interval import Enclosure, Interval, make
from wengert.ops.op import Traced, call
from wengert.ops.rounding import V
from wengert.ops.sizes import require
from wengert.types import dtype_of, shape_of

METHODS = ("natural", "mean-value", "taylor")


@operation
def interval(lo: Any, hi: Any = None) -> Interval:
    """All real numbers from `lo` to `hi`; with arrays, an array of intervals.

    NumPy's functions and operators work on intervals: what they give contains the true result for all numbers in them,
    whatever rounding does. Bounds may be infinite. Functions are applied where they are defined, as the set-based
    flavour of IEEE 1788 says: `np.sqrt(interval(-1, 4))` is [0, 2], and `np.log(interval(-1, 0))` is empty.

    Args:
        lo: the lower bound, a number or an array; of complex numbers the lower left corner of a rectangle.
        hi: the upper bound, or upper right corner; the same number if it is left out.

    An interval X has `X.lo`, `X.hi`, `X.mid` (a number close to the middle), `X.rad` and `X.width` (rounded up) and
    `X.empty`. `x in X` tells whether a number is in it, `X & Y` is the intersection, `X | Y` the hull. A comparison
    such as `X < Y` is a truth value if all numbers agree; an `if` raises `UndecidedError` where they do not.

    >>> import numpy as np
    >>> X = interval(1.0, 2.0)
    >>> X * X - X
    interval(-1.0, 3.0)
    >>> 3.5 in X + 1, np.sqrt(interval(-1, 4))
    (False, interval(0.0, 2.0))
    >>> interval(0.1) + interval(0.2)
    interval(0.3, 0.30000000000000004)
    """
    if isinstance(lo, Enclosure) and hi is None:
        return make(lo.lo, lo.hi)
    low, high = _bound(lo, -1), _bound(lo if hi is None else hi, 1)
    if shape_of(low) != shape_of(high):
        shape = np.broadcast_shapes(shape_of(low), shape_of(high))
        low, high = [b if shape_of(b) == shape else V.broadcast_to(b, shape=shape) for b in (low, high)]
    if dtype_of(low) != dtype_of(high):
        dtype = np.result_type(dtype_of(low), dtype_of(high))
        low, high = V.astype(low, dtype=dtype), V.astype(high, dtype=dtype)
    if isinstance(low, Traced) or isinstance(high, Traced):
        low, high = _as_numpys(low), _as_numpys(high)
        _check_order(low, high)
    else:
        parts = ((low.real, high.real), (low.imag, high.imag))  # (the latter are zero for real numbers)
        if not all(np.all((a <= b) & (a < math.inf) & (b > -math.inf)) for a, b in parts):
            raise MismatchError(
                f"no interval from {lo} to {lo if hi is None else hi}",
                remedy="give the lower bound first; bounds are numbers, and at most one is infinite on each side",
            )
        low, high = np.array(low)[()], np.array(high)[()]
    return make(low, high)


def _as_numpys(bound: Any) -> Any:
    """An interval of numbers of Python's own does not raise as they do: a root of negative ones is empty."""
    is_pythons = isinstance(bound, Traced) and bound._is_python_number  # type: ignore[attr-defined]
    return V.astype(bound, dtype=dtype_of(bound)) if is_pythons else bound


def _check_order(low: Any, high: Any) -> None:
    """The lower bound is first, also where that is known only when the program runs."""
    fine = V.less_equal(low, high)
    if dtype_of(low).kind == "c":
        fine = V.logical_and(V.less_equal(V.real(low), V.real(high)), V.less_equal(V.imag(low), V.imag(high)))
    fine = V.all(fine, axis=tuple(range(len(shape_of(fine)))))
    message = "no interval: its lower bound is greater than its upper bound, or one of them is no number"
    if isinstance(fine, Traced):
        call(require, fine, error="ValueError", message=f"{message}\n  at {user_location()}")
    elif not fine:
        raise MismatchError(message, remedy="give the lower bound first")


def _bound(x: Any, way: int) -> Any:
    if isinstance(x, Enclosure):
        return x.lo if way < 0 else x.hi
    if isinstance(x, Traced):
        return x
    if x.__class__ is int:
        found = float(x)
        return np.float64(found if (int(found) - x) * way >= 0 else math.nextafter(found, way * math.inf))
    x = np.asarray(x)
    if x.dtype.kind in "iub":
        wide = x.astype(float)
        x = np.where(wide.astype(object) == x.astype(object), wide, np.nextafter(wide, way * math.inf))
    if x.dtype not in (np.float64, np.float32, np.complex128, np.complex64):
        raise MismatchError(
            f"an interval with bounds of type {x.dtype}", remedy="use numbers in double or single precision"
        )
    return x[()]


def enclose(f: Callable, method: str = "natural", order: int = 1, branch: str = "raise") -> Callable:
    """A function of intervals whose results certainly contain those of `f` for all numbers in them.

    Args:
        f: a function of numbers and arrays, and containers of them; also one that `grad` or another operator has made,
            or `jit`.
        method: `"natural"` applies each operation of `f` to intervals. Operands that vary together are taken as if they
            did not (x − x is not zero), so results may be too wide; the narrower the argument, the less so.
            `"mean-value"` is f(m) + f′(X)·(X − m), whose excess is quadratic in the width; `"taylor"` goes on to
            derivatives of order `order`. Both give no more than the natural enclosure, and only that where `f` is not
            continuous.
        order: of `"taylor"`, up to which derivative.
        branch: what is done where numbers of an interval go different ways at an `if`: `"raise"` an `UndecidedError`,
            or go `"both"` ways, and enclose what comes out of all of them.

    Returns:
        A function with the arguments of `f`. Intervals among them, in containers too, are enclosed; numbers are
        themselves, and what `f` computes of numbers alone is rounded as NumPy does it: pass `interval(x)` for a number
        whose rounding errors count. Without any interval among them, each floating-point number is one of its own. All
        numbers of the result are intervals.

    Cost: each operation is that of two to four, and their rounding.

    >>> import numpy as np
    >>> enclose(lambda x: x * (1 - x))(interval(0.0, 1.0))
    interval(0.0, 1.0)
    >>> enclose(lambda x: x * (1 - x), method="mean-value")(interval(0.375, 0.5))
    interval(0.234375, 0.25)
    """
    if method not in METHODS:
        raise MismatchError(f"method={method!r}", remedy=f"choose one of {', '.join(map(repr, METHODS))}")
    if order < 1:
        raise MismatchError(f"order={order}", remedy="give the order of the last derivative, 1 or more")
    if branch not in ("raise", "both"):
        raise MismatchError(f"branch={branch!r}", remedy="choose 'raise' or 'both'")

    @result_of("enclose", f)
    def enclosed(*args: Any, **kwargs: Any) -> Any:
        if method == "natural":
            return natural(f, args, kwargs, branch)[0]
        return centred(f, args, kwargs, branch, order if method == "taylor" else 1)

    return enclosed
