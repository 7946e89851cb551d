"""Minima that other functions of SciPy's find: `fmin` and its like, searches of an interval or of a whole region.

All of them return a place where a function is smallest, within bounds or constraints, if there are some; so it is an
answer of the same conditions (`optimum.py`), whatever the way on which it was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.functions.operands import array, part
from wengert.errors import UnsupportedFunctionError
from wengert.ops.reduce import sum
from wengert.solvers.given import Given, solver
from wengert.solvers.optimum import Function, Optimum
from wengert.solvers.parameters import vector
from wengert.solvers.scipy_minima import bounded, limits_of
from wengert.types import shape_of

_FROM_A_START = {
    "fmin": "func", "fmin_powell": "func", "fmin_bfgs": "f", "fmin_cg": "f", "fmin_ncg": "f",
    "fmin_l_bfgs_b": "func", "fmin_tnc": "func", "fmin_slsqp": "func", "fmin_cobyla": "func",
}  # fmt: skip
"""Functions that start at `x0` -> what they call the objective."""
_IN_A_REGION = ("differential_evolution", "shgo", "dual_annealing", "direct", "basinhopping")
_IN_AN_INTERVAL = ("brent", "golden", "fminbound")


def _bounds_as_limits(arguments: dict[str, Any]) -> None:
    if arguments.get("bounds"):
        arguments["bounds"] = limits_of(arguments["bounds"], -1)


@solver("scipy.optimize", *_FROM_A_START, brought_to_form=_bounds_as_limits)
def _start(given: Given) -> Any:
    for option in ("full_output", "retall"):
        if given.arguments.get(option):
            raise UnsupportedFunctionError(
                f"{given.name} with {option}=True on traced values",
                remedy="use scipy.optimize.minimize, whose result has fields",
            )
    name = given.original.__name__
    objective = _FROM_A_START[name]
    start = vector(array(given["x0"]))
    n = shape_of(start)[0]
    both = given.arguments.get("approx_grad") == 0 and given["fprime"] is None  # of fmin_l_bfgs_b and fmin_tnc
    arguments = given.arguments

    def value(a: Any, x: Any) -> Any:
        y = a[objective](x, *a["args"])
        return y[0] if both else y

    equalities, inequalities = _conditions(name, given)
    if arguments.get("bounds"):
        more = bounded(given, n)
        equalities, inequalities = equalities + more[0], inequalities + more[1]
    told = given.told()

    def find(plain: dict[str, Any]) -> Any:
        options = given.passed(plain)
        if arguments.get("bounds"):
            options["bounds"] = list(zip(*[np.broadcast_to(b, (n,)) for b in plain["bounds"]], strict=True))
        found = told.note(given.original(**options))
        return found[0] if isinstance(found, tuple) else found

    x = Optimum(given, value, equalities, inequalities).minimum(start, (n,), find)
    if name == "fmin_l_bfgs_b":
        return x, value(arguments, x), told.field("the dictionary", read=lambda found: found[2])
    if name == "fmin_tnc":
        read = lambda k: lambda found: found[k]
        return x, told.field("nfeval", read=read(1)), told.field("rc", read=read(2))
    return x


def _conditions(name: str, given: Given) -> tuple[list[Function], list[Function]]:
    """Constraints, as `fmin_slsqp` and `fmin_cobyla` take them."""
    if name == "fmin_cobyla":
        alone = callable(given["cons"])
        extra = "args" if given["consargs"] is None else "consargs"
        count = 1 if alone else len(given["cons"])
        at = lambda k: lambda a, x: (a["cons"] if alone else a["cons"][k])(x, *a[extra])
        return [], [at(k) for k in range(count)]
    if name != "fmin_slsqp":
        return [], []

    def given_as(one_by_one: str, at_once: str) -> list[Function]:
        if given[at_once] is not None:
            return [lambda a, x: a[at_once](x, *a["args"])]
        item = lambda k: lambda a, x: a[one_by_one][k](x, *a["args"])
        return [item(k) for k in range(len(given[one_by_one]))]

    return given_as("eqcons", "f_eqcons"), given_as("ieqcons", "f_ieqcons")


@solver("scipy.optimize", *_IN_A_REGION, brought_to_form=_bounds_as_limits)
def _region(given: Given) -> Any:
    arguments = given.arguments
    if given.arguments.get("constraints"):
        raise UnsupportedFunctionError(
            f"{given.name} with constraints on traced values",
            remedy="search on plain numbers first, and start scipy.optimize.minimize, with constraints, from there",
        )
    has_kwargs = given.name.endswith("basinhopping")
    extra = lambda a: (a["minimizer_kwargs"] or {}).get("args", ()) if has_kwargs else a["args"]
    value = lambda a, x: a["func"](x, *extra(a))
    bounds = arguments.get("bounds")
    more: tuple[list[Function], list[Function]] = ([], [])
    if bounds is None:
        start = vector(array(given["x0"]))
    else:
        n = shape_of(vector(array(bounds[0])))[0]
        start, more = np.ones(n), bounded(given, n)
    n = shape_of(start)[0]
    told = given.told()

    def find(plain: dict[str, Any]) -> Any:
        options = given.passed(plain)
        if bounds is not None:
            options["bounds"] = list(zip(*plain["bounds"], strict=True))
        return given.answer_in(told.note(given.original(**options)))

    x = Optimum(given, value, *more).minimum(start, (n,), find)
    return told.result({"x": x, "fun": value(arguments, x)}, given.module.OptimizeResult)


@solver("scipy.optimize", "brute")
def _brute(given: Given) -> Any:
    if given["full_output"]:
        raise UnsupportedFunctionError(
            "scipy.optimize.brute with full_output=True on traced values", remedy="leave it out"
        )
    n = len(given["ranges"])
    value = lambda a, x: a["func"](x if n > 1 else part(x, 0, 0), *a["args"])
    optimum = Optimum(given, value)
    return optimum.minimum(np.ones(n), (n,), lambda plain: given.original(**given.passed(plain)))


@solver("scipy.optimize", *_IN_AN_INTERVAL)
def _interval(given: Given) -> Any:
    if given["full_output"]:
        raise UnsupportedFunctionError(
            f"{given.name} with full_output=True on traced values",
            remedy="use scipy.optimize.minimize_scalar, whose result has fields",
        )
    value = lambda a, x: a["func"](part(x, 0, 0), *a["args"])
    limits: list[Function] = []
    if given.name.endswith("fminbound"):
        limits = [lambda a, x: x - a["x1"], lambda a, x: a["x2"] - x]

    def find(plain: dict[str, Any]) -> Any:
        as_number = lambda x, *rest: float(plain["func"](x, *rest))
        return given.original(**{**given.passed(plain), "func": as_number})

    return Optimum(given, value, (), limits).minimum(np.ones(1), (), find)


@solver("scipy.optimize", "leastsq")
def _leastsq(given: Given) -> Any:
    if given["full_output"]:
        raise UnsupportedFunctionError(
            "scipy.optimize.leastsq with full_output=True on traced values",
            remedy="use scipy.optimize.least_squares, or curve_fit for the covariance",
        )
    start = vector(array(given["x0"]))
    told = given.told()

    def value(a: Any, x: Any) -> Any:
        r = vector(a["func"](x, *a["args"]))
        return 0.5 * sum(r * r)

    def find(plain: dict[str, Any]) -> Any:
        x, _, _, message, flag = given.original(**{**given.passed(plain), "full_output": True})
        if flag not in (1, 2, 3, 4):
            raise given.not_converged(message)
        told.note(flag)
        return x

    x = Optimum(given, value).minimum(start, shape_of(start), find)
    return x, told.field("ier", read=lambda flag: flag) if told.runs else 1
