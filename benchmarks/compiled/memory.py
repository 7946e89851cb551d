"""How much memory a call touches at its peak: arguments, temporaries and results (Linux only).

Two things are added. What a call takes from the system and gives back: the kernel keeps the highest resident size of a
process, and can be told to forget it. And what was there before and is used again, such as arguments, or temporaries
that a compiled program keeps between calls: the kernel marks pages that are touched, and can be told to forget that as
well. Without the second, a program that never gives its memory back would seem to need none. What a call of an empty
function touches is subtracted; what the interpreter touches besides makes results uncertain by up to 1 MB.

The process has to be started with `SETTINGS` in its environment, so that memory that is freed goes back to the system.
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
STATUS, MAPS, FORGET = Path("/proc/self/status"), Path("/proc/self/smaps"), Path("/proc/self/clear_refs")
FORGET_TOUCHED, FORGET_HIGHEST = "1", "5"


def peak(function: Callable) -> int | None:
    """Return the bytes that a call touches at its peak, or None where the system does not tell."""
    if not (STATUS.exists() and MAPS.exists() and FORGET.exists()):
        return None
    function()
    return max(0, once(function) - once(lambda: None))


def once(function: Callable) -> int:
    """Return the bytes that a call takes and gives back, and those that it touches of what stays."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    FORGET.write_text(FORGET_HIGHEST)
    before = resident("VmRSS")
    FORGET.write_text(FORGET_TOUCHED)
    result = function()
    highest = resident("VmHWM")
    del result
    return max(0, highest - before) + touched()


def resident(field: str) -> int:
    """Return a field of the process's status, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def touched() -> int:
    """Return the bytes of pages marked as touched, among those that belong to no file."""
    total, counts = 0, False
    for line in MAPS.read_text().splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):  # a new mapping: range, rights, offset, device, inode, name
            counts = words[4] == "0" and "w" in words[1] and "stack" not in words[-1]
        elif counts and words[0] == "Referenced:":
            total += 1024 * int(words[1])
    return total
