"""Rows for the gamma function and its relatives, and for the zeta functions.

Differences ψ(x + h) − ψ(x), which the derivatives of beta functions, binomial coefficients and Pochhammer symbols are
made of, cancel if h is small beside x. So the difference is an op, `polygamma_step`, computed then as the integral of
ψ′ (12-point Gauss–Legendre quadrature, whose error is below 1e-18 as long as h ≤ x).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops import library
from wengert.ops.derive import elementwise, zero
from wengert.ops.directed import directed, one_way, rising_beyond
from wengert.ops.elementwise import (
    ceil,
    cos,
    equal,
    exp,
    less,
    less_equal,
    logical_and,
    reciprocal,
    remainder,
    rint,
    sin,
    where,
)
from wengert.ops.enclosures import composed, decreasing, increasing, stated, valley
from wengert.ops.library import special
from wengert.ops.rounding import Bounds
from wengert.ops.special import double, is_complex, no_rule, precision, rounded
from wengert.ops.traits import DEAR
from wengert.types import SCALARS, scalar_like

SLACK = 1e-14
"""How far values of SciPy's that are not relative to a zero may be off, of max(1, |value|); measured: 4e-16."""
_NODES, _WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(12)[0] + 1), 0.5 * np.polynomial.legendre.leggauss(12)[1])

# ------------------------------------------------------------------------------------------------------- polygamma


def _polygamma(n: Any, x: Any) -> Any:
    if n.__class__ is int and n >= 0:
        if n == 0:
            return special.psi(x)
        if is_complex(x):
            return no_rule("digamma", "a complex number, twice,")()
        return (-1.0) ** (n + 1) * math.factorial(n) * special.zeta(n + 1, x)
    return special.polygamma(n, x)


polygamma = elementwise(
    "polygamma",
    _polygamma,
    (no_rule("polygamma", "the order"), lambda y, n, x: polygamma(n + 1, x)),
    bounds=one_way(0.0, slack=1e-11, floor=1e-13),
)
digamma = elementwise("digamma", sc.psi, (lambda y, x: polygamma(1, x),), bounds=increasing(beyond=0.0, slack=SLACK))


def _polygamma_step(x: Any, h: Any, n: int) -> Any:
    dtype = precision(x, h)
    if dtype.kind == "c":
        return _polygamma(n, x + h) - _polygamma(n, x)
    x, h = double(x), double(h)
    low = np.minimum(x, x + h)
    small = np.abs(h) <= low
    if np.all(small):
        return rounded(_integrated(x, h, n), dtype)
    plain = _polygamma(n, x + h) - _polygamma(n, x)
    if not np.any(small):
        return rounded(plain, dtype)
    return rounded(np.where(small, _integrated(np.where(small, x, 1), np.where(small, h, 0), n), plain), dtype)


def _integrated(x: Any, h: Any, n: int) -> Any:
    total = np.zeros_like(x + h)
    for t, w in zip(_NODES, _WEIGHTS, strict=True):
        total = total + w * _polygamma(n + 1, x + t * h)
    return h * total


def _psi(n: int, x: Any) -> Any:
    return polygamma(n, x) if n else digamma(x)


polygamma_step = elementwise(
    "polygamma_step",
    _polygamma_step,
    (lambda y, x, h, n: polygamma_step(x, h, n=n + 1), lambda y, x, h, n: polygamma(n + 1, x + h)),
    bounds=composed(lambda x, h, n: _psi(n, x + h) - _psi(n, x)),
)
"""ψ⁽ⁿ⁾(x + h) − ψ⁽ⁿ⁾(x)."""

# ------------------------------------------------------------------------------------------------------------ gamma

_LOWEST = 1.4616321449683623
gamma = elementwise(
    "gamma",
    sc.gamma,
    (lambda y, x: y * digamma(x),),
    bounds=valley(_LOWEST, (0.8856031944108885, 0.8856031944108888), beyond=0.0, steps=64),
)
_GAMMALN = valley(_LOWEST, (-0.12148629053584962, -0.12148629053584960), beyond=0.0, slack=SLACK)
gammaln = elementwise(
    "gammaln",
    sc.gammaln,
    (lambda y, x: digamma(x),),
    bounds=_GAMMALN,
)
loggamma = elementwise("loggamma", sc.loggamma, (lambda y, x: digamma(x),), bounds=_GAMMALN)


def _changes_sign(x: Bounds) -> Any:
    """Whether a pole of Γ is between the bounds, or at one of them."""
    return logical_and(less_equal(x.lo, 0), less_equal(ceil(x.lo), x.hi))


_GAMMASGN = stated(
    lambda x: Bounds(where(_changes_sign(x), -1.0, gammasgn(x.lo)), where(_changes_sign(x), 1.0, gammasgn(x.hi))),
    breaks=_changes_sign,
)
gammasgn = zero("gammasgn", sc.gammasgn, elementwise=True, cost=DEAR, bounds=_GAMMASGN)


def _rgamma_slope(y: Any, x: Any) -> Any:
    """−ψ(x)/Γ(x); on the left, where ψ has poles, from 1/Γ(x) = sin(πx)·Γ(1 − x)/π."""
    if is_complex(x):
        return -y * digamma(x)
    left = less(x, 0.5)
    l = where(left, x, 0)
    whole = rint(l)
    turn = (1 - 2 * remainder(whole, 2)) * gamma(1 - l)
    angle = math.pi * (l - whole)
    reflected = turn * (cos(angle) - sin(angle) / math.pi * digamma(1 - l))
    return where(left, reflected, -y * digamma(where(left, 1, x)))


rgamma = elementwise("rgamma", sc.rgamma, (_rgamma_slope,), bounds=composed(lambda x: reciprocal(gamma(x))))

beta = elementwise(
    "beta",
    sc.beta,
    (lambda y, a, b: -y * polygamma_step(a, b, n=0), lambda y, a, b: -y * polygamma_step(b, a, n=0)),
    bounds=directed(-1, -1, above={0: 0.0, 1: 0.0}, range=(0.0, math.inf), slack=1e-10),
)
betaln = elementwise(
    "betaln",
    sc.betaln,
    (lambda y, a, b: -polygamma_step(a, b, n=0), lambda y, a, b: -polygamma_step(b, a, n=0)),
    bounds=directed(-1, -1, above={0: 0.0, 1: 0.0}, slack=1e-11, floor=1.0),
)


def _poch_slope(y: Any, z: Any, m: Any) -> Any:
    """(ψ(z + m) − ψ(z))·Γ(z + m)/Γ(z); where ψ(z) has a pole, the derivative of the quotient.

    Where Γ(z + m) has a pole too, and so m is an integer, both ψ are reflected: ψ(1 − z − m) − ψ(1 − z).
    """
    if is_complex(z) or is_complex(m):
        return y * polygamma_step(z, m, n=0)
    end = z + m
    pole = logical_and(less(z, 0.5), equal(z, rint(z)))
    both = logical_and(logical_and(pole, less(end, 0.5)), equal(end, rint(end)))
    l, e = where(pole, z, 0), where(both, 1, where(pole, end, 1))
    reflected = y * polygamma_step(where(both, 1 - z, 1), where(both, -m, 0), n=0)
    quotient = gamma(e) * (digamma(e) * rgamma(l) + _rgamma_slope(rgamma(l), l))
    elsewhere = y * polygamma_step(where(pole, 1, z), where(pole, 0, m), n=0)
    return where(pole, where(both, reflected, quotient), elsewhere)


poch = elementwise(
    "poch",
    sc.poch,
    (_poch_slope, lambda y, z, m: y * digamma(z + m)),
    bounds=rising_beyond(lambda m: 0.0, slack=1e-10),
)


def _binom_parts(y: Any, n: Any, k: Any) -> tuple[Any, Any, Any]:
    """Where the coefficient vanishes, and n and k where it does not.

    It vanishes for integers k outside 0 … n, where a reciprocal gamma function does and ψ is infinite.
    """
    vanishes = equal(y, 0)
    return vanishes, where(vanishes, 1, n), where(vanishes, 0, k)


def _typed(y: Any, v: Any) -> Any:
    """Python's numbers in the precision of the result: `where` would make double precision of them."""
    return scalar_like(v, y) if v.__class__ in SCALARS else v


def _binom_in_n(y: Any, n: Any, k: Any) -> Any:
    n, k = _typed(y, n), _typed(y, k)
    vanishes, n1, k1 = _binom_parts(y, n, k)
    n0, k0 = where(vanishes, n, 1), where(vanishes, k, 0)
    v = n0 - k0 + 1
    edge = gamma(n0 + 1) * rgamma(k0 + 1) * (rgamma(v) * digamma(n0 + 1) + _rgamma_slope(rgamma(v), v))
    return where(vanishes, edge, y * polygamma_step(n1 - k1 + 1, k1, n=0))


def _binom_in_k(y: Any, n: Any, k: Any) -> Any:
    n, k = _typed(y, n), _typed(y, k)
    vanishes, n1, k1 = _binom_parts(y, n, k)
    n0, k0 = where(vanishes, n, 1), where(vanishes, k, 0)
    u, v = k0 + 1, n0 - k0 + 1
    edge = gamma(n0 + 1) * (_rgamma_slope(rgamma(u), u) * rgamma(v) - rgamma(u) * _rgamma_slope(rgamma(v), v))
    return where(vanishes, edge, y * (digamma(n1 - k1 + 1) - digamma(k1 + 1)))


binom = elementwise(
    "binom",
    sc.binom,
    (_binom_in_n, _binom_in_k),
    bounds=rising_beyond(lambda k: k - 1, slack=1e-10),
)

# ------------------------------------------------------------------------------------------------------------- zeta

_TERMS = 24
_BERNOULLI = [float(b) for b in sc.bernoulli(2 * _TERMS)[2::2]]


def _hurwitz(s: Any, q: Any, n: int) -> Any:
    """The n-th derivative of ζ(s, q) in s, for s > −1.1, by Euler–Maclaurin summation (DLMF 25.11.5).

    Every term is a power of s + ε to order n in ε: a list of n + 1 coefficients.
    """
    if n == 0:
        return special.zeta(s, q)
    dtype = precision(s, q)
    s, q = np.broadcast_arrays(double(s), double(q))

    def raised(base: Any, extra: float) -> list:
        """base^(−s−ε−extra)."""
        l, c = -np.log(base), [base ** (-s - extra)]
        for k in range(1, n + 1):
            c.append(c[-1] * l / k)
        return c

    def product(a: list, b: list) -> list:
        return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(n + 1)]

    total = [np.zeros_like(s)] * (n + 1)
    steps = 12
    for k in range(steps):
        total = [a + b for a, b in zip(total, raised(q + k, 0), strict=True)]
    end = q + steps
    inverse = [(-1.0) ** k / (s - 1) ** (k + 1) for k in range(n + 1)]
    total = [a + b for a, b in zip(total, product(raised(end, -1), inverse), strict=True)]
    total = [a + 0.5 * b for a, b in zip(total, raised(end, 0), strict=True)]
    rising = [s, np.ones_like(s), *[np.zeros_like(s)] * (n - 1)]
    for j in range(1, _TERMS):
        if j > 1:
            for shift in (2 * j - 3, 2 * j - 2):
                rising = product(rising, [s + shift, np.ones_like(s), *[np.zeros_like(s)] * (n - 1)])
        term = product(rising, raised(end, 2 * j - 1))
        c = _BERNOULLI[j - 1] / math.factorial(2 * j)
        total = [a + c * b for a, b in zip(total, term, strict=True)]
    return rounded(math.factorial(n) * total[n], dtype)


def _hurwitz_in_q(y: Any, s: Any, q: Any, n: int) -> Any:
    slope = -s * hurwitz(s + 1, q, n=n)
    return slope - n * hurwitz(s + 1, q, n=n - 1) if n else slope


_FALLS = directed(-1, -1, above={0: 1.0, 1: 1 - 2.0**-53}, range=(0.0, math.inf), slack=1e-11)


def _hurwitz_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """It falls in both operands where no base q + k is less than one."""
    if params["n"]:
        raise UnsupportedFunctionError(
            "no enclosure is known of derivatives of the zeta function in its order",
            remedy="pass numbers, not intervals",
        )
    return _FALLS(mode, op, args, params)


hurwitz = elementwise(
    "hurwitz",
    _hurwitz,
    (lambda y, s, q, n: hurwitz(s, q, n=n + 1), _hurwitz_in_q),
    bounds=_hurwitz_enclosed,
)
"""The Hurwitz zeta function Σ (q + k)^−s, differentiated n times in s."""


def _zeta_slope(y: Any, s: Any) -> Any:
    """On the left from ζ(s) = 2ˢ·π^(s−1)·sin(πs/2)·Γ(1−s)·ζ(1−s)."""
    if is_complex(s):
        return no_rule("zeta", "a complex number")()
    left = less(s, -1)
    l = where(left, s, -2)
    r = 1 - l
    angle = math.pi / 2 * l
    factor = exp(l * math.log(2 * math.pi)) / math.pi * gamma(r)
    z = hurwitz(r, 1.0, n=0)
    grown = sin(angle) * (math.log(2 * math.pi) - digamma(r)) + math.pi / 2 * cos(angle)
    reflected = factor * (grown * z - sin(angle) * hurwitz(r, 1.0, n=1))
    return where(left, reflected, hurwitz(where(left, 2.0, s), 1.0, n=1))


def _zeta(s: Any) -> Any:
    """CuPy's zeta is Hurwitz's, for s > 1: on the left by reflection, between by ζ(s) − 1.

    Next to zero 1 − s would have no digits left of s, and on the left ζ(s) − 1 none of ζ(s) next to its zeros.
    """
    if not library.is_foreign(s):
        return special.zeta(s)
    left = s < -0.5
    r = np.where(left, 1 - s, 2.0)
    size = 2 * np.exp(special.gammaln(r) - r * math.log(2 * math.pi)) * special.zeta(r, np.ones_like(r))
    reflected = np.where(np.remainder(s, 2) == 0, 0.0, np.sin(math.pi / 2 * np.remainder(s, 4)) * size)
    return np.where(left, reflected, 1 + special.zetac(np.where(left, 2.0, s)))


zeta = elementwise("zeta", _zeta, (_zeta_slope,), bounds=decreasing(beyond=1.0, steps=64, range=(1.0, math.inf)))
"""Riemann's zeta function."""
