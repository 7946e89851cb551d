"""Which axes of a result go with which axes of the operands: the rules that rows state as `axes=`.

A *cut* says that an op can be done piece by piece along an axis: the result at position p of `axis` depends on operand
k at position p of `needs[k]` only, or, where `needs[k]` is None, on all of it. A cut with `axis=None` is along an axis
that is reduced: what the pieces give is combined with `op.combine`. A rule, `rule(shapes, shape, params)`, gets the
shapes of the operands and of the result and returns all cuts that are known; an axis that is in none of them is mixed.

    sum(x, axis=1), x of shape (2, 3, 4)    Cut((0,), 0), Cut((2,), 1), Cut((1,), None)
    a @ b, of shapes (2, 3), (3, 4)         Cut((0, None), 0), Cut((None, 1), 1), Cut((1, 0), None)
    x * y, of shapes (2, 3), (3,)           Cut((0, None), 0), Cut((1, 0), 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

Shape = tuple


class Cut(NamedTuple):
    """An axis along which an op works piece by piece."""

    needs: tuple[int | None, ...]
    """For each operand, the axis along which it is cut; None if it is needed whole."""
    axis: int | None
    """The axis of the result; None if pieces are combined."""


Rule = Callable[[Sequence[Shape], Shape, dict], list[Cut]]


def aligned(shapes: Sequence[Shape], shape: Sequence, axis: int) -> tuple[int | None, ...]:
    """Along which axes operands are cut that broadcast to a shape which is cut along an axis."""
    needs: list[int | None] = []
    for own_shape in shapes:
        own = axis - (len(shape) - len(own_shape))
        needs.append(own if own >= 0 and own_shape[own] == shape[axis] != 1 else None)
    return tuple(needs)


def broadcast(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """Elementwise ops, and `broadcast_to`."""
    return [Cut(aligned(shapes, shape, axis), axis) for axis in range(len(shape))]


def _axes(params: dict, ndim: int) -> list[int]:
    axis = params.get("axis")
    if axis is None:
        return list(range(ndim))
    return [a % ndim for a in (axis if axis.__class__ is tuple else (axis,))]


def reduced(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """Reductions over `axis` of operands that broadcast against each other."""
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    whole = [max(lengths) for lengths in zip(*padded, strict=True)]
    axes = _axes(params, rank)
    cuts = []
    for axis in range(rank):
        needs = aligned(shapes, whole, axis)
        if axis in axes:
            cuts.append(Cut(needs, None))
        else:
            cuts.append(Cut(needs, axis if params.get("keepdims") else axis - sum(a < axis for a in axes)))
    return cuts


def kept(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """Work along `axis`, which mixes it, and leaves all axes as they are: scans, transforms, `softmax`, `flip`."""
    axes = _axes(params, len(shape))
    return [cut for cut in broadcast(shapes, shape, params) if cut.axis not in axes]


def kept_but_first(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """Work along the first axis, of operands that have all axes."""
    return [cut for cut in broadcast(shapes, shape, params) if cut.axis != 0]


def reduced_axis(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """What looks for something along one axis, which goes: `argmax`."""
    return [cut for cut in reduced(shapes, shape, params) if cut.axis is not None]


def reshaped(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """The axes that a reshape leaves as they are."""
    ((*old,), new), cuts = (shapes[0], shape), []
    if 0 in old:
        return []
    for i, n in enumerate(old):
        for j, m in enumerate(new):
            if n == m != 1 and math.prod(old[:i]) == math.prod(new[:j]):
                cuts.append(Cut((i,), j))
    return cuts


def transposed(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    axes = params["axes"] if params["axes"] is not None else tuple(reversed(range(len(shape))))
    return [Cut((a,), axis) for axis, a in enumerate(axes)]


def concatenated(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    return [Cut((axis,) * len(shapes), axis) for axis in range(len(shape)) if axis != params["axis"]]


def stacked(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    """Stacks of matrices: all axes but the last two, where those of the operands broadcast against each other."""
    lead = [s[:-2] for s in shapes]
    rank = max(len(s) for s in lead)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in lead]
    whole = [max(lengths) for lengths in zip(*padded, strict=True)]
    return [Cut(aligned(lead, whole, axis), axis) for axis in range(rank)]


# ---------------------------------------------------------------------------------------------------------- products


def contracted(terms: Sequence[str], result: str, shapes: Sequence[Shape], shape: Shape) -> list[Cut]:
    """A product that is given by subscripts, as those of `einsum`."""
    if any(len(set(term)) != len(term) for term in terms):
        return []
    cuts = []
    for letter in dict.fromkeys("".join(terms)):
        lengths = [s[t.index(letter)] for t, s in zip(terms, shapes, strict=True) if letter in t]
        n = max(lengths)
        if n == 1:
            continue
        needs = [t.index(letter) if letter in t and s[t.index(letter)] == n else None
                 for t, s in zip(terms, shapes, strict=True)]  # fmt: skip
        cuts.append(Cut(tuple(needs), result.index(letter) if letter in result else None))
    return cuts


def of_einsum(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    left, result = params["subscripts"].split("->")
    return contracted(left.split(","), result, shapes, shape)


def of_matmul(shapes: Sequence[Shape], shape: Shape, params: dict) -> list[Cut]:
    x, y = [len(s) for s in shapes]
    lead = "abcdefghijklmnopqrstuvw"[: max(x - 2, y - 2, 0)]
    own = [lead[len(lead) - max(n - 2, 0) :] for n in (x, y)]
    terms = [own[0] + ("yz" if x > 1 else "z"), own[1] + ("zx" if y > 1 else "z")]
    return contracted(terms, lead + ("y" if x > 1 else "") + ("x" if y > 1 else ""), shapes, shape)
