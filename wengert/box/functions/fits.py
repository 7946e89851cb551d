"""np.polyfit, np.poly and np.poly1d: polynomials fitted to data, given by their roots, and as objects."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements, implements_blind
from wengert.box.functions.lengths import agree
from wengert.box.functions.operands import array, cast, join
from wengert.box.functions.polynomials import (
    convolve,
    polyadd,
    polyder,
    polyint,
    polymul,
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
        if ndim_of(w) != 1 or shape_of(w) != shape_of(x):
            raise TypeError("expected x and w to have same length")
        design = design * s.reshape(w, shape=(*shape_of(w), 1))
        y = y * (w if ndim_of(y) == 1 else s.reshape(w, shape=(*shape_of(w), 1)))
    if rcond is None:
        rcond = shape_of(x)[0] * np.finfo(dtype_of(x)).eps
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


@implements(np.roots)
def roots(p: Any, is_complex: bool = False) -> Any:
    """Of simple roots. Leading zeros are taken away, as NumPy does."""
    p = coefficients_of(without_zeros_written_out(p))
    if ndim_of(p) != 1:
        raise ValueError("Input must be a rank-1 array.")
    p = without_leading_zeros(p, "the polynomial of np.roots", 0.0)
    return all_roots(p, is_complex=is_complex) if shape_of(p)[0] > 1 else np.array([])


def without_zeros_written_out(c: Any) -> Any:
    """Coefficients in a list without the zeros that lead in every call."""
    if not isinstance(c, (list, tuple)):
        return c
    return [*itertools.dropwhile(lambda x: not isinstance(x, Traced) and np.ndim(x) == 0 and x == 0, c)] or [0.0]


class Poly1d:
    """`np.poly1d` with traced coefficients, highest power first."""

    coeffs: Any
    variable: Any

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None):
        if isinstance(c_or_r, (Poly1d, np.poly1d)):
            variable, c_or_r, r = variable or c_or_r.variable, c_or_r.coeffs, False
        c = coefficients_of(poly(c_or_r) if r else without_zeros_written_out(c_or_r))
        if ndim_of(c) > 1:
            raise ValueError("Polynomial must be 1d only.")
        self.coeffs = without_leading_zeros(c, "a polynomial", 0.0)
        self.variable = variable or "x"

    @property
    def c(self) -> Any:
        return self.coeffs

    coef = coefficients = c

    @property
    def order(self) -> int:
        return shape_of(self.coeffs)[0] - 1

    o = order

    @property
    def roots(self) -> Any:
        return roots(self.coeffs)

    r = roots

    def __call__(self, val: Any) -> Any:
        return _composed(self.coeffs, val)

    def deriv(self, m: int = 1) -> Poly1d:
        return Poly1d(polyder(self.coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> Poly1d:
        return Poly1d(polyint(self.coeffs, m, k))

    def __getitem__(self, power: int) -> Any:
        return index(self.coeffs, pattern=(self.order - power,)) if 0 <= power <= self.order else 0

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        missing = max(power - self.order, 0)
        place = np.arange(self.order + missing, -1, -1) == power
        self.coeffs = e.where(place, value, join([np.zeros(missing), self.coeffs], 0) if missing else self.coeffs)

    def __iter__(self) -> Iterator[Any]:
        return iter([index(self.coeffs, pattern=(k,)) for k in range(self.order + 1)])

    def __len__(self) -> int:
        return self.order

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = FUNCTIONS.get(function)
        if found is None:
            return function(*map(_other, args), **{name: _other(a) for name, a in kwargs.items()})
        return found(*[a if function in _TAKE_POLYNOMIALS else _other(a) for a in args], **kwargs)

    def __add__(self, other: Any) -> Poly1d:
        return Poly1d(polyadd(self.coeffs, _other(other)))

    def __sub__(self, other: Any) -> Poly1d:
        return Poly1d(polysub(self.coeffs, _other(other)))

    def __mul__(self, other: Any) -> Poly1d:
        return Poly1d(polymul(self.coeffs, _other(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Poly1d:
        return Poly1d(polysub(_other(other), self.coeffs))

    def __neg__(self) -> Poly1d:
        return Poly1d(-self.coeffs)

    def __pow__(self, power: int) -> Poly1d:
        found: Any = np.ones(1)
        for _ in range(power):
            found = polymul(found, self.coeffs)
        return Poly1d(found)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (Poly1d, np.poly1d)):
            return FUNCTIONS[np.polydiv](self, other)
        return Poly1d(self.coeffs / other)

    def __rtruediv__(self, other: Any) -> Any:
        return FUNCTIONS[np.polydiv](Poly1d(other), self)


_TAKE_POLYNOMIALS = (np.polyval, np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyder, np.polyint)


def _other(x: Any) -> Any:
    return x.coeffs if _is_polynomial(x) else x


def _is_polynomial(x: Any) -> bool:
    return isinstance(x, (Poly1d, np.poly1d))


def _composed(p: Any, x: Any) -> Any:
    """`np.polyval`, which takes a polynomial for x."""
    if not _is_polynomial(x):
        return polyval(_other(p), x)
    found = Poly1d(np.zeros(1))
    for c in Poly1d(p):
        found = found * x + Poly1d(c)
    return found


def _of_polynomials(function: Callable) -> Callable:
    """A function of coefficients, which gives a polynomial if it is given one."""

    @functools.wraps(function)
    def of_polynomials(*args: Any, **kwargs: Any) -> Any:
        y = function(*map(_other, args), **kwargs)
        if not any(map(_is_polynomial, args)):
            return y
        return tuple([Poly1d(part) for part in y]) if isinstance(y, tuple) else Poly1d(y)

    return of_polynomials


implements(np.polyval)(_composed)
for _function in _TAKE_POLYNOMIALS[1:]:
    implements(_function)(_of_polynomials(FUNCTIONS[_function]))
implements_blind(np.poly1d)(Poly1d)
