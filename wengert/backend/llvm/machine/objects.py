"""Object code of LLVM IR, kept for a while: what comes to the same text is compiled once.

Functions that are defined anew, the same lambda on two lines, and derivatives that several operators ask for often come
to the same IR, and compiling it is most of what a small program costs. Texts are compared as they are, but for the
first line, which is a comment with the name of the program: large constants and ways back to Python are symbols there,
so code is the same for all of them.

`WENGERT_OPT=0` in the environment has LLVM compile in a tenth of the time, to code that is several times slower;
1 and 2 lie between, 3 is what is done otherwise.
"""

from __future__ import annotations

import hashlib
import os
import threading

from wengert.backend.llvm.machine import engine

MOST_BYTES = 1 << 24
"""So much code is kept; what was asked for longest ago goes first."""

_kept: dict[bytes, engine.Object] = {}
_lock = threading.Lock()


def level() -> int:
    """How much is done to make code fast, from 0 to 3."""
    said = os.environ.get("WENGERT_OPT", "").strip() or "3"
    if said not in ("0", "1", "2", "3"):
        raise ValueError(f"WENGERT_OPT is 0, 1, 2 or 3, not {said}")
    return int(said)


def object_code(text: str) -> engine.Object:
    """The object code of LLVM IR, for this process."""
    _, _, rest = text.partition("\n")
    done = level()
    key = hashlib.blake2b(f"{done}{engine.effort(text, done)}{rest}".encode(), digest_size=16).digest()
    with _lock:
        found = _kept.pop(key, None)
    if found is None:
        found = engine.OptimisedModule(text, level=done).object()
    with _lock:
        _kept[key] = found
        size = sum(len(kept.code) for kept in _kept.values())
        while size > MOST_BYTES:
            size -= len(_kept.pop(next(iter(_kept))).code)
    return found
