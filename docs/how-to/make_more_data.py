"""The picture of `more-data-than-memory.md`: blocks, workers, and the tree in which results are added.

`python docs/how-to/make_more_data.py` writes it beside the page.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, INK, PALE = "#4051b5", "#ea7317", "#15803d", "#1f2933", "#e8eaf6"
SANS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"


def text(x: float, y: float, words: str, fill: str = INK, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}">{words}</text>'


def box(x: float, y: float, width: float, height: float, words: str, fill: str, ink: str = "#ffffff") -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}"/>' + text(
        x + width / 2, y + height / 2 + 4, words, ink
    )


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{INK}" stroke-width="1"/>'


def picture() -> str:
    parts, centres = [], []
    for k in range(6):
        x = 20 + 100 * k
        parts.append(box(x, 30, 84, 26, f"block {k + 1}" if k < 5 else "…", PALE, INK))
        parts.append(line(x + 42, 56, x + 42, 78))
        parts.append(box(x, 78, 84, 26, "f, ∇f, ∇²f·v", BLUE))
        centres.append(x + 42)
    parts.append(text(20, 20, "where the data are: one block at a time on each worker", anchor="start"))
    for first in (0, 3):
        middle = centres[first + 1]
        parts += [line(c, 104, middle, 140) for c in centres[first : first + 3]]
        parts.append(box(middle - 20, 140, 40, 24, "+", ORANGE))
        parts.append(line(middle, 164, 320, 196))
    parts.append(box(300, 196, 40, 24, "+", ORANGE))
    parts.append(text(352, 212, "always in this order, so the digits are always the same", anchor="start"))
    parts.append(line(320, 220, 320, 244))
    parts.append(box(250, 244, 140, 26, "minimize(total, p)", GREEN))
    parts.append(
        f'<path d="M250 257 C -10 257, -10 91, 16 91" fill="none" stroke="{GREEN}" stroke-width="1.5" '
        'stroke-dasharray="5 3"/>'
    )
    parts.append(text(60, 236, "next p", GREEN))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 720 285" font-family="{SANS}" font-size="12">\n'
        f"<title>Blocks of rows are evaluated where they are and added in a tree</title>\n{body}\n</svg>\n"
    )


if __name__ == "__main__":
    (HERE / "more-data-tree.svg").write_text(picture(), encoding="utf-8")
