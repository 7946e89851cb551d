"""Distributions of vectors and matrices, with SciPy's signatures.

Covariance, shape and scale matrices are factorised by Cholesky's method, of their symmetric part: the derivative in a
symmetric matrix is then symmetric, ∂f/∂Cᵢⱼ = ∂f/∂Cⱼᵢ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.box import plain
from wengert.box.distributions.discrete import binom_pmf
from wengert.box.distributions.univariate import INF, all_of, checked, either, split
from wengert.box.functions.operands import array
from wengert.box.functions.scipy_linalg import solve_triangular
from wengert.errors import UnsupportedFunctionError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced, call
from wengert.ops.sizes import require
from wengert.types import ndim_of, shape_of

LOG_2, LOG_PI = math.log(2), math.log(math.pi)


def demand(ok: Any, message: str) -> None:
    """Raise what SciPy raises for such arguments; in compiled code when it runs."""
    known: Any = plain(ok)
    if isinstance(known, Traced):
        call(require, np.all(ok), error="ValueError", message=message)
    elif not np.all(known):
        raise ValueError(message)


def cholesky_factor(matrix: Any, allow_singular: bool) -> Any:
    """The Cholesky factor of a symmetric positive definite matrix."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        if allow_singular:
            raise UnsupportedFunctionError(
                "a density with a singular covariance matrix that is itself differentiated",
                remedy="add a small multiple of the identity to the matrix, or drop the dependent components",
            ) from error
        raise


def log_determinant(factor: Any) -> Any:
    return 2 * np.sum(np.log(np.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def _location_and_matrix(loc: Any, matrix: Any, what: str) -> tuple[int, Any, Any]:
    """Dimension, location vector and matrix, as SciPy infers them from numbers, vectors and `None`."""
    matrix = array(getattr(matrix, "covariance", 1.0 if matrix is None else matrix))
    if loc is None:
        dim = 1 if ndim_of(matrix) < 2 else shape_of(matrix)[0]
        loc = np.zeros(dim)
    loc = array(loc)
    dim = math.prod(shape_of(loc))
    if dim == 1:
        loc, matrix = np.reshape(loc, (1,)), np.reshape(matrix, (1, 1))
    if ndim_of(loc) != 1:
        raise ValueError(f"Array '{what}' must be a vector of length {dim}.")
    if ndim_of(matrix) == 0:
        matrix = matrix * np.eye(dim)
    elif ndim_of(matrix) == 1:
        matrix = np.diag(matrix)
    if shape_of(matrix) != (dim, dim):
        raise ValueError(f"Dimension mismatch: a matrix of shape {shape_of(matrix)}, but '{what}' has length {dim}.")
    return dim, loc, matrix


def _points(x: Any, dim: int) -> Any:
    """Data with their components along the last axis."""
    x = array(x)
    if ndim_of(x) == 0:
        return np.reshape(x, (1,))
    if ndim_of(x) == 1:
        return np.reshape(x, (-1, 1) if dim == 1 else (1, -1))
    return x


def _squared_distance(dev: Any, factor: Any) -> Any:
    """Mahalanobis's: devᵀ C⁻¹ dev, for vectors along the last axis."""
    shape = shape_of(dev)
    columns = np.reshape(dev, (-1, shape[-1])).T
    white = solve_triangular(factor, columns, lower=True)
    return np.reshape(np.sum(white * white, axis=0), shape[:-1])


# -------------------------------------------------------------------------------------------------- normal, Student's t


def _spectrum(cov: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a constant matrix: the eigenvalues that are not zero, to SciPy's tolerance, their vectors and the others'."""
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    kept = values > 1e6 * np.finfo(float).eps * np.max(np.abs(values))
    return values[kept], vectors[:, kept], vectors[:, ~kept]


def _normal_on_a_subspace(x: Any, mean: Any, cov: Any) -> Any:
    """The density with respect to the subspace that a singular matrix spans; zero beside it."""
    values, inside, beside = _spectrum(cov)
    dev = x - mean
    white = np.matmul(dev, inside / np.sqrt(values))
    y = -0.5 * (len(values) * math.log(2 * math.pi) + np.sum(np.log(values)) + np.sum(white * white, axis=-1))
    away = np.sqrt(np.sum(np.square(np.matmul(plain(dev), beside)), axis=-1))
    return np.where(away < 1e9 * np.finfo(float).eps * np.max(values), y, -INF)


def _normal_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    dim, mean, cov = _location_and_matrix(mean, cov, "mean")
    if allow_singular and not isinstance(cov, Traced) and len(_spectrum(cov)[0]) < dim:
        return np.squeeze(_normal_on_a_subspace(_points(x, dim), mean, cov))
    factor = cholesky_factor(cov, allow_singular)
    distance = _squared_distance(_points(x, dim) - mean, factor)
    return np.squeeze(-0.5 * (dim * math.log(2 * math.pi) + log_determinant(factor) + distance))


def _normal_entropy(mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    dim, mean, cov = _location_and_matrix(mean, cov, "mean")
    return 0.5 * (dim * (math.log(2 * math.pi) + 1) + log_determinant(cholesky_factor(cov, allow_singular)))


def _check_degrees(df: Any) -> bool:
    """Whether there are infinitely many degrees of freedom."""
    demand(df > 0, "'df' must be greater than zero.")
    infinite: Any = plain(np.isinf(df))
    if isinstance(infinite, Traced):
        demand(np.logical_not(np.isinf(df)), "'df' must be finite in compiled code.")
        return False
    return bool(np.all(infinite))


def _student_logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False) -> Any:
    if _check_degrees(df):
        return _normal_logpdf(x, loc, shape, allow_singular)
    dim, loc, shape = _location_and_matrix(loc, shape, "loc")
    factor = cholesky_factor(shape, allow_singular)
    distance = _squared_distance(_points(x, dim) - loc, factor)
    # Γ((ν + d)/2)/Γ(ν/2) by way of the beta function, whose derivative does not cancel for large ν.
    front = math.lgamma(0.5 * dim) - sc.betaln(0.5 * df, 0.5 * dim) - 0.5 * dim * (np.log(df) + LOG_PI)
    return np.squeeze(front - 0.5 * log_determinant(factor) - 0.5 * (df + dim) * np.log1p(distance / df))


def _student_entropy(loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False) -> Any:
    if _check_degrees(df):
        return _normal_entropy(None, shape, allow_singular)
    dim, _, shape = _location_and_matrix(None, shape, "loc")
    half, total = 0.5 * df, 0.5 * (df + dim)
    spread = total * (sc.psi(total) - sc.psi(half)) + 0.5 * dim * (np.log(df) + LOG_PI)
    return (
        sc.betaln(half, 0.5 * dim)
        - math.lgamma(0.5 * dim)
        + spread
        + 0.5 * log_determinant(cholesky_factor(shape, allow_singular))
    )


# ----------------------------------------------------------------------------------------------------------- dirichlet


def _concentrations(alpha: Any) -> Any:
    alpha = array(alpha)
    demand(alpha > 0, "All parameters must be greater than 0")
    if ndim_of(alpha) != 1:
        raise ValueError(f"Parameter vector 'a' must be one dimensional, but a.shape = {shape_of(alpha)}.")
    return alpha


def _log_normaliser(alpha: Any) -> Any:
    return np.sum(sc.gammaln(alpha)) - sc.gammaln(np.sum(alpha))


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    alpha, x = _concentrations(alpha), array(x)
    given, wanted = shape_of(x)[0], shape_of(alpha)[0]
    if given not in (wanted - 1, wanted):
        raise ValueError(
            "Vector 'x' must have either the same number of entries as, or one entry fewer than, parameter vector 'a', "
            f"but alpha.shape = {shape_of(alpha)} and x.shape = {shape_of(x)}."
        )
    if given != wanted:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    within = all_of(np.all(all_of(x >= 0, x <= 1)), np.all(np.abs(np.sum(x, axis=0) - 1) <= 10e-10))
    demand(within, "The input vector 'x' must lie within the normal simplex.")
    alpha_of_rows = np.reshape(alpha, (-1,) + (1,) * (ndim_of(x) - 1))
    demand(
        either(x != 0, alpha_of_rows >= 1),
        "Each entry in 'x' must be greater than zero if its alpha is less than one.",
    )
    return np.squeeze(np.sum(sc.xlogy(alpha_of_rows - 1, x), axis=0) - _log_normaliser(alpha))


def _dirichlet_entropy(alpha: Any) -> Any:
    alpha = _concentrations(alpha)
    total, count = np.sum(alpha), shape_of(alpha)[0]
    return _log_normaliser(alpha) + (total - count) * sc.psi(total) - np.sum((alpha - 1) * sc.psi(alpha))


def _dirichlet_mean(alpha: Any) -> Any:
    alpha = _concentrations(alpha)
    return alpha / np.sum(alpha)


def _dirichlet_var(alpha: Any) -> Any:
    alpha = _concentrations(alpha)
    total = np.sum(alpha)
    return alpha * (total - alpha) / (total * total * (total + 1))


# --------------------------------------------------------------------------------------------------------- multinomial


def _trials(n: Any, p: Any) -> tuple[Any, Any, Any]:
    """Numbers of trials, probabilities, whether they are valid. Rows that do not sum to 1 get another last entry."""
    n, p = stop_gradient(array(n)), array(p)
    rest = 1 - np.sum(p[..., :-1], axis=-1)
    off = np.abs(1 - np.sum(p, axis=-1)) > 10 * np.finfo(float).eps
    known = plain(off)
    if isinstance(known, Traced) or np.any(known):
        last = np.where(off, rest, p[..., -1])
        p = np.concatenate([p[..., :-1], np.reshape(last, (*shape_of(last), 1))], axis=-1)
    return n, p, all_of(n >= 0, np.all(all_of(p >= 0, p <= 1), axis=-1))


def _multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    n, p, valid = _trials(n, p)
    x = stop_gradient(array(x))
    if ndim_of(x) == 0:
        raise ValueError("x must be an array.")
    if shape_of(x)[-1] != shape_of(p)[-1]:
        raise ValueError(
            f"Size of each quantile should be size of p: received {shape_of(x)[-1]}, but expected {shape_of(p)[-1]}."
        )
    outside = either(np.any(either(x < 0, np.floor(x) != x), axis=-1), np.sum(x, axis=-1) != n)
    counted = np.where(np.reshape(outside, (*shape_of(outside), 1)), 0, x)
    y = sc.gammaln(n + 1) + np.sum(sc.xlogy(counted, p) - sc.gammaln(counted + 1), axis=-1)
    y = split(outside, lambda y: -INF * np.ones(shape_of(y)), lambda y: y, (y,), (0.0,), (0.0,))
    return checked(y, valid)


def _multinomial_entropy(n: Any, p: Any) -> Any:
    n, p, valid = _trials(n, p)
    direct = n * np.sum(sc.entr(p), axis=-1) - sc.gammaln(n + 1)
    n = np.reshape(n, (*shape_of(n), 1))
    x = np.arange(1.0, np.max(plain(n)) + 1).reshape((-1,) + (1,) * max(ndim_of(n), ndim_of(p)))
    beyond = x > n
    mass = np.where(beyond, 0.0, binom_pmf(np.where(beyond, 0.0, x), n, p))
    return checked(direct + np.sum(mass * sc.gammaln(x + 1), axis=(0, -1)), valid)


def _multinomial_mean(n: Any, p: Any) -> Any:
    n, p, _ = _trials(n, p)
    return np.reshape(n, (*shape_of(n), 1)) * p


# ------------------------------------------------------------------------------------------------------------- wishart


def multigammaln(a: Any, dim: int) -> Any:
    total = 0.25 * dim * (dim - 1) * LOG_PI
    for j in range(dim):
        total = total + sc.gammaln(a - 0.5 * j)
    return total


def wishart_parameters(df: Any, scale: Any) -> tuple[int, Any, Any]:
    scale = array(1.0 if scale is None else scale)
    if ndim_of(scale) == 0:
        scale = np.reshape(scale, (1, 1))
    elif ndim_of(scale) == 1:
        scale = np.diag(scale)
    if ndim_of(scale) != 2 or shape_of(scale)[0] != shape_of(scale)[1]:
        raise ValueError(f"Array 'scale' must be square if it is two dimensional, but has shape {shape_of(scale)}.")
    dim = shape_of(scale)[0]
    df = dim if df is None else df
    if ndim_of(df):
        raise ValueError("Degrees of freedom must be a scalar.")
    demand(df > dim - 1, "Degrees of freedom must be greater than the dimension of scale matrix minus 1.")
    return dim, df, scale


def _wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    dim, df, scale = wishart_parameters(df, scale)
    x = array(x)
    if ndim_of(x) == 0:
        x = x * np.eye(dim)
    elif ndim_of(x) == 1:
        x = np.reshape(x, (1, 1, -1)) if dim == 1 else np.diag(x)
    if ndim_of(x) == 2:
        x = np.reshape(x, (*shape_of(x), 1))
    if ndim_of(x) != 3 or shape_of(x)[:2] != (dim, dim):
        raise ValueError(f"Quantiles have incompatible dimensions: should be {(dim, dim)}, got {shape_of(x)[:2]}.")
    of_scale, of_x = cholesky_factor(scale, False), cholesky_factor(np.moveaxis(x, -1, 0), False)
    ratio = np.linalg.solve(of_scale, of_x)  # tr(S⁻¹X) is its squared norm
    y = 0.5 * (df - dim - 1) * log_determinant(of_x) - 0.5 * np.sum(ratio * ratio, axis=(-2, -1))
    return np.squeeze(y - 0.5 * df * (dim * LOG_2 + log_determinant(of_scale)) - multigammaln(0.5 * df, dim))


def _wishart_entropy(df: Any, scale: Any) -> Any:
    dim, df, scale = wishart_parameters(df, scale)
    log_det = log_determinant(cholesky_factor(scale, False))
    slopes = sum([sc.psi(0.5 * (df - j)) for j in range(dim)])
    spread = 0.5 * (dim + 1) * (log_det + dim * LOG_2) + multigammaln(0.5 * df, dim)
    return spread - 0.5 * (df - dim - 1) * slopes + 0.5 * df * dim


def _wishart_mean(df: Any, scale: Any) -> Any:
    _, df, scale = wishart_parameters(df, scale)
    return np.squeeze(df * scale)


MULTIVARIATE: dict[str, dict[str, Callable]] = {
    "multivariate_normal": {"logpdf": _normal_logpdf, "entropy": _normal_entropy},
    "multivariate_t": {"logpdf": _student_logpdf, "entropy": _student_entropy},
    "dirichlet": {
        "logpdf": _dirichlet_logpdf, "entropy": _dirichlet_entropy, "mean": _dirichlet_mean, "var": _dirichlet_var,
    },
    "multinomial": {"logpmf": _multinomial_logpmf, "entropy": _multinomial_entropy, "mean": _multinomial_mean},
    "wishart": {"logpdf": _wishart_logpdf, "entropy": _wishart_entropy, "mean": _wishart_mean},
}  # fmt: skip
"""Their methods; parameters stand in SciPy's order, and have the names that they have there."""
