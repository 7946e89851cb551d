"""Running a block natively: optimised and compiled when it is first run, and kept with the block.

Compiled code is kept on disk as well (`llvm/cache/stored.py`), where another process finds it.
"""

from __future__ import annotations

import functools
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from wengert.backend.gpu import run as on_device
from wengert.backend.llvm.cache import stored
from wengert.backend.llvm.cache.kept import kept_object
from wengert.backend.llvm.calls.dispatch import dispatcher
from wengert.backend.llvm.calls.objects import builtin
from wengert.backend.llvm.calls.recipe import CallWay
from wengert.backend.llvm.kernel import write_kernel
from wengert.backend.llvm.machine import objects
from wengert.backend.llvm.machine.engine import MachineCode, OptimisedModule
from wengert.backend.llvm.native import Native, compiled
from wengert.capture.deep import deeply
from wengert.control import call
from wengert.control.custom import without_rules
from wengert.ir.node import Block, Program
from wengert.passes.byte_order import in_native_order, is_native
from wengert.passes.pipeline import optimise

_lock = threading.RLock()


def is_made(block: Block) -> bool:
    """Whether the block has been compiled."""
    return "native" in block.derived


def native(block: Block, name: str) -> Native:
    """The compiled block."""
    found = block.derived.get("native")
    if found is None:
        with _lock:
            found = block.derived.get("native")
            if found is None:
                found = block.derived["native"] = _found_or_made(block, name)
    return found


@deeply
def _found_or_made(block: Block, name: str) -> Native:
    block = without_rules(block)
    key = stored.key_of(block)
    ready = None if key is None else stored.find(key)
    if ready is None:
        ready = compiled(optimised(block, name))
        if key is not None:
            stored.keep(key, ready)
    orders = [None if is_native(r.type) or not r.type.ndim else r.type.dtype for r in block.results]
    return Native(name, ready, orders if any(orders) else None)


def module(block: Block, name: str) -> OptimisedModule:
    """The LLVM IR of the block; it is not kept with the code, as few ask for it."""
    found = block.derived.get("module")
    if found is None:
        found = block.derived["module"] = OptimisedModule(
            write_kernel(optimised(block, name)).text, level=objects.level()
        )
    return found


def optimised(block: Block, name: str) -> Program:
    """The block as a program, simplified."""
    found = block.derived.get("optimised")
    if found is None:
        found = block.derived["optimised"] = optimise(Program(name, in_native_order(without_rules(block))))
    return found


def execute(block: Block, name: str, args: Sequence[Any]) -> list[Any]:
    """Run a block on plain values."""
    if on_device.runs_here(args):
        return on_device.run(block, name, args)
    return native(block, name)(*args)


@functools.cache
def _dispatching() -> MachineCode:
    return MachineCode([kept_object("dispatch", lambda: OptimisedModule(dispatcher()).object())], {})


class _Site:
    """What the builtin function of a user's function refers to."""

    def __init__(self, *things: Any):
        self.things = things
        self.methods: list[Any] = []


def builtin_function(name: str, ways: Sequence[CallWay], codes: Sequence[Native], otherwise: Callable) -> Callable:
    """A builtin function for the calls that go one of these ways, each into one of these programs. It calls
    `otherwise` for all others, and while some thread has chosen other derivatives than by default."""
    code = _dispatching()
    words = struct.pack(f"{2 + len(ways)}q", id(otherwise), len(ways), *[way.address for way in ways])
    return builtin(code.address("dispatch"), name, words, _Site(otherwise, ways, codes, code), with_names=True)


call.execute[0] = execute
