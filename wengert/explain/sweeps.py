"""Both sweeps over a listing: tangents forwards, adjoints backwards, step by step, so that each can be shown.

A step's linear program (`modes/linear.py`) does the work; here is only the chain rule: who gets what from whom. `None`
is zero everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert.explain.recording import Listing, Operand, RecordedStep, Variable
from wengert.types import dtype_of, shape_of

Derivatives = dict[Variable, Any]


def tangents(listing: Listing, seeds: Sequence[Any]) -> Derivatives:
    """The tangent of each variable that has one, given those of the inputs."""
    dots: Derivatives = {v: t for v, t in zip(listing.inputs, seeds, strict=True) if t is not None}
    for step in listing.steps:
        given = [dots.get(step.operands[p]) for p in step.places]  # type: ignore[arg-type]
        if all(t is None for t in given):
            continue
        for variable, dot in zip(step.results, step.program.push(given), strict=True):
            if dot is not None:
                dots[variable] = dot
    return dots


@dataclass(eq=False, slots=True)
class Contribution:
    """One statement of the reverse sweep: the adjoint of `target` grows by what `step` sends to its operand `place`.

    `first` says that nothing had arrived before; `total` is the adjoint then.
    """

    target: Variable
    step: RecordedStep
    place: int
    part: Any
    total: Any
    first: bool


def adjoints(listing: Listing, seeds: Sequence[Any]) -> tuple[Derivatives, list[Contribution]]:
    """The adjoint of each variable that has one, given those of the outputs, and the statements in their order."""
    bars: Derivatives = {}
    for output, ct in zip(listing.outputs, seeds, strict=True):
        if isinstance(output, Variable) and ct is not None:
            bars[output] = ct if output not in bars else bars[output] + ct
    statements: list[Contribution] = []
    for step in reversed(listing.steps):
        cts = [bars.get(v) for v in step.results]
        if all(ct is None for ct in cts):
            continue
        for p, part in zip(step.places, step.program.pull(cts), strict=True):
            if part is None:
                continue
            target = step.operands[p]
            assert isinstance(target, Variable)
            first = target not in bars
            bars[target] = part if first else bars[target] + part
            statements.append(Contribution(target, step, p, part, bars[target], first))
    return bars, statements


@dataclass(eq=False, slots=True)
class Partial:
    """The derivative of a result of a step in one operand, as far as it can be shown.

    `value` is the number, or the array of them (of a scalar in an array, and of an elementwise op in an array of the
    same shape: the diagonal); `None` if the Jacobian is a matrix, of the given shape.
    """

    value: Any
    shape: tuple[int, int]


def partials(step: RecordedStep, which: int = 0) -> dict[int, Partial]:
    """The local partial derivatives of a result, by operand place; places without derivative are left out."""
    result = step.results[which].value
    shape = shape_of(result)
    if step.program.outputs[which] is None:
        return {}
    ones: Any = np.ones(shape, dtype_of(result))[()]
    pulled = step.program.pull([ones if k == which else None for k in range(len(step.results))])
    found = {}
    for p, part in zip(step.places, pulled, strict=True):
        if part is None:
            continue
        of = shape_of(_value(step.operands[p]))
        shown = not shape or (hasattr(step.op, "partials") and of == shape)
        found[p] = Partial(part if shown else None, (int(np.prod(shape)), int(np.prod(of))))
    return found


def _value(operand: Operand) -> Any:
    return operand.value
