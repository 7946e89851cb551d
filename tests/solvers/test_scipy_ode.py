"""`scipy.integrate.solve_ivp` and `odeint` inside differentiated functions."""

import numpy as np
import pytest
import scipy.integrate as si

import wengert as wg
from wengert.errors import ConvergenceError, UnsupportedFunctionError

Y0 = np.array([1.0, 1.0])
P = np.array([1.5, 1.0, 3.0, 1.0])
T = np.linspace(0, 1, 3)
TIGHT = {"rtol": 1e-8, "atol": 1e-10}


def predators(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]]


REFERENCE = wg.jit(
    wg.jacfwd(
        lambda p: wg.odeint(lambda t, y: np.array(predators(t, y, p)), Y0, T, method="DOP853", rtol=1e-12, atol=1e-13)
    )
)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_methods(method):
    f = lambda p: si.solve_ivp(predators, (0, 1), Y0, method, t_eval=T, args=(p,), **TIGHT).y.T
    value, slopes = wg.value_and_jacobian(f)(P)
    assert np.array_equal(value, f(P)), "the values are SciPy's own"
    np.testing.assert_allclose(slopes, REFERENCE(P), rtol=1e-5, atol=1e-6)


def test_its_own_times_and_a_span_that_is_differentiated():
    f = lambda end: si.solve_ivp(lambda t, y: -0.5 * y, (0, end), [2.0], **TIGHT).y[0, -1]
    assert wg.grad(f)(1.4) == pytest.approx(-np.exp(-0.7), rel=1e-7)
    assert wg.grad(wg.grad(f))(1.4) == pytest.approx(0.5 * np.exp(-0.7), rel=1e-6)


def test_dense_output():
    f = lambda k, t: si.solve_ivp(lambda t, y: -k * y, (0, 2), [2.0], dense_output=True, **TIGHT).sol(t)[0]
    assert wg.grad(f)(0.5, 1.1) == pytest.approx(-2.2 * np.exp(-0.55), rel=1e-7)
    np.testing.assert_allclose(
        wg.grad(lambda p: f(p[0], p[1]))(np.array([0.5, 1.1])), -np.exp(-0.55) * np.array([2.2, 1.0]), rtol=1e-7
    )
    t = np.array([1.5, 0.5])
    np.testing.assert_allclose(wg.jacobian(f)(0.5, t), -2 * t * np.exp(-0.5 * t), rtol=1e-7)


def test_events():
    """A ball that is thrown: the time and the speed of the impact in closed form."""

    def ground(t, y, g):
        return y[0]

    ground.terminal, ground.direction = True, -1

    def fall(q):
        return si.solve_ivp(lambda t, y, g: [y[1], -g], (0, 10), [q[1], q[2]], events=ground, args=(q[0],), **TIGHT)

    time = lambda q: (q[2] + np.sqrt(q[2] ** 2 + 2 * q[0] * q[1])) / q[0]
    speed = lambda q: -np.sqrt(q[2] ** 2 + 2 * q[0] * q[1])
    q = np.array([9.81, 2.0, 3.0])
    np.testing.assert_allclose(wg.grad(lambda q: fall(q).t_events[0][0])(q), wg.grad(time)(q), rtol=1e-8)
    np.testing.assert_allclose(wg.hessian(lambda q: fall(q).t_events[0][0])(q), wg.hessian(time)(q), rtol=1e-7)
    np.testing.assert_allclose(wg.grad(lambda q: fall(q).y_events[0][0][1])(q), wg.grad(speed)(q), rtol=1e-8)
    np.testing.assert_allclose(wg.grad(lambda q: fall(q).y[1, -1])(q), wg.grad(speed)(q), rtol=1e-8)
    own = lambda q: wg.odeint(
        lambda t, y, g: np.array([y[1], -g]), np.array([q[1], q[2]]), np.array([0.0, 10.0]), q[0], events=ground
    ).t_events[0][0]
    np.testing.assert_allclose(wg.grad(own)(q), wg.grad(time)(q), rtol=1e-8)


def test_the_last_state_is_that_of_the_event_that_ended_it_wherever_it_stands_in_the_list():
    def ground(t, y, g):
        return y[0]

    ground.terminal = True

    def just_above(t, y, g):  # after the last step but one, and in the list after the one that ends it
        return y[0] - 1e-3

    def top(t, y, g):
        return y[1]

    def end(q, *events):
        f = lambda t, y, g: [y[1], -g]
        return si.solve_ivp(f, (0, 10), [q[1], q[2]], events=list(events), args=(q[0],), **TIGHT)

    q = np.array([9.81, 2.0, 0.5])
    speed = lambda q: -np.sqrt(q[2] ** 2 + 2 * q[0] * q[1])
    for events in ((ground, just_above), (ground, top), (top, ground)):
        np.testing.assert_allclose(wg.grad(lambda q: end(q, *events).y[1, -1])(q), wg.grad(speed)(q), rtol=1e-8)  # noqa: B023
    time = wg.grad(lambda q: (q[2] - speed(q)) / q[0])(q)
    np.testing.assert_allclose(wg.grad(lambda q: end(q, ground, top).t[-1])(q), time, rtol=1e-8)
    shapes = wg.value_and_grad(lambda q: (q[0], end(q, ground, lambda t, y, g: 1.0).y_events[1].shape), has_aux=True)(q)
    assert shapes[0][1] == end(q, ground, lambda t, y, g: 1.0).y_events[1].shape


def test_odeint():
    f = lambda p: si.odeint(lambda y, t: predators(t, y, p), Y0, T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(wg.jacobian(f)(P), REFERENCE(P), rtol=1e-5, atol=1e-6)


def test_a_batch():
    f = lambda a: si.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], t_eval=[1.0], **TIGHT).y[0, 0]
    a = np.array([1.0, 2.0])
    np.testing.assert_allclose(wg.vmap(f)(a), np.exp(-a), rtol=1e-7)
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(a), -np.exp(-a), rtol=1e-7)


def test_under_jit_at_given_times():
    """The native integrator, within the tolerances of SciPy's, with the derivatives of the eager function."""
    f = lambda p: si.solve_ivp(predators, (0, 2), Y0, t_eval=[0.5, 2.0], args=(p,), **TIGHT).y
    np.testing.assert_allclose(wg.jit(f)(P), f(P), rtol=1e-6)
    decay = lambda a: si.solve_ivp(lambda t, y: [-a * y[0]], (0, 1), [1.0], t_eval=[0.0, 1.0], **TIGHT).y[0, -1]
    a = np.array([1.0, 2.0])
    np.testing.assert_allclose(wg.jit(wg.vmap(decay))(a), np.exp(-a), rtol=1e-7)
    np.testing.assert_allclose(wg.grad(wg.jit(decay))(2.0), -np.exp(-2.0), rtol=1e-7)
    np.testing.assert_allclose(wg.jit(wg.grad(decay))(2.0), -np.exp(-2.0), rtol=1e-7)
    old = lambda a: si.odeint(lambda y, t: -a * y, [1.0], [0.0, 1.0])[-1, 0]
    np.testing.assert_allclose(wg.jit(old)(2.0), np.exp(-2.0), rtol=1e-6)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_under_jit_at_its_own_times(method):
    """As many steps as SciPy takes, and the same ones: backwards, with a largest step, a first one, none at all.

    DOP853's estimate of the error of a step is what is left of numbers that nearly cancel: SciPy's own steps move by
    4e-9 if the start moves by one unit in the last place.
    """
    rtol = 1e-7 if method == "DOP853" else 1e-9

    def found(a, end, **options):
        result = si.solve_ivp(lambda t, y: [a * y[1], -y[0] * t], (1.0, end), [1.0, a], method, **options)
        return result.t, result.y, len(result.t), result.y[:, -1]

    for end, options in ((4.0, {"max_step": 0.3, "first_step": 0.01}), (-2.0, {}), (1.0, {})):
        f = lambda a: found(a, end, **options)  # noqa: B023
        for compiled, own in zip(wg.jit(f)(1.3), f(1.3), strict=True):
            np.testing.assert_allclose(compiled, own, rtol=rtol, atol=1e-12)


def test_derivatives_under_jit_at_its_own_times():
    decay = lambda a: si.solve_ivp(lambda t, y: [-a * y[0]], (0, a), [1.0], **TIGHT).y[0, -1]
    a = np.array([0.5, 2.0])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(decay)))(a), -2 * a * np.exp(-(a**2)), rtol=1e-6)
    np.testing.assert_allclose(wg.grad(wg.jit(decay))(2.0), -4 * np.exp(-4.0), rtol=1e-6)
    with pytest.raises(ConvergenceError, match="too small"):
        wg.jit(lambda a: si.solve_ivp(lambda t, y: [a * y[0] ** 2], (0, 2), [1.0]).y[0, -1])(1.0)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_steps_of_implicit_methods_under_jit_are_those_of_scipy(method):
    def steps(a):
        found = si.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), [1.0], method, rtol=1e-8, atol=1e-10)
        return found.t, found.y

    for compiled, own in zip(wg.jit(steps)(1.3), steps(1.3), strict=True):
        np.testing.assert_allclose(compiled, own, rtol=1e-14)
    last = lambda a: steps(a)[1][0, -1]
    for gradient in (wg.jit(wg.grad(last)), wg.grad(wg.jit(last))):
        np.testing.assert_allclose(gradient(2.0), -np.exp(-2.0), rtol=1e-6)


def test_the_end_of_an_implicit_method_under_jit_has_a_derivative():
    def at(end):
        found = si.solve_ivp(lambda t, y: -2 * y, (0.0, end), [1.0], "Radau", rtol=1e-9, atol=1e-11)
        return found.y[0, -1] + found.t[-1]

    np.testing.assert_allclose(wg.jit(wg.grad(at))(1.0), 1 - 2 * np.exp(-2.0), rtol=1e-7)
    blows_up = lambda a: si.solve_ivp(lambda t, y: a * y**2, (0, 2), [1.0], "BDF").y[0, -1]
    with pytest.raises(ConvergenceError, match="step size"):
        wg.jit(blows_up)(1.0)


def test_what_is_refused_under_jit():
    with pytest.raises(UnsupportedFunctionError, match="t_eval"):
        wg.jit(lambda p: si.solve_ivp(predators, (0, 2), Y0, "BDF", args=(p,), dense_output=True).y)(P)
    with pytest.raises(ValueError, match="`first_step` exceeds bounds"):
        wg.jit(lambda p: si.solve_ivp(predators, (0, 2), Y0, args=(p,), first_step=3.0).y)(P)
    with pytest.raises(ValueError, match="not within `t_span`"):
        wg.jit(lambda p: si.solve_ivp(predators, (0, 2), Y0, args=(p,), t_eval=[3.0]).y)(P)


@pytest.mark.parametrize("derive", [wg.grad, lambda f: wg.jit(wg.grad(f))], ids=["eager", "jit"])
@pytest.mark.parametrize("solver", ["solve_ivp", "odeint"])
def test_the_longest_step_is_that_of_derivatives_too(solver, derive):
    """The answer is the dose a, in a pulse so short that only steps with a limit see it."""
    slope = lambda t, y, a: np.where((t > 2.4) & (t < 2.6), a / 0.2, 0.0) * np.ones(1)

    def dose(a):
        if solver == "odeint":
            return si.odeint(slope, [0.0], [0.0, 4.0], args=(a,), tfirst=True, hmax=0.1)[-1, 0]
        return si.solve_ivp(slope, (0, 4), [0.0], args=(a,), max_step=0.1, t_eval=[4.0], rtol=1e-4).y[0, -1]

    np.testing.assert_allclose(derive(dose)(2.0), 1.0, rtol=1e-2)


def test_a_solution_that_is_not_scipys_is_warned_of():
    """Lorenz' equations forget where they began, whatever the tolerance, so that two solutions are two."""
    slope = lambda t, y, r: [10 * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]
    end = lambda r: si.solve_ivp(slope, (0, 20), [1.0, 1.0, 1.0], args=(r,), method="LSODA", t_eval=[20.0]).y[0, -1]
    with pytest.warns(RuntimeWarning, match="chaotic"):
        wg.grad(end)(28.0)


def oscillation(w, end=6.0, begin=0.0, calls=None):
    """Zeros of the cosine, and where the velocity is zero."""

    def slope(t, y):
        if calls is not None:
            calls.append(1)
        return [y[1], -w * w * y[0]]

    events = [lambda t, y: y[0], lambda t, y: y[1]]
    return si.solve_ivp(
        slope, (begin, end), [np.cos(w * begin), -w * np.sin(w * begin)], events=events, rtol=1e-7, atol=1e-9
    )


def test_the_times_of_many_events_cost_a_few_integrations():
    without, calls = [], []
    wg.grad(lambda w: oscillation(w, calls=without).y[0, -1])(1.4)
    few = len(without)
    wanted = -np.sum((np.arange(7) + 0.5) * np.pi) / 1.4**2
    assert wg.grad(lambda w: np.sum(oscillation(w, 16.0, calls=calls).t_events[0]))(1.4) == pytest.approx(
        wanted, rel=1e-5
    )
    assert len(calls) < 4 * few * 16 / 6


def test_higher_derivatives_of_events():
    """t = π / 2w, and y(t) does not depend on w."""
    time = lambda w: oscillation(w, 2.0).t_events[0][0]
    np.testing.assert_allclose(wg.grad(wg.grad(wg.grad(time)))(1.4), -3 * np.pi / 1.4**4, rtol=1e-4)
    state = lambda w: oscillation(w, 2.0).y_events[0][0]
    np.testing.assert_allclose(wg.jacfwd(wg.jacfwd(state))(1.4), [0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(wg.jacrev(state)(1.4), [0.0, -1.0], atol=1e-5)


def test_events_of_solutions_that_run_backwards():
    found = lambda w: oscillation(w, 0.5, 6.0)
    assert np.all(np.diff(found(1.4).t_events[0]) < 0)
    for k in range(2):
        np.testing.assert_allclose(
            wg.jacfwd(lambda w, k=k: found(w).t_events[k])(1.4), -found(1.4).t_events[k] / 1.4, rtol=1e-5
        )
