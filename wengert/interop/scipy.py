"""`wg.to_scipy`: a function with its derivatives as `scipy.optimize` wants them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.api.flat import Layout, of_vector
from wengert.api.grad import value_and_grad
from wengert.api.hessian import hessian, hvp
from wengert.api.jacobian import value_and_jacobian
from wengert.api.jit import jit as compiled


class ScipyProblem:
    """A function for `scipy.optimize`; made by `to_scipy`.

    `fun(x)`, `jac(x)`, `hess(x)` and `hessp(x, p)` take and return flat vectors and matrices; `x0` is the vector of the
    example, `unravel(result.x)` gives the containers back. All take further arguments, as SciPy's `args`. Value and
    first derivative are computed together and kept for the next question at the same point.
    """

    def __init__(self, f: Callable, x0: Any, jit: bool):
        self._layout = Layout(x0)
        self.x0 = self._layout.vector(x0)
        flat = of_vector(f, self._layout)
        of_numbers = lambda x, *args: np.reshape(flat(x, *args), (-1,))
        wrap = compiled if jit else lambda g: g
        self._value = flat
        self._both = wrap(value_and_grad(flat))
        self._residuals = wrap(value_and_jacobian(of_numbers))
        self._hessian = wrap(hessian(flat))
        self._product = wrap(hvp(flat))
        self._at: tuple[np.ndarray, tuple, Any, Any] | None = None
        self._one_number: bool | None = None

    def unravel(self, x: Any) -> Any:
        """The containers of a flat vector."""
        return self._layout.unravel(np.asarray(x))

    def _known(self, x: np.ndarray, args: tuple) -> tuple[Any, Any]:
        """Value and first derivative at a point."""
        x = np.asarray(x, float)
        at = self._at
        if at is not None and len(at[1]) == len(args) and all(a is b for a, b in zip(at[1], args, strict=True)):
            if np.array_equal(at[0], x):
                return at[2], at[3]
        if self._one_number is None:
            self._one_number = not np.shape(self._value(x, *args))
        value, slope = (self._both if self._one_number else self._residuals)(x, *args)
        self._at = (x.copy(), args, value, slope)
        return value, slope

    def fun(self, x: np.ndarray, *args: Any) -> Any:
        """The value: one number, or a vector of residuals for `least_squares` and `root`."""
        value, _ = self._known(x, args)
        return float(value) if self._one_number else np.array(value)

    def jac(self, x: np.ndarray, *args: Any) -> np.ndarray:
        """The gradient; of residuals, the Jacobian."""
        return np.array(self._known(x, args)[1])

    def hess(self, x: np.ndarray, *args: Any) -> np.ndarray:
        """The Hessian of a function with one number as its value."""
        return np.asarray(self._hessian(np.asarray(x, float), *args))

    def hessp(self, x: np.ndarray, p: np.ndarray, *args: Any) -> np.ndarray:
        """The Hessian times a vector, without the Hessian."""
        return np.asarray(self._product(np.asarray(x, float), np.asarray(p, float), *args))

    def fun_and_jac(self, x: np.ndarray, *args: Any) -> tuple[Any, np.ndarray]:
        """Both at once, for `minimize(…, jac=True)`."""
        return self.fun(x, *args), self.jac(x, *args)


def to_scipy(f: Callable, x0: Any, *, jit: bool = False) -> ScipyProblem:
    """A function with exact derivatives for `scipy.optimize`: `fun`, `jac`, `hess`, `hessp`.

    Args:
        f: a function whose first argument is a number, an array or a container of these; it returns one real number, or
            an array of residuals.
        x0: an example of the first argument, usually where to start.
        jit: whether the function and its derivatives are compiled.

    Returns:
        An object with the four functions on flat vectors, `x0` as one, and `unravel` for the way back.

    >>> import numpy as np
    >>> def f(p):
    ...     return (p["a"] - 1) ** 2 + np.sum((p["b"] - p["a"] ** 2) ** 2)
    >>> problem = to_scipy(f, {"a": 0.0, "b": np.zeros(2)})
    >>> from scipy.optimize import minimize
    >>> found = minimize(problem.fun, problem.x0, jac=problem.jac, hessp=problem.hessp, method="trust-krylov")
    >>> problem.unravel(found.x)
    {'a': np.float64(1.00000), 'b': array([1.00000, 1.00000])}
    """
    return ScipyProblem(f, x0, jit)
