"""Rows for elementwise ops: NumPy's differentiable ufuncs and their like, with each partial derivative stated once.

Partials are functions `(y, *args)` of the result and the arguments. They are written so that they stay accurate and
finite wherever the function is differentiable (`exp(x)` for expm1 instead of `y + 1`, which cancels), and so that
float32 stays float32: constants are Python numbers, which NumPy promotes weakly. Where there is a choice:

    maximum, minimum, fmax, fmin at a tie    one half to each
    absolute, sign, hypot, copysign at zero  zero, the subgradient of least norm
    clip at a bound                          as minimum(maximum(x, lo), hi): one half
    x**0                                     zero in x, also at x = 0

An argument may be a Python float, whose own division and powers raise errors or turn complex where NumPy's give inf
and nan; so partials divide and exponentiate by way of ops (`reciprocal(x)`, not `1 / x`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.ops import closely
from wengert.ops import interval_arithmetic as arithmetic
from wengert.ops.choice import choice
from wengert.ops.derive import Elementwise, Guarded, elementwise, zero
from wengert.ops.directed import curved
from wengert.ops.enclosures import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    HAS_SIGN,
    IS_FINITE,
    IS_INFINITE,
    IS_NAN,
    LESS,
    LESS_EQUAL,
    NOT,
    NOT_EQUAL,
    ON_BOUNDS,
    STEPWISE,
    composed,
    composed_of_each,
    decreasing,
    even,
    increasing,
    increasing_composed,
    magnitudes,
    periodic,
    stated,
    with_poles,
)
from wengert.ops.enclosures import copysign as copysign_enclosed
from wengert.ops.enclosures import where as where_enclosed
from wengert.ops.op import Traced, in_kind
from wengert.ops.rounding import rounded_number
from wengert.ops.traits import CHEAP, FREE, INTEGERS, MODERATE
from wengert.types import SCALARS, dtype_of, scalar_like


def plain(x: Any) -> Any:
    """The ordinary value behind a traced one, if it is known."""
    while isinstance(x, Traced) and "_value" in x._state:  # type: ignore[attr-defined]
        x = x._value  # type: ignore[attr-defined]
    return x


LN2 = rounded_number(math.log(2.0))
LN10 = rounded_number(math.log(10.0))

# ------------------------------------------------------------------------------------------------- locally constant

floor = zero("floor", np.floor, elementwise=True, rounds=True, bounds=STEPWISE)
ceil = zero("ceil", np.ceil, elementwise=True, rounds=True, bounds=STEPWISE)
trunc = zero("trunc", np.trunc, elementwise=True, rounds=True, bounds=STEPWISE)
rint = zero("rint", np.rint, elementwise=True, rounds=True, bounds=STEPWISE)
round = zero(
    "round",
    lambda x, decimals=0: np.round(x, decimals),
    elementwise=True,
    rounds=True,
    cost=MODERATE,
    bounds=composed(lambda x, decimals=0: arithmetic.rounded(x, decimals)),
)
sign = zero("sign", np.sign, elementwise=True, bounds=STEPWISE)
signbit = zero("signbit", np.signbit, elementwise=True, bounds=HAS_SIGN)
floor_divide = zero(
    "floor_divide",
    np.floor_divide,
    elementwise=True,
    rounds=True,
    switch=lambda x, y: divide(x, y),
    raises=INTEGERS,
    cost=MODERATE,
    bounds=composed(lambda x, y: floor(divide(x, y))),
)
equal = zero("equal", np.equal, elementwise=True, compares="equality", commutes="biufc", bounds=EQUAL)
not_equal = zero("not_equal", np.not_equal, elementwise=True, compares="equality", commutes="biufc", bounds=NOT_EQUAL)
less = zero("less", np.less, elementwise=True, compares="order", bounds=LESS)
less_equal = zero("less_equal", np.less_equal, elementwise=True, compares="order", bounds=LESS_EQUAL)
greater = zero("greater", np.greater, elementwise=True, compares="order", bounds=GREATER)
greater_equal = zero("greater_equal", np.greater_equal, elementwise=True, compares="order", bounds=GREATER_EQUAL)
logical_and = zero(
    "logical_and", np.logical_and, elementwise=True, commutes="biufc", reduction="all", identity=True, bounds=ON_BOUNDS
)
logical_or = zero(
    "logical_or", np.logical_or, elementwise=True, commutes="biufc", reduction="any", identity=False, bounds=ON_BOUNDS
)
logical_xor = zero("logical_xor", np.logical_xor, elementwise=True, commutes="biufc", bounds=composed(not_equal))
logical_not = zero("logical_not", np.logical_not, elementwise=True, bounds=NOT)
isnan = zero("isnan", np.isnan, elementwise=True, bounds=IS_NAN)
isinf = zero("isinf", np.isinf, elementwise=True, bounds=IS_INFINITE)
isfinite = zero("isfinite", np.isfinite, elementwise=True, bounds=IS_FINITE)


def _enclosed_isclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    return less_equal(absolute(x - y), atol + rtol * absolute(y))


spacing = zero("spacing", np.spacing, elementwise=True, cost=MODERATE, bounds=STEPWISE)
isclose = zero("isclose", np.isclose, elementwise=True, cost=MODERATE, bounds=composed(_enclosed_isclose))
exponent = zero("exponent", lambda x: np.frexp(x)[1], elementwise=True, bounds=stated(arithmetic.exponent))
"""The second result of `np.frexp`."""
stop_gradient = zero("stop_gradient", lambda x: x, elementwise=True, marks=True, cost=FREE, moves=True, view=True)

# -------------------------------------------------------------------------------------------------------- selection


def _where(mask: Any, x: Any, y: Any) -> Any:
    return np.where(np.bool_(mask) if mask.__class__ is bool else mask, x, y)  # (CuPy wants no bool of Python's)


where = elementwise(
    "where",
    _where,
    (None, lambda z, mask, x, y: mask, lambda z, mask, x, y: logical_not(mask)),
    linear_in=(1, 2),
    jointly=True,
    selects=True,
    cost=CHEAP,
    moves=True,
    bounds=where_enclosed,
)

nan_to_num = elementwise(
    "nan_to_num",
    lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    (lambda y, x, **replacements: isfinite(x),),
    selects=True,
    cost=CHEAP,
    bounds=composed(lambda x, **_: positive(x)),
)

# ------------------------------------------------------------------------------------------------------- arithmetic
#
# Python's operators do what the ufuncs do, and on scalars several times faster. Where Python's own numbers would raise
# or turn complex, NumPy's functions take over.


def _divide(x: Any, y: Any) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        return np.divide(x, y)


add = elementwise(
    "add",
    operator.add,
    (1, 1),
    linear_in=(0, 1),
    jointly=True,
    cost=CHEAP,
    commutes="biufc",
    reduction="sum",
    identity=0,
    bounds=stated(arithmetic.add),
)
subtract = elementwise(
    "subtract", operator.sub, (1, -1), linear_in=(0, 1), jointly=True, cost=CHEAP, bounds=stated(arithmetic.subtract)
)
multiply = elementwise(
    "multiply",
    operator.mul,
    (lambda z, x, y: y, lambda z, x, y: x),
    linear_in=(0, 1),
    cost=CHEAP,
    commutes="biuf",
    reduction="prod",
    identity=1,
    bounds=stated(arithmetic.multiply),
)


def _divide_in_numerator(z: Any, x: Any, y: Any) -> Any:
    return (scalar_like(1, x) if y.__class__ in SCALARS else 1) / (in_kind(y, z) if isinstance(z, Traced) else y)


divide = elementwise(
    "divide",
    _divide,
    (_divide_in_numerator, lambda z, x, y: -z / y),
    linear_in=(0,),
    cost=MODERATE,
    solves=True,
    bounds=stated(arithmetic.divide, breaks=lambda x, y: arithmetic.contains_zero(y)),
)
negative = elementwise(
    "negative", operator.neg, (-1,), linear_in=(0,), jointly=True, cost=CHEAP, bounds=stated(arithmetic.negative)
)
positive = elementwise("positive", np.positive, (1,), linear_in=(0,), jointly=True, cost=FREE, moves=True)
reciprocal = elementwise(
    "reciprocal",
    np.reciprocal,
    (lambda y, x: -y * y,),
    raises=INTEGERS,
    cost=MODERATE,
    expansion=lambda x: divide(scalar_like(1, x), x),
    bounds=stated(arithmetic.reciprocal, breaks=arithmetic.contains_zero),
)
square = elementwise(
    "square",
    np.square,
    (lambda y, x: 2 * x,),
    cost=CHEAP,
    expansion=lambda x: multiply(x, x),
    bounds=stated(arithmetic.square),
)
sqrt = elementwise(
    "sqrt",
    np.sqrt,
    (lambda y, x: 0.5 / y,),
    cost=MODERATE,
    bounds=stated(arithmetic.sqrt, breaks=lambda x: less(x.lo, 0)),
)
cbrt = elementwise(
    "cbrt",
    np.cbrt,
    (lambda y, x: 1 / (3 * y * y),),
    bounds=increasing(exact=((0.0, 0.0),), steps=3, closely=closely.cbrt),
)


def _inverse(x: Any) -> Any:
    """1 / x. Python's numbers would raise at zero; NumPy's operator is quicker than its function."""
    return 1 / x if x.__class__ is np.ndarray or x.__class__ is np.float64 else reciprocal(x)


def _power(x: Any, p: Any) -> Any:
    # The operator knows squares and square roots; the ufunc does not, and is ten times slower there.
    return np.power(x, p) if x.__class__ in SCALARS and p.__class__ in SCALARS else x**p


def _power_in_base(z: Any, x: Any, p: Any) -> Any:
    """p · x^(p−1), and zero where p = 0."""
    if p.__class__ in SCALARS or isinstance(p, np.generic):
        if p == 2:
            return 2 * x
        return scalar_like(p, x) if p in (0, 1) else p * power(x, p - 1)
    if dtype_of(p).kind in "biu":
        p = p.astype(dtype_of(z))
    # For small p as x^p · p / x: where x is tiny, x^(p−1) is huge, and its derivatives overflow though p times them do
    # not. What is not chosen must not overflow either, since its derivative is multiplied by zero.
    small = logical_and(less(absolute(p), 0.5), not_equal(x, 0))
    one = scalar_like(1, x)
    near = where(small, z, one) * (where(small, p, one) / where(small, x, one))
    # Only at 0^0: elsewhere p = 0 must stay a variable, for ∂²/∂p∂x = 1/x there.
    unused = logical_or(small, logical_and(equal(x, 0), equal(p, 0)))
    return where(small, near, p * power(where(small, one, x), where(unused, 0, p - 1)))


def _powers(x: Any, p: Any) -> Any:
    """As products for a whole number p; x^n·exp((p − n)·log x) where x > 0, which is the general case.

    exp(p·log x) alone would be wrong near zero, where the logarithm's coefficients are huge: those of a whole power are
    differences of them, and what rounding leaves is as large as they are. So n is the nearest whole number to p.
    """
    if p.__class__ in SCALARS or isinstance(p, np.generic):
        if p.real == p and float(p.real).is_integer() and abs(p) <= _PRODUCTS:
            y, factor, left = None, x if p.real >= 0 else reciprocal(x), int(abs(p.real))
            while left:
                y = y if left % 2 == 0 else factor if y is None else y * factor
                factor, left = factor * factor if left > 1 else factor, left // 2
            return NotImplemented if y is None else y
    elif not isinstance(p, Traced) and np.all(np.equal(p, np.rint(p))):
        return NotImplemented
    if dtype_of(x).kind == "c" or dtype_of(p).kind == "c":
        return NotImplemented
    outside = less_equal(x, 0)
    if not isinstance(plain(outside), Traced):
        if np.any(plain(outside)):
            return NotImplemented
        return _near_whole(x, x, p)
    # It is not known yet. At zero the first coefficients vanish, the others are infinite, or not determined.
    at_zero, exponent = equal(x, 0), stop_gradient(p)
    fill = lambda k: where(logical_and(at_zero, greater(exponent, k)), 0, math.nan)
    is_whole = equal(whole_part(p), exponent)
    inside = where(outside, scalar_like(1, x), x)
    return Guarded(_near_whole(x, inside, p), logical_and(outside, logical_not(is_whole)), fill)


def _near_whole(x: Any, inside: Any, p: Any) -> Any:
    """x^n·exp((p − n)·log inside): of a whole power the second factor is one, whatever it is taken of."""
    n = whole_part(p)
    if not isinstance(n, Traced) and (not np.any(n) or np.all(np.abs(p - n) > _FAR)):
        return exp(p * log(inside))
    return whole_power(x, n) * exp((p - n) * log(inside))


def whole_part(p: Any, largest: int = 63) -> Any:
    """The whole number next to p, if it is not larger than `largest`; otherwise zero."""
    n = rint(p)
    return where(less_equal(absolute(n), largest), n, scalar_like(0, n))


def whole_power(x: Any, n: Any, largest: int = 63) -> Any:
    """xⁿ by squaring, for whole numbers that differ, or are not known yet."""
    one, size, left = scalar_like(1, x), absolute(n), largest
    is_known, is_negative = not isinstance(n, Traced), less(n, 0)
    if not is_known or np.any(is_negative):
        x = where(is_negative, 1 / where(is_negative, x, one), x)
    y = where(equal(remainder(size, 2), 1), x, one)
    while left > 1:
        size, left = floor(size * 0.5), left // 2
        if is_known and not np.any(size):
            break
        x = x * x
        y = y * where(equal(remainder(size, 2), 1), x, one)
    return y


_FAR = 0.01
"""Exponents as far as this from whole numbers have coefficients of the size of the logarithm's, which need no care."""
_PRODUCTS = 1024
"""Powers up to here are expanded as products."""

power = elementwise(
    "power",
    _power,
    (_power_in_base, lambda z, x, p: power_log(x, p, n=1)),
    raises=INTEGERS,
    expansion=_powers,
    bounds=stated(arithmetic.power, breaks=arithmetic.power_breaks),
)


def _power_log(x: Any, p: Any, n: int) -> Any:
    z = np.power(x, p)
    at_zero = np.logical_and(np.equal(x, 0), np.greater(np.real(p), 0))
    return z * np.log(np.where(at_zero, 1, x), dtype=dtype_of(z)) ** n


def _power_log_in_base(z: Any, x: Any, p: Any, n: int) -> Any:
    """Without a logarithm it is a power, of which nothing is lost where the logarithm is zero."""
    rest = power(x, p - 1) if n == 1 else n * power_log(x, p - 1, n=n - 1)
    return p * power_log(x, p - 1, n=n) + rest


power_log = elementwise(
    "power_log",
    _power_log,
    (
        _power_log_in_base,
        lambda z, x, p, n: power_log(x, p, n=n + 1),
    ),
    bounds=composed_of_each(lambda x, p, n: where(equal(x, 0), 0.0, power(x, p) * log(x) ** n)),
)
"""x^p · logⁿ x, the derivatives of a power in its exponent; where x = 0 and p > 0 the limit, zero."""


def _enclosed_remainder(x: Any, y: Any) -> Any:
    """Between zero and y, whatever the quotient is."""
    return minimum(maximum(x - y * floor(divide(x, y)), minimum(y, 0)), maximum(y, 0))


def _enclosed_fmod(x: Any, y: Any) -> Any:
    """Between zero and x, and not larger than y."""
    z = minimum(maximum(x - y * trunc(divide(x, y)), minimum(x, 0)), maximum(x, 0))
    return minimum(maximum(z, -absolute(y)), absolute(y))


# The integer quotients are those that belong to the remainders: rounding x / y may miss them by one.
remainder = elementwise(
    "remainder",
    np.remainder,
    (1, lambda z, x, y: -floor_divide(x, y)),
    switch=floor_divide,
    raises=INTEGERS,
    cost=MODERATE,
    bounds=composed(_enclosed_remainder),
)
fmod = elementwise(
    "fmod",
    np.fmod,
    (1, lambda z, x, y: -rint((x - z) / y)),
    switch=lambda x, y: trunc(divide(x, y)),
    raises=INTEGERS,
    cost=MODERATE,
    bounds=composed(_enclosed_fmod),
)
ldexp = elementwise(
    "ldexp",
    np.ldexp,
    (lambda z, x, n: ldexp(scalar_like(1, x), n), None),
    linear_in=(0,),
    cost=CHEAP,
    bounds=stated(arithmetic.ldexp),
)

# ----------------------------------------------------------------------------------------- exponentials, logarithms

exp = elementwise(
    "exp", np.exp, (lambda y, x: y,), bounds=increasing(range=(0.0, math.inf), exact=((0.0, 1.0), (-math.inf, 0.0)))
)
exp2 = elementwise(
    "exp2",
    np.exp2,
    (lambda y, x: y * LN2,),
    bounds=increasing(range=(0.0, math.inf), exact=((0.0, 1.0), (-math.inf, 0.0))),
)
expm1 = elementwise(
    "expm1", np.expm1, (lambda y, x: exp(x),), bounds=increasing(range=(-1.0, math.inf), exact=((0.0, 0.0),))
)
log = elementwise(
    "log",
    np.log,
    (lambda y, x: _inverse(x),),
    bounds=increasing(domain=(0.0, math.inf), open=True, exact=((1.0, 0.0),)),
)
log2 = elementwise(
    "log2",
    np.log2,
    (lambda y, x: _inverse(x * LN2),),
    bounds=increasing(domain=(0.0, math.inf), open=True, exact=((1.0, 0.0),)),
)
log10 = elementwise(
    "log10",
    np.log10,
    (lambda y, x: _inverse(x * LN10),),
    bounds=increasing(domain=(0.0, math.inf), open=True, exact=((1.0, 0.0),)),
)
log1p = elementwise(
    "log1p",
    np.log1p,
    (lambda y, x: _inverse(1 + x),),
    bounds=increasing(domain=(-1.0, math.inf), open=True, exact=((0.0, 0.0),)),
)


def _lead(y: Any, x: Any) -> Any:
    """y − x, and zero where both are the same infinity; of the type of x, if y is a plain number."""
    tied, nothing = logical_and(isinf(x), equal(x, y)), scalar_like(0, x)
    return where(tied, nothing, y) - where(tied, nothing, x)


expit = elementwise(
    "expit", sc.expit, (lambda y, x: y * expit(-x),), bounds=composed(lambda x: reciprocal(1 + exp(-x)))
)
# The share of x in the sum is 1 / (1 + exp(y − x)), without overflow and without the cancellation of exp(x − z).
logaddexp = elementwise(
    "logaddexp",
    np.logaddexp,
    (lambda z, x, y: expit(-_lead(y, x)), lambda z, x, y: expit(-_lead(x, y))),
    bounds=increasing_composed(lambda x, y: maximum(x, y) + log1p(exp(-absolute(x - y)))),
)
logaddexp2 = elementwise(
    "logaddexp2",
    np.logaddexp2,
    (lambda z, x, y: exp2(-logaddexp2(0, _lead(y, x))), lambda z, x, y: exp2(-logaddexp2(0, _lead(x, y)))),
    bounds=increasing_composed(lambda x, y: maximum(x, y) + log1p(exp2(-absolute(x - y))) / LN2),
)

# ----------------------------------------------------------------------------------------------------- trigonometry

sin = elementwise("sin", np.sin, (lambda y, x: cos(x),), bounds=periodic("cos", 1, 0.0))
cos = elementwise("cos", np.cos, (lambda y, x: -sin(x),), bounds=periodic("sin", -1, 1.0))
tan = elementwise("tan", np.tan, (lambda y, x: 1 + y * y,), bounds=with_poles("cos"))
one_minus_square = elementwise(
    "one_minus_square",
    lambda x: (1 - x) * (1 + x),
    (lambda y, x: -2 * x,),
    cost=CHEAP,
    bounds=stated(arithmetic.one_minus_square),
)
"""1 − x², with all its digits close to ±1; and so is its derivative at zero, which that of the product is not."""


def _root(square_: Any, near: Any) -> Any:
    """The square root that is `near`, to full precision, by a step of Heron's. For complex numbers beside a branch cut
    it need not be that of `sqrt`: there the sign of a zero decides, which 1 − z² may have lost."""
    nothing = equal(square_, 0)
    near = where(nothing, 1, near)
    return where(nothing, 0, 0.5 * (near + square_ / near))


def _cosine_of_arcsin(y: Any, x: Any) -> Any:
    rest = one_minus_square(x)
    return _root(rest, cos(y)) if dtype_of(x).kind == "c" else sqrt(rest)


def _sine_of_arccos(y: Any, x: Any) -> Any:
    rest = one_minus_square(x)
    return _root(rest, sin(y)) if dtype_of(x).kind == "c" else sqrt(rest)


arcsin = elementwise(
    "arcsin",
    np.arcsin,
    (lambda y, x: 1 / _cosine_of_arcsin(y, x),),
    bounds=increasing(domain=(-1.0, 1.0), exact=((0.0, 0.0),)),
)
arccos = elementwise(
    "arccos",
    np.arccos,
    (lambda y, x: -1 / _sine_of_arccos(y, x),),
    bounds=decreasing(domain=(-1.0, 1.0), range=(0.0, 4.0), exact=((1.0, 0.0),)),
)
arctan = elementwise("arctan", np.arctan, (lambda y, x: _inverse(1 + x * x),), bounds=increasing(exact=((0.0, 0.0),)))


def _arctan2_in_y(z: Any, y: Any, x: Any) -> Any:
    r = hypot(x, y)
    return x / r / r


def _arctan2_in_x(z: Any, y: Any, x: Any) -> Any:
    r = hypot(x, y)
    return -(y / r) / r


arctan2 = elementwise(
    "arctan2",
    np.arctan2,
    (_arctan2_in_y, _arctan2_in_x),
    switch=lambda y, x: signbit(y),
    bounds=stated(arithmetic.arctan2, breaks=arithmetic.crosses_cut),
)


def _hypot_slope(z: Any, x: Any) -> Any:
    return x / where(equal(z, 0), math.inf, z)


def _hypot_expansion(x: Any, y: Any) -> Any:
    """The larger of both, and what is left: its coefficients may be so much smaller that a root loses them."""
    x_is_larger = greater_equal(absolute(x), absolute(y))
    large, small = absolute(where(x_is_larger, x, y)), where(x_is_larger, y, x)
    ratio = small / where(equal(large, 0), math.inf, large)
    return large + small * ratio / (1 + sqrt(1 + ratio * ratio))


hypot = elementwise(
    "hypot",
    np.hypot,
    (lambda z, x, y: _hypot_slope(z, x), lambda z, x, y: _hypot_slope(z, y)),
    expansion=_hypot_expansion,
    bounds=stated(arithmetic.hypot),
)

degrees = elementwise(
    "degrees",
    np.degrees,
    (rounded_number(180 / math.pi),),
    linear_in=(0,),
    cost=CHEAP,
    bounds=composed(lambda x: x * rounded_number(180 / math.pi)),
)
radians = elementwise(
    "radians",
    np.radians,
    (rounded_number(math.pi / 180),),
    linear_in=(0,),
    cost=CHEAP,
    bounds=composed(lambda x: x * rounded_number(math.pi / 180)),
)

# ------------------------------------------------------------------------------------------------------- hyperbolic

sinh = elementwise("sinh", np.sinh, (lambda y, x: cosh(x),), bounds=increasing(exact=((0.0, 0.0),)))
cosh = elementwise("cosh", np.cosh, (lambda y, x: sinh(x),), bounds=even(range=(1.0, math.inf), exact=((0.0, 1.0),)))


def _tanh_slope(y: Any, x: Any) -> Any:
    """1 / cosh² x. On plain arrays 1 − y² is half the work, and as good where y is not close to ±1."""
    if x.__class__ is not np.ndarray or x.dtype.kind != "f" or not x.ndim or not x.size:
        return sech_squared(x)
    s = 1 - y * y
    if s.min() < _TAIL:
        tail = s < _TAIL
        s[tail] = _sech_squared(x[tail])
    return s


_TAIL = 0.01
"""Below this, 1 − tanh² has lost two digits and more."""

tanh = elementwise("tanh", np.tanh, (_tanh_slope,), bounds=increasing(range=(-1.0, 1.0), exact=((0.0, 0.0),)))


def _sech_squared(x: Any) -> Any:
    with np.errstate(over="ignore"):
        c = np.cosh(x)
        return 1 / (c * c)


sech_squared = elementwise(
    "sech_squared", _sech_squared, (lambda y, x: -2 * y * tanh(x),), bounds=composed(lambda x: 1 / square(cosh(x)))
)
"""1 / cosh² x, the derivative of tanh: `1 - tanh(x)**2` loses all its digits in the tails."""


def _arcsinh_slope(y: Any, x: Any) -> Any:
    return 1 / (_root(one_minus_square(x * 1j), cosh(y)) if dtype_of(x).kind == "c" else hypot(x, 1))


def _arccosh_slope(y: Any, x: Any) -> Any:
    if dtype_of(x).kind == "c":
        return 1 / _root(-one_minus_square(x), sinh(y))
    return 1 / (sqrt(x - 1) * sqrt(x + 1))


arcsinh = elementwise("arcsinh", np.arcsinh, (_arcsinh_slope,), bounds=increasing(exact=((0.0, 0.0),)))
arccosh = elementwise(
    "arccosh",
    np.arccosh,
    (_arccosh_slope,),
    bounds=increasing(domain=(1.0, math.inf), range=(0.0, math.inf), exact=((1.0, 0.0),), closely=closely.arccosh),
)
arctanh = elementwise(
    "arctanh",
    np.arctanh,
    (lambda y, x: _inverse(one_minus_square(x)),),
    bounds=increasing(domain=(-1.0, 1.0), open=True, exact=((0.0, 0.0),)),
)

# ---------------------------------------------------------------------------------------------- kinks and selections


def _absolute_slope(y: Any, x: Any) -> Any:
    assert dtype_of(x).kind != "c", "of a complex number it is the hypotenuse of its parts, which are differentiated"
    if choice.kinks == "zero":
        return sign(x)
    return where(
        greater(x, 0) if choice.kinks == "left" else greater_equal(x, 0), scalar_like(1, x), scalar_like(-1, x)
    )


absolute = elementwise("absolute", np.absolute, (_absolute_slope,), cost=CHEAP, bounds=stated(magnitudes))
copysign = elementwise(
    "copysign",
    np.copysign,
    (lambda z, x, s: sign(x) * copysign(scalar_like(1, x), s), None),
    switch=lambda x, s: signbit(s),
    cost=CHEAP,
    bounds=stated(copysign_enclosed, breaks=lambda x, s: arithmetic.contains_zero(s)),
)
heaviside = elementwise(
    "heaviside",
    np.heaviside,
    (None, lambda z, x, h: equal(x, 0)),
    switch=lambda x, h: sign(x),
    selects=True,
    cost=CHEAP,
    bounds=composed(lambda x, h: where(less(x, 0), 0.0, where(equal(x, 0), h, 1.0))),
)


def _choice_of_two(name: str, function: np.ufunc, beats: Callable, reduction: str, identity: float) -> Elementwise:
    """A row for the choice between two operands; `beats(x, y)` says where x is chosen, which are not equal."""

    def share(x: Any, y: Any, place: str) -> Any:
        """1 where x is the one that is chosen, its share at a tie, 0 elsewhere."""
        tie = 0.5 if choice.ties == "share" else float(choice.ties == place)
        return where(beats(x, y), scalar_like(1, x), where(equal(x, y), scalar_like(tie, x), scalar_like(0, x)))

    return elementwise(
        name,
        function,
        (lambda z, x, y: share(x, y, "first"), lambda z, x, y: share(y, x, "last")),
        cost=CHEAP,
        commutes="biu",
        reduction=reduction,
        identity=identity,
        bounds=ON_BOUNDS,
    )


# `maximum` and `minimum` choose NaN before any number, `fmax` and `fmin` any number before NaN.
maximum = _choice_of_two("maximum", np.maximum, lambda x, y: logical_or(greater(x, y), isnan(x)), "max", -np.inf)
minimum = _choice_of_two("minimum", np.minimum, lambda x, y: logical_or(less(x, y), isnan(x)), "min", np.inf)
fmax = _choice_of_two("fmax", np.fmax, lambda x, y: logical_or(greater(x, y), isnan(y)), "nanmax", np.nan)
fmin = _choice_of_two("fmin", np.fmin, lambda x, y: logical_or(less(x, y), isnan(y)), "nanmin", np.nan)

# ------------------------------------------------------------------------------------------------------------- sinc

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def _sinc_derivative(x: Any, n: int) -> Any:
    """The n-th derivative of sin(πx)/(πx), also at and near zero.

    With u = πx, s = sin(u)/u has s⁽ⁿ⁾ = ∫₀¹ tⁿ cos(ut + nπ/2) dt, computed by Gauss–Legendre quadrature for small u;
    for large u the recurrence u·s⁽ⁿ⁾ + n·s⁽ⁿ⁻¹⁾ = sin(u + nπ/2) is stable upwards.
    """
    if n == 0:
        return np.sinc(x)
    dtype = dtype_of(x)
    u = np.pi * np.multiply(x, np.float64(1))
    turned = (np.sin(u), np.cos(u), -np.sin(u), -np.cos(u))  # sin(u + kπ/2)
    small = np.abs(u) < n + 2
    safe = np.where(small, 1, u)
    far = turned[0] / safe
    for k in range(1, n + 1):
        far = (turned[k % 4] - k * far) / safe
    near = np.zeros_like(u)
    v = np.where(small, u, 0)
    for t, w in zip((_NODES + 1) / 2, _WEIGHTS / 2, strict=True):
        c = (np.cos, np.sin)[n % 2](v * t)
        near = near + w * t**n * (c if n % 4 in (0, 3) else -c)
    return (np.pi**n * np.where(small, near, far)).astype(dtype)[()]


def _sinc_range(n: int) -> tuple[float, float]:
    most = 1.000001 * math.pi**n / (n + 1)
    return (-0.2173, 1.0) if n == 0 else (-most, most)


sinc = elementwise(
    "sinc",
    _sinc_derivative,
    (lambda y, x, n: sinc(x, n=n + 1),),
    # It is ∫₀¹ cos(πxt) dt.
    bounds=curved(lambda x, n: 1.000001 * math.pi ** (n + 2) / (n + 3), range=lambda n: _sinc_range(n), slack=1e-13),
)
