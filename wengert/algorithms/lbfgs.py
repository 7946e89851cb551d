"""L-BFGS: a Newton-like step from the last few changes of the gradient (Nocedal 1980), with and without bounds.

The last m steps s and changes y of the gradient are the rows of one array, the basis. Every vector that the two-loop
recursion meets is a combination of these rows and the gradient, so the recursion is done on coefficients, with the
table of all inner products: three passes over the basis in each iteration instead of 4 m over vectors (Chen, Wang and
Zhou 2014, "Large-scale L-BFGS using MapReduce").

A state is a tuple that begins with x, value, gradient, iterations, evaluations, status; `advance` goes on from it until
it is finished or so many iterations are done. With bounds the directions are those of the unknowns that are free, and
steps are projected (Bertsekas 1982, "Projected Newton methods for optimization problems with simple constraints").
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.line_search import backtrack, wolfe
from wengert.algorithms.status import RUNNING, after_iteration, before_iterations, when_stuck

_CURVED = 1e-14
"""Changes of the gradient that go along with the step less than this, relatively, are not kept."""


def start(x, value, gradient, memory):
    """The state before the first iteration."""
    size = 2 * memory
    return x, value, gradient, 0, 1, RUNNING, np.zeros((size, x.shape[0])), np.zeros((size, size)), np.zeros(size), 0, 0


def advance(f_and_gradient, state, iterations, tol):
    """Without bounds, up to this number of iterations."""
    x, value, gradient, count, evaluations, status, basis, table, products, stored, level = state
    basis, table = basis.copy(), table.copy()  # the caller's state stays, and so compiled code is called the quick way
    memory = basis.shape[0] // 2
    every = np.ones(memory, dtype=bool)
    size = np.max(np.abs(gradient))
    status = before_iterations(status, x, value, gradient, gradient, size, tol)
    while status == RUNNING and count < iterations:
        c, scale = combination(table, products, every, stored)
        direction = -(scale * gradient) - c @ basis
        slope = gradient @ direction
        first = 1.0
        if stored == 0 or not slope < 0:
            stored = 0
            direction = -gradient
            slope = -(gradient @ gradient)
            first = np.minimum(1.0, 1.0 / np.sum(np.abs(gradient)))
        new, after, new_gradient, trials, good = wolfe(f_and_gradient, x, direction, value, slope, first, 0.9)
        evaluations = evaluations + trials
        count = count + 1
        if good:
            s = new - x
            y = new_gradient - gradient
            sy = s @ y
            yy = y @ y
            before = products
            if sy > _CURVED * np.sqrt((s @ s) * yy):
                row = stored % memory
                basis[row] = s
                basis[memory + row] = y
                with_s = basis @ s
                products = basis @ new_gradient
                # The products with y are differences of those with gradients, unless that loses digits.
                with_y = products - before if yy > 1e-6 * (gradient @ gradient) else basis @ y
                with_y[row] = sy
                with_y[memory + row] = yy
                table[row] = with_s
                table[:, row] = with_s
                table[memory + row] = with_y
                table[:, memory + row] = with_y
                stored = stored + 1
            else:
                products = basis @ new_gradient
            size = np.max(np.abs(new_gradient))
            status, level = after_iteration(new, after, new_gradient, size, tol, value - after, level)
            x = new
            value = after
            gradient = new_gradient
        elif stored > 0:
            stored = 0
        else:
            status = when_stuck(x, value, gradient, -slope * first)
    return x, value, gradient, count, evaluations, status, basis, table, products, stored, level


def combination(table, products, usable, stored):
    """The two-loop recursion: H g = scale g + Σ cⱼ basisⱼ, from the products of g with the basis and usable pairs."""
    memory = usable.shape[0]
    known = np.minimum(stored, memory)
    c = np.zeros(2 * memory)
    alpha = np.zeros(memory)
    scale = 0.0
    for j in range(known):
        i = (stored - 1 - j) % memory
        if usable[i]:
            alpha[i] = (products[i] + table[i] @ c) / table[i, memory + i]
            c[memory + i] -= alpha[i]
            if scale == 0:  # of the newest
                scale = table[i, memory + i] / table[memory + i, memory + i]
    if scale == 0:
        scale = 1.0
    c = scale * c
    for j in range(known):
        i = (stored - known + j) % memory
        if usable[i]:
            beta = (scale * products[memory + i] + table[memory + i] @ c) / table[i, memory + i]
            c[i] += alpha[i] - beta
    return c, scale


def advance_within(f_and_gradient, state, iterations, tol, lower, upper):
    """Within bounds, up to this number of iterations. The gradient's size is how far a step along it moves x."""
    x, value, gradient, count, evaluations, status, basis, table, products, stored, level = state
    basis = basis.copy()
    memory = basis.shape[0] // 2
    size = np.max(np.abs(projected(x - gradient, lower, upper) - x))
    free = moving(x, gradient, lower, upper)
    status = before_iterations(status, x, value, gradient, free, size, tol)
    while status == RUNNING and count < iterations:
        near = np.minimum(1e-8, size)
        held = ((x <= lower + near) & (gradient > 0)) | ((x >= upper - near) & (gradient < 0))
        free_gradient = np.where(held, 0.0, gradient)
        free = np.where(held, 0.0, basis)
        table = free @ free.T
        steps = np.diagonal(table)[:memory]
        changes = np.diagonal(table)[memory:]
        along = np.diagonal(table, memory)
        usable = along > _CURVED * np.sqrt(steps * changes)  # others say nothing about the free unknowns
        c, scale = combination(table, free @ free_gradient, usable, stored)
        direction = -(scale * free_gradient) - c @ free
        slope = free_gradient @ direction
        if stored == 0 or not slope < 0:
            stored = 0
            direction = -free_gradient * np.minimum(1.0, 1.0 / np.sum(np.abs(free_gradient)))
        # Unknowns that are held go to their bound.
        direction = np.where(held, np.where(gradient > 0, lower, upper) - x, direction)
        new, after, new_gradient, trials, good = backtrack(
            f_and_gradient, x, direction, value, gradient, value, lower, upper
        )
        count = count + 1
        evaluations = evaluations + trials
        if good:
            s = new - x
            y = new_gradient - gradient
            if s @ y > _CURVED * np.sqrt((s @ s) * (y @ y)):
                row = stored % memory
                basis[row] = s
                basis[memory + row] = y
                stored = stored + 1
            size = np.max(np.abs(projected(new - new_gradient, lower, upper) - new))
            left = moving(new, new_gradient, lower, upper)
            status, level = after_iteration(new, after, left, size, tol, value - after, level)
            x = new
            value = after
            gradient = new_gradient
        elif stored > 0:
            stored = 0
        else:
            status = when_stuck(x, value, moving(x, gradient, lower, upper), -(gradient @ direction))
    return x, value, gradient, count, evaluations, status, basis, table, products, stored, level


def projected(x, lower, upper):
    """The nearest point within bounds."""
    return np.minimum(np.maximum(x, lower), upper)


def moving(x, gradient, lower, upper):
    """The gradient, without unknowns that it pushes against their bounds."""
    return np.where(((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0)), 0.0, gradient)
