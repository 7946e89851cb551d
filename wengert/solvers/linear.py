"""`linear_solve`: systems of linear equations whose matrix is known as a function, and SciPy's iterative solvers.

What is differentiated is the answer, which is linear in the right-hand side: reverse mode solves the system with the
transposed map, which is found by transposing the function. No matrix is ever formed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from wengert import tree
from wengert.algorithms import roots
from wengert.api.custom import settled_leaves
from wengert.api.operators import operation
from wengert.api.products import vjp
from wengert.box.dispatch import FUNCTIONS
from wengert.box.functions.operands import array, stacked
from wengert.box.functions.sparse import spsolve
from wengert.capture.hooks import instrument
from wengert.errors import ConvergenceError, MismatchError
from wengert.modes.dual import push
from wengert.ops.linalg import solve
from wengert.ops.solution import linear_solution
from wengert.running import running
from wengert.solvers.given import not_converged
from wengert.solvers.parameters import Packing, Parameters, real
from wengert.types import shape_of

METHODS = ("auto", "cg", "gmres", "bicgstab", "direct")
_FEW = 100
"""Up to so many unknowns the matrix is formed, column by column, if nothing else is said."""


class System:
    """A linear map, as the op `linear_solution` needs it: `apply(v, parameters)` for vectors v.

    `find(operator, b, parameters)` solves a system with it, or its transpose, at plain numbers.
    """

    def __init__(self, name: str, apply: Callable, find: Callable, is_transposed: bool = False):
        self.name = name
        self._apply = apply
        self._find = find
        self._is_transposed = is_transposed

    @functools.cached_property
    def transposed(self) -> System:
        found = System(self.name, self._apply, self._find, not self._is_transposed)
        found.__dict__["transposed"] = self
        return found

    def apply(self, v: Any, parameters: Sequence[Any]) -> Any:
        if not self._is_transposed:
            return self._apply(v, parameters)
        _, pull = vjp(lambda v: self._apply(v, parameters), np.zeros(shape_of(v)))
        return pull(v)[0]

    def solve(self, b: Any, parameters: Sequence[Any]) -> np.ndarray:
        b = np.asarray(b, float)
        matvec, rmatvec = (
            lambda v, system=system: np.asarray(system.apply(v, parameters)) for system in (self, self.transposed)
        )
        operator = scipy.sparse.linalg.LinearOperator((len(b),) * 2, matvec=matvec, rmatvec=rmatvec, dtype=float)
        return np.asarray(self._find(operator, b, parameters), float).reshape(b.shape)

    def enclosed(self, mode: Any, b: Any, parameters: Sequence[Any]) -> Any:
        """The solutions for right-hand sides and parameters that are intervals: of the matrix, column by column."""
        unit = np.eye(shape_of(b)[0])
        columns = [self.apply(mode.point(e), parameters) for e in unit]
        return solve(stacked(columns, 1), b)

    def tangent(self, x: Any, parameters: Sequence[Any], dots: Sequence[Any]) -> Any:
        """What A does to x if the parameters move."""
        if all(d is None for d in dots):
            return None
        return push(lambda *p: [self.apply(x, p)], parameters, dots)[1][0]


@operation
def linear_solve(A: Any, b: Any, *, method: str = "auto", tol: float = 1e-12, maxiter: int | None = None) -> Any:
    """The x with A x = b, for a matrix, dense or sparse, or a function v ↦ A v.

    Args:
        A: a matrix, or a linear function of what is like `b`.
        b: the right-hand side; if A is a function, an array of any shape, or a container of arrays.
        method: for a function: "cg" (symmetric and positive definite), "gmres", "bicgstab", "direct" (the matrix is
            formed, column by column), or "auto": "direct" for up to 100 unknowns, then "gmres".
        tol: the residual relative to b.
        maxiter: the largest number of iterations; a `ConvergenceError` after that.

    Differentiable with respect to `b` and to whatever A holds or closes over; in reverse mode the transposed system is
    solved by the same method. Under `jit` functions are called back.

    >>> import numpy as np, wengert as wg
    >>> second_difference = lambda u: 2 * u - np.append(u[1:], 0.0) - np.append(0.0, u[:-1])
    >>> wg.linear_solve(second_difference, np.ones(3)).round(10)
    array([1.5, 2. , 1.5])
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    if not callable(A):
        return _with_matrix(A, b)
    flat = Packing(b)
    if all(0 in aval.shape for aval in flat.avals):
        return b
    function = instrument(A)
    parameters = Parameters(function)

    def apply(v: Any, values: Sequence[Any]) -> Any:
        found = parameters.put(values)(flat.container(v))
        leaves, structure = settled_leaves(found)
        if structure != flat.structure:
            raise MismatchError(
                "the function gives another container than that of the right-hand side",
                remedy="return what is like its argument and like b",
            )
        for leaf, aval in zip(leaves, flat.avals, strict=True):
            if shape_of(leaf) != aval.shape:
                raise MismatchError(
                    f"the function gives the shape {shape_of(leaf)} for a right-hand side of shape {aval.shape}"
                )
        return flat.vector(found)

    def find(operator: Any, b: np.ndarray, _: Any) -> np.ndarray:
        return iterated("wg.linear_solve", operator, b, method, tol, maxiter)

    vector_of_b = flat.vector(tree.map(real, b))
    return flat.container(
        linear_solution(vector_of_b, *parameters.values, system=System("wg.linear_solve", apply, find))
    )


_SMALL = 32
"""Up to so many unknowns compiled code looks at determinants first."""


def _with_matrix(A: Any, b: Any) -> Any:
    """The solution with a matrix, dense or sparse."""
    if running.state.capture is None:
        try:
            return spsolve(A.tocsc(), b) if scipy.sparse.issparse(A) else FUNCTIONS[np.linalg.solve](array(A), array(b))
        except np.linalg.LinAlgError as error:
            raise _is_singular() if "Singular" in str(error) else error from None
    if scipy.sparse.issparse(A):
        return spsolve(A.tocsc(), b)
    A = array(A)
    if len(shape_of(A)) == 2 and shape_of(A)[0] == shape_of(A)[1] <= _SMALL:
        instrument(roots.demand_regular)(A, "wg.linear_solve")
    return FUNCTIONS[np.linalg.solve](A, array(b))


def _is_singular() -> ConvergenceError:
    return ConvergenceError(
        "wg.linear_solve: the matrix is singular", remedy="look whether there is a solution, and whether only one"
    )


def iterated(name: str, operator: Any, b: np.ndarray, method: str, tol: float, maxiter: int | None) -> np.ndarray:
    """The solution at plain numbers."""
    n = len(b)
    if method == "direct" or (method == "auto" and n <= _FEW):
        try:
            return np.linalg.solve(np.stack([operator.matvec(unit) for unit in np.eye(n)], 1), b)
        except np.linalg.LinAlgError:
            raise _is_singular() from None
    options: dict[str, Any] = {"rtol": tol, "atol": 0.0, "maxiter": maxiter}
    if method in ("auto", "gmres"):
        method, options["restart"] = "gmres", min(n, 60)
        options["maxiter"] = 20 * n if maxiter is None else maxiter
    x, info = getattr(scipy.sparse.linalg, method)(operator, b, **options)
    if info or not np.all(np.isfinite(x)):
        if not np.linalg.norm(operator.matvec(x) - b) <= 1e3 * tol * np.linalg.norm(b):  # (it may be NaN)
            raise not_converged(name, f"{method} {why_it_ended(info)}")
    return x


def why_it_ended(info: int) -> str:
    """What SciPy's iterations say with a number that is not zero, or with an answer that is not finite."""
    return f"stopped after {info} iterations" if info > 0 else "broke down"
