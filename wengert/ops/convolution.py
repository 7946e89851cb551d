"""Rows for the convolutions of networks: channels, strides, dilation, groups, in any number of axes.

All three are one trilinear form with one factor left open (b examples, o and c channels, p and k places):

    T(x, w, y) = Σ  x[b, c, p·stride + k·dilation] · w[o, c, k] · y[b, o, p]

    conv(x, w) → y       conv_input(y, w) → x       conv_weight(x, y) → w

so the transposes of each are the other two, and derivatives of any order stay among them. Lengths of the open factor
that the others do not tell are the parameter `size`. With `groups`, output channel o sees the input channels of its own
group only, and `c` counts within the group. There is no padding: zeros are put around x before.

They are products of matrices: the elements that meet a weight are copied into columns (im2col; Chellapilla, Puri and
Simard 2006), as many examples at a time as fit the cache; native code does without where columns would be large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ops import axes
from wengert.ops.derive import multilinear, unfit
from wengert.ops.elementwise import where
from wengert.ops.enclosures import composed
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.ops.products import einsum
from wengert.ops.shape import reshape, transpose
from wengert.ops.traits import MORE, NEVER
from wengert.types import shape_of

_CACHED = 1 << 18
"""So many elements of columns are made at a time."""


def result_size(size: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilation: Sequence[int]) -> tuple:
    """The number of places at which a kernel fits, along each axis."""
    return tuple([(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(size, kernel, strides, dilation, strict=True)])


# --------------------------------------------------------------------------------------------------------- computing


def _windows(x: np.ndarray, kernel: Sequence[int], places: Sequence[int], strides: Any, dilation: Any) -> np.ndarray:
    """A view of x, in which axes of its own say where in the kernel an element is met: (c, *kernel, b, *places)."""
    b, c, *steps = x.strides
    shape = (x.shape[1], *kernel, x.shape[0], *places)
    apart = (c, *[n * d for n, d in zip(steps, dilation, strict=True)], b)
    return np.lib.stride_tricks.as_strided(
        x, shape, (*apart, *[n * s for n, s in zip(steps, strides, strict=True)]), writeable=False
    )


def _chunks(examples: int, each: int) -> list[slice]:
    step = max(1, _CACHED // max(each, 1))
    return [slice(start, min(start + step, examples)) for start in range(0, examples, step)]


def _rows(y: np.ndarray, groups: int) -> np.ndarray:
    """(b, o, *places) as a matrix for each group: channels by examples and places."""
    return np.moveaxis(y, 0, 1).reshape(groups, y.shape[1] // groups, -1)


def _conv(x: Any, w: Any, strides: tuple, dilation: tuple, groups: int) -> Any:
    x, w = np.asarray(x), np.asarray(w)
    outputs, inner, *kernel = w.shape
    places = result_size(x.shape[2:], kernel, strides, dilation)
    matrix = w.reshape(groups, outputs // groups, inner * math.prod(kernel))
    y = np.empty((x.shape[0], outputs, *places), np.result_type(x, w))
    for some in _chunks(len(x), math.prod(w.shape[1:]) * groups * math.prod(places)):
        columns = _windows(x[some], kernel, places, strides, dilation).reshape(groups, matrix.shape[2], -1)
        found = np.matmul(matrix, columns)
        y[some] = np.moveaxis(found.reshape(outputs, -1, *places), 1, 0)
    return y


def _conv_input(y: Any, w: Any, strides: tuple, dilation: tuple, groups: int, size: tuple) -> Any:
    y, w = np.asarray(y), np.asarray(w)
    outputs, inner, *kernel = w.shape
    channels, places = inner * groups, y.shape[2:]
    matrix = w.reshape(groups, outputs // groups, inner * math.prod(kernel)).transpose(0, 2, 1)
    x = np.zeros((channels, y.shape[0], *size), np.result_type(y, w))
    for some in _chunks(len(y), math.prod(w.shape[1:]) * groups * math.prod(places)):
        columns = np.matmul(matrix, _rows(y[some], groups)).reshape(channels, *kernel, -1, *places)
        for at in itertools.product(*map(range, kernel)):
            spans = [
                slice(k * d, k * d + (n - 1) * s + 1, s)
                for k, d, n, s in zip(at, dilation, places, strides, strict=True)
            ]
            if 0 not in places:
                x[(slice(None), some, *spans)] += columns[(slice(None), *at)]
    return np.ascontiguousarray(np.moveaxis(x, 0, 1))


def _conv_weight(x: Any, y: Any, strides: tuple, dilation: tuple, groups: int, size: tuple) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    outputs, inner, places = y.shape[1], x.shape[1] // groups, y.shape[2:]
    count = inner * math.prod(size)
    w = np.zeros((groups, outputs // groups, count), np.result_type(x, y))
    for some in _chunks(len(x), count * groups * math.prod(places)):
        columns = _windows(x[some], size, places, strides, dilation).reshape(groups, count, -1)
        w += np.matmul(_rows(y[some], groups), columns.transpose(0, 2, 1))
    return w.reshape(outputs, inner, *size)


# ------------------------------------------------------------------------------------------------------------ shapes


def _conv_shape(x: Any, w: Any, strides: tuple, dilation: tuple, groups: int) -> tuple:
    return (x.shape[0], w.shape[0], *result_size(x.shape[2:], w.shape[2:], strides, dilation))


# ------------------------------------------------------------------------------------------------------- transposing


def _to_input(ct: Any, w: Any, x: Any, params: dict) -> Any:
    params = {k: v for k, v in params.items() if k != "size"}
    return unfit(conv_input(ct, w, size=tuple(x.shape[2:]), **params), x.shape, x.dtype)


def _to_weight(x: Any, ct: Any, w: Any, params: dict) -> Any:
    params = {k: v for k, v in params.items() if k != "size"}
    return unfit(conv_weight(x, ct, size=tuple(w.shape[2:]), **params), w.shape, w.dtype)


def _to_result(x: Any, w: Any, y: Any, params: dict) -> Any:
    params = {k: v for k, v in params.items() if k != "size"}
    return unfit(conv(x, w, **params), y.shape, y.dtype)


# -------------------------------------------------------------------------------------------------------- hidden axes


def _channels_in_front(x: Any, groups: int) -> Any:
    """Hidden axis, examples, channels: examples, and in each group as many times the channels as there are hidden."""
    v, b, c, *rest = shape_of(x)
    x = reshape(x, shape=(v, b, groups, c // groups, *rest))
    x = transpose(x, axes=(1, 2, 0, *range(3, len(rest) + 4)))
    return reshape(x, shape=(b, v * c, *rest))


def _channels_apart(x: Any, v: int, groups: int) -> Any:
    b, c, *rest = shape_of(x)
    x = reshape(x, shape=(b, groups, v, c // v // groups, *rest))
    x = transpose(x, axes=(2, 0, 1, *range(3, len(rest) + 4)))
    return reshape(x, shape=(v, b, c // v, *rest))


def _joined(x: Any) -> Any:
    """The first two axes as one."""
    return reshape(x, shape=(shape_of(x)[0] * shape_of(x)[1], *shape_of(x)[2:]))


def _split(x: Any, v: int) -> Any:
    return reshape(x, shape=(v, shape_of(x)[0] // v, *shape_of(x)[1:]))


def _outputs_in_front(w: Any, groups: int) -> Any:
    """Weights with a hidden axis: in each group as many times the output channels."""
    v, o, *rest = shape_of(w)
    w = transpose(reshape(w, shape=(v, groups, o // groups, *rest)), axes=(1, 0, 2, *range(3, len(rest) + 3)))
    return reshape(w, shape=(v * o, *rest))


def _outputs_apart(w: Any, v: int, groups: int) -> Any:
    o, *rest = shape_of(w)
    w = transpose(reshape(w, shape=(groups, v, o // v // groups, *rest)), axes=(1, 0, 2, *range(3, len(rest) + 3)))
    return reshape(w, shape=(v, o // v, *rest))


def _inputs_in_front(w: Any) -> Any:
    v, o, c, *rest = shape_of(w)
    return reshape(transpose(w, axes=(1, 0, *range(2, len(rest) + 3))), shape=(o, v * c, *rest))


def _inputs_apart(w: Any, v: int) -> Any:
    o, c, *rest = shape_of(w)
    return transpose(reshape(w, shape=(o, v, c // v, *rest)), axes=(1, 0, *range(2, len(rest) + 3)))


def _batch_by_weights(op: Callable, in_front: Callable) -> Callable:
    """Of `conv` and `conv_input`, where `in_front(w, groups)` has many weights as the channels of one."""

    def batch(args: Any, mapped: Any, params: dict) -> Any:
        (x, w), g = args, params["groups"]
        v = shape_of(x if mapped[0] else w)[0]
        if not mapped[1]:
            return _split(op()(_joined(x), w, **params), v)
        if not mapped[0]:
            return _channels_apart(op()(x, in_front(w, g), **params), v, g)
        y = op()(_channels_in_front(x, 1), _joined(w), **{**params, "groups": v * g})
        return _channels_apart(y, v, 1)

    return batch


def _batch_weight(args: Any, mapped: Any, params: dict) -> Any:
    (x, y), g = args, params["groups"]
    v = shape_of(x if mapped[0] else y)[0]
    if not mapped[1]:
        return _inputs_apart(conv_weight(_channels_in_front(x, g), y, **params), v)
    if not mapped[0]:
        return _outputs_apart(conv_weight(x, _channels_in_front(y, g), **params), v, g)
    w = conv_weight(_channels_in_front(x, 1), _channels_in_front(y, 1), **{**params, "groups": v * g})
    return _split(w, v)


# ------------------------------------------------------------------------------------------- patterns and enclosures


def _meetings(b: int, o: int, c: int, size: Any, kernel: Any, places: Any, params: dict) -> tuple:
    """Numbers of the elements of x, w and y that meet in a term of the sum; `c` counts all input channels."""
    g, rank = params["groups"], len(kernel)
    lengths = (b, g, o // g, c // g, *kernel, *places)
    at = np.meshgrid(*map(np.arange, lengths), indexing="ij", sparse=True)
    example, group, output, channel = at[:4]
    k, p = at[4 : 4 + rank], at[4 + rank :]
    x = example * c + group * (c // g) + channel
    for n, ki, pi, s, d in zip(size, k, p, params["strides"], params["dilation"], strict=True):
        x = x * n + pi * s + ki * d
    w = (group * (o // g) + output) * (c // g) + channel
    for n, ki in zip(kernel, k, strict=True):
        w = w * n + ki
    y = example * o + group * (o // g) + output
    for n, pi in zip(places, p, strict=True):
        y = y * n + pi
    return tuple([np.broadcast_to(a, lengths).ravel() for a in (x, w, y)])


def _links(names: str) -> Any:
    """For an op of the factors with these names, of x, w and y, in the order of the operands and the result."""

    def links(active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> Any:
        if len(active) != 1:
            return None
        shapes = dict(zip(names, [*map(shape_of, args), shape], strict=True))
        (b, c, *size), (o, _, *kernel), (_, _, *places) = shapes["x"], shapes["w"], shapes["y"]
        found = dict(zip("xwy", _meetings(b, o, c, size, kernel, places, params), strict=True))
        other = args[1 - active[0]]
        rows, columns = found[names[2]], found[names[active[0]]]
        if not isinstance(other, Traced):
            met = np.ravel(other)[found[names[1 - active[0]]]] != 0
            rows, columns = rows[met], columns[met]
        return rows, columns

    return links


def _gathered(x: Any, places: Sequence[np.ndarray]) -> Any:
    """Elements of x at places (result, kernel) for each axis, zero where they are negative: (b, c, p, k, p, k, …)."""
    rank = len(places)
    spread = [p.reshape([1] * (2 * a) + list(p.shape) + [1] * (2 * (rank - a - 1))) for a, p in enumerate(places)]
    found = index(x, *[np.maximum(p, 0) for p in spread], pattern=(slice(None), slice(None), *[ARRAY] * rank))
    inside = np.ones((1,) * (2 * rank), bool)
    for p in spread:
        inside = inside & (p >= 0)
    return found if inside.all() else where(inside, found, 0.0)


def _met(places: Sequence[int], kernel: Sequence[int], params: dict) -> list[np.ndarray]:
    return [
        np.add.outer(np.arange(p) * s, np.arange(k) * d)
        for p, k, s, d in zip(places, kernel, params["strides"], params["dilation"], strict=True)
    ]


def _grouped(x: Any, groups: int, axis: int) -> Any:
    shape = shape_of(x)
    return reshape(x, shape=(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))


def _contraction(x: Any, w: Any, y: Any, rank: int, groups: int) -> Any:
    """The trilinear form with columns for x (or y, in `conv_input`), and `None` for what is left open."""
    p, k = "pqr"[:rank], "klm"[:rank]
    both = "".join(a + b for a, b in zip(p, k, strict=True))
    names = {"x": "bgc" + both, "w": "goc" + k, "y": "bgo" + p}
    given = {"x": x, "w": w, "y": y}
    terms = [name for name in "xwy" if given[name] is not None]
    (open_,) = [name for name in "xwy" if given[name] is None]
    split = [_grouped(given[n], groups, 0 if n == "w" else 1) for n in terms]
    z = einsum(*split, subscripts=",".join(names[n] for n in terms) + "->" + names[open_])
    at = 0 if open_ == "w" else 1
    shape = shape_of(z)
    return reshape(z, shape=(*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]))


def _enclosed_conv(x: Any, w: Any, **params: Any) -> Any:
    kernel = shape_of(w)[2:]
    places = result_size(shape_of(x)[2:], kernel, params["strides"], params["dilation"])
    return _contraction(_gathered(x, _met(places, kernel, params)), w, None, len(kernel), params["groups"])


def _enclosed_weight(x: Any, y: Any, size: tuple, **params: Any) -> Any:
    columns = _gathered(x, _met(shape_of(y)[2:], size, params))
    return _contraction(columns, None, y, len(size), params["groups"])


def _enclosed_input(y: Any, w: Any, size: tuple, **params: Any) -> Any:
    """As a sum for each element of x over the places that met it: those from which a step of the kernel leads there."""
    kernel, reached = shape_of(w)[2:], []
    for n, k, p, s, d in zip(size, kernel, shape_of(y)[2:], params["strides"], params["dilation"], strict=True):
        from_ = np.subtract.outer(np.arange(n), np.arange(k) * d)
        at = from_ // s
        reached.append(np.where((from_ % s == 0) & (at >= 0) & (at < p), at, -1))
    turned = transpose(_grouped(w, params["groups"], 0), axes=(0, 2, 1, *range(3, len(kernel) + 3)))
    turned = reshape(turned, shape=(shape_of(w)[1] * params["groups"], shape_of(w)[0] // params["groups"], *kernel))
    return _contraction(_gathered(y, reached), turned, None, len(kernel), params["groups"])


# ------------------------------------------------------------------------------------------------------------- rows


conv = multilinear(
    "conv",
    _conv,
    (
        lambda ct, x, w, **params: _to_input(ct, w, x, params),
        lambda ct, x, w, **params: _to_weight(x, ct, w, params),
    ),
    batch=_batch_by_weights(lambda: conv, _outputs_in_front),
    shape=_conv_shape,
    raises=NEVER,
    cost=MORE,
    flops=lambda shapes, result: 2.0 * math.prod(shapes[1][1:]) * math.prod(result),
    axes=lambda shapes, shape, params: [axes.Cut((0, None), 0)],
    links=_links("xwy"),
    bounds=composed(_enclosed_conv),
)
"""Channels convolved with weights, at every place where the kernel fits (as networks call it: nothing is reversed)."""

conv_input = multilinear(
    "conv_input",
    _conv_input,
    (
        lambda ct, y, w, **params: _to_result(ct, w, y, params),
        lambda ct, y, w, **params: _to_weight(ct, y, w, params),
    ),
    batch=_batch_by_weights(lambda: conv_input, lambda w, groups: _inputs_in_front(w)),
    shape=lambda y, w, groups, size, **params: (y.shape[0], w.shape[1] * groups, *size),
    raises=NEVER,
    cost=MORE,
    flops=lambda shapes, result: 2.0 * math.prod(shapes[1][1:]) * math.prod(shapes[0]),
    axes=lambda shapes, shape, params: [axes.Cut((0, None), 0)],
    links=_links("ywx"),
    bounds=composed(_enclosed_input),
)
"""The transpose of `conv` in x: a transposed convolution, with the lengths `size` for x."""

conv_weight = multilinear(
    "conv_weight",
    _conv_weight,
    (
        lambda ct, x, y, **params: _to_input(y, ct, x, params),
        lambda ct, x, y, **params: _to_result(x, ct, y, params),
    ),
    batch=_batch_weight,
    shape=lambda x, y, groups, size, **params: (y.shape[1], x.shape[1] // groups, *size),
    raises=NEVER,
    cost=MORE,
    flops=lambda shapes, result: 2.0 * math.prod(result[1:]) * math.prod(shapes[1]),
    combine="add",
    axes=lambda shapes, shape, params: [axes.Cut((0, 0), None)],
    links=_links("xyw"),
    bounds=composed(_enclosed_weight),
)
"""The transpose of `conv` in w, with the lengths `size` for the kernel."""
