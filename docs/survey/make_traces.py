"""Tables 2 and 3 and figure 4 of the survey: the Wengert list of its example, both derivative traces, and the graph."""

from __future__ import annotations

import re
from pathlib import Path

from functions import f
from writing import run

import wengert as wg

POINT = (2.0, 5.0)


def make(out: Path, quick: bool = False) -> None:
    """Write table-2.md, table-3.md and figure-4.svg."""
    forward = wg.trace(f, *POINT, tangent=(1.0, 0.0))
    reverse = wg.trace(f, *POINT, cotangent=1.0)
    for name, trace in (("table-2", forward), ("table-3", reverse)):
        (out / f"{name}.md").write_text(f"```text\n{trace.text(source=False)}\n```\n", encoding="utf-8")
    # an image on a page does not know the page's scheme: the colours for dark ground go
    svg = re.sub(r"@media \(prefers-color-scheme:dark\)\{.*?\}\}", "", reverse.graph().svg, flags=re.DOTALL)
    (out / "figure-4.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    run(make, __doc__)
