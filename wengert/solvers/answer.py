"""The derivative of an answer: the implicit function theorem, and the checks that it applies.

An answer y satisfies F(y, *parameters) = 0. `implicit_tangent` is what follows from that for a tangent of the
parameters; it is written with operators of this package, so y and the parameters may be traced by any outer mode, and
the tangent may be a symbol that reverse mode transposes.

`Problem` is such an equation together with a solver that wants plain numbers, as SciPy's do: what the op `solution`
needs. What the solver returns is what the user gets. The derivative is taken at the same answer after a few steps of
Newton's method, for a solver stops when its answer is good enough, and the derivative need not lose those digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.api.jacobian import jacobian, value_and_jacobian
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.linalg import solve
from wengert.box.functions.operands import array, cast, flat, join, part
from wengert.box.writing import settled
from wengert.errors import ConvergenceError, UnsupportedFunctionError
from wengert.modes.dual import push
from wengert.ops import shape
from wengert.ops.shape import reshape
from wengert.ops.solution import solution
from wengert.types import dtype_of, is_inexact, shape_of

Residual = Callable[..., Any]
"""F(y, *parameters): vectors of one length, y first."""

_STEPS = 3
"""So many steps of Newton's method refine an answer."""
_LARGEST_STEP = 1e-3
"""An answer that Newton's method moves further than this, relative to 1 + |y|, is none."""
_SINGULAR = 1e14
"""The condition number from which on a Jacobian counts as singular."""


def implicit_tangent(residual: Residual, y: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
    """The tangent of an answer, a vector, for tangents of the parameters; `None` where there is none."""
    _, (r_dot,) = push(lambda *p: [residual(y, *p)], parameters, dots)
    if r_dot is None:
        return None
    return -solve(jacobian(lambda y: residual(y, *parameters))(y), r_dot)


def newton_step(
    name: str, matrix: np.ndarray, r: np.ndarray, y: np.ndarray, largest: float = _LARGEST_STEP
) -> np.ndarray:
    """What Newton's method subtracts from an answer, if the answer is one and is determined."""
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(r))):
        raise ConvergenceError(
            f"the answer of {name} has no derivative: its equation, or the Jacobian of that, is not finite there",
            remedy="look at the equation at the answer; a bound or another start may lead to another answer",
        )
    if len(y) and np.linalg.cond(matrix, 1) > _SINGULAR:
        raise ConvergenceError(
            f"the answer of {name} has no derivative: the Jacobian of what it satisfies is singular there",
            remedy="the answer is not isolated, or several come together: add an equation or a regularisation that "
            "makes it unique",
        )
    step = np.linalg.solve(matrix, r)
    if not np.all(np.abs(step) <= largest * (1 + np.max(np.abs(y), initial=0))):
        raise ConvergenceError(
            f"{name} has not converged: what it found does not satisfy its equation (Newton's method would move it by "
            f"{np.max(np.abs(step)):.2g})",
            remedy="ask for a smaller tolerance or more iterations, start nearer to the answer, or rescale the problem",
        )
    return step


class Problem:
    """An equation and its solver, for the op `solution`, of any number of parameters.

    `find(parameters)` gives all unknowns at plain numbers as one vector. The first `count` of them, as they were found,
    are what the user sees; all of them, refined, follow after these in the result of the op. `demand(y, parameters)`
    raises if the refined answer has no derivative for another reason than a singular Jacobian.
    """

    def __init__(
        self,
        name: str,
        find: Callable[[Sequence[Any]], Any],
        residual: Residual,
        count: int,
        unknowns: int,
        demand: Callable[[np.ndarray, Sequence[Any]], None] | None = None,
    ):
        self.name = name
        self.find = find
        self.residual = residual
        self.count = count
        self.size = count + unknowns
        self.demand = demand

    def solve(self, parameters: Sequence[Any]) -> np.ndarray:
        """The answer as it was found, and refined."""
        found = np.asarray(self.find(parameters), float).reshape(-1)
        with np.errstate(all="ignore"):
            refined = self._refined(found, parameters)
        if self.demand is not None:
            self.demand(refined, parameters)
        return np.concatenate([found[: self.count], refined])

    def _refined(self, y: np.ndarray, parameters: Sequence[Any]) -> np.ndarray:
        smallest = np.inf
        for _ in range(_STEPS):
            r, matrix = value_and_jacobian(lambda y: self.residual(y, *parameters))(y)
            step = newton_step(self.name, matrix, r, y)
            length = np.max(np.abs(step), initial=0)
            if not length < smallest / 2:  # rounding errors are left
                break
            y, smallest = y - step, length
        return y

    def tangent(self, y: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
        refined = part(y, 0, slice(self.count, None))
        dot = implicit_tangent(self.residual, refined, parameters, dots)
        return None if dot is None else join([part(dot, 0, slice(0, self.count)), dot], 0)


def solved(problem: Problem, values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The answer that the user sees."""
    found = solution(*values, problem=problem)
    return reshape(part(found, 0, slice(0, problem.count)), shape=shape) if shape else part(found, 0, 0)


class Parameters:
    """The traced values that arguments of a solver depend on, in the functions among them too, as real numbers: of a
    complex value the real and the imaginary part."""

    def __init__(self, arguments: Any):
        self._lifted = Lifted(arguments)
        self._inexact = [k for k, v in enumerate(self._lifted.values) if is_inexact(dtype_of(v))]
        self.values: list[Any] = []
        for k in self._inexact:
            value = self._lifted.values[k]
            parts = [shape.real(value), shape.imag(value)] if self._is_complex(k) else [value]
            self.values += [cast(part, np.float64) for part in parts]
        self.any = bool(self._lifted.values)

    def _is_complex(self, k: int) -> bool:
        return dtype_of(self._lifted.values[k]).kind == "c"

    def put(self, values: Sequence[Any]) -> Any:
        """The arguments with these values in place of the traced ones."""
        filled, given = list(self._lifted.values), iter(values)
        for k in self._inexact:
            filled[k] = next(given) + 1j * next(given) if self._is_complex(k) else next(given)
        return self._lifted.with_values(filled)


def real(x: Any) -> Any:
    """An array, list or number as float64. Complex numbers are refused: their imaginary parts would be lost."""
    x = array(settled(x))
    if dtype_of(x).kind == "c":
        raise UnsupportedFunctionError(
            "complex unknowns, equations or states in a solver",
            remedy="solve for the real and the imaginary parts, for instance np.concatenate([z.real, z.imag])",
        )
    return cast(x, np.float64)


def vector(x: Any) -> Any:
    """The same as a vector."""
    x = real(x)
    return flat(x) if shape_of(x) else reshape(x, shape=(1,))
