"""The explorer page of the survey's example: tables 2 and 3 and figure 4 as something to step through."""

from __future__ import annotations

from pathlib import Path

from functions import f
from writing import run

import wengert as wg


def make(out: Path, quick: bool = False) -> None:
    """Write explorer.html."""
    wg.explain(f, 2.0, 5.0, path=out / "explorer.html")


if __name__ == "__main__":
    run(make, __doc__)
