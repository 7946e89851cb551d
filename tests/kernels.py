"""What tests of the native backend share: small kernels, written by a test, compiled, and called with arrays.

A kernel has any number of pointers to arrays and one length. Its faults become exceptions, as in the backend.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, load_element, store_element
from wengert.backend.llvm.calls import faults
from wengert.backend.llvm.context import Context
from wengert.ops.op import TABLE

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


class Kernel:
    """Compiled code, and what it needs to stay alive."""

    def __init__(self, write: Callable[[Context, Sequence[ir.Value], ir.Value], None], pointers: int, speed: int = 3):
        module = ir.Module()
        module.triple = llvm.get_default_triple()
        function = ir.Function(module, ir.FunctionType(I32, [POINTER] * (pointers + 1) + [I64]), "kernel")
        cx = Context(module, function, function.args[0])
        for argument in function.args[:-1]:
            argument.add_attribute("noalias")
        write(cx, function.args[1:-1], function.args[-1])
        cx.finish()
        self.source = str(module)
        parsed = llvm.parse_assembly(self.source)
        parsed.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(
            opt=speed, cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
        )
        options = llvm.create_pipeline_tuning_options(speed_level=speed)
        options.loop_vectorization = options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(parsed, builder)
        self.optimised = str(parsed)
        self.engine = llvm.create_mcjit_compiler(parsed, machine)
        # Callbacks of different kernels have the same names: addresses are told to the engine, not to the process.
        addresses = dict(cx.addresses)
        for number, callback in enumerate(cx.callbacks):
            addresses |= callback.addresses(number)
        for value in [*parsed.functions, *parsed.global_variables]:
            if value.is_declaration and value.name in addresses:
                self.engine.add_global_mapping(value, addresses[value.name])
        self.engine.finalize_object()
        self.cx = cx
        types = [ctypes.c_void_p] * (pointers + 1) + [ctypes.c_int64]
        self.native = ctypes.PYFUNCTYPE(ctypes.c_int, *types)(self.engine.get_function_address("kernel"))

    def __call__(self, arrays: Sequence[np.ndarray], n: int = 0) -> None:
        record = (ctypes.c_int64 * faults.RECORD)()
        status = self.native(ctypes.addressof(record), *[a.ctypes.data for a in arrays], n)
        if status == faults.RAISED:
            raise faults.take()
        if status != faults.OK:
            raise self.cx.faults[status - faults.FIRST].exception(tuple(record[: faults.HOLES]))


_kernels: dict[str, Kernel | None] = {}
_MOST = 50
"""So many of the last kernels are kept: each takes a megabyte."""


def scalar_kernel(name: str, params: dict, out: np.dtype, dtypes: Any, weak: Any, constants: Any) -> Kernel | None:
    """A loop over the elements of arrays with the scalar code of an op, `None` if there is none."""
    key = repr((name, params, out, dtypes, weak, [(c.__class__, c) for c in constants]))
    if key in _kernels:
        return _kernels[key]
    missing = []

    def write(cx: Context, pointers: Sequence[ir.Value], n: ir.Value) -> None:
        with cx.loop(n) as i:
            values = [
                load_element(cx.builder, p, i, d) if c is None else scalars.constant(c, d)
                for p, d, c in zip(pointers, dtypes, constants, strict=False)
            ]
            y = scalars.emit(cx, name, params, out, values, dtypes, weak)
            if y is NotImplemented:
                missing.append(name)
            else:
                store_element(cx.builder, y, pointers[-1], i, out)

    kernel = Kernel(write, len(dtypes) + 1)
    _kernels[key] = None if missing else kernel
    if len(_kernels) > _MOST:
        del _kernels[next(iter(_kernels))]
    return None if missing else kernel


PYTHON = {float: np.dtype(np.float64), int: np.dtype(np.int64), complex: np.dtype(np.complex128), bool: np.dtype(bool)}


def expected(name: str, args: Sequence[Any], params: dict) -> Any:
    """What the op itself gives."""
    with np.errstate(all="ignore"):
        return np.asarray(TABLE[name].impl(*args, **params))


def natively(name: str, args: Sequence[Any], params: dict, out: np.dtype, constant: bool = True) -> np.ndarray | None:
    """The same op by scalar code, element by element; `None` if it has none. Python numbers are weak constants."""
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    dtypes = [PYTHON.get(a.__class__) or np.asarray(a).dtype for a in args]
    weak = [a.__class__ in PYTHON for a in args]
    arrays = [np.ascontiguousarray(np.broadcast_to(np.asarray(a, d), shape)) for a, d in zip(args, dtypes, strict=True)]
    constants = [a if w and constant else None for a, w in zip(args, weak, strict=True)]
    kernel = scalar_kernel(name, params, out, dtypes, weak, constants)
    if kernel is None:
        return None
    result = np.empty(shape, out)
    kernel([*arrays, result], result.size)
    return result
