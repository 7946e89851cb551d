"""Constraints in SciPy's forms as rows of a nonlinear program: functions that are zero, and that are not negative.

Rows of the same function are the same objects when they are made again, so that their program is not compiled again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from wengert.api.flat import Layout, followed
from wengert.optimize.last_used import kept_with, made


def rows_of(constraints: list[Any], unknowns: Layout) -> tuple[list[Callable], list[Callable]]:
    """What is zero and what is not negative, as functions of the unknowns in their containers."""
    equal: list[Callable] = []
    unequal: list[Callable] = []
    for c in constraints:
        if isinstance(c, dict):
            args = c.get("args", ())
            row = _of_dict(c["fun"], args if isinstance(args, tuple) else (args,))
            (equal if c["type"] == "eq" else unequal).append(row)
            continue
        values = _of_matrix(c.A, unknowns) if hasattr(c, "A") else _of_dict(c.fun, ())
        kept = {} if hasattr(c, "A") else kept_with(c.fun, "rows")
        lower, upper = np.atleast_1d(np.asarray(c.lb, float)), np.atleast_1d(np.asarray(c.ub, float))
        lower, upper = np.broadcast_arrays(lower, upper)
        is_equal = lower == upper
        for which, limit, sign, rows in (
            (is_equal, lower, 1.0, equal),
            (~is_equal & np.isfinite(lower), lower, 1.0, unequal),
            (~is_equal & np.isfinite(upper), upper, -1.0, unequal),
        ):
            if np.any(which):
                name = which.tobytes(), limit.tobytes(), sign
                rows.append(made(kept, name, partial(_apart, values, which, limit, sign)))
    return equal, unequal


def _of_dict(f: Callable, args: tuple) -> Callable:
    inner = followed(f)
    row = lambda x, *_: inner(x, *args)
    return row if args else made(kept_with(f, "rows"), "all", lambda: row)


def _of_matrix(matrix: Any, unknowns: Layout) -> Callable:
    sparse = scipy.sparse.csr_array(matrix if scipy.sparse.issparse(matrix) else np.atleast_2d(matrix))
    return lambda x, *_: sparse @ unknowns.ravel(x)


def _apart(values: Callable, which: np.ndarray, limit: np.ndarray, sign: float) -> Callable:
    """How far the values that are chosen are from their limit; one limit may be that of all values."""
    if which.size == 1:
        return lambda x, *_: sign * (np.reshape(values(x), (-1,)) - limit[0])
    chosen = np.flatnonzero(which)
    ends = limit[chosen]
    return lambda x, *_: sign * (np.reshape(values(x), (-1,))[chosen] - ends)
