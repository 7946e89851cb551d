"""LU factorisation for JAX's compiler: a loop over pivots, each an update of the whole matrix, masked."""

import jax.numpy as jnp
from jax import lax

NOTE = "whole rank-one updates with a mask in `lax.fori_loop`"


def objective(A):
    """Return the logarithm of the determinant, and a little of every entry of the factors."""
    n = len(A)
    places = jnp.arange(n)

    def eliminate(k, B):
        below = places > k
        factors = jnp.where(below, B[:, k] / B[k, k], 0.0)
        B = B - jnp.outer(factors, jnp.where(below, B[k], 0.0))
        return B.at[:, k].set(jnp.where(below, factors, B[:, k]))

    B = lax.fori_loop(0, n, eliminate, A)
    return jnp.sum(jnp.log(jnp.diag(B))) + 0.1 * jnp.sum(B**2)
