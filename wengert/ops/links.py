"""Which elements of a result depend on which elements of the operands, where an op is linear in them.

Pattern mode follows tangents, so all it asks of an op is what its linear part looks like. Most of that follows from
what rows say already:

    elementwise       an element of the result comes from the elements at its place; where a coefficient is known and
                      zero, from none
    moves             the op itself, applied to the numbers 1, 2, …, says where each element of its result comes from
    combine="add"     products: the cuts of `axes=` are the letters of the contraction; of a factor that is known only
                      the entries count that are not zero
    axes              elements are linked if they agree in the axes that go together; along all other axes everything
                      depends on everything
    nothing           everything depends on everything

What none of this says is stated on the row as `links=`: `rule(active, args, shape, params)` gives pairs (rows, columns)
of linked elements, rows of the result and columns of the active operands, one after the other; or a list of steps (see
below); or None if that depends on values that are not known (they are traced).

An answer is a list of steps, each of which makes rows of rows: `Taken`, `Added`, `Pairs`. It is never too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.axes import Cut
from wengert.ops.derive import Elementwise, Multilinear
from wengert.ops.op import Op, Traced
from wengert.types import ndim_of, shape_of, size_of


class Taken(NamedTuple):
    """Row k is the row `places[k]` of what there was; none if that is negative."""

    places: np.ndarray


class Added(NamedTuple):
    """Row k of what there was goes into row `places[k]`, of so many."""

    places: np.ndarray
    height: int


class Pairs(NamedTuple):
    """Row `rows[k]`, of so many, gets what row `columns[k]` was."""

    rows: np.ndarray
    columns: np.ndarray
    height: int


Step = Taken | Added | Pairs

_MOST_PAIRS = 50_000_000
"""Of a product with more, it is not worth knowing which are zero."""


def joint_links(op: Op, active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> list[Step] | None:
    """Steps from the elements of all active operands, one after the other; None if operands are looked at singly."""
    if op.links is not None:
        found = op.links(active, args, shape, params)
        if found.__class__ is list:
            return found
        if found is not None:
            rows, columns = found
            return [Pairs(rows, columns, math.prod(shape))]
    data = op.data_count(args, params)
    if op.moves and not op.elementwise and not any(isinstance(a, Traced) for a in args[data:]):
        return [Taken(_moved(op, active, args, data, params))]
    return None


def links(op: Op, k: int, args: Sequence[Any], shape: tuple, params: dict) -> list[Step]:
    """Steps from the elements of operand k to those of the result."""
    if op.elementwise:
        return _elementwise(op, k, args, shape, params)
    cuts = op.axes([shape_of(a) for a in args], shape, params) if op.axes is not None else []
    if op.combine == "add" and isinstance(op, Multilinear):
        known = [j for j, a in enumerate(args) if j != k and not isinstance(a, Traced) and np.ndim(a)]
        if known:
            found = _contracted(k, min(known, key=lambda j: np.count_nonzero(args[j])), args, shape, cuts)
            if found is not None:
                return [found]
    return _grouped(k, args, shape, cuts)


def _numbers(start: int, x: Any) -> np.ndarray:
    return np.arange(start, start + size_of(x)).reshape(shape_of(x))


def _moved(op: Op, active: Sequence[int], args: Sequence[Any], data: int, params: dict) -> np.ndarray:
    """Where each element of the result comes from: numbered elements are moved as others would be."""
    given, start = list(args), 1
    for j, a in enumerate(args[:data]):
        if j in active:
            given[j] = _numbers(start, a)
            start += size_of(a)
        else:
            given[j] = np.zeros(shape_of(a), np.int64)
    return np.asarray(op.impl(*given, **params)).ravel() - 1


def _elementwise(op: Op, k: int, args: Sequence[Any], shape: tuple, params: dict) -> list[Step]:
    own = shape_of(args[k])
    zero = None
    if isinstance(op, Elementwise) and op.is_linear(k) and callable(op.partials[k]):
        c = op.coefficient(k, None, tuple(args), params)
        if not isinstance(c, Traced) and not np.all(c):
            zero = np.broadcast_to(np.equal(c, 0), shape).ravel()
    if own == shape and zero is None:
        return []
    places = np.broadcast_to(_numbers(0, args[k]), shape).ravel()
    return [Taken(places if zero is None else np.where(zero, -1, places))]


def _grouped(k: int, args: Sequence[Any], shape: tuple, cuts: Sequence[Cut]) -> list[Step]:
    """Elements are linked if they agree along the axes that go together."""
    own = shape_of(args[k])
    together = [(own_axis, c.axis) for c in cuts if (own_axis := c.needs[k]) is not None and c.axis is not None]
    ours, theirs = [a for a, _ in together], [b for _, b in together]
    lengths = [own[a] for a in ours]
    steps: list[Step] = [Added(_keys(own, ours, lengths), math.prod(lengths))]
    if math.prod(shape) != math.prod(lengths) or theirs != sorted(theirs):
        steps.append(Taken(_keys(shape, theirs, lengths)))
    return steps


def _keys(shape: tuple, axes: Sequence[int | None], lengths: Sequence[int]) -> np.ndarray:
    """For each element the number of its group: its place along these axes."""
    total = np.zeros((1,) * len(shape), np.int64)
    for axis, n in zip(axes, lengths, strict=True):
        total = total * n + np.arange(n).reshape([n if a == axis else 1 for a in range(len(shape))])
    return np.broadcast_to(total, shape).ravel()


def _contracted(k: int, j: int, args: Sequence[Any], shape: tuple, cuts: Sequence[Cut]) -> Pairs | None:
    """A product with a factor that is known: its entries that are not zero link elements."""
    own, other = shape_of(args[k]), shape_of(args[j])
    if {c.needs[j] for c in cuts} - {None} != {a for a, n in enumerate(other) if n != 1}:
        return None  # an axis is mixed in a way that cuts do not describe
    if {c.needs[k] for c in cuts} - {None} != {a for a, n in enumerate(own) if n != 1}:
        return None
    if {c.axis for c in cuts} - {None} != {a for a, n in enumerate(shape) if n != 1}:
        return None
    free = [c for c in cuts if c.needs[j] is None and (c.axis is not None or c.needs[k] is not None)]
    lengths = [shape[c.axis] if c.axis is not None else own[c.needs[k]] for c in free]  # type: ignore[index]
    entries = np.nonzero(args[j])
    count = len(entries[0])
    if count == size_of(args[j]) or count * math.prod(lengths) > _MOST_PAIRS:
        return None
    rows, columns = np.zeros((count, 1), np.int64), np.zeros((count, 1), np.int64)
    for c in cuts:
        if (axis := c.needs[j]) is not None:
            at = entries[axis][:, None]
            rows, columns = _advanced(rows, columns, c, at, k, own, shape)
    for c, n in zip(free, lengths, strict=True):
        at = np.tile(np.arange(n), rows.shape[1])[None, :]
        rows, columns = np.repeat(rows, n, axis=1), np.repeat(columns, n, axis=1)
        rows, columns = _advanced(rows, columns, c, at, k, own, shape)
    return Pairs(rows.ravel(), columns.ravel(), math.prod(shape))


def _advanced(rows: Any, columns: Any, cut: Cut, at: Any, k: int, own: tuple, shape: tuple) -> tuple:
    """Places in the result and in operand k, moved along the axes of a cut."""
    if cut.axis is not None:
        rows = rows + at * math.prod(shape[cut.axis + 1 :])
    axis = cut.needs[k]
    if axis is not None:
        columns = columns + at * math.prod(own[axis + 1 :])
    return rows, columns


# ----------------------------------------------------------------------------------- rules that rows state as `links=`


def starts_of(active: Sequence[int], args: Sequence[Any]) -> dict[int, int]:
    """Where the elements of each active operand begin, if they are counted one operand after the other."""
    found, start = {}, 0
    for k in active:
        found[k] = start
        start += size_of(args[k])
    return found


def added_at(start: int, value: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs for a value that is added at places, over which it broadcasts."""
    numbers = _numbers(start, value)
    while ndim_of(numbers) > places.ndim:
        numbers = numbers[0]
    return places.ravel(), np.broadcast_to(numbers, places.shape).ravel()


def joined(pairs: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """All pairs together."""
    nothing = np.zeros(0, np.int64)
    return (np.concatenate([nothing, *[r for r, _ in pairs]]), np.concatenate([nothing, *[c for _, c in pairs]]))


def before(axis: int, shape: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Each element is linked to those that do not come after it along an axis."""
    n = shape[axis]
    later, earlier = np.tril_indices(n)
    lanes = np.moveaxis(np.arange(math.prod(shape)).reshape(shape), axis, 0).reshape(n, -1)
    return lanes[later].ravel(), lanes[earlier].ravel()


def scan_links(active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> Any:
    """Scans along `axis`, the first one if there is no such parameter, which are linear in their last operand."""
    return before(params.get("axis", 0), shape) if list(active) == [len(args) - 1] else None


def convolution_links(active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> Any:
    """Convolutions along the last axes: elements whose places add up, where the other factor may be nonzero."""
    if len(active) != 1:
        return None
    rank = params.get("rank", 1)
    own, other = args[active[0]], args[1 - active[0]]
    lead, ours, others = shape[: len(shape) - rank], shape_of(own)[-rank:], shape_of(other)[-rank:]
    columns: Any = np.broadcast_to(_numbers(0, own), (*lead, *ours))
    rows: Any = np.arange(math.prod(shape)).reshape(shape)
    shift = [0 if params["mode"] == "full" else m - 1 for m in shape_of(args[1])[-rank:]]
    known = not isinstance(other, Traced)
    steps = np.argwhere(np.any(np.reshape(other, (-1, *others)), axis=0)) if known else np.ndindex(*others)
    pairs = []
    for step in steps:
        moves = [int(k) - start for k, start in zip(step, shift, strict=True)]
        to = [slice(max(0, k), max(0, min(n + k, size))) for k, n, size in zip(moves, ours, shape[-rank:], strict=True)]
        of = [slice(part.start - k, max(part.stop - k, part.start - k)) for part, k in zip(to, moves, strict=True)]
        pairs.append((rows[(..., *to)].ravel(), columns[(..., *of)].ravel()))
    return joined(pairs)


def filter_links(active: Sequence[int], args: Sequence[Any], shape: tuple, params: dict) -> Any:
    """Recursive filters of their last operand along its last axis, which other operands may give more lanes."""
    return scan_links(active, args, shape, {"axis": -1}) if shape_of(args[-1]) == shape else None
