"""Functions of containers as functions of flat vectors, or of their arrays one by one, for libraries that want that.

Solvers take one vector; other frameworks take and return their own arrays, one by one. What is made here is code of
this package, which is never instrumented, so the user's function is resolved when it is called (`capture/hooks.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.functions.operands import array
from wengert.capture import hooks
from wengert.capture.one_of import numbers_in
from wengert.errors import DeviceError
from wengert.ops.library import behind, is_foreign
from wengert.types import dtype_of, shape_of


class Layout:
    """How a container of numbers and arrays lies in one vector: the leaves, each ravelled, one after the other.

    >>> layout = Layout({"a": 1.0, "b": np.ones((2, 2))})
    >>> layout.ravel({"a": 5.0, "b": np.zeros((2, 2))})
    array([5., 0., 0., 0., 0.])
    >>> layout.unravel(np.arange(5.0))
    {'a': np.float64(0.0), 'b': array([[1., 2.],
           [3., 4.]])}
    """

    def __init__(self, example: Any):
        leaves, self.structure = tree.flatten(example)
        self.shapes = [shape_of(x) for x in leaves]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.size = sum(self.sizes)

    def ravel(self, container: Any) -> Any:
        """The vector of a container."""
        leaves = tree.leaves(container)
        if len(leaves) == 1:
            return np.reshape(array(leaves[0]), (self.size,))
        return np.concatenate([np.reshape(array(x), (-1,)) for x in leaves]) if leaves else np.zeros(0)

    def vector(self, container: Any) -> np.ndarray:
        """The vector of a container, as plain numbers for a solver that iterates in Python."""
        demand_host(container)
        return np.array(self.ravel(container), float)

    def unravel(self, vector: Any) -> Any:
        """The container of a vector, which may be traced."""
        leaves, start = [], 0
        for shape, size in zip(self.shapes, self.sizes, strict=True):
            leaves.append(np.reshape(vector[start : start + size], shape) if shape else vector[start])
            start += size
        return tree.unflatten(self.structure, leaves)


def demand_host(container: Any) -> None:
    """Refuse arrays that lie elsewhere, for a solver whose iterations are with NumPy's."""
    for leaf in tree.leaves(container):
        if is_foreign(behind(leaf)):
            library = type(behind(leaf)).__module__.partition(".")[0]
            raise DeviceError(
                f"the solver is given arrays of {library}, and its iterations are with NumPy's",
                remedy="solve with wg.argmin, wg.root or the methods for learning (wg.optimize.adam), which compute "
                "where arrays are, or move the problem: x.get(), and the data of the function",
            )


def followed(f: Callable) -> Callable:
    """`f` as code of this package may call it: instrumented where its arguments are traced."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return hooks.resolve(f)(*args, **kwargs)

    call.__name__ = getattr(f, "__name__", "f")
    return call


def of_vector(f: Callable, layout: Layout) -> Callable:
    """`f` as a function of the vector of its first argument; its result as it is."""

    def of_flat(vector: Any, *args: Any) -> Any:
        return numbers_in(hooks.resolve(f)(layout.unravel(vector), *args))

    of_flat.__name__ = getattr(f, "__name__", "f")
    return of_flat


class OfLeaves:
    """A call of `f` as a function of those leaves of its arguments that are of floating type, to a tuple of leaves.

    `structure` is that of the result of the last call.
    """

    def __init__(self, f: Callable, args: tuple, kwargs: dict):
        self._f = f
        self._everything, self._arguments = tree.flatten((args, kwargs))
        self._places = [k for k, x in enumerate(self._everything) if _is_floating(x)]
        self.structure: Any = None

    @property
    def places(self) -> Sequence[int]:
        """Which of all leaves are the arguments."""
        return self._places

    @property
    def leaves(self) -> list[Any]:
        """The leaves with which it was made."""
        return [self._everything[k] for k in self._places]

    def __call__(self, *given: Any) -> tuple:
        filled = list(self._everything)
        for k, x in zip(self._places, given, strict=True):
            filled[k] = x
        args, kwargs = tree.unflatten(self._arguments, filled)
        found, self.structure = tree.flatten(numbers_in(hooks.resolve(self._f)(*args, **kwargs)))
        return tuple(found)


def _is_floating(x: Any) -> bool:
    return x.__class__ is float or (hasattr(x, "dtype") and hasattr(x, "shape") and dtype_of(x).kind in "fc")
