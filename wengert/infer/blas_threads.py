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

import scipy.linalg.cython_blas

_PREFIXES = ("scipy_openblas", "openblas")
_lock = threading.Lock()
_asked: list[int] = []
"""What those who run chains now ask for; the first of them keeps in `_before` what there was."""
_before = 0


@functools.cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to ask for the number and to set it, if it is OpenBLAS that compiled code calls."""
    library = ctypes.CDLL(scipy.linalg.cython_blas.__file__)
    for prefix in _PREFIXES:
        with contextlib.suppress(AttributeError):
            return getattr(library, f"{prefix}_get_num_threads"), getattr(library, f"{prefix}_set_num_threads")
    return None


@contextlib.contextmanager
def shared_among(chains: int) -> Iterator[None]:
    """Each chain has its share of the cores, and at least one; never more than there were."""
    global _before
    functions = _functions()
    if functions is None:
        yield
        return
    get, set_to = functions
    share = max(1, (os.cpu_count() or 1) // chains)
    with _lock:
        if not _asked:
            _before = get()
        _asked.append(share)
        set_to(min([_before, *_asked]))
    try:
        yield
    finally:
        with _lock:
            _asked.remove(share)
            set_to(min([_before, *_asked]))
