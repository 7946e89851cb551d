"""Programs of Hock and Schittkowski: feasible and optimal to 1e-6, by our own engine."""

import numpy as np
import pytest

from tests.optimize.hock_schittkowski import PROGRAMS
from wengert import optimize
from wengert.optimize.engines import ipopt


def arrays(given):
    return None if given is None else lambda x: np.array(given(x, np))


def demand_optimal(found, given):
    scale = max(1.0, abs(given["best"]))
    assert abs(found.fun - given["best"]) <= 1e-6 * scale, (found.fun, given["best"], found.message)
    for rows, sign in ((given["equal"], 0), (given["unequal"], 1)):
        values = np.array([0.0] if rows is None else rows(found.x, np))
        assert np.all((values if sign else -np.abs(values)) >= -1e-6 * max(1.0, np.max(np.abs(found.x))))
    assert found.success, found.message


@pytest.mark.parametrize("number", PROGRAMS)
def test_the_optimum_is_found(number):
    given = PROGRAMS[number]
    x0, bounds = np.array(given["start"]), list(zip(given["low"], given["high"], strict=True))
    equal, unequal = arrays(given["equal"]), arrays(given["unequal"])
    f = lambda x: given["f"](x, np)
    found = optimize.nlp(
        f, x0, equalities=equal, inequalities=unequal, bounds=bounds, engine="interior-point", jit=False
    )
    demand_optimal(found, given)


@pytest.mark.skipif(not ipopt.is_there(), reason="ipyopt is not installed")
def test_ipopt_satisfies_constraints_that_it_scales():
    """In problem 97 it scales a constraint by 1e-3, and 1e-9 of what is scaled are 1e-6."""
    given = PROGRAMS[97]
    x0, bounds = np.array(given["start"]), list(zip(given["low"], given["high"], strict=True))
    f, unequal = lambda x: given["f"](x, np), arrays(given["unequal"])
    for tol in (1e-8, 1e-9):
        found = optimize.nlp(f, x0, inequalities=unequal, bounds=bounds, engine="ipopt", jit=False, tol=tol)
        demand_optimal(found, given)
        assert found.constr_violation < 1e-7
