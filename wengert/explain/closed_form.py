"""The mode that does algebra: a program run on symbols of SymPy, or on its numbers of any precision.

A `Closed` box holds an object array of SymPy expressions. Elementary functions are looked up in a table of SymPy's;
structural ops (sums, products of matrices, indexing) compute on object arrays as they are. Since it is a mode as all
others, derivatives may be taken of what it holds: reverse mode over `Closed` values gives a gradient in symbols, and
over numbers of fifty digits a gradient to fifty digits.

What decides by a symbol (`if x > 0`) has no closed form and raises; by a number it decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from wengert.api.optional import package
from wengert.box.box import Box, outside
from wengert.box.writing import settled
from wengert.errors import NoClosedFormError
from wengert.ir.interpret import run
from wengert.modes.dual import check_not_inner
from wengert.ops.derive import Control, Elementwise, General, Linear, Multilinear
from wengert.ops.op import Op, Trace, Traced, fresh_tag
from wengert.running import entered

_BOOL, _FLOAT = np.dtype(bool), np.dtype(float)
_SMALL_DENOMINATOR = 1024


def sympy() -> Any:
    """The package."""
    return package("sympy", "symbolic")


def exact(x: Any) -> Any:
    """A number as SymPy has it: integers and simple fractions exactly, π and e as such, all else as it is.

    >>> exact(0.5), exact(3), exact(math.pi)
    (1/2, 3, pi)
    """
    sp = sympy()
    if isinstance(x, (bool, np.bool_)):
        return sp.true if x else sp.false
    if isinstance(x, (int, np.integer)):
        return sp.Integer(int(x))
    if isinstance(x, (float, np.floating)):
        number = float(x)
        for constant, symbol in ((math.pi, sp.pi), (math.e, sp.E), (math.inf, sp.oo), (-math.inf, -sp.oo)):
            if number == constant:
                return symbol
        if math.isnan(number):
            return sp.nan
        numerator, denominator = number.as_integer_ratio()
        if denominator <= _SMALL_DENOMINATOR:
            return sp.Rational(numerator, denominator)
        return sp.Float(number, 17)
    return sp.sympify(x)


class Closed(Box):
    """An array of expressions. It looks like an array of floats, or of booleans if they are conditions."""

    __slots__ = ()
    _state = ("_owner", "_value", "_aval")

    @Box.shape.getter  # type: ignore[attr-defined]
    def shape(self) -> tuple[int, ...]:
        return np.shape(self._value)

    @Box.dtype.getter  # type: ignore[attr-defined]
    def dtype(self) -> np.dtype:
        return self._aval

    def __bool__(self) -> bool:
        (found,) = np.ravel(self._value)
        if found in (sympy().true, sympy().false) or getattr(found, "is_number", False):
            return bool(found)
        raise NoClosedFormError(
            f"the program decides by {found}, so it is not one expression",
            remedy="use np.where(condition, a, b) instead of if, which becomes a Piecewise",
        )

    def __repr__(self) -> str:
        return f"Closed({self._value})"

    __str__ = __repr__


class ClosedTrace(Trace):
    """One evaluation on expressions."""

    __slots__ = ("alive", "digits", "tag")

    def __init__(self, digits: int | None = None) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.digits = digits
        """If the values are numbers: with how many digits constants come in."""

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        if isinstance(op, Control):
            return tuple(run(params["body"], args)) if op.name == "call" else op.impl(*args, **params)
        values = [self.expressions(a) for a in args]
        if any(isinstance(v, Traced) for v in values):
            raise NoClosedFormError("symbols meet values of another transformation", remedy="differentiate the symbols")
        function = table().get(op.name)
        if function is not None:
            count = len(values)
            y = np.frompyfunc(lambda *xs: function(*xs, **params), count, 1)(*values)
            dtype = _BOOL if op.name in _CONDITIONS else _FLOAT
        elif op.name in _AS_IT_IS:
            y, dtype = values[0], args[0].dtype
        elif op.name in _WHOLE:
            y, dtype = _WHOLE[op.name](*values, **params), _FLOAT
        elif isinstance(op, (Linear, Multilinear)) and not isinstance(op, (Elementwise, General)):
            y = op.impl(*self._structured(op, args, values, params), **params)
            dtype = args[0].dtype if isinstance(args[0], Closed) else _FLOAT
        else:
            raise NoClosedFormError(
                f"{op.name} has no closed form that SymPy knows",
                remedy="differentiate the program automatically, wg.grad(f), or numerically, wg.numerical.grad(f)",
            )
        return self.box(y, dtype)

    def _structured(self, op: Op, args: tuple, values: list[Any], params: dict) -> list[Any]:
        """Operands of a structural op: indices stay integers, and what is written into one place is no array."""
        data = op.data_count(args, params)
        found = [v if k < data else a for k, (a, v) in enumerate(zip(args, values, strict=True))]
        if op.writes and not found[1].shape:
            found[1] = found[1][()]
        return found

    def box(self, y: Any, dtype: np.dtype) -> Closed:
        return Closed(self, y if isinstance(y, np.ndarray) else _lone(y), dtype)

    def expressions(self, x: Any) -> Any:
        """A value as an object array."""
        if isinstance(x, Closed) and x._owner is self:
            return x._value
        if isinstance(x, Traced):
            return x
        convert = exact if self.digits is None else lambda v: _precise(v, self.digits)
        y = np.frompyfunc(convert, 1, 1)(x)
        return y if isinstance(y, np.ndarray) else _lone(y)


def _precise(x: Any, digits: int | None) -> Any:
    known = exact(x)
    return known if known.is_Integer or known.is_Boolean else sympy().Float(exact_ratio(x), digits)


def exact_ratio(x: Any) -> Any:
    """A floating-point number as the fraction that it is."""
    return sympy().Rational(*float(x).as_integer_ratio())


def _lone(y: Any) -> np.ndarray:
    found = np.empty((), object)
    found[()] = y
    return found


_AS_IT_IS = frozenset(("astype", "stop_gradient", "copy", "positive", "conjugate", "real"))
_CONDITIONS = frozenset(
    ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
     "logical_not", "isnan", "isinf", "isfinite")
)  # fmt: skip


@cache
def table() -> dict[str, Callable]:
    """What SymPy calls each elementary function."""
    sp = sympy()
    half = sp.Rational(1, 2)
    found: dict[str, Callable] = {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "negative": lambda x: -x,
        "reciprocal": lambda x: 1 / x,
        "square": lambda x: x**2,
        "power": lambda x, y: x**y,
        "sqrt": sp.sqrt,
        "cbrt": lambda x: sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3),
        "exp": sp.exp,
        "exp2": lambda x: 2**x,
        "expm1": lambda x: sp.exp(x) - 1,
        "log": sp.log,
        "log2": lambda x: sp.log(x) / sp.log(2),
        "log10": lambda x: sp.log(x) / sp.log(10),
        "log1p": lambda x: sp.log(1 + x),
        "sin": sp.sin,
        "cos": sp.cos,
        "tan": sp.tan,
        "arcsin": sp.asin,
        "arccos": sp.acos,
        "arctan": sp.atan,
        "arctan2": sp.atan2,
        "hypot": lambda x, y: sp.sqrt(x**2 + y**2),
        "degrees": lambda x: x * 180 / sp.pi,
        "radians": lambda x: x * sp.pi / 180,
        "sinh": sp.sinh,
        "cosh": sp.cosh,
        "tanh": sp.tanh,
        "sech_squared": lambda x: 1 / sp.cosh(x) ** 2,
        "one_minus_square": lambda x: 1 - x**2,
        "arcsinh": sp.asinh,
        "arccosh": sp.acosh,
        "arctanh": sp.atanh,
        "absolute": sp.Abs,
        "sign": sp.sign,
        "floor": sp.floor,
        "ceil": sp.ceiling,
        "maximum": sp.Max,
        "minimum": sp.Min,
        "fmax": sp.Max,
        "fmin": sp.Min,
        "heaviside": lambda x, h: sp.Piecewise((0, x < 0), (h, sp.Eq(x, 0)), (1, True)),
        "where": lambda c, x, y: sp.Piecewise((x, c), (y, True)),
        "less": lambda x, y: sp.Lt(x, y),
        "less_equal": lambda x, y: sp.Le(x, y),
        "greater": lambda x, y: sp.Gt(x, y),
        "greater_equal": lambda x, y: sp.Ge(x, y),
        "equal": lambda x, y: sp.Eq(x, y),
        "not_equal": lambda x, y: sp.Ne(x, y),
        "logical_and": lambda x, y: sp.And(x, y),
        "logical_or": lambda x, y: sp.Or(x, y),
        "logical_not": lambda x: sp.Not(x),
        "isnan": lambda x: sp.true if x is sp.nan else sp.false,
        "isinf": lambda x: sp.true if x in (sp.oo, -sp.oo) else sp.false,
        "isfinite": lambda x: sp.false if x in (sp.oo, -sp.oo, sp.nan) else sp.true,
        "erf": sp.erf,
        "erfc": sp.erfc,
        "erfinv": sp.erfinv,
        "ndtr": lambda x: half * sp.erfc(-x / sp.sqrt(2)),
        "expit": lambda x: 1 / (1 + sp.exp(-x)),
        "logit": lambda x: sp.log(x / (1 - x)),
        "log_expit": lambda x: -sp.log(1 + sp.exp(-x)),
        "xlogy": lambda x, y: sp.Piecewise((0, sp.Eq(x, 0)), (x * sp.log(y), True)),
        "entr": lambda x: -x * sp.log(x),
        "gamma": sp.gamma,
        "gammaln": sp.loggamma,
        "digamma": sp.digamma,
        "beta": sp.beta,
        "j0": lambda x: sp.besselj(0, x),
        "j1": lambda x: sp.besselj(1, x),
        "jv": sp.besselj,
        "exp1": lambda x: sp.expint(1, x),
        "expi": sp.Ei,
    }
    return found


def _matrix(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one square matrix of expressions, given as an array."""

    def of_array(a: np.ndarray, *others: np.ndarray, **params: Any) -> Any:
        if a.ndim != 2:
            raise NoClosedFormError("linear algebra on stacks of matrices has no closed form here",
                                    remedy="write a loop over the matrices")  # fmt: skip
        found = function(sympy().Matrix(a.tolist()), *[sympy().Matrix(b.reshape(len(b), -1).tolist()) for b in others])
        if not hasattr(found, "tolist"):
            return found
        result = np.array(found.tolist(), object)
        return result.reshape(others[0].shape) if others else result

    return of_array


_WHOLE: dict[str, Callable] = {
    "det": _matrix(lambda a: a.det()),
    "inv": _matrix(lambda a: a.inv()),
    "solve": _matrix(lambda a, b: a.LUsolve(b)),
    "prod": lambda x, axis=None: np.prod(x, axis=axis),
    "cumprod": lambda x, axis=None: np.cumprod(x, axis=axis),
    "max": lambda x, axis=None: _extreme("Max", x, axis),
    "min": lambda x, axis=None: _extreme("Min", x, axis),
    "norm": lambda x, axis=None: _each("sqrt", np.sum(x * x, axis=axis)),
    "logsumexp": lambda x, axis=None: _each("log", np.sum(_each("exp", x), axis=axis)),
    "softmax": lambda x, axis=None: _each("exp", x) / np.sum(_each("exp", x), axis=axis, keepdims=True),
}


def _each(name: str, x: Any) -> Any:
    return np.frompyfunc(getattr(sympy(), name), 1, 1)(x)


def _extreme(name: str, x: np.ndarray, axis: Any) -> Any:
    choose = np.frompyfunc(getattr(sympy(), name), 2, 1)
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    for k in sorted(axes, reverse=True):
        x = choose.reduce(x, axis=k)
    return x


def evaluate(
    function: Callable[..., Sequence[Any]], values: Sequence[np.ndarray], digits: int | None = None
) -> list[Any]:
    """Run a function from leaves to a list of leaves on arrays of expressions (or numbers of so many digits)."""
    trace = ClosedTrace(digits)
    with entered(trace):
        results = []
        for y in map(settled, function(*[trace.box(v, _FLOAT) for v in values])):
            if not isinstance(y, Closed):
                check_not_inner(y, trace.tag)
            results.append(trace.expressions(y))
        return results
