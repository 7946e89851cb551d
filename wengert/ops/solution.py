"""The row for answers of solvers: y with F(y, *parameters) = 0, found by whatever finds it.

`solution(*parameters, problem=…)` is a vector of numbers. Its derivative is not that of the solver's iterations but
that of the answer (the implicit function theorem):

    F_y · y_dot + F_p · p_dot = 0

`problem` says how to find y at plain numbers, and gives the tangent in the vocabulary of the table; y and the
parameters there may themselves be traced, so derivatives nest to any order.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.derive import General
from wengert.ops.traits import MORE, VALUES


def _solution(*parameters: Any, problem: Any) -> Any:
    return problem.solve(parameters)


class Solution(General):
    """An answer has any number of parameters."""

    __slots__ = ()

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        return params["problem"].tangent(y, args, dots)


solution = Solution(
    "solution",
    _solution,
    (),
    shape=lambda *parameters, problem: (problem.size,),
    raises=VALUES,
    cost=MORE,
)
