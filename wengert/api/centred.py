"""Centred forms: enclosures by derivatives, which are the better the narrower the interval.

    mean value     f(x) ∈ f(m) + f′(X)·(X − m)
    Taylor         f(x) ∈ Σₖ₍ₖ₌₀…ₙ₋₁₎ f⁽ᵏ⁾(m)/k!·(X − m)ᵏ + f⁽ⁿ⁾(X)/n!·(X − m)ⁿ

for every x in X and any m there (Moore 1966; Neumaier 1990). Derivatives are those of the function run on intervals, so
they are enclosed, rounding included; powers of one variable are taken as powers. In variables in which a result only
rises, or only falls, its bounds are at the ends.

The function must be defined and continuous on all of X, with derivatives almost everywhere: kinks are fine, since the
derivative there is enclosed by what it is on both sides. Whether it is shows the natural enclosure, with which the
result is intersected; where it is not, that is all there is. Of a Taylor form the derivatives of lower order must be
continuous, too: where they are not, the mean value form remains.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.jacobian import jacobian
from wengert.api.natural import is_interval, natural
from wengert.api.taylor import taylor as series
from wengert.capture.hooks import resolve
from wengert.capture.one_of import numbers_in
from wengert.errors import MismatchError, UndecidedError
from wengert.modes.interval import make
from wengert.ops.op import Traced
from wengert.ops.rounding import V
from wengert.types import dtype_of, shape_of

_MOST = 200_000
"""So many derivatives of the highest order are computed."""


def centred(f: Callable, args: tuple, kwargs: dict, branch: str, order: int) -> Any:
    """The Taylor form of an order, in the containers of the result."""
    direct, broken = natural(f, args, kwargs, branch, watches=True)
    leaves, structure = tree.flatten_until((args, kwargs), is_interval)
    outs, container = tree.flatten_until(direct, is_interval)
    results = [k for k, y in enumerate(outs) if is_interval(y)]
    if broken is True or not results or not any(map(is_interval, leaves)):
        return direct

    function = resolve(f)

    def vector(z: Any) -> Any:
        """The function of all numbers that vary, as one vector, with one for its results."""
        given, named = tree.unflatten(structure, unpacked(z, leaves))
        found = tree.flatten_until(numbers_in(function(*given, **named)), is_interval)[0]
        return packed([found[k] for k in results])

    box = packed([x for x in leaves if is_interval(x)])
    try:
        y = taylor(vector, box, order, branch)
    except UndecidedError:  # the derivative is another one in other parts of the box, as that of a sorted array is
        return direct
    parts = unpacked(y, outs)
    return tree.unflatten(
        container, [_intersected(a, b, broken) if is_interval(a) else a for a, b in zip(outs, parts, strict=True)]
    )


def _intersected(direct: Any, other: Any, broken: Any) -> Any:
    both = direct & other
    if isinstance(broken, Traced):
        return make(V.where(broken, direct.lo, both.lo), V.where(broken, direct.hi, both.hi))
    return both


def packed(leaves: list[Any]) -> Any:
    """Numbers and arrays as one vector; complex ones as their real and imaginary parts."""
    parts = [p for x in leaves for p in ((x.real, x.imag) if dtype_of(x).kind == "c" else (x,))]
    return np.concatenate([np.reshape(x, (-1,)) if hasattr(x, "shape") else np.full(1, x) for x in parts])


def unpacked(z: Any, leaves: list[Any]) -> list[Any]:
    """The parts of a vector that stand for intervals among leaves; the others as they are."""
    found, start = [], 0
    for x in leaves:
        if not is_interval(x):
            found.append(x)
            continue
        shape, parts = shape_of(x), []
        for _ in range(2 if dtype_of(x).kind == "c" else 1):
            stop = start + math.prod(shape)
            parts.append(np.reshape(z[start:stop], shape) if shape else z[start])
            start = stop
        found.append(parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1])
    return found


def taylor(vector: Callable, box: Any, order: int, branch: str = "raise") -> Any:
    """The Taylor form of a function from vectors to vectors, and the mean value form.

    Where a branch goes both ways they are not used, but that may be known only when the program runs.
    """
    n = shape_of(box)[0]
    if n**order > _MOST:
        raise MismatchError(
            f"{n} variables have {n**order} derivatives of order {order}",
            remedy="use a lower order, or method='natural'",
        )
    middle = box.mid
    centre = make(middle, V.add(middle, 0.0))
    away = box - centre
    slopes = _known(natural(jacobian(vector), (box,), {}, branch)[0])
    value = natural(vector, (centre,), {}, branch)[0]
    total = value + np.sum(slopes * away, axis=1)
    if shape_of(total)[0] <= _FEW:
        total = total & _at_ends(vector, box, slopes, branch)
    if order == 1:
        return total
    terms, broken = (_one_variable if n == 1 else _several_variables)(vector, centre, box, order, branch)
    if broken is True:
        return total
    higher = value
    for k, term in enumerate(terms, 1):
        higher = higher + np.sum(np.reshape(_known(term), (-1, n**k)) * monomials(away, k), axis=1)
    return _intersected(total, higher, broken)


# Both give the coefficients of powers 1 to `order`, all but the last at the centre, and whether a derivative of lower
# order may jump: then nothing follows from the last.


def _one_variable(vector: Callable, centre: Any, box: Any, order: int, branch: str) -> tuple[list[Any], Any]:
    """By Taylor series."""
    ones = make(np.ones(1), np.ones(1))
    lower, _ = natural(lambda z, v: series(vector, z, order - 1, direction=v), (centre, ones), {}, branch)
    _, broken = natural(lambda z, v: series(vector, z, order - 1, direction=v), (box, ones), {}, branch, watches=True)
    last, _ = natural(lambda z, v: series(vector, z, order, direction=v)[order], (box, ones), {}, branch)
    return [*lower[1:], last], broken


def _several_variables(vector: Callable, centre: Any, box: Any, order: int, branch: str) -> tuple[list[Any], Any]:
    """By nested derivatives."""
    found, derivative, broken = [], vector, False
    for k in range(1, order + 1):
        derivative = jacobian(derivative)
        found.append(natural(derivative, (centre if k < order else box,), {}, branch)[0] / math.factorial(k))
        if k == order - 1:
            _, broken = natural(derivative, (box,), {}, branch, watches=True)
    return found, broken


def _known(d: Any) -> Any:
    """Derivatives that are defined nowhere say nothing."""
    return make(V.where(d.empty, -math.inf, d.lo), V.where(d.empty, math.inf, d.hi))


_FEW = 4
"""Of so many results each is looked at, whether it rises or falls."""


def _at_ends(vector: Callable, box: Any, slopes: Any, branch: str) -> Any:
    """Each result on the parts of a box where it can be least and greatest: at ends, where it rises or falls."""
    found = []
    for k in range(shape_of(slopes)[0]):
        rises = V.greater_equal(slopes.lo[k], 0)
        falls = V.logical_and(V.less_equal(slopes.hi[k], 0), V.logical_not(rises))  # constant: one end is enough
        low = make(V.where(falls, box.hi, box.lo), V.where(rises, box.lo, box.hi))
        high = make(V.where(rises, box.hi, box.lo), V.where(falls, box.lo, box.hi))
        least, most = [natural(vector, (part,), {}, branch)[0] for part in (low, high)]
        found.append(make(least.lo[k], most.hi[k]))
    return np.stack(found)


def monomials(x: Any, k: int) -> Any:
    """All products of k of the elements of x, in the order of a tensor, with powers for what occurs several times."""
    if k == 1:
        return x
    n = shape_of(x)[0]
    powers: dict[tuple[int, int], Any] = {}
    found: dict[tuple, Any] = {}
    for places in itertools.combinations_with_replacement(range(n), k):
        product = None
        for place, count in Counter(places).items():
            if (place, count) not in powers:
                powers[place, count] = x[place] ** count
            factor = powers[place, count]
            product = factor if product is None else product * factor
        found[places] = product
    rows = [found[tuple(sorted(places))] for places in itertools.product(range(n), repeat=k)]
    return np.stack(rows)
