"""`implicit`: the derivative of what a solver finds, from what its answer satisfies.

Any solver, in any library, gets a derivative by stating an equation that its answer satisfies. The solver itself is not
differentiated. A call is the op `custom` (`control/custom.py`), whose rule is the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import fit_to
from wengert.api.custom import AppliedRule, CustomFunction, settled_leaves
from wengert.api.grad import grad
from wengert.box.functions.operands import answer, cast, join, part
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops.op import Traced
from wengert.ops.shape import reshape
from wengert.running import running
from wengert.solvers.answer import implicit_tangent, newton_step
from wengert.solvers.parameters import vector
from wengert.solvers.slopes import ImplicitEquations
from wengert.types import Aval, aval_of, dtype_of, is_inexact, shape_of

_TOLERANCE = 1e-5


def implicit(
    residual: Callable | None = None,
    *,
    optimality: Callable | None = None,
    fixed_point: Callable | None = None,
    tol: float = _TOLERANCE,
) -> Callable[[Callable], Callable]:
    """Give a solver the derivative of its answer; use as a decorator.

    Args:
        residual: `residual(y, *args)` is zero at the answer y = solve(*args); as many numbers as y has.
        optimality: for a minimiser instead: the objective `f(y, *args)`, a number, or what is zero at the minimum.
        fixed_point: for an iteration instead: `T(y, *args)`, which is y at the answer.
        tol: how far Newton's method may move the answer, relative to 1 + |y|; more is a `ConvergenceError`.

    The solver takes arguments by position, which may be containers; so may be the answer. Derivatives of any order, in
    any mode, cost linear systems with the Jacobian of the residual in y, whatever the solver does.

    >>> import numpy as np, wengert as wg
    >>> @wg.implicit(lambda y, a: y**2 - a)
    ... def root_of(a):
    ...     y = 1.0
    ...     while abs(y * y - a) > 1e-12:
    ...         y = (y + a / y) / 2
    ...     return y
    >>> wg.grad(root_of)(4.0).round(12)
    np.float64(0.25)
    """
    stated = [f for f in (residual, optimality, fixed_point) if f is not None]
    if len(stated) != 1:
        raise MismatchError(
            f"implicit needs one equation and was given {len(stated)}",
            remedy="say implicit(residual), implicit(optimality=f) or implicit(fixed_point=T)",
        )
    equation = (
        Equation(residual) if residual else Optimality(optimality) if optimality else FixedPoint(fixed_point)  # type: ignore[arg-type]
    )
    return lambda solve: Implicit(solve, equation, tol)


class Equation:
    """What an answer satisfies, from containers to a list of leaves."""

    def __init__(self, function: Callable):
        self.function = function

    def __call__(self, y: Any, args: Sequence[Any]) -> list[Any]:
        return settled_leaves(instrument(self.function)(y, *args))[0]

    def vector(self, y: Any, args: Sequence[Any]) -> Any:
        """The same as a vector."""
        found = self(y, args)
        return join([vector(leaf) for leaf in found], 0) if found else np.zeros(0)


class FixedPoint(Equation):
    """y − T(y) = 0."""

    def __call__(self, y: Any, args: Sequence[Any]) -> list[Any]:
        after = super().__call__(y, args)
        before = settled_leaves(y)[0]
        if len(after) != len(before):
            raise MismatchError("the function of a fixed point returned other containers than it was given")
        return [b - a for a, b in zip(after, before, strict=True)]


class Optimality(Equation):
    """The gradient of an objective, or what is stated in its place, is zero."""

    def __call__(self, y: Any, args: Sequence[Any]) -> list[Any]:
        found = super().__call__(y, args)
        if len(found) == 1 and not shape_of(found[0]):
            return settled_leaves(grad(lambda y: instrument(self.function)(y, *args))(y))[0]
        return found


class Packing:
    """Answers in containers as vectors, and back."""

    def __init__(self, like: Any):
        leaves, self.structure = settled_leaves(like)
        self.avals = [aval_of(leaf) for leaf in leaves]

    def vector(self, y: Any) -> Any:
        leaves = settled_leaves(y)[0]
        return join([vector(leaf) for leaf in leaves], 0) if leaves else np.zeros(0)

    def leaves(self, v: Any) -> list[Any]:
        found, start = [], 0
        for aval in self.avals:
            size = int(np.prod(aval.shape))
            piece = part(v, 0, slice(start, start + size)) if aval.shape else part(v, 0, start)
            found.append(cast(reshape(piece, shape=aval.shape) if aval.shape else piece, _real(aval)))
            start += size
        return found

    def container(self, v: Any) -> Any:
        return tree.unflatten(self.structure, self.leaves(v))


def _real(aval: Aval) -> np.dtype:
    return aval.dtype if aval.dtype.kind == "f" else np.dtype(float)


class Implicit(CustomFunction):
    """A solver with its equation; made by `implicit`. Without a tolerance answers are not checked."""

    def __init__(self, solve: Callable, equation: Equation, tol: float | None = _TOLERANCE):
        super().__init__(solve)
        self._equation = equation
        self._tol = tol

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        y = super().__call__(*args, **kwargs)
        if (
            self._tol is not None
            and running.state.capture is None
            and not any(isinstance(leaf, Traced) for leaf in settled_leaves((y, args))[0])
        ):
            self._check(y, args)
        return y

    def _check(self, y: Any, args: Sequence[Any]) -> None:
        flat = Packing(y)
        equations = ImplicitEquations(lambda v: self._residual(flat, v, args))
        v = flat.vector(y)
        with np.errstate(all="ignore"):
            r, matrix = equations.linearised(v, ())
            newton_step(self.__name__, matrix.plain(matrix.entries), r, v, self._tol)  # type: ignore[attr-defined, arg-type]

    def _residual(self, flat: Packing, v: Any, args: Sequence[Any]) -> Any:
        r = self._equation.vector(flat.container(v), args)
        if shape_of(r) != shape_of(v):
            raise MismatchError(
                f"the equation of {self.__name__} has {shape_of(r)[0]} numbers for {shape_of(v)[0]} unknowns",  # type: ignore[attr-defined]
                remedy="state as many equations as the answer has numbers",
            )
        return r

    def _rule_for(self, leaves: list, structure: Any) -> AppliedRule:
        return _OfAnswer(self, leaves, structure)


class _OfAnswer(AppliedRule):
    """The implicit function theorem as a forward rule."""

    pulls = False

    def tangent(self, args: Sequence[Any], dots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        y = self.owner(*self.arguments(args))
        ys, self.out_structure = settled_leaves(y)
        flat = Packing(y)
        v = flat.vector(y)

        def residual(v: Any, *values: Any) -> Any:
            return self.owner._residual(flat, v, self.arguments(values))

        equations = ImplicitEquations(residual)
        tol = self.owner._tol
        if tol is not None and running.state.capture is None and any(isinstance(leaf, Traced) for leaf in ys):
            r, matrix = equations.linearised(v, args)
            answer(lambda r, v, *m: newton_step(self.name, matrix.plain(m), r, v, tol), r, v, *matrix.entries)
        moving = [None if _is_zero(d) or not is_inexact(dtype_of(x)) else d for x, d in zip(args, dots, strict=True)]
        dot = implicit_tangent(equations, v, args, moving)
        y_dots = flat.leaves(np.zeros(shape_of(v)) if dot is None else dot)
        return ys, [fit_to(d, aval_of(y), "the tangent of an answer") for y, d in zip(ys, y_dots, strict=True)]


def _is_zero(dot: Any) -> bool:
    return not isinstance(dot, Traced) and not np.any(dot)
