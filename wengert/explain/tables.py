"""A table of cells, as aligned text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence


def as_text(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Aligned columns, numbers to the right; those that `left` names to the left.

    >>> print(as_text(["line", "text"], [["1", "x = 1"], ["12", "y"]], left=[1]))
    line  text
       1  x = 1
      12  y
    """
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [c.ljust(w) if k in left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_html(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """The same in HTML.

    >>> as_html(["a"], [["<1"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td style="text-align:right">&lt;1</td></tr></tbody></table>'
    """
    top = "".join(f"<th>{html.escape(c)}</th>" for c in head)
    body = ""
    for row in rows:
        cells = ""
        for k, c in enumerate(row):
            style = "text-align:left;font-family:monospace;white-space:pre" if k in left else "text-align:right"
            cells += f'<td style="{style}">{html.escape(c)}</td>'
        body += f"<tr>{cells}</tr>"
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def seconds(t: float) -> str:
    """A time with three digits.

    >>> seconds(1.5e-5), seconds(2.0), seconds(0)
    ('15.0 µs', '2.00 s', '0')
    """
    if not t:
        return "0"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if t >= scale:
            return f"{_digits(t / scale)} {unit}"
    return f"{t * 1e9:.0f} ns"


def size(n: int) -> str:
    """A number of bytes.

    >>> size(0), size(800), size(123456)
    ('0', '800 B', '121 kB')
    """
    if n < 1024:
        return f"{n} B" if n else "0"
    for unit, scale in (("kB", 1024), ("MB", 1024**2), ("GB", 1024**3)):
        if n < 1024 * scale or unit == "GB":
            return f"{_digits(n / scale)} {unit}"
    raise AssertionError


def _digits(x: float) -> str:
    return f"{x:.2f}" if x < 10 else f"{x:.1f}" if x < 100 else f"{x:.0f}"
