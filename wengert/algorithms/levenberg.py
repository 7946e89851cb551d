"""Nonlinear least squares with few unknowns: Levenberg and Marquardt's method, Powell's dogleg, Gauss and Newton's.

All of them minimise a cost ½ Σ f², whose model around x is ½ |f + J d|². J is factored as Q R, together with f, and
only R and z = Qᵀ f are needed for a step. Where J is well conditioned they come from the products of its columns
(Cholesky), at half the cost. Otherwise nothing is squared, and small singular values keep their digits: the
factorisation is Gram and Schmidt's, modified, of [J f], as accurate for least squares as Householder's (Björck 1967),
and a few lines that compile into straight loops; LAPACK's where there are many unknowns.

Unknowns are scaled by the largest norm that their column of J has had (Moré 1978), so units do not matter. Damping
follows Nielsen (1999): it falls smoothly where the model predicts well, and grows ever faster where it does not. A
trial whose cost is not finite is one that does not fall.

Bounds: an unknown at a bound that the cost pushes it against is held; one that a step would take beyond its bound is
taken to the bound, and the step is computed again for the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_FEW = 16
"""Up to so many unknowns the factorisation is written out."""
_NOISE = 1e-13
"""Relative to the cost: what is less than this says nothing."""
_PRECISE = 1e-5
"""A pivot that is a larger part of what it was at first has lost no more than five of its digits."""
_ROUNDING = 1e-15
_FAR = 1e-4
"""A point where a column of J and f are nearer to parallel is no minimum: their cosine."""
_RESOLVED = 10.0
"""What rounding errors of f, times this, do not explain is a slope."""
LM, DOGLEG, GAUSS_NEWTON = 0, 1, 2
NOT_FINITE, STOPPED, INTERRUPTED = -3, -2, -1
RUNNING, GRADIENT, COST, STEP, NO_PROGRESS = 0, 1, 2, 3, 5
"""Why the iterations ended; those from 0 to 3 as SciPy's `status`."""


def levenberg(evaluate, moved, x, n, lower, upper, bounded, kind, damping, growing, cautious, ftol, xtol, gtol,
              maxiter):  # fmt: skip
    """The point reached, why the iterations ended, and how many there were.

    Args:
        evaluate: gives the cost, f and J at x, such that the gradient of the cost is Jᵀ f.
        moved: gives x after a step; only where there are no bounds.
        n: the length of a step, for which J has a column each.
        bounded: whether there are bounds at all.
        kind: `LM`, `DOGLEG` or `GAUSS_NEWTON`.
        damping: at the start; of scaled unknowns.
        growing: whether the scale of an unknown never falls (Moré), or follows its column (Marquardt).
        cautious: how much it costs to double an unknown, in units of the cost; for unknowns whose column is almost
            zero, which would otherwise go anywhere.
    """
    trial = x
    cost = np.inf
    length = np.inf
    slope = np.inf
    factor = np.zeros((n, n))
    z = np.zeros(n)
    scale = np.zeros(n)
    step = np.zeros(n)
    predicted = 0.0
    control = damping
    grow = 2.0
    misses = 0
    rounding = 0.0
    status = RUNNING
    count = 0
    while status == RUNNING and count < maxiter:
        after, f, jacobian = evaluate(trial)
        new_factor, new_z = factored(jacobian, f)
        norms = np.sqrt(np.sum(new_factor * new_factor, axis=0))
        gradient = (new_factor.T @ new_z) / np.where(norms > 0, norms, 1.0)
        if bounded:
            pushed = ((trial <= lower) & (gradient > 0)) | ((trial >= upper) & (gradient < 0))
            gradient = np.where(pushed, 0.0, gradient)
            new_length = np.sqrt(gradient @ gradient)
        else:
            new_length = np.sqrt(new_z @ new_z)
        finite = np.isfinite(after) and np.isfinite(new_length)
        # Where costs differ by rounding errors only, what falls is the distance to where the model has its minimum.
        noise = predicted <= _NOISE * cost and count > 0
        if noise:
            falls = finite and after <= cost + 1e-9 * cost and new_length < length
        else:
            falls = finite and after < cost
        if count > 0:
            if x.shape[0] == n:
                still = np.all(np.abs(step) <= xtol * np.abs(x))
            else:
                still = np.max(np.abs(step)) <= xtol * np.max(np.abs(x))
            misses = misses + 1 if noise and not falls else 0
            if misses > 6 or (predicted <= ftol * cost and abs(cost - after) <= ftol * cost):
                status = COST
            elif still:
                status = STEP
            gain = 1.0 if noise else (cost - after) / predicted
            step_norm = np.sqrt(np.sum((scale * step) ** 2))
            control, grow = controlled(kind, control, grow, gain, falls, step_norm)
            if not falls and status == RUNNING and (control > 1e40 or control < 1e-80):
                status = NO_PROGRESS
        elif not finite:
            status = NOT_FINITE
        if falls:
            x = trial
            cost = after
            length = new_length
            slope = np.max(np.abs(gradient))
            factor = new_factor
            z = new_z
            # Relative changes of all unknowns by rounding errors change f by this.
            unit = np.abs(x) if x.shape[0] == n else np.max(np.abs(x))
            rounding = _ROUNDING * np.sqrt(np.sum((norms * unit) ** 2))
            scale = scale_of(np.where(growing, np.maximum(scale, norms), norms), unit, cautious, cost)
            if length <= gtol * np.sqrt(2 * cost):
                status = GRADIENT
            elif np.sqrt(2 * cost) <= rounding:
                status = COST
            if count == 0 and kind == DOGLEG:
                control = control * np.sqrt(new_z @ new_z)
        if bounded:
            step = bounded_step(kind, factor, z, scale, control, x, lower, upper)
            trial = np.minimum(np.maximum(x + step, lower), upper)
        else:
            step = free_step(kind, factor, z, scale, control)
            trial = moved(x, step)
        along = factor @ step
        predicted = np.maximum(-(along @ z) - (along @ along) / 2, 1e-300)
        count = count + 1
    if slope <= _RESOLVED * rounding:
        status = COST if status == NO_PROGRESS else status
    elif status in (COST, STEP) and slope > _FAR * np.sqrt(2 * cost):
        status = NO_PROGRESS
    return x, status, count


def scale_of(norms, unit, cautious, cost):
    """By what unknowns are measured: norms of their columns, and what it costs to double one (`cautious`)."""
    doubled = np.where(unit > 0, cautious * 2 * cost / np.where(unit > 0, unit, 1.0) ** 2, 0.0)
    scale = np.sqrt(norms**2 + doubled)
    return np.where(scale > 0, scale, 1.0)


def controlled(kind, control, grow, gain, falls, step_norm):
    """The damping (LM), radius (dogleg) or shortening (Gauss–Newton) for the next trial."""
    if kind == LM:
        if falls:
            control = control * np.maximum(1 / 3, 1 - (2 * np.minimum(gain, 10.0) - 1) ** 3)
            control = np.maximum(control, 1e-30)
            grow = 2.0
        else:
            control = control * grow
            grow = grow * 2
    elif kind == DOGLEG:
        if falls and gain > 0.75:
            control = np.maximum(control, 3 * step_norm)
        elif not falls or gain < 0.25:
            control = np.minimum(control, step_norm) / 4
    elif falls:
        control = 1.0
    else:
        control = control / 2
    return control, grow


def free_step(kind, factor, z, scale, control):
    """The step of a model ½ |factor d + z|²."""
    if kind == LM:
        return damped(factor, z, scale * np.sqrt(control))
    newton = damped(factor, z, scale * 1e-12)
    if kind == GAUSS_NEWTON:
        return control * newton
    gradient = (factor.T @ z) / scale
    along = factor @ (gradient / scale)
    cauchy = -gradient * ((gradient @ gradient) / (along @ along + 1e-300))
    whole = newton * scale
    length, shortest = np.sqrt(whole @ whole), np.sqrt(cauchy @ cauchy)
    if length <= control:
        scaled = whole
    elif shortest >= control:
        scaled = cauchy * (control / (shortest + 1e-300))
    else:
        rest = whole - cauchy
        a = rest @ rest
        b = cauchy @ rest
        c = control**2 - shortest**2
        scaled = cauchy + rest * (c / (b + np.sqrt(b * b + a * c)))
    return scaled / scale


def bounded_step(kind, factor, z, scale, control, x, lower, upper):
    """The same within bounds: unknowns that would leave them are taken to their bound, the others computed again."""
    n = x.shape[0]
    gradient = factor.T @ z
    held = ((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0))
    step = np.zeros(n)
    again = np.any(~held)
    count = 0
    while again and count <= n:
        fixed = np.where(held, step, 0.0)
        rest = free_step(kind, np.where(held, 0.0, factor), z + factor @ fixed, scale, control)
        step = np.where(held, fixed, rest)
        inside = np.minimum(np.maximum(step, lower - x), upper - x)
        out = (inside != step) & ~held
        again = np.any(out)
        held = held | out
        step = np.where(out, inside, step)
        count = count + 1
    return step


def damped(factor, z, diagonal):
    """The d that minimises |factor d + z|² + |diagonal d|²."""
    n = z.shape[0]
    stacked = np.concatenate((factor, np.diag(diagonal)))
    triangle, w = factored(stacked, np.concatenate((z, np.zeros(n))))
    if n > _FEW:
        return -np.linalg.solve(triangle, w)
    step = np.zeros(n)
    for i in range(n):
        k = n - 1 - i
        step[k] = -(w[k] + triangle[k] @ step) / triangle[k, k]
    return step


def factored(jacobian, f):
    """R and Qᵀ f."""
    n = jacobian.shape[1]
    if n > _FEW:
        whole: Any = np.linalg.qr(np.concatenate((jacobian, f[:, None]), axis=1), mode="r")
        size = whole.shape[0]
        if size < n:
            whole = np.concatenate((whole, np.zeros((n - size, n + 1))))
        return whole[:n, :n], whole[:n, n]
    rows = np.concatenate((jacobian.T, f[None, :]))
    factor, z, is_precise = of_products(rows @ rows.T)
    if is_precise:
        return factor, z
    return orthogonalised(rows)


def of_products(products):
    """R and Qᵀ f by Cholesky's method, from the products of the columns of [J f]; and whether they are precise.

    Relative errors are those of rounding times the square of the condition number, which the pivots tell.
    """
    n = products.shape[0] - 1
    factor = np.zeros((n, n))
    z = np.zeros(n)
    rest = products
    is_precise = True
    for k in range(n):
        pivot = rest[0, 0]
        is_precise = is_precise & (pivot > _PRECISE * products[k, k])
        root = np.sqrt(np.where(pivot > 0, pivot, 1.0))
        row = rest[0, 1:] / root
        rest = rest[1:, 1:] - row[:, None] * row
        factor[k, k] = root
        factor[k, k + 1 :] = row[:-1]
        z[k] = row[-1]
    return factor, z, is_precise


def orthogonalised(rows):
    """R and Qᵀ f by Gram and Schmidt's method, from the columns of [J f] as rows."""
    n = rows.shape[0] - 1
    factor = np.zeros((n, n))
    z = np.zeros(n)
    for k in range(n):
        norm = np.sqrt(rows[0] @ rows[0])
        q = rows[0] / (norm if norm > 0 else 1.0)
        products = rows[1:] @ q
        rows = rows[1:] - products[:, None] * q
        factor[k, k] = norm
        factor[k, k + 1 :] = products[:-1]
        z[k] = products[-1]
    return factor, z
