"""The natural enclosure of a function: each of its operations, on intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.box import Box
from wengert.box.writing import settled
from wengert.capture.hooks import resolve
from wengert.capture.one_of import numbers_in
from wengert.capture.reachable import noted
from wengert.errors import MismatchError
from wengert.modes.interval import Enclosure, IntervalTrace, OpenDecisions, make
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import dtype_of, shape_of


def is_interval(x: Any) -> bool:
    return isinstance(x, Enclosure)


def natural(f: Callable, args: tuple, kwargs: dict, branch: str = "raise", watches: bool = False) -> tuple[Any, Any]:
    """The natural enclosure, and, if anybody `watches`, whether the function may not be continuous."""
    trace = IntervalTrace(branch)
    trace.watches = watches
    leaves, structure = tree.flatten_until((args, kwargs), is_interval)
    if not any(map(is_interval, leaves)):  # what is computed of numbers alone is rounded as well
        leaves = [_result(x) for x in leaves]
    function = resolve(f)
    state = running.state

    def run() -> Any:
        given, named = tree.unflatten(
            structure, [Enclosure(trace, x.lo, x.hi) if is_interval(x) else x for x in leaves]
        )
        state.depth += 1
        try:
            return _results(numbers_in(function(*given, **named)))
        finally:
            state.depth -= 1

    if branch == "raise" or state.capture is not None:
        return run(), trace.broken
    branches = trace.branches = OpenDecisions()
    outside, common = noted(f, [x for x in leaves if not is_interval(x)])
    found = None
    while branches.next_run():
        if found is not None:
            outside.undo()
            common.undo()
        y = run()
        found = y if found is None else _united(found, y)
    return found, trace.broken or branches.runs > 1


def _results(y: Any) -> Any:
    """What a function gave, with intervals for all numbers."""
    leaves, structure = tree.flatten_until(y, is_interval)
    return tree.unflatten(structure, [_result(settled(leaf)) for leaf in leaves])


def _result(y: Any) -> Any:
    if isinstance(y, Enclosure):
        return make(y.lo, y.hi)
    if isinstance(y, (Box, np.ndarray, np.generic)) or y.__class__ is float:
        if dtype_of(y).kind in "fc":
            return make(y, y) if isinstance(y, Traced) else make(np.asarray(y)[()], np.array(y)[()])
    return y


def _united(x: Any, y: Any) -> Any:
    """The hull of what came out of two ways through a function."""
    (ours, structure), (others, other) = [tree.flatten_until(z, is_interval) for z in (x, y)]
    if structure != other or any(shape_of(a) != shape_of(b) for a, b in zip(ours, others, strict=True)):
        raise MismatchError(
            "the branches that an interval leaves open return other containers or shapes",
            remedy="return the same containers and shapes, whatever the values",
        )
    return tree.unflatten(structure, [_hull(a, b) for a, b in zip(ours, others, strict=True)])


def _hull(a: Any, b: Any) -> Any:
    if is_interval(a) or is_interval(b):
        return (a if is_interval(a) else make(a, a)) | b
    if np.array_equal(a, b):
        return a
    return make(a, a) | make(b, b)
