"""Convolution and pooling layers, for arrays with the axes (examples, channels, …)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from wengert.api.convolution import conv, conv_transpose, each_axis
from wengert.errors import MismatchError
from wengert.nn import initializers
from wengert.nn.layers import STATIC


def _fixed(value: Any) -> Any:
    """Lists and arrays as tuples, so that they may be part of a structure."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple([_fixed(v) for v in value]) if isinstance(value, (list, tuple)) else value


def _with_bias(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape(-1, *[1] * (y.ndim - 2))


def _demand_groups(inputs: int, outputs: int, groups: int) -> None:
    if groups < 1 or inputs % groups or outputs % groups:
        raise MismatchError(
            f"{groups} groups do not divide {inputs} input and {outputs} output channels",
            remedy="choose numbers of channels that the groups divide",
        )


@dataclass(init=False)
class _Conv:
    weight: Any
    bias: Any
    stride: Any = field(metadata=STATIC)
    padding: Any = field(metadata=STATIC)
    dilation: Any = field(metadata=STATIC)
    groups: int = field(metadata=STATIC)
    rank: ClassVar[int]

    def __init__(
        self, inputs: int, outputs: int, size: Any, rng: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, init: Callable = initializers.he_normal, bias: bool = True,
    ):  # fmt: skip
        _demand_groups(inputs, outputs, groups)
        self.weight = init(rng, (outputs, inputs // groups, *each_axis("size", size, self.rank)))
        self.bias = np.zeros(outputs) if bias else None
        self.stride, self.padding, self.dilation = _fixed(stride), _fixed(padding), _fixed(dilation)
        self.groups = groups

    def __call__(self, x: Any) -> Any:
        y = conv(x, self.weight, stride=self.stride, padding=self.padding, dilation=self.dilation, groups=self.groups)
        return _with_bias(y, self.bias)


class Conv1d(_Conv):
    """Convolution along one axis: (examples, channels, n).

    Args:
        inputs, outputs: numbers of channels.
        size: of the kernel.
        rng: a generator or a seed, for the weights.
        stride, padding, dilation, groups: as `nn.conv` has them.

    >>> from wengert import nn
    >>> nn.Conv1d(3, 8, 5, rng=0, padding="same")(np.ones((2, 3, 10))).shape
    (2, 8, 10)
    """

    rank = 1


class Conv2d(_Conv):
    """Convolution along two axes: (examples, channels, rows, columns); arguments as those of `Conv1d`.

    >>> from wengert import nn
    >>> nn.Conv2d(1, 8, 3, rng=0, stride=2, padding=1)(np.ones((2, 1, 28, 28))).shape
    (2, 8, 14, 14)
    """

    rank = 2


class Conv3d(_Conv):
    """Convolution along three axes; arguments as those of `Conv1d`.

    >>> from wengert import nn
    >>> nn.Conv3d(1, 2, 3, rng=0)(np.ones((1, 1, 5, 6, 7))).shape
    (1, 2, 3, 4, 5)
    """

    rank = 3


@dataclass(init=False)
class _ConvTranspose:
    weight: Any
    bias: Any
    stride: Any = field(metadata=STATIC)
    padding: Any = field(metadata=STATIC)
    output_padding: Any = field(metadata=STATIC)
    dilation: Any = field(metadata=STATIC)
    groups: int = field(metadata=STATIC)
    rank: ClassVar[int]

    def __init__(
        self, inputs: int, outputs: int, size: Any, rng: Any, *, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1, init: Callable = initializers.he_normal,
        bias: bool = True,
    ):  # fmt: skip
        _demand_groups(inputs, outputs, groups)
        kernel = each_axis("size", size, self.rank)
        count = math.prod(kernel)
        self.weight = init(rng, (inputs, outputs // groups, *kernel), (inputs // groups * count, outputs * count))
        self.bias = np.zeros(outputs) if bias else None
        self.stride, self.padding, self.dilation = _fixed(stride), _fixed(padding), _fixed(dilation)
        self.output_padding, self.groups = _fixed(output_padding), groups

    def __call__(self, x: Any) -> Any:
        y = conv_transpose(
            x, self.weight, stride=self.stride, padding=self.padding, output_padding=self.output_padding,
            dilation=self.dilation, groups=self.groups,
        )  # fmt: skip
        return _with_bias(y, self.bias)


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution along one axis, as `nn.conv_transpose` has it.

    >>> from wengert import nn
    >>> nn.ConvTranspose1d(3, 8, 4, rng=0, stride=2, padding=1)(np.ones((2, 3, 10))).shape
    (2, 8, 20)
    """

    rank = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution along two axes, as `nn.conv_transpose` has it.

    >>> from wengert import nn
    >>> nn.ConvTranspose2d(3, 8, 4, rng=0, stride=2, padding=1)(np.ones((2, 3, 7, 7))).shape
    (2, 8, 14, 14)
    """

    rank = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution along three axes, as `nn.conv_transpose` has it.

    >>> from wengert import nn
    >>> nn.ConvTranspose3d(1, 2, 2, rng=0, stride=2)(np.ones((1, 1, 2, 3, 4))).shape
    (1, 2, 4, 6, 8)
    """

    rank = 3


# ------------------------------------------------------------------------------------------------------------ pooling


def _windows(x: Any, size: Any, stride: Any, padding: Any, fill: Any) -> tuple[Any, tuple[int, ...]]:
    """The elements of each window along axes of their own, and which axes these are."""
    rank = np.ndim(x) - 2
    if rank < 1:
        raise MismatchError(
            f"windows in an array of shape {np.shape(x)}", remedy="the axes are (examples, channels, …): write x[None]"
        )
    sizes = each_axis("size", size, rank)
    strides = sizes if stride is None else each_axis("stride", stride, rank)
    widths = each_axis("padding", padding, rank, least=0)
    if any(p > k // 2 for p, k in zip(widths, sizes, strict=True)):
        raise MismatchError(f"padding={padding} of windows of size {size}", remedy="pad by half a window at most")
    if any(widths):
        x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in widths]], constant_values=fill)
    places = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], sizes, strides, strict=True)]
    if min(places) < 1:
        raise MismatchError(f"windows of size {size} in an array of shape {x.shape}", remedy="make them smaller")
    if tuple(strides) == tuple(sizes):
        # Windows that do not overlap are a reshape.
        x = x[(slice(None), slice(None), *[slice(0, p * k) for p, k in zip(places, sizes, strict=True)])]
        pairs = list(itertools.chain.from_iterable(zip(places, sizes, strict=True)))
        return x.reshape(*x.shape[:2], *pairs), tuple(range(3, 3 + 2 * rank, 2))
    for axis, (k, p, s) in enumerate(zip(sizes, places, strides, strict=True)):
        x = np.take(x, np.arange(p)[:, None] * s + np.arange(k), axis=2 + 2 * axis)
    return x, tuple(range(3, 3 + 2 * rank, 2))


def max_pool(x: Any, size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The largest element of each window, along all axes but examples and channels.

    Args:
        size: of the windows: a number, or one for each axis.
        stride: between windows; by default their size.
        padding: so many elements more at both ends, which are never the largest.

    >>> max_pool(np.arange(8.0).reshape(1, 1, 8), 2)
    array([[[1., 3., 5., 7.]]])
    """
    least = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -math.inf
    windows, axes = _windows(x, size, stride, padding, least)
    return np.max(windows, axis=axes)


def avg_pool(x: Any, size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The mean of each window, in which padding counts as zeros; arguments as those of `max_pool`.

    >>> avg_pool(np.arange(8.0).reshape(1, 1, 8), 2)
    array([[[0.5, 2.5, 4.5, 6.5]]])
    """
    windows, axes = _windows(x, size, stride, padding, 0.0)
    return np.mean(windows, axis=axes)


@dataclass
class _Pool:
    size: Any = field(metadata=STATIC)
    stride: Any = field(default=None, metadata=STATIC)
    padding: Any = field(default=0, metadata=STATIC)


class MaxPool(_Pool):
    """`max_pool` as a layer, for one to three axes.

    >>> from wengert import nn
    >>> nn.MaxPool(2)(np.ones((1, 3, 8, 8))).shape
    (1, 3, 4, 4)
    """

    def __call__(self, x: Any) -> Any:
        return max_pool(x, self.size, self.stride, self.padding)


class AvgPool(_Pool):
    """`avg_pool` as a layer, for one to three axes.

    >>> from wengert import nn
    >>> nn.AvgPool(3, stride=2, padding=1)(np.ones((1, 3, 8))).shape
    (1, 3, 4)
    """

    def __call__(self, x: Any) -> Any:
        return avg_pool(x, self.size, self.stride, self.padding)


@dataclass
class GlobalAvgPool:
    """The mean over all axes but examples and channels.

    >>> from wengert import nn
    >>> nn.GlobalAvgPool()(np.ones((2, 3, 8, 8))).shape
    (2, 3)
    """

    def __call__(self, x: Any) -> Any:
        return np.mean(x, axis=tuple(range(2, x.ndim)))


@dataclass
class GlobalMaxPool:
    """The largest element over all axes but examples and channels.

    >>> from wengert import nn
    >>> nn.GlobalMaxPool()(np.ones((2, 3, 8, 8))).shape
    (2, 3)
    """

    def __call__(self, x: Any) -> Any:
        return np.max(x, axis=tuple(range(2, x.ndim)))
