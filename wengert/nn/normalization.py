"""Normalisation: elements less their mean, over their standard deviation, then scaled and shifted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert.errors import MismatchError
from wengert.nn.layers import BUFFER, STATIC, changed, demand_length


def _normalized(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    centred = x - np.mean(x, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + epsilon)


def _along_channels(v: Any, x: Any) -> Any:
    """One number for each channel, of which x has axis 1."""
    return v.reshape(-1, *[1] * (x.ndim - 2))


@dataclass(init=False)
class BatchNorm:
    """Normalises each channel (axis 1) over the batch and all other axes (Ioffe, Szegedy 2015).

    In training it uses mean and variance of the batch, and returns a layer that has taken note of them: running
    averages, with weight `momentum` for the new ones, which are used when it is evaluated.

    >>> from wengert import nn
    >>> norm = nn.BatchNorm(3)
    >>> y, norm = norm.train(np.arange(12.0).reshape(4, 3))
    >>> y.mean(axis=0).round(12) + 0.0, norm.mean.round(2)
    (array([0., 0., 0.]), array([0.45, 0.55, 0.65]))
    """

    scale: Any
    shift: Any
    mean: Any = field(metadata=BUFFER)
    variance: Any = field(metadata=BUFFER)
    momentum: float = field(metadata=STATIC)
    epsilon: float = field(metadata=STATIC)

    def __init__(self, channels: int, *, momentum: float = 0.1, epsilon: float = 1e-5):
        self.scale, self.shift = np.ones(channels), np.zeros(channels)
        self.mean, self.variance = np.zeros(channels), np.ones(channels)
        self.momentum, self.epsilon = momentum, epsilon

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, 1, self.scale.shape[0])
        factor = self.scale / np.sqrt(self.variance + self.epsilon)
        return _along_channels(factor, x) * x + _along_channels(self.shift - factor * self.mean, x)

    def train(self, x: Any, rng: Any = None) -> tuple[Any, BatchNorm]:
        demand_length(self, x, 1, self.scale.shape[0])
        axes = (0, *range(2, x.ndim))
        count = x.size // x.shape[1]
        if count < 2:
            raise MismatchError("batch normalisation of one element", remedy="train with batches of several examples")
        mean = np.mean(x, axis=axes)
        centred = x - _along_channels(mean, x)
        variance = np.mean(centred * centred, axis=axes)
        factor = self.scale / np.sqrt(variance + self.epsilon)
        y = _along_channels(factor, x) * centred + _along_channels(self.shift, x)
        m = self.momentum
        after = changed(
            self,
            mean=(1 - m) * self.mean + m * mean,
            variance=(1 - m) * self.variance + m * (count / (count - 1)) * variance,
        )
        return y, after


@dataclass(init=False)
class LayerNorm:
    """Normalises each example over its last axis (Ba, Kiros, Hinton 2016).

    >>> from wengert import nn
    >>> nn.LayerNorm(4)(np.array([[1.0, 2.0, 3.0, 4.0]])).round(3)
    array([[-1.342, -0.447,  0.447,  1.342]])
    """

    scale: Any
    shift: Any
    epsilon: float = field(metadata=STATIC)

    def __init__(self, features: int, *, epsilon: float = 1e-5):
        self.scale, self.shift, self.epsilon = np.ones(features), np.zeros(features), epsilon

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, -1, self.scale.shape[0])
        return _normalized(x, (-1,), self.epsilon) * self.scale + self.shift


@dataclass(init=False)
class RMSNorm:
    """Divides by the root of the mean square over the last axis (Zhang, Sennrich 2019).

    >>> from wengert import nn
    >>> nn.RMSNorm(2)(np.array([3.0, 4.0])).round(3)
    array([0.849, 1.131])
    """

    scale: Any
    epsilon: float = field(metadata=STATIC)

    def __init__(self, features: int, *, epsilon: float = 1e-6):
        self.scale, self.epsilon = np.ones(features), epsilon

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, -1, self.scale.shape[0])
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.epsilon) * self.scale


@dataclass(init=False)
class GroupNorm:
    """Normalises groups of channels (axis 1) of each example over all its other axes (Wu, He 2018).

    >>> from wengert import nn
    >>> nn.GroupNorm(4, groups=2)(np.ones((1, 4, 5))).shape
    (1, 4, 5)
    """

    scale: Any
    shift: Any
    groups: int = field(metadata=STATIC)
    epsilon: float = field(metadata=STATIC)

    def __init__(self, channels: int, groups: int, *, epsilon: float = 1e-5):
        if channels % groups:
            raise MismatchError(f"{groups} groups of {channels} channels", remedy="choose groups that divide them")
        self.scale, self.shift = np.ones(channels), np.zeros(channels)
        self.groups, self.epsilon = groups, epsilon

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, 1, self.scale.shape[0])
        split = x.reshape(x.shape[0], self.groups, -1)
        y = _normalized(split, (2,), self.epsilon).reshape(x.shape)
        return y * _along_channels(self.scale, x) + _along_channels(self.shift, x)
