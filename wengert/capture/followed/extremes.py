"""The largest and the smallest item of a list: followed where only the program knows how many tuples there are."""

from __future__ import annotations

from typing import Any


def largest(items: Any) -> Any:
    """`max`."""
    if not items:
        raise ValueError("max() iterable argument is empty")
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best


def smallest(items: Any) -> Any:
    """`min`."""
    if not items:
        raise ValueError("min() iterable argument is empty")
    best = items[0]
    for item in items:
        if item < best:
            best = item
    return best
