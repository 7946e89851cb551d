"""Compiled programs on disk: found again by what they are, where they run, and what made them.

The key is the digest of the captured block (`digest.py`), so that a program that is found need not even be simplified,
together with the processor, the versions of Python, NumPy, SciPy and LLVM, and the state of this package's own source.
Nothing is executed to read a file: it holds a description in JSON, object code, and the bytes of large constants.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from wengert import disk
from wengert.backend.llvm.cache.digest import digest
from wengert.backend.llvm.cache.kept import circumstances
from wengert.backend.llvm.cache.plain import NotPlain, node_as_plain, node_from_plain
from wengert.backend.llvm.calls.callback import Callback
from wengert.backend.llvm.calls.interface import as_data, from_data
from wengert.backend.llvm.machine import objects, symbols
from wengert.backend.llvm.machine.engine import KERNEL, Object
from wengert.backend.llvm.native import Compiled
from wengert.ir.node import Block


def key_of(block: Block) -> bytes | None:
    """What a block is kept under; `None` if it is not to be."""
    if disk.folder() is None:
        return None
    found = digest(block)
    if found is None:
        return None
    return hashlib.blake2b(found + bytes([objects.level()]) + circumstances(), digest_size=32).digest()


def find(key: bytes) -> Compiled | None:
    """The code that was kept under a key, if it can be loaded here."""
    contents = disk.read(key)
    if contents is None:
        return None
    length = int.from_bytes(contents[:8], "little")
    head, rest = json.loads(contents[8 : 8 + length]), memoryview(contents)[8 + length :]
    constants = {}
    for name, char, shape, nbytes in head["constants"]:
        constants[name] = np.frombuffer(rest[:nbytes], np.dtype(char)).reshape(shape).copy()  # aligned
        rest = rest[nbytes:]
    callbacks = [Callback(node_from_plain(node)) for node in head["callbacks"]]
    told = {*constants, "wg_plain", "wg_fail"}.union(*[c.addresses(k) for k, c in enumerate(callbacks)])
    called_by = Object(bytes(rest[: head["ways"]["nbytes"]]), head["ways"]["symbols"], False)
    object = Object(bytes(rest[head["ways"]["nbytes"] :]), head["symbols"], head["has_arena"])
    outside = {*object.symbols, *called_by.symbols} - told - {KERNEL}
    if not all(symbols.address(name) is not None for name in outside):
        return None
    return Compiled(object, called_by, from_data(head["interface"]), constants, callbacks)


def keep(key: bytes, compiled: Compiled) -> None:
    """Keep code under a key, unless it has a callback that is bound to this process."""
    try:
        callbacks = [node_as_plain(callback.node) for callback in compiled.callbacks]
    except NotPlain:
        return
    head: dict[str, Any] = {
        "interface": as_data(compiled.interface),
        "symbols": compiled.object.symbols,
        "has_arena": compiled.object.has_arena,
        "ways": {"symbols": compiled.ways.symbols, "nbytes": len(compiled.ways.code)},
        "callbacks": callbacks,
        "constants": [[name, a.dtype.char, a.shape, a.nbytes] for name, a in compiled.constants.items()],
    }
    text = json.dumps(head).encode()
    parts = [len(text).to_bytes(8, "little"), text, *[a.tobytes() for a in compiled.constants.values()]]
    disk.write(key, b"".join([*parts, compiled.ways.code, compiled.object.code]))
