"""Calls of SciPy's solvers: arguments by name, the traced values in them, how an implementation is declared."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wengert.box.dispatch import CALLERS
from wengert.errors import ConvergenceError
from wengert.solvers.answer import Parameters

_UNPACKING = frozenset(("newton", "fixed_point", "solve_ivp"))
"""Solvers to which a list is as good as a tuple, where others take it for the one argument."""


class Given:
    """The arguments of a call of one of SciPy's solvers, by name, and the traced values in them."""

    def __init__(self, original: Callable, args: tuple, kwargs: dict):
        bound = inspect.signature(original).bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        self.arguments: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                self.arguments.update(value)
            else:
                self.arguments[name] = value
        if "args" in self.arguments:
            extra = self.arguments["args"]
            many = (tuple, list) if original.__name__ in _UNPACKING else tuple
            self.arguments["args"] = () if extra is None else tuple(extra) if isinstance(extra, many) else (extra,)
        self.parameters = Parameters(self.arguments)
        self._omitted = set(bound.arguments) - given

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def put(self, values: Any) -> dict[str, Any]:
        """The arguments with these values in place of the traced ones."""
        return self.parameters.put(values)

    def passed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Those of the arguments that were in the call: a default may be one that must not be passed."""
        return {name: value for name, value in arguments.items() if name not in self._omitted}


def not_converged(name: str, reason: Any) -> ConvergenceError:
    """The error for a solver that says so itself."""
    return ConvergenceError(
        f"{name} has not converged, so there is no answer to differentiate: {reason}",
        remedy="give it more iterations, a larger tolerance or another start",
    )


def solver(original: Callable) -> Callable[[Callable], Callable]:
    """Declare that what follows is what a solver of SciPy's does where some of its arguments are traced."""

    def register(implementation: Callable[[Given], Any]) -> Callable:
        def of_traced(*args: Any, **kwargs: Any) -> Any:
            given = Given(original, args, kwargs)
            return implementation(given) if given.parameters.any else original(*args, **kwargs)

        CALLERS[original] = of_traced
        return of_traced

    return register
