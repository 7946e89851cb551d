"""`solve`: roots of systems of equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from wengert.algorithms.status import CONVERGED, INTERRUPTED, LIMIT, MESSAGES, NOT_FINITE, STUCK
from wengert.api.flat import Layout, of_vector
from wengert.optimize.equations import METHODS, Equations
from wengert.optimize.objective import Unknowns, explains_tuples, known_options, started
from wengert.optimize.progress import ProgressBar
from wengert.optimize.result import Solved
from wengert.optimize.telling import Listener, Stopped
from wengert.solvers.native import root
from wengert.solvers.parameters import depend_on_traced

_FEW = 200
"""Up to so many unknowns the Jacobian is factorised as a dense matrix."""
_SPARSE = 0.2
_SCIPY = ("hybr", "lm", "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "krylov",
          "df-sane")  # fmt: skip
_NO_ROOT = (
    "no root was found: the residual cannot be made smaller from here (a local minimum of |F|, or a singular "
    "Jacobian); start elsewhere"
)


@explains_tuples
def solve(
    F: Callable[..., Any],
    x0: Any,
    *,
    method: str = "auto",
    args: tuple = (),
    jit: bool = True,
    progress: bool = False,
    callback: Callable[..., Any] | None = None,
    tol: float = 1e-10,
    options: dict[str, Any] | None = None,
) -> Solved:
    """A root of `F(x, *args)`, found from `x0`, with exact derivatives.

    Args:
        F: returns as many numbers as x has, in any container.
        x0: where to start: a number, an array or a container of these. The answer has its containers.
        method: "newton" (dense Jacobians, in a trust region, one compiled loop), "sparse-newton" (sparse Jacobians and
            their factorisation), "newton-krylov" (GMRES on derivatives along directions: no Jacobian), "halley" (third
            order, second derivatives along the step), "householder" (one unknown, Taylor series of 1/F; `options=
            {"order": d}` converges with order d + 1), one of `scipy.optimize.root`'s names, or "auto": by size and
            sparsity.
        args: further arguments of `F`.
        jit: compile `F` and its derivatives. What cannot be compiled runs as ordinary Python, and a warning says why.
        progress: draw a bar on stderr.
        callback: as that of `minimize`.
        tol: the size of the last Newton step relative to 1 + |x|.
        options: `{"maxiter": 100}`; of SciPy's methods, theirs.

    Returns:
        SciPy's `OptimizeResult`: `.x`, `.fun` (what `F` gives there), `.success`, `.message`, `.method`, `.nit`. Inside
        a `vmap` or a differentiated function it is what `wg.root` finds, which raises where it has not converged.

    >>> import numpy as np
    >>> def F(p):
    ...     return {"circle": p["x"] ** 2 + p["y"] ** 2 - 4, "line": p["x"] - p["y"]}
    >>> found = solve(F, {"x": 1.0, "y": 2.0})
    >>> found.success, found.x["x"].round(12)
    (True, np.float64(1.414213562373))
    >>> solve(np.cos, 1.0, method="householder", options={"order": 4}).nit
    3
    """
    args = args if isinstance(args, tuple) else (args,)
    options = dict(options or {})
    x0 = started(x0)
    if depend_on_traced((F, x0, args)):
        x = root(F, x0, *args, tol=tol, maxiter=options.get("maxiter", 100))
        layout = Layout(x0)
        value = of_vector(F, layout)(layout.ravel(x), *args)
        return Solved(x=x, fun=value, success=np.asarray(True), message="converged", method="newton")
    unknowns = Unknowns(x0)
    equations = Equations(F, unknowns, args, jit)
    start = unknowns.vector(x0)
    chosen = _chosen(equations) if method == "auto" else method
    if chosen in _SCIPY:
        return _by_scipy(equations, start, chosen, tol, options, callback, progress)
    if chosen not in METHODS:
        raise ValueError(f'method is "auto" or one of {", ".join([*METHODS, *_SCIPY])}, not {method!r}')
    known_options(chosen, options, {"maxiter", "order"} if chosen == "householder" else {"maxiter"})
    maxiter = int(options.get("maxiter", 200))
    with ProgressBar(chosen, maxiter, progress) as bar:
        listener = Listener(callback, bar, progress, unknowns.container)
        found = METHODS[chosen](equations, start, tol, maxiter, listener, options)
    message = {CONVERGED: "converged", STUCK: _NO_ROOT}.get(found.status) or _other(found.status)
    if found.status == NOT_FINITE:
        message += "\n" + equations.fault(found.x)
    elif found.status != CONVERGED:
        message += f"; the largest component of F is {np.max(np.abs(found.residual)):.2g}"
    x = unknowns.container(found.x)
    return Solved(
        x=x, fun=F(x, *args), success=found.status == CONVERGED, status=found.status,
        message=message, nit=found.iterations, nfev=found.evaluations, method=chosen,
    )  # fmt: skip


def _other(status: int) -> str:
    if status == NOT_FINITE:
        return "F or its Jacobian is not finite"
    if status > INTERRUPTED:
        return "the callback asked to stop"
    return MESSAGES[status if status in (LIMIT, INTERRUPTED) else STUCK]


def _chosen(equations: Equations) -> str:
    n = equations.unknowns.size
    if n <= _FEW:
        return "newton"
    pattern = equations.pattern
    return "sparse-newton" if pattern is not None and pattern.nnz <= _SPARSE * n * n else "newton-krylov"


def _by_scipy(
    equations: Equations, x: np.ndarray, method: str, tol: float, options: dict, callback: Any, progress: bool
) -> Solved:
    """One of SciPy's methods; "hybr" and "lm" know no iterations, so that each evaluation is told."""
    jac = equations.dense if method in ("hybr", "lm") else None
    last, count = x, 0

    def value(x: np.ndarray) -> np.ndarray:
        nonlocal last, count
        last, count = np.array(x), count + 1
        found = equations.value(last)
        listener.tell(count, last, float(np.max(np.abs(found), initial=0.0)), None)
        return found

    with ProgressBar(method, options.get("maxiter"), progress) as bar:
        listener = Listener(callback, bar, progress, equations.unknowns.container)
        try:
            result = Solved(scipy.optimize.root(value, x, method=method, jac=jac, tol=tol, options=options))
        except (KeyboardInterrupt, Stopped) as stop:
            status = INTERRUPTED + isinstance(stop, Stopped)
            result = Solved(
                x=last, fun=equations.value(last), success=False, status=status, message=_other(status), nfev=count
            )
    result.x = equations.unknowns.container(result.x)
    result.success = bool(result.success)
    result.method = method
    return result
