"""Events of `wg.odeint`: SciPy's times, derivatives of closed forms, compiled and not."""

import numpy as np
import pytest
import scipy.integrate

import wengert as wg
from wengert.errors import ConvergenceError

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def _zero(t, y, *p):
    return y[0]


def _event(function, terminal=0, direction=0):
    event = lambda t, y, *p: function(t, y, *p)
    event.terminal, event.direction = terminal, direction
    return event


GROUND = _event(_zero, terminal=True, direction=-1)
TOP = _event(lambda t, y, *p: y[1])


def _thrown(g, method="RK45"):
    """A stone at height 1 with speed 2."""
    f = lambda t, y, g: np.stack([y[1], -g])
    return wg.odeint(
        f, np.array([1.0, 2.0]), np.linspace(0, 5, 11), g, events=[GROUND, TOP], method=method, rtol=1e-7, atol=1e-9
    )


def _landing(g):
    return (2 + np.sqrt(4 + 2 * g)) / g


def test_a_stone():
    found = _thrown(9.81)
    np.testing.assert_allclose(found.t_events[0], [_landing(9.81)], rtol=1e-9)
    np.testing.assert_allclose(found.t_events[1], [2 / 9.81], rtol=1e-9)
    np.testing.assert_allclose(found.y_events[1], [[1 + 2 / 9.81, 0]], atol=1e-9)
    np.testing.assert_array_equal(found.t, [0, 0.5])
    np.testing.assert_allclose(found.y[:, 1], [1 + 1 - 9.81 / 8, 2 - 9.81 / 2], rtol=1e-9)
    assert (found.status, found.success) == (1, True)
    landing = lambda g: _thrown(g).t_events[0][0]
    assert wg.grad(landing)(9.81) == pytest.approx(wg.grad(_landing)(9.81), rel=1e-8)
    assert wg.hessian(landing)(9.81) == pytest.approx(wg.hessian(_landing)(9.81), rel=1e-6)


def test_a_stone_compiled():
    def facts(g):
        found = _thrown(g)
        return found.t_events[0][0], found.y_events[0][0, 1], found.t, found.y, found.status, len(found.t_events[1])

    for a, b in zip(wg.jit(facts)(9.81), facts(9.81), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    landing = lambda g: _thrown(g).t_events[0][0]
    gs = np.array([9.0, 10.0])
    np.testing.assert_allclose(wg.jit(wg.vmap(landing))(gs), _landing(gs), rtol=1e-8)
    assert wg.jit(wg.grad(landing))(9.81) == pytest.approx(wg.grad(_landing)(9.81), rel=1e-8)


@pytest.mark.parametrize("method", ["DOP853", "Radau", "Rodas5P"])
def test_methods(method):
    landing = lambda g: _thrown(g, method).t_events[0][0]
    compiled = wg.jit if method == "Rodas5P" else lambda f: f
    value, slope = compiled(wg.value_and_jacobian(landing, mode="forward"))(9.81)
    assert value == pytest.approx(_landing(9.81), rel=1e-8)
    assert slope == pytest.approx(wg.grad(_landing)(9.81), rel=1e-7)


@pytest.mark.parametrize("end", [7.0, -7.0])
@pytest.mark.parametrize(("terminal", "direction"), [(0, 0), (0, 1), (0, -1), (2, 0), (1, 1), (True, -1)])
def test_as_scipy(end, terminal, direction):
    """An oscillator, forwards and backwards in time: which zeros count, and what is left of the solution."""
    f = lambda t, y: np.array([y[1], -4 * y[0] - 0.1 * y[1]])
    events = [_event(_zero, terminal, direction), _event(lambda t, y: y[1] - 0.1)]
    t = np.linspace(0, end, 30)
    theirs = scipy.integrate.solve_ivp(f, (0, end), [1.0, 0.3], t_eval=t, events=events, **TIGHT)
    ours = wg.odeint(f, np.array([1.0, 0.3]), t, events=events, **TIGHT)
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_allclose(ours.y, theirs.y, atol=1e-7)
    for a, b in zip(ours.t_events + ours.y_events, theirs.t_events + theirs.y_events, strict=True):
        np.testing.assert_allclose(a if a.size else a.ravel(), b, atol=1e-7)
    assert ours.status == theirs.status


def test_derivatives_with_respect_to_everything():
    """x = A cos(ω (t − s)) is zero a quarter of a period after s; what follows at a later time moves with s, too."""

    def solve(p, t):
        f = lambda t, y: np.stack([y[1], -(p[0] ** 2) * y[0]])
        return wg.odeint(f, np.stack([p[1], 0.0 * p[1]]), t, events=lambda t, y: y[0] - p[2], method="DOP853", **TIGHT)

    p, t = np.array([1.3, 2.0, 0.4]), np.array([0.2, 0.9, 2.0])
    first = lambda p, t: solve(p, t).t_events[0][0]
    exact = lambda p, t: t[0] + np.arccos(p[2] / p[1]) / p[0]
    for k in (0, 1):
        np.testing.assert_allclose(wg.grad(first, k)(p, t), wg.grad(exact, k)(p, t), rtol=1e-6, atol=1e-9)
    states = lambda p, t: solve(p, t).y[0]
    known = lambda p, t: p[1] * np.cos(p[0] * (t - t[0]))
    for k in (0, 1):
        np.testing.assert_allclose(wg.jacobian(states, k)(p, t), wg.jacobian(known, k)(p, t), rtol=1e-6, atol=1e-6)


def test_what_has_no_derivative_or_no_room():
    f = lambda t, y: np.stack([np.cos(t)])
    touched = lambda c: wg.odeint(f, np.stack([0 * c]), np.array([0.0, 3.0]), events=lambda t, y: (y[0] - c) ** 3)
    for g in (wg.grad, lambda h: wg.jit(wg.grad(h))):
        with pytest.raises(ConvergenceError, match="no derivative"):
            g(lambda c: touched(c).t_events[0][0])(0.5)
    with pytest.raises(ConvergenceError, match="more events than"):
        wg.odeint(f, np.zeros(1), np.array([0.0, 30.0]), events=_zero, maxevents=3)
    none = wg.jit(lambda c: wg.odeint(f, np.zeros(1), np.array([0.0, 1.0]), events=lambda t, y: y[0] - c).t_events[0])
    assert none(5.0).shape == (0,)
