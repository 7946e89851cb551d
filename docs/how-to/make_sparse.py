"""The pictures of `sparse-derivatives.md`: patterns whose entries have the colours of their columns and rows.

`python docs/how-to/make_sparse.py` writes them beside the page.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import numpy as np

import wengert as wg

HERE = Path(__file__).parent
PALETTE = ("#4051b5", "#ea7317", "#15803d", "#b91c5c", "#0e9ab5", "#8d6e1f", "#7e22ce", "#94a3b8", "#3f3f46", "#84cc16")
INK, EMPTY = "#1f2933", "#f1f5f9"
SANS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"


def reaction_diffusion(y, side):
    """Two species on a grid, at rest at its edge: each diffuses, and reacts with the other one."""
    u, v = y.reshape(2, side, side)

    def spread(w):
        padded = np.pad(w, 1)
        return padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * w

    rate = u * u * v
    return np.concatenate([(spread(u) + 1 + rate - 4.4 * u).ravel(), (spread(v) + 3.4 * u - rate).ravel()])


class Drawing:
    """Parts of a picture, with how much room they take."""

    def __init__(self):
        self.parts: list[str] = []
        self.width = self.height = 0.0

    def label(self, x: float, y: float, text: str) -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{INK}">{html.escape(text)}</text>')

    def cells(self, x: float, y: float, shape: tuple[int, int], size: float, colour: Callable[[int, int], str]) -> None:
        """A matrix of squares."""
        rows, columns = shape
        for i in range(rows):
            for j in range(columns):
                fill = colour(i, j)
                if fill:
                    self.parts.append(
                        f'<rect x="{x + j * size:g}" y="{y + i * size:g}" width="{size - 1:g}" height="{size - 1:g}" '
                        f'fill="{fill}"/>'
                    )
        self.width = max(self.width, x + columns * size + 20)
        self.height = max(self.height, y + rows * size + 20)

    def write(self, name: str, title: str) -> None:
        (HERE / f"{name}.svg").write_text(
            "\n".join(
                [
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
                    f'width="{self.width:g}" height="{self.height:g}" role="img" font-family="{SANS}" font-size="13">',
                    f"<title>{html.escape(title)}</title>",
                    f'<rect width="{self.width:g}" height="{self.height:g}" rx="8" fill="#fff"/>',
                    *self.parts,
                    "</svg>\n",
                ]
            ),
            encoding="utf-8",
        )


def compression() -> None:
    """A Jacobian, its compressed form, and the colours of the columns on the grid they belong to."""
    side = 6
    pattern = wg.sparsity(lambda y: reaction_diffusion(y, side))(np.ones(2 * side**2))
    found = wg.coloring(pattern)
    dense = pattern.toarray()
    n = len(found.colors)
    drawing = Drawing()
    drawing.label(20, 24, f"the Jacobian: {n} columns, {pattern.nnz} entries")
    drawing.cells(20, 36, (n, n), 6, lambda i, j: PALETTE[found.colors[j]] if dense[i, j] else "")
    held = found.compress(pattern)
    left = 20 + 6 * n + 30
    drawing.label(left, 24, f"{found.count} products")
    drawing.cells(left, 36, (n, found.count), 6, lambda i, k: PALETTE[k] if held[i, k] else EMPTY)
    left += 150
    for species, name in enumerate("uv"):
        top = 36 + species * (side * 24 + 48)
        drawing.label(left, top - 12, f"the columns of {name} on the grid")
        colors = found.colors.reshape(2, side, side)[species]
        drawing.cells(left, top, (side, side), 24, lambda i, j, c=colors: PALETTE[c[i, j]])
    drawing.width += 30
    drawing.write(
        "sparse-compression", "A sparse Jacobian, its compressed form, and the colours of its columns on the grid"
    )


def arrow() -> None:
    """An arrowhead matrix, whose entries are read from columns or from rows."""
    n = 10
    pattern = np.eye(n, dtype=bool)
    pattern[0] = pattern[:, 0] = True
    drawing = Drawing()
    alone, (rows, columns) = wg.coloring(pattern), wg.coloring(pattern, "both").colors
    drawing.label(20, 24, f"columns alone: {alone.count} colours")
    drawing.cells(20, 36, (n, n), 22, lambda i, j: PALETTE[alone.colors[j]] if pattern[i, j] else EMPTY)

    def colour(i: int, j: int) -> str:
        if not pattern[i, j]:
            return EMPTY
        by_column = columns[j] >= 0 and np.sum(columns[pattern[i]] == columns[j]) == 1
        return PALETTE[columns[j]] if by_column else PALETTE[columns.max() + 1 + rows[i]]

    count = wg.coloring(pattern, "both").count
    drawing.label(20 + 22 * n + 50, 24, f"rows and columns: {count} colours")
    drawing.cells(20 + 22 * n + 50, 36, (n, n), 22, colour)
    drawing.write("sparse-both", "An arrowhead matrix, coloured by columns, and by rows and columns")


def symmetric() -> None:
    """The Hessian of a chain: three colours, or two with substitution."""
    n = 16
    pattern = wg.sparsity(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2), order=2)(np.ones(n))
    dense = pattern.toarray()
    drawing = Drawing()
    for k, (name, decompression) in enumerate([("direct", "direct"), ("by substitution", "substitution")]):
        found = wg.coloring(pattern, "symmetric", "natural", decompression)
        left = 20 + k * (14 * n + 50)
        drawing.label(left, 24, f"{name}: {found.count} colours")
        drawing.cells(left, 36, (n, n), 14, lambda i, j, c=found.colors: PALETTE[c[j]] if dense[i, j] else EMPTY)
    drawing.write("sparse-symmetric", "A tridiagonal Hessian, coloured for reading directly and for substitution")


def main() -> None:
    compression()
    arrow()
    symmetric()


if __name__ == "__main__":
    main()
