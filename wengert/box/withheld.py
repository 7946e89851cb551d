"""Numbers that depend on what is differentiated, in a way that nobody can tell: on the steps that a solver took.

What stands in their place is an object that says so when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.errors import WengertError
from wengert.types import dtype_of, is_inexact

_OPERATORS = tuple(
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul neg pos abs "  # noqa: SIM905
    "lt le gt ge eq ne bool float int index complex len iter getitem array array_ufunc array_function".split()
)


class Withheld:
    """Stands for something that cannot be used here; whatever is done with it raises."""

    def __init__(self, error: Callable[[], BaseException], instead: Any = None):
        self._error = error
        self.instead = instead

    def __repr__(self) -> str:
        return "<not available here>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self._error()


def _refuse(self: Withheld, *args: Any, **kwargs: Any) -> Any:
    raise self._error()


for _name in _OPERATORS:
    setattr(Withheld, f"__{_name}__", _refuse)
Withheld.__hash__ = object.__hash__  # type: ignore[method-assign]


def holds_inexact(value: Any) -> bool:
    """Whether something holds numbers that are not whole."""
    if isinstance(value, dict):
        return any(holds_inexact(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(holds_inexact(item) for item in value)
    if value is None or isinstance(value, (str, bytes)):
        return False
    try:
        return bool(is_inexact(dtype_of(value)))
    except (TypeError, AttributeError, ValueError, WengertError):
        return not isinstance(value, (bool, int, np.generic))
