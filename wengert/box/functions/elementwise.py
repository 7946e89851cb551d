"""Elementwise functions: which op each ufunc is, and the elementwise functions that are not ufuncs.

Most ufuncs are one op. The others, and the functions, are short compositions of ops. Complex numbers are pairs of real
ones where a function is not analytic: |z| = hypot(re z, im z).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import NONDIFFERENTIABLE, UFUNCS, implements
from wengert.box.functions.lengths import refuse_if
from wengert.box.functions.operands import cast, operand, promoting, with_dtype
from wengert.errors import UnsupportedFunctionError
from wengert.ops import bits
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import TABLE, Op, Traced, call1
from wengert.types import dtype_of

_SAME_NAME = """
    floor ceil trunc rint signbit floor_divide equal not_equal less less_equal greater greater_equal
    logical_and logical_or logical_xor logical_not isnan isinf isfinite spacing
    add subtract multiply divide negative positive reciprocal square sqrt cbrt power remainder fmod ldexp
    exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2
    sin cos tan arcsin arccos arctan arctan2 hypot degrees radians sinh cosh tanh arcsinh arccosh arctanh
    copysign heaviside maximum minimum fmax fmin matmul conjugate
"""
for _name in _SAME_NAME.split():
    UFUNCS[getattr(np, _name)] = TABLE[_name]

UFUNCS[np.deg2rad] = e.radians
UFUNCS[np.rad2deg] = e.degrees

_INTEGERS = "works on integers, which have no derivatives; apply it to integers, or to wg.stop_gradient(x).astype(int)"
for _name in ("bitwise_count", "gcd", "lcm"):
    NONDIFFERENTIABLE[getattr(np, _name)] = _INTEGERS


def _of_bits(op: Op, of_masks: Op | None = None) -> Callable:
    """An operation on the bits of integers; on masks it is one of logic."""

    def combined(*args: Any) -> Any:
        args = tuple([operand(a) for a in args])
        kinds = {dtype_of(a).kind for a in args}
        if not kinds <= set("biu"):
            raise UnsupportedFunctionError(f"{op.name} of a traced value: {_INTEGERS}")
        return of_masks(*args) if of_masks is not None and kinds == {"b"} else op(*args)

    return combined


for _op, _logical in (
    (bits.bitwise_and, e.logical_and),
    (bits.bitwise_or, e.logical_or),
    (bits.bitwise_xor, e.logical_xor),
    (bits.invert, e.logical_not),
    (bits.left_shift, None),
    (bits.right_shift, None),
):
    UFUNCS[getattr(np, _op.name)] = _of_bits(_op, _logical)
NONDIFFERENTIABLE[np.isnat] = "works on dates and times"
NONDIFFERENTIABLE[np.nextafter] = (
    "steps to a neighbouring floating-point number, which has no useful derivative; "
    "apply it to wg.stop_gradient(x), or write x + np.spacing(x)"
)

# --------------------------------------------------------------------------------------------------- real and complex


def is_complex(x: Any) -> bool:
    """Whether the elements of a value are complex numbers."""
    return dtype_of(x).kind == "c"


@implements(np.absolute)
def absolute(x: Any) -> Any:
    """|x|; of a complex number the hypotenuse of its parts, with derivative zero at zero."""
    return e.hypot(s.real(x), s.imag(x)) if is_complex(x) else call1(e.absolute, x)


def fabs(x: Any) -> Any:
    if is_complex(x):
        raise TypeError("ufunc 'fabs' not supported for complex numbers; use np.absolute")
    return e.absolute(x if dtype_of(x).kind == "f" else cast(x, np.fabs(np.ones((), dtype_of(x))).dtype))


def sign(x: Any) -> Any:
    """The sign; of a complex number z / |z|, and zero at zero."""
    if not is_complex(x):
        return e.sign(x)
    r = absolute(x)
    return x / e.where(e.equal(r, 0), np.inf, r)


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    y, x = (s.imag(z), s.real(z)) if is_complex(z) else (0, z)
    a = e.arctan2(y, x)
    return e.degrees(a) if deg else a


@implements(np.isreal)
def isreal(x: Any) -> Any:
    return e.equal(s.imag(x), 0)


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return e.not_equal(s.imag(x), 0)


def power(x: Any, p: Any) -> Any:
    """As the ufunc: of truth values and an integer of Python's it is a long integer, unlike `x ** 2`."""
    if p.__class__ is int and dtype_of(x).kind == "b":
        x = cast(x, np.int64)
    return e.power(x, p)


UFUNCS[np.absolute] = absolute
UFUNCS[np.power] = power
UFUNCS[np.fabs] = fabs
UFUNCS[np.sign] = sign

# ------------------------------------------------------------------------------------------------- other compositions


def float_power(x1: Any, x2: Any) -> Any:
    """The power, in double precision at least."""
    return e.power(_double(x1), _double(x2))


def _double(x: Any) -> Any:
    dtype = np.result_type(dtype_of(x), np.float64)
    return x if dtype_of(x) == dtype else s.astype(x, dtype=dtype)


def divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return e.floor_divide(x1, x2), e.remainder(x1, x2)


def modf(x: Any) -> tuple[Any, Any]:
    """Fractional and integral part; of an infinity, zero and the infinity."""
    floating = np.modf.resolve_dtypes((dtype_of(x), None, None))[1]
    x = x if dtype_of(x) == floating else s.astype(x, dtype=floating)
    whole, endless = e.trunc(x), e.isinf(x)
    return e.where(endless, 0, x) - e.where(endless, 0, whole), whole


def frexp(x: Any) -> tuple[Any, Any]:
    """Mantissa and exponent; the exponent is a locally constant integer."""
    n = e.exponent(x)
    return e.ldexp(x, -n), n


UFUNCS[np.float_power] = float_power
UFUNCS[np.divmod] = divmod
UFUNCS[np.modf] = modf
UFUNCS[np.frexp] = frexp

# ------------------------------------------------------------------------------------------------------- clip, round


@implements(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None, **options: Any) -> Any:
    if options:
        raise UnsupportedFunctionError(
            f"np.clip with {', '.join(options)}= on a traced value",
            remedy="leave it out; np.where selects, x.astype converts",
        )
    low = _given(a_min, min)
    high = _given(a_max, max)
    if low is not None:
        a = e.maximum(a, _bound(operand(low), dtype_of(a), e.maximum, "min"))
    if high is not None:
        a = e.minimum(a, _bound(operand(high), dtype_of(a), e.minimum, "max"))
    return a


def _bound(x: Any, dtype: np.dtype, nearer: Any, which: str) -> Any:
    """A bound of `np.clip`: an integer of Python's that lies beyond all that the array could hold is none."""
    if dtype.kind not in "iu" or promoting(x).__class__ is not int:
        return x
    limits = np.iinfo(dtype)
    limit = getattr(limits, which)
    if x.__class__ is int:
        return dtype.type(limit) if (x < limit if which == "min" else x > limit) else x
    other = limits.max if which == "min" else limits.min
    if -(2**63) <= other < 2**63:
        wrong = e.greater(x, other) if which == "min" else e.less(x, other)
        refuse_if(wrong, OverflowError, f"Python integer out of bounds for {dtype}")
    return cast(nearer(x, limit) if limit < 2**63 else x, dtype)


def _given(*alternatives: Any) -> Any:
    """The one alternative that is not missing; NumPy's own mark for that is `np._NoValue`."""
    return next((x for x in alternatives if x is not None and x is not np._NoValue), None)


@implements(np._core.umath.clip)  # type: ignore[attr-defined]
def clip_ufunc(x: Any, low: Any, high: Any, /, **options: Any) -> Any:
    return clip(x, low, high, **options)


@implements(np.round, np.around)
def round(a: Any, decimals: int = 0) -> Any:
    if is_complex(a):
        return e.round(s.real(a), decimals=decimals) + 1j * e.round(s.imag(a), decimals=decimals)
    return e.round(a, decimals=decimals)


@implements(np.fix)
def fix(x: Any) -> Any:
    return e.trunc(x)


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if any(isinstance(v, Traced) for v in (nan, posinf, neginf)):
        largest, least = (np.finfo(dtype_of(x)).max, np.finfo(dtype_of(x)).min)
        for bad, instead in (
            (e.isnan(x), nan),
            (e.equal(x, np.inf), largest if posinf is None else posinf),
            (e.equal(x, -np.inf), least if neginf is None else neginf),
        ):
            x = e.where(bad, instead, x)
        return x
    replacements = {"nan": nan, "posinf": posinf, "neginf": neginf}
    if is_complex(x):
        return e.nan_to_num(s.real(x), **replacements) + 1j * e.nan_to_num(s.imag(x), **replacements)
    return e.nan_to_num(x, **replacements)


@implements(np.sinc)
def sinc(x: Any) -> Any:
    return e.sinc(x, n=0)


# --------------------------------------------------------------------------------------------------------- questions


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    return e.isclose(with_dtype(a), with_dtype(b), rtol, atol, equal_nan=equal_nan)


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    found = np.all(isclose(a, b, rtol, atol, equal_nan))
    return found if isinstance(found, Traced) else bool(found)


@implements(np.isposinf)
def isposinf(x: Any) -> Any:
    return e.equal(x, np.inf)


@implements(np.isneginf)
def isneginf(x: Any) -> Any:
    return e.equal(x, -np.inf)
