"""How many threads the library of linear algebra uses while chains run, which themselves share the cores.

Chains at the same time, each of which has OpenBLAS split a small matrix among all cores, wait for each other most of
the time: the gradient of a Gaussian process with fifty points took 80 times as long. The share depends on how many
chains there are, not on how many of them run at a time: sums of other parts are rounded differently, and draws are to
be the same whoever runs them.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator

import numpy as np
import scipy.linalg.cython_blas

_NAMES = [
    (f"{prefix}_get_num_threads{suffix}", f"{prefix}_set_num_threads{suffix}")
    for prefix in ("scipy_openblas", "openblas")
    for suffix in ("", "64_", "_64")
]
_lock = threading.Lock()
_asked: list[int] = []
"""What those who run chains now ask for; the first of them keeps in `_before` what there was."""
_before: list[int] = []


@functools.cache
def _libraries() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """How to ask for the number and to set it: SciPy's library, which compiled code calls, and NumPy's own, which
    densities in Python call; those of them that are OpenBLAS."""
    umath = getattr(np, "_core", None)
    files = [scipy.linalg.cython_blas.__file__, getattr(getattr(umath, "_multiarray_umath", None), "__file__", None)]
    found = []
    for file in files:
        if file is None:
            continue
        library = ctypes.CDLL(file)
        for get, set_to in _NAMES:
            with contextlib.suppress(AttributeError):
                found.append((getattr(library, get), getattr(library, set_to)))
                break
    return found


def _limit() -> None:
    for before, (_, set_to) in zip(_before, _libraries(), strict=True):
        set_to(min([before, *_asked]))


@contextlib.contextmanager
def shared_among(chains: int) -> Iterator[None]:
    """Each chain has its share of the cores, and at least one; never more than there were."""
    share = max(1, (os.cpu_count() or 1) // chains)
    with _lock:
        if not _asked:
            _before[:] = [get() for get, _ in _libraries()]
        _asked.append(share)
        _limit()
    try:
        yield
    finally:
        with _lock:
            _asked.remove(share)
            _limit()
