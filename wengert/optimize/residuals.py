"""A user's residuals as functions of vectors, with their Jacobians and the robust loss, compiled.

What was compiled for the last few functions is kept, so that fitting one again, to other data in `args`, costs no
compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from wengert import tree
from wengert.algorithms.levenberg import DOGLEG, GAUSS_NEWTON, LM, levenberg
from wengert.api.flat import Layout, of_vector
from wengert.api.grad import grad
from wengert.api.jacobian import value_and_jacobian
from wengert.api.jit import jit
from wengert.errors import MismatchError, NonFiniteError, WengertError
from wengert.explain.nans import debug_nans
from wengert.optimize.coordinates import Coordinates, CurvedCoordinates
from wengert.optimize.last_used import LastUsed
from wengert.optimize.robust import scaled
from wengert.solvers.fitting import followed

KINDS = {"lm": LM, "dogleg": DOGLEG, "gauss-newton": GAUSS_NEWTON}
DAMPING = {"lm": 1e-3, "dogleg": 1.0, "gauss-newton": 1.0}
"""At the start; the radius, in units of the projected residual, for dogleg."""

_kept = LastUsed()


class Residuals:
    """The residuals of one problem; `args` of the user's function are passed on."""

    def __init__(self, r: Callable, layout: Layout, coordinates: Coordinates | CurvedCoordinates, loss: Any):
        self.of_vector = of_vector(r, layout)
        self.coordinates = coordinates
        self.loss = loss
        self.fits = 0
        """How often it was fitted."""
        self.is_sparse: bool | None = None
        self._sparse: dict[Any, tuple] = {}
        self._solver: tuple | None = None

    # ------------------------------------------------------------------------------- as code that may be traced

    def at(self, vector: Any, args: tuple) -> Any:
        """The residuals as one real vector."""
        parts = []
        found = self.of_vector(vector, *args)
        leaves = tree.leaves(found)
        if not leaves:
            raise MismatchError(
                f"{self.of_vector.__name__} returns {found} instead of residuals",
                remedy="is a `return` missing at its end?",
            )
        for leaf in leaves:
            part = np.reshape(leaf, (-1,))
            if part.dtype.kind == "b":
                raise MismatchError(
                    f"{self.of_vector.__name__} returns truth values instead of residuals",
                    remedy="return the difference of both sides instead of a comparison",
                )
            parts += [part.real, part.imag] if part.dtype.kind == "c" else [part]
        flat = (parts[0] if len(parts) == 1 else np.concatenate(parts)) * 1.0
        if flat.shape[0] == 0:
            raise MismatchError(
                f"{self.of_vector.__name__} returns no residuals: an empty array",
                remedy="fit to at least one number; are the data empty, or does a mask select none of them?",
            )
        return flat

    def not_finite(self, vector: np.ndarray, args: tuple) -> NonFiniteError:
        """The error for a start at which something is no number, with the line of the user's where that comes from."""
        with np.errstate(all="ignore"):
            f = np.asarray(self.at(vector, args))
        bad = np.flatnonzero(~np.isfinite(f))
        culprit = ""
        try:
            with debug_nans(), np.errstate(all="ignore"):
                grad(lambda v: np.sum(self.at(v, args)))(vector)
        except NonFiniteError as error:
            culprit = f"\n{error}"
        except WengertError:
            pass  # the line is not known then
        what = (
            f"residual {bad[0]} is {f[bad[0]]}" if len(bad)
            else "a derivative is not finite" if culprit
            else "the sum of squares or the Jacobian overflows"
        )  # fmt: skip
        return NonFiniteError(
            f"least squares cannot start: {what} at x0{culprit}", remedy="start where all residuals are finite"
        )

    def of_steps(self, step: Any, state: Any, start: Any, args: tuple) -> Any:
        """The residuals after a step from a state."""
        return self.at(self.coordinates.point(self.coordinates.moved(state, step), start), args)

    def of_state(self, state: Any, start: Any, args: tuple) -> Any:
        """The residuals at a state."""
        return self.at(self.coordinates.point(state, start), args)

    def linearised(self, state: Any, start: Any, args: tuple) -> tuple[Any, Any]:
        """Residuals and Jacobian."""
        if self.coordinates.curved:
            return value_and_jacobian(self.of_steps)(np.zeros(self.coordinates.size), state, start, args)
        return value_and_jacobian(self.of_state)(state, start, args)

    def evaluate(self, state: Any, start: Any, scale: Any, args: tuple) -> tuple[Any, Any, Any]:
        """The cost, and residuals and Jacobian of the least-squares problem that has its gradient."""
        f, jacobian = self.linearised(state, start, args)
        cost, f, rows = scaled(self.loss, f, scale)
        return cost, f, jacobian if rows is None else jacobian * rows[:, None]

    def cost(self, state: Any, start: Any, scale: Any, args: tuple) -> Any:
        """The cost alone."""
        return scaled(self.loss, self.of_state(state, start, args), scale)[0]

    def whole(self, state: Any, start: Any, scale: Any, args: tuple, lower: Any, upper: Any, bounded: bool, kind: int,
              damping: Any, growing: Any, cautious: Any, tolerances: Any, maxiter: Any) -> tuple:  # fmt: skip
        """All iterations: the state that is reached, the reason for the end, the number of iterations."""
        ftol, xtol, gtol = tolerances
        evaluate = lambda state: self.evaluate(state, start, scale, args)
        return followed(levenberg)(evaluate, self.coordinates.moved, state, self.coordinates.size, lower, upper,
                                   bounded, kind, damping, growing, cautious, ftol, xtol, gtol, maxiter)  # fmt: skip

    # -------------------------------------------------------------------------------------------------- compiled

    @cached_property
    def evaluate_compiled(self) -> Callable:
        return jit(self.evaluate, fallback=True)

    @cached_property
    def whole_compiled(self) -> Callable:
        return jit(self.whole, static_argnums=(6, 7), fallback=True)

    @cached_property
    def plain_compiled(self) -> Callable:
        """The residuals themselves, and their Jacobian."""
        return jit(self.linearised, fallback=True)

    def sparse(self, pattern: Any, compiled: bool) -> Callable:
        """Residuals and sparse Jacobian; the pattern is the user's, or True."""
        key = (id(pattern), compiled)
        if key not in self._sparse:
            function = self.of_steps if self.coordinates.curved else self.of_state
            both = value_and_jacobian(function, sparse=pattern)
            self._sparse = {key: (jit(both, fallback=True) if compiled else both, pattern)}
        return self._sparse[key][0]

    def solver(self, jacobian: Any, make: Callable[[Any], Any]) -> Any:
        """What solves the systems of a pattern; index arrays of Jacobians are the same objects from call to call."""
        if self._solver is None or self._solver[0] is not jacobian.indices:
            self._solver = jacobian.indices, make(jacobian)
        return self._solver[1]


def residuals_of(r: Callable, layout: Layout, coordinates: Any, loss: Any, key: tuple) -> Residuals:
    """The residuals of a function, from an earlier fit if there was one."""
    key = (r, layout.structure, tuple(layout.shapes), *key)
    return _kept.get(key, lambda: Residuals(r, layout, coordinates, loss))
