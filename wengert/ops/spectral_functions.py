"""The rows for a function of a matrix that is given by a function of numbers: v f(w) v⁻¹, but right for repeated w.

With the spectral projections pᵢ of a matrix, f(a) = Σ f(wᵢ) pᵢ, and its k-th derivative is made of divided differences
of f (Daleckii & Krein 1965; Higham 2008, "Functions of Matrices", theorem 3.11 for the first). Let

    g(a, e₁, …, eₖ) = Σ f[wᵢ₀, …, wᵢₖ] pᵢ₀ e₁ pᵢ₁ e₂ … eₖ pᵢₖ

so that g(a) = f(a). Then g is linear in each e, its derivative in a along e is the sum of g with e put in at each of
the k + 1 places, and its transpose in eⱼ is g itself, with the others in cyclic order. So the rows for
f and for g have all derivatives.

Divided differences of numbers that are close are integrals of a derivative of f (Hermite & Genocchi):

    f[w₀, …, wₖ] = ∫ f⁽ᵏ⁾(Σ λⱼ wⱼ) dλ   over the simplex λ ≥ 0, Σ λⱼ = 1

of those that are far apart, quotients of differences. Both come with an estimate of their error, which decides.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.errors import RepeatedValuesError, UnsupportedFunctionError
from wengert.ops.derive import General, general, unfit
from wengert.ops.matrices import batch_of_stacks, swapped
from wengert.ops.matrix_functions import each, in_precision_of
from wengert.ops.op import call
from wengert.ops.traits import MORE, VALUES
from wengert.types import dtype_of

_EPS = float(np.finfo(float).eps)
_GOOD = 64 * _EPS
_POOR = 1e-5
_CONDITION = 1e8
_ORDERS = 9
"""The row states transposes for this many directions, one for each order of differentiation in reverse mode."""


# ------------------------------------------------------------------------------------------------- divided differences


@functools.cache
def _simplex_rule(k: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (barycentric coordinates) and weights on a simplex with k + 1 corners, by Duffy's transformation."""
    x, w = np.polynomial.legendre.leggauss(points)
    x, w = (x + 1) / 2, w / 2
    nodes, weights = [], []
    for chosen in itertools.product(range(points), repeat=k):
        left, corner = 1.0, []
        for c in chosen:
            corner.append(left * x[c])
            left *= 1 - x[c]
        nodes.append([*corner, left])
        # Jacobian of (u₁, …, uₖ) -> (u₁, (1 − u₁) u₂, …)
        jacobian = math.prod((1 - x[c]) ** (k - 1 - j) for j, c in enumerate(chosen))
        weights.append(math.prod(w[c] for c in chosen) * jacobian)
    return np.array(nodes), np.array(weights)


def _by_quadrature(function: Any, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows of k + 1 numbers; and an estimate of the error."""
    k = w.shape[1] - 1
    results = []
    with np.errstate(all="ignore"):  # where the derivative is infinite there is no estimate, and an error later on
        for points in (7, 10) if k < 4 else (4, 6):
            nodes, weights = _simplex_rule(k, points)
            results.append(function.derivative(w @ nodes.T, k) @ weights)
        rough, fine = results
        return fine, np.abs(fine - rough) + 4 * _EPS * np.abs(fine)


def divided_differences(function: Any, w: np.ndarray, k: int) -> np.ndarray:
    """f[wᵢ₀, …, wᵢₖ] for all choices of k + 1 among n numbers."""
    n = len(w)
    whole = np.asarray(function.derivative(w, 0))
    error = _EPS * np.abs(whole)
    for order in range(1, k + 1):
        choices = itertools.combinations_with_replacement(range(n), order + 1)
        chosen = np.array(list(choices), int).reshape(-1, order + 1)
        z = w[chosen]
        apart = np.abs(z[:, :, None] - z[:, None, :]).reshape(len(z), -1)
        p, q = np.divmod(np.argmax(apart, axis=1), order + 1)
        rows = np.arange(len(z))
        others = [
            chosen[np.arange(order + 1) != left_out[:, None]].reshape(len(z), order) for left_out in (p, q)
        ]  # without p, without q
        low, high = (whole[tuple(o.T)] for o in others)
        low_error, high_error = (error[tuple(o.T)] for o in others)
        gap = z[rows, q] - z[rows, p]
        confluent = gap == 0
        gap = np.where(confluent, 1, gap)
        values = (low - high) / gap
        errors = (low_error + high_error + _EPS * (np.abs(low) + np.abs(high))) / np.abs(gap) + _EPS * np.abs(values)
        errors[confluent] = math.inf
        again = errors > _GOOD * np.abs(values)
        if np.any(again):
            better, estimate = _by_quadrature(function, z[again])
            values = values.astype(np.result_type(values, better))
            use = estimate < errors[again]
            places = np.flatnonzero(again)[use]
            values[places], errors[places] = better[use], estimate[use]
        if np.any(errors > _POOR * np.maximum(1e-300, np.max(np.abs(values), initial=0))):
            raise RepeatedValuesError(
                "the derivative of a matrix function whose scalar function is not smooth between eigenvalues that "
                "(nearly) coincide",
                remedy="use a function that is smooth there",
            )
        whole = np.zeros((n,) * (order + 1), values.dtype)
        error = np.zeros(whole.shape)
        for permutation in itertools.permutations(range(order + 1)):
            where = tuple(chosen[:, permutation].T)
            whole[where], error[where] = values, errors
    return whole


@dataclass(frozen=True)
class ReciprocalBeyond:
    """1/x, and zero where |x| is at most `rcond` times the largest eigenvalue: of it `pinv` is made."""

    rcond: float
    cut: float = 0.0

    def among(self, w: np.ndarray) -> ReciprocalBeyond:
        return ReciprocalBeyond(self.rcond, self.rcond * np.max(np.abs(w), initial=0))

    def derivative(self, w: np.ndarray, k: int) -> np.ndarray:
        stays = np.abs(w) > self.cut
        return np.where(stays, (-1) ** k * math.factorial(k) / np.where(stays, w, 1) ** (k + 1), 0)


# ------------------------------------------------------------------------------------------------------------- the row


def _decomposed(a: np.ndarray) -> tuple[Any, Any, Any]:
    """Eigenvalues, eigenvectors and their inverse."""
    adjoint = a.conj().T
    tiny = 100 * len(a) * _EPS * np.max(np.abs(a), initial=0)
    if np.all(np.abs(a - adjoint) <= tiny):
        w, v = np.linalg.eigh((a + adjoint) / 2)
        return w, v, v.conj().T
    w, v = np.linalg.eig(a)
    if not np.linalg.cond(v) < _CONDITION:
        raise UnsupportedFunctionError(
            "the derivative of scipy.linalg.funm of a matrix that cannot be diagonalised, or nearly so",
            remedy="use scipy.linalg.expm, logm, sqrtm, cosm, … where the function is one of these",
        )
    return w, v, np.linalg.inv(v)


def _of_one(a: np.ndarray, *directions: np.ndarray, function: Any) -> np.ndarray:
    double = np.result_type(a, np.float64)
    w, v, inverse = _decomposed(a.astype(double))
    k = len(directions)
    f = divided_differences(function.among(w), w, k)
    if not k:
        y = (v * f) @ inverse
    else:
        letters = "abcdefghijkl"[: k + 1]
        pairs = ",".join(letters[j : j + 2] for j in range(k))
        xs = [inverse @ e @ v for e in directions]
        y = v @ np.einsum(f"{letters},{pairs}->{letters[0]}{letters[-1]}", f, *xs, optimize=k > 1) @ inverse
    if all(dtype_of(x).kind != "c" for x in (a, *directions)) and y.dtype.kind == "c":
        y = y.real  # the caller has made sure that the function is real
    return in_precision_of(y, a, *directions)


def _matrix_function(a: Any, *directions: Any, function: Any) -> Any:
    return each(lambda *xs: _of_one(*xs, function=function), a, *directions)


matrix_function = general(
    "matrix_function",
    _matrix_function,
    (lambda a_dot, y, a, function: matrix_derivative(a, a_dot, function=function),),
    batch=batch_of_stacks(lambda: matrix_function),
    shape=lambda a, function: a.shape,
    raises=VALUES,
    cost=MORE,
)
"""f(a) = g(a). For a matrix with eigenvalues w, f is `function.among(w)`; `derivative(z, k)` is its k-th at z."""


class MatrixDerivative(General):
    """A row with any number of directions."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        a, *directions = args
        terms = []
        if dots[0] is not None:
            for j in range(len(args)):
                terms.append(call(self, a, *directions[:j], dots[0], *directions[j:], **params))
        for j, dot in enumerate(dots[1:]):
            if dot is not None:
                terms.append(call(self, a, *directions[:j], dot, *directions[j + 1 :], **params))
        total = None
        for term in terms:
            total = term if total is None else total + term
        return total

    def transpose(self, i: int, ct: Any, args: tuple, params: dict) -> Any:
        """tr(ctᵀ g) is tr(eᵢ z), with z = g of the directions after eᵢ, then ctᵀ, then those before it."""
        a, *directions = args
        e = args[i]
        z = call(self, a, *directions[i:], swapped(ct), *directions[: i - 1], **params)
        return unfit(swapped(z), e.shape, e.dtype)


matrix_derivative = MatrixDerivative(
    "matrix_derivative",
    _matrix_function,
    (),
    transposes={k: lambda *_: None for k in range(1, _ORDERS)},
    batch=batch_of_stacks(lambda: matrix_derivative),
    shape=lambda a, *directions, function: np.broadcast_shapes(a.shape, *[e.shape for e in directions]),
    raises=VALUES,
    cost=MORE,
)
"""g(a, e₁, …, eₖ) for k ≥ 1."""
