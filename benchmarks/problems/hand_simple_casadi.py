"""The articulated hand (simple) in CasADi: scalar expressions for the vertices that are measured."""

import casadi
import numpy as np

import problems

NOTE = "scalar expressions"
SIZES = (100,)
module = problems.load("hand_functional")


class Namespace:
    """What of NumPy the rotations need, on scalar expressions."""

    cos, sin = staticmethod(casadi.cos), staticmethod(casadi.sin)

    class stack:
        """A list of entries, which `reshape` makes a matrix, row by row."""

        def __init__(self, entries):
            self.entries = entries

        def reshape(self, rows, columns):
            return casadi.reshape(casadi.vertcat(*self.entries), columns, rows).T


module.np = Namespace


def rotation(v):
    """Return the rotation about a vector by its length (Rodrigues)."""
    angle = casadi.norm_2(v)
    cross = casadi.skew(v / angle)
    return casadi.DM.eye(3) + casadi.sin(angle) * cross + (1 - casadi.cos(angle)) * (cross @ cross)


def objective(pose, vertex, points, parents, relative, inverse, vertices, weights):
    """Return the differences between the points and their vertices, one after the other."""
    angles = [[casadi.SX(0)] * 3 for _ in parents]
    for finger in range(5):
        first = 6 + 4 * finger
        angles[2 + 4 * finger][:2] = [pose[first], pose[first + 1]]
        angles[3 + 4 * finger][0] = pose[first + 2]
        angles[4 + 4 * finger][0] = pose[first + 3]
    frames, moves = [], []
    for k, parent in enumerate(parents):
        local = casadi.DM(relative[k]) @ module.turned(*angles[k])
        frames.append(local if parent < 0 else frames[parent] @ local)
        moves.append(frames[k] @ casadi.DM(inverse[k]))
    turn, out = rotation(pose[:3]), []
    for i, point in zip(vertex, np.asarray(points), strict=True):
        blended = sum(weights[i, k] * (moves[k] @ casadi.DM(vertices[i])) for k in np.flatnonzero(weights[i]))
        out.append(casadi.DM(point) - (turn @ blended[:3] + pose[3:6]))
    return casadi.vertcat(*out)
