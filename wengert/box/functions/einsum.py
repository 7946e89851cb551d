"""`np.einsum` of any expression, brought into the normal form that the op takes.

    an explicit result      implicit ones are spelt out: letters that stand once, in alphabetical order
    no Ellipsis             its axes get letters of their own
    no broadcasting         an axis of size one, where the letter is larger elsewhere, is dropped
    no letter twice in one operand    the diagonal is taken first

A letter is any hashable label here; real letters are dealt out at the end.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from typing import Any

import numpy as np

from wengert.box.dispatch import implements
from wengert.box.functions.operands import cast, operand
from wengert.ops import products
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.types import is_inexact, ndim_of, shape_of

Labels = list[Any]


@implements(np.einsum)
def einsum(*operands: Any, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False) -> Any:
    """Memory order and casting rules have no meaning for traced values; the op chooses its own contraction order."""
    xs, labels, output = _parse(operands)
    if dtype is not None:
        wanted = np.dtype(dtype)
        if not is_inexact(wanted):
            raise TypeError(f"np.einsum of traced values with dtype={wanted}, which has no derivatives")
        xs = [cast(x, wanted) for x in xs]
    sizes = _sizes(xs, labels)
    simple = [_simplify(x, own, sizes) for x, own in zip(xs, labels, strict=True)]
    letters = _letters({c: None for _, own in simple for c in own})
    # A label of the result that no operand has kept is an axis of size one everywhere.
    kept = [c for c in output if c in letters]
    subscripts = ",".join("".join(letters[c] for c in own) for _, own in simple)
    subscripts += "->" + "".join(letters[c] for c in kept)
    y = products.einsum(*[x for x, _ in simple], subscripts=subscripts)
    return y if len(kept) == len(output) else s.reshape(y, shape=tuple(sizes[c] for c in output))


@implements(np.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The contraction order depends on shapes only."""
    xs, labels, output = _parse(operands)
    letters = _letters({c: None for own in labels for c in own})
    text = ",".join("".join(letters[c] for c in own) for own in labels) + "->" + "".join(letters[c] for c in output)
    return np.einsum_path(text, *[np.broadcast_to(np.float64(0), shape_of(x)) for x in xs], optimize=optimize)


# ----------------------------------------------------------------------------------------------------------- parsing


def _parse(operands: tuple) -> tuple[list[Any], list[Labels], Labels]:
    """Operands, the labels of their axes, and the labels of the result, from either form of call."""
    xs, terms, output = _as_written(operands)
    if len(terms) != len(xs):
        raise ValueError(f"einsum of {len(xs)} operands with subscripts for {len(terms)}")
    ranks = [ndim_of(x) - sum(c is not Ellipsis for c in own) for x, own in zip(xs, terms, strict=True)]
    dotted = max([n for n, own in zip(ranks, terms, strict=True) if Ellipsis in own], default=0)
    labels = []
    for x, own, extra in zip(xs, terms, ranks, strict=True):
        if extra < 0 or (extra > 0 and Ellipsis not in own):
            raise ValueError(f"einsum subscripts {own} do not fit an operand of {ndim_of(x)} axes")
        labels.append(_spell_out(own, dotted - extra, dotted))
    if output is None:
        counts = Counter(c for term in terms for c in term if c is not Ellipsis)
        output = [Ellipsis, *sorted(c for c, n in counts.items() if n == 1)]
    result = _spell_out(output, 0, dotted)
    known = {c for own in labels for c in own}
    for c in result:
        if c not in known:
            raise ValueError(f"einsum: the result has subscript {c!r}, which no operand has")
    if len(set(result)) != len(result):
        raise ValueError("einsum: the result has a subscript twice")
    return xs, labels, result


def _as_written(operands: tuple) -> tuple[list[Any], list[Labels], Labels | None]:
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand, or at least one "
                         "operand and its corresponding subscripts list")  # fmt: skip
    if isinstance(operands[0], str):
        left, arrow, right = operands[0].replace(" ", "").partition("->")
        terms = [_split_letters(term) for term in left.split(",")]
        return [operand(x) for x in operands[1:]], terms, _split_letters(right) if arrow else None
    xs = [operand(x) for x in operands[: len(operands) // 2 * 2 : 2]]
    return xs, [list(term) for term in operands[1::2]], list(operands[-1]) if len(operands) % 2 else None


def _split_letters(term: str) -> Labels:
    before, dots, after = term.partition("...")
    if not (before + after).isalpha() and before + after:
        raise ValueError(f"invalid subscript in {term!r}: only letters, a comma, '->' and one Ellipsis are valid")
    return [*before, *([Ellipsis] if dots else []), *after]


def _spell_out(labels: Labels, start: int, stop: int) -> Labels:
    """Labels with the Ellipsis replaced by those of its axes, which are counted so that the last ones agree."""
    axes = [("...", k) for k in range(start, stop)]
    return [c for label in labels for c in (axes if label is Ellipsis else [label])]


def _letters(labels: Any) -> dict[Any, str]:
    if len(labels) > len(string.ascii_letters) - 2:
        raise ValueError(f"einsum with {len(labels)} different subscripts")
    return dict(zip(labels, string.ascii_letters, strict=False))


# ------------------------------------------------------------------------------------------------------ normal form


def _sizes(xs: list[Any], labels: list[Labels]) -> dict[Any, int]:
    sizes: dict[Any, int] = {}
    for x, own in zip(xs, labels, strict=True):
        for c, n in zip(own, shape_of(x), strict=True):
            known = sizes.get(c, 1)
            if n != known and n != 1 and known != 1:
                raise ValueError(f"einsum: subscript {c!r} has size {known} in one operand and {n} in another")
            sizes[c] = known if n == 1 else n
    return sizes


def _simplify(x: Any, labels: Labels, sizes: dict[Any, int]) -> tuple[Any, Labels]:
    """An operand without broadcast axes and without repeated labels."""
    shape = shape_of(x)
    keep = [k for k, c in enumerate(labels) if shape[k] == sizes[c]]
    if len(keep) < len(labels):
        x = s.reshape(x, shape=tuple([shape[k] for k in keep]))
        labels = [labels[k] for k in keep]
    for c, times in Counter(labels).items():
        if times > 1:
            x, labels = _take_diagonal(x, labels, c)
    return x, labels


def _take_diagonal(x: Any, labels: Labels, c: Any) -> tuple[Any, Labels]:
    """The diagonal of all axes with label c: of the flattened cube every (1 + n + n² + …)-th element."""
    own = [k for k, label in enumerate(labels) if label == c]
    rest = [k for k, label in enumerate(labels) if label != c]
    shape = shape_of(x)
    n = shape[own[0]]
    if rest + own != list(range(len(labels))):
        x = s.transpose(x, axes=(*rest, *own))
    step = sum(n**k for k in range(len(own)))
    lead = [shape[k] for k in rest]
    x = index(
        s.reshape(x, shape=(*lead, math.prod(shape[k] for k in own))), pattern=(Ellipsis, slice(None, None, step))
    )
    return x, [labels[k] for k in rest] + [c]
