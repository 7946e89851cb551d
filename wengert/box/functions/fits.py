"""np.polyfit, np.poly and np.poly1d: polynomials fitted to data, given by their roots, and as objects."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.dispatch import FUNCTIONS, OPERANDS, implements, implements_blind
from wengert.box.functions.lengths import agree, most
from wengert.box.functions.operands import answer, array, cast, join
from wengert.box.functions.polynomials import (
    convolve,
    polyadd,
    polyder,
    polydiv,
    polyint,
    polysub,
    polyval,
    without_leading_zeros,
)
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.roots import roots as all_roots
from wengert.types import dtype_of, ndim_of, shape_of


def coefficients_of(c: Any) -> Any:
    """A sequence of numbers, or a polynomial, as a floating array; one number is a sequence of one."""
    c = array(getattr(c, "coeffs", c))
    if ndim_of(c) == 0:
        c = s.reshape(c, shape=(1,))
    return c if dtype_of(c).kind in "fc" else cast(c, np.float64)


# ---------------------------------------------------------------------------------------------------------------- fits


def fitted(design: Any, x: Any, y: Any, w: Any, rcond: Any) -> tuple[Any, ...]:
    """The weighted least squares problem with columns scaled to length one, as NumPy does."""
    if w is not None:
        w = coefficients_of(w)
        agree(shape_of(w), shape_of(x), TypeError, "expected x and w to have same length")
        design = design * s.reshape(w, shape=(*shape_of(w), 1))
        y = y * (w if ndim_of(y) == 1 else s.reshape(w, shape=(*shape_of(w), 1)))
    if rcond is None:
        rcond = most(shape_of(x)[0]) * np.finfo(dtype_of(x)).eps
    scale = e.sqrt(s.sum(design * design, axis=(0,)))
    scale = e.where(e.equal(scale, 0), 1, scale)
    design = design / scale
    c, residuals, rank, values = FUNCTIONS[np.linalg.lstsq](design, y, rcond)
    c = c / (scale if ndim_of(c) == 1 else s.reshape(scale, shape=(*shape_of(scale), 1)))
    return c, residuals, rank, values, rcond, design, scale


def samples(x: Any, y: Any) -> tuple[Any, Any]:
    """The data of a fit."""
    x, y = coefficients_of(x), coefficients_of(y)
    if ndim_of(x) != 1 or not shape_of(x)[0]:
        raise TypeError("expected 1D, non-empty vector for x")
    if not 1 <= ndim_of(y) <= 2:
        raise TypeError("expected 1D or 2D array for y")
    agree(shape_of(x), shape_of(y)[:1], TypeError, "expected x and y to have same length")
    return x, y


@implements(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    x, y = samples(x, y)
    order = int(deg) + 1
    if order < 1:
        raise ValueError("expected deg >= 0")
    c, residuals, rank, values, rcond, design, scale = fitted(FUNCTIONS[np.vander](x, order), x, y, w, rcond)
    if full:
        return c, residuals, rank, values, rcond
    if not isinstance(rank, Traced) and rank != order:  # compiled code warns of nothing
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return c
    base = FUNCTIONS[np.linalg.inv](matmul(s.transpose(design, axes=(1, 0)), design))
    base = base / (s.reshape(scale, shape=(order, 1)) * scale)
    if cov != "unscaled":
        if shape_of(x)[0] <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        if any(n.__class__ is not int for n in shape_of(residuals)):  # what is empty for a deficient matrix
            residuals = s.reshape(residuals, shape=(1,) if ndim_of(y) == 1 else shape_of(y)[1:])
        factor = residuals / (shape_of(x)[0] - order)
        base = base * factor if ndim_of(y) == 1 else s.reshape(base, shape=(order, order, 1)) * factor
    return c, base


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    roots = coefficients_of(seq_of_zeros)
    if ndim_of(roots) == 2 and shape_of(roots)[0] == shape_of(roots)[1]:
        return _characteristic(roots)
    if ndim_of(roots) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    one = np.ones(1, dtype_of(roots))
    found: Any = one
    for k in range(shape_of(roots)[0]):
        found = convolve(found, join([one, -index(roots, pattern=(slice(k, k + 1),))], 0))
    return found


_LEVERRIER = 12
"""Up to this size the coefficients lose few digits."""


def _characteristic(a: Any) -> Any:
    """The characteristic polynomial, by the algorithm of Faddeev and LeVerrier: a polynomial in the elements, so that
    repeated eigenvalues are no matter."""
    n = shape_of(a)[0]
    if n > _LEVERRIER:
        whole = poly(FUNCTIONS[np.linalg.eigvals](a))
        return whole if dtype_of(a).kind == "c" else s.real(whole)  # (complex eigenvalues come in pairs)
    eye = np.eye(n, dtype=dtype_of(a))
    found: list[Any] = [np.ones(1, dtype_of(a))]
    m: Any = eye
    for k in range(1, n + 1):
        product = matmul(a, m)
        c = s.sum(product * eye) * (-1 / k)
        found.append(s.reshape(c, shape=(1,)))
        m = product + c * eye
    return join(found, 0)


_POLISHED = 4
"""So many steps of Newton's method give the derivatives of roots to order fifteen."""


@implements(np.roots)
def roots(p: Any, is_complex: bool = False) -> Any:
    """Of simple roots. Leading zeros are taken away, as NumPy does."""
    p = coefficients_of(without_zeros_written_out(p))
    if ndim_of(p) != 1:
        raise ValueError("Input must be a rank-1 array.")
    short = without_leading_zeros(p, "the polynomial of np.roots", 0.0)
    found = all_roots(short, is_complex=is_complex) if shape_of(short)[0] > 1 else np.array([])
    if shape_of(short) == shape_of(p) or not isinstance(p, Traced):
        return found
    # Zeros in front move the other roots. Newton's method changes nothing but derivatives, twice as many each time.
    better = found
    for _ in range(_POLISHED):
        better = better - polyval(p, better) / polyval(polyder(p), better)
    return better + e.stop_gradient(found - better)


def without_zeros_written_out(c: Any) -> Any:
    """Coefficients in a list without the zeros that lead in every call."""
    if not isinstance(c, (list, tuple)):
        return c
    return [*itertools.dropwhile(lambda x: not isinstance(x, Traced) and np.ndim(x) == 0 and x == 0, c)] or [0.0]


class Poly1d(Holder):
    """`np.poly1d` with traced coefficients, highest power first.

    NumPy leaves out zeros in front. They have derivatives, so they are kept here, and left out where coefficients are
    asked for.
    """

    all: Any
    variable: Any
    __class__ = property(lambda self: np.poly1d)  # as `isinstance` asks

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None):
        if isinstance(c_or_r, (Poly1d, np.poly1d)):
            variable, c_or_r, r = variable or c_or_r.variable, _other(c_or_r), False
        c = coefficients_of(poly(c_or_r) if r else without_zeros_written_out(c_or_r))
        if ndim_of(c) > 1:
            raise ValueError("Polynomial must be 1d only.")
        self.all = c if shape_of(c)[0] else np.zeros(1)
        self.variable = variable or "x"

    @property
    def coeffs(self) -> Any:
        return without_leading_zeros(self.all, "a polynomial", 0.0)

    @coeffs.setter
    def coeffs(self, c: Any) -> None:
        self.all = c

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        return shape_of(self.coeffs)[0] - 1

    o = order

    @property
    def roots(self) -> Any:
        return roots(self.all)

    r = roots

    def __call__(self, val: Any) -> Any:
        return _composed(self.all, val)

    def deriv(self, m: int = 1) -> Poly1d:
        return Poly1d(polyder(self.all, m))

    def integ(self, m: int = 1, k: Any = 0) -> Poly1d:
        return Poly1d(polyint(self.all, m, k))

    def __getitem__(self, power: int) -> Any:
        highest = shape_of(self.all)[0] - 1
        return index(self.all, pattern=(highest - power,)) if 0 <= power <= highest else 0

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        count = shape_of(self.all)[0]
        missing = max(power + 1 - count, 0)
        place = np.arange(count + missing - 1, -1, -1) == power
        self.all = e.where(place, value, join([np.zeros(missing), self.all], 0) if missing else self.all)

    def __iter__(self) -> Iterator[Any]:
        coefficients = self.coeffs
        return iter([index(coefficients, pattern=(k,)) for k in range(shape_of(coefficients)[0])])

    def __len__(self) -> int:
        return self.order

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = FUNCTIONS.get(function)
        if found is None:
            return function(*map(_other, args), **{name: _other(a) for name, a in kwargs.items()})
        return found(*[a if function in _TAKE_POLYNOMIALS else _other(a) for a in args], **kwargs)

    def __add__(self, other: Any) -> Poly1d:
        return Poly1d(polyadd(self.all, _other(other)))

    def __sub__(self, other: Any) -> Poly1d:
        return Poly1d(polysub(self.all, _other(other)))

    def __mul__(self, other: Any) -> Poly1d:
        return Poly1d(convolve(self.all, _other(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Poly1d:
        return Poly1d(polysub(_other(other), self.all))

    def __neg__(self) -> Poly1d:
        return Poly1d(-self.all)

    def __pos__(self) -> Poly1d:
        return self

    def __eq__(self, other: Any) -> Any:
        if not _is_polynomial(other):
            return NotImplemented
        return bool(FUNCTIONS[np.array_equal](self.coeffs, Poly1d(other).coeffs))

    def __pow__(self, power: int) -> Poly1d:
        found: Any = np.ones(1)
        for _ in range(power):
            found = convolve(found, self.all)
        return Poly1d(found)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (Poly1d, np.poly1d)):
            return FUNCTIONS[np.polydiv](self, other)
        return Poly1d(self.all / other)

    def __rtruediv__(self, other: Any) -> Any:
        if np.ndim(_other(other)):
            return FUNCTIONS[np.polydiv](Poly1d(other), self)
        return Poly1d(other / self.coeffs)

    def __str__(self) -> str:
        return answer(lambda c: str(np.poly1d(c)), self.coeffs)

    def __repr__(self) -> str:
        return answer(lambda c: repr(np.poly1d(c)), self.coeffs)


def lagrange(x: Any, w: Any) -> Poly1d:
    """The polynomial through data, as scipy.interpolate.lagrange puts it together."""
    x, w = array(x), array(w)
    at = lambda values, k: index(values, pattern=(k,))
    found = Poly1d(np.zeros(1))
    for j in range(shape_of(x)[0]):
        term = Poly1d(at(w, j))
        for k in range(shape_of(x)[0]):
            if k != j:
                term = term * Poly1d([1.0, -at(x, k)]) / (at(x, j) - at(x, k))
        found = found + term
    return found


_TAKE_POLYNOMIALS = (np.polyval, np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyder, np.polyint)


def _other(x: Any) -> Any:
    return x.all if isinstance(x, Poly1d) else x.coeffs if isinstance(x, np.poly1d) else x


def _is_polynomial(x: Any) -> bool:
    return isinstance(x, (Poly1d, np.poly1d))


def _composed(p: Any, x: Any) -> Any:
    """`np.polyval`, which takes a polynomial for x."""
    if not _is_polynomial(x):
        return polyval(_other(p), x)
    found = Poly1d(np.zeros(1))
    coefficients = Poly1d(p).all
    for k in range(shape_of(coefficients)[0]):
        found = found * x + Poly1d(index(coefficients, pattern=(k,)))
    return found


def _of_polynomials(function: Callable) -> Callable:
    """A function of coefficients, which gives a polynomial if it is given one."""

    @functools.wraps(function)
    def of_polynomials(*args: Any, **kwargs: Any) -> Any:
        taken = [_other(a) for a in args]
        if function is polydiv and isinstance(args[1], Poly1d):
            taken[1] = args[1].coeffs
        y = function(*taken, **kwargs)
        if not any(map(_is_polynomial, args)):
            return y
        return tuple([Poly1d(part) for part in y]) if isinstance(y, tuple) else Poly1d(y)

    return of_polynomials


implements(np.polyval)(_composed)
for _function in _TAKE_POLYNOMIALS[1:]:
    implements(_function)(_of_polynomials(FUNCTIONS[_function]))
implements_blind(np.poly1d)(Poly1d)


def _with_polynomial(op: Any, x: Any, y: Any) -> Any:
    """An operator between a traced value and a polynomial: for NumPy's numbers a polynomial is its coefficients."""
    if any(isinstance(v, Traced) and v._is_python_number for v in (x, y)):  # type: ignore[attr-defined]
        return NotImplemented
    return op(*[v.coeffs if _is_polynomial(v) else v for v in (x, y)])


OPERANDS[np.poly1d] = OPERANDS[Poly1d] = _with_polynomial
