"""`np.ma` is refused by name: a masked array leaves elements out, and would lose the derivatives of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import CALLABLES, implements_blind
from wengert.box.functions.operands import holds_traced
from wengert.errors import UnsupportedFunctionError


def _refusing(name: str) -> Callable:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"np.ma.{name} of traced values: masked arrays have no derivatives",
            remedy="use a plain array and np.where with the mask, or x[~mask]",
        )

    return implementation


def _function_object(f: Any) -> Callable:
    """A function of `np.ma` that is an object of one of its classes."""
    name = getattr(f, "__name__", type(f).__name__)

    def called(*args: Any, **kwargs: Any) -> Any:
        refuses = any(holds_traced(a) for a in (*args, *kwargs.values()))
        return (_refusing(name) if refuses else f)(*args, **kwargs)

    return called


for _name in np.ma.__all__:
    _found = getattr(np.ma, _name, None)
    if not callable(_found) or getattr(np, _name, None) is _found:
        continue
    if type(_found).__module__.startswith("numpy.ma"):
        CALLABLES[type(_found)] = _function_object
    elif isinstance(_found, type) or type(_found).__name__ == "function":
        if not (isinstance(_found, type) and issubclass(_found, (Exception, np.generic))):
            implements_blind(_found)(_refusing(_name))
