"""Pictures as SVG text: curves over linear or logarithmic axes, and boxes of text with arrows between them.

A page shows them as images, so they bring their own white ground and colours and need no font but the reader's.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

COLOURS = ("#4051b5", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#64748b")
INK, QUIET, GRID = "#1f2933", "#64748b", "#e2e8f0"
SANS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def picture(width: float, height: float, parts: Sequence[str], title: str) -> str:
    """A whole picture; `title` is read out to those who cannot see it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" font-family="{SANS}" font-size="13">',
            f"<title>{html.escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#fff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, content: str, anchor: str = "start", colour: str = INK, more: str = "") -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" xml:space="preserve" {more}>'
        f"{html.escape(content)}</text>"
    )


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers mapped to one of pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = True

    def at(self, v: float) -> float:
        """Where a number lies."""
        low, high, v = (math.log10(u) if self.logarithmic else u for u in (self.low, self.high, v))
        return self.start + (self.end - self.start) * (v - low) / (high - low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Numbers to mark, and how they are written."""
        if not self.logarithmic:
            step = 10 ** math.floor(math.log10(self.high - self.low))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if (self.high - self.low) / s <= 8)
            count = int((self.high - self.low) / step + 1e-9)
            return [(self.low + k * step, f"{self.low + k * step:g}") for k in range(count + 1)]
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        step = max(1, (last - first) // 8)
        return [(10.0**p, str(10**p) if 0 <= p <= 2 else f"10{str(p).translate(_SUPERSCRIPTS)}")
                for p in range(first, last + 1, step)]  # fmt: skip


def curves(
    x: Sequence[float], series: dict[str, Sequence[float]], x_label: str, y_label: str, title: str,
    logarithmic: tuple[bool, bool] = (True, True), marks: bool = False,
) -> str:  # fmt: skip
    """Curves in one frame, each with its name at its end."""
    left, top, width, height, room = 70.0, 34.0, 470.0, 290.0, 150.0
    ys = [y for values in series.values() for y in values if y > 0 and math.isfinite(y)]
    if logarithmic[1]:
        bounds = 10.0 ** math.floor(math.log10(min(ys))), 10.0 ** math.ceil(math.log10(max(ys)))
    else:
        bounds = 0.0, 1.05 * max(ys)
    across = Axis(min(x) if logarithmic[0] else 0, max(x), left, left + width, logarithmic[0])
    upwards = Axis(*bounds, top + height, top, logarithmic[1])
    parts = []
    for v, label in upwards.ticks:
        y = upwards.at(v)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="{GRID}"/>')
        parts.append(text(left - 8, y + 4, label, "end", QUIET))
    for v, label in across.ticks:
        px = across.at(v)
        parts.append(f'<line x1="{px:.1f}" y1="{top}" x2="{px:.1f}" y2="{top + height}" stroke="{GRID}"/>')
        parts.append(text(px, top + height + 18, label, "middle", QUIET))
    labels: list[float] = []
    ordered = sorted(series.items(), key=lambda item: upwards.at(max(item[1][-1], bounds[0] or 1e-300)))
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(series)}
    for name, values in ordered:
        points = [(across.at(a), upwards.at(b)) for a, b in zip(x, values, strict=True) if bounds[0] <= b <= bounds[1]]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        if marks:
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colours[name]}"/>' for a, b in points]
        y = max(points[-1][1] + 4, labels[-1] + 16 if labels else 0)
        labels.append(y)
        parts.append(text(left + width + 10, y, name, colour=colours[name], more='font-weight="600"'))
    parts.append(text(left + width / 2, top + height + 40, x_label, "middle"))
    parts.append(text(left - 8, top - 14, y_label))
    return picture(left + width + room, top + height + 54, parts, title)


@dataclass(frozen=True)
class Block:
    """A box with a heading, lines of code, and a result at its foot."""

    heading: str
    lines: Sequence[str]
    result: str = ""
    shaded: bool = False

    @property
    def height(self) -> float:
        return 44 + 17 * len(self.lines) + (26 if self.result else 0)


def block(b: Block, x: float, y: float, width: float, height: float) -> list[str]:
    """A box at a place."""
    fill = "#eef2ff" if b.shaded else "#fff"
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="#94a3b8"/>']
    parts.append(text(x + 14, y + 24, b.heading, more='font-weight="700"'))
    for k, line in enumerate(b.lines):
        parts.append(text(x + 14, y + 46 + 17 * k, line, more=f'font-family="{MONO}" font-size="11.5"'))
    if b.result:
        parts.append(text(x + width - 14, y + height - 12, b.result, "end", COLOURS[0], 'font-weight="600"'))
    return parts


def arrow(x1: float, y1: float, x2: float, y2: float, label: str, at: str = "side") -> list[str]:
    """A straight arrow with its name beside it, or above."""
    angle = math.atan2(y2 - y1, x2 - x1)
    tip = [(x2 - 10 * math.cos(angle + a), y2 - 10 * math.sin(angle + a)) for a in (-0.35, 0.35)]
    head = " ".join(f"{px:.1f},{py:.1f}" for px, py in [(x2, y2), *tip])
    parts = [f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{QUIET}" stroke-width="1.6"/>']
    parts.append(f'<polygon points="{head}" fill="{QUIET}"/>')
    lines = label.split("\n")
    for k, line in enumerate(lines):
        if at == "side":
            place = (x1 + x2) / 2 + 10, (y1 + y2) / 2 + 4 + 15 * k
            parts.append(text(*place, line, colour=QUIET, more='font-size="12"'))
        else:
            y = (y1 + y2) / 2 - 8 - 15 * (len(lines) - 1 - k)
            parts.append(text((x1 + x2) / 2, y, line, "middle", QUIET, 'font-size="12"'))
    return parts
