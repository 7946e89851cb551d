"""Rows for hypergeometric functions, with derivatives in the argument and in the parameters.

The derivative in the argument is a multiple of the function with shifted parameters (DLMF 13.3.15, 13.3.22, 15.5.1,
16.3.1). Derivatives in the parameters are ops of their own with parameter `orders`, how often in each: computed as in
`stencils.py`, from SciPy's values, to about 1e-12 of the size of the function; an error where they are not accurate.
Differentiated in the argument they follow by Leibniz' rule, so these rows are closed.

U has an integral (DLMF 13.4.4) whose integrand is positive; its derivatives in the parameters are integrals too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.errors import UnsupportedFunctionError
from wengert.ops.derive import elementwise
from wengert.ops.directed import curved, one_way
from wengert.ops.elementwise import maximum
from wengert.ops.op import Traced
from wengert.ops.orders import fallen, trapezoid
from wengert.ops.special import double, is_complex, no_rule, precision, rounded
from wengert.ops.stencils import differentiated
from wengert.ops.traits import VALUES

# ------------------------------------------------------------------------------------------------- how they are made


def _above(a: Any) -> Callable:
    """The factor a, and its derivatives."""
    return lambda k: a if k == 0 else 1.0 if k == 1 else 0.0


def _below(c: Any) -> Callable:
    """The factor 1/c, and its derivatives."""
    return lambda k: (-1.0) ** k * math.factorial(k) * c ** -(k + 1)


def _leibniz(orders: tuple[int, ...], factors: list[Callable], function: Callable) -> Any:
    """The derivative of ∏ factors[k]·f; factors[k] depends on the k-th parameter only, `function(orders)` is f's."""
    total: Any = 0.0
    for taken in itertools.product(*[range(n + 1) for n in orders]):
        c: Any = 1.0
        for n, k, factor in zip(orders, taken, factors, strict=True):
            c = c * math.comb(n, k) * factor(k)
        if not (c.__class__ is float and c == 0):
            total = total + c * function(tuple(n - k for n, k in zip(orders, taken, strict=True)))
    return total


def _pole(c: Any) -> Any:
    """How far the nearest of 0, −1, −2, … is."""
    return np.abs(c - np.minimum(np.rint(c), 0))


def _once_more(orders: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*orders[:k], orders[k] + 1, *orders[k + 1 :])


def _in_parameters(name: str, op: Callable, count: int) -> list[Callable]:
    """The partials of a function in its parameters."""
    refused = no_rule(name, "its parameters, for a complex argument,")

    def partial(k: int) -> Callable:
        orders = _once_more((0,) * count, k)
        return lambda y, *args: refused() if is_complex(args[-1]) else op()(*args, orders=orders)

    return [partial(k) for k in range(count)]


def _by_parameters(name: str, f: Callable, count: int, rates: Callable, slope: Callable) -> Any:
    """The row of the derivatives in the parameters. `rates` gives ω and distances of poles, see `stencils.py`."""

    def impl(*args: Any, orders: tuple[int, ...]) -> Any:
        dtype = precision(*args)
        *parameters, z = np.broadcast_arrays(*[double(a) for a in args])
        inside = np.logical_and.reduce([np.isfinite(v) for v in (*parameters, z)])
        with np.errstate(all="ignore"):
            rate, distances, allowed = rates(*parameters, z)
        inside = inside & allowed
        parameters = [np.where(inside, p, 1.0) for p in parameters]
        distances = [np.where(inside & (d > 0), d, np.inf) for d in distances]
        z = np.where(inside, z, 0.5)
        rate = np.where(inside, rate, 1.0)
        y = differentiated(
            f"scipy.special.{name}", lambda *ps: f(*ps, z), parameters, orders, [rate] * count, distances, inside
        )
        return rounded(y, dtype)

    def in_parameter(k: int) -> Callable:
        return lambda y, *args, orders: op(*args, orders=_once_more(orders, k))

    partials = [in_parameter(k) for k in range(count)]
    op = elementwise(
        f"{name}_by_parameters", impl, (*partials, lambda y, *args, orders: slope(orders, *args)), raises=VALUES
    )
    return op


def _of(plain: Callable, derived: Callable, *args: Any) -> Callable:
    """From orders to the derivative of a function at `args`."""
    return lambda orders: derived(*args, orders=orders) if any(orders) else plain(*args)


# ------------------------------------------------------------------------------------------------------------ rows


def _in_precision(f: Callable) -> Callable:
    """SciPy's function, in single precision if all operands that are not Python's numbers are."""

    def impl(*args: Any) -> Any:
        y = f(*args)
        dtype = precision(*args)
        return y if y.dtype == dtype else y.astype(dtype)

    return impl


def _spread(*parameters: Any) -> Any:
    return np.log1p(sum(np.abs(p) for p in parameters))


def _hyp2f1_rates(a: Any, b: Any, c: Any, z: Any) -> Any:
    at_one = z == 1
    room = np.where(at_one, c - a - b, np.inf)
    rate = math.pi + np.abs(np.log1p(-np.where(at_one, 0, z))) + _spread(a, b, c)
    return rate, [room, room, np.minimum(_pole(c), room)], (z <= 1) & (_pole(c) > 0) & (room > 0)


def _hyp2f1_slope(orders: tuple, a: Any, b: Any, c: Any, z: Any) -> Any:
    shifted = _of(hyp2f1, hyp2f1_by_parameters, a + 1, b + 1, c + 1, z)
    return _leibniz(orders, [_above(a), _above(b), _below(c)], shifted)


hyp2f1_by_parameters = _by_parameters("hyp2f1", sc.hyp2f1, 3, _hyp2f1_rates, _hyp2f1_slope)
_INCREASES = one_way(-math.inf, slack=1e-10)
_BELOW_ONE = one_way(-math.inf, within=(-math.inf, 1.0), slack=1e-10)


def _are_positive(*parameters: Any) -> bool:
    return all(not isinstance(p, Traced) and bool(np.all(np.greater(p, 0))) for p in parameters)


def _hyp2f1_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """For c > b > 0 and a > 0 it is the integral of t^(b−1)·(1−t)^(c−b−1)·(1−zt)^−a, which increases with z < 1."""
    a, b, c, _ = args
    if _are_positive(a, b, c) and (np.all(np.greater(c, b)) or np.all(np.greater(c, a))):
        return _BELOW_ONE(mode, op, args, params)
    raise UnsupportedFunctionError(
        "no enclosure is known of hyp2f1(a, b, c, z) but for numbers a, b, c > 0, of which c is not the smallest",
        remedy="write it in functions that have one",
    )


def _hyp1f1_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    """For b > a > 0 it is the integral of exp(zt)·t^(a−1)·(1−t)^(b−a−1)."""
    a, b, _ = args
    if _are_positive(a, b) and np.all(np.greater(b, a)):
        return _INCREASES(mode, op, args, params)
    raise UnsupportedFunctionError(
        "no enclosure is known of hyp1f1(a, b, z) but for numbers b > a > 0",
        remedy="write it in functions that have one",
    )


hyp2f1 = elementwise(
    "hyp2f1",
    _in_precision(sc.hyp2f1),
    (
        *_in_parameters("hyp2f1", lambda: hyp2f1_by_parameters, 3),
        lambda y, a, b, c, z: a * b / c * hyp2f1(a + 1, b + 1, c + 1, z),
    ),
    bounds=_hyp2f1_enclosed,
)


def _hyp1f1_rates(a: Any, b: Any, z: Any) -> Any:
    return math.pi + _spread(a, b, z), [np.full_like(a, np.inf), _pole(b)], _pole(b) > 0


def _hyp1f1_slope(orders: tuple, a: Any, b: Any, z: Any) -> Any:
    return _leibniz(orders, [_above(a), _below(b)], _of(hyp1f1, hyp1f1_by_parameters, a + 1, b + 1, z))


hyp1f1_by_parameters = _by_parameters("hyp1f1", sc.hyp1f1, 2, _hyp1f1_rates, _hyp1f1_slope)
hyp1f1 = elementwise(
    "hyp1f1",
    _in_precision(sc.hyp1f1),
    (
        *_in_parameters("hyp1f1", lambda: hyp1f1_by_parameters, 2),
        lambda y, a, b, z: a / b * hyp1f1(a + 1, b + 1, z),
    ),
    bounds=_hyp1f1_enclosed,
    raises=VALUES,  # SciPy's may not come to an end, at infinity
)


def _hyp0f1_rates(b: Any, z: Any) -> Any:
    return math.pi + _spread(b, z), [_pole(b)], _pole(b) > 0


def _hyp0f1_slope(orders: tuple, b: Any, z: Any) -> Any:
    return _leibniz(orders, [_below(b)], _of(hyp0f1, hyp0f1_by_parameters, b + 1, z))


hyp0f1_by_parameters = _by_parameters("hyp0f1", sc.hyp0f1, 1, _hyp0f1_rates, _hyp0f1_slope)
_BENDS = curved(lambda b, z: 1.000001 / (b * (b + 1)) * hyp0f1(b + 2, maximum(z.hi, 0.0)), slack=1e-11)
"""For b ≥ ½ it is a Bessel function below zero, and not larger than one (DLMF 10.14.4); above, it increases."""


def _hyp0f1_enclosed(mode: Any, op: Any, args: tuple, params: dict) -> Any:
    if not _are_positive(args[0]):
        raise UnsupportedFunctionError(
            "no enclosure is known of hyp0f1(b, z) but for numbers b > 0",
            remedy="write it in functions that have one",
        )
    return _BENDS(mode, op, args, params)


hyp0f1 = elementwise(
    "hyp0f1",
    _in_precision(sc.hyp0f1),
    (*_in_parameters("hyp0f1", lambda: hyp0f1_by_parameters, 1), lambda y, b, z: hyp0f1(b + 1, z) * (1 / b)),
    bounds=_hyp0f1_enclosed,
)

# ------------------------------------------------------------------------------------------------------------------ U
#
# Derivatives in a and b are computed with truncated power series in a + ε and b + η: an array of coefficients of εᵖ·ηʳ,
# p + r ≤ N, in the first two axes. The integral of the series is the series of the integral.


def _product(f: Any, g: Any) -> Any:
    size = len(f)
    y = np.zeros_like(f + g)
    for p in range(size):
        for r in range(size - p):
            for i in range(p + 1):
                for j in range(r + 1):
                    y[p, r] += f[i, j] * g[p - i, r - j]
    return y


def _series(size: int, like: Any, **coefficients: Any) -> Any:
    """From coefficients named c00, c10, …"""
    y = np.zeros((size, size, *np.shape(like)))
    for name, c in coefficients.items():
        p, r = int(name[1]), int(name[2])
        if p + r < size:
            y[p, r] = c
    return y


def _u_integral(a: Any, b: Any, x: Any, size: int) -> Any:
    """U for a ≥ 2: ∫ exp(a·u − x·eᵘ + (b−a−1)·log(1+eᵘ)) du / Γ(a), by the trapezoidal rule."""
    c = b - a - 1

    def exponent(u: Any) -> Any:
        t = np.exp(u)
        return a * u - x * t + c * np.log1p(t)

    # The exponent has one maximum, where a + (a + c − x)·t − x·t² = 0.
    half = 0.5 * (a + c - x)
    root = np.sqrt(half * half + a * x)
    t = np.where(half > 0, (half + root) / x, a / (root - half))
    top = np.log(t)
    height = exponent(top)
    width = 1 / np.sqrt(x * t - c * t / (1 + t) ** 2)
    high = fallen(lambda u: height - exponent(u), top, top + 6 + 12 * width)
    low = top + (top - fallen(lambda u: height - exponent(2 * top - u), top, top + 60 / a + 40))
    mean = sc.psi(a)

    def integrand(u: Any) -> Any:
        l, y = np.log1p(np.exp(u)), np.zeros((size, size, *np.shape(u)))
        for p in range(size):
            for r in range(size - p):
                y[p, r] = (u - l - mean) ** p * l**r / (math.factorial(p) * math.factorial(r))
        return np.exp(exponent(u) - height) * y

    total = trapezoid(integrand, low, high, np.minimum(0.12, 0.4 * width))
    # 1/Γ(a + ε) without the factor exp(−ψ(a)·ε), which is in the integral: exp of the rest of its logarithm.
    rest = [-float((-1) ** k) * sc.zeta(k, a) / k if k > 1 else 0.0 * a for k in range(size)]
    scale = _series(size, a, c00=np.exp(height - sc.gammaln(a)))
    for k in range(1, size):
        scale[k, 0] = sum(j * rest[j] * scale[k - j, 0] for j in range(1, k + 1)) / k
    return _product(scale, total)


def _turned(f: Any, size: int) -> Any:
    """The series of f(a − b + 1, 2 − b), given that of f there: ε becomes ε − η, and η becomes −η."""
    y = np.zeros_like(f)
    for p in range(size):
        for r in range(size - p):
            for k in range(p + 1):
                y[k, p - k + r] += math.comb(p, k) * (-1.0) ** (p - k + r) * f[p, r]
    return y


def _hyperu_series(a: Any, b: Any, x: Any, size: int) -> Any:
    """U(a, b, x) for x > 0: of U(a+n) and U(a+n+1) with a + n ≥ 2, by DLMF 13.3.7, which is stable downwards.

    For negative a, U(a, b, x) = x^(1−b)·U(a−b+1, 2−b, x) may need fewer steps.
    """
    turned = (a < 0) & (b < 1)
    own, other = np.where(turned, a - b + 1, a), np.where(turned, 2 - b, b)
    n = np.maximum(np.ceil(2 - own), 0)
    upper, value = _u_integral(own + n + 1, other, x, size), _u_integral(own + n, other, x, size)
    for k in range(int(np.max(n, initial=0))):
        s = own + n - k
        first = _series(size, s, c00=x + 2 * s - other, c10=2.0, c01=-1.0)
        second = _series(size, s, c00=s * (s - other + 1), c10=2 * s - other + 1, c01=-s, c20=1.0, c11=-1.0)
        lower = _product(first, value) - _product(second, upper)
        upper, value = np.where(k < n, value, upper), np.where(k < n, lower, value)
    log_x = np.log(x)
    power = _series(size, x, c00=x ** (1 - b))
    for k in range(1, size):
        power[0, k] = power[0, k - 1] * -log_x / k
    return np.where(turned, _product(power, _turned(value, size)), value)


_DEEPEST = 40.0
"""The recurrence is run this far at most."""


def _hyperu_by_parameters(a: Any, b: Any, x: Any, orders: tuple[int, int]) -> Any:
    dtype = precision(a, b, x)
    a, b, x = np.broadcast_arrays(double(a), double(b), double(x))
    inside = (x > 0) & np.isfinite(a) & np.isfinite(b) & np.isfinite(x)
    if np.any(inside & (np.maximum(a, a - b + 1) < -_DEEPEST)):
        raise UnsupportedFunctionError(
            f"the derivative of scipy.special.hyperu in its parameters, for a below {-_DEEPEST}",
            remedy="if they should count as constants, pass wg.stop_gradient of them",
        )
    a, b, x = (np.where(inside, v, 2.0) for v in (a, b, x))
    with np.errstate(all="ignore"):
        y = _hyperu_series(a, b, x, sum(orders) + 1)[orders]
    return rounded(np.where(inside, math.factorial(orders[0]) * math.factorial(orders[1]) * y, np.nan), dtype)


def _hyperu_slope(y: Any, a: Any, b: Any, x: Any, orders: tuple[int, int]) -> Any:
    return -_leibniz(orders, [_above(a), lambda k: float(k == 0)], _of(hyperu, hyperu_by_parameters, a + 1, b + 1, x))


hyperu_by_parameters = elementwise(
    "hyperu_by_parameters",
    _hyperu_by_parameters,
    (
        lambda y, a, b, x, orders: hyperu_by_parameters(a, b, x, orders=_once_more(orders, 0)),
        lambda y, a, b, x, orders: hyperu_by_parameters(a, b, x, orders=_once_more(orders, 1)),
        _hyperu_slope,
    ),
    raises=VALUES,
)
hyperu = elementwise(
    "hyperu",
    _in_precision(sc.hyperu),
    (
        *_in_parameters("hyperu", lambda: hyperu_by_parameters, 2),
        lambda y, a, b, z: -a * hyperu(a + 1, b + 1, z),
    ),
)
