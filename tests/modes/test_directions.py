"""Dense Jacobians of compiled functions, in which a value has room for the directions that it depends on only.

References are complex steps of the same function in plain NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.api import directed

PARENTS = (-1, 0, 1, 2, 0, 4, 5, 0, 7, 8)
WEIGHTS = np.random.default_rng(0).normal(size=(12, len(PARENTS)))
ORDER = np.array([5, 2, 0, 7, 9, 1, 3, 8, 6, 4])


def chain(x):
    """Each frame depends on the angles on its way to the root, the picture on all, shift and scale by themselves."""
    frames = np.zeros((len(PARENTS), 2), x.dtype)
    for k in range(len(PARENTS)):
        before = np.ones(2) if PARENTS[k] < 0 else frames[PARENTS[k]]
        frames[k] = before * np.cos(x[k]) + np.sin(x[k] * np.arange(1.0, 3.0))
    return (WEIGHTS @ frames) * np.exp(x[10]) - x[11:13]


def stencil(x):
    y = np.zeros(3 * len(x), x.dtype)
    for k in range(1, len(x) - 1):
        y[3 * k] = x[k - 1] * x[k + 1]
        y[3 * k + 1] = np.sin(x[k])
    return y


def branches(x):
    y = np.where(np.arange(13) % 2 == 0, x * x[::-1], np.sqrt(2.0 + x))
    if y[0].real > 100.0:
        y = y * x[0]
    return np.concatenate([y[ORDER], np.exp(y[:4]), [np.sum(x[:3] ** 2)], x[2:6] - x[6:10], x[2:3] + 0 * x[:3]])


def repeated(x):
    y = x[:4] * x[4:8]
    n = 0
    while n < 3:
        y = np.sin(y) + x[8:12]
        n += 1
    return np.stack([y, y * x[12], np.cumsum(y), y[::-1] + x[:4]]).T


def diagonal(x):
    return np.concatenate([np.exp(x), x**3, 1.0 / (x + 3.0)])


MIXED = np.random.default_rng(1).normal(size=(13, 13))


def full(x):
    return np.outer(np.sin(MIXED @ x), np.cos(MIXED @ x))


FUNCTIONS = [chain, stencil, branches, repeated, diagonal, full]
X = np.linspace(-0.6, 0.7, 13)


def complex_steps(f):
    return np.stack([f(X + 1e-30j * e).imag / 1e-30 for e in np.eye(len(X))], axis=-1)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("gain", [None, 1e9])  # where it is worth it, and always
def test_jacobians(f, gain, monkeypatch):
    if gain is not None:
        monkeypatch.setattr(directed, "_GAIN", gain)
    compiled = wg.jit(wg.jacobian(f))
    np.testing.assert_allclose(compiled(X), complex_steps(f), rtol=1e-12, atol=1e-12)
    says_so = any("directions" in str(note) for note in compiled.lower(X).report)
    assert says_so is (f is not full)


def test_several_leaves_of_several_kinds(monkeypatch):
    monkeypatch.setattr(directed, "_GAIN", 1e9)

    def f(p):
        x, y, s, e = p["x"], p["y"], p["s"], p["e"]
        return {"a": np.concatenate([x * s, y.astype(float) ** 2, e]), "b": (x[:2] * y[0], np.ones(2), np.outer(x, x))}

    p = {"x": X[:4], "y": X[4:7].astype("f4"), "s": 2.0, "e": np.zeros(0)}
    found, wanted = wg.jit(wg.jacobian(f))(p), wg.jacobian(f)(p)
    for a, b in zip(wg.tree.leaves(found), wg.tree.leaves(wanted), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_nested_and_in_batches(monkeypatch):
    monkeypatch.setattr(directed, "_GAIN", 1e9)
    points = np.stack([X, X**2 + 0.1])
    first = wg.jit(wg.vmap(wg.jacobian(chain)))(points)
    np.testing.assert_allclose(first, [wg.jacobian(chain)(x) for x in points], rtol=1e-12, atol=1e-12)
    second = wg.jit(wg.jacobian(wg.jacobian(repeated)))(X)
    np.testing.assert_allclose(second, wg.jacobian(wg.jacobian(repeated))(X), rtol=1e-11, atol=1e-12)
    slope = wg.jit(wg.grad(lambda x: np.sum(wg.jacobian(stencil)(x) ** 2)))(X)
    np.testing.assert_allclose(slope, wg.grad(lambda x: np.sum(wg.jacobian(stencil)(x) ** 2))(X), rtol=1e-12)
    product = wg.jit(lambda x, v: wg.jvp(wg.jacobian(chain), (x,), (v,))[1])(X, X)
    np.testing.assert_allclose(product, wg.jvp(wg.jacobian(chain), (X,), (X,))[1], rtol=1e-11, atol=1e-12)


@wg.custom_vjp
def swapped(x):
    return x[::-1] * x


swapped.defvjp(lambda x: (swapped(x), x), lambda x, ct: (x[::-1] * ct + (x * ct)[::-1],))


def test_what_holds_code(monkeypatch, capfd):
    """Compiled functions, rules of users, checkpoints, Jacobians inside of loops; what is printed is printed once."""
    monkeypatch.setattr(directed, "_GAIN", 1e9)
    inner = wg.jit(lambda x: x[1:] * np.sin(x[:-1]))

    def f(x):
        print("here")
        return np.concatenate([inner(x), swapped(x), wg.checkpoint(chain)(x).ravel()])

    def summed(x):
        total = np.zeros((len(x), len(x)))
        for k in range(20):
            total += wg.jacobian(lambda x: np.concatenate([x[1:] * x[:-1], x * (k + x[0])]))(x)[: len(x)] * k  # noqa: B023
        return total

    wanted, compiled = wg.jacobian(f)(X), wg.jit(wg.jacobian(f))
    capfd.readouterr()
    np.testing.assert_allclose(compiled(X), wanted, rtol=1e-12, atol=1e-12)
    assert capfd.readouterr().out == "here\n"
    np.testing.assert_allclose(wg.jit(summed)(X), summed(X), rtol=1e-12, atol=1e-12)
