"""Bodies that attract each other, moved by leapfrog steps: forces by a loop over pairs, velocities in place."""

import numpy as np

SIZES = (4, 16, 64)
STEPS = 10
DT = 0.01


def title(n):
    """Name the case in tables."""
    return f"n-body, {n} bodies"


def inputs(n):
    """Return positions, velocities and masses."""
    random = np.random.default_rng(n)
    return random.normal(size=(n, 3)) * n ** (1 / 3), random.normal(size=(n, 3)), random.uniform(0.5, 1.5, n) / n


def objective(position, velocity, mass):
    """Return the kinetic energy after the steps."""
    n = len(mass)
    x = position.copy()
    v = velocity.astype(position.dtype)
    for _ in range(STEPS):
        for i in range(n):
            for j in range(i):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                dz = x[i, 2] - x[j, 2]
                s = dx * dx + dy * dy + dz * dz + 0.01
                pull = DT / (s * np.sqrt(s))
                v[i, 0] -= dx * mass[j] * pull
                v[i, 1] -= dy * mass[j] * pull
                v[i, 2] -= dz * mass[j] * pull
                v[j, 0] += dx * mass[i] * pull
                v[j, 1] += dy * mass[i] * pull
                v[j, 2] += dz * mass[i] * pull
        x += DT * v
    energy = 0.0
    for i in range(n):
        energy += 0.5 * mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
    return energy
