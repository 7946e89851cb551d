"""Derivatives that are still to be added up: what sums of many small terms leave in their gradients.

A function such as np.sum(g(x[places])) has terms that depend on a few variables each, and a variable is in many terms
(it is *partially separable*: Griewank and Toint 1982). Up to the terms, tangents have few slots (`slots.py`). The
gradient adds them up at the variables, and there is no bound for how many come together. So they are not added up
there, but held as they are, each with the element that it belongs to,

    rows       0, 0, 1, 2, 2, 2, …         which element of the gradient
    numbers    0, 4, 1, 2, 5, 7, …         with respect to which element of the arguments
    value      one number for each         computed

and end where the entry (row, number) of the matrix stands: blocks of terms are added into it, as finite elements are.
Until then they may be scaled, moved and added up further. What else is done to them cannot be done in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.derive import Elementwise
from wengert.ops.index import ARRAY, index
from wengert.ops.links import Added, Pairs, Taken, joint_links, links
from wengert.ops.op import Op, call
from wengert.ops.shape import broadcast_to, reshape
from wengert.types import Aval, shape_of


class Contributions(NamedTuple):
    """Derivatives of elements `rows` with respect to `numbers`, which are added up."""

    rows: np.ndarray
    numbers: np.ndarray
    value: Any

    def kept(self, rows: np.ndarray) -> Contributions:
        """The same for other rows, without those that are negative."""
        inside = np.flatnonzero(rows >= 0)
        if len(inside) == len(rows):
            return Contributions(rows, self.numbers, self.value)
        value = self.value if not shape_of(self.value) else index(self.value, inside, pattern=(ARRAY,))
        return Contributions(rows[inside], self.numbers[inside], value)


def pairs_of(step: Added | Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Which element of a sum gets which element of what is added up."""
    if isinstance(step, Added):
        return step.places, np.arange(len(step.places))
    return step.rows, step.columns


def contributed(step: Added | Pairs, numbers: np.ndarray, value: Any) -> Contributions:
    """What one slot of the terms contributes to their sums. `value` is flat, or one number for all."""
    rows, columns = pairs_of(step)
    if len(columns) == len(numbers) and np.array_equal(columns, np.arange(len(numbers))):
        return Contributions(rows, numbers, value).kept(np.where(numbers >= 0, rows, -1))
    inside = np.flatnonzero((rows >= 0) & (numbers[columns] >= 0))
    columns = columns[inside]
    value = value if not shape_of(value) else index(value, columns, pattern=(ARRAY,))
    return Contributions(rows[inside], numbers[columns], value)


def after(
    op: Op, k: int, args: Sequence[Any], aval: Aval, params: dict, own: Sequence[Contributions]
) -> list[Contributions] | None:
    """What contributions to operand k are to the result of an op that is linear in it; None if there is no telling."""
    if op.elementwise:
        return _scaled(op, k, args, aval, params, own)
    if not op.moves and not op.adds:
        return None
    (step,) = joint_links(op, [k], args, aval.shape, params) or links(op, k, args, aval.shape, params)
    count = args[k]._aval.size
    target = np.full(count, -1)
    if isinstance(step, Taken):
        inside = np.flatnonzero(step.places >= 0)
        if len(np.unique(step.places[inside])) != len(inside):
            return None  # an element that is taken several times
        target[step.places[inside]] = inside
    elif op.moves:
        return None
    else:
        rows, columns = pairs_of(step)
        if len(np.unique(columns)) != len(columns):
            return None
        target[columns] = rows
    return [c.kept(target[c.rows]) for c in own]


def _scaled(
    op: Op, k: int, args: Sequence[Any], aval: Aval, params: dict, own: Sequence[Contributions]
) -> list[Contributions] | None:
    if not isinstance(op, Elementwise) or args[k]._aval.shape != aval.shape:
        return None
    c = op.coefficient(k, None, tuple(args), params)
    if not shape_of(c):
        return [Contributions(s.rows, s.numbers, op.scale(c, s.value)) for s in own]
    flat = c if shape_of(c) == aval.shape else call(broadcast_to, c, shape=aval.shape)
    flat = reshape(flat, shape=(aval.size,))
    return [Contributions(s.rows, s.numbers, op.scale(index(flat, s.rows, pattern=(ARRAY,)), s.value)) for s in own]
