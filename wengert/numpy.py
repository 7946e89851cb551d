"""A drop-in `numpy` namespace, for code whose source cannot be read.

Instrumentation makes plain `numpy` differentiable, constructors included, but it needs the source of the function. Code
that is typed at a prompt without a history, made by `exec`, or compiled, can import this module in place of NumPy:

>>> import wengert as wg, wengert.numpy as np
>>> def f(x):
...     out = np.zeros(2)
...     out[0] = x * x
...     return np.sum(out)
>>> wg.grad(f)(3.0)
np.float64(6.0)

Everything that is not a constructor is NumPy's own. Outside of a differentiation the constructors are, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as _numpy

from wengert.box.constructors import CONSTRUCTORS
from wengert.running import differentiating


def _constructor(original: Callable, replacement: Callable) -> Callable:
    @functools.wraps(original)
    def construct(*args: Any, **kwargs: Any) -> Any:
        return (replacement if differentiating() else original)(*args, **kwargs)

    return construct


_CONSTRUCTORS = {id(original): _constructor(original, new) for original, new in CONSTRUCTORS.items()}


def __getattr__(name: str) -> Any:
    original = getattr(_numpy, name)
    return _CONSTRUCTORS.get(id(original), original)


def __dir__() -> list[str]:
    return dir(_numpy)
