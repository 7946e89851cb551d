"""Laplace's approximation: the normal distribution around the mode, whose precision is the exact Hessian there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.algorithms.minima import newton_minimum
from wengert.api.hessian import value_grad_and_hessian
from wengert.errors import ConvergenceError, told
from wengert.infer.approximation import Approximation
from wengert.infer.compiling import compiled
from wengert.infer.coordinates import coordinate_names
from wengert.infer.pathfinder import BARRIER, finite_or_barrier, path_to_mode, raise_no_start, starts_of
from wengert.infer.posterior import posterior


@told
def laplace(target: Callable, *args: Any, init: Any = None, support: Any = None, seed: Any = 0) -> Approximation:
    """The normal distribution around the mode, on the unconstrained scale; the precision is the Hessian of −log p.

    Arguments as for `infer.pathfinder`. The mode is found by L-BFGS and Newton's method with exact derivatives. Where
    the Hessian is not positive definite there is no such distribution, and a `ConvergenceError` says so.

    >>> import numpy as np
    >>> from wengert import infer
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> fit = infer.laplace(lambda x: -0.5 * x @ A @ x, init=np.ones(2))
    >>> np.allclose(fit.sd**2, np.diag(np.linalg.inv(A)))
    True
    """
    rng = np.random.default_rng(seed)
    found = posterior(target, *args, init=init, support=support)
    density = found.value_and_gradient
    second = compiled(value_grad_and_hessian(found.log_density))
    negative = finite_or_barrier(density)
    best = None
    for start in starts_of(found, init, rng, 1 if init is not None else 4):
        u = path_to_mode(density, start, 500)[0][-1]
        if best is None or negative(u)[0] < negative(best)[0]:
            best = u
    if best is None or negative(best)[0] >= BARRIER:
        raise_no_start(found)
    derivatives = lambda u: tuple(-np.asarray(part) for part in second(u)[1:])
    mode, size, _ = newton_minimum(lambda u: negative(u)[0], derivatives, best, 1e-9, 50)
    hessian = derivatives(mode)[1]
    values, vectors = scipy.linalg.eigh(hessian)
    if not values[0] > 1e-10 * values[-1]:
        weakest = coordinate_names(found)[int(np.argmax(np.abs(vectors[:, 0])))]
        raise ConvergenceError(
            "there is no Laplace approximation: at the mode the log-density does not fall off in the direction in "
            f"which {weakest} changes most",
            remedy="give that parameter a prior that ties it down, write the model without the redundancy, or sample "
            "it with infer.nuts; infer.check shows such directions",
        )
    if not size < 1e-5:
        raise ConvergenceError(
            "the mode of the log-density was not found", remedy="start nearer to it, init=…, or use infer.advi"
        )
    factor = np.linalg.cholesky(np.linalg.inv(hessian))
    log_jacobian = np.sum(np.log(np.diag(factor)))
    return Approximation(
        found, lambda eps: (mode + eps @ factor.T, np.full(len(eps), log_jacobian)), (mode, factor),
        message="the normal distribution at the mode",
    )  # fmt: skip
