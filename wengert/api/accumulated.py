"""Sparse Jacobians by accumulation (`modes/slots.py`): each entry is computed by itself, and put where it belongs.

Chosen in compiled programs, where what a slot's numbers are is known beforehand, if it takes less than the products
of a colouring; `mode="accumulate"` asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.api.arguments import Prepared
from wengert.api.compressed import Plan, Template
from wengert.api.entries import taken_entries
from wengert.box.writing import settled
from wengert.capture.session import ArrayGuard, current
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Const
from wengert.ir.symbol import Sym
from wengert.modes.contributions import Contributions
from wengert.modes.slots import GivenUp, Slots, SlotTrace, TangentSlot, divided
from wengert.ops.index import ARRAY
from wengert.ops.op import call
from wengert.ops.shape import astype, broadcast_to, reshape
from wengert.ops.store import add_at
from wengert.running import running
from wengert.types import Aval, dtype_of, shape_of

Blocks = list[list[Any]]


def accumulated(prepared: Prepared, plan: Plan, operator: str, demanded: bool) -> tuple[list[Any], Blocks] | None:
    """The leaves of the function's value and the blocks of its Jacobian; None if products are quicker, or the only
    way, unless this way is `demanded`."""
    found = _tried(prepared, plan, assembles=plan.runs_once)
    if not plan.runs_once and (found is None or found.slots > _MANY):
        other = _tried(prepared, plan, assembles=True)
        if found is None or (other is not None and other.trace.work < found.trace.work):
            found = other
    if found is None and demanded:
        found = _tried(prepared, plan, assembles=False, weighs=True)
    if found is None:
        if demanded:
            raise UnsupportedFunctionError(
                "a function whose derivatives cannot be accumulated one by one: it has a loop or a branch in compiled "
                "code, a large sum or transform, or reads at places that are not known beforehand",
                remedy='leave out mode="accumulate"',
            ) from None
        return None
    work = found.trace.work * (_SCATTER if found.trace.assembles else 1)
    if not demanded and work > plan.fewest * found.trace.elements:
        if work >= (plan.forward + plan.backward) * found.trace.elements:
            return None
    note(operator, found.reason)
    rows = zip(found.dots, plan.outs, strict=True)
    return found.values, [_row(plan, k, node, aval) for k, (node, aval) in enumerate(rows)]


_MANY = 8
"""With more derivatives of an element than these, it is worth trying to hold them until they are added up."""
_SCATTER = 3
"""What it costs to add a number to an entry somewhere in the matrix, in operations on elements in order."""


class _Accumulated(NamedTuple):
    trace: SlotTrace
    values: list[Any]
    dots: list[list[Any]]

    @property
    def slots(self) -> int:
        return max([len(divided(node)[0]) for node in self.dots], default=0)

    @property
    def reason(self) -> str:
        loose = sum(len(c.rows) for node in self.dots for c in divided(node)[1])
        if loose:
            return (
                f"accumulated by blocks: {loose} derivatives of small terms, added where they belong, which is less "
                "work than products"
            )
        return (
            f"accumulated: {self.slots} derivatives of each element, each computed by itself, which is less work than "
            "products"
        )


def _tried(prepared: Prepared, plan: Plan, assembles: bool, weighs: bool = False) -> _Accumulated | None:
    """Forward mode with slots; None if it cannot be done."""
    trace = SlotTrace(_known, assembles, weighs)
    vectors, start = [], 0
    for aval in plan.ins:
        vectors.append(trace.unit(aval, start))
        start += aval.size
    try:
        values, dots = prepared.push(vectors)
        return _Accumulated(trace, values, [_slots(trace, d) for d in dots])
    except GivenUp:
        return None


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


def _slots(trace: SlotTrace, dot: Any) -> list[Any]:
    dot = settled(dot)
    if dot.__class__ is not Slots:
        return []
    if dot._node is None:
        raise GivenUp
    return dot._node


def _row(plan: Plan, k: int, node: Sequence[Any], aval: Aval) -> list[Any]:
    """The blocks of one leaf of the result."""
    slots, loose = divided(node)
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
        for c in loose:
            data = _assembled(data, c, block.template, start)
        row.append(block.template.filled(data if dtype_of(data) == block.dtype else astype(data, dtype=block.dtype)))
        start += own.size
    return row


def _assembled(data: Any, c: Contributions, template: Template, start: int) -> Any:
    """The entries of a block with contributions added where they belong."""
    places = _places(template, c.rows, c.numbers, start)
    c = c.kept(places)
    places = places[places >= 0]
    if not len(places):
        return data
    value = c.value if shape_of(c.value) else call(broadcast_to, c.value, shape=(len(places),))
    value = value if dtype_of(value) == dtype_of(data) else astype(value, dtype=dtype_of(data))
    return call(add_at, data, value, places, pattern=(ARRAY,))


def _places(template: Template, rows: np.ndarray, numbers: np.ndarray, start: int) -> np.ndarray:
    """Where entries of a matrix stand among those of a block; -1 for what is not in it."""
    m, n = template.shape
    keys = np.repeat(np.arange(m, dtype=np.int64), np.diff(template.indptr)) * n + template.indices
    inside = (numbers >= start) & (numbers < start + n)
    wanted = np.where(inside, rows.astype(np.int64) * n + numbers - start, -1)
    place = np.searchsorted(keys, wanted)
    place[place == len(keys)] = 0
    return np.where(inside & (keys[place] == wanted), place, -1) if len(keys) else np.full(len(rows), -1)


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
