"""Rows for derivatives of Bessel functions in their order, for real orders and positive arguments.

Each row is the n-th derivative in the order as an op of its own. The recurrences that give derivatives in the argument
hold for every order, so they may be differentiated in it: the rows are closed.

K has an integral without cancellation (DLMF 10.32.9), whose derivatives in the order and in the argument are integrals
of the same kind. Its integrand is even, analytic in |Im t| < π/2 and falls doubly exponentially: the trapezoidal rule
is exact to rounding (Trefethen & Weideman 2014). I has one for large arguments. Otherwise J, Y and I are differentiated
as in `stencils.py`: accurate to about 1e-12 of the size of the function, and an error where they are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.ops.derive import elementwise
from wengert.ops.special import NODES, WEIGHTS, double, precision, rounded
from wengert.ops.stencils import differentiated
from wengert.ops.traits import VALUES

DROP = 45.0
"""Where an integrand has fallen by exp(−DROP) it ends."""


def fallen(drop: Callable, start: Any, end: Any, enough: float = DROP) -> Any:
    """A point between `start` and `end`, by bisection, at which the increasing function `drop` is just enough."""
    for _ in range(24):
        middle = 0.5 * (start + end)
        beyond = drop(middle) > enough
        start, end = np.where(beyond, start, middle), np.where(beyond, middle, end)
    return end


def trapezoid(f: Callable, low: Any, high: Any, step: Any) -> Any:
    """∫ f, of values that have vanished at both ends (or are even about the lower one: half the weight there)."""
    count = max(8, math.ceil(float(np.max((high - low) / step, initial=0.0))))
    h = (high - low) / count
    total = 0.5 * (f(low) + f(high))
    for k in range(1, count):
        total = total + f(low + k * h)
    return h * total


def _rate(v: Any, x: Any) -> Any:
    """The exponential type of J and Y in the order: they oscillate or grow as exp(|v|·arsinh(v/x)) does."""
    return math.pi + np.arcsinh((np.abs(v) + 4) / x)


def _rate_of_i(v: Any, x: Any) -> Any:
    """The same for I, which for large x is like exp(−v²/2x): what is reflected at v = 0 is exp(−2x) as large."""
    return np.where(x < 20, math.pi, 8.5 / np.sqrt(x)) + np.arcsinh((np.abs(v) + 4) / x)


def _by_stencil(name: str, f: Callable, rate: Callable, v: Any, x: Any, n: int, vanishes: Any) -> Any:
    dtype = precision(v, x)
    v, x = np.broadcast_arrays(double(v), double(x))
    inside = (x > 0) & np.isfinite(x) & np.isfinite(v)
    x1 = np.where(inside, x, 1.0)
    y = differentiated(name, lambda v: f(v, x1), [v], [n], [rate(v, x1)], inside=inside)
    return rounded(np.where((x == 0) & vanishes(v), 0.0, y), dtype)


jv_by_order = elementwise(
    "jv_by_order",
    lambda v, x, n: _by_stencil("scipy.special.jv", sc.jv, _rate, v, x, n, lambda v: v > 0),
    (
        lambda y, v, x, n: jv_by_order(v, x, n=n + 1),
        lambda y, v, x, n: 0.5 * (jv_by_order(v - 1, x, n=n) - jv_by_order(v + 1, x, n=n)),
    ),
    raises=VALUES,
)
"""The n-th derivative in v of J, n > 0."""

yv_by_order = elementwise(
    "yv_by_order",
    lambda v, x, n: _by_stencil("scipy.special.yv", sc.yv, _rate, v, x, n, lambda v: False),
    (
        lambda y, v, x, n: yv_by_order(v, x, n=n + 1),
        lambda y, v, x, n: 0.5 * (yv_by_order(v - 1, x, n=n) - yv_by_order(v + 1, x, n=n)),
    ),
    raises=VALUES,
)
"""The n-th derivative in v of Y, n > 0."""


def _turned(t: Any, v: Any, m: int) -> Any:
    """The m-th derivative of cos(vt) in v."""
    return t**m * (np.cos if m % 2 == 0 else np.sin)(v * t) * (-1.0) ** ((m + 1) // 2)


def _ive_integral(v: Any, x: Any, m: int, n: int) -> Any:
    """exp(−x)·I for x > 4 and v² ≤ 4x, by DLMF 10.32.4 and Gauss–Legendre quadrature.

    There I hardly depends on the order, and differences of its values have no digits left of that.
    """
    end = 2 * np.arcsin(np.sqrt(np.minimum(1.0, DROP / (2 * x))))
    far = 2 * np.arcsinh(np.sqrt(DROP / (2 * x)))
    total = np.zeros_like(x)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        t = end * node
        s = 2 * np.sin(0.5 * t) ** 2
        total = total + weight * end * np.exp(-x * s) * (-s) ** n * _turned(t, v, m)
        t = far * node
        s = 2 * np.cosh(0.5 * t) ** 2
        # ∂ᵐ of sin(πv)·exp(−vt), the imaginary part of exp((iπ − t)·v).
        both = ((1j * math.pi - t) ** m * np.exp((1j * math.pi - t) * v)).imag
        total = total - weight * far * np.exp(-x * s) * (-s) ** n * both
    return total / math.pi


def ive_rows(function: Callable) -> Any:
    """The row for exp(−x)·I, given `function(v, x, n)`, its n-th derivative in x."""

    def impl(v: Any, x: Any, m: int, n: int) -> Any:
        dtype = precision(v, x)
        v, x = np.broadcast_arrays(double(v), double(x))
        slow = (x > 4) & (v * v <= 4 * x) & np.isfinite(x)
        y = np.where(slow, _ive_integral(np.where(slow, v, 0.0), np.where(slow, x, 5.0), m, n), 0.0)
        if not np.all(slow):
            # Elements that are known already are moved out of the domain.
            x = np.where(slow, -1.0, x)
            rest = _by_stencil(
                "scipy.special.ive", lambda v, x: function(v, x, n), _rate_of_i, v, x, m, lambda v: v > n
            )
            y = np.where(slow, y, rest)
        return rounded(y, dtype)

    op = elementwise(
        "ive_by_order",
        impl,
        (
            lambda y, v, x, m, n: op(v, x, m=m + 1, n=n),
            lambda y, v, x, m, n: op(v, x, m=m, n=n + 1),
        ),
        raises=VALUES,
    )
    return op


def _kve_by_order(v: Any, x: Any, m: int, n: int) -> Any:
    """∫₀^∞ (1 − cosh t)ⁿ·tᵐ·exp(x·(1 − cosh t))·{cosh, sinh}(vt) dt."""
    dtype = precision(v, x)
    v, x = np.broadcast_arrays(double(v), double(x))
    inside = (x > 0) & np.isfinite(x) & np.isfinite(v)
    order, x1 = np.where(inside, np.abs(v), 1.0), np.where(inside, x, 1.0)
    rate, far = order + n, DROP + 6 * (m + n)  # (cosh t − 1)ⁿ grows like exp(nt) at most
    odd = m % 2 == 1

    def exponent(order: Any, t: Any) -> Any:
        return order * t - 2 * x1 * np.sinh(0.5 * t) ** 2

    with np.errstate(over="ignore", under="ignore"):
        top = np.arcsinh(rate / x1)
        height = exponent(rate, top)
        width = (x1 * x1 + rate * rate) ** -0.25
        high = fallen(lambda t: height - exponent(rate, t), top, top + 20 * width + np.arcsinh(2 * far / x1), far)
        low = 2 * top - fallen(lambda t: height - exponent(rate, 2 * top - t), top, 2 * top, far)
        low = np.where(height < far, 0.0, low)
        peak = exponent(order, np.arcsinh(order / x1))

        def integrand(t: Any) -> Any:
            grown = 0.5 * np.exp(exponent(order, t) - peak) * t**m * (-2 * np.sinh(0.5 * t) ** 2) ** n
            return grown * (-np.expm1(-2 * order * t) if odd else 1 + np.exp(-2 * order * t))

        y = np.exp(peak) * trapezoid(integrand, low, high, np.minimum(0.2, 0.5 * width))
        y = np.where((v < 0) & odd, -y, y)
    return rounded(np.where(inside, y, np.nan), dtype)


kve_by_order = elementwise(
    "kve_by_order",
    _kve_by_order,
    (
        lambda y, v, x, m, n: kve_by_order(v, x, m=m + 1, n=n),
        lambda y, v, x, m, n: kve_by_order(v, x, m=m, n=n + 1),
    ),
    raises=VALUES,
)
"""exp(x)·K, differentiated m times in v and n times in x."""
