"""SciPy's methods of minimisation, each given what it can use: exact gradients, Hessians, products, Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from wengert.errors import MismatchError
from wengert.optimize.descent_left import RowsBetweenLimits, lower_point
from wengert.optimize.limits import limits_of
from wengert.optimize.objective import ConstraintFunction, Objective
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener, Stopped


class _Uses(NamedTuple):
    """What one of SciPy's methods takes."""

    gradient: bool = True
    second: str = ""
    bounds: bool = False
    constraints: bool = False
    dense: bool = False


METHODS = {
    "nelder-mead": _Uses(gradient=False, bounds=True),
    "powell": _Uses(gradient=False, bounds=True),
    "cg": _Uses(),
    "bfgs": _Uses(),
    "newton-cg": _Uses(second="product"),
    "l-bfgs-b": _Uses(bounds=True),
    "tnc": _Uses(bounds=True),
    "cobyla": _Uses(gradient=False, bounds=True, constraints=True, dense=True),
    "cobyqa": _Uses(gradient=False, bounds=True, constraints=True, dense=True),
    "slsqp": _Uses(bounds=True, constraints=True, dense=True),
    "trust-constr": _Uses(second="any", bounds=True, constraints=True),
    "dogleg": _Uses(second="dense"),
    "trust-ncg": _Uses(second="product"),
    "trust-exact": _Uses(second="dense"),
    "trust-krylov": _Uses(second="product"),
}
"""SciPy's methods, by their names in lower case."""
_RESTARTS = 3
"""So often a method with constraints goes on from a lower point."""
_NO_MINIMUM = 97
"""The status of an answer beside which there is a lower point."""
_FEW = 1000
"""Up to so many unknowns trust-constr is given a dense Hessian where it is not sparse."""


def run(
    objective: Objective,
    x0: np.ndarray,
    method: str,
    bounds: Any,
    constraints: Any,
    tol: float | None,
    options: dict[str, Any],
    listener: Listener,
) -> Solved:
    """The minimum that one of SciPy's methods finds, on vectors."""
    uses = METHODS[method.lower()]
    given: dict[str, Any] = {"method": method, "tol": tol, "options": dict(options)}
    if uses.gradient:
        given["jac"] = objective.jac
    if uses.second == "product":
        given["hessp"] = objective.hessp
    elif uses.second == "dense":
        given["hess"] = objective.dense_hess
    elif uses.second == "any":
        if objective.pattern is not None or len(x0) <= _FEW:
            given["hess"] = objective.hess
        else:
            given["hessp"] = objective.hessp
    limits = limits_of(bounds, objective.unknowns)
    if limits is not None:
        _demand(uses.bounds, method, "bounds", '"lbfgs", "L-BFGS-B" or "trust-constr"')
        given["bounds"] = scipy.optimize.Bounds(*limits)
        x0 = np.clip(x0, *limits)
    stated = listed(constraints)
    if stated:
        _demand(uses.constraints, method, "constraints", '"SLSQP" or "trust-constr"')
        given["constraints"] = [_with_derivatives(c, objective, uses) for c in stated]
    fun = objective.fun if uses.gradient else objective.value
    given["callback"] = _callback(objective, listener, uses)
    try:
        found = scipy.optimize.minimize(fun, x0, **given)
        if stated and found.success and uses.gradient:
            rows = RowsBetweenLimits(given["constraints"], limits)
            found = _further(found, objective, rows, lambda x: scipy.optimize.minimize(fun, x, **given))
    except (KeyboardInterrupt, Stopped) as stop:
        return _stopped(objective, x0, stop)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        value, x = objective.best or (objective.fun(x0), x0)
        tried = x if objective.last is None else objective.last
        reason = objective.fault(x) or objective.fault(tried, second=bool(uses.second))
        if not reason:
            raise
        return Solved(x=x, fun=value, success=False, status=98, message=f"{error}\n{reason}",
                      nit=objective.evaluations, nfev=objective.evaluations)  # fmt: skip
    return Solved({name: value for name, value in found.items() if name != "hess_inv" or value is not None})


def _further(found: Any, objective: Objective, rows: RowsBetweenLimits, solve: Callable) -> Any:
    """The answer of a method with constraints, looked at more closely: it goes on where there is a lower point."""
    for again in range(_RESTARTS + 1):
        x = np.asarray(found.x, float)
        lower = lower_point(objective.value, objective.jac, x, float(found.fun), rows)
        if lower is None:
            return found
        if again == _RESTARTS:
            found.success, found.status = False, _NO_MINIMUM
            found.message = (
                f"{found.message}; but this is no minimum: along the constraints the value falls from {found.fun:.6g} "
                f'to {objective.value(lower):.6g} nearby; use method="interior-point"'
            )
            return found
        after = solve(lower)
        nit, nfev = after.nit + found.nit, after.nfev + found.nfev
        if not after.success or not after.fun < found.fun:  # the method fails there, or goes back
            after = scipy.optimize.OptimizeResult(found, x=lower, fun=objective.value(lower), jac=objective.jac(lower))
            after.pop("multipliers", None)
        after.nit, after.nfev = nit, nfev
        found = after
    return found


def _demand(possible: bool, method: str, what: str, others: str) -> None:
    if not possible:
        raise MismatchError(f'method "{method}" takes no {what}', remedy=f"use method {others}")


def _stopped(objective: Objective, x0: np.ndarray, stop: BaseException) -> Solved:
    value, x = objective.best or (objective.fun(x0), x0)
    message = "the callback asked to stop" if isinstance(stop, Stopped) else "interrupted"
    return Solved(x=x, fun=value, success=False, status=99, message=f"{message}; x is the best point so far",
                  nit=objective.evaluations, nfev=objective.evaluations)  # fmt: skip


def _callback(objective: Objective, listener: Listener, uses: _Uses) -> Callable | None:
    if not listener.listens:
        return None
    count = 0

    def told(x: np.ndarray, *_: Any) -> None:
        nonlocal count
        count += 1
        if uses.gradient:
            value, norm = objective.fun(x), float(np.max(np.abs(objective.jac(x)), initial=0))
        else:
            value, norm = objective.value(x), None
        listener.tell(count, np.array(x), value, norm)

    return told


# -------------------------------------------------------------------------------------------------------- constraints


def listed(constraints: Any) -> list[Any]:
    """Constraints as a list."""
    if constraints is None:
        return []
    single = isinstance(constraints, dict) or hasattr(constraints, "lb")
    return [constraints] if single else list(constraints)


def _with_derivatives(c: Any, objective: Objective, uses: _Uses) -> Any:
    """A constraint in SciPy's form, on vectors and with exact derivatives. What the user states is kept."""
    if isinstance(c, dict):
        if c.get("type") not in ("eq", "ineq") or not callable(c.get("fun")):
            raise MismatchError(
                f"a constraint with the type {c.get('type')!r} and the function {c.get('fun')!r}",
                remedy="a constraint is {'type': 'eq', 'fun': f} for f(x) = 0, or {'type': 'ineq', 'fun': f} for "
                "f(x) ≥ 0",
            )
        args = c.get("args", ())
        function = ConstraintFunction(c["fun"], objective, args if isinstance(args, tuple) else (args,))
        jac = _stated(c.get("jac"), objective, function.args)
        if uses.gradient and uses.second:  # trust-constr, which would use differences for dicts
            upper = 0.0 if c["type"] == "eq" else np.inf
            return scipy.optimize.NonlinearConstraint(
                function.fun, 0.0, upper, jac=jac or function.jac, hess=function.hess
            )
        return {"type": c["type"], "fun": function.fun, "jac": jac or function.dense_jac}
    if hasattr(c, "A"):
        if not (uses.dense and scipy.sparse.issparse(c.A)):
            return c
        return scipy.optimize.LinearConstraint(c.A.toarray(), c.lb, c.ub, c.keep_feasible)
    if not hasattr(c, "fun"):
        raise MismatchError(
            f"a constraint of type {type(c).__name__}",
            remedy="use a dict with 'type' and 'fun', scipy.optimize.NonlinearConstraint or LinearConstraint",
        )
    function = ConstraintFunction(c.fun, objective)
    jac = _stated(c.jac, objective, ())
    exact = function.dense_jac if uses.dense else function.jac
    second = {"hess": function.hess} if uses.second else {}
    return scipy.optimize.NonlinearConstraint(
        function.fun, c.lb, c.ub, jac=jac or exact, keep_feasible=c.keep_feasible, **second
    )


def _stated(jac: Any, objective: Objective, args: tuple) -> Callable | None:
    """The Jacobian that a user has stated, on vectors."""
    return (lambda x: jac(objective.unknowns.unravel(x), *args)) if callable(jac) else None
