"""Running a block natively: optimised and compiled when it is first run, and kept with the block."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from wengert.backend.llvm.native import Native, compile_program
from wengert.control import call
from wengert.ir.node import Block, Program
from wengert.passes.pipeline import optimise

_lock = threading.RLock()


def native(block: Block, name: str) -> Native:
    """The compiled block."""
    found = block.derived.get("native")
    if found is None:
        with _lock:
            found = block.derived.get("native")
            if found is None:
                found = block.derived["native"] = compile_program(optimised(block, name))
    return found


def optimised(block: Block, name: str) -> Program:
    """The block as a program, simplified."""
    found = block.derived.get("optimised")
    if found is None:
        found = block.derived["optimised"] = optimise(Program(name, block))
    return found


def execute(block: Block, name: str, args: Sequence[Any]) -> list[Any]:
    """Run a block on plain values."""
    return native(block, name)(*args)


call.execute[0] = execute
