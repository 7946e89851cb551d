"""Rows for what a program does outside: it draws random numbers, asks for the time, prints.

A captured program calls back for each of them, in order, every time it comes there. `undifferentiable` marks values
that such a call depends on in a way that has no derivative rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from wengert.errors import UnsupportedFunctionError
from wengert.ops.derive import Unmapped, elementwise, zero
from wengert.ops.traits import FREE, MORE, VALUES


def _act(*args: Any, function: Callable, results: Sequence[Any], examples: str | tuple[str, str] = "",
         failures: Sequence[str] = ()) -> tuple:  # fmt: skip
    values = function(*args)
    return values if values.__class__ is tuple else (values,) if results else ()


def _act_on_batch(args: Sequence[Any], mapped: Sequence[bool], params: dict) -> Any:
    if any(mapped) and params["examples"].__class__ is tuple:
        what, remedy = params["examples"]
        raise UnsupportedFunctionError(what, remedy=remedy)
    if any(mapped) and params["examples"]:
        raise UnsupportedFunctionError(
            f"{params['examples']} with parameters that differ between the examples of a batch",
            remedy="draw standard random numbers and scale them, or draw them outside and pass them as an argument",
        )
    return tuple([Unmapped(y) for y in act(*args, **params)])


act = zero("act", _act, batch=_act_on_batch, raises=VALUES, cost=MORE, effect=True, pure=False)
"""Call `function`; `results` says of which types its results are. `examples` names what cannot be done for a batch,
with a remedy if it is not a draw. `failures` are the exceptions that a `try` of the user's may be meant for."""


def _refuse(what: str, why: str) -> NoReturn:
    raise UnsupportedFunctionError(f"{what} has no derivative rule: {why}",
                                   remedy="use wg.stop_gradient where no derivative is wanted")  # fmt: skip


undifferentiable = elementwise(
    "undifferentiable",
    lambda x, what, why: x,
    (lambda y, x, what, why: _refuse(what, why),),
    cost=FREE,
    moves=True,
    view=True,
    marks=True,
)
"""The value itself; whoever asks for its derivative is told that there is none, and why."""
