"""What a run in strips (`strip_mine.py`) reads: values from outside, whole or one strip of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wengert.ir.node import Const, Node, Operand, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE

Makers = Mapping[Var, Node]
"""The nodes that make values."""


class Ends:
    """Rows at the end, among them those that make up no whole strip."""

    def __init__(self, nodes: list[Node], start: int, length: int):
        self.nodes, self.start, self.length = nodes, start, length

    def whole(self, operand: Operand) -> Operand:
        return operand

    def part(self, operand: Operand, axis: int) -> Operand:
        shape = list(operand.type.shape)
        shape[axis] = self.length
        out = Var(Type(tuple(shape), operand.type.dtype))
        pattern = (slice(None),) * axis + (slice(self.start, self.start + self.length),)
        self.nodes.append(Node(TABLE["index"], (operand,), {"pattern": pattern}, (out,), (), None))
        return out


class _Handed:
    """Values from outside a block, by the parameters that they become in it."""

    def __init__(self) -> None:
        self.outside: list[Operand] = []
        self.inside: list[Var] = []
        self._params: dict[Operand, Var] = {}

    def handed(self, operand: Operand) -> Operand:
        if isinstance(operand, Const) and not operand.type.shape:
            return operand
        if operand not in self._params:
            self._params[operand] = Var(operand.type)
            self.outside.append(operand)
            self.inside.append(self._params[operand])
        return self._params[operand]


class Rows(_Handed):
    """Values from outside all loops as a group sees them; those that are cut have one axis more, for the strips."""

    def __init__(self, makers: Makers, nodes: list[Node], count: int, length: int):
        super().__init__()
        self.makers, self.nodes, self.count, self.length = makers, nodes, count, length

    def cut(self, operand: Operand, axis: int) -> Operand:
        operand, old = self._source(operand), operand
        shape = list(old.type.shape)
        if self.count * self.length != shape[axis]:
            front = (slice(None),) * axis + (slice(0, self.count * self.length),)
            shape[axis] = self.count * self.length
            operand = self._new("index", old, {"pattern": front}, tuple(shape))
        shape[axis : axis + 1] = [self.count, self.length]
        return self.handed(self._new("reshape", operand, {"shape": tuple(shape)}, tuple(shape)))

    def _source(self, operand: Operand) -> Operand:
        """What an operand is the same as but for axes of length one."""
        while isinstance(operand, Var):
            maker = self.makers.get(operand)
            if maker is None or not maker.args or maker.sizes or not maker.args[0].type.is_static:
                break
            adds = maker.op.name == "index" and all(
                item is None or item is Ellipsis or item == slice(None) for item in maker.params["pattern"]
            )
            if not (adds or maker.op.name == "reshape"):
                break
            operand = maker.args[0]
        return operand

    def _new(self, name: str, operand: Operand, params: dict, shape: Sequence[Any]) -> Var:
        out = Var(Type(tuple(shape), operand.type.dtype))
        self.nodes.append(Node(TABLE[name], (operand,), params, (out,), (), None))
        return out


class Slices(_Handed):
    """One strip of values from outside: seen in memory as one axis more, they are rows of it."""

    def __init__(self, makers: Makers, rows: Rows, body: list[Node], number: Var, length: int):
        super().__init__()
        self.makers, self.rows, self.body, self.number, self.length = makers, rows, body, number, length
        self._parts: dict[tuple[Operand, int], Var] = {}

    def whole(self, operand: Operand) -> Operand:
        return self.handed(self.rows.handed(operand))

    def part(self, operand: Operand, axis: int) -> Operand:
        if (operand, axis) not in self._parts:
            self._parts[operand, axis] = self._broadcast_strip(operand, axis) or self._row(operand, axis)
        return self._parts[operand, axis]

    def _broadcast_strip(self, operand: Operand, axis: int) -> Var | None:
        """A strip of what is the same along the axis is made where it is needed."""
        maker = self.makers.get(operand) if isinstance(operand, Var) else None
        if maker is None or maker.op.name != "broadcast_to" or maker.sizes:
            return None
        x = maker.args[0]
        own = axis - (operand.type.ndim - x.type.ndim)
        if own >= 0 and x.type.shape[own] != 1:
            return None
        shape = list(operand.type.shape)
        shape[axis] = self.length
        out = Var(Type(tuple(shape), operand.type.dtype, operand.type.weak))
        self.body.append(Node(maker.op, (self.whole(x),), {"shape": tuple(shape)}, (out,), (), maker.source))
        return out

    def _row(self, operand: Operand, axis: int) -> Var:
        rows = self.handed(self.rows.cut(operand, axis))
        shape = rows.type.shape
        out = Var(Type((*shape[:axis], *shape[axis + 1 :]), operand.type.dtype))
        pattern = (slice(None),) * axis + (ARRAY,)
        self.body.append(Node(TABLE["index"], (rows, self.number), {"pattern": pattern}, (out,), (), None))
        return out
