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


def demand_regular(matrix, name):
    """Raise if a linear system with this matrix has no solution."""
    if np.linalg.slogdet(matrix)[0] == 0:
        raise ConvergenceError(
            name + ": the matrix of a linear system is singular",
            remedy="start elsewhere, or look whether there is an answer, and whether it is the only one nearby",
        )


def determined(solve, b, name):
    """`solve(b)`, a system with the Jacobian at an answer; or that there is no derivative, if it is singular."""
    try:
        return solve(b)
    except np.linalg.LinAlgError:
        raise ConvergenceError(
            "the answer of " + name + " has no derivative: the Jacobian of what it satisfies is singular there",
            remedy="the answer is not isolated, or several come together: add an equation or a regularisation that "
            "makes it unique",
        ) from None


def demand_answer(r, solve, y, tol, name):
    """Raise if y is no answer: Newton's step, from the residual r, is too long. `solve(b)` solves a system with the
    Jacobian at y."""
    step = determined(solve, r, name)
    if not np.max(np.abs(step), initial=0.0) <= tol * (1 + np.max(np.abs(y), initial=0.0)):
        raise ConvergenceError(
            name + " has not converged: what it found does not satisfy its equation",
            remedy="ask for a smaller tolerance or more iterations, start nearer to the answer, or rescale the problem",
        )


def demand_derivative(r, solve, slope, y, name):
    """Raise if an answer y has no derivative.

    `solve(b)` solves a system with the Jacobian at y, where the residual is r; `slope(y, v)` is what the Jacobian at
    another y does to v. Within a short way, Newton's step or 1e-8, a Jacobian stays what it is, unless it is about to
    vanish (at a double root half of it is left after the step), or changes from one side to the other.
    """
    size = 1 + np.max(np.abs(y), initial=0.0)
    step = determined(solve, r, name)
    length = np.max(np.abs(step), initial=0.0)
    some = 1.1 + np.cos(np.arange(y.shape[0]))
    other = determined(solve, some, name)
    scale = _SHORT * size / np.maximum(np.max(np.abs(other), initial=0.0), 1e-300)
    is_long = length > _SHORT * size
    way = np.where(is_long, step, scale * other)
    before = np.where(is_long, r, scale * some)
    if np.sum((slope(y - way, way) - before) ** 2) > 0.09 * np.sum(before * before):
        raise ConvergenceError(
            "the answer of " + name + " has no derivative: the Jacobian of what it satisfies is singular there",
            remedy="the answer is not isolated, or several come together: add an equation or a regularisation that "
            "makes it unique",
        )


_SHORT = 1e-8


def demand_converged(size, tol, name, remedy):
    """Raise if the last step was too large."""
    if not size <= tol:
        raise ConvergenceError(name + " has not converged", remedy=remedy)
