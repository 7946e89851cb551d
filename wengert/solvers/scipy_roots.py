"""Roots and fixed points that SciPy finds: `root`, `fsolve`, `root_scalar`, `brentq`, `broyden1` and their like.

SciPy's functions run on plain numbers as always. Where their arguments, or variables around the functions they are
given, are traced, the root is an answer (`answer.py`) of F(y) = 0. Where the search starts, or between which numbers,
does not matter to the root: the derivative with respect to that is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from wengert.box.functions.operands import array
from wengert.ops.shape import reshape
from wengert.solvers.answer import Problem, solved
from wengert.solvers.given import Given, solver
from wengert.solvers.parameters import vector
from wengert.types import shape_of


def equation(given: Given, function: str, shape: tuple[int, ...], fixed_point: bool = False) -> Callable:
    """F(y, *parameters) of vectors, for a function that takes and returns arrays of a shape."""

    def residual(y: Any, *values: Any) -> Any:
        arguments = given.put(values)
        x = reshape(y, shape=shape)
        found = arguments[function](x, *arguments["args"])
        if arguments.get("jac") is True or arguments.get("fprime") is True:
            found = found[0]
        found = vector(found)
        return y - found if fixed_point else found

    return residual


def found_by(given: Given, residual: Callable, shape: tuple[int, ...], find: Callable) -> Any:
    """The answer of the given shape; `find` takes plain arguments by name."""
    count = int(np.prod(shape))
    run = lambda values: given.parameters.run(given.name, values, lambda plain: find(given.passed(plain)))
    problem = Problem(given.name, run, residual, count, count)
    return solved(problem, given.parameters.values, shape)


@solver("scipy.optimize", "brentq", "brenth", "bisect", "ridder", "toms748")
def _bracketing(given: Given) -> Any:
    told = given.told()

    def find(plain: dict[str, Any]) -> Any:
        x, outcome = given.original(**{**plain, "full_output": True, "disp": False})
        if not outcome.converged:
            raise given.not_converged(outcome.flag)
        told.note(outcome)
        return x

    x = found_by(given, equation(given, "f", ()), (), find)
    return (x, told.result({"root": x, "converged": True}, given.module.OptimizeResult)) if given["full_output"] else x


class _OfArrays(NamedTuple):
    """What `newton` returns for arrays with `full_output=True`."""

    root: Any
    converged: Any
    zero_der: Any


@solver("scipy.optimize", "newton")
def _newton(given: Given) -> Any:
    shape = shape_of(given["x0"])
    told = given.told()

    def find(plain: dict[str, Any]) -> Any:
        x, outcome, *zeros = given.original(**{**plain, "full_output": True, "disp": False})
        if not np.all(outcome if shape else outcome.converged):
            raise given.not_converged("too many iterations, or a derivative that is zero")
        told.note(zeros[0] if shape else outcome)
        return x

    x = found_by(given, equation(given, "func", shape), shape, find)
    if not given["full_output"]:
        return x
    if not shape:
        return x, told.result({"root": x, "converged": True}, given.module.OptimizeResult)
    return _OfArrays(x, np.ones(shape, bool), told.field("zero_der", read=lambda found: found))


@solver("scipy.optimize", "fixed_point")
def _fixed_point(given: Given) -> Any:
    shape = shape_of(given["x0"])
    residual = equation(given, "func", shape, fixed_point=True)

    def find(plain: dict[str, Any]) -> Any:
        try:
            return given.original(**plain)
        except RuntimeError as error:
            raise given.not_converged(error) from None

    return found_by(given, residual, shape, find)


_DETAILS = ("nfev", "fjac", "r", "qtf", "fvec")
"""What `fsolve` tells of its way to the answer."""


@solver("scipy.optimize", "fsolve")
def _fsolve(given: Given) -> Any:
    shape = shape_of(given["x0"]) or (1,)
    told = given.told()

    def find(plain: dict[str, Any]) -> Any:
        x, *outcome = given.original(**{**plain, "full_output": True})
        if outcome[1] != 1:
            raise given.not_converged(outcome[2])
        told.note(outcome)
        return x

    x = found_by(given, equation(given, "func", shape), shape, find)
    if not given["full_output"]:
        return x
    read = lambda key: lambda found: found[0][key]
    details = {key: told.field(key, read=read(key)) for key in _DETAILS}
    return x, details, 1, told.field("mesg", read=itemgetter(2))


@solver("scipy.optimize", "root")
def _root(given: Given) -> Any:
    shape = shape_of(given["x0"]) or (1,)
    told = given.told()
    residual = equation(given, "fun", shape)

    def find(plain: dict[str, Any]) -> Any:
        return given.answer_in(told.note(given.original(**plain)))

    x = found_by(given, residual, shape, find)
    fun = reshape(residual(vector(x), *given.parameters.values), shape=shape)
    return told.result({"x": x, "fun": fun}, given.module.OptimizeResult)


_NONLINEAR = ("broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov")


@solver("scipy.optimize", *_NONLINEAR, brought_to_form=lambda arguments: arguments.setdefault("args", ()))
def _nonlinear(given: Given) -> Any:
    shape = shape_of(array(given["xin"])) or (1,)

    def find(plain: dict[str, Any]) -> Any:
        try:
            return given.original(**{key: value for key, value in plain.items() if key != "args"})
        except given.module.NoConvergence:
            raise given.not_converged("too many iterations") from None

    return found_by(given, equation(given, "F", shape), shape, find)


@solver("scipy.optimize", "root_scalar")
def _root_scalar(given: Given) -> Any:
    told = given.told()

    def residual(y: Any, *values: Any) -> Any:
        arguments = given.put(values)
        found = arguments["f"](reshape(y, shape=()), *arguments["args"])
        return vector(found[0] if isinstance(found, tuple) else found)

    def find(plain: dict[str, Any]) -> Any:
        found = told.note(given.original(**plain))
        if not found.converged:
            raise given.not_converged(found.flag)
        return found.root

    x = found_by(given, residual, (), find)
    return told.result({"root": x, "converged": True}, given.module.OptimizeResult)
