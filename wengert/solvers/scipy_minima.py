"""Minima that SciPy finds: `minimize` and `minimize_scalar`, least squares of all kinds, `linprog`.

SciPy's functions run on plain numbers as always; where something they depend on is traced, the minimum is an answer
(`optimum.py`) of the conditions that hold there.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.sparse import issparse

from wengert.api.jacobian import jacobian
from wengert.box.dispatch import CALLERS, FUNCTIONS
from wengert.box.functions.linalg import inv
from wengert.box.functions.operands import answer, array, holds_traced, part
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.reduce import sum
from wengert.ops.shape import broadcast_to, transpose
from wengert.running import running
from wengert.solvers.given import Given, solver
from wengert.solvers.optimum import Function, Optimum
from wengert.solvers.parameters import vector
from wengert.types import shape_of

# ---------------------------------------------------------------------------------------------- constraints and bounds


def _is_finite(x: Any) -> np.ndarray:
    """Which entries of a limit may be finite. A traced one is: nobody differentiates with respect to infinity."""
    if isinstance(x, (list, tuple)):
        return np.array([item is not None and bool(np.all(_is_finite(item))) for item in x], bool)
    return np.ones(shape_of(x) or (1,), bool) if isinstance(x, Traced) else np.isfinite(np.atleast_1d(x)).reshape(-1)


def _limits(
    value: Function, lower: Callable[[Any], Any], upper: Callable[[Any], Any], arguments: Any, count: int
) -> tuple[list[Function], list[Function]]:
    """Equalities and inequalities for lower ≤ value ≤ upper."""

    def spread(x: Any) -> Any:
        x = vector(x)
        return x if shape_of(x)[0] == count else broadcast_to(x, shape=(count,))

    low, high = lower(arguments), upper(arguments)
    has_low, has_high = (np.broadcast_to(_is_finite(limit), (count,)) for limit in (low, high))
    same = np.zeros(count, bool)
    if running.state.capture is None or not holds_traced([low, high]):
        same = np.asarray(answer(np.equal, spread(low), spread(high)))
    equalities: list[Function] = []
    inequalities: list[Function] = []

    def rows(mask: np.ndarray, difference: Callable[[Any, Any], Any]) -> Function:
        chosen = np.flatnonzero(mask)
        return lambda a, x: difference(a, x)[chosen]

    if np.any(same):
        equalities.append(rows(same, lambda a, x: vector(value(a, x)) - spread(lower(a))))
    if np.any(has_low & ~same):
        inequalities.append(rows(has_low & ~same, lambda a, x: vector(value(a, x)) - spread(lower(a))))
    if np.any(has_high & ~same):
        inequalities.append(rows(has_high & ~same, lambda a, x: spread(upper(a)) - vector(value(a, x))))
    return equalities, inequalities


def limits_of(bounds: Any, n: int) -> tuple[Any, Any]:
    """Lower and upper limits from any form in which SciPy takes bounds."""
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    if isinstance(bounds, (Traced, np.ndarray)):
        both: Any = bounds
        return both[:, 0], both[:, 1]
    items = list(bounds)
    if len(items) == 2 and not _is_pair(items[0]) and (n != 2 or not _is_pair(items[1])):
        items = [items] * n
    number = lambda x, otherwise: otherwise if x is None else x
    return [number(low, -np.inf) for low, _ in items], [number(high, np.inf) for _, high in items]


def bounded(given: Given, n: int) -> tuple[list[Function], list[Function]]:
    """What the argument `bounds`, a pair of limits, demands of x."""
    return _limits(lambda a, x: x, lambda a: a["bounds"][0], lambda a: a["bounds"][1], given.arguments, n)


def _as_pair(arguments: dict[str, Any]) -> None:
    """Limits in an object of SciPy's as a pair, in which traced values are found."""
    bounds = arguments["bounds"]
    if hasattr(bounds, "lb"):
        arguments["bounds"] = bounds.lb, bounds.ub


def _is_pair(x: Any) -> bool:
    return x.__class__ in (list, tuple) or bool(shape_of(x) if x is not None else ())


def _described(constraints: Any) -> list[dict[str, Any]]:
    """Constraints as plain containers, in which traced values are found."""
    if isinstance(constraints, dict) or hasattr(constraints, "lb"):
        constraints = [constraints]
    found = []
    for c in constraints or ():
        if isinstance(c, dict):
            extra = c.get("args", ())
            found.append({**c, "args": extra if isinstance(extra, tuple) else (extra,)})
        elif hasattr(c, "A"):
            found.append({"type": "limits", "A": c.A, "lb": c.lb, "ub": c.ub, "object": c})
        elif hasattr(c, "fun"):
            found.append({"type": "limits", "fun": c.fun, "lb": c.lb, "ub": c.ub, "object": c})
        else:
            raise UnsupportedFunctionError(
                f"a constraint of type {type(c).__name__} in scipy.optimize.minimize of traced values",
                remedy="use a dict, LinearConstraint or NonlinearConstraint",
            )
    return found


def _constraint_value(c: dict, x: Any) -> Any:
    if "A" in c:
        return matmul(FUNCTIONS[np.atleast_2d](_dense(c["A"])), x)
    return c["fun"](x, *c.get("args", ()))


def _constraint(k: int) -> Function:
    return lambda a, x: _constraint_value(a["constraints"][k], x)


def _limit(k: int, which: str) -> Callable[[Any], Any]:
    return lambda a: a["constraints"][k][which]


# --------------------------------------------------------------------------------------------------------- the solvers


_ROUNDING = ("precision loss", "failure to predict improvement", "ABNORMAL", "Positive directional derivative")
"""What methods say that cannot go on because of rounding errors: then it may well be the answer, which is checked."""


def _constraints_and_limits(arguments: dict[str, Any]) -> None:
    """Constraints as dicts, and bounds as limits."""
    arguments["constraints"] = _described(arguments["constraints"])
    if arguments["bounds"] is not None:
        n = int(np.prod(shape_of(array(arguments["x0"])) or (1,)))
        arguments["bounds"] = limits_of(arguments["bounds"], n)


@solver("scipy.optimize", "minimize", brought_to_form=_constraints_and_limits)
def _minimize(given: Given) -> Any:
    start, module, arguments = vector(array(given["x0"])), given.module, given.arguments
    n = shape_of(start)[0]
    with_gradient = given["jac"] is True
    told = given.told()

    def value(a: Any, x: Any) -> Any:
        y = a["fun"](x, *a["args"])
        return y[0] if with_gradient else y

    equalities: list[Function] = []
    inequalities: list[Function] = []
    for k, c in enumerate(given["constraints"]):
        at = _constraint(k)
        if c["type"] == "eq":
            equalities.append(at)
        elif c["type"] == "ineq":
            inequalities.append(at)
        else:
            count = shape_of(vector(at(arguments, start)))[0]
            more = _limits(at, _limit(k, "lb"), _limit(k, "ub"), arguments, count)
            equalities += more[0]
            inequalities += more[1]
    if given["bounds"] is not None:
        more = bounded(given, n)
        equalities += more[0]
        inequalities += more[1]

    def as_scipy_takes(c: dict) -> Any:
        """A constraint for SciPy, with plain numbers."""
        if c["type"] != "limits":
            return c
        if "A" in c:
            return module.LinearConstraint(c["A"], c["lb"], c["ub"], c["object"].keep_feasible)
        old = c["object"]
        options = {k: getattr(old, k) for k in ("jac", "hess", "keep_feasible") if hasattr(old, k)}
        return module.NonlinearConstraint(c["fun"], c["lb"], c["ub"], **options)

    def find(plain: dict[str, Any]) -> Any:
        options = given.passed(plain)
        options["constraints"] = [as_scipy_takes(c) for c in plain["constraints"]]
        if given["bounds"] is not None:
            options["bounds"] = module.Bounds(
                *plain["bounds"], getattr(given.as_given["bounds"], "keep_feasible", False)
            )
        if not with_gradient and not callable(plain["jac"]):
            options["fun"] = lambda x, *rest: np.float64(plain["fun"](x, *rest))
        found = told.note(given.original(**options))
        if not found.success and not any(text in found.message for text in _ROUNDING):
            raise given.not_converged(found.message)
        return found.x

    x = Optimum(given, value, equalities, inequalities).minimum(start, (n,), find)
    return told.result({"x": x, "fun": value(arguments, x)}, module.OptimizeResult)


@solver("scipy.optimize", "minimize_scalar")
def _minimize_scalar(given: Given) -> Any:
    told = given.told()
    limits = given["bounds"]
    value = lambda a, x: a["fun"](part(x, 0, 0), *a["args"])
    inequalities = [] if limits is None else [
        lambda a, x: x - a["bounds"][0], lambda a, x: a["bounds"][1] - x
    ]  # fmt: skip

    def find(plain: dict[str, Any]) -> Any:
        fun = lambda x, *rest: np.float64(plain["fun"](x, *rest))
        return given.answer_in(told.note(given.original(**{**given.passed(plain), "fun": fun})))

    x = Optimum(given, value, (), inequalities).minimum(np.ones(1), (), find)
    return told.result({"x": x, "fun": given["fun"](x, *given["args"])}, given.module.OptimizeResult)


def _linear(z: Any) -> Any:
    return z


_LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": _linear,
    "soft_l1": lambda z: 2 * (e.sqrt(1 + z) - 1),
    "huber": lambda z: e.where(z <= 1, z, 2 * e.sqrt(e.where(z <= 1, 1.0, z)) - 1),
    "cauchy": e.log1p,
    "arctan": e.arctan,
}
"""ρ(z) of SciPy's robust losses."""


def _cost(residuals: Any, loss: str, scale: Any) -> Any:
    if loss == "linear":
        return 0.5 * sum(residuals * residuals)
    return 0.5 * scale * scale * sum(_LOSSES[loss]((residuals / scale) ** 2))


@solver("scipy.optimize", "least_squares", brought_to_form=_as_pair)
def _least_squares(given: Given) -> Any:
    loss = given["loss"]
    if callable(loss):
        raise UnsupportedFunctionError(
            "scipy.optimize.least_squares of traced values with a loss that is a function",
            remedy=f"use one of {', '.join(_LOSSES)}",
        )
    told = given.told()
    n = int(np.prod(shape_of(array(given["x0"])) or (1,)))
    residuals = lambda a, x: vector(a["fun"](x, *a["args"], **(a["kwargs"] or {})))
    value = lambda a, x: _cost(residuals(a, x), loss, a["f_scale"])
    more = bounded(given, n)

    def find(plain: dict[str, Any]) -> Any:
        fun = plain["fun"]
        as_arrays = lambda x, *rest, **others: np.atleast_1d(np.asarray(fun(x, *rest, **others), float))
        return given.answer_in(told.note(given.original(**{**given.passed(plain), "fun": as_arrays})))

    x = Optimum(given, value, *more).minimum(vector(array(given["x0"])), (n,), find)
    r = residuals(given.arguments, x)
    traced = {"x": x, "fun": r, "cost": _cost(r, loss, given["f_scale"])}
    if loss == "linear" and given["jac_sparsity"] is None and not any(issparse(run.jac) for run in told.runs):
        slopes = jacobian(lambda x: residuals(given.arguments, x))(x)  # other losses scale it
        traced |= {"jac": slopes, "grad": matmul(transpose(slopes, axes=(1, 0)), r)}
    return told.result(traced, given.module.OptimizeResult)


def _in_form(arguments: dict[str, Any]) -> None:
    """Limits as a pair; and the data that are NaN are left out, as `nan_policy="omit"` asks for."""
    _as_pair(arguments)
    if arguments["nan_policy"] != "omit" or arguments["check_finite"]:
        return
    absent = [answer(np.isnan, array(arguments[name])) for name in ("xdata", "ydata")]
    there = np.flatnonzero(~(np.any(absent[0], axis=tuple(range(np.ndim(absent[0]) - 1))) | absent[1]))
    for name in ("xdata", "ydata", "sigma"):
        value = arguments[name]
        if value is None or shape_of(array(value)) in ((), (1,)):
            continue
        taken = array(value)[..., there]
        arguments[name] = taken[there] if name == "sigma" and len(shape_of(taken)) == 2 else taken
    arguments["nan_policy"] = None


@solver("scipy.optimize", "curve_fit", brought_to_form=_in_form)
def _curve_fit(given: Given) -> Any:
    p0 = given["p0"]
    n = _count_parameters(given["f"]) if p0 is None else int(np.prod(shape_of(array(p0)) or (1,)))
    sigma = None if given["sigma"] is None else shape_of(array(given["sigma"]))
    told = given.told()

    def weighted(a: Any, p: Any) -> Any:
        r = vector(a["f"](a["xdata"], *[part(p, 0, k) for k in range(n)])) - vector(a["ydata"])
        if sigma is None:
            return r
        if len(sigma) == 2 and sigma != (1, 1):
            return FUNCTIONS[np.linalg.solve](FUNCTIONS[np.linalg.cholesky](array(a["sigma"])), r)
        return r / vector(a["sigma"])

    more = bounded(given, n)

    def find(plain: dict[str, Any]) -> Any:
        try:
            found, _, *outcome = given.original(**{**given.passed(plain), "full_output": True})
        except RuntimeError as error:
            raise given.not_converged(error) from None
        told.note(outcome)
        return found

    value = lambda a, p: _cost(weighted(a, p), "linear", 1.0)
    popt = Optimum(given, value, *more).minimum(np.ones(n), (n,), find)
    r = weighted(given.arguments, popt)
    if given["absolute_sigma"] or shape_of(r)[0] > n:
        slopes = jacobian(lambda p: weighted(given.arguments, p))(popt)
        pcov = inv(matmul(transpose(slopes, axes=(1, 0)), slopes))
        if not given["absolute_sigma"]:
            pcov = pcov * (sum(r * r) / (shape_of(r)[0] - n))
    else:
        pcov = np.full((n, n), np.inf)
        message = "Covariance of the parameters could not be estimated"
        warnings.warn(message, given.module.OptimizeWarning, stacklevel=3)
    if not given["full_output"]:
        return popt, pcov
    details = {"nfev": told.field("nfev", read=lambda found: found[0]["nfev"]), "fvec": r}
    return popt, pcov, details, *[told.field(key, read=itemgetter(k)) for k, key in ((1, "mesg"), (2, "ier"))]


def _count_parameters(f: Callable) -> int:
    names = [p for p in inspect.signature(f).parameters.values() if p.kind is not inspect.Parameter.VAR_POSITIONAL]
    return len(names) - 1


def _dense(A: Any) -> Any:
    return array(A.toarray() if hasattr(A, "toarray") else A)


def _linear_residuals(a: Any, x: Any) -> Any:
    return matmul(_dense(a["A"]), x) - vector(a["b"])


def _half_of_squares(a: Any, x: Any) -> Any:
    return _cost(_linear_residuals(a, x), "linear", 1.0)


@solver("scipy.optimize", "nnls")
def _nnls(given: Given) -> Any:
    n = shape_of(array(given["A"]))[1]
    find = lambda plain: given.original(**given.passed(plain))[0]
    x = Optimum(given, _half_of_squares, (), [lambda a, x: x]).minimum(np.ones(n), (n,), find)
    return x, e.sqrt(sum(_linear_residuals(given.arguments, x) ** 2))


@solver("scipy.optimize", "lsq_linear", brought_to_form=_as_pair)
def _lsq_linear(given: Given) -> Any:
    n = shape_of(_dense(given["A"]))[1]
    told = given.told()
    find = lambda plain: given.answer_in(told.note(given.original(**given.passed(plain))))
    x = Optimum(given, _half_of_squares, *bounded(given, n)).minimum(np.ones(n), (n,), find)
    r = _linear_residuals(given.arguments, x)
    return told.result({"x": x, "fun": r, "cost": _cost(r, "linear", 1.0)}, given.module.OptimizeResult)


def _number_of_costs(arguments: dict[str, Any]) -> int:
    return int(np.prod(shape_of(array(arguments["c"]))))


def _not_negative(arguments: dict[str, Any]) -> None:
    """Limits as a pair; where there are none, variables are not negative."""
    bounds = (0, None) if arguments["bounds"] is None else arguments["bounds"]
    arguments["bounds"] = limits_of(bounds, _number_of_costs(arguments))


@solver("scipy.optimize", "linprog", brought_to_form=_not_negative)
def _linprog(given: Given) -> Any:
    n = _number_of_costs(given.arguments)
    told = given.told()
    equalities, inequalities = bounded(given, n)
    if given["A_eq"] is not None:
        equalities.append(lambda a, x: matmul(_dense(a["A_eq"]), x) - vector(a["b_eq"]))
    if given["A_ub"] is not None:
        inequalities.append(lambda a, x: vector(a["b_ub"]) - matmul(_dense(a["A_ub"]), x))
    value = lambda a, x: sum(vector(a["c"]) * x)

    def find(plain: dict[str, Any]) -> Any:
        each = np.stack([np.broadcast_to(b, (n,)) for b in plain["bounds"]], 1)
        return given.answer_in(told.note(given.original(**{**given.passed(plain), "bounds": each})))

    x = Optimum(given, value, equalities, inequalities).minimum(np.ones(n), (n,), find)
    return told.result({"x": x, "fun": value(given.arguments, x)}, given.module.OptimizeResult)


@when_imported("scipy.optimize")
def _holding_limits(module: Any) -> None:
    """Objects that hold limits take lists of traced numbers for arrays."""
    as_array = lambda x: array(x) if isinstance(x, (list, tuple)) and holds_traced(x) else x

    def taking_lists(original: Callable) -> Callable:
        def made(*args: Any, **kwargs: Any) -> Any:
            return original(*map(as_array, args), **{name: as_array(x) for name, x in kwargs.items()})

        return made

    for original in (module.Bounds, module.LinearConstraint, module.NonlinearConstraint):
        CALLERS[original] = taking_lists(original)
