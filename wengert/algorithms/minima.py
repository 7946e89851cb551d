"""Minima of smooth functions without constraints: Newton's method and that of Broyden, Fletcher, Goldfarb and Shanno.

Both return the point they reached, the size of the last step (or gradient) relative to 1 + |x|, and the number of
iterations. A step is halved until the function falls enough (Armijo).
"""

from __future__ import annotations

import numpy as np


def newton_minimum(f, derivatives, x, tol, maxiter):
    """Newton's method; where the Hessian is not positive definite, its eigenvalues are taken by their size.

    `derivatives(x)` gives the gradient and the Hessian.
    """
    size = np.inf
    count = 0
    value = f(x)
    while size > tol and count < maxiter:
        gradient, hessian = derivatives(x)
        w, v = np.linalg.eigh(hessian)
        lowest = w[0] / (1e-300 + np.max(np.abs(w)))
        w = np.maximum(np.abs(w), 1e-12 * (1e-300 + np.max(np.abs(w))))
        step = -(v @ ((v.T @ gradient) / w))
        slope = gradient @ step
        damping, after = damped(f, x, step, value, slope)
        size = np.max(np.abs(step)) / (1 + np.max(np.abs(x)))
        if damping > 1e-12:
            x = x + damping * step
            value = after
        elif size < 1e-6:  # rounding errors are left
            x = x + step
            size = 0.0
        else:
            count = maxiter
        if size <= tol and lowest < -1e-8:  # a saddle, or a maximum
            x = x + 1e-3 * (1 + np.max(np.abs(x))) * v[:, 0]
            value = f(x)
            size = np.inf
        count = count + 1
    return x, size, count


def damped(f, x, step, value, slope):
    """The largest of 1, 1/2, 1/4, … by which a step makes the value fall by a part of what its slope promises
    (Armijo 1966), and the value there."""
    damping = 1.0
    after = f(x + step)
    while not after <= value + 1e-4 * damping * slope and damping > 1e-12:
        damping = damping / 2
        after = f(x + damping * step)
    return damping, after


def bfgs(f, f_and_gradient, x, tol, maxiter):
    """BFGS with an inverse Hessian that starts as a multiple of the identity; for more unknowns than Newton's likes."""
    n = x.shape[0]
    inverse = np.eye(n)
    value, gradient = f_and_gradient(x)
    size = np.max(np.abs(gradient)) / (1 + abs(value))
    count = 0
    while size > tol and count < maxiter:
        step = -(inverse @ gradient)
        slope = gradient @ step
        if not slope < 0:
            inverse = np.eye(n)
            step = -gradient
            slope = gradient @ step
        damping, _ = damped(f, x, step, value, slope)
        new = x + damping * step
        value, new_gradient = f_and_gradient(new)
        s = new - x
        y = new_gradient - gradient
        sy = s @ y
        if sy > 1e-14 * np.sqrt((s @ s) * (y @ y)):
            if count == 0:
                inverse = inverse * (sy / (y @ y))
            hy = inverse @ y
            inverse = inverse + np.outer(s, s) * ((sy + y @ hy) / sy**2) - (np.outer(hy, s) + np.outer(s, hy)) / sy
        x = new
        gradient = new_gradient
        size = np.max(np.abs(gradient)) / (1 + abs(value))
        count = count + 1
        if damping <= 1e-12:
            count = maxiter
    return x, size, count
