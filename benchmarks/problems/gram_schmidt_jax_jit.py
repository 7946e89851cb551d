"""Gram and Schmidt's orthogonalisation for JAX's compiler: all later rows at once, masked, in a loop of its own."""

import jax.numpy as jnp
from jax import lax

NOTE = "all rows at once with a mask in `lax.fori_loop`"


def objective(V, W):
    """Return a weighted sum of the orthonormal vectors, and the logarithms of the lengths."""
    n = len(V)
    places = jnp.arange(n)

    def row(i, state):
        Q, total = state
        length = jnp.sqrt(jnp.sum(Q[i] ** 2))
        q = Q[i] / length
        Q = Q - jnp.outer(jnp.where(places > i, Q @ q, 0.0), q)
        return Q.at[i].set(q), total + jnp.log(length)

    Q, total = lax.fori_loop(0, n, row, (V, 0.0))
    return total + jnp.sum(W * Q)
