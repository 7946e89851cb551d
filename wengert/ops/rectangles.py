"""Enclosures of complex numbers: rectangles, whose bounds are their lower left and upper right corners.

    1 + 2j ≤ z ≤ 3 + 5j        stands for        1 ≤ x ≤ 3 and 2 ≤ y ≤ 5,   z = x + iy

So a complex interval has two bounds like any other, and what only moves elements does that to the bounds. All else is
stated here in real and imaginary parts, written in ops, whose real enclosures are known:

    exp(x + iy) = eˣ cos y + i eˣ sin y

Ops that are linear treat both parts alike; a product has four terms. The reciprocal of a rectangle is enclosed as
narrowly as can be: c/(c² + d²) has its extremes at corners, at d = 0, and at c = ±d (Rokne and Lancaster 1971).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops.derive import Linear, Multilinear
from wengert.ops.enclosures import ON_BOUNDS, hull
from wengert.ops.op import Op, Traced
from wengert.ops.rounding import Bounds, V, choose, rounded_number
from wengert.types import dtype_of, shape_of


class ComplexParts(NamedTuple):
    """Real and imaginary part; the latter is None for a real number."""

    re: Any
    im: Any

    @property
    def imag(self) -> Any:
        if self.im is not None:
            return self.im
        return np.zeros(shape_of(self.re), dtype_of(self.re)) if shape_of(self.re) else 0.0


def concerns(op: Op, args: Sequence[Any], params: dict) -> bool:
    """Whether an op computes with complex numbers, or gives them."""
    if op.name in COMPLEX_OF_REAL or (op.name == "astype" and np.dtype(params["dtype"]).kind == "c"):
        return True
    return any(a.__class__ is not float and dtype_of(a).kind == "c" for a in args[: op.data_count(tuple(args), params)])


def enclosed(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """The enclosure of an op of complex numbers."""
    data = op.data_count(args, params)
    rule = RULES.get(op.name)
    if rule is None and op.moves:
        return ON_BOUNDS(mode, op, args, params)
    if rule is None and op.name in _COMPOSED:
        assert op.bounds is not None
        return op.bounds(mode, op, args, params)
    xs, rest = [parts(mode, a) for a in args[:data]], args[data:]
    if rule is not None:
        y = rule(*xs, *rest, **params)
    elif isinstance(op, Multilinear):
        y = _expanded(op, xs, rest, params)
    elif isinstance(op, Linear):
        y = ComplexParts(op(*[x.re for x in xs], *rest, **params), op(*[x.imag for x in xs], *rest, **params))
    else:
        raise UnsupportedFunctionError(
            f"no enclosure is known of {op.name} of complex numbers",
            remedy="compute real and imaginary parts by themselves",
        )
    return joined(mode, y) if y.__class__ is ComplexParts else y


def parts(mode: Any, x: Any) -> ComplexParts:
    """Real and imaginary part of anything."""
    if x.__class__ is float or dtype_of(x).kind != "c":
        return ComplexParts(x, None)
    if not mode.owns(x):
        return ComplexParts(V.real(x), V.imag(x))
    low, high = mode.bounds(x)
    return ComplexParts(*[mode.enclosed(Bounds(part(low), part(high))) for part in (V.real, V.imag)])


def joined(mode: Any, z: ComplexParts) -> Any:
    """A complex interval with these parts; what is empty in one of them is."""
    if not any(mode.owns(x) for x in z):
        return V.add(z.re, V.multiply(z.imag, 1j))
    x, y = mode.bounds(z.re), mode.bounds(z.imag)
    return mode.enclosed(Bounds(_corner(x.lo, y.lo, -math.inf), _corner(x.hi, y.hi, math.inf)))


def _corner(x: Any, y: Any, end: float) -> Any:
    """x + iy, also if one of them is infinite, which a program need not know: in compiled code both are then."""
    if not isinstance(x, Traced) and not isinstance(y, Traced):
        x, y = np.broadcast_arrays(x, y)
        wide = np.result_type(x, y)
        made = np.empty(x.shape, np.complex64 if wide == np.float32 else complex)
        made.real, made.imag = x, y
        made[np.isnan(x) | np.isnan(y)] = complex(math.nan, math.nan)
        return made[()]
    finite = V.logical_and(V.isfinite(x), V.isfinite(y))
    made = V.add(V.where(finite, x, 0.0), V.multiply(V.where(finite, y, 0.0), 1j))
    dtype = dtype_of(made).type
    empty = V.logical_or(V.isnan(x), V.isnan(y))
    beyond = V.where(empty, dtype(complex(math.nan, math.nan)), dtype(complex(end, end)))
    return V.where(finite, made, beyond)


# ----------------------------------------------------------------------------------------------- linear in each operand


def _expanded(op: Op, xs: Sequence[ComplexParts], rest: tuple, params: dict) -> ComplexParts:
    """A product: the terms with an even number of imaginary parts, and those with an odd one."""
    found: list[Any] = [None, None]
    for which in itertools.product((0, 1), repeat=len(xs)):
        chosen = [x[k] for x, k in zip(xs, which, strict=True)]
        if any(x is None for x in chosen):
            continue
        count = sum(which)
        term, place = op(*chosen, *rest, **params), count % 2
        if found[place] is None:
            found[place] = V.negative(term) if count % 4 > 1 else term
        else:
            found[place] = (V.subtract if count % 4 > 1 else V.add)(found[place], term)
    return ComplexParts(*found)


def _added(x: ComplexParts, y: ComplexParts) -> ComplexParts:
    im = y.im if x.im is None else x.im if y.im is None else V.add(x.im, y.im)
    return ComplexParts(V.add(x.re, y.re), im)


def _negated(x: ComplexParts) -> ComplexParts:
    return ComplexParts(V.negative(x.re), None if x.im is None else V.negative(x.im))


def _times(x: ComplexParts, y: ComplexParts) -> ComplexParts:
    return _expanded(V.multiply, (x, y), (), {})


def _square(x: ComplexParts) -> ComplexParts:
    return ComplexParts(V.subtract(V.square(x.re), V.square(x.im)), V.multiply(V.multiply(x.re, x.im), 2.0))


def _reciprocal(x: ComplexParts) -> ComplexParts:
    return ComplexParts(_quotient_part(x.re, x.im), V.negative(_quotient_part(x.im, x.re)))


def _quotient_part(c: Any, d: Any) -> Any:
    """c/(c² + d²) for all pairs of numbers in two intervals."""
    if not isinstance(c, Traced) and not isinstance(d, Traced):
        return V.divide(c, V.add(V.square(c), V.square(d)))
    mode: Any = (c if isinstance(c, Traced) else d)._owner
    c, d = mode.bounds(c), mode.bounds(d)
    point = lambda x: mode.enclosed(Bounds(x, x))
    within = lambda x, y: V.logical_and(V.less_equal(x.lo, y), V.less_equal(y, x.hi))
    nearest = choose(within(d, 0.0), V.multiply(d.lo, 0.0), d.lo)
    found = []
    for b in (d.lo, d.hi, nearest):
        for a in c:
            found.append(mode.bounds(V.divide(point(a), V.add(V.square(point(a)), V.square(point(b))))))
        size = V.absolute(b)
        half = mode.bounds(V.divide(0.5, point(size)))
        for way, peak in ((1, half), (-1, Bounds(V.negative(half.hi), V.negative(half.lo)))):
            at = within(c, V.multiply(size, float(way)))
            found.append(Bounds(choose(at, peak.lo, math.nan), choose(at, peak.hi, math.nan)))
    low, high = hull(*found)
    origin = V.logical_and(within(c, 0.0), within(d, 0.0))
    low, high = choose(origin, -math.inf, low), choose(origin, math.inf, high)
    nothing = V.logical_or(V.isnan(c.lo), V.isnan(d.lo))
    alone = V.logical_and(origin, V.logical_and(_is_zero(c), _is_zero(d)))  # of zero there is no reciprocal
    nothing = V.logical_or(nothing, alone)
    if mode.watches:
        mode.note_break(origin)
    return mode.enclosed(Bounds(choose(nothing, math.nan, low), choose(nothing, math.nan, high)))


def _is_zero(x: Bounds) -> Any:
    return V.logical_and(V.equal(x.lo, 0), V.equal(x.hi, 0))


def _divided(x: ComplexParts, y: ComplexParts) -> ComplexParts:
    if y.im is None:
        return ComplexParts(V.divide(x.re, y.re), V.divide(x.imag, y.re))
    return _times(x, _reciprocal(y))


# ------------------------------------------------------------------------------------------------- elementary functions


def _exp(z: ComplexParts) -> ComplexParts:
    size = V.exp(z.re)
    return ComplexParts(V.multiply(size, V.cos(z.im)), V.multiply(size, V.sin(z.im)))


def _size(z: ComplexParts) -> Any:
    return V.absolute(z.re) if z.im is None else V.hypot(z.re, z.im)


def _log(z: ComplexParts) -> ComplexParts:
    return ComplexParts(V.log(_size(z)), V.arctan2(z.imag, z.re))


def _scaled(z: ComplexParts, c: Any) -> ComplexParts:
    return ComplexParts(V.multiply(z.re, c), V.multiply(z.imag, c))


def _polar(size: Any, angle: Any) -> ComplexParts:
    return ComplexParts(V.multiply(size, V.cos(angle)), V.multiply(size, V.sin(angle)))


def _angle(z: ComplexParts) -> Any:
    """The angle of z, and that of 1 where z is zero: where the size is zero, too, any will do."""
    y, x = z.imag, z.re
    zero = V.logical_and(V.equal(x, 0.0), V.equal(y, 0.0))
    if not isinstance(zero, Traced):
        return V.arctan2(y, V.where(zero, 1.0, x))
    mode: Any = zero._owner  # (where it may be zero, all angles there are anyway)
    always = mode.bounds(zero).lo if mode.owns(zero) else zero
    return V.arctan2(y, V.where(always, 1.0, x))


def _sqrt(z: ComplexParts) -> ComplexParts:
    return _polar(V.sqrt(_size(z)), V.multiply(_angle(z), 0.5))


_LN2, _LN10 = rounded_number(math.log(2.0)), rounded_number(math.log(10.0))
_POWERS = 64
"""Whole powers up to here are products."""


def _power(z: ComplexParts, p: ComplexParts) -> ComplexParts:
    n = p.re if p.im is None and not isinstance(p.re, Traced) and not shape_of(p.re) else None
    if n is not None and n == int(n) and abs(n) <= _POWERS:
        return _whole_power(z, int(n))
    if p.im is None:
        return _polar(V.power(_size(z), p.re), V.multiply(_angle(z), p.re))
    return _exp(_times(p, _log(z)))


def _whole_power(z: ComplexParts, n: int) -> ComplexParts:
    if n < 0:
        return _reciprocal(_whole_power(z, -n))
    found = None
    while n:
        if n % 2:
            found = z if found is None else _times(found, z)
        n //= 2
        z = _square(z) if n else z
    return ComplexParts(V.add(V.multiply(z.re, 0.0), 1.0), V.multiply(z.imag, 0.0)) if found is None else found


def _sin(z: ComplexParts) -> ComplexParts:
    return ComplexParts(V.multiply(V.sin(z.re), V.cosh(z.im)), V.multiply(V.cos(z.re), V.sinh(z.im)))


def _cos(z: ComplexParts) -> ComplexParts:
    return ComplexParts(V.multiply(V.cos(z.re), V.cosh(z.im)), V.negative(V.multiply(V.sin(z.re), V.sinh(z.im))))


def _turned(f: Callable) -> Callable:
    """f(z) from a function of iz: sinh z = −i sin(iz), tanh z = −i tan(iz)."""

    def rule(z: ComplexParts) -> ComplexParts:
        w = f(ComplexParts(V.negative(z.im), z.re))
        return ComplexParts(w.im, V.negative(w.re))

    return rule


def _tan(z: ComplexParts) -> ComplexParts:
    (x, y), below = z, V.add(V.square(V.cos(z.re)), V.square(V.sinh(z.im)))
    above = V.multiply(V.sin(x), V.cos(x)), V.multiply(V.sinh(y), V.cosh(y))
    return ComplexParts(V.divide(above[0], below), V.divide(above[1], below))


def _cast(z: ComplexParts, dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return V.not_equal(z.re, 0) if z.im is None else V.logical_or(V.not_equal(z.re, 0), V.not_equal(z.im, 0))
    if dtype.kind != "c":
        return V.astype(z.re, dtype=dtype)
    part = np.dtype(np.float32 if dtype == np.complex64 else float)
    return ComplexParts(V.astype(z.re, dtype=part), V.astype(z.imag, dtype=part))


def _in_both(op: Op, join: Op) -> Callable:
    return lambda *zs, **params: join(op(*[z.re for z in zs], **params), op(*[z.imag for z in zs], **params))


# ------------------------------------------------------------------------------------------------------------- matrices


def _paired(a: ComplexParts) -> Any:
    """The real matrix that does the same: [[A, −B], [B, A]] for A + iB."""
    upper = V.concatenate(a.re, V.negative(a.imag), axis=len(shape_of(a.re)) - 1)
    lower = V.concatenate(a.imag, a.re, axis=len(shape_of(a.re)) - 1)
    return V.concatenate(upper, lower, axis=len(shape_of(a.re)) - 2)


def _halves(x: Any, n: int, axis: int) -> ComplexParts:
    before = (slice(None),) * axis
    return ComplexParts(*[V.index(x, pattern=(*before, slice(k, k + n))) for k in (0, n)])


def _of_matrix(name: str) -> Callable:
    """A function of a matrix, which is of the same form for the real one."""

    def rule(a: ComplexParts) -> ComplexParts:
        rank, n = len(shape_of(a.re)), shape_of(a.re)[-1]
        y = _halves(getattr(V, name)(_paired(a)), n, rank - 2)
        return ComplexParts(*[_halves(part, n, rank - 1).re for part in y])

    return rule


def _solved(a: ComplexParts, b: ComplexParts, **params: Any) -> ComplexParts:
    axis = len(shape_of(b.re)) - (1 if len(shape_of(b.re)) < len(shape_of(a.re)) else 2)
    stacked = V.concatenate(b.re, b.imag, axis=axis)
    return _halves(V.solve(_paired(a), stacked, **params), shape_of(a.re)[-1], axis)


# --------------------------------------------------------------------------------------------------- Fourier transforms

_LONGEST = 2048
"""A transform of more elements would need too large a matrix."""


def _unit_roots(n: int, rows: int, columns: int) -> tuple[Bounds, Bounds]:
    """Cosines and sines of 2π·j·k/n; the whole quarters are exact."""
    if n > _LONGEST:
        raise UnsupportedFunctionError(
            f"the enclosure of a Fourier transform of {n} elements, of which its matrix is made",
            remedy=f"transform {_LONGEST} at most, or bound the sums yourself",
        )
    turn = np.outer(np.arange(rows), np.arange(columns)) % n
    angle, room = 2 * np.pi * turn / n, 8 * np.finfo(float).eps
    found = []
    for f, quarters in ((np.cos, (1.0, 0.0, -1.0, 0.0)), (np.sin, (0.0, 1.0, 0.0, -1.0))):
        exact = 4 * turn % n == 0
        value = np.where(exact, np.array(quarters)[4 * turn // n % 4], f(angle))
        found.append(Bounds(np.where(exact, value, value - room), np.where(exact, value, value + room)))
    return found[0], found[1]


def _along(x: Any, axis: int, matrix: Any) -> Any:
    """x times a matrix along an axis."""
    rank = len(shape_of(x))
    order = (*[k for k in range(rank) if k != axis], axis)
    y = V.matmul(V.transpose(x, axes=order), matrix)
    return V.transpose(y, axes=tuple([order.index(k) for k in range(rank)]))


def _normalised(y: Any, n: int, norm: str, inverse: bool) -> Any:
    if norm == "ortho":
        mode: Any = y._owner
        return V.divide(y, V.sqrt(mode.enclosed(Bounds(np.float64(n), np.float64(n)))))
    return V.divide(y, float(n)) if (norm == "forward") != inverse else y


def _transform(
    x: ComplexParts, n: int, axis: int, norm: str, inverse: bool, kept: int, weights: Any = None
) -> ComplexParts:
    """Σ x_j (cos ∓ i sin)(2π·j·k/n) for k < kept."""
    mode: Any = next(part for part in x if isinstance(part, Traced))._owner
    single = dtype_of(x.re) == np.float32
    re, im = [None if p is None else V.astype(p, dtype=np.dtype(float)) for p in x]
    cos, sin = _unit_roots(n, shape_of(x.re)[axis], kept)
    if weights is not None:
        cos, sin = [Bounds(*[b * weights[:, None] for b in matrix]) for matrix in (cos, sin)]
    c, s = mode.enclosed(cos), mode.enclosed(sin if inverse else Bounds(-sin.hi, -sin.lo))
    y = ComplexParts(_along(re, axis, c), _along(re, axis, s))
    if im is not None:
        y = ComplexParts(V.subtract(y.re, _along(im, axis, s)), V.add(y.im, _along(im, axis, c)))
    y = ComplexParts(*[_normalised(part, n, norm, inverse) for part in y])
    return ComplexParts(*[V.astype(part, dtype=np.dtype(np.float32)) for part in y]) if single else y


def _fft(inverse: bool) -> Callable:
    def rule(x: ComplexParts, axis: int, norm: str) -> ComplexParts:
        n = shape_of(x.re)[axis]
        return _transform(x, n, axis, norm, inverse, n)

    return rule


def _rfft(x: ComplexParts, axis: int, norm: str) -> ComplexParts:
    n = shape_of(x.re)[axis]
    return _transform(x, n, axis, norm, False, n // 2 + 1)


def _irfft(x: ComplexParts, n: int, axis: int, norm: str) -> Any:
    """The imaginary parts of coefficients that stand alone are not used."""
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    return _transform(ComplexParts(x.re, x.imag), n, axis, norm, True, n, weights).re


def _hankel(sign: int, scaled: bool) -> Callable:
    """J ± iY of a real number; scaled by exp(∓ix)."""

    def rule(v: ComplexParts, z: ComplexParts) -> ComplexParts:
        if z.im is not None:
            raise UnsupportedFunctionError(
                "no enclosure is known of Hankel functions of complex numbers", remedy="use real numbers"
            )
        x, second = z.re, V.yv(v.re, z.re)
        found = ComplexParts(V.jv(v.re, x), V.multiply(second, float(sign)))
        turn = ComplexParts(V.cos(x), V.multiply(V.sin(x), -float(sign)))
        return _times(found, turn) if scaled else found

    return rule


COMPLEX_OF_REAL = ("fft", "ifft", "rfft", "irfft", "hankel1", "hankel2", "hankel1e", "hankel2e")
"""Ops that give complex numbers of real ones, or whose operands count as such."""
_COMPOSED = ("einsum", "convolve", "prod", "cumprod", "linear_recurrence", "norm", "scatter", "add_parts")
"""Ops whose enclosures are written in ops that know of complex numbers."""
RULES: dict[str, Callable] = {
    "add": _added,
    "subtract": lambda x, y: _added(x, _negated(y)),
    "multiply": _times,
    "divide": _divided,
    "reciprocal": _reciprocal,
    "square": _square,
    "power": _power,
    "negative": _negated,
    "positive": lambda z: z,
    "conjugate": lambda z: ComplexParts(z.re, V.negative(z.im)),
    "real": lambda z: z.re,
    "imag": lambda z: z.imag,
    "absolute": _size,
    "exp": _exp,
    "expm1": lambda z: ComplexParts(V.subtract(_exp(z).re, 1.0), _exp(z).im),
    "exp2": lambda z: _polar(V.exp2(z.re), V.multiply(z.im, _LN2)),
    "log": _log,
    "log2": lambda z: ComplexParts(V.log2(_size(z)), V.divide(_log(z).im, _LN2)),
    "log10": lambda z: ComplexParts(V.log10(_size(z)), V.divide(_log(z).im, _LN10)),
    "log1p": lambda z: _log(ComplexParts(V.add(z.re, 1.0), z.im)),
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "sinh": _turned(_sin),
    "cosh": lambda z: _cos(ComplexParts(V.negative(z.im), z.re)),
    "tanh": _turned(_tan),
    "astype": _cast,
    "python_number": lambda z: z,
    "where": lambda mask, x, y: ComplexParts(V.where(mask.re, x.re, y.re), V.where(mask.re, x.imag, y.imag)),
    "equal": lambda x, y: V.logical_and(V.equal(x.re, y.re), V.equal(x.imag, y.imag)),
    "not_equal": lambda x, y: V.logical_or(V.not_equal(x.re, y.re), V.not_equal(x.imag, y.imag)),
    "isnan": lambda z: V.logical_or(V.isnan(z.re), V.isnan(z.im)),
    "isinf": lambda z: V.logical_or(V.isinf(z.re), V.isinf(z.im)),
    "isfinite": lambda z: V.logical_and(V.isfinite(z.re), V.isfinite(z.im)),
    "inv": _of_matrix("inv"),
    "expm": _of_matrix("expm"),
    "solve": _solved,
    "fft": _fft(False),
    "ifft": _fft(True),
    "rfft": _rfft,
    "irfft": _irfft,
    "hankel1": _hankel(1, False),
    "hankel2": _hankel(-1, False),
    "hankel1e": _hankel(1, True),
    "hankel2e": _hankel(-1, True),
}
"""What ops do with real and imaginary parts."""
