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
from wengert.box.contents import Holder
from wengert.box.functions.operands import join
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced, enclosing
from wengert.running import running
from wengert.solvers.answer import demand_answer, implicit_tangent
from wengert.solvers.parameters import Packing, vector
from wengert.solvers.proved import enclosed_roots
from wengert.solvers.slopes import ImplicitEquations
from wengert.types import aval_of, dtype_of, is_inexact, shape_of

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


class Equation(Holder):
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


class Implicit(CustomFunction):
    """A solver with its equation; made by `implicit`. Without a tolerance answers are not checked.

    A solver of our own (`own`) says itself when it fails, so that compiled code checks its answers only where a
    derivative is asked for. `demand(y, *args)` raises if there is none for another reason. `pattern` says where the
    Jacobian of the equation has entries, if that is known and these are few.
    """

    def __init__(
        self,
        solve: Callable,
        equation: Equation,
        tol: float | None = _TOLERANCE,
        *,
        own: bool = False,
        demand: Callable | None = None,
        pattern: Any = None,
    ):
        super().__init__(solve)
        self._pattern = pattern
        self._equation = equation
        self._tol = tol
        self._own = own
        self._demand = demand

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        modes = {x._owner for x in settled_leaves(args)[0] if isinstance(x, Traced) and x._owner.encloses}
        if modes and not kwargs:
            return self._enclosed(modes.pop(), args)
        y = super().__call__(*args, **kwargs)
        if self._tol is not None and not (self._own and running.state.capture is not None):
            leaves, structure = settled_leaves(args)
            places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Traced)]
            flat = Packing(y)

            def residual(v: Any, *values: Any) -> Any:
                filled = list(leaves)
                for k, value in zip(places, values, strict=True):
                    filled[k] = value
                return self._residual(flat, v, tree.unflatten(structure, filled))

            equations = ImplicitEquations(residual, self._pattern)
            values = [leaves[k] for k in places]
            demand_answer(self.__name__, equations, flat.vector(y), values, self._tol, False)  # type: ignore[attr-defined]
        return y

    def _enclosed(self, mode: Any, args: Sequence[Any]) -> Any:
        """The answers for all arguments in intervals."""
        leaves, structure = settled_leaves(args)
        places = [k for k, leaf in enumerate(leaves) if mode.owns(leaf)]
        packings: list[Packing] = []

        def filled(values: Sequence[Any]) -> Any:
            new = list(leaves)
            for k, value in zip(places, values, strict=True):
                new[k] = value
            return tree.unflatten(structure, new)

        def at(values: Sequence[Any]) -> np.ndarray:
            y = self(*filled(values))
            packings[:] = [Packing(y)]
            return np.asarray(packings[0].vector(y), float)

        def residual(v: Any, *values: Any) -> Any:
            return self._residual(packings[0], v, filled(values))

        name = self.__name__  # type: ignore[attr-defined]
        found = enclosed_roots(mode, name, residual, at, [leaves[k] for k in places])
        return packings[0].container(found)

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

        equations = ImplicitEquations(residual, self.owner._pattern)
        if self.owner._demand is not None and enclosing(*args) is None:
            plain = [stop_gradient(x) for x in args]
            self.owner._demand(flat.container(stop_gradient(v)), *self.arguments(plain))
        if self.owner._tol is not None:
            demand_answer(self.name, equations, v, args, self.owner._tol, True)
        moving = [None if _is_zero(d) or not is_inexact(dtype_of(x)) else d for x, d in zip(args, dots, strict=True)]
        dot = implicit_tangent(equations, v, args, moving)
        y_dots = flat.leaves(np.zeros(shape_of(v)) if dot is None else dot)
        return ys, [fit_to(d, aval_of(y), "the tangent of an answer") for y, d in zip(ys, y_dots, strict=True)]


def _is_zero(dot: Any) -> bool:
    return not isinstance(dot, Traced) and not np.any(dot)
