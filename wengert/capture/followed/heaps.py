"""Heaps of Python's own (`heapq`), as CPython's library writes them: followed where data decide how items compare."""

from __future__ import annotations

from typing import Any


def pushed(heap: list, item: Any) -> None:
    """`heapq.heappush`."""
    heap.append(item)
    _towards_the_root(heap, 0, len(heap) - 1)


def popped(heap: list) -> Any:
    """`heapq.heappop`."""
    last = heap.pop()  # raises IndexError if the heap is empty
    found = last
    if heap:
        found = heap[0]
        heap[0] = last
        _towards_the_leaves(heap, 0)
    return found


def replaced(heap: list, item: Any) -> Any:
    """`heapq.heapreplace`."""
    found = heap[0]
    heap[0] = item
    _towards_the_leaves(heap, 0)
    return found


def pushed_and_popped(heap: list, item: Any) -> Any:
    """`heapq.heappushpop`."""
    if heap and heap[0] < item:
        return replaced(heap, item)
    return item


def ordered(heap: list) -> None:
    """`heapq.heapify`."""
    for place in reversed(range(len(heap) // 2)):
        _towards_the_leaves(heap, place)


def _towards_the_root(heap: list, first: int, place: int) -> None:
    item = heap[place]
    while place > first:
        above = (place - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[place] = parent
        place = above
    heap[place] = item


def _towards_the_leaves(heap: list, place: int) -> None:
    end, first = len(heap), place
    item = heap[place]
    below = 2 * place + 1
    while below < end:
        right = below + 1
        if right < end and not heap[below] < heap[right]:
            below = right
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    _towards_the_root(heap, first, place)
