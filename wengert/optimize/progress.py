"""The bar that `progress=True` draws on stderr: iterations, value, gradient norm, time.

Where stderr is no terminal a line is written now and then instead, so that logs stay short.
"""

from __future__ import annotations

import sys
import time

_WIDTH = 20
_SECONDS_ON_TERMINALS = 0.1
_SECONDS_IN_LOGS = 5.0


class ProgressBar:
    """A bar; `with ProgressBar("lbfgs", 1000, shown=True) as bar: bar.show(iteration, value, norm)`."""

    def __init__(self, title: str, total: int | None, shown: bool):
        self._title, self._total, self._shown = title, total, shown
        self._terminal = shown and sys.stderr.isatty()
        self._start = time.perf_counter()
        self._last = -1e300
        self._line = ""

    def __enter__(self) -> ProgressBar:
        return self

    def show(self, iteration: int, value: float, norm: float | None = None) -> None:
        """Say where the method is. Cheap: most calls draw nothing."""
        if not self._shown:
            return
        now = time.perf_counter()
        self._line = self._text(iteration, value, norm, now - self._start)
        if now - self._last >= (_SECONDS_ON_TERMINALS if self._terminal else _SECONDS_IN_LOGS):
            self._last = now
            self._write(self._line)

    def _text(self, iteration: int, value: float, norm: float | None, seconds: float) -> str:
        bar = ""
        if self._total:
            full = min(_WIDTH, _WIDTH * iteration // self._total)
            bar = f"[{'█' * full}{'·' * (_WIDTH - full)}] "
        slope = "" if norm is None else f"  |gradient| {norm:.2e}"
        return f"{self._title} {bar}{iteration}  value {value:.6g}{slope}  {seconds:.1f} s"

    def _write(self, line: str) -> None:
        before, after = ("\r\x1b[2K", "") if self._terminal else ("", "\n")
        print(before + line, end=after, file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._shown and self._line:
            self._write(self._line)
            if self._terminal:
                print(file=sys.stderr)
