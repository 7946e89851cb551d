"""JAX with `jit` around the gradient: compiled code, for orientation; compilation is not in the times."""

import jax

from tools.jax import gradient_of, version, waiting

__all__ = ["TITLE", "prepare", "version"]

TITLE = "JAX jit"


def prepare(problem, arguments):
    """Return a function that computes the compiled gradient and waits for it."""
    return waiting(jax.jit(gradient_of("jax_jit", problem)), arguments)
