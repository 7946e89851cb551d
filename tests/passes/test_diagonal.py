"""Products with diagonal matrices: no product is left, and infinite numbers spread as they did."""

import numpy as np
import pytest
from ir_comparing import number_of

import wengert as wg

N = 20
rng = np.random.default_rng(0)
K, v, w = rng.normal(size=(N, 7)), rng.normal(size=N), rng.normal(size=N)


def conditions(f, *args) -> int:
    return number_of("cond", f, *args)


def scaled(K, v, w):
    """Rows and columns of the identity, and sums of such, times a matrix, from both sides."""
    unit = np.eye(N)
    return (
        (v[:, None] * unit) @ K, (unit * w) @ K, (-(unit * v) / w + unit * 2.0) @ K, unit @ K, K.T @ (unit * v),
        K.T @ (v[:, None] * unit - unit), (unit * v) @ (w * unit),
    )  # fmt: skip


def test_values():
    assert conditions(scaled, K, v, w) == 7
    for got, wanted in zip(wg.jit(scaled)(K, v, w), scaled(K, v, w), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("where", ["K", "v", "w"])
def test_numbers_that_are_not_finite_spread(bad, where):
    values = {"K": K.copy(), "v": v.copy(), "w": w.copy()}
    values[where][3] = bad
    if where == "w":
        values["w"][5] = 0.0  # a divisor
    with np.errstate(all="ignore"):
        wanted = scaled(**values)
    for got, exact in zip(wg.jit(scaled)(**values), wanted, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))


def test_other_matrices_stay():
    dense = rng.normal(size=(N, N))

    def f(K, dense):
        return dense @ K, (np.eye(N) + dense) @ K, np.eye(N, k=1) @ K, (np.eye(N) * dense).T @ K

    for got, wanted in zip(wg.jit(f)(K, dense), f(K, dense), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15)

    def small(K):
        return np.eye(7) @ K[:7]

    assert conditions(lambda K: np.eye(N, k=1) @ K, K) == 0
    assert conditions(small, K) == 0


def network(x, A, B):
    return np.tanh(B @ np.exp(-((A @ x) ** 2))) * np.sum(x)


@pytest.mark.parametrize(
    "operator", [wg.jacfwd, wg.jacrev, wg.jacobian, lambda f: wg.hessian(lambda *a: np.sum(f(*a)))]
)
def test_jacobians(operator):
    A, B, x = rng.normal(size=(N, N)), rng.normal(size=(N + 3, N)), rng.normal(size=N)
    found, wanted = wg.jit(operator(network))(x, A, B), operator(network)(x, A, B)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_single_precision():
    def f(K, v):
        return (np.eye(N, dtype=np.float32) * v) @ K

    k, u = K.astype(np.float32), v.astype(np.float32)
    found = wg.jit(f)(k, u)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f(k, u), rtol=1e-6)
