"""The row for attempts: whether an op that raises for some values would do so for these.

A `try` of the user's catches what `np.linalg.cholesky` raises. A compiled program has no exception to catch: it asks
before, with this op, and goes on one way or the other. So

    try:                                 if succeeds(a, attempted="cholesky", error="LinAlgError"):
        L = np.linalg.cholesky(a)            L = cholesky(a)
    except np.linalg.LinAlgError:        else:
        L = np.eye(3)                        L = np.eye(3)

Whether an index names elements of an array, it asks by comparing places with lengths: `-len(x) <= k < len(x)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from wengert.ops import derive
from wengert.ops.elementwise import greater_equal, less, logical_and
from wengert.ops.index import ARRAY, FLAG, explicit
from wengert.ops.op import TABLE, Op, Traced, call
from wengert.ops.traits import MORE, NEVER, PLACE
from wengert.packages import is_ours
from wengert.raised import class_named
from wengert.types import dtype_of, ndim_of, shape_of


def _succeeds(*args: Any, attempted: str, error: str, each: tuple[bool, ...] = (), **params: Any) -> Any:
    if each:
        of_one = {"attempted": attempted, "error": error, **params}
        examples = ([a[k] if m else a for a, m in zip(args, each, strict=True)] for k in range(_how_many(args, each)))
        return np.array([_succeeds(*example, **of_one) for example in examples], bool)
    try:
        with np.errstate(all="ignore"):
            TABLE[attempted].impl(*args, **params)
    except class_named(error):
        return np.False_
    except Exception:  # which the op itself will raise, and nobody catches
        return np.True_
    return np.True_


def _how_many(args: tuple, each: tuple[bool, ...]) -> int:
    return shape_of(args[each.index(True)])[0]


def _in_batch(args: Any, mapped: Any, params: dict) -> Any:
    """One question with an answer for each example."""
    return NotImplemented if "each" in params else call(succeeds, *args, each=tuple(mapped), **params)


succeeds = derive.zero(
    "succeeds",
    _succeeds,
    shape=lambda *args, each=(), **params: (_how_many(args, each),) if each else (),
    dtype=lambda *args, **params: np.dtype(bool),
    raises=NEVER,
    cost=MORE,
    batch=_in_batch,
)
"""False if the op named `attempted` raises an exception named `error`; with `each`, which says what operands have a
first axis of examples, for each of these."""


class Handlers:
    """Who may catch what is raised when a program runs that is being captured: a `try` of the user's
    (`capture/exceptions.py`)."""

    catch: Callable[[Any, str, str | None], bool] = staticmethod(lambda ok, error, message: False)
    """Whether somebody has taken care of the case that a condition does not hold."""
    catches: Callable[[str], bool] = staticmethod(lambda error: False)
    """Whether somebody would catch an exception of that name."""
    demand_alike: Callable[[Callable, str], None] = staticmethod(lambda is_ok, error: None)
    """Refuse what fails for some numbers of an interval and not for others, where somebody may catch it."""
    part_ways: Callable[..., None] = staticmethod(lambda fails, *operands: None)
    """Have the examples of a batch go different ways if something fails for one of them, and somebody may catch it."""


_WENGERT = Path(derive.__file__).parents[1]
_MODES = str(_WENGERT / "modes") + "/"
_OF_ONE_VALUE = frozenset(_MODES + name for name in ("tape.py", "dual.py"))
_OF_OTHERS = frozenset((derive.__file__, str(_WENGERT / "ir" / "interpret.py")))
"""Where derivative and batch rules are called, and blocks that were captured before are run again."""


def ask_before(op: Op, args: tuple, params: dict) -> bool:
    """Where a `try` of the user's would catch what an op raises, have the program ask before; whether it does.

    Only what the user's own code computes is asked about, and by the first mode that comes to it, which knows whether
    there are many examples.
    """
    frame = sys._getframe(2)
    if op.raises is PLACE:
        if "pattern" not in params or not Handlers.catches("IndexError") or not _is_users_own(frame):
            return False
        for ok in _places_exist(shape_of(args[0]), params["pattern"], args[op.data_count(args, params) :]):
            Handlers.catch(ok, "IndexError", None)
        return True
    caught = [error for error in op.failures if Handlers.catches(error)]
    if not caught or not _is_users_own(frame):
        return False
    for error in caught:
        ok = succeeds(*args, **params, attempted=op.name, error=error)
        Handlers.catch(ok, error, op.failures[error])
    return True


def _places_exist(shape: tuple, pattern: tuple, arrays: tuple) -> Iterator[Any]:
    """The conditions that an index names elements of an array, as far as that is not known."""
    axis, waiting = 0, iter(arrays)
    for item in explicit(pattern, len(shape)):
        if item is None or item is Ellipsis or item is FLAG:
            if item is FLAG:
                next(waiting)
            continue
        n = getattr(shape[axis], "sym", shape[axis])  # a length that is known only when the program runs
        axis += 1
        place = next(waiting) if item is ARRAY else item
        if place.__class__ is slice or dtype_of(place).kind not in "iu" or _is_inside(place, n):
            continue
        ok = logical_and(greater_equal(place, -n), less(place, n))
        yield call(TABLE["all"], ok, axis=tuple(range(ndim_of(ok)))) if ndim_of(ok) else ok


def _is_inside(place: Any, n: Any) -> bool:
    """Whether places are known to be those of elements along an axis."""
    if n.__class__ is not int:
        return False
    if isinstance(place, Traced):
        low, high = getattr(place, "_span", None) or (None, None)
    else:
        low, high = int(np.min(place, initial=0)), int(np.max(place, initial=0))
    return low is not None and high is not None and -n <= low and high < n


def _is_users_own(frame: Any) -> bool:
    """Whether the code in a frame runs for an operation of the user's, and not for a derivative or batch rule."""
    while frame is not None and is_ours(file := frame.f_code.co_filename):
        if file in _OF_OTHERS or (file.startswith(_MODES) and file not in _OF_ONE_VALUE):
            return False
        frame = frame.f_back
    return True
