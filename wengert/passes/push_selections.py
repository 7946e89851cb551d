"""Parts are taken early: of an array of which only some rows are used, only these are computed.

`f(x)[rows]` is `f(x[rows])` for every f that works along the axis (`axes.py`): elementwise ops, products, sums along
other axes. It is said of parts along one axis that have at most half of the rows (three quarters, if there is a product
to be computed), and only where nothing else uses the whole. Some operand is still indexed along an axis of the same
length, so rows that do not exist raise as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.ir.analysis.regions import KEPT, LISTED, region_of
from wengert.ir.node import Node, Operand, Source, Type, Var
from wengert.ops.index import ARRAY, explicit
from wengert.ops.traits import Cost
from wengert.passes.axes import along, in_strip
from wengert.passes.scope import Rewritten, Scope

"""Ops that only move elements."""


class _Part(NamedTuple):
    """Some rows along an axis."""

    item: Any
    rows: tuple[Operand, ...]
    length: int

    def of(self, x: Operand, axis: int, scope: Scope, source: Source | None) -> Operand:
        shape = list(x.type.shape)
        shape[axis] = self.length
        pattern = (slice(None),) * axis + (self.item,)
        type = Type(tuple(shape), x.type.dtype, x.type.weak)
        return scope.new("index", (x, *self.rows), {"pattern": pattern}, type, source)


def _index(node: Node, scope: Scope) -> Rewritten:
    x = node.args[0]
    maker = scope.maker(x)
    if maker is None or scope.uses[x] != 1 or maker.blocks or node.sizes or not x.type.is_static:
        return None
    found = _selected(node, lambda m, n: is_much_less(m, n, maker, scope.maker))
    if found is None or not _computes(maker, scope):
        return None
    axis, part = found
    early = _early(maker, axis, part, scope, node.source)
    return None if early is None else Node(early.op, early.args, early.params, node.outs, (), early.source)


def is_much_less(m: int, n: int, maker: Node, maker_of: Callable[[Any], Node | None]) -> bool:
    """Whether it pays to take m of n rows before they are computed. `maker` is what makes them."""
    if 2 * m <= n:
        return True
    return 4 * m <= 3 * n and _has_product(maker, maker_of)


def _has_product(maker: Node, maker_of: Callable[[Any], Node | None], deep: int = 6) -> bool:
    if maker.op.combine is not None and maker.op.cost is Cost.MORE:
        return True
    if not deep or maker.blocks:
        return False
    return any(node is not None and _has_product(node, maker_of, deep - 1) for node in map(maker_of, maker.args))


def part_by_rows(node: Node) -> int | None:
    """The axis along which an index takes rows by an array of their numbers, and nothing else; None if it does not."""
    if node.op.name != "index" or node.sizes or not node.args[0].type.is_static:
        return None
    found = _selected(node, lambda m, n: True)
    return found[0] if found is not None and found[1].item is ARRAY else None


def _selected(node: Node, is_less: Callable[[int, int], bool]) -> tuple[int, _Part] | None:
    """The axis along which an index takes a part, and which part; all others must be taken whole."""
    x = node.args[0].type
    named = region_of(node)
    chosen = [k for k in range(x.ndim) if not named.is_all(k)]
    if len(chosen) != 1 or not all(kind in (KEPT, LISTED) for kind in named.layout):
        return None
    axis = chosen[0]
    item = explicit(node.params["pattern"], x.ndim)[axis]
    if node.outs[0].type.ndim != x.ndim:
        return None
    n, m = x.shape[axis], node.outs[0].type.shape[axis]
    if n.__class__ is not int or m.__class__ is not int or m == 0:
        return None
    few = item.__class__ is slice and n <= 8  # one row less counts
    if not ((few and m < n) or is_less(m, n)):
        return None
    if item.__class__ is slice:
        return axis, _Part(item, (), m)
    if len(node.args) != 2 or node.args[1].type.ndim != 1:
        return None
    return axis, _Part(ARRAY, node.args[1:], m)


def _computes(maker: Node, scope: Scope) -> bool:
    """Whether work is saved: a value is computed here or, seen through ops that only move elements, further up."""
    for _ in range(8):
        if not maker.op.moves or maker.op.data_count(maker.args, maker.params) != 1:
            return True
        before = scope.maker(maker.args[0])
        if before is None or scope.uses[maker.args[0]] != 1 or before.blocks:
            return False
        maker = before
    return False


def _early(maker: Node, axis: int, part: _Part, scope: Scope, source: Source | None) -> Node | None:
    """A node that makes only a part of what another makes. `source` is where the part is taken."""
    if maker.sizes or maker.blocks or len(maker.outs) != 1:
        return None
    how = along(maker, lambda operand: None, (axis, maker.outs[0].type.shape[axis]))  # type: ignore[arg-type]
    if how is None or how.axis != axis:
        return None
    if maker.op.name == "index" and how.needs[0] is None:
        return None  # rows that do not exist raise, also those that are not used
    if all(need is None for need in how.needs):
        return None
    args: list[Operand] = []
    for a, need in zip(maker.args, how.needs, strict=True):
        args.append(a if need is None else _part(a, need, part, scope, source))
    params = in_strip(maker, axis, part.length)
    out = maker.outs[0].type
    shape = list(out.shape)
    shape[axis] = part.length
    return Node(maker.op, tuple(args), params, (Var(Type(tuple(shape), out.dtype, out.weak)),), (), maker.source)


def _part(x: Operand, axis: int, part: _Part, scope: Scope, source: Source | None) -> Operand:
    maker = scope.maker(x)
    if maker is not None and scope.uses[x] == 1 and _computes(maker, scope):
        early = _early(maker, axis, part, scope, source)
        if early is not None:
            scope.add(early)
            return early.outs[0]
    return part.of(x, axis, scope, source)


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {"index": _index}
"""By op, the rule that may concern it."""
