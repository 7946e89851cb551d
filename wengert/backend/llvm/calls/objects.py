"""Writing functions that read the objects of CPython and NumPy: where their fields lie, and how they are found.

`PyArrayObject`, and Python's and NumPy's scalars, have had these layouts since NumPy 1.0; lists, dicts and tuples since
Python 3.0, but for what stands before the items of a tuple, which Python itself says. Builds of CPython without a GIL
have other object heads; there, and in everything that is not CPython with 64 bits, no such function is written.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import Any

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, VOID

IS_POSSIBLE = (
    sys.implementation.name == "cpython"
    and ctypes.sizeof(ctypes.c_void_p) == 8
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)

TYPE, SIZE = 8, 16
"""Of any object its type; of a tuple, list or dict how many items it has."""
DATA, NDIM, LENGTHS, STRIDES, DESCR, FLAGS = 16, 24, 32, 40, 56, 64
"""Of an array its data, rank, lengths, strides, dtype and flags."""
VALUE = 16
"""Of a scalar."""
TUPLE_ITEMS, LIST_ITEMS, BYTES = tuple.__basicsize__, 24, bytes.__basicsize__ - 1
"""Where the items of a tuple, a pointer to those of a list, and the bytes of a bytes object begin."""

GOOD = 0x0001 | 0x0100
"""NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED."""

DONE, UNUSUAL, RAISED = 0, 1, 2
"""How a call went: the results are there; the arguments are not for the quick way; a Python exception is set."""

_METH_FASTCALL, _METH_KEYWORDS = 0x0080, 0x0002


class ObjectWriter:
    """Writes functions, one after the other, into a module."""

    def __init__(self, module: ir.Module):
        self.module = module

    def begin(self, name: str, result: ir.Type, arguments: list[ir.Type], is_inner: bool = True) -> ir.Function:
        """A new function: `b` writes it, `top` what is done once at its start; `slow` is a block to fill in the end."""
        function = self.function = ir.Function(self.module, ir.FunctionType(result, arguments), name)
        if is_inner:
            function.linkage = "internal"
            function.attributes.add("noinline")
        self.top = ir.IRBuilder(function.append_basic_block("entry"))
        start = function.append_basic_block("start")
        self.top.position_before(self.top.branch(start))
        self.b = ir.IRBuilder(start)
        self.slow = function.append_basic_block("slow")
        return function

    def stack(self, type: ir.Type, count: int) -> ir.Value:
        place = self.top.alloca(type, size=I32(count))
        place.type = POINTER
        place.align = 16
        return place

    def at(self, pointer: ir.Value, offset: int) -> ir.Value:
        return self.b.gep(pointer, [I64(offset)], source_etype=I8)

    def field(self, pointer: ir.Value, offset: int, type: ir.Type) -> ir.Value:
        return self.b.load(self.at(pointer, offset), typ=type)

    def object(self, name: str) -> ir.Value:
        """A Python object, by a symbol at its address (`symbols.py`)."""
        found = self.module.globals.get(name)
        if found is None:
            found = ir.GlobalVariable(self.module, I8, name)
            found.type = POINTER
        return found

    def external(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        """A function from outside: of Python's C API, of NumPy's, or of the C library."""
        found = self.module.globals.get(name)
        return ir.Function(self.module, ir.FunctionType(result, arguments), name) if found is None else found

    def expect(self, condition: ir.Value) -> None:
        """Go the slow way unless the condition holds."""
        following = self.function.append_basic_block("next")
        self.b.cbranch(condition, following, self.slow).set_weights([1000, 1])
        self.b.position_at_end(following)

    def is_(self, pointer: ir.Value, name: str) -> ir.Value:
        return self.b.icmp_unsigned("==", pointer, self.object(name))

    def drop(self, thing: ir.Value) -> None:
        self.b.call(self.external("Py_DecRef", VOID, [POINTER]), [thing])

    def keep(self, thing: ir.Value) -> None:
        self.b.call(self.external("Py_IncRef", VOID, [POINTER]), [thing])


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def builtin(address: int, name: str, first: Any, keeper: Any, with_names: bool = False) -> Any:
    """A native function `(first, args, count[, names])` as a builtin function of Python. It keeps `keeper` alive.

    `keeper` must have a list `methods`, to which this adds: CPython needs them for as long as the function lives.
    """
    method = _Method(name.encode(), address, _METH_FASTCALL | (_METH_KEYWORDS if with_names else 0), None)
    keeper.methods.append(method)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(method), first, keeper)
