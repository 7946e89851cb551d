"""What solvers depend on, as real numbers: the traced values in their arguments, arrays as float64, and
containers as vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.custom import settled_leaves
from wengert.box.functions.left_behind import LeftBehind
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.operands import array, cast, flat, join, part
from wengert.box.writing import settled
from wengert.errors import MismatchError, UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.ops.shape import reshape
from wengert.running import differentiating
from wengert.types import Aval, aval_of, dtype_of, shape_of


class Parameters:
    """The traced values that arguments of a solver depend on, in the functions among them too, as real numbers: of a
    complex value the real and the imaginary part."""

    def __init__(self, arguments: Any):
        self._lifted = Lifted(arguments)
        self.values = self._lifted.real_numbers()
        self.any = bool(self._lifted.values)
        self.in_program = self._lifted.in_program
        self.left_behind = LeftBehind(self._lifted)
        if self.any:
            self._lifted.called_later()

    def put(self, values: Sequence[Any]) -> Any:
        """The arguments with these values in place of the traced ones."""
        return self.left_behind.put(values)

    def run(self, name: str, values: Sequence[Any], find: Callable[[Any], Any]) -> Any:
        """What a solver finds with these plain values; what functions in the arguments change stays changed."""
        left = self.left_behind
        left.name = name
        plain = left.watched(self._lifted.with_real_numbers(values))
        return left.run(lambda: find(plain))


def depend_on_traced(things: Any) -> bool:
    """Whether functions or values depend on traced values. Where no transformation runs there are none."""
    return differentiating() and Parameters(things).any


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


def demand_tolerances(name: str, **tolerances: Any) -> None:
    """Refuse tolerances that no error meets, or all: steps of any length would do then, and the answer be anything."""
    for which, x in tolerances.items():
        x = settled(x)
        if not isinstance(x, Traced) and not np.all(np.asarray(x, float) >= 0):
            raise ValueError(f"{name}: {which}={x!r} is no tolerance: give a number that is not negative")


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
