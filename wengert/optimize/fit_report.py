"""The table that a fit prints as."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import tree
from wengert.errors import WengertError

_ROWS = 40
"""A report has at most so many rows."""
_STRONG = 0.9
"""Correlations from this size on are mentioned."""


def report_of(fit: Any) -> str:
    """The report of a fit."""
    m, n = fit.residual_count, fit.jac.shape[1]
    lines = [
        f"least squares ({fit.method}): {'converged' if fit.success else 'NOT converged'} — {fit.message}",
        f"{m} residuals, {n} unknowns, {fit.nit} iterations",
        f"cost {fit.cost:.8g}, residual sum of squares {float(np.sum(fit.fun**2)):.8g}"
        + (f", s = {float(np.sqrt(fit.residual_variance)):.6g}" if m > n else ""),
        "",
    ]
    return "\n".join([*lines, *_table(fit)])


def _table(fit: Any) -> list[str]:
    problem = fit.__dict__.get("_problem")
    if problem is None:
        return [f"x = {fit.x}"]
    names = names_of(fit.x)
    values = problem.vector(fit.__dict__["_state"])
    curved = problem.coordinates.curved
    try:
        errors = fit.standard_error
        errors = None if curved else problem.unknowns.ravel(errors)
    except WengertError:
        errors = None
    free = np.zeros(len(values), bool)
    free[range(len(values)) if curved else problem.coordinates.free] = True
    where = np.cumsum(free) - 1
    rows: list[tuple[str, ...]] = [("unknown", "value", "standard error", "relative", "")]
    for k, name in enumerate(names[:_ROWS]):
        error = "" if errors is None else "constant" if not free[k] else f"{errors[k]:.6g}"
        relative = ""
        if errors is not None and free[k] and values[k] != 0 and np.isfinite(errors[k]):
            relative = f"{abs(errors[k] / values[k]):.2%}"
        note = ""
        if errors is not None and free[k] and not np.isfinite(errors[k]):
            note = "not determined by the residuals" if fit.residual_count > fit.jac.shape[1] else ""
        elif not curved and free[k] and fit.active_mask[where[k]]:
            note = "at its bound"
        rows.append((name, f"{values[k]:.8g}", error, relative, note))
    found = aligned(rows)
    if len(names) > _ROWS:
        found.append(f"… and {len(names) - _ROWS} more")
    return found + (
        _correlations(fit, [n for n, f in zip(names, free, strict=True) if f]) if errors is not None else []
    )


def _correlations(fit: Any, names: list[str]) -> list[str]:
    if not 1 < len(names) <= _ROWS or not np.all(np.isfinite(fit.covariance)):
        return []
    matrix = fit.correlation
    if len(names) <= 8:
        rows: list[tuple[str, ...]] = [("correlation", *names[:-1])]
        for i in range(1, len(names)):
            rows.append((names[i], *[f"{matrix[i, j]:+.3f}" if j < i else "" for j in range(len(names) - 1)]))
        return ["", *aligned(rows)]
    pairs = [(i, j) for i in range(len(names)) for j in range(i) if abs(matrix[i, j]) >= _STRONG]
    pairs.sort(key=lambda p: -abs(matrix[p]))
    told = [f"  {names[j]} and {names[i]}: {matrix[i, j]:+.4f}" for i, j in pairs[:10]]
    return ["", f"correlations above {_STRONG}:", *told] if told else []


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns of text, the first to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    last = len(widths) - 1
    return [
        "  ".join(
            cell.ljust(width) if k == 0 or (k == last and k > 3) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def names_of(x: Any) -> list[str]:
    """A name for each number in a container: a, b[0], b[1], …"""
    found: list[str] = []
    for path, leaf in zip(tree.paths(x), tree.leaves(x), strict=True):
        name = path.replace("['", ".").replace("']", "").removeprefix(".") or "x"
        shape = np.shape(leaf)
        if not shape:
            found.append(name)
        else:
            found += [f"{name}[{', '.join(str(i) for i in index)}]" for index in np.ndindex(*shape)]
    return found
