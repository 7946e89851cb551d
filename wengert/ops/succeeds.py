"""The row for attempts: whether an op that raises for some values would do so for these.

A `try` of the user's catches what `np.linalg.cholesky` raises. A compiled program has no exception to catch: it asks
before, with this op, and goes on one way or the other. So

    try:                                 if succeeds(a, attempted="cholesky", error="LinAlgError"):
        L = np.linalg.cholesky(a)            L = cholesky(a)
    except np.linalg.LinAlgError:        else:
        L = np.eye(3)                        L = np.eye(3)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wengert.ops import derive
from wengert.ops.op import TABLE, Op
from wengert.ops.traits import MORE, NEVER
from wengert.packages import is_ours
from wengert.raised import class_named


def _succeeds(*args: Any, attempted: str, error: str, **params: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            TABLE[attempted].impl(*args, **params)
    except class_named(error):
        return np.False_
    except Exception:  # which the op itself will raise, and nobody catches
        return np.True_
    return np.True_


succeeds = derive.zero(
    "succeeds",
    _succeeds,
    shape=lambda *args, **params: (),
    dtype=lambda *args, **params: np.dtype(bool),
    raises=NEVER,
    cost=MORE,
)
"""False if the op named `attempted` raises an exception named `error`."""


class Handlers:
    """Who may catch what is raised when a program runs that is being captured: a `try` of the user's
    (`capture/exceptions.py`)."""

    catch: Callable[[Any, str, str | None], bool] = staticmethod(lambda ok, error, message: False)
    """Whether somebody has taken care of the case that a condition does not hold."""
    catches: Callable[[str], bool] = staticmethod(lambda error: False)
    """Whether somebody would catch an exception of that name."""


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
    caught = [error for error in op.failures if Handlers.catches(error)]
    if not caught or not _is_users_own():
        return False
    for error in caught:
        ok = succeeds(*args, **params, attempted=op.name, error=error)
        Handlers.catch(ok, error, op.failures[error])
    return True


def _is_users_own() -> bool:
    frame = sys._getframe(3)
    while frame is not None and is_ours(file := frame.f_code.co_filename):
        if file in _OF_OTHERS or (file.startswith(_MODES) and file not in _OF_ONE_VALUE):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return True
