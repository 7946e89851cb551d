"""Measurements of scipy.ndimage on the regions of an image: sums, means, variances, centres, extremes.

Labels are not differentiated: they say which elements belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.images import floating
from wengert.box.functions.operands import array, flat, holds_traced, pick, stacked
from wengert.box.functions.reductions import deviation
from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.ops.op import Traced
from wengert.ops.reduce import max as maximum_of
from wengert.ops.reduce import min as minimum_of
from wengert.types import dtype_of, shape_of


class Regions:
    """Which elements of an image belong to which of the regions that are asked for."""

    def __init__(self, x: Any, labels: Any, chosen: Any, function: str):
        labels, chosen = settled(labels), settled(chosen)
        if isinstance(labels, Traced) or holds_traced(labels):
            raise UnsupportedFunctionError(
                f"scipy.ndimage.{function} with traced labels", remedy="pass wg.stop_gradient of the labels"
            )
        shape = shape_of(x)
        self.shape: tuple[int, ...] = ()
        if labels is None:
            self.places = np.zeros(shape, int).reshape(-1)
            self.count = 1
            return
        labels = np.broadcast_to(np.asarray(labels), shape).reshape(-1)
        if chosen is None:
            self.places = np.where(labels > 0, 0, 1)
            self.count = 1
            return
        wanted = np.asarray(chosen)
        self.shape = wanted.shape
        different, back = np.unique(wanted.reshape(-1), return_inverse=True)
        found = np.clip(np.searchsorted(different, labels), 0, len(different) - 1)
        self.count = len(different)
        self.places = np.where(different[found] == labels, found, self.count)
        self.order = back

    def sums(self, x: Any) -> Any:
        """Σ over each region, in a row; what belongs to none is in a bin of its own that is dropped."""
        total = FUNCTIONS[np.bincount](self.places, weights=flat(x), minlength=self.count + 1)
        return index(total, pattern=(slice(0, self.count),))

    def sizes(self) -> Any:
        return np.bincount(self.places, minlength=self.count + 1)[: self.count]

    def arranged(self, y: Any) -> Any:
        """As they were asked for."""
        if not self.shape and self.count == 1:
            return index(y, pattern=(0,))
        return s.reshape(pick(y, self.order), shape=self.shape)

    def spread(self, y: Any) -> Any:
        """The value of its region for each element in a row; zero for those that belong to none."""
        longer = FUNCTIONS[np.concatenate]([y, np.zeros(1, dtype_of(y))])
        return pick(longer, self.places)


def _measured(function: str, measure: Callable) -> Callable:
    def implementation(input: Any, labels: Any = None, index: Any = None) -> Any:
        (x,) = floating(array(input))
        regions = Regions(x, labels, index, function)
        return regions.arranged(measure(x, regions))

    return implementation


def _means(x: Any, regions: Regions) -> Any:
    return regions.sums(x) / regions.sizes()


def _variances(x: Any, regions: Regions) -> Any:
    centred = flat(x) - regions.spread(_means(x, regions))
    return regions.sums(centred * centred) / regions.sizes()


def _extremes(reduce: Any) -> Callable:
    def measure(x: Any, regions: Regions) -> Any:
        row = flat(x)
        found = []
        for k in range(regions.count):
            places = np.flatnonzero(regions.places == k)
            found.append(reduce(pick(row, places), axis=(0,)) if len(places) else np.zeros((), dtype_of(x)))
        return stacked(found, 0)

    return measure


sum_labels = _measured("sum_labels", lambda x, regions: regions.sums(x))
mean = _measured("mean", _means)
variance = _measured("variance", _variances)


def _deviation(variances: Any) -> Any:
    return deviation(variances, e.equal(variances, 0))


standard_deviation = _measured("standard_deviation", lambda x, regions: _deviation(_variances(x, regions)))
maximum, minimum = _measured("maximum", _extremes(maximum_of)), _measured("minimum", _extremes(minimum_of))


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    (x,) = floating(array(input))
    regions = Regions(x, labels, index, "center_of_mass")
    mass = regions.sums(x)
    grids = np.meshgrid(*[np.arange(float(n)) for n in shape_of(x)], indexing="ij")
    centres = [regions.arranged(regions.sums(x * g) / mass) for g in grids]
    if not regions.shape:
        return tuple(centres)
    return [tuple(c[k] for c in centres) for k in range(regions.shape[0])]


@when_imported("scipy.ndimage")
def _ndimage(module: Any) -> None:
    implementations = {
        "sum": sum_labels, "sum_labels": sum_labels, "mean": mean, "variance": variance,
        "standard_deviation": standard_deviation, "maximum": maximum, "minimum": minimum,
        "center_of_mass": center_of_mass,
    }  # fmt: skip
    for name, implementation in implementations.items():
        implements_blind(getattr(module, name))(implementation)
