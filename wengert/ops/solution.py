"""The row for answers of solvers: y with F(y, *parameters) = 0, found by whatever finds it.

`solution(*parameters, problem=…)` is a vector of numbers. Its derivative is not that of the solver's iterations but
that of the answer (the implicit function theorem):

    F_y · y_dot + F_p · p_dot = 0

`problem` says how to find y at plain numbers, and gives the tangent in the vocabulary of the table; y and the
parameters there may themselves be traced, so derivatives nest to any order. They are taken at the same answer after a
few steps of Newton's method (`refined_solution`), for a solver stops when its answer is good enough, and the derivative
need not lose those digits.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.derive import General, unfit
from wengert.ops.op import call
from wengert.ops.traits import MORE, VALUES, Dtype


class Answer(General):
    """An answer has any number of parameters. Its derivative is asked for where it is refined, which raises if there is
    none: the value alone does not need one."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        return params["problem"].tangent(call(refined_solution, y, *args, **params), args, dots)


class RefinedAnswer(General):
    """The same, from an answer as it was found, which it does not depend on."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        return params["problem"].tangent(y, args[1:], dots[1:])


_ROW: dict[str, Any] = {
    "dtype": Dtype.DOUBLE,
    "raises": VALUES,
    "failures": {"ValueError": None, "RuntimeError": None},
    "cost": MORE,
}
solution = Answer(
    "solution",
    lambda *parameters, problem: problem.solve(parameters),
    (),
    shape=lambda *parameters, problem: (problem.size,),
    bounds=lambda mode, op, args, params: params["problem"].enclosed(mode, args),
    **_ROW,
)
refined_solution = RefinedAnswer(
    "refined_solution",
    lambda found, *parameters, problem: problem.refined(found, parameters),
    (),
    shape=lambda found, *parameters, problem: (problem.size,),
    bounds=lambda mode, op, args, params: params["problem"].enclosed(mode, args[1:]),
    **_ROW,
)


class LinearSolution(General):
    """x with A(p) x = b, for a linear map A that is given as a function: linear in b."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        system, total = params["system"], None
        if dots[0] is not None:
            total = call(self, dots[0], *args[1:], system=system)
        moved = system.tangent(y, args[1:], dots[1:])
        if moved is None:
            return total
        term = -call(self, moved, *args[1:], system=system)
        return term if total is None else total + term


def _transposed(ct: Any, b: Any, *parameters: Any, system: Any) -> Any:
    return unfit(call(linear_solution, ct, *parameters, system=system.transposed), b.shape, b.dtype)


linear_solution = LinearSolution(
    "linear_solution",
    lambda b, *parameters, system: system.solve(b, parameters),
    (),
    transposes={0: _transposed},
    shape=lambda b, *parameters, system: b.shape,
    dtype=Dtype.DOUBLE,
    raises=VALUES,
    cost=MORE,
    bounds=lambda mode, op, args, params: params["system"].enclosed(mode, args[0], args[1:]),
)
"""`system` solves at plain numbers, says what A does to x if the parameters move, and has a transpose."""
