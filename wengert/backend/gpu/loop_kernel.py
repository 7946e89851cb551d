"""A counted loop as one kernel: each thread goes through all iterations for elements of its own.

    for i in range(n):                 x of shape [m], and the residuals of reverse mode, n × m
        x = sin(x) * a[i]

    thread t:  x = x₀[t];  for i < n:  residuals[i, t] = x;  x = sin(x) * a[i]

That is right where no element needs those of other threads. A carried value is either computed element by element, in
registers; or it is an array that is read and written at places which the counter says (`out[i] = 0.9 * out[i - 1]`), of
which a thread has what lies behind the place: it is in memory, and written there. Sums over elements, slices of what is
carried, and branches are not for a thread alone: such loops launch their iterations one by one.

Places are integers that the host knows before the launch: as functions of the counter they are straight lines, so they
are inside of an array if the first and the last are. If not, the loop runs as others do, and raises what these raise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from wengert.backend.gpu.elements import Coordinates, OperandLayout, can_be_moved, fitted, place_in
from wengert.backend.gpu.kernel import KernelWriter, contiguous
from wengert.backend.gpu.launch import WAVES, argument_of, key_of, layout_of, operand_of, value_of
from wengert.backend.gpu.regions import counts, is_count
from wengert.backend.gpu.scalar import can_be_written, combined, flat, gathered, lengths
from wengert.backend.llvm.arrays.buffer import I64, is_native, load_element, store_element
from wengert.backend.llvm.scalars.values import convert
from wengert.ir.node import Block, Const, Node, Var
from wengert.ops.index import ARRAY

_STRAIGHT: dict[str, Callable] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
}
_WRITES = ("store", "add_at")
_MOST_NODES = 300


class LoopKernel:
    """What the kernel of a loop computes, in the words that `KernelWriter` asks for: `inputs` are what carried values
    in registers begin with, what is given, and constants; `made` is what is in memory afterwards."""

    def __init__(self, node: Node, block: Block, constants: dict[Any, Any]):
        self.node, self.constants = node, constants
        self.count = int(node.args[0].value)  # type: ignore[union-attr]
        carried = node.params["carried"]
        self.counter, *params = block.params
        self.carried, self.given = params[:carried], params[carried:]
        self.after, self.collected = block.results[:carried], block.results[carried:]
        self.inside: dict[Any, Node] = {n.outs[0]: n for n in block.nodes}
        self.written = _written(self)
        """Carried arrays in memory, under all names that they have in an iteration: which of them each is."""
        pairs = zip(self.carried, self.after, strict=True)
        self.changed = [p for p, r in pairs if r is not p]
        """The others are handed on as they are."""
        self.in_registers = [p for p in self.changed if p not in self.written]
        values = [v for v in (*self.inside, *self.in_registers) if v not in self.written]
        self.shape: tuple[int, ...] = max(
            [lengths(v) for v in values], key=lambda s: (len(s), math.prod(s)), default=()
        )
        self.size = math.prod(self.shape)
        self.begins = [Var(p.type) for p in self.in_registers]
        """What these are before the first iteration."""
        used = {a for node in block.nodes for a in node.args}
        kept = [p for p in self.carried if p not in self.changed and p in used]
        self.inputs = [*self.begins, *self.given, *kept, *constants]
        self.made = [*self.changed, *self.collected]
        self.kernels: dict[Any, Any] = {}

    @staticmethod
    def of(node: Node, block: Block, constants: dict[Any, Any]) -> LoopKernel | None:
        """The kernel of a loop with this body and its constants in memory, `None` if threads cannot go through it by
        themselves."""
        if len(block.nodes) > _MOST_NODES or not _is_plain(node, block):
            return None
        found = LoopKernel(node, block, constants)
        return found if _goes_by_elements(found) else None

    def places(self) -> list[tuple[Any, int]]:
        """The integers that say where something is read or written, with the lengths of the axes."""
        found = []
        for node in self.inside.values():
            if node.op.name in ("index", *_WRITES):
                there = iter(_integers(node))
                for place, n in zip(place_in(node), lengths(node.args[0]), strict=True):
                    if place is ARRAY:
                        found.append((next(there), n))
        return found

    def are_inside(self, given: dict[Any, Any]) -> bool:
        """Whether all places are, with these integers given."""
        ends = [{**given, self.counter: k} for k in (0, self.count - 1)]
        return all(0 <= self._integer(a, known) < n for a, n in self.places() for known in ends)

    def _integer(self, a: Any, known: dict[Any, Any]) -> int:
        if a.__class__ is Const:
            return int(a.value)
        if a not in known:
            node = self.inside[a]
            known[a] = _STRAIGHT[node.op.name](*[self._integer(b, known) for b in node.args])
        return known[a]


# ------------------------------------------------------------------------------------------------- which loops are so


def _is_plain(node: Node, block: Block) -> bool:
    """Whether a loop has a known number of iterations, and its values known shapes."""
    if node.args[0].__class__ is not Const or int(node.args[0].value) < 1:
        return False
    if not all(len(n.outs) == 1 and not n.sizes and not n.blocks for n in block.nodes):
        return False
    values = [*block.params, *block.results, *[a for n in block.nodes for a in (*n.args, *n.outs)]]
    are_native = all(v.type.is_static and is_native(v.type.dtype) and 0 not in v.type.shape for v in values)
    return are_native and not any(is_count(r.type) for r in block.results)


def _written(loop: LoopKernel) -> dict[Any, Var]:
    found: dict[Any, Var] = {}
    for p, r in zip(loop.carried, loop.after, strict=True):
        names: list[Any] = [r]
        while names[-1] in loop.inside and loop.inside[names[-1]].op.name in _WRITES:
            names.append(loop.inside[names[-1]].args[0])
        if len(names) > 1 and names[-1] is p and not any(name in found for name in names):
            found.update(dict.fromkeys(names, p))
    return found


def _goes_by_elements(loop: LoopKernel) -> bool:
    """Whether no element needs those of other threads, and no array in memory is read after it was written over."""
    varying: set[Any] = set(loop.changed)
    """What depends on carried values. All else can be had at any place."""
    over: set[Any] = set()
    """Names of arrays in memory that have another name by now."""
    for v, node in loop.inside.items():
        if any(a in over for a in node.args) or not _is_for_one_thread(loop, node, varying):
            return False
        if v in loop.written:
            over.add(node.args[0])
        elif not _fits(v, loop.shape):
            return False
        if any(a in varying for a in node.args):
            varying.add(v)
    pairs = [(p, r) for p, r in zip(loop.carried, loop.after, strict=True) if p in loop.in_registers]
    results = [*[r for _, r in pairs], *loop.collected]
    if any(r in loop.written or not _fits(r, loop.shape) for r in results):
        return False
    return all(lengths(p) == lengths(r) for p, r in pairs)


def _is_for_one_thread(loop: LoopKernel, node: Node, varying: set[Any]) -> bool:
    """Whether a thread can compute its elements of a value by itself."""
    (v,) = node.outs
    in_memory = [k for k, a in enumerate(node.args) if a in loop.written]
    if is_count(v.type):
        factors = [a for a in node.args if _depends(loop, a)]
        return counts(node) and node.op.name in _STRAIGHT and (node.op.name != "multiply" or len(factors) < 2)
    if node.op.name in ("index", *_WRITES) and ARRAY in node.params["pattern"]:
        if not all(is_count(a.type) for a in _integers(node)) or None in node.params["pattern"]:
            return False
        if not all(p is ARRAY or p.__class__ in (slice, int) for p in place_in(node)):
            return False
        if not in_memory:
            return node.op.name == "index" and node.args[0] not in varying
        is_known = v in loop.written or node.op.name == "index"
        return is_known and in_memory == [0] and _is_own_place(node, loop.shape)
    if in_memory:
        return False
    if can_be_moved(node):
        return not any(a in varying for a in node.args)
    return node.op.elementwise and can_be_written(node)


def _integers(node: Node) -> Sequence[Any]:
    """The computed integers of a place."""
    return node.args[2:] if node.op.name in _WRITES else node.args[1:]


def _depends(loop: LoopKernel, a: Any) -> bool:
    """Whether an integer depends on the counter."""
    return a is loop.counter or (a in loop.inside and any(_depends(loop, b) for b in loop.inside[a].args))


def _is_own_place(node: Node, shape: tuple[int, ...]) -> bool:
    """Whether integers come first in a place, and what is behind it has an element for each thread."""
    place = place_in(node)
    behind = [n for n, p in zip(lengths(node.args[0]), place, strict=True) if p.__class__ is slice]
    are_last = all(p == slice(None) for p in place[len(place) - len(behind) :])
    return are_last and all(p is ARRAY or p.__class__ is int for p in place[: len(place) - len(behind)]) and (
        tuple(behind) == shape
    )  # fmt: skip


def _fits(v: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is broadcast to a shape."""
    own = lengths(v)
    padded = (1,) * (len(shape) - len(own)) + own
    return len(padded) == len(shape) and all(n in (1, m) for n, m in zip(padded, shape, strict=True))


# ------------------------------------------------------------------------------------------------------- the kernel


def write_loop(loop: LoopKernel, layouts: Sequence[OperandLayout], name: str) -> str:
    """The kernel. Its parameters are the inputs, and where carried values and what is collected go."""
    k = KernelWriter(loop, layouts, name)
    b, es, number = k.b, k.elements, k.kind
    outs = dict(zip(loop.changed, k.outs, strict=False))
    es.inside = {v: node for v, node in loop.inside.items() if v not in loop.written}
    for v, p in loop.written.items():
        es.places[v] = outs[p], OperandLayout(p.type.dtype, contiguous(lengths(p)))
    entry, each, head, leave, end = b.block, *[b.append_basic_block(n) for n in ("each", "head", "leave", "end")]
    first, step, size = k.small(b.call(k.thread, [])), k.small(b.call(k.threads, [])), number(loop.size)
    b.cbranch(b.icmp_unsigned("<", first, size), each, end)
    b.position_at_end(each)
    i = b.phi(number)
    i.add_incoming(first, entry)
    with es.scope():
        own = es.coordinates(i, loop.shape)
        kept = (*loop.in_registers, *loop.collected)
        offsets = {v: es.offset(fitted(own, v.type.shape), contiguous(lengths(v))) for v in kept}
        start = [flat(es.at(a, fitted(own, a.type.shape))) for a in loop.begins]
        before = b.block
        b.branch(head)
        b.position_at_end(head)
        iteration = b.phi(I64)
        now = [[b.phi(x.type) for x in parts] for parts in start]
        with es.scope():
            es.numbers[loop.counter] = iteration
            for p, phis in zip(loop.in_registers, now, strict=True):
                es.say((p, fitted(own, p.type.shape)), gathered(phis, p.type.dtype))
            _write_iteration(k, loop, own)
            for y, out in zip(loop.collected, k.outs[len(loop.changed) :], strict=True):
                place = b.add(b.mul(iteration, I64(math.prod(lengths(y)))), offsets[y])
                store_element(b, es.at(y, fitted(own, y.type.shape)), out, place, y.type.dtype)
            new = [
                flat(convert(k.cx, es.at(r, fitted(own, r.type.shape)), r.type.dtype, p.type.dtype))
                for p, r in zip(loop.carried, loop.after, strict=True)
                if p in loop.in_registers
            ]
        following = b.add(iteration, I64(1))
        for phi, x, y in [(iteration, I64(0), following), *_each(now, start, new)]:
            phi.add_incoming(x, before)
            phi.add_incoming(y, b.block)
        b.cbranch(b.icmp_unsigned("<", following, I64(loop.count)), head, leave)
        b.position_at_end(leave)
        for p, parts in zip(loop.in_registers, new, strict=True):
            store_element(b, gathered(parts, p.type.dtype), outs[p], offsets[p], p.type.dtype)
    further = b.add(i, step)
    i.add_incoming(further, b.block)
    b.cbranch(b.icmp_unsigned("<", further, size), each, end)
    b.position_at_end(end)
    b.ret_void()
    return str(k.module)


def _each(*groups: Sequence[Sequence[ir.Value]]) -> list[tuple[ir.Value, ...]]:
    return [parts for several in zip(*groups, strict=True) for parts in zip(*several, strict=True)]


def _write_iteration(k: KernelWriter, loop: LoopKernel, own: Coordinates) -> None:
    """The values of an iteration: all together, or in the program's order where arrays in memory are written."""
    es, b = k.elements, k.b
    if not loop.written:
        es.know([(v, fitted(own, v.type.shape)) for v in (*loop.after, *loop.collected) if v in es.inside])
        return
    for v, node in loop.inside.items():
        if v in es.inside:
            es.at(v, fitted(own, v.type.shape))
            continue
        (pointer, layout), value = es.places[v], node.args[1]
        place = es.offset(es.coordinates_at(node, _integers(node), own), layout.strides or ())
        x = convert(k.cx, es.at(value, fitted(own, value.type.shape)), value.type.dtype, layout.dtype)
        if node.op.name == "add_at":
            x = combined(k.cx, node, load_element(b, pointer, place, layout.dtype), x, "add")
        store_element(b, x, pointer, place, layout.dtype)


# ------------------------------------------------------------------------------------------------------ the launch


def run_loop_kernel(loop: LoopKernel, values: dict, device: Any) -> bool:
    """Run a loop by its kernel; whether that was possible."""
    _, *args = [value_of(a, values) for a in loop.node.args]
    begun = dict(zip([*loop.carried, *loop.given], args, strict=True))
    begun.update({a: begun[p] for a, p in zip(loop.begins, loop.in_registers, strict=True)})
    integers = {p: begun[p] for p in loop.given if is_count(p.type)}
    if not all(n.__class__ in (int, bool) for n in integers.values()) or not loop.are_inside(integers):
        return False
    operands = [operand_of(begun[a] if a in begun else loop.constants[a]) for a in loop.inputs]
    key = tuple([key_of(x) for x in operands])
    kernel = loop.kernels.get(key)
    if kernel is None:
        text = write_loop(loop, [layout_of(x) for x in operands], "wg_kernel")
        kernel = loop.kernels[key] = device.load(text, "wg_kernel")
    made = {p: device.empty(p.type.shape, p.type.dtype) for p in loop.changed}
    for p, y in made.items():
        if p in loop.written:
            device.store(y, begun[p])
    stacks = [device.empty((loop.count, *y.type.shape), y.type.dtype) for y in loop.collected]
    threads = min(loop.size, device.width * device.blocks * WAVES)
    device.start(kernel, threads, [*[argument_of(x) for x in operands], *made.values(), *stacks])
    finals = [made[p] if p in made else begun[p] for p in loop.carried]
    values.update(zip(loop.node.outs, [*finals, *stacks], strict=True))
    return True
