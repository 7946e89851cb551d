"""Learning curves as a picture: SVG, written directly."""

from __future__ import annotations

import math
from collections.abc import Sequence

_WIDTH, _HEIGHT, _LEFT, _BELOW = 480, 280, 64, 40
_COLORS = {"loss": "#3949ab", "validation": "#e65100"}


def drawn(history: dict[str, list[float]]) -> str:
    """Losses over epochs, on a logarithmic axis where all of them are positive."""
    lines = {name: history[name] for name in _COLORS if history.get(name)}
    values = [v for line in lines.values() for v in line if math.isfinite(v)]
    if not values:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"/>\n'
    logarithmic = min(values) > 0
    scale = math.log10 if logarithmic else float
    low, high = min(map(scale, values)), max(map(scale, values))
    room = 0.05 * (high - low) or 0.5
    low, high = low - room, high + room
    epochs = max(len(line) for line in lines.values())
    x = lambda k: _LEFT + (_WIDTH - _LEFT - 16) * k / max(epochs - 1, 1)
    y = lambda v: 16 + (_HEIGHT - 16 - _BELOW) * (high - scale(v)) / (high - low)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#666">'
    ]
    for tick in _ticks(low, high, logarithmic):
        at = f"{y(tick):.1f}"
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 16}" y1="{at}" y2="{at}" stroke="#8884" stroke-width="1"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at}" text-anchor="end" dominant-baseline="middle">{tick:.3g}</text>')
    for k in sorted({0, (epochs - 1) // 2, epochs - 1}):
        parts.append(f'<text x="{x(k):.1f}" y="{_HEIGHT - _BELOW + 18}" text-anchor="middle">{k + 1}</text>')
    parts.append(f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">epoch</text>')
    for row, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in enumerate(line) if math.isfinite(v))
        color = _COLORS[name]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts.append(f'<text x="{_WIDTH - 20}" y="{30 + 16 * row}" text-anchor="end" fill="{color}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _ticks(low: float, high: float, logarithmic: bool) -> Sequence[float]:
    """Round numbers between two bounds, which are logarithms if the axis is."""
    if logarithmic:
        decades = range(math.floor(low), math.ceil(high) + 1)
        factors = (1,) if high - low > 3 else (1, 2, 5)
        found = [f * 10.0**d for d in decades for f in factors if low <= math.log10(f * 10.0**d) <= high]
        if len(found) > 1:
            return found
        low, high = 10**low, 10**high
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= 5)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
