"""Pictures of `fit-a-curve.md` and of bundle adjustment in `bundle-adjustment.md`."""

from pathlib import Path

import numpy as np

from wengert import optimize

FOLDER = Path(__file__).parent


def curve() -> None:
    """Data with noise and outliers, the fit and its band."""
    random = np.random.default_rng(4)
    t = np.linspace(0, 4, 40)
    y = 2.5 * np.exp(-1.3 * t) + 0.5 + 0.08 * random.normal(size=40)
    r = lambda p, t, y: p["a"] * np.exp(-p["rate"] * t) + p["c"] - y
    found = optimize.least_squares(r, {"a": 1.0, "rate": 1.0, "c": 0.0}, args=(t, y))
    found.plot(model=lambda p, t: p["a"] * np.exp(-p["rate"] * t) + p["c"], x=t, y=y, path=FOLDER / "fit-a-curve.svg")


def pattern() -> None:
    """The entries of a Jacobian of bundle adjustment, and of JᵀJ, with what is eliminated."""
    random = np.random.default_rng(0)
    cameras, points = 4, 12
    rows = [(c, p) for p in range(points) for c in range(cameras) if random.random() < 0.6]
    size = 4.0
    width, height = 6 * cameras + 3 * points, 2 * len(rows)
    square = [[0] * width for _ in range(width)]
    parts = []
    for k, (c, p) in enumerate(rows):
        columns = [*range(6 * c, 6 * c + 6), *range(6 * cameras + 3 * p, 6 * cameras + 3 * p + 3)]
        for x in columns:
            colour = "#3949ab" if x < 6 * cameras else "#e65100"
            parts.append(
                f'<rect x="{x * size}" y="{2 * k * size}" width="{size}" height="{2 * size}" fill="{colour}"/>'
            )
            for y in columns:
                square[y][x] = 1
    left = width * size + 60
    for y in range(width):
        for x in range(width):
            if square[y][x]:
                kinds = (x < 6 * cameras) + (y < 6 * cameras)
                colour = ("#e65100", "#9e9e9e", "#3949ab")[kinds]
                place = f'x="{left + x * size}" y="{y * size}"'
                parts.append(f'<rect {place} width="{size}" height="{size}" fill="{colour}"/>')
    total, tall = left + width * size + 10, max(height, width) * size + 30
    under = lambda x, text: f'<text x="{x}" y="{tall - 8}" text-anchor="middle">{text}</text>'
    words = under(width * size / 2, "J: cameras and points") + under(left + width * size / 2, "JᵀJ")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {tall}" font-family="sans-serif" font-size="14">'
    )
    background = f'<rect width="{total}" height="{tall}" fill="white"/>'
    (FOLDER / "bundle-adjustment.svg").write_text("\n".join([head, background, *parts, words, "</svg>"]) + "\n")


if __name__ == "__main__":
    curve()
    pattern()
