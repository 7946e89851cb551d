"""Convolution as networks have it, and its transpose: channels, strides, padding, dilation, groups, in 1 to 3 axes.

Padding is zeros around x, so that one op is left for every convolution (`ops/convolution.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.functions.operands import array, cast
from wengert.errors import MismatchError
from wengert.ops.convolution import conv as convolved
from wengert.ops.convolution import conv_input, result_size
from wengert.ops.index import index, scatter
from wengert.types import dtype_of, shape_of


def conv(x: Any, w: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
    """The convolution of networks: y[b, o, p] = Σ x[b, c, p·stride + k·dilation] · w[o, c, k], without reversal.

    Args:
        x: examples × channels × 1 to 3 axes.
        w: output channels × channels of a group × as many axes.
        stride: steps between the places of the result; a number, or one for each axis.
        padding: zeros around x: a number, one for each axis, a pair (before, after) for each, "valid" for none, or
            "same" for as many as keep the lengths (divided by the stride).
        dilation: steps between the elements that a kernel meets.
        groups: channels are divided into so many groups, and each result sees one of them.

    The cost is that of a product of matrices; so is that of its derivatives, of any order and in any mode.

    >>> import numpy as np, wengert as wg
    >>> x = np.arange(6.0).reshape(1, 1, 6)
    >>> wg.nn.conv(x, np.array([[[1.0, 0.0, -1.0]]]))
    array([[[-2., -2., -2., -2.]]])
    >>> wg.nn.conv(x, np.ones((1, 1, 3)), stride=2, padding="same")
    array([[[3., 9., 9.]]])
    """
    x, w = _operands(x, w)
    rank = len(shape_of(w)) - 2
    strides, dilations = each_axis("stride", stride, rank), each_axis("dilation", dilation, rank)
    _check_channels(shape_of(x)[1], shape_of(w), groups)
    size, kernel = shape_of(x)[2:], shape_of(w)[2:]
    widths = _widths(padding, size, kernel, strides, dilations)
    if any(map(any, widths)):
        x = _between_zeros(x, widths)
    places = result_size(shape_of(x)[2:], kernel, strides, dilations)
    if min(places) < 1:
        raise MismatchError(
            f"a kernel of shape {tuple(kernel)}, dilated by {dilations}, is longer than an array of {tuple(size)}",
            remedy="make the kernel smaller, or put zeros around the array: padding='same'",
        )
    return convolved(x, w, strides=strides, dilation=dilations, groups=groups)


def conv_transpose(
    x: Any, w: Any, *, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The transpose of `conv` with these weights and settings: from what that returns to what it is given.

    Args:
        x: examples × channels × 1 to 3 axes.
        w: channels × output channels of a group × as many axes: what `conv` in the other direction has.
        padding: so many elements are left out at both ends: a number, one for each axis, or a pair for each.
        output_padding: so many further elements at the end of each axis, fewer than the stride.

    The lengths are (n − 1)·stride + dilation·(kernel − 1) + 1 + output_padding, less the padding.

    >>> import numpy as np, wengert as wg
    >>> wg.nn.conv_transpose(np.array([[[1.0, 10.0]]]), np.ones((1, 1, 3)), stride=2)
    array([[[ 1.,  1., 11., 10., 10.]]])
    """
    x, w = _operands(x, w)
    rank = len(shape_of(w)) - 2
    strides, dilations = each_axis("stride", stride, rank), each_axis("dilation", dilation, rank)
    more = each_axis("output_padding", output_padding, rank, least=0)
    if shape_of(x)[1] != shape_of(w)[0] or shape_of(w)[0] % groups:
        raise MismatchError(
            f"x has {shape_of(x)[1]} channels, and the weights, of shape {shape_of(w)}, are for {shape_of(w)[0]}"
            + (f" in {groups} groups" if groups != 1 else ""),
            remedy="the first axis of the weights of a transposed convolution counts the channels of x",
        )
    if any(m >= max(s, d) for m, s, d in zip(more, strides, dilations, strict=True)):
        raise MismatchError("output_padding is not smaller than the stride", remedy="make the stride larger")
    kernel = shape_of(w)[2:]
    if isinstance(padding, str):
        raise MismatchError(f"padding={padding!r} of a transposed convolution", remedy="give numbers")
    widths = _widths(padding, shape_of(x)[2:], kernel, strides, dilations)
    reach = [
        (n - 1) * s + d * (k - 1) + 1 for n, k, s, d in zip(shape_of(x)[2:], kernel, strides, dilations, strict=True)
    ]
    y = conv_input(x, w, strides=strides, dilation=dilations, groups=groups, size=tuple(reach))
    for axis, ((before, after), n, m) in enumerate(zip(widths, reach, more, strict=True)):
        if before + after >= n + m:
            raise MismatchError("padding leaves nothing of the result", remedy="make the padding smaller")
        if after < m:  # zeros that no weight reaches
            y = _between_zeros(y, [(0, m - after) if a == axis else (0, 0) for a in range(rank)])
        if before or after > m:
            y = index(y, pattern=(*[slice(None)] * (axis + 2), slice(before, n + m - after)))
    return y


def _between_zeros(x: Any, widths: Sequence[tuple[int, int]]) -> Any:
    """Zeros before and after the last axes; the transpose of cutting them off."""
    shape = shape_of(x)
    spans = [slice(before, before + n) for (before, _), n in zip(widths, shape[2:], strict=True)]
    longer = (*shape[:2], *[n + sum(width) for n, width in zip(shape[2:], widths, strict=True)])
    return scatter(x, patterns=((slice(None), slice(None), *spans),), shape=longer)


def _operands(x: Any, w: Any) -> tuple[Any, Any]:
    x, w = array(x), array(w)
    if len(shape_of(x)) != len(shape_of(w)) or not 3 <= len(shape_of(x)) <= 5:
        raise MismatchError(
            f"a convolution of arrays of shapes {shape_of(x)} and {shape_of(w)}",
            remedy="x has the axes (examples, channels, …) and the weights (output channels, channels, …), with the "
            "same one to three axes behind",
        )
    dtype = np.result_type(dtype_of(x), dtype_of(w))
    if dtype.kind not in "fc":
        dtype = np.dtype(np.float64)
    return cast(x, dtype), cast(w, dtype)


def _check_channels(channels: int, weights: Sequence[int], groups: int) -> None:
    if groups < 1 or weights[1] * groups != channels or weights[0] % groups:
        raise MismatchError(
            f"x has {channels} channels, and the weights, of shape {tuple(weights)}, are for {weights[1]}"
            + (f" in each of {groups} groups" if groups != 1 else ""),
            remedy="the axes of x are (examples, channels, …); the weights have (output channels, channels of a group, "
            "…), with numbers of channels that the groups divide",
        )


def each_axis(name: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """A number for each axis, from one for all or so many."""
    values = (value,) * rank if isinstance(value, (int, np.integer)) else tuple(value)
    if len(values) != rank or any(not isinstance(v, (int, np.integer)) or v < least for v in values):
        raise MismatchError(
            f"{name}={value!r} along {rank} axes",
            remedy=f"give a number, or one for each of the {rank} axes, not below {least}",
        )
    return tuple([int(v) for v in values])


def _widths(padding: Any, size: Any, kernel: Any, strides: Any, dilation: Any) -> list[tuple[int, int]]:
    """Zeros before and after, for each axis."""
    padding = padding.tolist() if isinstance(padding, np.ndarray) else padding
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding == "same":
        found = []
        for n, k, s, d in zip(size, kernel, strides, dilation, strict=True):
            more = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            found.append((more // 2, more - more // 2))
        return found
    if isinstance(padding, str):
        raise MismatchError(f"padding={padding!r}", remedy="padding is a number, 'same' or 'valid'")
    given = (padding,) * len(kernel) if isinstance(padding, (int, np.integer)) else tuple(padding)
    pairs = [(p, p) if isinstance(p, (int, np.integer)) else tuple(p) for p in given]
    if len(pairs) != len(kernel) or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise MismatchError(
            f"padding={padding!r} for a convolution along {len(kernel)} axes",
            remedy="give a number, one for each axis, or a pair (before, after) for each, none of them negative",
        )
    return [(int(p[0]), int(p[1])) for p in pairs]
