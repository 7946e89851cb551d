"""How many threads compiled code uses.

Long elementwise loops, sums and stacks of independent work are shared by the threads of this process (`pool.py`), which
are started when the first program that has any is loaded. Results do not depend on how many there are.

The number is, unless `set_num_threads` says otherwise: `WENGERT_NUM_THREADS`, or `OMP_NUM_THREADS`, or one for each
processor that this process may use. A process that was forked begins with one: its siblings want processors too.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import signal
import sys
import threading

from wengert.backend.llvm.machine.engine import MachineCode, OptimisedModule
from wengert.backend.llvm.machine.symbols import share_hook
from wengert.backend.llvm.threads.pool import TEXT
from wengert.errors import told

_lock = threading.Lock()
_wanted: int | None = None
_started = 0
_is_ready = False

IS_POSSIBLE = sys.platform != "win32"
"""Threads come from the POSIX library."""


def get_num_threads() -> int:
    """How many threads compiled programs use at most.

    >>> import wengert as wg
    >>> wg.set_num_threads(2)
    >>> wg.get_num_threads()
    2
    """
    return _wanted if _wanted is not None else _default()


@told
def set_num_threads(count: int) -> None:
    """Let compiled programs use so many threads for long loops; 1 for none besides the one that calls.

    Results are the same, bit for bit, for any number. That of the BLAS is its own affair (`OPENBLAS_NUM_THREADS`).

    >>> import wengert as wg
    >>> wg.set_num_threads(1)
    """
    global _wanted
    number = operator.index(count)
    if number < 1:
        raise ValueError(f"there must be at least one thread, not {number}")
    if number > 1 and not IS_POSSIBLE:
        raise NotImplementedError("compiled programs use one thread on Windows")
    with _lock:
        _wanted = number
        if _is_ready:
            _start(number)


def prepare() -> None:
    """Start threads, if there are to be any and they are not there yet: a program that shares work was loaded."""
    global _is_ready
    with _lock:
        if not _is_ready:
            _is_ready = True
            _start(get_num_threads())


@functools.cache
def _default() -> int:
    if not IS_POSSIBLE:
        return 1
    for variable in ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS"):
        said = os.environ.get(variable, "").split(",")[0].strip()
        if said.isdigit() and int(said) > 0:
            return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool:
    """The native code of the pool."""

    def __init__(self) -> None:
        self._code = MachineCode([OptimisedModule(TEXT).object()], {})
        self.share = self._code.address("pool_share")
        self._call("pool_init", [])

    def start(self, number: int) -> bool:
        return self._call("pool_start", [ctypes.c_int64], number) == 0

    def limit(self, count: int) -> None:
        self._call("pool_limit", [ctypes.c_int64], count)

    def _call(self, name: str, types: list, *values: int) -> int:
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(self._code.address(name))(*values)


_pool: _Pool | None = None


def _start(count: int) -> None:
    global _pool, _started
    if count == 1:
        share_hook.value = None
        return
    if _pool is None:
        _pool = _Pool()
        # Threads sleep in its code, also when Python ends and everything else is dropped.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_pool))
    # Signals are for threads of Python.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        while _started < count - 1 and _pool.start(_started):
            _started += 1
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _pool.limit(count - 1)
    share_hook.value = _pool.share if _started else None


def _after_fork() -> None:
    """The child has none of its parent's threads, and a lock that one of them may have held."""
    global _pool, _started, _wanted, _lock
    _lock = threading.Lock()
    share_hook.value, _pool, _started, _wanted = None, None, 0, 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
