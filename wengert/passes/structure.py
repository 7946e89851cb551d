"""Identities of ops that move elements: shapes, casts, indices, lengths.

Reading an element just written gives what was written. That is said only where the place surely exists, or where the
write stays in the program anyway, because others use its result: an index out of range must raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ir.analysis.regions import Region, disjoint, region_of
from wengert.ir.node import Const, Node, Operand, Ref, Type, map_refs
from wengert.ops.op import TABLE
from wengert.passes.rewrite import const
from wengert.passes.scope import Rewritten, Scope, changed

_FAR = 64
"""How many writes to look back."""


def constant_sizes(node: Node, scope: Scope) -> Rewritten:
    """A size that is a constant stands in the parameters themselves; sizes that are not used go."""
    if not node.sizes:
        return None
    kept: list[Operand] = []

    def renumber(ref: Ref) -> Any:
        size = node.sizes[ref.k]
        if isinstance(size, Const):
            return int(size.value)
        if size not in kept:
            kept.append(size)
        return Ref(kept.index(size))

    params = map_refs(node.params, renumber)
    if len(kept) == len(node.sizes):
        return None
    return Node(node.op, node.args, params, node.outs, tuple(kept), node.source)


def _unchanged(node: Node, scope: Scope) -> Rewritten:
    """What gives its operand back."""
    return (node.args[0],) if node.args[0].type == node.outs[0].type else None


def _astype(node: Node, scope: Scope) -> Rewritten:
    (x,), (out,) = node.args, node.outs
    if x.type == out.type:
        return (x,)
    maker = scope.maker(x, "astype", "as_integer")
    if maker is not None and maker.args[0].type == out.type and _keeps_all(out.type.dtype, x.type.dtype):
        return maker.args
    return None


def _keeps_all(narrow: np.dtype, wide: np.dtype) -> bool:
    """Whether a cast to the wide dtype and back changes nothing."""
    exact = not (narrow.kind in "iu" and wide.kind in "fc" and narrow.itemsize >= 8)  # NumPy calls that safe
    return exact and np.can_cast(narrow, wide, "safe")


def _lengths(node: Node, scope: Scope) -> list[Any]:
    return [scope.length(node, n) for n in node.params["shape"]]


def _reshape(node: Node, scope: Scope) -> Rewritten:
    (x,), (out,) = node.args, node.outs
    if x.type == out.type and scope.has_lengths(x, _lengths(node, scope)):
        return (x,)
    maker = scope.maker(x, node.op.name)  # of reshapes, as of broadcasts, the last decides
    return changed(node, args=maker.args) if maker is not None else None


def _transpose(node: Node, scope: Scope) -> Rewritten:
    (x,), (out,), axes = node.args, node.outs, node.params["axes"]
    if axes is None:
        return None
    if tuple(axes) == tuple(range(len(axes))) and x.type == out.type:
        return (x,)
    maker = scope.maker(x, "transpose")
    if maker is None or maker.params["axes"] is None:
        return None
    inner = maker.params["axes"]
    return changed(node, args=maker.args, params={"axes": tuple([inner[a] for a in axes])})


def _flip(node: Node, scope: Scope) -> Rewritten:
    maker = scope.maker(node.args[0], "flip")
    return maker.args if maker is not None and maker.params == node.params else None


def _sum(node: Node, scope: Scope) -> Rewritten:
    """Over no axes; not of floating-point numbers, of which NumPy adds 0.0 to each."""
    (x,), (out,) = node.args, node.outs
    return (x,) if node.params.get("axis") == () and x.type == out.type and x.type.dtype.kind in "iu" else None


# ------------------------------------------------------------------------------------------------------------ indices


def _index(node: Node, scope: Scope) -> Rewritten:
    x, *arrays = node.args
    (out,), region = node.outs, region_of(node)
    if x.type == out.type and (region.is_whole or _is_all_of_it(node, scope)):
        return (x,)
    if region.exists and (maker := scope.maker(x, "broadcast_to")) is not None and not maker.args[0].type.shape:
        return _broadcast(maker.args[0], node)
    part = _part_of_joined(node, scope)
    if part is not None:
        return part
    return None if region.has_mask else _written(node, region, tuple(arrays), scope)


def _part_of_joined(node: Node, scope: Scope) -> Rewritten:
    """Rows of arrays that were put one after the other, all of them from one of these arrays."""
    type, pattern = node.args[0].type, node.params["pattern"]
    maker = scope.maker(node.args[0], "concatenate")
    if maker is None or len(node.args) > 1 or node.sizes or maker.sizes or not type.is_static:
        return None
    if any(item.__class__ is not slice for item in pattern):
        return None
    axis = maker.params["axis"] % type.ndim
    if axis >= len(pattern):
        return None
    first, last, step = pattern[axis].indices(type.shape[axis])
    for part in maker.args:
        length = part.type.shape[axis]
        if step == 1 and 0 <= first < last <= length and part.type.dtype == type.dtype:
            rows = slice(first, last, None)
            return changed(node, args=(part,), params={"pattern": (*pattern[:axis], rows, *pattern[axis + 1 :])})
        first, last = first - length, last - length
    return None


def _is_all_of_it(node: Node, scope: Scope) -> bool:
    """Whether `x[:n]` is x, since n is how long it is."""
    x, *places = node.args
    pattern = node.params["pattern"]
    if places or len(node.sizes) != 1 or len(pattern) != x.type.ndim:
        return False
    cut = [(k, side) for k, side in enumerate(pattern) if side != slice(None)]
    if len(cut) != 1 or cut[0][1] not in (slice(0, Ref(0)), slice(None, Ref(0))):
        return False
    return scope.length_of(x, cut[0][0]) is node.sizes[0]


def _broadcast(x: Operand, node: Node) -> Rewritten:
    """One number in the shape of the result."""
    type = node.outs[0].type
    if type.shape:
        params = {"shape": type.shape}
        return changed(node, "broadcast_to", (x,), params) if type.is_static and not node.sizes else None
    return (x,) if x.type == type else None


def _written(node: Node, region: Region, arrays: tuple[Operand, ...], scope: Scope) -> Rewritten:
    """What was written where an index reads, or the array as it was before writes elsewhere.

    The older array is read only where all places are constants: in a loop, whoever reads it after the write would keep
    the write from being done in place.
    """
    (out,) = node.outs
    x = older = node.args[0]
    for _ in range(_FAR):
        maker = scope.maker(x, "store")
        if maker is None:
            break
        base, v, *_ = maker.args
        place = region_of(maker)
        if place == region:
            # Of arrays with several elements two may be the same place, of which the last write counts.
            if region.is_once and (region.exists or scope.uses[x] > 1):
                if v.type == out.type:
                    return (v,)
                if v.type == Type(out.type.shape, out.type.dtype, True):
                    return Node(TABLE["astype"], (v,), {"dtype": out.type.dtype}, node.outs, (), node.source)
            break
        if not (region.exists and place.exists and disjoint(region, place)):
            break
        if x is older and not (arrays or node.sizes or maker.args[2:] or maker.sizes):
            older = base
        x = base
    return None if older is node.args[0] else changed(node, args=(older, *arrays))


# ------------------------------------------------------------------------------------------------------------ lengths


def _size(node: Node, scope: Scope) -> Rewritten:
    """The length of an axis: a number, or the length of what the array was made of."""
    (x,), axis = node.args, node.params["axis"]
    n = x.type.shape[axis]
    if n.__class__ is int:
        return (const(n),)
    maker = scope.maker(x)
    if maker is None:
        return None
    name = maker.op.name
    if name in ("reshape", "broadcast_to"):
        return _known(scope.length(maker, maker.params["shape"][axis]), node)
    if name == "iota":
        length = scope.length(maker, maker.params["n"])
        if length.__class__ is not int and scope.maker(length, "size") is not None:  # so it is not negative
            return _known(length, node)
        return None
    if name == "while" and axis == 0 and maker.outs.index(x) > maker.params["carried"]:
        return (maker.outs[maker.params["carried"]],)
    if name == "transpose" and maker.params["axes"] is not None:
        return changed(node, args=maker.args, params={"axis": maker.params["axes"][axis]})
    if maker.op.writes or name == "flip":
        return changed(node, args=maker.args[:1])
    if maker.op.elementwise:
        for a in maker.args:
            own = axis - (x.type.ndim - a.type.ndim)
            if own >= 0 and a.type.shape[own].__class__ is not int:
                return changed(node, args=(a,), params={"axis": own})
    return None


def _known(length: Any, node: Node) -> Rewritten:
    if length.__class__ is int:
        return (const(length),) if length >= 0 else None
    return (length,) if length.type == node.outs[0].type else None


def _store(node: Node, scope: Scope) -> Rewritten:
    """What is written to all of an array of one number is the array from then on.

    Of other arrays too; but these may lie where they are to be overwritten, as what a loop carries does.
    """
    x, v, *_ = node.args
    if scope.maker(x, "broadcast_to") is None or v.type != node.outs[0].type or not region_of(node).is_whole:
        return None
    lengths = [(scope.length_of(v, k), scope.length_of(x, k)) for k in range(v.type.ndim)]
    return (v,) if all(n is not None and (n is m or n == m) for n, m in lengths) else None


def _add_at(node: Node, scope: Scope) -> Rewritten:
    """What is added to zeros is written there, as a sum with zero: −0.0 becomes 0.0."""
    x, v, *arrays = node.args
    type = node.outs[0].type
    if arrays or node.sizes or type.dtype.kind != "f" or v.type.dtype != type.dtype:
        return None
    region = region_of(node)
    if not region.exists:
        return None
    base = x
    for _ in range(_FAR):
        maker = scope.maker(base)
        if maker is None:
            return None
        if maker.op.name == "broadcast_to":
            break
        if not maker.op.writes or "pattern" not in maker.params or len(maker.args) > 2 or maker.sizes:
            return None
        place = region_of(maker)
        if not (place.exists and disjoint(region, place)):
            return None
        base = maker.args[0]
    number = scope.uniform(base)
    if number is None or number != 0 or np.signbit(number):
        return None
    value = scope.new("add", (v, const(type.dtype.type(0))), {}, Type(v.type.shape, type.dtype), node.source)
    return changed(node, "store", (x, value))


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {
    "copy": _unchanged,
    "astype": _astype,
    "as_integer": _astype,
    "reshape": _reshape,
    "broadcast_to": _reshape,
    "transpose": _transpose,
    "flip": _flip,
    "sum": _sum,
    "index": _index,
    "store": _store,
    "add_at": _add_at,
    "size": _size,
}
"""By op, the rule that may concern it."""
