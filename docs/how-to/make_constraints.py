"""The pictures of `constraints.md` and of the programs in `large-sparse-problems.md`.

`python docs/how-to/make_constraints.py` writes them beside the pages; it needs Matplotlib.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from wengert.optimize import nlp

HERE = Path(__file__).parent
mpl.use("Agg")
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "wengert", "font.size": 9, "axes.spines.top": False,
                     "axes.spines.right": False})  # fmt: skip
BLUE, ORANGE, GREEN, GREY = "#4051b5", "#ea7317", "#15803d", "#94a3b8"


def objective(p):
    return (p[0] - 1) ** 2 + 4 * (p[1] - p[0] ** 2) ** 2


def inside(p):
    return np.stack([1.2 - p[0] ** 2 - p[1] ** 2, p[1] - 0.5 * p[0] - 0.1])


def path() -> None:
    """Contours, the feasible set, and the points of the interior-point method."""
    seen = [np.array([-0.9, 0.0])]
    found = nlp(objective, seen[0], inequalities=inside, engine="interior-point", callback=lambda x: seen.append(x))
    x, y = np.meshgrid(np.linspace(-1.4, 1.5, 300), np.linspace(-0.6, 1.4, 300))
    figure, axes = plt.subplots(figsize=(5.6, 3.9))
    axes.contour(x, y, np.log1p(objective(np.stack([x, y]))), 14, colors=GREY, linewidths=0.6)
    axes.contourf(x, y, np.min(inside(np.stack([x, y])), axis=0), [0, 10], colors=[BLUE], alpha=0.12)
    axes.contour(x, y, np.min(inside(np.stack([x, y])), axis=0), [0], colors=[BLUE], linewidths=1.2)
    points = np.array(seen)
    axes.plot(*points.T, "o-", color=ORANGE, markersize=3.5, linewidth=1)
    axes.plot(*found.x, "*", color=GREEN, markersize=13)
    axes.annotate("start", points[0], xytext=(-8, -12), textcoords="offset points")
    axes.annotate("solution", found.x, xytext=(9, 4), textcoords="offset points")
    axes.text(-0.45, 0.72, "feasible", color=BLUE)
    axes.set(xlabel="p[0]", ylabel="p[1]", aspect="equal")
    figure.savefig(HERE / "constraints-path.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def swing_up(N: int = 120) -> None:
    """The cart and its pole on the way up, and the force."""
    m1, m2, length, g, T = 1.0, 0.3, 0.5, 9.81, 2.0
    h = T / N

    def slope(x, u):
        angle, v, w = x[:, 1], x[:, 2], x[:, 3]
        s, c = np.sin(angle), np.cos(angle)
        d = m1 + m2 * s**2
        a = (u + m2 * s * (length * w**2 + g * c)) / d
        b = -(u * c + m2 * length * w**2 * c * s + (m1 + m2) * g * s) / (length * d)
        return np.stack([v, w, a, b], axis=1)

    def defects(p):
        f = slope(p["x"], p["u"])
        return p["x"][1:] - p["x"][:-1] - h / 2 * (f[1:] + f[:-1])

    ends = lambda p: np.concatenate([p["x"][0], p["x"][-1] - np.array([1.0, np.pi, 0.0, 0.0])])
    cost = lambda p: h * (np.sum(p["u"] ** 2) - 0.5 * (p["u"][0] ** 2 + p["u"][-1] ** 2))
    s = np.linspace(0, 1, N + 1)
    start = {"x": np.stack([s, np.pi * s, 0 * s, 0 * s], axis=1), "u": np.zeros(N + 1)}
    found = nlp(cost, start, equalities=[defects, ends], bounds={"x": (None, None), "u": (-20, 20)})
    x, u = found.x["x"], found.x["u"]
    figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4.4), height_ratios=[2, 1])
    for k in range(0, N + 1, 6):
        shade = plt.get_cmap("viridis")(k / N)
        tip = x[k, 0] + length * np.sin(x[k, 1]), -length * np.cos(x[k, 1])
        above.plot([x[k, 0], tip[0]], [0, tip[1]], color=shade, linewidth=1)
        above.plot(*tip, "o", color=shade, markersize=4)
    above.axhline(0, color=GREY, linewidth=0.8)
    above.set(aspect="equal", xlabel="position", ylabel="height")
    below.plot(T * s, u, color=BLUE)
    below.axhline(0, color=GREY, linewidth=0.8)
    below.set(xlabel="time", ylabel="force")
    figure.tight_layout()
    figure.savefig(HERE / "large-swing-up.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    path()
    swing_up()
