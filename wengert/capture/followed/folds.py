"""What `ufunc.reduce` and `ufunc.accumulate` do along the first axis, one element after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def reduced(f: Callable, total: Any, elements: Any, mask: Any) -> Any:
    """All elements, taken into the total one by one: those that the mask selects, if there is one."""
    for i in range(len(elements)):
        total = f(total, elements[i]) if mask is None else np.where(mask[i], f(total, elements[i]), total)
    return total


def accumulated(f: Callable, elements: Any, dtype: Any) -> Any:
    """An array of the totals after each element."""
    totals = np.empty(elements.shape, dtype)
    totals[0] = elements[0]
    for i in range(1, len(totals)):
        totals[i] = f(totals[i - 1], elements[i])
    return totals
