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
from wengert.box.distributions.expansions import beta_fraction, gamma_fraction, gamma_series
from wengert.box.distributions.univariate import log_of, split
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.running import running

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


class Depths:
    """The loop over depths as compiled programs have it: `deep_enough` of `capture/followed/depths.py`."""

    deep_enough: Callable


def _deep_enough(evaluate: Callable, *args: Any) -> Any:
    """`evaluate(depth, *args)` at the depth from which on it stays the same."""
    values = tuple(stop_gradient(a) for a in args)
    if running.state.capture is not None and any(isinstance(a, Traced) for a in args):
        return Depths.deep_enough(evaluate, _DEEPEST, values, args)
    depth, last = 8, plain(evaluate(8, *values))
    while depth < _DEEPEST:
        depth *= 2
        now = plain(evaluate(depth, *values))
        if not np.any(np.abs(now - last) > 1e-15 * np.abs(now)):
            break
        last = now
    return evaluate(depth, *args)


def _log_series(a: Any, x: Any) -> Any:
    """P(a, x) = xᵃ·e⁻ˣ/Γ(a + 1) times the series."""
    return a * np.log(x) - x - sc.gammaln(a + 1) + np.log(_deep_enough(gamma_series, a, x))


def _log_fraction(a: Any, x: Any) -> Any:
    """Q(a, x) = xᵃ·e⁻ˣ/Γ(a) over the fraction."""
    return a * np.log(x) - x - sc.gammaln(a) - np.log(_deep_enough(gamma_fraction, a, x))


def log_beta_fraction(a: Any, b: Any, x: Any, complement: Any, log_x: Any) -> Any:
    """I_x(a, b) = xᵃ(1 − x)ᵇ/(a·B(a, b)) over the fraction."""
    front = a * log_x + b * np.log(complement) - np.log(a) - sc.betaln(a, b)
    return front - np.log(_deep_enough(beta_fraction, a, b, x))
