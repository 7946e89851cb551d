"""A plain function of containers as functions of one vector, with the derivatives that a method asks for.

Derivatives are made when they are first asked for, and compiled if they can be; where compilation is refused, they run
as ordinary Python and a warning gives the reason (`jit(f, fallback=True)`). Value and gradient are computed together
and kept for the next question at the same point. The best point that was seen is kept as well, for those who interrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import Any

import numpy as np
import scipy.sparse

from wengert import tree
from wengert.api.flat import Layout, of_vector
from wengert.api.grad import grad, value_and_grad
from wengert.api.hessian import hessian, hvp
from wengert.api.jacobian import jacobian
from wengert.api.jit import jit as compiled
from wengert.api.sparsity import sparsity
from wengert.errors import MismatchError, NonFiniteError, NonScalarOutputError, WengertError, told
from wengert.explain.nans import debug_nans
from wengert.optimize.last_used import kept_with, made

_MANY = 100
"""From so many unknowns on it is asked whether second derivatives are sparse."""
_DENSE = 0.2
"""A matrix with a larger part of its entries nonzero counts as dense."""


class Unknowns(Layout):
    """The unknowns of a problem as one vector of doubles, and back into the containers and types they were given in."""

    def __init__(self, x0: Any):
        leaves, _ = tree.flatten(x0)
        for k, leaf in enumerate(leaves):
            kind = _dtype(leaf).kind
            if kind not in "fiub":
                path, what = tree.paths(x0)[k], "complex" if kind == "c" else "not numbers"
                raise MismatchError(
                    f"the unknowns x0{path} are {what}",
                    remedy="solve for real and imaginary parts, for instance {'re': …, 'im': …}"
                    if kind == "c"
                    else "start from numbers or arrays of real numbers, in any container",
                )
        super().__init__(x0)
        if not self.size:
            raise MismatchError("there are no unknowns: x0 is empty", remedy="start from at least one number")
        self._dtypes = [_floating(leaf) for leaf in leaves]

    def container(self, vector: Any) -> Any:
        """The answer as the user wants it: each leaf of the floating type that it was given in."""
        leaves = tree.leaves(self.unravel(np.asarray(vector)))
        return tree.unflatten(self.structure, [dt.type(x) if x.ndim == 0 else x.astype(dt)
                                               for x, dt in zip(leaves, self._dtypes, strict=True)])  # fmt: skip


def started(x0: Any) -> Any:
    """Where to start: a list of numbers is a vector, as it is for SciPy. Other containers are what they are."""
    is_vector = isinstance(x0, list) and all(isinstance(v, (int, float, np.number)) for v in x0)
    return np.array(x0, float) if is_vector else x0


def explains_tuples(solver: Callable) -> Callable:
    """A solver that says what is meant where a function computes with a tuple of numbers as with a vector."""

    @wraps(solver)
    def explained(*args: Any, **named: Any) -> Any:
        try:
            return solver(*args, **named)
        except TypeError as error:
            x0 = named.get("x0", args[1] if len(args) > 1 else None)
            if not isinstance(x0, tuple) or "'tuple'" not in str(error):
                raise
            raise MismatchError(
                f"x0 is a tuple, so x is one in the function too, which computes with it as with a vector: {error}",
                remedy="start at a vector, np.array([…]), or take x apart in the function: a, b = x",
            ) from error

    return told(explained)


def known_options(name: str, options: dict[str, Any], known: Iterable[str]) -> None:
    """Refuse options that a method of our own does not have."""
    known = sorted(known)
    for unknown in sorted(set(options) - set(known)):
        told = f"its options are {', '.join(known)}" if known else "it has none"
        raise ValueError(f'method "{name}" has no option {unknown!r}; {told}')


def _dtype(leaf: Any) -> np.dtype:
    return leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype


def _floating(leaf: Any) -> np.dtype:
    return _dtype(leaf) if _dtype(leaf).kind == "f" else np.dtype(float)


def one_number(f: Callable) -> Callable:
    """A function of vectors whose result is one number; an array with one element is taken for it."""

    def number(x: Any, *args: Any) -> Any:
        found = f(x, *args)
        if isinstance(found, (list, tuple, dict)) or (np.ndim(found) and found.shape != (1,) * np.ndim(found)):
            raise _not_a_number(f.__name__)
        return np.reshape(found, ()) if np.ndim(found) else found

    number.__name__ = f.__name__
    return number


def demand_function(f: Any, what: str) -> None:
    """Refuse what cannot be called, before anything else goes wrong."""
    if not callable(f):
        raise MismatchError(
            f"{what} is to be a function, not {type(f).__name__}",
            remedy="give the function first, without calling it, then the start: (f, x0)",
        )


def given_derivatives(names: Any, where: str) -> None:
    """Refuse arguments of SciPy's functions that state derivatives; others are unknown."""
    for name in names:
        if name in ("jac", "hess", "hessp", "jac_sparsity", "x_scale"):
            raise MismatchError(
                f"optimize.{where} takes no {name}=: it has exact derivatives, and scales, of its own",
                remedy=f"leave out {name}=; a rule of your own for a function is wg.custom_vjp",
            )
        raise TypeError(f"optimize.{where}() got an unexpected keyword argument {name!r}")


class Objective:
    """A function with one real result, and its derivatives, on vectors."""

    def __init__(self, f: Callable, unknowns: Unknowns, args: tuple, jit: bool):
        self.name = getattr(f, "__name__", type(f).__name__)
        self.unknowns = unknowns
        self.residuals = of_vector(f, unknowns)
        """What the function returns, which may be an array for methods that want residuals."""
        self.flat = one_number(self.residuals)
        self.args = args
        self.evaluations = 0
        self.best: tuple[float, np.ndarray] | None = None
        self.last: np.ndarray | None = None
        """Where it was asked for a value or a Hessian last."""
        self.is_compiled = jit
        self._kept = kept_with(f, unknowns.structure, tuple(unknowns.shapes), jit)
        self._at: tuple[np.ndarray, float, np.ndarray] | None = None

    def wrap(self, g: Callable) -> Callable:
        """A function, compiled if that is wished and possible."""
        return compiled(g, fallback=True) if self.is_compiled else g

    # ------------------------------------------------------------------------------------------------ what methods ask

    @cached_property
    def _value(self) -> Callable:
        return made(self._kept, "value", lambda: self.wrap(self.flat))

    @cached_property
    def _both(self) -> Callable:
        return made(self._kept, "value and gradient", lambda: self.wrap(value_and_grad(self.flat)))

    @cached_property
    def _second(self) -> Callable:
        if self.pattern is None:
            return made(self._kept, "Hessian", lambda: self.wrap(hessian(self.flat)))
        return self.wrap(hessian(self.flat, sparse=self.pattern))  # which other arguments may change

    @cached_property
    def _product(self) -> Callable:
        return made(self._kept, "product", lambda: self.wrap(hvp(self.flat)))

    @cached_property
    def pattern(self) -> Any:
        """The pattern of the Hessian, where there are many unknowns and few nonzeros among the second derivatives."""
        if self.unknowns.size < _MANY:
            return None
        return _if_sparse(lambda: sparsity(self.flat, order=2)(np.zeros(self.unknowns.size), *self.args))

    def value(self, x: np.ndarray) -> float:
        """The value alone, for methods without derivatives."""
        found = float(self._value(x, *self.args))
        self._seen(x, found)
        return found

    def fun(self, x: np.ndarray) -> float:
        """The value, at a point where the gradient will be asked for too."""
        return self._known(x)[0]

    def jac(self, x: np.ndarray) -> np.ndarray:
        """The gradient."""
        return self._known(x)[1].copy()

    def hess(self, x: np.ndarray) -> Any:
        """The Hessian: sparse where its pattern is."""
        self.last = np.array(x, float)
        return self._second(self.last, *self.args)

    def dense_hess(self, x: np.ndarray) -> np.ndarray:
        """The Hessian as an array."""
        found = self.hess(x)
        return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)

    def hessp(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The Hessian times a vector."""
        return np.asarray(self._product(np.asarray(x, float), *self.args, np.asarray(p, float)))

    def of_one(self, x: np.ndarray) -> Callable:
        """The function itself, or the sum of squares where it returns residuals."""
        is_array = bool(np.ndim(self.flat(np.asarray(x, float), *self.args)))
        return lambda x, *args: np.sum(self.flat(x, *args) ** 2) if is_array else self.flat(x, *args)

    def _known(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        x = np.asarray(x, float)
        if self._at is None or not (self._at[0] == x).all():
            value, gradient = self._both(x, *self.args)
            self._at = x.copy(), float(value), np.asarray(gradient)
            self._seen(x, float(value))
        return self._at[1], self._at[2]

    def _seen(self, x: np.ndarray, value: float) -> None:
        self.evaluations += 1
        self.last = np.array(x, float)
        if value == value and (self.best is None or value < self.best[0]):
            self.best = value, np.array(x, float)

    # ------------------------------------------------------------------------------------------------------- NaN

    def fault(self, x: np.ndarray, second: bool = False) -> str:
        """What is not finite at a point, in the function or its gradient, with its line; empty if nothing is.

        With `second` second derivatives are looked at too.
        """
        x = np.asarray(x, float)
        with np.errstate(all="ignore"):
            of_one = self.of_one(x)
            value, gradient = value_and_grad(of_one)(x, *self.args)
            if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
                what, derivative = "the gradient" if np.isfinite(value) else "the value", grad(of_one)
            elif second and not np.all(np.isfinite(hessian(of_one)(x, *self.args))):
                what, derivative = "the Hessian", hessian(of_one)
            else:
                return ""
        try:
            with debug_nans(), np.errstate(all="ignore"):
                derivative(x, *self.args)
        except NonFiniteError as error:
            return str(error)
        return f"{what} of {self.name} is not finite"


def _not_a_number(name: str) -> WengertError:
    return NonScalarOutputError(
        f"{name} returns more than one number, and only one can be smallest",
        remedy="return one number, such as np.sum(r**2); for residuals use optimize.least_squares, or "
        'method="gauss-newton"',
    )


class ConstraintFunction:
    """A constraint's function on vectors, with its Jacobian and the Hessian of a combination of its components."""

    def __init__(self, f: Callable, objective: Objective, args: tuple = ()):
        unknowns = objective.unknowns
        inner = of_vector(f, unknowns)
        self.args = args
        self.flat = flat = lambda x, *args: np.reshape(inner(x, *args), (-1,))
        self._weighed = weighed = lambda x, v, *args: v @ flat(x, *args)
        self._kept = kept_with(f, unknowns.structure, tuple(unknowns.shapes), objective.is_compiled, "constraint")
        self._value = made(self._kept, "value", lambda: objective.wrap(flat))
        self._large, self._objective = unknowns.size >= _MANY, objective
        zeros = np.zeros(unknowns.size)
        pattern = _if_sparse(lambda: sparsity(flat)(zeros, *args)) if self._large else None
        if pattern is None:
            self._jacobian = made(self._kept, "Jacobian", lambda: objective.wrap(jacobian(flat)))
        else:
            self._jacobian = objective.wrap(jacobian(flat, sparse=pattern))
        self._dense_hessian = lambda: objective.wrap(hessian(weighed))

    @cached_property
    def _hessian(self) -> Callable:
        if self._large:
            n = self._objective.unknowns.size
            m = np.size(self._value(np.zeros(n), *self.args))
            pattern = _if_sparse(lambda: sparsity(self._weighed, order=2)(np.zeros(n), np.ones(m), *self.args))
            if pattern is not None:
                return self._objective.wrap(hessian(self._weighed, sparse=pattern))
        return made(self._kept, "Hessian", self._dense_hessian)

    def fun(self, x: np.ndarray, *_: Any) -> np.ndarray:
        """The values of the constraint."""
        return np.asarray(self._value(np.asarray(x, float), *self.args))

    def jac(self, x: np.ndarray, *_: Any) -> Any:
        """Their Jacobian, sparse where its pattern is."""
        return self._jacobian(np.asarray(x, float), *self.args)

    def dense_jac(self, x: np.ndarray, *_: Any) -> np.ndarray:
        """The Jacobian as an array."""
        found = self.jac(x)
        return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)

    def hess(self, x: np.ndarray, v: np.ndarray) -> Any:
        """The Hessian of v · constraint."""
        return self._hessian(np.asarray(x, float), np.asarray(v, float), *self.args)


def _if_sparse(find: Callable[[], Any]) -> Any:
    """A pattern, if it can be found and is sparse."""
    try:
        pattern = find()
    except WengertError:
        return None
    return pattern if pattern.nnz <= _DENSE * pattern.shape[0] * pattern.shape[1] else None
