"""The writer of a function, complete: loops."""

from __future__ import annotations

import numpy as np

from wengert.backend.python.branches import Branches
from wengert.backend.python.code import Code, Step
from wengert.backend.python.lines import CarriedName
from wengert.backend.python.literals import dtype_text, number
from wengert.backend.python.questions import counts_down, is_float, is_number_in, meets_doubles
from wengert.backend.python.statements import is_fresh
from wengert.backend.python.text import ATOM, NOT, Text
from wengert.ir.node import Const, Var


class Writer(Branches):
    """Writes a function."""

    def _loop(self, step: Step) -> None:
        count, carried, body = step.args[0], step.params["carried"], step.codes["body"]
        counter = body.params[0]
        inits, consts = step.args[1 : 1 + carried], step.args[1 + carried :]
        same = [p for p, a in zip(body.params[1 + carried :], consts, strict=True) if a is count]
        backwards = counts_down(body, count, same)
        stacked = bool(step.outs[carried:])
        length = (
            self.named(count)
            if stacked and isinstance(count, Var) and self.operations([count]) > 1
            else self.render(count)
        )
        slots = self._enter(step, inits, consts, body.params[1 : 1 + carried], body.params[1 + carried :])
        held = [s.name for s in slots]
        free = [n for n in "kijlm" if self.names.is_free(n) and n not in held]
        index = self.reserving(held, lambda: self.names.new(counter.hint, otherwise=free[0] if free else "k"))
        held.append(index)
        for y in step.outs[carried:]:
            held.append(self.reserving(held, lambda: self._stack(step, y, length.text, index)))  # noqa: B023
        range_ = f"range({length.text})"
        if backwards:
            range_ = f"reversed({range_})"
            for inner in backwards:
                self._leave_out(body, inner)
                self.bind(inner.outs[0], index)
        self.bind(counter, index)
        self.line(f"for {index} in {range_}:")
        opened = len(self.lines)
        self.reads[counter] += stacked  # what is kept is written at its place: nobody else may have its name
        self.region(body, slots, held)
        self.reads[counter] -= stacked
        if len(self.lines) == opened:
            self.lines.append("    " * (self.indent + 1) + "pass")
        self.done(step.args)
        self._leave(step, slots, carried)

    def _leave_out(self, code: Code, step: Step) -> None:
        """Forget a step whose result is something else by another way, and what only it needed."""
        at = code.steps.index(step)
        del code.steps[at]
        writes = self.memory.writes[code]
        writes[:] = [(k - (k > at), roots) for k, roots in writes]
        for a in step.operands:
            if isinstance(a, Var):
                self.reads[a] -= 1
                made = next((s for s in code.steps if s.outs == [a]), None)
                if made is not None and self.reads[a] == 0:
                    self._leave_out(code, made)

    def _while(self, step: Step) -> None:
        carried, body, test = step.params["carried"], step.codes["body"], step.codes["test"]
        inits, consts = step.args[:carried], step.args[carried:]
        slots = self._enter(step, inits, consts, body.params[:carried], body.params[carried:])
        for p, q in zip(test.params, body.params, strict=True):
            self.texts[p] = self.texts[q]
            self.names.bind(p, self.texts[q].text)
        held = [s.name for s in slots]
        counted = step.outs[carried]
        lists = []
        if step.params["counted"]:
            count = self.reserving(held, lambda: self.names.new(counted.hint, otherwise="count"))
            held.append(count)
            self.line(f"{count} = 0")
            self.bind(counted, count)
        for y in step.outs[carried + 1 :]:
            name = self.reserving(held, lambda: self.names.new(y.hint, otherwise="saved"))  # noqa: B023
            held.append(name)
            self.line(f"{name} = []")
            self.kept[y] = (name, "")
            lists.append(name)
        # The question in one line, if there are no statements in it.
        for name in held:
            self.names.reserved[name] += 1
        self.indent += 1
        before, self.lines = self.lines, []
        self.body(test, asks=True)
        answer = self.render(test.results[0])
        self.done(test.results)
        asking, self.lines = self.lines, before
        self.indent -= 1
        for name in held:
            self.names.reserved[name] -= 1
        if asking:
            self.line("while True:")
            self.lines += asking
            self.indent += 1
            self.line(f"if not {answer.within(NOT)}:")
            self.lines.append("    " * (self.indent + 1) + "break")
            self.indent -= 1
        else:
            self.line(f"while {answer.text}:")
        opened = len(self.lines)
        self.region(body, slots, held, [f"{count} += 1"] if step.params["counted"] else [])
        if len(self.lines) == opened:
            self.lines.append("    " * (self.indent + 1) + "pass")
        self.done(step.args)
        self._leave(step, slots, carried)
        for y, name in zip(step.outs[carried + 1 :], lists, strict=True):
            dtype = dtype_text(y.type.dtype)
            shape = [str(n) for n in y.type.shape[1:]]
            reshaped = f".reshape(len({name}), {', '.join(shape)})" if shape and "Dyn" not in "".join(shape) else ""
            self.line(f"{name} = np.array({name}, {dtype}){reshaped}")
            self.bind(y, name)

    def _stack(self, step: Step, y: Var, length: str, index: str) -> str:
        """Make room for the stacked result of a loop."""
        keep = next(s for s in step.codes["body"].steps if s.kept is y)
        kept_hint = keep.args[0].hint if isinstance(keep.args[0], Var) else None
        name = self.names.new(y.hint, f"saved_{kept_hint}" if kept_hint else None, otherwise="saved")
        shape = y.type.shape[1:]
        if all(n.__class__ is int for n in shape):
            size = ", ".join([length, *map(str, shape)])
            dtype = "" if y.type.dtype == np.float64 else f", {dtype_text(y.type.dtype)}"
            self.line(f"{name} = np.empty({f'({size})' if shape else size}{dtype})")
            self.kept[y] = (name, index)
        else:
            self.line(f"{name} = []")
            self.kept[y] = (name, "")
        self.bind(y, name)
        return name

    def _enter(
        self, step: Step, inits: list, consts: list, params: list[Var], const_params: list[Var]
    ) -> list[CarriedName]:
        """Give what a loop carries, and what it only looks at, names; make the initial values."""
        self._enter_constants(const_params, consts)
        slots: list[CarriedName] = []
        for k, (p, a) in enumerate(zip(params, inits, strict=True)):
            taken = [s.name for s in slots]
            result, out = step.codes["body"].results[k], step.outs[k]
            copies = (step, k) in self.memory.copied
            text = self.fit([a], lambda a=a: self.render(a), 12)
            others = [b for j, b in enumerate((*inits, *consts)) if j != k]
            stays = isinstance(a, Var) and a in self.texts and a not in others and self.ends(a, inits) and not copies
            if stays and text.text not in taken and (p.hint is None or a.hint is None or p.hint == a.hint):
                name = text.text
            else:
                hints = [v.hint for v in (p, out, result, a) if isinstance(v, Var)]
                name = self.reserving(taken, lambda: self.names.new(*hints))  # noqa: B023
                if copies and isinstance(a, Var) and a in self.texts and a not in others and self.ends(a, inits):
                    name = self.texts[a].text if self.texts[a].text not in taken else name
                if is_float(a) and self._may_be_plain(step, k):
                    text = number(float(a.value))
                if copies and not is_fresh(text):
                    text = Text(f"{text.within(ATOM)}.copy()")
                self.line(f"{name} = {text.text}")
            if a in self.pending:
                self.done(self.pending[a].operands)
                del self.pending[a]
                self.texts[a] = Text(name)
            if (isinstance(a, Const) or a in self.numbers) and is_number_in(step.codes["body"], result):
                self.numbers |= {p, out}
            slots.append(CarriedName(name, len(self.names.holders[name]), [p]))
            self.names.reserved[name] += 1  # until all have theirs
        for slot, p in zip(slots, params, strict=True):
            self.names.reserved[slot.name] -= 1
            slot.start = len(self.names.holders[slot.name])
            self.bind(p, slot.name)
        return slots

    def _enter_constants(self, params: list[Var], values: list) -> None:
        """Give what a loop only looks at its names."""
        for p, a in zip(params, values, strict=True):
            text = self.named(a)
            if isinstance(a, Const) and not text.text.isidentifier():
                name = self.names.new(p.hint, otherwise="c")
                self.line(f"{name} = {text.text}")
                text = Text(name)
            self.texts[p] = text
            self.names.bind(p, text.text)

    def _may_be_plain(self, step: Step, k: int) -> bool:
        """Whether a loop may begin with a Python number: it meets only values of NumPy's types, which decide."""
        body, at = step.codes["body"], k + (step.name == "loop")
        sure = step.name == "loop" and isinstance(step.args[0], Const) and step.args[0].value >= 1
        return meets_doubles(body, body.params[at], False) and (
            sure or meets_doubles(self.current, step.outs[k], self.current is self.code)
        )

    def _leave(self, step: Step, slots: list[CarriedName], carried: int) -> None:
        for out, slot in zip(step.outs[:carried], slots, strict=True):
            self.bind(out, slot.name)
        if step.name == "loop":
            for y in step.outs[carried:]:
                name, counter = self.kept[y]
                if not counter:
                    self.line(f"{name} = np.array({name}, {dtype_text(y.type.dtype)})")
