"""Functions of scipy.ndimage that are given a function (of coordinates, of a neighbourhood), and filters of spectra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import BLIND, CALLERS, FUNCTIONS, first_by_name, implements_blind
from wengert.box.functions.images import axes_of, map_coordinates, of_images, register_all, sequence
from wengert.box.functions.neighbourhoods import footprint_of, neighbourhoods
from wengert.box.functions.operands import array, holds_traced, stacked, unsupported_option
from wengert.box.functions.reductions import deviation
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.types import dtype_of, ndim_of, shape_of

# ------------------------------------------------------------------------------------------------- given a function


def _geometric_transform(original: Callable) -> Callable:
    def geometric_transform(
        input: Any, mapping: Callable, output_shape: Any = None, output: Any = None, order: int = 3,
        mode: str = "constant", cval: Any = 0.0, prefilter: bool = True, extra_arguments: Any = (),
        extra_keywords: Any = None,
    ) -> Any:  # fmt: skip
        shape = shape_of(input) if output_shape is None else tuple(output_shape)
        moved = [mapping(place, *extra_arguments, **(extra_keywords or {})) for place in np.ndindex(*shape)]
        if not holds_traced([input, *moved]):
            points = np.array(moved, float)
            return original(input, lambda place: tuple(points[np.ravel_multi_index(place, shape)]), shape, output,
                            order, mode, cval, prefilter)  # fmt: skip
        n = ndim_of(input)
        points = s.reshape(stacked([array(p) for p in moved], -1), shape=(n, *shape))
        interpolated = of_images(original, lambda x: map_coordinates(x, points, order, mode, cval, prefilter))
        return interpolated(input, output=output)

    return geometric_transform


def _generic_filter(original: Callable) -> Callable:
    def generic_filter(
        input: Any, function: Callable, size: Any = None, footprint: Any = None, output: Any = None,
        mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, extra_arguments: Any = (), extra_keywords: Any = None,
        *, axes: Any = None,
    ) -> Any:  # fmt: skip
        if not holds_traced([input, *extra_arguments]):
            return original(input, function, size, footprint, output, mode, cval, origin, extra_arguments,
                            extra_keywords, **({} if axes is None else {"axes": axes}))  # fmt: skip

        def filtered(x: Any) -> Any:
            along = axes_of(x, axes)
            shape = footprint_of(size, footprint, len(along))
            near = neighbourhoods(x, shape, mode, cval, sequence(origin, len(along)), along)
            return FUNCTIONS[np.apply_along_axis](function, -1, near, *extra_arguments, **(extra_keywords or {}))

        return of_images(original, filtered)(input, output=output)

    return generic_filter


def _of_each_axis(combine: Callable) -> Callable:
    """A function of the derivatives along each axis, which a function of the user's computes."""

    def implementation(
        x: Any, derivative: Callable, mode: Any = "reflect", cval: Any = 0.0, extra_arguments: Any = (),
        extra_keywords: Any = None, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        along = axes_of(x, axes)
        if not along:
            return x
        along_one = BLIND.get(derivative, derivative)  # a function of SciPy's: what it means here
        parts = [
            along_one(x, k, dtype_of(x), one, cval, *extra_arguments, **(extra_keywords or {}))
            for k, one in zip(along, sequence(mode, len(along)), strict=True)
        ]
        return combine(parts)

    return implementation


def _length(parts: list[Any]) -> Any:
    total = sum((p * p for p in parts[1:]), parts[0] * parts[0])
    return deviation(total, e.equal(total, 0))


def _added(parts: list[Any]) -> Any:
    return sum(parts[1:], parts[0])


# ---------------------------------------------------------------------------------------------- filters of spectra


def _frequencies(shape: tuple[int, ...], n: int, axis: int) -> list[Any]:
    """Cycles a sample along each axis; one axis of a real transform has the frequencies of n samples, without the
    negative ones."""
    found = []
    for k, size in enumerate(shape):
        f = np.arange(size) / n if n >= 0 and k == axis else np.fft.fftfreq(size)
        found.append(f.reshape([size if j == k else 1 for j in range(len(shape))]))
    return found


def _spectral(function: str, response: Callable | None) -> Callable:
    """A filter of a spectrum is a product. `response(frequencies, parameter)` is what it is multiplied with; without,
    the parameter is a constant and SciPy is asked what it makes of ones."""

    def given(original: Callable) -> Callable:
        def implementation(input: Any, parameter: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
            x = array(input)
            shape, n = shape_of(x), int(n)
            if output is not None:
                raise unsupported_option(f"scipy.ndimage.{function}", "output=", "use the returned result")
            if response is not None:
                place = normalize_axis_index(axis, len(shape))
                factor = response(_frequencies(shape, n, place), sequence(parameter, len(shape)))
            elif holds_traced([parameter]):
                raise unsupported_option(f"scipy.ndimage.{function}", "a traced size", "use wg.stop_gradient(size)")
            else:
                factor = original(np.ones(shape, np.complex128), parameter, n, axis).real
            kinds = (np.float32, np.complex64)
            single = dtype_of(x) in kinds
            return x * (factor.astype(np.float32) if single and isinstance(factor, np.ndarray) else factor)

        return implementation

    return given


def _shifted(frequencies: list[Any], shift: list[Any]) -> Any:
    return e.exp(-2j * math.pi * sum((f * d for f, d in zip(frequencies, shift, strict=True)), 0.0))


def _blurred(frequencies: list[Any], sigma: list[Any]) -> Any:
    squares = sum((f * f * (d * d) for f, d in zip(frequencies, sigma, strict=True)), 0.0)
    return e.exp(-2 * math.pi**2 * squares)


@when_imported("scipy.ndimage")
def _ndimage(module: Any) -> None:
    CALLERS[module.geometric_transform] = _geometric_transform(module.geometric_transform)
    CALLERS[module.generic_filter] = _generic_filter(module.generic_filter)
    sums = {"generic_laplace": _added, "generic_gradient_magnitude": _length}
    by_name = {name: first_by_name(getattr(module, name), _of_each_axis(f), 2) for name, f in sums.items()}
    register_all(module, by_name)
    responses = {"shift": _shifted, "gaussian": _blurred, "uniform": None, "ellipsoid": None}
    for name, response in responses.items():
        original = getattr(module, f"fourier_{name}")
        implements_blind(original)(first_by_name(original, _spectral(f"fourier_{name}", response)(original), 2))
