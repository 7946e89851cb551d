"""Lines of source: which values stand where they are read and which get variables of their own.

A value that is read once and that the user gave no name stands where it is read, as long as the line stays readable and
nothing it looks at is written to in between; all others get a variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from wengert.backend.python.code import Code, Step, count_reads
from wengert.backend.python.definitions import Definitions
from wengert.backend.python.expressions import expression
from wengert.backend.python.forms import Site
from wengert.backend.python.literals import Raw, scalar
from wengert.backend.python.memory import Memory, Roots
from wengert.backend.python.names import Names
from wengert.backend.python.questions import gives_number, single_consumers, takes_expressions
from wengert.backend.python.text import Text
from wengert.ir.node import Const, Operand, Source, Var, map_refs

WIDTH = 96
"""Lines are kept about this short."""
DEPTH = 7
"""At most so many operations stand in one expression."""
STATEMENTS = {"store", "add_at", "scatter", "require", "loop", "while", "cond", "call", "keep"}
"""Steps that are not expressions."""


class CarriedName:
    """A variable that a loop carries (or that both branches of a cond assign to).

    It is free for the next value as soon as everything that got its name from `start` on has been read.
    """

    def __init__(self, name: str, start: int, before: list[Var]):
        self.name = name
        self.start = start
        self.before = before

    def is_free(self, names: Names) -> bool:
        inside = [*self.before, *names.holders[self.name][self.start :]]
        return not any(names.reads[v] > 0 for v in inside)


class Lines:
    """Writes the lines of one function. What kinds of statements there are is for classes derived from this one."""

    def __init__(self, code: Code, definitions: Definitions, functions: dict[Any, str]):
        self.code = self.current = code
        self.definitions = definitions
        self.functions = functions
        self.reads = count_reads(code)
        self.names = Names(self.reads)
        self.memory = Memory(code)
        self.texts: dict[Var, Text] = {}
        self.pending: dict[Var, Step] = {}
        """Values that stand where they are read, and the steps that compute them."""
        self.asked: set[Var] = set()
        self.lines: list[str] = []
        self.indent = 1
        self.slots: dict[Var, CarriedName] = {}
        """For the value at the end of a loop's body: the variable that carries it."""
        self.numbers: set[Operand] = set()
        """Variables that are certainly numbers and not arrays without axes, which can be written to."""
        self.kept: dict[Var, tuple[str, str]] = {}
        """For stacked results: their names, and the counter of the loop if they are arrays and not lists."""
        self._shown: Source | None = None
        self._source: Source | None = None
        self._seen: list[Var] = []

    def bind(self, var: Var, name: str) -> None:
        self.names.bind(var, name)
        self.texts[var] = Text(name)

    def statement(self, step: Step) -> None:
        """Write a step as a statement of its own."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        """A line of code; the user's line is named where it is another than before."""
        text = "    " * self.indent + text
        if self._source is not None and self._source != self._shown:
            note = f"  # {PurePath(self._source.file).name}:{self._source.line}"
            if len(text) + len(note) <= WIDTH + 20:
                text += note
            self._shown = self._source
        self.lines.append(text)

    def done(self, operands: Sequence[Operand]) -> None:
        """The operands have been read."""
        for a in operands:
            if isinstance(a, Var):
                if a in self.pending:
                    self.done(self.pending.pop(a).operands)
                self.reads[a] -= 1

    # -------------------------------------------------------------------------------------------------- expressions

    def render(self, operand: Operand) -> Text:
        """The text of an operand."""
        if isinstance(operand, Const):
            if operand.type.shape:
                return self.definitions.array(np.asarray(operand.value))
            return scalar(operand.value)
        if operand in self.pending:
            return self.compute(self.pending[operand])
        return self.texts[operand]

    def compute(self, step: Step) -> Text:
        """The text of the expression that a step is."""
        assert step.op is not None
        asked = len(step.outs) == 1 and step.outs[0] in self.asked
        out = step.outs[0].type if step.outs else None
        texts = [self.render(a) for a in step.args]
        site = Site(step.op, tuple(step.args), texts, self.params(step), out, self.definitions, asked)
        return expression(site)

    def params(self, step: Step) -> dict[str, Any]:
        """The parameters of a step, with the names of lengths in place."""
        return map_refs(step.params, lambda ref: self.length(step.sizes[ref.k])) if step.sizes else step.params

    def length(self, size: Operand) -> Any:
        return int(size.value) if isinstance(size, Const) else Raw(self.render(size).text)

    def operations(self, operands: Sequence[Operand]) -> int:
        return sum(1 + self.operations(self.pending[a].operands) for a in operands if a in self.pending)

    def fit(self, operands: Sequence[Operand], make: Any, prefix: int = 0) -> Any:
        """What `make` makes of the operands, after values have been given names of their own until it is readable."""
        while True:
            made = make()
            width = 4 * self.indent + prefix + len(made.text)
            if width <= WIDTH and self.operations(operands) <= DEPTH:
                return made
            inside = [a for a in dict.fromkeys(operands) if isinstance(a, Var) and a in self.pending]
            inside = [a for a in inside if len(self.render(a).text) > 8]
            if not inside:
                return made
            self.name_now(max(inside, key=lambda a: len(self.render(a).text)))

    def name_now(self, var: Var) -> None:
        """Give a value a variable of its own after all."""
        step = self.pending.pop(var)
        self.assign(var, step)

    def assign(self, var: Var, step: Step) -> None:
        """`name = expression`."""
        text = self.fit(step.operands, lambda: self.compute(step), 6)
        self.done(step.operands)
        name = self.target(var)
        self.line(assignment(name, text, self._is_number(step)))
        self.bind(var, name)

    def _is_number(self, step: Step) -> bool:
        """Whether the first operand is certainly a number, which `+=` cannot change behind anybody's back."""
        return bool(step.args) and step.args[0] in self.numbers

    def target(self, var: Var) -> str:
        """The name of a variable that is about to be assigned to."""
        slot = self.slots.get(var)
        if slot is not None and slot.is_free(self.names):
            return slot.name
        return self.names.new(var.hint)

    def named(self, operand: Operand) -> Text:
        """The text of an operand that is read again and again: a name."""
        if isinstance(operand, Var) and operand in self.pending:
            self.name_now(operand)
        return self.render(operand)

    # ------------------------------------------------------------------------------------------------------- bodies

    def body(self, code: Code, asks: bool = False) -> None:
        """Write the steps of a code. `asks`: its result is asked whether it is true."""
        outer, self.current = self.current, code
        consumers = single_consumers(code, self.reads)
        writes = self.memory.writes[code]
        looks: dict[Var, Roots] = {}
        if asks and isinstance(code.results[0], Var):
            self.asked.add(code.results[0])
        for step in reversed(code.steps):
            self._mark_asked(step, consumers)
        for k, step in enumerate(code.steps):
            if gives_number(step):
                self.numbers.add(step.outs[0])
            if step.source is not None:
                self._source = step.source
            if (
                step.name not in STATEMENTS
                and len(step.outs) == 1
                and self._may_wait(step, consumers, writes, looks, k)
            ):
                self.pending[step.outs[0]] = step
            else:
                self.statement(step)
        self.current = outer

    def _mark_asked(self, step: Step, consumers: dict[Var, tuple[int, Step | None, int]]) -> None:
        """Note which results are only asked whether they are true."""
        if step.name in ("cond", "require") and isinstance(step.args[0], Var):
            candidates = [step.args[0]]
        elif step.name.startswith("logical_") and step.outs[0] in self.asked:
            candidates = [a for a in step.args if isinstance(a, Var)]
        else:
            return
        self.asked.update(a for a in candidates if a in consumers and not a.type.shape)

    def _may_wait(self, step: Step, consumers: Any, writes: list, looks: dict[Var, Roots], k: int) -> bool:
        """Whether a value may stand where it is read."""
        (var,) = step.outs
        looks[var] = frozenset().union(
            *[self.memory.of(a) | (looks.get(a, frozenset()) if a in self.pending else frozenset())
              for a in step.operands if isinstance(a, Var)]
        )  # fmt: skip
        if var not in consumers:
            return False
        where, consumer, position = consumers[var]
        in_store = consumer is not None and consumer.name in ("store", "add_at") and position == 0
        if var.hint is not None or (consumer is not None and self.operations(step.operands) >= DEPTH):
            return False
        if in_store and consumer in self.memory.in_place:
            return False
        if consumer is not None and not takes_expressions(consumer, position):
            return False
        return not any(k < when < where and roots & (looks[var] | self.memory.of(var)) for when, roots in writes)


def assignment(name: str, text: Text, is_number: bool = False) -> str:
    if is_number and text.parts is not None and text.parts[0] == name and text.parts[1] in "+-*/":
        return f"{name} {text.parts[1]}= {text.parts[2]}"
    return f"{name} = {text.text}"
