"""Two small pictures as SVG text: bars beside lines of text, and curves over logarithmic axes.

Nothing is needed to draw them but strings, and any browser or notebook shows them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wengert.errors import MismatchError

COLOURS = ("#3b6fb6", "#d9822b", "#3a9d5d", "#b04a7f", "#6b6b6b")
_CHARACTER = 7.0
"""The width of a character of the monospaced text, in pixels."""
_ROW = 18


_SUFFIXES = ("", ".svg", ".html", ".htm", ".xml")


def write_svg(path: str | Path, svg: str) -> Path:
    """Write a picture to a file, whose name must not promise another kind of file; returns its path."""
    path = Path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise MismatchError(
            f"the picture is SVG, and {path.name} would be a file of another kind",
            remedy="save it to a .svg file; for other kinds draw into axes of Matplotlib, where ax= is offered, or "
            "convert the file",
        )
    path.write_text(svg, encoding="utf-8")
    return path


class Picture(str):
    """An SVG picture: it is its text, notebooks show it, `save` writes it to a file."""

    @property
    def svg(self) -> str:
        """Its text."""
        return str(self)

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file; returns its path."""
        return write_svg(path, self)


def picture(width: float, height: float, parts: Sequence[str]) -> Picture:
    """The picture that consists of these elements."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="12">'
    )
    return Picture("\n".join([head, *parts, "</svg>"]))


def text(x: float, y: float, content: str, anchor: str = "start", colour: str = "#222") -> str:
    """One line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" xml:space="preserve">'
        f"{html.escape(content)}</text>"
    )


def bars(
    labels: Sequence[str], series: Mapping[str, Sequence[float]], show: Callable[[float], str] = "{:.3g}".format
) -> Picture:
    """For each label a group of horizontal bars, one of each series, all to one scale; `show` writes their values.

    >>> str(bars(["a", "b"], {"time": [1.0, 2.0]})).count("<rect")
    3
    """
    names = list(series)
    left = 12 + _CHARACTER * max([len(x) for x in labels], default=0)
    room, group = 360.0, 10 * len(names) + 8
    largest = max([v for values in series.values() for v in values], default=0) or 1
    parts = []
    for k, name in enumerate(names):
        x = 10 + sum(len(n) * _CHARACTER + 34 for n in names[:k])
        parts.append(f'<rect x="{x:.1f}" y="6" width="12" height="10" fill="{COLOURS[k % len(COLOURS)]}"/>')
        parts.append(text(x + 18, 15, name))
    for row, label in enumerate(labels):
        top = 28 + row * max(group, _ROW)
        parts.append(text(8, top + group / 2 + 2, label))
        for k, name in enumerate(names):
            value = series[name][row]
            width = room * value / largest
            y = top + 10 * k
            colour = COLOURS[k % len(COLOURS)]
            parts.append(f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="9" fill="{colour}"/>')
            parts.append(
                f'<text x="{left + width + 4:.1f}" y="{y + 8:.1f}" font-size="9">{html.escape(show(value))}</text>'
            )
    return picture(left + room + 80, 36 + len(labels) * max(group, _ROW), parts)


def curves(x: Sequence[float], series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> Picture:
    """Curves over logarithmic axes. Points that are not positive are left out.

    >>> str(curves([1e-3, 1e-2], {"error": [1.0, 0.1]}, "h", "error")).count("<polyline")
    1
    """
    left, top, width, height = 70.0, 30.0, 480.0, 300.0
    ys = [y for values in series.values() for y in values if y > 0 and math.isfinite(y)]
    low_x, high_x = math.floor(math.log10(min(x))), math.ceil(math.log10(max(x)))
    low_y = math.floor(math.log10(min(ys, default=1)))
    high_y = max(math.ceil(math.log10(max(ys, default=1))), low_y + 1)

    def at_x(v: float) -> float:
        return left + width * (math.log10(v) - low_x) / max(high_x - low_x, 1)

    def at_y(v: float) -> float:
        return top + height * (1 - (math.log10(v) - low_y) / (high_y - low_y))

    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>']
    for power in range(low_x, high_x + 1, max(1, (high_x - low_x) // 8)):
        parts.append(text(at_x(10.0**power), top + height + 16, f"1e{power}", "middle"))
    for power in range(low_y, high_y + 1, max(1, (high_y - low_y) // 8)):
        y = at_y(10.0**power)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(left - 6, y + 4, f"1e{power}", "end"))
    for k, (name, values) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        points = [(a, b) for a, b in zip(x, values, strict=True) if b > 0 and math.isfinite(b)]
        path = " ".join(f"{at_x(a):.1f},{at_y(b):.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(text(left + 10 + 130 * k, top - 10, name, colour=colour))
    parts.append(text(left + width / 2, top + height + 34, x_label, "middle"))
    parts.append(text(8, top - 10, y_label))
    return picture(left + width + 20, top + height + 44, parts)
