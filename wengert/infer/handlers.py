"""Who listens to the marks that a model makes (`sample`, `observe`, …) while it runs.

A model is a plain function. Whoever runs it puts a handler up; the marks ask the topmost one of their thread what a
value is, and tell it what they add to the log-density.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from wengert.errors import WengertError


class ModelError(WengertError, ValueError):
    """A model that cannot be understood: it says which site, and what to write instead."""

    page = "models"


class Enough(BaseException):
    """A handler knows all it wants to know: the rest of the model need not be run; users' `except` lets it pass."""


class _Running(threading.local):
    def __init__(self) -> None:
        self.handlers: list[Any] = []


_running = _Running()


def run_under(handler: Any, model: Callable, args: tuple) -> Any:
    """What a model returns, run under a handler."""
    _running.handlers.append(handler)
    try:
        return model(*args)
    finally:
        _running.handlers.pop()


def run_until_enough(handler: Any, model: Callable, args: tuple) -> None:
    """Run a model under a handler that may say `Enough`; not in code that is compiled, where all of it is captured."""
    try:
        run_under(handler, model, args)
    except Enough:
        return


def handler_for(mark: str) -> Any:
    """The handler of the model that runs."""
    if not _running.handlers:
        raise ModelError(
            f"{mark} outside of a model",
            remedy="it marks something in a function that is given to infer.nuts and the like, with its arguments: "
            "infer.nuts(model, y)",
        )
    return _running.handlers[-1]
