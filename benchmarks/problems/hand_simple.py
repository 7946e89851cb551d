"""ADBench: an articulated hand fitted to points that correspond to its vertices; the Jacobian in its 26 parameters.

The pose is a global rotation (3) and translation (3), then four angles for each finger.
"""

import adbench
import numpy as np

from problems.hand_model import hand, measurements

SIZES = (100, 800)
DERIVATIVE = "jacobian"
STATIC = (3,)
COUNT = {100: "hand1_t26_c100", 800: "hand5_t26_c800"}


def title(n):
    """Name the case in tables."""
    return f"hand, simple, {n} points"


def inputs(n):
    """Return the pose, which vertices the points belong to, the points, and the hand at rest."""
    pose, vertex, points, _ = measurements("simple_small", n, on_triangles=False)
    rest = hand()
    return pose, vertex, points, rest.parents, rest.relative, rest.inverse, rest.vertices, rest.weights


def golden(n):
    """Return the suite's residuals and Jacobian, if they are known."""
    found = adbench.golden(f"hand_simple_small_{COUNT[n]}")
    return None if found is None else (found["F"], found["J"])


def turned(angles):
    """Return the rotation by three Euler angles, as a matrix of 4 × 4."""
    a, c, b = angles
    R = np.zeros((4, 4), angles.dtype)
    R[0, 0] = np.cos(c) * np.cos(b)
    R[0, 1] = np.cos(c) * np.sin(b) * np.sin(a) - np.sin(c) * np.cos(a)
    R[0, 2] = np.cos(c) * np.sin(b) * np.cos(a) + np.sin(c) * np.sin(a)
    R[1, 0] = np.sin(c) * np.cos(b)
    R[1, 1] = np.sin(c) * np.sin(b) * np.sin(a) + np.cos(c) * np.cos(a)
    R[1, 2] = np.sin(c) * np.sin(b) * np.cos(a) - np.cos(c) * np.sin(a)
    R[2, 0] = -np.sin(b)
    R[2, 1] = np.cos(b) * np.sin(a)
    R[2, 2] = np.cos(b) * np.cos(a)
    R[3, 3] = 1.0
    return R


def rotation(v):
    """Return the rotation about a vector by its length, as a matrix of 3 × 3."""
    angle = np.sqrt(np.sum(v**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = v / angle
    s, c = np.sin(angle), np.cos(angle)
    R = np.zeros((3, 3), v.dtype)
    R[0, 0] = x * x + (1 - x * x) * c
    R[0, 1] = x * y * (1 - c) - z * s
    R[0, 2] = x * z * (1 - c) + y * s
    R[1, 0] = x * y * (1 - c) + z * s
    R[1, 1] = y * y + (1 - y * y) * c
    R[1, 2] = y * z * (1 - c) - x * s
    R[2, 0] = x * z * (1 - c) - y * s
    R[2, 1] = y * z * (1 - c) + x * s
    R[2, 2] = z * z + (1 - z * z) * c
    return R


def posed(pose, parents, relative, inverse, vertices, weights):
    """Return the vertices of the hand in a pose."""
    bones = len(parents)
    angles = np.zeros((bones, 3), pose.dtype)
    for finger in range(5):
        first = pose[6 + 4 * finger : 10 + 4 * finger]
        angles[2 + 4 * finger, :2] = first[:2]
        angles[3 + 4 * finger, 0] = first[2]
        angles[4 + 4 * finger, 0] = first[3]
    frames = np.zeros((bones, 4, 4), pose.dtype)
    moves = np.zeros((bones, 4, 4), pose.dtype)
    for k in range(bones):
        local = relative[k] @ turned(angles[k])
        frames[k] = local if parents[k] < 0 else frames[parents[k]] @ local
        moves[k] = frames[k] @ inverse[k]
    blended = np.tensordot(weights, moves, axes=1)
    placed = np.einsum("vij,vj->vi", blended, vertices)[:, :3]
    return placed @ rotation(pose[:3]).T + pose[3:6]


def objective(pose, vertex, points, *rest):
    """Return the differences between the points and their vertices, one after the other."""
    return (points - posed(pose, *rest)[vertex]).reshape(-1)
