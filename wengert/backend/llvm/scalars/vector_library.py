"""Which functions of vectors there are, by the name of the C library's function, and how they come into a module."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F32, F64
from wengert.backend.llvm.scalars import vector_math
from wengert.backend.llvm.scalars.vector_power import power
from wengert.backend.llvm.scalars.vectors import Vectors, has_fused

FUNCTIONS: dict[str, Callable[..., ir.Value]] = {
    "exp": vector_math.exp,
    "log": vector_math.log,
    "tanh": vector_math.tanh,
    "sinh": vector_math.sinh,
    "expf": vector_math.exp,
    "logf": vector_math.log,
    "tanhf": vector_math.tanh,
    "erff": vector_math.erf,
}
if has_fused():
    FUNCTIONS |= {"pow": power, "powf": power}

LONG = frozenset(("pow", "powf"))
"""Those with so many steps and constants that several at a time do not fit into the registers."""


def vector_function(module: ir.Module, name: str, lanes: int, count: int) -> ir.Function:
    """The function of `count` vectors of so many lanes, written into the module if it is not there yet."""
    symbol = f"wg_{name}_{lanes}"
    function = module.globals.get(symbol)
    if function is None:
        type = ir.VectorType(F32 if name.endswith("f") else F64, lanes)
        function = ir.Function(module, ir.FunctionType(type, [type] * count), symbol)
        function.linkage = "internal"
        function.attributes.add("alwaysinline")  # steps of several vectors then go on at the same time
        v = Vectors(module, function)
        v.b.ret(FUNCTIONS[name](v, *function.args))
    return function
