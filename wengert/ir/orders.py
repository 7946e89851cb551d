"""In which order the axes of arrays lie in memory, as NumPy would lay them out: it decides whether `ravel` is a view.

Compiled code keeps all arrays in C order; nobody can see that. But what a program means depends on NumPy's choice:
`y = x.T * 2` lies as x does, so `y.ravel()` is a copy. The order of a variable is a tuple of axes, those that take the
longest steps first; `None` is C order, and UNKNOWN that it cannot be told: then writes that depend on it are refused
(`box/writing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.memory import UnknownOrder, UnknownPlace, laid_out, lengths
from wengert.box.writing import settled
from wengert.ir.node import Block, Var
from wengert.ops.op import Op, Traced
from wengert.strides import UNKNOWN, in_order, order_of
from wengert.types import dtype_of, ndim_of, shape_of


def order_of_result(op: Op, args: Sequence[Any], params: dict, shape: tuple) -> Any:
    """The order of a result that has this shape."""
    name = op.name
    if len(shape) < 2:  # in C order, or with gaps
        keeps = args[:1] if op.writes else args if any(isinstance(p, Block) for p in params.values()) else ()
        return UNKNOWN if any(ndim_of(a) and order_now(a) == UNKNOWN for a in keeps) else None
    if _has_unordered_block(params):
        return UNKNOWN
    if name == "index" and len(args) > 1:
        return _of_gathered(args, params["pattern"], len(shape))
    if name == "transpose":
        return _moved(args[0], params["axes"])
    is_view = name == "einsum" and len(args) == 1
    if all(map(_is_in_c_order, args)) and not is_view:
        return None if op.ordered else UNKNOWN
    try:
        return _tried(op, args, params, shape)
    except (UnknownOrder, TypeError, ValueError, IndexError):
        return UNKNOWN


def _has_unordered_block(params: dict) -> bool:
    """Whether an op holds code with results that need not be in C order."""
    blocks = [p for value in params.values() for p in (value if isinstance(value, tuple) else (value,))]
    results = [r for block in blocks if isinstance(block, Block) for r in block.results]
    return any(isinstance(r, Var) and r.order is not None for r in results)


def _tried(op: Op, args: Sequence[Any], params: dict, shape: tuple) -> Any:
    """The order that NumPy gives the result for operands that lie as these do."""
    if op.name == "einsum":
        return order_of(op.impl(_probe(args[0]), **params)) if len(args) == 1 else UNKNOWN
    if op.writes:
        return order_of(_probe(args[0]))
    probes = [_probe(a) for a in args if ndim_of(a)]
    if op.elementwise:
        return _as_kept(probes)
    if op.name == "reshape":
        return order_of(probes[0].reshape(lengths(shape)))
    if op.name == "index":
        return order_of(probes[0][_plain(params["pattern"])])
    return None if op.name == "matmul" and len(shape) == 2 else UNKNOWN


def _is_in_c_order(a: Any) -> bool:
    if not isinstance(a, Traced):
        return a.__class__ is not np.ndarray or a.ndim < 2 or a.flags.c_contiguous
    if len(a.shape) < 2:  # type: ignore[attr-defined]
        return True
    if a._view_of is None and "_value" not in a._state:  # type: ignore[attr-defined]
        return a._node.order is None  # type: ignore[attr-defined]
    try:
        return order_of(_probe(a)) is None
    except UnknownOrder:
        return False


def _probe(a: Any) -> Any:
    """As `laid_out`; a part whose place is not known lies as its variable says, though perhaps not as densely."""
    try:
        return laid_out(a)
    except UnknownPlace:
        a = settled(a)
        order: Any = getattr(getattr(a, "_node", None), "order", UNKNOWN)
        if order == UNKNOWN:
            raise
        return in_order(lengths(shape_of(a)), order, dtype_of(a))


def _as_kept(probes: list[np.ndarray]) -> Any:
    """The order that a ufunc gives its result: NumPy's iterator says."""
    flags: Any = [["readonly"]] * len(probes) + [["writeonly", "allocate"]]
    iterator: Any = np.nditer([*probes, None], ["zerosize_ok"], flags, order="K")
    return order_of(iterator.operands[-1])


def _moved(x: Any, axes: tuple) -> Any:
    try:
        probe = _probe(x)
    except UnknownOrder:
        return UNKNOWN
    return order_of(probe.transpose(axes))


def _of_gathered(args: Sequence[Any], pattern: tuple, rank: int) -> Any:
    """x[:, i]: NumPy gathers with the axes of the indices first, and moves them to their place then."""
    if not all(map(_is_in_c_order, args)):
        return UNKNOWN
    places = [k for k, item in enumerate(pattern) if not (item.__class__ is slice or item is None)]
    before = places[0] if places[-1] - places[0] < len(places) else 0  # separated ones come first
    wide = max([ndim_of(a) for a in args[1:]])
    if not before or not wide or any(item is Ellipsis for item in pattern):
        return None if not any(item is Ellipsis for item in pattern) else UNKNOWN
    gathered = range(before, before + wide)
    return (*gathered, *[k for k in range(rank) if k not in gathered])


def _plain(pattern: tuple) -> tuple:
    """A basic index with numbers for what is known only when the program runs."""
    return tuple([
        slice(None, None, item.step if item.step.__class__ is int else None)
        if item.__class__ is slice and any(isinstance(end, Traced) for end in (item.start, item.stop))
        else 0 if isinstance(item, Traced) else item
        for item in pattern
    ])  # fmt: skip


def order_now(x: Any) -> Any:
    """The order of a value of any kind."""
    if not ndim_of(x):
        return None
    try:
        return order_of(_probe(x))
    except UnknownOrder:
        return UNKNOWN
