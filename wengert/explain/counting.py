"""How many operations a program does, counted on scalars: an op on arrays counts once for each element it computes.

The program runs with every value watched from outside all differentiations (`modes/watching.py`), so of a derivative
everything counts: the function, the coefficients, and both sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.capture import hooks
from wengert.modes.watching import Operation, Watch, looking_on, seen
from wengert.ops.derive import Elementwise, Linear, Multilinear, Zero
from wengert.ops.op import TABLE
from wengert.types import is_inexact, shape_of


class _Counter(Watch):
    def __init__(self) -> None:
        self.count = 0

    def operation(self, step: Operation, args: Sequence[Any], apply: Callable[[], Any]) -> Any:
        y = apply()
        self.count += _scalar_operations(step.name, args, y)
        return y

    def compiled(self, f: Callable, args: tuple, kwargs: dict) -> Any:
        return hooks.resolve(f)(*args, **kwargs)


def _scalar_operations(name: str, args: Sequence[Any], y: Any) -> int:
    """How many operations on numbers an op is: none if it only moves them."""
    op = TABLE.get(name)
    results = y if y.__class__ is tuple else (y,)
    size = sum(math.prod(shape_of(part)) for part in results)
    if op is not None and (op.moves or name == "copysign"):
        return 0
    if isinstance(op, Elementwise):
        return size
    given = math.prod(shape_of(args[0])) if args else 0
    if name == "sum":
        return max(given - size, 0)
    if isinstance(op, Multilinear):
        sizes = [math.prod(shape_of(a)) for a in args]
        inner = math.isqrt(max(math.prod(sizes) // max(size, 1), 1)) if len(sizes) == 2 else 1
        return size * max(2 * inner - 1, 1)
    if isinstance(op, Linear):
        return max(given, size) if name in ("cumsum", "fft", "ifft", "rfft", "irfft") else 0
    return 0 if isinstance(op, Zero) else max(given, size)


def count_operations(f: Callable, *args: Any) -> int:
    """The number of operations on scalars that `f(*args)` does to its floating-point arguments.

    >>> count_operations(lambda x: 4 * x * (1 - x), 0.3)
    3
    >>> count_operations(lambda a, b: a @ b, np.ones((2, 5)), np.ones((5, 3)))
    54
    """
    leaves, structure = tree.flatten(args)
    data = [k for k, x in enumerate(leaves) if _floating(x)]
    twin = hooks.resolve(f)

    def of_leaves(*given: Any) -> Sequence[Any]:
        filled = list(leaves)
        for k, x in zip(data, given, strict=True):
            filled[k] = x
        return tree.leaves(twin(*tree.unflatten(structure, filled)))

    counter = _Counter()
    with looking_on(_Quiet(counter)):
        seen(counter, of_leaves, [leaves[k] for k in data])
    return counter.count


class _Quiet(Watch):
    """Lets compiled functions run as Python, and counts nothing: what the modes do is counted below them."""

    def __init__(self, counter: _Counter):
        self.compiled = counter.compiled  # type: ignore[method-assign]


def _floating(x: Any) -> bool:
    return x.__class__ is float or (isinstance(x, (np.ndarray, np.generic)) and is_inexact(x.dtype))
