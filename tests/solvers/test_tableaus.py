"""Coefficients of Runge–Kutta methods: the conditions of order, and those that SciPy has."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.integrate

from wengert.algorithms import tableaus


@pytest.mark.parametrize("name", ["RK23", "RK45"])
def test_coefficients_are_those_of_scipy(name):
    ours, theirs = getattr(tableaus, name), getattr(scipy.integrate, name)
    for part in "ABCEP":
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    assert ours.error_estimator_order == theirs.error_estimator_order


@pytest.mark.parametrize(("method", "order"), [(tableaus.RK23, 3), (tableaus.RK45, 5)])
def test_conditions_of_order(method, order):
    """Σ bᵢ cᵢᵏ⁻¹ = 1/k, rows of A sum to c, weights of an error to nothing, and the interpolant ends at the step."""
    for k in range(1, order + 1):
        assert method.B @ method.C ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
    np.testing.assert_allclose(np.sum(method.A, axis=1), method.C, atol=1e-14)
    assert np.sum(method.E) == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(np.sum(method.P, axis=1), [*method.B, 0], atol=1e-13)


def test_odeint_loads_no_solvers_of_scipy():
    program = (
        "import sys, numpy as np, wengert as wg\n"
        "wg.odeint(lambda t, y: -y, np.ones(1), np.array([0.0, 1.0]))\n"
        "assert 'scipy.integrate' not in sys.modules and 'scipy.optimize' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
