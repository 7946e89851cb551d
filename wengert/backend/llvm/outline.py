"""Functions for parts of a large kernel: what is written once is called wherever it is needed again.

LLVM's time grows faster than the length of a function, and programs that come from unrolled loops compute the same few
things hundreds of times. So in a large program each node that computes an array into memory, with everything that is
computed while it reads, becomes a function of its own; it takes the addresses of what it reads and writes, and scalars.
Nodes whose functions would be the same (ops, parameters, lengths, strides, which places coincide) share one.

Only what has static lengths throughout is taken. A function that may fail names the user's line, so it is shared only
by nodes of the same line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from wengert.backend.llvm import traits
from wengert.backend.llvm.array import Array, in_memory, reading
from wengert.backend.llvm.buffer import I32, I64, POINTER, Buffer, Complex, known, load_element, store_element
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.emitter import Emitter, Frame
from wengert.backend.llvm.faults import OK
from wengert.backend.llvm.plan import BlockPlan, Kind, Slot
from wengert.ir.node import Const, Node, Operand, Var
from wengert.passes.keys import data_key

LARGE = 100
"""Programs with more nodes than this that compute arrays into memory are written as several functions."""

Run = Callable[[Emitter, Frame, Node, int], str]
"""Writes the code of a node and says how."""


def is_large(plan: BlockPlan) -> bool:
    """Whether a program is to be written as several functions."""
    return _made(plan) > LARGE


def _made(plan: BlockPlan) -> int:
    own = sum(any(plan.kinds[v] is Kind.MADE for v in node.outs) for node in plan.block.nodes)
    return own + sum(_made(inner) for inner in plan.inner.values())


class _NotStatic(Exception):
    """Something is known only at run time."""


class _Function(NamedTuple):
    function: ir.Function
    may_fail: bool
    how: str


class Outline:
    """The functions of a kernel so far."""

    def __init__(self) -> None:
        self._functions: dict[Any, _Function] = {}  # by key, or by key and line
        self._count = 0
        self._makers: dict[int, dict[Var, Node]] = {}

    def run(self, em: Emitter, frame: Frame, node: Node, i: int, run: Run) -> str | None:
        """Write a node as a call of a function, if it can be one; None if it cannot."""
        if not _is_worth_it(frame, node):
            return None
        try:
            part = _Part(em, frame, node, i, self._made_by(frame.plan))
        except _NotStatic:
            return None
        here = (part.key, em.cx.source)
        found = self._functions.get(part.key) or self._functions.get(here)
        if found is None:
            self._count += 1
            found = part.write(f"part{self._count}", run)
            if found.how != "callback":  # what Python is called with is known by the node only
                self._functions[here if found.may_fail else part.key] = found
        part.call(found)
        return found.how

    def _made_by(self, plan: BlockPlan) -> dict[Var, Node]:
        if id(plan) not in self._makers:
            self._makers[id(plan)] = {v: node for node in plan.block.nodes for v in node.outs}
        return self._makers[id(plan)]


def _is_worth_it(frame: Frame, node: Node) -> bool:
    """Whether a node writes a loop or calls a routine."""
    if node.op.name in traits.CONTROL or not node.outs or node.sizes:
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
    if traits.is_elementwise(node) or traits.is_view(node) or node.op.name in ("index", "size", "iota"):
        return False
    return any(a.type.ndim for a in node.args)


def _slots_read(frame: Frame, node: Node) -> list[Slot]:
    values = [frame.values[a] for a in node.args if isinstance(a, Var)]
    return [slot for value in values if isinstance(value, Array) for slot in value.slots()]


class _Part:
    """A node and what it reads: the key of its function, and the arguments for it."""

    def __init__(self, em: Emitter, frame: Frame, node: Node, i: int, makers: dict[Var, Node]):
        self.em, self.frame, self.node, self.i, self.makers = em, frame, node, i, makers
        self.arguments: list[ir.Value] = []
        self._numbers: dict[Any, int] = {}  # of arguments
        self._arrays: dict[Var, tuple[int, Array]] = {}
        self._scalars: dict[Var, tuple[int, ...]] = {}
        self._constants: dict[int, tuple[int, Array]] = {}
        self._order: list[Node] = []
        self._placed: dict[Var, int] = {}  # of nodes that are computed while they are read
        self._slots: dict[int, Slot] = {}
        for v in node.outs:
            if v.type.ndim:
                slot = frame.plan.slots[v]
                self._slots[id(slot)] = slot
                self._number(("slot", id(slot)), em.place(slot))
            else:
                self._number(("scalar", v), em.cx.on_stack(I64, 2))
        self.key = (i in frame.plan.in_place, self._of_node(node))

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
            tuple([(v.type, self.frame.plan.kinds[v]) for v in node.outs]),
        )

    def _of_operand(self, operand: Operand) -> Any:
        if isinstance(operand, Const):
            if not operand.type.ndim:
                return operand.type, data_key(operand.value)
            value = self.em.constant_array(operand)
            assert value.buffer is not None
            number = self._number(("constant", id(operand.value)), value.buffer.pointer)
            self._constants[id(operand.value)] = number, value
            return operand.type, "constant", number
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
        return "scalar", numbers

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
        self._arrays[operand] = number, value
        return "memory", number, shape, strides, value.whole

    def _of_lazy(self, operand: Var) -> Any:
        if operand in self._placed:
            return "again", self._placed[operand]
        node = self.makers.get(operand)
        # An index that is not basic is checked where it stands: that is not to be done twice.
        if node is None or not (traits.is_view(node) or traits.is_elementwise(node) or node.op.name == "iota"):
            raise _NotStatic
        if node.op.name == "index" and len(node.args) > 1:
            raise _NotStatic
        key = self._of_node(node)
        self._placed[operand] = len(self._order)
        self._order.append(node)
        return key

    # ------------------------------------------------------------------------------------------- writing and calling

    def write(self, name: str, run: Run) -> _Function:
        outer = self.em.cx
        types = [POINTER, *[a.type for a in self.arguments]]
        function = ir.Function(outer.module, ir.FunctionType(I32, types), name)
        function.linkage = "internal"
        function.attributes.add("nounwind")
        function.attributes.add("noinline")
        for argument in function.args:
            if argument.type == POINTER:
                argument.add_attribute("noalias")  # places that coincide are one argument
        cx = Context(outer.module, function, function.args[0], outer)
        em = Emitter(cx, [], None)
        own = function.args[1:]
        frame = Frame(self.frame.plan, {})
        for v, (k, value) in self._arrays.items():
            frame.values[v] = _moved(cx, value, own[k])
        for v, numbers in self._scalars.items():
            parts = [own[k] for k in numbers]
            frame.values[v] = Complex(*parts) if len(parts) == 2 else parts[0]
        for node in (*self._order, self.node):
            for a in node.args:
                if isinstance(a, Var) and a not in frame.values and not isinstance(self.frame.values[a], Array):
                    frame.values[a] = self.frame.values[a]  # a constant
        em.constants.update({key: _moved(cx, value, own[k]) for key, (k, value) in self._constants.items()})
        for key in self._slots:
            em.places[key] = own[self._numbers["slot", key]]
        epochs = {key: slot.epoch for key, slot in self._slots.items()}
        for node in self._order:
            run(em, frame, node, -1)
        how = run(em, frame, self.node, self.i)
        for v in self.node.outs:
            if not v.type.ndim:
                place = own[self._numbers["scalar", v]]
                store_element(cx.builder, frame.values[v], place, I64(0), v.type.dtype)
        for key, slot in self._slots.items():
            slot.epoch = epochs[key]  # the call is what counts
        cx.finish()
        return _Function(function, cx.may_leave, how)

    def call(self, found: _Function) -> None:
        em, cx, b = self.em, self.em.cx, self.em.cx.builder
        status = b.call(found.function, [cx.record, *self.arguments])
        if found.may_fail:
            with cx.unlikely(b.icmp_signed("!=", status, I32(OK))):
                cx.exit_with(status)
        for v in self.node.outs:
            number = self._numbers["slot", id(self.frame.plan.slots[v])] if v.type.ndim else self._numbers["scalar", v]
            place = self.arguments[number]
            if not v.type.ndim:
                self.frame.values[v] = load_element(b, place, I64(0), v.type.dtype)
                continue
            slot = self.frame.plan.slots[v]
            slot.epoch += 1
            buffer = Buffer(place, [I64(n) for n in v.type.shape], None, v.type.dtype, writable=True)
            self.frame.values[v] = in_memory(cx, buffer, slot)
            em.work(I64(traits.element_bound(v.type) or 0))


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
