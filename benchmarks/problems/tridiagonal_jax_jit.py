"""The tridiagonal solve for JAX's compiler: two scans."""

import jax.numpy as jnp
from jax import lax

NOTE = "two of `lax.scan`"


def objective(diagonal, lower, upper, right):
    """Return the squared length of the solution."""

    def eliminate(last, given):
        d, x = last
        diag, low, up, b = given
        m = low / d
        new = diag - m * up, b - m * x
        return new, new

    first = diagonal[0], right[0]
    _, (d, x) = lax.scan(eliminate, first, (diagonal[1:], lower[1:], upper[:-1], right[1:]))
    d = jnp.concatenate([diagonal[:1], d])
    x = jnp.concatenate([right[:1], x])

    def substitute(after, given):
        d, x, up = given
        new = (x - up * after) / d
        return new, new

    last = x[-1] / d[-1]
    _, others = lax.scan(substitute, last, (d[:-1], x[:-1], upper[:-1]), reverse=True)
    return jnp.sum(others**2) + last**2
