"""Memory for temporaries that a compiled program keeps between calls.

Fresh memory from the system is slow: each page is zeroed when it is first touched. So a program keeps its arena, and a
call takes it if nobody else has it: another thread, or a call further up that came back through Python. Who finds it
taken allocates memory of its own, and frees it.

The arena lives in the variable `wg_arena` of the module; whoever drops the code frees it (`engine.py`). Code that
stands alone keeps it until its process ends.
"""

from __future__ import annotations

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, VOID
from wengert.backend.llvm.context import Context

ALIGNMENT = 64
NAME = "wg_arena"


def kept_arena(cx: Context, nbytes: int) -> ir.Value:
    """The arena of the program, of so many bytes, for the length of a call."""
    arena, taken = _variable(cx, NAME, POINTER, None), _variable(cx, "wg_arena_taken", I32, 0)
    have, own = cx.on_stack(I32, name="have_arena"), cx.on_stack(POINTER, name="own_arena")
    place = cx.on_stack(POINTER, name="arena")
    with cx.at_entry() as b:
        b.store(I32(0), have)
        b.store(POINTER(None), own)
    b = cx.builder
    before = b.atomic_rmw("xchg", taken, I32(1), "acquire")
    is_free = b.icmp_signed("==", before, I32(0))
    b.store(b.zext(is_free, I32), have)
    b.store(b.select(is_free, b.load(arena, typ=POINTER), POINTER(None)), place)
    missing = b.icmp_unsigned("==", b.ptrtoint(b.load(place, typ=POINTER), I64), I64(0))
    with b.if_then(missing, likely=False):
        malloc = cx.declare("malloc", POINTER, [I64])
        fresh = b.call(malloc, [I64(nbytes + ALIGNMENT)])
        cx.fail_if(
            b.icmp_unsigned("==", b.ptrtoint(fresh, I64), I64(0)), "MemoryError", "cannot allocate {0} bytes",
            I64(nbytes),
        )  # fmt: skip
        b.store(fresh, place)
        b.store(fresh, b.select(is_free, arena, own))

    def leave() -> None:
        b = cx.builder
        b.call(cx.declare("free", VOID, [POINTER]), [b.load(own, typ=POINTER)])
        with b.if_then(b.icmp_signed("!=", b.load(have, typ=I32), I32(0))):
            b.atomic_rmw("xchg", taken, I32(0), "release")  # llvmlite stores atomically by typed pointers only

    cx.on_leaving.append(leave)
    start = b.ptrtoint(b.load(place, typ=POINTER), I64)
    ahead = b.and_(b.neg(start), I64(ALIGNMENT - 1))
    return b.gep(b.load(place, typ=POINTER), [ahead], inbounds=True, source_etype=I8)


def _variable(cx: Context, name: str, type: ir.Type, value: object) -> ir.Value:
    found = ir.GlobalVariable(cx.module, type, name)
    found.initializer = type(value)
    found.type = POINTER
    if cx.standalone:
        found.linkage = "internal"
    return found
