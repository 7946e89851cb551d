"""Branches, and what they have in common with loops: bodies whose results go into variables known beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from wengert.backend.python.code import Code, Step
from wengert.backend.python.lines import CarriedName, assignment
from wengert.backend.python.questions import is_choice
from wengert.backend.python.statements import Statements
from wengert.backend.python.text import CONDITIONAL, NOT, TUPLE, Text
from wengert.ir.node import Operand, Var


class Branches(Statements):
    """Writes `if`."""

    def _cond(self, step: Step) -> None:
        pred, *args = step.args
        then, orelse = step.codes["then"], step.codes["orelse"]
        for a in args:
            self.named(a)
        question = self.fit([pred], lambda: self.render(pred), 4)
        self.done([pred])
        targets = [] if is_choice(step) else self._cond_targets(step, args)
        for code in (then, orelse):
            for p, a in zip(code.params, args, strict=True):
                self.texts[p] = self.render(a)
                if isinstance(a, Var):
                    self.names.bind(p, self.texts[p].text)
        if is_choice(step):
            yes = self.render(then.results[0]).within(CONDITIONAL + 1)
            no = self.render(orelse.results[0]).within(CONDITIONAL)
            self.done([*then.results, *orelse.results, *args])
            targets = [self.target(step.outs[0])]
            condition = question.within(CONDITIONAL + 1)
            self.line(f"{targets[0]} = {yes} if {condition} else {no}")
        else:
            source = self._source
            first = self._branch(then, targets)
            self._source = self._shown = source
            second = self._branch(orelse, targets)
            self._source = source
            if first or not second:
                self.line(f"if {question.text}:")
                self.lines += first or ["    " * (self.indent + 1) + "pass"]
                if second:
                    self.line("else:")
            else:
                self.line(f"if not {question.within(NOT)}:")
            self.lines += second
            self.done(args)
        for out, name in zip(step.outs, targets, strict=True):
            self.bind(out, name)

    def _branch(self, code: Code, targets: list[str]) -> list[str]:
        """The lines of a branch."""
        before, self.lines = self.lines, []
        starts = {name: len(self.names.holders[name]) for name in targets}
        slots = [CarriedName(name, starts[name], self._outer(code, name)) for name in targets]
        self.region(code, slots, targets)
        lines, self.lines = self.lines, before
        return lines

    def _outer(self, code: Code, name: str) -> list[Var]:
        """The parameters of a branch that go by a name: while they are needed it is not free."""
        return [p for p in code.params if self.texts[p].text == name]

    def _cond_targets(self, step: Step, args: list[Operand]) -> list[str]:
        """What the results of a cond are called: as an argument that ends here, if they come from it."""
        targets: list[str] = []
        for k, out in enumerate(step.outs):
            name = None
            for code in step.codes.values():
                r = code.results[k]
                for p, a in zip(code.params, args, strict=True):
                    if name is None and isinstance(a, Var) and isinstance(r, Var) and self.ends(a, args):
                        same = r is p or (bool(p.type.shape) and self.memory.of(r) == self.memory.of(p) != frozenset())
                        if same and self.texts[a].text not in targets:
                            name = self.texts[a].text
            if name is None:
                hints = [r.hint for r in (c.results[k] for c in step.codes.values()) if isinstance(r, Var)]
                for other in targets:
                    self.names.reserved[other] += 1
                name = self.names.new(out.hint, *hints)
                for other in targets:
                    self.names.reserved[other] -= 1
            targets.append(name)
        return targets

    def ends(self, a: Var, args: Sequence[Operand]) -> bool:
        """Whether a variable, read by a step as one of these operands, is not needed after it, nor any of its name."""
        return self.reads[a] == list(args).count(a) and not any(
            self.reads[v] > 0 for v in self.names.holders[self.texts[a].text] if v is not a
        )

    # ------------------------------------------------------------------------------------------------------- bodies

    def region(self, body: Code, slots: list[CarriedName], held: list[str], more: Sequence[str] = ()) -> None:
        for name in held:
            self.names.reserved[name] += 1
        saved = dict(self.slots)
        for r, slot in zip(body.results, slots, strict=True):
            if isinstance(r, Var) and r not in body.params:
                self.slots[r] = slot
        self.indent += 1
        self.body(body)
        self.move([s.name for s in slots], body.results)
        self.done(body.results)
        for line in more:
            self.line(line)
        self.indent -= 1
        self.slots = saved
        for name in held:
            self.names.reserved[name] -= 1

    def move(self, names: Sequence[str], values: Sequence[Operand]) -> None:
        """Assign all values to all names at once, in as many simple statements as possible."""
        waiting: list[tuple[str, Text, Operand]] = []
        for name, value in zip(names, values, strict=True):
            text = self.fit([value], lambda value=value: self.render(value), len(name) + 3)
            if text.text != name:
                waiting.append((name, text, value))
        while waiting:
            for item in waiting:
                if not any(_mentions(other[1].text, item[0]) for other in waiting if other is not item):
                    step = self.pending.get(item[2])  # type: ignore[arg-type]
                    is_number = step is not None and self._is_number(step)
                    self.line(assignment(item[0], item[1], is_number))
                    waiting.remove(item)
                    break
            else:
                left, right = ", ".join(w[0] for w in waiting), ", ".join(w[1].within(TUPLE + 1) for w in waiting)
                self.line(f"{left} = {right}")
                return

    def reserving(self, held: list[str], make: Callable[[], str]) -> str:
        for name in held:
            self.names.reserved[name] += 1
        made = make()
        for name in held:
            self.names.reserved[name] -= 1
        return made


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
