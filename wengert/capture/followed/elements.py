"""What `np.vectorize` does: a function is applied to each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def each(f: Callable, first: Any, dtype: Any, arrays: list[Any]) -> Any:
    """An array of the results for all elements; `first` is that for the first of them."""
    y = np.empty(len(arrays[0]), dtype)
    y[0] = first
    for i in range(1, len(y)):
        y[i] = f(*[a[i] for a in arrays])
    return y
