"""The derivative of a step as an expression, from the library's own rules.

A `SymbolicBox` carries a value and the expression it came from. Forward and reverse mode, run over such boxes for
one step, compute tangent and adjoints as always; what comes out knows how it was computed. So the expressions that are
shown, v̇₁ = v̇₋₁ / v₋₁, are what the rules in `ops/` do, and nobody had to write them down a second time.

Some rules decide by numbers or use what has no readable form; then there is no expression (`None`), and the tables
show the derivative as ∂v₅/∂v₃.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from wengert.box.box import Box
from wengert.explain.recording import Constant, RecordedStep, Variable
from wengert.modes.dual import push
from wengert.modes.tape import record
from wengert.ops.derive import Control
from wengert.ops.op import Op, Trace, call, fresh_tag
from wengert.types import dtype_of, shape_of

VALUE, DOT, BAR = "value", "dot", "bar"


class Leaf(NamedTuple):
    """A variable, its tangent or its adjoint."""

    kind: str
    variable: Variable


class Literal(NamedTuple):
    """A constant."""

    value: Any


@dataclass(eq=False, slots=True)
class Apply:
    """An op of expressions. `shape` is that of its result."""

    name: str
    args: tuple[Expression, ...]
    params: dict[str, Any] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    which: int | None = None


Expression = Leaf | Literal | Apply


class SymbolicBox(Box):
    """A value and its expression, in `_node`."""

    __slots__ = ()
    _state = ("_owner", "_value", "_node")


class SymbolicTrace(Trace):
    """What is done to expressions while the derivative of one step is computed."""

    __slots__ = ("alive", "known", "own", "tag")

    def __init__(self, step: RecordedStep):
        self.tag = fresh_tag()
        self.alive = True
        self.known = {id(o.value): Leaf(VALUE, o) for o in step.operands if isinstance(o, Variable)}
        self.own = (step, [self._expression_of(o) for o in step.operands])

    def _expression_of(self, operand: Any) -> Expression:
        return Literal(operand.value) if isinstance(operand, Constant) else Leaf(VALUE, operand)

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        mine = [a.__class__ is SymbolicBox and a._owner is self for a in args]
        y = call(op, *[a._value if m else a for a, m in zip(args, mine, strict=True)], **params)
        expressions = tuple([a._node if m else self.expression(a) for a, m in zip(args, mine, strict=True)])
        if y.__class__ is tuple:
            made = [self._made(op, expressions, params, part, k) for k, part in enumerate(y)]
            return tuple([SymbolicBox(self, part, e) for part, e in zip(y, made, strict=True)])
        return SymbolicBox(self, y, self._made(op, expressions, params, y, None))

    def expression(self, a: Any) -> Expression:
        return self.known.get(id(a)) or Literal(a)

    def _made(self, op: Op, args: tuple[Expression, ...], params: dict, y: Any, which: int | None) -> Expression:
        step, own = self.own
        if op is step.op and len(args) == len(own) and all(map(_same, args, own)):
            return Leaf(VALUE, step.results[which or 0])  # the rule uses the result of the step
        return Apply(op.name, args, params, shape_of(y), which)


def _same(a: Expression, b: Expression) -> bool:
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return a.kind == b.kind and a.variable is b.variable
    return isinstance(a, Literal) and isinstance(b, Literal) and a.value is b.value


def tangent_of(step: RecordedStep) -> list[Expression | None]:
    """The tangent of each result as an expression in the tangents and values of the operands."""

    def push_symbols(trace: SymbolicTrace, values: list[Any]) -> list[Any]:
        dots = [_seed(trace, DOT, step.operands[p]) for p in step.places]
        return push(_at_places(step, trace), values, dots)[1]

    return _expressions(step, push_symbols, len(step.results))


def adjoints_of(step: RecordedStep) -> list[Expression | None]:
    """What each operand's adjoint (in the order of `step.places`) gets, in the adjoints of the results and values."""

    def pull_symbols(trace: SymbolicTrace, values: list[Any]) -> list[Any]:
        _, program = record(_at_places(step, trace), values)
        bars = [None if k is None else _seed(trace, BAR, v)
                for v, k in zip(step.results, step.program.outputs, strict=True)]  # fmt: skip
        return program.pull(bars)

    return _expressions(step, pull_symbols, len(step.places))


def _expressions(step: RecordedStep, sweep: Callable, count: int) -> list[Expression | None]:
    if isinstance(step.op, Control) or step.op is None or not step.differentiable:
        return [None] * count
    trace = SymbolicTrace(step)
    try:
        values = [SymbolicBox(trace, step.operands[p].value, trace.own[1][p]) for p in step.places]
        found = sweep(trace, values)
    except Exception:  # a rule that needs numbers: it has no expression, and the table shows ∂v/∂u instead
        return [None] * count
    finally:
        trace.alive = False
    return [x._node if x.__class__ is SymbolicBox and x._owner is trace else None for x in found]


def _at_places(step: RecordedStep, trace: SymbolicTrace) -> Callable[..., Sequence[Any]]:
    def apply(*traced: Any) -> Sequence[Any]:
        filled = [o.value for o in step.operands]
        for p, x in zip(step.places, traced, strict=True):
            filled[p] = x
        y = step.apply(*filled)
        return y if y.__class__ is tuple else (y,)

    return apply


def _seed(trace: SymbolicTrace, kind: str, variable: Any) -> SymbolicBox:
    """A tangent or adjoint. Its number does not matter; it is of the kind that the rule would be given."""
    value = variable.value
    return SymbolicBox(trace, np.ones(shape_of(value), dtype_of(value))[()], Leaf(kind, variable))
