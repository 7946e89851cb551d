"""numpy.polynomial: six families of polynomials, as functions and as objects.

A family is a recurrence, p₀ = 1 and pₙ₊₁ = (Aₙ x + Bₙ) pₙ − Cₙ pₙ₋₁, which gives Clenshaw's rule for values and the
Vandermonde matrix for fits. What is linear in coefficients (derivatives, integrals, products) is asked of NumPy for
unit vectors, and applied as a constant matrix.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from wengert.box.contents import Holder
from wengert.box.dispatch import CALLABLES, FUNCTIONS, implements, implements_blind
from wengert.box.functions.fits import coefficients_of, fitted, samples
from wengert.box.functions.operands import answer, array, join, stacked
from wengert.box.functions.polynomials import convolve
from wengert.errors import UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
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
    """Clenshaw's rule."""
    x, c = array(x), coefficients_of(c)
    if tensor:
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
    c = coefficients_of(c)
    n = ndim_of(c)
    axis = axis % n
    order = (axis, *[k for k in range(n) if k != axis])
    rest = [shape_of(c)[k] for k in order[1:]]
    lanes = s.reshape(s.transpose(c, axes=order), shape=(shape_of(c)[axis], math.prod(rest)))
    y = s.reshape(matmul(matrix.astype(dtype_of(c)), lanes), shape=(matrix.shape[0], *rest))
    return s.transpose(y, axes=tuple(np.argsort(order).tolist()))


def _derivative(family: Family, c: Any, m: int = 1, scl: float = 1, axis: int = 0) -> Any:
    n = shape_of(coefficients_of(c))[axis]
    return _along_axis(family.function("der")(np.eye(n), m, scl), c, axis)


def _antiderivative(
    family: Family, c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: float = 1, axis: int = 0
) -> Any:
    c = coefficients_of(c)
    constants = coefficients_of(k if ndim_of(k) else [k])
    integrate = family.function("int")
    n = shape_of(c)[axis]
    y = _along_axis(integrate(np.eye(n), m, [], lbnd, scl), c, axis)
    if shape_of(constants)[0]:
        if ndim_of(c) > 1:
            raise UnsupportedFunctionError("constants of integration of several polynomials", remedy="add them later")
        units = np.stack([integrate(np.zeros(n), m, row, lbnd, scl) for row in np.eye(m)[: shape_of(constants)[0]]])
        units = np.pad(units, ((0, 0), (0, max(0, n + m - units.shape[1]))))
        y = y + matmul(constants, units[:, : n + m])
    return y


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


class PolynomialSeries(Holder):
    """An object of numpy.polynomial (`Polynomial`, `Chebyshev`, …) with traced coefficients, or at a traced point."""

    family: Family

    def __init__(self, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x", *, family: Family):
        self.family = family
        self.coef = coefficients_of(coef)
        self.domain = np.array(family.cls.domain) if domain is None else array(domain)
        self.window = np.array(family.cls.window) if window is None else array(window)
        self.symbol = symbol

    def mapparms(self) -> tuple[Any, Any]:
        """Offset and scale of the map from domain to window."""
        (a, b), (c, d) = ([index(v, pattern=(k,)) for k in (0, 1)] for v in (self.domain, self.window))
        return (b * c - a * d) / (b - a), (d - c) / (b - a)

    def _with(self, coef: Any) -> PolynomialSeries:
        return PolynomialSeries(coef, self.domain, self.window, self.symbol, family=self.family)

    def degree(self) -> int:
        return shape_of(self.coef)[0] - 1

    def __len__(self) -> int:
        return shape_of(self.coef)[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([index(self.coef, pattern=(k,)) for k in range(len(self))])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self.family.cls, name):
            raise AttributeError(f"{self.family.cls.__name__!r} object has no attribute {name!r}")
        raise UnsupportedFunctionError(
            f"{self.family.cls.__name__}.{name} of traced coefficients", remedy="compute with p.coef, its coefficients"
        )

    def copy(self) -> PolynomialSeries:
        return self._with(self.coef)

    def truncate(self, size: int) -> PolynomialSeries:
        if size < 1:
            raise ValueError("size must be a positive integer")
        return self._with(index(self.coef, pattern=(slice(0, size),)))

    def cutdeg(self, deg: int) -> PolynomialSeries:
        return self.truncate(deg + 1)

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> PolynomialSeries:
        """As a series of another family, or over another domain: that is linear in the coefficients."""
        family = self.family if kind is None else next(f for f in FAMILIES if f.cls is kind)
        if any(isinstance(x, Traced) for x in (self.domain, self.window, domain, window)):
            raise UnsupportedFunctionError(
                "converting a polynomial with a traced domain", remedy="map its argument yourself, p((t - a) / (b - a))"
            )
        n = len(self)
        units = [self.family.cls(row, self.domain, self.window) for row in np.eye(n)]
        found = [unit.convert(domain, family.cls, window) for unit in units]
        matrix = np.stack([np.pad(p.coef, (0, n - len(p.coef))) for p in found], axis=1)
        new = found[0]
        return PolynomialSeries(matmul(matrix, self.coef), new.domain, new.window, self.symbol, family=family)

    def __call__(self, arg: Any) -> Any:
        offset, scale = self.mapparms()
        return _value(self.family, offset + scale * array(arg), self.coef)

    def deriv(self, m: int = 1) -> PolynomialSeries:
        c = self.coef
        for _ in range(m):
            c = _derivative(self.family, c) * self.mapparms()[1]
        return self._with(c)

    def integ(self, m: int = 1, k: Any = (), lbnd: Any = None) -> PolynomialSeries:
        offset, scale = self.mapparms()
        bound = 0 if lbnd is None else offset + scale * lbnd
        if isinstance(scale, Traced) or isinstance(bound, Traced):
            raise UnsupportedFunctionError(
                "the antiderivative of a polynomial with a traced domain or bound", remedy="subtract its value there"
            )
        return self._with(_antiderivative(self.family, self.coef, m, k, bound, 1.0 / scale))

    def _other(self, other: Any) -> Any:
        if not isinstance(other, (PolynomialSeries, self.family.cls)):
            return other
        same = answer(lambda *v: bool(np.all(v[0] == v[1]) and np.all(v[2] == v[3])),
                      self.domain, array(other.domain), self.window, array(other.window))  # fmt: skip
        if not same or (isinstance(other, PolynomialSeries) and other.family is not self.family):
            raise TypeError("Domains, windows or families differ")
        return other.coef

    def __add__(self, other: Any) -> PolynomialSeries:
        return self._with(_combined(e.add, self.family, self.coef, self._other(other)))

    def __sub__(self, other: Any) -> PolynomialSeries:
        return self._with(_combined(e.subtract, self.family, self.coef, self._other(other)))

    def __rsub__(self, other: Any) -> PolynomialSeries:
        return self._with(_combined(e.subtract, self.family, self._other(other), self.coef))

    def __mul__(self, other: Any) -> PolynomialSeries:
        return self._with(_multiplied(self.family, self.coef, self._other(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> PolynomialSeries:
        return self._with(self.coef / other)

    def __neg__(self) -> PolynomialSeries:
        return self._with(-self.coef)

    def __pow__(self, power: int) -> PolynomialSeries:
        c: Any = np.ones(1)
        for _ in range(power):
            c = _multiplied(self.family, c, self.coef)
        return self._with(c)


def _fit_object(
    family: Family, x: Any, y: Any, deg: Any, domain: Any = None, rcond: Any = None, full: bool = False, w: Any = None,
    window: Any = None, symbol: str = "x",
) -> Any:  # fmt: skip
    x = coefficients_of(x)
    if domain is None:
        low, high = FUNCTIONS[np.min](x), FUNCTIONS[np.max](x)
        domain = stacked([low, high], 0)
    elif isinstance(domain, list) and not domain:
        domain = family.cls.domain
    made = PolynomialSeries(np.zeros(1), domain, window, symbol, family=family)
    offset, scale = made.mapparms()
    found = _fit(family, offset + scale * x, y, deg, rcond, full, w)
    return (made._with(found[0]), found[1]) if full else made._with(found)


def _register(family: Family) -> None:
    def bound(function: Callable) -> Callable:
        return functools.partial(function, family)

    table: dict[str, Callable] = {
        "val": _value, "vander": _vander, "der": _derivative, "int": _antiderivative, "mul": _multiplied, "fit": _fit,
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

    for rank in ("2d", "3d"):
        for register in (implements, implements_blind):  # of the first family NumPy's functions dispatch
            register(family.function("val" + rank))(at_points)
            register(family.function("grid" + rank))(on_grid)
    implements_blind(family.cls)(functools.partial(PolynomialSeries, family=family))
    implements_blind(family.cls.fit)(bound(_fit_object))

    def instead(p: Any) -> Callable:
        def called(arg: Any) -> Any:
            if isinstance(arg, Traced):
                return PolynomialSeries(p.coef, p.domain, p.window, family=family)(arg)
            return p(arg)

        return called

    CALLABLES[family.cls] = instead


for _family in FAMILIES:
    _register(_family)
