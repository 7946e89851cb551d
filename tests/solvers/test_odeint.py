"""`wg.odeint` against references of 30 digits, closed forms, and itself in other modes."""

import json
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError

DATA = Path(__file__).parents[3] / "shared" / "testdata" / "ode"

RIGHT_HAND_SIDES = {
    "three compartments": lambda t, y, p: np.array([
        -(p[0] + p[2] + p[4]) * y[0] + p[1] * y[1] + p[3] * y[2], p[0] * y[0] - p[1] * y[1], p[2] * y[0] - p[3] * y[2]
    ]),
    "logistic growth": lambda t, y, p: p[0] * y * (1 - y / p[1]),
    "forced linear": lambda t, y, p: -p[0] * y + p[1] * np.sin(p[2] * t),
    "Lotka-Volterra": lambda t, y, p: np.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]]),
    "Van der Pol, mu = 1": lambda t, y, p: np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]),
    "Van der Pol, mu = 5": lambda t, y, p: np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]]),
    "Robertson": lambda t, y, p: np.array([
        -p[0] * y[0] + p[1] * y[1] * y[2], p[0] * y[0] - p[1] * y[1] * y[2] - p[2] * y[1] ** 2, p[2] * y[1] ** 2
    ]),
    "Brusselator": lambda t, y, p: np.array([
        p[0] + y[0] ** 2 * y[1] - (p[1] + 1) * y[0], p[1] * y[0] - y[0] ** 2 * y[1]
    ]),
    "pendulum": lambda t, y, p: np.array([y[1], -p[0] / p[1] * np.sin(y[0])]),
    "SIR epidemic": lambda t, y, p: np.array([-p[0] * y[0] * y[1], p[0] * y[0] * y[1] - p[1] * y[1], p[1] * y[1]]),
    "Duffing, forced": lambda t, y, p: np.array([
        y[1], -p[0] * y[1] - p[1] * y[0] - p[2] * y[0] ** 3 + p[3] * np.cos(p[4] * t)
    ]),
}  # fmt: skip
STIFF = ("Robertson",)


@pytest.mark.parametrize("name", RIGHT_HAND_SIDES)
def test_sensitivities(name):
    if not DATA.exists():
        pytest.skip("the reference solutions are not here")
    problem = json.loads((DATA / "sensitivities.json").read_text())[name]
    f = RIGHT_HAND_SIDES[name]
    y0, p = np.array(problem["y0"], float), np.array(list(problem["parameters"].values()), float)
    results = problem["results"]
    t = np.array([0.0, *[float(r["t"]) for r in results]])
    method = "Radau" if name in STIFF else "DOP853"
    solve = lambda y0, p: wg.odeint(f, y0, t, p, method=method, rtol=1e-10, atol=1e-13)[1:]
    y, (by_y0, by_p) = wg.jit(wg.value_and_jacobian(solve, (0, 1), mode="forward"))(y0, p)
    for k, result in enumerate(results):
        for found, wanted in ((y[k], result["y"]), (by_y0[k], result["dy_dy0"]), (by_p[k], result["dy_dparameters"])):
            wanted = np.array(wanted, float)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=2e-8 * np.max(np.abs(wanted), axis=-1).max())


METHODS = ("RK23", "RK45", "DOP853", "Radau", "Rodas5P")
LV, Y0, P = RIGHT_HAND_SIDES["Lotka-Volterra"], np.array([1.0, 1.0]), np.array([1.5, 1.0, 3.0, 1.0])
T = np.array([0.0, 0.2, 0.7])
OPTIONS = {"rtol": 1e-5, "atol": 1e-7}


@pytest.mark.parametrize("method", METHODS)
def test_modes_agree(method):
    """Steps may differ in the last digits between eager and compiled code, and results by what the tolerance allows."""
    f = lambda p: np.sum(wg.odeint(LV, Y0 * p[0], T, p, method=method, **OPTIONS)[1:] ** 2)
    reverse = wg.grad(f)(P)
    np.testing.assert_allclose(wg.jacfwd(f)(P), reverse, rtol=1e-11)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(P), reverse, rtol=1e-3)
    np.testing.assert_allclose(wg.jit(wg.jacfwd(f))(P), wg.jit(wg.grad(f))(P), rtol=1e-11)
    np.testing.assert_allclose(reverse, wg.numerical.grad(f, step=1e-2)(P), rtol=1e-2)


@pytest.mark.parametrize("derivative", ["adjoint", "forward"])
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_other_derivatives(method, derivative):
    def f(p, y0, t, derivative):
        return np.sum(wg.odeint(LV, y0, t, p, method=method, derivative=derivative, rtol=1e-7, atol=1e-9) ** 2)

    wanted = wg.grad(f, (0, 1, 2))(P, Y0, T, "discrete")
    for found, exact in zip(wg.grad(f, (0, 1, 2))(P, Y0, T, derivative), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_times(method):
    """∂y/∂t is the right-hand side, and its derivative that of the right-hand side along the solution."""
    exact = lambda t: np.exp(-0.7 * (t[1] - t[0]))
    f = lambda t: wg.odeint(lambda t, y: -0.7 * y, 1.0, t, method=method, rtol=1e-9, atol=1e-12)[1]
    t = np.array([0.2, 1.3])
    assert f(t) == pytest.approx(exact(t), rel=1e-7)
    np.testing.assert_allclose(wg.grad(f)(t), wg.grad(exact)(t), rtol=1e-7)
    np.testing.assert_allclose(wg.hessian(f)(t), wg.hessian(exact)(t), rtol=1e-6)
    np.testing.assert_allclose(wg.jit(wg.hessian(f))(t), wg.hessian(exact)(t), rtol=1e-6)


def test_second_derivatives():
    f = lambda p: np.sum(wg.odeint(LV, Y0, T, p, **OPTIONS)[-1])
    hessian = wg.hessian(f)(P)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9)
    np.testing.assert_allclose(hessian, wg.numerical.jacobian(wg.grad(f), step=1e-3)(P), rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(wg.jit(wg.jacfwd(wg.jacfwd(f)))(P), hessian, rtol=1e-2, atol=1e-3)


def test_backwards_in_time_and_interpolation():
    t = np.linspace(0, 2, 21)
    for method in METHODS:
        there = wg.odeint(LV, Y0, t, P, method=method, rtol=1e-9, atol=1e-12)
        back = wg.odeint(LV, there[-1], t[::-1], P, method=method, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(back[::-1], there, rtol=2e-5)


def test_containers_and_closures():
    def f(k):
        rates = lambda t, y: {"x": y["v"], "v": -k * y["x"]}
        return wg.odeint(rates, {"x": 1.0, "v": np.array([0.0])}, np.array([0.0, 1.0]))

    found = f(4.0)
    np.testing.assert_allclose(found["x"], [1.0, np.cos(2.0)], rtol=1e-6)
    assert found["v"].shape == (2, 1)
    assert wg.grad(lambda k: f(k)["x"][1])(4.0) == pytest.approx(-np.sin(2.0) / 4, rel=1e-6)


def test_a_batch_of_problems():
    f = lambda rate: wg.odeint(lambda t, y: -rate * y, 1.0, np.array([0.0, 1.0]))[1]
    rates = np.array([0.1, 1.0, 20.0])
    for g in (wg.vmap(f), wg.jit(wg.vmap(f))):
        np.testing.assert_allclose(g(rates), np.exp(-rates), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(rates), -np.exp(-rates), rtol=1e-5, atol=1e-8)


def test_a_mass_matrix():
    """y₁' = −y₁ with the constraint y₂ = y₁², and a regular one."""
    f = lambda t, y, k: np.array([-k * y[0], y[1] - y[0] ** 2])
    solve = lambda k: wg.odeint(f, np.ones(2), np.array([0.0, 1.0]), k, method="Radau", mass=np.diag([1.0, 0.0]))[1]
    np.testing.assert_allclose(solve(1.0), [np.exp(-1), np.exp(-2)], rtol=1e-6)
    np.testing.assert_allclose(wg.jacobian(solve)(1.0), [-np.exp(-1), -2 * np.exp(-2)], rtol=1e-5)
    heavy = lambda m: wg.odeint(lambda t, y: -y, 1.0, np.array([0.0, 1.0]), method="Radau", mass=[[m]])[1]
    assert wg.grad(heavy)(2.0) == pytest.approx(np.exp(-0.5) / 4, rel=1e-6)


def test_mistakes():
    with pytest.raises(ValueError, match="method is one of"):
        wg.odeint(LV, Y0, T, P, method="Euler")
    with pytest.raises(MismatchError, match="3 numbers, and y0 has 2"):
        wg.odeint(lambda t, y: np.zeros(3), Y0, T)
    for f in (wg.odeint, wg.jit(lambda f, y0, t: wg.odeint(lambda t, y: y * y, y0, t), static_argnums=0)):
        with pytest.raises(ConvergenceError, match="step size"):
            f(lambda t, y: y * y, 1.0, np.array([0.0, 2.0]))  # infinite at t = 1


def test_a_list_of_numbers_is_an_array():
    found = wg.odeint(lambda t, y: [y[1], -y[0]], [1.0, 0.0], [0, 1, 2])
    np.testing.assert_allclose(found, np.stack([np.cos([0, 1, 2]), -np.sin([0, 1, 2])], 1), atol=1e-7)
    slope = wg.grad(lambda v: wg.odeint(lambda t, y: [y[1], -y[0]], [1.0, v], [0, 1])[-1, 0])
    assert slope(0.0) == pytest.approx(np.sin(1.0), rel=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, wg.jit])
def test_times_that_go_back_and_forth(wrap):
    with pytest.raises(ValueError, match="increase"):
        wrap(lambda t: wg.odeint(lambda t, y: -y, 1.0, t))(np.array([0.0, 2.0, 1.0]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_the_choice_of_the_first_step_is_not_differentiated(method):
    """At rest the sizes that it is chosen by are zero, where square roots have no derivative."""
    end = lambda p, y0: wg.odeint(lambda t, y, p: -p * y, y0, np.array([0.0, 1.0]), p, method=method)[-1, 0]
    assert wg.jvp(end, (2.0, np.zeros(1)), (1.0, np.zeros(1)))[1] == 0
    assert wg.grad(end)(2.0, np.zeros(1)) == 0


def test_a_slope_that_is_no_number_is_found_at_once():
    calls = []
    with pytest.raises(ConvergenceError, match="too small"):
        wg.odeint(lambda t, y: calls.append(t) or y * np.nan, -1.0, np.array([0.0, 2.0]))
    assert len(calls) < 10000


@pytest.mark.slow
def test_jacobians_by_the_adjoint_equation():
    """Many cotangents at once, tangents, second derivatives: what is integrated backwards composes as the rest does."""
    f = lambda t, y, a: np.stack([a[0] * y[0] - y[0] * y[1], y[0] * y[1] - a[1] * y[1]])
    times, a = np.array([0.0, 0.5, 2.0]), np.array([1.3, 0.7])
    by = lambda derivative: (
        lambda a: wg.odeint(f, np.array([1.0, 0.5]), times, a, method="DOP853", derivative=derivative)
    )
    wanted = wg.jacfwd(by("discrete"))(a)
    for derive in (wg.jacrev, wg.jacfwd):
        np.testing.assert_allclose(derive(by("adjoint"))(a), wanted, rtol=1e-5, atol=1e-6)
    sums = [lambda a, d=d: np.sum(by(d)(a)[-1] ** 2) for d in ("adjoint", "discrete")]
    np.testing.assert_allclose(wg.hessian(sums[0])(a), wg.hessian(sums[1])(a), rtol=1e-5)
    both = np.stack([a, 1.1 * a])
    np.testing.assert_allclose(wg.vmap(wg.grad(sums[0]))(both), wg.vmap(wg.grad(sums[1]))(both), rtol=1e-5)


@pytest.mark.parametrize("derive", [wg.jacfwd, pytest.param(lambda f: wg.jit(wg.jacrev(f)), marks=pytest.mark.slow)])
def test_times_that_are_equal(derive):
    """Each has a derivative of its own."""
    times = np.array([0.0, 1.0, 1.0, 2.0])
    states = lambda t: wg.odeint(lambda t, y: -y * t, 1.0, t)
    exact = lambda t: np.exp((t[0] ** 2 - t**2) / 2)
    np.testing.assert_allclose(derive(states)(times), wg.jacfwd(exact)(times), atol=1e-7)
    np.testing.assert_array_equal(wg.odeint(lambda t, y: -y * t, 1.0, np.array([0.3, 0.3])), [1.0, 1.0])


def test_equal_times_twice():
    f = lambda h: wg.odeint(lambda t, y: -y * t, 1.0, np.stack([0.3, 0.3 + h]))[1]
    exact = lambda h: np.exp((0.3**2 - (0.3 + h) ** 2) / 2)
    for derive in (wg.grad, lambda f: wg.grad(wg.grad(f)), lambda f: wg.jacfwd(wg.jacfwd(wg.jacfwd(f)))):
        np.testing.assert_allclose(derive(f)(0.0), derive(exact)(0.0), rtol=1e-7)


def test_equal_times_and_a_mass_matrix():
    """2 y' = −y t; of a singular matrix y' does not follow, which matters only for derivatives."""
    t = np.array([0.0, 1.0, 1.0])
    heavy = lambda t, m: wg.odeint(
        lambda t, y: -y * t, np.ones(1), t, method="Radau", mass=np.reshape(m, (1, 1)), rtol=1e-5
    )[:, 0]
    exact = lambda t: np.exp((t[0] ** 2 - t**2) / 4)
    np.testing.assert_allclose(wg.jacfwd(heavy)(t, 2.0), wg.jacfwd(exact)(t), atol=1e-5)
    compiled = wg.jit(lambda t, m: wg.odeint(lambda t, y: 1 - y, np.ones(1), t, method="Radau", mass=[[m]]))
    np.testing.assert_allclose(compiled(t, 0.0), np.ones((3, 1)), atol=1e-12)
    for f in (compiled, lambda t, m: wg.odeint(lambda t, y: 1 - y, np.ones(1), t, method="Radau", mass=[[m]])):
        with pytest.raises(ConvergenceError, match="singular"):
            wg.jvp(f, (t, 0.0), (t, 0.0))


def test_a_mass_matrix_that_is_differentiated_with_the_rest():
    """y = exp(−k t / m)."""
    f = lambda p, way: wg.odeint(
        lambda t, y: -p[0] * y, 1.0, np.array([0.0, 1.0]), method="Radau", mass=[[p[1]]], derivative=way
    )[1]
    p = np.array([1.0, 2.0])
    expected = np.exp(-0.5) * np.array([-0.5, 0.25])
    for way in ("discrete", "forward"):
        np.testing.assert_allclose(wg.grad(f)(p, way), expected, rtol=1e-7)
    with pytest.raises(MismatchError, match="mass"):
        wg.grad(f)(p, "adjoint")


def test_the_adjoint_of_a_compiled_function():
    """cos(√a t) by the adjoint equation: backwards, forwards and both, outside of `jit`."""
    f = wg.jit(
        lambda a: wg.odeint(
            lambda t, y: np.stack([y[1], -a * y[0]]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), derivative="adjoint"
        )[1, 0]
    )
    a = 2.0
    first = -np.sin(np.sqrt(a)) / (2 * np.sqrt(a))
    second = -np.cos(np.sqrt(a)) / (4 * a) + np.sin(np.sqrt(a)) / (4 * a**1.5)
    assert wg.grad(f)(a) == pytest.approx(first, rel=1e-7)
    assert wg.jvp(f, (a,), (1.0,))[1] == pytest.approx(first, rel=1e-7)
    assert wg.jvp(wg.grad(f), (a,), (1.0,))[1] == pytest.approx(second, rel=1e-6)
    _, linear = wg.linearize(f, a)
    np.testing.assert_allclose([*(linear @ np.ones(1)), *(linear.T @ np.ones(1))], [first, first], rtol=1e-7)


def test_an_event_at_the_beginning_and_later():
    """A pendulum that starts in the middle: sin(√a t) is zero at k π / √a."""
    f = lambda a: wg.odeint(
        lambda t, y: np.stack([y[1], -a * y[0]]),
        np.array([0.0, 1.0]),
        np.array([0.0, 3.0]),
        events=lambda t, y: y[0],
        rtol=1e-5,
        atol=1e-7,
        method="DOP853",
    ).t_events[0]
    found, slopes = f(1.3), wg.jacobian(f)(1.3)
    k = np.arange(len(found))
    np.testing.assert_allclose(found, k * np.pi / np.sqrt(1.3), atol=1e-4)
    np.testing.assert_allclose(slopes, -k * np.pi / 2 * 1.3**-1.5, atol=1e-4)
    with pytest.raises(MismatchError, match="vector"):
        wg.odeint(lambda t, y: y, 1.0, np.array([0.0, 1.0]), events=lambda t, y: y - 2)


@pytest.mark.parametrize("wrong", [{"rtol": -1e-3}, {"atol": -1.0}, {"rtol": np.nan}, {"atol": np.array([1e-9, -1.0])}])
def test_tolerances_that_are_none_are_refused(wrong):
    """A step's error is no more than nothing: with rtol = −1 steps of any length were taken."""
    solve = lambda p: wg.odeint(lambda t, y: -p * y, np.ones(2), np.array([0.0, 1.0]), **wrong)[-1, 0]
    for run in (solve, wg.grad(solve), wg.jit(solve)):
        with pytest.raises(ValueError, match="is no tolerance"):
            run(1.0)
    event = lambda t, y: y[0] - 0.5
    with pytest.raises(ValueError, match="is no tolerance"):
        wg.odeint(lambda t, y: -y, np.ones(2), np.array([0.0, 1.0]), events=event, **wrong)
    if "rtol" in wrong:
        with pytest.raises(ValueError, match="is no tolerance"):
            wg.integrate_taylor(lambda t, y: -y, np.ones(2), np.array([0.0, 1.0]), **wrong)


def test_a_state_of_no_numbers():
    solve = lambda y: wg.odeint(lambda t, y: -y, y, np.array([0.0, 1.0, 2.0]))
    assert solve(np.zeros(0)).shape == wg.jit(solve)(np.zeros(0)).shape == (3, 0)
    assert wg.grad(lambda y: np.sum(solve(y["a"])) + y["b"] ** 2)({"a": np.zeros(0), "b": 3.0})["b"] == 6.0
