"""Whether the point where a method has ended is what it seems to be: gradients that are zero do not say so.

Three things are looked at more closely, where there are few unknowns:

- **Unknowns that have not moved.** Where a component of the gradient is zero all the way, the start may be on a ridge,
  or so far out that the unknown has no influence. Values further away along that unknown tell; if one is lower, the
  method goes on from there.
- **Curvature.** At a saddle point the gradient is zero too. If the Hessian has a negative eigenvalue, values beside the
  point, along its vector, tell, and the method goes on from the lower one. Where a method has not left its start, this
  is done for any number of unknowns, by products with the Hessian.
- **Unknowns that have run away.** In a valley that leads to infinity the gradient becomes as small as one likes, and so
  does everything else; but Newton's step stays a part of x, where at a minimum it is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FEW = 50
"""Up to so many unknowns points are examined."""
FEW_CURVED = 10
"""Up to so many unknowns that is done with the Hessian, which costs as much as some iterations."""
_PRODUCTS = 12
"""So many products with the Hessian are worth it to find out whether a start is a saddle point."""
_GROWN = 100.0
"""Unknowns that are so many times as large as any at the start have run away, or have had a long way."""
_PART = 1e-2
"""A Newton step, relative to an unknown, that is too large for a minimum."""
_NOISE = 1e-12
_LENGTHS = (-10.0, -1.0, -0.999, -0.99, -0.9, -0.5, -0.1, -1e-3, 1e-3, 0.1, 0.5, 1.0, 10.0)
"""Where values are looked at, in units of the unknown (or of one, if that is larger)."""


def still(start: np.ndarray, x: np.ndarray, value: float, gradient: np.ndarray) -> np.ndarray:
    """Numbers of unknowns that have not moved, and have no slope that could be seen."""
    if len(x) > FEW:
        return np.zeros(0, int)
    size = np.maximum(1.0, np.abs(x))
    return np.flatnonzero((x == start) & (np.abs(gradient) * size <= 1e-15 * abs(value)))


def lower_point(f: Callable, x: np.ndarray, value: float, which: np.ndarray, limits: Any) -> tuple[Any, bool]:
    """A point with a lower value, along one of the unknowns, if there is one; and whether the value changes at all."""
    changes = False
    best, found = value - 1e-9 * abs(value), None
    for k in which:
        for length in _LENGTHS:
            at = x.copy()
            at[k] += length * max(1.0, abs(x[k]))
            if limits is not None:
                at = np.clip(at, *limits)
            try:
                after = float(f(at))
            except (ArithmeticError, ValueError):
                continue
            changes = changes or abs(after - value) > 1e-14 * abs(value)
            if after < best:
                best, found = after, at
    return found, changes


def beside_saddle(f: Callable, x: np.ndarray, value: float, hessian: np.ndarray, limits: Any) -> np.ndarray | None:
    """A point with a lower value, in a direction of negative curvature."""
    size = np.maximum(1.0, np.abs(x))
    free = np.ones(len(x)) if limits is None else ((x > limits[0]) & (x < limits[1])).astype(float)
    bent = hessian * (size * free) * (size * free)[:, None]
    if not np.all(np.isfinite(bent)):
        return None
    w, v = np.linalg.eigh(bent)
    return _lower_along(f, x, value, size * v[:, 0], limits) if _is_saddle(w) else None


def beside_start(f: Callable, product: Callable, x: np.ndarray, value: float, limits: Any) -> np.ndarray | None:
    """The same for any number of unknowns, by a few products with the Hessian (Lanczos 1950), where a method has not
    left its start: what starts where the gradient is zero, as is natural at zero, is often at a saddle."""
    size = np.maximum(1.0, np.abs(x))
    free = size if limits is None else size * ((x > limits[0]) & (x < limits[1]))
    step = np.random.default_rng(0).standard_normal(len(x)) * (free > 0)
    if not np.any(step):
        return None
    basis: list[np.ndarray] = []
    products: list[np.ndarray] = []
    while len(basis) < _PRODUCTS and np.linalg.norm(step) > 1e-10:
        basis.append(step / np.linalg.norm(step))
        after = free * product(x, free * basis[-1])
        if not np.all(np.isfinite(after)):
            return None
        products.append(after)
        q, a = np.array(basis), np.array(products)
        w, v = np.linalg.eigh(q @ a.T)
        if _is_saddle(w):
            found = _lower_along(f, x, value, size * (v[:, 0] @ q), limits)
            if found is not None:
                return found
        step = after / max(float(np.linalg.norm(after)), 1e-300)
        for _ in range(2):  # twice is enough against rounding (Kahan and Parlett)
            step = step - q.T @ (q @ step)
    return None


def _is_saddle(eigenvalues: np.ndarray) -> bool:
    """Whether the smallest of the eigenvalues is negative, and not by rounding."""
    return bool(eigenvalues[0] < -1e-8 * np.max(np.abs(eigenvalues)))


def _lower_along(f: Callable, x: np.ndarray, value: float, step: np.ndarray, limits: Any) -> np.ndarray | None:
    """A point with a lower value, along a direction of negative curvature or against it."""
    for length in (1e-1, -1e-1, 1e-2, -1e-2, 1e-3, -1e-3, 1e-4, -1e-4):
        at = x + length * step
        at = at if limits is None else np.clip(at, *limits)
        if f(at) < value - 1e-12 * abs(value):
            return at
    return None


def run_away(start: np.ndarray, x: np.ndarray, value: float, gradient: np.ndarray, hessian: np.ndarray) -> int:
    """The number of an unknown that runs to infinity along a valley, or −1."""
    far = _far(start, x)
    if not np.any(far) or not np.all(np.isfinite(gradient)):
        return -1
    size = np.where(x == 0, 1.0, np.abs(x))
    bent = hessian * size * size[:, None]
    if not np.all(np.isfinite(bent)):
        return -1
    scale = np.sqrt(np.abs(np.diagonal(bent)))
    slope = gradient * size
    unfelt = (scale**2 <= 1e-15 * abs(value)) & (np.abs(slope) <= 1e-15 * abs(value))
    scale = np.where(scale > 0, scale, 1.0)
    w, v = np.linalg.eigh(bent / scale / scale[:, None])
    felt = np.abs(w) > 1e-14 * np.max(np.abs(w))
    return _running(far, unfelt, v, np.where(felt, w, np.inf), v.T @ (slope / scale), scale, value)


def fit_runs_away(start: np.ndarray, x: np.ndarray, f: np.ndarray, jacobian: np.ndarray) -> int:
    """The same for residuals and their Jacobian, whose singular values keep twice the digits."""
    far = _far(start, x)
    if not np.any(far):
        return -1
    matrix = jacobian * np.where(x == 0, 1.0, np.abs(x))
    if not np.all(np.isfinite(matrix)):
        return -1
    scale = np.sqrt(np.sum(matrix**2, axis=0))
    value = f @ f
    unfelt = scale**2 <= 1e-15 * value
    scale = np.where(scale > 0, scale, 1.0)
    left, s, right = np.linalg.svd(matrix / scale, full_matrices=False)
    felt = s > 1e-13 * s[0]
    return _running(far, unfelt, right.T, np.where(felt, s, np.inf), left.T @ f, scale, value)


def _far(start: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Which unknowns have grown a lot; none, if there are many unknowns."""
    return (np.abs(x) > _GROWN * max(1.0, float(np.max(np.abs(start))))) & (len(x) <= FEW)


def _running(far: np.ndarray, unfelt: np.ndarray, v: np.ndarray, w: np.ndarray, along: np.ndarray, scale: np.ndarray,
             value: float) -> int:  # fmt: skip
    """An unknown, among those that are far, that has no influence any more or would be changed a lot by Newton's step.

    The step is v (along / w) / scale; parts of `along` that are rounding errors do not count.
    """
    felt = np.abs(along) > _NOISE * np.sqrt(abs(value))
    relative = np.abs(v @ np.where(felt, along / w, 0.0)) / scale
    running = far & (unfelt | (relative > _PART))
    return int(np.argmax(running)) if np.any(running) else -1
