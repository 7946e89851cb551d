"""`scipy.integrate.solve_bvp` inside differentiated functions: closed forms of solutions and of their derivatives."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import wengert as wg
from wengert.errors import ConvergenceError, UnsupportedFunctionError

MESH = np.linspace(0, 1, 9)
AT = np.array([0.0, 0.3, 0.55, 1.0])


def _string(k, end, x=MESH):
    """y'' = −k² y with y(0) = 0 and y(b) = end: end · sin(k x) / sin(k b)."""
    return solve_bvp(
        lambda x, y: np.vstack([y[1], -(k**2) * y[0]]),
        lambda a, b: np.array([a[0], b[0] - end]),
        x,
        np.zeros((2, len(x))),
        tol=1e-8,
    )


exact = lambda k, end, b=1.0: end * np.sin(k * AT * b) / np.sin(k * b)


def test_values_and_derivatives():
    found = lambda k, end: _string(k, end).sol(AT)[0]
    for argument in (0, 1):
        expected = wg.jacfwd(exact, argument)(1.3, 0.8)
        for derive in (wg.jacfwd, wg.jacrev):
            np.testing.assert_allclose(derive(found, argument)(1.3, 0.8), expected, atol=1e-7)
    second = wg.jacfwd(wg.jacfwd(exact))(1.3, 0.8)
    for again in (wg.jacfwd(wg.jacrev(found)), wg.jacrev(wg.jacrev(found))):
        np.testing.assert_allclose(again(1.3, 0.8), second, atol=1e-6)
    rates = np.array([0.7, 1.3])
    many = wg.vmap(found, in_axes=(0, None))(rates, 0.8)
    np.testing.assert_allclose(many, [exact(k, 0.8) for k in rates], atol=1e-7)
    np.testing.assert_array_equal(
        wg.value_and_grad(lambda k: _string(k, 0.8).y[1, 0])(1.3)[0], _string(1.3, 0.8).y[1, 0]
    )


def test_fields():
    slope = lambda k: _string(k, 0.8).y[1, 0]  # k · end / sin k
    assert wg.grad(slope)(1.3) == pytest.approx(0.8 * (np.sin(1.3) - 1.3 * np.cos(1.3)) / np.sin(1.3) ** 2, abs=1e-7)
    bend = lambda k: _string(k, 0.8).yp[1, -1]  # −k² · end
    assert wg.grad(bend)(1.3) == pytest.approx(-2 * 1.3 * 0.8, abs=1e-7)
    inside = lambda x: _string(1.3, 0.8).sol(x)[0]
    assert wg.grad(inside)(0.3) == pytest.approx(0.8 * 1.3 * np.cos(0.39) / np.sin(1.3), abs=1e-5)
    for nu, sign in ((1, 1.3 * np.cos(0.39)), (2, -(1.3**2) * np.sin(0.39))):
        assert wg.value_and_grad(lambda e, nu=nu: _string(1.3, e).sol(0.3, nu)[0])(0.8)[1] == pytest.approx(
            sign / np.sin(1.3), abs=1e-2 if nu == 2 else 1e-5
        )


def test_an_end_that_moves():
    found = lambda b: _string(1.3, 0.8, b * MESH).sol(b * AT)[0]
    expected = wg.jacfwd(lambda b: exact(1.3, 0.8, b))(1.2)
    np.testing.assert_allclose(wg.jacfwd(found)(1.2), expected, atol=1e-7)
    np.testing.assert_allclose(wg.jacrev(found)(1.2), expected, atol=1e-7)


def test_an_unknown_parameter():
    """The eigenvalue of y'' = −λ c y between fixed ends is π² / c."""

    def eigenvalue(c):
        start = np.stack([np.sin(np.pi * MESH), np.pi * np.cos(np.pi * MESH)])
        return solve_bvp(
            lambda x, y, p: np.vstack([y[1], -p[0] * c * y[0]]),
            lambda a, b, p: np.array([a[0], b[0], a[1] - 1.0]),
            MESH, start, p=[8.0], tol=1e-9,
        ).p[0]  # fmt: skip

    assert wg.grad(eigenvalue)(1.5) == pytest.approx(-(np.pi**2) / 1.5**2, rel=1e-8)


def test_no_solution():
    """Bratu's problem has none beyond 3.51."""
    bratu = lambda k: solve_bvp(
        lambda x, y: np.vstack([y[1], -k * np.exp(y[0])]),
        lambda a, b: np.array([a[0], b[0]]), MESH, np.zeros((2, 9)), max_nodes=200,
    ).y[1, 0]  # fmt: skip
    assert np.isfinite(wg.grad(bratu)(2.0))
    with pytest.raises(ConvergenceError, match="solve_bvp"):
        wg.grad(bratu)(4.0)
    with pytest.raises(UnsupportedFunctionError, match="compiled"):
        wg.jit(bratu)(2.0)
