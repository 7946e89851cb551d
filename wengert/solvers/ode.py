"""Solutions of ordinary differential equations, differentiable with respect to everything.

The methods (`algorithms/ode.py`) are plain NumPy: eagerly they run step by step, under `jit` as one native loop. What
the right-hand side depends on, through `params` or by closure, is taken out of it first, so that it can be passed on.

Times that are differentiated are mapped: the solver sees plain times, and in the interval before `t[i]` the right-hand
side is multiplied by the rate at which the true time passes, which is 1 and has a derivative. Then steps end at each of
the times.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from wengert import tree
from wengert.algorithms import ode, tableaus
from wengert.api.custom import custom_jvp, custom_vjp
from wengert.api.jacobian import jacfwd
from wengert.api.products import vjp
from wengert.box.functions.operands import array, join, part, stacked
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError
from wengert.ops import elementwise as e
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.shape import reshape
from wengert.running import running
from wengert.solvers.ode_switches import guarded, pieces
from wengert.solvers.parameters import Packing, Parameters, demand_tolerances, vector
from wengert.solvers.stiff import dense_mass, radau, rosenbrock
from wengert.types import shape_of

METHODS = ("RK23", "RK45", "DOP853", "Radau", "Rodas5P")
EXPLICIT = ("RK23", "RK45", "DOP853")
IMPLICIT = {"Radau": radau, "Rodas5P": rosenbrock}
DERIVATIVES = ("discrete", "adjoint", "forward")


def trajectory(
    f: Callable,
    y0: Any,
    t: Any,
    *params: Any,
    method: str = "RK45",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    mass: Any = None,
    derivative: str = "discrete",
    maxsteps: int = 100_000,
    shared: bool = False,
    longest: float = np.inf,
) -> Any:
    """The states at the times `t`; arguments as for `odeint`. With `shared`, the examples of a batch are integrated
    together, by the same steps. No step is longer than the `longest`."""
    original = f
    f = instrument(f)
    times = vector(t)
    parameters = Parameters((f, params))
    if isinstance(y0, (list, tuple)) and all(not shape_of(y) for y in y0):
        y0 = array(list(y0))  # as SciPy takes it
    packing = Packing(y0)
    start = packing.vector(y0)
    traced_times = isinstance(settled(times), Traced)
    integrator = Integrator(packing, parameters, method, rtol, atol, maxsteps, traced_times)
    integrator.original = original, params
    integrator.longest = longest
    masses = [] if mass is None or scipy.sparse.issparse(mass) else [array(mass)]
    if scipy.sparse.issparse(mass):
        integrator.sparse_mass = mass
    if shared:
        integrator.worst = _of_all_examples
    if shape_of(start)[0] == 0:
        out = np.zeros((shape_of(times)[0], 0))
    elif shape_of(times)[0] == 1:
        out = reshape(start, shape=(1, *shape_of(start)))
    elif derivative == "adjoint":
        watched = guarded(integrator, start, times, parameters.values, None)
        out = _by_adjoint(integrator)(*watched)
    elif derivative == "forward":
        out = _by_sensitivities(integrator)(start, times, list(parameters.values), masses)
    else:
        out = integrator(start, times, parameters.values, masses)
    return _unpacked(packing, out)


def _of_all_examples(x: Any) -> Any:
    """The largest of a number's values in a batch; in a compiled program each example has its own."""
    x = stop_gradient(x)
    if running.state.capture is not None:
        return x
    while isinstance(x, Traced):
        x = x._value  # type: ignore[attr-defined]
    return np.max(x)


def _unpacked(packing: Packing, out: Any) -> Any:
    """States in their containers, from rows of numbers."""
    found, begin = [], 0
    for aval in packing.avals:
        size = int(np.prod(aval.shape))
        columns = out[:, begin : begin + size]
        found.append(reshape(columns, shape=(shape_of(out)[0], *aval.shape)))
        begin += size
    return tree.unflatten(packing.structure, found)


class Integrator:
    """From vectors of numbers to rows of numbers, one for each time."""

    def __init__(
        self,
        packing: Packing,
        parameters: Parameters,
        method: str,
        rtol: float,
        atol: float,
        maxsteps: int,
        hit: bool,
    ):
        demand_tolerances("wg.odeint", rtol=rtol, atol=atol)
        self.packing = packing
        self.parameters = parameters
        self.method = method
        self.rtol, self.atol = rtol, atol
        self.maxsteps = maxsteps
        self.hit = hit
        self.worst: Callable = stop_gradient
        self.longest = np.inf
        self.sparse_mass: Any = None
        self.original: tuple = ()

    def slope(self, t: Any, y: Any, values: Sequence[Any]) -> Any:
        """The right-hand side, of vectors."""
        f, params = self.parameters.put(values)
        return self.slope_of(f, params, t, y)

    def of_numbers(self) -> Integrator:
        """The same at plain times and values."""
        other = copy.copy(self)
        other.hit = False
        return other

    def called_later(self) -> Integrator:
        """The same with the user's function as it was given, for when a program runs that is captured now."""
        other = self.of_numbers()
        other.parameters = Parameters(self.original)
        return other

    def with_slope(self, slope: Callable) -> Integrator:
        """The same with another right-hand side."""
        other = copy.copy(self)
        other.slope = slope  # type: ignore[method-assign]
        return other

    def slope_of(self, f: Callable, params: Sequence[Any], t: Any, y: Any) -> Any:
        """The same of a function that is given."""
        found = f(t, self.packing.container(y), *params)
        if isinstance(found, (list, tuple)) and len(self.packing.avals) == 1:
            found = array(found)
        found = self.packing.vector(found)
        if shape_of(found) != shape_of(y):
            raise MismatchError(
                f"the right-hand side has {shape_of(found)[0]} numbers, and y0 has {shape_of(y)[0]}",
                remedy="return the derivative of each number in y0",
            )
        return found

    def in_intervals(self, times: Any, values: Sequence[Any]) -> Callable:
        """The right-hand side as the algorithms want it: in the interval that ends with time i."""
        if not self.hit:
            return lambda t, y, i: self.slope(t, y, values)

        def f(t: Any, y: Any, i: Any) -> Any:
            rate, true = self.clock(times, t, i)
            return rate * self.slope(true, y, values)

        return f

    def clock(self, times: Any, t: Any, i: Any) -> tuple[Any, Any]:
        """The rate at which the true time passes in the interval that ends with time i, and the true time."""
        if not self.hit:
            return 1.0, t
        plain = stop_gradient(times)
        width = plain[i] - plain[i - 1]
        nothing = e.equal(width, 0)
        rate = e.where(nothing, 1.0, times[i] - times[i - 1]) / e.where(nothing, 1.0, width)
        return rate, times[i - 1] + (t - plain[i - 1]) * rate

    def __call__(self, y: Any, times: Any, values: Sequence[Any], masses: Sequence[Any] = ()) -> Any:
        """`masses` has the mass matrix, if there is one; `self.sparse_mass` is one that is sparse, and constant."""
        if running.state.capture is not None:
            y, times, values = guarded(self, y, times, values, masses[0] if masses else self.sparse_mass)
        elif (found := pieces(self, y, times, values, masses[0] if masses else self.sparse_mass)) is not None:
            of = lambda slope: self if slope is None else self.with_slope(slope)
            return found(y, times, values, lambda slope, y, times: of(slope).through(y, times, values))
        return self.through(y, times, values, masses)

    def through(self, y: Any, times: Any, values: Sequence[Any], masses: Sequence[Any] = ()) -> Any:
        """The same by one run, whatever the right-hand side decides on the way."""
        plain, f = stop_gradient(times), self.in_intervals(times, values)
        gap = lambda i: times[i] - times[i - 1]
        velocity = lambda: f
        mass = masses[0] if masses else self.sparse_mass
        if mass is not None:
            gap = lambda i: _of_velocity(times[i] - times[i - 1], stop_gradient(dense_mass(mass)))
            velocity = lambda: instrument(ode.divided_by_mass)(f, dense_mass(mass))
        attempt, interpolate, stages, order = self.steps(y, times, values, mass)
        return instrument(ode.integrate)(
            f, y, plain, gap, velocity, stop_gradient, self.worst, attempt, interpolate, stages, order, self.rtol,
            self.atol, self.hit, self.maxsteps, self.longest,
        )  # fmt: skip

    def steps(self, y: Any, times: Any, values: Sequence[Any], mass: Any) -> tuple:
        """A step of the method, its interpolant, the number of stages and the order of the estimated error."""
        if self.method in IMPLICIT:
            return IMPLICIT[self.method](self, y, times, values, mass)
        of: Any = getattr(tableaus, self.method, None)
        if of is None:
            of = importlib.import_module("scipy.integrate").DOP853
            estimate = instrument(ode.estimated_by_two)(of.E3, of.E5)
            interpolate = instrument(ode.interpolated_by_more_stages)(of.A_EXTRA, of.C_EXTRA, of.D)
        else:
            estimate, interpolate = instrument(ode.estimated)(of.E), instrument(ode.interpolated)(of.P)
        attempt = instrument(ode.explicit)(of.A, of.B, of.C, stop_gradient, estimate)
        return attempt, interpolate, len(of.B) + 1, of.error_estimator_order


@custom_jvp
def _of_velocity(gap: Any, mass: Any) -> Any:
    """A length of time, whose derivative is asked for only where that of y is known."""
    return gap


@_of_velocity.defjvp
def _(primals: tuple, tangents: tuple) -> tuple:
    instrument(ode.demand_velocity)(primals[1])
    return primals[0], tangents[0]


# ------------------------------------------------------------------------------------------- derivatives by other ways


def _by_sensitivities(integrator: Integrator) -> Callable:
    """The solution with its Jacobian, computed in forward mode together with it."""
    solve = custom_jvp(lambda y, times, values, masses: integrator(y, times, values, masses))

    @solve.defjvp
    def rule(primals: tuple, tangents: tuple) -> tuple:
        packing = Packing(primals)
        joint = packing.vector(primals)
        slopes = jacfwd(lambda v: integrator(*packing.container(v)))(joint)
        return solve(*primals), matmul(slopes, packing.vector(tangents))

    return solve


def _by_adjoint(integrator: Integrator) -> Callable:
    """The solution, with a pullback that integrates the adjoint equation backwards from one time to the one before.

    a' = −a·f_y, and the gradient of what f depends on gathers a·f_p; the states at the times asked for are kept, and y
    is integrated backwards with the rest in between.
    """
    solve = custom_vjp(lambda y, times, values: integrator.through(y, times, values))
    solve.pushes_function = True  # tangents need no adjoint equation, and steps that are chosen are not linear in it

    def forward(y: Any, times: Any, values: Any) -> tuple:
        out = integrator.through(y, times, values)
        return out, (out, times, values)

    def backward(kept: Any, out_bar: Any) -> tuple:
        out, times, values = kept
        count, n = shape_of(out)
        packing = Packing(values)
        size = sum(int(np.prod(a.shape)) for a in packing.avals)
        a = np.zeros(n)
        gathered = np.zeros(size)
        times_bar: list[Any] = [np.zeros(())] * count

        def augmented(t: Any, state: Any, values: Any) -> Any:
            y, a = part(state, 0, slice(0, n)), part(state, 0, slice(n, 2 * n))
            slope, pull = vjp(lambda y, values: integrator.slope(t, y, values), y, values)
            y_bar, values_bar = pull(a)
            return join([slope, -y_bar, -packing.vector(values_bar)] if size else [slope, -y_bar], 0)

        for i in range(count - 1, 0, -1):
            a = a + out_bar[i]
            times_bar[i] = times_bar[i] + matmul(integrator.slope(times[i], out[i], values), out_bar[i])
            state = join([out[i], a, gathered], 0)
            span = stacked([times[i], times[i - 1]], 0)
            back = trajectory(
                augmented, state, span, values, method=integrator.method, rtol=integrator.rtol, atol=integrator.atol,
                maxsteps=integrator.maxsteps, shared=True, longest=integrator.longest,
            )[-1]  # fmt: skip
            a, gathered = part(back, 0, slice(n, 2 * n)), part(back, 0, slice(2 * n, None))
        times_bar[0] = -matmul(integrator.slope(times[0], out[0], values), a)
        return a + out_bar[0], stacked(times_bar, 0), packing.container(gathered) if size else values

    solve.defvjp(forward, backward)
    return solve
