"""What dicts and sets have in common of which only the compiled program knows what is in them.

These classes are followed like users' own, so each question becomes part of the program. They are no dicts and no sets:
a library that is given one does not take it for an empty one, and what they cannot do they refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.errors import StagingError


class UnknownContent:
    """Derived classes say what they are, and what to ask instead."""

    stands_for: type
    """What Python would have made."""
    what: str
    remedy: str

    def refused(self, question: str) -> StagingError:
        return StagingError(f"{question} of a dict or set {self.what}", remedy=self.remedy)

    def __repr__(self) -> str:
        raise self.refused("its text")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.refused(name)


def _operator(name: str) -> Callable:
    def method(self: UnknownContent, *others: Any) -> Any:
        raise self.refused(f"the operator {name}")

    return method


for _name in ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "sub", "xor", "rand", "ror", "rsub", "rxor", "hash"]:
    setattr(UnknownContent, f"__{_name}__", _operator(_name))
