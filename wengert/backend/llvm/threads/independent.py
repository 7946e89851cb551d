"""Loops whose iterations do not need each other: threads share them.

A loop that carries nothing is one. So is a loop that carries arrays of which iteration k only reads and writes what
lies at k along the first axis, as in

    for k in range(n):
        out[k] = f(x[k])

Each thread has memory of its own for temporaries, in place of the part of the arena that the body uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I64, known, plus
from wengert.backend.llvm.checks import FirstFailure
from wengert.backend.llvm.emitter import Emitter
from wengert.backend.llvm.threads.sharing import SharedLoop, is_worth_it
from wengert.backend.plan import access
from wengert.backend.plan.memory import BlockPlan, Slot
from wengert.ir.analysis.keys import operand_key
from wengert.ir.analysis.regions import FIXED, Computed, region_of
from wengert.ir.node import Block, Const, Node, Var

_INSTRUCTIONS = 16
"""About so many for an element that a node makes."""

_LONGEST = 1 << 24
"""Nobody looks for signals while an iteration of so many elements is done (see `Emitter.poll`)."""

_MOST = 1 << 26
"""Bytes for temporaries that a thread may have, which it keeps."""


def are_independent(plan: BlockPlan, carried: int) -> bool:
    """Whether the iterations of a loop with this body, which carries so many values, do not need each other."""
    block = plan.block
    k = block.params[0]
    versions = {p: j for j, p in enumerate(block.params[1 : 1 + carried])}
    if any(not p.type.ndim or not p.type.is_static for p in versions):
        return False
    for i, node in enumerate(block.nodes):
        touched = [a for a in node.args if a in versions]
        if not touched:
            continue
        if touched != [node.args[0]] or node.sizes:
            return False
        if node.op.writes and i in plan.in_place and _is_at(k, node):
            versions[node.outs[0]] = versions.pop(node.args[0])  # type: ignore[arg-type]
        elif not (node.op.name == "index" and _is_at(k, node)):
            return False
    return all(isinstance(r, Var) and versions.get(r) == j for j, r in enumerate(block.results[:carried]))


def _is_at(k: Var, node: Node) -> bool:
    """Whether a node reads or writes at k along the first axis."""
    return "pattern" in node.params and region_of(node).sides[0] == Computed(operand_key(k), FIXED)


def shared_iterations(
    em: Emitter,
    plan: BlockPlan,
    count: ir.Value,
    carried: Iterable[Slot],
    iteration: Callable[[ir.Value], None],
    unrolled: bool,
) -> bool:
    """Write all iterations of a loop, to be shared; False if it is not long enough, or nobody knows how long."""
    cx, n = em.cx, known(count)
    cost = _cost(plan.block)
    if n is None or n < 4 or cost is None or cost > _LONGEST or not is_worth_it(cx, n * cost):
        return False
    own = [slot for slot in _all_slots(plan) if slot.offset is not None and slot not in carried]
    start = min([slot.offset or 0 for slot in own], default=0)
    end = max([(slot.offset or 0) + (slot.nbytes or 0) for slot in own], default=0)
    if end - start > _MOST:
        return False
    scratch = None
    if own:
        place = cx.builder.gep(em.arena, [I64(start - em.arena_start)], inbounds=True, source_etype=I8)
        scratch = place, end - start
    before = dict(em.places)
    em.places.update({id(slot): em.place(slot) for slot in carried})  # where it is for everybody
    region = SharedLoop(cx, n, n * cost)
    with region.written() as part, em.for_any_thread(region.scratch, start):
        failure = FirstFailure(cx, waits=True)
        with cx.loop(part.length, "k", unrolled=unrolled) as k, failure.noted(k):
            number = plus(cx.builder, part.start, k)
            cx.ranges.note(number, 0, n - 1)
            iteration(number)
        failure.report()
    em.places = before
    region.call(n, n * cost * _INSTRUCTIONS, scratch)
    em.work(count)
    return True


def _cost(block: Block) -> int | None:
    """About how many elements a block computes; `None` if that is not known."""
    total = 0
    for node in block.nodes:
        if node.op.name == "while" or not all(v.type.is_static for v in (*node.args, *node.outs)):
            return None
        iterations = 1
        if node.op.name == "loop":
            if not isinstance(node.args[0], Const):
                return None
            iterations = int(node.args[0].value)
        for inner in node.blocks:
            inside = _cost(inner)
            if inside is None:
                return None
            total += iterations * inside
        # What is written in place, or seen in another way, costs no more than what is written to it.
        made: list[Any] = [node.args[1]] if node.op.writes else list(node.outs)
        total += sum([access.element_bound(v.type) or 0 for v in made])
    return max(total, 1)


def _all_slots(plan: BlockPlan) -> list[Slot]:
    """The slots of a block and of those inside it."""
    return [*plan.slots.values(), *[slot for inner in plan.inner.values() for slot in _all_slots(inner)]]
