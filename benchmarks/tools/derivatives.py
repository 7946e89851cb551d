"""Which derivative a problem asks for, composed of a tool's operators.

A problem's `DERIVATIVE` is "gradient" (unless it says otherwise), "jacobian", "hessian", "hvp" (the product of the
Hessian with a vector, `problems.direction`), "step" (new parameters from a gradient, by the problem's `update`),
"blocks" (which tools have to state themselves) or None. A tool that states `derivative` itself in
`<problem>_<tool>.py` is taken at its word.
"""

from collections.abc import Callable
from types import ModuleType

import problems


def of(
    tool: str, problem: str, arguments: tuple, operators: dict[str, Callable], namespace: ModuleType | None = None
) -> tuple[Callable, tuple]:
    """Return a function that computes the derivative, not yet compiled, and its arguments."""
    own = problems.stated_for(tool, problem, namespace)
    kind = problems.derivative_of(problem)
    if kind == "hvp":
        arguments = (*arguments, problems.direction(arguments[0]))
    if hasattr(own, "derivative"):
        return own.derivative, arguments
    if not hasattr(own, "objective"):
        raise problems.NotStated(f"{tool} states no objective for {problem}")
    if kind == "step":
        return step(operators["gradient"](own.objective), own.update), arguments
    if kind not in operators:
        raise problems.NotStated(f"{tool} has no {kind}")
    return operators[kind](own.objective), arguments


def step(gradient: Callable, update: Callable) -> Callable:
    """Return the function that takes a step of training."""

    def stepped(parameters, *data):
        return update(parameters, gradient(parameters, *data))

    return stepped
