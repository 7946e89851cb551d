"""Right-hand sides that jump where the solution or a parameter says: derivatives have the terms of the jumps."""

import numpy as np
import pytest
from scipy.integrate import odeint, quad, solve_ivp

import wengert as wg
from wengert.errors import UnsupportedFunctionError

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
SOLVERS = {
    "RK45": lambda f: wg.odeint(f, np.array([0.0]), np.array([0.0, 1.0, 2.0]), **TIGHT)[-1, 0],
    "Radau": lambda f: wg.odeint(f, np.array([0.0]), np.array([0.0, 2.0]), method="Radau", **TIGHT)[-1, 0],
    "solve_ivp": lambda f: solve_ivp(f, (0.0, 2.0), [0.0], **TIGHT).y[0, -1],
    "odeint": lambda f: odeint(f, [0.0], [0.0, 1.0, 2.0], tfirst=True, **TIGHT)[-1, 0],
}


def by_if(a):
    def slope(t, y):
        if t < a:
            return 1.0 - y
        return 3.0 - y

    return slope


IN_TIME = {
    "where": lambda a: lambda t, y: np.where(t < a, 1.0, 3.0) - y,
    "if": by_if,
    "sign": lambda a: lambda t, y: 2 + np.sign(t - a) - y,
    "heaviside": lambda a: lambda t, y: 1 + 2 * np.heaviside(t - a, 0.5) - y,
}


def in_time(a):
    """y' = 1 − y until a, 3 − y after: y(2) in closed form."""
    return (1 - np.exp(-a)) * np.exp(-(2 - a)) + 3 * (1 - np.exp(-(2 - a)))


D_IN_TIME = -2 * np.exp(-1.3)  # of y(2) in a, at 0.7


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("way", IN_TIME)
def test_jump_at_a_time(solver, way):
    f = lambda a: SOLVERS[solver](IN_TIME[way](a))
    assert wg.grad(f)(0.7) == pytest.approx(D_IN_TIME, abs=1e-6)


@pytest.mark.parametrize("operator", [lambda f: lambda a: wg.jvp(f, (a,), (1.0,))[1], wg.jacfwd, wg.jacrev])
def test_jump_at_a_time_in_other_modes(operator):
    f = lambda a: SOLVERS["RK45"](IN_TIME["where"](a))
    assert operator(f)(0.7) == pytest.approx(D_IN_TIME, abs=1e-7)


def test_second_derivative_and_batches():
    f = lambda a: SOLVERS["RK45"](IN_TIME["if"](a))
    assert wg.grad(wg.grad(f))(0.7) == pytest.approx(D_IN_TIME, abs=1e-6)
    places = np.array([0.3, 0.7, 1.9])
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(places), -2 * np.exp(-(2 - places)), rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_jump_at_a_state(solver):
    # y' = b up to y = a, 3 from there on: y(2) = a + 3 (2 − a/b)
    f = lambda a, b: SOLVERS[solver](lambda t, y: np.where(y < a, b, 3.0))
    found = wg.grad(f, (0, 1))(0.7, 1.1)
    np.testing.assert_allclose(found, [1 - 3 / 1.1, 3 * 0.7 / 1.1**2], rtol=1e-6)


@pytest.mark.parametrize("method", ["RK45", "Radau", "LSODA"])
def test_a_place_that_large_tolerances_find_elsewhere(method):
    def f(a):
        return solve_ivp(lambda t, y: np.where(y < a, 1.0, 3.0), (0, 2), [0.0], method=method).y[0, -1]

    assert wg.grad(f)(0.7) == pytest.approx(-2.0, abs=1e-9)  # y(2) = a + 3 (2 − a)


def test_a_solution_that_slides_along_a_jump_is_refused():
    def f(a):
        return solve_ivp(lambda t, y: np.where(y < a, 1.0, -2.0 * y), (0, 2), [0.0]).y[0, -1]

    with pytest.raises(UnsupportedFunctionError, match="slides along"):
        wg.grad(f)(0.7)


def test_jump_of_two_unknowns_at_a_state_that_turns():
    """A spring whose stiffness jumps: the derivative against differences of the solution itself."""

    def f(p):
        def slope(t, y):
            return np.array([y[1], -np.where(y[0] > p[0], p[1], p[2]) * y[0] - 0.1 * y[1]])

        return wg.odeint(
            slope, np.array([1.0, 0.0]), np.array([0.0, 2.5, 5.0]), method="DOP853", rtol=1e-12, atol=1e-12
        )[1:].ravel()

    p = np.array([0.4, 2.0, 1.0])
    h = 1e-4
    wanted = np.stack([(f(p + h * unit) - f(p - h * unit)) / (2 * h) for unit in np.eye(3)], 1)
    np.testing.assert_allclose(wg.jacrev(f)(p), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(wg.jacfwd(f)(p), wanted, rtol=1e-5, atol=1e-6)


def test_remainders():
    # y' = t mod a: y(2) = a²/2 · n + (2 − n a)²/2 with n = 2 whole periods
    f = lambda a: wg.odeint(lambda t, y: t % a, 0.0, np.array([0.0, 2.0]), **TIGHT)[-1]
    assert wg.grad(f)(0.7) == pytest.approx(2 * 0.7 - 2 * (2 - 1.4), abs=1e-6)


def test_time_of_the_end_where_the_right_hand_side_jumps_at_a_fixed_time():
    f = lambda end: wg.odeint(lambda t, y: np.where(t < 0.7, 1.0, 3.0), 0.0, np.array([0.0, end]), **TIGHT)[-1]
    assert wg.grad(f)(2.0) == pytest.approx(3.0, abs=1e-6)


def test_jumps_at_fixed_times_and_kinks_stay_as_they_were():
    f = lambda p: SOLVERS["RK45"](lambda t, y: np.where(t < 0.7, p, 3.0))
    assert wg.grad(f)(2.0) == pytest.approx(0.7, abs=1e-6)
    assert wg.jit(wg.grad(f))(2.0) == pytest.approx(0.7, abs=1e-6)
    kink = lambda a: SOLVERS["RK45"](lambda t, y: np.where(t > a, t - a, 0.0))  # y(2) = (2 − a)²/2
    assert wg.grad(kink)(0.7) == pytest.approx(-1.3, abs=1e-4)
    assert wg.jit(wg.grad(kink))(0.7) == pytest.approx(-1.3, abs=1e-4)


@pytest.mark.parametrize("way", ["where", "if"])
@pytest.mark.parametrize("operator", [lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
@pytest.mark.parametrize("solver", ["RK45", "solve_ivp"])
def test_compiled_derivatives_say_so(solver, operator, way):
    f = lambda a: SOLVERS[solver](IN_TIME[way](a))
    with pytest.raises(UnsupportedFunctionError, match=r"jumps at t = 0\.7"):
        operator(f)(0.7)
    assert wg.jit(f)(0.7) == pytest.approx(in_time(0.7), abs=1e-7)


def test_the_adjoint_and_events_say_so():
    slope = IN_TIME["where"]
    adjoint = lambda a: wg.odeint(slope(a), np.array([0.0]), np.array([0.0, 2.0]), derivative="adjoint")[-1, 0]
    with pytest.raises(UnsupportedFunctionError, match=r"jumps at t = 0\.7"):
        wg.grad(adjoint)(0.7)
    reaches = lambda t, y: y[0] - 1.5
    events = lambda a: wg.odeint(slope(a), np.array([0.0]), np.array([0.0, 2.0]), events=reaches).y[0, -1]
    with pytest.raises(UnsupportedFunctionError, match=r"jumps at t = 0\.7"):
        wg.grad(events)(0.7)


def test_integrands_that_return_early_in_compiled_functions():
    def f(a):
        def integrand(t):
            if t < a:
                return 1 - t
            return 3 - t

        return quad(integrand, 0, 2)[0]

    assert wg.jit(wg.grad(f))(0.7) == pytest.approx(-2.0)
