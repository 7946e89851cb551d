"""Every scenario through every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scenarios import SCENARIOS, Scenario

import wengert as wg
from wengert.tree import flatten

EACH = pytest.mark.parametrize("s", SCENARIOS, ids=[s.name for s in SCENARIOS])
JACOBIAN_MODES = pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
HVP_MODES = pytest.mark.parametrize("mode", ["forward-reverse", "reverse-forward", "reverse-reverse"])


def assert_close(got: Any, expected: Any, rtol: float = 1e-10) -> None:
    scale = float(np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * scale)


def direction(s: Scenario, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=s.gradient.shape)


def assert_like_the_argument(container: Any, s: Scenario) -> None:
    leaves, structure = flatten(container)
    assert structure == flatten(s.x)[1]
    assert [np.shape(leaf) for leaf in leaves] == [np.shape(leaf) for leaf in s.leaves]


@EACH
def test_the_reference_agrees_with_differences(s):
    """An independent look at the answers themselves."""
    f = lambda vector: s.f(s.unravel(vector))
    np.testing.assert_allclose(s.gradient, wg.numerical.grad(f)(s.ravel(s.x)), rtol=1e-5, atol=1e-6)
    assert_close(s.hessian, s.hessian.T, 1e-8)


@EACH
def test_grad(s):
    gradient = wg.grad(s.f)(s.x)
    assert_like_the_argument(gradient, s)
    assert_close(s.ravel(gradient), s.gradient)


@EACH
def test_value_and_grad(s):
    value, gradient = wg.value_and_grad(s.f)(s.x)
    assert value == s.f(s.x)
    assert_like_the_argument(gradient, s)
    assert_close(s.ravel(gradient), s.gradient)


@EACH
def test_jvp(s):
    v = direction(s)
    y, y_dot = wg.jvp(s.f, (s.x,), (s.unravel(v),))
    assert y == s.f(s.x)
    assert_close(y_dot, s.gradient @ v)


@EACH
def test_vjp(s):
    y, pullback = wg.vjp(s.f, s.x)
    assert y == s.f(s.x)
    (gradient,) = pullback(1.0)
    assert_like_the_argument(gradient, s)
    assert_close(s.ravel(gradient), s.gradient)
    assert_close(s.ravel(pullback(-2.5)[0]), -2.5 * s.gradient)


@EACH
def test_linearize(s):
    v = direction(s)
    y, J = wg.linearize(s.f, s.x)
    assert y == s.f(s.x)
    assert J.shape == (1, len(v))
    assert_close(J @ v, [s.gradient @ v])
    assert_close(J.T @ np.ones(1), s.gradient)
    assert_close(J.dense(), s.gradient[None])
    assert_close(J.push(s.unravel(v)), s.gradient @ v)
    assert_close(s.ravel(J.pull(1.0)[0]), s.gradient)


@EACH
def test_linearized_gradient_is_the_hessian(s):
    gradient, H = wg.linearize(_flat_grad(s), s.ravel(s.x))
    assert_close(gradient, s.gradient)
    assert_close(H.dense(), s.hessian, s.rtol)
    assert_close(H @ direction(s), s.hessian @ direction(s), s.rtol)


def _flat_grad(s: Scenario) -> Any:
    return wg.grad(lambda vector: s.f(s.unravel(vector)))


@EACH
@JACOBIAN_MODES
def test_jacobian(s, mode):
    J = wg.jacobian(s.f, mode=mode)(s.x)
    assert_like_the_argument(J, s)
    assert_close(s.ravel(J), s.gradient)
    value, J = wg.value_and_jacobian(s.f, mode=mode)(s.x)
    assert value == s.f(s.x)
    assert_close(s.ravel(J), s.gradient)


@EACH
@JACOBIAN_MODES
def test_jacobian_of_the_gradient(s, mode):
    assert_close(wg.jacobian(_flat_grad(s), mode=mode)(s.ravel(s.x)), s.hessian, s.rtol)


def flat_hessian(s: Scenario, H: Any) -> np.ndarray:
    """Blocks in the containers of the argument, twice, as one matrix."""
    sizes = [np.size(leaf) for leaf in s.leaves]
    blocks = flatten(H)[0]
    k = len(sizes)
    assert len(blocks) == k * k
    for i, a in enumerate(s.leaves):
        for j, b in enumerate(s.leaves):
            assert np.shape(blocks[i * k + j]) == np.shape(a) + np.shape(b)
    return np.block([[np.reshape(blocks[i * k + j], (sizes[i], sizes[j])) for j in range(k)] for i in range(k)])


@EACH
def test_hessian(s):
    assert_close(flat_hessian(s, wg.hessian(s.f)(s.x)), s.hessian, s.rtol)
    gradient, H = wg.grad_and_hessian(s.f)(s.x)
    assert_close(s.ravel(gradient), s.gradient)
    assert_close(flat_hessian(s, H), s.hessian, s.rtol)
    value, gradient, H = wg.value_grad_and_hessian(s.f)(s.x)
    assert value == s.f(s.x)
    assert_close(s.ravel(gradient), s.gradient)
    assert_close(flat_hessian(s, H), s.hessian, s.rtol)


@EACH
@HVP_MODES
def test_hvp(s, mode):
    v = direction(s)
    product = wg.hvp(s.f, mode=mode)(s.x, s.unravel(v))
    assert_like_the_argument(product, s)
    assert_close(s.ravel(product), s.hessian @ v, s.rtol)
    gradient, product = wg.grad_and_hvp(s.f, mode=mode)(s.x, s.unravel(v))
    assert_close(s.ravel(gradient), s.gradient)
    assert_close(s.ravel(product), s.hessian @ v, s.rtol)


@EACH
def test_the_modes_agree_to_rounding(s):
    """Where the reference Hessian is known to a few digits only, the nestings still agree in nearly all."""
    v = direction(s)
    first, *others = (
        s.ravel(wg.hvp(s.f, mode=mode)(s.x, s.unravel(v)))
        for mode in ("forward-reverse", "reverse-forward", "reverse-reverse")
    )
    for other in others:
        assert_close(other, first, 1e-11)


@EACH
def test_laplacian(s):
    got = wg.laplacian(s.f)(s.x)
    np.testing.assert_allclose(got, np.trace(s.hessian), atol=s.rtol * np.abs(np.diag(s.hessian)).sum() * 10)


@EACH
def test_directional(s):
    v = direction(s)
    assert_close(wg.directional(s.f)(s.x, s.unravel(v)), s.gradient @ v)
    curvature = wg.derivative(lambda t: s.f(s.unravel(s.ravel(s.x) + t * v)), order=2)(0.0)
    assert_close(curvature, v @ s.hessian @ v, max(s.rtol * 100, 1e-9))


@EACH
def test_single_precision(s):
    """Gradients have the dtype of the argument, tangents that of the result, and both the digits of float32."""
    single, v = s.unravel(s.ravel(s.x).astype(np.float32)), s.unravel(direction(s).astype(np.float32))
    gradient = wg.grad(s.f)(single)
    assert all(leaf.dtype == np.float32 for leaf in flatten(gradient)[0])
    y, y_dot = wg.jvp(s.f, (single,), (v,))
    assert np.result_type(y_dot) == np.result_type(y)
    if "large numbers" not in s.name and "Newton" not in s.name:
        assert_close(s.ravel(gradient), s.gradient, 1e-3)
        np.testing.assert_allclose(y_dot, s.gradient @ direction(s), atol=1e-3 * np.linalg.norm(s.gradient))


@EACH
def test_users_would_find_no_fault(s):
    wg.check_gradients(s.f, s.x, order=1)
