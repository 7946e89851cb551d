"""Reverse mode through loops over prefixes of growing length: what is the same but for its order is kept once."""

import numpy as np
import pytest

import wengert as wg


def levinson(r):
    n = len(r) - 1
    a = np.zeros(n, r.dtype)
    e = r[0]
    for k in range(n):
        g = (r[k + 1] - np.dot(a[:k], r[k:0:-1])) / e
        a[:k] = a[:k] - g * a[:k][::-1]
        a[k] = g
        e = e * (1 - g * g)
    return np.sum(a**2) + e


def moved(r):
    """Flips and reshapes of what was computed, sums that give everything back."""
    a = 0.1 * r
    for k in range(1, len(r)):
        p = np.sin(a[:k])
        q = p[::-1].reshape(1, k)
        a[:k] = a[:k] * q[0] + 0.1 * (q * p)[0, ::-1]
        a[k] = a[k] + np.sum(p * p[::-1])
    return np.sum(a**3)


def computed_lengths(r):
    """Lengths are computed from what is kept, and some slices are empty."""
    a = np.sin(r)
    for k in range(len(r)):
        m = (3 * k) % len(r)
        p = np.exp(a[:m])
        a[:m] = 0.5 * p[::-1] * a[:m] + 0.1 * p * p[::-1]
    return np.sum(a**2)


def early_end(r):
    """A `while` over prefixes."""
    a, k = 0.5 * r, 1
    while k < len(r) and a[k].real < 10:
        p = a[:k] * a[k]
        a[:k] = np.tanh(p) * p[::-1]
        k += 1
    return np.sum(a**2)


@pytest.mark.parametrize("f", [levinson, moved, computed_lengths, early_end], ids=lambda f: f.__name__)
def test_gradient(f, rng):
    r = 0.6 ** np.arange(9) + 0.01 * rng.random(9)
    want = [np.imag(f(r + 1e-30j * e)) * 1e30 for e in np.eye(len(r))]
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(gradient(r), want, rtol=1e-11, atol=1e-12)


def test_second_derivatives(rng):
    r = 0.6 ** np.arange(6) + 0.01 * rng.random(6)
    np.testing.assert_allclose(wg.jit(wg.hessian(moved))(r), wg.hessian(moved)(r), rtol=1e-10, atol=1e-12)


def stacks(block):
    """Shapes of all arrays with two axes."""
    here = [out.type.shape for node in block.nodes for out in node.outs if out.type.ndim == 2]
    return here + [shape for node in block.nodes for inner in node.blocks for shape in stacks(inner)]


def test_a_prefix_is_kept_once(rng):
    """Not reversed as well, nor with what is read of r, though the program has three names for it."""
    program = wg.jit(wg.grad(levinson)).lower(rng.random(9)).program
    assert stacks(program.block) == [(8, 7)]


def test_a_dot_product_has_no_sums_over_nothing(rng):
    text = wg.jit(wg.grad(levinson)).lower(rng.random(9)).ir
    assert "axis=()" not in text
    assert "reshape" not in text
