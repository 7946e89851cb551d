"""Bounds in any form: SciPy's, or in the containers of the unknowns.

- `None`, `scipy.optimize.Bounds(lower, upper)`, or a pair for each number: `[(0, None), (0, 1)]`
- a container like x0 with a pair for each leaf, `{"rate": (0, None), "weights": (-1, 1)}`, of numbers or of arrays
  that fit the leaf, `{"weights": (w - 1, w + 1)}`; or with a pair for each number
- a pair of containers like x0, or of numbers: `({"rate": 0, "weights": w - 1}, {"rate": 1, "weights": w + 1})`
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import Layout
from wengert.errors import MismatchError


def limits_of(bounds: Any, unknowns: Layout) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper limits as vectors; `None` if there are none."""
    if bounds is None:
        return None
    for read in (_object, _pair_per_number, _pair_per_leaf, _two_containers):
        found = read(bounds, unknowns)
        if found is not None:
            lower, upper = found
            wrong = ~(lower <= upper) | (lower == np.inf) | (upper == -np.inf)
            if np.any(wrong):
                k = int(np.argmax(wrong))
                how = "above the upper bound" if lower[k] > upper[k] else "no lower bound for the upper bound"
                raise MismatchError(
                    f"the lower bound {lower[k]:g} of unknown {k} is {how} {upper[k]:g}",
                    remedy="mend the bounds; a list has a pair (lower, upper) for each unknown, and two vectors are "
                    "scipy.optimize.Bounds(lower, upper)",
                )
            return (lower, upper) if np.any(np.isfinite(lower) | np.isfinite(upper)) else None
    raise MismatchError(
        f"the bounds do not fit {unknowns.size} unknowns",
        remedy="give a pair (lower, upper) for each number, a pair for each leaf in the containers of x0, "
        "or scipy.optimize.Bounds",
    )


def _number(x: Any, otherwise: float) -> float:
    return otherwise if x is None else float(x)


def _is_pair(x: Any) -> bool:
    return isinstance(x, (tuple, list, np.ndarray)) and len(x) == 2 and all(v is None or np.ndim(v) == 0 for v in x)


def _object(bounds: Any, unknowns: Layout) -> Any:
    if not hasattr(bounds, "lb"):
        return None
    for limit in (bounds.lb, bounds.ub):
        if not isinstance(limit, dict) and np.size(limit) not in (1, unknowns.size) and len(unknowns.shapes) == 1:
            raise MismatchError(
                f"{np.size(limit)} bounds for {unknowns.size} unknowns",
                remedy="give one number, or as many as there are unknowns",
            )
    return _spread(bounds.lb, unknowns), _spread(bounds.ub, unknowns)


def _pair_per_number(bounds: Any, unknowns: Layout) -> Any:
    if isinstance(bounds, zip):
        bounds = list(bounds)
    fits = isinstance(bounds, (tuple, list, np.ndarray)) and len(bounds) == unknowns.size
    if not fits or not all(_is_pair(pair) for pair in bounds):
        return None
    lower = np.array([_number(low, -np.inf) for low, _ in bounds])
    return lower, np.array([_number(high, np.inf) for _, high in bounds])


def _pair_per_leaf(bounds: Any, unknowns: Layout) -> Any:
    for is_limit in (lambda x: _is_pair(x) or _is_arrays(x), lambda x: _is_pair(x) or _is_arrays(x) or _is_pairs(x)):
        leaves, structure = tree.flatten_until(bounds, is_limit)
        if structure == unknowns.structure and all(is_limit(leaf) for leaf in leaves):
            break
    else:
        return None
    parts = [_limits_of_leaf(leaf, shape) for leaf, shape in zip(leaves, unknowns.shapes, strict=True)]
    fitting = [part for part in parts if part is not None]
    return tuple(np.concatenate(fitting, axis=1)) if len(fitting) == len(parts) else None


def _is_pairs(x: Any) -> bool:
    """A pair for each number of a leaf."""
    return isinstance(x, (tuple, list, np.ndarray)) and len(x) > 0 and all(_is_pair(pair) for pair in x)


def _is_arrays(x: Any) -> bool:
    """A lower and an upper limit for a leaf, of which one at least is an array."""
    if not isinstance(x, tuple) or len(x) != 2:
        return False
    arrays = [isinstance(v, np.ndarray) and v.ndim > 0 for v in x]
    return any(arrays) and all(a or v is None or np.ndim(v) == 0 for a, v in zip(arrays, x, strict=True))


def _limits_of_leaf(limit: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Lower and upper limits of the numbers in a leaf: one pair for all of them, two arrays, or a pair for each."""
    size = math.prod(shape)
    if _is_arrays(limit):
        given = [far if v is None else v for v, far in zip(limit, (-np.inf, np.inf), strict=True)]
        try:
            return np.stack([np.broadcast_to(np.asarray(v, float), shape).ravel() for v in given])
        except ValueError:
            return None
    pairs = [limit] if _is_pair(limit) else list(limit)
    if len(pairs) not in (1, size):
        return None
    found = np.array([[_number(low, -np.inf), _number(high, np.inf)] for low, high in pairs]).T
    return np.array(np.broadcast_to(found, (2, size)))


def _two_containers(bounds: Any, unknowns: Layout) -> Any:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        return None
    try:
        return _spread(bounds[0], unknowns, -np.inf), _spread(bounds[1], unknowns, np.inf)
    except (ValueError, TypeError):
        return None


def _spread(limit: Any, unknowns: Layout, missing: float = np.nan) -> np.ndarray:
    """One limit for each number: a number for all, a vector, or a container like x0 with numbers or arrays."""
    if limit is None:
        return np.full(unknowns.size, missing)
    leaves, structure = tree.flatten(limit)
    if structure == unknowns.structure:
        parts = [np.broadcast_to(x, shape).ravel() for x, shape in zip(leaves, unknowns.shapes, strict=True)]
        return np.concatenate(parts).astype(float)
    return np.array(np.broadcast_to(np.asarray(limit, float).ravel(), (unknowns.size,)))
