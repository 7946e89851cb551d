"""Roots and fixed points that SciPy finds: `root`, `fsolve`, `root_scalar`, `brentq` and its like, `fixed_point`.

SciPy's functions run on plain numbers as always. Where their arguments, or variables around the functions they are
given, are traced, the root is an answer (`answer.py`) of F(y) = 0. Where the search starts, or between which numbers,
does not matter to the root: the derivative with respect to that is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.imported import when_imported
from wengert.ops.shape import reshape
from wengert.solvers.answer import Problem, solved, vector
from wengert.solvers.given import Given, not_converged, solver
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


def found_by(name: str, given: Given, residual: Callable, shape: tuple[int, ...], find: Callable) -> Any:
    """The answer of the given shape; `find` takes plain arguments by name."""
    count = int(np.prod(shape))
    problem = Problem(name, lambda values: find(given.passed(given.put(values))), residual, count, count)
    return solved(problem, given.parameters.values, shape)


def _bracketing(module: Any, name: str) -> None:
    original = getattr(module, name)

    @solver(original)
    def root(given: Given) -> Any:
        seen: list[Any] = [None]

        def find(plain: dict[str, Any]) -> Any:
            x, seen[0] = original(**{**plain, "full_output": True, "disp": False})
            if not seen[0].converged:
                raise not_converged(f"scipy.optimize.{name}", seen[0].flag)
            return x

        x = found_by(f"scipy.optimize.{name}", given, equation(given, "f", ()), (), find)
        return (x, seen[0]) if given["full_output"] else x


def _newton(module: Any) -> None:
    original = module.newton

    @solver(original)
    def newton(given: Given) -> Any:
        shape = shape_of(given["x0"])
        seen: list[Any] = [()]

        def find(plain: dict[str, Any]) -> Any:
            x, *seen[0] = original(**{**plain, "full_output": True, "disp": False})
            converged = seen[0][0] if shape else seen[0][0].converged
            if not np.all(converged):
                raise not_converged("scipy.optimize.newton", "too many iterations, or a derivative that is zero")
            return x

        x = found_by("scipy.optimize.newton", given, equation(given, "func", shape), shape, find)
        return (x, *seen[0]) if given["full_output"] else x


def _fixed_point(module: Any) -> None:
    original = module.fixed_point

    @solver(original)
    def fixed_point(given: Given) -> Any:
        shape = shape_of(given["x0"])
        residual = equation(given, "func", shape, fixed_point=True)

        def find(plain: dict[str, Any]) -> Any:
            try:
                return original(**plain)
            except RuntimeError as error:
                raise not_converged("scipy.optimize.fixed_point", error) from None

        return found_by("scipy.optimize.fixed_point", given, residual, shape, find)


def _fsolve(module: Any) -> None:
    original = module.fsolve

    @solver(original)
    def fsolve(given: Given) -> Any:
        shape = shape_of(given["x0"]) or (1,)
        seen: list[Any] = [()]

        def find(plain: dict[str, Any]) -> Any:
            x, *seen[0] = original(**{**plain, "full_output": True})
            if seen[0][1] != 1:
                raise not_converged("scipy.optimize.fsolve", seen[0][2])
            return x

        x = found_by("scipy.optimize.fsolve", given, equation(given, "func", shape), shape, find)
        return (x, *seen[0]) if given["full_output"] else x


def _root(module: Any) -> None:
    original = module.root

    @solver(original)
    def root(given: Given) -> Any:
        shape = shape_of(given["x0"]) or (1,)
        outcome = module.OptimizeResult(success=True, status=1)

        def find(plain: dict[str, Any]) -> Any:
            found = original(**plain)
            if not found.success:
                raise not_converged("scipy.optimize.root", found.message)
            outcome.update(found)
            return found.x

        x = found_by("scipy.optimize.root", given, equation(given, "fun", shape), shape, find)
        return module.OptimizeResult({**outcome, "x": x})


def _root_scalar(module: Any) -> None:
    original = module.root_scalar

    @solver(original)
    def root_scalar(given: Given) -> Any:
        seen = [module.RootResults(np.nan, 0, 0, 0, given["method"] or "")]

        def residual(y: Any, *values: Any) -> Any:
            arguments = given.put(values)
            found = arguments["f"](reshape(y, shape=()), *arguments["args"])
            return vector(found[0] if isinstance(found, tuple) else found)

        def find(plain: dict[str, Any]) -> Any:
            seen[0] = original(**plain)
            if not seen[0].converged:
                raise not_converged("scipy.optimize.root_scalar", seen[0].flag)
            return seen[0].root

        x = found_by("scipy.optimize.root_scalar", given, residual, (), find)
        return module.RootResults(x, seen[0].iterations, seen[0].function_calls, 0, seen[0].get("method", ""))


@when_imported("scipy.optimize")
def _optimize(module: Any) -> None:
    for name in ("brentq", "brenth", "bisect", "ridder", "toms748"):
        _bracketing(module, name)
    for register in (_newton, _fixed_point, _fsolve, _root, _root_scalar):
        register(module)
