"""Functions of a module that several places of a program call: what is long to write but the same for all sizes.

LLVM's time grows with the length of the code, so what takes its sizes as arguments is written once (`shared_function`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, POINTER
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.machine.internal import internal_function


def shared_function(
    cx: Any, name: str, arguments: Sequence[ir.Type], write: Callable[[Context, Sequence[ir.Value]], None]
) -> ir.Function:
    """The function of this name, which `write(context, arguments)` writes if there is none yet. It cannot fail.

    What one pointer of its arguments leads to is not written to through another one.
    """
    found = cx.module.globals.get(name)
    if found is not None:
        return found
    function = internal_function(cx.module, name, I32, arguments, "nounwind", "noinline")
    for argument in function.args:
        if argument.type == POINTER:
            argument.add_attribute("noalias")
    inner = Context(cx.module, function, POINTER(None), cx)
    write(inner, function.args)
    inner.finish()
    assert not inner.may_leave
    return function
