"""The picture of `variational-inference.md`: a bent density, and what three families make of it.

`python docs/how-to/make_variational.py` writes it beside the page.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wengert import infer

HERE = Path(__file__).parent
SIZE, GAP = 190, 20


def banana(x):
    return -0.125 * x[0] ** 2 - 2 * (x[1] - 0.5 * x[0] ** 2) ** 2


def shade():
    """Cells of the density."""
    xs, ys = np.linspace(-5, 5, 60), np.linspace(-2, 8, 60)
    density = np.exp(-0.125 * xs[:, None] ** 2 - 2 * (ys - 0.5 * xs[:, None] ** 2) ** 2)
    cell = SIZE / 60
    return "".join(
        f'<rect x="{i * cell:.1f}" y="{SIZE - (j + 1) * cell:.1f}" width="{cell + 0.2:.1f}" height="{cell + 0.2:.1f}" '
        f'fill="#4051b5" fill-opacity="{0.75 * density[i, j]:.2f}"/>'
        for i in range(60)
        for j in range(60)
        if density[i, j] > 0.03
    )


def panel(k, title, draws):
    inside = (np.abs(draws[:, 0]) < 5) & (draws[:, 1] > -2) & (draws[:, 1] < 8)
    dots = "".join(
        f'<circle cx="{SIZE * (a + 5) / 10:.1f}" cy="{SIZE * (1 - (b + 2) / 10):.1f}" r="1.3"/>'
        for a, b in draws[inside][:400]
    )
    return (
        f'<g transform="translate({GAP + k * (SIZE + GAP)} 34)">{shade()}'
        f'<rect width="{SIZE}" height="{SIZE}" fill="none" stroke="#cbd5e1"/>'
        f'<g fill="#ea7317" fill-opacity="0.7">{dots}</g>'
        f'<text x="{SIZE / 2}" y="-10" text-anchor="middle">{title}</text></g>'
    )


if __name__ == "__main__":
    parts = []
    for k, family in enumerate(("full-rank", "planar", "real-nvp")):
        fit = infer.advi(banana, init=np.zeros(2), family=family)
        parts.append(
            panel(k, f"{family}: elbo {fit.elbo - np.log(2 * np.pi):.2f}, khat {fit.khat:.2f}", fit.sample(400))
        )
    width, height = 3 * (SIZE + GAP) + GAP, SIZE + 50
    (HERE / "variational.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui,sans-serif" font-size="12" fill="#1f2933">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n',
        encoding="utf-8",
    )
