"""Memory that nobody has written to, made visible: `WENGERT_POISON=1`.

Code that is compiled with this variable set fills whatever memory it takes (arena, small arrays, workspace, results)
with a pattern before it is used. As a floating-point number it is a NaN, a signalling one in double precision; as an
integer it is no index of anything. So a mistake of the planner cannot hide behind a zero that happened to be there.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I64, POINTER, VOID
from wengert.backend.llvm.machine.internal import internal_function

WORD = 0x7FF4DEAD7FF4DEAD

_NAME = "wg_poison"


def is_on() -> bool:
    """Whether code that is compiled now is to poison memory."""
    return os.environ.get("WENGERT_POISON", "") not in ("", "0")


def fill(builder: ir.IRBuilder, pointer: ir.Value, nbytes: ir.Value | int) -> None:
    """Fill so many bytes with the pattern."""
    nbytes = I64(nbytes) if isinstance(nbytes, int) else nbytes
    builder.call(_function(builder.module), [pointer, nbytes])


def _function(module: ir.Module) -> ir.Function:
    found = module.globals.get(_NAME)
    if found is not None:
        return found
    function = internal_function(module, _NAME, VOID, [POINTER, I64], "noinline")
    pointer, nbytes = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    words = b.and_(nbytes, I64(-8))
    _loop(b, I64(0), words, 8, lambda at: b.store(I64(WORD), b.gep(pointer, [at], source_etype=I8), align=1))

    def byte(at: ir.Value) -> None:
        shift = b.shl(b.and_(at, I64(7)), I64(3))
        b.store(b.trunc(b.lshr(I64(WORD), shift), I8), b.gep(pointer, [at], source_etype=I8), align=1)

    _loop(b, words, nbytes, 1, byte)
    b.ret_void()
    return function


def _loop(b: ir.IRBuilder, start: ir.Value, stop: ir.Value, step: int, body: Callable[[ir.Value], object]) -> None:
    before, inside, after = b.block, b.append_basic_block("fill"), b.append_basic_block("after")
    b.cbranch(b.icmp_signed("<", start, stop), inside, after)
    b.position_at_end(inside)
    at = b.phi(I64)
    at.add_incoming(start, before)
    body(at)
    following = b.add(at, I64(step))
    at.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, stop), inside, after)
    b.position_at_end(after)
