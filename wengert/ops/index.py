"""Rows for reading elements by index, and for the transpose of that, adding into zeros.

An index is split into data and structure: `index(x, *arrays, pattern=…)`. The pattern is a tuple of ints, slices,
`None`, `Ellipsis` and, in place of each integer array, the mark `ARRAY`; the arrays follow as operands. Boolean masks
are turned into integer arrays before they get here (`split_index`), except a single True or False, the mask of no axis
at all: its mark is `FLAG`, and in the result it makes an axis of length one or zero.

`scatter(*values, *arrays, patterns=…, shape=…)` makes an array of zeros and adds each value at its place, repeated
places adding up. It takes any number of values, so that n reads of one array cost O(n) in the reverse sweep even
when the cotangents are themselves traced.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.errors import UnsupportedFunctionError
from wengert.ops import library
from wengert.ops.axes import Cut
from wengert.ops.derive import multilinear, variadic_linear
from wengert.ops.elementwise import minimum
from wengert.ops.enclosures import composed
from wengert.ops.links import Added, Taken, added_at, joined, starts_of
from wengert.ops.op import TABLE, Traced, call
from wengert.ops.places import add_repeated
from wengert.ops.shape import astype, broadcast_to, number_of_examples, reshape, transpose
from wengert.ops.traits import CHEAP, FREE, PLACE, Dtype
from wengert.ops.within import check
from wengert.types import SCALARS, dtype_of, ndim_of, shape_of


@functools.lru_cache(maxsize=8)
def counted(shape: tuple[int, ...]) -> np.ndarray:
    """0, 1, 2, … in a shape, not to be written to. Kept, so that n indices of one array are looked up in O(n)."""
    return np.arange(math.prod(shape)).reshape(shape)


class _Mark:
    """What stands for an array in a pattern."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


ARRAY, FLAG = _Mark("ARRAY"), _Mark("FLAG")


def split_index(idx: Any) -> tuple[tuple, tuple]:
    """Pattern and arrays of a NumPy index.

    >>> split_index((0, [1, 2], slice(None)))
    ((0, ARRAY, slice(None, None, None)), (array([1, 2]),))
    """
    pattern: list[Any] = []
    arrays: list[Any] = []
    for item in idx if isinstance(idx, tuple) else (idx,):
        if isinstance(item, slice):
            for end in (item.start, item.stop, item.step):
                if isinstance(end, Traced) and dtype_of(end).kind not in "biu":
                    raise TypeError("slice indices must be integers or None or have an __index__ method")
            pattern.append(item)
        elif item is None or item is Ellipsis or item.__class__ is int:
            if item is Ellipsis and any(other is Ellipsis for other in pattern):
                raise IndexError("an index can only have a single ellipsis ('...')")
            pattern.append(item)
        elif isinstance(item, np.integer):
            pattern.append(int(item))
        else:
            array = item if hasattr(item, "dtype") else library.from_lists(item)
            if array is not item and not array.size:
                array = array.astype(np.intp)
            if array.dtype == bool:
                if ndim_of(array) == 0:
                    pattern.append(FLAG)
                    arrays.append(np.asarray(bool(array)))
                else:
                    positions = np.nonzero(array)
                    pattern.extend([ARRAY] * len(positions))
                    arrays.extend(positions)
            elif array.dtype.kind not in "iu":
                if getattr(array, "_may_be_integer", False):
                    raise UnsupportedFunctionError(
                        "an index that is an integer in some cases and a float in others, in a compiled function",
                        remedy="let it be an integer in all of them",
                    )
                if isinstance(item, str):
                    raise IndexError(
                        f"an array has no item {item!r}; a table of pandas is one array here: pass its columns, "
                        "{name: table[name].to_numpy() for name in table}"
                    )
                raise IndexError(
                    "arrays used as indices must be of integer (or boolean) type" if ndim_of(array) else
                    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                    "arrays are valid indices"
                )  # fmt: skip
            else:
                pattern.append(ARRAY)
                arrays.append(place(array))
    return tuple(pattern), tuple(arrays)


_LAST = np.uint64(np.iinfo(np.int64).max)
"""No array is longer."""


def place(k: Any) -> Any:
    """A single integer that is a place. What 64 bits without a sign hold, but not those with one, is beyond every array
    (in arrays of places NumPy lets it wrap around, and so do we)."""
    if not isinstance(k, Traced) or ndim_of(k) or dtype_of(k) != np.uint64:
        return k
    return astype(minimum(k, _LAST), dtype=np.dtype(np.int64))


def fill_pattern(pattern: tuple, arrays: Any) -> tuple:
    """The NumPy index that a pattern and its arrays make."""
    if not arrays:
        return pattern
    remaining = iter(arrays)
    return tuple([next(remaining) if item.__class__ is _Mark else item for item in pattern])


def _index(x: Any, *arrays: Any, pattern: tuple) -> Any:
    if x.__class__ in SCALARS:
        x = np.asarray(x)
    place = fill_pattern(pattern, arrays)
    if arrays and library.is_foreign(x):
        check(x, place)
    return x[place]


def _has_arrays(pattern: tuple) -> bool:
    return any(item.__class__ is _Mark for item in pattern)


def explicit(pattern: tuple, ndim: int) -> tuple:
    """The pattern with its Ellipsis spelt out; but one of no axes stays if it has arrays or ints on both sides, which
    it separates as slices would: `A[:, i, ..., j]` puts the axis of i and j first."""
    for k, item in enumerate(pattern):
        if item is Ellipsis:
            rest = ndim - axes_used(pattern)
            separates = rest == 0 and _has_arrays(pattern) and all(map(_has_places, (pattern[:k], pattern[k + 1 :])))
            return pattern if separates else pattern[:k] + (slice(None),) * rest + pattern[k + 1 :]
    return pattern


def axes_used(pattern: tuple) -> int:
    """How many axes of an array the items of a pattern are about, but for its Ellipsis."""
    return sum(1 for item in pattern if item is not None and item is not Ellipsis and item is not FLAG)


def _has_places(pattern: tuple) -> bool:
    return any(item.__class__ is _Mark or item.__class__ is int for item in pattern)


def arrays_come_first(pattern: tuple) -> bool:
    """Whether slices separate the arrays of a pattern: NumPy then puts their axes first in the result."""
    marks = [k for k, item in enumerate(pattern) if item.__class__ is _Mark or item.__class__ is int]
    return _has_arrays(pattern) and marks[-1] - marks[0] != len(marks) - 1


def _rank_of(arrays: Any) -> int:
    """How many axes the arrays of an index make in its result."""
    return max(1 if dtype_of(a).kind == "b" else ndim_of(a) for a in arrays)


def _move_axis(x: Any, source: int, target: int) -> Any:
    axes = [k for k in range(ndim_of(x)) if k != source]
    axes.insert(target, source)
    return transpose(x, axes=tuple(axes))


def batched_place(arrays: Any, mapped: Any, pattern: tuple, size: int) -> tuple[tuple, list, int, int]:
    """A place that differs between examples: pattern and arrays that name it in the stacked array.

    The hidden axis gets an array of its own, so all index arrays together read, for each example, its own elements.
    NumPy then puts their axes first. Also returned: how many axes the arrays have, and before which axis of one
    example's result they belong.
    """
    rank = max(1 if dtype_of(a).kind == "b" else ndim_of(a) - m for a, m in zip(arrays, mapped, strict=True))
    aligned = [
        reshape(a, shape=shape_of(a)[:1] + (1,) * (rank - ndim_of(a) + 1) + shape_of(a)[1:]) if m else a
        for a, m in zip(arrays, mapped, strict=True)
    ]
    examples = library.arange(0, size, *arrays).reshape((size,) + (1,) * rank)
    marks = [k for k, item in enumerate(pattern) if item.__class__ is _Mark or item.__class__ is int]
    before = 0 if arrays_come_first(pattern) else marks[0]
    return (ARRAY, *pattern), [examples, *aligned], rank, before


def rotated(x: Any, start: int, count: int, target: int) -> Any:
    """`count` axes from `start` on moved so that they begin at `target`."""
    moved = list(range(start, start + count))
    rest = [k for k in range(ndim_of(x)) if k not in moved]
    return transpose(x, axes=(*rest[:target], *moved, *rest[target:]))


def _batch_index(args: Any, mapped: Any, params: dict) -> Any:
    x, *arrays = args
    pattern = explicit(params["pattern"], ndim_of(x) - mapped[0])
    if any(mapped[1:]):
        size = number_of_examples(args, mapped)
        if not mapped[0]:
            if not any(dtype_of(a).kind == "b" for a in arrays):
                _, (_, *aligned), _, before = batched_place(arrays, mapped[1:], pattern, size)
                return _move_axis(index(x, *aligned, pattern=pattern), before, 0)
            x = broadcast_to(x, shape=(size, *shape_of(x)))
        place, arrays, rank, before = batched_place(arrays, mapped[1:], pattern, size)
        return rotated(index(x, *arrays, pattern=place), 1, rank, 1 + before)
    y = index(x, *arrays, pattern=(slice(None), *pattern))
    if arrays_come_first(pattern):
        y = _move_axis(y, _rank_of(arrays), 0)
    return y


class TakenAxes(NamedTuple):
    """What an index takes of an array."""

    whole: list[tuple[int, int]]
    """Axes that are taken whole: of the array, of the part."""
    rows: int | None
    """The axis of the part that an array of indices gives it."""
    ndim: int


def simple_place(pattern: tuple, ndim: int, arrays: Sequence[tuple]) -> TakenAxes | None:
    """The place that an index names, if it is a simple one; `arrays` are the shapes of its arrays."""
    pattern = explicit(pattern, ndim)
    pattern += (slice(None),) * (ndim - axes_used(pattern))
    if sum(item is ARRAY for item in pattern) > 1 or any(len(a) > 1 for a in arrays):
        return None
    if any(item is not None and item is not ARRAY and item.__class__ not in (int, slice) for item in pattern):
        return None
    if any(item is ARRAY for item in pattern) and any(item.__class__ is int for item in pattern):
        return None
    whole, rows = [], None
    old = new = 0
    remaining = iter(arrays)
    for item in pattern:
        if item == slice(None):
            whole.append((old, new))
        width = len(next(remaining)) if item is ARRAY else 0 if item.__class__ is int else 1
        if item is ARRAY and width:
            rows = new
        old += item is not None
        new += width
    return TakenAxes(whole, rows, new)


def _index_axes(shapes: Sequence[tuple], shape: tuple, params: dict) -> list[Cut]:
    """A part along other axes. An array may stand for one of them."""
    place = simple_place(params["pattern"], len(shapes[0]), shapes[1:])
    if place is None:
        return []
    cuts = [Cut((a, *[None] * (len(shapes) - 1)), b) for a, b in place.whole]
    return cuts if place.rows is None else [*cuts, Cut((None, 0), place.rows)]  # the array says which rows


def write_axes(shapes: Sequence[tuple], shape: tuple, params: dict) -> list[Cut]:
    """A part along other axes is written, or added to."""
    place = simple_place(params["pattern"], len(shapes[0]), shapes[2:])
    if place is None:
        return []
    cuts = []
    for a, b in place.whole:
        own = b - (place.ndim - len(shapes[1]))
        need = own if own >= 0 and shapes[1][own] == shapes[0][a] != 1 else None
        cuts.append(Cut((a, need, *[None] * (len(shapes) - 2)), a))
    return cuts


def _known_axes(shape: tuple, pattern: tuple, arrays: Sequence[Any]) -> list[int]:
    """The axes of an array along which it is known which of its elements an index is about."""
    lost, axis, dealt = set(), 0, iter(arrays)
    taken = axes_used(pattern)
    for item in pattern:
        if item.__class__ is _Mark and isinstance(next(dealt), Traced):
            lost.add(axis)
        axis += 0 if item is None or item is FLAG else len(shape) - taken if item is Ellipsis else 1
    return [a for a in range(len(shape)) if a not in lost]


def _groups_at(shape: tuple, pattern: tuple, arrays: Sequence[Any], kept: Sequence[int]) -> tuple[Any, Any]:
    """For each element of an array the number of its group, those that agree along the axes that are known; and which
    groups an index is about, which does not depend on places that are not known: those are taken for zero."""
    groups = counted(tuple([shape[a] for a in kept]))
    numbers = np.broadcast_to(np.expand_dims(groups, tuple([a for a in range(len(shape)) if a not in kept])), shape)
    places = [np.zeros(shape_of(a), np.int64) if isinstance(a, Traced) else a for a in arrays]
    return numbers, numbers[fill_pattern(pattern, tuple(places))]


def _index_links(active: Sequence[int], args: Any, shape: tuple, params: dict) -> Any:
    """Where some of the places are known and others are not, as in a sort of each row."""
    x, arrays, pattern = args[0], args[1:], params["pattern"]
    own, kept = shape_of(x), _known_axes(shape_of(x), pattern, arrays)
    if not any(isinstance(a, Traced) for a in arrays) or not kept or 0 in own:
        return None
    numbers, read = _groups_at(own, pattern, arrays, kept)
    return [Added(numbers.ravel(), math.prod([own[a] for a in kept])), Taken(np.ravel(read))]


index = multilinear(
    "index",
    _index,
    lambda i, ct, x, *arrays, pattern: scatter(ct, *arrays, patterns=(pattern,), shape=x.shape),
    batch=_batch_index,
    raises=PLACE,
    cost=FREE,
    moves=True,
    view=True,
    data=1,
    dtype=Dtype.FIRST,
    axes=_index_axes,
    links=_index_links,
)


def _count(pattern: tuple) -> int:
    return sum(1 for item in pattern if item.__class__ is _Mark)


def arrays_of_patterns(patterns: tuple, arrays: Any) -> list[list]:
    """Deal the arrays of a scatter out to its patterns."""
    remaining = iter(arrays)
    return [list(itertools.islice(remaining, _count(p))) for p in patterns]


def add_in_place(target: np.ndarray, place: tuple, has_arrays: bool, value: Any) -> None:
    """`target[place] += value`, repeated places adding up."""
    if has_arrays and library.is_foreign(target):
        add_repeated(target, place, value)
    elif has_arrays:
        np.add.at(target, place, value)
    else:
        target[place] += value


def _scatter(*args: Any, patterns: tuple, shape: tuple[int, ...], starts: Any = None) -> Any:
    values, arrays = args[: len(patterns)], args[len(patterns) :]
    dealt = arrays_of_patterns(patterns, arrays)
    if not all(isinstance(v, (np.ndarray, np.generic)) or v.__class__ in SCALARS for v in values):
        if any(library.is_mutable(v) for v in values):
            return _scattered(values, patterns, dealt, shape)
        total: Any = 0
        for value, pattern, own in zip(values, patterns, dealt, strict=True):
            total = total + _scatter_foreign(value, pattern, own, shape)
        return total
    return _scattered(values, patterns, dealt, shape)


def _scattered(values: Sequence[Any], patterns: tuple, dealt: Sequence[Any], shape: tuple[int, ...]) -> Any:
    dtype = np.result_type(*[v if v.__class__ in SCALARS else dtype_of(v) for v in values])
    target = library.zeros(shape, dtype, *values)
    for value, pattern, own in zip(values, patterns, dealt, strict=True):
        add_in_place(target, fill_pattern(pattern, own), bool(own), value)
    return target


def _scatter_foreign(value: Any, pattern: tuple, arrays: list, shape: tuple[int, ...]) -> Any:
    """Scatter an array of another library, which need not allow writing: multiply by 0-1 matrices, axis by axis."""
    if len(arrays) > 1 or FLAG in pattern:
        raise UnsupportedFunctionError(
            f"the derivative of an index with several arrays, or True or False, of a {type(value).__name__}",
            remedy="index one axis at a time",
        )
    pattern = explicit(fill_pattern(pattern, arrays), len(shape))
    pattern += (slice(None),) * (len(shape) - sum(1 for item in pattern if item is not None))
    value = value[tuple([0 if item is None else slice(None) for item in pattern if item.__class__ is not int])]
    for axis, item in enumerate([item for item in pattern if item is not None]):
        n = shape[axis]
        if item.__class__ is int:
            value = value[(slice(None),) * axis + (None,)]
        chosen = np.atleast_1d(np.arange(n)[item])
        if not np.array_equal(chosen, np.arange(n)):
            placed = np.zeros((n, len(chosen)), value.dtype)
            placed[chosen, np.arange(len(chosen))] = 1
            value = np.moveaxis(np.tensordot(value, placed, axes=([axis], [1])), -1, axis)
    return value


def _scatter_transpose(i: int, ct: Any, args: Any, patterns: tuple, shape: tuple[int, ...], starts: Any = None) -> Any:
    pattern = patterns[i]
    if len(args) == len(patterns):
        return index(ct, pattern=pattern)
    start = len(patterns) + (sum(_count(p) for p in patterns[:i]) if starts is None else starts[i])
    return index(ct, *args[start : start + _count(pattern)], pattern=pattern)


def _batch_scatter(args: Any, mapped: Any, params: dict) -> Any:
    patterns, shape = params["patterns"], params["shape"]
    k = len(patterns)
    size = number_of_examples(args, mapped)
    dealt = arrays_of_patterns(patterns, args[k:])
    dealt_mapped = arrays_of_patterns(patterns, mapped[k:])
    values, places, all_arrays = [], [], []
    for value, m, pattern, own, own_mapped in zip(args[:k], mapped[:k], patterns, dealt, dealt_mapped, strict=True):
        if not m:
            value = broadcast_to(value, shape=(size, *shape_of(value)))
        pattern = explicit(pattern, len(shape))
        if any(own_mapped):
            pattern, own, rank, before = batched_place(own, own_mapped, pattern, size)
            value = rotated(value, 1 + before, rank, 1)
        else:
            if arrays_come_first(pattern):
                value = _move_axis(value, 0, _rank_of(own))
            pattern = (slice(None), *pattern)
        values.append(value)
        places.append(pattern)
        all_arrays.extend(own)
    starts = tuple(itertools.accumulate([_count(p) for p in places], initial=0))
    return scatter(*values, *all_arrays, patterns=tuple(places), shape=(size, *shape), starts=starts)


def written_links(start: int, value: Any, shape: tuple, pattern: tuple, arrays: Sequence[Any]) -> Any:
    """Pairs for a value that is written to an array: where places along some axes are not known, with all elements
    along these. None if nothing is known."""
    if not any(isinstance(a, Traced) for a in arrays):
        return added_at(start, value, counted(shape)[fill_pattern(pattern, tuple(arrays))])
    kept = _known_axes(shape, pattern, arrays)
    if not kept or 0 in shape:
        return None
    _, written = _groups_at(shape, pattern, arrays, kept)
    order = (*kept, *[a for a in range(len(shape)) if a not in kept])
    members = counted(shape).transpose(order).reshape(math.prod([shape[a] for a in kept]), -1)
    groups, numbers = added_at(start, value, np.asarray(written))
    return members[groups].ravel(), np.repeat(numbers, members.shape[1])


def _scatter_links(active: Sequence[int], args: Any, shape: tuple, params: dict) -> Any:
    patterns = params["patterns"]
    dealt, starts = arrays_of_patterns(patterns, args[len(patterns) :]), starts_of(active, args)
    found = [written_links(starts[k], args[k], shape, patterns[k], dealt[k]) for k in active]
    return None if any(pairs is None for pairs in found) else joined(found)


def _scatter_one_by_one(*args: Any, patterns: tuple, shape: tuple, starts: Any = None) -> Any:
    """The same, as sums into one array."""
    k = len(patterns)
    y: Any = library.zeros(shape, dtype_of(args[0]), args[0])
    for value, pattern, arrays in zip(args[:k], patterns, arrays_of_patterns(patterns, args[k:]), strict=True):
        y = call(TABLE["add_at"], y, value, *arrays, pattern=pattern)
    return y


scatter = variadic_linear(
    "scatter",
    _scatter,
    _scatter_transpose,
    data=lambda params: len(params["patterns"]),
    batch=_batch_scatter,
    shape=lambda *avals, patterns, shape, starts=None: shape,
    raises=PLACE,
    cost=CHEAP,
    adds=True,
    links=_scatter_links,
    bounds=composed(_scatter_one_by_one),
)
"""`starts` says where the arrays of each pattern begin, so that the transpose for n values costs O(n) in all."""


class Scattered:
    """A cotangent under construction: many reads of one array, added up in one buffer.

    Plain values are added to the buffer at once; values that are traced, or of another library, wait and become one
    `scatter`.
    """

    __slots__ = ("buffer", "dense", "dtype", "shape", "waiting")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, dense: Any = None, buffer: Any = None):
        self.shape = shape
        self.dtype = dtype
        self.dense = dense
        self.buffer = buffer  # nobody else has it
        self.waiting: list[tuple] = []

    def add(self, ct: Any, pattern: tuple, arrays: tuple) -> None:
        """Add what one read sends back."""
        plain = isinstance(ct, (np.ndarray, np.generic)) or ct.__class__ in SCALARS or library.is_mutable(ct)
        if isinstance(self.buffer, Traced):
            if arrays:
                self.waiting.append((ct, pattern, arrays))
            else:
                self.buffer[pattern] = self.buffer[pattern] + ct  # type: ignore[index]
        elif plain and not any(isinstance(a, Traced) for a in arrays):
            if self.buffer is None:
                self.buffer = library.zeros(self.shape, self.dtype, ct)
            add_in_place(self.buffer, fill_pattern(pattern, arrays), bool(arrays), ct)
        else:
            self.waiting.append((ct, pattern, arrays))

    def add_dense(self, ct: Any) -> None:
        """Add a contribution to all elements."""
        self.dense = ct if self.dense is None else self.dense + ct

    def total(self) -> Any:
        """The sum of all contributions."""
        result = self.buffer
        if self.waiting:
            values, patterns, arrays = zip(*self.waiting, strict=True)
            starts = tuple(itertools.accumulate(map(len, arrays), initial=0))
            part = scatter(*values, *itertools.chain(*arrays), patterns=patterns, shape=self.shape, starts=starts)
            result = part if result is None else result + part
        if self.dense is not None:
            result = self.dense if result is None else result + self.dense
        return result
