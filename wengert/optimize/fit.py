"""What `least_squares` returns: the answer, how well it is determined, a table, and a picture.

The covariance is s² (JᵀJ)⁻¹ with s² = RSS / (m − n), from the QR decomposition of J with columns scaled, so that it
has the digits that J has. With a robust loss J is the scaled one and RSS twice the cost, as SciPy's `curve_fit` has
it. Directions of which the residuals say nothing have infinite variance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import splu

from wengert.api.flat import Layout, of_vector
from wengert.api.jacobian import jacobian
from wengert.errors import MismatchError
from wengert.optimize.fit_plot import picture
from wengert.optimize.fit_report import report_of
from wengert.optimize.result import Solved, register_result

_LARGE = 3000
"""Up to so many unknowns a covariance matrix is made of a sparse Jacobian."""
_SINGULAR = 1e-12


class Fit(Solved):
    """An answer of `least_squares`: SciPy's fields, and what a fit is asked for. It prints as its report.

    >>> import numpy as np
    >>> from wengert import optimize
    >>> t, y = np.arange(5.0), np.array([1.0, 2.1, 2.9, 4.2, 5.0])
    >>> found = optimize.least_squares(lambda p: p["a"] + p["b"] * t - y, {"a": 0.0, "b": 0.0})
    >>> found.x["b"].round(6), found.standard_error["b"].round(6)
    (np.float64(1.01), np.float64(0.041231))
    """

    def remember(self, problem: Any, state: np.ndarray) -> None:
        """What the covariance of functions, and pictures, need."""
        object.__setattr__(self, "_problem", problem)
        object.__setattr__(self, "_state", state)

    # ----------------------------------------------------------------------------------------- how well determined

    @property
    def residual_variance(self) -> Any:
        """s² = RSS / (m − n); infinite if there are no more residuals than unknowns."""
        m, n = self.residual_count, self.jac.shape[1]
        return 2 * self.cost / (m - n) if m > n else np.inf

    @property
    def residual_count(self) -> int:
        """m: how many residuals there are; of a sum over data, those of all its blocks."""
        problem = self.__dict__.get("_problem")
        return self.jac.shape[0] if problem is None else problem.residual_count(self.jac.shape[0])

    @property
    def covariance(self) -> Any:
        """The covariance of all unknowns that are not constant, ravelled; on manifolds that of steps."""
        variance, n = self.residual_variance, self.jac.shape[1]
        return np.full((n, n), np.inf) if variance is np.inf else self._inverse() * variance

    @property
    def standard_error(self) -> Any:
        """Standard errors, in the containers of x, zero for constants; on manifolds a vector for the steps."""
        errors = np.sqrt(np.diagonal(self.covariance))
        problem = self.__dict__.get("_problem")
        if problem is None or problem.coordinates.curved:
            return errors
        return problem.unknowns.unravel(problem.coordinates.spread(errors))

    @property
    def correlation(self) -> Any:
        """The correlation matrix of the unknowns."""
        covariance = self.covariance
        errors = np.sqrt(np.diagonal(covariance))
        with np.errstate(invalid="ignore"):
            return covariance / errors / errors[:, None]

    def covariance_of(self, g: Callable[..., Any], *args: Any) -> Any:
        """The covariance of `g(x, *args)`, by its Jacobian (delta method); a number if g gives one.

        Of several numbers, in an array or a container, it is a matrix over all of them, ravelled.

        >>> import numpy as np
        >>> from wengert import optimize
        >>> t = np.arange(5.0)
        >>> y = np.array([1.0, 2.1, 2.9, 4.2, 5.0])
        >>> found = optimize.least_squares(lambda p: p[0] + p[1] * t - y, np.zeros(2))
        >>> np.allclose(found.covariance_of(lambda p: p), found.covariance)
        True
        """
        slopes, value = self._slopes(g, args)
        found = self._between(slopes) * self.residual_variance
        return found[0, 0] if isinstance(value.unravel(np.zeros(value.size)), float) else found

    def standard_error_of(self, g: Callable[..., Any], *args: Any) -> Any:
        """The standard error of each number that `g(x, *args)` gives, in its form."""
        slopes, value = self._slopes(g, args)
        if scipy.sparse.issparse(self.jac):
            variance = np.diagonal(self._between(slopes))
        else:
            variance = np.einsum("ij,jk,ik->i", slopes, self._inverse(), slopes)
        return value.unravel(np.sqrt(np.maximum(variance, 0.0) * self.residual_variance))

    def _slopes(self, g: Callable[..., Any], args: tuple) -> tuple[np.ndarray, Layout]:
        """The Jacobian of g with respect to the free unknowns, and the form of its value."""
        problem, state = self._known()
        of_all = of_vector(g, problem.unknowns)
        value = Layout(of_all(problem.vector(state), *args))

        def of_step(step: Any) -> Any:
            state_after = problem.coordinates.moved(state, step)
            return value.ravel(of_all(problem.coordinates.point(state_after, problem.start), *args))

        return np.asarray(jacobian(of_step)(np.zeros(problem.coordinates.size))), value

    def _known(self) -> tuple[Any, np.ndarray]:
        if "_problem" not in self.__dict__:
            raise MismatchError(
                "this fit was found in a compiled, batched or differentiated function and knows nothing of its problem",
                remedy="call least_squares outside of them for this",
            )
        return self.__dict__["_problem"], self.__dict__["_state"]

    def _inverse(self) -> Any:
        """(JᵀJ)⁻¹."""
        kept = self.__dict__.get("_kept_inverse")
        if kept is None:
            n = self.jac.shape[1]
            if not scipy.sparse.issparse(self.jac):
                kept = inverse_square(self.jac)
            elif n <= _LARGE:
                kept = self._between(np.eye(n))
            else:
                raise MismatchError(
                    f"the covariance of {n} unknowns is a matrix of {n} x {n} numbers",
                    remedy="ask for what you need of it: covariance_of(lambda x: x['a'])",
                )
            object.__setattr__(self, "_kept_inverse", kept)
        return kept

    def _between(self, slopes: np.ndarray) -> np.ndarray:
        """slopes (JᵀJ)⁻¹ slopesᵀ."""
        if not scipy.sparse.issparse(self.jac):
            return slopes @ self._inverse() @ slopes.T
        norms = np.sqrt(np.asarray(self.jac.multiply(self.jac).sum(axis=0)).ravel())
        norms = np.where(norms > 0, norms, 1.0)
        scaled = self.jac @ scipy.sparse.diags_array(1 / norms)
        try:
            found = splu((scaled.T @ scaled).tocsc(), permc_spec="MMD_AT_PLUS_A").solve((slopes / norms).T)
        except RuntimeError:
            found = np.full(slopes.T.shape, np.inf)
        pivots = np.abs(found)
        if not np.all(np.isfinite(pivots)) or np.max(pivots, initial=0) > 1e14:
            return np.full((len(slopes), len(slopes)), np.inf)
        return (slopes / norms) @ found

    # ---------------------------------------------------------------------------------------------------- for people

    def report(self) -> str:
        """A table: value, standard error and correlations of each unknown, and what else is to be said of the fit."""
        return report_of(self)

    def plot(self, *, x: Any = None, y: Any = None, model: Callable[..., Any] | None = None, level: float = 0.95,
             path: Any = None, ax: Any = None) -> Any:  # fmt: skip
        """Data, fit and confidence band as a picture (SVG), which notebooks show and `path=` saves.

        Args:
            x, y: the data, if the fit cannot know them: they are `args=(x, y)` of the fit if these are two vectors.
            model: `model(parameters, x)`, for a smooth curve; without it, the fit is drawn at the data, where the
                residuals say what it is.
            level: of the band, which is that of the fitted curve (not of new data).
            ax: axes of Matplotlib to draw into, instead.

        Where there is nothing to draw it over, residuals are drawn by their number.
        """
        return picture(self, x, y, model, level, path, ax)

    def __repr__(self) -> str:
        return self.report() if "_problem" in self.__dict__ else super().__repr__()

    __str__ = __repr__


register_result(Fit)


def inverse_square(matrix: Any) -> Any:
    """(AᵀA)⁻¹ of a dense matrix: by QR, or where columns depend on each other, by singular values: infinite there."""
    if not isinstance(matrix, np.ndarray):  # traced
        inverse = np.linalg.inv(np.linalg.qr(matrix, mode="r"))
        return inverse @ inverse.T
    norms = np.sqrt(np.sum(matrix**2, axis=0))
    norms = np.where(norms > 0, norms, 1.0)
    _, values, right = np.linalg.svd(matrix / norms, full_matrices=False)
    n = matrix.shape[1]
    if len(values) == n and values[-1] > _SINGULAR * values[0]:
        factor = scipy.linalg.qr(matrix / norms, mode="r")[0][:n]
        inverse = scipy.linalg.solve_triangular(factor, np.eye(n))
        return inverse @ inverse.T / norms / norms[:, None]
    kept = values > _SINGULAR * np.max(values, initial=0.0)
    rows = right[kept] / values[kept, None]
    lost = 1 - np.sum(right[kept] ** 2, axis=0) > 1e-8  # unknowns with a part in a direction that is not determined
    found = rows.T @ rows / norms / norms[:, None]
    found[lost] = found[:, lost] = np.inf
    return found
