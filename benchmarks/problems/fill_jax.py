"""The filling loop for JAX, whose arrays cannot be written to: `.at[i].set` returns a new one.

Without `jit`, every new index is compiled for: at n = 1000 the first gradient takes over a minute, and each further one
ten seconds. So n = 10⁴ is left out.
"""

import jax.numpy as jnp

SIZES = (100,)
NOTE = "`out = out.at[i].set(…)`, at n = 100 only: at n = 1000 one gradient takes ten seconds already"


def objective(x):
    """Return the energy of a leaky integrator's states."""
    n = len(x)
    out = jnp.zeros(n).at[0].set(x[0])
    for i in range(1, n):
        out = out.at[i].set(0.9 * out[i - 1] + jnp.tanh(x[i]))
    return jnp.sum(out**2)
