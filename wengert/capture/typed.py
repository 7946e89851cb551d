"""What was typed at Python's prompt: statements in the history of `readline`, which before Python 3.13 is the only
place where they still are.

The history has lines, without empty ones, and no line twice in a row. A statement is a line that is not indented, and
those after it that belong to it. Whoever asks says whether a text is the one; the latest that is wins.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

_MOST_LINES = 2000
_MOST_PARTS = 5
"""So many lines of one statement may look like first ones: those in brackets need no indentation."""
_CONTINUES = re.compile(r"(else|elif|except|finally|\)|\]|\})")


def statement_typed(name: str, fits: Callable[[str], bool]) -> str:
    """The text of the latest statement that mentions a name and fits; an empty one if there is none."""
    for text in _statements(_history()):
        if name in text and fits(text):
            return text
    return ""


def _history() -> list[str]:
    readline = sys.modules.get("readline")
    if readline is None or not (hasattr(sys, "ps1") or "code" in sys.modules):
        return []
    last = readline.get_current_history_length()
    return [readline.get_history_item(k) or "" for k in range(max(1, last - _MOST_LINES), last + 1)]


def _statements(lines: list[str]) -> Iterator[str]:
    """Texts that are statements, latest first.

    >>> list(_statements(["x = 1", "@g", "def f(x):", "    return (", "x", ")", "oops oops", "y = f(x)"]))[1]
    '@g\\ndef f(x):\\n    return (\\nx\\n)\\n'
    """
    starts = [k for k in range(len(lines)) if _begins(lines, k)]
    ends = [*starts[1:], len(lines)]
    for k in reversed(range(len(starts))):
        for end in ends[k : k + _MOST_PARTS]:
            text = "\n".join(lines[starts[k] : end]) + "\n"
            if _is_complete(text):
                yield text
                break


def _begins(lines: list[str], k: int) -> bool:
    """Whether a line looks like the first one of a statement."""
    if lines[k][:1].isspace() or _CONTINUES.match(lines[k]):
        return False
    return not k or not lines[k - 1].startswith("@")


def _is_complete(text: str) -> bool:
    try:
        compile(text, "<stdin>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
