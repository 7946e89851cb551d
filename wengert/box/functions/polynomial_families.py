"""numpy.polynomial: six families of polynomials. Their classes, and functions that are not here, are followed as
programs (`packages.py`).

A family is a recurrence, p₀ = 1 and pₙ₊₁ = (Aₙ x + Bₙ) pₙ − Cₙ pₙ₋₁, which gives Clenshaw's rule for values and the
Vandermonde matrix for fits. What is linear in coefficients (derivatives, integrals, products) is asked of NumPy for
unit vectors, and applied as a constant matrix.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import _polybase, chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils

from wengert.box.dispatch import implements, implements_blind
from wengert.box.functions.fits import coefficients_of, fitted, samples
from wengert.box.functions.operands import array, join, stacked
from wengert.box.functions.polynomials import convolve
from wengert.box.functions.shapes import moveaxis
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.products import einsum, matmul
from wengert.types import dtype_of, ndim_of, shape_of

# ----------------------------------------------------------------------------------------------------- numpy.polynomial


class Family(NamedTuple):
    """A family of polynomials: NumPy's module for it, how its functions' names begin, and its recurrence."""

    module: ModuleType
    prefix: str
    cls: Any
    recurrence: Callable[[int], tuple[float, float, float]]

    def function(self, name: str) -> Callable:
        return getattr(self.module, self.prefix + name)


FAMILIES = [
    Family(polynomial, "poly", polynomial.Polynomial, lambda n: (1.0, 0.0, 0.0)),
    Family(chebyshev, "cheb", chebyshev.Chebyshev, lambda n: (2.0 if n else 1.0, 0.0, 1.0)),
    Family(legendre, "leg", legendre.Legendre, lambda n: ((2 * n + 1) / (n + 1), 0.0, n / (n + 1))),
    Family(hermite, "herm", hermite.Hermite, lambda n: (2.0, 0.0, 2.0 * n)),
    Family(hermite_e, "herme", hermite_e.HermiteE, lambda n: (1.0, 0.0, float(n))),
    Family(laguerre, "lag", laguerre.Laguerre, lambda n: (-1 / (n + 1), (2 * n + 1) / (n + 1), n / (n + 1))),
]


def _value(family: Family, x: Any, c: Any, tensor: bool = True) -> Any:
    """Clenshaw's rule. The argument may be a polynomial, which has operators of its own."""
    x, c = x if isinstance(x, _polybase.ABCPolyBase) else array(x), coefficients_of(c)
    if tensor and not isinstance(x, _polybase.ABCPolyBase):
        c = s.reshape(c, shape=shape_of(c) + (1,) * ndim_of(x))
    n = shape_of(c)[0]
    after: Any = 0.0
    later: Any = 0.0
    for k in range(n - 1, -1, -1):
        a, b, _ = family.recurrence(k)
        own = index(c, pattern=(k,))
        if k == n - 1:
            now = own
        else:
            slope = x if (a, b) == (1.0, 0.0) else a * x + b if b else a * x
            now = own + slope * after
        if k < n - 2 and (factor := family.recurrence(k + 1)[2]):
            now = now - factor * later
        after, later = now, after
    return after if n > 1 else after + x * 0.0


def _vander(family: Family, x: Any, deg: int) -> Any:
    x = coefficients_of(x)
    columns = [x * 0.0 + 1.0]
    for n in range(int(deg)):
        a, b, c = family.recurrence(n)
        new = (a * x + b) * columns[-1]
        columns.append(new - c * columns[-2] if n and c else new)
    return stacked(columns, -1)


def _along_axis(matrix: np.ndarray, c: Any, axis: int) -> Any:
    c = moveaxis(coefficients_of(c), axis, 0)
    n, *rest = shape_of(c)
    lanes = s.reshape(c, shape=(n, math.prod(rest)))
    y = s.reshape(matmul(matrix.astype(dtype_of(c)), lanes), shape=(matrix.shape[0], *rest))
    return moveaxis(y, 0, axis)


def _derivative(family: Family, c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    n = shape_of(coefficients_of(c))[axis]
    y = _along_axis(family.function("der")(np.eye(n), m), c, axis)
    return y if isinstance(scl, int) and scl == 1 else y * scl**m


def _antiderivative(family: Family, c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """Integrated m times, each time with a constant that makes it the next k at `lbnd`."""
    constants = list(k) if np.iterable(k) else [k]
    if operator.index(m) < 0 or len(constants) > m:
        return family.function("int")(np.zeros(1), m, [0] * len(constants))  # which says what is wrong
    c = moveaxis(coefficients_of(c), axis, 0)
    for constant in (*constants, *[0] * (m - len(constants))):
        n, *rest = shape_of(c)
        c = _along_axis(family.function("int")(np.eye(n)), c, 0) * scl
        lowest = np.reshape(np.arange(n + 1) == 0, (n + 1, *[1] * len(rest)))
        c = c + lowest * (constant - _value(family, lbnd, c))
    return moveaxis(c, 0, axis)


def _padded(c: Any, n: int) -> Any:
    missing = n - shape_of(c)[0]
    return join([c, np.zeros(missing, dtype_of(c))], 0) if missing else c


def _combined(op: Any, family: Family, c1: Any, c2: Any) -> Any:
    c1, c2 = coefficients_of(c1), coefficients_of(c2)
    n = max(shape_of(c1)[0], shape_of(c2)[0])
    return op(_padded(c1, n), _padded(c2, n))


@functools.lru_cache(maxsize=64)
def _products(prefix: str, n: int, m: int) -> np.ndarray:
    """The product of each two basis polynomials, in the basis."""
    family = next(f for f in FAMILIES if f.prefix == prefix)
    table = np.zeros((n, m, n + m - 1))
    for i, j in np.ndindex(n, m):
        found = family.function("mul")(np.eye(n)[i][: i + 1], np.eye(m)[j][: j + 1])
        table[i, j, : len(found)] = found
    return table


def _multiplied(family: Family, c1: Any, c2: Any) -> Any:
    c1, c2 = coefficients_of(c1), coefficients_of(c2)
    if family.prefix == "poly":
        return convolve(c1, c2)
    table = _products(family.prefix, shape_of(c1)[0], shape_of(c2)[0])
    return einsum(c1, c2, table, subscripts="i,j,ijk->k")


def _fit(family: Family, x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    x, y = samples(x, y)
    if np.ndim(deg):
        raise UnsupportedFunctionError("a fit of chosen degrees to traced data", remedy="pass one integer as deg")
    c, residuals, rank, values, rcond, _, _ = fitted(_vander(family, x, deg), x, y, w, rcond)
    if not full and rank != int(deg) + 1:
        warnings.warn("The fit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    return (c, [residuals, rank, values, rcond]) if full else c


def _line(family: Family, off: Any, scl: Any) -> Any:
    """off + scl · x, with two coefficients also where NumPy leaves out a scl of zero."""
    return array(off) * np.array([1.0, 0.0]) + array(scl) * family.function("line")(0, 1)


def _power(family: Family, c: Any, pow: Any, maxpower: Any = None) -> Any:
    n = operator.index(pow)
    if n < 0 or (maxpower is not None and n > maxpower):
        raise ValueError("Power must be a non-negative integer." if n < 0 else "Power is too large")
    found: Any = np.ones(1)
    for _ in range(n):
        found = _multiplied(family, found, c)
    return found


@implements_blind(polyutils.trimseq)
def _untrimmed(seq: Any) -> Any:
    """Trailing zeros that are traced have derivatives, and their number no program can know that is compiled."""
    return seq


def _of_degree(constants: Callable, degree: Any) -> Any:
    return constants(operator.index(degree))


def _register(family: Family) -> None:
    def bound(function: Callable) -> Callable:
        return functools.partial(function, family)

    table: dict[str, Callable] = {
        "val": _value, "vander": _vander, "der": _derivative, "int": _antiderivative, "mul": _multiplied, "fit": _fit,
        "pow": _power, "line": _line,
    }  # fmt: skip
    for name, function in table.items():
        implements_blind(family.function(name))(bound(function))
    implements_blind(family.function("add"))(functools.partial(_combined, e.add, family))
    implements_blind(family.function("sub"))(functools.partial(_combined, e.subtract, family))

    def at_points(*args: Any) -> Any:
        *points, c = args
        c = _value(family, points[0], c)
        for x in points[1:]:
            c = _value(family, x, c, tensor=False)
        return c

    def on_grid(*args: Any) -> Any:
        *points, c = args
        for x in points:
            c = _value(family, x, c)
        return c

    for name in (family.prefix + "gauss", "chebpts1", "chebpts2"):
        constants = getattr(family.module, name, None)
        if constants is not None:  # nodes and weights: nothing of the program's is in them
            implements_blind(constants)(functools.partial(_of_degree, constants))

    for rank in ("2d", "3d"):
        for register in (implements, implements_blind):  # of the first family NumPy's functions dispatch
            register(family.function("val" + rank))(at_points)
            register(family.function("grid" + rank))(on_grid)


for _family in FAMILIES:
    _register(_family)
