"""What every emitter works with: the place where code is being written, and what a kernel needs besides code.

`Context` has the builder and the module; it makes the checks that end a kernel with an exception (`fail_if`,
`fail_later`, `raise_if`), declares functions that live at an address of this process (`declare`), keeps Python objects
alive for as long as the kernel may use them (`keep`), hands out memory (`scratch`, `on_stack`, `GrowingMemory`), and
writes loops.

A kernel has one way out, the block `leave`: it frees what was allocated and returns the status.

A check that fails need not end the kernel there and then: nobody sees what is computed until it returns. `fail_later`
only notes which check of a block was the first to fail, in `failed` and `first`. Whatever ends the kernel afterwards
reports that one, and `fail_now` is called where the difference could be seen, or where the note would get lost: before
Python is called, before a loop and at the end of one (`control.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I1, I8, I32, I64, POINTER, VOID, known
from wengert.backend.llvm.calls.faults import FIRST, HOLES, OK, RAISED, Fault
from wengert.backend.llvm.machine import poison
from wengert.backend.llvm.machine.hints import MANY, as_it_is, independent, is_vectorisable, rare, vectors
from wengert.backend.llvm.machine.names import NumberedNames
from wengert.backend.llvm.machine.ranges import Ranges
from wengert.ir.node import Source

STACK_FOR_SCRATCH = 1 << 15
"""At most so many bytes of the stack are used for scratch memory."""

_IN_PYTHON = re.compile(r"wg_(?:special|loop|data|sort)_(?:scipy_|numpy_|pocketfft_)?(.+)_[^_]+")
"""Symbols (`natives.py`) of functions that are only to be had from modules of Python."""


_OF_A_FUNCTION = (
    "function", "record", "entry", "leave", "status", "jump", "exits", "failed", "first", "may_wait", "_stacked",
    "long_calls", "long_loops", "on_leaving",
)  # fmt: skip


class CannotStandAlone(Exception):
    """An operation, or a function, that has no code outside Python; and where the user's source has it, if known."""

    def __init__(self, name: str, source: Source | None):
        self.name, self.source = name, source
        super().__init__(name)


class Context:
    """The kernel being written. See the module's text."""

    def __init__(
        self,
        module: ir.Module,
        function: ir.Function,
        record: ir.Value,
        outer: Context | None = None,
        standalone: bool = False,
    ):
        self.module = module
        self.standalone: bool = outer.standalone if outer else standalone
        """Whether the code is to run without Python (`standalone.py`)."""
        self.poisons: bool = outer.poisons if outer else poison.is_on() and not standalone
        self.builder = ir.IRBuilder()
        self._begin(function, record)
        self.ranges = Ranges()
        self.is_large: bool = outer.is_large if outer else False
        """Whether there is so much code that each loop is to become little of it."""
        # A function of a kernel reports what happens as the kernel does.
        self.faults: list[Fault] = outer.faults if outer else []
        self._numbers: dict[Fault, int] = outer._numbers if outer else {}
        self.kept: list[Any] = outer.kept if outer else []
        self.addresses: dict[str, int] = outer.addresses if outer else {}
        self.constants: dict[str, np.ndarray] = outer.constants if outer else {}
        self.callbacks: list[Any] = outer.callbacks if outer else []
        self.source: Source | None = outer.source if outer else None
        self.is_shared = False
        """Whether what is being written is a part of work that threads share (`sharing.py`)."""

    def _begin(self, function: ir.Function, record: ir.Value) -> None:
        if function.scope.__class__ is not NumberedNames:
            function.scope = NumberedNames()
        self.function = function
        self.record = record
        self.entry = function.append_basic_block("entry")
        start = function.append_basic_block("start")
        self.leave = function.append_basic_block("leave")
        self.builder.position_at_end(self.entry)
        self.status = self.builder.alloca(I32, name="status")
        self.builder.store(I32(OK), self.status)
        self.jump = self.builder.branch(start)  # slots and their initial values are inserted before it
        self.builder.position_at_end(start)
        self.exits = 0
        """How many ways out there are, before the end."""
        self.failed: ir.Value | None = None
        """Whether one of the checks failed that were made and not acted on (i1); `None` if there are none."""
        self.first: ir.Value = I32(OK)
        """The status of the first of them that did."""
        self.may_wait = False
        """Whether they can be acted on after the loop of which the code is."""
        self._stacked = 0
        self.long_calls = 0
        """How many calls of long functions were written whose vector variants go into the loops themselves."""
        self.long_loops = 0
        """How many loops were written of which it is known that they are long."""
        self.on_leaving: list[Callable[[], None]] = []

    @contextmanager
    def inside(self, function: ir.Function, record: ir.Value) -> Iterator[None]:
        """Write another function for a while, which reports what happens as the kernel does."""
        around, block = {name: getattr(self, name) for name in _OF_A_FUNCTION}, self.builder.block
        self._begin(function, record)
        try:
            yield
        finally:
            for name, value in around.items():
                setattr(self, name, value)
            self.builder.position_at_end(block)

    @property
    def may_leave(self) -> bool:
        """Whether the function may end before its end."""
        return self.exits > 0

    # ------------------------------------------------------------------------------------------------------- faults

    def fail_if(self, condition: ir.Value, kind: str, message: str, *values: ir.Value) -> None:
        """End the kernel with an exception if `condition` (i1) holds.

        `kind` names a builtin or NumPy exception; `message` may have holes {0}, {1}, … for the i64 `values`.
        """
        if _never(condition):
            return
        assert len(values) <= HOLES
        status = self._status_of(kind, message)
        with self.unlikely(condition):
            for k, value in enumerate(values):
                self.builder.store(value, self.builder.gep(self.record, [I64(k)], source_etype=I64), align=8)
            self.exit_with(status)

    def fail_if_differ(self, x: ir.Value, y: ir.Value, message: str, kind: str = "ValueError") -> None:
        """The same, if two i64 values differ, which the message is given; nothing if they are known to be equal."""
        if x is not y and (known(x) is None or known(x) != known(y)):
            self.fail_if(self.builder.icmp_signed("!=", x, y), kind, message, x, y)

    def _status_of(self, kind: str, message: str) -> ir.Value:
        fault = Fault(kind, message, self.source)
        number = self._numbers.setdefault(fault, len(self.faults))
        if number == len(self.faults):
            self.faults.append(fault)
        return I32(FIRST + number)

    def fail_later(self, condition: ir.Value, kind: str, message: str) -> None:
        """The same, but the kernel goes on until `fail_now`. See the module's text."""
        if not _never(condition):
            self._note(condition, self._status_of(kind, message))

    def _note(self, condition: ir.Value, status: ir.Value) -> None:
        b = self.builder
        self.first = status if self.failed is None else b.select(self.failed, self.first, status)
        self.failed = condition if self.failed is None else b.select(self.failed, I1(1), condition)

    def fail_now(self) -> None:
        """End the kernel if a check has failed that was made before."""
        if self.failed is not None:
            with self.unlikely(self.failed):
                self.exit_with(self.first)
            self.failed = None

    def raise_if(self, condition: ir.Value) -> None:
        """End the kernel if `condition` holds: an exception was left in `faults` by a callback."""
        with self.unlikely(condition):
            self.exit_with(I32(RAISED))

    def exit_with(self, status: ir.Value) -> None:
        """Go to the way out. What failed before is what is reported."""
        self.exits += 1
        if self.failed is not None and status is not self.first:
            status = self.builder.select(self.failed, self.first, status)
        self.builder.store(status, self.status)
        self.builder.branch(self.leave)

    @contextmanager
    def unlikely(self, condition: ir.Value) -> Iterator[None]:
        """Code for a case that ends the kernel; afterwards the builder goes on where the condition does not hold."""
        bad = self.function.append_basic_block("fault")
        good = self.function.append_basic_block("go")
        branch = self.builder.cbranch(condition, bad, good)
        branch.set_weights([1, 100000])
        self.builder.position_at_end(bad)
        yield
        self.builder.position_at_end(good)

    def finish(self) -> None:
        """The end of the kernel: success, and the way out."""
        assert self.failed is None, "a check is lost"
        self.builder.branch(self.leave)
        self.builder.position_at_end(self.leave)
        for action in self.on_leaving:
            action()
        self.builder.ret(self.builder.load(self.status, typ=I32))

    # ----------------------------------------------------------------------------------------- functions and objects

    def declare(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Type], address: int | None = None
    ) -> ir.Function:
        """A function from outside: of this process by `address`, otherwise one the linker knows (libc, libm)."""
        if self.standalone and (match := _IN_PYTHON.fullmatch(name)) is not None:
            raise CannotStandAlone(match[1], self.source)
        if address is not None:
            self.addresses[name] = address
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, ir.FunctionType(result, list(arguments)), name)

    def keep(self, thing: Any) -> Any:
        """Keep a Python object alive for as long as the kernel can be called."""
        self.kept.append(thing)
        return thing

    # ------------------------------------------------------------------------------------------------------- memory

    @contextmanager
    def at_entry(self) -> Iterator[ir.IRBuilder]:
        """Write at the start of the kernel, before everything else."""
        before = self.builder
        self.builder = ir.IRBuilder(self.entry)
        self.builder.position_before(self.jump)
        try:
            yield self.builder
        finally:
            self.builder = before

    def on_stack(self, type: ir.Type, count: int = 1, name: str = "") -> ir.Value:
        """A variable, or a few in a row, on the stack; LLVM makes registers of them where it can."""
        with self.at_entry() as builder:
            place = builder.alloca(type, size=I32(count) if count != 1 else None, name=name)
            place.type = POINTER  # llvmlite would have it point to `type` only
            return place

    def scratch(self, nbytes: ir.Value | int) -> ir.Value:
        """Memory for work, aligned to 16 bytes and not initialised, valid until this code is reached again.

        Small static amounts come from the stack; all others are freed when the kernel ends.
        """
        place = self._scratch(nbytes)
        self.poison(place, nbytes)
        return place

    def _scratch(self, nbytes: ir.Value | int) -> ir.Value:
        if isinstance(nbytes, int):
            if nbytes <= 1024 and self._stacked + nbytes <= STACK_FOR_SCRATCH:
                self._stacked += nbytes
                place = self.on_stack(I8, max(nbytes, 1))
                place.align = 64
                return place
            return self._on_heap(nbytes)
        return GrowingMemory(self).at_least(nbytes)

    def poison(self, pointer: ir.Value, nbytes: ir.Value | int) -> None:
        """Make it visible if memory is read before it is written to, where that is wished (`poison.py`)."""
        if self.poisons:
            poison.fill(self.builder, pointer, nbytes)

    def _on_heap(self, nbytes: int) -> ir.Value:
        """Memory that is allocated when this code is first reached, and freed when the kernel ends."""
        place = self.on_stack(POINTER, name="heap")
        with self.at_entry() as builder:
            builder.store(POINTER(None), place)
        free, malloc = self.declare("free", VOID, [POINTER]), self.declare("malloc", POINTER, [I64])
        self.on_leaving.append(lambda: self.builder.call(free, [self.builder.load(place, typ=POINTER)]) and None)
        b = self.builder
        with b.if_then(_is_null(b, b.load(place, typ=POINTER)), likely=False):
            fresh = b.call(malloc, [I64(nbytes)])
            b.store(fresh, place)
            self.fail_if(_is_null(b, fresh), "MemoryError", "cannot allocate {0} bytes", I64(nbytes))
        return b.load(place, typ=POINTER)

    # -------------------------------------------------------------------------------------------------------- loops

    @contextmanager
    def loop(
        self,
        count: ir.Value,
        name: str = "i",
        lanes: np.dtype | None = None,
        unrolled: bool = True,
        about: int | None = None,
        is_rare: bool = False,
        is_independent: bool = False,
    ) -> Iterator[ir.Value]:
        """A loop over 0, 1, …, count − 1; the context is the body, its value the counter (i64).

        With `lanes`, it goes through elements of that dtype, and vectors are to be made of them. Unless `unrolled`, it
        is not to be unrolled before that. `about` says how many iterations there are mostly, if that is not known. One
        that `is_rare` is to be left as it is written. It `is_independent` if no iteration reads or writes what another
        one writes.

        >>> # with cx.loop(n) as i: ...
        """
        n = known(count)
        if n is not None and n <= 0:
            # Emit into a block that is never reached: the caller need not know.
            dead, after = self.function.append_basic_block("never"), self.function.append_basic_block("after")
            self.builder.branch(after)
            self.builder.position_at_end(dead)
            yield I64(0)
            self.builder.branch(after)
            self.builder.position_at_end(after)
            return
        if n == 1:
            yield I64(0)
            return
        head = self.builder.block
        body = self.function.append_basic_block(name)
        after = self.function.append_basic_block("after")
        if n is None:
            self.builder.cbranch(self.builder.icmp_signed(">", count, I64(0)), body, after)
        else:
            self.builder.branch(body)
        self.builder.position_at_end(body)
        counter = self.builder.phi(I64, name)
        counter.add_incoming(I64(0), head)
        if n is not None:
            self.ranges.note(counter, 0, n - 1)
        first, exits = len(self.function.blocks) - 2, self.exits
        long_calls, long_loops = self.long_calls, self.long_loops
        yield counter
        following = self.builder.add(counter, I64(1), flags=("nuw", "nsw"))
        counter.add_incoming(following, self.builder.block)
        back = self.builder.cbranch(self.builder.icmp_signed("<", following, count), body, after)
        about = n if n is not None else about
        hint = None
        if lanes is not None and about is not None:
            wide = self.exits == exits and is_vectorisable(self.function.blocks[first:])
            hint = vectors(self.module, about, lanes, self.is_large or self.long_calls > long_calls, wide)
        # LLVM would write out the few iterations of a loop around long ones, and then each of these in its vectors.
        if n is not None and (not unrolled or self.long_loops > long_loops):
            hint = as_it_is(self.module, n)
        self.long_loops += n is not None and n >= MANY
        if is_rare:
            hint = rare(self.module)
        if is_independent:
            hint = independent(self.module, self.function.blocks[first:], hint)
        if hint is not None:
            back.set_metadata("llvm.loop", hint)
        self.builder.position_at_end(after)

    @contextmanager
    def loops(
        self, lengths: Sequence[ir.Value], lanes: np.dtype | None = None, is_independent: bool = False
    ) -> Iterator[list[ir.Value]]:
        """Loops inside each other, the last the innermost; the value is the list of counters."""
        if not lengths:
            yield []
            return
        innermost = all(known(n) == 1 for n in lengths[1:])
        outer = self.loop(
            lengths[0],
            lanes=lanes if innermost else None,
            unrolled=innermost,
            is_independent=innermost and is_independent,
        )
        with outer as i, self.loops(lengths[1:], lanes, is_independent) as rest:
            yield [i, *rest]

    @contextmanager
    def when(self, condition: ir.Value) -> Iterator[None]:
        """Code that runs only if the condition holds."""
        with self.builder.if_then(condition):
            yield


def _never(condition: ir.Value) -> bool:
    return isinstance(condition, ir.Constant) and not condition.constant


def _is_null(builder: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
    return builder.icmp_unsigned("==", builder.ptrtoint(pointer, I64), I64(0))


class GrowingMemory:
    """Memory on the heap behind a variable of the kernel: it grows when more is asked for and is freed at the end."""

    def __init__(self, cx: Context):
        self.cx = cx
        self.pointer = cx.on_stack(POINTER, name="heap")
        self.capacity = cx.on_stack(I64, name="capacity")
        with cx.at_entry() as builder:
            builder.store(POINTER(None), self.pointer)
            builder.store(I64(0), self.capacity)
        free = cx.declare("free", VOID, [POINTER])
        cx.on_leaving.append(lambda: cx.builder.call(free, [cx.builder.load(self.pointer, typ=POINTER)]) and None)

    def current(self) -> ir.Value:
        """The pointer as it is now."""
        return self.cx.builder.load(self.pointer, typ=POINTER)

    def at_least(self, nbytes: ir.Value, keep: bool = False) -> ir.Value:
        """A pointer to at least so many bytes. With `keep` what was written stays, and growth is by doubling."""
        cx, builder = self.cx, self.cx.builder
        enough = builder.icmp_unsigned("<=", nbytes, builder.load(self.capacity, typ=I64))
        with builder.if_then(builder.not_(enough), likely=False):
            wanted = builder.select(builder.icmp_unsigned("<", nbytes, I64(64)), I64(64), nbytes)
            if keep:
                doubled = builder.shl(builder.load(self.capacity, typ=I64), I64(1))
                wanted = builder.select(builder.icmp_unsigned("<", wanted, doubled), doubled, wanted)
                realloc = cx.declare("realloc", POINTER, [POINTER, I64])
                fresh = builder.call(realloc, [self.current(), wanted])
            else:
                free = cx.declare("free", VOID, [POINTER])
                builder.call(free, [self.current()])
                builder.store(POINTER(None), self.pointer)
                builder.store(I64(0), self.capacity)
                malloc = cx.declare("malloc", POINTER, [I64])
                fresh = builder.call(malloc, [wanted])
            cx.fail_if(
                builder.icmp_unsigned("==", builder.ptrtoint(fresh, I64), I64(0)),
                "MemoryError", "cannot allocate {0} bytes", wanted,
            )  # fmt: skip
            builder.store(fresh, self.pointer)
            builder.store(wanted, self.capacity)
        return self.current()
