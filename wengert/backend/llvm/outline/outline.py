"""Functions for parts of a large kernel: what is written once is called wherever it is needed again.

LLVM's time grows faster than the length of a function, and programs that come from unrolled loops compute the same few
things hundreds of times. So in a large program each node that computes an array into memory, with everything that is
computed while it reads, becomes a function of its own; it takes the addresses of what it reads and writes, and scalars.
Nodes whose functions would be the same (ops, parameters, lengths, strides, which places coincide) share one. Runs of
nodes that occur several times (`repeats.py`), scalars and all, become one function together; so do pieces of what else
is in a very long block, which are mostly scalars.

Only what has static lengths throughout is taken. A function that may fail names the user's line, so it is shared only
by nodes of the same line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from wengert.backend.llvm.arrays.array import Array, constant_array, in_memory, reading
from wengert.backend.llvm.arrays.buffer import (
    I8,
    I32,
    I64,
    POINTER,
    Buffer,
    Complex,
    element_pointer,
    known,
    load_element,
    store_element,
)
from wengert.backend.llvm.arrays.composed import compose
from wengert.backend.llvm.arrays.fused import fused_nodes
from wengert.backend.llvm.arrays.place import CheckedIndex
from wengert.backend.llvm.arrays.writing import converted, fitting
from wengert.backend.llvm.calls.faults import OK
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.outline.repeats import LONG, repeats
from wengert.backend.plan import access
from wengert.backend.plan.memory import BlockPlan, Kind, Slot
from wengert.ir.analysis.keys import data_key
from wengert.ir.analysis.uses import makers_of
from wengert.ir.node import Const, Node, Operand, Var

LARGE = 100
"""Programs with more nodes than this that compute arrays into memory are written as several functions."""

OWN_MEMORY = 1 << 16
"""A function has at most so many bytes of its own on the stack."""

Run = Callable[[Emitter, Frame, range], None]
"""Writes the code of some nodes of a block."""


def is_large(plan: BlockPlan) -> bool:
    """Whether a program is to be written as several functions."""
    return _made(plan) > LARGE or _has_long_block(plan)


def _has_long_block(plan: BlockPlan) -> bool:
    return len(plan.block.nodes) > LONG or any(map(_has_long_block, plan.inner.values()))


def _made(plan: BlockPlan) -> int:
    own = sum(any(plan.kinds[v] is Kind.MADE for v in node.outs) for node in plan.block.nodes)
    return own + sum(_made(inner) for inner in plan.inner.values())


class _NotStatic(Exception):
    """Something is known only at run time."""


class _Function(NamedTuple):
    function: ir.Function
    may_fail: bool
    how: list[str]


class Outline:
    """The functions of a kernel so far."""

    def __init__(self) -> None:
        self._functions: dict[Any, _Function] = {}  # by key, or by key and lines
        self._count = 0
        self._blocks: dict[int, _Block] = {}

    def run(self, em: Emitter, frame: Frame, i: int, numbers: range, run: Run) -> list[str] | None:
        """Write a node and some that follow as a call of a function; how, for each. None if that cannot be.

        `numbers` are those of the nodes that are being written: in a function for many, those that share a loop are
        one more function.
        """
        block = self._block(frame.plan)
        ends = {i + fused_nodes(em, frame.plan, i, numbers.stop)}
        if not em.is_part:
            ends.add(block.repeats.get(i, i))
        for end in sorted([end for end in ends if end > i + 1 and range(i, end) != numbers], reverse=True):
            how = self._call(em, frame, range(i, end), block, run)
            if how is not None:
                return how
        return None

    def run_one(self, em: Emitter, frame: Frame, i: int, numbers: range, run: Run) -> list[str] | None:
        """The same for one node. `numbers` are those of the nodes that are being written."""
        if (em.is_part and len(numbers) == 1) or not _is_worth_it(frame, frame.plan.block.nodes[i]):
            return None
        block = self._block(frame.plan)
        if i in frame.plan.in_place and _is_put(frame.plan.block.nodes[i]):
            how = self._call(em, frame, range(i, i + 1), block, run, _Put)
            if how is not None:
                return how
        return self._call(em, frame, range(i, i + 1), block, run)

    def _call(
        self, em: Emitter, frame: Frame, numbers: range, block: _Block, run: Run, kind: type[_Part] | None = None
    ) -> list[str] | None:
        try:
            part = (kind or _Part)(em, frame, numbers, block)
        except _NotStatic:
            return None
        here = (part.key, part.sources)
        found = self._functions.get(part.key) or self._functions.get(here)
        if found is None:
            self._count += 1
            found = part.write(f"part{self._count}", run, self)
            if "callback" not in found.how:  # what Python is called with is known by the node only
                self._functions[here if found.may_fail else part.key] = found
        part.call(found)
        return found.how

    def _block(self, plan: BlockPlan) -> _Block:
        if id(plan) not in self._blocks:
            self._blocks[id(plan)] = _Block(plan)
        return self._blocks[id(plan)]


class _Block:
    """What is known of a block as a whole."""

    def __init__(self, plan: BlockPlan):
        self.plan = plan
        self.makers = makers_of(plan.block.nodes)
        self.repeats = repeats(plan)
        self.last_use: dict[Var, int] = {}
        for i, node in enumerate(plan.block.nodes):
            for a in (*node.args, *node.sizes):
                if isinstance(a, Var):
                    self.last_use[a] = i
        for r in plan.block.results:
            if isinstance(r, Var):
                self.last_use[r] = len(plan.block.nodes)
        self.versions: dict[int, list[Var]] = {}  # of slots
        for v, slot in plan.slots.items():
            self.versions.setdefault(id(slot), []).append(v)

    def used_after(self, numbers: range) -> list[Var]:
        """What some nodes make for others. What is computed while it is read takes with it what it reads."""
        nodes = self.plan.block.nodes
        own = {v for i in numbers for v in nodes[i].outs}
        left = [v for v in own if self.last_use.get(v, -1) >= numbers.stop]
        found: set[Var] = set()
        while left:
            v = left.pop()
            if v not in found:
                found.add(v)
                if self.plan.kinds[v] in (Kind.LAZY, Kind.VIEW):
                    left += [a for a in self.makers[v].args if isinstance(a, Var) and a in own]
        return [v for i in numbers for v in nodes[i].outs if v in found]


def _is_worth_it(frame: Frame, node: Node) -> bool:
    """Whether a node writes a loop or calls a routine."""
    if node.blocks or not node.outs or node.sizes:
        return False
    if not all(v.type.is_static for v in (*node.args, *node.outs)):
        return False
    if node.op.name == "concatenate" and any(slot.within is not None for slot in _slots_read(frame, node)):
        return False  # a piece may be a part of the result
    kinds = [frame.plan.kinds[v] for v in node.outs]
    if any(kind in (Kind.LAZY, Kind.VIEW) for kind in kinds):
        return False
    if Kind.MADE in kinds:
        return True
    if access.is_elementwise(node) or access.is_view(node) or node.op.name in ("index", "size", "iota"):
        return False
    return any(a.type.ndim for a in node.args)


def _slots_read(frame: Frame, node: Node) -> list[Slot]:
    values = [frame.values[a] for a in node.args if isinstance(a, Var)]
    return [slot for value in values if isinstance(value, Array) for slot in value.slots()]


class _Part:
    """Nodes in a row and what they read: the key of their function, and the arguments for it.

    What nobody else reads of what they make is made in the function's own memory.
    """

    def __init__(self, em: Emitter, frame: Frame, numbers: range, block: _Block):
        self.em, self.frame, self.numbers, self.makers = em, frame, numbers, block.makers
        self.nodes = [frame.plan.block.nodes[i] for i in numbers]
        self.sources = tuple([node.source or em.cx.source for node in self.nodes])
        self.arguments: list[ir.Value] = []
        self._numbers: dict[Any, int] = {}  # of arguments
        self._arrays: dict[Var, tuple[int, Array]] = {}
        self._scalars: dict[Var, tuple[int, ...]] = {}
        self._ends: dict[int, tuple[int, int]] = {}  # of arguments, where they are known
        self._constants: dict[int, tuple[int, Array]] = {}
        self._order: list[Node] = []
        self._placed: dict[Var, int] = {}  # of nodes that are computed while they are read
        self._slots: dict[int, Slot] = {}
        self._read: dict[int, Slot] = {}  # slots that are read from outside, and by which arguments
        self._reads: dict[int, set[int]] = {}
        self._inner = {v: k for k, v in enumerate(v for node in self.nodes for v in node.outs)}
        self._outside = block.used_after(numbers) if len(numbers) > 1 else list(self._inner)
        self._own: dict[int, tuple[int, Slot]] = {}  # slots that nobody else knows, with their numbers
        self.shared: tuple[int, ...] = ()
        self.key = self._look(block)

    def _look(self, block: _Block) -> Any:
        """Find the arguments; the key."""
        em, frame, numbers, outside = self.em, self.frame, self.numbers, set(self._outside)
        for v in self._inner:
            slot = frame.plan.slots.get(v)
            if slot is not None and frame.plan.kinds[v] is Kind.MADE:
                if id(slot) in self._slots or id(slot) in self._own:
                    continue
                own = all(u in self._inner and u not in outside for u in block.versions[id(slot)])
                if own and slot.output is None and slot.within is None:
                    self._own[id(slot)] = len(self._own), slot
                    continue
                self._slots[id(slot)] = slot
                self._number(("slot", id(slot)), em.place(slot))
            elif v in outside and not v.type.ndim:
                self._number(("scalar", v), em.cx.on_stack(I64, 2))
        if sum(slot.nbytes or 0 for _, slot in self._own.values()) > OWN_MEMORY:
            raise _NotStatic
        nodes = [(i in frame.plan.in_place, self._of_node(node)) for i, node in zip(numbers, self.nodes, strict=True)]
        shown = tuple([self._inner[v] for v in self._outside])
        if len(numbers) > 1:
            self.shared = self._sharing()
        return tuple(nodes), shown, self.shared

    def _sharing(self) -> tuple[int, ...]:
        """Arguments that may be the same memory, at different times: places in the arena."""
        found: set[int] = set()
        written = list(self._slots.values())
        for slot in (*written, *self._read.values()):
            if slot.within is not None or (slot.output is None and not slot.on_stack and slot.offset is None):
                raise _NotStatic
        for slot in written:
            for other in {**self._slots, **self._read}.values():
                if other is not slot and _overlap(slot, other):
                    found |= self._reads.get(id(slot), set()) | self._reads.get(id(other), set())
                    found |= {self._numbers["slot", id(s)] for s in (slot, other) if ("slot", id(s)) in self._numbers}
        return tuple(sorted(found))

    def _number(self, name: Any, value: ir.Value) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.arguments)
            self.arguments.append(value)
        return self._numbers[name]

    # ------------------------------------------------------------------------------------------------------- keys

    def _of_node(self, node: Node) -> tuple:
        if node.sizes:
            raise _NotStatic
        return (
            node.op.name,
            tuple([self._of_operand(a) for a in node.args]),
            data_key(node.params),
            tuple([(v.type, self.frame.plan.kinds[v], self._of_slot(v)) for v in node.outs]),
        )

    def _of_slot(self, v: Var) -> Any:
        slot = self.frame.plan.slots.get(v)
        if slot is None or v not in self._inner or self.frame.plan.kinds[v] is not Kind.MADE:
            return None
        own = self._own.get(id(slot))
        return ("own", own[0]) if own is not None else self._numbers["slot", id(slot)]

    def _of_operand(self, operand: Operand) -> Any:
        if isinstance(operand, Const):
            if not operand.type.ndim:
                return operand.type, data_key(operand.value)
            value = self.em.constant_array(operand)
            assert value.buffer is not None
            number = self._number(("constant", id(operand.value)), value.buffer.pointer)
            self._constants[id(operand.value)] = number, value
            return operand.type, "constant", number
        if operand in self._inner:
            return "inner", self._inner[operand]
        value = self.frame.values[operand]
        if not isinstance(value, Array):
            return operand.type, self._of_scalar(operand, value)
        if value.buffer is None:
            return self._of_lazy(operand)
        return operand.type, self._of_memory(operand, value)

    def _of_scalar(self, operand: Var, value: Any) -> Any:
        parts = tuple(value) if isinstance(value, Complex) else (value,)
        if all(isinstance(part, ir.Constant) for part in parts):
            return tuple([str(part) for part in parts])
        numbers = tuple([self._number(("value", id(part)), part) for part in parts])
        self._scalars[operand] = numbers
        ends = self.em.cx.ranges.of(parts[0])
        if ends is not None:
            self._ends[numbers[0]] = ends
        return "scalar", numbers, ends

    def _of_memory(self, operand: Var, value: Array) -> Any:
        buffer = value.buffer
        assert buffer is not None
        shape = tuple([_static(n) for n in buffer.lengths])
        strides = None if buffer.strides is None else tuple([_static(s) for s in buffer.strides])
        slots = value.slots()
        if value.whole and len(slots) == 1:
            number = self._number(("slot", id(slots[0])), buffer.pointer)
        elif any(id(slot) in self._slots for slot in slots):
            raise _NotStatic  # another way to see what is written
        else:
            number = self._number(("value", id(buffer.pointer)), buffer.pointer)
        for slot in slots:
            self._read[id(slot)] = slot
            self._reads.setdefault(id(slot), set()).add(number)
        self._arrays[operand] = number, value
        return "memory", number, shape, strides, value.whole

    def _of_lazy(self, operand: Var) -> Any:
        if operand in self._placed:
            return "again", self._placed[operand]
        node = self.makers.get(operand)
        # An index that is not basic is checked where it stands: that is not to be done twice.
        if node is None or not (access.is_view(node) or access.is_elementwise(node) or node.op.name == "iota"):
            raise _NotStatic
        if node.op.name == "index" and len(node.args) > 1:
            raise _NotStatic
        key = self._of_node(node)
        self._placed[operand] = len(self._order)
        self._order.append(node)
        return key

    # ------------------------------------------------------------------------------------------- writing and calling

    def write(self, name: str, run: Run, outline: Outline) -> _Function:
        outer = self.em.cx
        types = [POINTER, *[a.type for a in self.arguments]]
        function = internal_function(outer.module, name, I32, types, "nounwind", "noinline")
        for k, argument in enumerate(function.args):
            if argument.type == POINTER and k - 1 not in self.shared:
                argument.add_attribute("noalias")  # places that coincide are one argument
        cx = Context(outer.module, function, function.args[0], outer)
        em = Emitter(cx, [], None)
        em.outline, em.is_part = outline, True
        own = function.args[1:]
        frame = self._frame_inside(em, own)
        changed = [*self._slots.values(), *[slot for _, slot in self._own.values()]]
        epochs = [slot.epoch for slot in changed]
        for node in self._order:
            frame.values[node.outs[0]] = compose(em, frame, node)
        self._body(em, frame, own, run)
        cx.fail_now()
        for v in self._outside:
            if not v.type.ndim:
                place = own[self._numbers["scalar", v]]
                store_element(cx.builder, frame.values[v], place, I64(0), v.type.dtype)
        for slot, epoch in zip(changed, epochs, strict=True):
            slot.epoch = epoch  # the call is what counts
        cx.finish()
        return _Function(function, cx.may_leave, [how for _, how in em.report])

    def _frame_inside(self, em: Emitter, own: Sequence[ir.Value]) -> Frame:
        """What the function knows of values from outside, given its own arguments."""
        cx = em.cx
        for k, ends in self._ends.items():
            cx.ranges.note(own[k], *ends)
        frame = Frame(self.frame.plan, {})
        for v, (k, value) in self._arrays.items():
            frame.values[v] = _moved(cx, value, own[k])
        for v, numbers in self._scalars.items():
            parts = [own[k] for k in numbers]
            frame.values[v] = Complex(*parts) if len(parts) == 2 else parts[0]
        for node in (*self._order, *self.nodes):
            for a in node.args:
                if isinstance(a, Var) and a not in frame.values and a not in self._inner:
                    if not isinstance(self.frame.values[a], Array):
                        frame.values[a] = self.frame.values[a]  # a constant
        em.constants.update({key: _moved(cx, value, own[k]) for key, (k, value) in self._constants.items()})
        for key in self._slots:
            if ("slot", key) in self._numbers:
                em.places[key] = own[self._numbers["slot", key]]
        for key, (_, slot) in self._own.items():
            em.places[key] = _own_place(cx, slot)
        return frame

    def _body(self, em: Emitter, frame: Frame, own: Sequence[ir.Value], run: Run) -> None:
        run(em, frame, self.numbers)

    def call(self, found: _Function) -> None:
        em, cx, b = self.em, self.em.cx, self.em.cx.builder
        if "callback" in found.how:
            cx.fail_now()
        status = b.call(found.function, [cx.record, *self.arguments])
        if found.may_fail:
            with cx.unlikely(b.icmp_signed("!=", status, I32(OK))):
                cx.exit_with(status)
        for slot in (*self._slots.values(), *[slot for _, slot in self._own.values()]):
            slot.epoch += 1
        for v in self._outside:
            kind = self.frame.plan.kinds[v]
            if not v.type.ndim:
                place = self.arguments[self._numbers["scalar", v]]
                self.frame.values[v] = load_element(b, place, I64(0), v.type.dtype)
            elif kind is Kind.MADE:
                slot = self.frame.plan.slots[v]
                place = self.arguments[self._numbers["slot", id(slot)]]
                buffer = Buffer(place, [I64(n) for n in v.type.shape], None, v.type.dtype, writable=True)
                self.frame.values[v] = in_memory(cx, buffer, slot)
            else:
                self.frame.values[v] = compose(em, self.frame, self.makers[v])
        em.work(I64(sum(access.element_bound(v.type) or 0 for node in self.nodes for v in node.outs)))


def _is_put(node: Node) -> bool:
    """Whether a node writes to a place that is known."""
    return node.op.name == "store" and len(node.args) == 2 and access.is_basic(node.params["pattern"], ())


class _Put(_Part):
    """A store to a part of an array, in place: the function takes the address of the part, wherever it is."""

    def _look(self, block: _Block) -> Any:
        (node,), frame, cx = self.nodes, self.frame, self.em.cx
        target = self.em.array(frame, node.args[0])
        slot = frame.plan.slots[node.outs[0]]
        value = node.args[1]
        if isinstance(value, Var) and any(slot is frame.plan.slots.get(v) for v in frame.plan.reads[value]):
            raise _NotStatic  # it is made of what is overwritten
        place = CheckedIndex(cx, target.lengths, node.params["pattern"], [])
        found = place.affine(target.buffer)
        if found is None or target.buffer is None:
            raise _NotStatic
        start, strides, contiguous = found
        self._slots[id(slot)] = slot
        self._whole = target.buffer
        at = element_pointer(cx.builder, target.buffer.pointer, start, target.dtype)
        self._number(("place", id(slot)), at)
        self._part = Buffer(at, place.lengths, None if contiguous else strides, target.dtype, writable=True)
        shape = tuple([_static(n) for n in place.lengths])
        apart = None if contiguous else tuple([_static(n) for n in strides])
        return "put", target.dtype, shape, apart, self._of_operand(node.args[1])

    def _body(self, em: Emitter, frame: Frame, own: Sequence[ir.Value], run: Run) -> None:
        (node,), part = self.nodes, self._part
        value = fitting(em.cx, converted(em, frame, node.args[1], part.dtype), part.lengths)
        if not value.ndim:
            value = constant_array(em.cx, value.load([]), part.dtype, part.lengths)
        em.fill(value, Buffer(own[0], part.lengths, part.strides, part.dtype, writable=True))
        em.report.append((node.op.name, "native"))

    def call(self, found: _Function) -> None:
        (node,), cx = self.nodes, self.em.cx
        cx.builder.call(found.function, [cx.record, *self.arguments])
        self.frame.values[node.outs[0]] = self.em.made(self.frame.plan.slots[node.outs[0]], self._whole)
        self.em.work(I64(access.element_bound(node.args[1].type) or 0))


def _own_place(cx: Context, slot: Slot) -> ir.Value:
    place = cx.on_stack(I8, max(slot.nbytes or 0, 1), "own")
    place.align = 64
    return place


def _overlap(a: Slot, b: Slot) -> bool:
    """Whether two slots lie in the same part of the arena."""
    if a.offset is None or b.offset is None:
        return False
    return a.offset < b.offset + (b.nbytes or 0) and b.offset < a.offset + (a.nbytes or 0)


def _static(n: ir.Value) -> int:
    number = known(n)
    if number is None:
        raise _NotStatic
    return number


def _moved(cx: Context, value: Array, pointer: ir.Value) -> Array:
    """An array in memory as a function sees it that got its address."""
    buffer = value.buffer
    assert buffer is not None
    found = reading(cx, Buffer(pointer, buffer.lengths, buffer.strides, buffer.dtype, buffer.writable), value.epochs)
    found.whole = value.whole
    return found
