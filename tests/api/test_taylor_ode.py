"""Series of solutions of differential equations, and the integrator: closed forms, derivatives, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError


def agree(got, want, rtol=1e-12):
    np.testing.assert_allclose(np.array(got, float), want, rtol=rtol, atol=rtol)


def test_known_solutions():
    n = 15
    agree(wg.taylor_ode(lambda t, y: y, 1.0, n), [1 / math.factorial(k) for k in range(n + 1)])
    agree(wg.taylor_ode(lambda t, y: y * y, 1.0, n), np.ones(n + 1))  # 1/(1 − t)
    agree(wg.taylor_ode(lambda t, y: 1 + y * y, 0.0, n), wg.taylor(np.tan, 0.0, n))
    agree(wg.taylor_ode(lambda t, y: 2 * t * y, 1.0, n, t0=0.5), wg.taylor(lambda t: np.exp(t * t - 0.25), 0.5, n))
    agree(wg.taylor_ode(lambda t, y, a: a * y, 1.0, n, args=(2.0,)), wg.taylor(lambda t: np.exp(2 * t), 0.0, n))
    agree(wg.taylor_ode(lambda t, y: 3.0, 1, 3), [1, 3, 0, 0])
    agree(wg.taylor_ode(lambda t, y: np.cos(t), 0.0, n), wg.taylor(np.sin, 0.0, n))
    lambert = [0.0, *[(-k) ** (k - 1) / math.factorial(k) for k in range(1, n + 1)]]  # y·exp(y) = t
    agree(wg.taylor_ode(lambda t, y: np.exp(-y) / (1 + y), 0.0, n), lambert)
    airy = [1.0, 0.0, 0.0]
    for k in range(3, n + 1):
        airy.append(airy[k - 3] / (k * (k - 1)))
    agree([y[0] for y in wg.taylor_ode(lambda t, y: np.stack([y[1], t * y[0]]), np.array([1.0, 0.0]), n)], airy)


def test_components():
    want = np.stack([wg.taylor(np.sin, 0.0, 9), wg.taylor(np.cos, 0.0, 9)], axis=1)
    for f in (
        lambda t, y: np.array([y[1], -y[0]]),
        lambda t, y: [y[1], -y[0]],
        lambda t, y: np.array([[0.0, 1.0], [-1.0, 0.0]]) @ y,
        wg.jit(lambda t, y: np.stack([y[1], -y[0]])),
    ):
        agree(wg.taylor_ode(f, np.array([0.0, 1.0]), 9), want)
    got = wg.taylor_ode(lambda t, p: {"x": p["v"], "v": -p["x"]}, {"x": 0.0, "v": 1.0}, 9)
    agree([[p["x"], p["v"]] for p in got], want)


def loops(t, y):
    """Writes, branches and loops in a right-hand side."""
    out = np.zeros(3)
    for i in range(3):
        out[i] = y[i - 1] * np.sin(y[i]) if y[i] > 0.2 else y[i] ** 2 + t
    out[0] /= 1 + out[1] ** 2
    return out


def test_placements():
    y0 = np.array([0.1, 0.5, 0.9])
    want = np.array(wg.taylor_ode(loops, y0, 6))
    h = 1e-2
    reference = solve_ivp(loops, (0, h), y0, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    agree(want.T @ h ** np.arange(7), reference, 1e-11)
    agree(wg.taylor_ode(wg.jit(loops), y0, 6), want)
    agree(wg.jit(lambda y: wg.taylor_ode(loops, y, 6))(y0), want)
    agree(np.array(wg.vmap(lambda y: wg.taylor_ode(loops, y, 6))(np.stack([y0, y0 + 0.01])))[:, 0], want)
    last = lambda y: np.sum(wg.taylor_ode(loops, y, 6)[5])
    v = np.array([1.0, -2.0, 0.5])
    agree(wg.grad(last)(y0) @ v, (last(y0 + 1e-6 * v) - last(y0 - 1e-6 * v)) / 2e-6, 1e-8)
    agree(wg.jvp(last, (y0,), (v,))[1], wg.grad(last)(y0) @ v)


def test_long_right_hand_sides():
    def f(t, y):
        for _ in range(3000):
            y = y * 0.999
        return y

    assert wg.taylor_ode(f, 1.0, 2)[1] == pytest.approx(0.999**3000)


def test_a_result_that_is_written_to_is_not_met_again():
    def f(t, y):
        a = np.sin(y)
        a[0] = 5.0
        return np.sin(y) + a

    got = wg.taylor_ode(f, np.array([0.3, 0.4]), 3)
    agree(got[1], [np.sin(0.3) + 5, 2 * np.sin(0.4)])


def test_integration():
    t = np.linspace(0, 10, 7)
    agree(
        wg.integrate_taylor(lambda t, y: [y[1], -y[0]], np.array([0.0, 1.0]), t),
        np.stack([np.sin(t), np.cos(t)], 1),
        1e-11,
    )
    agree(wg.integrate_taylor(lambda t, y: -2 * t * y, 1.0, -t[:4]), np.exp(-(t[:4] ** 2)), 1e-11)
    agree(wg.integrate_taylor(lambda t, y: y * 0, 3.0, t), np.full(7, 3.0))
    agree(wg.integrate_taylor(lambda t, y: 1.0, 3.0, [0.0, 0.0, 4.0]), [3, 3, 7])
    for rtol in (1e-4, 1e-8):
        y = wg.integrate_taylor(lambda t, y: y, 1.0, [0.0, 1.0], rtol=rtol, atol=rtol)
        assert abs(y[1] - math.e) < 10 * rtol
    y = wg.integrate_taylor(lambda t, y: y, 1.0, [0.0, 1.0], order=8)
    assert abs(y[1] - math.e) < 1e-10


def test_integration_of_containers():
    """An oscillator whose place and speed have names; compiled, and differentiated."""

    def rates(t, y, w):
        return {"place": y["speed"], "speed": -(w**2) * y["place"]}

    def integrated(x, w):
        start = {"place": np.array([x, 2 * x]), "speed": np.zeros(2)}
        return wg.integrate_taylor(rates, start, times, args=(w,))

    times = np.array([0.0, 0.7, 2.0])
    for found in (integrated(1.0, 3.0), wg.jit(integrated)(1.0, 3.0)):
        np.testing.assert_allclose(found["place"], np.outer(np.cos(3 * times), [1.0, 2.0]), atol=1e-11)
        np.testing.assert_allclose(found["speed"], np.outer(-3 * np.sin(3 * times), [1.0, 2.0]), atol=1e-11)
    slope = wg.grad(lambda w: integrated(1.0, w)["place"][2, 1])(3.0)
    np.testing.assert_allclose(slope, -4 * np.sin(6.0), rtol=1e-10)
    with pytest.raises(MismatchError, match="no numbers"):
        wg.integrate_taylor(lambda t, y: y, {}, times)


def test_energy_of_a_kepler_orbit():
    def kepler(t, y):
        r = np.sqrt(y[0] ** 2 + y[1] ** 2)
        return np.array([y[2], y[3], -y[0] / r**3, -y[1] / r**3])

    e = 0.6
    y0 = np.array([1 - e, 0, 0, math.sqrt((1 + e) / (1 - e))])
    y = wg.integrate_taylor(kepler, y0, [0.0, 2 * math.pi])
    agree(y[-1], y0, 1e-10)


def test_derivatives_of_the_solution():
    solve = lambda y0, a: wg.integrate_taylor(lambda t, y, a: a * y, y0, [0.0, 1.0], args=(a,))[1]
    assert wg.grad(solve)(2.0, 0.5) == pytest.approx(math.exp(0.5), rel=1e-12)
    assert wg.grad(solve, argnums=1)(2.0, 0.5) == pytest.approx(2 * math.exp(0.5), rel=1e-12)


def test_a_compiled_integration_is_a_loop():
    """cos(ωt), whose derivatives are known: in y₀, ω, and the times, of which only the first and the last count."""
    t, w, span = np.linspace(0, 5, 4), 1.5, 5.0

    def last(y0, w, t):
        return wg.integrate_taylor(lambda t, y, w: np.array([y[1], -(w**2) * y[0]]), y0, t, args=(w,))[-1, 0]

    c, s = math.cos(w * span), math.sin(w * span)
    want = [np.array([c, s / w]), -span * s, w * s * np.array([1.0, 0.0, 0.0, -1.0])]
    for operator in (wg.grad(last, argnums=(0, 1, 2)), wg.jit(wg.grad(last, argnums=(0, 1, 2)))):
        for got, expected in zip(operator(np.array([1.0, 0.0]), w, t), want, strict=True):
            agree(got, expected, 1e-9)
    with pytest.raises(ConvergenceError, match="no step"):
        wg.jit(lambda y: wg.integrate_taylor(lambda t, y: y * y, y, t))(1.0)
    assert wg.integrate_taylor(lambda t, y: -y, np.float32(1), t).dtype == np.float32


def test_refusals():
    with pytest.raises(ConvergenceError, match="no step"):
        wg.integrate_taylor(lambda t, y: y * y, 1.0, [0.0, 2.0])
    with pytest.raises(MismatchError, match="increase or decrease"):
        wg.integrate_taylor(lambda t, y: y, 1.0, [0.0, 2.0, 1.0])
    with pytest.raises(MismatchError, match="shape"):
        wg.taylor_ode(lambda t, y: np.sum(y), np.ones(2), 3)
    with pytest.raises(MismatchError, match="containers"):
        wg.taylor_ode(lambda t, y: (y, y), 1.0, 3)


def test_kinks_and_jumps_ahead_of_a_step_are_noticed():
    """A series at zero knows nothing of what comes at 0.3."""
    for f, expected in [
        (lambda t, y: np.abs(t - 0.3), 0.045 + 0.245),
        (lambda t, y: np.where(t < 0.3, 0.0, 1.0), 0.7),
        (lambda t, y: 1.0 if y < 0.3 else 2.0, 0.3 + 2 * 0.7),
    ]:
        for run in (
            lambda f: wg.integrate_taylor(f, 0.0, [0.0, 1.0]),
            lambda f: wg.jit(lambda y: wg.integrate_taylor(f, y, [0.0, 1.0]))(0.0),
        ):
            assert abs(run(f)[1] - expected) < 1e-9


def test_a_complex_right_hand_side_of_a_real_value_is_refused():
    with pytest.raises(MismatchError, match="complex"):
        wg.taylor_ode(lambda t, y: 1j * y, 1.0, 3)
