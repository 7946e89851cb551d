"""The maximum that is taken out before exponentials and put back afterwards has no derivative.

log Σ exp(x − m) + m is the same for all m; one writes m = max x, so that nothing overflows. The derivative through m is
a sum that cancels, but only the rule for the whole sum knows: with e = exp(x − m) and s = Σ e, the sum of e·w/s along
the reduced axes is w, for every w that has one number for each sum. So in

    (w − Σ e·w/s) · shares(m, x)

the bracket is zero but for rounding errors, and `shares`, which counts ties, is computed in vain. The bracket may be
any combination of such terms, also with sums of other arrays, as in a softmax that was written by hand.

Exactly when is the product NaN? Where a term is infinite or NaN; and since e is at most one, s is a number (of at least
one) or NaN. So what remains is t − t for each such term t, and s − s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from wengert.ir.node import Node, Operand, Type
from wengert.ops.op import TABLE
from wengert.passes.scope import Rewritten, Scope

_MOST = 200
"""Steps back, at most, before it is given up."""


class _Unknown(Exception):
    """Not of the form that is looked for."""


class _Weight(NamedTuple):
    """What stands beside e in a product: a number, a value with one number for each sum; with `total`, 1/s as well."""

    row: Operand | None = None
    factor: float = 1.0
    total: Operand | None = None

    def times(self, other: _Weight) -> _Weight | None:
        """The product, if it is one of this kind."""
        if (self.row is not None and other.row is not None) or (self.total is not None and other.total is not None):
            return None
        return _Weight(self.row or other.row, self.factor * other.factor, self.total or other.total)


class _Sums:
    """A combination of numbers, of which there is one for each sum along some axes of x."""

    def __init__(self, scope: Scope, x: Operand, axes: tuple[int, ...]):
        self.scope, self.x, self.axes = scope, x, axes
        self.kept = tuple([1 if k in axes else n for k, n in enumerate(x.type.shape)])
        self.factors: dict[Operand | tuple, float] = {}
        """Of each term: a value with one number for each sum, ("sum", array), or () for the number one."""
        self.involved: list[Operand] = []
        """Terms that must be finite."""
        self._looks = 0

    def made(self, value: Operand, *names: str) -> Node | None:
        self._looks += 1
        if self._looks > _MOST:
            raise _Unknown
        return self.scope.maker(value, *names)

    # ------------------------------------------------------------------------------------------ one number for each sum

    def is_row(self, value: Operand) -> bool:
        """Whether a value has one number for each sum, and broadcasts against x as such."""
        shape = value.type.shape
        return len(shape) <= len(self.kept) and (1,) * (len(self.kept) - len(shape)) + tuple(shape) == self.kept

    def bare(self, value: Operand) -> Operand:
        """A value without changes of its shape that leave its elements in order."""
        while (maker := self.made(value, "reshape", "broadcast_to", "index")) is not None:
            inner = maker.args[0]
            if len(maker.args) > 1 or maker.sizes or not inner.type.is_static or not value.type.is_static:
                break
            if math.prod(inner.type.shape) != math.prod(value.type.shape):
                break
            if maker.op.name == "index" and not _only_drops_axes(maker):
                break
            value = inner
        return value

    def add(self, value: Operand, factor: float) -> None:
        """Add a value with one number for each sum."""
        number = self.scope.uniform(value)
        if number is not None:
            return self._count((), factor * float(number))
        value = self.bare(value)
        if (number := self.scope.uniform(value)) is not None:
            return self._count((), factor * float(number))
        maker = self.made(value)
        name = "" if maker is None else maker.op.name
        if maker is not None and name in ("add", "subtract"):
            x, y = maker.args
            if _same_shapes(maker):
                self.add(x, factor)
                return self.add(y, factor if name == "add" else -factor)
        if maker is not None and name == "negative":
            return self.add(maker.args[0], -factor)
        if maker is not None and name == "multiply" and (scaled := self._scaled(maker)) is not None:
            return self.add(scaled[0], factor * scaled[1])
        if maker is not None and name == "sum" and self._is_sum(maker):
            return self.add_sum(maker.args[0], factor)
        self._count(value, factor)
        self.involved.append(value)

    def _scaled(self, maker: Node) -> tuple[Operand, float] | None:
        for x, y in (maker.args, maker.args[::-1]):
            number = self.scope.uniform(y)
            if number is not None and x.type.shape == maker.outs[0].type.shape:
                return x, float(number)
        return None

    def _is_sum(self, maker: Node) -> bool:
        """Whether a node sums over the axes that are looked at, of an array like x."""
        axes = maker.params.get("axis")
        whole = axes is None and len(self.axes) == len(self.kept)
        return maker.args[0].type.shape == self.x.type.shape and (whole or tuple(axes or ()) == self.axes)

    def _count(self, term: Operand | tuple, factor: float) -> None:
        self.factors[term] = self.factors.get(term, 0.0) + factor

    # --------------------------------------------------------------------------------------------------- sums of arrays

    def add_sum(self, array: Operand, factor: float) -> None:
        """Add the sums of an array of the shape of x."""
        maker = self.made(array)
        name = "" if maker is None else maker.op.name
        if maker is not None and name in ("add", "subtract") and _same_shapes(maker):
            self.add_sum(maker.args[0], factor)
            return self.add_sum(maker.args[1], factor if name == "add" else -factor)
        if maker is not None and name == "negative":
            return self.add_sum(maker.args[0], -factor)
        if maker is not None and name in ("multiply", "divide") and (w := self._share(maker, _Weight())) is not None:
            assert w.total is not None
            self.involved.append(w.total)
            if w.row is None:
                return self._count((), factor * w.factor)
            return self.add(w.row, factor * w.factor)
        sums = self._sums_of(array)
        if not sums:
            raise _Unknown
        self._count(("sum", array), factor)
        self.involved.append(sums[0])
        return None

    def _sums_of(self, array: Operand) -> list[Operand]:
        """Values that are the sums of an array."""
        return [
            node.outs[0]
            for node in self.scope.nodes
            if node.op.name == "sum" and node.args[0] is array and self._is_sum(node)
        ]

    def _share(self, maker: Node, beside: _Weight) -> _Weight | None:
        """w, if a product is e·w/s; `beside` are the factors that were found outside of it."""
        divides = maker.op.name == "divide"
        x, y = maker.args
        for whole, row in [(x, y)] if divides else [(x, y), (y, x)]:
            row = self.unspread(row)
            if whole.type.shape != self.x.type.shape or not (self.scope.uniform(row) is not None or self.is_row(row)):
                continue
            factors = self._over_total(whole, row) if divides else self._factors(whole, row)
            if factors is None or (together := beside.times(factors)) is None:
                continue
            exp = self.made(whole, "exp")
            if exp is not None:
                return together if together.total is not None and self._is_weight(exp) else None
            inner = self.made(whole, "multiply", "divide")
            if inner is not None:
                return self._share(inner, together)
        return None

    def unspread(self, row: Operand) -> Operand:
        maker = self.made(row, "broadcast_to")
        return maker.args[0] if maker is not None and self.is_row(maker.args[0]) else row

    def _is_weight(self, exp: Node) -> bool:
        lead = self.made(exp.args[0], "subtract")
        return lead is not None and lead.args[0] is self.x and self.is_highest(lead.args[1])

    def _exponential(self, whole: Operand) -> Operand:
        """e, of a product in which it is."""
        while (maker := self.made(whole, "multiply", "divide")) is not None:
            x, y = maker.args
            whole = x if x.type.shape == self.x.type.shape and self.made(x, "broadcast_to") is None else y
        return whole

    def _over_total(self, whole: Operand, row: Operand) -> _Weight | None:
        total = self.bare(row)
        return _Weight(total=total) if total in self._sums_of(self._exponential(whole)) else None

    def _factors(self, whole: Operand, row: Operand) -> _Weight | None:
        """A factor with one number for each sum, taken apart into w and 1/s, as far as 1/s is in it."""
        number = self.scope.uniform(row)
        if number is not None:
            return _Weight(factor=float(number))
        row = self.bare(row)
        maker = self.made(row, "multiply", "divide", "reciprocal", "negative")
        if maker is None:
            return _Weight(row)
        if maker.op.name == "reciprocal":
            return self._over_total(whole, maker.args[0]) or _Weight(row)
        if maker.op.name == "negative":
            found = self._factors(whole, maker.args[0])
            return None if found is None else found.times(_Weight(factor=-1.0))
        x, y = maker.args
        if not _same_shapes(maker) and self._scaled(maker) is None:
            return _Weight(row)
        parts = [self._factors(whole, x)]
        parts.append(self._over_total(whole, y) if maker.op.name == "divide" else self._factors(whole, y))
        if parts[0] is None or parts[1] is None or (found := parts[0].times(parts[1])) is None or found.total is None:
            return _Weight(row)
        return found

    def is_highest(self, value: Operand) -> bool:
        """Whether a value is the maximum of x along the axes."""
        if not self.is_row(value):
            return False
        maker = self.made(self.bare(value), "max")
        return maker is not None and maker.args[0] is self.x and tuple(maker.params["axis"]) == self.axes


def _same_shapes(maker: Node) -> bool:
    return all(a.type.shape == maker.outs[0].type.shape for a in maker.args)


def _only_drops_axes(maker: Node) -> bool:
    return all(item in (0, slice(None), None, Ellipsis) for item in maker.params["pattern"])


def _multiply(node: Node, scope: Scope) -> Rewritten:
    """A derivative through the maximum that cancels: zero, or NaN where it was."""
    (out,) = node.outs
    for factor, other in (node.args, node.args[::-1]):
        shares = scope.maker(other, "shares")
        if shares is None or shares.params.get("least"):
            continue
        highest, x = shares.args
        axes = tuple(shares.params["axis"])
        if out.type.dtype.kind != "f" or out.type != other.type or not x.type.is_static or x.type != out.type:
            continue
        sums = _Sums(scope, x, axes)
        try:
            if not sums.is_highest(highest):
                continue
            factor = sums.unspread(factor)
            if sums.is_row(factor):
                sums.add(factor, 1.0)
        except _Unknown:
            continue
        is_zero = bool(sums.involved) and not any(sums.factors.values())
        if is_zero and all(v.type.dtype == out.type.dtype for v in sums.involved):
            return _zero_or_nan(node, scope, sums)
    return None


def _zero_or_nan(node: Node, scope: Scope, sums: _Sums) -> Rewritten:
    (out,) = node.outs
    total: Operand | None = None
    for value in dict.fromkeys(sums.involved):
        type = value.type
        zero: Operand = scope.new("subtract", (value, value), {}, Type(type.shape, type.dtype), node.source)
        if type.shape != sums.kept:
            params = {"shape": sums.kept}
            zero = scope.new("reshape", (zero,), params, Type(sums.kept, type.dtype), node.source)
        if total is None:
            total = zero
        else:
            total = scope.new("add", (total, zero), {}, Type(sums.kept, out.type.dtype), node.source)
    assert total is not None
    return Node(TABLE["broadcast_to"], (total,), {"shape": out.type.shape}, node.outs, (), node.source)


RULES: dict[str, Callable[[Node, Scope], Rewritten]] = {"multiply": _multiply}
"""By op, the rule that may concern it."""
