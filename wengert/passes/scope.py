"""A block while a pass rewrites it: what stands for which value, and how each value is made.

Rules (`algebra.py`, `structure.py`, `resolve_control.py`, `fold.py`) are functions of a node and a scope. A rule
returns `None` if it has nothing to say, a node that gives the same results in a better way (with the same `outs`), or
the operands that stand for the results from now on. It may add nodes to the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ir.analysis.uses import uses_of
from wengert.ir.node import Block, Const, Node, Operand, Ref, Source, Type, Var
from wengert.ops.index import FLAG, explicit
from wengert.ops.op import TABLE
from wengert.passes.rewrite import Environment, all_replaced, const, substituted

Rewritten = Node | tuple[Operand, ...] | None

_SMALL = 64


class Scope:
    """One block that is being rewritten."""

    def __init__(self, block: Block):
        self.env: Environment = {}
        self.nodes: list[Node] = []
        self.uses = uses_of(block.nodes, block.results)
        self._makers: dict[Var, Node] = {}

    def add(self, node: Node) -> None:
        """Put a node at the end of the new block."""
        self.nodes.append(node)
        for out in node.outs:
            self._makers[out] = node

    def new(self, name: str, args: Sequence[Operand], params: dict[str, Any], type: Type, source: Source | None) -> Var:
        """The result of a new node."""
        out = Var(type)
        self.add(Node(TABLE[name], tuple(args), params, (out,), (), source))
        return out

    def maker(self, operand: Operand, *names: str) -> Node | None:
        """The node of this block that makes a value, if it is one of these ops (of any op, if none is named)."""
        node = self._makers.get(operand) if isinstance(operand, Var) else None
        return node if node is not None and (not names or node.op.name in names) else None

    def uniform(self, operand: Operand) -> Any:
        """The number that all elements of an operand are, or `None`."""
        while True:
            maker = self.maker(operand, "broadcast_to")
            if maker is None:
                break
            operand = maker.args[0]
        if not isinstance(operand, Const):
            return None
        value = operand.value
        if not isinstance(value, np.ndarray):
            return value
        if not 0 < value.size <= _SMALL:
            return None
        first = value.flat[0]
        return first if value.tobytes() == np.full(value.shape, first, value.dtype).tobytes() else None

    def length(self, node: Node, n: Any) -> Any:
        """A length among the parameters of a node: an int, or the operand that it stands for."""
        return node.sizes[n.k] if n.__class__ is Ref else n

    def has_lengths(self, operand: Operand, lengths: Sequence[Any]) -> bool:
        """Whether an array has these lengths, ints or operands, for certain."""
        shape = operand.type.shape
        return len(shape) == len(lengths) and all(
            m.__class__ is int and n == m if n.__class__ is int else self._is_size_of(m, operand, axis)
            for axis, (n, m) in enumerate(zip(shape, lengths, strict=True))
        )

    def _is_size_of(self, length: Any, operand: Operand, axis: int) -> bool:
        maker = self.maker(length, "size")
        if maker is not None and maker.args[0] is operand and maker.params["axis"] == axis:
            return True
        return isinstance(length, Var) and self.length_of(operand, axis) is length

    def length_of(self, operand: Operand, axis: int) -> Any:
        """The length of an axis: an int, or the operand that says it; None if nothing is known."""
        while True:
            n = operand.type.shape[axis]
            maker = self.maker(operand)
            if n.__class__ is int or maker is None:
                return n if n.__class__ is int else None
            if maker.op.name in ("reshape", "broadcast_to"):
                return self.length(maker, maker.params["shape"][axis])
            if maker.op.name == "index":
                return self._length_of_slice(maker, axis)
            if maker.op.writes or maker.op.name == "flip":
                operand = maker.args[0]
            elif maker.op.elementwise:
                lasting = [(a, axis - operand.type.ndim + a.type.ndim) for a in maker.args]
                operand, axis = next((a, k) for a, k in lasting if k >= 0 and a.type.shape[k].__class__ is not int)
            else:
                return None

    def _length_of_slice(self, node: Node, axis: int) -> Operand | None:
        """What says the length of `x[:n]` or `x[1 : n + 1]`, where it is certain that there are so many."""
        x, *places = node.args
        pattern = node.params["pattern"]
        if any(a.type.shape for a in places) or None in pattern or FLAG in pattern:
            return None
        sides = [*explicit(pattern, x.type.ndim), *[slice(None)] * (x.type.ndim - len(pattern))][: x.type.ndim]
        own = [k for k, side in enumerate(sides) if isinstance(side, slice)][axis]
        side = sides[own]
        start = side.start or 0
        if start.__class__ is not int or start < 0 or side.step not in (None, 1) or side.stop.__class__ is not Ref:
            return None
        stop = node.sizes[side.stop.k]
        length = stop if start == 0 else self._less(stop, start)
        if not isinstance(length, Var) or not isinstance(stop, Var) or length.span is None or stop.span is None:
            return None
        if length.span[0] is None or length.span[0] < 0:
            return None
        longest = self.length_of(x, own)
        fits = stop.span[1] is not None and longest.__class__ is int and stop.span[1] <= longest
        return length if fits or longest is stop else None

    def _less(self, x: Operand, number: int) -> Operand | None:
        """An integer less a number, if it was made by adding that."""
        maker = self.maker(x, "add")
        if maker is None:
            return None
        for a, b in (maker.args, maker.args[::-1]):
            is_number = isinstance(b, Const) and b.type.dtype.kind in "iu" and b.value == number
            if is_number and a.type.dtype == x.type.dtype:
                return a
        return None


def rewritten(
    block: Block, rules: Callable[[Node], Sequence[Callable[[Node, Scope], Rewritten]]], before: Callable[[Node], Node]
) -> tuple[Scope, tuple[Operand, ...]]:
    """A block rewritten by rules: the scope with its nodes, and its results.

    `before` prepares a node; `rules` says which rules may concern it.
    """
    scope = Scope(block)
    for node in block.nodes:
        _rewrite(before(substituted(node, scope.env)), scope, rules)
    return scope, all_replaced(block.results, scope.env)


def _rewrite(node: Node, scope: Scope, rules: Callable[[Node], Sequence[Callable]]) -> None:
    outs = node.outs
    for _ in range(_SMALL):  # a rule may have been made possible by another
        for rule in rules(node):
            result: Rewritten = rule(node, scope)
            if result is not None:
                break
        else:
            scope.add(node)
            return
        if result.__class__ is tuple:
            scope.env.update(zip(outs, result, strict=True))
            return
        node = result  # type: ignore[assignment]
    scope.add(node)


def changed(
    node: Node, name: str | None = None, args: Sequence[Operand] | None = None, params: dict[str, Any] | None = None
) -> Node:
    """A node with another op, other operands or other parameters, for the same results. Sizes stay."""
    return Node(
        node.op if name is None else TABLE[name],
        node.args if args is None else tuple(args),
        node.params if params is None else params,
        node.outs,
        node.sizes,
        node.source,
    )


def zeros(node: Node) -> Rewritten:
    """Zeros in place of what a node computes, if its shape is known."""
    type = node.outs[0].type
    if not type.is_static:
        return None
    zero = const({"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[type.dtype.kind] if type.weak else type.dtype.type(0))
    if not type.shape:
        return (zero,)
    return Node(TABLE["broadcast_to"], (zero,), {"shape": type.shape}, node.outs, (), node.source)
