"""JAX with `jit` around the gradient: compiled code; compilation is not in the times."""

import jax
import jax.numpy
import numpy as np
import problems

from tools import derivatives
from tools.jax import gradient_of, version, waiting

__all__ = ["TITLE", "derivative", "function", "prepare", "version"]

TITLE = "JAX jit"


def prepare(problem, arguments):
    """Return a function that computes the compiled gradient and waits for it."""
    return waiting(jax.jit(gradient_of("jax_jit", problem)), arguments)


def function(problem, arguments):
    """Return a function that evaluates the compiled objective and waits for it."""
    return compiled(problem, problems.stated_for("jax_jit", problem, jax.numpy).objective, arguments)


def derivative(problem, arguments):
    """Return a function that computes the compiled derivative and waits for it."""
    return compiled(problem, *derivatives.of("jax_jit", problem, arguments, OPERATORS, jax.numpy))


def compiled(problem, compute, arguments):
    """Compile, convert the arguments once, and return a function that calls and waits for the result."""
    static = problems.static(problem)
    compute = jax.jit(compute, static_argnums=static)
    converted = [
        leaf if k in static else jax.tree.map(lambda x: jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x, leaf)
        for k, leaf in enumerate(arguments)
    ]
    return lambda: jax.block_until_ready(compute(*converted))


def fewest(f):
    """Return the Jacobian of f, forward if it has fewer arguments than results (JAX leaves that to its users)."""

    def jacobian(x, *rest):
        count = jax.eval_shape(lambda x: f(x, *rest), x).size
        return (jax.jacfwd if x.size <= count else jax.jacrev)(f)(x, *rest)

    return jacobian


def hvp(f):
    """Return the product of the Hessian with a vector, forward over reverse."""
    return lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1]


OPERATORS = {"gradient": jax.grad, "jacobian": fewest, "hessian": jax.hessian, "hvp": hvp}
