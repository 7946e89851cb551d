"""Checks that were made in code that runs many times, or only sometimes, and are acted on after it.

`Context.fail_later` has one note of checks that failed, which holds from there to the end of a block. Here are the ways
in which a note leaves the iteration of a loop, or the branch, in which it was made. Both are there so that LLVM makes
vectors of loops with checks: a loop with a second way out is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64
from wengert.backend.llvm.calls.faults import OK
from wengert.backend.llvm.context import Context

_BITS = 20
"""So many bits of a note are the status, those above the number of the iteration."""
_NONE = (1 << 63) - 1


class FirstFailure:
    """The first check that failed in the iterations of a loop: the least of iteration · 2²⁰ + status.

    Unless it `waits`, or where something else ends the loop, there will be no vectors: checks are acted on in each
    iteration, which is quicker then.
    """

    def __init__(self, cx: Context, waits: bool):
        self.cx, self.waits = cx, waits
        self.place: ir.Value | None = None

    @contextmanager
    def noted(self, k: ir.Value) -> Iterator[None]:
        """The context is the code of iteration k, counted from where `report` was last."""
        cx, exits = self.cx, self.cx.exits
        before, cx.may_wait = cx.may_wait, self.waits
        yield
        cx.may_wait = before
        if cx.failed is None:
            return
        if cx.exits > exits or not self.waits:
            cx.fail_now()
            return
        if self.place is None:
            self.place = cx.on_stack(I64, name="failure")
            with cx.at_entry() as at_entry:  # it stays so until the kernel ends
                at_entry.store(I64(_NONE), self.place)
        b = cx.builder
        found = b.or_(b.shl(k, I64(_BITS)), b.zext(cx.first, I64))
        found = b.select(cx.failed, found, I64(_NONE))
        before = b.load(self.place, typ=I64)
        b.store(b.select(b.icmp_signed("<", found, before), found, before), self.place)
        cx.failed = None

    def report(self) -> None:
        """End the kernel if there was one."""
        if self.place is not None:
            b = self.cx.builder
            found = b.load(self.place, typ=I64)
            self.cx.failed = b.icmp_signed("!=", found, I64(_NONE))
            self.cx.first = b.and_(b.trunc(found, I32), I32((1 << _BITS) - 1))
            self.cx.fail_now()


class BranchChecks:
    """What failed before a condition, or in the branch that was taken. Made before the jump to one of them."""

    def __init__(self, cx: Context):
        self.cx = cx
        self.before = cx.failed, cx.first
        self.head = cx.builder.block
        self.exits = 0
        self.place: ir.Value | None = None

    def begin(self) -> None:
        """At the beginning of a branch: what ends it reports what failed before."""
        self.cx.failed, self.cx.first = self.before
        self.exits = self.cx.exits

    def end(self) -> None:
        """At its end."""
        cx = self.cx
        if cx.exits > self.exits or not cx.may_wait:
            cx.fail_now()
        if cx.failed is self.before[0]:
            return
        if self.place is None:
            self.place = cx.on_stack(I32, name="failure")
            above = ir.IRBuilder(self.head)
            above.position_before(self.head.terminator)
            above.store(_noted(above, *self.before), self.place)
        cx.builder.store(_noted(cx.builder, cx.failed, cx.first), self.place)

    def join(self) -> None:
        """After both."""
        cx = self.cx
        cx.failed, cx.first = self.before
        if self.place is not None:
            cx.first = cx.builder.load(self.place, typ=I32)
            cx.failed = cx.builder.icmp_signed("!=", cx.first, I32(OK))


def _noted(builder: ir.IRBuilder, failed: ir.Value | None, first: ir.Value) -> ir.Value:
    """The status of the first check that failed, or that none did."""
    return I32(OK) if failed is None else builder.select(failed, first, I32(OK))
