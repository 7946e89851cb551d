"""Bundle adjustment for wengert: the Jacobian of one observation, mapped over all of them."""

import wengert as wg
from problems.ba import residual, weight_error

NOTE = "`vmap(jacobian(residual))`"
blocks = wg.vmap(wg.jacobian(residual, argnums=(0, 1, 2)))
diagonal = wg.vmap(wg.grad(weight_error))


def derivative(cameras, points, weights, features, camera, point):
    """Return the blocks of the sparse Jacobian."""
    return *blocks(cameras[camera], points[point], weights, features), diagonal(weights)
