"""The mode that lists: every op that goes through the door becomes a step, with its operands, values and source line.

A `Listed` box holds a plain value and the variable it is. An op on such boxes is run by reverse mode's own recorder
(`modes/tape.py`), for this one op: that computes the value, says which results have derivatives at all, and leaves the
linear program of the step. So the derivatives of each step are the library's, and no formula is stated here
(`sweeps.py` pushes tangents and pulls adjoints through the steps).

What has no derivative (a mask, an order) is listed, too, and handed to the user's function as a plain value; if it
comes back as an operand it is recognised by identity.

Writing in place is the op `store`: a step whose result is a new variable, as in every Wengert list.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wengert.box.box import Box, outside
from wengert.box.writing import settled
from wengert.control.custom import custom
from wengert.explain.place import CallSite, place_now
from wengert.modes.dual import check_not_inner
from wengert.modes.tape import Recorded, record
from wengert.ops.op import Op, Trace, call, fresh_tag
from wengert.running import entered


@dataclass(eq=False, slots=True)
class Variable:
    """One entry of the list: an input (which has no step), or a result of a step.

    `index` is the survey's: inputs are v₋ₙ₊₁ … v₀, all others v₁, v₂, …  The listing holds the steps, and variables
    only refer to theirs: all values would stay in memory otherwise until Python looks for cycles.
    """

    index: int
    value: Any
    made_by: weakref.ref[RecordedStep] | None = None
    which: int = 0
    name: str = ""

    @property
    def step(self) -> RecordedStep | None:
        return None if self.made_by is None else self.made_by()


@dataclass(eq=False, slots=True)
class Constant:
    """An operand that does not depend on the inputs."""

    value: Any


Operand = Variable | Constant


@dataclass(eq=False, slots=True, weakref_slot=True)
class RecordedStep:
    """One elementary operation, as it was done.

    `apply(*values)` does it again, on values in the places of `operands`; `places` are those operands with respect to
    which it was linearised, and `program` is that linearisation.
    """

    name: str
    apply: Callable[..., Any]
    operands: tuple[Operand, ...]
    params: dict[str, Any]
    places: tuple[int, ...]
    program: Recorded
    place: CallSite | None
    op: Op | None = None
    results: tuple[Variable, ...] = ()

    @property
    def differentiable(self) -> bool:
        """Whether any result has a derivative."""
        return any(k is not None for k in self.program.outputs)


@dataclass(eq=False, slots=True)
class Listing:
    """A finished evaluation: inputs, steps in the order in which they were done, outputs."""

    inputs: list[Variable]
    steps: list[RecordedStep] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)

    @property
    def variables(self) -> list[Variable]:
        """All variables in the order of their indices."""
        return [*self.inputs, *[v for step in self.steps for v in step.results]]


class Listed(Box):
    """A value and the variable it is, in `_node`."""

    __slots__ = ()
    _state = ("_owner", "_value", "_node")


class ListingTrace(Trace):
    """One evaluation that is being listed."""

    __slots__ = ("_constants", "_count", "_plain", "alive", "listing", "tag")

    def __init__(self, values: Sequence[Any]):
        self.tag = fresh_tag()
        self.alive = True
        n = len(values)
        self.listing = Listing([Variable(k + 1 - n, x) for k, x in enumerate(values)])
        self._count = 0
        self._constants: dict[int, list[Constant]] = {}
        self._plain: dict[int, Variable] = {}

    def box(self, variable: Variable) -> Listed:
        return Listed(self, variable.value, variable)

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        if op is custom:  # a function with a rule of its own: one step, whatever it does inside
            return self.list_step(params["name"], lambda *xs: call(op, *xs, **params), args, {})
        return self.list_step(op.name, lambda *xs: call(op, *xs, **params), args, params, op)

    def list_step(self, name: str, apply: Callable, args: tuple, params: dict, op: Op | None = None) -> Any:
        mine = [isinstance(a, Listed) and a._owner is self for a in args]
        operands = tuple([a._node if m else self._constant(a) for a, m in zip(args, mine, strict=True)])
        values = [a._value if m else a for a, m in zip(args, mine, strict=True)]
        places = tuple([p for p, m in enumerate(mine) if m])
        several = False

        def at_places(*traced: Any) -> Sequence[Any]:
            nonlocal several
            filled = list(values)
            for p, x in zip(places, traced, strict=True):
                filled[p] = x
            y = apply(*filled)
            several = y.__class__ is tuple
            return y if several else (y,)

        found, program = record(at_places, [values[p] for p in places])
        step = RecordedStep(name, apply, operands, params, places, program, place_now(_RUNNER), op)
        step.results = tuple([self._variable(step, which, y) for which, y in enumerate(found)])
        self.listing.steps.append(step)
        results = []
        for variable, node in zip(step.results, program.outputs, strict=True):
            if node is None:
                results.append(self._handed_out(variable))
            else:
                results.append(self.box(variable))
        return tuple(results) if several else results[0]

    def _variable(self, step: RecordedStep, which: int, value: Any) -> Variable:
        self._count += 1
        return Variable(self._count, value, weakref.ref(step), which)

    def _handed_out(self, variable: Variable) -> Any:
        """The plain value of a variable without derivative, to be recognised when it comes back."""
        value = variable.value
        if not isinstance(value, (np.bool_, bool, int)):  # of these there is one object for all
            self._plain[id(value)] = variable
        return value

    def _constant(self, a: Any) -> Operand:
        variable = self._plain.get(id(a))
        if variable is not None and variable.value is a:
            return variable
        constant = Constant(a)
        if isinstance(a, (np.ndarray, Box)):
            self._constants.setdefault(id(_memory(a)), []).append(constant)
        return constant

    def keep_values_of(self, x: Any) -> None:
        """Put copies where steps hold an array that is about to be written to (as `TapeTrace` does it)."""
        for constant in self._constants.pop(id(_memory(x)), ()):
            constant.value = constant.value.copy()
        for key, variable in list(self._plain.items()):
            if isinstance(variable.value, np.ndarray) and _memory(variable.value) is _memory(x):
                variable.value = variable.value.copy()
                del self._plain[key]


def _memory(x: Any) -> Any:
    return x.base if x.__class__ is np.ndarray and x.base is not None else x


def list_evaluation(function: Callable[..., Sequence[Any]], values: Sequence[Any]) -> Listing:
    """Run a function from leaves to a list of leaves, and list what it does."""
    trace = ListingTrace(values)
    with entered(trace, records=True):
        for y in map(settled, function(*[trace.box(v) for v in trace.listing.inputs])):
            if isinstance(y, Listed) and y._owner is trace:
                trace.listing.outputs.append(y._node)
            else:
                check_not_inner(y, trace.tag)
                trace.listing.outputs.append(trace._plain.get(id(y)) or Constant(y))
        return trace.listing


_RUNNER = list_evaluation.__code__
