"""Rewritten code on disk: rewriting a function takes longer than running it on symbols.

What becomes of a function depends on the text of its file, on what its code object says about where it stands there,
and on this package; that is the key. What is kept is a code object, as in the files that Python itself keeps, and the
parameters that it may write to.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import sys
from types import CodeType
from typing import Any

from wengert import disk
from wengert.capture.locate import lines_of
from wengert.capture.written import Write


def key_of(code: CodeType, module_globals: dict[str, Any], kind: str) -> bytes | None:
    """What the twin of a code object, of a kind, is kept under; `None` if it is not to be."""
    if disk.folder() is None:
        return None
    lines = lines_of(code, module_globals)
    if not lines:
        return None
    said = (
        *(code.co_filename, code.co_name, code.co_qualname, code.co_firstlineno, code.co_flags),
        *(code.co_argcount, code.co_kwonlyargcount, code.co_varnames, code.co_freevars, code.co_linetable),
    )
    text = hashlib.blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=32).digest()
    named = repr(said).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(b"twin" + kind.encode() + _circumstances() + text + named, digest_size=32).digest()


def find(key: bytes) -> tuple[CodeType, frozenset[Write]] | None:
    """The twin that was kept under a key."""
    contents = disk.read(key)
    if contents is None:
        return None
    code, writes = marshal.loads(contents)
    return code, frozenset(writes)


def keep(key: bytes, code: CodeType, writes: frozenset[Write]) -> None:
    """Keep a twin."""
    disk.write(key, marshal.dumps((code, sorted(writes))))


@functools.cache
def _circumstances() -> bytes:
    said = (sys.version, sys.flags.optimize, disk.state_of_package())
    return hashlib.blake2b(repr(said).encode(), digest_size=32).digest()
