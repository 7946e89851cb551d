"""What the arguments of a NumPy function may be, and the two moves that most implementations are made of.

An argument may be traced, an array of any library, a Python number, or a nested list in which some numbers are traced.
Implementations turn it into an operand first, and never ask for an `ndarray`.

Then most rearrangements are `pick`: let NumPy rearrange the positions 0, 1, 2, …, which also checks the arguments and
raises NumPy's own errors, and gather the elements from there. `join` is the other move: concatenation in one dtype.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from wengert.box.array_classes import Holding, held
from wengert.box.foreign import is_labelled
from wengert.box.functions.lengths import agree
from wengert.box.subclasses import base_array
from wengert.errors import NO_ARRAY, UnsupportedFunctionError
from wengert.ops import elementwise as e
from wengert.ops import library
from wengert.ops import shape as s
from wengert.ops.index import ARRAY, index
from wengert.ops.observe import observe
from wengert.ops.op import Traced
from wengert.ops.reduce import searchsorted
from wengert.ops.sizes import require
from wengert.running import running
from wengert.types import PLAIN, SCALARS, dtype_of, is_inexact, ndim_of, numpys_number, shape_of, size_of


def operand(x: Any) -> Any:
    """Lists become arrays; what may be an operand already stays as it is, Python numbers (weakly typed) too."""
    return (
        x
        if x.__class__ in PLAIN or isinstance(x, Traced)
        else array(x)
        if isinstance(x, (list, tuple)) or is_labelled(x.__class__)
        else base_array(numpys_number(held(x)))
    )


SEVERAL: dict[type, Callable[[Any], Any]] = {}
"""Classes of things that stand for several items of a list (`capture/opened.py`), and what array such a list is."""


def array(x: Any) -> Any:
    """What `np.asarray` would give, except that traced values stay traced and other libraries' arrays stay theirs."""
    x = held(x)
    if isinstance(x, Traced) or hasattr(x, "shape"):
        if not isinstance(x, (Traced, np.ndarray, np.generic)) and is_labelled(x.__class__):
            x = np.asarray(x)
        return base_array(out_of_objects(x))
    if isinstance(x, (list, tuple)) and holds_traced(x):
        for item in x:
            if item.__class__ in SEVERAL:
                return SEVERAL[item.__class__](x)
        return stacked([array(item) for item in x], 0)
    if x.__class__ is float:
        return library.full((), x, np.float64)
    return library.from_lists(x)


def out_of_objects(x: Any) -> Any:
    """An array of objects among which there are traced numbers, as a traced array; anything else as it is.

    NumPy would apply an operator to each object, and what is traced there would be part of a plain value.
    """
    if x.__class__ is not np.ndarray or x.dtype.kind != "O" or not any(isinstance(item, Traced) for item in x.flat):
        return x
    if any(isinstance(item, (Traced, np.ndarray)) and shape_of(item) for item in x.flat):
        raise UnsupportedFunctionError(
            "an array of objects that holds traced arrays, together with traced values",
            remedy="make one array of them, with np.stack, or keep them in a list",
        )
    return array(x.tolist())


def array_of(x: Any) -> Any:
    """What an object of a user's class is as an array."""
    if x.__class__ in (list, tuple):
        return x.__class__([array_of(item) for item in x])
    if isinstance(x, (Traced, np.ndarray, np.generic)) or not hasattr(type(x), "__array__") or library.is_foreign(x):
        return x
    found = x.__array__()
    if not isinstance(found, (Traced, np.ndarray)):
        raise ValueError(NO_ARRAY)
    return found


def holds_traced(x: Any) -> bool:
    """Whether there is a traced value somewhere in nested lists, tuples, and classes derived from these."""
    if isinstance(x, (list, tuple)):
        return any(holds_traced(item) for item in x)
    return isinstance(x, (Traced, Holding)) or x.__class__ in SEVERAL


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy functions take it, one number or several."""
    if (hasattr(shape, "__index__") or isinstance(shape, Traced)) and ndim_of(shape) == 0:
        return (_length(shape),)
    return tuple([_length(n) for n in shape])


def _length(n: Any) -> Any:
    """A length: an int, or a symbol of a program that is being captured."""
    is_length = dtype_of(n).kind in "biu" if isinstance(n, Traced) else hasattr(n, "sym")
    return n if is_length else n.__index__()


def flat(x: Any) -> Any:
    """All elements along one axis, in C order."""
    return x if ndim_of(x) == 1 else s.reshape(x, shape=(size_of(x),))


def flat_if_none(x: Any, axis: Any) -> tuple[Any, int]:
    """NumPy's `axis=None`: operand and axis, where None means all elements along one axis.

    Of a 0-d array NumPy accepts the axes 0 and -1 as well.
    """
    x = array(x)
    return (
        (flat(x), 0)
        if axis is None or (axis in (0, -1) and ndim_of(x) == 0)
        else (x, normalize_axis_index(axis, ndim_of(x)))
    )


NUMBERS = {"b": True, "i": 1, "f": 1.0, "c": 1j}
"""A number of Python's own for each kind of dtype."""


def promoting(x: Any) -> Any:
    """What `np.result_type` is to be given for an operand: a number of Python's, or a dtype."""
    if x.__class__ in SCALARS:
        return x
    is_pythons = isinstance(x, Traced) and x._is_python_number  # type: ignore[attr-defined]
    return NUMBERS[dtype_of(x).kind] if is_pythons else dtype_of(x)


def with_dtype(x: Any) -> Any:
    """An operand as `np.asarray` makes one: a number of Python's no longer takes over the dtype of what it meets."""
    if isinstance(x, Traced):
        return s.copy(x) if x._is_python_number else x  # type: ignore[attr-defined]
    return array(x)


def fitted(x: Any, dtype: np.dtype) -> Any:
    """What is put into an array of real numbers, items of lists too: Python's complex numbers are none, and Python's
    integers have to fit among integers, where others wrap around."""
    if isinstance(x, Traced) and dtype.kind in "iuf" and dtype_of(x).kind == "c" and not shape_of(x):
        demand_real(x, float if dtype.kind == "f" else int)
    if dtype.kind not in "iu":
        return x
    if x.__class__ is int:
        return dtype.type(x)  # raises what NumPy raises
    if x.__class__ in (list, tuple):
        return x.__class__([fitted(item, dtype) for item in x])
    if isinstance(x, Traced) and dtype_of(x) != dtype and dtype_of(x).kind == "i" and not shape_of(x):
        if x._is_python_number:  # type: ignore[attr-defined]
            return s.as_integer(x, dtype=dtype)
    return x


def inexact(x: Any) -> Any:
    """An operand that can have derivatives: integers become floats."""
    x = array(x)
    return x if is_inexact(dtype_of(x)) else cast(x, float)


def demand_real(x: Any, kind: Callable = float) -> None:
    """Refuse one of Python's complex numbers where a real one is wanted; NumPy drops the imaginary part of its own."""
    if dtype_of(x).kind == "c" and x._is_python_number:
        kind(0j)  # raises what Python raises


def cast(x: Any, dtype: Any) -> Any:
    """An operand in another dtype. To integers it is rounding, with derivative exactly zero."""
    dtype = np.dtype(dtype)
    if dtype_of(x) == dtype:
        return x
    if not isinstance(x, Traced):
        return np.asarray(x, dtype) if not hasattr(x, "astype") else x.astype(dtype)
    if dtype.kind in "fc":
        return s.astype(x, dtype=dtype)
    if dtype.kind == "b" and dtype_of(x).kind == "c":  # either part counts
        return e.not_equal(x, 0)
    if dtype.kind in "iub":
        return s.as_integer(x, dtype=dtype)
    if dtype.names is not None:
        raise UnsupportedFunctionError(
            f"a traced value in a structured array, with the fields {', '.join(dtype.names)}",
            remedy="keep one array for each field, in a dict or in a dataclass",
        )
    raise UnsupportedFunctionError(
        f"a traced value of type {dtype_of(x)} as {dtype}", remedy="cast to a floating-point or complex type"
    )


def part(x: Any, axis: int, piece: Any) -> Any:
    """x[:, …, piece] with `piece` (an int or a slice) at `axis`."""
    return index(x, pattern=(slice(None),) * axis + (piece,))


def pick(x: Any, positions: Any, axis: int = 0) -> Any:
    """The elements at `positions` along `axis`, whose place the axes of `positions` take."""
    before = (slice(None),) * axis
    if positions.__class__ is int:
        return index(x, pattern=(*before, positions))
    return index(x, positions, pattern=(*before, ARRAY))


_UNLIKE = "all the input array dimensions except for the concatenation axis must match exactly"


def join(arrays: Sequence[Any], axis: int) -> Any:
    """Concatenation of operands of any dtypes; the axis is non-negative."""
    if len(arrays) == 1:
        return arrays[0]
    dtypes = {dtype_of(a) for a in arrays}
    if len(dtypes) > 1:
        dtype = np.result_type(*dtypes)
        arrays = [cast(a, dtype) for a in arrays]
    if any(ndim_of(a) <= axis for a in arrays):
        raise ValueError(_UNLIKE)
    arrays = _of_one_shape(arrays, axis)
    starts = tuple(itertools.accumulate((shape_of(a)[axis] for a in arrays), initial=0))
    return s.concatenate(*arrays, axis=axis, starts=starts)


def _of_one_shape(arrays: Sequence[Any], axis: int) -> Sequence[Any]:
    """Pieces that are to be joined, all with the lengths of the first along other axes: those that are known only when
    a captured program runs are compared then."""
    shapes = [shape_of(a) for a in arrays]
    if all(n.__class__ is int for shape in shapes for n in shape):
        return arrays
    known, same = _best_known(shapes), []
    for a, shape in zip(arrays, shapes, strict=True):
        fitting = tuple([n if k == axis or k >= len(known) else known[k] for k, n in enumerate(shape)])
        if fitting != shape:
            agree(fitting, shape, ValueError, _UNLIKE)
            a = s.reshape(a, shape=fitting)
        same = [*same, a]
    return same


def _best_known(shapes: Sequence[tuple]) -> tuple:
    """Of lengths that are the same in all shapes those that most is known of: a number, or one with a bound."""
    return tuple([min(ns, key=lambda n: 0 if n.__class__ is int else 1 if n.bound is not None else 2)
                  for ns in zip(*shapes, strict=False)])  # fmt: skip


def stacked(arrays: Sequence[Any], axis: int) -> Any:
    """Operands of one shape along a new axis, which may be negative."""
    if not arrays:
        raise ValueError("need at least one array to stack")
    shape = _best_known([shape_of(a) for a in arrays])
    for a in arrays:
        if shape_of(a) != shape:
            agree(shape_of(a), shape, ValueError, "all input arrays must have the same shape")
    axis = normalize_axis_index(axis, len(shape) + 1)
    longer = (*shape[:axis], 1, *shape[axis:])
    return join([s.reshape(a, shape=longer) for a in arrays], axis)


def in_double(x: Any) -> Any:
    """An array of real numbers in double precision."""
    if dtype_of(x).kind == "c":
        raise TypeError(f"Cannot cast array data from {dtype_of(x)!r} to dtype('float64') according to the rule 'safe'")
    return cast(x, np.float64)


def answer(function: Callable, *args: Any, **options: Any) -> Any:
    """A function that is locally constant, applied to operands; the answer is not traced."""
    return observe(*args, function=lambda *values: function(*values, **options))


def demand(ok: Any, message: str) -> None:
    """Raise ValueError with this message unless all of `ok` holds; a compiled program tests it when it runs."""
    if running.state.capture is not None and isinstance(ok, Traced):
        require(ok, error="ValueError", message=message)
    elif not np.all(answer(lambda v: v, ok)):
        raise ValueError(message)


def places_in(a: Any, v: Any, side: str = "left") -> Any:
    """`np.searchsorted` of an array of one axis."""
    dtype = np.promote_types(dtype_of(a), dtype_of(v))
    return searchsorted(cast(a, dtype), cast(v, dtype), side=side)


def interval_in(a: Any, v: Any, first: int, last: int) -> Any:
    """In which interval between elements of a sorted array each number lies, counted from `first` to `last`."""
    return e.minimum(e.maximum(places_in(a, v, "right") - 1, first), last)


def common_answer(function: Callable, *args: Any) -> Any:
    """An answer (a number) that decides on shapes, so that it must be the same for all examples of a batch."""
    found = answer(function, *args)
    while isinstance(found, Traced):
        found = found._value  # type: ignore[attr-defined]
    distinct = np.unique(found)
    if len(distinct) != 1:
        raise UnsupportedFunctionError(
            "examples of a batch whose results have different shapes or types", remedy="take one after the other"
        )
    return distinct[0].item()


def unsupported_option(function: str, option: str, remedy: str) -> UnsupportedFunctionError:
    """The error for an option that has no derivative rule."""
    return UnsupportedFunctionError(f"{function} with {option} on a traced value", remedy=remedy)


def arrays_of(xs: Iterable[Any]) -> list[Any]:
    """A sequence of operands; a traced array is the sequence of its rows."""
    return [array(x) for x in xs]
