"""More distributions of vectors and matrices, with SciPy's signatures: priors of covariances, directions, counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.distributions.multivariate import (
    cholesky_factor,
    demand,
    log_determinant,
    multigammaln,
    wishart_parameters,
)
from wengert.box.distributions.univariate import all_of
from wengert.box.functions.operands import array
from wengert.types import ndim_of, shape_of

LOG_2, LOG_2PI = math.log(2), math.log(2 * math.pi)


def _square(matrix: Any, dim: int) -> Any:
    """A covariance as SciPy takes it: `None`, a number, variances or a matrix."""
    matrix = array(1.0 if matrix is None else matrix)
    return matrix if ndim_of(matrix) == 2 else matrix * np.eye(dim)


def _inverse_wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    dim, df, scale = wishart_parameters(df, scale)
    x = array(x)
    if ndim_of(x) < 2:
        x = x * np.eye(dim) if dim > 1 or not ndim_of(x) else np.reshape(x, (1, 1, -1))
    if ndim_of(x) == 2:
        x = np.reshape(x, (*shape_of(x), 1))
    if ndim_of(x) != 3 or shape_of(x)[:2] != (dim, dim):
        raise ValueError(f"Quantiles have incompatible dimensions: should be {(dim, dim)}, got {shape_of(x)[:2]}.")
    of_scale, of_x = cholesky_factor(scale, False), cholesky_factor(np.moveaxis(x, -1, 0), False)
    ratio = np.linalg.solve(of_x, np.broadcast_to(of_scale, shape_of(of_x)))  # tr(SX⁻¹) is its squared norm
    y = -0.5 * (df + dim + 1) * log_determinant(of_x) - 0.5 * np.sum(ratio * ratio, axis=(-2, -1))
    return np.squeeze(y + 0.5 * df * (log_determinant(of_scale) - dim * LOG_2) - multigammaln(0.5 * df, dim))


def _inverse_wishart_mean(df: Any, scale: Any) -> Any:
    dim, df, scale = wishart_parameters(df, scale)
    demand(df > dim + 1, "The mean exists for more degrees of freedom than the dimension plus one only.")
    return np.squeeze(scale / (df - dim - 1))


def _matrix_normal_logpdf(x: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
    x = array(x)
    rows, columns = shape_of(x)[-2:]
    of_rows, of_columns = (
        cholesky_factor(_square(rowcov, rows), False),
        cholesky_factor(_square(colcov, columns), False),
    )
    deviation = x if mean is None else x - array(mean)
    inner = np.linalg.solve(of_rows, deviation)
    z = np.linalg.solve(of_columns, np.swapaxes(inner, -1, -2))
    logs = columns * log_determinant(of_rows) + rows * log_determinant(of_columns) + rows * columns * LOG_2PI
    return -0.5 * (logs + np.sum(z * z, axis=(-2, -1)))


def _direction_logpdf(x: Any, mu: Any, kappa: Any = 1) -> Any:
    x, mu = array(x), array(mu)
    dim = shape_of(mu)[-1]
    demand(kappa > 0, "Parameter 'kappa' must be positive.")
    demand(np.abs(np.sum(mu * mu, axis=-1) - 1) < 1e-8, "'mu' must be a unit vector of norm 1.")
    demand(np.abs(np.sum(x * x, axis=-1) - 1) < 1e-8, "'x' must be unit vectors of norm 1 along last dimension.")
    order = 0.5 * dim - 1
    constant = order * np.log(kappa) - 0.5 * dim * LOG_2PI - np.log(sc.ive(order, kappa)) - kappa
    return constant + kappa * np.sum(x * mu, axis=-1)


def _dirichlet_counts_logpmf(x: Any, alpha: Any, n: Any) -> Any:
    x, alpha, n = array(x), array(alpha), array(n)
    demand(alpha > 0, "`alpha` must contain only positive values.")
    total = np.sum(alpha, axis=-1)
    inner = sc.gammaln(x + alpha) - sc.gammaln(alpha) - sc.gammaln(x + 1.0)
    y = sc.gammaln(total) + sc.gammaln(n + 1.0) - sc.gammaln(n + total) + np.sum(inner, axis=-1)
    inside = all_of(np.sum(x, axis=-1) == n, np.all(x >= 0, axis=-1))
    return np.where(inside, y, -np.inf)


FURTHER_MULTIVARIATE: dict[str, dict[str, Callable]] = {
    "invwishart": {"logpdf": _inverse_wishart_logpdf, "mean": _inverse_wishart_mean},
    "matrix_normal": {"logpdf": _matrix_normal_logpdf},
    "vonmises_fisher": {"logpdf": _direction_logpdf},
    "dirichlet_multinomial": {"logpmf": _dirichlet_counts_logpmf},
}
