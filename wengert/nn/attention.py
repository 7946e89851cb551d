"""Attention, and positions: for arrays with the axes (examples, time, features)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.special

from wengert.errors import MismatchError
from wengert.nn import initializers
from wengert.nn.layers import STATIC, Dense, demand_axes, demand_length

_NEVER = -1e30
"""Added to the score of what is not to be looked at. Not −∞: where nothing may be looked at, that would give NaN."""


_AXES = ("examples", "time", "features")


def attend(queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
    """softmax(queries · keysᵀ / √d) · values, over the last two axes (Vaswani et al. 2017).

    Args:
        mask: true where a query (last axis but one) may look at a key (last axis); broadcasts. A query that may look
            at none looks at all alike.

    >>> attend(np.zeros((1, 2)), np.ones((3, 2)), np.arange(6.0).reshape(3, 2))
    array([[2., 3.]])
    """
    scores = (queries / math.sqrt(queries.shape[-1])) @ np.swapaxes(keys, -1, -2)
    if mask is not None:
        kind = mask.dtype if hasattr(mask, "dtype") else np.asarray(mask).dtype
        if kind.kind not in "biu":
            raise MismatchError(
                f"a mask of type {kind}, which may be meant to be added to the scores",
                remedy="a mask is true where a query may look at a key: write mask > -1 for one that is added",
            )
        scores = np.where(mask, scores, _NEVER)
    return scipy.special.softmax(scores, axis=-1) @ values


def causal_mask(length: int) -> np.ndarray:
    """True where a time (row) may look at another (column): not at later ones.

    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    return np.tril(np.ones((length, length), bool))


@dataclass
class Cache:
    """Keys and values of the times so far, in arrays with room for all, and how many they are."""

    keys: Any
    values: Any
    length: Any


@dataclass(init=False)
class MultiHeadAttention:
    """Attention in several heads, with learned projections (Vaswani et al. 2017).

    `attention(x)` looks at x itself, `attention(x, context)` at another array. `causal=True` lets no time look at later
    ones (where there are fewer queries than keys, they are of the last times); `mask` is true where a query may look at
    a key, and broadcasts to (examples, heads, queries, keys). With
    `rotary=True` queries and keys are turned by their positions.

    To generate one time after the other, `y, cache = attention.extend(x, cache)` remembers keys and values; it begins
    with `empty_cache`.

    Args:
        features: length of the last axis; the heads divide it.

    >>> from wengert import nn
    >>> attention = nn.MultiHeadAttention(8, heads=2, rng=0)
    >>> x = np.random.default_rng(0).normal(size=(1, 5, 8))
    >>> whole = attention(x, causal=True)
    >>> first, cache = attention.extend(x[:, :3], attention.empty_cache(1, 5))
    >>> rest, cache = attention.extend(x[:, 3:], cache)
    >>> bool(np.allclose(whole, np.concatenate([first, rest], axis=1)))
    True
    """

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    heads: int = field(metadata=STATIC)
    rotary: bool = field(metadata=STATIC)

    def __init__(self, features: int, heads: int, rng: Any, *, bias: bool = True, rotary: bool = False):
        if features % heads:
            raise MismatchError(
                f"{heads} heads for {features} features", remedy="choose heads that divide the features"
            )
        if rotary and features // heads % 2:
            raise MismatchError(
                f"rotary positions for heads of {features // heads} features",
                remedy="they turn pairs of features: choose heads of an even number",
            )
        rng = initializers.generator(rng)
        self.query, self.key, self.value, self.output = [Dense(features, features, rng, bias=bias) for _ in range(4)]
        self.heads, self.rotary = heads, rotary

    def _apart(self, x: Any) -> Any:
        """(examples, time, features) as (examples, heads, time, features of a head)."""
        return np.swapaxes(x.reshape(x.shape[0], x.shape[1], self.heads, -1), 1, 2)

    def _together(self, x: Any) -> Any:
        return self.output(np.swapaxes(x, 1, 2).reshape(x.shape[0], x.shape[2], -1))

    def __call__(self, x: Any, context: Any = None, *, mask: Any = None, causal: bool = False) -> Any:
        seen = x if context is None else context
        demand_axes(self, x, _AXES)
        demand_axes(self, seen, _AXES)
        if mask is not None and np.ndim(mask) == 3 and np.shape(mask)[0] != 1:
            raise MismatchError(
                f"a mask of shape {np.shape(mask)}, whose first axis may count examples or heads",
                remedy="write mask[:, None] for one mask for each example, mask[None] for one for each head",
            )
        q, k, v = self._apart(self.query(x)), self._apart(self.key(seen)), self._apart(self.value(seen))
        before = k.shape[2] - q.shape[2] if causal else 0  # queries are of the last times
        if self.rotary:
            q, k = rotate(q, before + np.arange(q.shape[2])), rotate(k)
        if causal:
            later = np.tril(np.ones((q.shape[2], k.shape[2]), bool), before)
            mask = later if mask is None else np.logical_and(mask, later)
        return self._together(attend(q, k, v, mask))

    def empty_cache(self, examples: int, length: int, dtype: Any = None) -> Cache:
        """Room for keys and values of so many times, in the type of the weights unless another is given."""
        dtype = self.key.weight.dtype if dtype is None else dtype
        shape = (examples, self.heads, length, self.query.weight.shape[1] // self.heads)
        return Cache(np.zeros(shape, dtype), np.zeros(shape, dtype), np.int64(0))

    def extend(self, x: Any, cache: Cache) -> tuple[Any, Cache]:
        """The result for further times, which look at all before, and the cache with them."""
        demand_axes(self, x, _AXES)
        n, start, room = x.shape[1], cache.length, cache.keys.shape[2]
        places = start + np.arange(n)
        q, k, v = self._apart(self.query(x)), self._apart(self.key(x)), self._apart(self.value(x))
        if self.rotary:
            q, k = rotate(q, places), rotate(k, places)
        keys, values = cache.keys.copy(), cache.values.copy()
        keys[:, :, places] = k
        values[:, :, places] = v
        mask = np.arange(room)[None, :] <= places[:, None]
        return self._together(attend(q, keys, values, mask)), Cache(keys, values, start + n)


# ---------------------------------------------------------------------------------------------------------- positions


def sinusoids(length: int, features: int, base: float = 10000.0) -> np.ndarray:
    """Sines and cosines of positions, of wavelengths from 2π to 2π · base (Vaswani et al. 2017); to be added to x.

    >>> sinusoids(3, 4).shape
    (3, 4)
    """
    rates = base ** (-np.arange(0, features, 2) / features)
    angles = np.arange(length)[:, None] * rates
    found = np.zeros((length, features))
    found[:, 0::2] = np.sin(angles)
    found[:, 1::2] = np.cos(angles[:, : features // 2])
    return found


def rotate(x: Any, positions: Any = None, base: float = 10000.0) -> Any:
    """Pairs of features turned by angles that grow with the position (rotary embedding; Su et al. 2021).

    The last axes are (time, features), of an even number; feature k goes with feature k + half. Products of two arrays
    that were turned depend on differences of positions only.

    >>> x = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> rotate(x).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    if x.shape[-1] % 2:
        raise MismatchError(
            f"positions as angles for {x.shape[-1]} features", remedy="they turn pairs: give an even number of features"
        )
    half = x.shape[-1] // 2
    if positions is None:
        positions = np.arange(x.shape[-2])
    rates = base ** (-np.arange(half) / half)
    angles = positions[:, None] * rates
    c, s = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


@dataclass(init=False)
class LearnedPositions:
    """Adds a learned vector for each time.

    >>> from wengert import nn
    >>> nn.LearnedPositions(16, 4, rng=0)(np.zeros((2, 3, 4))).shape
    (2, 3, 4)
    """

    weight: Any

    def __init__(self, length: int, features: int, rng: Any):
        self.weight = initializers.normal(rng, (length, features), scale=0.02)

    def __call__(self, x: Any) -> Any:
        demand_length(self, x, -1, self.weight.shape[1])
        if x.shape[-2] > self.weight.shape[0]:
            raise MismatchError(
                f"LearnedPositions was made for {self.weight.shape[0]} times, and is called with {x.shape[-2]}",
                remedy="make it with the length of the longest sequence",
            )
        return x + self.weight[: x.shape[-2]]
