"""Calls of SciPy's solvers: arguments by name, the traced values in them, how an implementation is declared."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.dispatch import CALLERS
from wengert.box.functions.left_behind import with_functions
from wengert.box.functions.sparse_matrix import SparseMatrix
from wengert.box.writing import settled
from wengert.errors import ConvergenceError, UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops.op import Traced
from wengert.solvers.parameters import Parameters, real
from wengert.solvers.told import Told
from wengert.types import dtype_of

_UNPACKING = frozenset(("newton", "fixed_point", "solve_ivp"))
"""Solvers to which a list is as good as a tuple, where others take it for the one argument."""


class Given:
    """The arguments of a call of one of SciPy's solvers, by name, and the traced values in them."""

    def __init__(self, original: Callable, args: tuple, kwargs: dict, brought_to_form: Callable | None = None):
        self.original = original
        bound = inspect.signature(original).bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        self.as_given = dict(bound.arguments)
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
        if brought_to_form is not None:
            brought_to_form(self.arguments)
        self.parameters = Parameters(self.arguments)
        library = ".".join(original.__module__.split(".")[:2])
        self.name, self.module = f"{library}.{original.__name__}", sys.modules[library]
        self._omitted = set(bound.arguments) - given
        self._told: Told | None = None
        self.is_complex = False
        """Whether functions may give complex numbers."""

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def put(self, values: Any) -> dict[str, Any]:
        """The arguments with these values in place of the traced ones."""
        return self.parameters.put(values)

    def passed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Those of the arguments that were in the call: a default may be one that must not be passed."""
        found = {name: value for name, value in arguments.items() if name not in self._omitted}
        return {name: plainly(value, self.is_complex) for name, value in found.items()}

    def told(self) -> Told:
        """What the solver tells besides the answer, when it has run."""
        self._told = Told(self.name, self.parameters.values)
        return self._told

    def not_converged(self, reason: Any) -> ConvergenceError:
        """The error for a solver that says so itself."""
        return not_converged(self.name, reason)

    def result_or_raise(self, implementation: Callable[[Given], Any]) -> Any:
        """The result of a solver. One that says of itself that it has failed has no answer: whoever uses it gets the
        error, and a program that looks at `success` first may go on."""
        try:
            with self.parameters.left_behind as left:
                self.arguments = left.anew(self.arguments)
                return implementation(self)
        except ConvergenceError as error:
            if self._told is None or (failed := self._told.failed(error)) is None:
                raise
            return failed

    def answer_in(self, found: Any) -> Any:
        """The answer in a result of SciPy's."""
        if not found.success:
            raise self.not_converged(found.message)
        return found.x


def plainly(x: Any, is_complex: bool = False) -> Any:
    """Functions of the user's as compiled code wants them: an array that one has just made is returned as an array."""
    if x.__class__ is SparseMatrix:
        return x.plain_if_known()

    def plain(f: Callable, path: tuple) -> Callable:
        @functools.wraps(f)
        def called(*args: Any, **kwargs: Any) -> Any:
            return _as_array(f(*args, **kwargs), is_complex)

        return called

    return with_functions(x, plain)


def _as_array(x: Any, is_complex: bool) -> Any:
    if x.__class__ is tuple:
        return tuple([_as_array(item, is_complex) for item in x])
    if not is_complex and isinstance(x, (Traced, np.ndarray, np.generic, complex)) and dtype_of(x).kind == "c":
        real(x)  # refuses it
    if isinstance(x, Traced):
        x = settled(x)
        if isinstance(x, Traced):
            raise UnsupportedFunctionError(
                "a solver of a function that depends on a traced value which is neither in args= nor in a variable "
                "around it, nor in an object there",
                remedy="pass the value through args=, or as an argument of the function by a lambda",
            )
    return x


def not_converged(name: str, reason: Any) -> ConvergenceError:
    """The error for a solver that says so itself."""
    return ConvergenceError(
        f"{name} has not converged, so there is no answer to differentiate: {reason}",
        remedy="give it more iterations, a larger tolerance or another start",
    )


def solver(module: str, *names: str, brought_to_form: Callable | None = None) -> Callable[[Callable], Callable]:
    """Declare that what follows is what solvers of SciPy's do where some of their arguments are traced.

    `brought_to_form(arguments)` may change arguments that can be given in several forms.
    """

    def of_traced(original: Callable, implementation: Callable[[Given], Any]) -> Callable:
        def solve(*args: Any, **kwargs: Any) -> Any:
            given = Given(original, args, kwargs, brought_to_form)
            if given.parameters.any:
                return given.result_or_raise(implementation)
            return original(*plainly(args, True), **plainly(kwargs, True))

        return solve

    def register(implementation: Callable[[Given], Any]) -> Callable:
        @when_imported(module)
        def enter(found: Any) -> None:
            for original in map(functools.partial(getattr, found), names):
                CALLERS[original] = of_traced(original, implementation)

        return implementation

    return register
