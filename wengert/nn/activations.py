"""Nonlinear functions between layers: plain NumPy, on arrays of any shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

_SQRT_HALF = math.sqrt(0.5)
_GELU = math.sqrt(2 / math.pi)
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def relu(x: Any) -> Any:
    """max(x, 0), with derivative zero at zero; NaN stays NaN.

    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    return np.where(x <= 0, 0.0, x)


def leaky_relu(x: Any, slope: float = 0.01) -> Any:
    """x where it is positive, else slope · x.

    >>> leaky_relu(np.array([-1.0, 2.0]))
    array([-0.01,  2.  ])
    """
    return np.where(x > 0, x, slope * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, else α(eˣ − 1).

    >>> elu(np.array([-1.0, 2.0])).round(4)
    array([-0.6321,  2.    ])
    """
    # Not np.minimum, which has half a derivative at zero, where this function has a whole one.
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0.0, x)))


def selu(x: Any) -> Any:
    """The scaled `elu` of self-normalising networks (Klambauer et al. 2017).

    >>> selu(np.array([-1.0, 2.0])).round(4)
    array([-1.1113,  2.1014])
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e⁻ˣ).

    >>> sigmoid(np.array([0.0, 2.0])).round(4)
    array([0.5   , 0.8808])
    """
    return scipy.special.expit(x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    >>> tanh(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.7616])
    """
    return np.tanh(x)


def softplus(x: Any) -> Any:
    """log(1 + eˣ), without overflow.

    >>> softplus(np.array([0.0, 1000.0])).round(4)
    array([6.931e-01, 1.000e+03])
    """
    return np.logaddexp(x, 0.0)


def silu(x: Any) -> Any:
    """x · sigmoid(x), also called swish.

    >>> silu(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.7311])
    """
    return x * scipy.special.expit(x)


def gelu(x: Any, approximate: bool = False) -> Any:
    """x · Φ(x) with the normal distribution function Φ; approximated by tanh if asked for (Hendrycks, Gimpel 2016).

    >>> gelu(np.array([0.0, 1.0])).round(4), gelu(np.array([0.0, 1.0]), approximate=True).round(4)
    (array([0.    , 0.8413]), array([0.    , 0.8412]))
    """
    if approximate:
        return 0.5 * x * (1 + np.tanh(_GELU * (x + 0.044715 * (x * x * x))))
    return 0.5 * x * (1 + scipy.special.erf(_SQRT_HALF * x))


def mish(x: Any) -> Any:
    """x · tanh(softplus(x)).

    >>> mish(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.8651])
    """
    return x * np.tanh(np.logaddexp(x, 0.0))


def hard_tanh(x: Any) -> Any:
    """x, cut off at −1 and 1.

    >>> hard_tanh(np.array([-2.0, 0.5]))
    array([-1. ,  0.5])
    """
    return np.clip(x, -1.0, 1.0)


def glu(x: Any, axis: int = -1) -> Any:
    """One half of the elements along an axis, times the sigmoid of the other (Dauphin et al. 2017).

    >>> glu(np.array([3.0, 0.0]))
    array([1.5])
    """
    a, b = np.split(x, 2, axis=axis)
    return a * scipy.special.expit(b)


def softmax(x: Any, axis: int = -1) -> Any:
    """eˣ, divided by its sum along an axis.

    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    """
    return scipy.special.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax`, without cancellation.

    >>> np.exp(log_softmax(np.array([0.0, np.log(3.0)]))).round(4)
    array([0.25, 0.75])
    """
    return scipy.special.log_softmax(x, axis=axis)
