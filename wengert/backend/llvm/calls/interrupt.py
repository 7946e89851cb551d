"""Ctrl-C while native code runs.

CPython only notes that a signal came; its handler runs when the main thread next asks. `poll_function` asks: it takes
the GIL, lets waiting handlers run, and, if one raised, moves the exception into the fault record of the kernel.
"""

from __future__ import annotations

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, VOID
from wengert.backend.llvm.calls.faults import HOLES
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.machine.internal import internal_function


def python_function(cx: Context, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
    """A function of Python's C API."""
    return cx.declare(name, result, arguments)


def poll_function(cx: Context) -> ir.Function:
    """`poll(record)`: not zero if the handler of a signal raised."""
    found = cx.module.globals.get("poll")
    if found is not None:
        return found
    function = internal_function(cx.module, "poll", I32, [POINTER], "noinline", "cold")
    b = ir.IRBuilder(function.append_basic_block())
    gil = b.call(python_function(cx, "PyGILState_Ensure", I32, []), [])
    raised = b.call(python_function(cx, "PyErr_CheckSignals", I32, []), [])
    with b.if_then(b.icmp_signed("!=", raised, I32(0)), likely=False):
        parts = [b.gep(function.args[0], [I64(HOLES + k)], source_etype=I64) for k in range(3)]
        b.call(python_function(cx, "PyErr_Fetch", VOID, [POINTER] * 3), parts)
    b.call(python_function(cx, "PyGILState_Release", VOID, [I32]), [gil])
    b.ret(raised)
    return function
