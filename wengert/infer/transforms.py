"""Maps from all of ℝⁿ onto the supports of distributions, with the exact logarithm of the Jacobian determinant.

A transform takes unconstrained numbers u to a value x = forward(u) of its support. log_jacobian(u) is log |∂x/∂u|,
summed over everything, with respect to the coordinates of SciPy's densities: a point of a simplex is measured by
all its components but the last, a symmetric matrix by its lower triangle, a unit vector by the area of the sphere.

    support                     number of unconstrained numbers
    real                        n
    positive, lower(a), upper(b), interval(a, b), unit_interval     n
    simplex                     n − 1           softmax of coordinates orthogonal to (1, …, 1)
    ordered, positive_ordered   n               increments are exponentials
    unit_vector                 n               the direction of a vector; its length is given a standard distribution
    correlation_cholesky        n(n − 1)/2      tanh of the partial correlations (Lewandowski, Kurowicka, Joe 2009)
    covariance_cholesky         n(n + 1)/2      exponentials on the diagonal
    correlation, covariance     the same, times their transpose

Axes in front of these are examples. Everything is plain NumPy, so that it is differentiated and compiled with the
density it belongs to.

>>> import numpy as np
>>> from wengert.infer import transforms
>>> x = transforms.ordered.forward(np.array([1.0, 0.0, np.log(2.0)])); x
array([1., 2., 4.])
>>> transforms.ordered.inverse(x), transforms.ordered.log_jacobian(np.array([1.0, 0.0, np.log(2.0)])).round(3)
(array([1.        , 0.        , 0.69314718]), np.float64(0.693))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit


class Transform:
    """A map from unconstrained numbers onto a support; `event_ndim` axes at the end of a value belong together."""

    event_ndim = 0

    def forward(self, u: Any) -> Any:
        """The value for unconstrained numbers."""
        raise NotImplementedError

    def inverse(self, x: Any) -> Any:
        """The unconstrained numbers of a value."""
        raise NotImplementedError

    def log_jacobian(self, u: Any) -> Any:
        """log |∂x/∂u|, one number."""
        raise NotImplementedError

    def unconstrained_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of u for a value of this shape."""
        return shape


@dataclass(frozen=True)
class Real(Transform):
    """All numbers."""

    def forward(self, u: Any) -> Any:
        return u

    def inverse(self, x: Any) -> Any:
        return np.asarray(x, dtype=float)

    def log_jacobian(self, u: Any) -> Any:
        return 0.0


@dataclass(frozen=True)
class Lower(Transform):
    """Numbers above a bound: low + exp u."""

    low: Any = 0.0

    def forward(self, u: Any) -> Any:
        return self.low + np.exp(u)

    def inverse(self, x: Any) -> Any:
        return np.log(np.asarray(x, dtype=float) - self.low)

    def log_jacobian(self, u: Any) -> Any:
        return np.sum(u)


@dataclass(frozen=True)
class Upper(Transform):
    """Numbers below a bound: high − exp u."""

    high: Any = 0.0

    def forward(self, u: Any) -> Any:
        return self.high - np.exp(u)

    def inverse(self, x: Any) -> Any:
        return np.log(self.high - np.asarray(x, dtype=float))

    def log_jacobian(self, u: Any) -> Any:
        return np.sum(u)


@dataclass(frozen=True)
class Between(Transform):
    """Numbers between two bounds: low + (high − low)/(1 + exp(−u))."""

    low: Any = 0.0
    high: Any = 1.0

    def forward(self, u: Any) -> Any:
        return self.low + (self.high - self.low) * expit(u)

    def inverse(self, x: Any) -> Any:
        x = np.asarray(x, dtype=float)
        return np.log(x - self.low) - np.log(self.high - x)

    def log_jacobian(self, u: Any) -> Any:
        width = np.log(self.high - self.low) + np.zeros(np.shape(u))
        return np.sum(width - np.logaddexp(0.0, -u) - np.logaddexp(0.0, u))


def _orthogonal_to_ones(n: int) -> np.ndarray:
    """Helmert's matrix: n − 1 orthonormal columns, each orthogonal to (1, …, 1)."""
    basis = np.zeros((n, n - 1))
    for k in range(1, n):
        basis[:k, k - 1] = 1 / math.sqrt(k * (k + 1))
        basis[k, k - 1] = -k / math.sqrt(k * (k + 1))
    return basis


@dataclass(frozen=True)
class Simplex(Transform):
    """Positive numbers that add up to one: softmax(V u), where V spans what is orthogonal to (1, …, 1)."""

    event_ndim = 1

    def _logarithms(self, u: Any) -> Any:
        centred = u @ _orthogonal_to_ones(u.shape[-1] + 1).T
        largest = np.max(centred, axis=-1, keepdims=True)
        return centred - largest - np.log(np.sum(np.exp(centred - largest), axis=-1, keepdims=True))

    def forward(self, u: Any) -> Any:
        return np.exp(self._logarithms(u))

    def inverse(self, x: Any) -> Any:
        x = np.log(np.asarray(x, dtype=float))
        return x @ _orthogonal_to_ones(x.shape[-1])

    def log_jacobian(self, u: Any) -> Any:
        n = u.shape[-1] + 1
        return np.sum(self._logarithms(u)) + 0.5 * math.log(n) * math.prod(u.shape[:-1])

    def unconstrained_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)


@dataclass(frozen=True)
class Ordered(Transform):
    """Increasing numbers: x₁ = u₁, xₖ = xₖ₋₁ + exp uₖ; positive ones start with exp u₁."""

    positive: bool = False
    event_ndim = 1

    def forward(self, u: Any) -> Any:
        if self.positive:
            return np.cumsum(np.exp(u), axis=-1)
        return np.cumsum(np.concatenate([u[..., :1], np.exp(u[..., 1:])], axis=-1), axis=-1)

    def inverse(self, x: Any) -> Any:
        x = np.asarray(x, dtype=float)
        first = np.log(x[..., :1]) if self.positive else x[..., :1]
        return np.concatenate([first, np.log(np.diff(x, axis=-1))], axis=-1)

    def log_jacobian(self, u: Any) -> Any:
        return np.sum(u if self.positive else u[..., 1:])


@dataclass(frozen=True)
class UnitVector(Transform):
    """Vectors of length one: u/|u|. There is one number too many; |u| gets the chi distribution, independent of x.

    So what is called log_jacobian is the logarithm of the density that u has where x is uniform, times the area of the
    sphere: the integral over u of exp(log_jacobian) p(x(u)) is that of p over the sphere.
    """

    event_ndim = 1

    def forward(self, u: Any) -> Any:
        return u / np.sqrt(np.sum(u * u, axis=-1, keepdims=True))

    def inverse(self, x: Any) -> Any:
        return np.asarray(x, dtype=float) * math.sqrt(np.shape(x)[-1])

    def log_jacobian(self, u: Any) -> Any:
        n = u.shape[-1]
        constant = (0.5 * n - 1) * math.log(2) + math.lgamma(0.5 * n)
        return -0.5 * np.sum(u * u) - constant * math.prod(u.shape[:-1])


def _lower_triangle(u: Any, n: int, diagonal: int) -> Any:
    """Numbers as the rows of a lower triangle (`diagonal` −1: without the diagonal), zeros elsewhere."""
    rows, columns = np.tril_indices(n, diagonal)
    places = np.zeros((n, n), dtype=int)
    places[rows, columns] = np.arange(len(rows))
    mask = np.tril(np.ones((n, n)), diagonal)
    if not len(rows):
        return np.zeros((*u.shape[:-1], n, n))
    return u[..., places] * mask


def _dimension(numbers: int, diagonal: int) -> int:
    """The dimension of a triangle with so many numbers."""
    return (math.isqrt(8 * numbers + 1) - 1) // 2 - diagonal


def _transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


@dataclass(frozen=True)
class CholeskyFactor(Transform):
    """Lower triangular matrices with a positive diagonal, of covariances or (rows of length one) correlations.

    With `product` the value is the matrix L Lᵀ itself.
    """

    unit_rows: bool
    product: bool
    event_ndim = 2

    @property
    def _diagonal(self) -> int:
        return -1 if self.unit_rows else 0

    def _factor(self, u: Any) -> tuple[Any, Any, Any]:
        """The factor, the logarithm of its Jacobian determinant in the numbers below (and on) the diagonal, and the
        logarithms of its diagonal, which there are where the diagonal itself is too large or too small for a number."""
        n = _dimension(u.shape[-1], self._diagonal)
        filled = _lower_triangle(u, n, self._diagonal)
        if not self.unit_rows:
            on = np.eye(n)
            logarithms = np.diagonal(filled, axis1=-2, axis2=-1)
            return filled * (1 - on) + np.exp(filled * on) * on, np.sum(logarithms), logarithms
        # Lᵢⱼ = zᵢⱼ √(1 − Σₖ<ⱼ Lᵢₖ²), where that is the product of √(1 − zᵢₖ²); on the diagonal z is 1.
        log_rest = math.log(2) - np.logaddexp(filled, -filled)  # ½ log(1 − tanh²), zero where u is
        before = np.cumsum(log_rest, axis=-1) - log_rest
        below = np.tril(np.ones((n, n)), -1)
        factor = (np.tanh(filled) + np.eye(n)) * np.exp(before) * (below + np.eye(n))
        logarithms = np.diagonal(before, axis1=-2, axis2=-1)
        return factor, np.sum((before + 2 * log_rest) * below), logarithms

    def forward(self, u: Any) -> Any:
        factor = self._factor(u)[0]
        return np.matmul(factor, _transposed(factor)) if self.product else factor

    def inverse(self, x: Any) -> Any:
        factor = np.asarray(x, dtype=float)
        if self.product:
            factor = np.linalg.cholesky(factor)
        n = factor.shape[-1]
        rows, columns = np.tril_indices(n, self._diagonal)
        if not self.unit_rows:
            return np.where(rows == columns, np.log(np.abs(factor[..., rows, columns])), factor[..., rows, columns])
        # What is left of a row's length, added from the right: exact where little is left.
        rest = np.sqrt(np.cumsum(factor[..., ::-1] ** 2, axis=-1))[..., ::-1]
        after = np.concatenate([rest[..., 1:], np.zeros((*factor.shape[:-1], 1))], axis=-1)
        return np.arcsinh(factor[..., rows, columns] / after[..., rows, columns])

    def log_jacobian(self, u: Any) -> Any:
        _, total, logarithms = self._factor(u)
        if not self.product:
            return total
        n = logarithms.shape[-1]
        if self.unit_rows:
            return total + np.sum(np.arange(n - 1, -1, -1.0) * logarithms)
        return total + np.sum(np.arange(n, 0, -1.0) * logarithms) + n * math.log(2) * math.prod(u.shape[:-1])

    def unconstrained_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        n = shape[-1]
        return (*shape[:-2], n * (n - 1) // 2 if self.unit_rows else n * (n + 1) // 2)


def lower(low: Any) -> Transform:
    """Numbers above a bound."""
    return Lower(low)


def upper(high: Any) -> Transform:
    """Numbers below a bound."""
    return Upper(high)


def interval(low: Any, high: Any) -> Transform:
    """Numbers between two bounds."""
    return Between(low, high)


real = Real()
positive = Lower(0.0)
unit_interval = Between(0.0, 1.0)
simplex = Simplex()
ordered = Ordered()
positive_ordered = Ordered(positive=True)
unit_vector = UnitVector()
correlation_cholesky = CholeskyFactor(unit_rows=True, product=False)
covariance_cholesky = CholeskyFactor(unit_rows=False, product=False)
correlation = CholeskyFactor(unit_rows=True, product=True)
covariance = CholeskyFactor(unit_rows=False, product=True)
