"""Methods for systems of equations, on vectors.

Newton's method with dense Jacobians runs whole in one compiled loop (`algorithms/dogleg.py`). The others make steps
that need sparse factorisations, Krylov spaces or Taylor series; here they have in common that a step is shortened until
the residual falls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg

from wengert import tree
from wengert.algorithms import dogleg, loops
from wengert.algorithms.status import CONVERGED, INTERRUPTED, LIMIT, NOT_FINITE, RUNNING, STUCK
from wengert.api.flat import of_vector
from wengert.api.jacobian import jacobian, value_and_jacobian
from wengert.api.jit import jit as compiled
from wengert.api.products import jvp
from wengert.api.sparsity import sparsity
from wengert.api.taylor import taylor
from wengert.errors import MismatchError, NonFiniteError, WengertError
from wengert.explain.nans import debug_nans
from wengert.optimize.last_used import kept_with, made
from wengert.optimize.native import uniform
from wengert.optimize.objective import Unknowns
from wengert.optimize.telling import Listener, Stopped

_SHORTEST = 1e-8
"""A step is not shortened further than this."""


class Equations:
    """F(x, *args) = 0 on vectors, with the derivatives that a method asks for."""

    def __init__(self, f: Callable, unknowns: Unknowns, args: tuple, jit: bool):
        self.name = getattr(f, "__name__", type(f).__name__)
        self.unknowns, self.args, self.jit = unknowns, args, jit
        self._kept = kept_with(f, unknowns.structure, tuple(unknowns.shapes), jit, "equations")
        inner, name = of_vector(f, unknowns), self.name  # what is kept holds no arguments

        def flat(x: Any, *args: Any) -> Any:
            found = inner(x, *args)
            leaves = [np.reshape(leaf, (-1,)) for leaf in tree.leaves(found)]
            if not leaves:
                raise MismatchError(f"{name} returns {found}", remedy="is a `return` missing at its end?")
            r = leaves[0] if len(leaves) == 1 else np.concatenate(leaves)
            if r.shape[0] != unknowns.size:
                raise MismatchError(
                    f"{name} gives {r.shape[0]} numbers for {unknowns.size} unknowns",
                    remedy="return as many numbers as there are unknowns; for more, use optimize.least_squares",
                )
            return r

        self.flat = flat

    def wrap(self, g: Callable) -> Callable:
        """A function, compiled if that is wished and possible."""
        return compiled(g, fallback=True) if self.jit else g

    @cached_property
    def _value(self) -> Callable:
        return made(self._kept, "value", lambda: self.wrap(self.flat))

    @cached_property
    def _dense(self) -> Callable:
        return made(self._kept, "Jacobian", lambda: self.wrap(jacobian(self.flat)))

    @cached_property
    def _sparse(self) -> Callable:
        return self.wrap(jacobian(self.flat, sparse=True if self.pattern is None else self.pattern))

    @cached_property
    def _along(self) -> Callable:
        flat = self.flat
        along = lambda x, v, *args: jvp(lambda x: flat(x, *args), (x,), (v,))[1]
        return made(self._kept, "along", lambda: self.wrap(along))

    @cached_property
    def _bend(self) -> Callable:
        """The second derivative along a direction, twice."""
        flat = self.flat
        bend = lambda x, v, *args: 2 * taylor(lambda x: flat(x, *args), x, 2, direction=v)[2]
        return made(self._kept, "bend", lambda: self.wrap(bend))

    def _reciprocal(self, order: int) -> Callable:
        """The last two Taylor coefficients of 1/F, of one unknown."""
        one, flat = np.ones(1), self.flat
        series = lambda x, *args: taylor(lambda x: 1 / flat(x, *args), x, order, direction=one)
        return made(self._kept, order, lambda: self.wrap(lambda x, *args: tuple(series(x, *args)[-2:])))

    @cached_property
    def newton(self) -> tuple[Callable, Callable]:
        """Newton's method with dense Jacobians, in a trust region: the first state, and later ones."""

        def both_programs() -> tuple[Callable, Callable]:
            both = value_and_jacobian(self.flat)
            begin = self.wrap(loops.beginning(dogleg.start, both, ()))
            return begin, self.wrap(loops.proceeding(dogleg.advance, [self.flat, both]))

        return made(self._kept, "newton", both_programs)

    @cached_property
    def pattern(self) -> Any:
        """The pattern of the Jacobian; `None` if it cannot be found."""
        try:
            return sparsity(self.flat)(np.zeros(self.unknowns.size), *self.args)
        except WengertError:
            return None

    def value(self, x: np.ndarray) -> np.ndarray:
        """F(x)."""
        return np.asarray(self._value(x, *self.args))

    def dense(self, x: np.ndarray) -> np.ndarray:
        """The Jacobian."""
        return np.asarray(self._dense(x, *self.args))

    def fault(self, x: np.ndarray) -> str:
        """What is not finite at a point, with its line; empty if nothing is."""
        try:
            with debug_nans(), np.errstate(all="ignore"):
                jacobian(self.flat)(x, *self.args)
        except NonFiniteError as error:
            return str(error)
        return ""


class Reached(NamedTuple):
    """Where a method has come to."""

    x: np.ndarray
    residual: np.ndarray
    iterations: int
    evaluations: int
    status: int


# ------------------------------------------------------------------------------------------ Newton in one compiled loop


def newton(equations: Equations, x: np.ndarray, tol: float, maxiter: int, listener: Listener, options: dict) -> Reached:
    """Newton's method with dense Jacobians, in a trust region."""
    begin, proceed = equations.newton
    state = uniform(begin(x, equations.args))
    chunk = 1 if listener.listens or not equations.jit else maxiter
    status, count = RUNNING, 0
    try:
        while status == RUNNING and count < maxiter:
            state = proceed(state, min(count + chunk, maxiter), tol, (), equations.args)
            count, status = int(state[3]), int(state[5])
            listener.tell(count, np.asarray(state[0]), float(np.sqrt(np.sum(np.square(state[1])))), None)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Stopped:
        status = INTERRUPTED + 1
    return Reached(np.asarray(state[0]), np.asarray(state[1]), int(state[3]), int(state[4]), _ended(status))


def _ended(status: int) -> int:
    return LIMIT if status == RUNNING else status


# ------------------------------------------------------------------------------------------------- steps, made shorter


def sparse_newton(equations: Equations, x: np.ndarray, *rest: Any) -> Reached:
    """Newton's method with a sparse factorisation of the Jacobian."""

    def step(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        matrix = equations._sparse(x, *equations.args).tocsc()
        newton = -scipy.sparse.linalg.splu(matrix).solve(r)
        return newton, newton

    return _iterated(equations, x, step, *rest)


def krylov(equations: Equations, x: np.ndarray, *rest: Any) -> Reached:
    """Newton's method without a Jacobian: GMRES on derivatives along directions (Eisenstat and Walker 1996)."""
    n = len(x)
    last = np.inf

    def step(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal last
        product = lambda v: np.asarray(equations._along(x, np.ravel(v), *equations.args))
        operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=product, dtype=float)
        norm = float(np.linalg.norm(r))
        forcing = 0.1 if not np.isfinite(last) else min(0.1, max(1e-10, 0.9 * (norm / last) ** 2))
        last = norm
        newton, _ = scipy.sparse.linalg.gmres(operator, -r, rtol=forcing, restart=min(n, 50), maxiter=20)
        if not np.linalg.norm(product(newton) + r) < 0.99 * norm:
            raise np.linalg.LinAlgError("the Jacobian is singular, or too badly conditioned for GMRES")
        return newton, newton

    return _iterated(equations, x, step, *rest)


def halley(equations: Equations, x: np.ndarray, *rest: Any) -> Reached:
    """Halley's method, of third order; for systems in the form of Cuyt and Rall (1985)."""

    def step(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        matrix = equations.dense(x)
        newton = -np.linalg.solve(matrix, r)
        bend = np.linalg.solve(matrix, np.asarray(equations._bend(x, newton, *equations.args)))
        below = newton + bend / 2
        is_safe = np.abs(below) > 0.1 * np.abs(newton)
        return np.where(is_safe, newton * newton / np.where(is_safe, below, 1.0), newton), newton

    return _iterated(equations, x, step, *rest)


def householder(equations: Equations, x: np.ndarray, tol: float, maxiter: int, listener: Listener, options: dict
                ) -> Reached:  # fmt: skip
    """Householder's methods for one unknown: x + c[d − 1]/c[d], with the Taylor coefficients c of 1/F; order d + 1."""
    if len(x) != 1:
        raise MismatchError(
            f"Householder's methods are for one equation, and there are {len(x)}",
            remedy='use method "halley" or "newton"',
        )
    coefficients = equations._reciprocal(int(options.get("order", 3)))

    def step(x: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        before, last = coefficients(x, *equations.args)
        newton = -r / np.diagonal(equations.dense(x))
        found = np.asarray(before) / np.asarray(last)
        return np.where(np.isfinite(found), found, newton), newton

    return _iterated(equations, x, step, tol, maxiter, listener, options)


def _iterated(equations: Equations, x: np.ndarray, step: Callable, tol: float, maxiter: int, listener: Listener,
              options: dict) -> Reached:  # fmt: skip
    """Steps, first as they are, then along Newton's, shorter and shorter, until the residual falls."""
    r = equations.value(x)
    evaluations, count, status = 1, 0, RUNNING
    if not np.all(np.isfinite(r)):
        return Reached(x, r, 0, 1, NOT_FINITE)
    try:
        while status == RUNNING and count < maxiter:
            if not np.any(r):
                status = CONVERGED
                break
            try:
                whole, newton = step(x, r)
            except (RuntimeError, np.linalg.LinAlgError):  # SciPy and NumPy say so of a singular matrix
                status = STUCK
                break
            if not np.all(np.isfinite(newton)):
                status = STUCK
                break
            count += 1
            size = float(np.max(np.abs(newton)) / (1 + np.max(np.abs(x))))
            direction, length = whole, 1.0
            new = x + direction
            after = equations.value(new)
            evaluations += 1
            while not _norm(after) < (1 - 1e-4 * length) * _norm(r) and length > _SHORTEST and size > tol:
                if direction is whole and whole is not newton:
                    direction = newton
                else:
                    length /= 2
                new = x + length * direction
                after = equations.value(new)
                evaluations += 1
            if _norm(after) < _norm(r):
                x, r = new, after
                if size <= tol:
                    status = CONVERGED
            else:
                status = CONVERGED if size <= max(tol, 1e-8) else STUCK
            listener.tell(count, x, _norm(r), None)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Stopped:
        status = INTERRUPTED + 1
    return Reached(x, r, count, evaluations, _ended(status))


def _norm(r: np.ndarray) -> float:
    return float(np.sqrt(r @ r))


METHODS: dict[str, Callable[..., Reached]] = {
    "newton": newton,
    "sparse-newton": sparse_newton,
    "newton-krylov": krylov,
    "halley": halley,
    "householder": householder,
}
