"""Quadratic and linear programs: an interior-point method of predictor and corrector steps (Mehrotra 1992).

minimise ½ xᵀPx + qᵀx    with    Gx ≤ h,  Ax = b
"""

from __future__ import annotations

import numpy as np

from wengert.errors import ConvergenceError

_NEARLY = 0.99
"""How far a step may go towards the boundary."""
CLOSE = 1e-6
"""From there on residuals that grow again say that rounding errors are all that is left."""


def dense_kkt(P, G, weights, A, shift):
    """The matrix [[P + GᵀWG, Aᵀ], [A, 0]], made regular by very little."""
    n = P.shape[0]
    p = A.shape[0]
    K = np.zeros((n + p, n + p))
    K[:n, :n] = P + G.T @ (weights[:, None] * G) + shift * np.eye(n)
    K[:n, n:] = A.T
    K[n:, :n] = A
    K[n:, n:] = -shift * np.eye(p)
    return K


def _longest(v, dv):
    """The longest step, at most 1, with which v stays positive."""
    ratio = np.max(np.maximum(-dv / v, 0.0), initial=0.0)
    return np.minimum(1.0, _NEARLY / np.maximum(ratio, _NEARLY))


def interior_point(P, q, G, h, A, b, tol, maxiter, kkt, solve, largest):
    """The answer x, the multipliers z ≥ 0 of Gx ≤ h and y of Ax = b, the size of the residuals, and the iterations.

    Matrices may be of any kind: `kkt` makes the matrix of a step of them, and `solve` solves with it. `largest` is the
    size of the largest entry of P.
    """
    n = q.shape[0]
    m = h.shape[0]
    scale = 1 + np.maximum(np.max(np.abs(q), initial=0.0), largest)
    shift = 1e-13 * scale
    start = solve(kkt(P, G, np.ones(m), A, shift), np.concatenate([G.T @ h - q, b]))
    x = start[:n]
    y = start[n:]
    s = h - G @ x
    z = -s
    lowest = np.min(s, initial=0.0)
    if lowest <= 0:
        s = s + (1 - lowest)
    lowest = np.min(z, initial=0.0)
    if lowest <= 0:
        z = z + (1 - lowest)
    size = smallest = np.inf
    best = x, z, y
    count = 0
    while size > tol and count < maxiter:
        weights = z / s
        K = kkt(P, G, weights, A, shift)
        rx = P @ x + q + G.T @ z + A.T @ y
        rs = G @ x + s - h
        ry = A @ x - b
        mu = np.sum(s * z) / np.maximum(m, 1)
        # predictor: straight at the answer
        side = np.concatenate([-rx - G.T @ (weights * rs - z), -ry])
        d = solve(K, side)
        ds = -rs - G @ d[:n]
        dz = -z - weights * ds
        a = np.minimum(_longest(s, ds), _longest(z, dz))
        after = np.sum((s + a * ds) * (z + a * dz)) / np.maximum(m, 1)
        sigma = (after / np.maximum(mu, 1e-300)) ** 3
        # corrector: back towards the middle, with the curvature of the predictor
        target = (sigma * mu - ds * dz) / s
        side = np.concatenate([-rx - G.T @ (weights * rs - z + target), -ry])
        d = solve(K, side)
        ds = -rs - G @ d[:n]
        dz = target - z - weights * ds
        a = np.minimum(_longest(s, ds), _longest(z, dz))
        x = x + a * d[:n]
        y = y + a * d[n:]
        s = s + a * ds
        z = z + a * dz
        Px = P @ x
        dual = np.max(np.abs(Px + q + G.T @ z + A.T @ y)) / (scale + np.max(np.abs(Px)))
        primal = np.maximum(np.max(np.abs(G @ x + s - h), initial=0.0), np.max(np.abs(A @ x - b), initial=0.0))
        primal = primal / (1 + np.maximum(np.max(np.abs(h), initial=0.0), np.max(np.abs(b), initial=0.0)))
        gap = np.sum(s * z) / np.maximum(m, 1) / (1 + np.abs(q @ x))
        size = np.maximum(np.maximum(dual, primal), gap)
        count = count + 1
        if size < smallest:
            best, smallest = (x, z, y), size
        # Nothing is feasible, or nothing is smallest; or weights are so large that multipliers are rounding errors.
        if np.isnan(size) or (smallest < CLOSE and size > 100 * smallest):
            count = maxiter
    return *best, smallest, count


def refined(P, q, G, h, A, b, x, z, y):
    """The answer from the equations of the constraints that are active; as it is where that does not help."""
    n = x.shape[0]
    m = h.shape[0]
    p = b.shape[0]
    for _ in range(2):
        slack = h - G @ x
        active = z > slack
        J = np.zeros((n + m + p, n + m + p))
        J[:n, :n] = P + 1e-15 * np.eye(n)
        J[:n, n : n + m] = G.T
        J[:n, n + m :] = A.T
        J[n : n + m, :n] = np.where(active[:, None], -G, 0.0)
        J[n : n + m, n : n + m] = np.diag(np.where(active, 1e-15, 1.0))
        J[n + m :, :n] = A
        J[n + m :, n + m :] = -1e-15 * np.eye(p)
        r = np.concatenate([P @ x + q + G.T @ z + A.T @ y, np.where(active, slack, z), A @ x - b])
        step = np.linalg.solve(J, r)
        if np.max(np.abs(step)) < 1e-3 * (1 + np.max(np.abs(x))):
            x = x - step[:n]
            z = z - step[n : n + m]
            y = y - step[n + m :]
    return x, z, y


def demand_strict(x, z, G, h):
    """Raise if a constraint is just touched: its multiplier is zero too, and the answer has a kink there."""
    touched = np.maximum(h - G @ x, z)
    if np.min(touched, initial=1.0) <= 1e-9 * (1 + np.max(np.abs(h), initial=0.0)):
        raise ConvergenceError(
            "the answer of wg.qp has no derivative: a constraint is just touched, and its multiplier is zero",
            remedy="the derivative differs from one side to the other: move the problem a little, or drop the "
            "constraint",
        )


def demand_convex(P):
    """Raise if a symmetric matrix has a negative eigenvalue."""
    w = np.linalg.eigvalsh(P)
    if not np.min(w) >= -1e-10 * (1 + np.max(np.abs(w))):
        raise ConvergenceError(
            "wg.qp: P has a negative eigenvalue, or is not finite, so that the objective is not convex",
            remedy="P must be positive semidefinite; for other objectives use wengert.optimize.nlp",
        )
