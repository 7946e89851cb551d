"""The picture of a fit: data, fitted curve, confidence band; written as SVG, so nothing needs to be installed.

The fit at the data follows from the residuals, if the data are among the arguments: r(p, x, y) is zero where y is what
the model says, and r changes with each y by a factor that a derivative tells. So weights and signs do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from wengert.api.products import jvp
from wengert.errors import MismatchError
from wengert.explain.pictures import Picture

WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 40
_FIT, _DATA = "#3949ab", "#e65100"


class Curve(NamedTuple):
    """What is drawn: data, and a curve with half the width of its band."""

    x: np.ndarray
    y: np.ndarray
    at: np.ndarray
    value: np.ndarray
    half: np.ndarray
    labels: tuple[str, str]


def picture(fit: Any, x: Any, y: Any, model: Callable | None, level: float, path: Any, ax: Any) -> Any:
    """The picture of a fit; see `Fit.plot`."""
    curve = _curve(fit, x, y, model, level)
    if ax is not None:
        ax.fill_between(
            curve.at, curve.value - curve.half, curve.value + curve.half, color=_FIT, alpha=0.2, linewidth=0
        )
        ax.plot(curve.at, curve.value, color=_FIT, label="fit")
        ax.plot(curve.x, curve.y, "o", color=_DATA, markersize=4, label="data")
        return ax
    found = Picture(_svg(curve, level))
    if path is not None:
        found.save(path)
    return found


def _curve(fit: Any, x: Any, y: Any, model: Callable | None, level: float) -> Curve:
    problem, state = fit._known()
    m, n = fit.jac.shape
    quantile = scipy.special.stdtrit(m - n, (1 + level) / 2) if m > n else math.nan
    args = problem.args
    given = x is None and y is None and len(args) == 2 and all(np.ndim(a) == 1 and np.size(a) == m for a in args)
    if given:
        x, y = args
    if (x is None) != (y is None) or (y is not None and model is None and not given):
        raise MismatchError(
            "the fit does not know the curve for these data",
            remedy="give plot(x=x, y=y, model=model) with model(parameters, x), or call least_squares with args=(x, y)",
        )
    if y is None:
        half = np.full(m, 1.96 * math.sqrt(fit.residual_variance))
        return Curve(np.arange(m), fit.fun, np.arange(m), np.zeros(m), half, ("number", "residual"))
    x, y = np.asarray(x, float), np.asarray(y, float)
    if model is not None:
        at = np.linspace(np.min(x), np.max(x), 201)
        value = np.asarray(model(fit.x, at))
        return Curve(x, y, at, value, quantile * fit.standard_error_of(model, at), ("x", "y"))
    value, factor = _at_data(problem, state, x, y)
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", fit.jac, fit.covariance, fit.jac), 0.0)) / np.abs(factor)
    order = np.argsort(x, kind="stable")
    return Curve(x, y, x[order], value[order], (quantile * errors)[order], ("x", "y"))


def _at_data(problem: Any, state: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fitted values at the data, and by what a residual changes with its y."""
    vector = problem.vector(state)
    of_data = lambda y: problem.residuals.at(vector, (x, y))
    r, factor = jvp(of_data, (y,), (np.ones(len(y)),))
    signs = np.where(np.arange(len(y)) % 2, 1.0, -1.0) * np.linspace(1, 2, len(y))
    _, mixed = jvp(of_data, (y,), (signs,))
    if len(r) != len(y) or not np.all(factor != 0) or not np.allclose(mixed, factor * signs):
        raise MismatchError(
            "the residuals do not belong to one y each, so the fit is not known at the data",
            remedy="give plot(model=model) with model(parameters, x)",
        )
    return y - r / factor, np.asarray(factor)


# --------------------------------------------------------------------------------------------------------------- SVG


def ticks(low: float, high: float, count: int = 6) -> np.ndarray:
    """Round numbers between two others."""
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= count)
    return np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step


def _range(*arrays: np.ndarray) -> tuple[float, float]:
    values = np.concatenate([np.ravel(a) for a in arrays])
    values = values[np.isfinite(values)]
    low, high = (float(np.min(values)), float(np.max(values))) if len(values) else (0.0, 0.0)
    if not high > low:
        low, high = low - 0.5, low + 0.5
    margin = 0.04 * (high - low)
    return low - margin, high + margin


def _svg(curve: Curve, level: float) -> str:
    half = np.where(np.isfinite(curve.half), curve.half, 0.0)
    below, above = curve.value - half, curve.value + half
    (x0, x1), (y0, y1) = _range(curve.x, curve.at), _range(curve.y, below, above)
    across = lambda x: _LEFT + (x - x0) / (x1 - x0) * (WIDTH - _LEFT - _RIGHT)
    up = lambda y: HEIGHT - _BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - _TOP - _BOTTOM)
    points = lambda x, y: " ".join(f"{across(a):.2f},{up(b):.2f}" for a, b in zip(x, y, strict=True))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    floor, left = HEIGHT - _BOTTOM, _LEFT
    for t in ticks(x0, x1):
        a = across(t)
        parts.append(f'<path d="M{a:.1f} {_TOP}V{floor}" stroke="#eee"/>')
        parts.append(f'<text x="{a:.1f}" y="{floor + 16}" text-anchor="middle" fill="#444">{t:.6g}</text>')
    for t in ticks(y0, y1):
        b = up(t)
        parts.append(f'<path d="M{left} {b:.1f}H{WIDTH - _RIGHT}" stroke="#eee"/>')
        parts.append(f'<text x="{left - 6}" y="{b + 4:.1f}" text-anchor="end" fill="#444">{t:.6g}</text>')
    parts.append(f'<path d="M{left} {_TOP}V{floor}H{WIDTH - _RIGHT}" fill="none" stroke="#444"/>')
    band = points(np.concatenate((curve.at, curve.at[::-1])), np.concatenate((above, below[::-1])))
    parts.append(
        f'<polygon points="{band}" fill="{_FIT}" fill-opacity="0.18"><title>{level:.0%} band</title></polygon>'
    )
    parts.append(f'<polyline points="{points(curve.at, curve.value)}" fill="none" stroke="{_FIT}" stroke-width="1.8"/>')
    for a, b in zip(curve.x, curve.y, strict=True):
        if math.isfinite(a) and math.isfinite(b):
            parts.append(f'<circle cx="{across(a):.2f}" cy="{up(b):.2f}" r="2.8" fill="{_DATA}" fill-opacity="0.8"/>')
    right, under = escape(curve.labels[0]), escape(curve.labels[1])
    parts.append(f'<text x="{(left + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{right}</text>')
    parts.append(f'<text x="14" y="{(_TOP + floor) / 2}" text-anchor="middle" transform="rotate(-90 14 '
                 f'{(_TOP + floor) / 2})">{under}</text>')  # fmt: skip
    return "\n".join([*parts, "</svg>"]) + "\n"
