"""Taylor coefficients that are computed when they are asked for: the arithmetic of power series, order by order.

A `Coefficients` knows how each of its coefficients follows from coefficients of others, and keeps those it has
computed. There is one kind for each family of ops:

    linear in t       yₖ = L(xₖ)                                      `Mapped`
    products          yₖ = Σ B(xᵢ, zₖ₋ᵢ)                              `Product`
    solutions         yₖ = S(bₖ) + Σᵢ₌₁ ∂S(aᵢ)·yₖ₋ᵢ                  `Solution`
    stated            y₀ … yₖ of x₀ … xₖ, all at once                `Stated`
    anything else     k·yₖ = [ẏ(y, x, x′)]ₖ₋₁                         `Integrated`

The last one is the derivation that serves every op which has a tangent rule: y′ = ẏ(y, x, x′) is a differential
equation for y(t), whose right-hand side, a program of ops, is itself evaluated in series, one order behind. Where the
rule calls an op on the same operands again (sin asks for cos, which asks for sin), it finds the series that is there
already (`modes/series.py`), so the cost of n coefficients is n² products, not 2ⁿ.

`None` is a coefficient that is zero whatever the values: nothing is computed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.ops.derive import Elementwise, fit
from wengert.ops.op import Op, call
from wengert.types import PLAIN


class Coefficients:
    """The coefficients of one series; `known` are those computed so far."""

    __slots__ = ("known",)

    def __init__(self, known: list[Any]):
        self.known = known

    def __getitem__(self, k: int) -> Any:
        known = self.known
        while len(known) <= k:
            known.append(self.next(len(known)))
        return known[k]

    def next(self, k: int) -> Any:
        """Coefficient k, when all before it are known."""
        return None  # a polynomial


class Mapped(Coefficients):
    """An op that is linear in its series together: each coefficient by itself."""

    __slots__ = ("args", "op", "params", "sources")

    def __init__(self, op: Op, y: Any, args: tuple, sources: Sequence[Any], params: dict):
        super().__init__([y])
        self.op, self.args, self.sources, self.params = op, args, sources, params

    def next(self, k: int) -> Any:
        dots = [None if s is None else s[k] for s in self.sources]
        if all(dot is None for dot in dots):
            return None
        op, y = self.op, self.known[0]
        if isinstance(op, Elementwise) and not op.jointly:
            args = [a if s is None else dot for a, s, dot in zip(self.args, self.sources, dots, strict=True)]
            return fit(call(op, *args, **self.params), y)
        return op.tangent(y, self.args, dots, self.params)


class Product(Coefficients):
    """An op that is linear in each of several series."""

    __slots__ = ("args", "op", "params", "places", "sources")

    def __init__(self, op: Op, y: Any, args: tuple, sources: Sequence[Any], params: dict):
        super().__init__([y])
        self.op, self.args, self.params = op, args, params
        self.places = [i for i, s in enumerate(sources) if s is not None]
        self.sources = [s for s in sources if s is not None]

    def next(self, k: int) -> Any:
        total = added(self._terms(k, 0, []), self._apply, self._together)
        return None if total is None else fit(total, self.known[0])

    def _terms(self, k: int, at: int, chosen: list[Any]) -> list[list[Any]]:
        """The coefficients that are multiplied, for each way to distribute the order k among the factors."""
        source = self.sources[at]
        if at == len(self.sources) - 1:
            return [] if source[k] is None else [[*chosen, source[k]]]
        found = []
        for i in range(k + 1):
            if source[i] is not None:
                found.extend(self._terms(k - i, at + 1, [*chosen, source[i]]))
        return found

    def _apply(self, factors: Sequence[Any]) -> Any:
        args = list(self.args)
        for place, x in zip(self.places, factors, strict=True):
            args[place] = x
        return call(self.op, *args, **self.params)

    def _together(self, stacks: Sequence[np.ndarray]) -> Any:
        if self.op.batch is None:
            return NotImplemented
        args, mapped = list(self.args), [False] * len(self.args)
        for place, x in zip(self.places, stacks, strict=True):
            args[place], mapped[place] = x, True
        return self.op.batch(tuple(args), tuple(mapped), self.params)


_FEW = 5
"""So many products are added one by one, also where they could be computed together."""


def added(terms: list[list[Any]], apply: Callable, together: Callable) -> Any:
    """The sum of products. Those of plain arrays are computed all at once, along a hidden axis."""
    if len(terms) > _FEW and all(x.__class__ in PLAIN for factors in terms for x in factors):
        stacked = [np.array(x) for x in zip(*terms, strict=True)]
        products = together(stacked)
        if products.__class__ is np.ndarray:
            return np.add.reduce(products, axis=0)
    total = None
    for factors in terms:
        term = apply(factors)
        total = term if total is None else total + term
    return total


class Solution(Coefficients):
    """An op that solves an equation linear in its result and in each operand (`Op.solves`), such as a division.

    From a(t) y(t) = b(t) follows a₀ yₖ = bₖ − Σᵢ₌₁ aᵢ yₖ₋ᵢ. All that is needed for it stands in the tangent rule: what
    a tangent a_dot contributes is −a₀⁻¹ a_dot y, and that with aᵢ for a_dot and yₖ₋ᵢ for y are the terms of the sum.
    """

    __slots__ = ("args", "op", "params", "scaled", "sources")

    def __init__(self, op: Any, y: Any, args: tuple, sources: Sequence[Any], params: dict):
        super().__init__([y])
        self.op, self.args, self.sources, self.params = op, args, sources, params
        self.scaled: list[Any] = []

    def next(self, k: int) -> Any:
        op, y, total = self.op, self.known[0], None
        linear = [s is not None and op.is_linear(i) for i, s in enumerate(self.sources)]
        if any(linear):
            args = [s[k] if m else a for a, s, m in zip(self.args, self.sources, linear, strict=True)]
            if not any(a is None for a in args):
                total = fit(call(op, *args, **self.params), y)
        rest = [None if m else s for s, m in zip(self.sources, linear, strict=True)]
        if isinstance(op, Elementwise):
            self.scaled.append(self._slopes(rest, k - 1))
        for i in range(1, k + 1):
            term = self._term(rest, i, k - i)
            if term is not None:
                total = term if total is None else total + term
        return total

    def _slopes(self, rest: Sequence[Any], j: int) -> Any:
        """Partials of an elementwise op where yⱼ is its result: one division serves for all coefficients to come."""
        y = self.known[j]
        if y is None:
            return None
        return [None if s is None else self.op.coefficient(i, y, self.args, self.params) for i, s in enumerate(rest)]

    def _term(self, rest: Sequence[Any], i: int, j: int) -> Any:
        y, dots = self.known[j], [None if s is None else s[i] for s in rest]
        if y is None or all(dot is None for dot in dots):
            return None
        if not isinstance(self.op, Elementwise):
            return self.op.tangent(y, self.args, dots, self.params)
        terms = [c * dot for c, dot in zip(self.scaled[j], dots, strict=True) if dot is not None]
        return fit(sum(terms[1:], terms[0]), self.known[0])


class Stated(Coefficients):
    """An op whose row says how its coefficients follow from those of its operand (`Op.series`)."""

    __slots__ = ("ahead", "op", "source")

    def __init__(self, op: Op, y: Any, source: Coefficients):
        super().__init__([y])
        self.op, self.source = op, source
        self.ahead: list[Any] = []
        """Coefficients that were computed together with others, from the next one on."""

    def next(self, k: int) -> Any:
        if not self.ahead:
            self.source[k]
            assert self.op.series is not None
            self.ahead = [fit(c, self.known[0]) for c in self.op.series(self.source.known)[k:]]
        return self.ahead.pop(0)


class Derivative(Coefficients):
    """x′ of a series x."""

    __slots__ = ("source",)

    def __init__(self, source: Coefficients):
        super().__init__([])
        self.source = source

    def next(self, k: int) -> Any:
        x = self.source[k + 1]
        return x if x is None or k == 0 else x * (k + 1)


class Integrated(Coefficients):
    """The series with a given derivative, which is not asked for before the first coefficient is."""

    __slots__ = ("rate",)

    def __init__(self, y: Any, rate: Callable[[], Any]):
        super().__init__([y])
        self.rate = rate

    def next(self, k: int) -> Any:
        rate = self.rate()
        x = None if rate is None else rate[k - 1]
        return x if x is None or k == 1 else x / k


class Same(Coefficients):
    """A series that is another one, but for the way in which its value was computed, and what is changed where."""

    __slots__ = ("change", "source")

    def __init__(self, y: Any, source: Coefficients, change: Callable[[int, Any], Any] | None = None):
        super().__init__([y])
        self.source, self.change = source, change

    def next(self, k: int) -> Any:
        return self.source[k] if self.change is None else self.change(k, self.source[k])


def is_linear_in(op: Op, active: Sequence[int]) -> bool:
    """Whether an op is linear in these operands together."""
    return (len(active) == 1 or getattr(op, "jointly", False)) and all(op.is_linear(i) for i in active)
