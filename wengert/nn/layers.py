"""Layers are dataclasses of arrays: containers that every operator takes apart, as it does tuples and dicts.

What is no number (sizes, functions) is a static field: part of the structure. A layer is called to evaluate it,
`layer(x)`. Where training differs (dropout draws, batch normalisation looks at the batch), there is a method
`train(x, rng)`, which returns the result together with the layer as it is afterwards; nothing is changed in place. The
function `train` does so for any layer, and for plain functions.

Arrays that are not found by descent, such as running averages, are in fields with the mark BUFFER (see `split`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.custom import stop_gradient
from wengert.errors import MismatchError
from wengert.nn import initializers

STATIC = {"static": True}
"""Of a field that belongs to the structure of a layer, and is no array."""

BUFFER = {"buffer": True}
"""Of a field with arrays that are not trained."""


def changed(layer: Any, **fields: Any) -> Any:
    """A layer with some fields replaced.

    >>> changed(Dropout(0.5), rate=0.1)
    Dropout(rate=0.1)
    """
    new = copy.copy(layer)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def demand_length(layer: Any, x: Any, axis: int, length: int) -> None:
    """An error where an axis of x is not as long as a layer's arrays are: broadcasting would hide it, or say little."""
    shape = np.shape(x)
    there = len(shape) > axis if axis >= 0 else len(shape) >= -axis
    found = shape[axis] if there else None
    if found is None or (isinstance(found, int) and found != length):
        what = "features on the last axis" if axis < 0 else f"channels on axis {axis}"
        raise MismatchError(
            f"{type(layer).__name__} was made for {length} {what}, and is called with an array of shape {shape}",
            remedy="make the layer with the sizes of its data, or bring the axes of the data into that order",
        )


def demand_axes(layer: Any, x: Any, axes: tuple[str, ...]) -> None:
    """An error where x has not these axes, whose names the message says."""
    shape = np.shape(x)
    if len(shape) != len(axes):
        raise MismatchError(
            f"{type(layer).__name__} of an array of shape {shape}, where the axes are ({', '.join(axes)})",
            remedy="write x[None] for one example by itself, and reshape where there are more axes",
        )


def demand_no_negatives(x: Any, words: str) -> None:
    """An error where NumPy would count from the end. (What is too large it refuses itself.)"""
    if np.any(x < 0):
        raise IndexError(words)


def train(layer: Any, x: Any, rng: Any = None) -> tuple[Any, Any]:
    """A layer as it is in training: its result, and the layer with what it has noted of the batch.

    >>> from wengert import nn
    >>> y, layer = nn.train(nn.Dropout(0.5), np.ones(4), np.random.default_rng(0))
    >>> y
    array([2., 0., 0., 0.])
    """
    if hasattr(layer, "train"):
        return layer.train(x, rng)
    return layer(x), layer


@dataclass(init=False)
class Dense:
    """x @ weight + bias, on the last axis.

    Args:
        inputs, outputs: lengths of the last axis of x, and of the result.
        rng: a generator or a seed, for the weights.
        init: draws the weights (`nn.initializers`).
        bias: False for none.

    >>> from wengert import nn
    >>> nn.Dense(3, 2, rng=0)(np.ones((5, 3))).shape
    (5, 2)
    """

    weight: Any
    bias: Any

    def __init__(
        self, inputs: int, outputs: int, rng: Any, *, init: Callable = initializers.glorot_uniform, bias: bool = True
    ):
        self.weight = init(rng, (inputs, outputs), (inputs, outputs))
        self.bias = np.zeros(outputs) if bias else None

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, -1, self.weight.shape[0])
        y = x @ self.weight
        return y if self.bias is None else y + self.bias


_NEGATIVE = "Embedding of a negative number; rows are counted from 0, and the number of none is told by padding="


@dataclass(init=False)
class Embedding:
    """A row of a table for each number.

    Args:
        count, features: how many rows there are, and how long they are.
        rng: a generator or a seed, for the table.
        init: draws it (`nn.initializers`).
        padding: the number that stands for nothing, if there is one: its row is zero and is not trained.

    >>> from wengert import nn
    >>> nn.Embedding(10, 4, rng=0)(np.array([[1, 2, 1]])).shape
    (1, 3, 4)
    >>> nn.Embedding(10, 2, rng=0, padding=0)(np.array([0]))
    array([[0., 0.]])
    """

    weight: Any
    padding: int | None = field(default=None, metadata=STATIC)

    def __init__(
        self, count: int, features: int, rng: Any, *, init: Callable = initializers.normal, padding: int | None = None
    ):
        self.weight = init(rng, (count, features), (count, features))
        self.padding = padding

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x)
        if x.dtype.kind not in "iu":
            raise MismatchError(
                f"Embedding of an array of type {x.dtype}", remedy="give integers, the numbers of rows: x.astype(int)"
            )
        if self.padding is None:
            demand_no_negatives(x, _NEGATIVE)
            return self.weight[x]
        nothing = x == self.padding
        x = np.where(nothing, 0, x)
        demand_no_negatives(x, _NEGATIVE)
        return np.where(nothing[..., None], 0.0, self.weight[x])


@dataclass
class Dropout:
    """In training each element is zero with this probability, and the others are larger by as much on average.

    Evaluated, it does nothing (Srivastava et al. 2014).

    >>> from wengert import nn
    >>> nn.Dropout(0.5)(np.ones(3))
    array([1., 1., 1.])
    """

    rate: float = field(metadata=STATIC)

    def __post_init__(self) -> None:
        if not 0 <= self.rate < 1:
            raise MismatchError(f"a dropout rate of {self.rate}", remedy="give a probability below one")

    def __call__(self, x: Any) -> Any:
        return x

    def train(self, x: Any, rng: Any) -> tuple[Any, Dropout]:
        if self.rate == 0:
            return x, self
        if rng is None:
            raise MismatchError("dropout in training draws random numbers", remedy="pass a generator: train(x, rng)")
        kept = rng.random(x.shape) >= self.rate
        return np.where(kept, x / (1 - self.rate), 0.0), self


@dataclass
class Lambda:
    """A plain function as a layer.

    >>> from wengert import nn
    >>> nn.Lambda(np.tanh)(0.0)
    np.float64(0.0)
    """

    function: Callable = field(metadata=STATIC)

    def __call__(self, x: Any) -> Any:
        return self.function(x)


def as_layer(layer: Any) -> Any:
    """A layer as it is, a plain function as one without arrays."""
    if not callable(layer):
        raise MismatchError(
            f"what is of class {type(layer).__name__} is no layer",
            remedy="give layers one by one: nn.Sequential(*layers)",
        )
    return Lambda(layer) if not hasattr(layer, "__dataclass_fields__") else layer


@dataclass(init=False)
class Sequential:
    """Layers and plain functions, one after the other.

    >>> from wengert import nn
    >>> model = nn.Sequential(nn.Dense(3, 8, rng=0), nn.relu, nn.Dense(8, 1, rng=1))
    >>> model(np.ones((5, 3))).shape
    (5, 1)
    """

    layers: tuple

    def __init__(self, *layers: Any):
        self.layers = tuple([as_layer(layer) for layer in layers])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x

    def train(self, x: Any, rng: Any = None) -> tuple[Any, Sequential]:
        after = []
        for layer in self.layers:
            x, layer = train(layer, x, rng)
            after.append(layer)
        return x, Sequential(*after)


@dataclass(init=False)
class Residual:
    """x + layer(x), or shortcut(x) + layer(x) where shapes differ (He et al. 2016).

    >>> from wengert import nn
    >>> nn.Residual(nn.Dense(3, 3, rng=0, init=nn.initializers.zeros))(np.ones((1, 3)))
    array([[1., 1., 1.]])
    """

    layer: Any
    shortcut: Any

    def __init__(self, layer: Any, shortcut: Any = None):
        self.layer = as_layer(layer)
        self.shortcut = None if shortcut is None else as_layer(shortcut)

    def __call__(self, x: Any) -> Any:
        return _added(x if self.shortcut is None else self.shortcut(x), self.layer(x))

    def train(self, x: Any, rng: Any = None) -> tuple[Any, Residual]:
        y, layer = train(self.layer, x, rng)
        if self.shortcut is None:
            return _added(x, y), Residual(layer)
        short, shortcut = train(self.shortcut, x, rng)
        return _added(short, y), Residual(layer, shortcut)


def _added(x: Any, y: Any) -> Any:
    if np.shape(x) != np.shape(y):
        raise MismatchError(
            f"a residual of shape {np.shape(y)} to what has shape {np.shape(x)}",
            remedy="make a layer that keeps the shape, or one that brings the other to it: shortcut=",
        )
    return x + y


@dataclass
class Flatten:
    """All axes but the first as one.

    >>> from wengert import nn
    >>> nn.Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """

    def __call__(self, x: Any) -> Any:
        return x.reshape(x.shape[0], math.prod(x.shape[1:]))


@dataclass
class FrozenLayer:
    """A layer that is not trained: derivatives with respect to its arrays are zero, and `split` leaves them out.

    In training it does what it does when it is evaluated. `freeze` makes it.
    """

    layer: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return tree.map(stop_gradient, self.layer)(*args, **kwargs)


def freeze(layer: Any) -> FrozenLayer:
    """A layer whose arrays are not trained any more.

    >>> import wengert as wg
    >>> from wengert import nn
    >>> model = nn.Sequential(nn.freeze(nn.Dense(2, 2, rng=0)), nn.Dense(2, 1, rng=1))
    >>> gradient = wg.grad(lambda model: np.sum(model(np.ones((1, 2)))))(model)
    >>> gradient.layers[0].layer.weight
    array([[0., 0.],
           [0., 0.]])
    """
    return layer if isinstance(layer, FrozenLayer) else FrozenLayer(layer)
