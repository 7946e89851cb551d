"""Questions about codes that do not depend on how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.backend.python.code import Code, Step, every_step
from wengert.ir.node import Const, Operand, Var


def single_consumers(code: Code, reads: Any) -> dict[Var, tuple[int, Step | None, int]]:
    """For each value that is read once, in this code: where, by which step (`None`: a result), as which operand."""
    found: dict[Var, tuple[int, Step | None, int]] = {}
    for k, step in enumerate(code.steps):
        for position, a in enumerate(step.operands):
            if isinstance(a, Var) and reads[a] == 1:
                found[a] = (k, step, position)
    for r in code.results:
        if isinstance(r, Var) and reads[r] == 1:
            found[r] = (len(code.steps), None, 0)
    return found


def takes_expressions(step: Step, position: int) -> bool:
    """Whether an operand of a step may be an expression; what is read more than once must be a name."""
    if step.name == "loop":
        return position <= step.params["carried"]
    if step.name == "while":
        return position < step.params["carried"]
    if step.name == "cond":
        return position == 0
    return True


def is_choice(step: Step) -> bool:
    """Whether a cond is no more than one of two values."""
    return len(step.outs) == 1 and not any(code.steps for code in step.codes.values())


def counts_down(body: Code, count: Operand, same: Sequence[Var]) -> list[Step]:
    """The steps `n - 1 - k`, if the body uses its counter k for nothing else; n is the count, or one of `same`."""
    counter = body.params[0]
    users = [s for s in every_step(body) if counter in s.operands]
    makers = {s.outs[0]: s for s in body.steps if len(s.outs) == 1}

    def is_last(a: Operand) -> bool:
        if isinstance(a, Const):
            return isinstance(count, Const) and a.value == count.value - 1
        made = makers.get(a)
        return (
            made is not None
            and made.name == "subtract"
            and made.args[0] in same
            and isinstance(made.args[1], Const)
            and made.args[1].value == 1
        )

    fits = all(s.name == "subtract" and s.args[1] is counter and is_last(s.args[0]) and s in body.steps for s in users)
    kept = any(s.name == "keep" for s in body.steps)
    return users if users and fits and not kept and counter not in body.results else []


def gives_number(step: Step) -> bool:
    """Whether the one result of a step is a number, and not an array without axes."""
    if len(step.outs) != 1 or step.outs[0].type.shape or step.op is None:
        return False
    return step.op.elementwise or step.name in ("sum", "matmul") or (
        step.name == "index" and Ellipsis not in step.params["pattern"]
    )  # fmt: skip


def is_number_in(code: Code, var: Operand) -> bool:
    """Whether a value is a number in a code whose parameters are, where they should be."""
    if var.type.shape or var in code.params:
        return not var.type.shape
    for step in code.steps:
        if var in step.outs:
            if step.name == "loop" and (k := step.outs.index(var)) < step.params["carried"]:
                start, body = step.args[1 + k], step.codes["body"]
                return is_number_in(body, body.results[k]) and (isinstance(start, Const) or is_number_in(code, start))
            return gives_number(step)
    return isinstance(var, Const)


def is_float(a: Operand) -> bool:
    return isinstance(a, Const) and not a.type.shape and not a.type.weak and a.type.dtype == np.float64


def meets_doubles(code: Code, var: Var, is_result: bool) -> bool:
    """Whether a variable is used only together with numbers or arrays in double precision that are not Python's."""
    for step in code.steps:
        if var not in step.operands or step.name == "keep":
            continue
        if step.name == "loop" and var is not step.args[0]:
            body, carried = step.codes["body"], step.params["carried"]
            inside = [p for a, p in zip(step.args[1:], body.params[1:], strict=True) if a is var]
            after = [y for a, y in zip(step.args[1 : 1 + carried], step.outs, strict=False) if a is var]
            if all(meets_doubles(body, p, False) for p in inside) and all(
                meets_doubles(code, y, is_result) for y in after
            ):
                continue
        others = [a for a in step.args if a is not var and isinstance(a, Var) and not a.type.weak]
        doubles = any(a.type.dtype in (np.dtype(float), np.dtype(complex)) for a in others)
        if step.name not in ("add", "subtract", "multiply") or not doubles:
            return False
    return is_result or var not in code.results
