"""The no-U-turn sampler: Hamiltonian trajectories that are doubled until they turn back.

Hoffman and Gelman (2014), with Betancourt's multinomial weights and generalised criterion (2017), without recursion:
the 2ʲ leaves of a subtree are made one after another, and of the leaves before only j momenta are kept, at which
subtrees start that are not complete yet (Phan, Pradhan, Jankowiak 2019; Lao and Dillon 2019).

All subtrees are made in one loop over leaves, in which the density is evaluated at one place: it is compiled once.
Numbers that belong to a point (position, momentum, velocity, gradient) are the rows of one array.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.uniforms import uniform

DEEPEST = 12
LARGEST_ERROR = 1000.0
_LEAVES = np.arange(2**DEEPEST)
_ONES = np.array([bin(n).count("1") for n in _LEAVES])
"""How many bits of n are one."""
_TRAILING_ONES = np.array([len(bin(n)) - len(bin(n).rstrip("1")) for n in _LEAVES])


def _is_turning(left, right, total):
    """Whether the ends of a trajectory approach each other; half of the momenta at the ends counts."""
    rho = total - 0.5 * (left[1] + right[1])
    return not (np.dot(left[2], rho) > 0 and np.dot(right[2], rho) > 0)


def nuts_transition(density, velocity, kick, metric, x, lp, g, z, step, seed, depth_limit):
    """One transition; arguments and results are those of every transition (`chains.py`)."""
    d = x.shape[0]
    r = kick(metric, z)
    v = velocity(metric, r)
    energy_before = 0.5 * np.dot(r, v) - lp
    ends = np.zeros((2, 4, d))
    ends[:, 0] = x
    ends[:, 1] = r
    ends[:, 2] = v
    ends[:, 3] = g
    now = np.zeros((4, d))
    new = np.zeros((2, d))  # position and gradient of the point that is chosen
    new[0] = x
    new[1] = g
    lp_new = lp
    energy_new = energy_before
    sub = np.zeros((2, d))  # the same for the subtree
    lp_sub = lp
    energy_sub = energy_before
    r_sum = np.zeros((2, d))  # of momenta: of the tree, of the subtree
    r_sum[0] = r
    kept = np.zeros((DEEPEST, 4, d))  # points where subtrees start; their row 0 is the sum of momenta before
    last_lp = lp
    weight = 0.0
    weight_sub = -np.inf
    state = seed
    side = 0
    leaf = 0
    depth = 0
    leaves = 0
    acceptance = 0.0
    turning = False
    diverging = False
    failed = False
    signed = step
    while depth < depth_limit and not turning and not diverging:
        if leaf == 0:
            state, u = uniform(state)
            side = 1 if u < 0.5 else 0
            signed = step if side == 1 else -step
            now[:] = ends[side]
            r_sum[1] = 0.0
            weight_sub = -np.inf
        r_half = now[1] + (0.5 * signed) * now[3]
        position = now[0] + signed * velocity(metric, r_half)
        last_lp, gradient = density(position)
        momentum = r_half + (0.5 * signed) * gradient
        speed = velocity(metric, momentum)
        now[0] = position
        now[1] = momentum
        now[2] = speed
        now[3] = gradient
        energy = 0.5 * np.dot(momentum, speed) - last_lp
        delta = energy_before - energy
        delta = -np.inf if np.isnan(delta) else delta
        failed = failed or not np.isfinite(last_lp)
        diverging = delta < -LARGEST_ERROR
        acceptance = acceptance + np.exp(min(delta, 0.0))
        leaves = leaves + 1
        weight_sub = np.logaddexp(weight_sub, delta)
        state, u = uniform(state)
        if np.log(u) < delta - weight_sub:
            sub[0] = position
            sub[1] = gradient
            lp_sub = last_lp
            energy_sub = energy
        # Leaf n, in binary: the subtrees that end here start where trailing ones of n are zeros.
        place = _ONES[leaf >> 1]
        if leaf & 1 == 0:
            kept[place] = now
            kept[place, 0] = r_sum[1]
        r_sum[1] = r_sum[1] + momentum
        for _ in range(_TRAILING_ONES[leaf]):
            turning = turning or _is_turning(kept[place], now, r_sum[1] - kept[place, 0])
            place = place - 1
        leaf = leaf + 1
        if leaf == 1 << depth and not turning and not diverging:
            state, u = uniform(state)
            if np.log(u) < weight_sub - weight:
                new[:] = sub
                lp_new = lp_sub
                energy_new = energy_sub
            weight = np.logaddexp(weight, weight_sub)
            r_sum[0] = r_sum[0] + r_sum[1]
            ends[side] = now
            turning = _is_turning(ends[0], ends[1], r_sum[0])
            depth = depth + 1
            leaf = 0
    if leaf > 0:
        depth = depth + 1
    rate = acceptance / max(leaves, 1)
    return new[0], lp_new, new[1], rate, depth, leaves, diverging, failed, energy_new, last_lp, now[3]
