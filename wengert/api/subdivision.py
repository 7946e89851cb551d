"""A function on many boxes at once: what searches that divide boxes ask of it.

A `Stack` is an array of intervals with a box in each row. The function is run on all rows together (`vmap` over
intervals), and on each by itself where they go different ways, or where the function is not continuous on some: nothing
follows from derivatives there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.centred import packed, unpacked
from wengert.api.hessian import hessian
from wengert.api.jacobian import jacobian
from wengert.api.natural import is_interval, natural
from wengert.api.vmap import vmap
from wengert.capture.hooks import resolve
from wengert.capture.one_of import numbers_in
from wengert.errors import MismatchError, UndecidedError
from wengert.modes.interval import make
from wengert.types import shape_of

_SIZES = (1, 16, 64, 256)
"""How many boxes there are in a stack, some of them twice: compiled functions are compiled for each size."""


class OnBoxes:
    """A function of the numbers in a box, as a function of vectors, on stacks of boxes."""

    def __init__(self, f: Callable, box: Any, results: int | None):
        self.leaves, self.structure = tree.flatten_until(box, is_interval)
        if not self.leaves or not all(map(is_interval, self.leaves)):
            raise MismatchError(
                "a search in something that is no box",
                remedy="pass wg.interval(lo, hi), of arrays for several variables",
            )
        self.box = packed(self.leaves)
        self.size = shape_of(self.box)[0]
        self.results = results
        function = resolve(f)

        def vector(z: Any) -> Any:
            found = tree.leaves(numbers_in(function(tree.unflatten(self.structure, unpacked(z, self.leaves)))))
            y = packed(found)
            wanted = self.size if results is None else results
            if shape_of(y) != (wanted,):
                raise MismatchError(
                    f"the function has {shape_of(y)[0]} results, for {self.size} variables",
                    remedy="it must have as many equations as variables" if results is None else "return one number",
                )
            return y

        self.vector = vector
        self.jacobian = jacobian(vector)
        self.hessian = hessian(lambda z: vector(z)[0])

    def container(self, row: Any) -> Any:
        """A box, or a number for each variable, in the containers that the box came in."""
        return tree.unflatten(self.structure, unpacked(row, self.leaves))

    def on(self, function: Callable, stack: Any, watches: bool = False) -> tuple[Any, np.ndarray]:
        """A function on each box of a stack, and on which of them it may not be continuous.

        Where a box leaves a decision open, all ways are gone; nothing is known where that does not help.
        """
        count = shape_of(stack)[0]
        rows = np.minimum(np.arange(next(n for n in _SIZES if n >= count)), count - 1)
        try:
            y, broken = natural(vmap(function), (stack[rows],), {}, watches=watches)
            if not broken:
                return y[:count], np.zeros(count, bool)
        except UndecidedError:
            pass
        found, flags = [], []
        for k in range(count):
            try:
                y, broken = natural(function, (stack[k],), {}, "both", watches)
            except UndecidedError:
                y, broken = None, True
            found.append(y)
            flags.append(bool(broken))
        shape = next((shape_of(y) for y in found if y is not None), None)
        if shape is None:
            shape = {self.vector: (self.size if self.results is None else self.results,)}.get(
                function, (self.size,) * 2
            )
        nothing = make(np.full(shape, -math.inf), np.full(shape, math.inf))
        return np.stack([nothing if y is None else y for y in found]), np.array(flags)


def krawczyk(box: Any, value: Any, slopes: Any, usable: np.ndarray) -> tuple[Any, Any]:
    """Krawczyk's operator for each of some boxes, from the values at their middles and enclosures of the Jacobian,
    where that is `usable`; and how far the preconditioned Jacobian is from the identity."""
    n = slopes.shape[1]
    middle = np.asarray(box.mid)
    with np.errstate(all="ignore"):
        inverse = np.linalg.pinv(np.where(usable[:, None, None], np.asarray(slopes.mid), np.eye(n)))
    y = point(inverse)
    rest = point(np.broadcast_to(np.eye(n), slopes.shape).copy()) - y @ slopes
    away = box - point(middle)
    return point(middle) - (y @ value[:, :, None])[:, :, 0] + (rest @ away[:, :, None])[:, :, 0], rest


def point(x: np.ndarray) -> Any:
    return make(x, x.copy())


def bisected(low: np.ndarray, high: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each box in two halves, along an axis of its own."""
    rows = np.arange(len(low))
    middle = split_point(low[rows, axis], high[rows, axis])
    first, last = high.copy(), low.copy()
    first[rows, axis] = middle
    last[rows, axis] = middle
    return np.concatenate([low, last]), np.concatenate([first, high])


def split_point(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where to divide an interval: not in the very middle, where nice problems have solutions."""
    with np.errstate(all="ignore"):
        middle = low + 0.48828125 * (high - low)
        middle = np.where(np.isfinite(middle), middle, 0.5 * low + 0.5 * high)
        far_left, far_right = np.minimum(-1.0, 2 * high), np.maximum(1.0, 2 * low)
    left, right = np.isinf(low), np.isinf(high)
    middle = np.where(left, np.where(right, 0.0, far_left), np.where(right, far_right, middle))
    most = np.finfo(float).max
    return np.clip(np.clip(middle, low, high), -most, most)


_SMALL = 1e-6


def merged(boxes: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Boxes that touch, or are small and near each other, as one around them."""
    if not boxes:
        return []
    lows, highs = np.array([b[0] for b in boxes]), np.array([b[1] for b in boxes])
    alone = np.zeros(len(boxes), bool)

    def reach(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """How far from a box another may be: around a double root there are some, with gaps in which there is none."""
        width = high - low
        return np.where(np.isfinite(width) & (width <= _SMALL * (1 + np.abs(low))), 4 * width, 0.0)

    for k in range(len(boxes)):
        low, high = lows[k], highs[k]
        while True:
            with np.errstate(over="ignore"):
                gap = np.maximum(reach(low, high), reach(lows, highs))
                touching = alone & np.all((lows <= high + gap) & (low <= highs + gap), axis=1)
            if not np.any(touching):
                break
            low, high = np.minimum(low, lows[touching].min(axis=0)), np.maximum(high, highs[touching].max(axis=0))
            alone &= ~touching
        lows[k], highs[k], alone[k] = low, high, True
    return sorted(zip(lows[alone], highs[alone], strict=True), key=lambda box: box[0].tolist())
