"""Programs that run as native code: `compile_program`, and the callable it returns.

This is the plain way to call a kernel, by `ctypes`; it converts arguments that are not as the kernel wants them.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.llvm.cache.kept import kept_object
from wengert.backend.llvm.calls import faults
from wengert.backend.llvm.calls.callback import Callback
from wengert.backend.llvm.calls.interface import Interface, dynamic_axes
from wengert.backend.llvm.calls.objects import builtin
from wengert.backend.llvm.calls.ways import Signature, ways
from wengert.backend.llvm.kernel import write_kernel
from wengert.backend.llvm.machine import objects
from wengert.backend.llvm.machine.engine import MachineCode, Object, OptimisedModule
from wengert.backend.llvm.threads import threads
from wengert.backend.llvm.threads.sharing import HOOK
from wengert.ir.node import Program, Type

_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None


def compile_program(program: Program) -> Native:
    """The program as native code."""
    return Native(program.name, compiled(program))


class Compiled(NamedTuple):
    """All that a program is in the end: object code, its own and that of the ways to call it, what Python must know to
    do so, large constants, and ways back to Python."""

    object: Object
    ways: Object
    interface: Interface
    constants: dict[str, np.ndarray]
    callbacks: list[Callback]


@functools.lru_cache(maxsize=256)
def _ways_to_call(signature: Signature) -> Object:
    """The object code by which Python calls kernels of a signature. Optimising it takes as long as many a small program
    needs in all, and saves 4 ns an argument."""
    return kept_object(f"ways {signature}", lambda: OptimisedModule(ways(signature), level=0).object())


def compiled(program: Program) -> Compiled:
    """A program compiled, but not yet loaded."""
    kernel = write_kernel(program)
    called_by = _ways_to_call(kernel.signature)
    return Compiled(objects.object_code(kernel.text), called_by, kernel.interface, kernel.constants, kernel.callbacks)


class Native:
    """A compiled program: call it with the values of the program's inputs to get the list of its results.

    `enter` is what a call comes to: a builtin function where there is a quick way (`entry.py`). Those who call often
    may keep it; it holds all it needs. `orders` are the dtypes of results whose bytes are to be in another order than
    this machine's (None for the others).
    """

    def __init__(self, name: str, compiled: Compiled, orders: Sequence[np.dtype | None] | None = None):
        self.name = name
        self.report = compiled.interface.report
        self.has_entry = compiled.interface.has_entry and orders is None
        """Whether `enter` looks at the types of its arguments, and hands on those that are not as the kernel wants."""
        self._plain = _Plain(name, compiled)
        self.enter = self._plain.entry() if orders is None else functools.partial(_swapped, self._plain.call, orders)

    def __repr__(self) -> str:
        return f"<native {self.name}>"

    def __call__(self, *args: Any) -> list[Any]:
        return self.enter(*args)

    @property
    def take(self) -> int:
        """The address of the function that takes arguments one by one, where there is an entry (`entry.py`)."""
        return self._plain.code.address("take")


class _Plain:
    """The code of a program and the plain way to call it."""

    def __init__(self, name: str, compiled: Compiled):
        self.name = name
        self.interface = compiled.interface
        self.kept = compiled.constants, compiled.callbacks
        addresses: dict[str, Any] = {name: data.ctypes.data for name, data in compiled.constants.items()}
        for number, callback in enumerate(compiled.callbacks):
            addresses |= callback.addresses(number)
        if self.interface.has_entry:
            # Functions, not methods: the entry must not be what keeps this object alive.
            self._fallbacks = _fallbacks(weakref.ref(self))
            addresses["wg_plain"], addresses["wg_fail"] = map(id, self._fallbacks)
        if HOOK in compiled.object.symbols:
            threads.prepare()
        self.code = MachineCode((compiled.object, compiled.ways), addresses)
        self._call = _CALL(self.code.address("call"))
        self.methods: list[Any] = []

    def entry(self) -> Any:
        if not self.interface.has_entry:
            return self.call
        return builtin(self.code.address("enter"), self.name, self, self)

    def fail(self, address: int) -> None:
        """Raise what the fault record at an address says, whose first word is the status."""
        words = list((ctypes.c_int64 * (1 + faults.RECORD)).from_address(address))
        raise faults.exception_for(words[0], self.interface.faults, words[1:])

    def call(self, *args: Any) -> list[Any]:
        interface = self.interface
        if len(args) != len(interface.inputs):
            raise TypeError(f"{self.name} takes {len(interface.inputs)} arguments, not {len(args)}")
        table: list[int] = []
        alive: list[Any] = []
        for k, (arg, type) in enumerate(zip(args, interface.inputs, strict=True)):
            array = _as_argument(arg, type, k)
            alive.append(array)
            table.append(array.__array_interface__["data"][0])
            for axis in dynamic_axes(type):
                length = ctypes.c_int64(array.shape[axis])
                alive.append(length)
                table.append(ctypes.addressof(length))
        outputs: list[Any] = []
        for type in interface.outputs:
            if type.is_static:
                out: Any = np.empty(type.shape, type.dtype)
                table.append(out.__array_interface__["data"][0])
            else:
                out = (ctypes.c_int64 * (1 + len(dynamic_axes(type))))()
                table.append(ctypes.addressof(out))
            outputs.append(out)
        pointers = (ctypes.c_void_p * max(len(table), 1))(*table)
        record = (ctypes.c_int64 * faults.RECORD)()
        status = self._call(ctypes.addressof(record), ctypes.addressof(pointers))
        results = [
            out if isinstance(out, np.ndarray) else _received(out, type)
            for out, type in zip(outputs, interface.outputs, strict=True)
        ]
        if status != faults.OK:
            raise faults.exception_for(status, interface.faults, list(record))
        return [out[()] if not out.ndim else out for out in results]


def _swapped(call: Callable[..., list[Any]], orders: Sequence[np.dtype | None], *args: Any) -> list[Any]:
    return [r if order is None else r.astype(order) for r, order in zip(call(*args), orders, strict=True)]


def _fallbacks(plain: Any) -> tuple[Any, Any]:
    return (lambda *args: plain().call(*args)), (lambda address: plain().fail(address))


def _as_argument(arg: Any, type: Type, k: int) -> np.ndarray:
    """An argument as the kernel wants it: C-contiguous, aligned, in native byte order."""
    array = np.asarray(arg)
    if array.dtype.newbyteorder("=") != type.dtype:
        if type.shape or not np.can_cast(array.dtype, type.dtype, "same_kind"):
            raise TypeError(f"argument {k} has dtype {array.dtype}, not {type.dtype}")
        array = type.dtype.type(arg) if isinstance(arg, int) else array.astype(type.dtype)  # which may overflow
        array = np.asarray(array)
    if array.ndim != type.ndim or any(
        n != m if isinstance(n, int) else n.bound is not None and m > n.bound
        for n, m in zip(type.shape, array.shape, strict=True)
    ):
        raise ValueError(f"argument {k} has shape {array.shape}, not {type}")
    return np.require(array, type.dtype.newbyteorder("="), ["C", "A"])


def _received(descriptor: Any, type: Type) -> Any:
    """The array of a descriptor, whose memory is freed."""
    if not descriptor[0]:
        return None
    lengths = iter(list(descriptor)[1:])
    shape = [n if isinstance(n, int) else next(lengths) for n in type.shape]
    out = np.empty(shape, type.dtype)
    ctypes.memmove(out.ctypes.data, descriptor[0], out.nbytes)
    _free(descriptor[0])
    return out
