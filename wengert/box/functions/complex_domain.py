"""`np.emath` (`np.lib.scimath`): functions whose result is complex where a real one does not exist.

Whether it is depends on the values, which a program that is being captured does not know: it is for one of the two
(`capture/real_or_complex.py`), or the function is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, UFUNCS, implements
from wengert.box.functions.operands import array, cast, common_answer
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.types import dtype_of


def _widened(x: Any, outside: Callable, name: str) -> Any:
    """An operand, as complex numbers if one of its elements is outside of the domain."""
    x = array(x)
    if dtype_of(x).kind == "c":
        return x
    if dtype_of(x).kind != "f":
        x = cast(x, np.float64)
    if isinstance(x, Traced) and "_value" not in x._state:  # type: ignore[attr-defined]
        raise UnsupportedFunctionError(
            f"the type of what np.emath.{name} returns depends on values that are known only when the compiled program "
            "runs",
            remedy=f"use np.{name} for values in its domain, or np.{name}(x + 0j) for a complex result",
        )
    if not common_answer(lambda v: bool(np.any(outside(v))), x):
        return x
    return cast(x, np.complex64 if dtype_of(x) == np.float32 else np.complex128)


def _negative(x: Any) -> Any:
    return x < 0


def _outside_one(x: Any) -> Any:
    return np.abs(x) > 1


DOMAINS: dict[str, Callable] = {
    "sqrt": _negative, "log": _negative, "log2": _negative, "log10": _negative, "arccos": _outside_one,
    "arcsin": _outside_one, "arctanh": _outside_one,
}  # fmt: skip
"""What is outside of the domain of the real function."""

for _name, _outside in DOMAINS.items():

    def _function(x: Any, name: str = _name, outside: Callable = _outside) -> Any:
        ufunc: Any = getattr(np, name)
        return (UFUNCS.get(ufunc) or FUNCTIONS[ufunc])(_widened(x, outside, name))

    implements(getattr(np.emath, _name))(_function)


@implements(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    return np.log(_widened(x, _negative, "log")) / np.log(_widened(n, _negative, "log"))


@implements(np.emath.power)
def power(x: Any, p: Any) -> Any:
    return UFUNCS[np.power](_widened(x, _negative, "power"), array(p))
