"""A nonlinear program on vectors, with its derivatives: what every engine of `nlp` takes, and what it gives back.

    minimise f(x)    with    c(x) = 0,  g(x) ≥ 0,  lower ≤ x ≤ upper

The rows of the constraints are those of c, then those of g. Value and derivatives are three compiled functions;
matrices are sparse where the program is large, with the pattern that holds for every x, and dense where it is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wengert import tree
from wengert.api.flat import Layout, of_vector
from wengert.api.grad import value_and_grad
from wengert.api.hessian import hessian
from wengert.api.jacobian import value_and_jacobian
from wengert.api.jit import jit as compiled
from wengert.errors import MismatchError
from wengert.optimize.last_used import LastUsed
from wengert.optimize.objective import one_number

FEASIBLE = 1e-6
"""A constraint that is violated by more is not satisfied, whatever an engine says."""

_kept = LastUsed()
SMALL = 100
"""Up to so many variables and constraints matrices are dense."""


@dataclass
class EngineResult:
    """What an engine comes back with. Multipliers are those of the Lagrangian f − yᵀ(c, g) − zᵀ(x − l) − wᵀ(u − x)."""

    x: np.ndarray
    rows: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    kind: str
    """solved, acceptable, infeasible, unbounded, not finite, stuck, iterations, stopped"""
    iterations: int


Watch = Callable[[int, np.ndarray, float, float, float], None]
"""Who is told of iterations: number, x, objective, largest violations of the constraints and of stationarity."""


class Constraints:
    """Functions of constraints as one vector. `None`, a function, or a list of functions; results of any container."""

    def __init__(self, what: str, given: Any, layout: Layout, x0: Any, args: tuple):
        functions = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
        for f in functions:
            if not callable(f):
                raise MismatchError(
                    f"{what} are functions of x, not {type(f).__name__}",
                    remedy=f"write {what}=lambda x: … with an expression that is "
                    f"{'zero' if what == 'equalities' else 'not negative'} where the constraint holds",
                )
        self.what = what
        self.given = tuple(functions)
        self._functions = [of_vector(f, layout) for f in functions]
        found = [_values(what, f, x0, args) for f in functions]
        self._is_list = isinstance(given, (list, tuple))
        self._results = [Layout(value) for value in found]
        self.size = sum(one.size for one in self._results)

    @property
    def key(self) -> tuple:
        """The functions and the form of what they return: what programs of such constraints have in common."""
        return self.given, tuple((one.structure, tuple(one.shapes)) for one in self._results)

    def __call__(self, x: Any, *args: Any) -> list[Any]:
        parts = []
        for f, result in zip(self._functions, self._results, strict=True):
            parts.append(np.reshape(result.ravel(f(x, *args)), (-1,)))
        return parts

    def unravel(self, vector: np.ndarray) -> Any:
        """A vector with an entry for each row, in the containers that the functions return."""
        ends = np.cumsum([one.size for one in self._results])[:-1] if self._results else []
        parts = [
            layout.unravel(part) for layout, part in zip(self._results, np.split(vector, ends), strict=bool(len(ends)))
        ]
        if self._is_list:
            return parts
        return parts[0] if parts else np.zeros(0)

    def name(self, row: int) -> str:
        """What a row is called in messages."""
        return f"{self.what}[{row}]"


def _values(what: str, f: Callable, x0: Any, args: tuple) -> Any:
    value = f(x0, *args)
    if not tree.leaves(value):
        name = getattr(f, "__name__", "the function")
        raise MismatchError(f"{name} in {what} returns {value}", remedy="is a `return` missing at its end?")
    for leaf in tree.leaves(value):
        kind = np.asarray(leaf).dtype.kind
        if kind in "bO" or kind == "c":
            name = getattr(f, "__name__", "the function")
            hint = {
                "b": "return the difference of both sides instead of a comparison",
                "c": "return real and imaginary part as two constraints",
            }.get(kind, "return numbers and arrays of numbers")
            raise MismatchError(f"{name} in {what} returns {np.asarray(leaf).dtype}, not real numbers", remedy=hint)
    return value


class FlatProgram:
    """The program; `first` and `second` give matrices as `csr_array` if `is_sparse`, else as arrays."""

    def __init__(
        self,
        f: Callable | None,
        x0: Any,
        equalities: Any,
        inequalities: Any,
        bounds: tuple[np.ndarray, np.ndarray],
        args: tuple,
        jit: bool,
        sparse: bool | None = None,
    ):
        self.layout = layout = Layout(x0)
        self.x0 = np.array(layout.ravel(x0), float)
        self.lower, self.upper = bounds
        self.args = args
        self.equalities = Constraints("equalities", equalities, layout, x0, args)
        self.inequalities = Constraints("inequalities", inequalities, layout, x0, args)
        self.n, self.equal, self.unequal = self.x0.size, self.equalities.size, self.inequalities.size
        self.m = self.equal + self.unequal
        self.is_sparse = self.n + self.m > SMALL if sparse is None else sparse
        self._no_rows = csr_array((0, self.n)) if self.is_sparse else np.zeros((0, self.n))
        self.counts = {"values": 0, "first": 0, "second": 0}
        key = (
            f,
            layout.structure,
            tuple(layout.shapes),
            self.equalities.key,
            self.inequalities.key,
            self.is_sparse,
            jit,
        )
        self._value, self._first, self._second, self.lagrangian, self.rows = _kept.get(
            key, lambda: _derived(f, self.equalities, self.inequalities, layout, self.m, self.is_sparse, jit)
        )

    def values(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and the constraints."""
        self.counts["values"] += 1
        value, rows = self._value(x, *self.args)
        return float(value), np.asarray(rows, float)

    def first(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, Any]:
        """The objective, its gradient, the constraints, their Jacobian."""
        self.counts["first"] += 1
        value, slope, rows, jacobian = self._first(x, *self.args)
        if not self.m:
            jacobian = self._no_rows
        return float(value), np.asarray(slope, float), np.asarray(rows, float), jacobian

    def violations(self, rows: np.ndarray) -> np.ndarray:
        """By how much each constraint is violated, given what they are at a point."""
        return np.concatenate([np.abs(rows[: self.equal]), np.maximum(-rows[self.equal :], 0)])

    def is_feasible(self, rows: np.ndarray, x: np.ndarray) -> bool:
        """Whether all constraints are satisfied at x, where they are `rows`."""
        worst = np.max(self.violations(rows), initial=0.0)
        return bool(worst <= FEASIBLE * max(1.0, float(np.max(np.abs(x), initial=0.0))))

    def second(self, x: np.ndarray, weight: float, y: np.ndarray) -> Any:
        """The Hessian of weight · f + yᵀ(c, g), both triangles."""
        self.counts["second"] += 1
        return self._second(x, float(weight), y, *self.args)

    def row_name(self, row: int) -> str:
        """What a constraint is called in messages."""
        if row < self.equal:
            return self.equalities.name(row)
        return self.inequalities.name(row - self.equal)


def _derived(
    f: Callable | None, equalities: Constraints, inequalities: Constraints, layout: Layout, m: int, sparse: bool,
    jit: bool,
) -> tuple[Callable, Callable, Callable, Callable, Callable]:  # fmt: skip
    """Values; values with first derivatives; second derivatives; the Lagrangian; the constraints."""
    wrap = (lambda g: compiled(g, fallback=True)) if jit else lambda g: g
    values, first, lagrangian, rows = _functions(f, equalities, inequalities, layout, m, sparse)
    return wrap(values), wrap(first), wrap(hessian(lagrangian, sparse=sparse)), lagrangian, rows


def _functions(
    f: Callable | None, equalities: Constraints, inequalities: Constraints, layout: Layout, m: int, sparse: bool
) -> tuple[Callable, Callable, Callable, Callable]:
    """Values; values with first derivatives; the Lagrangian; the constraints."""
    objective = (lambda x, *args: 0.0 * x[0]) if f is None else one_number(of_vector(f, layout))

    def constraints(x: Any, *args: Any) -> Any:
        parts: Sequence[Any] = [*equalities(x, *args), *inequalities(x, *args)]
        if not parts:
            return np.zeros(0)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def values(x: Any, *args: Any) -> Any:
        return objective(x, *args), constraints(x, *args)

    of_objective = value_and_grad(objective)
    of_constraints = value_and_jacobian(constraints, sparse=sparse)

    def first(x: Any, *args: Any) -> Any:
        value, slope = of_objective(x, *args)
        if not m:
            return value, slope, np.zeros(0), None
        return value, slope, *of_constraints(x, *args)

    def lagrangian(x: Any, weight: Any, y: Any, *args: Any) -> Any:
        value = weight * objective(x, *args)
        return value + np.sum(y * constraints(x, *args)) if m else value

    return values, first, lagrangian, constraints
