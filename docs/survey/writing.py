"""Where generated tables and figures go, and the command line that all generators share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

OUT = Path(__file__).parent / "generated"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table; `right` says which columns hold numbers."""
    rule = ["---:" if k in right else "---" for k in range(len(head))]
    lines = ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
    return "\n".join(lines) + "\n"


def run(make: Callable[[Path, bool], None], what: str | None) -> None:
    """Run a generator from the command line."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--quick", action="store_true", help="smaller, as the tests run it")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder to write to")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    make(options.out, options.quick)
