"""Convolution and correlation of sequences, and polynomials, whose product is a convolution of coefficients."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions.lengths import known, refuse_if
from wengert.box.functions.operands import answer, cast, join, operand
from wengert.box.functions.products import conj
from wengert.ops import elementwise as e
from wengert.ops import products
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

_MODES = {0: "valid", 1: "same", 2: "full", "v": "valid", "s": "same", "f": "full"}


def _sequence(x: Any, function: str) -> Any:
    x = operand(x)
    if ndim_of(x) == 0:
        x = s.reshape(x, shape=(1,))
    if ndim_of(x) != 1:
        raise ValueError(f"{function}: object too deep for desired array")
    if shape_of(x)[0] == 0:
        raise ValueError(f"{function}: an operand cannot be empty")
    return x


def _mode(mode: Any) -> str:
    mode = _MODES.get(mode, mode)
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return mode


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    a, v, mode = _sequence(a, "np.convolve"), _sequence(v, "np.convolve"), _mode(mode)
    if mode == "full":
        return products.convolve(a, v, mode=mode)
    a, v = _longer_first(a, v)
    if mode == "valid":
        return products.convolve(a, v, mode=mode)
    return _middle(products.convolve(a, v, mode="full"), (shape_of(v)[0] - 1) // 2, shape_of(a)[0])


def _longer_first(a: Any, v: Any) -> tuple[Any, Any]:
    """The longer operand, and the shorter one, which slides along it. A computed length is that of the longer one."""
    n, m = shape_of(a)[0], shape_of(v)[0]
    if n.__class__ is int is m.__class__:
        return (a, v) if n >= m else (v, a)
    if n.__class__ is int:
        return _longer_first(v, a)
    refuse_if(known(m) > known(n), ValueError, _SHORTER)
    return a, v


_SHORTER = "in a compiled program, an array of a computed length cannot be shorter than what it is convolved with"


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The convolution with the second argument reversed and conjugated; of two, the shorter one slides."""
    a, v, mode = _sequence(a, "np.correlate"), _sequence(v, "np.correlate"), _mode(mode)
    n, m = shape_of(a)[0], shape_of(v)[0]
    v = s.flip(conj(v), axis=(0,))
    if mode == "valid":
        return products.convolve(*_longer_first(a, v), mode="valid")
    y = products.convolve(a, v, mode="full")
    if mode == "same" and not n.__class__ is int is m.__class__:
        refuse_if(known(m) > known(n), ValueError, _SHORTER)
        return _middle(y, (known(m) - 1) // 2, n)
    return y if mode == "full" else _middle(y, (m - 1) // 2 if n >= m else n // 2, max(n, m))


def _middle(x: Any, start: int, count: int) -> Any:
    return index(x, pattern=(slice(start, start + count),))


# ------------------------------------------------------------------------------------------------------- polynomials


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """By Horner's rule."""
    p, x = operand(p), operand(x)
    dtype = np.result_type(dtype_of(p), dtype_of(x))
    if ndim_of(p) != 1 or shape_of(p)[0] == 0:
        raise ValueError("np.polyval: the coefficients must be a sequence that is not empty")
    y = s.broadcast_to(cast(index(p, pattern=(0,)), dtype), shape=shape_of(x))
    for k in range(1, shape_of(p)[0]):
        y = y * x + index(p, pattern=(k,))
    return y


def _coefficients(p: Any) -> Any:
    p = operand(p)
    return s.reshape(p, shape=(1,)) if ndim_of(p) == 0 else p


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    return _combine(e.add, a1, a2)


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    return _combine(e.subtract, a1, a2)


def _combine(op: Any, a1: Any, a2: Any) -> Any:
    """Coefficients of highest order come first, so the shorter sequence gets zeros in front."""
    a1, a2 = _coefficients(a1), _coefficients(a2)
    n = max(shape_of(a1)[0], shape_of(a2)[0])
    return op(_in_front(a1, n), _in_front(a2, n))


def _in_front(a: Any, n: int) -> Any:
    missing = n - shape_of(a)[0]
    return join([np.zeros(missing, dtype_of(a)), a], 0) if missing else a


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Zeros in front of the factors count as well, as far as they have derivatives: the result is without as many."""
    a1, a2 = _coefficients(a1), _coefficients(a2)
    short = [without_leading_zeros(a, "a factor of np.polymul", 0.0) for a in (a1, a2)]
    dropped = shape_of(a1)[0] - shape_of(short[0])[0] + shape_of(a2)[0] - shape_of(short[1])[0]
    if dropped <= 0 or not (isinstance(a1, Traced) or isinstance(a2, Traced)):
        return convolve(*short)
    return index(convolve(a1, a2), pattern=(slice(dropped, None),))


def without_leading_zeros(p: Any, what: str, tolerance: float) -> Any:
    """Coefficients as NumPy gives them back: those in front that are zero are left out, but for the last one."""
    if shape_of(p) == (0,):
        return np.zeros(1)
    first = index(p, pattern=(0,))
    if running.state.capture is not None and isinstance(first, Traced):
        message = f"{what} begins with zero, which NumPy leaves out: a compiled function cannot know its length"
        if shape_of(p) != (1,):
            refuse_if(e.less_equal(e.absolute(first), tolerance), ValueError, message)
        return p
    leading = int(answer(functools.partial(_leading_zeros, tolerance=tolerance), p))
    return index(p, pattern=(slice(leading, None),)) if leading else p


def _leading_zeros(p: np.ndarray, tolerance: float) -> int:
    others = np.flatnonzero(np.abs(p) > tolerance)
    return int(others[0]) if len(others) else len(p) - 1


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder, by long division."""
    u, v = _coefficients(u), _coefficients(v)
    dtype = np.result_type(dtype_of(u), dtype_of(v), np.float64 if dtype_of(u).kind not in "fc" else dtype_of(u))
    rest, v = cast(u, dtype), cast(v, dtype)
    m, n = shape_of(u)[0], shape_of(v)[0]
    quotient = []
    for k in range(m - n + 1):
        factor = index(rest, pattern=(slice(k, k + 1),)) / index(v, pattern=(slice(0, 1),))
        quotient.append(factor)
        rest = rest - join([np.zeros(k, dtype), factor * v, np.zeros(m - n - k, dtype)], 0)
    divided = min(max(m - n + 1, 0), m - 1)
    rest = index(rest, pattern=(slice(divided, None),))
    rest = without_leading_zeros(rest, "the remainder of np.polydiv", 1e-8)  # as NumPy has it
    return join(quotient, 0) if quotient else np.zeros(1, dtype), rest


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    if operator.index(m) < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = _coefficients(p)
    for _ in range(m):
        n = shape_of(p)[0]
        p = index(p, pattern=(slice(0, max(n - 1, 0)),)) * np.arange(n - 1, 0, -1)
    return p


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if operator.index(m) < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p = _coefficients(p)
    constants = np.zeros(m) if k is None else _coefficients(k)
    if shape_of(constants)[0] == 1 and m > 1:
        constants = s.broadcast_to(constants, shape=(m,))
    if shape_of(constants)[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for j in range(m):
        n = shape_of(p)[0]
        p = join([p / np.arange(n, 0, -1), index(constants, pattern=(slice(j, j + 1),))], 0)
    return p


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = operand(x)
    if ndim_of(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = shape_of(x)[0] if N is None else operator.index(N)
    column = s.reshape(x, shape=(shape_of(x)[0], 1))
    powers = np.arange(n) if increasing else np.arange(n - 1, -1, -1)
    return e.power(column, powers.astype(dtype_of(x)))
