"""What users say of memory: `checkpoints=5` or `memory="200MB"`, on every operator that uses reverse mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypedDict

from wengert.capture import looped
from wengert.capture.session import current
from wengert.control.budget import Budget
from wengert.control.budget import under as under_budget

__all__ = ["Budget", "Budgeted", "Memory", "budget_of", "under"]

Memory = str | int | None


class Budgeted(TypedDict, total=False):
    """What operators that use reverse mode are told of memory."""

    checkpoints: int | None
    memory: Memory
    spill: str | None


_needs_hooks = looped


@contextmanager
def under(budget: Budget | None) -> Iterator[None]:
    """While this budget holds. A program that is being captured is told what was chosen for its loops."""
    with under_budget(budget) as account:
        yield
    if budget is not None and account is not None and current.session is not None:
        current.session.notes += account.notes


_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def budget_of(checkpoints: int | None, memory: Memory, spill: str | None = None) -> Budget | None:
    """The budget that was asked for, if there is one.

    >>> budget_of(None, "1.5MB").memory
    1500000
    """
    if checkpoints is None and memory is None:
        if spill is not None:
            raise ValueError('spill= says where states go that find no room: give memory= with it, "1GB" for instance')
        return None
    if checkpoints is not None and memory is not None:
        raise ValueError("give checkpoints= or memory=, not both: memory= chooses the number of checkpoints")
    if checkpoints is not None:
        if isinstance(checkpoints, bool) or not hasattr(checkpoints, "__index__") or checkpoints < 1:
            raise ValueError(f"checkpoints={checkpoints!r}: at least one state has to be kept, the first one")
        return Budget(checkpoints=checkpoints.__index__(), spill=spill)
    return Budget(memory=_bytes(memory), spill=spill)


def _bytes(memory: str | int | None) -> int:
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgtKMGT]?[bB]?)\s*", memory)
        if found and found[2].lower() in _UNITS:
            return int(float(found[1]) * _UNITS[found[2].lower()])
    elif hasattr(memory, "__index__") and not isinstance(memory, bool) and memory.__index__() >= 0:  # type: ignore[union-attr]
        return memory.__index__()  # type: ignore[union-attr]
    raise ValueError(f'memory={memory!r} is no amount of memory: write "200MB" (B, kB, MB, GB), or a number of bytes')
