"""What dicts and sets have in common of which only the compiled program knows what is in them.

These classes are followed like users' own, so each question becomes part of the program. They are no dicts and no sets:
a library that is given one does not take it for an empty one, and what they cannot do they refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.errors import StagingError


class ComputesKeys(StagingError):
    """A dict or set, of which it is known where it was made, has keys that only the program knows."""

    place = ""

    def __init__(self, place: str):
        super().__init__(
            "a traced value is put into a set, or used as a key of a dict or an argument of a function that remembers",
            remedy="use what it was computed from, or an index, as the key; for a constant use wg.stop_gradient(x)",
        )
        self.place = place


OF_LISTS = " of lists"


class HoldsLists(ComputesKeys):
    """Such a dict holds lists."""

    def __init__(self, place: str):
        super().__init__(place + OF_LISTS)


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
