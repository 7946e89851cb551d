"""Functions of `autograd.numpy` and `autograd.scipy`: given traced values, NumPy's and SciPy's own run instead.

Packages that import `autograd.numpy as np` are NumPy programs. autograd wraps each function, for boxes of its own, and
keeps what is inside as `fun`; some, such as `array`, it has written anew, and these are NumPy's of the same name. It
is never imported here; its functions are known by their marks. Given its own boxes, they are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

_WRITTEN_ANEW = frozenset(("autograd.numpy.numpy_wrapper", "autograd.numpy.linalg", "autograd.numpy.fft"))


def behind_autograd(f: FunctionType) -> Any:
    """The function of NumPy or SciPy that one of autograd's stands for; `None` for any other."""
    if "_is_autograd_primitive" in f.__dict__:
        return f.__dict__.get("fun")
    module = f.__globals__.get("__name__")
    if module not in _WRITTEN_ANEW:
        return None
    return getattr(np if module.endswith("wrapper") else getattr(np, module.rpartition(".")[2]), f.__name__, None)


def unless_boxed(f: Callable, target: Callable) -> Callable:
    """`target`, and `f` where values of autograd's own are among the arguments."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return (f if any(map(_is_boxed, (*args, *kwargs.values()))) else target)(*args, **kwargs)

    return called


def _is_boxed(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_is_boxed, x))
    return type(x).__module__.startswith("autograd.")
