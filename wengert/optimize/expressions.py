"""Expressions in the variables of a model: what NumPy's functions and operators give, to be computed later.

An expression remembers a function and its operands. It is computed at once at the start values as well, so its shape is
known and a mistake is found on the line that makes it; `evaluate` computes it for other values, plain or traced.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from wengert import tree
from wengert.errors import ConcretizationError, MismatchError

_REMEDY = "give a function to Model.subject_to or Model.minimize: def cost(x): …, in which any Python may stand"

T = TypeVar("T")


class Expression:
    """An expression in the variables and parameters of a model."""

    __array_priority__ = 1000

    value: Any
    function: Callable[..., Any]
    args: tuple
    kwargs: dict

    # ------------------------------------------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "__call__" and ufunc in _RELATIONS and not kwargs:
            return Relation(_RELATIONS[ufunc], *args)
        if kwargs.get("out") is not None:
            raise MismatchError("an expression cannot be written into an array", remedy=_REMEDY)
        return ComputedExpression(ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ComputedExpression(function, tuple(args), kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise ConcretizationError(
            "an expression has no value before the model is solved, so it cannot become a NumPy array",
            remedy=f"join expressions with np.stack or np.concatenate, or {_REMEDY}",
        )

    def __bool__(self) -> bool:
        raise ConcretizationError(
            "an expression is neither true nor false before the model is solved", remedy=f"use np.where, or {_REMEDY}"
        )

    def __float__(self) -> float:
        raise ConcretizationError(
            "an expression has no value before the model is solved", remedy="use NumPy's functions instead of math's"
        )

    # ------------------------------------------------------------------------------------------------- what arrays have

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype:
        return np.asarray(self.value).dtype

    @property
    def T(self) -> Expression:
        return ComputedExpression(np.transpose, (self,))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Expression]:
        return (self[k] for k in range(len(self.value)))

    def __getitem__(self, key: Any) -> Expression:
        return ComputedExpression(operator.getitem, (self, key))

    def __repr__(self) -> str:
        return f"<expression of shape {self.shape}>"

    def sum(self, *args: Any, **kwargs: Any) -> Expression:
        return ComputedExpression(np.sum, (self, *args), kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Expression:
        return ComputedExpression(np.mean, (self, *args), kwargs)

    def prod(self, *args: Any, **kwargs: Any) -> Expression:
        return ComputedExpression(np.prod, (self, *args), kwargs)

    def dot(self, other: Any) -> Expression:
        return ComputedExpression(np.dot, (self, other))

    def reshape(self, *shape: Any) -> Expression:
        return ComputedExpression(np.reshape, (self, shape[0] if len(shape) == 1 else shape))

    def ravel(self) -> Expression:
        return ComputedExpression(np.reshape, (self, (-1,)))

    def __neg__(self) -> Expression:
        return ComputedExpression(np.negative, (self,))

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return ComputedExpression(np.abs, (self,))

    def __le__(self, other: Any) -> Relation:
        return Relation("<=", self, other)

    def __ge__(self, other: Any) -> Relation:
        return Relation(">=", self, other)

    def __lt__(self, other: Any) -> Relation:
        return Relation("<=", self, other)

    def __gt__(self, other: Any) -> Relation:
        return Relation(">=", self, other)

    def __eq__(self, other: object) -> Relation:  # type: ignore[override]
        return Relation("==", self, other)

    def __ne__(self, other: object) -> bool:
        raise MismatchError("!= is no constraint", remedy="a constraint is one of ==, <= and >=")

    __hash__ = object.__hash__


def _binary(function: Any, swapped: bool = False) -> Any:
    def method(self: Expression, other: Any) -> Expression:
        return ComputedExpression(function, (other, self) if swapped else (self, other))

    return method


for _name, _function in (
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide), ("pow", np.power),
    ("matmul", np.matmul), ("mod", np.mod), ("floordiv", np.floor_divide),
):  # fmt: skip
    setattr(Expression, f"__{_name}__", _binary(_function))
    setattr(Expression, f"__r{_name}__", _binary(_function, swapped=True))


class ComputedExpression(Expression):
    """What a function gives. (No base of names: Python would compare `f(x) <= p` from the right.)"""

    def __init__(self, function: Callable[..., Any], args: tuple, kwargs: dict | None = None):
        self.function, self.args, self.kwargs = function, args, kwargs or {}
        given, named = tree.map(_value, (args, self.kwargs))
        with np.errstate(all="ignore"):
            self.value = self._checked(function(*given, **named))

    def _checked(self, value: Any) -> Any:
        if value is NotImplemented:
            raise MismatchError(f"an expression cannot be given to {getattr(self.function, '__name__', 'this')}")
        return value


class Relation:
    """One side compared with another: a constraint, once it is given to `Model.subject_to`."""

    __array_ufunc__ = None

    def __init__(self, sign: str, left: Any, right: Any):
        self.sign, self.left, self.right = sign, left, right
        self.difference = ComputedExpression(np.subtract, (left, right))

    def __bool__(self) -> bool:
        raise ConcretizationError(
            "a constraint is neither true nor false before the model is solved",
            remedy="write lower <= x <= upper as two constraints, or as subject_to(x, lower=…, upper=…)",
        )

    __hash__ = object.__hash__


_RELATIONS: dict[Any, str] = {
    np.less_equal: "<=", np.less: "<=", np.greater_equal: ">=", np.greater: ">=", np.equal: "==",
}  # fmt: skip


class Named(Expression):
    """A variable or a parameter."""

    def __init__(self, name: str, value: np.ndarray):
        self.name, self.value = name, value
        self.function, self.args, self.kwargs = _no_function, (), {}

    def __repr__(self) -> str:
        return f"<{self.name}, of shape {self.shape}>"


def _no_function(*_: Any) -> None:
    raise AssertionError("a name has no function")


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Expression) else x


def ordered(expressions: Sequence[Any]) -> list[Expression]:
    """These expressions and all they are made of, operands first."""
    among = lambda xs: [x for x in xs if isinstance(x, Expression)]
    return operands_first(among(expressions), lambda e: among(tree.leaves((e.args, e.kwargs))))


def operands_first(roots: Sequence[T], operands: Callable[[T], Sequence[T]]) -> list[T]:
    """These things and all they are made of, each once, after its operands."""
    found: dict[int, T] = {}
    pending = [(x, False) for x in reversed(roots)]
    while pending:
        x, seen = pending.pop()
        if id(x) in found:
            continue
        if seen:
            found[id(x)] = x
        else:
            pending.append((x, True))
            pending += [(y, False) for y in operands(x)]
    return list(found.values())


def evaluate(expressions: Sequence[Any], values: dict[str, Any], order: Sequence[Expression]) -> list[Any]:
    """The values of expressions, given those of names."""
    known: dict[int, Any] = {}
    at = lambda x: known[id(x)] if isinstance(x, Expression) else x
    for e in order:
        if isinstance(e, Named):
            known[id(e)] = values[e.name]
        else:
            args, kwargs = tree.map(at, (e.args, e.kwargs))
            known[id(e)] = e.function(*args, **kwargs)
    return [at(e) for e in expressions]


def names_in(expression: Any) -> list[Named]:
    """The variables and parameters that an expression is made of."""
    return [e for e in ordered([expression]) if isinstance(e, Named)]
