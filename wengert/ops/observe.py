"""The row for questions: functions of values whose answer is locally constant.

Where an element stands in an order, which elements are not zero, whether two arrays agree, how an array is printed:
such an answer has derivative zero wherever it has one, and comes out untraced. One row serves them all, since all
that a mode needs to know of a question is how to ask it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops.derive import zero
from wengert.ops.enclosures import DECIDED
from wengert.ops.traits import MORE, VALUES


def _observe(*args: Any, function: Callable) -> Any:
    return function(*args)


observe = zero("observe", _observe, raises=VALUES, cost=MORE, pure=False, bounds=DECIDED)
