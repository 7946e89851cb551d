"""Loops that keep the state of an iteration and compute what derivatives need from it."""

import numpy as np
import pytest

import wengert as wg

U = np.sin(np.arange(9 * 11.0)).reshape(9, 11)
V = np.cos(np.arange(9 * 11.0)).reshape(9, 11)


def limited(a, b):
    return np.where(np.real(a * b) > 0, 2 * a * b / (a + b + 3.0), 0.0)


def step(u):
    dx, dy = u[1:] - u[:-1], u[:, 1:] - u[:, :-1]
    fx, fy = limited(dx[1:, 1:-1], dx[:-1, 1:-1]), limited(dy[1:-1, 1:], dy[1:-1, :-1])
    new = u.copy()
    new[1:-1, 1:-1] += 0.1 * (fx * fy + fx / (2 + fy * fy))
    return new


def one_state(u, v):
    for _ in range(6):
        u = step(u)
    return np.sum(u * v)


def two_states_that_change_places(u, v):
    for _ in range(6):
        u, v = step(v) * 0.5, u + v / (3 + u * u)
    return np.sum(u * v)


def written_to_in_between(u, v):
    for k in range(6):
        a = u[1:] / (2 + u[:-1] ** 2)
        u[2, :] = v[k % 3]
        b = u[:-1] * a / (3 + a * u[1:])
        u[1:] = b * a + u[1:] / (4 + b * b)
        v[k] = u[0]
    return np.sum(u * v)


def inside_another(u, v):
    for _ in range(3):
        w = u * 1.0
        for _ in range(5):
            w = step(w) * v
        u = u + w / (5 + w * w)
    return np.sum(u)


def while_(u, v):
    n = 0
    while np.real(np.sum(u)) < 50 and n < 7:
        u = step(u) + 0.2 + u * v / (4 + v * v)
        n += 1
    return np.sum(u * v)


def branches(u, v):
    for k in range(6):
        if k % 2 == 0 or u[0, 0] < -0.4:
            u = step(u)
        else:
            u, v = v / (2 + u * u), step(v) * u
    return np.sum(u * v)


@pytest.mark.parametrize(
    "f", [one_state, two_states_that_change_places, written_to_in_between, inside_another, while_, branches]
)
def test_gradients(f):
    def g(u, v):
        return f(u * 1.0, v * 1.0)

    gradients = wg.jit(wg.grad(g, (0, 1)))(U, V)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, *U.shape))
    if f is branches:
        expected = (g(U + 1e-6 * a, V + 1e-6 * b) - g(U - 1e-6 * a, V - 1e-6 * b)) / 2e-6
    else:
        expected = np.imag(g(U + 1e-30j * a, V + 1e-30j * b)) / 1e-30
    tolerance = 1e-5 if f is branches else 1e-10
    np.testing.assert_allclose(np.sum(gradients[0] * a) + np.sum(gradients[1] * b), expected, rtol=tolerance)


def test_the_state_is_all_that_is_kept():
    text = wg.jit(wg.grad(one_state)).lower(U, V).ir
    (kept,) = [line for line in text.splitlines() if "yield" in line]
    assert "," not in kept
