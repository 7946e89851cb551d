"""Complex numbers: as parameters they are differentiated; unknowns, equations and states are refused, never cut."""

import numpy as np
import pytest
import scipy.optimize as so

import wengert as wg
from wengert.errors import UnsupportedFunctionError


def test_complex_parameters():
    z = 1 + 2j
    for f in (
        lambda z: so.brentq(lambda x: x - np.abs(z), 0, 5),
        lambda z: wg.root(lambda x: x - np.abs(z), 1.0),
        lambda z: wg.argmin(lambda x: (x - np.abs(z)) ** 2, 1.0),
        lambda z: wg.linear_solve(lambda v: v / np.abs(z), np.ones(1))[0],
    ):
        for g in (wg.grad(f), wg.jit(wg.grad(f))):
            assert g(z) == pytest.approx(wg.grad(np.abs)(z), rel=1e-9)


@pytest.mark.parametrize(
    "run",
    [
        lambda: wg.odeint(lambda t, y: 1j * y, 1 + 0j, [0.0, 1.0]),
        lambda: wg.odeint(lambda t, y: 1j * y, 1.0, [0.0, 1.0]),
        lambda: wg.root(lambda x: x**2 + 1, 0.9j),
        lambda: wg.fixed_point(lambda x: x / 2 + 1j, 1.0),
        lambda: wg.argmin(lambda z: np.abs(z - 1j) ** 2, 0j),
        lambda: wg.linear_solve(lambda v: v, 1j * np.ones(3)),
        lambda: wg.linear_solve(lambda v: 1j * v, np.ones(3)),
        lambda: wg.qp(1j * np.eye(2), np.ones(2)),
        lambda: wg.grad(lambda a: wg.implicit(lambda y, a: y * y - 1j * a)(lambda a: np.sqrt(1j * a))(a).real)(2.0),
        lambda: wg.grad(lambda a: so.root(lambda x: x * (1 + 1j * a), [1.0]).x[0])(2.0),
    ],
)
def test_the_rest_is_refused(run):
    with pytest.raises((UnsupportedFunctionError, TypeError), match="omplex"):
        run()
