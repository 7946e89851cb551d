"""The picture of `minimise.md`: the ways of four methods down the valley of Rosenbrock's function.

`python docs/how-to/make_minimise.py` writes it beside the page.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wengert import optimize

HERE = Path(__file__).parent
INK, SANS = "#1f2933", "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
COLOURS = {"lbfgs": "#4051b5", "trust-ncg-native": "#15803d", "cg-native": "#ea7317", "gradient-descent": "#b91c5c"}
LEFT, RIGHT, LOW, HIGH = -1.75, 1.6, -0.6, 1.75
WIDTH, HEIGHT = 640, 440
START = np.array([-1.2, 1.0])


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def place(x: float, y: float) -> tuple[float, float]:
    """A point of the plane in the picture."""
    return (x - LEFT) / (RIGHT - LEFT) * WIDTH, (HIGH - y) / (HIGH - LOW) * HEIGHT


def line(points: list, colour: str, width: float, extra: str = "") -> str:
    text = " ".join(f"{a:.1f},{b:.1f}" for a, b in (place(*p) for p in points))
    return f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}" {extra}/>'


def contours() -> list[str]:
    """Lines of equal value: for each x the two y at which the function has it."""
    found = []
    for k, level in enumerate((0.5, 2, 8, 32, 128, 512)):
        x = np.linspace(LEFT, RIGHT, 400)
        rest = level - (1 - x) ** 2
        inside = rest >= 0
        half = np.sqrt(rest[inside]) / 10
        upper = list(zip(x[inside], x[inside] ** 2 + half, strict=True))
        lower = list(zip(x[inside], x[inside] ** 2 - half, strict=True))
        grey = ("#8a9bb0", "#9aaabd", "#aab8c9", "#bac6d4", "#cad4e0", "#dae2ea")[k]
        found.append(line([*upper, *lower[::-1], upper[0]], grey, 1.2))
    return found


def way(method: str) -> list:
    points = [tuple(START)]
    optimize.minimize(rosenbrock, START, method=method, callback=lambda x: points.append(tuple(x)), jit=False, tol=1e-4)
    return points


def main() -> None:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{SANS}" font-size="14">',
        f"<title>{len(COLOURS)} methods on Rosenbrock's function</title>",
        f'<clipPath id="frame"><rect width="{WIDTH}" height="{HEIGHT}"/></clipPath>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fbfcfe"/><g clip-path="url(#frame)">',
        *contours(),
    ]
    labels = []
    for k, (method, colour) in enumerate(COLOURS.items()):
        points = way(method)
        parts.append(line(points, colour, 2, 'stroke-linejoin="round" opacity="0.9"'))
        for p in points:
            a, b = place(*p)
            parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{colour}"/>')
        y = 30 + 22 * k
        labels.append(f'<rect x="210" y="{y - 11}" width="14" height="14" fill="{colour}"/>')
        labels.append(f'<text x="232" y="{y}" fill="{INK}">{method}: {len(points) - 1} iterations</text>')
    for name, point, dx in (("start", START, -44), ("minimum", (1.0, 1.0), 10)):
        a, b = place(*point)
        parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="5" fill="none" stroke="{INK}" stroke-width="2"/>')
        labels.append(f'<text x="{a + dx:.1f}" y="{b + 22:.1f}" fill="{INK}">{name}</text>')
    (HERE / "minimise.svg").write_text("\n".join([*parts, "</g>", *labels, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
