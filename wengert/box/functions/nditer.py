"""`np.nditer` over traced arrays: NumPy's own reads and writes memory, which these have not.

Its elements are views without axes, in the order in which they lie in memory; so arrays with several axes are gone
through if they are known to be C-contiguous, or an order is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.box.functions.operands import array
from wengert.errors import UnsupportedFunctionError
from wengert.running import running
from wengert.types import broadcast_shapes, shape_of

_FLAGS = frozenset(("multi_index", "c_index", "refs_ok", "zerosize_ok"))
_OPERAND_FLAGS = frozenset(("readonly", "readwrite", "writeonly"))


class ElementIterator:
    """What `np.nditer(op, flags, op_flags, order=order)` does, element by element."""

    def __init__(self, op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: str = "K",
                 **options: Any):  # fmt: skip
        self._flags, self._several = frozenset(flags or ()), isinstance(op, (list, tuple))
        of_operands = {str(flag) for flag in _flattened(op_flags)}
        given = op if self._several else [op]
        if (
            self._flags - _FLAGS
            or of_operands - _OPERAND_FLAGS
            or options
            or op_dtypes is not None
            or any(x is None for x in given)
        ):
            raise _unsupported("with such flags or options")
        self.operands = tuple([array(x) for x in given])
        self.nop = len(self.operands)
        self.shape = broadcast_shapes([shape_of(x) for x in self.operands])
        self.ndim = len(self.shape)
        self._demand_known_order(order, is_written=bool(of_operands & {"readwrite", "writeonly"}))
        self.itersize = int(np.prod(self.shape))
        if not self.itersize and "zerosize_ok" not in self._flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        self._capture = running.state.capture
        parts = self.operands
        self._parts: list[Any] = [x if shape_of(x) == self.shape else np.broadcast_to(x, self.shape) for x in parts]
        turned = self.shape[::-1] if order == "F" else self.shape
        self._places = [place[::-1] if order == "F" else place for place in np.ndindex(*turned)]
        self.reset()

    def _demand_known_order(self, order: str, is_written: bool) -> None:
        if not all(n.__class__ is int for n in self.shape):
            raise _unsupported("of a length that is known only when the compiled program runs")
        if is_written and any(shape_of(x) != self.shape for x in self.operands):
            raise _unsupported("that are broadcast and written to")
        if order not in ("C", "F") and self.ndim > 1 and not all(x.flags.c_contiguous for x in self.operands):
            raise _unsupported('in an order that depends on memory: order="C" says which')

    def reset(self) -> None:
        self.iterindex = 0
        self._begun = False

    @property
    def finished(self) -> bool:
        return self.iterindex >= self.itersize

    def iternext(self) -> bool:
        if running.state.capture is not self._capture:
            raise _unsupported("that goes on in a loop or branch of the compiled program")
        self.iterindex += 1
        return not self.finished

    @property
    def multi_index(self) -> tuple[int, ...]:
        if "multi_index" not in self._flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._place()

    @property
    def index(self) -> int:
        if "c_index" not in self._flags:
            raise ValueError("Iterator does not have an index")
        return int(np.ravel_multi_index(self._place(), self.shape)) if self.ndim else 0

    def _place(self) -> tuple[int, ...]:
        if self.finished:
            raise ValueError("Iterator is past the end")
        return self._places[self.iterindex]

    def __getitem__(self, k: int) -> Any:
        place: tuple[Any, ...] = (*self._place(), ...)
        return self._parts[k][place]

    def __len__(self) -> int:
        return self.nop

    @property
    def value(self) -> Any:
        parts = tuple([self[k] for k in range(self.nop)])
        return parts if self._several and self.nop > 1 else parts[0]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._begun:
            self.iternext()
        self._begun = True
        if self.finished:
            raise StopIteration
        return self.value

    def __enter__(self) -> ElementIterator:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is left to be written."""


def _flattened(flags: Any) -> list[Any]:
    return [flag for part in flags or () for flag in (part if isinstance(part, (list, tuple)) else [part])]


def _unsupported(what: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"np.nditer over traced arrays {what}", remedy="go through np.ndindex(x.shape), or x.ravel()"
    )
