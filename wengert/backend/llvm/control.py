"""Loops and conditions.

A scalar that a loop carries is a variable on the stack, which LLVM turns into a register. An array that it carries has
one slot; what the body gives for it is brought there at the end of each iteration, unless it was written in place and
is there already. The results of a condition are brought to their slots in the same way, by either branch.

`settle` does that for several arrays at once, which may read each other's old values (`a, b = b, a`): an array is
computed right into its slot once nobody else still reads what lies there; if all wait for each other, one of them is
put aside.

A loop that may end early is not made into vectors. So the checks of its iterations (`require`), where nothing else ends
it, are acted on only after some thousands of them: `FirstFailure` keeps the iteration and the check that failed first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import (
    I64,
    Buffer,
    element_pointer,
    element_type,
    known,
    plus,
    product,
    store_element,
    times,
)
from wengert.backend.llvm.arrays.reduction import Accumulator
from wengert.backend.llvm.checks import BranchChecks, FirstFailure
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.independent import are_independent, shared_iterations
from wengert.backend.plan.memory import WHOLE, BlockPlan, Slot
from wengert.ir.loops import loop_parts
from wengert.ir.node import Block, Const, Node, Operand, Var

STRIP = 1 << 14
"""So many iterations of a loop are done between two notes of work done (see `Emitter.work`)."""

INT = np.dtype(np.int64)

Run = Callable[[Emitter, Frame], None]
"""Writes the code of a block."""


class Arrival(NamedTuple):
    """An array that is to be in a slot. `pointwise`: it may be computed right into the slot that it reads itself."""

    array: Array
    slot: Slot
    pointwise: bool


def settle(em: Emitter, arrivals: Sequence[Arrival]) -> None:
    """Bring arrays to their slots. All slots have a new epoch afterwards."""
    waiting = [a for a in arrivals if not _is_there(a)]
    while waiting:
        for k, arrival in enumerate(waiting):
            others = [w for j, w in enumerate(waiting) if j != k]
            free = all(arrival.slot not in w.array.slots() for w in others)
            if free and (arrival.pointwise or arrival.slot not in arrival.array.slots()):
                _arrive(em, arrival)
                del waiting[k]
                break
        else:
            first = waiting.pop(0)
            aside = em.in_scratch(first.array)
            waiting.append(Arrival(in_memory(em.cx, aside), first.slot, False))
    for arrival in arrivals:
        arrival.slot.epoch += 1


def _is_there(arrival: Arrival) -> bool:
    """Whether an array lies in its slot already, whole and in order."""
    array = arrival.array
    if array.buffer is None or array.buffer.strides is not None or array.slots() != [arrival.slot]:
        return False
    return array.whole


def _arrive(em: Emitter, arrival: Arrival) -> None:
    target = em.allocate(arrival.slot, arrival.array.lengths)
    em.fill(arrival.array, target)


# ------------------------------------------------------------------------------------------------------------- carried


class CarriedSlots:
    """What a loop carries: scalars in variables, arrays in slots, with lengths in variables where they may change."""

    def __init__(self, em: Emitter, frame: Frame, node: Node):
        self.em = em
        parts = loop_parts(node)
        self.outs = parts.finals
        self.scalars: dict[int, Accumulator] = {}
        self.slots: dict[int, Slot] = {}
        self.lengths: dict[int, list[ir.Value | Accumulator]] = {}
        for j, (out, operand) in enumerate(zip(parts.finals, parts.starts, strict=True)):
            if out.type.ndim == 0:
                self.scalars[j] = Accumulator(em.cx, out.type.dtype)
                value = em.value(frame, operand)
                self.scalars[j].set(scalars.convert(em.cx, value, operand.type.dtype, out.type.dtype))
                continue
            slot = self.slots[j] = frame.plan.slots[out]
            array = em.array(frame, operand)
            if slot not in array.slots():
                array = em.make(array, slot)
            self.lengths[j] = [I64(n) if isinstance(n, int) else self._variable(array.lengths[k])
                               for k, n in enumerate(out.type.shape)]  # fmt: skip

    def _variable(self, length: ir.Value) -> Accumulator:
        variable = Accumulator(self.em.cx, INT)
        variable.set(length)
        return variable

    def values(self) -> list[Any]:
        """The values as they are now."""
        found: list[Any] = []
        for j in range(len(self.outs)):
            if j in self.scalars:
                found.append(self.scalars[j].get())
            else:
                lengths = [n.get() if isinstance(n, Accumulator) else n for n in self.lengths[j]]
                found.append(self.em.current(self.slots[j], lengths))
        return found

    def update(self, inner: Frame, plan: BlockPlan, results: Sequence[Operand]) -> None:
        """Take over what the body gives."""
        em = self.em
        values = [em.value(inner, r) for r in results]
        arrivals = []
        for j, value in enumerate(values):
            if j in self.scalars:
                continue
            lengths = value.lengths
            for k, variable in enumerate(self.lengths[j]):
                if isinstance(variable, Accumulator):
                    variable.set(lengths[k])
            arrivals.append(Arrival(value, self.slots[j], is_pointwise(plan, results[j], self.slots[j])))
        for j, accumulator in self.scalars.items():
            value = values[j]
            if isinstance(value, Array):
                value = value.load([])
            accumulator.set(scalars.convert(em.cx, value, results[j].type.dtype, accumulator.dtype))
        settle(em, arrivals)


def is_pointwise(plan: BlockPlan, result: Operand, slot: Slot) -> bool:
    """Whether a result reads what lies in a slot only at the element that it is computed for."""
    if not isinstance(result, Var):
        return True
    versions = [v for v in plan.reads[result] if plan.slots.get(v) is slot]
    return all(plan.reads[result][v] == WHOLE and v.type.shape == result.type.shape for v in versions)


# ------------------------------------------------------------------------------------------------------------- stacked


class Stacked:
    """The results that a loop gives at each iteration, one after the other in memory."""

    def __init__(self, em: Emitter, outs: Sequence[Var], frame: Frame, count: ir.Value | None):
        self.em = em
        self.outs = outs
        self.slots = [frame.plan.slots[v] for v in outs]
        self.count = count
        self.buffers: list[Buffer | None] = []
        self.there: dict[int, Slot] = {}  # by result: slots of the body that are parts of the stack
        # Lengths of one iteration's part, where they are known only when there was one: zero until then.
        self.parts = [[I64(n) if isinstance(n, int) else _zero_variable(em) for n in v.type.shape[1:]] for v in outs]
        for v, slot in zip(outs, self.slots, strict=True):
            part = list(v.type.shape[1:])
            known_before = count is not None and all(isinstance(n, int) for n in part)
            self.buffers.append(em.allocate(slot, [count, *[I64(n) for n in part]]) if known_before else None)

    def direct(self, plan: BlockPlan, results: Sequence[Operand]) -> None:
        """Find arrays that the body makes for a stack only: they are made where they will lie."""
        for j, result in enumerate(results):
            version = plan.storage.get(result) if isinstance(result, Var) else None
            buffer = self.buffers[j]
            if version is None or buffer is None or result.type.dtype != buffer.dtype:
                continue
            slot = plan.slots[version]
            is_own = slot.type.is_static and slot not in plan.owned.values() and slot.within is None
            if is_own and all(slot is not other for other in self.there.values()):
                self.there[j] = slot

    def place(self, iteration: ir.Value) -> None:
        """Before the code of an iteration."""
        em = self.em
        for j, slot in self.there.items():
            size = math.prod(slot.type.shape)
            offset = times(em.cx.builder, iteration, I64(size))
            buffer = self.buffers[j]
            assert buffer is not None
            em.places[id(slot)] = element_pointer(em.cx.builder, buffer.pointer, offset, buffer.dtype)

    def put(self, inner: Frame, results: Sequence[Operand], iteration: ir.Value) -> None:
        em = self.em
        for j, result in enumerate(results):
            value = em.array(inner, result)
            if j in self.there and em.fills(value, self.there[j]):
                value.check()
                continue
            dtype = self.outs[j].type.dtype
            size = product(em.cx.builder, value.lengths)
            pointer = self._room(j, value, iteration)
            offset = times(em.cx.builder, iteration, size)
            if not value.ndim:
                scalar = scalars.convert(em.cx, value.load([]), result.type.dtype, dtype)
                store_element(em.cx.builder, scalar, pointer, offset, dtype)
                continue
            start = em.cx.builder.gep(pointer, [offset], inbounds=True, source_etype=element_type(dtype))
            em.fill(value, Buffer(start, value.lengths, None, dtype, writable=True))

    def _room(self, j: int, value: Array, iteration: ir.Value) -> ir.Value:
        """Memory for one iteration more."""
        em, buffer = self.em, self.buffers[j]
        if buffer is not None:
            return buffer.pointer
        b = em.cx.builder
        for own, variable in zip(value.lengths, self.parts[j], strict=True):
            if isinstance(variable, Accumulator):
                first = b.icmp_signed("==", iteration, I64(0))
                wrong = b.and_(b.not_(first), b.icmp_signed("!=", own, variable.get()))
                em.cx.fail_if(
                    wrong, "ValueError", "arrays of lengths {0} and {1} cannot be stacked", variable.get(), own
                )
                variable.set(own)
        wanted = self.count if self.count is not None else plus(em.cx.builder, iteration, I64(1))
        nbytes = em.byte_count([wanted, *value.lengths], self.outs[j].type.dtype)
        return em.heap(self.slots[j]).at_least(nbytes, keep=True)

    def arrays(self, iterations: ir.Value) -> list[Array]:
        """The stacks, after the loop."""
        found = []
        for j, v in enumerate(self.outs):
            slot, buffer = self.slots[j], self.buffers[j]
            slot.epoch += 1
            if buffer is None:
                part = [n.get() if isinstance(n, Accumulator) else n for n in self.parts[j]]
                pointer = self.em.heap(slot).current()
                buffer = Buffer(pointer, [iterations, *part], None, v.type.dtype, writable=True)
            found.append(in_memory(self.em.cx, buffer, slot))
        return found


def _zero_variable(em: Emitter) -> Accumulator:
    variable = Accumulator(em.cx, INT)
    variable.set(I64(0))
    return variable


# ------------------------------------------------------------------------------------------------------------- the ops


def loop(em: Emitter, frame: Frame, node: Node, i: int, run: Run) -> None:
    em.cx.fail_now()
    carried: int = node.params["carried"]
    plan = frame.plan.inner[i, "body"]
    body = plan.block
    count = _count(em, frame, node.args[0])
    state = CarriedSlots(em, frame, node)
    stacked = Stacked(em, node.outs[carried:], frame, count)
    shared = [em.value(frame, a) for a in node.args[1 + carried :]]
    held = _epochs(shared)

    stacked.direct(plan, body.results[carried:])

    def iteration(k: ir.Value) -> None:
        stacked.place(k)
        inner = Frame(plan, dict(zip(body.params, [k, *state.values(), *shared], strict=True)))
        run(em, inner)
        stacked.put(inner, body.results[carried:], k)
        state.update(inner, plan, body.results[:carried])
        for slot in stacked.there.values():
            del em.places[id(slot)]

    unrolled = (bool(state.scalars) or any(inner.blocks for inner in body.nodes)) and not _has_long_loop(body)
    # Sums of floats are in order, one after the other, so that there are no vectors.
    waits = all(scalar.dtype.kind not in "fc" for scalar in state.scalars.values())
    if not are_independent(plan, carried) or not shared_iterations(
        em, plan, count, state.slots.values(), iteration, unrolled
    ):
        _iterations(em, count, iteration, unrolled, waits)
    assert held == _epochs(shared), "a loop overwrites what it needs again"
    frame.values.update(zip(node.outs, [*state.values(), *stacked.arrays(count)], strict=True))


def _has_long_loop(body: Block) -> bool:
    """Whether there is a loop inside that is not just a few iterations: copies of it would only be more code."""
    return any(
        node.op.name == "loop" and not (isinstance(node.args[0], Const) and node.args[0].value < _FEW)
        for node in body.nodes
    )


_FEW = 8


def _count(em: Emitter, frame: Frame, operand: Operand) -> ir.Value:
    """How many iterations: never negative."""
    count = em.integer(frame, operand)
    n = known(count)
    if n is not None:
        return I64(max(n, 0))
    b = em.cx.builder
    return b.select(b.icmp_signed("<", count, I64(0)), I64(0), count)


def _iterations(em: Emitter, count: ir.Value, iteration: Any, unrolled: bool, waits: bool) -> None:
    """All iterations of a loop, in strips, so that a note of the work done does not stand in the loop itself.

    A loop whose iterations may be independent of each other is not `unrolled`: LLVM makes vectors of it.
    """
    cx = em.cx
    em.loop_depth += 1
    owed, em.owed = em.owed, 0
    n = known(count)
    failure = FirstFailure(cx, waits)
    if n is not None and n <= STRIP:
        with cx.loop(count, "k", unrolled=unrolled) as k, failure.noted(k):
            iteration(k)
            em.note_work()
        failure.report()
        em.loop_depth -= 1
        em.owed = owed
        em.work(count)
        return
    strips = cx.builder.sdiv(cx.builder.add(count, I64(STRIP - 1)), I64(STRIP))
    with cx.loop(strips, "strip") as strip:
        start = cx.builder.mul(strip, I64(STRIP), flags=("nuw", "nsw"))
        left = cx.builder.sub(count, start, flags=("nuw", "nsw"))
        some = cx.builder.select(cx.builder.icmp_signed("<", left, I64(STRIP)), left, I64(STRIP))
        with cx.loop(some, "k") as k, failure.noted(k):
            number = cx.builder.add(start, k, flags=("nuw", "nsw"))
            if n is not None:
                cx.ranges.note(number, 0, n - 1)
            iteration(number)
            em.note_work()
        failure.report()
        em.work(some)
        em.note_work()
    em.loop_depth -= 1
    em.owed = owed


def _epochs(values: Sequence[Any]) -> list[int]:
    return [slot.epoch for v in values if isinstance(v, Array) for slot in v.slots()]


def while_(em: Emitter, frame: Frame, node: Node, i: int, run: Run) -> None:
    cx = em.cx
    cx.fail_now()
    carried: int = node.params["carried"]
    plan, test = frame.plan.inner[i, "body"], frame.plan.inner[i, "test"]
    state = CarriedSlots(em, frame, node)
    stacked = Stacked(em, node.outs[carried + 1 :], frame, None)
    shared = [em.value(frame, a) for a in node.args[carried:]]
    held = _epochs(shared)
    iterations = _zero_variable(em)
    em.loop_depth += 1
    owed, em.owed = em.owed, 0
    head = cx.function.append_basic_block("test")
    body = cx.function.append_basic_block("body")
    after = cx.function.append_basic_block("after")
    cx.builder.branch(head)
    cx.builder.position_at_end(head)
    asked = Frame(test, dict(zip(test.block.params, [*state.values(), *shared], strict=True)))
    run(em, asked)
    result = test.block.results[0]
    go_on = em.value(asked, result)
    go_on = scalars.convert(cx, go_on, result.type.dtype, np.dtype(bool))
    cx.fail_now()
    cx.builder.cbranch(go_on, body, after)
    cx.builder.position_at_end(body)
    k = iterations.get()
    inner = Frame(plan, dict(zip(plan.block.params, [*state.values(), *shared], strict=True)))
    run(em, inner)
    stacked.put(inner, plan.block.results[carried:], k)
    state.update(inner, plan, plan.block.results[:carried])
    iterations.set(cx.builder.add(k, I64(1), flags=("nuw", "nsw")))
    cx.fail_now()
    em.poll(I64(16 + em.owed))
    cx.builder.branch(head)
    cx.builder.position_at_end(after)
    em.loop_depth -= 1
    em.owed = owed
    assert held == _epochs(shared), "a loop overwrites what it needs again"
    count = iterations.get()
    frame.values.update(zip(node.outs, [*state.values(), count, *stacked.arrays(count)], strict=True))


def cond(em: Emitter, frame: Frame, node: Node, i: int, run: Run) -> None:
    cx = em.cx
    predicate = em.value(frame, node.args[0])
    predicate = scalars.convert(cx, predicate, node.args[0].type.dtype, np.dtype(bool))
    args = [em.value(frame, a) for a in node.args[1:]]
    variables = {k: Accumulator(cx, v.type.dtype) for k, v in enumerate(node.outs) if v.type.ndim == 0}
    lengths = {
        k: [I64(n) if isinstance(n, int) else _zero_variable(em) for n in v.type.shape]
        for k, v in enumerate(node.outs)
        if v.type.ndim
    }
    slots = {k: frame.plan.slots[node.outs[k]] for k in lengths}
    touched = {id(s): s for s in [*slots.values(), *[s for a in args if isinstance(a, Array) for s in a.slots()]]}
    before = {key: s.epoch for key, s in touched.items()}
    latest = dict(before)
    branches = {"then": cx.function.append_basic_block("then"), "orelse": cx.function.append_basic_block("orelse")}
    after = cx.function.append_basic_block("after")
    checks = BranchChecks(cx)
    cx.builder.cbranch(predicate, branches["then"], branches["orelse"])
    for which, block in branches.items():
        cx.builder.position_at_end(block)
        checks.begin()
        for key, s in touched.items():
            s.epoch = before[key]
        plan = frame.plan.inner[i, which]
        inner = Frame(plan, dict(zip(plan.block.params, args, strict=True)))
        run(em, inner)
        results = plan.block.results
        values = [em.value(inner, r) for r in results]
        for k, variable in variables.items():
            value = values[k].load([]) if isinstance(values[k], Array) else values[k]
            variable.set(scalars.convert(cx, value, results[k].type.dtype, variable.dtype))
        arrivals = []
        for k, slot in slots.items():
            for n, variable in zip(values[k].lengths, lengths[k], strict=True):
                if isinstance(variable, Accumulator):
                    variable.set(n)
            arrivals.append(Arrival(values[k], slot, is_pointwise(plan, results[k], slot)))
        settle(em, arrivals)
        checks.end()
        cx.builder.branch(after)
        for key, s in touched.items():
            latest[key] = max(latest[key], s.epoch)
    cx.builder.position_at_end(after)
    checks.join()
    for key, s in touched.items():
        s.epoch = latest[key]
    for k, v in enumerate(node.outs):
        if k in variables:
            frame.values[v] = variables[k].get()
        else:
            found = [n.get() if isinstance(n, Accumulator) else n for n in lengths[k]]
            frame.values[v] = em.current(slots[k], found)


def require(em: Emitter, frame: Frame, node: Node) -> None:
    for kept in node.args[1:]:
        array = em.value(frame, kept)
        if isinstance(array, Array) and array.buffer is None:
            with em.cx.loops(array.lengths) as indices:
                array.load(indices)
    ok = em.value(frame, node.args[0])
    dtype = node.args[0].type.dtype
    if isinstance(ok, Array):
        every = Accumulator(em.cx, np.dtype(bool))
        every.set(ir.IntType(1)(1))
        with em.cx.loops(ok.lengths) as indices:
            one = scalars.convert(em.cx, ok.load(indices), dtype, np.dtype(bool))
            every.set(em.cx.builder.and_(every.get(), one))
        ok = every.get()
    else:
        ok = scalars.convert(em.cx, ok, dtype, np.dtype(bool))
    bad = em.cx.builder.not_(ok)
    message = str(node.params["message"]).replace("{", "{{").replace("}", "}}")
    em.cx.fail_later(bad, node.params["error"], message)
