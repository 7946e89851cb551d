"""A value in few words: for messages and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.types import Aval, dtype_of, shape_of


def summary(x: Any) -> str:
    """A value in few words: all of a small one, of a larger one its range and what is unusual in it.

    >>> summary(2.0), summary(np.array([1.0, np.nan, 0.0]))
    ('2.0', 'float64[3]: [1.0, nan, 0.0]')
    >>> summary(np.linspace(0.0, 5.0, 100))
    'float64[100]: 0.0 to 5.0, 1 zero (first at [0])'
    """
    if isinstance(x, Aval):
        return _kind(x)
    shape = shape_of(x)
    if not shape:
        return repr(x.item() if isinstance(x, (np.generic, np.ndarray)) else x)
    try:
        a = np.asarray(x)
    except Exception:  # an array of another library, a symbol: say what it is
        return _kind(x)
    if a.size <= 6 and a.ndim == 1:
        return f"{_kind(a)}: {a.tolist()}"
    if a.dtype.kind not in "fiu" or not a.size:
        return _kind(a)
    parts = []
    finite = a[np.isfinite(a)]
    if finite.size:
        parts.append(f"{finite.min().item():.6} to {finite.max().item():.6}" if a.dtype.kind == "f"
                     else f"{finite.min()} to {finite.max()}")  # fmt: skip
    for name, mask in (("nan", np.isnan(a)), ("inf", np.isinf(a)), ("zero", a == 0)):
        count = int(np.count_nonzero(mask))
        if count:
            where = [int(k) for k in np.argwhere(mask)[0]]
            parts.append(f"{count} {name}{'s' if count > 1 and name == 'zero' else ''} (first at {where})")
    return f"{_kind(a)}: {', '.join(parts)}"


def _kind(x: Any) -> str:
    return f"{dtype_of(x)}[{', '.join(map(str, shape_of(x)))}]"
