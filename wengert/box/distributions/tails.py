"""Logarithms of incomplete gamma and beta functions, also where the functions themselves underflow.

Where the function is below 1e-100 (so that even its reciprocal's cube is finite, which third derivatives meet), its
logarithm is that of the leading factor plus that of a slowly varying series or continued fraction, evaluated backwards
from a depth at which, for the values at hand, nothing changes any more. All of it is a composition of ops, so
derivatives of any order in all arguments come along.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from wengert.box.box import plain
from wengert.box.distributions.univariate import log_of, split
from wengert.ops.elementwise import stop_gradient

TINY = 1e-100
_DEEPEST = 4096


def log_gammainc(a: Any, x: Any) -> Any:
    """log P(a, x)."""
    return split(sc.gammainc(a, x) < TINY, _log_series, _log_gammainc, (a, x), (1000.0, 100.0), (1.0, 1.0))


def log_gammaincc(a: Any, x: Any) -> Any:
    """log Q(a, x) = log(1 − P(a, x))."""
    return split(sc.gammaincc(a, x) < TINY, _log_fraction, _log_gammaincc, (a, x), (1.0, 1000.0), (1.0, 1.0))


def log_betainc(a: Any, b: Any, x: Any, complement: Any, log_x: Any = None) -> Any:
    """log I_x(a, b), given 1 − x as well, and log x if x may underflow."""
    log_x = np.log(x) if log_x is None else log_x
    return split(
        sc.betainc(a, b, x) < TINY,
        log_beta_fraction,
        _log_betainc,
        (a, b, x, complement, log_x),
        (1000.0, 1.0, 0.5, 0.5, float(np.log(0.5))),
        (1.0, 1.0, 0.5, 0.5, float(np.log(0.5))),
    )


def _log_gammainc(a: Any, x: Any) -> Any:
    return log_of(sc.gammainc(a, x), sc.gammaincc(a, x))


def _log_gammaincc(a: Any, x: Any) -> Any:
    return log_of(sc.gammaincc(a, x), sc.gammainc(a, x))


def _log_betainc(a: Any, b: Any, x: Any, complement: Any, log_x: Any) -> Any:
    return log_of(sc.betainc(a, b, x), sc.betainc(b, a, complement))


def _deep_enough(evaluate: Callable, *args: Any) -> Any:
    """`evaluate(depth, *args)` at the depth from which on it stays the same."""
    values = [stop_gradient(a) for a in args]
    depth, last = 8, plain(evaluate(8, *values))
    while depth < _DEEPEST:
        depth *= 2
        now = plain(evaluate(depth, *values))
        if not np.any(np.abs(now - last) > 1e-15 * np.abs(now)):
            break
        last = now
    return evaluate(depth, *args)


def _log_series(a: Any, x: Any) -> Any:
    """P(a, x) = xᵃ·e⁻ˣ/Γ(a + 1) · Σ xⁿ/((a + 1)…(a + n)) (DLMF 8.11.4)."""

    def series(depth: int, a: Any, x: Any) -> Any:
        total: Any = 1.0
        for n in range(depth, 0, -1):
            total = 1 + total * (x / (a + n))
        return total

    return a * np.log(x) - x - sc.gammaln(a + 1) + np.log(_deep_enough(series, a, x))


def _log_fraction(a: Any, x: Any) -> Any:
    """Q(a, x) = xᵃ·e⁻ˣ/Γ(a) · 1/(x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …))) (DLMF 8.9.2)."""

    def fraction(depth: int, a: Any, x: Any) -> Any:
        total = x + (2 * depth + 1) - a
        for n in range(depth, 0, -1):
            total = x + (2 * n - 1) - a - n * (n - a) / total
        return total

    return a * np.log(x) - x - sc.gammaln(a) - np.log(_deep_enough(fraction, a, x))


def log_beta_fraction(a: Any, b: Any, x: Any, complement: Any, log_x: Any) -> Any:
    """I_x(a, b) = xᵃ(1 − x)ᵇ/(a·B(a, b)) · 1/(1 + d₁/(1 + d₂/(1 + …))) (DLMF 8.17.22)."""

    def fraction(depth: int, a: Any, b: Any, x: Any) -> Any:
        total: Any = 1.0
        for m in range(depth, -1, -1):
            even = (m + 1) * (b - (m + 1)) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
            odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            total = 1 + odd / (1 + even / total)
        return total

    front = a * log_x + b * np.log(complement) - np.log(a) - sc.betaln(a, b)
    return front - np.log(_deep_enough(fraction, a, b, x))
