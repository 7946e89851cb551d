"""What instrumented code calls instead: constructors, `math` and `cmath`, builtins, and functions of SciPy that are
plain Python.

A replacement behaves as the original on ordinary values. On traced values it does what the original means: `math.sin`
is the op sin, `float(x)` is x, `isinstance(x, np.ndarray)` says what x stands for.
"""

from __future__ import annotations

import cmath
import functools
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
import scipy.special

from wengert.box.array_classes import Holding
from wengert.box.box import Box
from wengert.box.cells import without_cells
from wengert.box.constructors import CONSTRUCTORS
from wengert.box.dispatch import FUNCTIONS, entered_in, meaning_of
from wengert.box.distributions.lookup import Frozen
from wengert.box.functions import quadrature
from wengert.box.functions.applying import Vectorized
from wengert.box.functions.lengths import known, refuse_if
from wengert.box.functions.nditer import ElementIterator
from wengert.box.functions.norms import hypotenuse
from wengert.box.functions.operands import NUMBERS, array, cast, fitted, holds_traced
from wengert.box.operators import as_python_number, inside, is_enclosed, python_number
from wengert.box.writing import plain, settled
from wengert.capture.domains import guarded
from wengert.capture.instrument import instrument
from wengert.capture.read_texts import read_text
from wengert.capture.tried import refuse_failures
from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.imported import PENDING, look_for_imports
from wengert.ir.infer import demand_which, is_either
from wengert.ir.numbers import as_python, innermost, python_class
from wengert.ir.symbol import Sym
from wengert.modes.interval import Interval
from wengert.modes.switches import jumps
from wengert.modes.tape import record
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, shape_of

_operates_for_user = True

REPLACEMENTS: dict[Any, Callable] = dict(CONSTRUCTORS)
"""What is called -> what is called instead."""

FOLLOW_ARGUMENTS: list[Any] = [
    map, filter, functools.reduce, sorted, max, min, itertools.accumulate, itertools.starmap, itertools.takewhile,
    itertools.dropwhile, itertools.groupby, np.apply_along_axis, np.apply_over_axes, np.fromfunction,
    np.piecewise,
]  # fmt: skip
"""Library functions that call functions they are given, which are then instrumented too."""


replaces = functools.partial(entered_in, REPLACEMENTS)


# ------------------------------------------------------------------------------------------------------ math, cmath


def _ieee_remainder(x: Any, y: Any) -> Any:
    """x − n·y for the integer n nearest to x/y, the even one of two: exact, as `fmod` and the difference are."""
    r = np.fmod(x, y)
    odd = np.fmod(np.rint((x - r) / y), 2) != 0
    beyond = np.logical_or(2 * np.abs(r) > np.abs(y), np.logical_and(2 * np.abs(r) == np.abs(y), odd))
    return np.where(beyond, r - np.copysign(np.abs(y), r), r)


def _with_pythons(fraction: Any, exponent: Any) -> tuple[Any, Any]:
    """What `math.frexp` gives: NumPy's exponents are short integers."""
    return fraction, FUNCTIONS[np.astype](exponent, np.int64) if isinstance(exponent, Traced) else int(exponent)


_MATH = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt, "pow": np.power, "fabs": np.absolute, "fmod": np.fmod,
    "copysign": np.copysign, "degrees": np.degrees, "radians": np.radians, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "erf": scipy.special.erf, "erfc": scipy.special.erfc, "gamma": scipy.special.gamma,
    "remainder": _ieee_remainder, "modf": np.modf, "frexp": lambda x: _with_pythons(*np.frexp(x)), "ldexp": np.ldexp,
    "lgamma": lambda x: np.where(np.isinf(x), np.inf, scipy.special.gammaln(x)),
}  # fmt: skip
_OF_COMPLEX = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log10 sqrt isnan isinf isfinite"
_CMATH = {name: _MATH[name] for name in _OF_COMPLEX.split()}


def _as_double(x: Any) -> Any:
    """A number as functions of the math module take it: single precision, and integers, are theirs only until they are
    read."""
    if dtype_of(x).kind not in "biuf" or dtype_of(x) == np.float64:
        return x
    return cast(x, np.float64) if isinstance(x, Traced) else float(x)


def demand_number(x: Any) -> None:
    """Raise what NumPy raises where an array that is no single number is made a number of Python's."""
    if isinstance(x, Box) and x.shape:
        float(np.ones([n if n.__class__ is int else 2 for n in x.shape]))  # of one axis, it depends on the version


def _of_numbers(original: Callable, on_traced: Callable) -> Callable:
    """A function of the math module that is also one of traced numbers. It fails where the original does."""

    @functools.wraps(original)
    def replacement(*args: Any) -> Any:
        for a in args:
            if isinstance(a, Traced):
                break
        else:
            return original(*args)
        if len(args) == 1 and inside(a).__class__ is float:  # what is common has a quick way
            original(inside(a))
            y = on_traced(a)
            return tuple([python_number(part) for part in y]) if y.__class__ is tuple else python_number(y)
        for a in args:
            demand_number(a)
        numbers = [plain(a) for a in args]
        known = not any(isinstance(number, Traced) for number in numbers)
        if known and all(shape_of(number) == shape_of(a) for number, a in zip(numbers, args, strict=True)):
            # there is no hidden axis
            original(*numbers)
        args = tuple([s.reshape(a, shape=()) if isinstance(a, Box) and a.shape else a for a in args])
        if original not in _ROUNDING:  # (which are exact)
            args = tuple([a if k and original is math.ldexp else _as_double(a) for k, a in enumerate(args)])
        checks = not known and original.__module__ == "math"
        y = guarded(original.__name__, on_traced, args) if checks else on_traced(*args)
        if known and running.state.capture is None:
            refuse_failures(original.__name__, args, y if y.__class__ is tuple else (y,))
        if known or running.state.capture is None or any(innermost(a) is None for a in args):
            return tuple([python_number(part) for part in y]) if y.__class__ is tuple else python_number(y)
        return as_python(y) if isinstance(y, Traced) else y

    return replacement


def _of_complex(function: Callable) -> Callable:
    return lambda *zs: function(*[z + 0j if dtype_of(z).kind != "c" else z for z in zs])


for _module, _table in ((math, _MATH), (cmath, _CMATH)):
    for _name, _function in _table.items():
        if hasattr(_module, _name):
            REPLACEMENTS[getattr(_module, _name)] = _of_numbers(
                getattr(_module, _name), _function if _module is math else _of_complex(_function)
            )


def _log(x: Any, base: Any = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


REPLACEMENTS[math.log] = _of_numbers(math.log, _log)
REPLACEMENTS[cmath.log] = _of_numbers(cmath.log, _of_complex(_log))
REPLACEMENTS[cmath.polar] = _of_numbers(cmath.polar, lambda z: (abs(z), FUNCTIONS[np.angle](z)))
REPLACEMENTS[cmath.rect] = _of_numbers(cmath.rect, lambda r, phi: r * (np.cos(phi) + 1j * np.sin(phi)))
REPLACEMENTS[cmath.phase] = _of_numbers(cmath.phase, lambda z: FUNCTIONS[np.angle](z))
REPLACEMENTS[math.hypot] = _of_numbers(math.hypot, lambda *xs: _length(xs))
REPLACEMENTS[math.floor] = _of_numbers(math.floor, lambda x: _whole(math.floor, x))
REPLACEMENTS[math.ceil] = _of_numbers(math.ceil, lambda x: _whole(math.ceil, x))
REPLACEMENTS[math.trunc] = _of_numbers(math.trunc, lambda x: _whole(math.trunc, x))
REPLACEMENTS[math.prod] = lambda xs, *, start=1: functools.reduce(lambda a, b: a * b, xs, start)
REPLACEMENTS[math.fsum] = lambda xs: _sum_of(xs if isinstance(xs, Box) else list(xs))


def _length(xs: Sequence[Any]) -> Any:
    """√Σx² of numbers."""
    return np.hypot(*xs) if len(xs) == 2 else hypotenuse(array(list(xs)), (0,)) if len(xs) > 2 else abs(xs[0])


@replaces(math.dist)
def _dist(p: Any, q: Any, /) -> Any:
    p, q = list(p), list(q)
    if len(p) != len(q) or not any(isinstance(x, Traced) for x in (*p, *q)):
        return math.dist(p, q)
    return REPLACEMENTS[math.hypot](*[a - b for a, b in zip(p, q, strict=True)])


_ROUNDING: dict[Any, Callable] = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc, int: np.trunc}


def _whole(original: Callable, x: Any) -> int:
    """An integer that is computed from a traced number: it is constant between jumps, as what a comparison says."""
    return int(settled(e.stop_gradient(_ROUNDING[original](x))))


@replaces(int)
def _int(x: Any = 0, /, *base: Any, **named: Any) -> int:
    demand_number(x)
    if not isinstance(x, Box) or base or named or dtype_of(x).kind == "c":
        return int(read_text(x), *base, **named)
    return _whole(int, s.reshape(x, shape=()) if shape_of(x) else x)


def _sum_of(xs: Any) -> Any:
    if not isinstance(xs, Box) and not any(isinstance(x, Traced) for x in xs):
        return math.fsum(xs)
    y = FUNCTIONS[np.sum](_as_double(xs)) if isinstance(xs, Box) else sum([_as_double(x) for x in xs])
    return as_python(y) if running.state.capture is not None else python_number(y)


def _of_data(original: Callable, on_traced: Callable) -> Callable:
    """A function of the statistics module, which computes with exact fractions; of traced numbers it is NumPy's."""

    @functools.wraps(original)
    def replacement(data: Any, *args: Any, **kwargs: Any) -> Any:
        data = data if isinstance(data, Box) else list(data)
        if isinstance(data, Box) or any(map(holds_traced, (*data, *args, *kwargs.values()))):
            return on_traced(array(data), *args, **kwargs)
        return original(data, *args, **kwargs)

    return replacement


def _variance(lost: int, root: bool) -> Callable:
    def variance(data: Any, mean: Any = None) -> Any:
        n = known(shape_of(data)[0])
        refuse_if(n <= lost, statistics.StatisticsError, "variance requires at least two data points")
        centred = data - (FUNCTIONS[np.mean](data) if mean is None else mean)
        found = FUNCTIONS[np.sum](centred * centred) / (n - lost)
        return np.sqrt(found) if root else found

    return variance


def _harmonic(data: Any, weights: Any = None) -> Any:
    w = 1.0 if weights is None else array(weights)
    total = known(shape_of(data)[0]) if weights is None else FUNCTIONS[np.sum](w)
    return total / FUNCTIONS[np.sum](w / data)


def _weighted(data: Any, weights: Any = None) -> Any:
    return FUNCTIONS[np.average](data, weights=weights)


for _name, _function in {
    "mean": lambda data: FUNCTIONS[np.mean](data), "median": lambda data: FUNCTIONS[np.median](data),
    "fmean": _weighted, "variance": _variance(1, False), "stdev": _variance(1, True),
    "pvariance": _variance(0, False), "pstdev": _variance(0, True), "harmonic_mean": _harmonic,
}.items():  # fmt: skip
    REPLACEMENTS[getattr(statistics, _name)] = _of_data(getattr(statistics, _name), _function)


@replaces(math.isclose)
def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    numbers = [plain(x) for x in (a, b, rel_tol, abs_tol)]
    if not any(isinstance(x, Traced) or shape_of(x) for x in numbers):  # there is no hidden axis
        return math.isclose(*numbers[:2], rel_tol=numbers[2], abs_tol=numbers[3])
    if any(not isinstance(x, Traced) and x < 0 for x in (rel_tol, abs_tol)):
        raise ValueError("tolerances must be non-negative")
    a, b = _as_double(a), _as_double(b)
    finite, same = np.logical_and(np.isfinite(a), np.isfinite(b)), np.equal(a, b)
    a, b = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    bound = np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
    y = np.logical_or(same, np.logical_and(finite, np.less_equal(np.abs(a - b), bound)))
    return as_python(y) if running.state.capture is not None else python_number(y)


# --------------------------------------------------------------------------------------------------------- builtins


def _scalar_type(kind: Any) -> Callable:
    """`np.float32(x)`: a number of that type, or an array of them."""

    @functools.wraps(kind, updated=())
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and holds_traced(args[0]):
            x = array(fitted(args[0], np.dtype(kind)))
            return x if shape_of(x) and dtype_of(x) == kind else FUNCTIONS[np.astype](x, kind)
        return kind(*args, **kwargs)

    return replacement


for _kind in {np.dtype(code).type for code in "?bhilqBHILQefdgFDG"}:
    REPLACEMENTS[_kind] = _scalar_type(_kind)


@replaces(float)
def _float(x: Any = 0.0) -> Any:
    if not isinstance(x, Box):
        y = _as_its_class_says(x, "__float__")
        if not isinstance(y, Box):
            return y if isinstance(y, float) else float(read_text(x))
        x = y
    demand_number(x)
    if dtype_of(x).kind == "c":
        raise TypeError("can't convert complex to float")
    if x._is_python_number and dtype_of(x) == np.float64:
        return x
    if dtype_of(x).kind != "f":
        x = s.astype(x, dtype=np.dtype(np.float64))
    return as_python_number(x)


def _as_its_class_says(x: Any, method: str) -> Any:
    """An object as a number, if its class is of the user's and says how; otherwise `None`."""
    own = getattr(x.__class__, method, None)
    return own(x) if type(own) is FunctionType else None


def _text_of(write: Callable) -> Callable:
    """`str(x)`, `repr(x)`: a batch has a text for each example. (`print(x)` shows all of them at once.)"""

    @functools.wraps(write, updated=())
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Box):
            args[0]._shown(is_part=True)
        return write(*args, **kwargs)

    return replacement


REPLACEMENTS[str], REPLACEMENTS[repr] = _text_of(str), _text_of(repr)


@replaces(complex)
def _complex(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs and not isinstance(args[0], Traced):
        y = _as_its_class_says(args[0], "__complex__")
        args = args if y is None else (y,)
    if any(isinstance(a, Traced) for a in (*args, *kwargs.values())):
        parts = dict(zip(("real", "imag"), args, strict=False)) | kwargs
        for part in parts.values():
            demand_number(part)
        wide = {name: as_python_number(x) if isinstance(x, Traced) else x for name, x in parts.items()}
        return wide.get("real", 0.0) + 1j * wide.get("imag", 0.0)
    return complex(*map(read_text, args), **kwargs)


@replaces(isinstance)
def _isinstance(x: Any, classes: Any) -> bool:
    if not isinstance(x, Box):
        return isinstance(x, classes) or (x.__class__ is Frozen and issubclass(x.stands_for, classes))
    found = {issubclass(kind, classes) for kind in _possible_classes(x)}
    return issubclass(class_of(x), classes) if len(found) > 1 else found.pop()


@replaces(type)
def _type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Holding):
        return args[0].__class__
    return class_of(args[0]) if len(args) == 1 and isinstance(args[0], Box) else type(*args, **kwargs)


def class_of(x: Box) -> type:
    """The class of what a traced value stands for."""
    if isinstance(x, Interval):  # a user's own, which is what it is
        return Interval
    if shape_of(x) or x._is_array:  # (a view of no axes is an array)
        return np.ndarray
    value = plain(x)
    if value.__class__ is Sym:  # which has none: its type says what it will be
        demand_which(innermost(x), "the class is asked")
        return python_class(x) or dtype_of(x).type
    if isinstance(value, Traced) and not x._is_python_number:  # an interval
        return dtype_of(x).type
    if x._is_python_number:
        return type(NUMBERS[dtype_of(x).kind])
    return type(value) if not isinstance(value, np.ndarray) or not shape_of(value) else dtype_of(x).type


def _possible_classes(x: Box) -> list[type]:
    """The class of what a traced value stands for; two if it is Python's number in some cases and NumPy's in others."""
    dtype = dtype_of(x)
    return [type(NUMBERS[dtype.kind]), dtype.type] if is_either(innermost(x)) else [class_of(x)]


_NOTHING = object()


def has_attribute(x: Box, name: str) -> bool:
    """Whether what a box stands for has an attribute. (Its class has others, as all classes do: it can be called.)"""
    found = {any(name in cls.__dict__ for cls in kind.__mro__) for kind in _possible_classes(x)}
    if len(found) > 1:
        demand_which(innermost(x), f"the attribute {name} is asked")
    return found.pop()


@replaces(hasattr)
def _hasattr(x: Any, name: str) -> bool:
    return has_attribute(x, name) if isinstance(x, Box) else hasattr(x, name)


@replaces(getattr)
def _getattr(x: Any, name: str, default: Any = _NOTHING) -> Any:
    if isinstance(x, Box):
        if default is not _NOTHING and not has_attribute(x, name):
            return default
        if name == "__array_priority__" and has_attribute(x, name):  # ours is for NumPy to ask
            return (np.empty(0) if class_of(x) is np.ndarray else np.float64()).__array_priority__
    if name.__class__ is not str:
        hash(name)  # a text with a value that is not known yet refuses: Python itself would look for another name
    return getattr(x, name) if default is _NOTHING else getattr(x, name, default)


@replaces(np.nditer)
def _nditer(op: Any, *args: Any, **kwargs: Any) -> Any:
    operands = op if isinstance(op, (list, tuple)) else [op]
    return (ElementIterator if any(isinstance(x, Box) for x in operands) else np.nditer)(op, *args, **kwargs)


@replaces(callable)
def _callable(x: Any) -> bool:
    return not isinstance(x, Box) and callable(x)


@replaces(np.isscalar)
def _isscalar(x: Any) -> bool:
    return class_of(x) is not np.ndarray if isinstance(x, Box) else np.isscalar(x)


@replaces(range)
def _range(*args: Any) -> range:
    args = tuple(
        [operator.index(a) if isinstance(a, Box) and a.dtype.kind in "iu" and not a.shape else a for a in args]
    )
    for a in args:
        if isinstance(a, Traced):
            raise ConcretizationError(
                "the bounds of range must be integers, not traced numbers",
                remedy="use range(int(wg.stop_gradient(n))): the number of iterations has no derivative",
            )
    return range(*args)


# -------------------------------------------------------------------------------------------------- blind functions

quadrature.MODES["record"] = record
quadrature.MODES["jumps"] = jumps


def _if_traced(original: Callable, implementation: Callable) -> Callable:
    """A function that does not dispatch: ours if an argument is traced, else the original."""

    @functools.wraps(original)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        traced = False
        for a in itertools.chain(args, kwargs.values()):
            if isinstance(a, Traced) or (isinstance(a, (list, tuple)) and holds_traced(a)):
                traced = True
        if not traced:
            return original(*args, **kwargs)
        try:
            return implementation(*args, **kwargs)
        except UnsupportedFunctionError:
            args, kwargs = without_cells(args), without_cells(kwargs)
            if any(holds_traced(a) for a in itertools.chain(args, kwargs.values())):
                raise
            return original(*args, **kwargs)

    return replacement


def holds_intervals(args: Sequence[Any]) -> bool:
    """Whether an interval is among arguments of `min` or `max`: several, a list of them, or an array."""
    if len(args) == 1 and isinstance(args[0], Box):
        return len(shape_of(args[0])) == 1 and is_enclosed(args[0])
    items = args[0] if len(args) == 1 and args[0].__class__ in (list, tuple) else args
    return any(isinstance(x, Traced) and is_enclosed(x) for x in items)


def extreme_of_intervals(original: Callable, of_two: Callable, of_array: Callable) -> Callable:
    """`min` or `max`: of intervals, what is between the extremes of their bounds."""

    @functools.wraps(original)
    def replacement(*args: Any, **options: Any) -> Any:
        if options or not holds_intervals(args):
            return original(*args, **options)
        return of_array(args[0]) if isinstance(args[0], Box) and len(args) == 1 else functools.reduce(
            of_two, args[0] if len(args) == 1 else args)  # fmt: skip

    return replacement


# Their results are called later, perhaps with traced values.


@replaces(np.vectorize)
def _vectorize(pyfunc: Callable, *args: Any, **kwargs: Any) -> Callable:
    return Vectorized(instrument(pyfunc), *args, **kwargs)


@replaces(np.ndenumerate)
def _ndenumerate(arr: Any) -> Any:
    if not isinstance(arr, Box):
        return np.ndenumerate(arr)
    return ((place, arr[place]) for place in np.ndindex(*arr.shape))


class _Broadcast:
    """What `np.broadcast` gives, of arrays some of which are traced."""

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = arrays
        self.shape = np.broadcast_shapes(*[a.shape for a in arrays])
        self.nd = self.ndim = len(self.shape)
        self.size, self.numiter = math.prod(self.shape), len(arrays)

    def __iter__(self) -> Any:
        return zip(*[FUNCTIONS[np.broadcast_to](a, self.shape).ravel() for a in self._arrays], strict=True)


@replaces(np.broadcast)
def _broadcast(*args: Any) -> Any:
    return _Broadcast([array(a) for a in args]) if holds_traced(args) else np.broadcast(*without_cells(args))


def _as_objects(x: Any) -> Any:
    """Elements as functions of Python's are given them: its own numbers, none of which is short."""
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "c": np.complex128}.get(dtype_of(x).kind)
    return x if wide is None or dtype_of(x) == np.uint64 else cast(x, wide)


@replaces(np.frompyfunc)
def _frompyfunc(func: Callable, /, nin: int, nout: int, **options: Any) -> Callable:
    ufunc, each = np.frompyfunc(func, nin, nout, **options), Vectorized(instrument(func), promotes=True)

    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not holds_traced(args):
            return ufunc(*args, **kwargs)
        return each(*[_as_objects(array(a)) for a in args])

    return called


def _on_numbers(assertion: Callable) -> Callable:
    """A function of `np.testing`, which looks at values only."""

    @functools.wraps(assertion)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if any(_is_unknown(a) for a in (*args, *kwargs.values())):
            raise ConcretizationError(
                f"np.testing.{assertion.__name__} looks at values that are known only when the compiled program runs",
                remedy="check what the compiled function returns",
            )
        return assertion(*[_numbers_in(a) for a in args], **{k: _numbers_in(a) for k, a in kwargs.items()})

    return replacement


def _numbers_in(x: Any) -> Any:
    if x.__class__ in (list, tuple):
        return x.__class__(_numbers_in(item) for item in x)
    return plain(x)


def _is_unknown(x: Any) -> bool:
    x = _numbers_in(x)
    return any(map(_is_unknown, x)) if x.__class__ in (list, tuple) else isinstance(x, Traced)


for _name in ("allclose", "array_equal", "almost_equal", "equal", "approx_equal", "array_almost_equal", "array_less",
              "array_max_ulp", "array_almost_equal_nulp"):  # fmt: skip
    if hasattr(np.testing, f"assert_{_name}"):
        REPLACEMENTS[getattr(np.testing, f"assert_{_name}")] = _on_numbers(getattr(np.testing, f"assert_{_name}"))


def replacement_of(f: Any) -> Any:
    """What is called for a function, class or bound method of a library, or `None`."""
    if PENDING:
        look_for_imports()
    found = REPLACEMENTS.get(f)
    if found is None and (meaning := meaning_of(f)) is not None:
        found = REPLACEMENTS[f] = _if_traced(f, meaning)
    return found
