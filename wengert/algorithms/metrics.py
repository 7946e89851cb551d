"""Metrics of Hamiltonian samplers: the inverse mass matrix times a momentum, and momenta from standard normal numbers.

A metric is a tuple of arrays, an estimate of the covariance matrix in one of three forms.
"""

from __future__ import annotations

import numpy as np


def diagonal_velocity(metric, r):
    """The metric is the vector of variances."""
    return metric[0] * r


def diagonal_kick(metric, z):
    return z / np.sqrt(metric[0])


def dense_velocity(metric, r):
    """The metric is the covariance matrix, and the inverse of its Cholesky factor."""
    return metric[0] @ r


def dense_kick(metric, z):
    return metric[1].T @ z


def low_rank_velocity(metric, r):
    """The metric is D (1 + U (λ − 1) Uᵀ) D: scales D, a few orthonormal columns U and their eigenvalues λ."""
    scales, vectors, values = metric
    w = scales * r
    return scales * (w + vectors @ ((values - 1.0) * (vectors.T @ w)))


def low_rank_kick(metric, z):
    scales, vectors, values = metric
    return (z + vectors @ ((1.0 / np.sqrt(values) - 1.0) * (vectors.T @ z))) / scales
