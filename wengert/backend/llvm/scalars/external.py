"""Calls of functions outside the kernel, for one number at a time: libm, cython_special, inner loops of ufuncs.

What is called is marked as having no effects besides its result, so LLVM may hoist, merge and drop calls. A function of
libm that has vector variants is declared with them: the loop vectoriser then calls those. It needs the variants'
declarations to stay in the module although nothing calls them yet; that is what `llvm.compiler.used` is for.

The scalar functions have names of their own (`wg_sin`), which LLVM does not know: under their usual names it would
replace calls by others or by intrinsics, whose vector forms it has to take apart again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import (
    F32,
    F64,
    I32,
    I64,
    POINTER,
    VOID,
    Complex,
    Scalar,
    load_element,
    store_element,
)
from wengert.backend.llvm.machine import natives, objects
from wengert.backend.llvm.machine.hints import VARIANTS, vector_bytes
from wengert.backend.llvm.machine.internal import internal_function
from wengert.backend.llvm.scalars import vector_library
from wengert.backend.llvm.scalars.values import real_dtype

_PURE = ("nounwind", "willreturn", "memory(none)")
_USED = "llvm.compiler.used"


def attribute(function: ir.Function, *names: str) -> None:
    """Attributes of a function, also those that llvmlite does not know."""
    for name in names:
        set.add(function.attributes, name)


# -------------------------------------------------------------------------------------------------------------- libm


class _Used(ir.GlobalVariable):
    """The list of what stays in the module, written out when the module is."""

    def __init__(self, module: ir.Module):
        super().__init__(module, ir.ArrayType(POINTER, 0), _USED)
        self.members: list[ir.Function] = []

    def descr(self, buf: list[str]) -> None:
        pointers = ", ".join(f"ptr {f.get_reference()}" for f in self.members)
        buf.append(f'appending global [{len(self.members)} x ptr] [{pointers}], section "llvm.metadata"\n')


def math_call(cx: Any, name: str, *values: ir.Value) -> ir.Value | None:
    """A function of libm of real arguments, `None` if there is none; `name` as in C, ending in f for float."""
    if hasattr(cx, "device_math"):  # where there is no C library
        return cx.device_math(name, *values)
    address = natives.math_function(name)
    if address is None:
        return None
    symbol, type = f"wg_{name}", values[0].type
    fresh = symbol not in cx.module.globals
    function = cx.declare(symbol, type, [type] * len(values), address)
    if fresh:
        attribute(function, *_PURE)
        if objects.level() > 1:  # otherwise nobody makes vectors
            _offer(cx, function, *_vectors(cx, name, type, len(values)), len(values))
    if VARIANTS in "".join(map(str, function.attributes)):
        # Half as wide is the default on processors where 512 bits used to lower the clock. What does not fit into
        # registers lies on the stack, and vectors that lie across two lines of the cache take twice as long.
        attribute(cx.builder.function, '"prefer-vector-width"="512"', '"stackrealign"')
    cx.long_calls += name in vector_library.LONG
    return cx.builder.call(function, list(values))


_DOUBLE = """
    sin cos tan exp2 expm1 log2 log10 log1p sinh cosh asin acos atan asinh acosh atanh cbrt erf pow atan2 hypot
"""
_SINGLE = """
    sinf cosf exp2f expm1f log2f log10f log1pf sinhf coshf tanhf acosf atanf asinhf atanhf powf hypotf
"""
_SLOW = {"pow", "powf", "sinh"}
VECTORISED = frozenset(_DOUBLE.split() + _SINGLE.split()) - (_SLOW & vector_library.FUNCTIONS.keys())
"""Functions whose variants in libmvec are good to 4 units in the last place, in single precision to 2.7. For some there
is something faster (`vector_library.py`)."""


def _widths() -> tuple[int, ...]:
    """How many doubles this processor has in a vector, the widest first; the rest of a loop is half as wide."""
    most = vector_bytes() // 8
    return (most, most // 2) if most > 2 else (most,)


def _vectors(cx: Any, name: str, type: ir.Type, count: int) -> tuple[list[ir.Function], list[int]]:
    """The vector variants of a function and how many lanes they have: libmvec's, or those of `vector_library.py`."""
    variants = natives.vector_variants(name, count) if name in VECTORISED else ()
    if name in vector_library.FUNCTIONS and not variants:
        lanes = [n * (2 if type == F32 else 1) for n in _widths()]
        return [vector_library.vector_function(cx.module, name, n, count) for n in lanes], lanes
    declared = []
    for v in variants:
        vector = ir.VectorType(type, v.lanes)
        declared.append(cx.declare(v.symbol, vector, [vector] * count, natives.address(v.symbol)))
    return declared, [v.lanes for v in variants]


def _offer(cx: Any, function: ir.Function, vectors: list[ir.Function], lanes: list[int], count: int) -> None:
    """Tell the vectoriser of the vector variants of a function."""
    if not vectors:
        return
    used = cx.module.globals.get(_USED)
    if used is None:
        used = _Used(cx.module)
    used.members += vectors
    names = [f"_ZGV_LLVM_N{n}{'v' * count}_{function.name}({v.name})" for v, n in zip(vectors, lanes, strict=True)]
    attribute(function, f'{VARIANTS}="{",".join(names)}"')


# ---------------------------------------------------------------------------------------------------- cython_special


def special_call(cx: Any, name: str, types: str, values: Sequence[ir.Value]) -> ir.Value | None:
    """A function of `cython_special` for these type characters, inputs and result, or `None`. Real numbers only.

    In single precision SciPy rounds results of double precision; so is it done here.
    """
    if set(types) - set("dlf") or hasattr(cx, "device_math"):
        return None
    if "f" in types:
        wide = [cx.builder.fpext(v, F64) if v.type == F32 else v for v in values]
        y = special_call(cx, name, types.replace("f", "d"), wide)
        return y if y is None or types[-1] != "f" else cx.builder.fptrunc(y, F32)
    for integer in "pl":  # Py_ssize_t, long
        codes = (types[-1] + types[:-1]).replace("l", integer)
        symbol = f"wg_special_{name}_{codes}"
        address = natives.special_functions().get(symbol)
        if address is not None:
            arguments = [F64 if code == "d" else I64 for code in codes[1:]]
            function = cx.declare(symbol, F64, [*arguments, I32], address)
            attribute(function, *_PURE)
            return cx.builder.call(function, [*values, I32(0)])
    return None


# ------------------------------------------------------------------------------------------- inner loops of ufuncs


def loop_call(cx: Any, ufunc: np.ufunc, dtypes: Sequence[np.dtype], values: Sequence[Scalar]) -> tuple | None:
    """All results of a ufunc by its inner loop for these dtypes, inputs and outputs, or `None`.

    The loop is called from a function of its own, which has the memory for one element of each: seen from outside it
    has no effects.
    """
    loop = None if hasattr(cx, "device_math") else natives.inner_loop(ufunc, "".join(d.char for d in dtypes))
    if loop is None:
        return None
    name = loop.symbol.replace("wg_loop_", "wg_one_", 1)
    function = cx.module.globals.get(name)
    if function is None:
        function = _write_one(cx, name, loop, ufunc.nin, dtypes)
    flat = [part for v in values for part in (v if isinstance(v, Complex) else (v,))]
    result = cx.builder.call(function, flat)
    places = iter(range(len(function.ftype.return_type.elements)))

    def taken(dtype: np.dtype) -> Scalar:
        parts = [cx.builder.extract_value(result, next(places)) for _ in range(1 + (dtype.kind == "c"))]
        return Complex(*parts) if dtype.kind == "c" else parts[0]

    return tuple(taken(d) for d in dtypes[ufunc.nin :])


def _registers(dtypes: Sequence[np.dtype]) -> list[ir.Type]:
    """The types in registers, complex numbers as two."""
    found: list[ir.Type] = []
    for d in dtypes:
        part = real_dtype(d)
        type = {"b": ir.IntType(1), "f": F32 if part.itemsize == 4 else F64}.get(part.kind)
        found += [type or ir.IntType(8 * part.itemsize)] * (2 if d.kind == "c" else 1)
    return found


def _write_one(cx: Any, name: str, loop: natives.UfuncLoop, inputs: int, dtypes: Sequence[np.dtype]) -> ir.Function:
    result = ir.LiteralStructType(_registers(dtypes[inputs:]))
    function = internal_function(cx.module, name, result, _registers(dtypes[:inputs]), *_PURE, "noinline")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    inner = cx.declare(loop.symbol, VOID, [POINTER] * 4, natives.address(loop.symbol))
    data: ir.Value = POINTER(None)
    if loop.data is not None:
        cx.addresses[loop.data] = natives.address(loop.data)
        data = cx.module.globals.get(loop.data) or ir.GlobalVariable(cx.module, ir.IntType(8), loop.data)

    def memory(words: int) -> ir.Value:
        place = b.alloca(I64, size=I32(words))
        place.align, place.type = 16, POINTER
        return place

    slots = [memory(2) for _ in dtypes]
    pointers, counts = memory(len(dtypes)), memory(1 + len(dtypes))
    arguments = iter(function.args)
    for k, (slot, d) in enumerate(zip(slots, dtypes, strict=True)):
        b.store(slot, b.gep(pointers, [I64(k)], source_etype=POINTER))
        b.store(I64(d.itemsize), b.gep(counts, [I64(1 + k)], source_etype=I64))
        if k < inputs:
            first = next(arguments)
            store_element(b, Complex(first, next(arguments)) if d.kind == "c" else first, slot, I64(0), d)
    b.store(I64(1), counts)
    b.call(inner, [pointers, counts, b.gep(counts, [I64(1)], source_etype=I64), data])
    found: list[ir.Value] = []
    for slot, d in zip(slots[inputs:], dtypes[inputs:], strict=True):
        y = load_element(b, slot, I64(0), d)
        found += y if isinstance(y, Complex) else [y]
    whole: ir.Value = ir.Constant(result, ir.Undefined)
    for k, part in enumerate(found):
        whole = b.insert_value(whole, part, k)
    b.ret(whole)
    return function
