"""Roots of systems of equations: Newton's method, Broyden's, and Anderson's acceleration of fixed points.

All of them return the point they reached, the size of the last step relative to 1 + |x|, and the number of iterations.
"""

from __future__ import annotations

import numpy as np

from wengert.errors import ConvergenceError


def newton(f, f_and_step, x, tol, maxiter):
    """Newton's method: a step is halved while it does not make the residual smaller.

    `f_and_step(x)` gives the residual, and the step that subtracts its linear part.
    """
    size = np.inf
    count = 0
    while size > tol and count < maxiter:
        r, step = f_and_step(x)
        before = np.sum(r * r)
        damping = 1.0
        after = np.sum(f(x - step) ** 2)
        while not after <= before and damping > 1e-9:
            damping = damping / 2
            after = np.sum(f(x - damping * step) ** 2)
        x = x - damping * step
        size = np.max(np.abs(step)) / (1 + np.max(np.abs(x)))
        count = count + 1
        if not after < before and size < 1e-6:  # rounding errors are left
            size = 0.0
    return x, size, count


def broyden(f, jacobian, x, tol, maxiter):
    """Broyden's good method: one Jacobian at the start, changed by rank one in each iteration."""
    inverse = np.linalg.inv(jacobian)
    r = f(x)
    size = np.inf
    count = 0
    while size > tol and count < maxiter:
        step = -inverse @ r
        x = x + step
        after = f(x)
        change = inverse @ (after - r)
        weight = step @ change
        if weight != 0:
            inverse = inverse + np.outer(step - change, step @ inverse) / weight
        r = after
        size = np.max(np.abs(step)) / (1 + np.max(np.abs(x)))
        count = count + 1
    return x, size, count


def anderson(g, x, tol, maxiter, memory=5):
    """The fixed point x = g(x), from the last few iterates by least squares (Anderson 1965)."""
    n = x.shape[0]
    points = np.zeros((memory, n))
    residuals = np.zeros((memory, n))
    value = g(x)
    r = value - x
    size = np.max(np.abs(r)) / (1 + np.max(np.abs(x)))
    count = 0
    while size > tol and count < maxiter:
        if count == 0:
            new = value
        else:
            # Rows that are not filled yet are zero: they get weight zero from the pseudo-inverse's regularisation.
            gram = residuals @ residuals.T
            gram = gram + (1e-14 * np.trace(gram) + 1e-300) * np.eye(memory)
            weights = np.linalg.solve(gram, residuals @ r)
            new = value - weights @ (points + residuals)
        row = count % memory
        after = g(new)
        points[row] = new - x
        residuals[row] = (after - new) - r
        x = new
        value = after
        r = value - x
        size = np.max(np.abs(r)) / (1 + np.max(np.abs(x)))
        count = count + 1
    return x, size, count


def iterate(g, x, tol, maxiter):
    """The fixed point x = g(x) by plain iteration."""
    size = np.inf
    count = 0
    while size > tol and count < maxiter:
        new = g(x)
        size = np.max(np.abs(new - x)) / (1 + np.max(np.abs(new)))
        x = new
        count = count + 1
    return x, size, count


def demand_converged(size, tol, name, remedy):
    """Raise if the last step was too large."""
    if not size <= tol:
        raise ConvergenceError(name + " has not converged", remedy=remedy)
