"""Several arrays made in one loop.

Elementwise results that are read more than once lie in memory (`memory.py`). Where several of one shape follow each
other, one loop computes them all: elements that later ones read are at hand, and what nobody else reads is not written
at all. Parts of other arrays that are written with such elements belong to the loop as well.

The elements of all arrays are then computed in another order than one array after the other. That is the same as long
as no element is written that another iteration of the loop still has to read or to write. So whatever is written lies
apart from what is read (also in the arena, where arrays that live at different times share memory), except that an
array may take the place of an operand that is read at the very element only; and parts of one array, those that are
written and those that are read, are the same, or apart (`ir/analysis/regions.py`): rows `i` and `i - 1` are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array, in_memory
from wengert.backend.llvm.arrays.buffer import I64, Buffer, Scalar, offset_of, plus, store_element
from wengert.backend.llvm.arrays.composed import compose, how, index_operands, natively
from wengert.backend.llvm.arrays.place import CheckedIndex
from wengert.backend.llvm.arrays.reduction import Fold
from wengert.backend.llvm.arrays.writing import converted, fitting, put_one
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.threads.sharing import shared
from wengert.backend.plan import access
from wengert.backend.plan.memory import WHOLE, BlockPlan, Kind, Path, Slot, merged_reads
from wengert.ir.analysis.regions import FIXED, Computed, Region, Side, disjoint, region_of
from wengert.ir.node import Const, Dyn, Node, Operand, Var

LONGEST = 200

One = Callable[[int], str]
"""Writes the code of the node with some number by itself and says how."""


class _Register:
    """The element of an array that this iteration of the loop computes."""

    def __init__(self, lengths: list[ir.Value], dtype: np.dtype):
        self.value: Scalar = None
        self.array = Array(lengths, dtype, lambda indices: self.value, lambda position: self.value)


class _Read(NamedTuple):
    """A slot that is read, and how: at the very element only (WHOLE), parts of it, or in some other way (None)."""

    slot: Slot
    paths: tuple[Path, ...]

    @property
    def is_whole(self) -> bool:
        return all(path == WHOLE for path in self.paths)


@dataclass(eq=False)
class _Run:
    """Nodes in a row that one loop can compute, as far as it is known."""

    plan: BlockPlan
    shape: tuple
    intervals: Mapping[Var, tuple[int, int]]  # of integers
    roles: list[str] = field(default_factory=list)  # of each node: before, made, lazy, store
    inside: set[Var] = field(default_factory=set)
    unfinished: set[Var] = field(default_factory=set)  # arrays of which parts are written: only stores go on with them
    read: dict[int, _Read] = field(default_factory=dict)
    written: dict[int, Slot] = field(default_factory=dict)
    parts: dict[int, list[Region]] = field(default_factory=dict)  # of slots, those that are written

    def role(self, i: int) -> str | None:
        """What a node does here; None if the run ends before it."""
        node = self.plan.block.nodes[i]
        if len(node.outs) != 1 or node.sizes or node.blocks:
            return None
        if not all(v.type.is_static for v in (*node.args, *node.outs)):
            return None
        (out,) = node.outs
        kind = self.plan.kinds[out]
        depends = any(isinstance(a, Var) and a in self.inside for a in node.args)
        if any(a in self.unfinished for a in (node.args[1:] if node.op.writes else node.args)):
            return None
        if node.op.name in ("store", "add_at"):
            return "store" if self._stores(i, node) else None
        if not self._is_simple(node):
            return None
        if kind is not Kind.MADE and not depends:
            # What is read at once is read too early if the loop writes it.
            return None if kind is Kind.SCALAR and self._reads_what_is_written(node) else "before"
        is_copy = kind is Kind.MADE and node.op.name == "index"  # a part of an array that is put aside
        if is_copy and depends and not region_of(node).is_whole:
            return None  # other iterations of the loop make what it reads
        if not (access.is_elementwise(node) or is_copy) or out.type.shape != self.shape or not self._is_aligned(node):
            return None
        if kind is Kind.LAZY:
            return "lazy"
        return "made" if kind is Kind.MADE and self._makes(node, out) else None

    def _is_simple(self, node: Node) -> bool:
        """Whether an element of the result is one instruction or a few, which cannot fail."""
        if node.op.name == "index" and len(node.args) > 1 and not self._exists(node):
            return False
        return access.is_view(node) or (access.is_elementwise(node) and natively(node))

    def _exists(self, node: Node) -> bool:
        """Whether an index is certain to lie inside the array: where it is checked must not matter."""
        part = region_of(node)
        return part.exists or (not part.has_mask and all(map(self._lies_within, part.sides, part.shape)))

    def _lies_within(self, side: Side, n: int | Dyn) -> bool:
        if isinstance(side, range) or side.exists:
            return True
        place = side.ends[0] if side.ends is not None and side.kind == FIXED else None
        low, high = self.intervals.get(place, (None, None)) if isinstance(place, Var) else (None, None)
        return low is not None and high is not None and isinstance(n, int) and -n <= low and high < n

    def _is_aligned(self, node: Node) -> bool:
        return all(a.type.shape == self.shape for a in node.args if isinstance(a, Var) and a in self.inside)

    def _outer_reads(self, node: Node, operands: Sequence | None = None) -> dict[int, _Read] | None:
        """The slots that a node reads which the run does not make; None if one of them is no longer what it was."""
        found: dict[int, _Read] = {}
        reads = merged_reads(self.plan, node)
        if operands is not None:
            kept = {v for a in operands if isinstance(a, Var) for v in self.plan.reads[a]}
            reads = {v: None for v in reads if v in kept}
        for version, path in reads.items():
            slot = self.plan.slots.get(version)
            if version in self.inside or slot is None:
                continue
            for key, other in self.written.items():
                if _may_overlap(slot, other) and not (other is slot and self._is_clear(path, self.parts.get(key))):
                    return None
            found[id(slot)] = _Read(slot, (*found.get(id(slot), _Read(slot, ())).paths, path))
        return found

    def _is_clear(self, path: Path, parts: Sequence[Region] | None) -> bool:
        """Whether what is read so is, for each part of the same array, all of it or nothing of it."""
        return isinstance(path, Region) and parts is not None and all(self._agree(path, part) for part in parts)

    def _agree(self, a: Region, b: Region) -> bool:
        return a == b or disjoint(a, b) or any(map(self._are_other_places, a.sides, b.sides, a.shape, b.shape))

    def _are_other_places(self, a: Side, b: Side, n: int | Dyn, m: int | Dyn) -> bool:
        """Whether two places along an axis of length n differ, where they are one integer plus numbers."""
        if not (isinstance(a, Computed) and isinstance(b, Computed)) or a.ends is None or b.ends is None:
            return False
        if (a.kind, b.kind) != (FIXED, FIXED) or n.__class__ is not int or n != m:
            return False
        (base, offset), (other, other_offset) = self._offset(a.ends[0]), self._offset(b.ends[0])
        return base is other and (offset - other_offset) % n != 0  # negative places count from the end

    def _offset(self, place: Operand | int | None) -> tuple[Operand | None, int]:
        """An integer as another one plus a number."""
        offset = 0
        while isinstance(place, Var):
            node = self.plan.makers.get(place)
            if node is None or node.op.name not in ("add", "subtract"):
                break
            x, y = node.args
            if isinstance(x, Const) and node.op.name == "add":
                x, y = y, x
            if not isinstance(x, Var) or not isinstance(y, Const) or y.type.shape:
                break
            if y.type.dtype.kind not in "iu" or x.type.dtype != place.type.dtype:
                break
            offset += int(y.value) if node.op.name == "add" else -int(y.value)
            place = x
        return (place, offset) if isinstance(place, Var) else (None, offset)

    def _reads_what_is_written(self, node: Node) -> bool:
        slots = [self.plan.slots[v] for v in merged_reads(self.plan, node) if v in self.plan.slots]
        return any(_may_overlap(slot, other) for slot in slots for other in self.written.values())

    def _makes(self, node: Node, out: Var) -> bool:
        slot = self.plan.slots[out]
        reads = self._outer_reads(node)
        if reads is None or id(slot) in self.parts:
            return False
        joint = self._with_earlier(reads)
        for key, read in {**self.read, **joint}.items():
            if key == id(slot):
                if not read.is_whole:
                    return False
            elif _may_overlap(slot, read.slot):
                return False
        if any(other is not slot and _may_overlap(slot, other) for other in self.written.values()):
            return False
        self.read.update(joint)
        self.written[id(slot)] = slot
        return True

    def _with_earlier(self, reads: dict[int, _Read]) -> dict[int, _Read]:
        earlier = {key: self.read[key].paths if key in self.read else () for key in reads}
        return {
            key: _Read(r.slot, (*earlier[key], *[path for path in dict.fromkeys(r.paths) if path not in earlier[key]]))
            for key, r in reads.items()
        }

    def _stores(self, i: int, node: Node) -> bool:
        x, value, *arrays = node.args
        (out,) = node.outs
        part = region_of(node)
        if (
            i not in self.plan.in_place
            or not access.is_basic(node.params["pattern"], tuple(arrays))
            or not self._exists(node)
        ):
            return False
        if x.type.dtype != out.type.dtype or isinstance(x, Const) or part.part != self.shape:
            return False
        if value.type.ndim and value.type.shape != self.shape:
            return False
        slot = self.plan.slots[out]
        if id(slot) in self.written and id(slot) not in self.parts:
            return False
        # Each iteration writes one element of each part: the last of several writes to one element must be the last.
        others = self.parts.get(id(slot), [])
        is_new = part not in others  # (others agree with each other)
        if is_new and not all(self._agree(part, other) for other in others):
            return False
        reads = self._outer_reads(node, [value])
        if reads is None:
            return False
        joint = self._with_earlier({key: _Read(r.slot, tuple(map(_as_part, r.paths))) for key, r in reads.items()})
        for read in {**self.read, **joint}.values():
            if read.slot is slot:
                if not all(self._is_clear(path, [part]) for path in read.paths):
                    return False
            elif _may_overlap(slot, read.slot):
                return False
        if any(other is not slot and _may_overlap(slot, other) for other in self.written.values()):
            return False
        self.read.update(joint)
        self.written[id(slot)] = slot
        if is_new:
            self.parts[id(slot)] = [*others, part]
        return True

    def add(self, i: int, role: str) -> None:
        self.roles.append(role)
        if role != "before":
            self.inside.update(self.plan.block.nodes[i].outs)
        if role == "store":
            self.unfinished.update(self.plan.block.nodes[i].outs)


def _as_part(path: Path) -> Path:
    """How a value that is written to a part of another array is read: not where an array could take its place."""
    return path if isinstance(path, Region) else None


def _may_overlap(a: Slot, b: Slot) -> bool:
    """Whether two slots may be the same memory."""
    if a is b:
        return True
    if a.within is not None or b.within is not None:
        return True
    if a.offset is None or b.offset is None:
        return False  # an output, or an array of its own on the stack
    return a.offset < b.offset + (b.nbytes or 0) and b.offset < a.offset + (a.nbytes or 0)


def run_fused(em: Emitter, frame: Frame, start: int, stop: int, one: One) -> list[str] | None:
    """Write nodes from a number on, up to another, in one loop: how each was written. None if there is but one."""
    run = _run_from(frame.plan, start, stop, em.intervals)
    return None if run is None else _Loop(em, frame, start, run).write(one)


def fused_nodes(em: Emitter, plan: BlockPlan, start: int, stop: int) -> int:
    """How many nodes from a number on, before another, would be written in one loop."""
    run = _run_from(plan, start, stop, em.intervals)
    return 0 if run is None else len(run.roles)


def _run_from(plan: BlockPlan, start: int, stop: int, intervals: Mapping[Var, tuple[int, int]]) -> _Run | None:
    first = plan.block.nodes[start]
    if len(first.outs) != 1 or first.sizes:
        return None
    (out,) = first.outs
    if plan.kinds[out] is not Kind.MADE or not out.type.is_static or (access.element_bound(out.type) or 0) < 2:
        return None
    shape = region_of(first).part if _is_part(first) else out.type.shape
    if shape is None:
        return None
    run = _Run(plan, shape, intervals)
    for i in range(start, min(stop, start + LONGEST)):
        role = run.role(i)
        if role is None:
            break
        run.add(i, role)
    while run.roles and run.roles[-1] not in ("made", "store"):
        run.roles.pop()
    return run if sum(role in ("made", "store") for role in run.roles) > 1 else None


def _is_part(node: Node) -> bool:
    return (
        node.op.name in ("store", "add_at")
        and not node.sizes
        and access.is_basic(node.params["pattern"], node.args[2:])
    )


class _Loop:
    """The loop of a run."""

    def __init__(self, em: Emitter, frame: Frame, start: int, run: _Run):
        self.em, self.frame, self.run = em, frame, run
        self.numbers = range(start, start + len(run.roles))
        self.lengths: list[ir.Value] = [I64(n) for n in run.shape]
        self.steps: list[tuple[Array, Callable[[Scalar, list[ir.Value], ir.Value | None], None]]] = []
        self.flat = True
        self.afterwards: list[Callable[[], None]] = []
        self.folds: list[Fold] = []

    def write(self, one: One) -> list[str]:
        em, cx = self.em, self.em.cx
        ways = []
        for i, role in zip(self.numbers, self.run.roles, strict=True):
            node = self.run.plan.block.nodes[i]
            source, cx.source = cx.source, node.source or cx.source
            ways.append(one(i) if role == "before" else getattr(self, f"_{role}")(node))
            cx.source = source
        dtypes = {array.dtype for array, _ in self.steps}
        lanes = dtypes.pop() if len(dtypes) == 1 else None
        total = I64(math.prod(self.run.shape))
        if self.flat and len(self.lengths) != 1:
            with shared(cx, [total], lanes, totals=self.folds, is_independent=True) as (position,):
                for array, act in self.steps:
                    assert array.flat is not None
                    act(array.flat(position) if array.ndim else array.load([]), [], position)
        else:
            with shared(cx, self.lengths, lanes, totals=self.folds, is_independent=True) as indices:
                position = indices[0] if len(indices) == 1 else None
                for array, act in self.steps:
                    act(array.load(indices if array.ndim else []), indices, position)
        for action in self.afterwards:
            action()
        em.work(total)
        return ways

    def _made(self, node: Node) -> str:
        em, cx, (out,) = self.em, self.em.cx, node.outs
        plan, slot = self.frame.plan, self.frame.plan.slots[out]
        value: Array = compose(em, self.frame, node)
        self.flat = self.flat and value.flat is not None
        register = _Register(self.lengths, out.type.dtype)
        self.frame.values[out] = register.array
        folds = {fold.outs[0]: Fold(cx, fold) for fold in em.folds.get(out, ())}
        self.folds += folds.values()
        is_read_later = plan.last.get(out, -1) >= self.numbers.stop
        target = em.allocate(slot, self.lengths) if is_read_later else None

        def act(element: Scalar, indices: list[ir.Value], position: ir.Value | None) -> None:
            register.value = element
            if target is not None:
                at = position if position is not None else offset_of(cx.builder, target, indices)
                store_element(cx.builder, element, target.pointer, at, target.dtype)
                slot.epoch += 1
            for fold in folds.values():
                fold.add(element)

        def after() -> None:
            del self.frame.values[out]
            if target is not None:
                self.frame.values[out] = in_memory(cx, target, slot)
            self.frame.values.update({v: fold.result() for v, fold in folds.items()})

        self.steps.append((value, act))
        self.afterwards.append(after)
        return how(node)

    def _lazy(self, node: Node) -> str:
        (out,) = node.outs
        self.frame.values[out] = compose(self.em, self.frame, node)

        def after() -> None:
            del self.frame.values[out]
            if all(isinstance(a, Const) or a in self.frame.values for a in node.args):
                self.frame.values[out] = compose(self.em, self.frame, node)

        self.afterwards.append(after)
        return how(node)

    def _store(self, node: Node) -> str:
        em, cx, (out,) = self.em, self.em.cx, node.outs
        slot = self.frame.plan.slots[out]
        found = em.array(self.frame, node.args[0]).buffer
        assert found is not None
        target = Buffer(found.pointer, found.lengths, found.strides, found.dtype, writable=True)
        operands = index_operands(em, self.frame, node.args[2:])
        place = CheckedIndex(cx, target.lengths, node.params["pattern"], operands)
        value = fitting(cx, converted(em, self.frame, node.args[1], out.type.dtype), place.lengths)
        affine = place.affine(target)
        start = affine[0] if affine is not None and affine[2] else None  # of a part without gaps
        self.flat = self.flat and start is not None and (value.flat is not None or not value.ndim)
        self.frame.values[out] = in_memory(cx, target)

        def act(element: Scalar, indices: list[ir.Value], position: ir.Value | None) -> None:
            if start is not None and position is not None:
                at = plus(cx.builder, start, position)
            else:
                at = offset_of(cx.builder, target, place.indices(indices))
            put_one(cx, target, at, element, add=node.op.name == "add_at")
            slot.epoch += 1

        def after() -> None:
            self.frame.values[out] = in_memory(cx, target, slot)

        self.steps.append((value, act))
        self.afterwards.append(after)
        return "native"
