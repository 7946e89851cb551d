"""Rows for orthogonal polynomials, as functions of their argument.

The derivative of a classical orthogonal polynomial is one of the same kind, of a degree one less and with shifted
parameters, so Jacobi, Gegenbauer, Laguerre and Hermite polynomials are closed under differentiation; Legendre and
Chebyshev polynomials are Jacobi and Gegenbauer ones. Nothing is divided by 1 − x².

For a real degree n they are hypergeometric functions of n (DLMF 18.5), as in SciPy, and that gives the derivatives in
the degree and in the parameters. SciPy's Hermite polynomials have integer degrees: differentiating in them is an error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops.derive import elementwise
from wengert.ops.directed import polynomial
from wengert.ops.elementwise import absolute, equal, maximum, where
from wengert.ops.enclosures import Enclosure
from wengert.ops.gamma import binom, digamma, poch, polygamma_step, rgamma
from wengert.ops.hypergeometric import hyp1f1_by_parameters, hyp2f1_by_parameters
from wengert.ops.op import Op
from wengert.ops.special import no_rule
from wengert.types import SCALARS


def _lower(n: Any) -> Any:
    """The degree below, and what stays a degree where there is none: the factor is zero there."""
    if n.__class__ in SCALARS:
        return n - 1 if n else n
    return where(equal(n, 0), 0, n - 1)


def _factor(n: Any, c: Any) -> Any:
    """c where there is a degree below, else zero."""
    return (c if n else 0.0) if n.__class__ in SCALARS else where(equal(n, 0), 0, c)


def _degree(name: str) -> Any:
    return no_rule(name, "the degree, an integer,")


def _binomial_in_n(n: Any, a: Any) -> Any:
    """∂/∂n of log binom(n + a, n)."""
    return polygamma_step(n + 1, a, n=0)


def _gauss(n: Any, s: Any, c: Any, x: Any) -> tuple[Any, Any, Any]:
    """₂F₁(−n, n + s; c; (1 − x)/2), and its derivatives in the second and third parameter, and in n."""
    args = (-n, n + s, c, 0.5 * (1 - x))
    by_a, by_b, by_c = (hyp2f1_by_parameters(*args, orders=orders) for orders in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    return by_b, by_c, by_b - by_a


def _jacobi_by(which: int) -> Any:
    def partial(y: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
        by_b, by_c, by_n = _gauss(n, a + b + 1, a + 1, x)
        scale = binom(n + a, n)
        if which == 0:
            return y * _binomial_in_n(n, a) + scale * by_n
        return y * _binomial_in_n(a, n) + scale * (by_b + by_c) if which == 1 else scale * by_b

    return partial


def _gegenbauer_by(which: int) -> Any:
    def partial(y: Any, n: Any, a: Any, x: Any) -> Any:
        by_b, by_c, by_n = _gauss(n, 2 * a, a + 0.5, x)
        scale = poch(2 * a, n) * rgamma(n + 1)
        if which == 0:
            return y * (digamma(n + 2 * a) - digamma(n + 1)) + scale * by_n
        return 2 * y * polygamma_step(2 * a, n, n=0) + scale * (2 * by_b + by_c)

    return partial


def _genlaguerre_by(which: int) -> Any:
    def partial(y: Any, n: Any, a: Any, x: Any) -> Any:
        scale, args = binom(n + a, n), (-n, a + 1, x)
        if which == 0:
            return y * _binomial_in_n(n, a) - scale * hyp1f1_by_parameters(*args, orders=(1, 0))
        return y * _binomial_in_n(a, n) + scale * hyp1f1_by_parameters(*args, orders=(0, 1))

    return partial


# ------------------------------------------------------------------------------------------------------- enclosures
#
# The k-th derivative divided by k! is a polynomial of the same kind, times a number: binom(n + a + b + k, k)/2ᵏ for
# those of Jacobi, binom(a + k − 1, k)·2ᵏ for those of Gegenbauer. Recurrences err by the largest numbers that they
# meet: for those of Jacobi and Gegenbauer, where they are orthogonal, the value at an end; for those of Hermite and
# Laguerre what comes out if no terms cancel.


def _jacobi_derivative(k: int, n: int, a: Any, b: Any, x: Any) -> Any:
    return sc.binom(n + a + b + k, k) * 0.5**k * eval_jacobi(n - k, a + k, b + k, x)


def _gegenbauer_derivative(k: int, n: int, a: Any, x: Any) -> Any:
    return sc.poch(a, k) / math.factorial(k) * 2.0**k * eval_gegenbauer(n - k, a + k, x)


def _chebyt_derivative(k: int, n: int, x: Any) -> Any:
    return n / k * 2.0 ** (k - 1) * eval_gegenbauer(n - k, float(k), x) if k else eval_chebyt(n, x)


def _laguerre_derivative(k: int, n: int, a: Any, x: Any) -> Any:
    return (-1.0) ** k / math.factorial(k) * eval_genlaguerre(n - k, a + k, x)


def _beyond_one(derivative: Any) -> Any:
    """The values at 1, or farther out, and at −1."""

    def largest(k: int, *others: Any) -> Any:
        *fixed, r = others
        end = maximum(r, 1.0)
        return absolute(derivative(k, *fixed, end)) + absolute(derivative(k, *fixed, -end))

    return largest


def _without_cancelling(step: float) -> Any:
    """Of Hermite polynomials: h(m + 1) = 2x·h(m) + 2m·h(m − 1), or half of it."""

    def largest(k: int, n: int, r: Any) -> Any:
        before, here = 0.0 * r, 0.0 * r + 1
        for m in range(n - k):
            before, here = here, step * (r * here + m * before)
        return math.comb(n, k) * step**k * here

    return largest


_JACOBI = polynomial(_jacobi_derivative, _beyond_one(_jacobi_derivative))
_GEGENBAUER = polynomial(_gegenbauer_derivative, _beyond_one(_gegenbauer_derivative))
_CHEBYT = polynomial(_chebyt_derivative, _beyond_one(_chebyt_derivative))
_LAGUERRE = polynomial(_laguerre_derivative, lambda k, n, a, r: absolute(_laguerre_derivative(k, n, a, -r)))


def _for(enclosure: Enclosure, why: str, *least: float) -> Enclosure:
    """An enclosure for parameters that are greater than these numbers."""

    def enclosed(mode: Any, op: Op, args: tuple, params: dict) -> Any:
        given = [mode.structure(op, a) for a in args[1:-1]]
        if not all(np.ndim(a) == 0 and a > bound for a, bound in zip(given, least, strict=True)):
            raise UnsupportedFunctionError(
                f"no enclosure is known of {op.name} but for parameters that are numbers {why}",
                remedy="write it in functions that have one",
            )
        return enclosure(mode, op, args, params)

    return enclosed


def _with(enclosure: Enclosure, *parameters: float) -> Enclosure:
    """The enclosure of polynomials that have these parameters."""
    return lambda mode, op, args, params: enclosure(mode, op, (args[0], *parameters, args[1]), params)


def _jacobi_slope(y: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
    return _factor(n, 0.5 * (n + a + b + 1)) * eval_jacobi(_lower(n), a + 1, b + 1, x)


eval_jacobi = elementwise(
    "eval_jacobi",
    sc.eval_jacobi,
    (_jacobi_by(0), _jacobi_by(1), _jacobi_by(2), _jacobi_slope),
    bounds=_for(_JACOBI, "not below −½", -0.5 - 1e-9, -0.5 - 1e-9),
)
eval_gegenbauer = elementwise(
    "eval_gegenbauer",
    sc.eval_gegenbauer,
    (
        _gegenbauer_by(0),
        _gegenbauer_by(1),
        lambda y, n, a, x: _factor(n, 2.0 * a) * eval_gegenbauer(_lower(n), a + 1, x),
    ),
    bounds=_for(_GEGENBAUER, "above zero", 0.0),
)
eval_genlaguerre = elementwise(
    "eval_genlaguerre",
    sc.eval_genlaguerre,
    (
        _genlaguerre_by(0),
        _genlaguerre_by(1),
        lambda y, n, a, x: _factor(n, -1.0) * eval_genlaguerre(_lower(n), a + 1, x),
    ),
    bounds=_for(_LAGUERRE, "above −1", -1.0),
)
eval_laguerre = elementwise(
    "eval_laguerre",
    sc.eval_laguerre,
    (
        lambda y, n, x: -hyp1f1_by_parameters(-n, 1.0, x, orders=(1, 0)),
        lambda y, n, x: _factor(n, -1.0) * eval_genlaguerre(_lower(n), 1.0, x),
    ),
    bounds=_with(_LAGUERRE, 0.0),
)
eval_legendre = elementwise(
    "eval_legendre",
    sc.eval_legendre,
    (
        lambda y, n, x: _gauss(n, 1.0, 1.0, x)[2],
        lambda y, n, x: _factor(n, 0.5 * (n + 1)) * eval_jacobi(_lower(n), 1.0, 1.0, x),
    ),
    bounds=_with(_JACOBI, 0.0, 0.0),
)
eval_chebyt = elementwise(
    "eval_chebyt",
    sc.eval_chebyt,
    (
        lambda y, n, x: _gauss(n, 0.0, 0.5, x)[2],
        lambda y, n, x: _factor(n, 1.0 * n) * eval_chebyu(_lower(n), x),
    ),
    bounds=_CHEBYT,
)
eval_chebyu = elementwise(
    "eval_chebyu",
    sc.eval_chebyu,
    (
        lambda y, n, x: y / (n + 1) + (n + 1) * _gauss(n, 2.0, 1.5, x)[2],
        lambda y, n, x: _factor(n, 2.0) * eval_gegenbauer(_lower(n), 2.0, x),
    ),
    bounds=_with(_GEGENBAUER, 1.0),
)
eval_hermite = elementwise(
    "eval_hermite",
    sc.eval_hermite,
    (_degree("eval_hermite"), lambda y, n, x: _factor(n, 2.0 * n) * eval_hermite(_lower(n), x)),
    bounds=polynomial(lambda k, n, x: math.comb(n, k) * 2.0**k * eval_hermite(n - k, x), _without_cancelling(2.0)),
)
eval_hermitenorm = elementwise(
    "eval_hermitenorm",
    sc.eval_hermitenorm,
    (_degree("eval_hermitenorm"), lambda y, n, x: _factor(n, 1.0 * n) * eval_hermitenorm(_lower(n), x)),
    bounds=polynomial(lambda k, n, x: math.comb(n, k) * eval_hermitenorm(n - k, x), _without_cancelling(1.0)),
)
