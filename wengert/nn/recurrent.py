"""Recurrent networks over arrays with the axes (examples, time, features).

What does not depend on the state is computed for all times at once, so a step is one product with the state. Compiled,
the loop over time is a native loop, and so is the one backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.special

from wengert.errors import MismatchError
from wengert.nn import initializers
from wengert.nn.layers import STATIC, demand_axes, demand_length


def _weights(inputs: int, features: int, gates: int, rng: Any) -> tuple[Any, Any, Any]:
    """Of inputs, of the state (an orthogonal matrix for each gate), and biases."""
    rng = initializers.generator(rng)
    into = initializers.glorot_uniform(rng, (inputs, gates * features), (inputs, features))
    across = [initializers.orthogonal(rng, (features, features)) for _ in range(gates)]
    return into, np.concatenate(across, axis=1), np.zeros(gates * features)


_AXES = ("examples", "time", "features")


def _demand_sequence(layer: Any, x: Any, *state: Any) -> None:
    """x with the axes that a recurrent layer goes along, and states for each example."""
    demand_axes(layer, x, _AXES)
    demand_length(layer, x, -1, layer.weight.shape[0])
    wanted = (x.shape[0], layer.recurrent.shape[0])
    for h in state:
        if np.shape(h) != wanted:
            raise MismatchError(
                f"{type(layer).__name__} begins with a state of shape {np.shape(h)}, where it has the shape {wanted}",
                remedy="give a state for each example, (examples, features), or none for zeros",
            )


class _OneState:
    """What layers with one state have in common: `_next(x @ weight + bias, h)` is the state after one time."""

    weight: Any
    recurrent: Any
    bias: Any
    _next: Callable[..., Any]

    def initial(self, x: Any) -> Any:
        """The state before the first time: zero."""
        return np.zeros((x.shape[0], self.recurrent.shape[0]), x.dtype)

    def step(self, x: Any, h: Any) -> Any:
        """The state after one time, from x with the axes (examples, features)."""
        return self._next(x @ self.weight + self.bias, h)

    def __call__(self, x: Any, h: Any = None) -> Any:
        _demand_sequence(self, x, *(() if h is None else (h,)))
        if h is None:
            h = self.initial(x)
        given = x @ self.weight + self.bias
        out = np.zeros((x.shape[0], x.shape[1], h.shape[1]), given.dtype)
        for t in range(x.shape[1]):
            h = self._next(given[:, t], h)
            out[:, t] = h
        return out


@dataclass(init=False)
class RNN(_OneState):
    """hₜ = activation(xₜ @ weight + hₜ₋₁ @ recurrent + bias) (Elman 1990).

    Called as `rnn(x)` or `rnn(x, h)` it returns all hₜ; `rnn.step(x, h)` is one of them.

    >>> from wengert import nn
    >>> nn.RNN(3, 5, rng=0)(np.ones((2, 7, 3))).shape
    (2, 7, 5)
    """

    weight: Any
    recurrent: Any
    bias: Any
    activation: Callable = field(metadata=STATIC)

    def __init__(self, inputs: int, features: int, rng: Any, *, activation: Callable = np.tanh):
        self.weight, self.recurrent, self.bias = _weights(inputs, features, 1, rng)
        self.activation = activation

    def _next(self, given: Any, h: Any) -> Any:
        return self.activation(given + h @ self.recurrent)


@dataclass(init=False)
class GRU(_OneState):
    """A gated recurrent unit (Cho et al. 2014): r and z are gates between 0 and 1,

        n = tanh(x Wₙ + bₙ + r · (h Uₙ + cₙ)),    h ← (1 − z) · n + z · h

    Called as `gru(x)` or `gru(x, h)` it returns all hₜ; `gru.step(x, h)` is one of them.

    >>> from wengert import nn
    >>> nn.GRU(3, 5, rng=0)(np.ones((2, 7, 3))).shape
    (2, 7, 5)
    """

    weight: Any
    recurrent: Any
    bias: Any
    inner: Any

    def __init__(self, inputs: int, features: int, rng: Any):
        self.weight, self.recurrent, self.bias = _weights(inputs, features, 3, rng)
        self.inner = np.zeros(features)

    def _next(self, given: Any, h: Any) -> Any:
        n = h.shape[1]
        across = h @ self.recurrent
        gates = scipy.special.expit(given[:, : 2 * n] + across[:, : 2 * n])
        r, z = gates[:, :n], gates[:, n:]
        new = np.tanh(given[:, 2 * n :] + r * (across[:, 2 * n :] + self.inner))
        return new + z * (h - new)


@dataclass(init=False)
class LSTM:
    """Long short-term memory (Hochreiter, Schmidhuber 1997; with forget gate, Gers et al. 2000).

        c ← f · c + i · tanh(g),    h ← o · tanh(c),    (i, f, g, o) from x W + h U + b

    Called as `lstm(x)` or `lstm(x, (h, c))` it returns all hₜ, and `lstm.run` the last state as well;
    `lstm.step(x, (h, c))` is the state after one time. The forget gate starts open: its bias is one.

    >>> from wengert import nn
    >>> nn.LSTM(3, 5, rng=0)(np.ones((2, 7, 3))).shape
    (2, 7, 5)
    """

    weight: Any
    recurrent: Any
    bias: Any

    def __init__(self, inputs: int, features: int, rng: Any):
        self.weight, self.recurrent, self.bias = _weights(inputs, features, 4, rng)
        self.bias[features : 2 * features] = 1.0

    def initial(self, x: Any) -> tuple[Any, Any]:
        """The state before the first time: zero."""
        shape = (x.shape[0], self.recurrent.shape[0])
        return np.zeros(shape, x.dtype), np.zeros(shape, x.dtype)

    def _next(self, given: Any, h: Any, c: Any) -> tuple[Any, Any]:
        n = h.shape[1]
        z = given + h @ self.recurrent
        i, f = scipy.special.expit(z[:, :n]), scipy.special.expit(z[:, n : 2 * n])
        g, o = np.tanh(z[:, 2 * n : 3 * n]), scipy.special.expit(z[:, 3 * n :])
        c = f * c + i * g
        return o * np.tanh(c), c

    def step(self, x: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        """The state (h, c) after one time, from x with the axes (examples, features)."""
        return self._next(x @ self.weight + self.bias, *state)

    def run(self, x: Any, state: tuple[Any, Any] | None = None) -> tuple[Any, tuple[Any, Any]]:
        """All hₜ, and the state (h, c) after the last time, from which one may go on."""
        _demand_sequence(self, x, *(state or ()))
        h, c = self.initial(x) if state is None else state
        given = x @ self.weight + self.bias
        out = np.zeros((x.shape[0], x.shape[1], h.shape[1]), given.dtype)
        for t in range(x.shape[1]):
            h, c = self._next(given[:, t], h, c)
            out[:, t] = h
        return out, (h, c)

    def __call__(self, x: Any, state: tuple[Any, Any] | None = None) -> Any:
        return self.run(x, state)[0]


@dataclass
class Bidirectional:
    """One recurrent layer along time and one against it; the features of both, one after the other.

    Called as `layer(x, lengths)`, with as many times as count for each example, the second one begins at the last time
    that counts, and results are zero behind it. (A layer along time needs no lengths: later times change nothing.)

    >>> from wengert import nn
    >>> layer = nn.Bidirectional(nn.GRU(3, 5, rng=0), nn.GRU(3, 5, rng=1))
    >>> layer(np.ones((2, 7, 3))).shape
    (2, 7, 10)
    >>> bool(np.allclose(layer(np.ones((1, 7, 3)), np.array([4]))[:, :4], layer(np.ones((1, 4, 3)))))
    True
    """

    forward: Any
    backward: Any

    def __call__(self, x: Any, lengths: Any = None) -> Any:
        if lengths is None:
            return np.concatenate([self.forward(x), self.backward(x[:, ::-1])[:, ::-1]], axis=-1)
        times, ends = np.arange(x.shape[1]), np.asarray(lengths)[:, None]
        counted = times < ends
        places = np.where(counted, ends - 1 - times, times)[:, :, None]
        against = self.backward(np.take_along_axis(x, places, axis=1))
        y = np.concatenate([self.forward(x), np.take_along_axis(against, places, axis=1)], axis=-1)
        return np.where(counted[:, :, None], y, 0.0)
