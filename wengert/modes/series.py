"""Truncated Taylor series: a value travels with the coefficients of higher order, as a function of one variable t.

A `Series` holds x₀ and x₁, …, xₙ of x(t) = x₀ + x₁t + … + xₙtⁿ. What an op makes of them is derived from its row
(`coefficients.py`): no row states a rule for series. Deciding whether to branch, how often to iterate and which element
to read is done by x₀, as everywhere.

Each op is computed to the full order at once. While it is, its tangent rule is run on series of which only the first
coefficients are known yet, and what the rule computes is remembered by op and operands (`_remembered`): a rule that
comes back to where it started closes a system of differential equations. With `lazy=True` nothing is computed before
somebody asks, so that a series may depend on its own derivative: that is how the solution of y′ = f(y) is expanded
(`api/taylor_ode.py`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.box import Box, outside, plain
from wengert.box.writing import overwrite, settled, zeros
from wengert.counted import all_count
from wengert.modes.coefficients import (
    Coefficients,
    Derivative,
    Integrated,
    Mapped,
    Product,
    Same,
    Solution,
    Stated,
    is_linear_in,
)
from wengert.modes.dual import check_not_inner
from wengert.modes.mode import Mode, closure
from wengert.ops.derive import Control, Elementwise, General, Guarded, Zero, fit
from wengert.ops.elementwise import where
from wengert.ops.library import example_of
from wengert.ops.op import Op, Traced, call, fresh_tag, in_kind
from wengert.running import entered
from wengert.types import SCALARS, aval_of, dtype_of, is_inexact


class Series(Box):
    """A value with the coefficients of its Taylor series."""

    __slots__ = ()
    _state = ("_owner", "_value", "_node")

    def __init__(self, trace: SeriesTrace, value: Any, coefficients: Coefficients):
        self._owner = trace
        self._value = value
        self._node = coefficients


Series.__name__ = "traced array"


class SeriesTrace(Mode):
    """One expansion, to the order `order`."""

    __slots__ = ("_remembered", "_ruled", "_waiting", "alive", "order", "tag")
    name = "series"
    boxes = Series

    def __init__(self, order: int, lazy: bool = False) -> None:
        self.tag = fresh_tag()
        self.alive = True
        self.order = order
        self._remembered: dict[Any, Any] | None = {} if lazy else None
        self._waiting: list[Coefficients] = []
        """What was made by the function itself, in order, and is not complete yet."""
        self._ruled = not lazy
        """Whether a tangent rule is being run."""

    @property
    def companions(self) -> int:  # type: ignore[override]
        return self.order

    @property
    def key(self) -> Any:
        return ("series", self.order)

    def fresh(self) -> SeriesTrace:
        return SeriesTrace(self.order)

    def split(self, box: Any) -> list[Any]:
        found = [box._node[k] for k in range(1, self.order + 1)]
        return [box._value, *[zeros(*aval_of(box._value)) if x is None else x for x in found]]

    def join(self, parts: Sequence[Any]) -> Series:
        return Series(self, parts[0], Coefficients(list(parts)))

    def constant(self, x: Any) -> list[Any]:
        nothing = zeros(*aval_of(x))
        return [x, *[nothing] * self.order]

    # ------------------------------------------------------------------------------------------------ applying ops

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            return outside(self, op, args, params)
        held = op if isinstance(op, Control) and op.push is None else None
        if self._remembered is None:
            return self._at_once(op, args, params) if held is None else held.lift(self, args, params)
        key = _key(self, op, args, params)
        found = None if key is None else self._remembered.get(key)
        if found is not None:
            return self._again(found[0])
        y = self._apply(op, args, params) if held is None else self._lifted_later(held, args, params)
        self._remember(key, args, y)
        if not self._ruled:
            self._waiting.extend([part._node for part in (y if y.__class__ is tuple else (y,)) if self.owns(part)])
        return y

    def advance(self, order: int) -> None:
        """Compute what waits to be computed, order by order, each after what it was made from.

        Asking for the last coefficient of the last series would do the same, but by recursion.
        """
        for k in range(1, order + 1):
            for coefficients in self._waiting:
                coefficients[k]

    def _remember(self, key: Any, args: tuple, y: Any) -> None:
        """Keep the result of an op, and its operands, whose identities are in the key."""
        if key is not None:
            self._remembered[key] = (self._again(y), [self._again(a) for a in args])  # type: ignore[index]

    def _again(self, y: Any) -> Any:
        """The same series in boxes of their own: boxes may be written to."""
        if y.__class__ is tuple:
            return tuple([self._again(part) for part in y])
        return Series(self, y._value, y._node) if self.owns(y) else y

    def _at_once(self, op: Op, args: tuple, params: dict) -> Any:
        """Apply an op and compute all coefficients."""
        self._remembered = {}
        try:
            y = self._apply(op, args, params)
            self._remember(_key(self, op, args, params), args, y)
            for part in y if y.__class__ is tuple else (y,):
                if part.__class__ is Series and part._owner is self:
                    part._node[self.order]
                    part._node = Coefficients(part._node.known)
            return y
        finally:
            self._remembered = None

    def _apply(self, op: Op, args: tuple, params: dict) -> Any:
        own = [a.__class__ is Series and a._owner is self for a in args]
        values = tuple([a._value if o else a for a, o in zip(args, own, strict=True)])
        sources = [a._node if o else None for a, o in zip(args, own, strict=True)]
        y = call(op, *values, **params)
        if isinstance(op, Zero):
            return y
        several = y.__class__ is tuple
        if not several and not is_inexact(dtype_of(y)):
            return y
        active = [i for i, o in enumerate(own) if o and _depends_on(op, i, values)]
        if not active:
            return y
        if several:
            if op.__class__ is Control and any(self.owns(part) for part in y):
                raise closure(params["name"])
            return self._integrated(op, y, args, own, params)
        if op.expansion is not None and (op.expands_in is None or active == [op.expands_in]):
            same = op.expansion(*args, **params)
            if same is not NotImplemented:
                return Series(self, y, self._expanded(y, same))
        if op.series is not None:
            return Series(self, y, Stated(op, y, args[0]._node))
        kind = _kind_of(op, active)
        if kind is None:
            return self._integrated(op, y, args, own, params)
        sources = [s if i in active else None for i, s in enumerate(sources)]
        return Series(self, y, kind(op, y, values, sources, params))

    def _expanded(self, y: Any, same: Any) -> Coefficients:
        if same.__class__ is not Guarded:
            return Same(y, self.coefficients_of(fit(same, y)))
        source = self.coefficients_of(fit(same.program, y))
        return Same(y, source, lambda k, x: fit(where(same.mask, same.fill(k), 0 if x is None else x), y))

    def _integrated(self, op: Op, y: Any, args: tuple, own: Sequence[bool], params: dict) -> Any:
        """The op as the solution of the differential equation that its tangent rule states."""
        rates: list[Any] = []

        def rate(k: int) -> Any:
            if not rates:
                operands = tuple([clone_of(a) if o else a for a, o in zip(kept, own, strict=True)])
                dots = [self.derivative_of(a) if o else None for a, o in zip(kept, own, strict=True)]
                outer, self._ruled = self._ruled, True
                try:
                    found = op.tangent(results, operands, dots, params)
                finally:
                    self._ruled = outer
                parts = found if found.__class__ is tuple else (found,)
                rates.extend([None if f is None else self.coefficients_of(f) for f in parts])
            return rates[k] if k < len(rates) else None

        def clone_of(a: Any) -> Series:
            return Series(self, a[0], a[1])

        # Boxes may be written to later on: what counts is what they are now.
        kept = [(a._value, a._node) if o else a for a, o in zip(args, own, strict=True)]
        parts = y if y.__class__ is tuple else (y,)
        boxes = tuple(
            [
                Series(self, part, Integrated(part, _nth(rate, k))) if is_inexact(dtype_of(part)) else part
                for k, part in enumerate(parts)
            ]
        )
        results = boxes if y.__class__ is tuple else boxes[0]
        return results

    def derivative_of(self, a: tuple[Any, Coefficients]) -> Series:
        """x′, as a series."""
        rate = Derivative(a[1])
        first = rate[0]
        return Series(self, zeros(*aval_of(a[0]))[()] if first is None else first, rate)

    def coefficients_of(self, x: Any) -> Coefficients:
        """The coefficients of a value, which may be a constant."""
        x = settled(x)
        return x._node if self.owns(x) else Coefficients([x])

    def _lifted_later(self, op: Control, args: tuple, params: dict) -> Any:
        """An op that holds code, on series that are not complete yet: lifted anew for each order, padded with zeros.

        The first coefficients of its results depend on the first ones of its operands only.
        """
        kept = [(a._value, a._node) if self.owns(a) else a for a in args]

        def results(k: int) -> tuple:
            trace = SeriesTrace(max(self.order, k))
            with entered(trace):
                given = [
                    Series(trace, a[0], Coefficients([a[0], *[a[1][i] for i in range(1, k + 1)]])) if o else a
                    for a, o in zip(kept, own, strict=True)
                ]
                return tuple(
                    [trace.split(y)[: k + 1] if trace.owns(y) else y for y in op.lift(trace, tuple(given), params)]
                )

        own = [self.owns(a) for a in args]
        return tuple(
            [
                Series(self, y[0], _Repeated(y, results, place)) if y.__class__ is list else y
                for place, y in enumerate(results(0))
            ]
        )

    # ---------------------------------------------------------------------------------------------------- writing

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        if not self.alive or self._remembered is not None:
            return NotImplemented
        mine = self.owns(v)
        overwrite(box, "_value", v._value if mine else v, pattern, arrays)
        given = v._node if mine else None  # (of the box itself, if it is written into itself)
        node = box._node
        box._node = None
        if sys.getrefcount(node) > 2:  # another box has it, too
            node = Coefficients(list(node.known))
        node.known[0] = None
        for k in range(1, self.order + 1):
            new = None if given is None else given[k]
            if node[k] is None:
                if new is None:
                    continue
                node.known[k] = zeros(*aval_of(box._value))
            slot = _Slot(node.known[k])
            node.known[k] = None
            overwrite(slot, "x", 0 if new is None else new, pattern, arrays)
            node.known[k] = slot.x
        node.known[0] = box._value
        box._node = node
        return None


class _Slot:
    """A coefficient that is written to."""

    __slots__ = ("x",)

    def __init__(self, x: Any):
        self.x = x


class _Repeated(Coefficients):
    """A result of an op that is computed again for each order."""

    __slots__ = ("place", "results")

    def __init__(self, known: list[Any], results: Callable[[int], tuple], place: int):
        super().__init__(known)
        self.results, self.place = results, place

    def next(self, k: int) -> Any:
        return self.results(k)[self.place][k]


def _nth(rate: Callable[[int], Any], k: int) -> Callable[[], Any]:
    return lambda: rate(k)


def _kind_of(op: Op, active: list[int]) -> Any:
    """How coefficients follow from those of these operands, if not from the tangent rule."""
    if is_linear_in(op, active):
        return Mapped
    if all(op.is_linear(i) for i in active):
        return Product
    return Solution if op.solves else None


def _depends_on(op: Op, i: int, values: tuple) -> bool:
    """Whether an op has a derivative in its i-th operand. A choice between two has none in what is chosen nowhere."""
    if op is where and i:
        mask = plain(values[0])
        return isinstance(mask, Traced) or bool(np.any(mask) if i == 1 else not np.all(mask))
    if isinstance(op, Elementwise):
        return op.partials[i] is not None
    if isinstance(op, General) and i < len(op.tangents):
        return op.tangents[i] is not None
    return True


# ------------------------------------------------------------------------------------------------------ remembering


def _key(trace: SeriesTrace, op: Op, args: tuple, params: dict) -> Any:
    """What tells one application of an op from another; `None` if that is not known."""
    try:
        key = (
            op,
            tuple([_key_of(trace, a) for a in args]),
            tuple([(name, _key_of(trace, p)) for name, p in params.items()]),
        )
        hash(key)
    except TypeError:
        return None
    return key


_LITTLE = 256
"""Arrays with so many bytes are compared by what is in them."""


def _key_of(trace: SeriesTrace, x: Any) -> Any:
    kind = x.__class__
    if kind is Series and x._owner is trace:
        return id(x._node)
    if kind in SCALARS:
        return (kind, x, math.copysign(1.0, x) if kind is float else None)
    if isinstance(x, (np.ndarray, np.generic)):
        return (x.dtype, x.shape, x.tobytes()) if x.nbytes <= _LITTLE else id(x)
    if kind is tuple or kind is list:
        return (kind, *[_key_of(trace, item) for item in x])
    if isinstance(x, Box):
        return id(x)
    return x


# --------------------------------------------------------------------------------------------------------- expanding


def expand(
    function: Callable[..., Sequence[Any]], series: Sequence[Sequence[Any]], order: int
) -> list[tuple[Any, list[Any]]]:
    """The values of a function from leaves to a list of leaves, and their coefficients 1 … order.

    A series is given by its coefficients from 0 on, of which any but the first may be `None`, or missing: zero.
    """
    trace = SeriesTrace(order)
    with entered(trace, library=example_of([x[0] for x in series])):
        curves = [[x[0], *[in_kind(c, x[0]) for c in x[1:]]] for x in series]
        outputs = function(*[Series(trace, x[0], Coefficients(x)) for x in curves])
        found = []
        for y in map(settled, outputs):
            if trace.owns(y):
                found.append((y._value, [y._node[k] for k in range(1, order + 1)]))
            else:
                check_not_inner(y, trace.tag)
                found.append((y, [None] * order))
        return found


all_count(globals())
