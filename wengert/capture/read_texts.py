"""Texts of traced numbers, and numbers that are read from them: `float("%s" % x)`, `eval(f"2*{x}")`.

A text is no number, and what is read from one does not depend on the argument any more. A text that rounds
(`"%.3f" % x`) has the derivative of a rounding, which is zero. One that says a number as it is (`"%s" % x`) shows that
the number is traced, so that nobody can read it; who tries is told what to write instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.capture.texts import TracedText
from wengert.errors import ConcretizationError


def in_percent(shown: Any) -> Any:
    """A number as `%` gets it: `%.3f` rounds it, `%s` and `%r` show that it is traced."""
    if isinstance(shown, np.generic) or (isinstance(shown, np.ndarray) and not shown.shape):
        shown = shown.item()
    kind = _SHOWN.get(shown.__class__)
    return f"Traced({shown})" if kind is None else kind(shown)


class _Float(float):
    def __repr__(self) -> str:
        return f"Traced({float(self)!r})"

    __str__ = __repr__


class _Int(int):
    def __repr__(self) -> str:
        return f"Traced({int(self)!r})"

    __str__ = __repr__


_SHOWN = {float: _Float, int: _Int, bool: _Int}


def read_text(text: Any) -> Any:
    """A text that is to be read as a number, or as Python: it must not be of a traced value."""
    if text.__class__ is TracedText or (isinstance(text, str) and "Traced(" in text):
        raise ConcretizationError(
            "a number is read from a text of a traced value, and would be a constant",
            remedy="use the number itself; for a constant make the text of wg.stop_gradient(x)",
        )
    return text
