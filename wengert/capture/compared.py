"""Comparisons that staged code makes in the user's name.

Two of Python's numbers give a truth value of Python's own, of which two add up to 2; operators tell by the module that
applies them whether the user wrote them (`box/operators.py: is_of_user`).
"""

from __future__ import annotations

import operator
from typing import Any

_operates_for_user = True


def compared(name: str, a: Any, b: Any) -> Any:
    """`a < b` and its like, by the name of the operator."""
    return getattr(operator, name)(a, b)
