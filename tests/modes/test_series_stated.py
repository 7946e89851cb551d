"""Rules of series that rows state beside their derivative, and what coefficients cost."""

from __future__ import annotations

import math
import time

import mpmath as mp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import wengert as wg
from wengert.ops.op import TABLE, call

A = np.array([[0.1, 0.3], [0.2, -0.4]])
B = np.array([[1.0, 2.0], [0.5, -1.0]])
STATED = sorted(name for name, op in TABLE.items() if op.expansion is not None or op.series is not None)
CALLS = {
    "power": lambda t: [1.3 + t, 2.5 - t * t],
    "hypot": lambda t: [1.3 + t, 2.5 - t * t],
    "expm": lambda t: [t * A + t * t * B],
    "gamma_density": lambda t: [2.5, 0.7 + t * t],
    "beta_density": lambda t: [2.5, 3.0, 0.3 + t * t],
}


@pytest.mark.parametrize("name", STATED)
def test_what_is_stated_is_what_the_derivative_gives(name, monkeypatch):
    op = TABLE[name]
    curve = CALLS.get(name, lambda t: [0.7 + np.sin(t)])
    f = lambda t: call(op, *curve(t))
    stated = wg.taylor(f, 0.3, 5)
    monkeypatch.setattr(op, "expansion", None)
    monkeypatch.setattr(op, "series", None)
    for a, b in zip(stated, wg.taylor(f, 0.3, 5), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("t", [0.0, 0.3, -20.0])
def test_matrix_exponentials_to_order_40(t):
    """exp((t + s) A) = Σ Aᵏ exp(t A) / k! · sᵏ, with 50 digits."""
    found = wg.taylor(lambda s: scipy.linalg.expm(s * A), t, 40)
    with mp.workdps(50):
        power = mp.expm(mp.matrix(A.tolist()) * mp.mpf(t))
        for k, y in enumerate(found):
            want = np.array((power / mp.factorial(k)).tolist(), float)
            np.testing.assert_allclose(y, want, rtol=0, atol=1e-13 * np.abs(want).max(), err_msg=f"order {k}")
            power = power * mp.matrix(A.tolist())


def test_matrix_exponentials_nested_and_compiled():
    f = lambda t, c: scipy.linalg.expm(np.stack([t * c * A, t * t * B]))
    coefficient = lambda c: wg.taylor(lambda t: f(t, c), 0.4, 3)[3]

    def third(c):
        g = lambda t: f(t, c)
        for _ in range(3):
            g = lambda t, g=g: wg.jvp(g, (t,), (1.0,))[1]
        return g(0.4) / 6

    np.testing.assert_allclose(coefficient(0.7), third(0.7), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(coefficient)(0.7), third(0.7), rtol=1e-12)
    want = wg.grad(lambda c: np.sum(third(c)))(0.7)
    np.testing.assert_allclose(wg.grad(lambda c: np.sum(coefficient(c)))(0.7), want, rtol=1e-11)
    np.testing.assert_allclose(wg.vmap(coefficient)(np.array([0.7, 0.9]))[0], third(0.7), rtol=1e-12)


GROWING = {
    "elementary": lambda t: np.exp(np.sin(t)) / (1 + t * t),
    "powers": lambda t: (1 + t) ** (2 + t),
    "exponential of a matrix": lambda t: scipy.linalg.expm(t * A)[0, 1],
    "linear system": lambda t: np.linalg.solve(np.eye(2) + t * A, np.array([1.0, t]))[0],
    "eigenvalues": lambda t: np.linalg.eigvalsh(np.diag([1.0, 2.0]) + t * (A + A.T))[0],
    "integral": lambda t: scipy.integrate.quad(lambda s: np.exp(s * t), 0.0, t)[0],
    "error function": lambda t: math.erf(t) * math.lgamma(1 + t),
}


@pytest.mark.parametrize("name", GROWING)
def test_costs_grow_with_the_square_of_the_order(name):
    """Twice the order takes four times as long; 2ⁿ would be 256 times. There is room for a busy machine."""
    f = GROWING[name]

    def seconds(order):
        times = []
        for _ in range(1 if name == "integral" else 3):
            start = time.process_time()
            wg.taylor(f, 0.3, order)
            times.append(time.process_time() - start)
        return min(times)

    seconds(2)
    assert seconds(16) < 40 * (seconds(8) + 0.002)
