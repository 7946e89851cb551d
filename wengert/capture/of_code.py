"""What is known of code objects, for as long as they live.

As keys of a dict they would be compared, which takes long, and kept alive: with them what was made of them.
"""

from __future__ import annotations

import dis
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


@found_once
def names_in(code: CodeType) -> set[str]:
    """The names that a function looks for in its module."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in(constant)
    return names
