"""Initial-value problems y' = f(t, y): explicit Runge–Kutta, Radau IIA and Rosenbrock methods, with step size control.

Steps are chosen from plain numbers: what is differentiated is the formula of the steps that were taken, so a derivative
is exact for them. Results at the times asked for come from the methods' own interpolants.
"""

from __future__ import annotations

import numpy as np

from wengert.errors import ConvergenceError

SAFETY = 0.9
SMALLEST_FACTOR = 0.2
LARGEST_FACTOR = 10.0


def _norm(x):
    return np.sqrt(np.sum(x * x) / x.shape[0])


def first_step(f, t, y, slope, direction, order, rtol, atol, longest=np.inf):
    """A first step size from the sizes of the first two derivatives (Hairer, Nørsett and Wanner, II.4); f is asked no
    further away than the `longest`."""
    scale = atol + np.abs(y) * rtol
    d0 = _norm(y / scale)
    d1 = _norm(slope / scale)
    h0 = np.where((d0 >= 1e-5) & (d1 >= 1e-5), 0.01 * d0 / np.maximum(d1, 1e-5), 1e-6)
    h0 = np.minimum(h0, longest)
    after = f(t + h0 * direction, y + h0 * direction * slope, 1)
    d2 = _norm((after - slope) / scale) / h0
    largest = np.maximum(d1, d2)
    h1 = (0.01 / np.maximum(largest, 1e-15)) ** (1 / (order + 1))
    h1 = np.where(largest > 1e-15, h1, np.maximum(1e-6, h0 * 1e-3))
    return np.minimum(100 * h0, h1)


def demand_ordered(count, gaps):
    """Raise where there are no times, or where they neither increase nor decrease."""
    if count == 0:
        raise ValueError("wg.odeint: there are no times: give at least that of the initial state")
    if not (np.all(gaps >= 0) or np.all(gaps <= 0)):
        raise ValueError("wg.odeint: the times must increase, or decrease, and be numbers: sort them")


def factor_after(size, order):
    """How much longer the next step may be, after one whose error was of this size relative to what is allowed."""
    factor = SAFETY * np.maximum(size, 1e-10) ** (-1 / (order + 1))
    return np.minimum(LARGEST_FACTOR, np.maximum(SMALLEST_FACTOR, factor))


def shortened(h, size, factor):
    """The next trial after a step that was too long. (An error that is NaN: it went where f has no value.)"""
    return h * np.where(size >= 1, np.minimum(1.0, factor), SMALLEST_FACTOR)


def demand_progress(h, t, steps, most):
    """Raise where steps have become too small, or too many."""
    if steps > most or not np.abs(h) >= np.maximum(1e-15 * np.abs(t), 1e-300):
        raise ConvergenceError(
            "wg.odeint: the step size became too small, or there were too many steps",
            remedy="the equation may be stiff (method='Radau'), or its solution may not exist that long; "
            "otherwise allow more steps (maxsteps=)",
        )


def without_derivative(f, constant):
    """A right-hand side for a step size: the choice of steps is no part of what is differentiated."""
    return lambda t, y, i: constant(f(t, y, i))


def integrate(f, y, times, gap, velocity, constant, worst, attempt, interpolate, stages, order, rtol, atol, hit, most,
              longest=np.inf):  # fmt: skip
    """The solution at `times`, the first of which is the start, by steps of one method.

    `f(t, y, i)` is the slope in the interval that ends with `times[i]`. `attempt(f, t, h, y, slope, i)` gives the new
    y, all that the interpolant needs (an array of so many `stages`), and the error of each component.
    `interpolate(f, t, h, y, new, stages, theta, i)` is the solution inside a step; with `hit` steps end at each of the
    times instead; none is longer than the `longest`, a known number. `constant(x)` is x without its derivative.
    `gap(i)` is the length of an interval with its derivative, for those of length zero, and `velocity()` the function
    of t, y and i that is y' there. Steps follow the
    `worst(size)` of errors: that of all examples where these are to share their steps.
    """
    count = times.shape[0]
    n = y.shape[0]
    demand_ordered(count, times[1:] - times[:-1])
    out = np.zeros((count, n))
    out[0] = y
    t = times[0]
    direction = np.where(times[count - 1] < times[0], -1.0, 1.0)
    slope = f(t, y, 1)
    first = first_step(without_derivative(f, constant), t, constant(y), constant(slope), direction, order, rtol, atol)
    h = direction / worst(1 / first)
    start = t
    width = h
    old = y
    kept = np.zeros((stages, n))
    steps = 0
    for i in range(1, count):
        target = times[i]
        if hit and i > 1:
            slope = f(t, y, i)
        if hit and target == t:
            y = moved(velocity(), t, gap(i), y, i)
        while (target - t) * direction > 0:
            if longest < np.inf:
                h = direction * np.minimum(np.abs(h), longest)
            rest = target - t
            last = hit and np.abs(rest) <= np.abs(h)
            used = h
            if last:
                used = rest
            new, K, new_slope, error = attempt(f, t, used, y, slope, i)
            scale = atol + np.maximum(np.abs(constant(y)), np.abs(constant(new))) * rtol
            size = worst(error(scale))
            factor = factor_after(size, order)
            if size < 1:
                start = t
                width = used
                old = y
                kept = K
                t = t + used
                if last:
                    t = target
                y = new
                slope = new_slope
                if not last or np.abs(used * factor) > np.abs(h):
                    h = used * factor
            else:
                h = shortened(used, size, factor)
            steps = steps + 1
            demand_progress(h, t, steps, most)
        if hit:
            out[i] = y
        else:
            out[i] = interpolate(f, start, width, old, y, kept, (target - start) / width, i)
    return out


def moved(f, t, h, y, i):
    """The solution after a time h that is zero and has derivatives: one step of the classical method of order four."""
    slope = f(t, y, i)
    second = f(t + h / 2, y + h / 2 * slope, i)
    third = f(t + h / 2, y + h / 2 * second, i)
    fourth = f(t + h, y + h * third, i)
    return y + h / 6 * (slope + 2 * second + 2 * third + fourth)


def divided_by_mass(f, mass):
    """y' where mass @ y' = f(t, y); anything if the matrix is singular."""
    inverse = np.linalg.pinv(mass)
    return lambda t, y, i: inverse @ f(t, y, i)


def demand_velocity(mass):
    """Raise where y' does not follow from mass @ y' = f(t, y)."""
    if np.linalg.matrix_rank(mass) < mass.shape[0]:
        raise ConvergenceError(
            "wg.odeint: the mass matrix is singular, and the derivative with respect to times that are equal is not "
            "known",
            remedy="leave out times that are equal, or do not differentiate with respect to the times",
        )


def explicit(A, B, C, constant, estimate):
    """A step of an explicit method; `estimate(K, h, scale)` is its error, relative to what is allowed."""
    stages = B.shape[0]

    def attempt(f, t, h, y, slope, i):
        K = np.zeros((stages + 1, y.shape[0]))
        K[0] = slope
        for s in range(1, stages):
            K[s] = f(t + C[s] * h, y + h * (A[s, :s] @ K[:s]), i)
        new = y + h * (B @ K[:stages])
        K[stages] = f(t + h, new, i)

        def error(scale):
            return estimate(constant(K), h, scale)

        return new, K, K[stages], error

    return attempt


def estimated(E):
    """The error of a step, from one embedded formula."""

    def estimate(K, h, scale):
        return _norm((E @ K) * h / scale)

    return estimate


def interpolated(P):
    """The solution inside a step as a polynomial of theta, from the stages."""

    def interpolate(f, t, h, y, new, K, theta, i):
        Q = P.T @ K
        value = np.zeros(y.shape[0])
        for j in range(P.shape[1] - 1, -1, -1):
            value = (value + Q[j]) * theta
        return y + h * value

    return interpolate


def estimated_by_two(E3, E5):
    """The error of a step of DOP853, from embedded formulas of order three and five."""

    def estimate(K, h, scale):
        five = np.sum(((E5 @ K) / scale) ** 2)
        three = np.sum(((E3 @ K) / scale) ** 2)
        total = np.maximum(five + 0.01 * three, 1e-300)
        return np.abs(h) * five / np.sqrt(total * scale.shape[0])

    return estimate


def interpolated_by_more_stages(A, C, D):
    """The solution inside a step of DOP853: a polynomial of degree seven, for which three more stages are computed."""

    def interpolate(f, t, h, y, new, K, theta, i):
        stages = K.shape[0]
        all_stages = np.zeros((stages + C.shape[0], y.shape[0]))
        all_stages[:stages] = K
        for s in range(C.shape[0]):
            all_stages[stages + s] = f(t + C[s] * h, y + h * (A[s, : stages + s] @ all_stages[: stages + s]), i)
        step = new - y
        first = h * K[0] - step
        second = 2 * step - h * (K[stages - 1] + K[0])
        rest = h * (D @ all_stages)
        value = rest[3] * theta
        value = (value + rest[2]) * (1 - theta)
        value = (value + rest[1]) * theta
        value = (value + rest[0]) * (1 - theta)
        value = (value + second) * theta
        value = (value + first) * (1 - theta)
        value = (value + step) * theta
        return y + value

    return interpolate


def radau(C, E, jacobian, solve_stages, filtered, constant):
    """A step of Radau IIA: `solve_stages(t, h, y, i, slopes)` gives the stages, as one vector.

    `jacobian(t, y, i)` is what determines that of f in y. The error is that of an embedded formula, filtered by one
    linear system (Hairer and Wanner, IV.8): `filtered(h, slopes, slope, combined)` with a combination of the stages.
    """
    s = C.shape[0]

    def attempt(f, t, h, y, slope, i):
        n = y.shape[0]
        slopes = jacobian(t, constant(y), i)
        Z = solve_stages(t, h, y, i, slopes).reshape(s, n)
        new = y + Z[s - 1]

        def error(scale):
            return _norm(filtered(h, slopes, constant(slope), E @ constant(Z)) / scale)

        return new, Z, f(t + h, new, i), error

    return attempt


def stages_by_newton(f, A, C, weighted, t, h, y, i, solve, tolerance, worst):
    """The stages of an implicit step: Newton's method with one matrix. Where it does not converge they are NaN."""
    s = C.shape[0]
    n = y.shape[0]
    Z = np.zeros(s * n)
    size = np.inf
    rate = 0.0
    count = 0
    while size > tolerance and count < 12:
        step = solve(stage_residual(f, A, C, weighted, t, h, y, i, Z))
        Z = Z - step
        before = size
        size = worst(np.max(np.abs(step)) / (1e-300 + np.max(np.abs(y)) + np.max(np.abs(Z))))
        rate = size / before
        count = count + 1
        if np.isnan(size) or rate > 2:
            count = 99
    if size > 1e3 * tolerance or np.isnan(size):
        Z = Z * np.nan
    return Z


def stage_residual(f, A, C, weighted, t, h, y, i, Z):
    """What is zero at the stages of an implicit step."""
    s = C.shape[0]
    n = y.shape[0]
    stages = Z.reshape(s, n)
    slopes = np.zeros((s, n))
    for k in range(s):
        slopes[k] = f(t + C[k] * h, y + stages[k], i)
    return (weighted(stages) - h * (A @ slopes)).reshape(-1)


def rosenbrock(A, C, weights, times, drifts, system, constant):
    """A step of a linearly implicit method (Hairer and Wanner, IV.7), whose last stage is the estimated error.

    `system(t, h, y, i)` gives the product with the mass matrix, the solution with M/(hγ) − J, and ∂f/∂t.
    """
    s = weights.shape[0]

    def attempt(f, t, h, y, slope, i):
        weighted, solve, drift = system(t, h, y, i)
        U = np.zeros((s, y.shape[0]))
        U[0] = solve(slope + drifts[0] * h * drift)
        for k in range(1, s):
            slope_there = f(t + times[k] * h, y + A[k, :k] @ U[:k], i)
            U[k] = solve(slope_there + weighted(C[k, :k] @ U[:k]) / h + drifts[k] * h * drift)
        new = y + weights @ U

        def error(scale):
            return _norm(constant(U[s - 1]) / scale)

        return new, U, f(t + h, new, i), error

    return attempt


def interpolated_between(H):
    """The solution inside a step as a polynomial of theta through both ends, from the stages."""

    def interpolate(f, t, h, y, new, U, theta, i):
        first, second, third = H[0] @ U, H[1] @ U, H[2] @ U
        inner = first + theta * (second + theta * third)
        return (1 - theta) * y + theta * (new + (1 - theta) * inner)

    return interpolate


def polynomial_through(C):
    """The solution inside a step as the polynomial through the stages."""
    powers = C[:, None] ** np.arange(1, C.shape[0] + 1)
    inverse = np.linalg.inv(powers)

    def interpolate(f, t, h, y, new, Z, theta, i):
        Q = inverse @ Z
        value = np.zeros(y.shape[0])
        for j in range(C.shape[0] - 1, -1, -1):
            value = (value + Q[j]) * theta
        return y + value

    return interpolate
