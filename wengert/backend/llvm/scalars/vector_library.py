"""Which functions of vectors there are, by the name of the C library's function, and how they come into a module."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import F32, F64
from wengert.backend.llvm.machine.internal import internal_function
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


class _Ready(ir.Function):
    """A function of which the text is known already: writing one out takes longer than LLVM does with most programs."""

    def __init__(self, module: ir.Module, type: ir.FunctionType, name: str, text: str):
        super().__init__(module, type, name)
        self._text = text

    def __str__(self) -> str:
        return self._text


def vector_function(module: ir.Module, name: str, lanes: int, count: int) -> ir.Function:
    """The function of `count` vectors of so many lanes, written into the module if it is not there yet."""
    symbol = f"wg_{name}_{lanes}"
    if symbol not in module.globals:
        parts, hints = _written(name, symbol, lanes, count)
        numbers = [module.add_metadata(hint).get_reference() for hint in hints]
        for part, (type, text) in parts.items():
            if part not in module.globals:
                _Ready(module, type, part, _HINT.sub(lambda found: numbers[int(found[1])], text))
    return module.globals[symbol]


_HINT = re.compile(r"!(\d+)")
"""How a text speaks of metadata: by its number in the module."""


@functools.cache
def _written(
    name: str, symbol: str, lanes: int, count: int
) -> tuple[dict[str, tuple[ir.FunctionType, str]], Sequence[Sequence[ir.Value]]]:
    """The function and those that it calls, by their names: types and texts; and the metadata that the texts number."""
    module = ir.Module()
    type = ir.VectorType(F32 if name.endswith("f") else F64, lanes)
    # (inlined, steps of several vectors go on at the same time)
    function = internal_function(module, symbol, type, [type] * count, "alwaysinline")
    v = Vectors(module, function)
    v.b.ret(FUNCTIONS[name](v, *function.args))
    parts = {part.name: (part.ftype, str(part)) for part in module.functions}
    return parts, [hint.operands for hint in module.metadata]
