"""Ops seen along one axis: if an operand comes in strips, cut along some axis, can the result be made in strips too?

`along(node, cut)` answers for one node: along which axis each operand must be cut (None: it is needed whole) and along
which the result comes, or, for sums along the axis, that the results of the strips are to be combined. The rules know
static shapes only. `in_strip` gives a node's parameters for a strip of some length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wengert.ir.analysis.regions import FIXED, KEPT, LISTED, NEW, region_of
from wengert.ir.node import Node, Operand


class Along(NamedTuple):
    """How a node works along an axis of some length."""

    needs: tuple[int | None, ...]
    """For each operand, the axis along which it is cut."""
    axis: int | None
    """The axis of the result; None if strips are combined."""
    combine: str | None = None
    """The op that combines the results of two strips."""


Cut = Callable[[Operand], int | None]
"""The axis along which an operand comes in strips; None if it is there whole."""

_LIKE_OPERAND = frozenset(("copy", "astype", "as_integer", "real", "imag", "conjugate", "stop_gradient", "positive"))
_ALONG_OTHERS = frozenset(
    ("sum", "max", "min", "nanmax", "nanmin", "prod", "any", "all", "count_nonzero", "logsumexp", "softmax", "cumsum")
)
_COMBINED = {"sum": "add", "max": "maximum", "min": "minimum"}


def along(node: Node, cut: Cut, start: tuple[int, int] | None = None) -> Along | None:
    """How a node works along the axis in which its operands come; None if it does not.

    With `start`, (axis, length), nothing comes in strips yet, and the result is to be made in strips along that axis.
    """
    if node.sizes or len(node.outs) != 1 or not all(v.type.is_static for v in (*node.args, *node.outs)):
        return None
    rule = _rule(node)
    if rule is None:
        return None
    for k, a in enumerate(node.args):
        axis = cut(a)
        if axis is not None:
            found = rule(node, k, axis)
            break
    else:
        found = rule(node, None, start[0]) if start is not None else None
    if found is None:
        return None
    fits = all(cut(a) is None or cut(a) == need for a, need in zip(node.args, found.needs, strict=True))
    return found if fits else None


def _rule(node: Node) -> Callable[[Node, int | None, int], Along | None] | None:
    name = node.op.name
    if node.op.elementwise or name in _LIKE_OPERAND:
        return _elementwise
    if name in _ALONG_OTHERS:
        return _reduction
    return _RULES.get(name)


def _elementwise(node: Node, k: int | None, axis: int) -> Along | None:
    out = node.outs[0].type
    if k is not None:
        axis += out.ndim - node.args[k].type.ndim
    return Along(_aligned(node.args, out.shape, axis), axis)


def _aligned(args: Sequence[Operand], shape: Sequence[Any], axis: int) -> tuple[int | None, ...]:
    """Along which axes operands are cut that broadcast to a shape which is cut along an axis."""
    needs: list[int | None] = []
    for a in args:
        own = axis - (len(shape) - a.type.ndim)
        needs.append(own if own >= 0 and a.type.shape[own] == shape[axis] != 1 else None)
    return tuple(needs)


def _broadcast_to(node: Node, k: int | None, axis: int) -> Along | None:
    out, x = node.outs[0].type, node.args[0].type
    if k is not None:
        axis += out.ndim - x.ndim
    return Along(_aligned(node.args, out.shape, axis), axis)


def _axes(node: Node, ndim: int) -> list[int]:
    axis = node.params.get("axis")
    if axis is None:
        return list(range(ndim))
    return [a % ndim for a in (axis if axis.__class__ is tuple else (axis,))]


def _reduction(node: Node, k: int | None, axis: int) -> Along | None:
    name, x = node.op.name, node.args[0].type
    axes = _axes(node, x.ndim)
    if k is None and node.outs[0].type.ndim != x.ndim:
        axis = [own for own in range(x.ndim) if own not in axes][axis]
    if axis in axes:
        if k is None:
            return None
        if name not in _COMBINED or x.dtype.kind not in "f" or node.outs[0].type.dtype != x.dtype:
            return None
        return Along((axis,), None, _COMBINED[name])
    if name in ("softmax", "cumsum") or node.params.get("keepdims"):
        return Along((axis,), axis)
    return Along((axis,), axis - sum(a < axis for a in axes))


def _weighted_sum(node: Node, k: int | None, axis: int) -> Along | None:
    if k is None:
        return None
    rank = max(a.type.ndim for a in node.args)
    padded = [(1,) * (rank - a.type.ndim) + a.type.shape for a in node.args]
    shape = [max(n, m) for n, m in zip(*padded, strict=True)]
    axis += rank - node.args[k].type.ndim
    needs = _aligned(node.args, shape, axis)
    axes = _axes(node, rank)
    if axis in axes:
        return Along(needs, None, "add") if node.outs[0].type.dtype.kind == "f" else None
    return Along(needs, axis - sum(a < axis for a in axes))


def _shares(node: Node, k: int | None, axis: int) -> Along | None:
    found = _elementwise(node, k, axis) if k is not None else None
    return found if found is not None and found.axis not in _axes(node, node.outs[0].type.ndim) else None


def _reshape(node: Node, k: int | None, axis: int) -> Along | None:
    """A reshape that leaves the axis as it is."""
    old, new = node.args[0].type.shape, node.outs[0].type.shape
    if k is None:
        old, new = new, old
    before, n = math.prod(old[:axis]), old[axis]
    place = 1
    for j, m in enumerate(new):
        if place == before and m == n:
            return Along((axis,), j) if k is not None else Along((j,), axis)
        place *= m  # type: ignore[assignment]
    return None


def _transpose(node: Node, k: int | None, axis: int) -> Along | None:
    axes = node.params["axes"]
    if axes is None:
        return None
    return Along((axis,), axes.index(axis)) if k is not None else Along((axes[axis],), axis)


def _flip(node: Node, k: int | None, axis: int) -> Along | None:
    return Along((axis,), axis) if axis not in _axes(node, node.outs[0].type.ndim) else None


def _index(node: Node, k: int | None, axis: int) -> Along | None:
    """A part along other axes. An array may stand for one of them."""
    found = _place(node, node.args[1:])
    if found is None:
        return None
    others = (None,) * (len(node.args) - 1)
    for a, b in found.whole:
        if (k == 0 and a == axis) or (k is None and b == axis):
            return Along((a, *others), b)
    if found.rows is not None and (k == 1 or (k is None and axis == found.rows)):
        return Along((None, 0), found.rows)  # the array says which rows
    return None


class _Place(NamedTuple):
    """What an index takes."""

    whole: list[tuple[int, int]]
    """Axes that are taken whole: of the array, of the part."""
    rows: int | None
    """The axis of the part that an array of indices gives it."""
    ndim: int


def _place(node: Node, arrays: Sequence[Operand]) -> _Place | None:
    """The place that an index names, if it is a simple one."""
    named = region_of(node)
    if len(arrays) > 1 or any(a.type.ndim > 1 for a in arrays) or named.has_mask:
        return None
    if LISTED in named.layout and FIXED in named.layout:
        return None
    pairs = []
    rows = None
    old = new = 0
    for kind in named.layout:
        if kind == KEPT and named.is_all(old):
            pairs.append((old, new))
        elif kind == LISTED:
            rows = new
        old += kind != NEW
        new += kind != FIXED
    return _Place(pairs, rows, new)


def _write(node: Node, k: int | None, axis: int) -> Along | None:
    """A part along other axes is written, or added to."""
    found = _place(node, node.args[2:])
    if found is None or (k is not None and k > 1):
        return None
    pairs, rank = found.whole, found.ndim
    v = node.args[1].type
    if k == 1:
        axis = next((a for a, b in pairs if b == axis + rank - v.ndim), -1)
    for a, b in pairs:
        if a == axis:
            own = b - (rank - v.ndim)
            need = own if own >= 0 and v.shape[own] == node.args[0].type.shape[a] != 1 else None
            return Along((a, need, *(None,) * (len(node.args) - 2)), a)
    return None


def _concatenate(node: Node, k: int | None, axis: int) -> Along | None:
    return Along((axis,) * len(node.args), axis) if axis != node.params["axis"] else None


def _letters(node: Node) -> tuple[list[str], str]:
    """A product as subscripts of `einsum`."""
    if node.op.name == "einsum":
        left, result = node.params["subscripts"].split("->")
        return left.split(","), result
    x, y = [a.type.ndim for a in node.args]
    lead = "abcdefghijklmnopqrstuvw"[: max(x - 2, y - 2, 0)]
    own = [lead[len(lead) - max(n - 2, 0) :] for n in (x, y)]
    terms = [own[0] + ("yz" if x > 1 else "z"), own[1] + ("zx" if y > 1 else "z")]
    return terms, lead + ("y" if x > 1 else "") + ("x" if y > 1 else "")


def _product(node: Node, k: int | None, axis: int) -> Along | None:
    terms, result = _letters(node)
    c = result[axis] if k is None else terms[k][axis]
    shapes = [a.type.shape for a in node.args]
    if any(len(set(t)) != len(t) for t in terms) or len(node.args) != 2:
        return None
    n = node.outs[0].type.shape[axis] if k is None else shapes[k][axis]
    if n == 1:
        return None
    needs = tuple([t.index(c) if c in t and s[t.index(c)] == n else None for t, s in zip(terms, shapes, strict=True)])
    if c in result:
        return Along(needs, result.index(c))
    return Along(needs, None, "add") if node.outs[0].type.dtype.kind == "f" else None


_RULES: dict[str, Callable[[Node, int | None, int], Along | None]] = {
    "broadcast_to": _broadcast_to,
    "weighted_sum": _weighted_sum,
    "shares": _shares,
    "reshape": _reshape,
    "transpose": _transpose,
    "flip": _flip,
    "index": _index,
    "concatenate": _concatenate,
    "store": _write,
    "add_at": _write,
    "einsum": _product,
    "matmul": _product,
}


def in_strip(node: Node, axis: int | None, length: int) -> dict[str, Any]:
    """The parameters of a node for a strip of its result."""
    if axis is None or "shape" not in node.params:
        return node.params
    shape = list(node.params["shape"])
    shape[axis] = length
    return {**node.params, "shape": tuple(shape)}
