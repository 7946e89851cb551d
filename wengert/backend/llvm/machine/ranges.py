"""What is known of the values of integers in registers: checks that cannot fail are not written.

Loop counters have known ends, and so has what is computed from them. LLVM would find that out as well, but its time
grows with the code. Only ranges that are finite throughout count: an integer may wrap around, and then lies anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import known
from wengert.ir.analysis.ranges import interval_from
from wengert.ir.node import Const, Node

INT = np.dtype(np.int64)
_LIMIT = 1 << 62
_SMALL_TABLE = 1 << 12


class Ranges:
    """Least and greatest values of i64 values, and which of them are others plus a constant."""

    def __init__(self) -> None:
        self._ends: dict[int, tuple[ir.Value, int, int]] = {}  # with the value itself, whose id is the key
        self._sums: dict[int, tuple[ir.Value, ir.Value, int]] = {}

    def note(self, value: Any, low: int, high: int) -> None:
        """That a value is in a range."""
        before = self._ends.get(id(value), (value, low, high))
        self._ends[id(value)] = value, max(low, before[1]), min(high, before[2])

    def of(self, value: Any) -> tuple[int, int] | None:
        """The least and the greatest value, if they are known."""
        n = known(value) if isinstance(value, ir.Value) else None
        if n is not None:
            return n, n
        found = self._ends.get(id(value))
        return None if found is None else found[1:]

    def within(self, value: Any, low: int, high: int) -> bool:
        """Whether a value certainly lies between two numbers, these included."""
        found = self.of(value)
        return found is not None and low <= found[0] and found[1] <= high

    def difference(self, a: ir.Value, b: ir.Value) -> int | None:
        """a − b, if they are known to differ by a constant."""
        (base, offset), (other, other_offset) = self._as_sum(a), self._as_sum(b)
        return offset - other_offset if base is other else None

    def _as_sum(self, value: ir.Value) -> tuple[ir.Value, int]:
        found = self._sums.get(id(value))
        return (value, 0) if found is None else found[1:]

    def note_node(self, node: Node, operands: list[Any], value: Any) -> None:
        """What is known of the scalar that a node computes."""
        (out,) = node.outs
        if out.type.dtype != INT or out.type.ndim or not isinstance(value, ir.Value) or known(value) is not None:
            return
        name, first = node.op.name, node.args[0] if node.args else None
        if name == "index" and isinstance(first, Const) and first.type.dtype == INT:
            if 0 < np.size(first.value) <= _SMALL_TABLE:
                self.note(value, int(np.min(first.value)), int(np.max(first.value)))
            return
        if any(a.type.dtype != INT for a in node.args):
            return
        ranges = [self.of(v) for v in operands]
        if not ranges or any(r is None or max(map(abs, r)) > _LIMIT for r in ranges):
            return
        found = interval_from(name, ranges)  # type: ignore[arg-type]
        if found is None or None in found or max(map(abs, found)) > _LIMIT:  # type: ignore[arg-type]
            return
        self.note(value, *found)  # type: ignore[arg-type]
        if name in ("add", "subtract"):
            x, y = operands
            n = known(y)
            if n is not None:
                base, offset = self._as_sum(x)
                self._sums[id(value)] = value, base, offset + (n if name == "add" else -n)
            elif name == "add" and known(x) is not None:
                base, offset = self._as_sum(y)
                self._sums[id(value)] = value, base, offset + known(x)  # type: ignore[operator]
