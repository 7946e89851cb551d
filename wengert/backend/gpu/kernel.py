"""One kernel for a region, in LLVM's language.

Thread t of T computes the elements t, t + T, t + 2T, … of the region's shape, counted in C order. Operands are read
where they lie: at the same place, at one place for all, or by strides, which are constants of the kernel. The scalar
code of an op is its `impl`, run on lanes, as on the CPU (`llvm/scalars`); elementary functions are those of `math.py`.

A reduction leaves one number for each thread. Further kernels of the same kind reduce these, to 64 times fewer each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.gpu.math import math_call
from wengert.backend.llvm.arrays.buffer import I64, POINTER, VOID, is_native, load_element, register_type, store_element
from wengert.backend.llvm.scalars.emit import _Use
from wengert.backend.llvm.scalars.lane import Unsupported
from wengert.backend.llvm.scalars.values import constant, convert, known_number
from wengert.ir.node import Const, Node
from wengert.ops.op import TABLE
from wengert.ops.reduce import weighted_sum
from wengert.types import SCALARS

COPIES = frozenset(("broadcast_to", "copy"))
"""Ops that give the elements of their operand, in a kernel."""


class OperandLayout(NamedTuple):
    """How an operand lies: its dtype, and how many elements apart neighbours along each axis of the region are; `None`
    for a number that is passed itself."""

    dtype: np.dtype
    strides: tuple[int, ...] | None
    weak: bool = False


def is_number(a: Any) -> bool:
    """Whether an operand is a number that is known now."""
    return a.__class__ is Const and not a.type.shape


def reduces_all(node: Node) -> bool:
    """Whether a node reduces whole arrays."""
    combine = node.op.combine
    if combine is None or not (TABLE[combine].reduction == node.op.name or node.op is weighted_sum):
        return False
    axis = node.params.get("axis")
    shapes = {tuple(a.type.shape) for a in node.args}
    return len(shapes) == 1 and shapes != {()} and (axis is None or len(axis) == node.args[0].type.ndim)


# ------------------------------------------------------------------------------------------------------ scalar code


class KernelContext:
    """What the rules of lanes need, for a kernel being written."""

    def __init__(self, module: ir.Module, function: ir.Function):
        self.module, self.function = module, function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.long_calls = 0
        self.addresses: dict[str, int] = {}

    def device_math(self, name: str, *values: ir.Value) -> ir.Value:
        y = math_call(self, name, *values)
        if y is None:
            raise Unsupported(f"no {name} on this device")
        return y

    def fail_if(self, *args: Any) -> None:
        raise Unsupported("a kernel cannot fail")

    def declare(self, name: str, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported(f"{name} is not on this device")


def _written(cx: KernelContext, node: Node, values: Sequence[Any]) -> Any:
    """The scalar code of a node."""
    dtypes = [a.type.dtype for a in node.args]
    out = node.outs[0].type.dtype
    if node.op.name in COPIES:
        return convert(cx, values[0], dtypes[0], out)
    known = [known_number(v, d) for v, d in zip(values, dtypes, strict=True)]
    return _Use(node.op.name, node.params, out, dtypes, [a.type.weak for a in node.args], known).write(cx, values)


_can: dict[Any, bool] = {}


def can_be_written(node: Node) -> bool:
    """Whether there is scalar code for a node."""
    types = [*[a.type for a in node.args], node.outs[0].type]
    if not all(is_native(t.dtype) for t in types):
        return False
    if node.op.name in COPIES:
        return True
    if reduces_all(node):
        return types[-1].dtype.kind != "c" or node.op.combine in ("add", "multiply")
    if not node.op.elementwise:
        return False
    numbers = [getattr(a, "value", None) if is_number(a) else None for a in node.args]
    key = repr((node.op.name, sorted(node.params.items()), [(t.dtype.str, t.weak) for t in types], numbers))
    if key not in _can:
        if len(_can) > 10_000:
            _can.clear()
        module = ir.Module()
        cx = KernelContext(module, ir.Function(module, ir.FunctionType(VOID, []), "trial"))
        try:
            _written(cx, node, [_some(cx, a) for a in node.args])
        except Exception:  # whatever it is, the library will raise it if it is an error
            _can[key] = False
        else:
            _can[key] = True
    return _can[key]


def _some(cx: KernelContext, a: Any) -> Any:
    if is_number(a):
        return constant(_item(a.value), a.type.dtype)
    place = cx.builder.alloca(ir.IntType(128))
    place.type = POINTER
    return load_element(cx.builder, place, I64(0), a.type.dtype)


def _item(value: Any) -> Any:
    return value if value.__class__ in SCALARS else np.asarray(value).item()


# ----------------------------------------------------------------------------------------------------------- kernels


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order; along axes of length one they are zero."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(strides))


class _Places:
    """Where the operands of element i of a shape lie."""

    def __init__(self, b: ir.IRBuilder, i: ir.Value, shape: tuple[int, ...]):
        self._b, self._i, self._shape = b, i, shape
        self._known: dict[tuple[int, ...], ir.Value] = {contiguous(shape): i, (0,) * len(shape): I64(0)}
        self._coordinates: list[Any] | None = None

    def offset(self, strides: tuple[int, ...]) -> ir.Value:
        if strides not in self._known:
            b, total = self._b, I64(0)
            for k, step in zip(self._all_coordinates(), strides, strict=True):
                if step:
                    total = b.add(total, b.mul(k, I64(step)))
            self._known[strides] = total
        return self._known[strides]

    def _all_coordinates(self) -> list[Any]:
        if self._coordinates is None:
            rest, found = self._i, []
            for n in reversed(self._shape):
                found.append(self._b.urem(rest, I64(n)))
                rest = self._b.udiv(rest, I64(n))
            self._coordinates = found[::-1]
        return self._coordinates


def write_kernel(region: Any, layouts: Sequence[OperandLayout], name: str) -> str:
    """The kernel of a region, for operands that lie so. Its parameters are the inputs, the outputs, and for each
    reduction where the numbers of the threads go."""
    module = ir.Module(name)
    thread, threads = [ir.Function(module, ir.FunctionType(I64, []), f"wg_{n}") for n in ("thread", "threads")]
    passed = [POINTER if y.strides is not None else _by_value(y.dtype) for y in layouts]
    outs = [POINTER] * (len(region.outputs) + len(region.reductions))
    function = ir.Function(module, ir.FunctionType(VOID, [*passed, *outs]), name)
    function.calling_convention = "ptx_kernel"
    for argument in function.args:
        if argument.type == POINTER:
            argument.add_attribute("noalias")
    cx = KernelContext(module, function)
    b = cx.builder
    entry, loop, done, end = b.block, *[b.append_basic_block(n) for n in ("loop", "done", "end")]
    first, step = b.call(thread, []), b.call(threads, [])
    b.cbranch(b.icmp_unsigned("<", first, I64(region.size)), loop, end)
    b.position_at_end(loop)
    i = b.phi(I64)
    i.add_incoming(first, entry)
    partial = [b.phi(t) for node in region.reductions for t in _parts(node.outs[0].type.dtype)]
    places = _Places(b, i, region.shape)
    values: dict[Any, Any] = {}
    for a, layout, argument in zip(region.inputs, layouts, function.args, strict=False):
        if layout.strides is None:
            values[a] = _received(cx, argument, a.type.dtype)
        else:
            values[a] = load_element(b, argument, places.offset(layout.strides), layout.dtype)

    def value(a: Any) -> Any:
        return constant(_item(a.value), a.type.dtype) if is_number(a) else values[a]

    for node in region.nodes:
        values[node.outs[0]] = _written(cx, node, [value(a) for a in node.args])
    for out, argument in zip(region.outputs, function.args[len(layouts) :], strict=False):
        store_element(b, values[out], argument, i, out.type.dtype)
    totals: list[Any] = []
    is_first = b.icmp_unsigned("==", i, first)
    before = iter(partial)
    for node in region.reductions:
        dtype = node.outs[0].type.dtype
        x = _combined_element(cx, node, [value(a) for a in node.args])
        old = _gathered([next(before) for _ in _parts(dtype)], dtype)
        new = _Use(str(node.op.combine), {}, dtype, [dtype] * 2, [False] * 2, [None] * 2).write(cx, [old, x])
        totals += [b.select(is_first, p, q) for p, q in zip(_flat(x), _flat(new), strict=True)]
    after = b.add(i, step)
    i.add_incoming(after, b.block)
    for phi, total in zip(partial, totals, strict=True):
        phi.add_incoming(ir.Constant(phi.type, ir.Undefined), entry)
        phi.add_incoming(total, b.block)
    b.cbranch(b.icmp_unsigned("<", after, I64(region.size)), loop, done)
    b.position_at_end(done)
    remaining = iter(totals)
    for node, argument in zip(region.reductions, function.args[len(layouts) + len(region.outputs) :], strict=True):
        dtype = node.outs[0].type.dtype
        store_element(b, _gathered([next(remaining) for _ in _parts(dtype)], dtype), argument, first, dtype)
    b.branch(end)
    b.position_at_end(end)
    b.ret_void()
    return str(module)


def _by_value(dtype: np.dtype) -> ir.Type:
    return I64 if dtype.kind in "biu" else ir.DoubleType()


def _received(cx: KernelContext, argument: ir.Value, dtype: np.dtype) -> Any:
    """A number that was passed, as 64 bits."""
    return convert(cx, argument, np.dtype(np.int64 if argument.type == I64 else np.float64), dtype)


def _combined_element(cx: KernelContext, node: Node, values: Sequence[Any]) -> Any:
    """What a reduction combines: the element, or the product of two, in the dtype of the result."""
    dtype = node.outs[0].type.dtype
    parts = [convert(cx, v, a.type.dtype, dtype) for v, a in zip(values, node.args, strict=True)]
    if len(parts) == 1:
        return parts[0]
    return _Use("multiply", {}, dtype, [dtype] * 2, [False] * 2, [None] * 2).write(cx, parts)


def _parts(dtype: np.dtype) -> list[ir.Type]:
    return [register_type(dtype)] * (2 if dtype.kind == "c" else 1)


def _gathered(parts: list[Any], dtype: np.dtype) -> Any:
    if dtype.kind != "c":
        return parts[0]
    whole = constant(0j, dtype)
    return whole._replace(re=parts[0], im=parts[1])


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]
