"""Table 1 of the survey: expressions swell when they are differentiated; programs do not."""

from __future__ import annotations

from pathlib import Path

from writing import markdown, run

import wengert as wg

_LONGEST = 70


def shortened(expression: object) -> str:
    """An expression as code, cut off where it outgrows the column."""
    text = str(expression)
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[: _LONGEST - 2]} …` ({len(text)} characters)"


def make(out: Path, quick: bool = False) -> None:
    """Write table-1.md (the expressions) and table-1-operations.md (how many operations each is)."""
    rows = wg.expression_swell(4 if quick else 7)
    head = ["n", "lₙ", "dlₙ/dx, as the rules give it", "dlₙ/dx, simplified"]
    lines = [[str(r.n), shortened(r.expression), shortened(r.derivative), shortened(r.simplified)] for r in rows[:4]]
    (out / "table-1.md").write_text(markdown(head, lines), encoding="utf-8")
    head = ["n", "lₙ as an expression", "dlₙ/dx", "dlₙ/dx, simplified", "the program", "forward AD", "reverse AD"]
    counts = [[str(r.n), *(f"{r.operations[key]}" for key in r.operations)] for r in rows]
    (out / "table-1-operations.md").write_text(markdown(head, counts, right=range(7)), encoding="utf-8")


if __name__ == "__main__":
    run(make, __doc__)
