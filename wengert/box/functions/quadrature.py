"""Integrals: of functions (scipy.integrate.quad and its like), and of samples (Simpson's rules, the trapezoidal one).

The traced values that an integrand depends on become parameters of the op `integral` (`lifted.py`). Integrands
and their derivatives are evaluated at plain numbers, by SciPy's adaptive quadrature.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import operator
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.array_classes import held
from wengert.box.dispatch import CALLERS, FUNCTIONS, implements_blind
from wengert.box.functions.left_behind import LeftBehind
from wengert.box.functions.lengths import agree
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.operands import answer, array, cast, holds_traced, in_double, join, part
from wengert.box.functions.scans import along
from wengert.box.writing import settled
from wengert.errors import ConvergenceError, UnsupportedFunctionError, warn_user
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import reduce as r
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.ops.quadrature import integral
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of

MODES: dict[str, Callable] = {}
"""How to differentiate an integrand: `record` of reverse mode, and `jumps` of what switches where its parameters say
(`modes/switches.py`); `capture/` puts them here."""


# ------------------------------------------------------------------------------------------------------------ integrals


class Integrand:
    """∫ f(t, *parameters) dt, as the op `integral` needs it; results have `shape`.

    The last `places` of the parameters are those where SciPy is to break the interval.
    """

    def __init__(
        self, function: Callable, quad: Callable, options: dict, shape: tuple[int, ...] = (), whole: bool = False,
        places: int = 0, run: Callable[[Callable[[], Any]], Any] = lambda integrate: integrate(),
    ):  # fmt: skip
        self.function = function
        self.run = run  # what lets SciPy call the function (`left_behind.py`)
        self.places = places
        self.quad = quad
        self.options = options
        self.shape = shape
        self.whole = whole  # whether `quad` integrates arrays, as quad_vec does
        self.outcome: Any = ()

    def integrate(self, a: Any, b: Any, parameters: tuple) -> Any:
        """By SciPy, at plain numbers; a vector component by component, values of f being kept between them."""
        options = self.chosen(parameters)
        if options.get("points") is not None:
            low, high = min(a, b), max(a, b)
            options = {**options, "points": [p for p in options["points"] if low < p < high]}
        if self.whole:
            f = self.function
            value, *self.outcome = self.run(
                lambda: self.quad(lambda t: np.asarray(_number(f(t, *parameters))), a, b, **options)
            )
            self._look_at_error(value, self.outcome[0])
            return np.reshape(value, self.shape_at(parameters))[()]
        if not self.shape:
            value, *self.outcome = self.run(
                lambda: self._quad(lambda t: _number(self.function(t, *parameters)), a, b, options)
            )
            return np.float64(value)
        known: dict[float, np.ndarray] = {}

        def component(t: float, k: int) -> float:
            found = known.get(t)
            if found is None:
                found = known[t] = np.asarray(settled(self.function(t, *parameters)), float).reshape(-1)
            return found[k]

        shape = self.shape_at(parameters)
        values = [self._quad(component, a, b, options, args=(k,))[0] for k in range(math.prod(shape))]
        return np.reshape(np.array(values), shape)

    def shape_at(self, parameters: Sequence[Any]) -> tuple[int, ...]:
        """The shape of results where the parameters are known: a length may be one that only the program knows."""
        return self.shape

    def chosen(self, parameters: Sequence[Any]) -> dict:
        """SciPy's options, those among them that are parameters as well."""
        if not self.places:
            return self.options
        return {**self.options, "points": [float(p) for p in parameters[-self.places :]]}

    def sampled(self, f: Callable, a: Any, b: Any, parameters: tuple) -> Any:
        """The integral of another function in the same way: it sees where SciPy evaluates it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = Integrand(f, self.quad, self.chosen(parameters), self.shape, self.whole)
            return other.integrate(a, b, parameters)

    def _quad(self, f: Callable, a: Any, b: Any, options: dict, **more: Any) -> tuple:
        """SciPy's integral. What it has to say against it is a warning on the user's line, and an error where a
        derivative depends on it."""
        found = self.quad(f, a, b, **more, **{**options, "full_output": 1})
        if len(found) > 3:
            self._look_at_error(found[0], np.inf if "divergent" in found[3] else found[1], found[3])
            if not self.options.get("full_output"):
                _warn_of_integral(found[3])
        return found if self.options.get("full_output") else found[:2]

    def _look_at_error(self, value: Any, error: float, message: str = "") -> None:
        """Integrals of the function itself are returned with the estimate of their error, as SciPy does."""

    def is_infinite(self, end: Any) -> bool:
        if running.state.capture is not None and isinstance(end, Traced):
            return False  # it is known when the program runs
        found = answer(np.isinf, end)
        while isinstance(found, Traced):  # examples of a batch
            found = found._value  # type: ignore[attr-defined]
        return bool(np.all(found))

    def at_end(self, end: Any, parameters: Any) -> Any:
        """The integrand, with its weight, at an end of the interval; zero at infinity, where an end does not move."""
        if running.state.capture is not None and isinstance(end, Traced):
            is_finite = e.isfinite(end)
            y = e.where(is_finite, self.function(e.where(is_finite, end, 0.0), *parameters), 0.0)
        else:
            y = self._at_known_end(end, parameters)
        weight, variable = self.options.get("weight"), self.weighted_by(parameters)
        if weight is None:
            return y
        if weight == "cauchy":
            return y / (end - variable)
        if weight not in ("cos", "sin"):
            raise UnsupportedFunctionError(
                f"the derivative of quad with weight={weight!r} in a limit", remedy="put the weight into the integrand"
            )
        return y * (e.cos if weight == "cos" else e.sin)(end * variable)

    def _at_known_end(self, end: Any, parameters: Any) -> Any:
        try:
            return self.function(end, *parameters)
        except (ArithmeticError, ValueError) as error:  # SciPy never computes it there
            raise ConvergenceError(
                f"the derivative of quad in a limit is the integrand there, which cannot be computed: {error}",
                remedy="substitute another variable, so that the integrand is finite at both limits",
            ) from error

    def weighted_by(self, parameters: Sequence[Any]) -> Any:
        """The argument `wvar`."""
        return self.options.get("wvar")

    def derivative(self, k: int, shape: tuple[int, ...]) -> Integrand:
        """The integrand's Jacobian in a parameter of this shape, which is appended to that of the integrand."""
        return _Jacobian(self, k, shape)

    def ends(self, a: Any, b: Any, parameters: Sequence[Any]) -> Any:
        """What else there is besides the integral: of the function itself, nothing."""
        return None


class _Jacobian(Integrand):
    """A derivative of an integrand: an integral of it that did not converge is no derivative.

    Where the integrand switches at places s that its parameters move, its pieces have ends there, which add to the
    integral of the derivative: (f(s⁻) − f(s⁺)) · ds/dp.
    """

    def __init__(self, original: Integrand, k: int, shape: tuple[int, ...]):
        self.original, self.k = original, k

        def jacobian(t: Any, *parameters: Any) -> Any:
            return self._of(lambda *p: original.function(t, *p), parameters)

        size = (*original.shape, *shape)
        super().__init__(jacobian, original.quad, original.options, size, original.whole)

    def chosen(self, parameters: Sequence[Any]) -> dict:
        return self.original.chosen(parameters)

    def shape_at(self, parameters: Sequence[Any]) -> tuple[int, ...]:
        return (*self.original.shape_at(parameters), *shape_of(parameters[self.k]))

    def weighted_by(self, parameters: Sequence[Any]) -> Any:
        return self.original.weighted_by(parameters)

    def derivative(self, k: int, shape: tuple[int, ...]) -> Integrand:
        if isinstance(self.original, _Oscillating) and k == self.original.place:  # in the other order
            return _Jacobian(self.original.derivative(k, shape), self.k, self.shape)
        return _Jacobian(self, k, shape)

    def _of(self, f: Callable, parameters: Sequence[Any]) -> Any:
        """The Jacobian of a function of the parameters, whose results have the shape of the original integrand."""
        k, shape = self.k, self.original.shape_at(parameters)
        size = math.prod(shape)

        def flat(p: Any) -> list[Any]:
            y = f(*parameters[:k], p, *parameters[k + 1 :])
            return [y] if not shape else [s.reshape(y, shape=(size,))]

        p = parameters[k]
        values, program = MODES["record"](flat, [p])
        if not shape:
            return _or_zeros(program.pull([_one_like(values[0])])[0], p)
        rows = [_or_zeros(program.pull([unit])[0], p) for unit in np.eye(size)]
        return s.reshape(FUNCTIONS[np.stack](rows), shape=self.shape_at(parameters))

    def integrate(self, a: Any, b: Any, parameters: tuple) -> Any:
        found = list(MODES["jumps"](self.original, a, b, parameters))
        at = [a, *sorted([place for place, _, _ in found], reverse=bool(a > b)), b]
        total = sum(Integrand.integrate(self, low, high, parameters) for low, high in itertools.pairwise(at))
        ends = self._ends(found, a, b, parameters)
        return total if ends is None else total + ends

    def ends(self, a: Any, b: Any, parameters: Sequence[Any]) -> Any:
        return self._ends(list(MODES["jumps"](self.original, a, b, parameters)), a, b, parameters)

    def _ends(self, found: list[tuple], a: Any, b: Any, parameters: Sequence[Any]) -> Any:
        """What the ends of pieces add, at plain limits; the parameters may be traced."""
        total = None
        for _, fall, slopes in found:
            slope = slopes[self.k]
            term = s.reshape(fall, shape=(*shape_of(fall), *[1] * len(shape_of(slope)))) * slope
            term = term if a <= b else -term
            total = term if total is None else total + term
        if self.original.ends(a, b, parameters) is not None:
            moved = self._of(lambda *p: self.original.ends(a, b, p), parameters)
            total = moved if total is None else total + moved
        return total

    def _look_at_error(self, value: Any, error: float, message: str = "") -> None:
        _demand_small(error, value, self.options, message)


class _Oscillating(Integrand):
    """∫ f(t, *parameters) cos(w t) dt, or with the sine, where w is a parameter, at some place among them."""

    def __init__(self, function: Callable, quad: Callable, options: dict, place: int, is_derivative: bool = False):
        super().__init__(function, quad, options)
        self.place = place
        self.is_derivative = is_derivative

    def chosen(self, parameters: Sequence[Any]) -> dict:
        return {**self.options, "wvar": float(parameters[self.place])}

    def weighted_by(self, parameters: Sequence[Any]) -> Any:
        return parameters[self.place]

    def derivative(self, k: int, shape: tuple[int, ...]) -> Integrand:
        if k != self.place:
            return _Jacobian(self, k, shape)
        sign, weight = (-1.0, "sin") if self.options["weight"] == "cos" else (1.0, "cos")
        moment = lambda t, *parameters: sign * t * self.function(t, *parameters)
        return _Oscillating(moment, self.quad, {**self.options, "weight": weight}, k, is_derivative=True)

    def _look_at_error(self, value: Any, error: float, message: str = "") -> None:
        if self.is_derivative:
            _demand_small(error, value, self.options, message)


def _demand_small(error: float, value: Any, options: dict, message: str) -> None:
    """Raise where the integral of a derivative did not converge."""
    allowed = max(100 * options.get("epsabs", _TOLERANCE), _LOST * float(np.linalg.norm(value)))
    if not error <= allowed:
        raise ConvergenceError(
            "the integral of the derivative did not converge: "
            + (f'SciPy says "{message.splitlines()[0]}"' if message else f"its error is estimated as {error:.1e}"),
            remedy="allow more intervals (limit=), name the places where the integrand is not smooth (points=), or "
            "substitute another variable; where the derivative of the integrand has no integral, there is none",
        )


_TOLERANCE = 1.49e-8
_LOST = 1e-6
"""An integral of a derivative whose relative error is larger is refused, if SciPy complains of it."""


def _warn_of_integral(message: str) -> None:
    """SciPy's warning, on the line of the user's that asked for the integral."""
    warn_user(sys.modules["scipy.integrate"].IntegrationWarning(message))


def _or_zeros(ct: Any, p: Any) -> Any:
    return np.zeros(shape_of(p)) if ct is None else ct


def _one_like(y: Any) -> Any:
    return np.ones(shape_of(y), dtype_of(y))[()]


def _number(y: Any) -> Any:
    y = settled(y)
    if isinstance(y, Traced):
        raise UnsupportedFunctionError(
            "quad of a function that depends on a traced value which is neither in args= nor in a variable around it",
            remedy="pass the value through args=, or as an argument of the integrand by a lambda",
        )
    return y


def _of_parameters(lifted: Lifted, left: LeftBehind) -> tuple[list[Any], Callable]:
    """The values that a function and its arguments depend on, and the function of its variable and these."""
    last: list[Any] = [None, None]

    def function(t: Any, *parameters: Any) -> Any:
        left.note_call(lifted.thing[0], (t,), lifted.thing[1])
        if last[0] is None or not all(map(operator.is_, parameters, last[0])):  # one function for all evaluations
            last[:] = parameters, lifted.with_real_numbers(parameters)
        left.begin()
        f, rest = last[1]
        return held(f(t, *rest))

    return lifted.real_numbers(), function


def _with_places(values: list[Any], function: Callable, options: dict) -> tuple[list[Any], Callable, int]:
    """The same with traced places where the interval is to be broken as further parameters, which are not constant but
    change no integral."""
    points = options.get("points")
    if points is None or not holds_traced([points]):
        return values, function, 0
    del options["points"]
    listed = array(points)
    places = [e.stop_gradient(cast(listed[k], np.float64)) for k in range(shape_of(listed)[0])]
    count = len(places)
    return [*values, *places], lambda t, *parameters: function(t, *parameters[:-count]), count


def _told(whole: Integrand, y: Any) -> tuple:
    """What SciPy says besides an integral. A compiled program asks for the estimate of the error when it has it."""
    if running.state.capture is None:
        return whole.outcome or (np.nan,)
    return (answer(lambda y: float((whole.outcome or (np.nan,))[0]), y),)


def _is_for_c_only(f: Any) -> bool:
    """Whether SciPy calls an integrand that Python cannot call, or not with numbers."""
    if isinstance(f, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return any(kind is not ctypes.c_double for kind in f.argtypes or ())
    return isinstance(f, scipy.LowLevelCallable)


def _quad(original: Callable) -> Callable:
    def quad(func: Callable, a: Any, b: Any, args: Any = (), full_output: Any = 0, **options: Any) -> Any:
        args = args if isinstance(args, tuple) else (args,)
        lifted = Lifted((func, args))
        if not lifted.values and not isinstance(a, Traced) and not isinstance(b, Traced):
            if not holds_traced([options.get("wvar")]):
                return original(func, a, b, args, full_output, **options)
        if options.pop("complex_func", False):
            of = lambda part: quad(lambda t, *args: part(array(func(t, *args))), a, b, args, full_output, **options)
            return _as_complex(of(s.real), of(s.imag))
        if _is_for_c_only(func):
            raise UnsupportedFunctionError(
                "scipy.integrate.quad of a function in C, with limits or arguments that are traced",
                remedy="write the integrand in Python",
            )
        lifted.called_later()
        left = LeftBehind(lifted, "scipy.integrate.quad")
        values, function, places = _with_places(*_of_parameters(lifted, left), options)

        def integrand(t: Any, *parameters: Any) -> Any:
            y = function(t, *parameters)
            return s.reshape(y, shape=()) if shape_of(y) and isinstance(y, Traced) else y

        options["full_output"] = full_output
        whole = Integrand(integrand, original, options, places=places, run=left.run)
        if holds_traced([options.get("wvar")]):
            if options["weight"] not in ("cos", "sin"):
                raise UnsupportedFunctionError(
                    f"quad with weight={options['weight']!r} and a traced wvar",
                    remedy="put the weight into the integrand",
                )
            whole = _Oscillating(integrand, original, options, len(values))
            values = [*values, cast(options["wvar"], np.float64)]
        a, b = settled(a), settled(b)
        with left:
            y = integral(a, b, *values, integrand=whole)
        return (y, *_told(whole, y))

    return quad


def _as_complex(x: tuple, y: tuple) -> tuple:
    """What SciPy returns of an integral, from what it returns of its real and its imaginary part."""
    rest = ({"real": x[2:], "imag": y[2:]},) if len(x) > 2 else ()
    return (x[0] + 1j * y[0], x[1] + 1j * y[1], *rest)


def _between_limits(ends: tuple, variables: int) -> Callable:
    """The limits of an inner integral, which may depend on so many outer variables, the outermost first."""
    return lambda *later: [end(*later[variables - 1 :: -1]) if callable(end) else end for end in ends]


def _dblquad(nquad: Callable) -> Callable:
    def dblquad(
        func: Callable, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: float = 1.49e-8,
        epsrel: float = 1.49e-8,
    ) -> Any:  # fmt: skip
        ranges = [_between_limits((gfun, hfun), 1), (a, b)]
        return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})

    return dblquad


def _tplquad(nquad: Callable) -> Callable:
    def tplquad(
        func: Callable, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (),
        epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
    ) -> Any:  # fmt: skip
        ranges = [_between_limits((qfun, rfun), 2), _between_limits((gfun, hfun), 1), (a, b)]
        return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})

    return tplquad


def _nquad(quad: Callable) -> Callable:
    def nquad(func: Callable, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
        """One integral within the other; the first variable is the innermost."""
        if full_output:
            raise UnsupportedFunctionError("nquad with full_output=True on traced values", remedy="leave it out")
        count = len(ranges)
        rest = () if args is None else args if isinstance(args, tuple) else (args,)
        options = list(opts) if isinstance(opts, (list, tuple)) else [opts] * count

        def integrated(depth: int, later: tuple) -> Any:
            """∫ over variables 0 … depth, the later ones held."""
            limits, chosen = ranges[depth], options[depth]
            low, high = limits(*later) if callable(limits) else limits
            chosen = chosen(*later) if callable(chosen) else chosen or {}

            def inner(t: Any, *later: Any) -> Any:
                return func(t, *later) if depth == 0 else integrated(depth - 1, (t, *later))[0]

            return quad(inner, low, high, later, **chosen)

        return integrated(count - 1, rest)

    return nquad


def _quad_vec(original: Callable) -> Callable:
    def quad_vec(f: Callable, a: Any, b: Any, *positional: Any, args: Any = (), **options: Any) -> Any:
        args = args if isinstance(args, tuple) else (args,)
        lifted = Lifted((f, args))
        if not lifted.values and not isinstance(a, Traced) and not isinstance(b, Traced):
            return original(f, a, b, *positional, args=args, **options)
        lifted.called_later()
        names = ("epsabs", "epsrel", "norm", "cache_size", "limit", "workers", "points", "quadrature", "full_output")
        options = {**dict(zip(names, positional, strict=False)), **options}
        left = LeftBehind(lifted, "scipy.integrate.quad_vec")
        values, function, places = _with_places(*_of_parameters(lifted, left), options)
        with left:
            a, b = settled(a), settled(b)
            between = answer(_between, a, b) if running.state.capture is None else (a + b) / 2
            first = function(between, *values)
            shape, is_complex = shape_of(first), dtype_of(first).kind == "c"
            if is_complex:
                shape, function, options = (2, *shape), _in_two_parts(function), _measured_as_complex(options)
            whole = Integrand(function, original, options, shape, whole=True, places=places, run=left.run)
            y = integral(a, b, *values, integrand=whole)
        return (part(y, 0, 0) + 1j * part(y, 0, 1) if is_complex else y, *_told(whole, y))

    return quad_vec


def _in_two_parts(function: Callable) -> Callable:
    """A function whose complex results become their real and imaginary parts, along a first axis."""

    def parts(t: Any, *parameters: Any) -> Any:
        y = array(function(t, *parameters))
        return FUNCTIONS[np.stack]([s.real(y), s.imag(y)])

    return parts


def _measured_as_complex(options: dict) -> dict:
    """The options of `quad_vec` with its norm of the numbers that such parts stand for."""
    norm = options.get("norm", "2")
    measure = norm if callable(norm) else np.linalg.norm if norm == "2" else lambda y: np.amax(np.abs(y))
    return {**options, "norm": lambda y: measure(y[0] + 1j * y[1])}


def _between(a: Any, b: Any) -> float:
    """A finite number in an interval."""
    low, high = (float(v) if np.isfinite(v) else None for v in (a, b))
    if low is None and high is None:
        return 0.0
    return high - 1.0 if low is None else low + 1.0 if high is None else 0.5 * (low + high)  # type: ignore[operator]


def _romb(original: Callable) -> Callable:
    def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
        """Romberg's rule is a sum with weights, which SciPy tells for unit vectors."""
        y = array(y)
        k = normalize_axis_index(axis, ndim_of(y))
        weights = original(np.eye(shape_of(y)[k]))
        return s.sum(y * along(weights, k, ndim_of(y)), axis=(k,)) * dx

    return romb


def _fixed_quad(func: Callable, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    if running.state.capture is None and answer(lambda u, v: bool(np.isinf(u) or np.isinf(v)), a, b):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    x, w = np.polynomial.legendre.leggauss(n)
    y = func((b - a) * (x + 1) / 2.0 + a, *args)
    return (b - a) / 2.0 * FUNCTIONS[np.sum](w * y, axis=-1), None


# ------------------------------------------------------------------------------------------------------------- samples


def _spacing(y: Any, x: Any, dx: Any, k: int) -> Any:
    """The widths of the intervals between samples, broadcasting against them."""
    if x is None:
        return None
    x = array(x)
    if ndim_of(x) == 1:
        x = along(x, k, ndim_of(y))
    elif ndim_of(x) != ndim_of(y):
        raise ValueError("If given, shape of x must be 1-D or the same as y.")
    message = "If given, length of x along axis must be the same as y."
    agree(shape_of(x)[k : k + 1], shape_of(y)[k : k + 1], ValueError, message)
    return part(x, k, slice(1, None)) - part(x, k, slice(None, -1))


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    y = array(y)
    k = normalize_axis_index(axis, ndim_of(y))
    n, h = shape_of(y)[k], _spacing(y, x if x is None else in_double(array(x)), dx, k)
    if n == 2:
        return FUNCTIONS[np.trapezoid](y, x, dx, axis)
    stop = n - 2 if n % 2 else n - 3
    y0, y1, y2 = (part(y, k, slice(j, stop + j, 2)) for j in range(3))
    if h is None:
        total = s.sum(y0 + 4.0 * y1 + y2, axis=(k,)) * (dx / 3.0)
        before, last = dx, dx
    else:
        h0, h1 = part(h, k, slice(0, stop, 2)), part(h, k, slice(1, stop + 1, 2))
        both, ratio = h0 + h1, h0 / h1
        area = both / 6.0 * (y0 * (2.0 - 1.0 / ratio) + y1 * (both * both / (h0 * h1)) + y2 * (2.0 - ratio))
        total = s.sum(area, axis=(k,))
        before, last = (part(h, k, -2), part(h, k, -1)) if n > 2 else (h, h)
    if n % 2 == 0:
        # The last interval by Cartwright's rule, from the parabola through the last three samples.
        alpha = (2 * last * last + 3 * before * last) / (6 * (last + before))
        beta = (last * last + 3.0 * before * last) / (6 * before)
        eta = last * last * last / (6 * before * (before + last))
        total = total + alpha * part(y, k, -1) + beta * part(y, k, -2) - eta * part(y, k, -3)
    return total


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    y = array(y)
    k = normalize_axis_index(axis, ndim_of(y))
    h = _spacing(y, x, dx, k)
    areas = (dx if h is None else h) * (part(y, k, slice(1, None)) + part(y, k, slice(None, -1))) / 2.0
    total = r.cumsum(areas, axis=k)
    if initial is None:
        return total
    if initial != 0:
        raise ValueError("`initial` must be `None` or `0`.")
    return join([part(total, k, slice(0, 1)) * 0.0, total], k)


def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    y = array(y)
    k = normalize_axis_index(axis, ndim_of(y))
    n = shape_of(y)[k]
    if n < 3:
        total = cumulative_trapezoid(y, x, dx, axis)
    else:
        h = _spacing(y, x if x is None else in_double(array(x)), dx, k)
        shape = list(shape_of(y))
        shape[k] = n - 1
        h = s.broadcast_to(array(dx) if h is None else h, shape=tuple(shape))
        forward = _first_halves(y, h, k)
        backward = s.flip(_first_halves(s.flip(y, axis=(k,)), s.flip(h, axis=(k,)), k), axis=(k,))
        # Intervals in turn from the parabola that begins, and the one that ends, with them; the last one ends one.
        chosen = np.array([j % 2 == 0 and j < n - 2 for j in range(n - 1)])
        first = part(backward, k, slice(0, 1)) * 0.0
        mask = along(chosen, k, ndim_of(y))
        total = r.cumsum(e.where(mask, join([forward, first], k), join([first, backward], k)), axis=k)
    if initial is None:
        return total
    start = s.broadcast_to(array(initial), shape=shape_of(part(total, k, slice(0, 1))))
    return join([start, total + start], k)


def _first_halves(y: Any, h: Any, k: int) -> Any:
    """∫ over the first interval of each three neighbouring samples, of the parabola through them."""
    h1, h2 = part(h, k, slice(None, -1)), part(h, k, slice(1, None))
    f1, f2, f3 = (part(y, k, slice(j, j - 2 or None)) for j in range(3))
    u = h1 / (h1 + h2)
    v = u * h1 / h2
    return h1 / 6 * ((3 - u) * f1 + (3 + v + u) * f2 - v * f3)


@when_imported("scipy.integrate")
def _integrate(module: Any) -> None:
    CALLERS[module.quad] = quad = _quad(module.quad)
    CALLERS[module.nquad] = nquad = _nquad(quad)
    CALLERS[module.dblquad] = _dblquad(nquad)
    CALLERS[module.tplquad] = _tplquad(nquad)
    CALLERS[module.quad_vec] = _quad_vec(module.quad_vec)
    implements_blind(module.romb)(_romb(module.romb))
    CALLERS[module.fixed_quad] = _fixed_quad
    for implementation in (simpson, cumulative_trapezoid, cumulative_simpson):
        implements_blind(getattr(module, implementation.__name__))(implementation)
