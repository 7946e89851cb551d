"""`np.ma` is refused by name: a masked array leaves elements out, and would lose the derivatives of the others.

What asks whether something is masked is answered: a traced array is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import CALLABLES, implements_blind
from wengert.box.functions.operands import array, holds_traced
from wengert.errors import UnsupportedFunctionError
from wengert.types import shape_of


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


_ANSWERS: dict[str, Callable] = {
    "is_masked": lambda x: False,
    "isMaskedArray": lambda x: False,
    "isMA": lambda x: False,
    "isarray": lambda x: False,
    "getmask": lambda a: np.ma.nomask,
    "getmaskarray": lambda arr: np.zeros(shape_of(array(arr)), bool),
    "getdata": lambda a, subok=True: array(a),
    "filled": lambda a, fill_value=None: array(a),
    "compressed": lambda x: array(x).ravel(),
}
"""Questions about masks, and what has to do with masks only."""

for _name in np.ma.__all__:
    _found = getattr(np.ma, _name, None)
    if not callable(_found) or getattr(np, _name, None) is _found:
        continue
    if _name in _ANSWERS:
        implements_blind(_found)(_ANSWERS[_name])
        continue
    if type(_found).__module__.startswith("numpy.ma"):
        CALLABLES[type(_found)] = _function_object
    elif isinstance(_found, type) or type(_found).__name__ == "function":
        if not (isinstance(_found, type) and issubclass(_found, (Exception, np.generic))):
            implements_blind(_found)(_refusing(_name))
