"""Functions that apply a function of the user's to parts of an array: `apply_along_axis`, `vectorize` and relatives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.contents import Holder
from wengert.box.dispatch import implements, implements_blind
from wengert.box.functions.operands import array, cast, stacked
from wengert.errors import StagingError, UnsupportedFunctionError
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, ndim_of, shape_of


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


class Vectorized(Holder):
    """What `np.vectorize(f)` gives in a function that is being differentiated."""

    loop: Callable
    """`each` of `capture/followed/elements.py`, captured as a loop."""

    def __init__(self, pyfunc: Callable, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: bool = False,
                 signature: Any = None, promotes: bool = False):  # fmt: skip
        self.pyfunc = pyfunc
        self.promotes = promotes
        self.otypes = otypes
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
        if looped:
            return self._one_by_one(args, kwargs)
        return self.plain(*args, **kwargs)

    def _one_by_one(self, args: tuple, kwargs: dict) -> Any:
        arguments: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        if self.signature is not None:
            return self._part_by_part(arguments, len(args))
        looped = {k: array(a) for k, a in arguments.items() if k not in self.excluded}
        shape = np.broadcast_shapes(*[shape_of(a) for a in looped.values()])
        flat = {k: np.ravel(np.broadcast_to(a, shape)) for k, a in looped.items()}

        def apply(*elements: Any) -> Any:
            return self._applied(arguments | dict(zip(flat, elements, strict=True)), len(args))

        count = int(np.prod(shape))
        if not count:
            return self.plain(*args, **kwargs)
        results = [apply(*[a[0] for a in flat.values()])]
        if self._asks_for_objects():
            return _objects(results + [apply(*[a[i] for a in flat.values()]) for i in range(1, count)], shape)
        if running.state.capture is not None and count > 1 and not isinstance(results[0], tuple) and not self.promotes:
            first = array(results[0])
            return np.reshape(self.loop(apply, first, self._type_of(results[0], 0), list(flat.values())), shape)
        results += [apply(*[a[i] for a in flat.values()]) for i in range(1, count)]
        if not isinstance(results[0], tuple):
            return self._joined(results, 0, shape)
        if self.otypes and len(self.otypes) != len(results[0]):
            raise ValueError(f"np.vectorize is given {len(self.otypes)} otypes, and the function returns "
                             f"{len(results[0])} values")  # fmt: skip
        return tuple(self._joined(part, k, shape) for k, part in enumerate(zip(*results, strict=True)))

    def _applied(self, arguments: dict[Any, Any], positional: int) -> Any:
        named = {k: a for k, a in arguments.items() if isinstance(k, str)}
        return self.pyfunc(*[arguments[k] for k in range(positional)], **named)

    def _part_by_part(self, arguments: dict[Any, Any], positional: int) -> Any:
        """With a signature, such as "(n),(n)->()", the function is applied to parts that have these axes."""
        looped = {k: array(a) for k, a in arguments.items() if k not in self.excluded}
        inputs, outputs = [_CORE.findall(side) for side in self.signature.replace(" ", "").split("->")]
        if len(inputs) != len(looped):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)!r}, got {len(looped)!r}")
        sizes: dict[str, Any] = {}
        around = {}
        for (k, a), core in zip(looped.items(), inputs, strict=True):
            around[k] = _without_core(shape_of(a), core, sizes)
        shape = np.broadcast_shapes(*around.values())
        parts = {k: np.broadcast_to(a, shape + shape_of(a)[len(around[k]) :]) for k, a in looped.items()}
        places = list(np.ndindex(*shape))
        if not places:
            raise UnsupportedFunctionError(
                "np.vectorize with a signature, of no parts of traced arrays", remedy="leave the call out"
            )
        results = [self._applied(arguments | {k: a[place] for k, a in parts.items()}, positional) for place in places]
        if len(outputs) == 1:
            results = [(y,) for y in results]
        if any(len(y) != len(outputs) for y in results):
            raise ValueError(f"wrong number of outputs from pyfunc: expected {len(outputs)!r}, got {len(results[0])!r}")
        found = []
        for number, (core, part) in enumerate(zip(outputs, zip(*results, strict=True), strict=True)):
            for y in part:
                if _without_core(shape_of(array(y)), core, sizes):
                    raise ValueError(f"the result of pyfunc has more dimensions than {self.signature!r} says")
            found.append(self._joined(part, number, shape + shape_of(array(part[0]))))
        return tuple(found) if len(found) > 1 else found[0]

    def _asks_for_objects(self) -> bool:
        return bool(self.otypes) and len(self.otypes) == 1 and np.dtype(self.otypes[0]).hasobject

    def _joined(self, results: Any, number: int, shape: tuple[int, ...]) -> Any:
        """The results for all elements, of one type unless they are to be promoted."""
        if self.otypes and np.dtype(self.otypes[number]).hasobject:
            return _objects(results, shape)
        items = [array(r) for r in results]
        if not self.promotes:
            dtype = self._type_of(results[0], number)
            items = [r if dtype_of(r) == dtype else cast(r, dtype) for r in items]
        return np.reshape(stacked(items, 0), shape)

    def _type_of(self, first: Any, number: int) -> np.dtype:
        """The type of a result: as asked for, or else that for the first element, as in NumPy."""
        if self.otypes:
            return np.dtype(self.otypes[number])
        if isinstance(first, Traced) and first._may_be_integer:  # type: ignore[attr-defined]
            raise StagingError(
                "np.vectorize of a function that returns an integer for some values and a float for others: which type "
                "all results have depends on the first element, which is known only when the compiled program runs",
                remedy="return floats (0.0 instead of 0), or say otypes=[float]",
            )
        return dtype_of(array(first))


def _objects(results: list, shape: tuple[int, ...]) -> np.ndarray:
    """An array of Python's objects, which may be tuples and lists."""
    made = np.empty(len(results), object)
    for i, result in enumerate(results):
        made[i] = result
    return made.reshape(shape)


_CORE = re.compile(r"\(([^)]*)\)")
"""The names of axes in parentheses."""


def _without_core(shape: tuple, names: str, sizes: dict[str, Any]) -> tuple:
    """The axes before those that a signature names, each of which has one length wherever it is named."""
    core = [name for name in names.split(",") if name]
    if len(core) > len(shape):
        raise ValueError(f"{len(shape)}-dimensional argument does not have enough dimensions for all core dimensions "
                         f"{tuple(core)}")  # fmt: skip
    for name, n in zip(core, shape[len(shape) - len(core) :], strict=True):
        if sizes.setdefault(name, n) != n:
            raise ValueError(f"inconsistent size for core dimension {name!r}: {n} vs {sizes[name]}")
    return shape[: len(shape) - len(core)]


implements_blind(np.vectorize)(Vectorized)
