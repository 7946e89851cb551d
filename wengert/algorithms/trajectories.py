"""Transitions that accept or reject a proposal: Hamiltonian trajectories of a fixed length, Langevin's, random walks.

Arguments and results are those of every transition (`chains.py`).
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.uniforms import uniform

LARGEST_ERROR = 1000.0


def decided(state, x, lp, g, energy, x_new, lp_new, g_new, energy_new, delta, count):
    """What a transition gives: the end of a trajectory of `count` steps with probability exp(delta), or its start."""
    if np.isnan(delta):
        delta = -np.inf
    state, u = uniform(state)
    accepted = np.log(u) < delta
    return (
        np.where(accepted, x_new, x),
        np.where(accepted, lp_new, lp),
        np.where(accepted, g_new, g),
        np.exp(min(delta, 0.0)),
        0,
        count,
        delta < -LARGEST_ERROR,
        not np.isfinite(lp_new),
        np.where(accepted, energy_new, energy),
        lp_new,
        g_new,
    )


def hmc_transition(density, velocity, kick, metric, x, lp, g, z, step, seed, limit):
    """Hamiltonian Monte Carlo with `limit` leapfrog steps at most: their number is drawn, lest orbits close."""
    state, u = uniform(seed)
    count = max(int(np.ceil(u * limit)), 1)
    r = kick(metric, z)
    energy = 0.5 * np.dot(r, velocity(metric, r)) - lp
    x_new, r_new, g_new = x, r, g
    lp_new = lp
    for _ in range(count):
        r_half = r_new + (0.5 * step) * g_new
        x_new = x_new + step * velocity(metric, r_half)
        lp_new, g_new = density(x_new)
        r_new = r_half + (0.5 * step) * g_new
    energy_new = 0.5 * np.dot(r_new, velocity(metric, r_new)) - lp_new
    return decided(state, x, lp, g, energy, x_new, lp_new, g_new, energy_new, energy - energy_new, count)


def random_walk_transition(density, velocity, kick, metric, x, lp, g, z, step, seed, limit):
    """Metropolis's random walk: normal proposals whose covariance is step² times the metric."""
    x_new = x + step * velocity(metric, kick(metric, z))
    lp_new, g_new = density(x_new)
    delta = lp_new - lp
    if np.isnan(delta):
        delta = -np.inf
    _, u = uniform(seed)
    accepted = np.log(u) < delta
    x_next = np.where(accepted, x_new, x)
    lp_next = np.where(accepted, lp_new, lp)
    g_next = np.where(accepted, g_new, g)
    rate = np.exp(min(delta, 0.0))
    return x_next, lp_next, g_next, rate, 0, 1, False, not np.isfinite(lp_new), -lp_next, lp_new, g_new


def slice_transition(density, velocity, kick, metric, x, lp, g, z, step, seed, limit):
    """Neal's slice sampling (2003) along a random direction, with stepping out and shrinking; it never rejects."""
    direction = velocity(metric, kick(metric, z))
    state, u = uniform(seed)
    level = lp + np.log(u)
    state, u = uniform(state)
    low = -u * step
    high = low + step
    state, u = uniform(state)
    below = int(np.floor(u * limit))
    above = limit - 1 - below
    count = 0
    phase = 0
    found = False
    t = low
    lp_new, g_new = lp, g
    failed = False
    # Phase 0 steps out to the left, 1 to the right, 2 shrinks: one loop, so that the density is evaluated at one place.
    while not found and count < 10000:
        if phase == 0:
            t = low
        elif phase == 1:
            t = high
        else:
            state, u = uniform(state)
            t = low + u * (high - low)
        lp_new, g_new = density(x + t * direction)
        count = count + 1
        failed = failed or np.isnan(lp_new)
        inside = lp_new > level
        if phase == 0:
            if inside and below > 0:
                low = low - step
                below = below - 1
            else:
                phase = 1
        elif phase == 1:
            if inside and above > 0:
                high = high + step
                above = above - 1
            else:
                phase = 2
        elif inside:
            found = True
        elif t < 0:
            low = t
        else:
            high = t
    x_next = np.where(found, x + t * direction, x)
    lp_next = np.where(found, lp_new, lp)
    g_next = np.where(found, g_new, g)
    return x_next, lp_next, g_next, 1.0, 0, count, False, failed, -lp_next, lp_new, g_new
