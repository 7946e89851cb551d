"""Python's numbers have double precision, and take over the dtype of arrays that they meet, whatever they come from:
`x.item()`, `x.tolist()`, `float(x)`, `complex(x)` of a float32."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.sparse

import wengert as wg
from wengert.ir.check import check
from wengert.ir.node import Program

X = np.array([1 / 3, 2.0], np.float32)
SINGLE, SMALL = np.array([1.0, 2.0], np.float32), np.array([1, 2], np.int8)
MADE = {
    "float": lambda x: float(x[0]),
    "item": lambda x: x[0].item(),
    "item of several": lambda x: x.item(1),
    "tolist": lambda x: x.tolist()[0],
    "complex": lambda x: complex(x[0]),
    "sum": lambda x: sum(x.tolist()),
    "least": lambda x: min(x.tolist()),
    "power": lambda x: float(x[0]) ** 2,
}
USED = [
    lambda c: c,
    lambda c: c / 3.0,
    lambda c: c * SINGLE,
    lambda c: c * SMALL,
    lambda c: np.array([c, 1.0]) * SINGLE,
    lambda c: np.where(SINGLE > 1, c, SINGLE),
]


@pytest.mark.parametrize("made", MADE)
def test_numbers(made):
    def f(x):
        c = MADE[made](x)
        return [use(c) for use in USED]

    right = f(X)
    for got in (wg.jit(f)(X), wg.jvp(f, (X,), (np.ones_like(X),))[0], wg.vjp(f, X)[0]):
        for y, r in zip(got, right, strict=True):
            assert np.asarray(y).dtype == np.asarray(r).dtype
            np.testing.assert_allclose(y, r, rtol=1e-12 if np.asarray(r).dtype.itemsize > 4 else 1e-6)


def test_results_that_are_double_whatever_is_given():
    a = scipy.sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    programs = [
        lambda x: a @ x,
        lambda x: a.astype(complex) @ x,
        lambda x: a.astype(int) @ x,
        lambda x: a.astype(np.float32) @ x,
        lambda x: scipy.integrate.quad(lambda t: t * x[0], 0, 1)[0],
        lambda x: scipy.optimize.brentq(lambda y: y**3 - x[0], 0, 2),
        lambda x: scipy.optimize.root(lambda y: y**3 - x, [1.0, 1.0]).x,
    ]
    for f in programs:
        got, right = np.asarray(wg.jit(f)(X)), np.asarray(f(X))
        assert got.dtype == right.dtype
        np.testing.assert_allclose(got, right, rtol=1e-6)


def test_real_results_of_complex_matrices(rng):
    z = rng.normal(size=(2, 4, 3)) + 1j * rng.normal(size=(2, 4, 3))
    h = z.conj().swapaxes(-1, -2) @ z
    programs = [
        (lambda z: np.linalg.svd(z, compute_uv=False), z),
        (lambda z: np.linalg.norm(z[0], 2) + np.linalg.norm(z[0], "nuc") * np.linalg.cond(z[1]), z),
        (lambda z: scipy.linalg.svdvals(z[0]), z),
        (np.linalg.eigvalsh, h),
        (lambda h: np.linalg.eigh(h)[0], h),
    ]
    for f, x in programs:
        for dtype in (np.complex128, np.complex64):
            got, right = np.asarray(wg.jit(f)(x.astype(dtype))), np.asarray(f(x.astype(dtype)))
            assert got.dtype == right.dtype
            np.testing.assert_allclose(got, right, rtol=1e-10 if dtype == np.complex128 else 1e-4)
    real = lambda x: np.sum(np.linalg.svd(x + 0.5j * x @ x, compute_uv=False) ** 3)
    x = rng.normal(size=(3, 3))
    np.testing.assert_allclose(wg.jit(wg.grad(real))(x), wg.grad(real)(x), rtol=1e-9)


def _decays(x, a):
    for _ in range(30):
        x = x * a
        if np.sum(x) > 1e3:
            break
    return np.sum(x)


def _counts(x, a):
    k = 0
    while k < 3:
        x = x * a + a
        k += 1 if x[0] > 0 else 2
    return np.sum(x)


@pytest.mark.parametrize("f", [_decays, _counts])
def test_differentiated_numbers_of_python_stay_weak_in_loops(f):
    """A number that is differentiated meets an array of single precision in a loop of the program."""
    x, a = np.array([1.0, 2.0, 3.0], np.float32), 0.9
    value, (dx, da) = wg.jit(wg.value_and_grad(f, (0, 1)))(x, a)
    assert value.dtype == dx.dtype == np.float32
    h = 1e-6
    wide = x.astype(float)
    np.testing.assert_allclose(value, f(wide, a), rtol=1e-5)
    np.testing.assert_allclose(da, (f(wide, a + h) - f(wide, a - h)) / (2 * h), rtol=1e-5)
    np.testing.assert_allclose(
        np.sum(dx * x), sum(f(wide + h * v, a) - f(wide - h * v, a) for v in np.diag(wide)) / (2 * h), rtol=1e-5
    )


def test_numbers_of_python_that_one_branch_keeps():
    """What the other branch has in their place is a number of Python's too, so that the types of the program hold."""

    def clipped(u, v):
        if u > v:
            return v
        for i in range(5):
            if u * i < -1.0:
                return -v * u
        return u

    gradient = wg.jit(wg.grad(lambda x, n: np.sum(x * clipped(0.25, x[n]))))
    x = np.array([-0.2, -0.1, 1.1, -0.5])
    form = gradient._form((x, 2), {})
    version = gradient._version(form)
    check(Program("f", version.block))
    np.testing.assert_allclose(gradient(x, 2), np.full(4, 0.25))
    np.testing.assert_allclose(gradient(x, 0), np.full(4, -0.2) + np.array([np.sum(x), 0, 0, 0]))
