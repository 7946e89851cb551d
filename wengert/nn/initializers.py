"""What weights start from: functions `(rng, shape, fans)` that draw an array.

`fans` are the numbers of inputs and of outputs that an element of the result, or of the input, has to do with. Without
them they are told from the shape: (inputs, outputs) for a matrix, (outputs, inputs, *kernel) for more axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special


def generator(rng: Any) -> np.random.Generator:
    """A generator as it is, a number as the seed of one."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


def fans_of(shape: Sequence[int]) -> tuple[int, int]:
    """Numbers of inputs and outputs, from the shape of weights.

    >>> fans_of((3, 5)), fans_of((8, 3, 5, 5))
    ((3, 5), (75, 200))
    """
    if len(shape) < 2:
        return (math.prod(shape), math.prod(shape))
    if len(shape) == 2:
        return (shape[0], shape[1])
    kernel = math.prod(shape[2:])
    return (shape[1] * kernel, shape[0] * kernel)


def zeros(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """All zero.

    >>> zeros(0, (2,))
    array([0., 0.])
    """
    return np.zeros(shape)


def ones(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """All one.

    >>> ones(0, (2,))
    array([1., 1.])
    """
    return np.ones(shape)


def normal(rng: Any, shape: Any, fans: Any = None, *, scale: float = 0.01) -> np.ndarray:
    """Normally distributed, with this standard deviation.

    >>> normal(0, (2, 3)).shape
    (2, 3)
    """
    return scale * generator(rng).standard_normal(shape)


def uniform(rng: Any, shape: Any, fans: Any = None, *, scale: float = 0.01) -> np.ndarray:
    """Uniform between −scale and scale.

    >>> bool(np.max(np.abs(uniform(0, (2, 3)))) < 0.01)
    True
    """
    return generator(rng).uniform(-scale, scale, shape)


def truncated_normal(rng: Any, shape: Any, fans: Any = None, *, scale: float = 0.01, at: float = 2.0) -> np.ndarray:
    """Normally distributed, without what is further from zero than `at` times the scale.

    >>> bool(np.max(np.abs(truncated_normal(0, (100,)))) < 0.02)
    True
    """
    low = scipy.special.ndtr(-at)
    return scale * scipy.special.ndtri(generator(rng).uniform(low, 1 - low, shape))


def _variance(shape: Any, fans: Any, mode: str) -> float:
    inputs, outputs = fans or fans_of(shape)
    return 1 / max({"in": inputs, "average": (inputs + outputs) / 2}[mode], 1)


def glorot_uniform(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Uniform, with variance 2 / (inputs + outputs) (Glorot, Bengio 2010).

    >>> bool(np.max(np.abs(glorot_uniform(0, (3, 3)))) < 1)
    True
    """
    return uniform(rng, shape, scale=math.sqrt(3 * _variance(shape, fans, "average")))


def glorot_normal(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Normal, with variance 2 / (inputs + outputs) (Glorot, Bengio 2010).

    >>> glorot_normal(0, (3, 3)).shape
    (3, 3)
    """
    return normal(rng, shape, scale=math.sqrt(_variance(shape, fans, "average")))


def he_uniform(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Uniform, with variance 2 / inputs, for `relu` (He et al. 2015).

    >>> he_uniform(0, (3, 3)).shape
    (3, 3)
    """
    return uniform(rng, shape, scale=math.sqrt(6 * _variance(shape, fans, "in")))


def he_normal(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Normal, with variance 2 / inputs, for `relu` (He et al. 2015).

    >>> he_normal(0, (3, 3)).shape
    (3, 3)
    """
    return normal(rng, shape, scale=math.sqrt(2 * _variance(shape, fans, "in")))


def lecun_uniform(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Uniform, with variance 1 / inputs (LeCun et al. 1998).

    >>> lecun_uniform(0, (3, 3)).shape
    (3, 3)
    """
    return uniform(rng, shape, scale=math.sqrt(3 * _variance(shape, fans, "in")))


def lecun_normal(rng: Any, shape: Any, fans: Any = None) -> np.ndarray:
    """Normal, with variance 1 / inputs (LeCun et al. 1998).

    >>> lecun_normal(0, (3, 3)).shape
    (3, 3)
    """
    return normal(rng, shape, scale=math.sqrt(_variance(shape, fans, "in")))


def orthogonal(rng: Any, shape: Any, fans: Any = None, *, gain: float = 1.0) -> np.ndarray:
    """A matrix with orthonormal columns, or rows if there are fewer of them (Saxe et al. 2014), uniformly distributed.

    Axes behind the first count as one.

    >>> w = orthogonal(0, (4, 3))
    >>> bool(np.allclose(w.T @ w, np.eye(3)))
    True
    """
    rows, columns = shape[0], math.prod(shape[1:])
    a = generator(rng).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(a)
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return gain * (q if rows >= columns else q.T).reshape(shape)
