"""The row for integrals of functions of one variable.

`integral(a, b, *parameters, integrand=…)` is ∫ f(t, *parameters) dt from a to b, by adaptive quadrature. Its derivative
is not that of the quadrature but the quadrature of the derivative, as accurate as the integral itself (Leibniz' rule):

    y_dot = f(b) b_dot − f(a) a_dot + ∫ ∂f/∂p dt · p_dot

∫ ∂f/∂p dt is the same op with another integrand, so derivatives nest to any order.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.derive import General
from wengert.ops.op import call
from wengert.ops.shape import reshape, sum
from wengert.ops.traits import MORE, VALUES, Dtype
from wengert.types import shape_of


class Integral(General):
    """An integral has any number of parameters."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        (a, b, *parameters), integrand = args, params["integrand"]
        total = None
        for sign, end, dot in ((-1.0, a, dots[0]), (1.0, b, dots[1])):
            if dot is not None and not integrand.is_infinite(end):
                term = sign * integrand.at_end(end, parameters) * _with_axes(dot, shape_of(y))
                total = term if total is None else total + term
        for k, dot in enumerate(dots[2:]):
            if dot is None:
                continue
            # The Jacobian of the integrand, integrated: of the shape of the result followed by that of the parameter.
            whole = call(self, a, b, *parameters, integrand=integrand.derivative(k, shape_of(parameters[k])))
            rank = len(shape_of(y))
            axes = tuple(range(rank, rank + len(shape_of(dot))))
            term = whole * dot
            term = sum(term, axis=axes) if axes else term
            total = term if total is None else total + term
        return total


def _with_axes(dot: Any, shape: tuple[int, ...]) -> Any:
    return reshape(dot, shape=(1,) * len(shape)) if shape else dot


integral = Integral(
    "integral",
    lambda a, b, *parameters, integrand: integrand.integrate(a, b, parameters),
    (),
    shape=lambda a, b, *parameters, integrand: integrand.shape,
    dtype=Dtype.DOUBLE,
    raises=VALUES,
    cost=MORE,
)
"""`integrand` says how to integrate, what f is at an end, and what its derivative in a parameter is."""
