"""Roots of systems of equations: Newton's method in a trust region, by Powell's dogleg (1970).

Within the region the step is that of Newton; it bends towards the steepest descent of |F|² where the region is too
small for it. Directions in which the Jacobian is singular are left alone. A state is (x, residuals, Jacobian,
iterations, evaluations, status, radius).
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.status import CONVERGED, NOT_FINITE, RUNNING, STUCK

_SINGULAR = 1e-13


def start(x, residuals, jacobian):
    """The state before the first iteration."""
    return x, residuals, jacobian, 0, 1, RUNNING, 10 * (1 + np.sqrt(x @ x))


def advance(f, f_and_jacobian, state, iterations, tol):
    """Up to this number of iterations. Converged is where a whole Newton step moves x by less than tol (1 + |x|)."""
    x, r, jacobian, count, evaluations, status, radius = state
    value = r @ r
    if not (np.isfinite(value) and np.all(np.isfinite(jacobian))):
        status = NOT_FINITE
    elif value == 0:
        status = CONVERGED
    while status == RUNNING and count < iterations:
        step, newton = dogleg(jacobian, r, radius)
        length = np.sqrt(step @ step)
        new = x + step
        new_r = f(new)
        after = new_r @ new_r
        evaluations = evaluations + 1
        count = count + 1
        model = r + jacobian @ step
        promised = value - model @ model
        is_small = np.max(np.abs(newton)) <= tol * (1 + np.max(np.abs(x)))
        ratio = (value - after) / promised if promised > 0 and np.isfinite(after) else -1.0
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = 2 * radius
        # A small Newton step means a root only if it solves the linear system; or rounding errors are all there is.
        left = r + jacobian @ newton
        is_root = left @ left <= 1e-6 * value
        is_root = is_root or np.sqrt(value) <= 1e-13 * np.max(np.abs(jacobian)) * np.max(np.abs(x))
        if after < value and ratio > 1e-4:
            x = new
            r, jacobian = f_and_jacobian(new)
            value = after
            if after == 0 or (is_small and is_root):
                status = CONVERGED
            elif not np.all(np.isfinite(jacobian)):
                status = NOT_FINITE
        elif is_small and is_root:  # rounding errors are left
            status = CONVERGED
        elif length <= 1e-14 * (1e-300 + np.max(np.abs(x))) or not promised > 0:
            status = CONVERGED if is_small and is_root else STUCK
    return x, r, jacobian, count, evaluations, status, radius


def dogleg(jacobian, r, radius):
    """A step in the region, and Newton's."""
    u, s, vt = np.linalg.svd(jacobian)
    keep = s > _SINGULAR * s[0]
    newton = -(vt.T @ (np.where(keep, 1 / np.where(keep, s, 1.0), 0.0) * (u.T @ r)))
    step = newton
    if newton @ newton > radius * radius:
        g = jacobian.T @ r
        bent = jacobian @ g
        gg = g @ g
        cauchy = -(gg / np.maximum(bent @ bent, 1e-300)) * g
        if cauchy @ cauchy >= radius * radius:
            step = -(radius / np.sqrt(np.maximum(gg, 1e-300))) * g
        else:
            d = newton - cauchy
            a = d @ d
            b = cauchy @ d
            c = cauchy @ cauchy - radius * radius
            step = cauchy + ((np.sqrt(np.maximum(b * b - a * c, 0.0)) - b) / a) * d
    return step, newton
