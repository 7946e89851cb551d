"""Functions that are compiled if they can be, and run as Python, with a warning that says why, if they cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from wengert.api.jit import jit
from wengert.errors import WengertError


class NotCompiledWarning(UserWarning):
    """A log-density runs as plain Python, because it could not be compiled."""


def compiled(f: Callable) -> Callable:
    """`jit(f)`; `f` itself from the first call on that cannot be compiled."""
    quick: Callable = jit(f)
    chosen = quick

    def call(*args: Any) -> Any:
        nonlocal chosen
        if chosen is not quick:
            return chosen(*args)
        try:
            return quick(*args)
        except WengertError as error:
            result = f(*args)  # an error that is not about compiling comes again
            chosen = f
            warnings.warn(
                f"the log-density could not be compiled and runs as plain Python: {error}", NotCompiledWarning, 3
            )
            return result

    return call
