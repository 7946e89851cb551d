"""`least_squares`: fits, and other sums of squares, with exact Jacobians.

Few unknowns: the iterations of `algorithms/levenberg.py` on a dense Jacobian. The first fits of a function are driven
by Python, with compiled residuals and Jacobian, since that is ready at once; a function that is fitted again and again
is compiled together with all iterations, and so is one in a program that is compiled or batched itself. Many unknowns
and a sparse Jacobian: `sparse_least_squares.py`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.optimize

from wengert.algorithms import levenberg as algorithm
from wengert.algorithms.status import FLAT, VALLEY
from wengert.api.flat import Layout
from wengert.api.sparsity import sparsity
from wengert.errors import MismatchError, WengertError
from wengert.optimize.coordinates import CurvedCoordinates, coordinates_of
from wengert.optimize.examination import fit_runs_away
from wengert.optimize.fit import Fit
from wengert.optimize.limits import limits_of
from wengert.optimize.objective import Unknowns, demand_function, explains_tuples, given_derivatives, started
from wengert.optimize.progress import ProgressBar
from wengert.optimize.residuals import DAMPING, KINDS, Residuals, residuals_of
from wengert.optimize.robust import loss_of, scaled
from wengert.optimize.sparse_least_squares import sparse_levenberg
from wengert.optimize.sum_over import SumOver
from wengert.optimize.telling import Listener, Stopped
from wengert.optimize.traced_least_squares import traced_least_squares
from wengert.solvers.fitting import is_traced

SCIPY = ("trf", "dogbox")
_MANY = 100
"""From so many unknowns on it is asked whether the Jacobian is sparse."""
_DENSE = 0.2
"""A Jacobian with a larger part of its entries nonzero counts as dense."""
_AGAIN = 3
"""A function that is fitted so often is compiled together with the iterations."""
_ATTEMPTS = ((1e3, True, 0.0), (1.0, False, 0.0), (1e-3, True, 1.0))
"""Damping, kind of scales and caution for further attempts."""
_ZERO = 1e-40
"""A sum of squares that is zero for all purposes, wherever the iterations would go."""
_ENDED = (algorithm.GRADIENT, algorithm.COST, algorithm.STEP)
"""The iterations have come to an answer."""
_MESSAGES = {
    algorithm.STOPPED: "stopped by the callback",
    algorithm.INTERRUPTED: "interrupted; x is the best point so far",
    algorithm.RUNNING: "the largest number of iterations is reached (maxiter=)",
    algorithm.GRADIENT: "the gradient is zero, to rounding (gtol)",
    algorithm.COST: "neither the cost nor its model falls any further (ftol)",
    algorithm.STEP: "the steps are as small as rounding errors (xtol)",
    FLAT: "flat: the residuals do not change with x here, so that nothing says where to go; start elsewhere",
    VALLEY: "the cost falls ever more slowly as x grows: a valley that seems to have no lowest point",
    algorithm.NO_PROGRESS: "no step makes the cost smaller, though its gradient is not zero: are the residuals smooth "
    "here?",
}


@explains_tuples
def least_squares(
    r: Callable[..., Any],
    x0: Any,
    *,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    bounds: Any = None,
    args: tuple = (),
    method: str = "auto",
    sparse: Any = "auto",
    manifold: Any = None,
    constant: Any = None,
    ftol: float | None = None,
    xtol: float | None = None,
    gtol: float | None = None,
    maxiter: int | None = None,
    max_nfev: int | None = None,
    jit: bool = True,
    progress: bool = False,
    callback: Callable[..., Any] | None = None,
    **others: Any,
) -> Fit:
    """Where the sum of squares of the residuals `r(x, *args)` is smallest, near to `x0`.

    Args:
        r: a plain function that returns an array of residuals, or a container of such; of complex ones real and
            imaginary part count.
        x0: where to start: a number, an array, or a container of these. The answer has its containers.
        loss: "linear", "huber", "soft_l1", "cauchy", "arctan", "tukey" or a function ρ(z): the cost is
            ½ Σ f_scale² ρ((r / f_scale)²). The first two derivatives of ρ are taken into account.
        f_scale: the size of residuals from which on they count as outliers; for robust losses.
        bounds: `(lower, upper)`, each a number, or numbers and arrays in the containers of x0; or
            `scipy.optimize.Bounds`, or a pair for each leaf.
        args: further arguments of `r`.
        method: "lm" (Levenberg and Marquardt's, with Moré's scaling; what "auto" means), "dogleg", "gauss-newton", or
            SciPy's "trf" and "dogbox" with our Jacobian.
        sparse: whether the Jacobian is sparse; "auto" looks at its pattern where there are many unknowns. Unknowns
            that have no residual in common, such as the points in bundle adjustment, are found and eliminated first
            (Schur complement).
        manifold: "unit-quaternion", "so3", "se3", "sphere" or a `Manifold`, for x0 or for leaves of it.
        constant: what is held at its start: a container like x0 with True or boolean arrays, or names of keys, or
        indices. ftol, xtol, gtol: when to stop. The defaults go on until rounding errors are all that is left (sparse:
            until the cost falls by less than 1e-10 of itself).
        maxiter: the largest number of iterations; `max_nfev` is another name for it.
        jit: compile residuals and Jacobian; what cannot be compiled runs as ordinary Python, with a warning.
        progress: draw a bar on stderr.
        callback: called after each evaluation with x, or with the state if its parameter is called
            `intermediate_result`; to stop, it returns True or raises StopIteration.

    Returns:
        A `Fit`: SciPy's fields `x`, `cost`, `fun`, `jac`, `grad`, `optimality`, `active_mask`, `status`, `message`,
        `success`, `nfev`; and `covariance`, `standard_error`, `covariance_of(g)`, `report()`, `plot()`. It prints as a
        table of values and standard errors.

    In compiled and batched functions all iterations run in native code: `wg.jit(wg.vmap(lambda y: least_squares(r, x0,
    args=(t, y)).x))` fits many curves. The derivative of the answer, with respect to `args` and what `r` closes over,
    is that of the minimum.

    >>> import numpy as np
    >>> t = np.linspace(0, 4, 20)
    >>> y = 2.5 * np.exp(-1.3 * t) + 0.5
    >>> def r(p, t, y):
    ...     return p["a"] * np.exp(-p["rate"] * t) + p["c"] - y
    >>> found = least_squares(r, {"a": 1.0, "rate": 1.0, "c": 0.0}, args=(t, y))
    >>> found.x["rate"].round(6), found.success
    (np.float64(1.3), True)
    """
    args = args if isinstance(args, tuple) else (args,)
    demand_function(r, "what gives the residuals")
    given_derivatives(others, "least_squares")
    x0 = started(x0)
    if isinstance(r, SumOver) and r.of_residuals:
        r = r.residuals
    if method != "auto" and method not in KINDS and method not in SCIPY:
        raise ValueError(f"method is auto, {', '.join((*KINDS, *SCIPY))}, not {method!r}")
    chosen = "lm" if method == "auto" else method
    maxiter = maxiter if maxiter is not None else max_nfev if max_nfev is not None else 2000
    traced = is_traced(r, x0, args, f_scale)
    unknowns: Layout = Layout(x0) if traced else Unknowns(x0)
    coordinates = coordinates_of(unknowns, constant, manifold)
    limits = _limits(bounds, unknowns)
    if limits is not None and coordinates.curved:
        raise MismatchError("bounds and manifolds cannot be used together", remedy="leave out one of them")
    function = loss_of(loss)
    tolerances = [0.0 if ftol is None else ftol, 1e-14 if xtol is None else xtol, 1e-11 if gtol is None else gtol]
    if traced:
        return traced_least_squares(
            coordinates, r, x0, args, f_scale, unknowns, limits, chosen, tolerances, maxiter, function
        )
    residuals = residuals_of(r, unknowns, coordinates, function, (loss, coordinates.key))
    problem = FitProblem(residuals, unknowns, x0, args, f_scale, limits, jit)
    problem.total = _total(r, function)
    with ProgressBar(chosen, maxiter, progress) as bar:
        listener = Listener(callback, bar, progress, problem.container)
        if chosen in SCIPY:
            state, status, count = _scipy(problem, chosen, function, maxiter, listener)
            large = None
        else:
            large = _pattern(problem, sparse)
            if large is not None:
                tolerances[0] = 1e-10 if ftol is None else ftol
                state, status, count, last = sparse_levenberg(problem, large, chosen, tolerances, maxiter, listener)
            else:
                state, status, count = _dense(problem, chosen, tolerances, maxiter, listener)
    if large is None:
        last = problem.evaluate(state)
    return _finished(problem, chosen, state, status, count, last)


class FitProblem:
    """A problem of plain numbers: residuals with their arguments, and what has been seen of them."""

    def __init__(
        self, residuals: Residuals, unknowns: Layout, x0: Any, args: tuple, f_scale: Any, limits: Any, jit: bool
    ):
        self.residuals, self.unknowns, self.args, self.scale, self.jit = residuals, unknowns, args, f_scale, jit
        self.start: np.ndarray = unknowns.vector(x0)
        self.coordinates = residuals.coordinates
        if isinstance(self.coordinates, CurvedCoordinates):
            self.coordinates.demand_on(self.start)
        self.bounded = limits is not None
        n = self.coordinates.size
        self.lower, self.upper = np.full(n, -np.inf), np.full(n, np.inf)
        if limits is not None:
            self.lower, self.upper = (self.coordinates.state(limit) for limit in limits)
            self.start = np.clip(self.start, *limits)
        self.state = self.coordinates.state(self.start)
        self.evaluations = 0
        self.description = ""
        self.best: tuple[float, np.ndarray] = math.inf, self.state
        self.first = math.nan
        """The cost at the start."""
        self.total: SumOver | None = None
        """The sum over data whose residuals, reduced to few, these are."""

    def residual_count(self, count: int) -> int:
        """How many residuals there are, of which `count` are known here."""
        return count if self.total is None else self.total.residual_count(self.container(self.state))

    def evaluate(self, state: np.ndarray) -> tuple[Any, Any, Any]:
        """Cost, residuals and Jacobian; a point where the function cannot be computed costs infinitely much."""
        function = self.residuals.evaluate_compiled if self.jit else self.residuals.evaluate
        self.evaluations += 1
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            cost, f, jacobian = function(state, self.start, self.scale, self.args)
        if math.isnan(self.first):
            self.first = float(cost)
        if cost < self.best[0]:
            self.best = float(cost), state
        return cost, np.asarray(f), jacobian

    def pattern(self) -> Any:
        """The pattern of the Jacobian."""
        if self.coordinates.curved:
            return sparsity(self.residuals.of_steps)(np.zeros(self.coordinates.size), self.state, self.start, self.args)
        return sparsity(self.residuals.of_state)(self.state, self.start, self.args)

    def vector(self, state: np.ndarray) -> np.ndarray:
        """All unknowns, for a state."""
        return np.asarray(self.coordinates.point(state, self.start))

    def container(self, state: np.ndarray) -> Any:
        """All unknowns in the user's containers."""
        return self.unknowns.container(self.vector(state))  # type: ignore[attr-defined]


def _total(r: Callable, loss: Any) -> SumOver | None:
    """The sum over data, if the residuals are those of one, reduced to few with the same sum of squares."""
    total = getattr(r, "__self__", None)
    if not isinstance(total, SumOver):
        return None
    if loss is not None:
        raise MismatchError(
            f"a robust loss needs each residual of {total.__name__}, and of a sum over data only sums are known",
            remedy="minimise the sum of the losses: minimize(sum_over(lambda p, *block: np.sum(np.log1p(r(p, *block)"
            " ** 2)), data), x0)",
        )
    return total


def _limits(bounds: Any, unknowns: Layout) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds; a tuple of two is SciPy's (lower, upper), whatever the number of unknowns."""
    if isinstance(bounds, tuple) and len(bounds) == 2:
        lower, upper = bounds
        bounds = SimpleNamespace(lb=-np.inf if lower is None else lower, ub=np.inf if upper is None else upper)
    return limits_of(bounds, unknowns)


# ------------------------------------------------------------------------------------------------------- plain numbers


def _dense(problem: FitProblem, method: str, tolerances: list[float], maxiter: int, listener: Listener) -> tuple:
    """The state that is reached, why, and after how many iterations.

    Where the residuals say nothing of some direction at the answer, or there is none, the way there may have been too
    bold: shorter first steps, and other scales, are tried too, and the lowest cost counts.
    """
    native = problem.jit and not listener.listens and problem.residuals.fits >= _AGAIN
    problem.residuals.fits += 1
    best: tuple | None = None
    attempts = [(method, DAMPING[method], True, 0.0), *[(method, *attempt) for attempt in _ATTEMPTS]]
    for k, (how, damping, growing, cautious) in enumerate(attempts):
        try:
            found = _run(problem, how, (damping, growing, cautious), tolerances, maxiter, listener, native)
        except KeyboardInterrupt:
            return problem.best[1], algorithm.INTERRUPTED, problem.evaluations
        except Stopped:
            return problem.best[1], algorithm.STOPPED, problem.evaluations
        cost, f, jacobian = problem.evaluate(found[0])
        if not np.isfinite(cost) or not np.all(np.isfinite(jacobian)):
            raise problem.residuals.not_finite(problem.vector(found[0]), problem.args)
        found = _examined(problem, found, cost, f, jacobian)
        if best is None or cost < best[0] * (1 - 1e-9):
            best = cost, found
        if k == 0 and found[1] == algorithm.RUNNING:  # a long bent valley: dogleg steps may need fewer iterations
            attempts.insert(1, ("dogleg", DAMPING["dogleg"], True, 0.0))
        if (
            method != "lm"
            or cost <= 1e-20 * min(problem.first, 1.0)
            or (found[1] in _ENDED and _is_determined(jacobian))
        ):
            break
    assert best is not None
    cost, (state, status, count) = best
    return state, algorithm.COST if status == algorithm.RUNNING and 2 * cost <= _ZERO else status, count


def _examined(problem: FitProblem, found: tuple, cost: float, f: np.ndarray, jacobian: np.ndarray) -> tuple:
    """How the iterations ended, as it looks from where they did: flat places and endless valleys are no answers."""
    state, status, count = found
    if status not in _ENDED or problem.coordinates.curved:
        return found
    if 2 * cost <= _ZERO:
        return found
    if not np.any(jacobian):
        return state, FLAT, count
    far = fit_runs_away(problem.state, state, f, jacobian)
    return (state, VALLEY, count) if far >= 0 else found


def _run(problem: FitProblem, method: str, attempt: tuple[float, bool, float], tolerances: list[float], maxiter: int,
         listener: Listener, native: bool) -> tuple:  # fmt: skip
    residuals, kind = problem.residuals, KINDS[method]
    if native:
        try:
            state, status, count = residuals.whole_compiled(
                problem.state, problem.start, problem.scale, problem.args, problem.lower, problem.upper,
                problem.bounded, kind, *attempt, tuple(tolerances), maxiter)  # fmt: skip
            problem.evaluations += int(count)
            return np.asarray(state), int(status), int(count)
        except (ArithmeticError, ValueError):
            pass  # raised at a trial point; below that is a point to turn back from
    n = problem.coordinates.size
    size: list[int] = []

    def evaluate(state: np.ndarray) -> tuple[Any, Any, Any]:
        try:
            found = problem.evaluate(state)
        except (ArithmeticError, ValueError) as error:
            if not size or isinstance(error, WengertError):
                raise
            return np.inf, np.zeros(size[0]), np.zeros((size[0], n))
        size[:] = [len(found[1])]
        if found[0] <= problem.best[0]:
            listener.tell(problem.evaluations, state, float(found[0]), None)
        return found

    with np.errstate(all="ignore"):
        return algorithm.levenberg(evaluate, problem.coordinates.moved, problem.state, n, problem.lower, problem.upper,
                                   problem.bounded, kind, *attempt, tolerances[0], tolerances[1], tolerances[2],
                                   maxiter)  # fmt: skip


def _is_determined(jacobian: np.ndarray) -> bool:
    """Whether all unknowns are, by the residuals: no singular value of the scaled Jacobian is zero."""
    norms = np.sqrt(np.sum(jacobian**2, axis=0))
    if jacobian.shape[0] < jacobian.shape[1] or not np.all(norms > 0):
        return False
    values = np.linalg.svd(jacobian / norms, compute_uv=False)
    return bool(values[-1] > 1e-11 * values[0])


def _pattern(problem: FitProblem, sparse: Any) -> Any:
    """The user's pattern of a sparse Jacobian, or True for one that is to be found; `None` if it is dense."""
    if sparse is False or sparse is None:
        return None
    if not isinstance(sparse, str):
        return sparse
    if problem.coordinates.size < _MANY:
        return None
    residuals = problem.residuals
    if residuals.is_sparse is None:  # what was found in an earlier fit costs speed only, should it be another now
        try:
            pattern = problem.pattern()
            residuals.is_sparse = pattern.nnz <= _DENSE * pattern.shape[0] * pattern.shape[1]
        except WengertError:
            residuals.is_sparse = False
    return True if residuals.is_sparse else None


def _scipy(problem: FitProblem, method: str, function: Any, maxiter: int, listener: Listener) -> tuple:
    """SciPy's methods, with our Jacobian."""
    if problem.coordinates.curved:
        raise MismatchError(f"SciPy's {method} knows no manifolds", remedy='use method="lm"')
    last: dict[str, Any] = {}
    residuals = problem.residuals
    linearised = residuals.plain_compiled if problem.jit else residuals.linearised

    def at(u: np.ndarray) -> tuple:
        if not np.array_equal(last.get("at", np.nan), u):
            last["both"] = linearised(u, problem.start, problem.args)
            last["at"] = u.copy()
            problem.evaluations += 1
            cost = float(scaled(function, last["both"][0], problem.scale)[0])
            if cost < problem.best[0]:
                problem.best = cost, last["at"]
            listener.tell(problem.evaluations, u, cost, None)
        return last["both"]

    rows = "linear" if function is None else lambda z: np.stack(function(z))
    eps = 1e-15
    try:
        found = scipy.optimize.least_squares(
            lambda u: at(u)[0], problem.state, lambda u: at(u)[1], bounds=(problem.lower, problem.upper), method=method,
            x_scale="jac", loss=rows, f_scale=problem.scale, ftol=eps, xtol=eps, gtol=1e-12, max_nfev=maxiter
        )  # fmt: skip
    except KeyboardInterrupt:
        return problem.best[1], -1, problem.evaluations
    except Stopped:
        return problem.best[1], -2, problem.evaluations
    end = found.x, {4: 2}.get(found.status, found.status), found.nfev
    return _examined(problem, end, *problem.evaluate(found.x))


def _finished(problem: FitProblem, method: str, state: np.ndarray, status: int, count: int, last: tuple) -> Fit:
    cost, f, jacobian = last
    gradient = np.asarray(jacobian.T @ f)
    active = np.zeros(problem.coordinates.size, int)
    if problem.bounded:
        active = np.where(state <= problem.lower, -1, np.where(state >= problem.upper, 1, 0))
    inside = np.where((active < 0) & (gradient > 0) | (active > 0) & (gradient < 0), 0.0, gradient)
    raw = f if problem.residuals.loss is None else np.asarray(problem.residuals.at(problem.vector(state), problem.args))
    fit = Fit(
        x=problem.container(state), cost=float(cost), fun=raw, jac=jacobian, grad=gradient,
        optimality=float(np.max(np.abs(inside), initial=0.0)), active_mask=active, nfev=problem.evaluations,
        njev=problem.evaluations, nit=int(count), status=int(status), message=_MESSAGES[int(status)],
        success=status in _ENDED, method=method)  # fmt: skip
    fit.remember(problem, state)
    return fit
