"""Solvers of our own: `root`, `fixed_point`, `argmin`. Under `jit` they run in one native loop.

The algorithms (`algorithms/`) are plain NumPy. What is differentiated is the answer (`implicit.py`): with respect to
`args`, and to whatever else the function depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.algorithms import minima, roots
from wengert.api.grad import grad, value_and_grad
from wengert.api.hessian import hessian
from wengert.api.jacobian import jacobian
from wengert.api.operators import operation
from wengert.box.functions.operands import part
from wengert.capture.hooks import instrument
from wengert.errors import ConvergenceError, MismatchError
from wengert.ops.elementwise import stop_gradient
from wengert.running import running
from wengert.solvers.implicit import Equation, FixedPoint, Implicit, Optimality
from wengert.solvers.parameters import Packing, Parameters, vector
from wengert.solvers.slopes import DenseSlopes, ImplicitEquations, Slopes
from wengert.types import shape_of

_REMEDY = "give it more iterations (maxiter=), a larger tolerance (tol=), or start nearer to the answer"
_FEW = 100
"""Up to so many unknowns a Hessian is worth its cost."""
_SMALL = 32
"""Up to so many unknowns compiled code looks at determinants first."""


@operation
def root(f: Callable, x0: Any, *args: Any, method: str = "auto", tol: float = 1e-10, maxiter: int = 100) -> Any:
    """A root of `f(x, *args)`, found from `x0`, in the container of `x0`.

    Args:
        f: returns as many numbers as x has.
        method: "newton" (with the exact Jacobian; what "auto" means; where there are many unknowns, the Jacobian is
            sparse if most of its entries are zero, and there is none if it would fill the memory) or "broyden" (one
            Jacobian, then updates).
        tol: the size of the last step relative to 1 + |x|.
        maxiter: the largest number of iterations; a `ConvergenceError` after that.

    The derivative is that of the root, with respect to `args` and to what `f` closes over. With respect to `x0` it is
    zero.

    >>> import wengert as wg
    >>> wg.root(lambda x, a: x**2 - a, 1.0, 2.0).round(12)
    np.float64(1.414213562373)
    >>> wg.grad(lambda a: wg.root(lambda x: x**2 - a, 1.0))(4.0).round(12)
    np.float64(0.25)
    """
    _one_of(method, ("auto", "newton", "broyden"))

    def run(residual: Callable, x: Any) -> tuple:
        if method == "broyden":
            return instrument(roots.broyden)(residual, jacobian(residual)(x), x, tol, maxiter)
        return instrument(roots.newton)(residual, _newton_step(residual), x, tol, maxiter)

    return _answer("wg.root", Equation, run, f, x0, args, tol)


@operation
def fixed_point(T: Callable, x0: Any, *args: Any, method: str = "auto", tol: float = 1e-10, maxiter: int = 1000) -> Any:
    """A fixed point x = T(x, *args), found from `x0`, in the container of `x0`.

    Args:
        T: returns what it is given, once iterated.
        method: "anderson" (acceleration by the last five iterates; what "auto" means), "iteration" or "newton".
        tol: how far an iteration may still move x, relative to 1 + |x|.
        maxiter: the largest number of iterations; a `ConvergenceError` after that.

    >>> import numpy as np, wengert as wg
    >>> wg.fixed_point(np.cos, 0.5).round(10)
    np.float64(0.7390851332)
    """
    _one_of(method, ("auto", "anderson", "iteration", "newton"))

    def run(residual: Callable, x: Any) -> tuple:
        if method == "newton":
            return instrument(roots.newton)(residual, _newton_step(residual), x, tol, maxiter)
        algorithm = roots.iterate if method == "iteration" else roots.anderson
        return instrument(algorithm)(lambda x: x - residual(x), x, tol, maxiter)

    return _answer("wg.fixed_point", FixedPoint, run, T, x0, args, tol)


@operation
def argmin(f: Callable, x0: Any, *args: Any, method: str = "auto", tol: float = 1e-8, maxiter: int = 1000) -> Any:
    """Where `f(x, *args)` is smallest, found from `x0`, in the container of `x0`; a local minimum.

    Args:
        f: returns a number.
        method: "newton" (exact Hessians), "bfgs", or "auto": Newton's method for up to 100 unknowns.
        tol: the size of the last step relative to 1 + |x| ("newton"), of the gradient relative to 1 + |f| ("bfgs").
        maxiter: the largest number of iterations; a `ConvergenceError` after that.

    >>> import numpy as np, wengert as wg
    >>> best = lambda a: wg.argmin(lambda x: np.sum((x - a) ** 2) + np.sum(x**4), np.zeros(2))
    >>> wg.jacobian(best)(np.array([0.0, 3.0])).round(6) + 0.0
    array([[1.      , 0.      ],
           [0.      , 0.142857]])
    """
    _one_of(method, ("auto", "newton", "bfgs"))
    few = vector_size(x0) <= _FEW

    def run(objective: Callable, x: Any) -> tuple:
        if method == "newton" or (method == "auto" and few):
            derivatives = lambda x: (grad(objective)(x), hessian(objective)(x))
            return instrument(minima.newton_minimum)(objective, derivatives, x, tol, maxiter)
        return instrument(minima.bfgs)(objective, value_and_grad(objective), x, tol, maxiter)

    followed = instrument(f)
    return _answer("wg.argmin", Optimality, run, lambda x, *args: _number(followed(x, *args)), x0, args, tol)


def _number(y: Any) -> Any:
    """What an objective returns: a number, or an array of one."""
    values = vector(y)
    if shape_of(values) != (1,):
        raise MismatchError(
            f"wg.argmin: the function returned {shape_of(values)[0]} numbers, of which none is the objective",
            remedy="return one number, for instance np.sum(y)",
        )
    return part(values, 0, 0)


def _newton_step(residual: Callable) -> Callable:
    """The residual and Newton's step at a point; the matrix is dense, sparse or none, by its structure."""
    equations = ImplicitEquations(residual)

    def step(x: Any) -> tuple[Any, Any]:
        r, matrix = equations.linearised(x, ())
        return r, _solved(matrix, r)

    return step


def _solved(matrix: Slopes, r: Any) -> Any:
    if running.state.capture is None:
        try:
            return matrix.solve(r)
        except np.linalg.LinAlgError:
            raise ConvergenceError(
                "wg.root: the Jacobian is singular on the way",
                remedy="start elsewhere, or look whether there is an answer, and whether it is the only one nearby",
            ) from None
    if isinstance(matrix, DenseSlopes) and shape_of(r)[0] <= _SMALL:
        instrument(roots.demand_regular)(matrix.entries[0], "wg.root")
    return matrix.solve(r)


def vector_size(x: Any) -> int:
    """The number of numbers in a container."""
    return sum(_size(a.shape) for a in Packing(x).avals)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _one_of(method: str, methods: tuple[str, ...]) -> None:
    if method not in methods:
        raise ValueError(f"method is one of {', '.join(methods)}, not {method!r}")


def _answer(name: str, kind: type[Equation], run: Callable, f: Callable, x0: Any, args: tuple, tol: float) -> Any:
    """The answer of an algorithm on vectors, with the derivative of an answer."""
    f = instrument(f)
    parameters = Parameters((f, x0, args))
    flat = Packing(x0)

    def solve(values: list[Any]) -> Any:
        return found(parameters.put(values)) if parameters.in_program else parameters.run(name, values, found)

    def found(given: tuple) -> Any:
        f, x0, args = given
        equation = kind(f)

        def function(v: Any) -> Any:
            if kind is Optimality:
                return f(flat.container(v), *args)
            found = equation.vector(flat.container(v), args)
            if shape_of(found) != shape_of(v):
                raise MismatchError(
                    f"{name}: the function gives {shape_of(found)[0]} numbers for {shape_of(v)[0]} unknowns",
                    remedy="return as many numbers as there are unknowns",
                )
            return found

        start = stop_gradient(flat.vector(x0))
        if not shape_of(start)[0]:
            return flat.container(start)
        x, size, _ = run(function, start)
        instrument(roots.demand_converged)(size, tol, name, _REMEDY)
        return flat.container(x)

    def satisfied(y: Any, values: list[Any]) -> Any:
        f, _, args = parameters.put(values)
        return f(y, *args)

    solve.__name__ = name
    if not parameters.values:
        return found((f, x0, args))
    with parameters.left_behind:
        return Implicit(solve, kind(satisfied), 1e-3, own=True)(parameters.values)
