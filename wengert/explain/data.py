"""What the page of `wg.explain` shows, as data: everything is computed and written here; the page only reveals it.

Positions in lists are used for references (row numbers, node numbers), so that a thousand operations stay small.
"""

from __future__ import annotations

import html
import io
import keyword
import linecache
import re
import tokenize
from pathlib import Path
from typing import Any

import numpy as np

from wengert.explain import table
from wengert.explain.cost import flops, memory
from wengert.explain.formula import factor_of, readable, with_numbers, written
from wengert.explain.graph import Graph
from wengert.explain.notation import HTML, TEXT, summary, times
from wengert.explain.recording import Listing, RecordedStep, Variable
from wengert.explain.sweeps import Contribution, adjoints, partials, tangents
from wengert.explain.symbolic import BAR, DOT, VALUE, Apply, Expression, Leaf, adjoints_of, tangent_of
from wengert.explain.trace import WengertList
from wengert.types import dtype_of, shape_of

_MOST_SEEDS = 8
"""So many inputs and outputs can be chosen as seeds."""
_AROUND = 60
"""So many lines of a function are shown; of a longer one, those with operations and what is around them."""


def page_data(trace: WengertList, graph: Graph) -> dict[str, Any]:
    """All that the page needs."""
    listing = trace.listing
    row_of = {v: k for k, v in enumerate(listing.variables)}
    sources, line_of = _sources(listing)
    expressions = {id(step): _Expressions(step) for step in listing.steps}
    return {
        "name": trace.name,
        "call": html.escape(f"{trace.name}({', '.join(_arguments(listing))})"),
        "rows": [_row(trace, v, row_of, line_of, graph) for v in listing.variables],
        "outputs": [
            [HTML.named(name), row_of.get(o, -1) if isinstance(o, Variable) else -1, shown(o.value)]
            for name, o in zip(trace.output_names, listing.outputs, strict=True)
        ],
        "forward": _forward(listing, expressions),
        "reverse": _reverse(trace, row_of, expressions),
        "sources": sources,
        "level": graph.folded.level,
    }


def _arguments(listing: Listing) -> list[str]:
    """The names of the arguments that hold inputs."""
    return list(dict.fromkeys(re.split(r"[\[.]", v.name)[0] for v in listing.inputs))


def shown(value: Any) -> str:
    """A value in a few characters, for HTML."""
    return html.escape(summary(value)).replace("-", "−")


# ------------------------------------------------------------------------------------------------------------- rows


def _row(
    trace: WengertList, v: Variable, row_of: dict[Variable, int], line_of: dict[int, int], graph: Graph
) -> dict[str, Any]:
    setter = table.Setter(trace, HTML)
    row: dict[str, Any] = {
        "name": HTML.variable(v.index),
        "value": shown(v.value),
        "node": graph.folded.node_of[v],
        "shape": times(shape_of(v.value)) or "scalar",
    }
    step = v.step
    if step is None:
        return row | {"op": "input", "of": HTML.named(v.name), "args": [], "title": v.name}
    _, formula, numbers, value = setter.primal(step, v)
    operands = [row_of[o] for o in step.operands if isinstance(o, Variable)]
    return row | {
        "op": step.name,
        "of": formula,
        "numbers": numbers if value else "",
        "args": operands,
        "partials": _partials(step, v, row_of),
        "line": line_of.get(id(step), -1),
        "constant": step.program.outputs[v.which] is None,
    }


def _partials(step: RecordedStep, v: Variable, row_of: dict[Variable, int]) -> list[list[Any]]:
    """[row of the operand, what is shown, the number or `None`] for each operand with a derivative."""
    found = []
    for p, partial in partials(step, v.which).items():
        value, operand = partial.value, step.operands[p]
        exact = None
        if value is None:
            text = f"{partial.shape[0]}×{partial.shape[1]} Jacobian"
        else:
            text = shown(value)
            if partial.shape == (1, 1) and not np.iscomplexobj(value):
                exact = float(np.asarray(value).reshape(()))
                exact = exact if np.isfinite(exact) else None
        found.append([row_of[operand], text, exact])  # type: ignore[index]
    return found


# ------------------------------------------------------------------------------------------------------- both sweeps


class _Expressions:
    """The readable derivatives of a step: found once, used for every seed."""

    def __init__(self, step: RecordedStep):
        self.tangents = [readable(e) for e in tangent_of(step)]
        self.adjoints = [readable(e) for e in adjoints_of(step)]


def _seeds(values: list[Any]) -> list[list[Any]]:
    """One of the values at a time gets ones, the others nothing."""
    ones = [np.ones(shape_of(x), dtype_of(x))[()] for x in values]
    return [[one if k == j else None for j, one in enumerate(ones)] for k in range(min(len(values), _MOST_SEEDS))]


def _forward(listing: Listing, expressions: dict[int, _Expressions]) -> list[dict[str, Any]]:
    """For each input as direction: the tangent of each row, how it is computed, and with which numbers."""
    found = []
    for k, seeds in enumerate(_seeds([v.value for v in listing.inputs])):
        dots = tangents(listing, seeds)

        def number(leaf: Leaf, dots: dict = dots) -> Any:
            return leaf.variable.value if leaf.kind == VALUE else dots.get(leaf.variable, 0)

        values, numbers = [], []
        for v in listing.variables:
            values.append(shown(dots[v]) if v in dots else "0")
            e = expressions[id(v.step)].tangents[v.which] if v.step is not None else None
            numbers.append((with_numbers(e, HTML, number) or "") if e is not None else "")
        name = listing.inputs[k].name
        found.append({"seed": HTML.named(name, "dot"), "text": TEXT.named(name), "values": values, "numbers": numbers})
    if found:
        found[0]["formulas"] = [_tangent_formula(v, expressions) for v in listing.variables]
    return found


def _tangent_formula(v: Variable, expressions: dict[int, _Expressions]) -> str:
    if v.step is None:
        return HTML.named(v.name, "dot")
    if v.step.program.outputs[v.which] is None:
        return ""
    e = expressions[id(v.step)].tangents[v.which]
    if e is not None:
        return written(e, HTML)
    operands = [v.step.operands[p] for p in v.step.places[:3]]
    name = HTML.variable(v.index)
    return " + ".join(f"{HTML.partial(name, _named(o))} {_named(o, DOT)}" for o in operands)


def _named(v: Any, accent: str = "") -> str:
    return HTML.variable(v.index, accent)


def _reverse(
    trace: WengertList, row_of: dict[Variable, int], expressions: dict[int, _Expressions]
) -> list[dict[str, Any]]:
    """For each output: the statements of the reverse sweep, [target row, step's row, formula, total], seeds first."""
    listing = trace.listing
    found = []
    values = [o.value for o in listing.outputs]
    for k, seeds in enumerate(_seeds(values)):
        output = listing.outputs[k]
        if not isinstance(output, Variable):
            continue
        _, statements = adjoints(listing, seeds)
        name = trace.output_names[k]
        lines: list[list[Any]] = [[row_of[output], -1, HTML.named(name, "bar"), shown(seeds[k])]]
        lines += [_statement(c, row_of, expressions) for c in statements]
        found.append(
            {"seed": HTML.named(name, "bar"), "of": HTML.named(name), "text": TEXT.named(name), "statements": lines}
        )
    return found


def _statement(c: Contribution, row_of: dict[Variable, int], expressions: dict[int, _Expressions]) -> list[Any]:
    share: Expression | None = expressions[id(c.step)].adjoints[c.step.places.index(c.place)]
    if share is not None:
        share = factor_of(share)
        formula = written(share if c.first else Apply("add", (Leaf(BAR, c.target), share)), HTML)
    else:
        v = c.step.results[0]
        before = "" if c.first else f"{_named(c.target, BAR)} + "
        formula = f"{before}{_named(v, BAR)} {HTML.partial(_named(v), _named(c.target))}"
    return [row_of[c.target], row_of[c.step.results[0]], formula, shown(c.total)]


# ----------------------------------------------------------------------------------------------------------- source


def _sources(listing: Listing) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """The functions that did operations, with what each line cost, and the number of the line of each step.

    Lines are numbered through all functions, so that one number tells a line.
    """
    spans: dict[tuple[str, int, int], str] = {}
    costs: dict[tuple[str, int], list[float]] = {}
    for step in listing.steps:
        p = step.place
        if p is None:
            continue
        spans.setdefault((p.file, *p.span), p.function)
        cost = costs.setdefault((p.file, p.line), [0.0, 0.0, 0.0])
        cost[0] += flops(step)
        cost[1] += memory(step)
        cost[2] += 1
    outer = [s for s in spans if not any(s != t and s[0] == t[0] and t[1] <= s[1] and s[2] <= t[2] for t in spans)]
    found: list[dict[str, Any]] = []
    numbers: dict[tuple[str, int], int] = {}
    for file, first, last in sorted(outer, key=lambda s: min(_first_step(listing, s), 1 << 30)):
        lines = []
        texts = _highlighted(file, first, last)
        for line, text in zip(range(first, last + 1), texts, strict=True):
            if last - first > 4 * _AROUND and not any((file, near) in costs for near in range(line - 4, line + 5)):
                continue
            numbers[file, line] = sum(len(s["lines"]) for s in found) + len(lines)
            lines.append([line, text, *costs.get((file, line), [0, 0, 0])])
        found.append(
            {"file": html.escape(Path(file).name), "name": html.escape(spans[file, first, last]), "lines": lines}
        )
    return found, {
        id(step): numbers.get((step.place.file, step.place.line), -1)
        for step in listing.steps
        if step.place is not None
    }


def _first_step(listing: Listing, span: tuple[str, int, int]) -> int:
    """When a function first did anything; the one that was called first stands first."""
    file, first, last = span
    for k, step in enumerate(listing.steps):
        if step.place is not None and step.place.calls:
            if step.place.file == file and first <= step.place.line <= last:
                return k - len(listing.steps) * (len(step.place.calls) == 1)
    return len(listing.steps)


_CLASSES = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}


def _highlighted(file: str, first: int, last: int) -> list[str]:
    """Lines of a file as HTML without their common indent; keywords, strings, numbers and comments are marked."""
    lines = [linecache.getline(file, k).rstrip("\n") for k in range(first, last + 1)]
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    lines = [line[cut:] for line in lines]
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            name = _CLASSES.get(token.type)
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                name = "k"
            elif token.type == tokenize.NAME and marks[token.start[0] - 1][-1:] and _after_def(marks, lines, token):
                name = "d"
            if name is not None:
                for row in range(token.start[0], token.end[0] + 1):
                    begin = token.start[1] if row == token.start[0] else 0
                    end = token.end[1] if row == token.end[0] else len(lines[row - 1])
                    marks[row - 1].append((begin, end, name))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # part of a statement, such as a lambda in a call: shown as far as it could be read
    return [_marked(line, spans) for line, spans in zip(lines, marks, strict=True)]


def _after_def(marks: list[list[tuple[int, int, str]]], lines: list[str], token: tokenize.TokenInfo) -> bool:
    begin, end, _ = marks[token.start[0] - 1][-1]
    return lines[token.start[0] - 1][begin:end] in ("def", "class")


def _marked(line: str, spans: list[tuple[int, int, str]]) -> str:
    out, at = "", 0
    for begin, end, name in spans:
        out += html.escape(line[at:begin]) + f'<b class="{name}">{html.escape(line[begin:end])}</b>'
        at = end
    return out + html.escape(line[at:])
