"""Steps on manifolds: from a point x, along d, to a point of the manifold, with the identity as derivative at d = 0.

Least squares differentiate a retraction at d = 0 only, where the exponential map's formulas are 0/0; these have no
singularity there (Absil, Mahony, Sepulchre 2008, "Optimization algorithms on matrix manifolds", §4.1). Points may have
leading axes: one point for each of their indices.
"""

from __future__ import annotations

import numpy as np


def on_sphere(x, d):
    """A vector of any length, which is kept; d has one entry less."""
    n = x.shape[-1]
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    unit = x / length
    # The reflection that takes the last axis to −sign · unit; its other columns span the tangent space.
    last = np.where(np.arange(n) == n - 1, 1.0, 0.0)
    sign = np.where(unit[..., -1:] < 0, -1.0, 1.0)
    normal = unit + sign * last
    flat = np.concatenate((d, np.zeros_like(d[..., :1])), axis=-1)
    tangent = flat - normal * (np.sum(normal * flat, axis=-1, keepdims=True) / (1 + np.abs(unit[..., -1:])))
    moved = unit + tangent
    return length * moved / np.sqrt(np.sum(moved * moved, axis=-1, keepdims=True))


def of_quaternion(x, d):
    """A unit quaternion (w, x, y, z), turned by the small rotation vector d in its own frame."""
    v = d / 2
    w0, x0, y0, z0 = x[..., 0], x[..., 1], x[..., 2], x[..., 3]
    x1, y1, z1 = v[..., 0], v[..., 1], v[..., 2]
    moved = np.stack(
        (
            w0 - x0 * x1 - y0 * y1 - z0 * z1,
            x0 + w0 * x1 + y0 * z1 - z0 * y1,
            y0 + w0 * y1 + z0 * x1 - x0 * z1,
            z0 + w0 * z1 + x0 * y1 - y0 * x1,
        ),
        axis=-1,
    )
    return moved / np.sqrt(np.sum(moved * moved, axis=-1, keepdims=True))


def of_rotation(x, d):
    """A rotation matrix, turned by the small rotation vector d in its own frame (Cayley's map)."""
    return x @ cayley(d)


def of_pose(x, d):
    """A rigid motion, as a 4 × 4 matrix: turned by d[:3], and moved by d[3:], in its own frame."""
    rotation, translation = x[..., :3, :3], x[..., :3, 3:]
    top = np.concatenate((rotation @ cayley(d[..., :3]), translation + rotation @ d[..., 3:, None]), axis=-1)
    return np.concatenate((top, x[..., 3:, :]), axis=-2)


def cayley(d):
    """The rotation matrix near to that of the rotation vector d."""
    a, b, c = d[..., 0] / 2, d[..., 1] / 2, d[..., 2] / 2
    scale = 2 / (1 + a * a + b * b + c * c)
    rows = (
        (1 - scale * (b * b + c * c), scale * (a * b - c), scale * (a * c + b)),
        (scale * (a * b + c), 1 - scale * (a * a + c * c), scale * (b * c - a)),
        (scale * (a * c - b), scale * (b * c + a), 1 - scale * (a * a + b * b)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
