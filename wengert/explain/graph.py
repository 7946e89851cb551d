"""The computational graph of a trace as a picture (SVG), as in figure 4 of the survey.

Inputs are on the left, results on the right; a node is a variable with its operation beneath, or a group of operations
(`fold.py`). The layout is `layout.py`'s. Colours follow the reader's light or dark scheme.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from wengert.explain.fold import Edge, Folded, GraphNode, fold
from wengert.explain.formula import symbol_of
from wengert.explain.layout import GraphLayout, Point, layout
from wengert.explain.notation import TEXT
from wengert.explain.pictures import write_svg
from wengert.explain.recording import Variable

if TYPE_CHECKING:
    from wengert.explain.trace import WengertList

_RADIUS = 21.0
_GROUP_HEIGHT = 46.0
_MARGIN = 24.0
_LABEL_ROOM = 15.0
_LETTER = 6.6
_LONGEST_TITLE = 30
_DENSE = 120
_PLAIN_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋", "0123456789−")

STYLE = """
.wengert-graph{--ink:#1f2933;--quiet:#64748b;--line:#94a3b8;--paper:#fff;--in:#dbeafe;--in-line:#2563eb;--out:#fde8d4;
--out-line:#c2410c;--group:#f1f5f9;font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
@media (prefers-color-scheme:dark){.wengert-graph{--ink:#e5e9f0;--quiet:#94a3b8;--line:#64748b;--paper:#1a212c;
--in:#1e3a5f;--in-line:#7ab0ff;--out:#4a2a17;--out-line:#fb9a5b;--group:#222b38}}
.wengert-graph .shape{fill:var(--paper);stroke:var(--line);stroke-width:1.5}
.wengert-graph .input .shape{fill:var(--in);stroke:var(--in-line)}
.wengert-graph .output .shape{fill:var(--out);stroke:var(--out-line)}
.wengert-graph .group .shape{fill:var(--group)}
.wengert-graph .constant .shape{stroke-dasharray:3 3}
.wengert-graph text{fill:var(--ink);text-anchor:middle;font-size:13px}
.wengert-graph .name{font-family:Georgia,"Times New Roman",serif;font-size:16px}
.wengert-graph .op,.wengert-graph .count{fill:var(--quiet);font-size:11.5px}
.wengert-graph .title{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11px}
.wengert-graph .edge{fill:none;stroke:var(--line);stroke-width:1.4}
.wengert-graph .back{stroke-dasharray:5 4;opacity:.75}
.wengert-graph .head{fill:var(--line);fill:context-stroke}
""".strip()


class Graph:
    """A picture of a computational graph; notebooks show it, `save` writes it to a file."""

    def __init__(self, folded: Folded, svg: str, drawing: Drawing):
        self.folded = folded
        self.svg = svg
        self.drawing = drawing

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file; returns its path."""
        return write_svg(path, self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        nodes, edges = len(self.folded.nodes), len(self.folded.edges)
        return f"<graph of {nodes} nodes and {edges} edges; .svg, .save(path)>"


@dataclass(slots=True)
class MarginName:
    """A name at the margin: of an input, or of a result."""

    text: str
    node: int
    before: bool


@dataclass(slots=True)
class Drawing:
    """What is drawn where: nodes first, then terminals."""

    placed: GraphLayout
    sizes: list[tuple[float, float]]
    terminals: list[MarginName]
    edges: list[Edge]


def graph_of(trace: WengertList, level: str | None = None) -> Graph:
    """The graph of a trace, folded to a level."""
    folded = fold(trace.listing, level)
    terminals = _terminals(trace, folded)
    drawing = _drawn(folded, terminals)
    return Graph(folded, _svg(trace, folded, drawing), drawing)


def _terminals(trace: WengertList, folded: Folded) -> list[MarginName]:
    found = [
        MarginName(TEXT.named(node.variables[0].name), k, True)
        for k, node in enumerate(folded.nodes)
        if node.kind == "input" and len(node.variables) == 1
    ]
    arguments = ", ".join(TEXT.named(v.name) for v in trace.listing.inputs)
    whole = f"{trace.name}({arguments})"
    for name, output in zip(trace.output_names, trace.listing.outputs, strict=True):
        if isinstance(output, Variable):
            readable = len(trace.output_names) == 1 and len(whole) <= 20 and trace.name.isidentifier()
            found.append(MarginName(whole if readable else TEXT.named(name), folded.node_of[output], False))
    return found


def _drawn(folded: Folded, terminals: list[MarginName]) -> Drawing:
    """Nodes and terminals, placed. Terminals before the inputs are numbered first: numbers must rise along edges."""
    starts = [t for t in terminals if t.before]
    ends = [t for t in terminals if not t.before]
    shift = len(starts)
    n = len(folded.nodes)
    sizes = (
        [_terminal_size(t) for t in starts] + [_size(node) for node in folded.nodes] + [_terminal_size(t) for t in ends]
    )
    pairs = [(k, t.node + shift) for k, t in enumerate(starts)]
    pairs += [(min(e.source, e.target) + shift, max(e.source, e.target) + shift) for e in folded.edges]
    pairs += [(t.node + shift, shift + n + k) for k, t in enumerate(ends)]
    first = dict.fromkeys(range(shift), 0)
    first |= {k + shift: min(shift, 1) for k, node in enumerate(folded.nodes) if node.kind == "input"}
    gap = (36.0, 6.0) if n > _DENSE else (54.0, 12.0)
    placed = layout(sizes, pairs, first=first, gap=gap)
    return Drawing(placed, sizes, terminals, folded.edges)


def _size(node: GraphNode) -> tuple[float, float]:
    if node.kind == "group" or len(node.variables) > 1:
        return max(_LETTER * len(_clipped(node.title)), 6.2 * len(_count(node))) + 28, _GROUP_HEIGHT
    return 2 * _RADIUS, 2 * (_RADIUS + (_LABEL_ROOM / 3 if node.kind == "input" else _LABEL_ROOM))


def _terminal_size(terminal: MarginName) -> tuple[float, float]:
    return max(20.0, 8.0 * len(terminal.text)), 24.0


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 1] + "…"


# -------------------------------------------------------------------------------------------------------------- SVG


def _svg(trace: WengertList, folded: Folded, drawing: Drawing) -> str:
    placed, sizes = drawing.placed, drawing.sizes
    starts = [t for t in drawing.terminals if t.before]
    ends = [t for t in drawing.terminals if not t.before]
    shift, n = len(starts), len(folded.nodes)
    outputs = {t.node for t in ends}
    extra = 40.0 if any(e.back for e in folded.edges) else 0.0
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN + extra
    label = quoteattr(f"Computational graph of {trace.name}: {n} nodes, {len(folded.edges)} edges")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wengert-graph" role="group" aria-label={label} '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="wengert-head" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="10" markerHeight="10" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="head" d="M0 .6 8 4 0 7.4 1.6 4z"/>'
        "</marker></defs>",
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
    ]
    for k, _ in enumerate(starts):
        out.append(_edge_path(placed.routes[k], sizes, (k, starts[k].node + shift), "terminal", shift, n))
    for k, edge in enumerate(folded.edges):
        route = placed.routes[shift + k]
        kind = "back" if edge.back else ""
        data = f'data-from="{edge.source}" data-to="{edge.target}"'
        pair = (min(edge.source, edge.target) + shift, max(edge.source, edge.target) + shift)
        if edge.back:
            out.append(_back_path(placed, sizes, pair, data))
        else:
            out.append(_edge_path(route, sizes, pair, kind, shift, n, data))
    for k, t in enumerate(ends):
        route = placed.routes[shift + len(folded.edges) + k]
        out.append(_edge_path(route, sizes, (t.node + shift, shift + n + k), "terminal", shift, n))
    for k, node in enumerate(folded.nodes):
        out.append(_node(node, k, placed.centres[k + shift], sizes[k + shift], k in outputs))
    for k, t in enumerate(starts):
        out.append(_terminal(t, placed.centres[k], "input-name"))
    for k, t in enumerate(ends):
        out.append(_terminal(t, placed.centres[shift + n + k], "output-name"))
    return "\n".join([*out, "</g></svg>"])


def _terminal(t: MarginName, at: Point, kind: str) -> str:
    return f'<text class="name {kind}" x="{at[0]:.1f}" y="{at[1] + 5:.1f}">{_name(t.text)}</text>'


def _node(node: GraphNode, k: int, at: Point, size: tuple[float, float], is_output: bool) -> str:
    x, y = at
    classes = ["node", node.kind] + (["output"] if is_output else [])
    if node.steps and not any(step.differentiable for step in node.steps):
        classes.append("constant")
    where = f'data-line="{node.place.line}"' if node.place is not None else ""
    if node.kind == "group" or len(node.variables) > 1:
        title, count, w = _clipped(node.title), _count(node), size[0]
        inner = (
            f'<rect class="shape" x="{x - w / 2:.1f}" y="{y - size[1] / 2:.1f}" width="{w:.1f}" height="{size[1]:.1f}" '
            f'rx="9"/><text class="title" x="{x:.1f}" y="{y - 3:.1f}">{escape(title)}</text>'
            f'<text class="count" x="{x:.1f}" y="{y + 14:.1f}">{escape(count)}</text>'
        )
        label = f"{node.title}: {count}"
    else:
        v = node.variables[0]
        operation = "" if v.step is None else symbol_of(v.step)
        name = _name(TEXT.variable(v.index))
        inner = f'<circle class="shape" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS:g}"/>'
        inner += f'<text class="name" x="{x:.1f}" y="{y + 5:.1f}">{name}</text>'
        if operation:
            inner += f'<text class="op" x="{x:.1f}" y="{y + _RADIUS + 13:.1f}">{escape(operation)}</text>'
        label = f"{TEXT.variable(v.index)}, {v.step.name if v.step else 'input'}"
    return (
        f'<g class="{" ".join(classes)}" data-node="{k}" {where} tabindex="-1" aria-label={quoteattr(label)}>'
        f"{inner}</g>"
    )


def _count(node: GraphNode) -> str:
    """What a group holds."""
    parts = [f"line {node.place.line}"] if node.place is not None else []
    parts += [f"{len(node.steps)} operations"] if node.steps else []
    return " · ".join(parts) + (" ↻" if node.repeats else "")


def _name(text: str) -> str:
    """A name in which runs of subscripts are set as such: few fonts have good ones of their own."""
    out = ""
    for part in re.findall(r"[₀-₉₋]+|[^₀-₉₋]+", text):
        if part[0] in "₀₁₂₃₄₅₆₇₈₉₋":
            index = part.translate(_PLAIN_DIGITS)
            out += f'<tspan dy="4" font-size="11">{index}</tspan><tspan dy="-4">\u200b</tspan>'
        else:
            slanted = ' font-style="italic"' if part[0].isalpha() else ""
            out += f"<tspan{slanted}>{escape(part)}</tspan>"
    return out


def _ends(
    route: Sequence[Point], sizes: list[tuple[float, float]], pair: tuple[int, int], shift: int, n: int
) -> list[Point]:
    """A route that begins and ends at the outlines of its nodes, circles or boxes."""
    points = list(route)
    u, v = pair
    points[0] = _outline(points[0], points[1], sizes[u], shift <= u < shift + n)
    points[-1] = _outline(points[-1], points[-2], sizes[v], shift <= v < shift + n)
    return points


def _outline(centre: Point, towards: Point, size: tuple[float, float], is_node: bool) -> Point:
    x, y = centre
    w, _ = size
    if is_node and w == 2 * _RADIUS:
        angle = math.atan2(towards[1] - y, towards[0] - x)
        angle = max(-1.0, min(1.0, angle)) if towards[0] > x else angle
        return x + (_RADIUS + 1.5) * math.cos(angle), y + (_RADIUS + 1.5) * math.sin(angle)
    side = 1 if towards[0] > x else -1
    return x + side * (w / 2 + 2), y


def _edge_path(
    route: Sequence[Point], sizes: list[tuple[float, float]], pair: tuple[int, int], kind: str, shift: int, n: int,
    data: str = "",
) -> str:  # fmt: skip
    points = _ends(route, sizes, pair, shift, n)
    return f'<path class="edge {kind}" {data} marker-end="url(#wengert-head)" d="{_curve(points)}"/>'


def _curve(points: Sequence[Point]) -> str:
    """A smooth curve through points that lie from left to right: horizontal at those between, as straight as can be."""
    if len(points) == 2:
        (x0, y0), (x1, y1) = points
        bend = 0.5 * (x1 - x0) if abs(y1 - y0) > 2.2 * abs(x1 - x0) else 0.0
        if not bend:
            return f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
        return f"M{x0:.1f} {y0:.1f}C{x0 + bend:.1f} {y0:.1f} {x1 - bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    out = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    slopes = [_slope(points, k) for k in range(len(points))]
    for k in range(len(points) - 1):
        (x0, y0), (x1, y1) = points[k], points[k + 1]
        third = (x1 - x0) / 3
        out.append(
            f"C{x0 + third:.1f} {y0 + slopes[k] * third:.1f} {x1 - third:.1f} {y1 - slopes[k + 1] * third:.1f} "
            f"{x1:.1f} {y1:.1f}"
        )
    return "".join(out)


def _slope(points: Sequence[Point], k: int) -> float:
    """The slope of the curve at a point: that of the chord, and none where the route turns back (so that the curve does
    not leave the band between its points; Fritsch and Carlson 1980)."""
    if k in (0, len(points) - 1):
        a, b = (points[0], points[1]) if k == 0 else (points[-2], points[-1])
        return (b[1] - a[1]) / (b[0] - a[0])
    before = (points[k][1] - points[k - 1][1]) / (points[k][0] - points[k - 1][0])
    after = (points[k + 1][1] - points[k][1]) / (points[k + 1][0] - points[k][0])
    return 0.0 if before * after <= 0 else 2 * before * after / (before + after)


def _back_path(placed: GraphLayout, sizes: list[tuple[float, float]], pair: tuple[int, int], data: str) -> str:
    """An edge to an earlier node: beneath both, from the later one."""
    early, late = pair
    (x0, y0), (x1, y1) = placed.centres[early], placed.centres[late]
    a, b = y0 + sizes[early][1] / 2 + 2, y1 + sizes[late][1] / 2 + 2
    depth = max(a, b) + 26 + 0.05 * abs(x1 - x0)
    return (
        f'<path class="edge back" {data} marker-end="url(#wengert-head)" '
        f'd="M{x1:.1f} {b:.1f}C{x1:.1f} {depth:.1f} {x0:.1f} {depth:.1f} {x0:.1f} {a:.1f}"/>'
    )
