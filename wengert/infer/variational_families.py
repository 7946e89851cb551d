"""Families of distributions that variational inference chooses from, as maps of standard normal numbers.

`push(phi, eps)` takes a vector of standard normal numbers to a point y and the logarithm of the Jacobian determinant;
phi are the parameters, one vector. log q(y) = log N(eps) − log |∂y/∂eps|.

    mean-field    yᵢ = mᵢ + exp(ωᵢ)·εᵢ
    full-rank     y = m + L·ε, L lower triangular with a positive diagonal
    planar        K times y ← y + û·tanh(w·y + b) (Rezende, Mohamed 2015), after a mean-field
    real-nvp      K times one half of y is scaled and shifted by a network of the other half (Dinh et al. 2017)
"""

from __future__ import annotations

from typing import Any

import numpy as np


class MeanField:
    """Independent normal distributions."""

    gaussian = True

    def __init__(self, dim: int):
        self.dim, self.size = dim, 2 * dim

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(self.size)

    def push(self, phi: Any, eps: Any) -> tuple[Any, Any]:
        return phi[: self.dim] + np.exp(phi[self.dim :]) * eps, np.sum(phi[self.dim :])

    def score(self, phi: Any, eps: Any) -> Any:
        """−∇ log q at the point that eps is pushed to."""
        return np.exp(-phi[self.dim :]) * eps

    def moments(self, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and a factor of the covariance."""
        return phi[: self.dim], np.diag(np.exp(phi[self.dim :]))


class FullRank:
    """A normal distribution with any covariance."""

    gaussian = True

    def __init__(self, dim: int):
        self.dim, self.size = dim, dim + dim * (dim + 1) // 2
        rows, columns = np.tril_indices(dim)
        self.places = np.zeros((dim, dim), dtype=int)
        self.places[rows, columns] = dim + np.arange(len(rows))
        self.below = np.tril(np.ones((dim, dim)), -1)
        self.diagonal = np.array([self.places[k, k] for k in range(dim)])

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(self.size)

    def factor(self, phi: Any) -> Any:
        return phi[self.places] * self.below + np.exp(phi[self.diagonal])[:, None] * np.eye(self.dim)

    def push(self, phi: Any, eps: Any) -> tuple[Any, Any]:
        return phi[: self.dim] + self.factor(phi) @ eps, np.sum(phi[self.diagonal])

    def score(self, phi: Any, eps: Any) -> Any:
        return np.linalg.solve(self.factor(phi).T, eps)

    def moments(self, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return phi[: self.dim], self.factor(phi)


class PlanarFlow:
    """Planar maps, after independent normal distributions."""

    gaussian = False

    def __init__(self, dim: int, layers: int = 8):
        self.dim, self.layers = dim, layers
        self.size = 2 * dim + layers * (2 * dim + 1)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        phi = np.zeros(self.size)
        for k in range(self.layers):
            at = 2 * self.dim + k * (2 * self.dim + 1)
            phi[at : at + self.dim] = 0.01 * rng.standard_normal(self.dim)
            phi[at + self.dim : at + 2 * self.dim] = rng.standard_normal(self.dim) / np.sqrt(self.dim)
        return phi

    def push(self, phi: Any, eps: Any) -> tuple[Any, Any]:
        n = self.dim
        y = phi[:n] + np.exp(phi[n : 2 * n]) * eps
        total = np.sum(phi[n : 2 * n])
        for k in range(self.layers):
            at = 2 * n + k * (2 * n + 1)
            u, w, b = phi[at : at + n], phi[at + n : at + 2 * n], phi[at + 2 * n]
            # û·w > −1, so that the map can be inverted
            along = u @ w
            u = u + (np.logaddexp(0.0, along) - 1 - along) * w / (w @ w + 1e-12)
            t = np.tanh(w @ y + b)
            y = y + u * t
            total = total + np.log(np.abs(1 + (1 - t * t) * (u @ w)))
        return y, total


class RealNVP:
    """Couplings: networks of one half of the numbers scale and shift the other half, by turns."""

    gaussian = False

    def __init__(self, dim: int, layers: int = 6):
        if dim < 2:
            raise ValueError('family="real-nvp" needs two unknowns at least, since one half moves the other')
        self.dim, self.layers = dim, layers
        self.first, self.second = dim // 2, dim - dim // 2
        self.hidden = 8 + 2 * dim
        self.sizes = [
            self.hidden * (self.kept(k) + 1) + 2 * (dim - self.kept(k)) * (self.hidden + 1) for k in range(layers)
        ]
        self.size = 2 * dim + sum(self.sizes)

    def kept(self, layer: int) -> int:
        return self.first if layer % 2 == 0 else self.second

    def start(self, rng: np.random.Generator) -> np.ndarray:
        phi = np.zeros(self.size)
        at = 2 * self.dim
        for k in range(self.layers):
            n = self.kept(k)
            phi[at : at + self.hidden * n] = rng.standard_normal(self.hidden * n) / np.sqrt(n)
            at += self.sizes[k]
        return phi

    def coupling(self, phi: Any, k: int, still: Any) -> tuple[Any, Any]:
        """By what a layer scales (its logarithm) and shifts one half, given the other."""
        h, kept = self.hidden, self.kept(k)
        moved = self.dim - kept
        at = 2 * self.dim + sum(self.sizes[:k])
        inner = np.reshape(phi[at : at + h * kept], (h, kept))
        shift = phi[at + h * kept : at + h * (kept + 1)]
        outer = np.reshape(phi[at + h * (kept + 1) : at + self.sizes[k]], (2 * moved, h + 1))
        found = outer[:, :h] @ np.tanh(inner @ still + shift) + outer[:, h]
        return np.tanh(found[:moved]), found[moved:]

    def halves(self, y: Any, k: int) -> tuple[Any, Any]:
        """Which half stays in a layer, and which one moves: they change places from layer to layer."""
        kept = self.kept(k)
        return (y[:kept], y[kept:]) if k % 2 == 0 else (y[self.dim - kept :], y[: self.dim - kept])

    def joined(self, still: Any, other: Any, k: int) -> Any:
        return np.concatenate([still, other] if k % 2 == 0 else [other, still])

    def push(self, phi: Any, eps: Any) -> tuple[Any, Any]:
        n = self.dim
        y, total = eps, 0.0
        for k in range(self.layers):
            still, other = self.halves(y, k)
            scale, shift = self.coupling(phi, k, still)
            y = self.joined(still, other * np.exp(scale) + shift, k)
            total = total + np.sum(scale)
        return phi[:n] + np.exp(phi[n : 2 * n]) * y, total + np.sum(phi[n : 2 * n])

    def pull(self, phi: Any, y: Any) -> tuple[Any, Any]:
        """The noise that `push` takes to y, and the same logarithm of a determinant."""
        n = self.dim
        total = np.sum(phi[n : 2 * n])
        y = (y - phi[:n]) * np.exp(-phi[n : 2 * n])
        for k in reversed(range(self.layers)):
            still, other = self.halves(y, k)
            scale, shift = self.coupling(phi, k, still)
            y = self.joined(still, (other - shift) * np.exp(-scale), k)
            total = total + np.sum(scale)
        return y, total


FAMILIES = {"mean-field": MeanField, "full-rank": FullRank, "planar": PlanarFlow, "real-nvp": RealNVP}
