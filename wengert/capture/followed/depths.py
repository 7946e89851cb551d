"""How deep an expansion has to be evaluated (`box/distributions/tails.py`), as a loop of a compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def deep_enough(evaluate: Callable, deepest: int, values: tuple, args: tuple) -> Any:
    """`evaluate(depth, *args)` at the depth from which on it stays the same, which is found out on `values`."""
    depth = 8
    last = evaluate(depth, *values)
    goes_on: Any = True
    while goes_on and depth < deepest:
        depth = 2 * depth
        now = evaluate(depth, *values)
        goes_on = np.any(np.abs(now - last) > 1e-15 * np.abs(now))
        last = now
    return evaluate(depth, *args)
