"""Writing to places that index arrays name, in arrays of other libraries: the same digits every time.

On a device many threads write at once. Where two of them name one element, an assignment leaves the value of whichever
comes last, and sums by atomic operations are added in an order that differs from run to run. Here the places are sorted
first (a stable sort), so that equal ones are neighbours: of an assignment the last one is taken, as NumPy does it, and
sums are formed within each group of equal places by doubling: log₂ of the largest group steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops import library
from wengert.types import SCALARS


def _leading(target: Any, place: tuple) -> tuple[tuple, int]:
    """The index without whole axes at its end, and how many axes it names: those after them are moved as they are."""
    for item in place:
        if item.__class__ not in (int, slice) and (not hasattr(item, "dtype") or item.dtype.kind == "b"):
            return place, target.ndim  # `...`, a new axis, a mask
    while place and place[-1].__class__ is slice and place[-1] == slice(None):
        place = place[:-1]
    return place, len(place)


class _Groups:
    """The places of an index, sorted: each as the number of a row of `target`, of which it names some leading axes."""

    def __init__(self, target: Any, place: tuple):
        place, named = _leading(target, place)
        lead, self.rest = target.shape[:named], target.shape[named:]
        self.size, self.width = math.prod(lead), math.prod(self.rest)
        numbers = library.arange(0, self.size, target).reshape(lead)[place]
        self.shape, self.numbers = numbers.shape, numbers.reshape(-1)
        self.count = math.prod(self.shape)
        self.order = (
            np.argsort(self.numbers, kind="stable") if self.count > 1 else library.arange(0, self.count, target)
        )
        self.sorted = self.numbers[self.order]

    def same(self, step: int) -> Any:
        """Whether each place equals the one that many before it."""
        return np.equal(self.sorted[step:], self.sorted[:-step])

    @property
    def ends(self) -> Any:
        """Whether each sorted place is the last of those equal to it."""
        return np.concatenate([~self.same(1), library.ones((1,), bool, self.sorted)])

    def rows(self, value: Any, target: Any) -> Any:
        """A value that is written there, as so many rows."""
        shape = (*self.shape, *self.rest)
        if value.__class__ in SCALARS or isinstance(value, np.generic):
            return library.full((self.count, self.width), value, np.result_type(target.dtype, value), target)
        value = library.moved(value, target)
        if value.ndim > len(shape):  # NumPy lets a value have more axes than its place, of length one
            value = value.reshape(value.shape[value.ndim - len(shape) :])
        return np.broadcast_to(value, shape).reshape(self.count, self.width)

    def written(self, rows: Any, numbers: Any, chosen: Any, start: Any) -> Any:
        """`start`, with the chosen ones of rows at their numbers; the others go to a row that is dropped."""
        start[np.where(chosen, numbers, self.size)] = rows
        return start[: self.size]


def add_repeated(target: Any, place: tuple, value: Any) -> None:
    """`np.add.at(target, place, value)`."""
    g = _Groups(target, place)
    if not g.count * g.width:
        return
    rows = g.rows(value, target)[g.order]
    step = 1
    while step < g.count:
        same = g.same(step)
        if not np.any(same):
            break
        rows = np.concatenate([rows[:step], rows[step:] + np.where(same[:, None], rows[:-step], rows.dtype.type(0))])
        step *= 2
    start = library.zeros((g.size + 1, g.width), rows.dtype, target)
    target += g.written(rows, g.sorted, g.ends, start).reshape(target.shape)


def store_repeated(target: Any, place: tuple, value: Any) -> None:
    """`target[place] = value`, where the last of several values for one element counts."""
    g = _Groups(target, place)
    if not g.count * g.width:
        return
    if g.count == 1 or not np.any(g.same(1)):
        target[place] = value
        return
    rows = g.rows(value, target).astype(target.dtype)
    last = library.zeros((g.count,), bool, target)
    last[g.order] = g.ends
    start = np.concatenate([target.reshape(g.size, g.width), library.zeros((1, g.width), target.dtype, target)])
    target[...] = g.written(rows, g.numbers, last, start).reshape(target.shape)
