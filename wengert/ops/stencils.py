"""Derivatives in parameters, such as the order of a Bessel function, of functions that are only known by their values.

The functions are analytic in the parameter and SciPy computes them to rounding. So they are differentiated by central
differences of very high order (29 nodes), whose spacing is a fixed fraction of the length on which the function
changes: the truncation error is then below rounding, and rounding errors grow by a factor of ten or so per order only.
That is not the usual compromise between truncation and rounding, since nothing depends on the spacing being small.

Note [Spacing]. Let ω be the exponential type of f near the point: f is composed of exp(iωt) or exp(ωt), roughly. With
2m + 1 nodes at distance δ the relative truncation error of f′ is (ωδ)^(2m)·(m!)²/(2m+1)!; for m = 14 and ωδ = ½ that
is 3e-18. Weights fall like exp(−k²/m), so noise is amplified by Σ|wₖ| ≈ 2·log(m)/δ ≈ 10·ω, which is ten times the
scale of f′ itself. A pole at the distance d does no harm as long as mδ ≤ 0.6·d. Spacings are powers of two: then the
nodes are exact.

Note [The error is known]. Everything is computed with half the spacing too. Where the two results differ by more than
the stated tolerance, because SciPy's function is not accurate there or because the scale was misjudged, there is an
error instead of a derivative.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from wengert.errors import UnsupportedFunctionError

REACH = 14
"""Nodes on either side."""
TOLERANCE = 1e-10
SMALLEST = 1e-270
"""Below this size values of the function at some of the nodes may vanish."""


@functools.cache
def weights(n: int) -> tuple[float, ...]:
    """With which values at −m, …, m are added to give the n-th derivative at zero, exact for polynomials of degree 2m.

    The recurrence of Fornberg, Mathematics of Computation 51 (1988), in rational numbers.
    """
    nodes = [0, *itertools.chain.from_iterable((k, -k) for k in range(1, REACH + n // 2 + 1))]
    c = [[Fraction(0)] * len(nodes) for _ in range(n + 1)]
    c[0][0] = Fraction(1)
    product = Fraction(1)
    for i in range(1, len(nodes)):
        longer = Fraction(1)
        for j in range(i):
            step = nodes[i] - nodes[j]
            longer *= step
            if j == i - 1:
                for k in range(min(i, n), -1, -1):
                    before = c[k - 1][j] * k if k else Fraction(0)
                    c[k][i] = product / longer * (before - nodes[j] * c[k][j])
            for k in range(min(i, n), -1, -1):
                before = c[k - 1][j] * k if k else Fraction(0)
                c[k][j] = (nodes[i] * c[k][j] - before) / step
        product = longer
    order = np.argsort(nodes)
    return tuple(float(c[n][k]) for k in order.tolist())


def _spacing(rate: Any, distance: Any) -> Any:
    """A power of two below 0.5/ω, and below 0.6/m of the distance of a pole; see Note [Spacing]."""
    widest = np.minimum(0.5 / rate, 0.6 / REACH * distance)
    return np.exp2(np.floor(np.log2(widest)))


def differentiated(
    name: str, f: Callable, parameters: Sequence[Any], orders: Sequence[int], rates: Sequence[Any],
    distances: Sequence[Any] | None = None, inside: Any = True,
) -> Any:  # fmt: skip
    """The derivative of f(*parameters), orders[k] times in the k-th parameter.

    All are arrays of one shape in double precision. `rates` are the ω of Note [Spacing] for each parameter; `distances`
    those of the nearest poles. Elements that are not `inside` are not looked at, and are NaN.
    """
    chosen = [k for k, n in enumerate(orders) if n]
    steps: list[Any] = [None] * len(parameters)
    for k in chosen:
        distance = np.inf if distances is None else distances[k]
        steps[k] = np.where(inside, _spacing(np.where(inside, rates[k], 1.0), distance), 1.0)
    with np.errstate(all="ignore"):
        fine, size = _once(f, parameters, orders, chosen, [h if h is None else 0.5 * h for h in steps])
        y, _ = _once(f, parameters, orders, chosen, steps)
        known = inside & np.isfinite(size) & (size > SMALLEST)
        for k in chosen:
            size = size * np.asarray(rates[k]) ** orders[k]
        bound = TOLERANCE * 10 ** (sum(orders) - 1) * np.maximum(size, np.abs(y))
        doubtful = known & ~(np.abs(y - fine) <= bound)
    if np.any(doubtful):
        place = [float(np.ravel(np.broadcast_to(p, np.shape(doubtful)))[np.ravel(doubtful)][0]) for p in parameters]
        raise UnsupportedFunctionError(
            f"the derivative of {name} in its parameters is not accurate at {tuple(place)}",
            remedy="if they should count as constants, pass wg.stop_gradient of them; otherwise give the function a "
            "rule with wg.custom_jvp",
        )
    return np.where(inside, y, np.nan)


def _once(f: Callable, parameters: Sequence[Any], orders: Sequence[int], chosen: list[int], steps: list) -> Any:
    """The differences with these spacings, and the size of the function at the point."""
    total: Any = 0.0
    size: Any = 0.0
    stencils = []
    for k in chosen:
        w = weights(orders[k])
        half = len(w) // 2
        stencils.append([(j - half, v) for j, v in enumerate(w)])
    for nodes in itertools.product(*stencils):
        moved = list(parameters)
        factor = math.prod(v for _, v in nodes)
        central = not any(j for j, _ in nodes)
        if factor == 0 and not central:
            continue
        for k, (j, _) in zip(chosen, nodes, strict=True):
            moved[k] = parameters[k] + j * steps[k]
        value = f(*moved)
        if central:
            size = np.abs(value)
        if factor:
            total = total + factor * value
    for k in chosen:
        total = total / steps[k] ** orders[k]
    return total, size
