"""Functions that apply a function of the user's to parts of an array: `apply_along_axis`, `vectorize` and relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.dispatch import implements, implements_blind
from wengert.box.functions.operands import array, stacked
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.types import ndim_of, shape_of


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Callable, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = array(arr)
    axis = normalize_axis_index(axis, ndim_of(arr))
    moved = np.moveaxis(arr, axis, -1)
    lanes = shape_of(moved)[:-1]
    if 0 in lanes:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [array(func1d(moved[place], *args, **kwargs)) for place in np.ndindex(*lanes)]
    inner = shape_of(results[0])
    y = np.reshape(stacked(results, 0), (*lanes, *inner))
    return np.moveaxis(y, range(len(lanes), len(lanes) + len(inner)), range(axis, axis + len(inner)))


@implements(np.apply_over_axes)
def apply_over_axes(func: Callable, a: Any, axes: Any) -> Any:
    y = array(a)
    rank = ndim_of(y)
    for axis in np.ravel(axes).tolist():
        new = func(y, axis)
        y = new if ndim_of(new) == ndim_of(y) else np.expand_dims(new, axis % rank)
    return y


class Vectorized:
    """What `np.vectorize(f)` gives in a function that is being differentiated."""

    def __init__(self, pyfunc: Callable, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: bool = False,
                 signature: Any = None):  # fmt: skip
        self.pyfunc = pyfunc
        self.excluded = set(excluded or ())
        self.signature = signature
        self.plain = np.vectorize(pyfunc, otypes, doc, excluded, cache, signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(a, Traced) for a in (*args, *kwargs.values())):
            return self._plain_if_possible(args, kwargs)
        return self._one_by_one(args, kwargs)

    def _plain_if_possible(self, args: tuple, kwargs: dict) -> Any:
        """With plain arguments NumPy does it, unless the function returns traced values it closes over."""
        looped = [k for k in (*range(len(args)), *kwargs) if k not in self.excluded]
        if looped and self.signature is None:
            return self._one_by_one(args, kwargs)
        return self.plain(*args, **kwargs)

    def _one_by_one(self, args: tuple, kwargs: dict) -> Any:
        if self.signature is not None:
            raise UnsupportedFunctionError(
                "np.vectorize with a signature, of traced values", remedy="loop over the parts, or use wg.vmap"
            )
        arguments: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        looped = {k: array(a) for k, a in arguments.items() if k not in self.excluded}
        shape = np.broadcast_shapes(*[shape_of(a) for a in looped.values()])
        flat = {k: np.ravel(np.broadcast_to(a, shape)) for k, a in looped.items()}
        results = []
        for i in range(int(np.prod(shape))):
            here = {k: flat[k][i] if k in flat else a for k, a in arguments.items()}
            named = {k: a for k, a in here.items() if isinstance(k, str)}
            results.append(self.pyfunc(*[here[k] for k in range(len(args))], **named))
        if not results:
            return self.plain(*args, **kwargs)
        if isinstance(results[0], tuple):
            return tuple(np.reshape(stacked([array(r) for r in part], 0), shape) for part in zip(*results, strict=True))
        return np.reshape(stacked([array(r) for r in results], 0), shape)


implements_blind(np.vectorize)(Vectorized)
