"""JAX without `jit`: every operation is dispatched by itself, in double precision."""

import jax
import jax.numpy
import numpy as np
import problems

TITLE = "JAX eager"

jax.config.update("jax_enable_x64", True)
# Operations run in the calling thread: one thread for everybody, and faster at these sizes than handing them over.
jax.config.update("jax_cpu_enable_async_dispatch", False)


def version():
    """Return the version measured."""
    return jax.__version__


def prepare(problem, arguments):
    """Return a function that computes the gradient and waits for it."""
    return waiting(gradient_of("jax", problem), arguments)


def gradient_of(tool, problem):
    """Return the gradient function of a problem, as it is stated for `jax` or for `jax_jit`."""
    return jax.grad(problems.stated_for(tool, problem, jax.numpy).objective)


def waiting(gradient, arguments):
    """Convert the arguments once, and return a function that calls `gradient` and waits for the result."""
    arguments = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, arguments)
    return lambda: jax.block_until_ready(gradient(*arguments))
