"""Levinson and Durbin's recursion for JAX's compiler: whole vectors, shifted by `roll`, in a loop of its own."""

import jax.numpy as jnp
from jax import lax

NOTE = "whole vectors and `jnp.roll` in `lax.fori_loop`"


def objective(r):
    """Return the error of the best linear prediction, and the energy of its coefficients."""
    n = len(r) - 1
    places = jnp.arange(n + 1)

    def order(k, state):
        a, error = state
        turned = jnp.roll(r[::-1], k - n)  # r[k - j] at place j, for j up to k
        s = r[k] - jnp.sum(jnp.where(places < k, a * turned, 0.0))
        reflection = s / error
        others = jnp.where((places > 0) & (places < k), jnp.roll(a[::-1], k - n), 0.0)
        a = (a - reflection * others).at[k].set(reflection)
        return a, error * (1 - reflection * reflection)

    a, error = lax.fori_loop(1, n + 1, order, (jnp.zeros_like(r), r[0]))
    return error + jnp.sum(a**2)
