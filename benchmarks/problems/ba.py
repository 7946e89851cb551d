"""ADBench: bundle adjustment, a sparse Jacobian made of blocks of 2 × 15, one for each observation.

A camera has a rotation (3), a centre (3), a focal length, a principal point (2) and a radial distortion (2).
"""

import adbench
import numpy as np

SIZES = ("ba1", "ba4")
DERIVATIVE = "blocks"
COUNTS = {"ba1": (49, 7_776, 31_843), "ba4": (372, 47_423, 204_472)}


def title(n):
    """Name the case in tables."""
    return n.upper()


def inputs(n):
    """Return cameras, points, weights, the features seen, and which camera sees which point."""
    cameras, points, seen = COUNTS[n]
    text = adbench.text(f"ba/{n}_n{cameras}_m{points}_p{seen}.txt")
    if text is None:
        random = np.random.default_rng(seen)
        camera = np.concatenate([random.normal(0.0, 0.1, 6), [500.0], random.normal(0.0, 0.1, 4)])
        point, weight, feature = np.append(random.normal(size=2), 5.0), 0.9, random.normal(size=2)
    else:
        camera, point, weight, feature = (np.array(row.split(), float) for row in text.splitlines()[1:5])
    order = np.arange(seen)
    return (
        np.tile(camera, (cameras, 1)),
        np.tile(point, (points, 1)),
        np.full(seen, float(np.squeeze(weight))),
        np.tile(feature, (seen, 1)),
        order % cameras,
        order % points,
    )


def golden(n):
    """Return the suite's errors and the values of its sparse Jacobian, if they are known, arranged as ours."""
    found = adbench.golden(f"ba_{n}")
    if found is None:
        return None
    seen = COUNTS[n][2]
    blocks, diagonal = found["Jvals"][: 30 * seen].reshape(seen, 2, 15), found["Jvals"][30 * seen :]
    parts = blocks[:, :, :11], blocks[:, :, 11:14], blocks[:, :, 14], diagonal
    return found["F"], np.concatenate([part.ravel() for part in parts])


def objective(cameras, points, weights, features, camera, point):
    """Return the weighted errors of the projections, and how far the weights are from one, for all observations."""
    c = cameras[camera]
    rotation, centre, focal, principal, bend = c[:, :3], c[:, 3:6], c[:, 6:7], c[:, 7:9], c[:, 9:]
    x = points[point] - centre
    angle = np.sqrt(np.sum(rotation**2, axis=1, keepdims=True))
    axis = rotation / angle
    along = np.sum(axis * x, axis=1, keepdims=True)
    x = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * along * (1 - np.cos(angle))
    p = x[:, :2] / x[:, 2:]
    r = np.sum(p**2, axis=1, keepdims=True)
    p = focal * p * (1 + bend[:, :1] * r + bend[:, 1:] * r**2) + principal
    return weights[:, None] * (p - features), 1 - weights**2


def residual(camera, point, weight, feature):
    """Return the weighted error of one projection."""
    rotation, centre, focal, principal, bend = camera[:3], camera[3:6], camera[6], camera[7:9], camera[9:]
    x = point - centre
    angle = np.sqrt(np.sum(rotation**2))
    axis = rotation / angle
    x = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle) + axis * np.sum(axis * x) * (1 - np.cos(angle))
    p = x[:2] / x[2]
    r = np.sum(p**2)
    return weight * (focal * p * (1 + bend[0] * r + bend[1] * r**2) + principal - feature)


def weight_error(weight):
    """Return how far a weight is from one."""
    return 1 - weight**2
