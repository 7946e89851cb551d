"""Sparse Jacobians by accumulation (`modes/slots.py`): each entry is computed by itself, and put where it belongs.

Chosen in compiled programs, where what a slot's numbers are is known beforehand, if it takes less than the products
of a colouring; `mode="accumulate"` asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.api.arguments import Prepared
from wengert.api.compressed import Plan, Template
from wengert.api.entries import taken_entries
from wengert.box.writing import settled
from wengert.capture.session import ArrayGuard, current
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Const
from wengert.ir.symbol import Sym
from wengert.modes.slots import GivenUp, Slots, SlotTrace, TangentSlot
from wengert.ops.op import call
from wengert.ops.shape import astype, broadcast_to, reshape
from wengert.running import running
from wengert.types import Aval, dtype_of, shape_of

Blocks = list[list[Any]]


def accumulated(prepared: Prepared, plan: Plan, operator: str, demanded: bool) -> tuple[list[Any], Blocks] | None:
    """The leaves of the function's value and the blocks of its Jacobian; None if products are quicker, or the only
    way, unless this way is `demanded`."""
    trace = SlotTrace(_known)
    vectors, start = [], 0
    for aval in plan.ins:
        vectors.append(trace.unit(aval, start))
        start += aval.size
    try:
        values, dots = prepared.push(vectors)
        found = [_slots(trace, d) for d in dots]
    except GivenUp:
        if demanded:
            raise UnsupportedFunctionError(
                "a function whose derivatives cannot be accumulated one by one: it has a loop or a branch in compiled "
                "code, a large sum, or reads at places that are not known beforehand",
                remedy='leave out mode="accumulate"',
            ) from None
        return None
    if not demanded and trace.work > plan.fewest * trace.elements:
        if trace.work >= (plan.forward + plan.backward) * trace.elements:
            return None
    most = max([len(slots) for slots in found], default=0)
    note(
        operator,
        f"accumulated: {most} derivatives of each element, each computed by itself, which is less work than products",
    )
    blocks = [_row(plan, k, slots, aval) for k, (slots, aval) in enumerate(zip(found, plan.outs, strict=True))]
    return values, blocks


def note(operator: str, what: str) -> None:
    """Say what was chosen, in a program that is being captured."""
    if running.state.capture is not None and current.session is not None:
        current.session.notes.append((operator, what))


def _known(a: Any) -> Any:
    """The value of integers that a captured program makes of arrays which it finds outside; these are guarded then."""
    session = current.session
    if session is None or running.state.capture is not session.top or a.__class__ is not Sym:
        raise GivenUp
    outside = {id(var): (value, path) for value, path, var in session.inputs if value.dtype.kind in "iub"}
    makers = {id(out): node for node in session.top.nodes for out in node.outs}

    def value_of(operand: Any) -> Any:
        if operand.__class__ is Const:
            return operand.value
        if id(operand) in outside:
            value, path = outside[id(operand)]
            session.guards.append(ArrayGuard(path, value.copy()))
            return value
        node = makers.get(id(operand))
        if node is None or len(node.outs) > 1 or node.sizes or node.blocks or not node.op.pure or node.op.effect:
            raise GivenUp
        return call(node.op, *[value_of(x) for x in node.args], **node.params)

    return np.array(value_of(a._node))


def _slots(trace: SlotTrace, dot: Any) -> list[TangentSlot]:
    dot = settled(dot)
    if dot.__class__ is not Slots:
        return []
    if dot._node is None:
        raise GivenUp
    return dot._node


def _row(plan: Plan, k: int, slots: Sequence[TangentSlot], aval: Aval) -> list[Any]:
    """The blocks of one leaf of the result."""
    parts = []
    for slot in slots:
        value = slot.value if shape_of(slot.value) == aval.shape else call(broadcast_to, slot.value, shape=aval.shape)
        flat = reshape(value, shape=(aval.size,))
        parts.append(flat if dtype_of(flat) == aval.dtype else astype(flat, dtype=aval.dtype))
    row, start = [], 0
    for own, block in zip(plan.ins, plan.blocks[k], strict=True):
        lengths = np.diff(block.template.indptr)
        data: Any = np.zeros(len(block.entries), aval.dtype)
        for number, places in enumerate(_sources(slots, block.template, start)):
            found = taken_entries(parts, places, lengths, aval.dtype)
            data = found if number == 0 else data + found
        row.append(block.template.filled(data if dtype_of(data) == block.dtype else astype(data, dtype=block.dtype)))
        start += own.size
    return row


def _sources(slots: Sequence[TangentSlot], template: Template, start: int) -> list[np.ndarray]:
    """Where the entries of a block stand in all slots, one after the other, -1 for nowhere; again for entries that
    stand in several."""
    m, n = template.shape
    rows = np.repeat(np.arange(m, dtype=np.int64), np.diff(template.indptr))
    keys = rows * n + template.indices
    found: list[np.ndarray] = []
    for s, (numbers, _) in enumerate(slots):
        at = np.flatnonzero((numbers >= start) & (numbers < start + n))
        wanted = at * n + numbers[at] - start
        place = np.searchsorted(keys, wanted)
        inside = place < len(keys)
        inside[inside] = keys[place[inside]] == wanted[inside]  # what is known to be zero is not in the pattern
        at, place = at[inside], place[inside]
        for source in found:
            free = source[place] < 0
            source[place[free]] = at[free] + s * len(numbers)
            at, place = at[~free], place[~free]
            if not len(at):
                break
        if len(at):
            found.append(np.full(len(keys), -1))
            found[-1][place] = at + s * len(numbers)
    return found
