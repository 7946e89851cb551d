"""What nobody outside of a module sees: its own functions and constants."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import POINTER


def internal_function(
    module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type], *attributes: str
) -> ir.Function:
    """A function of a module's own. Attributes may be some that llvmlite does not know."""
    function = ir.Function(module, ir.FunctionType(result, list(arguments)), name)
    function.linkage = "internal"
    for attribute in attributes:
        set.add(function.attributes, attribute)
    return function


def internal_constant(module: ir.Module, name: str, value: ir.Constant) -> ir.GlobalVariable:
    """Where a constant lies in memory."""
    place = ir.GlobalVariable(module, value.type, name)
    place.linkage, place.global_constant, place.initializer, place.type = "internal", True, value, POINTER
    return place
