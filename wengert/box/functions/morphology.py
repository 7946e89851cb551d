"""Grey-scale morphology (scipy.ndimage) and rank filters of scipy.signal.

A dilation is a maximum of sums of neighbours and a structuring element, an erosion a minimum of differences: the
derivative goes to what was picked, in the image and in the structure alike. All else is composed of these two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import implements_blind
from wengert.box.functions.images import axes_of, of_floats, register_all, sequence
from wengert.box.functions.neighbourhoods import neighbourhoods, rank_filter
from wengert.box.functions.operands import array
from wengert.imported import when_imported
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.reduce import max as maximum_of
from wengert.ops.reduce import min as minimum_of
from wengert.types import dtype_of, ndim_of, shape_of


def _around(size: Any, footprint: Any, structure: Any, count: int) -> tuple[Any, Any]:
    """Which neighbours count, and what is added to them (`None` if nothing is)."""
    if structure is not None:
        structure = array(structure)
    if footprint is not None:
        footprint = np.asarray(footprint, bool)
    elif structure is not None:
        footprint = np.ones(shape_of(structure), bool)
    elif size is not None:
        footprint = np.ones([int(m) for m in sequence(size, count)], bool)
    else:
        raise ValueError("size, footprint, or structure must be specified")
    if footprint.ndim != count:
        raise RuntimeError("structure and footprint must have one axis for each axis of the image")
    if structure is not None and shape_of(structure) != footprint.shape:
        raise RuntimeError("structure and footprint must have the same shape")
    return footprint, structure


def _morphological(dilates: bool) -> Callable:
    def implementation(
        x: Any, size: Any = None, footprint: Any = None, structure: Any = None, mode: Any = "reflect", cval: Any = 0.0,
        origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        along = axes_of(x, axes)
        near, added = _around(size, footprint, structure, len(along))
        origins = [int(o) for o in sequence(origin, len(along))]
        if dilates:  # what an element reaches, instead of what reaches it: the neighbourhood is turned around
            near = np.flip(near)
            added = None if added is None else s.flip(added, axis=tuple(range(near.ndim)))
            origins = [-o - (m % 2 == 0) for o, m in zip(origins, near.shape, strict=True)]
        values = neighbourhoods(x, near, mode, cval, origins, along)
        if added is not None:
            heights = index(added, *np.nonzero(near), pattern=(ARRAY,) * near.ndim)
            values = values + heights if dilates else values - heights
        return (maximum_of if dilates else minimum_of)(values, axis=(ndim_of(values) - 1,))

    return implementation


grey_erosion, grey_dilation = _morphological(False), _morphological(True)


def _composed(compose: Callable) -> Callable:
    """A function of an image, with its erosion and dilation at hand."""

    def implementation(x: Any, *args: Any, **options: Any) -> Any:
        return compose(x, lambda x: grey_erosion(x, *args, **options), lambda x: grey_dilation(x, *args, **options))

    return implementation


_COMPOSED = {
    "grey_opening": lambda x, eroded, dilated: dilated(eroded(x)),
    "grey_closing": lambda x, eroded, dilated: eroded(dilated(x)),
    "morphological_gradient": lambda x, eroded, dilated: dilated(x) - eroded(x),
    "morphological_laplace": lambda x, eroded, dilated: dilated(x) + eroded(x) - 2 * x,
    "white_tophat": lambda x, eroded, dilated: x - dilated(eroded(x)),
    "black_tophat": lambda x, eroded, dilated: eroded(dilated(x)) - x,
}


# ------------------------------------------------------------------------------------------- of scipy.signal


def _odd(sizes: Any, rank: int) -> list[int]:
    sizes = [3] * rank if sizes is None else [int(m) for m in sequence(sizes, rank)]
    if any(m % 2 == 0 for m in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    return sizes


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    x = array(volume)
    if dtype_of(x).kind == "c":
        raise ValueError(f"dtype={dtype_of(x)} is not supported by medfilt")
    x = s.reshape(x, shape=(1,)) if ndim_of(x) == 0 else x
    sizes = _odd(kernel_size, ndim_of(x))
    return rank_filter(of_floats(x, "medfilt"), int(np.prod(sizes)) // 2, size=sizes, mode="constant")


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    x = array(input)
    if ndim_of(x) != 2:
        raise ValueError("object too deep for desired array" if ndim_of(x) > 2 else "object of too small depth")
    return medfilt(x, kernel_size)


def order_filter(a: Any, domain: Any, rank: int) -> Any:
    domain = np.asarray(domain)
    if any(m % 2 == 0 for m in domain.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    return rank_filter(of_floats(a, "order_filter"), rank, footprint=domain, mode="constant")


@when_imported("scipy.ndimage")
def _ndimage(module: Any) -> None:
    composed = {name: _composed(compose) for name, compose in _COMPOSED.items()}
    register_all(module, {"grey_erosion": grey_erosion, "grey_dilation": grey_dilation, **composed})


@when_imported("scipy.signal")
def _signal(module: Any) -> None:
    for implementation in (medfilt, medfilt2d, order_filter):
        implements_blind(getattr(module, implementation.__name__))(implementation)
