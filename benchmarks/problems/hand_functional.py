"""The articulated hand without writes, for tools whose arrays cannot be written to.

Each such tool loads its own copy and puts its namespace in the place of `np`. The branch for a rotation by nothing is
left out: it cannot be staged by all of them, and is not taken.
"""

import numpy as np


def turned(a, c, b):
    """Return the rotation by three Euler angles, as a matrix of 4 × 4."""
    zero = 0.0 * a
    entries = [
        np.cos(c) * np.cos(b),
        np.cos(c) * np.sin(b) * np.sin(a) - np.sin(c) * np.cos(a),
        np.cos(c) * np.sin(b) * np.cos(a) + np.sin(c) * np.sin(a),
        zero,
        np.sin(c) * np.cos(b),
        np.sin(c) * np.sin(b) * np.sin(a) + np.cos(c) * np.cos(a),
        np.sin(c) * np.sin(b) * np.cos(a) - np.cos(c) * np.sin(a),
        zero,
        -np.sin(b),
        np.cos(b) * np.sin(a),
        np.cos(b) * np.cos(a),
        zero,
        zero,
        zero,
        zero,
        zero + 1.0,
    ]
    return np.stack(entries).reshape(4, 4)


def rotation(v):
    """Return the rotation about a vector by its length, as a matrix of 3 × 3."""
    angle = np.sqrt(np.sum(v**2))
    x, y, z = v / angle
    s, c = np.sin(angle), np.cos(angle)
    entries = [
        x * x + (1 - x * x) * c,
        x * y * (1 - c) - z * s,
        x * z * (1 - c) + y * s,
        x * y * (1 - c) + z * s,
        y * y + (1 - y * y) * c,
        y * z * (1 - c) - x * s,
        x * z * (1 - c) - y * s,
        y * z * (1 - c) + x * s,
        z * z + (1 - z * z) * c,
    ]
    return np.stack(entries).reshape(3, 3)


def posed(pose, parents, relative, inverse, vertices, weights):
    """Return the vertices of the hand in a pose."""
    zero = 0.0 * pose[0]
    angles = [[zero, zero, zero] for _ in parents]
    for finger in range(5):
        first = 6 + 4 * finger
        angles[2 + 4 * finger][:2] = [pose[first], pose[first + 1]]
        angles[3 + 4 * finger][0] = pose[first + 2]
        angles[4 + 4 * finger][0] = pose[first + 3]
    frames, moves = [], []
    for k, parent in enumerate(parents):
        local = relative[k] @ turned(*angles[k])
        frames.append(local if parent < 0 else frames[parent] @ local)
        moves.append(frames[k] @ inverse[k])
    blended = np.einsum("vb,bij->vij", weights, np.stack(moves))
    placed = np.einsum("vij,vj->vi", blended, vertices)[:, :3]
    return placed @ rotation(pose[:3]).T + pose[3:6]


def simple(pose, vertex, points, *rest):
    """Return the differences between the points and their vertices, one after the other."""
    return (points - posed(pose, *rest)[vertex]).reshape(-1)


def complicated(variables, inside, corners, points, *rest):
    """Return the differences between the points and their places on the triangles, one after the other."""
    u, v = inside[:, :1] + variables[0], inside[:, 1:] + variables[1]
    placed = posed(variables[2:], *rest)
    a, b, c = placed[corners[:, 0]], placed[corners[:, 1]], placed[corners[:, 2]]
    return (points - (u * a + v * b + (1 - u - v) * c)).reshape(-1)
