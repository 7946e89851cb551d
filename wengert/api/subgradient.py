"""`subgradient`: choose another derivative where a function has a kink."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wengert.ops.choice import KINKS, TIES, choice, choosing


@contextmanager
def subgradient(*, ties: str | None = None, kinks: str | None = None) -> Iterator[None]:
    """Choose the derivative at points where a function has none, within a `with` block.

    Args:
        ties: if several operands of `maximum`, `minimum` and their like, or several elements under `max` and `min`, are
            equal, each gets an equal "share" of the derivative (the default), or the "first" or "last" gets all of it.
        kinks: the derivative of `abs` (and `fabs`) at zero is "zero" (the default), or that from the "left", -1, or
            from the "right", 1.

    >>> import numpy as np, wengert as wg
    >>> relu = lambda x: np.maximum(x, 0.0)
    >>> wg.grad(relu)(0.0)
    np.float64(0.5)
    >>> with wg.subgradient(ties="last"):
    ...     wg.grad(relu)(0.0)
    np.float64(0.0)
    """
    for name, value, allowed in (("ties", ties, TIES), ("kinks", kinks, KINKS)):
        if value is not None and value not in allowed:
            raise ValueError(f"{name} is one of {', '.join(allowed)}, not {value!r}")
    before = choice.ties, choice.kinks
    with choosing():
        choice.ties, choice.kinks = ties or before[0], kinks or before[1]
        try:
            yield
        finally:
            choice.ties, choice.kinks = before
