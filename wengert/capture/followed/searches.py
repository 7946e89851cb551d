"""Searches in sorted lists (`bisect`), as in CPython's library: followed where data decide how long these are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _place(a: list, x: Any, lo: int, hi: int | None, key: Callable | None, is_right: bool) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle] if key is None else key(a[middle])
        if x < item if is_right else not item < x:
            hi = middle
        else:
            lo = middle + 1
    return lo


def place_right(a: list, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable | None = None) -> int:
    """`bisect.bisect_right`."""
    return _place(a, x, lo, hi, key, True)


def place_left(a: list, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable | None = None) -> int:
    """`bisect.bisect_left`."""
    return _place(a, x, lo, hi, key, False)


def inserted_right(a: list, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable | None = None) -> None:
    """`bisect.insort_right`."""
    a.insert(place_right(a, x if key is None else key(x), lo, hi, key=key), x)


def inserted_left(a: list, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable | None = None) -> None:
    """`bisect.insort_left`."""
    a.insert(place_left(a, x if key is None else key(x), lo, hi, key=key), x)
