"""Second derivatives where a first one happens to be zero: a product is linear in its cotangent there too."""

import numpy as np
import pytest

import wengert as wg

INDICES = np.array([0, 2, 1])
READ = {
    "where": lambda y: np.where(np.arange(3) < 2, y, 0.0),
    "where, by value": lambda y: np.where(y > -1, y, 7.0),
    "gather": lambda y: y[INDICES],
    "take": lambda y: np.take(y, INDICES),
    "mask": lambda y: y[np.array([True, False, True])],
    "select": lambda y: np.select([y < -1, y >= -1], [0 * y, y]),
    "clip": lambda y: np.clip(y, -5, 5),
    "sort": np.sort,
    "nan_to_num": np.nan_to_num,
}


@pytest.mark.parametrize("name", READ)
def test_hessian_at_a_perfect_fit(name):
    """Σ read(eˣ − 1)² at x = 0, where the residuals and all first derivatives are zero. H = 2 Jᵀ J."""
    residuals = lambda x: READ[name](np.exp(x) - 1)
    loss = lambda x: np.sum(residuals(x) ** 2)
    x = np.zeros(3)
    J = wg.jacfwd(residuals)(x)
    for hessian in (
        wg.hessian(loss),
        wg.jacrev(wg.grad(loss)),
        wg.jacfwd(wg.grad(loss)),
        wg.jit(wg.hessian(loss)),
        wg.hessian(wg.jit(loss)),
        wg.jit(wg.jacrev(wg.grad(loss))),
        wg.jacrev(wg.jit(wg.grad(loss))),
    ):
        np.testing.assert_allclose(hessian(x), 2 * J.T @ J, atol=1e-14)
    v = np.array([1.0, 2.0, -1.0])
    for mode in ("forward-reverse", "reverse-reverse"):
        np.testing.assert_allclose(wg.hvp(loss, mode=mode)(x, v), 2 * J.T @ (J @ v), atol=1e-14)


@pytest.mark.parametrize("name", READ)
def test_mixed_derivative_with_respect_to_a_weight_that_is_zero(name):
    f = lambda w, x: np.sum(w * READ[name](3 * np.exp(x)))
    x = np.array([0.1, 0.2, 0.3])
    wanted = wg.jacfwd(lambda x: READ[name](3 * np.exp(x)))(x)
    for g in (wg.jacrev(wg.grad(f, 1)), wg.jacfwd(wg.grad(f, 1)), wg.jit(wg.jacrev(wg.grad(f, 1)))):
        np.testing.assert_allclose(g(np.zeros(len(wanted)), x), wanted.T, atol=1e-14)


def test_third_derivatives_at_a_perfect_fit():
    """(eˣ − 1)² = x² + x³ + …"""
    f = lambda x: np.sum(np.where(x > -1, (np.exp(x) - 1) ** 2, 0.0))
    third = wg.grad(lambda x: np.sum(wg.hessian(f)(x)))
    for g in (third, wg.jit(third)):
        np.testing.assert_allclose(g(np.zeros(2)), [6.0, 6.0], atol=1e-13)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_branch_that_was_not_selected_still_does_not_spoil_the_other():
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 0.0)), x * x))
    x = np.array([0.0, 4.0])
    for g in (wg.grad(f), wg.jit(wg.grad(f))):
        np.testing.assert_allclose(g(x), [0.0, 0.25])
    for h in (wg.hessian(f), wg.jit(wg.hessian(f))):
        np.testing.assert_allclose(h(x), np.diag([2.0, -1 / 32]))
