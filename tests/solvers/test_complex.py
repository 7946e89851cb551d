"""Complex numbers: parameters, and states of `solve_ivp`, are differentiated; other unknowns are refused, never cut."""

import numpy as np
import pytest
import scipy.optimize as so
from scipy import integrate

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


def oscillation(a, events=None):
    """y = (1 + 2i) exp((ia − 0.2) t), and its conjugate."""
    slope = lambda t, y: np.array([1j * a - 0.2, -1j * a - 0.2]) * y
    start = [1 + 2j, 1 - 2j]
    return integrate.solve_ivp(slope, (0, 1.5), start, events=events, dense_output=True, rtol=1e-10, atol=1e-12)


def test_states_of_solve_ivp():
    closed = lambda a, t: (1 + 2j) * np.exp((1j * a - 0.2) * t)
    for found, at in ((lambda s: s.y[0, -1], 1.5), (lambda s: s.sol(0.7)[0], 0.7)):
        for part in (np.real, np.imag, np.abs):
            f = lambda a, found=found, part=part: part(found(oscillation(a)))
            expected = wg.value_and_grad(lambda a, at=at, part=part: part(closed(a, at)))(1.3)
            np.testing.assert_allclose(wg.value_and_grad(f)(1.3), expected, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(wg.value_and_grad(f)(1.3)[0], f(1.3), rtol=1e-14)
    f = lambda a: oscillation(a).y[0, -1].real
    second = wg.grad(wg.grad(lambda a: closed(a, 1.5).real))(1.3)
    np.testing.assert_allclose(wg.grad(wg.grad(f))(1.3), second, rtol=1e-7)
    np.testing.assert_allclose(wg.vmap(f)(np.array([1.3, 1.4])), [f(1.3), f(1.4)], rtol=1e-12)


def test_events_of_complex_states():
    """The real part is zero where the angle arctan 2 + a t is π / 2."""
    first = lambda a: oscillation(a, lambda t, y: y[0].real).t_events[0][0]
    value, slope = wg.value_and_grad(first)(1.3)
    assert value == pytest.approx((np.pi / 2 - np.arctan(2)) / 1.3, rel=1e-8)
    assert slope == pytest.approx(-(np.pi / 2 - np.arctan(2)) / 1.3**2, rel=1e-7)
