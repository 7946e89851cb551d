"""Functions of one matrix or sequence, applied to each of a stack: what SciPy does with axes in front."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.functions.operands import array, stacked
from wengert.ops import shape as s
from wengert.ops.index import index
from wengert.types import ndim_of, shape_of

VECTOR_OR_MATRIX = 0
"""How many axes one right-hand side has: two, unless the operand has only one."""


def over_stacks(**axes: int) -> Callable[[Callable], Callable]:
    """Declare how many axes one matrix or sequence has, of operands by name; those in front broadcast."""

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        def lead(name: str, x: Any) -> tuple:
            """The axes in front."""
            return shape_of(x)[: max(0, ndim_of(x) - (axes[name] or min(2, ndim_of(x))))]

        @functools.wraps(function)
        def applied(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            operands = {name: array(given[name]) for name in axes if given.get(name) is not None}
            leads = {name: lead(name, x) for name, x in operands.items()}
            if not any(leads.values()):
                return function(*args, **kwargs)
            whole = np.broadcast_shapes(*leads.values())
            if not all(n.__class__ is int for n in whole) or 0 in whole:
                raise ValueError(f"{function.__name__} of a stack of {whole} matrices")
            for name, x in operands.items():
                given[name] = s.broadcast_to(x, shape=(*whole, *shape_of(x)[len(leads[name]) :]))
            each = [
                function(**given | {name: index(given[name], pattern=place) for name in operands})
                for place in np.ndindex(*whole)
            ]
            return _joined(each, whole)

        return applied

    return decorate


def _joined(each: list[Any], lead: tuple) -> Any:
    if isinstance(each[0], tuple):
        return [_joined([y[k] for y in each], lead) for k in range(len(each[0]))]  # as SciPy has it
    y = stacked([array(y) for y in each], 0)
    return s.reshape(y, shape=(*lead, *shape_of(y)[1:]))
