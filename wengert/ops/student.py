"""Rows for Student's t distribution: its distribution function and quantiles, with derivatives in every argument.

In u = t/√ν and a = ν/2 the density is g(a, u) = (1 + u²)^(−a−½)/B(a, ½), which depends on a simply, and the
distribution function G is half an incomplete beta function of 1/(1 + u²). As a function of u it is smooth at zero,
while the incomplete beta function has a root there; so it is a row of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops.derive import elementwise
from wengert.ops.directed import cornered
from wengert.ops.elementwise import absolute, exp, hypot, less, log, log1p, where
from wengert.ops.gamma import betaln, polygamma_step
from wengert.ops.incomplete import betainc_by_ab
from wengert.ops.special import double, precision, rounded
from wengert.types import scalar_like


def log1p_square(u: Any) -> Any:
    """log(1 + u²), accurate for small u, without overflow for large u."""
    small = less(absolute(u), 1)
    near = where(small, u, 0)
    return where(small, log1p(near * near), 2 * log(hypot(1, where(small, 1, u))))


def student_log_density(a: Any, u: Any) -> Any:
    """log g(a, u)."""
    return -(a + 0.5) * log1p_square(u) - betaln(a, scalar_like(0.5, a))


def _density(a: Any, u: Any, n: int) -> Any:
    """The n-th derivative of g in a, by the recurrence for derivatives of an exponential."""
    slopes = [polygamma_step(a, 0.5, n=k) - (log1p_square(u) if k == 0 else 0) for k in range(n)]
    found = [exp(student_log_density(a, u))]
    for k in range(n):
        found.append(sum(math.comb(k, j) * slopes[j] * found[k - j] for j in range(k + 1)))
    return found[n]


def _student_cdf(a: Any, u: Any, n: int) -> Any:
    dtype = precision(a, u)
    a, u = double(a), double(u)
    if n == 0:
        return rounded(sc.stdtr(2 * a, u * np.sqrt(2 * a)), dtype)
    with np.errstate(over="ignore"):
        square = np.multiply(u, u)
        x, rest = 1 / (1 + square), 1 / (1 + 1 / np.where(square == 0, np.inf, square))
    rest = np.where(square == 0, 0.0, rest)
    small = x < 0.5
    # The form whose argument is the smaller of x and 1 − x: the other one has no digits left of it.
    tail = np.where(
        small,
        betainc_by_ab(a, 0.5, np.where(small, x, 0.25), i=n, j=0),
        -betainc_by_ab(0.5, a, np.where(small, 0.25, rest), i=0, j=n),
    )
    return rounded(-0.5 * np.sign(u) * tail, dtype)


_TOWARDS_ZERO_OR_ONE = cornered(above={0: 0.0}, range=(0.0, 1.0), slack=1e-11)


def _cdf_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """The larger a is, the less there is in the tails."""
    if params["n"]:
        raise UnsupportedFunctionError(
            "no enclosure is known of the derivative of Student's distribution function in the degrees of freedom",
            remedy="differentiate in t only",
        )
    return _TOWARDS_ZERO_OR_ONE(mode, op, args, params)


student_cdf = elementwise(
    "student_cdf",
    _student_cdf,
    (lambda y, a, u, n: student_cdf(a, u, n=n + 1), lambda y, a, u, n: _density(a, u, n)),
    bounds=_cdf_enclosed,
)
"""The n-th derivative in a of G(a, u), the distribution function of t = u·√(2a) with 2a degrees of freedom."""


def _student_quantile(a: Any, q: Any) -> Any:
    dtype = precision(a, q)
    a, q = double(a), double(q)
    # SciPy's own has +∞ at q = 0.
    return rounded(np.where(q == 0, -np.inf, sc.stdtrit(2 * a, q) / np.sqrt(2 * a)), dtype)


student_quantile = elementwise(
    "student_quantile",
    _student_quantile,
    (
        lambda u, a, q: -student_cdf(a, u, n=1) / exp(student_log_density(a, u)),
        lambda u, a, q: exp(-student_log_density(a, u)),
    ),
    bounds=cornered(above={0: 0.0}, within={1: (0.0, 1.0)}, slack=1e-9, floor=1e-9),
)
"""The u at which G(a, u) = q."""
