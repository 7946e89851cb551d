"""`wg.to_jax`: NumPy programs under `jax.grad`, `jax.jit` and `jax.vmap`."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)


def program(p, n):
    out = np.zeros(3)
    for i in range(3):
        out[i] = np.sin(p["a"][i]) * p["b"] ** n
    return np.sum(out**2)


A, B = np.array([0.1, 0.2, 0.3]), 2.0
both = pytest.mark.parametrize("jit", [False, True])


@both
def test_value_gradient_and_hessian(jit):
    g = wg.to_jax(program, jit=jit)
    p = {"a": jax.numpy.array(A), "b": jax.numpy.array(B)}
    expected = wg.grad(program)({"a": A, "b": B}, 2)
    np.testing.assert_allclose(g(p, 2), program({"a": A, "b": B}, 2))
    for gradient in (jax.grad(g)(p, 2), jax.jit(jax.grad(lambda p: g(p, 2)))(p)):
        np.testing.assert_allclose(gradient["a"], expected["a"])
        np.testing.assert_allclose(gradient["b"], expected["b"])
    hessian = jax.jacrev(jax.grad(lambda a: g({"a": a, "b": B}, 2)))(p["a"])
    np.testing.assert_allclose(hessian, np.diag(2 * np.cos(2 * A) * 16), atol=1e-12)


def test_inside_a_jax_program():
    g = wg.to_jax(lambda x: np.cumsum(np.exp(x)))
    f = jax.jit(lambda w: jax.numpy.sum(g(jax.numpy.sin(w)) ** 2))
    own = lambda w: jax.numpy.sum(jax.numpy.cumsum(jax.numpy.exp(jax.numpy.sin(w))) ** 2)
    w = jax.numpy.array([0.3, 0.6, 0.9])
    np.testing.assert_allclose(jax.grad(f)(w), jax.grad(own)(w))


def test_vmap_several_results_and_dtypes():
    g = wg.to_jax(lambda x: {"square": x**2, "sum": np.sum(x)})
    found = jax.vmap(g)(jax.numpy.ones((4, 3), jax.numpy.float32) * 2)
    assert found["square"].shape == (4, 3)
    assert found["square"].dtype == np.float32
    np.testing.assert_allclose(found["sum"], np.full(4, 6.0))
