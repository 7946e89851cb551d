"""`Model`: a nonlinear program with named variables, parameters and constraints, written as in a modelling language.

Expressions are NumPy's (`expressions.py`), or plain functions of the variables. `solve` hands them to `nlp`; `check`
says what is wrong with a model before (`model_check.py`), `export` writes it as an AMPL file (`nl_files.py`), and a
solution knows how it moves with the parameters (`sensitivity.py`).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from wengert.api.flat import followed
from wengert.errors import MismatchError
from wengert.optimize.expressions import ComputedExpression, Expression, Named, Relation, evaluate, ordered
from wengert.optimize.model_check import ModelReport, checked
from wengert.optimize.nl_files import write_nl
from wengert.optimize.nlp import ENGINES, Multipliers, solved_program
from wengert.optimize.objective import Unknowns
from wengert.optimize.program import FlatProgram
from wengert.optimize.result import Solved
from wengert.optimize.sensitivity import Sensitivity, sensitivity_at


@dataclass
class ModelVariable:
    """A variable of a model: its bounds, scale and expression."""

    expression: Named
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray


@dataclass
class ModelConstraint:
    """lower ≤ expression ≤ upper; `sign` is what was written."""

    name: str
    expression: Expression
    sign: str
    lower: np.ndarray
    upper: np.ndarray


class Model:
    """A nonlinear program, written with names.

    >>> import numpy as np
    >>> m = Model("box")
    >>> x = m.variable("x", shape=3, lower=0.0, start=1.0)
    >>> area = m.parameter("area", 24.0)
    >>> m.subject_to(2 * (x[0] * x[1] + x[1] * x[2] + x[0] * x[2]) <= area, name="surface")
    >>> m.maximize(np.prod(x))
    >>> found = m.solve()
    >>> found.x["x"].round(6), round(found.fun, 6)
    (array([2., 2., 2.]), 8.0)
    >>> found.multipliers["surface"].round(6)  # volume for one more unit of surface
    np.float64(0.5)
    >>> found.sensitivity("area")["x"].round(6)
    array([0.041667, 0.041667, 0.041667])
    """

    def __init__(self, name: str = "model"):
        self.name = name
        self.variables: dict[str, ModelVariable] = {}
        self.parameters: dict[str, Named] = {}
        self.constraints: dict[str, ModelConstraint] = {}
        self.objective: Expression | None = None
        self.sense = 1

    # ---------------------------------------------------------------------------------------------- what it is made of

    def variable(
        self, name: str, shape: Any = (), *, lower: Any = None, upper: Any = None, start: Any = 0.0, scale: Any = 1.0
    ) -> Expression:
        """A variable of any shape; bounds, start and scale are numbers or arrays that fit.

        Args:
            scale: the size that values of it have; the solver works with the variable divided by its scale.
        """
        self._demand_new(name)
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        spread = lambda what, x: _spread(f"{what} of {name}", x, shape)
        low = spread("the lower bound", -np.inf if lower is None else lower)
        high = spread("the upper bound", np.inf if upper is None else upper)
        if np.any(low > high):
            k = int(np.argmax(np.ravel(low > high)))
            raise MismatchError(
                f"the lower bound {np.ravel(low)[k]:g} of {name} is above its upper bound {np.ravel(high)[k]:g}",
                remedy="exchange them",
            )
        size = spread("the scale", scale)
        if not np.all(size > 0):
            raise MismatchError(f"the scale of {name} must be positive")
        found = Named(name, spread("the start", start))
        self.variables[name] = ModelVariable(found, low, high, size)
        return found

    def parameter(self, name: str, value: Any) -> Expression:
        """A number or array that is given when the model is solved, and that the solution can be differentiated for."""
        self._demand_new(name)
        found = Named(name, np.asarray(value, float)[()])
        self.parameters[name] = found
        return found

    def expression(self, f: Callable[..., Any]) -> Expression:
        """What a plain function of variables and parameters gives; its arguments have their names.

        >>> m = Model()
        >>> x = m.variable("x", shape=2)
        >>> def product(x):
        ...     p = 1.0
        ...     for value in x:
        ...         p = p * value
        ...     return p
        >>> m.expression(product)
        <expression of shape ()>
        """
        return ComputedExpression(followed(f), tuple(self._arguments(f)))

    def minimize(self, objective: Any) -> None:
        """What is to be smallest: an expression, or a function of variables and parameters."""
        self._aim(objective, 1)

    def maximize(self, objective: Any) -> None:
        """What is to be largest."""
        self._aim(objective, -1)

    def subject_to(self, constraint: Any, *, name: str | None = None, lower: Any = None, upper: Any = None) -> None:
        """A constraint: `left == right`, `<=` or `>=`, of any shape; an expression with `lower` and `upper`; or a
        function of variables and parameters that gives one of these, or a list of them.
        """
        if isinstance(constraint, (list, tuple)):
            for k, one in enumerate(constraint):
                self.subject_to(one, name=None if name is None else f"{name}[{k}]", lower=lower, upper=upper)
            return
        if callable(constraint) and not isinstance(constraint, Expression):
            found = constraint(*self._arguments(constraint))
            self.subject_to(found, name=name or getattr(constraint, "__name__", None), lower=lower, upper=upper)
            return
        name = self._name_of(name)
        if isinstance(constraint, Relation):
            if lower is not None or upper is not None:
                raise MismatchError(
                    "a comparison has its bounds already", remedy="give lower and upper with an expression"
                )
            left, right, sign = constraint.left, constraint.right, constraint.sign
            if not isinstance(right, Expression):
                expression, bound = left, right
            elif not isinstance(left, Expression):
                expression, bound = right, left
                sign = {"<=": ">=", ">=": "<="}.get(sign, sign)
            else:
                expression, bound = constraint.difference, 0.0
            shape = constraint.difference.shape
            if expression.shape != shape:
                expression = ComputedExpression(np.broadcast_to, (expression, shape))
            bound = _spread(f"the right-hand side of {name}", bound, shape)
            low = bound if sign in ("==", ">=") else np.full(shape, -np.inf)
            high = bound if sign in ("==", "<=") else np.full(shape, np.inf)
        elif isinstance(constraint, Expression):
            expression, sign = constraint, "range"
            if lower is None and upper is None:
                raise MismatchError(
                    f"the constraint {name} is an expression without bounds",
                    remedy="compare it: subject_to(expression <= 1)",
                )
            low = _spread(f"the lower bound of {name}", -np.inf if lower is None else lower, expression.shape)
            high = _spread(f"the upper bound of {name}", np.inf if upper is None else upper, expression.shape)
        else:
            raise MismatchError(
                f"a constraint compares expressions with ==, <= or >=, and {constraint!r} does not",
                remedy="a comparison of plain numbers is no constraint: look whether a variable is meant",
            )
        self.constraints[name] = ModelConstraint(name, expression, sign, low, high)

    def _aim(self, objective: Any, sense: int) -> None:
        if callable(objective) and not isinstance(objective, Expression):
            objective = self.expression(objective)
        if not isinstance(objective, Expression) or objective.size != 1:
            what = (
                f"of shape {objective.shape}" if isinstance(objective, Expression) else f"a {type(objective).__name__}"
            )
            raise MismatchError(f"the objective is {what}, not one number that depends on variables")
        self.objective, self.sense = objective, sense

    def _arguments(self, f: Callable) -> list[Named]:
        named = {**{k: v.expression for k, v in self.variables.items()}, **self.parameters}
        wanted = list(inspect.signature(f).parameters)
        unknown = [name for name in wanted if name not in named]
        if unknown:
            raise MismatchError(
                f"{getattr(f, '__name__', 'the function')} has an argument {unknown[0]!r}, which is no variable",
                remedy=f"name arguments after variables and parameters: {', '.join(named) or 'there are none yet'}",
            )
        return [named[name] for name in wanted]

    def _demand_new(self, name: str) -> None:
        if name in self.variables or name in self.parameters:
            raise MismatchError(f"there is a variable or parameter {name!r} already", remedy="choose another name")

    def _name_of(self, name: str | None) -> str:
        if name is None or name == "<lambda>":
            name = f"constraint {len(self.constraints) + 1}"
        if name in self.constraints:
            raise MismatchError(f"there is a constraint {name!r} already", remedy="choose another name")
        return name

    # -------------------------------------------------------------------------------------------- what is done with it

    def check(self) -> ModelReport:
        """What seems to be wrong with the model: a report, with an entry for each finding."""
        with np.errstate(all="ignore"):
            return checked(self, FlatModel(self, {}, {}, jit=False) if self.variables else None)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a file `.nl`, which AMPL's solvers read, with the names in `.col` and `.row` beside it."""
        write_nl(self, path)

    def solve(
        self,
        *,
        engine: str = "auto",
        start: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
        jit: bool = True,
        tol: float = 1e-9,
        maxiter: int = 3000,
        progress: bool = False,
        callback: Callable[..., Any] | None = None,
        options: dict[str, Any] | None = None,
    ) -> ModelSolution:
        """The solution, found by `nlp`.

        Args:
            start: start values by name, instead of those of the variables.
            parameters: values of parameters by name, instead of those that were given.

        Returns:
            As `nlp`, with `.x` by names of variables, `.multipliers` by names of constraints (what the objective gains
            if the right-hand side goes up by one; `.lower` and `.upper` for bounds), and `.sensitivity(parameter)`.
        """
        if not self.variables:
            raise MismatchError("the model has no variables", remedy='x = model.variable("x")')
        if engine not in ("auto", *ENGINES):
            raise ValueError(f'engine is "auto" or one of {", ".join(ENGINES)}, not {engine!r}')
        flat = FlatModel(self, start or {}, parameters or {}, jit)
        found = solved_program(flat.program, flat.unknowns, engine, tol, maxiter, progress, callback, options or {})
        return flat.solution(found)


def _spread(what: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.array(np.broadcast_to(np.asarray(x, float), shape))
    except ValueError:
        raise MismatchError(f"{what} has the shape {np.shape(x)}, which does not fit {shape}") from None


class ModelSolution(Solved):
    """The solution of a model: SciPy's `OptimizeResult`, with names; see `Model.solve`."""

    def sensitivity(self, *parameters: str) -> Any:
        """How variables and objective move with parameters: the derivatives of the optimum, through its conditions.

        Returns:
            For one parameter a `Sensitivity`: a dict from the names of variables to dx*/dp, of shape
            `x.shape + p.shape`, with `.objective`, the derivative of the optimal value. For several, or none (meaning
            all), a dict of these.
        """
        return self["_derivatives"](*parameters)

    def __repr__(self) -> str:
        shown = Solved({k: v for k, v in self.items() if not k.startswith("_")})
        return repr(shown)


class FlatModel:
    """A model as a flat program. Variables are divided by their scales; the objective is minimised."""

    def __init__(self, model: Model, start: dict[str, Any], parameters: dict[str, Any], jit: bool):
        self.model = model
        for given, known, what in ((start, model.variables, "variable"), (parameters, model.parameters, "parameter")):
            unknown = [name for name in given if name not in known]
            if unknown:
                raise MismatchError(
                    f"there is no {what} {unknown[0]!r}", remedy=f"there are {', '.join(known) or 'none'}"
                )
        variables = model.variables
        self.scales = {name: v.scale for name, v in variables.items()}
        x0 = {
            name: _spread(f"the start of {name}", start.get(name, v.expression.value), v.expression.shape) / v.scale
            for name, v in variables.items()
        }
        self.parameters = {
            name: _spread(f"the value of {name}", parameters.get(name, p.value), p.shape)[()]
            for name, p in model.parameters.items()
        }
        self.unknowns = Unknowns(x0)
        ravel = lambda part: np.array(self.unknowns.ravel(part), float)
        lower = ravel({name: v.lower / v.scale for name, v in variables.items()})
        upper = ravel({name: v.upper / v.scale for name, v in variables.items()})
        functions = _functions_of(model)
        self._rows = functions.rows
        self.program = FlatProgram(
            functions.objective, x0, functions.equal, functions.unequal, (lower, upper), (self.parameters,), jit
        )

    def places(self) -> dict[str, np.ndarray]:
        """Where each variable stands in the vector of the program; its containers have an order of their own."""
        numbers = self.unknowns.unravel(np.arange(self.unknowns.size))
        return {name: np.ravel(place) for name, place in numbers.items()}

    def name_of(self, place: int) -> str:
        """The name of a number in the vector of the program: x, or x[1, 2]."""
        for name, places in self.places().items():
            if place in places:
                shape = self.model.variables[name].expression.shape
                index = np.unravel_index(int(np.flatnonzero(places == place)[0]), shape)
                return f"{name}[{', '.join(map(str, index))}]" if shape else name
        raise KeyError(place)

    def labels(self) -> dict[str, np.ndarray]:
        """The rows of each constraint in the program."""
        return self._rows.labels()

    def solution(self, found: Solved) -> ModelSolution:
        """A solution of the program, with the names and the sense of the model."""
        model = self.model
        scaled = lambda x, how: {name: how(x[name], scale) for name, scale in self.scales.items()}
        solution = ModelSolution(found)
        solution.x = scaled(found.x, lambda x, scale: np.multiply(x, scale)[()])
        solution.fun = model.sense * found.fun
        flat: Multipliers = found.multipliers
        y, z = np.ravel(flat.equalities), np.ravel(flat.inequalities)
        solution.multipliers = {k: model.sense * v for k, v in self._rows.multipliers(y, z).items()}
        for side in ("lower", "upper"):
            solution[side] = scaled(getattr(flat, side), lambda v, scale: np.divide(v, scale)[()])
        solution["_derivatives"] = lambda *names: self._sensitivity(found, names)
        return solution

    def _sensitivity(self, found: Solved, names: tuple[str, ...]) -> Any:
        unknown = [name for name in names if name not in self.parameters]
        if unknown:
            raise MismatchError(
                f"there is no parameter {unknown[0]!r}", remedy=f"there are {', '.join(self.parameters) or 'none'}"
            )
        x = np.array(self.unknowns.ravel(found.x), float)
        m = found.multipliers
        rows = np.concatenate([np.ravel(m.equalities), np.ravel(m.inequalities)])
        bounds = np.array(self.unknowns.ravel(m.lower), float), np.array(self.unknowns.ravel(m.upper), float)
        by_name = {}
        for name in names or tuple(self.parameters):
            moved, gained = sensitivity_at(self.program, x, rows, bounds, self.parameters, name)
            shape = np.shape(self.parameters[name])
            parts = {}
            for key, scale in self.scales.items():
                part = moved[self.places()[key]].reshape(scale.shape + shape)
                parts[key] = (part * scale.reshape(scale.shape + (1,) * len(shape)))[()]
            by_name[name] = Sensitivity(parts, self.model.sense * gained.reshape(shape)[()])
        return by_name[names[0]] if len(names) == 1 else by_name


class ModelFunctions(NamedTuple):
    """A model as functions of scaled variables and parameters, for a program."""

    rows: ConstraintRows
    objective: Callable | None
    equal: Callable | None
    unequal: Callable | None


_last_functions: WeakKeyDictionary[Model, tuple[tuple, ModelFunctions]] = WeakKeyDictionary()
"""The functions of models, and what they were made of: solved again, a model is not compiled again."""


def _functions_of(model: Model) -> ModelFunctions:
    made_of = (
        id(model.objective),
        model.sense,
        *[(name, v.scale.tobytes(), v.scale.shape) for name, v in model.variables.items()],
        *[(id(c.expression), c.lower.tobytes(), c.upper.tobytes()) for c in model.constraints.values()],
    )
    found = _last_functions.get(model)
    if found is None or found[0] != made_of:
        found = _last_functions[model] = made_of, _made_functions(model)
    return found[1]


def _made_functions(model: Model) -> ModelFunctions:
    scales, sense = {name: v.scale.copy() for name, v in model.variables.items()}, model.sense
    constraints = [replace(c, lower=c.lower.copy(), upper=c.upper.copy()) for c in model.constraints.values()]
    rows = ConstraintRows(constraints)

    def computed(expressions: list[Expression], then: Callable[[list[Any]], Any]) -> Callable:
        order = ordered(expressions)

        def values(z: dict[str, Any], parameters: dict[str, Any]) -> Any:
            names = {name: z[name] * scale for name, scale in scales.items()}
            return then(evaluate(expressions, {**names, **parameters}, order))

        return values

    return ModelFunctions(
        rows,
        None if model.objective is None else computed([model.objective], lambda v: sense * np.reshape(v[0], ())),
        computed(rows.expressions, rows.equal) if rows.has_equal else None,
        computed(rows.expressions, rows.unequal) if rows.has_unequal else None,
    )


class ConstraintRows:
    """The rows of a program that the constraints of a model become: equalities, then lower and upper limits."""

    def __init__(self, constraints: list[ModelConstraint]):
        self._constraints = constraints
        self.expressions = [c.expression for c in constraints]
        self._equal = [np.ravel(c.lower == c.upper) for c in constraints]
        self._low = [np.ravel((c.lower > -np.inf) & (c.lower < c.upper)) for c in constraints]
        self._high = [np.ravel((c.upper < np.inf) & (c.lower < c.upper)) for c in constraints]
        self.has_equal = any(np.any(e) for e in self._equal)
        self.has_unequal = any(np.any(e) for e in [*self._low, *self._high])

    def _chosen(self, values: list[Any], masks: list[np.ndarray], sides: list[np.ndarray], sign: float) -> list[Any]:
        parts = []
        for value, mask, side in zip(values, masks, sides, strict=True):
            if np.any(mask):
                flat = np.reshape(value, (-1,))
                flat = flat if np.all(mask) else flat[np.flatnonzero(mask)]
                parts.append(sign * (flat - np.ravel(side)[mask]))
        return parts

    def equal(self, values: list[Any]) -> Any:
        return np.concatenate(self._chosen(values, self._equal, [c.lower for c in self._constraints], 1.0))

    def unequal(self, values: list[Any]) -> Any:
        low = self._chosen(values, self._low, [c.lower for c in self._constraints], 1.0)
        high = self._chosen(values, self._high, [c.upper for c in self._constraints], -1.0)
        return np.concatenate([*low, *high])

    def labels(self) -> dict[str, np.ndarray]:
        """The numbers of the rows of each constraint."""
        found: dict[str, list[int]] = {c.name: [] for c in self._constraints}
        start = 0
        for masks in (self._equal, self._low, self._high):
            for c, mask in zip(self._constraints, masks, strict=True):
                count = int(np.sum(mask))
                found[c.name] += range(start, start + count)
                start += count
        return {name: np.array(rows, int) for name, rows in found.items()}

    def multipliers(self, y: np.ndarray, z: np.ndarray) -> dict[str, Any]:
        """By names, in the shapes of the constraints: what the objective gains if a right-hand side goes up."""
        found = {c.name: np.zeros(c.lower.size) for c in self._constraints}
        for masks, values, sign in ((self._equal, y, 1.0), ([*self._low], z, 1.0), ([*self._high], z, -1.0)):
            start = sum(int(np.sum(mask)) for mask in self._low) if sign < 0 else 0
            for c, mask in zip(self._constraints, masks, strict=True):
                count = int(np.sum(mask))
                found[c.name][mask] += sign * values[start : start + count]
                start += count
        return {c.name: found[c.name].reshape(c.lower.shape)[()] for c in self._constraints}
