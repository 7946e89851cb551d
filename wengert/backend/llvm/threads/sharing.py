"""Loops that several threads share.

A long loop whose iterations do not depend on each other is written as a function of its own (`nested_function.py`),
which does one chunk of it. How the loop is cut into chunks depends on its length alone: sums are taken for each chunk
and then added in order, so that results are the same however many threads there are, and whichever of them was faster.

All chunks are done by `share`, a function in the module: by the threads of this process (`threads.py`) if there are
several and there is enough to do, one after the other otherwise. The first chunk, by number, that fails is the one
that is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, known, minus, plus, times
from wengert.backend.llvm.calls.faults import OK, SIGNALLED
from wengert.backend.llvm.calls.interrupt import poll_function
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.machine.nested_function import NestedFunction

HOOK = "wg_share"
"""The symbol at which there is the address of the threads' own `share`, or null."""

LARGE = 1 << 15
"""A loop of at least so many steps is written in chunks."""

CHUNKS, SHORTEST = 64, 4096
"""At most so many chunks, each of at least so many steps."""

PAYS = 1 << 22
"""Threads are woken for so many instructions, counted as they are written: about a fifth of a millisecond."""

_POLLS = 1 << 23
"""Between chunks of so many instructions one looks whether the user pressed Ctrl-C."""

_CALL = 30
"""So many instructions a call counts for."""


class Total(Protocol):
    """Something that is added up over all iterations: for each chunk, from `begin` to `put`; in the end by `join`."""

    def apart(self, chunks: int) -> None: ...
    def begin(self) -> None: ...
    def put(self, chunk: ir.Value) -> None: ...
    def join(self, chunks: int) -> None: ...


def is_worth_it(cx: Context, steps: int) -> bool:
    """Whether so many steps are to be shared: work that is shared is not cut again, and code alone has no threads."""
    return steps >= LARGE and not cx.is_shared and not cx.standalone


class Part(NamedTuple):
    """One chunk: its number, its first iteration, and how many there are."""

    chunk: ir.Value
    start: ir.Value
    length: ir.Value


class SharedLoop:
    """A loop of so many iterations, of so many steps in all."""

    def __init__(self, cx: Context, iterations: int, steps: int):
        self.cx, self.iterations = cx, iterations
        self.grain = _grain(iterations, max(SHORTEST * iterations // steps, -(-iterations // CHUNKS), 1))
        self.chunks = -(-iterations // self.grain)
        self._apart = NestedFunction(cx, "chunk", [POINTER, POINTER, I64])
        self._apart.arguments[1].add_attribute("noalias")
        self._callbacks = len(cx.callbacks)

    @property
    def scratch(self) -> ir.Value:
        """Memory for temporaries of the thread that does the chunk."""
        return self._apart.arguments[1]

    @contextmanager
    def written(self) -> Iterator[Part]:
        """The context is the code of a chunk."""
        cx, chunk = self.cx, self._apart.arguments[2]
        with self._apart.written():
            cx.is_shared = True
            start, length = times(cx.builder, chunk, I64(self.grain)), I64(self.grain)
            if self.iterations % self.grain:
                left = minus(cx.builder, I64(self.iterations), start)
                is_last = cx.builder.icmp_signed("<", left, length)
                length = cx.builder.select(is_last, left, length)
            yield Part(chunk, start, length)
            cx.is_shared = False

    def call(self, steps: int, cost: int | None = None, scratch: tuple[ir.Value, int] | None = None) -> None:
        """Do all chunks: of so many steps, each as long as the code, or of some cost in all.

        `scratch` is memory for temporaries, and how many bytes: the calling thread uses it, others have their own.
        """
        cx, b = self.cx, self.cx.builder
        own, nbytes = scratch or (POINTER(None), 0)
        used = [own, *self._apart.used]
        if cost is None:
            cost = steps * sum(_CALL if isinstance(i, ir.CallInstr) else 1 for i in self._apart.instructions())
        values = cx.on_stack(I64, len(used), "values")
        for k, value in enumerate(used):
            assert not isinstance(value.type, (ir.VectorType, ir.Aggregate)), "a value takes one word"
            b.store(value, b.gep(values, [I64(8 * k)], source_etype=I8))
        pays = cost >= PAYS and len(cx.callbacks) == self._callbacks  # only the thread that called may go to Python
        polls = cost // self.chunks >= _POLLS
        poll = _address(poll_function(cx)) if polls else POINTER(None)
        status = b.call(
            _share(cx),
            [self._unpacking(), values, cx.record, I64(self.chunks), I64(nbytes), poll, I32(int(pays))],
        )
        if self._apart.may_fail or polls:
            with cx.unlikely(b.icmp_signed("!=", status, I32(OK))):
                cx.exit_with(status)

    def _unpacking(self) -> ir.Value:
        """A function that takes the values from memory: `(values, record, scratch, chunk)`."""
        module = self.cx.module
        given = [POINTER, POINTER, POINTER, I64]
        function = internal_function(module, module.get_unique_name("unpack"), I32, given)
        b = ir.IRBuilder(function.append_basic_block())
        values, record, scratch, chunk = function.args
        own, *used = [
            b.load(b.gep(values, [I64(8 * k)], source_etype=I8), typ=type)
            for k, type in enumerate([POINTER, *[value.type for value in self._apart.used]])
        ]
        scratch = b.select(b.icmp_unsigned("==", scratch, POINTER(None)), own, scratch)
        b.ret(b.call(self._apart.function, [record, scratch, chunk, *used]))
        return _address(function)


def _grain(iterations: int, least: int) -> int:
    """The length of chunks: if it can be, all have the same; otherwise it suits vectors."""
    for n in range(least, min(2 * least, iterations) + 1):
        if iterations % n == 0:
            return n
    return -(-least // 64) * 64 if least >= 64 else least


def _address(function: ir.Function) -> ir.Constant:
    return ir.FormattedConstant(POINTER, function.get_reference())


class _Callee:
    """A function at an address, as llvmlite wants to have it."""

    def __init__(self, address: ir.Value, type: ir.FunctionType):
        self.function_type, self.get_reference = type, address.get_reference


def _share(cx: Context) -> ir.Function:
    """`share(function, values, record, chunks, nbytes, poll, pays)`: the status of the first chunk that failed."""
    found = cx.module.globals.get("share")
    if found is not None:
        return found
    hook = ir.GlobalVariable(cx.module, POINTER, HOOK)
    hook.type = POINTER
    chunk_type = ir.FunctionType(I32, [POINTER, POINTER, POINTER, I64])
    threads_type = ir.FunctionType(I32, [POINTER, POINTER, POINTER, I64, I64, POINTER])
    function = internal_function(cx.module, "share", I32, [*threads_type.args, I32], "noinline")
    work, values, record, chunks, nbytes, poll, pays = function.args
    b = ir.IRBuilder(function.append_basic_block())
    ask, alone = function.append_basic_block("ask"), function.append_basic_block("alone")
    together, answered = function.append_basic_block("together"), function.append_basic_block("answered")
    iteration, asking, after = [function.append_basic_block(name) for name in ("iteration", "asking", "after")]
    signalled, done, failed = [function.append_basic_block(name) for name in ("signalled", "done", "failed")]
    b.cbranch(b.icmp_signed("!=", pays, I32(0)), ask, alone)
    b.position_at_end(ask)
    threads = b.load(hook, typ=POINTER)
    b.cbranch(b.icmp_unsigned("==", threads, POINTER(None)), alone, together)
    b.position_at_end(together)
    status = b.call(_Callee(threads, threads_type), [work, values, record, chunks, nbytes, poll])
    b.cbranch(b.icmp_signed("<", status, I32(0)), alone, answered)  # they are busy
    b.position_at_end(answered)
    b.ret(status)
    b.position_at_end(alone)
    b.branch(iteration)
    b.position_at_end(iteration)
    k = b.phi(I64, "k")
    k.add_incoming(I64(0), alone)
    status = b.call(_Callee(work, chunk_type), [values, record, POINTER(None), k])
    b.cbranch(b.icmp_signed("!=", status, I32(OK)), failed, asking)
    b.position_at_end(asking)
    with b.if_then(b.icmp_unsigned("!=", poll, POINTER(None)), likely=False):
        raised = b.call(_Callee(poll, ir.FunctionType(I32, [POINTER])), [record])
        with b.if_then(b.icmp_signed("!=", raised, I32(0)), likely=False):
            b.branch(signalled)
    b.branch(after)
    b.position_at_end(after)
    following = b.add(k, I64(1))
    k.add_incoming(following, after)
    b.cbranch(b.icmp_signed("<", following, chunks), iteration, done)
    b.position_at_end(signalled)
    b.ret(I32(SIGNALLED))
    b.position_at_end(done)
    b.ret(I32(OK))
    b.position_at_end(failed)
    b.ret(status)
    return function


@contextmanager
def shared(
    cx: Context,
    lengths: Sequence[ir.Value],
    lanes: np.dtype | None = None,
    weight: int = 1,
    totals: Sequence[Total] = (),
    cost: int | None = None,
    is_independent: bool = False,
) -> Iterator[list[ir.Value]]:
    """Loops as `Context.loops` writes them, whose iterations do not depend on each other but for what `totals` add up.

    An iteration takes `weight` steps, each as long as the code of the iteration, unless it is known what all of them
    `cost`. It `is_independent` if, besides, no memory for temporaries is used again in each iteration.
    """
    numbers = [known(n) for n in lengths]
    first = numbers[0] if numbers else None
    steps = math.prod([n or 0 for n in numbers]) * weight
    if first is None or not is_worth_it(cx, steps) or (first < 8 and (totals or len(lengths) == 1)):
        for total in totals:
            total.begin()
        with cx.loops(lengths, lanes, is_independent) as indices:
            yield indices
        return
    if first < 8:
        cost = cost and cost // first
        inner = shared(cx, lengths[1:], lanes, weight, cost=cost, is_independent=is_independent)
        with cx.loop(lengths[0]) as i, inner as rest:
            yield [i, *rest]
        return
    region = SharedLoop(cx, first, steps)
    for total in totals:
        total.apart(region.chunks)
    innermost = lanes if all(n == 1 for n in numbers[1:]) else None
    with region.written() as part:
        for total in totals:
            total.begin()
        inner = cx.loops(lengths[1:], lanes, is_independent)
        alone = is_independent and all(n == 1 for n in numbers[1:])
        with cx.loop(part.length, lanes=innermost, about=region.grain, is_independent=alone) as i, inner as rest:
            position = plus(cx.builder, part.start, i)
            cx.ranges.note(position, 0, first - 1)
            yield [position, *rest]
        for total in totals:
            total.put(part.chunk)
    region.call(steps, cost)
    for total in totals:
        total.join(region.chunks)
