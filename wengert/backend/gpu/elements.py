"""The element of a value at given coordinates, as scalar code: what a kernel is made of.

Elementwise ops take the elements of their operands at the same coordinates; slices, transposed and reshaped arrays have
theirs at others. Where arrays are joined, or written to in part, the coordinates say which one is read: a branch, since
threads that are neighbours nearly always go the same way. A sum of few elements is written out.

Coordinates are integers plus multiples of what the threads count (`Coordinate`), as long as they can be: the same
place, reached in two ways, is then known to be the same, and read once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.gpu.scalar import KernelContext, combined, flat, gathered, is_number, item, lengths, written
from wengert.backend.llvm.arrays.buffer import I64, load_element
from wengert.backend.llvm.scalars.values import constant, convert
from wengert.ir.node import Node
from wengert.ops.index import ARRAY, axes_used, explicit


class OperandLayout(NamedTuple):
    """How an operand lies: its dtype, and how many elements apart neighbours along each of its axes are; `None` for a
    number that is passed itself."""

    dtype: np.dtype
    strides: tuple[int, ...] | None


class Coordinate(NamedTuple):
    """A coordinate: `factor · base + offset`; `base` is `None` for a number."""

    base: Any
    factor: int
    offset: int

    def moved(self, factor: int, offset: int) -> Coordinate:
        return Coordinate(self.base, self.factor * factor, self.offset * factor + offset)


ZERO = Coordinate(None, 0, 0)
Coordinates = tuple[Coordinate, ...]


class Elements:
    """Writes elements of values. `inside` says which node makes a value that is not in memory, `places` where others
    lie."""

    def __init__(self, cx: KernelContext, kind: ir.IntType, inside: dict[Any, Node]):
        self.cx, self.kind, self.inside = cx, kind, inside
        self.places: dict[Any, tuple[ir.Value, OperandLayout]] = {}
        self.numbers: dict[Any, Any] = {}
        self._known: list[dict[Any, Any]] = [{}]

    # ------------------------------------------------------------------------------------------------- coordinates

    def integer(self, c: Coordinate) -> ir.Value:
        """A coordinate as a number of the kernel."""
        if c.base is None:
            return self.kind(c.offset)
        return self._once(c, lambda: self._affine(c))

    def _affine(self, c: Coordinate) -> ir.Value:
        b, y = self.cx.builder, c.base
        y = y if c.factor == 1 else b.mul(y, self.kind(c.factor))
        return b.add(y, self.kind(c.offset)) if c.offset else y

    def coordinates(self, number: ir.Value, shape: Sequence[int]) -> Coordinates:
        """The coordinates of element number so and so, in C order."""
        found: list[Coordinate] = []
        b, rest, left = self.cx.builder, number, math.prod(shape)
        for n in reversed(shape):
            left //= n
            if n == 1:
                found.append(ZERO)
            elif left == 1:
                found.append(Coordinate(rest, 1, 0))
            else:
                found.append(Coordinate(b.urem(rest, self.kind(n)), 1, 0))
                rest = b.udiv(rest, self.kind(n))
        return tuple(found[::-1])

    def offset(self, coordinates: Coordinates, strides: Sequence[int]) -> ir.Value:
        """How many elements after the first one an element lies."""
        return self._once(("offset", coordinates, tuple(strides)), lambda: self._offset(coordinates, strides))

    def know_offset(self, coordinates: Coordinates, strides: Sequence[int], offset: ir.Value) -> None:
        """Say where an element lies."""
        self._known[-1]["offset", coordinates, tuple(strides)] = offset

    def say(self, element: tuple[Any, Coordinates], value: Any) -> None:
        """Say what an element is."""
        self._known[-1][element] = value

    def coordinates_at(self, node: Node, integers: Sequence[Any], rest: Coordinates) -> Coordinates:
        """The coordinates in an array of what lies at some coordinates of a place in it, which integers say."""
        there, left, found = iter(integers), iter(rest), []
        for place, n in zip(place_in(node), lengths(node.args[0]), strict=True):
            if place is ARRAY:
                found.append(self._counted(next(there)))
            elif place.__class__ is slice:
                start, _, step = place.indices(n)
                c = next(left)
                found.append(ZERO if n == 1 else c.moved(step, start))
            else:
                found.append(Coordinate(None, 0, int(place) % n))
        return tuple(found)

    def _counted(self, a: Any) -> Coordinate:
        """A computed integer as a coordinate."""
        if is_number(a):
            return Coordinate(None, 0, int(item(a.value)))
        narrow = lambda: self.at(a, ()) if self.kind == I64 else self.cx.builder.trunc(self.at(a, ()), self.kind)
        return Coordinate(self._once(("counted", a), narrow), 1, 0)

    def _offset(self, coordinates: Coordinates, strides: Sequence[int]) -> ir.Value:
        b, number = self.cx.builder, 0
        total: dict[Any, int] = {}
        for c, step in zip(coordinates, strides, strict=True):
            number += c.offset * step
            if c.base is not None:
                total[c.base] = total.get(c.base, 0) + c.factor * step
        y: ir.Value = self.kind(number)
        for base, factor in total.items():
            if factor:
                y = b.add(y, base if factor == 1 else b.mul(base, self.kind(factor)))
        return y if self.kind == I64 else b.sext(y, I64)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made where it is first needed, and known in the code that follows."""
        for known in self._known:
            if key in known:
                return known[key]
        made = self._known[-1][key] = make()
        return made

    @contextmanager
    def scope(self) -> Iterator[None]:
        """For code that does not always run: what is known in it is not known after it."""
        self._known.append({})
        yield
        self._known.pop()

    # ---------------------------------------------------------------------------------------------------- elements

    def at(self, a: Any, coordinates: Coordinates) -> Any:
        """The element of an operand."""
        if is_number(a):
            return constant(item(a.value), a.type.dtype)
        if a in self.numbers:
            return self.numbers[a]
        return self._once((a, coordinates), lambda: self._element(a, coordinates))

    def _element(self, a: Any, coordinates: Coordinates) -> Any:
        node = self.inside.get(a)
        if node is None:
            pointer, layout = self.places[a]
            return load_element(self.cx.builder, pointer, self.offset(coordinates, layout.strides or ()), layout.dtype)
        rule = MOVES.get(node.op.name)
        if rule is not None:
            return rule(self, node, coordinates)
        if node.op.combine is not None and not node.op.elementwise:
            return self._short_reduction(node, coordinates)
        return written(self.cx, node, [self.at(b, fitted(coordinates, b.type.shape)) for b in node.args])

    def _short_reduction(self, node: Node, coordinates: Coordinates) -> Any:
        """A reduction of few elements, one after the other."""
        shape, axes = lengths(node.args[0]), reduced_axes(node)
        kept = coordinates if len(coordinates) < len(shape) else tuple(
            [c for k, c in enumerate(coordinates) if k not in axes]
        )  # fmt: skip
        total: Any = None
        for place in np.ndindex(*[shape[k] for k in axes]):
            x = self.reduced_element(node, merged(kept, [Coordinate(None, 0, int(k)) for k in place], axes))
            total = x if total is None else combined(self.cx, node, total, x)
        return total

    def reduced_element(self, node: Node, coordinates: Coordinates) -> Any:
        """What a reduction combines: the element, or the product of two, in the dtype of the result."""
        dtype = node.outs[0].type.dtype
        x, *more = [convert(self.cx, self.at(a, coordinates), a.type.dtype, dtype) for a in node.args]
        return combined(self.cx, node, x, more[0], "multiply") if more else x

    def know(self, wanted: Sequence[tuple[Any, Coordinates]]) -> None:
        """Compute elements together, so that they are known.

        Divisions, roots, exp, tanh, sin and cos have a quick way for numbers of usual size and another for all others.
        Where it is chosen, nothing else can go on. So all elements are computed in the quick way first, and all of them
        again if any number on the way was not usual.
        """
        cx, b = self.cx, self.cx.builder
        cx.doubts, cx.inverse_roots = [], {}
        with self.scope():
            usual = [flat(self.at(a, c)) for a, c in wanted]
        doubts, cx.doubts = cx.doubts, None
        if doubts:
            quick, again, both = b.block, *[b.append_basic_block(name) for name in ("again", "both")]
            b.cbranch(functools.reduce(b.or_, dict.fromkeys(doubts)), again, both)
            b.position_at_end(again)
            with self.scope():
                other = [flat(self.at(a, c)) for a, c in wanted]
            last = b.block
            b.branch(both)
            b.position_at_end(both)
            for parts, others in zip(usual, other, strict=True):
                for k, (p, q) in enumerate(zip(parts, others, strict=True)):
                    parts[k] = b.phi(p.type)
                    parts[k].add_incoming(p, quick)
                    parts[k].add_incoming(q, last)
        for (a, c), parts in zip(wanted, usual, strict=True):
            self._known[-1][a, c] = gathered(parts, a.type.dtype)

    def either(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any], dtype: np.dtype) -> Any:
        """One of two elements; `condition` may be known already."""
        if condition.__class__ is bool:
            return yes() if condition else no()
        b = self.cx.builder
        blocks = [b.append_basic_block(n) for n in ("yes", "no", "both")]
        b.cbranch(condition, *blocks[:2])
        ends = []
        doubts, self.cx.doubts = self.cx.doubts, None  # what is known of numbers here is not known afterwards
        for block, make in zip(blocks[:2], (yes, no), strict=True):
            b.position_at_end(block)
            with self.scope():
                ends.append((flat(make()), b.block))
            b.branch(blocks[2])
        self.cx.doubts = doubts
        b.position_at_end(blocks[2])
        parts = []
        for p, q in zip(ends[0][0], ends[1][0], strict=True):
            phi = b.phi(p.type)
            phi.add_incoming(p, ends[0][1])
            phi.add_incoming(q, ends[1][1])
            parts.append(phi)
        return gathered(parts, dtype)

    def within(self, c: Coordinate, start: int, stop: int, length: int) -> Any:
        """Whether a coordinate along an axis of some length lies in a range of it."""
        if start <= 0 and stop >= length:
            return True
        if c.base is None:
            return start <= c.offset < stop
        b = self.cx.builder
        return b.icmp_unsigned("<", self.integer(c.moved(1, -start)), self.kind(max(stop - start, 0)))

    def all_of(self, conditions: Sequence[Any]) -> Any:
        if any(c is False for c in conditions):
            return False
        unknown = [c for c in conditions if c is not True]
        y: Any = True
        for c in unknown:
            y = c if y is True else self.cx.builder.and_(y, c)
        return y


def reduced_axes(node: Node) -> tuple[int, ...]:
    """The axes of a reduction."""
    axis = node.params.get("axis")
    return tuple(range(node.args[0].type.ndim)) if axis is None else tuple(sorted(axis))


def merged(kept: Sequence[Coordinate], reduced: Sequence[Coordinate], axes: Sequence[int]) -> Coordinates:
    """Coordinates from those along axes that are reduced, and the others."""
    others, own = iter(kept), iter(reduced)
    return tuple([next(own) if k in axes else next(others) for k in range(len(kept) + len(reduced))])


def fitted(coordinates: Coordinates, shape: Sequence[Any]) -> Coordinates:
    """Coordinates in an operand that is broadcast: fewer of them, and zero along axes of length one."""
    skipped = len(coordinates) - len(shape)
    padded = (ZERO,) * -skipped + coordinates[max(skipped, 0) :]
    return tuple([ZERO if n == 1 else c for c, n in zip(padded, shape, strict=True)])


# ------------------------------------------------------------------------------------- ops that move elements around


def _in_full(pattern: tuple, ndim: int) -> tuple:
    """A pattern with an entry for every axis."""
    pattern = explicit(pattern, ndim)
    return pattern + (slice(None),) * (ndim - axes_used(pattern))


def _broadcast_to(es: Elements, node: Node, cs: Coordinates) -> Any:
    (x,) = node.args
    return convert(es.cx, es.at(x, fitted(cs, x.type.shape)), x.type.dtype, node.outs[0].type.dtype)


def place_in(node: Node) -> list[Any]:
    """The place in an array that a node reads or writes: an entry for each axis."""
    return [place for place in _in_full(node.params["pattern"], node.args[0].type.ndim) if place is not None]


def _index(es: Elements, node: Node, cs: Coordinates) -> Any:
    pattern = _in_full(node.params["pattern"], node.args[0].type.ndim)
    axes = [place for place in pattern if place is None or place.__class__ is slice]
    rest = tuple([c for place, c in zip(axes, cs, strict=True) if place is not None])
    return es.at(node.args[0], es.coordinates_at(node, node.args[1:], rest))


def _reshape(es: Elements, node: Node, cs: Coordinates) -> Any:
    (x,), shape = node.args, lengths(node.outs[0])
    own = lengths(x)
    if [n for n in own if n != 1] == [n for n in shape if n != 1]:
        rest = iter([c for c, n in zip(cs, shape, strict=True) if n != 1])
        return es.at(x, tuple([ZERO if n == 1 else next(rest) for n in own]))
    steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    known = es._once(("reshape", cs, shape, own), lambda: es.coordinates(_linear(es, cs, steps), own))
    return es.at(x, known)


def _linear(es: Elements, cs: Coordinates, steps: Sequence[int]) -> ir.Value:
    b, y = es.cx.builder, es.kind(0)
    for c, step in zip(cs, steps, strict=True):
        y = b.add(y, b.mul(es.integer(c), es.kind(step)))
    return y


def _transpose(es: Elements, node: Node, cs: Coordinates) -> Any:
    found = [ZERO] * len(cs)
    for k, axis in enumerate(node.params["axes"]):
        found[axis] = cs[k]
    return es.at(node.args[0], tuple(found))


def _concatenate(es: Elements, node: Node, cs: Coordinates) -> Any:
    axis, out, start = node.params["axis"], node.outs[0].type, 0
    pieces: list[tuple[int, int, Any]] = []
    for x in node.args:
        pieces.append((start, start + x.type.shape[axis], x))
        start += x.type.shape[axis]

    def piece(start: int, x: Any) -> Any:
        there = tuple([c.moved(1, -start) if k == axis else c for k, c in enumerate(cs)])
        return convert(es.cx, es.at(x, fitted(there, x.type.shape)), x.type.dtype, out.dtype)

    def from_piece(k: int) -> Any:
        start, stop, x = order[k]
        if k == len(order) - 1:
            return piece(start, x)
        inside = es.within(cs[axis], start, stop, out.shape[axis])
        return es.either(inside, lambda: piece(start, x), lambda: from_piece(k + 1), out.dtype)

    order = sorted([p for p in pieces if p[1] > p[0]], key=lambda p: p[0] - p[1])  # the longest first
    return from_piece(0)


def _place_of(es: Elements, pattern: tuple, shape: Sequence[int], cs: Coordinates) -> tuple[Any, list[Coordinate]]:
    """Whether an element lies at the place that a pattern names, and its coordinates there."""
    conditions, there, k = [], [], 0
    for place in _in_full(pattern, len(shape)):
        if place is None:
            there.append(ZERO)
            continue
        c, n = cs[k], shape[k]
        k += 1
        if place.__class__ is slice:
            start, stop, _ = place.indices(n)
            conditions.append(es.within(c, start, stop, n))
            there.append(c.moved(1, -start))
        else:
            conditions.append(es.within(c, int(place) % n, int(place) % n + 1, n))
    return es.all_of(conditions), there


def _store(es: Elements, node: Node, cs: Coordinates) -> Any:
    (x, v), dtype = node.args, node.outs[0].type.dtype
    inside, there = _place_of(es, node.params["pattern"], lengths(x), cs)
    return es.either(
        inside,
        lambda: convert(es.cx, es.at(v, fitted(tuple(there), v.type.shape)), v.type.dtype, dtype),
        lambda: es.at(x, cs),
        dtype,
    )


def _added(es: Elements, node: Node, y: Any, v: Any, pattern: tuple, shape: Sequence[int], cs: Coordinates) -> Any:
    inside, there = _place_of(es, pattern, shape, cs)
    more = lambda: combined(es.cx, node, y, es.at(v, fitted(tuple(there), v.type.shape)), name="add")
    return es.either(inside, more, lambda: y, node.outs[0].type.dtype)


def _add_at(es: Elements, node: Node, cs: Coordinates) -> Any:
    x, v = node.args
    return _added(es, node, es.at(x, cs), v, node.params["pattern"], lengths(x), cs)


def _add_parts(es: Elements, node: Node, cs: Coordinates) -> Any:
    x, *values = node.args
    dtype, cleared = node.outs[0].type.dtype, node.params["cleared"]
    if cleared is None:
        y = es.at(x, cs)
    else:
        inside, _ = _place_of(es, cleared, lengths(x), cs)
        y = es.either(inside, lambda: constant(dtype.type(0).item(), dtype), lambda: es.at(x, cs), dtype)
    for v, pattern in zip(values, node.params["patterns"], strict=True):
        y = _added(es, node, y, v, pattern, lengths(x), cs)
    return y


MOVES: dict[str, Callable[[Elements, Node, Coordinates], Any]] = {
    "broadcast_to": _broadcast_to,
    "copy": _broadcast_to,
    "index": _index,
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "store": _store,
    "add_at": _add_at,
    "add_parts": _add_parts,
}
"""Ops that are not computed, but say from where an element comes."""


def reads_other_rows(region: Any) -> bool:
    """Whether elements of a region need those of several rows, as in stencils."""
    starts = {start for node in region.inside.values() for start in _first_rows(node)}
    return len(starts) > 1


def _first_rows(node: Node) -> list[int]:
    """At which rows the parts of arrays begin that a node reads or writes."""
    if node.op.name not in MOVES or node.args[0].type.ndim < 2:
        return []
    given = [node.params[k] for k in ("pattern", "cleared") if node.params.get(k) is not None]
    shape = lengths(node.args[0])
    found = []
    for pattern in [*given, *node.params.get("patterns", ())]:
        row = [place for place in _in_full(pattern, len(shape)) if place is not None][-2]
        if row.__class__ is slice:
            found.append(row.indices(shape[-2])[0])
    return found


def _is_position(place: Any) -> bool:
    return isinstance(place, (int, np.integer)) and not isinstance(place, bool)


def _is_known(place: Any, is_written: bool) -> bool:
    """Whether an item of an index names the same elements in every run, and if they are written, without gaps."""
    if place.__class__ is not slice:
        return place is None or place is Ellipsis or _is_position(place)
    ends = (place.start, place.stop, place.step)
    return all(p is None or _is_position(p) for p in ends) and (not is_written or place.step in (None, 1))


def can_be_moved(node: Node) -> bool:
    """Whether where the elements come from is known when the kernel is written."""
    name, out = node.op.name, node.outs[0].type
    if name not in MOVES:
        return False
    if any(0 in a.type.shape for a in node.args) and name != "concatenate":
        return False
    patterns = [node.params[k] for k in ("pattern", "cleared") if node.params.get(k) is not None]
    patterns += node.params.get("patterns", ())
    if not all(_is_known(place, node.op.writes) for pattern in patterns for place in pattern):
        return False
    if name == "index":
        return len(node.args) == 1
    if name in ("store", "add_at"):
        if len(node.args) != 2 or node.args[0].type.dtype != out.dtype:
            return False
        v = node.args[1].type.dtype
        return v == out.dtype if name == "add_at" else v.kind != "c" or out.dtype.kind == "c"
    if name == "add_parts":
        return all(a.type.dtype == out.dtype for a in node.args)
    return True
