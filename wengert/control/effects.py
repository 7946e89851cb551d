"""What a program does besides computing, in the place where it stands: a call back to Python, the op `act`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.box.writing import settled
from wengert.ir.infer import Found
from wengert.ops.act import act
from wengert.ops.op import Traced, call
from wengert.running import running


def called_back(
    function: Callable, operands: Sequence[Any], results: Sequence[Found], examples: str | tuple[str, str] = "",
    failures: Sequence[str] = ("ValueError",),
) -> Any:  # fmt: skip
    """Results of a function that is called when the program runs; at once, if none is captured.

    `failures` are the exceptions that it may raise for some values.
    """
    capture = running.state.capture
    if capture is None:
        values = function(*operands)
        return values if values.__class__ is tuple else (values,)
    operands = [settled(x) for x in operands]
    params = {"function": function, "results": tuple(results), "examples": examples, "failures": tuple(failures)}
    if any(isinstance(x, Traced) for x in operands):
        return call(act, *operands, **params)
    return capture.process(act, tuple(operands), params)
