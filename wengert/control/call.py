"""The call of a block: `call(*args; body, name)`. It is what a compiled function is to everything outside.

On plain values it is executed by `execute`, which the native backend provides; without one it is interpreted. Its
derivatives are calls again, of blocks that are made once: `grad(jit(f))` runs compiled code in both sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.control.blocks import Linearised, Transposed, selects, tangent_through, unwrapped
from wengert.control.budget import key_of_budget
from wengert.control.derived import derived
from wengert.control.differing import one_by_one
from wengert.control.lifting import joined, lifted, parts_of, types_of_body
from wengert.errors import ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError
from wengert.ir.interpret import run
from wengert.ir.node import Block, Dyn
from wengert.modes.mode import Mode
from wengert.modes.tape import Tape, TapeTrace
from wengert.ops import op as door
from wengert.ops.derive import Control

CANNOT_BE_LIFTED = (ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError)
execute: list[Callable] = [lambda body, name, args: run(body, args)]
"""How a block is run on plain values: `execute[0](body, name, args)`."""


def _impl(*args: Any, body: Block, name: str) -> tuple:
    if any(isinstance(a, door.Traced) for a in args):  # unknown tangents
        return tuple(run(body, args))
    return tuple(execute[0](body, name, args))


def _lift(mode: Mode, args: tuple, params: dict) -> tuple:
    given = parts_of(mode, args)
    try:
        block, outs = lifted(params["body"], mode, given.boxed)
    except CANNOT_BE_LIFTED:
        if not mode.batches:
            raise
        # Examples do what cannot be done for all of them at once: arrays of other lengths, for instance.
        if any(n.__class__ is Dyn for r in params["body"].results for n in r.type.shape):
            raise mode.apart("an array of a length") from None
        return one_by_one(mode, call, args, [p.type for p in params["body"].params], params)
    name = f"{params['name']}_{mode.name}"
    results = door.call(call, *given.leading, *given.companions, body=block, name=name)
    return joined(mode, results[: len(outs)], results[len(outs) :], outs)


class _Reverse:
    """The two blocks of reverse mode."""

    def __init__(self, body: Block, mine: Sequence[bool]):
        source = Linearised(body, mine)
        self.outputs = source.active_outputs
        self.transposed = Transposed(source, [False] * len(source.places))
        own = {id(p._node): k for k, p in enumerate(source.params)}
        residuals = self.transposed.residuals
        self.saved = [r for r in residuals if id(r._node) not in own]
        self.given = {id(r._node): own[id(r._node)] for r in residuals if id(r._node) in own}
        self.primal = source.primal(self.saved)
        self.selects = selects(body)


def _record(trace: TapeTrace, args: tuple, params: dict) -> Any:
    body, name = params["body"], params["name"]
    mine, values = unwrapped(trace, Tape, args)
    reverse: _Reverse = derived(body, ("reverse", tuple(mine), key_of_budget()), lambda: _Reverse(body, mine))
    results = door.call(call, *values, body=reverse.primal, name=f"{name}_forward")
    n = len(reverse.outputs)
    saved = list(results[n:])
    inputs = [a._node for a, m in zip(args, mine, strict=True) if m]

    def pull(cts: Sequence[Any]) -> Sequence[Any]:
        transposed = reverse.transposed.now()
        kept = dict(zip([id(r._node) for r in reverse.saved], saved, strict=True))
        kept.update({key: values[place] for key, place in reverse.given.items()})
        residuals = [kept[id(r._node)] for r in transposed.residuals]
        return door.call(call, *cts, *residuals, body=transposed.block, name=f"{name}_reverse")

    tangent = tangent_through(call, mine, values, params, reverse.outputs)
    active = [y for y, o in zip(results, reverse.outputs, strict=False) if o]
    boxes = iter(trace.custom(inputs, active, pull, push=tangent, selects=reverse.selects, kept=(values, saved)))
    return tuple([next(boxes) if o else y for y, o in zip(results[:n], reverse.outputs, strict=True)])


call = Control("call", _impl, lift=_lift, record=_record, types=types_of_body)
