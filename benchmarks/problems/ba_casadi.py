"""Bundle adjustment in CasADi: the Jacobian of one observation in scalar expressions, mapped over all of them."""

import casadi
import numpy as np

NOTE = "scalar expressions for one observation, `Function.map` over all"


def block() -> casadi.Function:
    """Return the function that computes the Jacobian (2 × 15) of one observation and the derivative of 1 - w²."""
    v, feature = casadi.SX.sym("v", 15), casadi.SX.sym("feature", 2)
    rotation, centre, focal, principal, bend = v[:3], v[3:6], v[6], v[7:9], v[9:11]
    x, weight = v[11:14] - centre, v[14]
    angle = casadi.norm_2(rotation)
    axis = rotation / angle
    turn = casadi.cross(axis, x) * casadi.sin(angle) + axis * casadi.dot(axis, x) * (1 - casadi.cos(angle))
    x = x * casadi.cos(angle) + turn
    p = x[:2] / x[2]
    r = casadi.sumsqr(p)
    error = weight * (focal * p * (1 + bend[0] * r + bend[1] * r**2) + principal - feature)
    return casadi.Function("block", [v, feature], [casadi.jacobian(error, v), -2 * weight])


def prepared(cameras, points, weights, features, camera, point):
    """Return a function without arguments that computes the blocks of the sparse Jacobian."""
    mapped = block().map(len(weights))
    weights = np.asarray(weights)[:, None]
    features = casadi.DM(features.T)
    return lambda: mapped(casadi.DM(np.hstack([cameras[camera], points[point], weights]).T), features)


def arranged(result):
    """Return the blocks as the other tools have them."""
    blocks = np.asarray(result[0]).reshape(2, -1, 15).transpose(1, 0, 2)
    return blocks[:, :, :11], blocks[:, :, 11:14], blocks[:, :, 14], np.asarray(result[1])
