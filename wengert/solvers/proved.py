"""Answers of solvers for parameters in intervals: boxes in which there is one root for each of them, with proof.

Krawczyk's operator (`api/verified_roots.py`) with the parameters as intervals: if it maps a box around the answer for
their middle into its interior, then for each choice of parameters there is exactly one root in the box, and it depends
continuously on them. A solver that is started elsewhere may find another root for another choice; what is enclosed is
the root that the answer in the middle belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.api.jacobian import jacobian
from wengert.api.natural import natural
from wengert.errors import UndecidedError
from wengert.modes.interval import Interval, make
from wengert.ops.op import Traced
from wengert.ops.rounding import Bounds

_ATTEMPTS = 12
"""So many boxes are tried, each larger than the one before."""
_MOST = 256
"""Into so many parts the intervals of parameters may be divided."""


def enclosed_roots(mode: Any, name: str, residual: Callable, answer: Callable, parameters: Sequence[Any]) -> Any:
    """The roots of F(y, *parameters) for all parameters in intervals, where answer(parameters) gives one at numbers.

    Intervals for which nothing can be proved are divided.
    """
    numbers = [k for k, p in enumerate(parameters) if not mode.owns(p)]
    boxes = [p if k in numbers else make(*_plain(mode, p)) for k, p in enumerate(parameters)]
    slopes = jacobian(residual)
    found, pending = None, [boxes]
    for tried in range(_MOST):
        if not pending:
            break
        box = pending.pop()
        root = _root(residual, slopes, answer, box)
        if root is not None:
            found = root if found is None else found | root
            continue
        widths = [float(np.max(p.width, initial=0.0)) if k not in numbers else 0.0 for k, p in enumerate(box)]
        widest = int(np.argmax(widths))
        if not 0 < widths[widest] < np.inf or tried + len(pending) + 2 >= _MOST:
            pending.append(box)
            break
        pending += [[*box[:widest], half, *box[widest + 1 :]] for half in _halves(box[widest])]
    if pending or found is None:
        raise UndecidedError(
            f"for some parameters in the intervals {name} may have no answer, or several that are close",
            remedy="use smaller intervals",
        )
    return mode.enclosed(mode.bounds(found))


def _plain(mode: Any, x: Any) -> Bounds:
    low, high = mode.bounds(x)
    if isinstance(low, Traced) or isinstance(high, Traced):
        raise UndecidedError(
            "an answer of a solver for parameters in intervals, in compiled code", remedy="enclose it without jit"
        )
    return Bounds(low, high)


def _halves(x: Any) -> tuple[Any, Any]:
    """An interval divided at its middle, along the widest of its elements."""
    low, high = np.atleast_1d(x.lo), np.atleast_1d(x.hi)
    place = np.unravel_index(np.argmax(high - low), low.shape)
    first, last = low.copy(), high.copy()
    first[place] = last[place] = 0.5 * low[place] + 0.5 * high[place]
    shape = np.shape(x.lo)
    return make(x.lo, last.reshape(shape)[()]), make(first.reshape(shape)[()], x.hi)


def _root(residual: Any, slopes: Any, answer: Callable, parameters: Sequence[Any]) -> Any:
    """A box in which there is one root for all parameters, if that can be proved."""
    middle = [np.asarray(p.mid)[()] if isinstance(p, Interval) else p for p in parameters]
    y = answer(middle)
    with np.errstate(all="ignore"):
        centre = np.asarray(slopes(y, *middle))
        if not np.all(np.isfinite(centre)) or not np.linalg.det(centre):
            return None
        inverse = np.linalg.inv(centre)
        step = _point(inverse) @ natural(residual, (_point(y), *parameters), {})[0]
        reach = 2.5 * np.maximum(abs(step.lo), abs(step.hi)) + 1e-14 * abs(y) + 1e-300
        for _ in range(_ATTEMPTS):
            box = make(y - reach, y + reach)
            image, certain = _krawczyk(residual, slopes, y, step, inverse, box, parameters)
            if certain and np.all((image.lo > box.lo) & (image.hi < box.hi)):
                for _ in range(3):  # what is in the box is in its image
                    box = image & box
                    image, _ = _krawczyk(residual, slopes, y, step, inverse, box, parameters)
                return image & box
            reach = 1.5 * np.maximum(abs(image.lo - y), abs(image.hi - y))
            if not np.all(np.isfinite(reach)):
                break
    return None


def _point(x: np.ndarray) -> Any:
    return make(x, x.copy())


def _krawczyk(residual: Any, slopes: Any, y: Any, step: Any, inverse: Any, box: Any, parameters: Any) -> Any:
    """The image of a box, and whether F is continuous there."""
    _, broken = natural(residual, (box, *parameters), {}, watches=True)
    there = natural(slopes, (box, *parameters), {})[0]
    rest = np.eye(len(y)) - _point(inverse) @ there
    return _point(y) - step + rest @ (box - y), not broken
