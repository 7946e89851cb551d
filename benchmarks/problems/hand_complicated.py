"""ADBench: an articulated hand fitted to points somewhere on its triangles: the Jacobian, compressed to 28 columns.

Every point has two coordinates (u, v) in its triangle, which only its own three residuals depend on. So one column of
the Jacobian can hold the derivatives in all the u, and one those in all the v: the derivative in two shifts common to
all points, which come before the pose in the vector of variables.
"""

import adbench
import numpy as np

from problems.hand_model import hand, measurements
from problems.hand_simple import COUNT, posed, rotation, turned

__all__ = ["COUNT", "posed", "rotation", "turned"]

SIZES = (100, 800)
DERIVATIVE = "jacobian"
STATIC = (4,)


def title(n):
    """Name the case in tables."""
    return f"hand, complicated, {n} points"


def inputs(n):
    """Return shifts (zero) and pose, coordinates, corners of the triangles, the points, and the hand at rest."""
    pose, triangle, points, inside = measurements("complicated_small", n, on_triangles=True)
    rest = hand()
    variables = np.concatenate([[0.0, 0.0], pose])
    corners = rest.triangles[triangle]
    return variables, inside, corners, points, rest.parents, rest.relative, rest.inverse, rest.vertices, rest.weights


def golden(n):
    """Return the suite's residuals and compressed Jacobian, if they are known."""
    found = adbench.golden(f"hand_complicated_small_{COUNT[n]}")
    return None if found is None else (found["F"], found["J"])


def objective(variables, inside, corners, points, *rest):
    """Return the differences between the points and their places on the triangles, one after the other."""
    u, v = (inside + variables[:2]).T[:, :, None]
    placed = posed(variables[2:], *rest)
    a, b, c = placed[corners[:, 0]], placed[corners[:, 1]], placed[corners[:, 2]]
    return (points - (u * a + v * b + (1 - u - v) * c)).reshape(-1)
