"""`scipy.optimize.rosen` and its derivatives, on which optimisers are tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.operands import array
from wengert.imported import when_imported
from wengert.types import shape_of


def rosen(x: Any) -> Any:
    x = array(x)
    return FUNCTIONS[np.sum](100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


def _joined(first: Any, middle: Any, last: Any) -> Any:
    return FUNCTIONS[np.concatenate]([first, middle, last])


def rosen_der(x: Any) -> Any:
    x = array(x)
    inside = x[1:-1]
    middle = 200 * (inside - x[:-2] ** 2) - 400 * (x[2:] - inside**2) * inside - 2 * (1 - inside)
    first = -400 * x[:1] * (x[1:2] - x[:1] ** 2) - 2 * (1 - x[:1])
    return _joined(first, middle, 200 * (x[-1:] - x[-2:-1] ** 2))


def rosen_hess(x: Any) -> Any:
    x = FUNCTIONS[np.atleast_1d](array(x))
    beside = FUNCTIONS[np.diag](-400 * x[:-1], 1)
    first = 1200 * x[:1] ** 2 - 400 * x[1:2] + 2
    middle = 202 + 1200 * x[1:-1] ** 2 - 400 * x[2:]
    return beside + beside.T + FUNCTIONS[np.diag](_joined(first, middle, np.full(1, 200.0)))


def rosen_hess_prod(x: Any, p: Any) -> Any:
    x, p = FUNCTIONS[np.atleast_1d](array(x)), array(p)
    if shape_of(x) != shape_of(p):
        raise ValueError(f"x and p have different shapes: {shape_of(x)} and {shape_of(p)}")
    return rosen_hess(x) @ p


@when_imported("scipy.optimize")
def _optimize(module: Any) -> None:
    for f in (rosen, rosen_der, rosen_hess, rosen_hess_prod):
        implements_blind(getattr(module, f.__name__))(f)
