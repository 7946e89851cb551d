"""The filling loop for JAX, whose arrays cannot be written to: `.at[i].set` returns a new one.

Without `jit`, operations with a new index are compiled anew: the first gradient at n = 1000 takes over a minute, and
every further one ten seconds. So n = 10⁴ is left out.
"""

import jax.numpy as jnp

SIZES = (100,)
NOTE = "`out = out.at[i].set(…)`, at n = 100 only: at n = 10000 the first gradient would compile for many minutes"


def objective(x):
    """Return the energy of a leaky integrator's states."""
    n = len(x)
    out = jnp.zeros(n).at[0].set(x[0])
    for i in range(1, n):
        out = out.at[i].set(0.9 * out[i - 1] + jnp.tanh(x[i]))
    return jnp.sum(out**2)
