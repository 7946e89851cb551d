"""Rows for lengths that are known only when a program runs, for arrays of such lengths, and for conditions.

Eager programs know the shapes of their arrays; these ops appear where a program is captured (`ir/`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops import library
from wengert.ops.derive import Unmapped, linear, zero
from wengert.ops.enclosures import DECIDED
from wengert.ops.index import index
from wengert.ops.op import Op, call
from wengert.ops.rounding import V
from wengert.ops.succeeds import Handlers
from wengert.ops.traits import CHEAP, FREE, LENGTHS, NEVER, VALUES, Dtype
from wengert.raised import made
from wengert.types import dtype_of, shape_of

size = zero(
    "size",
    lambda x, axis: shape_of(x)[axis],
    batch=lambda args, mapped, params: Unmapped(size(args[0], axis=params["axis"] + 1)),
    raises=NEVER,
    cost=FREE,
    dtype=Dtype.POSITION,
)
"""The length of an axis."""

iota = zero("iota", lambda n: np.arange(n), raises=LENGTHS, cost=FREE, expands=True, dtype=Dtype.POSITION)
"""0, 1, …, n − 1. It has no operands."""


true_positions = zero("true_positions", np.flatnonzero, raises=NEVER, cost=CHEAP, dtype=Dtype.POSITION, bounds=DECIDED)
"""Where a mask is true, counted in C order. How many there are is known only when it is computed."""


def _padded(x: Any, shape: tuple[int, ...]) -> Any:
    whole = library.zeros(shape, dtype_of(x), x)
    whole[tuple([slice(n) for n in shape_of(x)])] = x
    return whole


padded = linear(
    "padded",
    _padded,
    lambda ct, x, shape: index(ct, pattern=tuple([slice(0, getattr(n, "sym", n)) for n in x.shape])),
    batch=lambda args, mapped, params: padded(args[0], shape=(shape_of(args[0])[0], *params["shape"])),
    shape=lambda x, shape: shape,
    raises=LENGTHS,
    cost=FREE,
    moves=True,
    dtype=Dtype.FIRST,
)
"""An array of this shape that begins with x along each axis. What is behind has no meaning, and need not be written."""


def counting(n: Any) -> Any:
    """0, 1, …, n − 1, where n may be known only when a captured program runs."""
    symbol = getattr(n, "sym", n)
    return np.arange(n) if n.__class__ is int else symbol._owner.process(iota, (), {"n": n})


def _require(ok: Any, *kept: Any, error: str, message: str) -> tuple:
    if not np.all(ok):
        raise made(error, message)
    return ()


def _may_hold(mode: Any, op: Op, args: tuple, params: dict) -> Any:
    """Of intervals: a function is applied where it is defined, so it raises if the condition holds for no number."""
    condition = mode.bounds(args[0])
    if mode.watches:
        mode.note_break(V.not_equal(condition.lo, condition.hi))
    return op(condition.hi, **params)


require = zero(
    "require",
    _require,
    batch=lambda args, mapped, params: require(*args, **params),
    raises=VALUES,
    cost=CHEAP,
    effect=True,
    bounds=_may_hold,
)
"""Nothing, or an exception: a condition that can be tested only when the program runs. It has no results. Further
operands are computed, for what that may raise."""


def raise_unless(ok: Any, error: str, message: str) -> None:
    """Raise unless a condition holds, which may be that of an interval: then it must for some number, and in a `try`
    that may catch it for all or none."""
    if not Handlers.catch(ok, error, message):
        Handlers.demand_alike(lambda: ok, error)
        call(require, ok, error=error, message=message)
