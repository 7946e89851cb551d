"""`minimize`: from a plain function to its minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.optimize import scipy_methods
from wengert.optimize.objective import Objective, Unknowns
from wengert.optimize.progress import ProgressBar
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener


def minimize(
    f: Callable[..., Any],
    x0: Any,
    *,
    method: str = "auto",
    bounds: Any = None,
    constraints: Any = (),
    args: tuple = (),
    jit: bool = True,
    progress: bool = False,
    callback: Callable[..., Any] | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
) -> Solved:
    """A local minimum of `f(x, *args)`, found from `x0`, with exact derivatives.

    Args:
        f: a plain function of a number, an array or a container of these; it returns one real number.
        x0: where to start. The answer has its containers, and its floating types.
        method: one of SciPy's names, which mean SciPy's methods, or "auto".
        bounds: SciPy's forms, a pair `(lower, upper)` for each leaf in the containers of x0, or a pair of containers.
        constraints: in SciPy's forms; their functions take x in its containers. Jacobians are exact.
        args: further arguments of `f`.
        jit: compile `f` and its derivatives. What cannot be compiled runs as ordinary Python, and a warning says why.
        progress: draw a bar with value, gradient norm and time on stderr.
        callback: called after each iteration with x, or with the state if its parameter is called
            `intermediate_result`; to stop, it returns True or raises StopIteration.
        tol: the tolerance of the method.
        options: options of the method, for instance `{"maxiter": 100}`.

    Returns:
        SciPy's `OptimizeResult`, with `.x` in the containers of `x0` and `.method`. Ctrl-C returns the best point so
        far, with `success=False`. If a value or derivative is NaN, `message` says where it arises.

    >>> import numpy as np
    >>> def f(p):
    ...     return (p["a"] - 1) ** 2 + np.sum((p["b"] - p["a"] ** 2) ** 2)
    >>> found = minimize(f, {"a": 0.0, "b": np.zeros(2)}, method="BFGS")
    >>> found.success, found.x["b"].round(4)
    (True, array([1., 1.]))
    """
    args = args if isinstance(args, tuple) else (args,)
    options = dict(options or {})
    unknowns = Unknowns(x0)
    objective = Objective(f, unknowns, args, jit)
    start = unknowns.vector(x0)
    chosen = _chosen(method, unknowns, bounds, constraints)
    if chosen.lower() not in scipy_methods.METHODS:
        raise ValueError(f'method is "auto" or one of {", ".join(scipy_methods.METHODS)}, not {method!r}')
    with ProgressBar(chosen, options.get("maxiter"), progress) as bar:
        listener = Listener(callback, bar, progress, unknowns.container)
        found = scipy_methods.run(objective, start, chosen, bounds, constraints, tol, options, listener)
    return _finished(found, objective, chosen)


def _chosen(method: str, unknowns: Unknowns, bounds: Any, constraints: Any) -> str:
    if method != "auto":
        return method
    if constraints is not None and (isinstance(constraints, dict) or hasattr(constraints, "lb") or len(constraints)):
        return "SLSQP" if unknowns.size <= 300 else "trust-constr"
    return "L-BFGS-B" if bounds is not None or unknowns.size > 300 else "trust-krylov"


def _finished(found: Solved, objective: Objective, method: str) -> Solved:
    """The answer in the user's containers; what is not finite in it is explained."""
    x = np.asarray(found.x, float)
    if not np.isfinite(found.fun) or not np.all(np.isfinite(x)):
        at = x if np.all(np.isfinite(x)) else objective.best[1] if objective.best else x
        reason = objective.fault(at)
        found.success = False
        found.message = f"{found.message}\n{reason}" if reason else found.message
    found.x = objective.unknowns.container(x)
    if "jac" in found and np.shape(found.jac) == (objective.unknowns.size,):
        found.jac = objective.unknowns.unravel(np.asarray(found.jac))
    found.success = bool(found.success)
    found.method = method
    return found
