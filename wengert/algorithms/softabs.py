"""Riemannian Hamiltonian Monte Carlo with the soft-abs metric (Betancourt 2013): the Hessian says how steps are scaled.

The metric at x is V λ Vᵀ, where −∇∇log p = V w Vᵀ and λ = w coth(αw), a smooth |w|, at least 1/α. The Hamiltonian

    H(x, p) = −log p(x) + ½ Σ log λ + ½ pᵀ V λ⁻¹ Vᵀ p

is not separable: the generalised leapfrog method solves two of its three equations by iteration. Arguments and results
of the transition are those of every transition (`chains.py`), after α; `density` is a pair of functions: `evaluate(x)`
gives log-density, gradient and Hessian; `third(x, M)` the gradient of the sum of M times the Hessian.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.jacobi import symmetric_eigen
from wengert.algorithms.trajectories import decided
from wengert.algorithms.uniforms import uniform

_ITERATIONS = 40
_TOLERANCE = 1e-10


def _soft_abs(hessian, alpha):
    """Eigenvalues w, vectors, the metric's λ, and the slopes (λᵢ − λⱼ)/(wᵢ − wⱼ)."""
    finite = np.all(np.isfinite(hessian))  # where it is not, the point is rejected
    w, vectors = symmetric_eigen(np.where(finite, -hessian, np.eye(hessian.shape[0])))
    safe = np.where(np.abs(alpha * w) < 1e-4, 1.0, w)
    near = np.abs(alpha * w) < 1e-4
    tanh = np.tanh(alpha * safe)
    lam = np.where(near, 1.0 / alpha, safe / tanh)
    sinh = np.sinh(np.minimum(np.abs(alpha * safe), 300.0))
    slope = np.where(near, 0.0, 1.0 / tanh - alpha * safe / sinh**2)
    gap = np.expand_dims(w, 1) - w
    equal = np.abs(gap) < 1e-8 * (1.0 + np.abs(w))
    ratio = (np.expand_dims(lam, 1) - lam) / np.where(equal, 1.0, gap)
    slopes = np.where(equal, 0.5 * (np.expand_dims(slope, 1) + slope), ratio)
    return vectors, lam, slopes


def _slope_in_x(third, x, g, vectors, lam, slopes, p):
    """∂H/∂x."""
    q = (vectors.T @ p) / lam
    inner = (np.diag(1.0 / lam) - np.outer(q, q)) * slopes
    matrix = -0.5 * (vectors @ inner @ vectors.T)  # of −Hessian, hence the sign
    return third(x, matrix) - g


def _speed(vectors, lam, p):
    return vectors @ ((vectors.T @ p) / lam)


def _energy(lp, vectors, lam, p):
    q = vectors.T @ p
    return -lp + 0.5 * np.sum(np.log(lam)) + 0.5 * np.sum(q * q / lam)


def riemannian_transition(alpha, density, velocity, kick, metric, x, lp, g, z, step, seed, limit):
    """One trajectory of 1 to `limit` steps."""
    evaluate, third = density
    state, u = uniform(seed)
    count = max(int(np.ceil(u * limit)), 1)
    lp_now, g_now, hessian = evaluate(x)
    vectors, lam, slopes = _soft_abs(hessian, alpha)
    p = vectors @ (np.sqrt(lam) * z)
    energy = _energy(lp_now, vectors, lam, p)
    x_now = x + 0.0
    converged = True
    done = 0
    while done < count and converged:
        done = done + 1
        half = p - 0.5 * step * _slope_in_x(third, x_now, g_now, vectors, lam, slopes, p)
        error = 1.0
        iterations = 0
        while error > _TOLERANCE and iterations < _ITERATIONS:
            before = half
            half = p - 0.5 * step * _slope_in_x(third, x_now, g_now, vectors, lam, slopes, before)
            error = np.max(np.abs(half - before)) / (1.0 + np.max(np.abs(half)))
            iterations = iterations + 1
        converged = converged and error <= _TOLERANCE
        first = _speed(vectors, lam, half)
        x_next = x_now + step * first
        error = 1.0
        iterations = 0
        while error > _TOLERANCE and iterations < _ITERATIONS:
            lp_now, g_now, hessian = evaluate(x_next)
            vectors, lam, slopes = _soft_abs(hessian, alpha)
            before = x_next
            x_next = x_now + 0.5 * step * (first + _speed(vectors, lam, half))
            error = np.max(np.abs(x_next - before)) / (1.0 + np.max(np.abs(x_next)))
            iterations = iterations + 1
        converged = converged and error <= _TOLERANCE
        x_now = x_next
        lp_now, g_now, hessian = evaluate(x_now)
        vectors, lam, slopes = _soft_abs(hessian, alpha)
        p = half - 0.5 * step * _slope_in_x(third, x_now, g_now, vectors, lam, slopes, half)
    energy_now = _energy(lp_now, vectors, lam, p)
    # Without the solution of the equations a step cannot be taken back.
    delta = energy - energy_now if converged else -np.inf
    return decided(state, x, lp, g, energy, x_now, lp_now, g_now, energy_now, delta, count)
