"""`minimize`: from a plain function to its minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms.status import LIMIT, STALLED, STUCK, is_level
from wengert.api.flat import Layout
from wengert.api.grad import grad
from wengert.api.hessian import hvp
from wengert.errors import MismatchError, UnsupportedFunctionError, WengertError
from wengert.optimize import examination, native, scipy_methods, sparse_newton, traced
from wengert.optimize.constraints import rows_of
from wengert.optimize.limits import limits_of
from wengert.optimize.nlp import nlp
from wengert.optimize.objective import Objective, Unknowns, demand_function, explains_tuples, given_derivatives, started
from wengert.optimize.progress import ProgressBar
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener
from wengert.solvers.parameters import depend_on_traced

_FEW = 200
"""Up to so many unknowns products with the Hessian are worth their cost."""
_PATIENCE = 1000
"""So many iterations L-BFGS has for many unknowns, before Newton's method is tried."""
_FEW_WITH_CONSTRAINTS = 300
_TIGHT = (1e-12, 1e-9, 1e-6)
"""Tolerances of SLSQP where nothing is said: its own leaves five digits, and with tighter ones it may end at a minimum
without knowing."""
_DOUBTFUL = (8, 9)
"""SLSQP's line search has found nothing lower, or its iterations are used up."""
_STOPPED = 99
"""The callback, or who pressed Ctrl-C, wanted no more."""
_LARGE = "interior-point"
"""The engine of `nlp`, for many unknowns with constraints, and where SLSQP has failed."""
_NEARLY_LEVEL, _NOT_SMALL = 1e-2, 1e-3
"""Where a change of x by its own size changes the value by a larger part, and the gradient is larger, is no minimum."""
_NO_CURVATURE = 1e-15
_FAR = 1e12
"""A point that is so many times further away than the start is on its way to infinity."""


@explains_tuples
def minimize(
    f: Callable[..., Any],
    x0: Any,
    *,
    method: str | None = "auto",
    bounds: Any = None,
    constraints: Any = (),
    args: tuple = (),
    jit: bool = True,
    progress: bool = False,
    callback: Callable[..., Any] | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    **others: Any,
) -> Solved:
    """A local minimum of `f(x, *args)`, found from `x0`, with exact derivatives.

    Args:
        f: a plain function of a number, an array or a container of these; it returns one real number.
        x0: where to start. The answer has its containers, and its floating types; a list of numbers is a vector.
        method: "auto" chooses by size and structure, and the result says what. Methods of our own run whole in one
            compiled loop: "lbfgs" (also with bounds), "trust-ncg-native" (Newton's method with products of the
            Hessian), "cg-native", "gradient-descent" (also with bounds), "gauss-newton" (`f` returns residuals, and the
            sum of their squares is minimised). "sparse-newton" factors sparse Hessians, for many unknowns; "auto" goes
            over to it where L-BFGS is slow. "interior-point" is that of `nlp`; "auto" takes it for many unknowns with
            constraints, and where SLSQP fails. SciPy's names mean SciPy's methods.
        bounds: SciPy's forms, a pair `(lower, upper)` for each leaf in the containers of x0, or a pair of containers.
        constraints: in SciPy's forms; their functions take x in its containers. Jacobians are exact.
        args: further arguments of `f`.
        jit: compile `f` and its derivatives. What cannot be compiled runs as ordinary Python, and a warning says why.
        progress: draw a bar with value, gradient norm and time on stderr.
        callback: called after each iteration with x, or with the state if its parameter is called
            `intermediate_result`; to stop, it returns True or raises StopIteration.
        tol: the tolerance of the method; of our own, the largest component of the gradient (1e-8).
        options: options of the method: `{"maxiter": 100}`, for "lbfgs" also `memory`; of SciPy's methods, theirs.

    Inside a `vmap`, many problems are solved in one compiled loop; inside a differentiated function the answer has the
    derivative of an answer, with respect to `args` and to what `f` closes over; both with our own methods.

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
    demand_function(f, "what is minimised")
    given_derivatives(others, "minimize")
    options, method = dict(options or {}), method or "auto"
    x0 = started(x0)
    if depend_on_traced((f, x0, args)):
        return _of_traced(f, x0, method, bounds, constraints, args, tol, options)
    unknowns = Unknowns(x0)
    jit = jit and not getattr(f, "is_compiled", False)  # as sum_over is, block by block
    objective = Objective(f, unknowns, args, jit)
    start = unknowns.vector(x0)
    chosen, note = _chosen(method, f, objective, start, bounds, constraints)
    if chosen == _LARGE:
        return _by_interior_point(
            f, x0, bounds, constraints, args, tol, callback, progress, jit, None, unknowns, options
        )
    tolerances = _TIGHT if method == "auto" and chosen == "SLSQP" and tol is None else (tol,)
    with ProgressBar(chosen, options.get("maxiter"), progress) as bar:
        listener = Listener(callback, bar, progress, unknowns.container)
        limits = limits_of(bounds, unknowns)
        if chosen == sparse_newton.NAME:
            found = sparse_newton.run(f, objective, start, limits, tol, options, listener, jit)
        elif chosen in native.METHODS:
            patience = {"maxiter": _PATIENCE} if method == "auto" and chosen == "lbfgs" and len(start) > _FEW else {}
            task = native.Task(f, objective, chosen, limits, tol, patience | options, listener, jit)
            found = native.run(task, start)
            if patience and found.status in (LIMIT, STALLED, STUCK) and "maxiter" not in options:
                chosen, found = _harder(f, objective, found, limits, tol, options, listener, jit)
        else:
            stated = bounds, constraints
            found = scipy_methods.run(objective, start, chosen, *stated, tolerances[0], options, listener)
            for looser in tolerances[1:]:
                if found.status not in _DOUBTFUL or not np.all(np.isfinite(found.x)):
                    break
                before = found
                found = scipy_methods.run(objective, found.x, chosen, *stated, looser, options, listener)
                found.nit, found.nfev = found.nit + before.nit, found.nfev + before.nfev
            if method == "auto" and not found.success and not options and found.status != _STOPPED:
                return _by_interior_point(f, x0, *stated, args, tol, callback, progress, jit, found, unknowns)
    if found.success and not _are_there(constraints) and not getattr(f, "is_compiled", False):
        lower = _off_saddle(objective, found, start if limits is None else np.clip(start, *limits), limits)
        if lower is not None:
            found = minimize(f, unknowns.container(lower), method=chosen, bounds=bounds, args=args, jit=jit,
                             progress=progress, callback=callback, tol=tol, options=options)  # fmt: skip
            found.message = native.LEFT_SADDLE + found.message
            return found
    found.message = note + found.message + _endless(found, start)
    return _finished(found, objective, chosen, start)


def _off_saddle(objective: Objective, found: Solved, start: np.ndarray, limits: Any) -> np.ndarray | None:
    """A lower point beside the start, where a method has stayed since the gradient is zero there."""
    x = np.asarray(found.x, float)
    if not np.array_equal(x, start):
        return None
    f = objective.of_one(x)
    value, product = (lambda x: float(f(x, *objective.args))), hvp(f)
    free = np.ones(len(x), bool) if limits is None else (x > limits[0]) & (x < limits[1])
    try:
        with np.errstate(all="ignore"):
            if np.max(np.abs(grad(f)(x, *objective.args)[free]), initial=0.0) > native.TOLERANCE:
                return None  # it has stayed since no more was asked of it
            return examination.beside_start(
                value, lambda x, v: np.asarray(product(x, *objective.args, v)), x, value(x), limits
            )
    except (WengertError, ArithmeticError, ValueError):
        return None  # there are no second derivatives, or no values beside it


def _chosen(
    method: str, f: Callable, objective: Objective, x0: np.ndarray, bounds: Any, constraints: Any
) -> tuple[str, str]:
    """The method, and what is to be said about the choice."""
    constrained = _are_there(constraints)
    if method == "auto":
        return _by_structure(len(x0), bounds is not None, constrained)
    if method == _LARGE:
        return method, ""
    own = (*native.METHODS, sparse_newton.NAME)
    if method not in own and method.lower() not in scipy_methods.METHODS:
        names = ", ".join([*own, _LARGE, *scipy_methods.METHODS])
        raise ValueError(f'method is "auto" or one of {names}, not {method!r}')
    if method in own and constrained:
        raise MismatchError(
            f'method "{method}" takes no constraints', remedy='use method "SLSQP", "trust-constr" or optimize.nlp'
        )
    if method == "gauss-newton":
        if np.ndim(objective.residuals(x0, *objective.args)):
            objective.flat = objective.residuals
            return method, ""
        note = f"gauss-newton needs residuals and {objective.name} returns one number, so its exact Hessian is used; "
        return "trust-ncg-native", note
    return method, ""


def _harder(f: Callable, objective: Objective, found: Solved, limits: Any, tol: Any, options: dict, listener: Listener,
            jit: bool) -> tuple[str, Solved]:  # fmt: skip
    """Many unknowns, and L-BFGS has not found the minimum: Newton's method if the Hessian is sparse, or more of it."""
    x, nit, nfev = found.x, found.nit, found.nfev
    if limits is not None or objective.pattern is None:
        chosen = "lbfgs"
        if found.status == LIMIT:
            found = native.run(native.Task(f, objective, chosen, limits, tol, options, listener, jit), x)
            found.nit, found.nfev = found.nit + nit, found.nfev + nfev
        return chosen, found
    after = sparse_newton.run(f, objective, x, limits, tol, options, listener, jit)
    if not after.success and not after.fun < found.fun:
        return "lbfgs", found
    after.message = f"after {nit} iterations of lbfgs, by {sparse_newton.NAME}: {after.message}"
    after.nfev += nfev
    return sparse_newton.NAME, after


def _by_interior_point(
    f: Callable,
    x0: Any,
    bounds: Any,
    constraints: Any,
    args: tuple,
    tol: float | None,
    callback: Any,
    progress: bool,
    jit: bool,
    before: Solved | None,
    unknowns: Unknowns,
    options: Any = None,
) -> Solved:
    """The answer of `nlp`; after SLSQP, only where that has none."""
    equal, unequal = rows_of(scipy_methods.listed(constraints), unknowns)
    given: dict[str, Any] = {"tol": tol} if tol is not None else {}
    options = dict(options or {})
    if "maxiter" in options:
        given["maxiter"] = options.pop("maxiter")
    found = nlp(f, x0, equalities=equal, inequalities=unequal, bounds=bounds, engine=_LARGE, args=args, jit=jit,
                progress=progress, callback=callback, options=options, **given)  # fmt: skip
    if before is None:
        return found
    if found.success:
        found.message = f"{found.message} (after SLSQP: {before.message})"
        return found
    before.x = unknowns.container(np.asarray(before.x, float))
    before.jac = unknowns.unravel(np.asarray(before.jac))
    before.message = f"{before.message}; {_LARGE}: {found.message}"
    before.method = "SLSQP"
    return before


def _by_structure(n: int, bounded: bool, constrained: bool) -> tuple[str, str]:
    """The method that suits a problem with n unknowns."""
    if constrained:
        return ("SLSQP" if n <= _FEW_WITH_CONSTRAINTS else _LARGE), ""
    return ("lbfgs" if bounded or n > _FEW else "trust-ncg-native"), ""


def _endless(found: Solved, start: np.ndarray) -> str:
    """What to say where a function seems to fall without end."""
    has_left = not found.success and np.max(np.abs(found.x)) > _FAR * (1 + np.max(np.abs(start)))
    return "; the function seems to have no lower bound" if has_left else ""


def _are_there(constraints: Any) -> bool:
    if constraints is None:
        return False
    if callable(constraints):
        raise MismatchError(
            "constraints= is a function, of which it is not known what its values are to be",
            remedy="write {'type': 'eq' or 'ineq', 'fun': function}, scipy.optimize.NonlinearConstraint, or use "
            "optimize.nlp(f, x0, equalities=…, inequalities=…)",
        )
    return isinstance(constraints, dict) or hasattr(constraints, "lb") or len(constraints) > 0


def _of_traced(f: Callable, x0: Any, method: str, bounds: Any, constraints: Any, args: tuple, tol: Any, options: dict
               ) -> Solved:  # fmt: skip
    """Where something is traced: a method of our own, in one program."""
    layout = Layout(x0)
    if method == "auto":
        method, _ = _by_structure(layout.size, bounds is not None, _are_there(constraints))
    if method not in native.METHODS or _are_there(constraints):
        raise UnsupportedFunctionError(
            f'optimize.minimize(method="{method}") with constraints or one of SciPy\'s methods, of traced values',
            remedy="use a native method without constraints, or scipy.optimize.minimize, which has derivatives",
        )
    return traced.minimum(f, x0, args, method, limits_of(bounds, layout), tol, options)


def _is_doubtful(found: Solved, slope: Any, method: str) -> bool:
    """Whether one of SciPy's methods may have ended since the gradient is no number."""
    if isinstance(slope, np.ndarray):
        return not np.all(np.isfinite(slope))
    return not found.success and scipy_methods.METHODS[method.lower()].gradient


def _has_given_up(found: Solved, objective: Objective, x: np.ndarray, slope: Any, start: np.ndarray) -> bool:
    """Whether SciPy's Newton-CG, which looks at its steps only, ended where second derivatives tell it no step."""
    if not found.success or not np.all(np.isfinite(slope)) or np.max(np.abs(slope), initial=0.0) <= _NOT_SMALL:
        return False
    if np.max(np.abs(x)) > _FAR * (1 + np.max(np.abs(start))):
        return not is_level(x, found.fun, slope, _NEARLY_LEVEL)
    return bool(0 <= slope @ objective.hessp(x, slope) <= _NO_CURVATURE)


def _finished(found: Solved, objective: Objective, method: str, start: np.ndarray) -> Solved:
    """The answer in the user's containers; what is not finite in it is explained."""
    x = np.asarray(found.x, float)
    slope = found.get("grad" if method.lower() == "trust-constr" else "jac")
    finite = bool(np.isfinite(found.fun) and np.all(np.isfinite(x)))
    if method.lower() == "newton-cg" and finite and _has_given_up(found, objective, x, slope, start):
        found.success = False
        found.message = f"no step was found, and the gradient is not small{_endless(found, start)}"
    if method.lower() in scipy_methods.METHODS and finite and _is_doubtful(found, slope, method):
        reason = objective.fault(x)
        found.success = found.success and not reason
        found.message = f"{found.message}\n{reason}" if reason else found.message
    if method not in native.METHODS and not finite:
        at = x if np.all(np.isfinite(x)) else objective.best[1] if objective.best else x
        reason = objective.fault(at)
        found.success = False
        found.message = f"{found.message}\n{reason}" if reason else found.message
        if objective.best is not None:
            found.fun, x = objective.best
            found.jac = objective.jac(x)
            found.message += "\nx is the best point before"
    found.x = objective.unknowns.container(x)
    if method.lower() == "trust-constr":  # its `jac` is that of the constraints
        found.jac = found.pop("grad", None)
    if isinstance(found.get("jac"), np.ndarray) and found.jac.shape == (objective.unknowns.size,):
        found.jac = objective.unknowns.unravel(found.jac)
    found.success = bool(found.success)
    found.method = method
    return found
