"""Bundle adjustment for JAX: the Jacobian of one observation, mapped over all of them."""

import jax
import jax.numpy as jnp

import problems

NOTE = "`vmap(jacrev(residual))`"
module = problems.load("ba")
module.np = jnp
objective = module.objective
blocks = jax.vmap(jax.jacrev(module.residual, argnums=(0, 1, 2)))
diagonal = jax.vmap(jax.grad(module.weight_error))


def derivative(cameras, points, weights, features, camera, point):
    """Return the blocks of the sparse Jacobian."""
    return *blocks(cameras[camera], points[point], weights, features), diagonal(weights)
