"""Pictures for the gallery: axes with curves, points, bars and images, written as SVG. Nothing but NumPy is needed.

>>> figure = Figure(1)
>>> axes = figure.axes("a parabola", xlabel="x")
>>> axes.line([0, 1, 2], [0, 1, 4], label="x²")
>>> figure.text().startswith("<svg")
True
"""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

COLORS = ("#3b6fb6", "#d1672b", "#3f9b56", "#b23a7c", "#7a6bbf", "#8a8a2e", "#444444")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 380, 280, 58, 34, 14, 46


class Axes:
    """One coordinate system; limits come from what is drawn unless they are given."""

    def __init__(self, title: str = "", xlabel: str = "", ylabel: str = "", *, xlim: Any = None, ylim: Any = None,
                 log_y: bool = False, equal: bool = False):  # fmt: skip
        self.title, self.xlabel, self.ylabel = title, xlabel, ylabel
        self.xlim, self.ylim, self.log_y, self.equal = xlim, ylim, log_y, equal
        self.drawn: list[dict[str, Any]] = []

    def line(self, x: Any, y: Any, label: str = "", color: str = "", width: float = 1.8, dashed: bool = False) -> None:
        self._add("line", x, y, label, color, width=width, dashed=dashed)

    def points(self, x: Any, y: Any, label: str = "", color: str = "", size: float = 2.5) -> None:
        self._add("points", x, y, label, color, size=size)

    def band(self, x: Any, low: Any, high: Any, color: str = "") -> None:
        self._add("band", x, low, "", color or COLORS[0], high=np.ravel(high).astype(float))

    def bars(self, x: Any, y: Any, label: str = "", color: str = "") -> None:
        self._add("bars", x, y, label, color)

    def image(self, values: Any, low: float | None = None, high: float | None = None) -> None:
        """A matrix in shades of grey, or (rows, columns, 3) in colours between 0 and 1; the first row is on top."""
        values = np.asarray(values, float)
        if values.ndim == 2:
            low, high = (np.nanmin(values) if low is None else low), (np.nanmax(values) if high is None else high)
            values = np.repeat(((values - low) / max(high - low, 1e-300))[..., None], 3, axis=2)
        rows, columns = values.shape[:2]
        self.xlim, self.ylim, self.equal = self.xlim or (0, columns), self.ylim or (rows, 0), True
        self.drawn.append(dict(kind="image", values=values, x=np.array([0.0, columns]), y=np.array([rows, 0.0]),
                               label="", color=""))  # fmt: skip

    def _add(self, kind: str, x: Any, y: Any, label: str, color: str, **more: Any) -> None:
        color = color or COLORS[sum(d["kind"] != "image" and d["kind"] != "band" for d in self.drawn) % len(COLORS)]
        x, y = np.ravel(x).astype(float), np.ravel(y).astype(float)
        self.drawn.append(dict(kind=kind, x=x, y=y, label=label, color=color, **more))

    def svg(self, left: float, top: float, width: float, height: float) -> list[str]:
        x0, y0, w, h = left + LEFT, top + TOP, width - LEFT - RIGHT, height - TOP - BOTTOM
        (xa, xb), (ya, yb) = self._limits()
        if self.equal:  # one unit is as long both ways
            scale = min(w / abs(xb - xa), h / abs(yb - ya))
            x0, w = x0 + (w - scale * abs(xb - xa)) / 2, scale * abs(xb - xa)
            y0, h = y0 + (h - scale * abs(yb - ya)) / 2, scale * abs(yb - ya)
        px = lambda x: x0 + (np.asarray(x) - xa) / (xb - xa) * w
        height_of = (lambda y: np.log10(np.maximum(y, 1e-300))) if self.log_y else np.asarray
        py = lambda y: y0 + h - (height_of(y) - ya) / (yb - ya) * h
        out = [f'<text x="{left + width / 2:.1f}" y="{top + 20}" class="title">{escape(self.title)}</text>']
        out += [f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{w:.1f}" height="{h:.1f}" class="frame"/>']
        is_image = any(d["kind"] == "image" for d in self.drawn)
        if not is_image:
            for t in _ticks(xa, xb):
                out.append(f'<text x="{px(t):.1f}" y="{y0 + h + 15:.1f}" class="x">{t:.6g}</text>')
            for t in _log_ticks(ya, yb) if self.log_y else _ticks(ya, yb):
                at = y0 + h - (t - ya) / (yb - ya) * h
                name = f"{10**t:.3g}" if self.log_y else f"{t:.6g}"
                out.append(f'<text x="{x0 - 5:.1f}" y="{at + 4:.1f}" class="y">{name}</text>')
        below = y0 + h + (16 if is_image else 34)
        out.append(f'<text x="{x0 + w / 2:.1f}" y="{below:.1f}" class="x">{escape(self.xlabel)}</text>')
        middle = y0 + h / 2
        out.append(f'<text x="{left + 14:.1f}" y="{middle:.1f}" class="x" '
                   f'transform="rotate(-90 {left + 14:.1f} {middle:.1f})">{escape(self.ylabel)}</text>')  # fmt: skip
        for d in self.drawn:
            out.append(_shape(d, px, py, (x0, y0, w, h)))
        labelled = [d for d in self.drawn if d["label"]]
        if labelled:
            wide, high = 34 + 6.5 * max(len(d["label"]) for d in labelled), 15 * len(labelled)
            corners = [(a, b) for b in (y0 + 6, y0 + h - high - 4) for a in (x0 + 8, x0 + w - wide)]
            curves = [(px(d["x"]), py(d["y"])) for d in self.drawn if d["kind"] != "image"]
            a, b = min(corners, key=lambda corner: sum(_inside(x, y, *corner, wide, high) for x, y in curves))
            for k, d in enumerate(labelled):
                y = b + 8 + 15 * k
                out.append(f'<rect x="{a:.1f}" y="{y - 8:.1f}" width="12" height="8" fill="{d["color"]}"/>')
                out.append(f'<text x="{a + 17:.1f}" y="{y:.1f}" class="label">{escape(d["label"])}</text>')
        return out

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        x = np.concatenate([d["x"] for d in self.drawn])
        y = np.concatenate([np.r_[d["y"], d.get("high", []), 0.0 if d["kind"] == "bars" else d["y"][0]]
                            for d in self.drawn])  # fmt: skip
        y = np.log10(np.maximum(y, 1e-300)) if self.log_y else y
        return self.xlim or _around(x), self.ylim or _around(y)


def _inside(x: np.ndarray, y: np.ndarray, left: float, top: float, width: float, height: float) -> int:
    """How many places of a curve lie in a rectangle."""
    t = np.linspace(0, len(x) - 1, 400)
    x, y = (np.interp(t, np.arange(len(v)), v) for v in (x, y))
    return int(np.sum((x > left) & (x < left + width) & (y > top) & (y < top + height)))


def _around(values: np.ndarray) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def _ticks(a: float, b: float) -> list[float]:
    step = 10.0 ** np.floor(np.log10(abs(b - a) / 2))
    step *= 1 if abs(b - a) / step <= 6 else 2 if abs(b - a) / step <= 12 else 5
    first, last = np.ceil(min(a, b) / step - 1e-9), np.floor(max(a, b) / step + 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, last + 1)]  # + 0.0: no −0


def _log_ticks(a: float, b: float) -> list[float]:
    """Logarithms of powers of ten, and of twice and five times these where there is room."""
    low, high = min(a, b), max(a, b)
    if high - low > 5:
        return _ticks(low, high)
    steps = np.log10([1, 2, 5] if high - low < 2 else [1])
    found = [k + step for k in range(int(np.floor(low)), int(np.ceil(high))) for step in steps]
    return [t for t in found if low <= t <= high]


def _shape(d: dict[str, Any], px: Any, py: Any, frame: tuple) -> str:
    color = d["color"]
    if d["kind"] == "image":
        x0, y0, w, h = frame
        data = base64.b64encode(_png(d["values"])).decode()
        return (f'<image x="{x0:.1f}" y="{y0:.1f}" width="{w:.1f}" height="{h:.1f}" preserveAspectRatio="none" '
                f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>')  # fmt: skip
    x, y = px(d["x"]), py(d["y"])
    if d["kind"] == "band":
        edge = [*zip(x, y, strict=True), *zip(x[::-1], py(d["high"])[::-1], strict=True)]
        return f'<polygon points="{_places(edge)}" fill="{color}" opacity="0.2"/>'
    if d["kind"] == "points":
        dot = f'r="{d["size"]}" fill="{color}"'
        return "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" {dot}/>' for a, b in zip(x, y, strict=True))
    if d["kind"] == "bars":
        width, base = 0.7 * np.min(np.diff(np.sort(x)), initial=40.0), py(0.0)
        return "".join(f'<rect x="{a - width / 2:.1f}" y="{min(b, base):.1f}" width="{width:.1f}" '
                       f'height="{abs(base - b):.1f}" fill="{color}"/>' for a, b in zip(x, y, strict=True))  # fmt: skip
    dashes = ' stroke-dasharray="5 4"' if d["dashed"] else ""
    kept = np.isfinite(x) & np.isfinite(y)
    return (f'<polyline points="{_places(zip(x[kept], y[kept], strict=True))}" fill="none" stroke="{color}" '
            f'stroke-width="{d["width"]}" stroke-linejoin="round"{dashes}/>')  # fmt: skip


def _places(pairs: Any) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)


def _png(values: np.ndarray) -> bytes:
    pixels = np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


class Figure:
    """A row of axes, or several rows with so many columns."""

    def __init__(self, columns: int = 2, width: int = WIDTH, height: int = HEIGHT):
        self.columns, self.width, self.height = columns, width, height
        self._axes: list[Axes] = []

    def axes(self, *args: Any, **kwargs: Any) -> Axes:
        """The next axes of the figure; arguments as those of `Axes`."""
        self._axes.append(Axes(*args, **kwargs))
        return self._axes[-1]

    def text(self) -> str:
        rows = -(-len(self._axes) // self.columns)
        w, h = self.width * min(self.columns, len(self._axes)), self.height * rows
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" font-family="sans-serif">',
               "<style>.title{font-size:13px;font-weight:600;text-anchor:middle}.x{font-size:11px;text-anchor:middle}"
               ".y{font-size:11px;text-anchor:end}.label{font-size:11px}.frame{fill:none;stroke:#999}</style>",
               f'<rect width="{w}" height="{h}" fill="white"/>']  # fmt: skip
        for k, axes in enumerate(self._axes):
            out += axes.svg(self.width * (k % self.columns), self.height * (k // self.columns), self.width, self.height)
        return "\n".join([*out, "</svg>\n"])

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.text(), encoding="utf-8")
