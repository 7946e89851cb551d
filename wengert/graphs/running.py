"""How kernels are run: loops over integers that a colouring cannot do without.

A kernel (`kernels/`) is a function of numbers and arrays that writes its results into arrays it is given. It is plain
Python, with no containers and nothing of NumPy's but indexing, so that it can be interpreted here, or compiled by
whoever passes another `Run`: this folder does not know how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Run(Protocol):
    """Call a kernel with what it reads, then what it writes. Its inner loops run about `work` times in all."""

    def __call__(
        self, kernel: Callable[..., None], work: int, read: tuple[Any, ...], written: tuple[np.ndarray, ...]
    ) -> None: ...


def interpreted(kernel: Callable[..., None], work: int, read: tuple[Any, ...], written: tuple[np.ndarray, ...]) -> None:
    """Run a kernel as it is. Elements of a memoryview are Python's numbers, with which Python computes quicker."""
    args: tuple[Any, ...] = (*read, *written)
    kernel(*[a.data if isinstance(a, np.ndarray) and a.dtype.char in _READABLE else a for a in args])


_READABLE = "bBhHiIlLqQfd"
"""Types whose elements a memoryview can give."""
