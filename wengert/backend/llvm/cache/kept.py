"""Object code that is not one program's: found on disk under its name, or made and kept there."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import sys
import sysconfig
from collections.abc import Callable

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import scipy

from wengert import disk
from wengert.backend.llvm.machine.engine import Object, host


def kept_object(name: str, make: Callable[[], Object]) -> Object:
    """Object code that depends on nothing but what its name says: found, or made and kept."""
    key = hashlib.blake2b(name.encode() + circumstances(), digest_size=32).digest()
    contents = None if disk.folder() is None else disk.read(key)
    if contents is not None:
        length = int.from_bytes(contents[:8], "little")
        return Object(contents[8 + length :], json.loads(contents[8 : 8 + length]), False)
    made = make()
    text = json.dumps(made.symbols).encode()
    disk.write(key, len(text).to_bytes(8, "little") + text + made.code)
    return made


@functools.cache
def circumstances() -> bytes:
    """All that code depends on besides its program."""
    said = (
        sys.version,
        sys.platform,
        platform.machine(),
        sysconfig.get_config_var("SOABI"),
        np.__version__,
        scipy.__version__,
        llvmlite.__version__,
        llvm.llvm_version_info,
        host(),
        disk.state_of_package(),
    )
    return hashlib.blake2b(repr(said).encode(), digest_size=32).digest()
