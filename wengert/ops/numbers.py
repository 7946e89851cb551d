"""Rows for Python's own numbers in captured programs; eager programs have the numbers themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.derive import elementwise, zero
from wengert.ops.traits import FREE


def _python_number(x: Any) -> Any:
    return x.item() if isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0 else x


python_number = elementwise(
    "python_number", _python_number, (1,), linear_in=(0,), jointly=True, cost=FREE, moves=True, view=True
)
"""The number itself, as one of Python's own, which NumPy promotes weakly: what `math.sin(x)` gives."""


def _fits(x: Any, y: Any, operation: str) -> Any:
    """Exact also where the result wraps around."""
    x, y = np.asarray(x, np.int64), np.asarray(y, np.int64)
    with np.errstate(all="ignore"):
        if operation == "add":
            return ((x ^ (x + y)) & (y ^ (x + y))) >= 0
        if operation == "subtract":
            return ((x ^ y) & (x ^ (x - y))) >= 0
        if operation == "multiply":
            z = x * y
            safe = np.where(x == 0, 1, x)
            return (x == 0) | ((z // safe == y) & (z % safe == 0) & ~((x == -1) & (y == np.iinfo(np.int64).min)))
        n = np.clip(y, 0, 63)
        return (x == 0) | ((y <= 63) & ((x << n) >> n == x))


fits = zero("fits", _fits, elementwise=True)
"""Whether the sum, difference, product or shift (`operation`) of two integers fits into 64 bits."""
