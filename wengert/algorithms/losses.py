"""Robust losses, in the convention of SciPy: the cost is ½ Σ C² ρ((f/C)²), and ρ(z) = z is least squares.

A robust cost is minimised as a least-squares problem whose residuals and Jacobian are scaled, row by row, such that
gradient and Gauss–Newton Hessian are those of the cost, the second derivative of ρ included (Triggs, McLauchlan,
Hartley, Fitzgibbon 1999, "Bundle adjustment: a modern synthesis", §4.3). Where the curvature of ρ would make a row's
part of the Hessian negative, or nearly zero, a tenth of its part without that curvature is taken instead.
"""

from __future__ import annotations

import numpy as np


def huber(z):
    """z up to 1, 2√z − 1 beyond: ρ, ρ′ and ρ″."""
    root = np.sqrt(np.maximum(z, 1.0))
    inside = z <= 1.0
    return np.where(inside, z, 2 * root - 1), 1 / root, np.where(inside, 0.0, -0.5 / root**3)


def soft_l1(z):
    """2 (√(1 + z) − 1): ρ, ρ′ and ρ″."""
    root = np.sqrt(1 + z)
    return 2 * z / (root + 1), 1 / root, -0.5 / root**3


def cauchy(z):
    """log(1 + z): ρ, ρ′ and ρ″."""
    weight = 1 / (1 + z)
    return np.log1p(z), weight, -(weight**2)


def arctan(z):
    """arctan z: ρ, ρ′ and ρ″."""
    weight = 1 / (1 + z * z)
    return np.arctan(z), weight, -2 * z * weight**2


def tukey(z):
    """(1 − (1 − z)³)/3 up to 1, constant beyond, so that outliers have no say at all: ρ, ρ′ and ρ″."""
    rest = np.maximum(1 - z, 0.0)
    return (1 - rest**3) / 3, rest**2, -2 * rest


def weights(values, z):
    """By what residuals are multiplied, and rows of the Jacobian, for ρ, ρ′ and ρ″ at z."""
    _, first, second = values
    curvature = np.maximum(first + 2 * second * z, 0.1 * first)
    root = np.sqrt(np.where(curvature > 0, curvature, 1.0))
    return np.where(curvature > 0, first / root, 0.0), np.where(curvature > 0, root, 0.0)
