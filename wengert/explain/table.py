"""The table of a trace, in the survey's arrangement: the primal trace on the left, derivatives beside it.

`build` makes lines of cells in a style; `text`, `markdown`, `latex` and `html` set them. A line has up to three parts,
each with its columns: primal (name, expression, numbers, value), tangent (the same), and adjoint (name, expression with
∂, expression by the rule, value). In the adjoint part each operation has as many lines as operands, read from the
bottom upwards.
"""

from __future__ import annotations

import html as html_
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.explain.formula import factor_of, primal_of, readable, with_numbers, written
from wengert.explain.notation import ACCENTS, HTML, LATEX, TEXT, Style, padded, summary, width
from wengert.explain.place import CallSite
from wengert.explain.recording import Operand, RecordedStep, Variable
from wengert.explain.sweeps import Contribution
from wengert.explain.symbolic import BAR, DOT, Apply, Leaf, adjoints_of, tangent_of
from wengert.types import shape_of

if TYPE_CHECKING:
    from wengert.explain.trace import WengertList

STYLES: dict[str, Style] = {"text": TEXT, "latex": LATEX, "html": HTML}
TITLES = {
    "primal": "Forward primal trace",
    "tangent": "Forward tangent trace",
    "adjoint": "Reverse adjoint trace",
}
Cells = tuple[str, ...]
_NO_CELLS = ("", "", "", "")


@dataclass(slots=True)
class TableLine:
    """One line; `parts` are the cells of primal, tangent and adjoint."""

    parts: dict[str, Cells] = field(default_factory=dict)
    place: CallSite | None = None
    final: bool = False


@dataclass(slots=True)
class Table:
    """Groups of lines (inputs, operations, outputs) and the parts they have."""

    parts: list[str]
    groups: list[list[TableLine]]
    left_out: int = 0
    at: int = 0


class Setter:
    """Makes the cells of a trace in a style."""

    def __init__(self, trace: WengertList, style: Style):
        self.trace = trace
        self.style = style

    # ----------------------------------------------------------------------------------------------------- inputs

    def input(self, v: Variable) -> TableLine:
        line = TableLine(parts={"primal": (self._v(v), self.style.named(v.name), self._shown(v.value), "")})
        if self.trace.tangents is not None:
            line.parts["tangent"] = (self._v(v, "dot"), self.style.named(v.name, "dot"), self._dot(v), "")
        if self.trace.adjoints is not None:
            bar = self.style.bold
            cells = (bar(self.style.named(v.name, "bar")), bar(self._v(v, "bar")), "", bar(self._bar(v)))
            line.parts["adjoint"] = cells
        return line

    # ------------------------------------------------------------------------------------------------- operations

    def step(self, step: RecordedStep, contributions: Sequence[Contribution]) -> list[TableLine]:
        left = [self._result(step, v) for v in step.results]
        right = [self._contribution(c) for c in reversed(contributions)]
        lines = []
        for primal, adjoint in zip_longest(left, right):
            parts = dict(primal or {})
            if adjoint is not None:
                parts["adjoint"] = adjoint
            lines.append(TableLine(parts, step.place if primal is not None else None))
        return lines

    def _result(self, step: RecordedStep, v: Variable) -> dict[str, Cells]:
        parts = {"primal": self.primal(step, v)}
        if self.trace.tangents is not None:
            parts["tangent"] = self.tangent(step, v)
        return parts

    def primal(self, step: RecordedStep, v: Variable) -> Cells:
        expression = primal_of(step)
        component = self.style.plain(f"[{v.which}]") if len(step.results) > 1 else ""
        formula = written(expression, self.style) + component
        numbers = None if component else with_numbers(expression, self.style, lambda leaf: leaf.variable.value)
        value = self._shown(v.value)
        return (self._v(v), formula, value, "") if numbers is None else (self._v(v), formula, numbers, value)

    def tangent(self, step: RecordedStep, v: Variable) -> Cells:
        if step.program.outputs[v.which] is None:
            return self._v(v, "dot"), "", self.style.number("0"), ""
        expression = readable(tangent_of(step)[v.which])
        value = self._dot(v)
        if expression is None:
            terms = [
                self.style.partial(self._v(v), self._v(o)) + " " + self._v(o, "dot")
                for o in (step.operands[p] for p in step.places)
            ]
            formula = " + ".join(terms[:3]) + (" + …" if len(terms) > 3 else "")
            return self._v(v, "dot"), formula, value, ""
        numbers = with_numbers(expression, self.style, self._number_of)
        rest = (value, "") if numbers is None else (numbers, value)
        return self._v(v, "dot"), written(expression, self.style), *rest

    def _number_of(self, leaf: Leaf) -> Any:
        return self._derivative(leaf.variable, self.trace.tangents) if leaf.kind == DOT else leaf.variable.value

    def _contribution(self, c: Contribution) -> Cells:
        target = self._v(c.target, "bar")
        before = "" if c.first else f"{target} + "
        results = [v for v, k in zip(c.step.results, c.step.program.outputs, strict=True) if k is not None]
        chain = " + ".join(
            self._v(v, "bar") + " " + self.style.partial(self._v(v), self._v(c.target)) for v in results[:2]
        )
        if len(results) > 2:
            chain += " + …"
        expression = readable(adjoints_of(c.step)[c.step.places.index(c.place)])
        rule = ""
        if expression is not None:
            share = factor_of(expression)
            rule = written(share if c.first else Apply("add", (Leaf(BAR, c.target), share)), self.style)
        return target, before + chain, rule, self._shown(c.total)

    # ---------------------------------------------------------------------------------------------------- outputs

    def output(self, name: str, o: Operand) -> TableLine:
        of = self._v(o) if isinstance(o, Variable) else ""
        line = TableLine(parts={"primal": (self.style.named(name), of, self._shown(o.value), "")}, final=True)
        if self.trace.tangents is not None:
            bold = self.style.bold
            dot = self._v(o, "dot") if isinstance(o, Variable) else ""
            value = self._dot(o) if isinstance(o, Variable) else "0"
            line.parts["tangent"] = (bold(self.style.named(name, "dot")), dot and bold(dot), bold(value), "")
        if self.trace.adjoints is not None and isinstance(o, Variable):
            seed = self.trace.seed_of(o)
            line.parts["adjoint"] = (self._v(o, "bar"), self.style.named(name, "bar"), self._shown(seed), "")
        return line

    # ------------------------------------------------------------------------------------------------------ cells

    def _v(self, v: Any, accent: str = "") -> str:
        return self.style.variable(v.index, accent)

    def _dot(self, v: Variable) -> str:
        return self._shown(self._derivative(v, self.trace.tangents))

    def _bar(self, v: Variable) -> str:
        return self._shown(self._derivative(v, self.trace.adjoints))

    def _derivative(self, v: Variable, derivatives: Any) -> Any:
        found = (derivatives or {}).get(v)
        return found if found is not None else np.zeros(shape_of(v.value))[()]

    def _shown(self, value: Any) -> str:
        text = summary(value)
        return self.style.number(text) if not shape_of(value) else self.style.plain(text)


def build(trace: WengertList, style: str, rows: int | None = None) -> Table:
    """The table of a trace; with `rows`, of a longer trace only its first and last operations."""
    cells = Setter(trace, STYLES[style])
    parts = ["primal", *(["tangent"] if trace.tangents is not None else [])]
    parts += ["adjoint"] if trace.adjoints is not None else []
    sent: dict[int, list[Contribution]] = {}
    for c in trace.contributions:
        sent.setdefault(id(c.step), []).append(c)
    steps = trace.listing.steps
    left_out = 0 if rows is None else max(0, len(steps) - rows)
    at = (len(steps) - left_out) // 2
    kept = steps if not left_out else steps[:at] + steps[at + left_out :]
    blocks = [cells.step(step, sent.get(id(step), ())) for step in kept]
    operations = [line for block in blocks for line in block]
    inputs = [cells.input(v) for v in trace.listing.inputs]
    outputs = [cells.output(*pair) for pair in zip(trace.output_names, trace.listing.outputs, strict=True)]
    return Table(parts, [inputs, operations, outputs], left_out, sum(map(len, blocks[:at])))


# ---------------------------------------------------------------------------------------------------------- setting


def _columns(table: Table) -> list[tuple[str, int]]:
    """The columns that hold anything."""
    lines = [line for group in table.groups for line in group]
    return [
        (part, k) for part in table.parts for k in range(4) if any(line.parts.get(part, _NO_CELLS)[k] for line in lines)
    ]


def _cell(line: TableLine, part: str, k: int) -> str:
    text = line.parts.get(part, _NO_CELLS)[k]
    return f"= {text}" if text and k else text


def text(table: Table, source: bool) -> str:
    """The table for a terminal."""
    columns = _columns(table)
    widths = {c: max(width(_cell(line, *c)) for group in table.groups for line in group) for c in columns}

    def row(line: TableLine) -> str:
        parts = []
        for part in table.parts:
            cells = [padded(_cell(line, *c), widths[c]) for c in columns if c[0] == part]
            joined = "  ".join([cells[0] + " " + cells[1], *cells[2:]]) if len(cells) > 1 else cells[0]
            parts.append(padded(joined, len(TITLES[part])))
        return "   ".join(parts)

    blank = row(TableLine())
    titles = []
    for part in table.parts:
        own = [widths[c] for c in columns if c[0] == part]
        titles.append(padded(TITLES[part], sum(own) + 1 + 2 * (len(own) - 2) if len(own) > 1 else own[0]))
    rule = "─" * width(blank)
    lines = ["   ".join(titles).rstrip()]
    for number, group in enumerate(table.groups):
        if number and group:
            lines.append(rule)
        for k, line in enumerate(group):
            if number == 1 and table.left_out and k == table.at:
                lines.append(f"⋮   {table.left_out} more operations")
            where = f"  {line.place}: {line.place.text}" if source and line.place is not None else ""
            lines.append((row(line) + (where if len(where) < 60 else where[:59] + "…")).rstrip())
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """The table in Markdown: one row for each line."""
    columns = _columns(table)
    titles = [TITLES[part] if k == 0 else "" for part, k in columns] + ["source"]
    rows = [titles, ["---"] * len(titles)]
    for number, group in enumerate(table.groups):
        for k, line in enumerate(group):
            if number == 1 and table.left_out and k == table.at:
                rows.append([f"⋮ {table.left_out} more operations", *[""] * (len(titles) - 1)])
            where = "" if line.place is None else f"`{line.place}`"
            rows.append([*[_cell(line, *c).replace("|", r"\|") for c in columns], where])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def latex(table: Table) -> str:
    """The table in LaTeX, without the column of values where the survey has none."""
    columns = [c for c in _columns(table) if c[0] == "adjoint" or c[1] < 3]
    counts = [sum(c[0] == part for c in columns) for part in table.parts]
    spec = r"@{\qquad}".join("l" * n for n in counts)
    out = [rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}", r"\toprule"]
    titles = [rf"\multicolumn{{{n}}}{{l}}{{{TITLES[part]}}}" for part, n in zip(table.parts, counts, strict=True)]
    out.append(" & ".join(titles) + r" \\")
    for number, group in enumerate(table.groups):
        if group:
            out.append(r"\midrule")
        for k, line in enumerate(group):
            if number == 1 and table.left_out and k == table.at:
                out.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{$\vdots$ {table.left_out} more operations}} \\")
            cells = [(k, line.parts.get(part, _NO_CELLS)[k]) for part, k in columns]
            out.append(" & ".join(f"${'=' if k else ''}{cell}$" if cell else "" for k, cell in cells) + r" \\")
    return "\n".join([*out, r"\bottomrule", r"\end{tabular}"])


def html(table: Table) -> str:
    """The table in HTML, with its own small style sheet."""
    columns = _columns(table)
    counts = [(part, sum(c[0] == part for c in columns)) for part in table.parts]
    head = "".join(f'<th colspan="{n}" scope="colgroup">{TITLES[part]}</th>' for part, n in counts)
    body = []
    for number, group in enumerate(table.groups):
        rows = []
        for k, line in enumerate(group):
            if number == 1 and table.left_out and k == table.at:
                rows.append(f'<tr><td colspan="{len(columns) + 1}">⋮ {table.left_out} more operations</td></tr>')
            where = "" if line.place is None else html_.escape(f"{line.place}")
            hint = "" if line.place is None else html_.escape(line.place.text, quote=True)
            cells = "".join(f'<td class="{part}">{_cell(line, part, k)}</td>' for part, k in columns)
            rows.append(f'<tr>{cells}<td class="place" title="{hint}">{where}</td></tr>')
        body.append("<tbody>" + "".join(rows) + "</tbody>")
    return (
        f'<div class="wengert-trace"><style>{ACCENTS}'
        ".wengert-trace table{border-collapse:collapse;font-variant-numeric:tabular-nums;line-height:1.7}"
        ".wengert-trace th,.wengert-trace td{text-align:left;padding:0 .9em 0 0;white-space:nowrap;background:none}"
        ".wengert-trace i{font-family:Georgia,serif}.wengert-trace tbody{border-top:1px solid rgba(128,128,128,.45)}"
        ".wengert-trace .place{opacity:.6;font-family:monospace;font-size:85%}"
        f"</style><table><thead><tr>{head}<th>source</th></tr></thead>{''.join(body)}</table></div>"
    )
