"""The numbers that least squares are solved for: those unknowns that are not held constant, or steps on manifolds.

A method knows a state, a vector, and steps. Without manifolds the state is the vector of all numbers that are free,
and a step is added to it. With manifolds the state is the vector of all unknowns, and a step holds, for each leaf, as
many numbers as its manifold has dimensions.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.flat import Layout
from wengert.errors import MismatchError
from wengert.optimize.manifolds import Manifold, demand_on, manifold_of


def for_each_leaf(given: Any, layout: Layout) -> list[Any]:
    """What is given for each leaf: one thing for all, or containers like those of the unknowns, or the upper part of
    them."""
    found: list[Any] = [None] * len(layout.shapes)

    def assign(places: Any, given: Any) -> None:
        if isinstance(places, int):
            found[places] = given
        elif isinstance(places, dict):
            for key, place in places.items():
                assign(place, given.get(key) if isinstance(given, dict) else given)
        elif dataclasses.is_dataclass(places):
            for field in dataclasses.fields(places):
                part = given.get(field.name) if isinstance(given, dict) else getattr(given, field.name, given)
                assign(getattr(places, field.name), part)
        elif isinstance(places, (list, tuple)):
            alike = isinstance(given, (list, tuple)) and len(given) == len(places)
            for k, place in enumerate(places):
                assign(place, given[k] if alike else given)
        elif places is not None:
            for place in tree.leaves(places):
                found[place] = given

    assign(tree.unflatten(layout.structure, list(range(len(found)))), given)
    return found


def held(constant: Any, layout: Layout) -> np.ndarray:
    """Which numbers are held constant, as a boolean vector."""
    mask = np.zeros(layout.size, bool)
    if constant is None:
        return mask
    places = tree.unflatten(layout.structure, list(range(len(layout.shapes))))
    if isinstance(constant, str):
        constant = {constant}
    if isinstance(constant, (set, frozenset)) or (
        isinstance(constant, (list, tuple)) and constant and all(isinstance(name, str) for name in constant)
    ):
        names = set(places) if isinstance(places, dict) else set()
        unknown = [name for name in constant if name not in names]
        if unknown:
            raise MismatchError(
                f"there is no unknown named {unknown[0]!r} to be held constant",
                remedy="name keys of x0, or give a container like x0 with True for what is held",
            )
        constant = dict.fromkeys(constant, True)
    ends = np.cumsum([0, *layout.sizes])
    alone = isinstance(places, int)
    for k, given in enumerate([constant] if alone else for_each_leaf(constant, layout)):
        if given is None or given is False:
            continue
        which = np.asarray(given)
        part = np.zeros(layout.shapes[k], bool)
        if which.dtype == bool:
            part[...] = which
        else:
            part[which] = True
        mask[ends[k] : ends[k + 1]] = part.ravel()
    return mask


class Coordinates:
    """Free numbers, without manifolds."""

    curved = False

    def __init__(self, layout: Layout, constant: np.ndarray):
        self.key: Any = constant.tobytes()
        self.free = np.flatnonzero(~constant)
        self.size = len(self.free)
        self._all = self.size == layout.size
        self._place = np.where(constant, self.size + np.arange(layout.size), np.cumsum(~constant) - 1)

    def state(self, vector: Any) -> Any:
        """The state, for all unknowns."""
        return vector if self._all else vector[self.free]

    def point(self, state: Any, start: Any) -> Any:
        """All unknowns, for a state; `start` are all unknowns at the start."""
        return state if self._all else np.concatenate((state, start))[self._place]

    def moved(self, state: Any, step: Any) -> Any:
        """The state after a step."""
        return state + step

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Numbers for free unknowns as numbers for all, with zeros for those that are constant."""
        return np.concatenate((values, np.zeros(len(self._place))))[self._place]


class CurvedCoordinates:
    """Steps on manifolds."""

    curved = True

    def __init__(self, layout: Layout, constant: np.ndarray, manifolds: list[Manifold | None]):
        self.key: Any = constant.tobytes(), *manifolds
        self._pieces: list[tuple] = []
        start = count = 0
        for shape, size, manifold in zip(layout.shapes, layout.sizes, manifolds, strict=True):
            mask = constant[start : start + size]
            lead = shape if manifold is None else manifold.leading(shape)
            width = 1 if manifold is None else manifold.dimension
            points = mask.reshape((int(np.prod(lead)), -1))
            fixed = np.asarray(points.all(axis=1))
            if np.any(points.any(axis=1) != fixed):
                raise MismatchError(
                    "a part of a point of a manifold is held constant",
                    remedy="hold whole points constant, or write a manifold whose retraction keeps that part",
                )
            free = int(np.sum(~fixed)) * width
            which = np.full((len(fixed), width), -1)
            which[~fixed] = count + np.arange(free).reshape(-1, width)
            inner = (*lead, width) if manifold is not None else lead
            self._pieces.append((slice(start, start + size), shape, manifold, which.reshape(inner)))
            start, count = start + size, count + free
        self.size = count

    def demand_on(self, vector: np.ndarray) -> None:
        """Refuse unknowns that are not on their manifolds."""
        for place, shape, manifold, _ in self._pieces:
            if manifold is not None:
                demand_on(manifold, np.reshape(vector[place], shape))

    def state(self, vector: Any) -> Any:
        return vector

    def point(self, state: Any, start: Any) -> Any:
        return state

    def moved(self, state: Any, step: Any) -> Any:
        """All unknowns after a step."""
        padded = np.concatenate((step, np.zeros(1)))
        parts = []
        for place, shape, manifold, which in self._pieces:
            d = padded[which]
            x = np.reshape(state[place], shape)
            parts.append(np.reshape(x + d if manifold is None else manifold.move(x, d), (-1,)))
        return np.concatenate(parts)


def coordinates_of(layout: Layout, constant: Any, manifold: Any) -> Coordinates | CurvedCoordinates:
    """The coordinates of a problem."""
    mask = held(constant, layout)
    if layout.size and mask.all():
        raise MismatchError("all unknowns are held constant", remedy="leave at least one of them free")
    given = for_each_leaf(manifold, layout) if manifold is not None else []
    manifolds = [manifold_of(m, shape) for m, shape in zip(given, layout.shapes, strict=False)]
    if all(m is None for m in manifolds):
        return Coordinates(layout, mask)
    return CurvedCoordinates(layout, mask, manifolds)
