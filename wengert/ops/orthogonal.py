"""Rows for orthogonal polynomials, as functions of their argument.

The derivative of a classical orthogonal polynomial is one of the same kind, of a degree one less and with shifted
parameters, so Jacobi, Gegenbauer, Laguerre and Hermite polynomials are closed under differentiation; Legendre and
Chebyshev polynomials are Jacobi and Gegenbauer ones. Nothing is divided by 1 − x². In the degree and in the parameters
there is no rule: differentiating in them is an error.
"""

from __future__ import annotations

from typing import Any

import scipy.special as sc

from wengert.ops.derive import elementwise
from wengert.ops.elementwise import equal, where
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
    return no_rule(name, "the degree")


def _parameter(name: str) -> Any:
    return no_rule(name, "its parameters")


def _jacobi_slope(y: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
    return _factor(n, 0.5 * (n + a + b + 1)) * eval_jacobi(_lower(n), a + 1, b + 1, x)


eval_jacobi = elementwise(
    "eval_jacobi",
    sc.eval_jacobi,
    (_degree("eval_jacobi"), _parameter("eval_jacobi"), _parameter("eval_jacobi"), _jacobi_slope),
)
eval_gegenbauer = elementwise(
    "eval_gegenbauer",
    sc.eval_gegenbauer,
    (
        _degree("eval_gegenbauer"),
        _parameter("eval_gegenbauer"),
        lambda y, n, a, x: _factor(n, 2.0 * a) * eval_gegenbauer(_lower(n), a + 1, x),
    ),
)
eval_genlaguerre = elementwise(
    "eval_genlaguerre",
    sc.eval_genlaguerre,
    (
        _degree("eval_genlaguerre"),
        _parameter("eval_genlaguerre"),
        lambda y, n, a, x: _factor(n, -1.0) * eval_genlaguerre(_lower(n), a + 1, x),
    ),
)
eval_laguerre = elementwise(
    "eval_laguerre",
    sc.eval_laguerre,
    (_degree("eval_laguerre"), lambda y, n, x: _factor(n, -1.0) * eval_genlaguerre(_lower(n), 1.0, x)),
)
eval_legendre = elementwise(
    "eval_legendre",
    sc.eval_legendre,
    (_degree("eval_legendre"), lambda y, n, x: _factor(n, 0.5 * (n + 1)) * eval_jacobi(_lower(n), 1.0, 1.0, x)),
)
eval_chebyt = elementwise(
    "eval_chebyt",
    sc.eval_chebyt,
    (_degree("eval_chebyt"), lambda y, n, x: _factor(n, 1.0 * n) * eval_chebyu(_lower(n), x)),
)
eval_chebyu = elementwise(
    "eval_chebyu",
    sc.eval_chebyu,
    (_degree("eval_chebyu"), lambda y, n, x: _factor(n, 2.0) * eval_gegenbauer(_lower(n), 2.0, x)),
)
eval_hermite = elementwise(
    "eval_hermite",
    sc.eval_hermite,
    (_degree("eval_hermite"), lambda y, n, x: _factor(n, 2.0 * n) * eval_hermite(_lower(n), x)),
)
eval_hermitenorm = elementwise(
    "eval_hermitenorm",
    sc.eval_hermitenorm,
    (_degree("eval_hermitenorm"), lambda y, n, x: _factor(n, 1.0 * n) * eval_hermitenorm(_lower(n), x)),
)
