"""Taylor series: `jet`, `taylor`, `derivatives`, and `derivative` of any order."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import Prepared
from wengert.api.operators import operation, result_of
from wengert.box.box import Box, plain
from wengert.errors import MismatchError, NotDifferentiableInputError, user_location
from wengert.modes.interval import Enclosure
from wengert.ops.library import largest, moved
from wengert.ops.op import call
from wengert.ops.rounding import rounded_number
from wengert.ops.sizes import require
from wengert.raised import name_of
from wengert.types import dtype_of, shape_of


def checked_order(order: Any) -> int:
    """An order as an int; anything else is an error."""
    try:
        number = operator.index(order)
    except TypeError:
        number = int(order) if isinstance(order, float) and order.is_integer() else -1
    if number < 0:
        raise ValueError(f"order is a whole number from 0 on, not {order!r}")
    return number


@operation
def jet(f: Callable, *series: Sequence[Any], order: int | None = None) -> list[Any]:
    """The Taylor coefficients of t ↦ f(x(t), …), given those of x(t) = x₀ + x₁t + x₂t² + …

    Args:
        f: a function of as many arguments as there are `series`.
        series: for each argument the list [x₀, x₁, …, xₙ] of its coefficients (not of its derivatives), each like the
            argument: a number, an array, or a container of them. Shorter ones are padded with zeros.
        order: up to which order to compute; that of the longest series if left out.

    Returns:
        The list [y₀, …, yₙ] of the coefficients of the result, each like the result of `f`.

    Cost: a product of two numbers becomes (n + 1)(n + 2)/2 products; the order is paid for quadratically.

    >>> import numpy as np
    >>> jet(np.exp, [0.0, 1.0, 0.0, 0.0])
    [np.float64(1.0), np.float64(1.0), np.float64(0.5), np.float64(0.16666666666666666)]
    >>> jet(lambda x, y: x * y, [1.0, 2.0], [3.0, 0.0, 4.0])
    [3.0, 6.0, 4.0]
    """
    lists = [_coefficients(x, k) for k, x in enumerate(series)]
    longest = max([len(x) for x in lists], default=1) - 1
    n = longest if order is None else checked_order(order)
    prepared = Prepared(f, tuple(range(len(lists))), tuple([x[0] for x in lists]), {}, False)
    curves: list[list[Any]] = [[x] for x in prepared.leaves]
    given: list[Any] = []
    for k in range(1, min(n, longest) + 1):
        nothing = [x[k] if k < len(x) else tree.map(_nothing, x[0]) for x in lists]
        for curve, x, missing in zip(
            curves, prepared.input_leaves(tuple(nothing), "a coefficient"), _missing(lists, k), strict=True
        ):
            curve.append(None if missing else x)
            given.append(x)
    found = prepared.expand(curves, n)
    return [prepared.coefficients(found, k, given) for k in range(n + 1)]


def _coefficients(x: Any, place: int) -> list[Any]:
    if not isinstance(x, (list, tuple)) and (not hasattr(x, "shape") or not shape_of(x)):
        raise MismatchError(
            f"the series of argument {place} is a {type(x).__name__}, not a list of coefficients",
            remedy="write wg.jet(f, [x0, x1, x2]), with one list for each argument of f",
        )
    found = list(x)
    if not found:
        raise MismatchError(
            f"the series of argument {place} has no coefficients", remedy="give its value at least: [x0]"
        )
    return found


def _nothing(x: Any) -> Any:
    return np.zeros(shape_of(x), dtype_of(x))[()]


def _missing(lists: Sequence[Sequence[Any]], k: int) -> list[bool]:
    """For each leaf, whether the series it belongs to ends before order k."""
    return [k >= len(x) for x in lists for _ in tree.flatten_values(x[0])[0]]


@operation
def taylor(f: Callable, x: Any, order: int, direction: Any = None) -> list[Any]:
    """The Taylor coefficients of t ↦ f(x + t·v) at t = 0: a list of order + 1 results of `f`.

    Args:
        f: a function of one argument.
        x: where to expand: a number, an array, or a container of them.
        order: the highest power of t.
        direction: v, like x. For a number it is 1 if left out.

    Cost: as `jet`.

    >>> import numpy as np
    >>> taylor(lambda x: 1 / (1 - x), 0.0, 4)
    [1.0, 1.0, 1.0, 1.0, 1.0]
    >>> taylor(lambda x: np.sum(x**2), np.array([1.0, 2.0]), 2, direction=np.array([1.0, 0.0]))
    [np.float64(5.0), np.float64(2.0), np.float64(1.0)]
    """
    n = checked_order(order)
    prepared = Prepared(f, 0, (x,), {}, False)
    if direction is None:
        if len(prepared.leaves) != 1 or shape_of(prepared.leaves[0]):
            raise MismatchError(
                "wg.taylor of a function of several numbers, without a direction",
                remedy="give the direction in which to expand: wg.taylor(f, x, order, direction=v), with v like x",
            )
        direction = prepared.inputs([dtype_of(prepared.leaves[0]).type(1)])
    given = prepared.input_leaves(direction, "the direction")
    found = prepared.expand([[x, v] for x, v in zip(prepared.leaves, given, strict=True)], n)
    return [prepared.coefficients(found, k, given) for k in range(n + 1)]


@operation
def derivatives(f: Callable, order: int, argnums: int = 0) -> Callable:
    """All derivatives of a function of one number up to an order: (f(x), f′(x), …, f⁽ⁿ⁾(x)).

    Args:
        f: a function of a number (and other arguments); its result may be anything. Or a function that acts on each
            element of an array: then the derivatives are those of each element.
        order: n.
        argnums: which positional argument is the number.

    Returns:
        A function with the arguments of `f` that returns a tuple of n + 1 results.

    Cost: as `jet`, all orders together; not 2ⁿ.

    >>> import numpy as np
    >>> derivatives(np.exp, order=3)(0.0)
    (np.float64(1.0), np.float64(1.0), np.float64(1.0), np.float64(1.0))
    >>> derivatives(lambda x: x**3, order=2)(np.array([1.0, 2.0]))
    (array([1., 8.]), array([ 3., 12.]), array([ 6., 12.]))
    """
    n = checked_order(order)

    @result_of("derivatives", f)
    def differentiated(*args: Any, **kwargs: Any) -> tuple:
        prepared = Prepared(f, argnums, args, kwargs, False)
        found = one_number(prepared, "derivatives", n)
        return tuple([_scaled(prepared.coefficients(found, k), k) for k in range(n + 1)])

    return differentiated


@operation
def derivative(f: Callable, order: int = 1, argnums: int = 0, has_aux: bool = False) -> Callable:
    """The n-th derivative of a function of one number: by forward mode, from the third on by Taylor series.

    Args:
        f: a function of a number (and other arguments) whose result is a number, an array, or a container of them. Or a
            function that acts on each element of an array: then the derivative is that of each element.
        order: how often to differentiate; 0 is the function itself.
        argnums: which positional argument is the number.
        has_aux: whether `f` returns `(result, aux)`.

    Returns:
        A function with the arguments of `f` that returns the derivative; with `has_aux`, `(derivative, aux)`.

    Cost: grows with the square of the order. For an array there is one more derivative, along a random vector, which
    shows whether the function acts on each element by itself.

    >>> import numpy as np
    >>> derivative(np.sin)(0.0), derivative(np.exp, order=3)(0.0)
    (np.float64(1.0), np.float64(1.0))
    >>> derivative(lambda x: x**3, order=2)(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    n = checked_order(order)
    if n == 0:
        return f
    inner = derivative(f, 1, argnums, has_aux) if n == 2 else f

    @result_of("derivative", f)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        prepared = Prepared(inner, argnums, args, kwargs, has_aux)
        k = 1 if n <= 2 else n
        found = _slopes(prepared) if n <= 2 else one_number(prepared, "derivative", n)
        y = _scaled(prepared.tangents([x[0] for x in found], [x[k] for x in found]), k)
        return (y, prepared.aux) if has_aux else y

    return differentiated


def _slopes(prepared: Prepared) -> list[tuple[Any, Any]]:
    """Value and first derivative of each leaf of the result."""
    _check_number(prepared, "derivative")
    x = prepared.leaves[0]
    found = list(zip(*prepared.push([_ones(x)]), strict=True))
    if shape_of(x):
        _check_elementwise(prepared, found)
    return found


def one_number(prepared: Prepared, name: str, order: int) -> list[list[Any]]:
    """The series of a function at x + t, where x is one number, or each of an array of them."""
    _check_number(prepared, name)
    (x,) = prepared.leaves
    found = prepared.expand([[x, _ones(x)]], order)
    if order and shape_of(x):
        _check_elementwise(prepared, found)
    return found


def _ones(x: Any) -> Any:
    return np.ones(shape_of(x), dtype_of(x)) if shape_of(x) else dtype_of(x).type(1)


def _check_number(prepared: Prepared, name: str) -> None:
    if len(prepared.leaves) != 1:
        raise NotDifferentiableInputError(
            f"{name} is for functions of a single number, or of one array, element by element",
            remedy="use wg.grad or wg.jacobian for containers",
        )


_NOT_ELEMENTWISE = "derivatives of an array are taken element by element, and this function is not elementwise"
_REMEDY = "use wg.derivative_tensor, wg.jacobian or wg.hessian"


def _check_elementwise(prepared: Prepared, found: Sequence[Sequence[Any]]) -> None:
    """An elementwise function has a diagonal Jacobian: along any vector the derivative is f′ times that vector.

    In a program that is captured it is compared when the program runs.
    """
    (x,) = prepared.leaves
    rng = np.random.default_rng(20)
    v = moved((1 + rng.random(shape_of(x))).astype(dtype_of(x)), x)
    aux = prepared.aux
    _, along = prepared.push([v])
    prepared.aux = aux
    for (y, slope, *_), dot in zip(found, along, strict=True):
        if shape_of(y) == shape_of(x) and (slope is not None or dot is None):
            if slope is None:
                continue
            with np.errstate(all="ignore"):
                expected, got = plain(slope * v), plain(dot if dot is not None else slope * 0)
                fits = _agree(expected, got)
            if isinstance(fits, Enclosure):
                continue  # (of intervals it may be left open)
            if isinstance(fits, Box):
                message = f"{_NOT_ELEMENTWISE}\n  remedy: {_REMEDY}\n  at {user_location()}"
                call(require, fits, error=name_of(NotDifferentiableInputError), message=message)
                continue
            if fits:
                continue
        raise NotDifferentiableInputError(_NOT_ELEMENTWISE, remedy=_REMEDY)


def _agree(expected: Any, got: Any) -> Any:
    """Whether numbers are the same but for rounding, where they are finite."""
    finite = np.isfinite(expected) & np.isfinite(got)
    size = np.where(finite, np.abs(expected), 0)
    return np.all(np.where(finite, np.abs(expected - got), 0) <= 1e-3 * size + 1e-6 * largest(size, None))


def _scaled(y: Any, k: int) -> Any:
    """k! · y, for each leaf."""
    if k < 2:
        return y
    factor = _FACTORIALS[k] if k < len(_FACTORIALS) else math.inf
    leaves, structure = tree.flatten_values(y)
    return tree.unflatten(structure, [x * factor for x in leaves])


_FACTORIALS = [
    float(n) if int(float(n)) == n else rounded_number(float(n))
    for n in itertools.accumulate(range(1, 171), operator.mul, initial=1)
]
"""All that are floating-point numbers, or close to one."""
