"""What all distributions of one number have in common: arguments, location and scale, the support, complements.

A distribution is a row of short formulas in the standardised variable z = (x − loc)/scale and the shape parameters
(`continuous.py`, `discrete.py`). What holds for all of them is said here once:

    logpdf(x) = row.logpdf(z) − log scale       ppf(q) = loc + scale·row.ppf(q)       entropy = row.entropy + log scale

Outside the support the density is 0, its logarithm −∞, the distribution function 0 or 1, and derivatives in x and in
the parameters are zero. On the boundary of the support values and derivatives are those from inside, so the derivative
of the cdf is the pdf everywhere. Parameters that SciPy does not accept give NaN, also for the derivatives.

A formula is never evaluated where it does not count (`split`): elsewhere it might give 0·∞ in a derivative. Masks that
are plain arrays and all alike, the common case, cost no selection at all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.box.functions.operands import array, operand
from wengert.errors import UnsupportedFunctionError
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.types import shape_of

Formula = Callable[..., Any]
INF = math.inf


def always(mask: Any) -> bool:
    """Whether a mask is known to be true everywhere."""
    return not isinstance(mask, Traced) and bool(np.all(mask))


def never(mask: Any) -> bool:
    """Whether a mask is known to be false everywhere."""
    return not isinstance(mask, Traced) and not np.any(mask)


def either(*masks: Any) -> Any:
    """Where one of several masks is true."""
    return functools.reduce(np.logical_or, masks)


def all_of(*masks: Any) -> Any:
    """Where several masks are true."""
    return functools.reduce(np.logical_and, masks)


def are_whole(*counts: Any) -> Any:
    """Where numbers are integers."""
    return all_of(*[np.floor(n) == n for n in counts])


def split(mask: Any, yes: Formula, no: Formula, args: tuple, spare_yes: tuple, spare_no: tuple) -> Any:
    """`yes(*args)` where the mask is true, `no(*args)` elsewhere; where a formula does not count it gets the spares."""
    if never(mask):
        return no(*args)
    if always(mask):
        return yes(*args)
    inside = yes(*[np.where(mask, a, spare) for a, spare in zip(args, spare_yes, strict=True)])
    return np.where(mask, inside, no(*[np.where(mask, spare, a) for a, spare in zip(args, spare_no, strict=True)]))


def log1mexp(u: Any) -> Any:
    """log(1 − exp(−u)) for u ≥ 0 (Mächler 2012)."""
    return split(
        u < math.log(2), lambda u: np.log(-np.expm1(-u)), lambda u: np.log1p(-np.exp(-u)), (u,), (0.5,), (1.0,)
    )


def log_of(p: Any, complement: Any) -> Any:
    """log p, given p and 1 − p, accurate also where p is close to one."""
    return split(
        p > 0.5, lambda p, c: np.log1p(-c), lambda p, c: np.log(p), (p, complement), (0.75, 0.25), (0.25, 0.75)
    )


def _is_infinite(end: Any) -> bool:
    return not isinstance(end, Traced) and bool(np.all(np.isinf(end)))


def shaped(y: Any, *operands: Any) -> Any:
    """A result with the shape to which the operands broadcast."""
    shape = np.broadcast_shapes(*[shape_of(a) for a in operands])
    return y if shape_of(y) == shape else y + np.zeros(shape)


def checked(y: Any, valid: Any) -> Any:
    """A result that is NaN, and so are its derivatives, where parameters are not valid."""
    return y if always(valid) else y * np.where(valid, 1.0, np.nan)


@dataclass
class Univariate:
    """A distribution of one number, by its standardised formulas; what is missing is derived or not supported.

    `shapes` names the shape parameters in SciPy's order. `valid` says which values of them are allowed, `support` where
    the density is positive, `spare` a point well inside.
    """

    shapes: tuple[str, ...] = ()
    support: tuple[float, float] | Formula = (-INF, INF)
    spare: float | Formula = 1.0
    valid: Formula | None = None
    cdf: Formula | None = None
    sf: Formula | None = None
    logcdf: Formula | None = None
    logsf: Formula | None = None
    entropy: Formula | None = None
    mean: Formula | None = None
    var: Formula | None = None
    name: str = ""

    data_names = {"ppf": "q", "isf": "q"}
    parameters_only = frozenset({"entropy", "mean", "var", "std", "median", "support"})
    data_name = "x"
    scaled = True

    def __post_init__(self) -> None:
        """A tail follows from its logarithm, and from that the other one."""
        for tail, other in (("cdf", "sf"), ("sf", "cdf")):
            log = getattr(self, f"log{tail}")
            if log is not None and getattr(self, tail) is None:
                setattr(self, tail, lambda z, *shapes, log=log: np.exp(log(z, *shapes)))
            if log is not None and getattr(self, other) is None:
                setattr(self, other, lambda z, *shapes, log=log: -np.expm1(log(z, *shapes)))

    def method(self, name: str) -> Callable | None:
        """The method of this name with SciPy's signature; `None` if it is not supported."""
        evaluate: Callable | None = self.interval if name == "support" else self.evaluation(name)
        if evaluate is None:
            return None
        if name in self.parameters_only:
            return lambda *args, **kwds: evaluate(*self.parameters(name, args, kwds))
        data = self.data_names.get(name, self.data_name)

        def method(*args: Any, **kwds: Any) -> Any:
            if args:
                x, args = args[0], args[1:]
            elif data in kwds:
                x = kwds.pop(data)
            else:
                raise TypeError(f"{name}() missing 1 required positional argument: '{data}'")
            return evaluate(numbers(x), *self.parameters(name, args, kwds))

        return method

    def parameters(self, method: str, args: tuple, kwds: dict) -> tuple[tuple, Any, Any]:
        """Shape parameters, location and scale, from arguments in SciPy's order or by name."""
        names = (*self.shapes, "loc", "scale") if self.scaled else (*self.shapes, "loc")
        if len(args) > len(names):
            raise TypeError(f"{method}() takes at most {len(names)} parameters of {self.name}, {len(args)} given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwds.items():
            if name not in names:
                raise TypeError(f"{method}() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{method}() got multiple values for argument '{name}'")
            given[name] = value
        missing = [name for name in self.shapes if name not in given]
        if missing:
            raise TypeError(f"{method}() missing {len(missing)} required positional argument: '{missing[0]}'")
        shapes = tuple([numbers(given[name]) for name in self.shapes])
        return shapes, numbers(given.get("loc", 0)), numbers(given.get("scale", 1))

    def evaluation(self, name: str) -> Callable | None:
        """The function of (data, shapes, loc, scale) that a method is; `None` if it is not supported."""
        raise NotImplementedError

    def interval(self, shapes: tuple, loc: Any, scale: Any) -> tuple[Any, Any]:
        """The ends of the support; those that are infinite whatever the parameters are no traced values."""
        return tuple([end if _is_infinite(end) else loc + scale * end for end in self.bounds(shapes)])

    def bounds(self, shapes: tuple) -> tuple[Any, Any]:
        return self.support(*shapes) if callable(self.support) else self.support

    def spare_point(self, shapes: tuple) -> Any:
        return self.spare(*[stop_gradient(s) for s in shapes]) if callable(self.spare) else self.spare

    def are_valid(self, shapes: tuple) -> Any:
        return True if self.valid is None else self.valid(*shapes)

    def cumulative(self, name: str) -> Formula | None:
        """The formula for cdf, sf or their logarithms; logarithms are derived if they are not stated."""
        stated = getattr(self, name)
        if stated is not None or not name.startswith("log") or self.cdf is None or self.sf is None:
            return stated
        p, complement = (self.cdf, self.sf) if name == "logcdf" else (self.sf, self.cdf)
        return lambda z, *shapes: log_of(p(z, *shapes), complement(z, *shapes))

    def cumulated(self, formula: Formula, name: str, z: Any, outside: Any, shapes: tuple) -> Any:
        """cdf, sf or their logarithms at z, where the formula holds only within the support."""
        _, high = self.bounds(shapes)
        below, above = OUTSIDE[name]
        spare = (self.spare_point(shapes),)
        beyond = lambda z: np.where(z >= high, above, below)
        return split(outside, beyond, lambda z: formula(z, *shapes), (z,), spare, spare)


OUTSIDE = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-INF, 0.0), "logsf": (0.0, -INF)}
"""Values below and above the support."""


def numbers(x: Any) -> Any:
    """An argument as operand: lists become arrays, integers stay integers."""
    x = operand(x)
    return x if isinstance(x, Traced) or hasattr(x, "shape") or not hasattr(x, "__len__") else array(x)


def unsupported(name: str, method: str) -> UnsupportedFunctionError:
    """The error for a method without formulas."""
    return UnsupportedFunctionError(
        f"scipy.stats.{name}.{method} of traced values has no derivative rule",
        remedy="draw standard variates outside and write the sample as a function of the parameters, such as "
        "loc + scale * z"
        if method in ("rvs", "sample")
        else "write it with supported functions, or give it a rule with wg.custom_jvp or wg.custom_vjp; if its "
        "arguments should count as constants, pass wg.stop_gradient of them",
    )
