"""Statements that are more than one expression: writes, calls, conditions that must hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wengert.backend.python.code import Step
from wengert.backend.python.lines import STATEMENTS, Lines
from wengert.backend.python.literals import dtype_text, number, quoted, shape_text
from wengert.backend.python.structure import place
from wengert.backend.python.text import ATOM, NOT, Text
from wengert.ir.node import Const, Operand, Var, map_refs
from wengert.ops.index import ARRAY, _Mark


class Statements(Lines):
    """Writes statements without a body."""

    def statement(self, step: Step) -> None:
        """Write a step as a statement of its own."""
        special = getattr(self, "_" + step.name, None) if step.name in STATEMENTS else None
        if special is not None:
            special(step)
        elif len(step.outs) == 1:
            self.assign(step.outs[0], step)
        else:
            text = self.fit(step.operands, lambda: self.compute(step), 12)
            self.done(step.operands)
            self._unpack(step.outs, text.text)

    def _unpack(self, outs: list[Var], text: str) -> None:
        names: list[str] = []
        for v in outs:
            name = self.names.new(v.hint) if self.reads[v] else "_"
            self.names.reserved[name] += name != "_"
            names.append(name)
        for v, name in zip(outs, names, strict=True):
            self.names.reserved[name] -= name != "_"
            self.bind(v, name)
        self.line(f"{', '.join(names)} = {text}")

    def _call(self, step: Step) -> None:
        name = self.functions[step.params["function"]]
        listed = [self.named(a).text if _is_long(self.render(a)) else self.render(a).text for a in step.args]
        self.done(step.args)
        text = f"{name}({', '.join(listed)})"
        if len(step.outs) == 1:
            target = self.target(step.outs[0])
            self.bind(step.outs[0], target)
            self.line(f"{target} = {text}")
        else:
            self._unpack(step.outs, text)

    def _require(self, step: Step) -> None:
        if len(step.args) > 1:  # what is computed for what that may raise
            for kept in step.args[1:]:
                self.line(self.render(kept).text)
            self.done(step.args)
            return
        ok = self.render(step.args[0])
        condition = f"np.all({ok.text})" if step.args[0].type.shape else ok.within(NOT)
        self.line(f"if not {condition}:")
        self.done(step.args)
        error = step.params["error"]
        error = "np.linalg.LinAlgError" if error == "LinAlgError" else error
        self.lines.append("    " * (self.indent + 1) + f"raise {error}({quoted(step.params['message'])})")

    def _store(self, step: Step) -> None:
        self._write(step, "=")

    def _add_at(self, step: Step) -> None:
        self._write(step, "+=")

    def _write(self, step: Step, symbol: str) -> None:
        x, v, *arrays = step.args
        (out,) = step.outs
        self.shorten(step.operands[1:])
        if step in self.memory.in_place:
            name = self.texts[x].text  # type: ignore[index]
            self._write_at(name, step.params["pattern"], step, v, arrays, symbol)
            self.done(step.operands)
        else:
            text = self.render(x)
            self.done([x])
            if not out.type.shape:
                made = f"np.array({text.text})"
            else:
                made = text.text if is_fresh(text) else f"{text.within(ATOM)}.copy()"
            name = self.target(out)
            self.line(f"{name} = {made}")
            self._write_at(name, step.params["pattern"], step, v, arrays, symbol)
            self.done(step.operands[1:])
        self.bind(out, name)

    def shorten(self, operands: Sequence[Operand]) -> None:
        """Give operands names of their own until they fit into a line together."""
        self.fit(operands, lambda: Text(", ".join(self.render(a).text for a in operands)), 20)

    def _write_at(self, name: str, pattern: tuple, step: Step, v: Operand, arrays: list[Operand], symbol: str) -> None:
        """`name[place] = v`, or `+=` in a way that counts places that occur twice."""
        filled = map_refs(pattern, lambda ref: self.length(step.sizes[ref.k])) if step.sizes else pattern
        where = place(filled, [(a, self.render(a)) for a in arrays])
        value = self.render(v)
        if isinstance(v, Const) and not v.type.shape:
            value = number(np.asarray(v.value).item())
        if symbol == "+=" and any(a.type.shape for a in arrays):
            if all(isinstance(item, _Mark) for item in filled):
                entries = [place((ARRAY,), [(a, self.render(a))]) for a in arrays]
                index = entries[0] if len(entries) == 1 else f"({', '.join(entries)})"
            else:
                index = f"np.s_[{where}]"
            self.line(f"np.add.at({name}, {index}, {value.text})")
        elif symbol == "+=" and value.negated is not None:
            self.line(f"{name}[{where}] -= {value.negated.text}")
        else:
            self.line(f"{name}[{where}] {symbol} {value.text}")

    def _scatter(self, step: Step) -> None:
        patterns = step.params["patterns"]
        values, arrays = step.args[: len(patterns)], list(step.args[len(patterns) :])
        (out,) = step.outs
        shape = self.params(step)["shape"]
        self.shorten(step.operands)
        name = self.target(out)
        suffix = "" if out.type.dtype == np.float64 else f", {dtype_text(out.type.dtype)}"
        self.line(f"{name} = np.zeros({shape_text(shape)}{suffix})")
        for k, (value, pattern) in enumerate(zip(values, patterns, strict=True)):
            count = sum(1 for item in pattern if isinstance(item, _Mark))
            own, arrays = arrays[:count], arrays[count:]
            repeated = any(a.type.shape for a in own)
            self._write_at(name, pattern, step, value, own, "=" if k == 0 and not repeated else "+=")
        self.done(step.operands)
        self.bind(out, name)

    def _keep(self, step: Step) -> None:
        assert step.kept is not None
        name, counter = self.kept[step.kept]
        (y,) = step.args
        if counter:
            text = self.fit([y], lambda: self.render(y), len(name) + 8)
            self.line(f"{name}[{counter}] = {text.text}")
        else:
            text = self.fit([y], lambda: self.render(y), len(name) + 10)
            made = self.pending.get(y) if isinstance(y, Var) else None
            fresh = made is not None and made.op is not None and not made.op.view
            copy = ".copy()" if y.type.shape and not fresh else ""
            self.line(f"{name}.append({text.within(ATOM) if copy else text.text}{copy})")
        self.done(step.args)


def is_fresh(text: Text) -> bool:
    """Whether an expression makes a new array, so that no copy is needed."""
    return text.text.startswith(("np.zeros(", "np.ones(", "np.full(", "np.array(", "np.eye(", "np.arange("))


def _is_long(text: Text) -> bool:
    return len(text.text) > 24
