"""Where in the user's source an operation was done: line, function, loops around it, and the calls that led there.

The running frames tell line and function (`capture/` keeps the user's file names and lines in what it compiles); the
syntax tree of the file tells the loops around a line and the lines that its function spans.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

from wengert.errors import is_library_file

_DEEPEST = 64
"""How many calls are told apart; of a deeper recursion the innermost."""
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass(frozen=True, slots=True)
class CallSite:
    """A line of the user's source. `calls` are the function and line of each call that led there, outermost first."""

    file: str
    line: int
    function: str
    calls: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def loops(self) -> int:
        """How many loops and comprehensions of its function are around the line."""
        return sum(span.around(self.line) for span in _scopes(self.file)[1]) - self._loops_outside()

    def _loops_outside(self) -> int:
        first, _ = self.span
        return sum(span.around(self.line) and span.first < first for span in _scopes(self.file)[1])

    @property
    def span(self) -> tuple[int, int]:
        """The first and last line of the function that the line is in; the line alone if that is not known."""
        around = [span for span in _scopes(self.file)[0] if span.around(self.line)]
        if not around:
            return self.line, self.line
        narrowest = min(around, key=lambda span: span.last - span.first)
        return narrowest.first, narrowest.last

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


@dataclass(frozen=True, slots=True)
class _Span:
    first: int
    last: int

    def around(self, line: int) -> bool:
        return self.first <= line <= self.last


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[list[_Span], list[_Span]]:
    """The lines that functions span, and those that are repeated by loops."""
    functions, loops = [], []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return [], []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
            functions.append(_Span(first, node.end_lineno or node.lineno))
        elif isinstance(node, ast.Lambda):
            functions.append(_Span(node.lineno, node.end_lineno or node.lineno))
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            loops.append(_Span(node.body[0].lineno, node.body[-1].end_lineno or node.lineno))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            loops.append(_Span(node.lineno, node.end_lineno or node.lineno))
    return functions, loops


def _scopes(file: str) -> tuple[list[_Span], list[_Span]]:
    return _parsed("".join(linecache.getlines(file)))


def place_now(outermost: CodeType) -> CallSite | None:
    """The place that is running, with the calls that led there from the frame of `outermost`."""
    calls: list[tuple[str, int]] = []
    innermost: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost and len(calls) < _DEEPEST:
        if not is_library_file(frame.f_code.co_filename):
            innermost = innermost or frame
            if frame.f_code.co_name not in _COMPREHENSIONS:
                calls.append((frame.f_code.co_name, frame.f_lineno))
            linecache.getline(frame.f_code.co_filename, 1, frame.f_globals)  # while its loader can be asked
        frame = frame.f_back
    if innermost is None:
        return None
    function = calls[0][0] if calls else innermost.f_code.co_name
    return CallSite(innermost.f_code.co_filename, innermost.f_lineno, function, tuple(calls[::-1]))
