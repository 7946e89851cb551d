"""What is known of code objects, for as long as they live.

As keys of a dict they would be compared, which takes long, and kept alive: with them what was made of them.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

T = TypeVar("T")


class OfCode:
    """Something about code objects, by what they are, not by what they say."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[CodeType], Any]] = {}

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._kept

    def get(self, code: CodeType) -> Any:
        found = self._kept.get(id(code))
        return None if found is None else found[1]

    def put(self, code: CodeType, value: Any) -> Any:
        key, kept = id(code), self._kept
        kept[key] = (weakref.ref(code, lambda _: kept.pop(key, None)), value)
        return value


def found_once(function: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """A function of code objects that is computed once for each."""
    known = OfCode()

    @functools.wraps(function)
    def asked(code: CodeType) -> T:
        return known.get(code) if code in known else known.put(code, function(code))

    return asked
