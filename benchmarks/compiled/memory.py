"""How much memory a call takes at its peak, beyond what was there before (Linux only).

The kernel keeps the highest resident size of a process and can be told to forget it. The process has to be started with
`SETTINGS` in its environment, so that memory freed earlier has gone back to the system and is not used again unseen.
"""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

SETTINGS = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "MALLOC_TOP_PAD_": "0",
    "MALLOC_ARENA_MAX": "1",
}
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak(function: Callable) -> int | None:
    """Return the bytes that a call takes at its peak, or None where the system does not tell."""
    if not (STATUS.exists() and FORGET.exists()):
        return None
    function()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    FORGET.write_text("5")
    before = field("VmRSS")
    result = function()
    after = field("VmHWM")
    del result
    return max(0, after - before)


def field(name: str) -> int:
    """Return a field of the process's status, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise LookupError(name)
