"""What solvers of SciPy's tell besides the answer: counts, messages, estimates.

A solver may run once, once for each example of a batch, or, in a compiled program, not yet. And numbers that it leaves
behind on its way, such as an estimate of a Hessian, depend on what is differentiated, in a way that nobody can tell.
What is not to be had stands in its place as an object that says so when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.box.functions.operands import answer
from wengert.box.withheld import Withheld, holds_inexact
from wengert.errors import UnsupportedFunctionError
from wengert.running import running

_USUAL = ("message", "status", "nfev", "njev", "nhev", "nit", "jac", "grad", "hess", "hess_inv", "optimality",
          "active_mask", "slack", "con", "ineqlin", "eqlin", "lower", "upper", "flag", "iterations",
          "function_calls")  # fmt: skip
"""What results of SciPy's solvers have besides the answer, for a program in which the solver has not run yet."""


class Told:
    """The results of all runs of one call of a solver, and the traced values it depends on."""

    def __init__(self, name: str, values: Sequence[Any]):
        self.name = name
        self.values = list(values)
        self.runs: list[Any] = []

    def note(self, found: Any) -> Any:
        """Remember what a run has found."""
        self.runs.append(found)
        return found

    def the_one(self, what: str) -> Any:
        """The result of the only run. If there were several, examples of a batch go their own ways from here on."""
        if not self.runs:
            raise UnsupportedFunctionError(
                f"{what} of {self.name} in a compiled function",
                remedy="use the answer alone there, or call the solver outside of jit",
            )
        if len(self.runs) > 1:
            count = iter(range(len(self.runs)))
            if answer(lambda *values: next(count) == 0, *self.values):  # differs: raises what parts examples
                return self.runs[0]
        return self.runs[-1]

    def field(self, key: str, what: str | None = None, read: Callable[[Any], Any] | None = None) -> Any:
        """Something that the result has, if it can be used: what counts or says something can, other numbers cannot."""
        read = read or (lambda found: found[key])
        what = what or key
        found = [read(run) for run in self.runs]
        if found and not holds_inexact(found) and all(_same(item, found[0]) for item in found):
            return found[0]
        if len(found) != 1:

            def parted() -> BaseException:
                try:
                    self.the_one(what)
                except BaseException as error:
                    return error
                return self._without_rule(what)

            return Withheld(parted)
        return Withheld(lambda: self._without_rule(what))

    def _without_rule(self, what: str) -> BaseException:
        return UnsupportedFunctionError(
            f"{what} of the result of {self.name} has no derivative rule: it depends on the way to the answer",
            remedy="compute it from the answer, or apply the solver to wg.stop_gradient(x) if it counts as a constant",
        )

    def result(self, traced: dict[str, Any], kind: Any) -> Any:
        """A result of SciPy's kind: these fields, which have derivatives, and what can be had of the others."""
        keys = self.runs[-1] if self.runs else _USUAL
        others = {"success": True, **{key: self.field(key) for key in keys if key not in traced}}
        return kind({**others, **traced})

    def failed(self, error: BaseException) -> Any:
        """The result of the only run, if that says that there is no answer: numbers in it raise this error."""
        found = self.runs[0] if len(self.runs) == 1 and running.state.capture is None else None
        if not isinstance(found, dict) or found.get("success", found.get("converged", True)):
            return None
        kind: Any = next(cls for cls in type(found).__mro__ if cls.__name__ == "OptimizeResult")
        return kind({key: Withheld(lambda: error) if holds_inexact(x) else x for key, x in found.items()})


def _same(x: Any, y: Any) -> bool:
    return x is y or (x.__class__ is y.__class__ and bool(np.all(x == y)))
