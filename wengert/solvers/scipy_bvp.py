"""Boundary value problems: `scipy.integrate.solve_bvp`.

SciPy's method is collocation (Kierzenka and Shampine 2001) on a mesh that it refines. On the mesh it ends with, the
solution satisfies a system of equations, the collocation formula in each interval and the boundary conditions, and is
an answer (`answer.py`) of these; the Jacobian is sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.functions.operands import answer, array, join, part
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.ops.shape import reshape
from wengert.running import running
from wengert.solvers.answer import Problem, solved
from wengert.solvers.given import Given, not_converged, solver
from wengert.solvers.parameters import real, vector
from wengert.solvers.told import Told
from wengert.types import shape_of


class _Collocation:
    """The equations of a solution on m nodes: n components, and k unknown parameters."""

    def __init__(self, given: Given, places: np.ndarray, n: int, k: int):
        self._given = given
        self._places = places  # from 0 to 1
        self.n, self.m, self.k = n, len(places), k
        self.size = n * self.m + k

    def nodes(self, x: Any) -> Any:
        """The mesh between the ends of the one that was given."""
        x = vector(x)
        begin, end = part(x, 0, 0), part(x, 0, -1)
        return begin + (end - begin) * self._places

    def parts(self, unknowns: Any) -> tuple[Any, tuple[Any, ...]]:
        """States, a column for each node, and unknown parameters, if there are some."""
        states = reshape(part(unknowns, 0, slice(0, self.n * self.m)), shape=(self.n, self.m))
        return states, (part(unknowns, 0, slice(self.n * self.m, None)),) if self.k else ()

    def slopes(self, arguments: Any, x: Any, y: Any, p: tuple) -> Any:
        found = real(arguments["fun"](x, y, *p))
        return found if len(shape_of(found)) == 2 else reshape(found, shape=shape_of(y))

    def residual(self, unknowns: Any, *values: Any) -> Any:
        arguments = self._given.put(values)
        x = self.nodes(arguments["x"])
        y, p = self.parts(unknowns)
        width = x[1:] - x[:-1]
        f = self.slopes(arguments, x, y, p)
        middle = (y[:, 1:] + y[:, :-1]) / 2 - width / 8 * (f[:, 1:] - f[:, :-1])
        inside = self.slopes(arguments, x[:-1] + width / 2, middle, p)
        defects = y[:, 1:] - y[:, :-1] - width / 6 * (f[:, :-1] + f[:, 1:] + 4 * inside)
        conditions = vector(arguments["bc"](y[:, 0], y[:, -1], *p))
        return join([reshape(defects, shape=(self.n * (self.m - 1),)), conditions], 0)


class _Solution(Holder):
    """The solution as a function of x: a cubic polynomial in each interval."""

    def __init__(self, x: Any, y: Any, slopes: Any):
        width = x[1:] - x[:-1]
        chord = (y[:, 1:] - y[:, :-1]) / width
        bend = (slopes[:, :-1] + slopes[:, 1:] - 2 * chord) / width
        self._nodes = x
        self._coefficients = [bend / width, (chord - slopes[:, :-1]) / width - bend, slopes[:, :-1], y[:, :-1]]

    def __call__(self, x: Any, nu: int = 0) -> Any:
        points = vector(x)
        interval = answer(self._interval, self._nodes, points)
        s = points - self._nodes[interval]
        total: Any = 0.0
        for power, c in zip((3, 2, 1, 0), self._coefficients, strict=True):
            if power >= nu:
                factor = float(np.prod(np.arange(power, power - nu, -1)))
                total = total + factor * c[:, interval] * s ** (power - nu)
        return reshape(total, shape=(shape_of(total)[0], *shape_of(array(x))))

    @staticmethod
    def _interval(nodes: Any, points: Any) -> Any:
        return np.clip(np.searchsorted(nodes, points, "right") - 1, 0, len(nodes) - 2)


@solver("scipy.integrate", "solve_bvp")
def _solve_bvp(given: Given) -> Any:
    if running.state.capture is not None:
        raise UnsupportedFunctionError(
            "scipy.integrate.solve_bvp in a compiled function",
            remedy="call it outside of jit, or solve the equations on a mesh with wg.root",
        )
    if given["S"] is not None:
        raise UnsupportedFunctionError(
            "scipy.integrate.solve_bvp with a singular term (S) on traced values",
            remedy="begin a little later than at the singularity, and write the term into the function",
        )
    values = given.parameters.values
    told = Told("scipy.integrate.solve_bvp", values)

    def run(*values: Any) -> float:
        run = lambda plain: given.original(**given.passed(plain))
        found = told.note(given.parameters.run("scipy.integrate.solve_bvp", values, run))
        if not found.success:
            raise not_converged("scipy.integrate.solve_bvp", found.message)
        return 0.0

    answer(run, *values)
    found = told.the_one("the mesh")
    places = (found.x - found.x[0]) / (found.x[-1] - found.x[0])
    k = 0 if found.p is None else len(found.p)
    equations = _Collocation(given, places, len(found.y), k)
    known = np.concatenate([found.y.ravel(), found.p if k else np.zeros(0)])
    problem = Problem(
        "scipy.integrate.solve_bvp", lambda values: known, equations.residual, equations.size, equations.size
    )
    y, p = equations.parts(solved(problem, values, (equations.size,)))
    x = equations.nodes(given["x"]) if isinstance(array(given["x"]), Traced) else found.x
    slopes = equations.slopes(given.arguments, x, y, p)
    traced = {"sol": _Solution(x, y, slopes), "x": x, "y": y, "yp": slopes, "p": p[0] if k else None}
    return told.result(traced, type(found))
