"""Arrays that are factors in what is differentiated, and are written to later: the factors stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def product(x, A, n):
    u = A @ x
    if n > 1:
        A *= 2
    return np.sum(np.tanh(u)) + A[0, 0]


def part(x, A, n):
    row = A[0]
    u = row * x + A.T[:, 1]
    if n > 1:
        A[0, 0] = 9.0
        if n > 2:
            A[:, 1:] -= 1.0
    return np.sum(u * u * row)


def made_inside(x, A, n):
    B = A * 1.0
    u = B @ x
    if n > 1:
        B[::-1] += B
    return np.sum(u * (B @ x))


def loops(x, A, n):
    u = A @ x
    for _ in range(n):
        A += 1.0
    v = A @ x
    while A[0, 0] < 9.0:
        A *= 1.5
    return np.sum(u * v) + np.sum(np.sin(A[0] * x))


@pytest.mark.parametrize("f", [product, part, made_inside, loops])
def test_what_is_written_to_later(f, rng):
    x, A = rng.normal(size=3), rng.normal(size=(2, 3)) + 2.0
    xs, As, ns = np.stack([x, 2 * x, -x]), np.stack([A, A, A + 1]), np.array([3, 1, 2])

    def bent(x, A, n):
        return wg.grad(lambda x: np.sum(wg.grad(f)(x, A.copy(), n) * np.arange(3.0)))(x)

    wanted = [[(f(y + e, B.copy(), n) - f(y - e, B.copy(), n)) / 2e-5 for e in 1e-5 * np.eye(3)]
              for y, B, n in zip(xs, As, ns, strict=True)]  # fmt: skip
    compiled, second = wg.jit(wg.grad(f)), wg.jit(bent)
    for y, B, n, w in zip(xs, As, ns, wanted, strict=True):
        np.testing.assert_allclose(compiled(y, B.copy(), n), w, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(second(y, B.copy(), n), bent(y, B.copy(), n), rtol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(xs, As.copy(), ns), wanted, rtol=1e-6, atol=1e-6)


def test_patterns_of_checkpoints():
    f = lambda x: wg.checkpoint(lambda u: np.sin(u) * u[::-1])(x)
    x = np.arange(1.0, 5.0)
    for g in (wg.jacobian(f, sparse=True), wg.jit(wg.jacobian(f, sparse=True))):
        np.testing.assert_allclose(g(x).toarray(), wg.jacfwd(f)(x))
