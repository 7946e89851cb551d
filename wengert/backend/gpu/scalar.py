"""The scalar code of an op, for kernels: its `impl`, run on lanes, as on the CPU (`llvm/scalars`), with the elementary
functions of `math.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.gpu.math import is_known, math_call, quotient, usual_quotient, usual_root
from wengert.backend.llvm.arrays.buffer import F32, F64, I64, POINTER, VOID, is_native, load_element, register_type
from wengert.backend.llvm.scalars.emit import _Use
from wengert.backend.llvm.scalars.lane import Unsupported
from wengert.backend.llvm.scalars.values import constant, known_number
from wengert.ir.node import Const, Node
from wengert.ops.elementwise import divide, reciprocal, sech_squared, sqrt
from wengert.ops.op import TABLE
from wengert.ops.reduce import weighted_sum
from wengert.types import SCALARS


def is_number(a: Any) -> bool:
    """Whether an operand is a number that is known now."""
    return a.__class__ is Const and not a.type.shape


def lengths(a: Any) -> tuple[int, ...]:
    """The shape of an operand, where it is known."""
    return tuple(a.type.shape)


def reduces(node: Node) -> bool:
    """Whether a node combines elements along axes, of arrays of one shape."""
    combine = node.op.combine
    if combine is None or not (TABLE[combine].reduction == node.op.name or node.op is weighted_sum):
        return False
    shapes = {tuple(a.type.shape) for a in node.args}
    if len(shapes) != 1 or shapes == {()} or node.params.get("axis") == ():
        return False
    return node.outs[0].type.dtype.kind != "c" or combine in ("add", "multiply")


class KernelContext:
    """What the rules of lanes need, for a kernel being written."""

    def __init__(self, module: ir.Module, function: ir.Function):
        self.module, self.function = module, function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.long_calls = 0
        self.addresses: dict[str, int] = {}
        self.divisors: set[Any] = set()
        """Values that several nodes divide by."""
        self.doubts: list[ir.Value] | None = None
        """While code is written that is right for usual numbers only: what would make a number unusual."""
        self.inverse_roots: dict[ir.Value, Any] = {}
        """Of roots in such code."""

    def device_math(self, name: str, *values: ir.Value) -> ir.Value:
        y = math_call(self, name, *values)
        if y is None:
            raise Unsupported(f"no {name} on this device")
        return y

    def fail_if(self, *args: Any) -> None:
        raise Unsupported("a kernel cannot fail")

    def declare(self, name: str, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported(f"{name} is not on this device")


class _Trial(KernelContext):
    """A kernel that nobody runs: elementary functions need not be written, which takes long."""

    def device_math(self, name: str, *values: ir.Value) -> ir.Value:
        if not is_known(name, values[0].type):
            raise Unsupported(f"no {name} on this device")
        return ir.Constant(values[0].type, ir.Undefined)


def written(cx: KernelContext, node: Node, values: Sequence[Any]) -> Any:
    """The scalar code of a node."""
    if node.op is sech_squared and values[0].type in (F32, F64):
        return cx.device_math(node.op.name, values[0])  # together with tanh, of which it is the derivative
    if cx.doubts is not None and node.op in (divide, reciprocal, sqrt) and values[-1].type == F64:
        x, y = values if node.op is divide else (F64(1.0), *values)
        if node.op is sqrt:
            return usual_root(cx, y)
        if isinstance(x, ir.Constant):
            x = F64(float(x.constant))
        if x.type == F64 and not isinstance(y, ir.Constant):
            return usual_quotient(cx, x, y)
    if node.op is divide and node.args[1] in cx.divisors and all(v.type == F64 for v in values):
        return quotient(cx, *values)
    dtypes = [a.type.dtype for a in node.args]
    out = node.outs[0].type.dtype
    known = [known_number(v, d) for v, d in zip(values, dtypes, strict=True)]
    return _Use(node.op.name, node.params, out, dtypes, [a.type.weak for a in node.args], known).write(cx, values)


def divisors_of_several(nodes: Iterable[Node]) -> set[Any]:
    """Values, other than constants, that several of these nodes divide by."""
    counts = Counter(node.args[1] for node in nodes if node.op is divide and node.args[1].__class__ is not Const)
    return {a for a, count in counts.items() if count > 1}


_can: dict[Any, bool] = {}


def can_be_written(node: Node) -> bool:
    """Whether there is scalar code for a node."""
    types = [*[a.type for a in node.args], node.outs[0].type]
    if not all(is_native(t.dtype) for t in types):
        return False
    if not node.op.elementwise:
        return reduces(node)
    numbers = [getattr(a, "value", None) if is_number(a) else None for a in node.args]
    key = repr((node.op.name, sorted(node.params.items()), [(t.dtype.str, t.weak) for t in types], numbers))
    if key not in _can:
        if len(_can) > 10_000:
            _can.clear()
        module = ir.Module()
        cx = _Trial(module, ir.Function(module, ir.FunctionType(VOID, []), "trial"))
        try:
            written(cx, node, [_some(cx, a) for a in node.args])
        except Exception:  # whatever it is, the library will raise it if it is an error
            _can[key] = False
        else:
            _can[key] = True
    return _can[key]


def _some(cx: KernelContext, a: Any) -> Any:
    if is_number(a):
        return constant(item(a.value), a.type.dtype)
    place = cx.builder.alloca(ir.IntType(128))
    place.type = POINTER
    return load_element(cx.builder, place, I64(0), a.type.dtype)


def item(value: Any) -> Any:
    return value if value.__class__ in SCALARS else np.asarray(value).item()


def combined(cx: KernelContext, node: Node, p: Any, q: Any, name: str | None = None) -> Any:
    """Two numbers of the dtype of a reduction, combined."""
    dtype = node.outs[0].type.dtype
    return _Use(name or str(node.op.combine), {}, dtype, [dtype] * 2, [False] * 2, [None] * 2).write(cx, [p, q])


def parts_of(dtype: np.dtype) -> list[ir.Type]:
    """The registers of a number."""
    return [register_type(dtype)] * (2 if dtype.kind == "c" else 1)


def gathered(parts: Sequence[Any], dtype: np.dtype) -> Any:
    """A number from its registers."""
    return parts[0] if dtype.kind != "c" else constant(0j, dtype)._replace(re=parts[0], im=parts[1])


def flat(value: Any) -> list[Any]:
    """The registers of a number."""
    return list(value) if isinstance(value, tuple) else [value]
