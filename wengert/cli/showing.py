"""Values on paper: nested containers of arrays as lines of text, and as data for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import tree


def lines_of(name: str, value: Any) -> list[tuple[str, str]]:
    """One line for each leaf: what it is called, and its value.

    >>> lines_of("p", {"w": np.array([1.0, 2.0]), "b": 0.5})
    [("p['b']", '0.5'), ("p['w']", '[1. 2.]')]
    """
    return [(name + path, text_of(leaf)) for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True)]


def text_of(x: Any) -> str:
    """A number with all its digits, an array with some."""
    if np.ndim(x) == 0 and isinstance(x, (np.generic, np.ndarray, int, float, complex)):
        return repr(np.asarray(x).item())
    if isinstance(x, np.ndarray):
        return np.array2string(x, precision=8, threshold=60, edgeitems=4, max_line_width=100)
    return str(x)


def plain(x: Any) -> Any:
    """What JSON can hold, with every digit: arrays as lists, what is not finite as a word, complex numbers as pairs.

    >>> plain({"x": np.array([1.0, np.nan]), "z": 1 + 2j})
    {'x': [1.0, 'nan'], 'z': {'re': 1.0, 'im': 2.0}}
    """
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        if hasattr(x, "_fields"):
            return {name: plain(value) for name, value in zip(x._fields, x, strict=True)}
        return [plain(value) for value in x]
    if isinstance(x, (np.ndarray, np.generic)):
        return plain(x.tolist())
    if isinstance(x, complex):
        return {"re": plain(x.real), "im": plain(x.imag)}
    if isinstance(x, float) and not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    leaves = tree.leaves(x)
    if len(leaves) == 1 and leaves[0] is x:
        return str(x)
    return {path.lstrip("."): plain(leaf) for path, leaf in zip(tree.paths(x), leaves, strict=True)}


def table(rows: Sequence[tuple[str, ...]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows in columns; `right` says which are set to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            c.rjust(w) if k in right else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
