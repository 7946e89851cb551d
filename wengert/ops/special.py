"""Rows for special functions: the error function and its relatives, sigmoids, entropies, exponential integrals.

The functions are SciPy's ufuncs; a row adds the partial derivatives. Formulas are chosen so that they do not cancel:
where the textbook derivative is a difference of nearly equal numbers (`erfcx` and `dawsn` far out, `log_ndtr` in its
tail), the n-th derivative is an op of its own with parameter `n`, computed from an integral or a series whose terms
have one sign. The other families stand in `gamma.py`, `incomplete.py`, `bessel.py`, `elliptic.py` and `orthogonal.py`.

A parameter in which a function varies smoothly but has no rule (the order of a Bessel function) has the partial
`no_rule(...)`, which raises: never a silent zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops.circles import RADII, on_circles
from wengert.ops.derive import elementwise
from wengert.ops.directed import cornered, curved, directed, one_way
from wengert.ops.elementwise import (
    absolute,
    cos,
    cosh,
    equal,
    exp,
    expit,
    expm1,
    greater,
    hypot,
    less,
    log,
    log1p,
    logical_and,
    maximum,
    minimum,
    power,
    power_log,
    reciprocal,
    sin,
    sinc,
    sqrt,
    square,
    tan,
    where,
)
from wengert.ops.enclosures import composed, composed_of_each, decreasing, increasing, increasing_composed, refused
from wengert.ops.library import special
from wengert.ops.op import in_kind
from wengert.ops.rounding import rounded_number
from wengert.ops.traits import DEAR
from wengert.types import SCALARS, dtype_of

SQRT_PI = rounded_number(math.sqrt(math.pi))
SQRT_2 = rounded_number(math.sqrt(2.0))
SQRT_2PI = rounded_number(math.sqrt(2 * math.pi))
LN10 = rounded_number(math.log(10.0))
_ERF_SLOPE = rounded_number(2 / math.sqrt(math.pi))
DEGREE = rounded_number(math.pi / 180)
HALF_PI = rounded_number(math.pi / 2)

NODES, WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(64)[0] + 1), 0.5 * np.polynomial.legendre.leggauss(64)[1])
"""Gauss–Legendre quadrature on [0, 1]."""


def no_rule(function: str, parameter: str) -> Callable:
    """A partial derivative that is not known: an error, not a zero."""

    def partial(*args: Any, **params: Any) -> Any:
        raise UnsupportedFunctionError(
            f"the derivative of {function} in {parameter} has no rule",
            remedy=f"if {parameter} should count as a constant, pass wg.stop_gradient of it; "
            "otherwise give the function a rule with wg.custom_jvp",
        )

    return partial


def precision(*args: Any) -> np.dtype:
    """The floating type in which SciPy answers: single if all operands are, Python's numbers not counted."""
    dtype = np.result_type(*[a if a.__class__ in SCALARS else dtype_of(a) for a in args])
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def double(x: Any) -> Any:
    """An operand in double precision, as an array or scalar that has NumPy's operators."""
    return np.multiply(x, np.float64(1))


def rounded(y: Any, dtype: np.dtype) -> Any:
    """A result in its own precision; one number as a scalar."""
    return y.astype(dtype)[()]


def is_complex(x: Any) -> bool:
    return dtype_of(x).kind == "c"


# --------------------------------------------------------------------------------------------------- error functions

erf = elementwise(
    "erf",
    sc.erf,
    (lambda y, x: _ERF_SLOPE * exp(-x * x),),
    bounds=increasing(range=(-1.0, 1.0), exact=((0.0, 0.0),), steps=5),
)
erfc = elementwise(
    "erfc",
    sc.erfc,
    (lambda y, x: -_ERF_SLOPE * exp(-x * x),),
    bounds=decreasing(range=(0.0, 2.0), exact=((0.0, 1.0),), steps=2048, flushes=True),
)
erfi = elementwise(
    "erfi", sc.erfi, (lambda y, x: 2 / SQRT_PI * exp(x * x),), bounds=increasing(exact=((0.0, 0.0),), steps=2048)
)
erfinv = elementwise(
    "erfinv",
    sc.erfinv,
    (lambda y, x: SQRT_PI / 2 * exp(y * y),),
    bounds=increasing(domain=(-1.0, 1.0), open=True, exact=((0.0, 0.0),), steps=64),
)
erfcinv = elementwise(
    "erfcinv",
    sc.erfcinv,
    (lambda y, x: -SQRT_PI / 2 * exp(y * y),),
    bounds=decreasing(domain=(0.0, 2.0), open=True, exact=((1.0, 0.0),), steps=64),
)


def _erfcx(x: Any, n: int) -> Any:
    """The n-th derivative of exp(x²)·erfc(x).

    For x > 0 it is (−2)ⁿ·2/√π · ∫₀^∞ sⁿ·exp(−s² − 2sx) ds, all of one sign; otherwise the recurrence
    y⁽ⁿ⁾ = 2x·y⁽ⁿ⁻¹⁾ + 2(n−1)·y⁽ⁿ⁻²⁾ has terms of one sign.
    """
    if n == 0:
        return special.erfcx(x)
    dtype = precision(x)
    real = dtype.kind == "f"
    x = double(x)
    low = np.minimum(x, 0) if real else x
    previous, current = special.erfcx(low), 2 * low * special.erfcx(low) - 2 / SQRT_PI
    for k in range(2, n + 1):
        previous, current = current, 2 * low * current + 2 * (k - 1) * previous
    if not real:
        return rounded(current, dtype)
    high = np.maximum(x, 0)
    drop = 42.0 + 8 * n
    end = drop / (high + np.sqrt(high * high + drop))
    total = np.zeros_like(high)
    for t, w in zip(NODES, WEIGHTS, strict=True):
        s = end * t
        total = total + w * s**n * np.exp(-s * (s + 2 * high))
    return rounded(np.where(x > 0, (-2.0) ** n * 2 / SQRT_PI * end * total, current), dtype)


erfcx = elementwise(
    "erfcx",
    _erfcx,
    (lambda y, x, n: erfcx(x, n=n + 1),),
    bounds=directed(-1, alternates=True, range=(0.0, math.inf), slack=1e-11),
)


def _dawsn(x: Any, n: int) -> Any:
    """The n-th derivative of Dawson's integral: by recurrence, by circles, and far out by the asymptotic series."""
    if n == 0:
        return sc.dawsn(x)
    dtype = precision(x)
    x = double(x)
    edge = 9.0 + n
    far = np.abs(x) > edge
    near = np.where(far, 1.0, x)
    previous, current = sc.dawsn(near), 1 - 2 * near * sc.dawsn(near)
    for k in range(2, n + 1):
        previous, current = current, -2 * near * current - 2 * (k - 1) * previous
    if n > 1 and near.__class__ is np.ndarray and dtype.kind == "f":  # the recurrence loses digits with every order
        current = np.array(current)
        size = np.abs(near)
        # Beyond 0.7·|x| from x it grows as exp(x²).
        for between, radii in (((size > 1) & (size <= 6), RADII), ((size > 6) & ~far, np.array([0.5, 0.65]))):
            x_there = near[between]
            scale = 1.0 if radii is RADII else np.abs(x_there)
            current[between] = on_circles(lambda z, part: sc.dawsn(z), x_there, n, radii[:, None] * scale)
    away = np.where(far, x, math.inf if dtype.kind == "f" else 1e30)
    # D ~ Σ (2k−1)!!/(2^(k+1)·x^(2k+1)), differentiated n times.
    term = (-1) ** n * math.factorial(n) * 0.5 / away ** (n + 1)
    total = term
    for k in range(1, 40):
        term = term * ((2 * k - 1) * (2 * k + n - 1) * (2 * k + n) / (2 * (2 * k - 1) * (2 * k))) / (away * away)
        total = total + term
    return rounded(np.where(far, total, current), dtype)


def _dawsn_most(n: int) -> float:
    return 1.000001 * 2.0 ** (n - 1) * math.gamma((n + 1) / 2)


dawsn = elementwise(
    "dawsn",
    _dawsn,
    (lambda y, x, n: dawsn(x, n=n + 1),),
    # It is ½·∫ exp(−t²/4)·sin(xt) dt.
    bounds=curved(lambda x, n: 2 * _dawsn_most(n + 2), range=lambda n: (-_dawsn_most(n), _dawsn_most(n)), slack=1e-12),
)

ndtr = elementwise(
    "ndtr",
    sc.ndtr,
    (lambda y, x: exp(-0.5 * x * x) / SQRT_2PI,),
    bounds=composed(lambda x: 0.5 * erfc(-x / SQRT_2)),
)
ndtri = elementwise(
    "ndtri",
    sc.ndtri,
    (lambda y, p: SQRT_2PI * exp(0.5 * y * y),),
    bounds=increasing(domain=(0.0, 1.0), open=True, exact=((0.5, 0.0),), slack=1e-14),
)
log_ndtr = elementwise(
    "log_ndtr", sc.log_ndtr, (lambda y, x: mills(x),), bounds=directed(1, range=(-math.inf, 0.0), slack=1e-11)
)
ndtri_exp = elementwise(
    "ndtri_exp",
    sc.ndtri_exp,
    (lambda y, x: reciprocal(mills(y)),),
    bounds=directed(1, within={0: (-math.inf, 0.0)}, slack=1e-10, floor=1.0),
)


def _mills_slope(y: Any, x: Any) -> Any:
    """−y·(x + y), where the sum cancels for x < 0: then it is −E′/(√2·E), with E = erfcx(−x/√2)."""
    left = less(x, 0)
    t = where(left, x, -1) * (-1 / SQRT_2)
    lead = where(left, erfcx(t, n=1) / erfcx(t, n=0) * (-1 / SQRT_2), x + y)
    return -y * lead


mills = elementwise(
    "mills",
    lambda x: SQRT_2 / SQRT_PI / special.erfcx(x * (-1 / SQRT_2)),
    (_mills_slope,),
    bounds=directed(-1, range=(0.0, math.inf), slack=1e-11),
)
"""The normal density over the normal distribution function, the slope of `log_ndtr`, also far in the tail."""

# -------------------------------------------------------------------------------------------------------- sigmoids

logit = elementwise(
    "logit",
    sc.logit,
    (lambda y, x: reciprocal(x) + reciprocal(1 - x),),
    bounds=composed(lambda x: -log(reciprocal(x) - 1)),
)
log_expit = elementwise(
    "log_expit",
    sc.log_expit,
    (lambda y, x: expit(-x),),
    bounds=increasing_composed(lambda x: minimum(x, 0.0) - log1p(exp(-absolute(x)))),
)

# -------------------------------------------------------------------------------------- entropies and robust losses


def quotient(x: Any, y: Any) -> Any:
    """x / y, and zero where both are zero."""
    return x / where(logical_and(equal(x, 0), equal(y, 0)), 1, y)


def log_quotient(x: Any, y: Any) -> Any:
    """log(x / y), accurate where x and y are close."""
    close = less(absolute(x - y), 0.5 * y)
    near = log1p(where(close, x - y, 0) / where(close, y, 1))
    return where(close, near, log(where(close, 1, x) / where(close, 1, y)))


xlogy = elementwise(
    "xlogy",
    sc.xlogy,
    (lambda z, x, y: log(in_kind(y, z)), lambda z, x, y: quotient(x, y)),
    bounds=composed_of_each(lambda x, y: where(equal(x, 0), 0.0, x * log(y))),
)
xlog1py = elementwise(
    "xlog1py",
    sc.xlog1py,
    (lambda z, x, y: log1p(in_kind(y, z)), lambda z, x, y: quotient(x, 1 + in_kind(y, z))),
    bounds=composed_of_each(lambda x, y: where(equal(x, 0), 0.0, x * log1p(y))),
)
entr = elementwise(
    "entr", sc.entr, (lambda y, x: -log(x) - 1,), bounds=composed(lambda x: where(equal(x, 0), 0.0, -x * log(x)))
)
rel_entr = elementwise(
    "rel_entr",
    sc.rel_entr,
    (lambda z, x, y: log_quotient(x, y) + 1, lambda z, x, y: -quotient(x, y)),
    bounds=composed_of_each(lambda x, y: where(equal(x, 0), 0.0, x * (log(x) - log(y)))),
)
kl_div = elementwise(
    "kl_div",
    sc.kl_div,
    (lambda z, x, y: log_quotient(x, y), lambda z, x, y: quotient(y - x, y)),
    bounds=composed_of_each(lambda x, y: where(equal(x, 0), y, x * (log(x) - log(y)) - x + y)),
)


def _enclosed_huber(delta: Any, r: Any) -> Any:
    size = absolute(r)
    near = minimum(size, delta)
    return near * (size - 0.5 * near)


huber = elementwise(
    "huber",
    sc.huber,
    (
        lambda z, delta, r: maximum(absolute(r) - delta, 0),
        lambda z, delta, r: minimum(maximum(r, -delta), delta),
    ),
    cost=DEAR,
    bounds=composed(_enclosed_huber),
)


def _pseudo_huber_in_delta(z: Any, delta: Any, r: Any) -> Any:
    h = hypot(delta, r)
    h = where(equal(h, 0), 1, h)
    return square(r / (h + delta)) * (r / h) * r


def _pseudo_huber_in_r(z: Any, delta: Any, r: Any) -> Any:
    h = hypot(delta, r)
    return delta * (r / where(equal(h, 0), 1, h))


pseudo_huber = elementwise(
    "pseudo_huber",
    sc.pseudo_huber,
    (_pseudo_huber_in_delta, _pseudo_huber_in_r),
    bounds=composed(lambda delta, r: where(equal(delta, 0), 0.0, square(delta) * (sqrt(1 + square(r / delta)) - 1))),
)

# ------------------------------------------------------------------------------------- exponentials and their kin


def _exprel(x: Any, n: int) -> Any:
    """The n-th derivative of (eˣ − 1)/x, which is ∫₀¹ tⁿ·exp(xt) dt.

    By quadrature, and for large |x| by the recurrence x·y⁽ⁿ⁾ = eˣ − n·y⁽ⁿ⁻¹⁾, which is stable there.
    """
    if n == 0 and not is_complex(x):
        return special.exprel(x)
    dtype = precision(x)
    x = double(x)
    small = np.abs(x) < n + 20
    safe = np.where(small, 100.0, x)
    far = np.expm1(safe) / safe
    top = np.exp(safe)
    for k in range(1, n + 1):
        far = np.where(np.isinf(top), top, top - k * far) / safe
    v, near = np.where(small, x, 0), np.zeros_like(x)
    for t, w in zip(NODES, WEIGHTS, strict=True):
        near = near + w * t**n * np.exp(v * t)
    return rounded(np.where(small, near, far), dtype)


exprel = elementwise(
    "exprel", _exprel, (lambda y, x, n: exprel(x, n=n + 1),), bounds=directed(1, range=(0.0, math.inf))
)
exp10 = elementwise("exp10", sc.exp10, (lambda y, x: y * LN10,), bounds=composed(lambda x: power(10.0, x)))
sindg = elementwise("sindg", sc.sindg, (lambda y, x: DEGREE * cosdg(x),), bounds=composed(lambda x: sin(x * DEGREE)))
cosdg = elementwise("cosdg", sc.cosdg, (lambda y, x: -DEGREE * sindg(x),), bounds=composed(lambda x: cos(x * DEGREE)))
tandg = elementwise("tandg", sc.tandg, (lambda y, x: DEGREE * (1 + y * y),), bounds=composed(lambda x: tan(x * DEGREE)))
cotdg = elementwise(
    "cotdg", sc.cotdg, (lambda y, x: -DEGREE * (1 + y * y),), bounds=composed(lambda x: 1 / tan(x * DEGREE))
)
cosm1 = elementwise("cosm1", sc.cosm1, (lambda y, x: -sin(x),), bounds=composed(lambda x: -2 * square(sin(x / 2))))


def _enclosed_boxcox(l: Any, p: Any) -> Any:
    """(exp(p·l) − 1)/p, of which l is the limit at p = 0."""
    zero = equal(p, 0)
    return where(zero, l, expm1(p * l) / where(zero, 1.0, p))


def _boxcox_in_power(y: Any, x: Any, p: Any, start: int = 0, log: Any = log) -> Any:
    """At the start, where y is −1/p for p > 0, it is y²."""
    ends = logical_and(equal(x, start), greater(p, 0))
    l = log(where(ends, start + 1, x))
    return where(ends, square(y), l * l * exprel(p * l, n=1))


boxcox = elementwise(
    "boxcox",
    sc.boxcox,
    (lambda y, x, p: power(x, p - 1), _boxcox_in_power),
    bounds=increasing_composed(lambda x, p: _enclosed_boxcox(log(x), p)),
)


boxcox1p = elementwise(
    "boxcox1p",
    sc.boxcox1p,
    (lambda y, x, p: exp((p - 1) * log1p(x)), lambda y, x, p: _boxcox_in_power(y, x, p, -1, log1p)),
    bounds=increasing_composed(lambda x, p: _enclosed_boxcox(log1p(x), p)),
)

powm1 = elementwise(
    "powm1",
    sc.powm1,
    (lambda z, x, p: p * power(x, p - 1), lambda z, x, p: power_log(x, p, n=1)),
    bounds=composed(lambda x, p: power(x, p) - 1),
)

lambertw = elementwise(
    "lambertw",
    lambda z, k, tol: special.lambertw(z, k, tol),
    (lambda w, z, k, tol: exp(-w) / (1 + w),),
    bounds=refused(
        "lambertw of an interval, whose result is complex",
        "for x > 0 the principal branch is scipy.special.wrightomega(np.log(x))",
    ),
)
wrightomega = elementwise(
    "wrightomega", sc.wrightomega, (lambda y, z: y / (1 + y),), bounds=directed(1, range=(0.0, math.inf), slack=1e-13)
)

# ------------------------------------------------------------------------------- exponential integrals, and others


def _expn(n: Any, x: Any) -> Any:
    """Eₙ(x), also for n ≤ 0, where derivatives lead."""
    if np.all(np.greater(n, 0)):
        return special.expn(n, x)
    dtype = precision(n, x)
    n, x = double(n), double(x)
    m = np.minimum(n, 0)
    low = np.exp(special.gammaln(1 - m) - (1 - m) * np.log(x)) * special.gammaincc(1 - m, x)
    return rounded(np.where(np.greater(n, 0), special.expn(np.maximum(n, 0), x), low), dtype)


exp1 = elementwise(
    "exp1",
    sc.exp1,
    (lambda y, x: -exp(-x) / x,),
    bounds=decreasing(beyond=0.0, range=(0.0, math.inf), steps=64, flushes=True),
)
expi = elementwise("expi", sc.expi, (lambda y, x: exp(x) / x,), bounds=increasing(beyond=0.0, slack=1e-12))
expn = elementwise(
    "expn", _expn, (no_rule("expn", "the order"), lambda y, n, x: -expn(n - 1, x)), bounds=one_way(0.0, slack=1e-11)
)

sinint = elementwise(
    "sinint",
    lambda x: special.sici(x)[0],
    (lambda y, x: _sin_over(x),),
    bounds=curved(lambda x: 0.5, range=lambda: (-1.852, 1.852)),
)
cosint = elementwise(
    "cosint",
    lambda x: special.sici(x)[1],
    (lambda y, x: cos(x) / x,),
    bounds=curved(lambda x: (1 + 1 / x.lo) / x.lo, above=0.0),
)
sinhint = elementwise(
    "sinhint",
    lambda x: special.shichi(x)[0],
    (lambda y, x: 0.5 * (exprel(x, n=0) + exprel(-x, n=0)),),
    bounds=directed(1, slack=1e-12),
)
coshint = elementwise(
    "coshint",
    lambda x: special.shichi(x)[1],
    (lambda y, x: cosh(x) / x,),
    bounds=directed(1, above={0: 0.0}, slack=1e-12, floor=1e-2),
)


def _sin_over(x: Any) -> Any:
    return sin(x) / x if is_complex(x) else sinc(x / math.pi, n=0)


_FRESNEL: Any = curved(
    lambda x: 3.1416 * maximum(absolute(x.lo), absolute(x.hi)), range=lambda: (-0.7799, 0.7799), slack=1e-13
)
fresnel_s = elementwise("fresnel_s", lambda x: sc.fresnel(x)[0], (lambda y, x: sin(HALF_PI * x * x),), bounds=_FRESNEL)
fresnel_c = elementwise("fresnel_c", lambda x: sc.fresnel(x)[1], (lambda y, x: cos(HALF_PI * x * x),), bounds=_FRESNEL)


def _spence_slope(y: Any, z: Any) -> Any:
    """−log(z)/(z − 1), which near one is −∫₀¹ dt / (1 + t(z − 1)) = −exprel(log z)⁻¹."""
    return -reciprocal(exprel(log(z), n=0))


spence = elementwise(
    "spence", sc.spence, (_spence_slope,), bounds=directed(-1, within={0: (0.0, math.inf)}, slack=1e-12, floor=1e-3)
)


_OWENS_T = cornered(range=(-0.25, 0.25), slack=1e-12, floor=1e-5)

owens_t = elementwise(
    "owens_t",
    sc.owens_t,
    (
        lambda y, h, a: -exp(-0.5 * h * h) * erf(a * h / SQRT_2) / (2 * SQRT_2PI),
        lambda y, h, a: exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
    ),
    bounds=lambda mode, op, args, params: _OWENS_T(mode, op, (absolute(args[0]), args[1]), params),
)
