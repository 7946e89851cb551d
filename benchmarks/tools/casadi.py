"""CasADi: the problem as an expression graph, differentiated as such and run by CasADi's virtual machine.

All arguments but the first are constants of the graph. Expressions are scalar (`SX`) unless the statement of the
problem says `SYMBOLS = "MX"`: then matrices are operands. A compiled graph takes and returns CasADi's own matrices.
"""

import casadi
import numpy as np
import problems

TITLE = "CasADi"


def version():
    """Return the version measured."""
    return casadi.__version__


def function(problem, arguments):
    """Return a function that evaluates the objective."""
    x, y, given = graph(problem, arguments)
    return called(casadi.Function("f", [x], [y]), given)


def derivative(problem, arguments):
    """Return a function that computes the derivative that the problem asks for."""
    own = problems.stated_for("casadi", problem)
    if hasattr(own, "prepared"):
        return own.prepared(*arguments)
    x, y, given = graph(problem, arguments)
    kind = problems.derivative_of(problem)
    if kind == "hvp":
        v = type(x).sym("v", *x.shape)
        product = casadi.jtimes(casadi.gradient(y, x), x, v)
        return called(casadi.Function("df", [x, v], [product]), given, casadi.DM(problems.direction(arguments[0])))
    if kind not in KINDS:
        raise problems.NotStated(f"no {kind} in CasADi")
    return called(casadi.Function("df", [x], [KINDS[kind](y, x)]), given)


KINDS = {"gradient": casadi.gradient, "jacobian": casadi.jacobian, "hessian": lambda y, x: casadi.hessian(y, x)[0]}


def graph(problem, arguments):
    """Return the symbol of the first argument, the expression of the result, and the argument's value."""
    own = problems.stated_for("casadi", problem)
    if not hasattr(own, "objective"):
        raise problems.NotStated("only the derivative is stated")
    first, *rest = arguments
    symbols = getattr(own, "SYMBOLS", "SX")
    x = getattr(casadi, symbols).sym("x", *np.shape(first))
    if symbols == "MX":
        rest = [casadi.DM(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in rest]
    return x, own.objective(x, *rest), casadi.DM(first)


def called(f, *given):
    """Return a function that calls f."""
    return lambda: f(*given)
