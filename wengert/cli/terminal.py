"""Where a command writes: results to stdout, everything about them to stderr; colour and progress for people only.

Escape sequences appear on a stream if it is a terminal, `NO_COLOR` is not set (no-color.org) and the terminal is not a
dumb one. Progress appears on stderr if that is a terminal. A file or a pipe gets plain text and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_WIDTH = 30


def is_coloured(stream: TextIO) -> bool:
    """Whether colours make sense on a stream."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Terminal:
    """The two streams of a command."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None, as_json: bool = False):
        self.out = sys.stdout if out is None else out
        self.err = sys.stderr if err is None else err
        self.as_json = as_json
        self._colour_out, self._colour_err = is_coloured(self.out), is_coloured(self.err)

    def paint(self, text: str, style: str) -> str:
        """Text for stdout in a style, if that is a terminal."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colour_out else text

    def say(self, text: str = "") -> None:
        """A line of the result."""
        print(text, file=self.out)

    def data(self, found: Any) -> None:
        """The result as JSON."""
        print(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False), file=self.out)

    def note(self, text: str) -> None:
        """A line about the result."""
        print(f"\x1b[2m{text}\x1b[0m" if self._colour_err else text, file=self.err)

    def complain(self, problem: str, remedy: str = "") -> None:
        """What went wrong, and what to do."""
        head = "\x1b[1;31merror:\x1b[0m" if self._colour_err else "error:"
        print(f"{head} {problem}", file=self.err)
        if remedy:
            print(f"  remedy: {remedy}", file=self.err)

    def progress(self, total: int) -> Progress:
        """A bar of so many steps, which only a terminal shows."""
        shows = self.err.isatty() and os.environ.get("TERM") != "dumb"
        return Progress(self.err if shows else None, total)


class Progress:
    """A progress bar; `with terminal.progress(4) as bar: bar.step("…")`."""

    def __init__(self, stream: TextIO | None, total: int):
        self._stream, self._total, self._done = stream, total, 0

    def __enter__(self) -> Progress:
        return self

    def step(self, what: str) -> None:
        """Say what is being done now."""
        if self._stream is not None:
            full = min(_WIDTH, _WIDTH * self._done // max(self._total, 1))
            print(f"\r\x1b[2K[{'█' * full}{'·' * (_WIDTH - full)}] {what}", end="", file=self._stream, flush=True)
        self._done += 1

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
