"""Newton's method in a trust region, without forming the Hessian: Steihaug's conjugate gradients (1983).

The model g·z + ½ z·H z is minimised over |z| ≤ radius by conjugate gradients, which need products of H with vectors
only, and stop at the boundary or where the curvature is negative. They stop early, too, as soon as the gradient of the
model is a tenth of what it was; where such a step promises nothing that could be resolved, steps are computed to
the end from there on, since what is left may be all in directions that a large component of the gradient hides. A state
begins as that of `lbfgs.py`.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.status import (
    LEVEL_PART,
    PRECISE,
    ROUNDING,
    RUNNING,
    STALLED,
    STUCK,
    after_iteration,
    before_iterations,
    is_level,
)


def start(x, value, gradient):
    """The state before the first iteration."""
    return x, value, gradient, 0, 1, RUNNING, np.maximum(1.0, np.sqrt(x @ x)), 0, False


def advance(f_and_gradient, product, state, iterations, tol):
    """Up to this number of iterations; `product(x, v)` is the Hessian at x times v."""
    x, value, gradient, count, evaluations, status, radius, level, whole = state
    size = np.max(np.abs(gradient))
    status = before_iterations(status, x, value, gradient, gradient, size, tol)
    while status == RUNNING and count < iterations:
        z, bent, is_at_boundary = steihaug(product, x, gradient, radius, whole)
        promised = -(gradient @ z) - 0.5 * (z @ bent)
        new = x + z
        after, new_gradient = f_and_gradient(new)
        new_size = np.max(np.abs(new_gradient))
        evaluations = evaluations + 1
        count = count + 1
        length = np.sqrt(z @ z)
        # What a whole Newton step promises may be less than can be resolved; that of a step cut short says nothing.
        is_rounding = not is_at_boundary and promised <= 10 * ROUNDING * np.abs(value)
        is_rounding = is_rounding and np.abs(after - value) <= 1e3 * ROUNDING * np.abs(value)
        ratio = (value - after) / promised
        if is_rounding:  # values no longer tell which point is better, gradients do
            ratio = 1.0 if new_size < size else 0.0
        if not np.isfinite(ratio) or not np.isfinite(new_size):
            ratio = -1.0
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and is_at_boundary:
            radius = 2 * radius
        if ratio > 1e-4:
            fall = np.inf if is_at_boundary else value - after
            status, level = after_iteration(new, after, new_gradient, new_size, tol, fall, level)
            x = new
            value = after
            gradient = new_gradient
            size = new_size
        elif is_rounding:
            status = PRECISE if is_level(x, value, gradient, LEVEL_PART) else STALLED
        elif radius < 1e-15 * (1e-300 + np.max(np.abs(x))) or radius < 1e-300 or not np.isfinite(promised):
            status = PRECISE if is_level(x, value, gradient, LEVEL_PART) else STUCK
        if not whole and (status in (PRECISE, STALLED)):
            whole = True
            level = 0
            radius = np.maximum(1.0, np.sqrt(x @ x))
            status = RUNNING
    return x, value, gradient, count, evaluations, status, radius, level, whole


def steihaug(product, x, gradient, radius, whole):
    """The step, the Hessian times it, and whether it ends at the boundary. `whole` says not to stop early."""
    norm = np.sqrt(gradient @ gradient)
    enough = (1e-12 if whole else np.minimum(0.1, np.sqrt(norm))) * norm
    z = np.zeros_like(gradient)
    bent = np.zeros_like(gradient)
    d = -gradient
    left = gradient @ gradient
    is_at_boundary = False
    is_done = False
    products = 0
    most = 2 * gradient.shape[0] + 10
    while not is_done and products < most:
        bent_d = product(x, d)
        products = products + 1
        curvature = d @ bent_d
        is_bent_up = curvature > 0
        step = np.minimum(left / curvature, 1e120) if is_bent_up else 0.0
        zz = z @ z
        zd = z @ d
        dd = d @ d
        if not is_bent_up or zz + 2 * step * zd + step * step * dd >= radius * radius:
            # The positive root of |z + step d| = radius, without cancellation.
            rest = np.maximum(radius * radius - zz, 0.0)
            root = np.hypot(zd, np.sqrt(dd) * np.sqrt(rest))
            step = rest / (zd + root) if zd > 0 else (root - zd) / dd
            is_at_boundary = True
            is_done = True
        z = z + step * d
        bent = bent + step * bent_d
        r = gradient + bent
        after = r @ r
        if np.sqrt(after) <= enough:
            is_done = True
        d = (after / left) * d - r
        left = after
    return z, bent, is_at_boundary
