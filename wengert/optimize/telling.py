"""Who is told of iterations: the user's callback and the progress bar."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.optimize.progress import ProgressBar
from wengert.optimize.result import Solved


class Stopped(Exception):
    """The callback wants no more iterations."""


class Listener:
    """A callback and a bar. A callback may stop a method by returning True or raising StopIteration."""

    def __init__(self, callback: Callable | None, bar: ProgressBar, shown: bool, container: Callable[[Any], Any]):
        self._callback, self._bar, self._container = callback, bar, container
        self.is_called_back = callback is not None
        self.listens = callback is not None or shown
        self._by_name = callback is not None and _takes_result(callback)

    def tell(self, iteration: int, x: np.ndarray, value: float, norm: float | None) -> None:
        """An iteration is done."""
        self._bar.show(iteration, value, norm)
        if self._callback is None:
            return
        try:
            if self._by_name:
                state = Solved(x=self._container(x), fun=value, nit=iteration)
                if norm is not None:
                    state["gradient_norm"] = norm
                stop = self._callback(intermediate_result=state)
            else:
                stop = self._callback(self._container(x))
        except StopIteration:
            raise Stopped from None
        if isinstance(stop, (bool, np.bool_)) and stop:
            raise Stopped


def _takes_result(callback: Callable) -> bool:
    """SciPy's convention: a callback whose only parameter is called `intermediate_result` gets the whole state."""
    try:
        return list(inspect.signature(callback).parameters) == ["intermediate_result"]
    except (TypeError, ValueError):
        return False
