"""Rows for elliptic integrals.

The derivatives of the complete integrals K and E in m are quotients that are 0/0 at m = 0; there they are
hypergeometric functions. The incomplete ones are members of the family

    J(φ, m; p, q) = ∫₀^φ sin²ᵖθ · (1 − m·sin²θ)^(−q/2) dθ,     F = J(0, 1),   E = J(0, −1),   ∂J/∂m = q/2 · J(p+1, q+2),

which is closed under differentiation. With sin θ and cos θ from t = tan θ = sinh u the integrand is analytic in the
strip |Im u| < π/2 whatever m < 1 is, and Gauss–Legendre quadrature on panels is exact to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.ops.derive import elementwise
from wengert.ops.directed import cornered
from wengert.ops.elementwise import absolute, greater_equal, less, power, sin, square, where
from wengert.ops.enclosures import composed, decreasing, increasing
from wengert.ops.hypergeometric import hyp2f1
from wengert.ops.rounding import Bounds
from wengert.ops.special import double, precision, rounded
from wengert.types import scalar_like

# ---------------------------------------------------------------------------------------------- complete integrals

_SMALL = 0.5
"""Below this |m| the quotients cancel, and the hypergeometric series converges quickly."""


def _series(a: float, m: Any) -> Any:
    """₂F₁(a, 3/2; 2; m) in the precision of m; with Python's numbers SciPy would answer in double precision."""
    return hyp2f1(scalar_like(a, m), scalar_like(1.5, m), scalar_like(2, m), m)


def _ellipk_slope(y: Any, m: Any) -> Any:
    small = less(absolute(m), _SMALL)
    near = math.pi / 8 * _series(1.5, where(small, m, 0))
    k = where(small, 0.5, m)
    return where(small, near, (ellipe(k) - (1 - k) * ellipk(k)) / (2 * k * (1 - k)))


def _ellipe_slope(y: Any, m: Any) -> Any:
    small = less(absolute(m), _SMALL)
    near = -math.pi / 8 * _series(0.5, where(small, m, 0))
    k = where(small, 0.5, m)
    return where(small, near, (ellipe(k) - ellipk(k)) / (2 * k))


def _ellipkm1_slope(y: Any, p: Any) -> Any:
    small = less(absolute(1 - p), _SMALL)
    near = -math.pi / 8 * _series(1.5, where(small, 1 - p, 0))
    r = where(small, 0.5, p)
    return where(small, near, (r * ellipkm1(r) - ellipe(1 - r)) / (2 * r * (1 - r)))


ellipk = elementwise("ellipk", sc.ellipk, (_ellipk_slope,), bounds=increasing(domain=(-math.inf, 1.0), steps=64))
ellipe = elementwise("ellipe", sc.ellipe, (_ellipe_slope,), bounds=decreasing(domain=(-math.inf, 1.0), steps=64))
ellipkm1 = elementwise("ellipkm1", sc.ellipkm1, (_ellipkm1_slope,), bounds=composed(lambda p: ellipk(1 - p)))

# --------------------------------------------------------------------------------------------- incomplete integrals

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS = 10
_EDGES = np.arange(_PANELS + 1) / _PANELS
_T = (_EDGES[:-1, None] + 0.5 / _PANELS * (1 + _NODES)).ravel()
_W = np.tile(0.5 / _PANELS * _WEIGHTS, _PANELS)


def _quadrature(phi: Any, m: Any, p: int, q: int) -> Any:
    """J for |φ| ≤ π/2: ∫ t²ᵖ·(1+t²)^(q/2−p−1)·(1+(1−m)t²)^(−q/2) dt, with t = s·sinh u."""
    rest = 1 - m
    s = 1 / np.sqrt(np.maximum(np.abs(rest), 1))
    end = np.arcsinh(np.minimum(np.abs(np.tan(phi)), 1e16) / s)
    total = 0.0
    for x, w in zip(_T, _W, strict=True):
        u = end * x
        t = s * np.sinh(u)
        c2 = 1 / (1 + t * t)
        sin2 = t * t * c2
        total = total + w * sin2**p * (1 - m * sin2) ** (-q / 2) * c2 * s * np.cosh(u)
    return np.sign(phi) * end * total


def _elliptic(phi: Any, m: Any, p: int, q: int) -> Any:
    if p == 0:
        return sc.ellipkinc(phi, m) if q == 1 else sc.ellipeinc(phi, m)
    dtype = precision(phi, m)
    phi, m = np.broadcast_arrays(double(phi), double(m))
    turns = np.rint(phi / np.pi)
    y = _quadrature(phi - turns * np.pi, m, p, q)
    if np.any(turns):
        y = y + np.where(turns == 0, 0.0, 2 * turns * _quadrature(np.full_like(phi, np.pi / 2), m, p, q))
    return rounded(y, dtype)


def _elliptic_in_phi(y: Any, phi: Any, m: Any, p: int, q: int) -> Any:
    s = square(sin(phi))
    slope = power(1 - m * s, -q / 2)
    return s**p * slope if p else slope


_ONE_WAY = cornered(within={1: (-math.inf, 1.0)}, slack=1e-12)


def _elliptic_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """At m = 1 the integral may be infinite, of either sign whatever SciPy says."""
    y = _ONE_WAY(mode, op, args, params)
    if params["q"] < 0:
        return y
    (low, high), reaches = mode.bounds(y), greater_equal(mode.bounds(args[1]).hi, 1)
    return mode.enclosed(Bounds(where(reaches, -math.inf, low), where(reaches, math.inf, high)))


elliptic = elementwise(
    "elliptic",
    _elliptic,
    (_elliptic_in_phi, lambda y, phi, m, p, q: q / 2 * elliptic(phi, m, p=p + 1, q=q + 2)),
    bounds=_elliptic_enclosed,
)
"""The family J above."""

# --------------------------------------------------------------------------------------------------- Jacobi's functions

SN, CN, DN, AM = range(4)


def _jacobi_in_u(y: Any, u: Any, m: Any, k: int) -> Any:
    sn, cn, dn = (jacobi(u, m, k=j) if j != k else y for j in (SN, CN, DN))
    return (cn * dn, -sn * dn, -m * sn * cn, dn)[k]


def _jacobi_in_m(y: Any, u: Any, m: Any, k: int) -> Any:
    """Of the amplitude, the inverse function of F(φ, m) in φ, and of its sine, its cosine and √(1 − m·sine²)."""
    sn, cn, dn, am = (jacobi(u, m, k=j) if j != k else y for j in (SN, CN, DN, AM))
    slope = -0.5 * dn * elliptic(am, m, p=1, q=3)
    return (cn * slope, -sn * slope, -sn * (0.5 * sn + m * cn * slope) / dn, slope)[k]


jacobi = elementwise("jacobi", lambda u, m, k: sc.ellipj(u, m)[k], (_jacobi_in_u, _jacobi_in_m))
"""Jacobi's elliptic functions sn, cn, dn of u, and the amplitude, in the order of `scipy.special.ellipj`."""
