"""Functions of scipy.ndimage: filters with every boundary mode, and interpolation of images.

A boundary mode is a way to continue an array, which `np.pad` knows, so a filter is a padding followed by a convolution
(op `convolve_nd`). Interpolation gathers the elements around each point and weighs them with B-splines of its distance
from the grid; where it lies on the grid is locally constant, and distances carry the derivatives in the coordinates.
"""

from __future__ import annotations

import inspect
import math
import string
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from wengert.box.dispatch import FUNCTIONS, implements_blind, name_of
from wengert.box.functions.operands import answer, array, cast, in_double, operand, stacked, unsupported_option
from wengert.box.functions.products import conj
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.filters import convolve_nd, spline_filter
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.ops.products import einsum, matmul
from wengert.ops.special import cosdg, sindg
from wengert.types import dtype_of, ndim_of, shape_of


def floating(*xs: Any) -> list[Any]:
    """Operands in one floating type."""
    dtype = np.result_type(*[dtype_of(x) for x in xs])
    if dtype.kind not in "fc":
        dtype = np.dtype(np.float64)
    return [cast(x, dtype) for x in xs]


def last(x: Any, axis: int) -> Any:
    """One axis moved to the end."""
    n = ndim_of(x)
    return x if axis == n - 1 else s.transpose(x, axes=(*[k for k in range(n) if k != axis], axis))


def back(x: Any, axis: int) -> Any:
    """The last axis moved to where it belongs."""
    n = ndim_of(x)
    return x if axis == n - 1 else s.transpose(x, axes=(*range(axis), n - 1, *range(axis, n - 1)))


# ----------------------------------------------------------------------------------------------------------- filters

_PADDING = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def continued(x: Any, widths: list[tuple[int, int]], mode: str, cval: Any) -> Any:
    """An array beyond its edges."""
    if mode not in _PADDING:
        raise RuntimeError("boundary mode not supported")
    if not any(map(any, widths)):
        return x
    options = {"constant_values": cval} if _PADDING[mode] == "constant" else {}
    return FUNCTIONS[np.pad](x, widths, _PADDING[mode], **options)


def of_images(original: Any, f: Callable) -> Callable:
    """A function of scipy.ndimage, given one of an array of floats that knows nothing of `output`: the type that is
    asked for, by default that of the input, or the one in which splines are computed."""
    parameters = inspect.signature(original).parameters
    place, usual = list(parameters).index("output"), parameters["output"].default

    def called(*args: Any, output: Any = usual, **options: Any) -> Any:
        args = args or (options.pop("input"),)
        if len(args) > place:
            output, args = args[place], (*args[:place], *args[place + 1 :])
        if isinstance(output, Traced) or (hasattr(output, "shape") and not isinstance(output, (type, np.dtype))):
            raise unsupported_option(name_of(original), "an array for output", "use the returned result")
        x = of_floats(args[0], original.__name__)
        y = f(x, *args[1:], **options)
        if output is None:
            output = np.result_type(dtype_of(x), dtype_of(y)) if dtype_of(y).kind == "c" else dtype_of(x)
        return y if output is usual else cast(y, output)

    return called


def register_all(module: Any, implementations: dict[str, Callable]) -> None:
    """Declare what functions of scipy.ndimage do (see `of_images`)."""
    for name, f in implementations.items():
        original = getattr(module, name)
        implements_blind(original)(of_images(original, f))


def axes_of(x: Any, axes: Any) -> tuple[int, ...]:
    """The axes that are meant: all, unless some are given."""
    return tuple(range(ndim_of(x))) if axes is None else normalize_axis_tuple(axes, ndim_of(x))


def of_floats(x: Any, function: str) -> Any:
    x = array(x)
    if dtype_of(x).kind not in "fc":
        raise UnsupportedFunctionError(
            f"scipy.ndimage.{function} of an array of type {dtype_of(x)} rounds its result, which has no derivative",
            remedy="convert the array with x.astype(float) first",
        )
    return x


def sequence(value: Any, count: int) -> list[Any]:
    values = [value] * count if ndim_of(value) == 0 or isinstance(value, str) else list(value)
    if len(values) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def _slid(
    x: Any, weights: Any, axes: tuple[int, ...], mode: str, cval: Any, origins: list[int], convolves: bool
) -> Any:
    """The weights, which have one axis for each of `axes`, slid over x."""
    if not isinstance(weights, Traced) and dtype_of(weights).kind != "c":
        weights = cast(weights, np.zeros((), dtype_of(x)).real.dtype)
    sizes, rank, n = shape_of(weights), len(axes), ndim_of(x)
    if len(sizes) != rank:
        raise RuntimeError(f"weights.ndim ({len(sizes)}) must match len(axes) ({rank})")
    widths = [(0, 0)] * n
    for k, m, origin in zip(axes, sizes, origins, strict=True):
        if convolves:
            origin = -origin - (m % 2 == 0)
        if not -(m // 2) <= origin <= (m - 1) // 2:
            raise ValueError("Invalid origin; origin must satisfy -(weights.shape[k] // 2) <= origin[k] <= "
                             "(weights.shape[k]-1) // 2")  # fmt: skip
        widths[k] = (m // 2 + origin, m - m // 2 - 1 - origin)
    if not convolves:
        weights = s.flip(conj(weights), axis=tuple(range(rank)))
    padded = continued(x, widths, mode, cval)
    order = (*[k for k in range(n) if k not in axes], *axes)
    if order == tuple(range(n)):
        return convolve_nd(padded, weights, rank=rank, mode="valid")
    y = convolve_nd(s.transpose(padded, axes=order), weights, rank=rank, mode="valid")
    return s.transpose(y, axes=tuple(np.argsort(order).tolist()))


def _filter(convolves: bool) -> Callable:
    def implementation(
        x: Any, weights: Any, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
    ) -> Any:
        along = axes_of(x, axes)
        return _slid(x, array(weights), along, mode, cval, sequence(origin, len(along)), convolves)

    return implementation


def _filter1d(convolves: bool) -> Callable:
    def implementation(
        x: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
    ) -> Any:
        return _slid(x, array(weights), (normalize_axis_index(axis, ndim_of(x)),), mode, cval, [origin], convolves)

    return implementation


correlate, convolve = _filter(False), _filter(True)
correlate1d, convolve1d = _filter1d(False), _filter1d(True)


def _gaussian(sigma: Any, order: int, radius: int) -> Any:
    """A Gaussian on −radius … radius, with sum one, or a derivative of it: q(x)·φ(x) with a polynomial q."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-radius, radius + 1)
    inverse = 1 / (sigma * sigma)
    phi = e.exp(-0.5 * inverse * np.square(x))
    phi = phi / s.sum(phi, axis=(0,))
    q: list[Any] = [1.0]
    for _ in range(order):
        derivative = [(k + 1) * c for k, c in enumerate(q[1:])]
        product = [0.0, *[-inverse * c for c in q]]
        q = [c + (derivative[k] if k < len(derivative) else 0.0) for k, c in enumerate(product)]
    total: Any = 0.0
    for c in reversed(q):
        total = total * x + c
    return total * phi


def gaussian_filter1d(
    x: Any, sigma: Any, axis: int = -1, order: int = 0, mode: str = "reflect", cval: Any = 0.0, truncate: float = 4.0,
    *, radius: int | None = None,
) -> Any:  # fmt: skip
    sigma = operand(sigma)
    if radius is None:
        radius = int(truncate * answer(float, sigma) + 0.5)
    weights = s.flip(_gaussian(sigma, order, radius), axis=(0,))
    return correlate1d(x, weights, axis, mode, cval)


def gaussian_filter(
    x: Any, sigma: Any, order: Any = 0, mode: Any = "reflect", cval: Any = 0.0, truncate: float = 4.0, *,
    radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    along = axes_of(x, axes)
    n = len(along)
    radii = [None] * n if radius is None else sequence(radius, n)
    for k, one_sigma, one_order, one_mode, one_radius in zip(
        along, sequence(sigma, n), sequence(order, n), sequence(mode, n), radii, strict=True
    ):
        if answer(float, one_sigma) > 1e-15:
            x = gaussian_filter1d(x, one_sigma, k, one_order, one_mode, cval, truncate, radius=one_radius)
    return x


def uniform_filter1d(x: Any, size: int, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:
    return correlate1d(x, np.full(size, 1 / size), axis, mode, cval, origin)


def uniform_filter(
    x: Any, size: Any = 3, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Any:
    along = axes_of(x, axes)
    n = len(along)
    for k, one_size, one_origin, one_mode in zip(
        along, sequence(size, n), sequence(origin, n), sequence(mode, n), strict=True
    ):
        if one_size > 1:
            x = uniform_filter1d(x, int(one_size), k, one_mode, cval, one_origin)
    return x


# ----------------------------------------------------------------------------------------------------- interpolation


def _on_the_grid(c: np.ndarray, n: int, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a coordinate lies on an axis of n elements, and the slope of that: 1, −1 where mirrored, 0 where held."""
    inside = (c >= 0) & (c <= n - 1)
    if mode in ("constant", "grid-constant"):
        return c, np.ones_like(c)
    if mode == "nearest" or (n <= 1 and mode != "grid-wrap"):
        return np.clip(c, 0, n - 1), np.where(inside, 1.0, 0.0)
    if mode == "mirror":
        there = np.mod(np.abs(c), 2 * n - 2)
        turned, slope = there > n - 1, np.where(c < 0, -1.0, 1.0)
        there, slope = np.where(turned, 2 * n - 2 - there, there), np.where(turned, -slope, slope)
    elif mode in ("reflect", "grid-mirror"):
        there = np.mod(c, 2 * n)
        turned = there >= n
        there, slope = np.where(turned, 2 * n - 1 - there, there), np.where(turned, -1.0, 1.0)
    elif mode == "wrap":
        turns = np.where(c < 0, np.trunc(-c / (n - 1)) + 1, -np.trunc(c / (n - 1)))
        there, slope = c + (n - 1) * turns, np.ones_like(c)
    elif mode == "grid-wrap":
        there, slope = np.mod(c, n), np.ones_like(c)
    else:
        raise RuntimeError("boundary mode not supported")
    return np.where(inside, c, there), np.where(inside, 1.0, slope)


def _spline_weights(u: Any, order: int) -> list[Any]:
    """The uniform B-splines that are not zero at the distance u from a knot (de Boor's recurrence)."""
    weights: list[Any] = [1.0]
    for d in range(1, order + 1):
        before = [0.0, *weights]
        after = [*weights, 0.0]
        weights = [((u + (d - j)) * before[j] + ((1 + j) - u) * after[j]) / d for j in range(d + 1)]
    return weights


_MODE_OF_INDICES = {"constant": "mirror", "wrap": "mirror"}


def _located(c: np.ndarray, n: int, order: int, mode: str) -> tuple[Any, ...]:
    """For points along one axis: the elements around each, whether they exist, the distance from them, its slope."""
    c = np.asarray(c, float)
    place, slope = (c, np.ones_like(c)) if mode == "nearest" else _on_the_grid(c, n, mode)
    base = np.floor(place if order % 2 else place + 0.5)
    elements = base.astype(int) - order // 2 + np.arange(order + 1).reshape(-1, *[1] * place.ndim)
    exists = np.ones(elements.shape, bool)
    if mode == "grid-constant":
        exists = (elements >= 0) & (elements < n)
    elif mode == "constant":
        exists &= (place >= 0) & (place <= n - 1)
    if mode != "grid-constant":
        elements = _on_the_grid(elements.astype(float), n, _MODE_OF_INDICES.get(mode, mode))[0].astype(int)
    return np.clip(elements, 0, n - 1), exists, place - base + (0.0 if order % 2 else 0.5), slope


def _axis_weights(c: Any, n: int, order: int, mode: str) -> tuple[Any, Any, Any]:
    """For points along one axis: the elements around each, whether they exist, and their weights."""
    elements, exists, distance, slope = answer(_located, c, n=n, order=order, mode=mode)
    # It has the value that was found, and the slope as derivative in the coordinate.
    distance = distance + slope * (c - e.stop_gradient(c))
    return elements, exists, np.ones((1, *shape_of(c))) if order == 0 else stacked(_spline_weights(distance, order), 0)


def map_coordinates(
    x: Any, coordinates: Any, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True
) -> Any:
    points = in_double(array(coordinates))
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    n = ndim_of(x)
    if ndim_of(points) < 2 or not n or shape_of(points)[0] != n:
        raise RuntimeError("invalid shape for coordinate array")
    shape = shape_of(points)[1:]
    points = s.reshape(points, shape=(n, math.prod(shape)))
    image = cast(x, np.complex128 if dtype_of(x).kind == "c" else np.float64)
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            image = continued(image, [(12, 12)] * n, mode, cval)  # SciPy's approximation to these boundaries
            points = points + 12.0
        for k in range(n):
            if shape_of(image)[k] > 1:
                image = spline_filter(image, axis=k, order=order, mode=mode)
    letters = string.ascii_lowercase[:n]
    elements, weights, known = [], [], np.True_
    for k in range(n):
        own, exists, weight = _axis_weights(index(points, pattern=(k,)), shape_of(image)[k], order, mode)
        around = (*[order + 1 if j == k else 1 for j in range(n)], math.prod(shape))
        elements.append(s.reshape(own, shape=around))
        known = e.logical_and(known, s.reshape(exists, shape=around))
        weights.append(weight)
    near = index(image, *elements, pattern=(ARRAY,) * n)
    if mode in ("constant", "grid-constant"):
        near = e.where(known, near, cval)
    y = einsum(near, *weights, subscripts=",".join([letters + "z", *[c + "z" for c in letters]]) + "->z")
    return s.reshape(y, shape=shape)


def _places(shape: tuple[int, ...]) -> Any:
    return np.stack(np.meshgrid(*[np.arange(float(n)) for n in shape], indexing="ij"))


def shift(x: Any, shift: Any, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True) -> Any:
    n = ndim_of(x)
    steps = array(sequence(shift, n))
    places = _places(shape_of(x)) - s.reshape(steps, shape=(n,) + (1,) * n)
    return map_coordinates(x, places, order, mode, cval, prefilter)


def affine_transform(
    x: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, order: int = 3, mode: str = "constant",
    cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    m = array(matrix)
    n = ndim_of(x)
    if ndim_of(m) == 2 and shape_of(m)[1] == n + 1 and shape_of(m)[0] in (n, n + 1):
        offset, m = index(m, pattern=(slice(0, n), n)), index(m, pattern=(slice(0, n), slice(0, n)))
    offset = array(sequence(offset, n))
    places = _places(shape_of(x) if output_shape is None else tuple(output_shape))
    shape = places.shape[1:]
    flat = places.reshape(len(shape), -1)
    moved = matmul(m, flat) if ndim_of(m) == 2 else s.reshape(m, shape=(n, 1)) * flat
    points = s.reshape(moved + s.reshape(offset, shape=(n, 1)), shape=(n, *shape))
    return map_coordinates(x, points, order, mode, cval, prefilter)


def zoom(
    x: Any, zoom: Any, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True, *,
    grid_mode: bool = False,
) -> Any:  # fmt: skip
    """The factors only say how many elements there will be: the result does not vary with them."""
    n = ndim_of(x)
    factors = [answer(float, f) for f in sequence(zoom, n)]
    shape = tuple(round(m * f) for m, f in zip(shape_of(x), factors, strict=True))
    if grid_mode:
        places = [(np.arange(k) + 0.5) * (m / k) - 0.5 for k, m in zip(shape, shape_of(x), strict=True)]
    else:
        places = [np.arange(k) * ((m - 1) / (k - 1) if k > 1 else 1.0) for k, m in zip(shape, shape_of(x), strict=True)]
    return map_coordinates(x, np.stack(np.meshgrid(*places, indexing="ij")), order, mode, cval, prefilter)


def rotate(
    x: Any, angle: Any, axes: Any = (1, 0), reshape: bool = True, order: int = 3, mode: str = "constant",
    cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    n = ndim_of(x)
    first, second = sorted(normalize_axis_tuple(axes, n))
    c, sine = cosdg(operand(angle)), sindg(operand(angle))
    matrix = stacked([stacked([c, sine], 0), stacked([-sine, c], 0)], 0)
    own = np.array([shape_of(x)[first], shape_of(x)[second]])
    size = own
    if reshape:
        corners = np.array([[0, 0, own[0], own[0]], [0, own[1], 0, own[1]]])
        size = answer(lambda m: (np.ptp(m @ corners, axis=1) + 0.5).astype(int), matrix)
    offset = (own - 1) / 2 - matmul(matrix, (size - 1) / 2)
    order_of_axes = (*[k for k in range(n) if k not in (first, second)], first, second)
    turned = s.transpose(x, axes=order_of_axes)
    lead = shape_of(turned)[:-2]
    planes = s.reshape(turned, shape=(math.prod(lead), *shape_of(turned)[-2:]))
    found = [
        affine_transform(
            index(planes, pattern=(k,)), matrix, offset, tuple(size.tolist()), order, mode, cval, prefilter
        )
        for k in range(math.prod(lead))
    ]
    y = s.reshape(stacked(found, 0), shape=(*lead, *size.tolist()))
    return s.transpose(y, axes=tuple(np.argsort(order_of_axes).tolist()))


@when_imported("scipy.ndimage")
def _ndimage(module: Any) -> None:
    filters = {"correlate": correlate, "convolve": convolve, "correlate1d": correlate1d, "convolve1d": convolve1d}
    others = (
        gaussian_filter1d, gaussian_filter, uniform_filter1d, uniform_filter, map_coordinates, shift, zoom, rotate,
        affine_transform,
    )  # fmt: skip
    register_all(module, {**filters, **{f.__name__: f for f in others}})
