"""What an op is, and the one door through which every op is applied.

An op is a row of the table: a name, a way to compute it on plain values, and, depending on its family (see
`derive.py`), what cannot be derived: partial derivatives, a transpose, a batch rule. Data go in by position,
metadata (axes, shapes, index tuples) by keyword.

`call` is the single door. It looks for the operand that belongs to the innermost running transformation (the one
with the highest tag) and hands over to that transformation; with no such operand it computes. Tags are fresh for
every transformation, so nested perturbations are never confused (Siskind & Pearlmutter 2005).

This file knows nothing of modes: they derive their values from `Traced` and their transformations from `Trace`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

from wengert.errors import ConcretizationError, UnsupportedFunctionError
from wengert.ops.axes import Rule
from wengert.ops.library import by_companion, is_foreign, together
from wengert.ops.traits import NAMES, Cost, Dtype, Flops, Raises, completed
from wengert.types import PLAIN, shape_of

fresh_tag = itertools.count(1).__next__
"""The next tag. Drawing one is atomic, so threads need no lock."""

TABLE: dict[str, Op] = {}
"""Every op by name."""


class Trace:
    """One running transformation: what its traced values have in common.

    `process` is what the door hands over to. `unary` and `binary` are the same for an op of one or two operands
    without parameters, the commonest ways through; a trace may have a quicker way for them.
    """

    __slots__ = ()
    tag: int
    alive: bool | None = True
    """Whether the transformation is still running; its values must not be used afterwards. `None`: it waits while a
    block is captured inside it."""
    batches = False
    """Whether values are batches, which may leave a differentiation that ended."""
    encloses = False
    """Whether values are intervals: nothing may be rounded that belongs to them, and no bound be taken for a value."""
    captures = False
    """Whether values are variables of a program, which are known when it runs."""

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        """Apply an op to operands of which at least one belongs to this trace and none to an inner one."""
        raise NotImplementedError

    def write(self, box: Any, v: Any, pattern: tuple, arrays: tuple) -> Any:
        """Write `v` into a box of this trace in place, or return `NotImplemented` for the general way (op `store`)."""
        return NotImplemented

    def note_text(self, is_part: bool) -> None:
        """A text is made of a value of this trace, or a part of one: `f"{x}"`. (`print(x)` is shown all at once.)"""

    def unary(self, op: Op, x: Any) -> Any:
        return self.process(op, (x,), NO_PARAMS)

    def binary(self, op: Op, x: Any, y: Any) -> Any:
        return self.process(op, (x, y), NO_PARAMS)


class Traced:
    """Mark of every traced value."""

    __slots__ = ()
    _owner: Trace


def call(op: Op, *args: Any, **params: Any) -> Any:
    """Apply an op: the innermost transformation among the operands decides what that means."""
    trace = None
    for a in args:
        if isinstance(a, Traced):
            candidate = a._owner
            if trace is None or candidate.tag > trace.tag:
                trace = candidate
    if trace is None:
        try:
            return op.impl(*args, **params)
        except ConcretizationError:
            owner = _owner_of_lengths(params)
            if owner is None:
                raise
            return owner.process(op, args, params)
        except UnsupportedFunctionError:
            raise
        except (TypeError, NotImplementedError) as error:
            return _of_several_libraries(op, args, params, error)
    return trace.process(op, args, params)


def _owner_of_lengths(params: dict) -> Trace | None:
    """The program that knows lengths among the parameters of an op, which are known only when it runs."""
    for p in params.values():
        for n in p if p.__class__ is tuple else (p,):
            symbol = getattr(n, "sym", n)
            if isinstance(symbol, Traced):
                return symbol._owner
    return None


def _of_several_libraries(op: Op, args: tuple, params: dict, error: Exception) -> Any:
    """An op that was refused for its operands: another library may have it under its own name, and NumPy's arrays are
    moved to the library of the others. Called while the refusal is handled, which is raised again if nothing helps."""
    found = by_companion(op.impl, args, params)
    if found is not NotImplemented:
        return found
    moved = together(args)
    if moved is not None:
        return call(op, *moved, **params)
    other = next((x for x in args if is_foreign(x)), None)
    if other is None or not any(text in str(error) for text in _HAS_NONE):
        raise
    library = type(other).__module__.partition(".")[0]
    raise UnsupportedFunctionError(
        f"{op.name} of a {type(other).__name__}: {library} has no such function, or not with these options",
        remedy="compute this part with NumPy arrays, or write it with functions that the library has",
    ) from error


_HAS_NONE = ("no implementation found", "returned NotImplemented", "mplicit conversion", "unexpected keyword argument",
             "supported currently")  # fmt: skip
"""How libraries say that they lack a function, an option, or the wish to be converted."""


class Op:
    """One row of the table. Families derive from it; rows are made by the constructors in `derive.py`.

    `impl(*args, **params)` computes on plain values, through NumPy's public functions, so that arrays of other
    libraries take part. `batch(args, mapped, params)` is the op with a hidden leading axis on some operands.
    `shape(*args, **params)` is the shape of the result, for ops that do real work (see `derive.result_aval`); of the
    arguments it may use the shapes only. Everything else that is asked about an op is one of its traits (`traits.py`).

    >>> from wengert.ops.elementwise import exp
    >>> exp, exp.elementwise, exp.cost.name
    (<op exp>, True, 'DEAR')
    """

    __slots__ = ("batch", "impl", "name", "shape", *NAMES)
    derived: ClassVar[dict[str, Any]] = {}
    """The traits that follow from the family."""

    elementwise: bool
    moves: bool
    expands: bool
    raises: Raises
    failures: dict[str, str | None]
    cost: Cost
    flops: Flops | None
    data: int | Callable[[dict], int] | None
    commutes: str
    compares: str | None
    rounds: bool
    switch: Callable | None
    combine: str | None
    reduction: str | None
    identity: float | None
    view: bool
    writes: bool
    one_pass: bool
    ordered: bool
    effect: bool
    pure: bool
    marks: bool
    solves: bool
    expansion: Callable | None
    expands_in: int | None
    series: Callable | None
    dtype: Dtype | Callable[..., Any]
    adds: bool
    axes: Rule | None
    links: Callable | None
    bounds: Any

    def __init__(
        self, name: str, impl: Callable, *, batch: Callable | None = None, shape: Callable | None = None, **stated: Any
    ):
        if name in TABLE:
            raise ValueError(f"there is an op named {name!r} already")
        self.name = name
        self.impl = impl
        self.batch = batch
        self.shape = shape if not stated.get("writes") else lambda x, *rest, **params: shape_of(x)
        for trait, value in completed(name, self.derived, stated).items():
            setattr(self, trait, value)
        TABLE[name] = self

    __call__ = call

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def data_count(self, args: Any, params: dict) -> int:
        """How many of the operands, the first ones, are data; the others are structure."""
        if self.data is None:
            return len(args)
        return self.data if self.data.__class__ is int else self.data(params)  # type: ignore[operator]

    def is_linear(self, i: int) -> bool:
        """Whether the op is linear in args[i], while the others are held."""
        return False

    def tangent(self, y: Any, args: tuple, dots: list, params: dict) -> Any:
        """The tangent of the result `y`, given tangents of the arguments (`None` where there is none)."""
        raise NotImplementedError


def enclosing(*xs: Any) -> Any:
    """The transformation whose values are intervals, if there is one behind any of these values."""
    for x in xs:
        while isinstance(x, Traced):
            if x._owner.encloses:
                return x._owner
            x = getattr(x, "_value", None) if "_value" in x._state else None  # type: ignore[attr-defined]
    return None


def in_kind(c: Any, *xs: Any) -> Any:
    """A number of a rule, as an interval if it is to be computed with for values that are intervals.

    Rules that compute something of plain operands alone would round it.
    """
    return pointed(c, enclosing(*xs))


def pointed(c: Any, trace: Any) -> Any:
    """A number as an interval of a transformation, if there is one; so are the examples of a batch."""
    if trace is None or c is None:
        return c
    if isinstance(c, Traced):
        return c._owner.wrap(pointed(c._value, trace)) if c._owner.batches else c  # type: ignore[attr-defined]
    return trace.point(c)


# The same door, for the two commonest ways through it.


def call1(op: Op, x: Any) -> Any:
    """`call` with one operand and no parameters."""
    if isinstance(x, Traced):
        return x._owner.unary(op, x)
    return op.impl(x) if x.__class__ in PLAIN else call(op, x)


def call2(op: Op, x: Any, y: Any) -> Any:
    """`call` with two operands and no parameters."""
    if isinstance(x, Traced):
        if isinstance(y, Traced) and y._owner.tag > x._owner.tag:
            return y._owner.binary(op, x, y)
        return x._owner.binary(op, x, y)
    if isinstance(y, Traced):
        return y._owner.binary(op, x, y)
    return op.impl(x, y) if x.__class__ in PLAIN and y.__class__ in PLAIN else call(op, x, y)


NO_PARAMS: dict[str, Any] = {}
