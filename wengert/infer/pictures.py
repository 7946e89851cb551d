"""Pictures of draws, as SVG: pairs of parameters with their divergences, energies, ranks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.explain.pictures import Picture

_INK, _DRAW, _DIVERGED, _SOFT = "#334155", "#4f6bd8", "#d9480f", "#cbd5e1"


class DrawsPicture(Picture):
    """An SVG: notebooks show it, `save(path)` writes it, `svg` is its text."""

    def __new__(cls, width: float, height: float, parts: Sequence[str]) -> DrawsPicture:
        return super().__new__(
            cls,
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" font-family="sans-serif" font-size="11" fill="{_INK}">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>',
        )


class Axes:
    """A frame with scales; what is added is in the coordinates of the data."""

    def __init__(self, left: float, top: float, width: float, height: float, xs: tuple, ys: tuple):
        self.left, self.top, self.width, self.height, self.xs, self.ys = left, top, width, height, xs, ys
        self.parts = [f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" fill="none" '
                      f'stroke="{_SOFT}"/>']  # fmt: skip

    def x(self, value: Any) -> Any:
        return self.left + self.width * (value - self.xs[0]) / ((self.xs[1] - self.xs[0]) or 1)

    def y(self, value: Any) -> Any:
        return self.top + self.height * (1 - (value - self.ys[0]) / ((self.ys[1] - self.ys[0]) or 1))

    def dots(self, x: np.ndarray, y: np.ndarray, color: str, radius: float, opacity: float) -> None:
        """Points."""
        places = [
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}"/>' for a, b in zip(self.x(x), self.y(y), strict=True)
        ]
        self.parts.append(f'<g fill="{color}" fill-opacity="{opacity:g}">{"".join(places)}</g>')

    def bars(self, edges: np.ndarray, heights: np.ndarray, color: str, opacity: float = 0.7) -> None:
        """A histogram."""
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            top, width = self.y(min(height, self.ys[1])), max(self.x(right) - self.x(left) - 0.5, 0.5)
            self.parts.append(
                f'<rect x="{self.x(left):.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{self.top + self.height - top:.1f}" fill="{color}" fill-opacity="{opacity:g}"/>'
            )

    def band(self, low: float, high: float, color: str = _SOFT) -> None:
        """A horizontal band."""
        self.parts.append(
            f'<rect x="{self.left:g}" y="{self.y(high):.1f}" width="{self.width:g}" '
            f'height="{self.y(low) - self.y(high):.1f}" fill="{color}" fill-opacity="0.5"/>'
        )

    def ticks(self, horizontal: bool = True, vertical: bool = True) -> None:
        """The ends of the scales, in numbers."""
        bottom = self.top + self.height
        if horizontal:
            self.text(self.left, bottom + 12, f"{self.xs[0]:.3g}", "start")
            self.text(self.left + self.width, bottom + 12, f"{self.xs[1]:.3g}", "end")
        if vertical:
            self.text(self.left - 3, bottom, f"{self.ys[0]:.3g}", "end")
            self.text(self.left - 3, self.top + 9, f"{self.ys[1]:.3g}", "end")

    def text(self, x: float, y: float, text: str, anchor: str = "middle", color: str = _INK) -> None:
        """A label, in coordinates of the picture."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}">{html.escape(text)}</text>')


def named_columns(draws: Any, names: Sequence[str] | None = None, most: int = 5) -> dict[str, np.ndarray]:
    """Numbers by name (`theta[3]`), each (chain, draw), of draws in a container with these axes in front."""
    pairs = (
        [(str(name), np.asarray(x)) for name, x in draws.items()]
        if isinstance(draws, dict)
        else [(path or "x", np.asarray(x)) for path, x in zip(tree.paths(draws), tree.leaves(draws), strict=True)]
    )
    columns = {}
    for name, x in pairs:
        for at in np.ndindex(*x.shape[2:]):
            label = f"{name}[{', '.join(map(str, at))}]" if at else name
            if names is None or name in names or label in names:
                columns[label] = x[(slice(None), slice(None), *at)]
    if names is not None and not columns:
        raise ValueError(
            f"no draws are called {', '.join(map(repr, names))}; there are {', '.join(n for n, _ in pairs)}"
        )
    return columns if names is not None else dict(list(columns.items())[:most])


def _range(x: np.ndarray) -> tuple[float, float]:
    low, high = float(np.min(x)), float(np.max(x))
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def plot_pairs(result: Any, names: Sequence[str] | None = None, most: int = 2000) -> DrawsPicture:
    """Draws of pairs of parameters, with the transitions that diverged: where they gather the sampler cannot follow.

    Args:
        result: what a sampler returned.
        names: which sites, or single numbers (`"theta[0]"`), to show; the first five numbers by default.
        most: how many draws to show.

    Returns a picture with `save(path)`, which notebooks show.
    """
    columns = named_columns(result.draws, names)
    labels = list(columns)
    flat = np.stack([np.ravel(x) for x in columns.values()])
    diverged = np.ravel(result.stats.get("diverging", np.zeros(flat.shape[1], bool))).astype(bool)
    calm = np.nonzero(~diverged)[0]
    calm = calm[:: max(1, len(calm) // most)]
    size, gap, margin = 130, 14, 52
    count = len(labels)
    parts = []
    for i in range(count):
        for j in range(i + 1):
            left, top = margin + j * (size + gap), 26 + i * (size + gap)
            xs = _range(flat[j])
            if i == j:
                heights, edges = np.histogram(flat[i], bins=30)
                axes = Axes(left, top, size, size, xs, (0, 1.1 * heights.max()))
                axes.bars(edges, heights, _DRAW)
                axes.text(left + size / 2, top - 5, labels[i])
            else:
                axes = Axes(left, top, size, size, xs, _range(flat[i]))
                axes.dots(flat[j, calm], flat[i, calm], _DRAW, 1.2, 0.35)
                axes.dots(flat[j, diverged], flat[i, diverged], _DIVERGED, 2.2, 0.9)
            axes.ticks(horizontal=i == count - 1, vertical=j == 0 and i > 0)
            parts += axes.parts
    width = margin + count * (size + gap)
    note = f"{int(diverged.sum())} of {flat.shape[1]} transitions diverged"
    parts.append(f'<text x="{width - gap}" y="16" text-anchor="end" fill="{_DIVERGED}">{note}</text>')
    return DrawsPicture(width, 26 + count * (size + gap) + 18, parts)


def plot_energy(result: Any) -> DrawsPicture:
    """The energy of the draws beside its change from one to the next: alike where the momenta reach all energies.

    The fraction of missing information (E-BFMI) of each chain is below; under 0.3 the tails are explored slowly.
    """
    energy = np.asarray(result.stats["energy"], float)
    centred = energy - energy.mean(axis=1, keepdims=True)
    change = np.diff(energy, axis=1)
    missing = np.mean(change**2, axis=1) / np.var(energy, axis=1)
    edges = np.linspace(*_range(np.concatenate([np.ravel(centred), np.ravel(change)])), 50)
    heights = [np.histogram(x, bins=edges, density=True)[0] for x in (centred, change)]
    axes = Axes(40, 20, 420, 200, (edges[0], edges[-1]), (0, 1.1 * max(h.max() for h in heights)))
    axes.bars(edges, heights[0], _DRAW, 0.55)
    axes.bars(edges, heights[1], _DIVERGED, 0.45)
    axes.ticks(vertical=False)
    axes.text(52, 36, "energy − mean", "start", _DRAW)
    axes.text(52, 52, "change of energy", "start", _DIVERGED)
    axes.text(250, 250, "E-BFMI " + ", ".join(f"{m:.2f}" for m in missing))
    return DrawsPicture(480, 262, axes.parts)


def plot_ranks(ranks: dict[str, np.ndarray], draws: int) -> DrawsPicture:
    """Histograms of ranks between 0 and `draws`; within the band (99 %) they are what calibrated draws give."""
    size, height, gap = 150, 90, 24
    columns = min(4, len(ranks))
    parts = []
    for k, (name, rank) in enumerate(ranks.items()):
        bins = int(np.clip(len(rank) // 10, 4, 20))
        heights, edges = np.histogram(rank, bins=bins, range=(-0.5, draws + 0.5))
        expected = len(rank) / bins
        half = 2.58 * np.sqrt(expected * (1 - 1 / bins))
        left, top = 20 + (k % columns) * (size + gap), 28 + (k // columns) * (height + 2 * gap)
        axes = Axes(left, top, size, height, (-0.5, draws + 0.5), (0, max(heights.max(), expected + half) * 1.1))
        axes.band(max(expected - half, 0), expected + half)
        axes.bars(edges, heights, _DRAW)
        axes.text(left + size / 2, top - 6, name)
        parts += axes.parts
    rows = -(-len(ranks) // columns)
    return DrawsPicture(20 + columns * (size + gap), 28 + rows * (height + 2 * gap), parts)
