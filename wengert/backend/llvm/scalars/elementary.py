"""Rules for elementary functions of real numbers: libm's, and what is composed of them.

The vectoriser has fast variants of most of them (see `external.py`). Where the variants in single precision are not
good enough, single precision is computed in double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.backend.llvm.arrays.buffer import F32
from wengert.backend.llvm.scalars import vector_library
from wengert.backend.llvm.scalars.external import VECTORISED, math_call
from wengert.backend.llvm.scalars.lane import Lane, Unsupported, rule, select


def _libm(name: str) -> Callable:
    def call(*lanes: Lane) -> Lane:
        x = lanes[0]
        if x.value.type == F32 and not (name + "f" in VECTORISED or name + "f" in vector_library.FUNCTIONS):
            return call(*[v.astype(np.float64) for v in lanes]).astype(np.float32)
        y = math_call(x.cx, name + "f" if x.value.type == F32 else name, *[v.value for v in lanes])
        if y is None:
            raise Unsupported(f"no {name} in the C library")
        return x.like(y)

    return call


for _ufunc, _name in {
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.arctan2: "atan2",
    np.hypot: "hypot",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.exp: "exp",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.log: "log",
    np.log2: "log2",
    np.log10: "log10",
    np.log1p: "log1p",
    np.cbrt: "cbrt",
    sc.erf: "erf",
}.items():
    rule(_ufunc)(_libm(_name))


# -------------------------------------------------------------------------------------------- sums of exponentials


def _log_of_sum(x: Lane, y: Lane, at_tie: float, rest: Callable) -> Any:
    """The larger, and what the smaller adds to it; equal infinities have no difference."""
    apart = x - y
    return select(x == y, x + at_tie, select(apart > 0, x, y) + rest(-abs(apart)))


@rule(np.logaddexp)
def _logaddexp(x: Lane, y: Lane) -> Any:
    return _log_of_sum(x, y, math.log(2.0), lambda d: np.log1p(np.exp(d)))


@rule(np.logaddexp2)
def _logaddexp2(x: Lane, y: Lane) -> Any:
    return _log_of_sum(x, y, 1.0, lambda d: np.log1p(np.exp2(d)) * (1 / math.log(2.0)))


# ------------------------------------------------------------- SciPy's, where a formula can be vectorised
#
# SciPy's own formulas. All others are called through `cython_special` or by inner loops.


@rule(sc.expit)
def _expit(x: Lane) -> Any:
    return 1 / (1 + np.exp(-x))


@rule(sc.log_expit)
def _log_expit(x: Lane) -> Any:
    rest = np.log1p(np.exp(-abs(x)))
    return select(x < 0, x - rest, -rest)


@rule(sc.xlogy)
def _xlogy(x: Lane, y: Lane) -> Any:
    return select((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


@rule(sc.xlog1py)
def _xlog1py(x: Lane, y: Lane) -> Any:
    return select((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))


@rule(sc.entr)
def _entr(x: Lane) -> Any:
    return select(np.isnan(x), x, select(x > 0, -x * np.log(x), select(x == 0, 0.0, -math.inf)))
