"""What solvers depend on, as real numbers: the traced values in their arguments, arrays as float64, and
containers as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.custom import settled_leaves
from wengert.box.functions.lifted import Lifted, whole
from wengert.box.functions.operands import array, cast, flat, join, part
from wengert.box.writing import settled
from wengert.errors import MismatchError, UnsupportedFunctionError
from wengert.ops import shape
from wengert.ops.shape import reshape
from wengert.types import Aval, aval_of, dtype_of, is_inexact, shape_of


class Parameters:
    """The traced values that arguments of a solver depend on, in the functions among them too, as real numbers: of a
    complex value the real and the imaginary part."""

    def __init__(self, arguments: Any):
        self._lifted = Lifted(arguments)
        self._numbers = [k for k, v in enumerate(self._lifted.values) if dtype_of(v).kind in "biufc"]
        self.values: list[Any] = []
        for k in self._numbers:
            value = self._lifted.values[k]
            parts = [shape.real(value), shape.imag(value)] if self._is_complex(k) else [value]
            self.values += [cast(part, np.float64) for part in parts]
        self.any = bool(self._lifted.values)
        if self.any:
            self._lifted.called_later()

    def _is_complex(self, k: int) -> bool:
        return dtype_of(self._lifted.values[k]).kind == "c"

    def put(self, values: Sequence[Any]) -> Any:
        """The arguments with these values in place of the traced ones."""
        filled, given = list(self._lifted.values), iter(values)
        for k in self._numbers:
            filled[k] = next(given) + 1j * next(given) if self._is_complex(k) else next(given)
            if not is_inexact(dtype_of(self._lifted.values[k])):
                filled[k] = whole(filled[k], dtype_of(self._lifted.values[k]))
        return self._lifted.with_values(filled)


def real(x: Any) -> Any:
    """An array, list or number as float64. Complex numbers are refused: their imaginary parts would be lost."""
    given = settled(x)
    x = array(given)
    if dtype_of(x).kind not in "biufc":
        raise MismatchError(
            f"a solver wants numbers, and got {given!r}"[:200],
            remedy="return numbers or arrays of them; without a return statement a function gives None",
        )
    if dtype_of(x).kind == "c":
        raise UnsupportedFunctionError(
            "complex unknowns, equations or states in a solver",
            remedy="solve for the real and the imaginary parts, for instance np.concatenate([z.real, z.imag])",
        )
    return cast(x, np.float64)


def vector(x: Any) -> Any:
    """The same as a vector."""
    x = real(x)
    return flat(x) if shape_of(x) else reshape(x, shape=(1,))


class Packing:
    """Answers in containers as vectors, and back."""

    def __init__(self, like: Any):
        leaves, self.structure = settled_leaves(like)
        self.avals = [aval_of(leaf) for leaf in leaves]

    def vector(self, y: Any) -> Any:
        leaves = settled_leaves(y)[0]
        return join([vector(leaf) for leaf in leaves], 0) if leaves else np.zeros(0)

    def leaves(self, v: Any) -> list[Any]:
        found, start = [], 0
        for aval in self.avals:
            size = int(np.prod(aval.shape))
            piece = part(v, 0, slice(start, start + size)) if aval.shape else part(v, 0, start)
            found.append(cast(reshape(piece, shape=aval.shape) if aval.shape else piece, _real(aval)))
            start += size
        return found

    def container(self, v: Any) -> Any:
        return tree.unflatten(self.structure, self.leaves(v))


def _real(aval: Aval) -> np.dtype:
    return aval.dtype if aval.dtype.kind == "f" else np.dtype(float)
