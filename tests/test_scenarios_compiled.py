"""Every scenario compiled, in both modes, twice differentiated, and in a batch whose examples go different ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scenarios import SCENARIOS, Scenario

import wengert as wg
from wengert.tree import flatten, unflatten

EACH = pytest.mark.parametrize("s", SCENARIOS, ids=[s.name for s in SCENARIOS])
PLACES = pytest.mark.parametrize("place", ["outside", "inside", "both"])


def compiled(operator: Any, f: Any, place: str) -> Any:
    """A derivative with `jit` outside of it, inside, or both."""
    inner = f if place == "outside" else wg.jit(f)
    return operator(inner) if place == "inside" else wg.jit(operator(inner))


def assert_close(got: Any, expected: Any, rtol: float = 1e-10) -> None:
    scale = float(np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * scale)


def direction(s: Scenario) -> np.ndarray:
    return np.random.default_rng(1).normal(size=s.gradient.shape)


def batch(s: Scenario) -> tuple[list, Any]:
    """Three arguments, and the same with an axis for the examples: the point, one beside it, and one farther off."""
    point = s.ravel(s.x)
    points = [s.unravel(point * factor) for factor in (1.0, 1.001, 0.93)]
    leaves = [flatten(p)[0] for p in points]
    stacked = [np.stack([np.asarray(leaf) for leaf in column]) for column in zip(*leaves, strict=True)]
    return points, unflatten(flatten(s.x)[1], stacked)


def example(s: Scenario, result: Any, k: int) -> np.ndarray:
    """One example of a result like the argument, flattened."""
    return np.concatenate([np.ravel(leaf[k]) for leaf in flatten(result)[0]])


@EACH
def test_value(s):
    y = wg.jit(s.f)(s.x)
    assert np.asarray(y).dtype == np.asarray(s.f(s.x)).dtype
    assert_close(y, s.f(s.x), 1e-12)


@EACH
@PLACES
def test_grad(s, place):
    assert_close(s.ravel(compiled(wg.grad, s.f, place)(s.x)), s.gradient)


@EACH
@PLACES
def test_jvp(s, place):
    v = s.unravel(direction(s))
    derivative = compiled(lambda f: lambda x, v: wg.jvp(f, (x,), (v,))[1], s.f, place)
    assert_close(derivative(s.x, v), s.gradient @ direction(s))


@EACH
@PLACES
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobian(s, place, mode):
    J = compiled(lambda f: wg.jacobian(f, mode=mode), s.f, place)(s.x)
    assert_close(s.ravel(J), s.gradient)


@EACH
@PLACES
@pytest.mark.parametrize("mode", ["forward-reverse", "reverse-forward", "reverse-reverse"])
def test_hvp(s, place, mode):
    v = s.unravel(direction(s))
    product = compiled(lambda f: wg.hvp(f, mode=mode), s.f, place)(s.x, v)
    assert_close(s.ravel(product), s.hessian @ direction(s), max(s.rtol, 1e-10))


@EACH
@PLACES
def test_hessian(s, place):
    """Of the function of one vector."""
    H = compiled(wg.hessian, lambda vector: s.f(s.unravel(vector)), place)(s.ravel(s.x))
    assert_close(H, s.hessian, max(s.rtol, 1e-10))


@EACH
@pytest.mark.parametrize("place", ["nowhere", "outside", "inside"])
def test_batch(s, place):
    points, stacked = batch(s)
    f = wg.vmap(s.f) if place == "nowhere" else compiled(wg.vmap, s.f, place)
    assert_close(f(stacked), np.array([s.f(p) for p in points]), 1e-12)


@EACH
@pytest.mark.parametrize("place", ["nowhere", "outside", "inside", "between"])
def test_batch_of_gradients(s, place):
    points, stacked = batch(s)
    operator = {
        "nowhere": lambda: wg.vmap(wg.grad(s.f)),
        "outside": lambda: wg.jit(wg.vmap(wg.grad(s.f))),
        "inside": lambda: wg.vmap(wg.grad(wg.jit(s.f))),
        "between": lambda: wg.vmap(wg.jit(wg.grad(s.f))),
    }[place]()
    found = operator(stacked)
    assert_close(example(s, found, 0), s.gradient)
    for k in (1, 2):
        numerical = wg.numerical.grad(lambda vector: s.f(s.unravel(vector)))(s.ravel(points[k]))
        np.testing.assert_allclose(example(s, found, k), numerical, rtol=1e-5, atol=1e-6 * np.max(np.abs(numerical)))


@EACH
@pytest.mark.parametrize("place", ["nowhere", "outside", "inside"])
def test_gradient_of_a_batch(s, place):
    points, stacked = batch(s)
    weights = np.array([1.0, -2.0, 0.5])
    f = wg.jit(s.f) if place == "inside" else s.f
    gradient = wg.grad(lambda xs: np.sum(wg.vmap(f)(xs) * weights))
    found = (wg.jit(gradient) if place == "outside" else gradient)(stacked)
    assert_close(example(s, found, 0), s.gradient)
    assert_close(example(s, found, 1), -2.0 * s.ravel(wg.grad(s.f)(points[1])))
