"""Enclosures of eigenvalues, singular values, pseudo-inverses and exponentials: exact answers lie in them, and those of
points; and they are narrow."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.linalg

import wengert as wg


def around(a, radius):
    return wg.interval(a - radius, a + radius)


def matrices(seed, shape, radius, count=8):
    """A matrix and others, none of whose elements differs by more than the radius from those of the first."""
    random = np.random.default_rng(seed)
    a = random.normal(size=shape)
    others = [
        np.clip(a + radius * random.choice([-1.0, 0.3, 1.0], size=shape), a - radius, a + radius) for _ in range(count)
    ]
    return a, others


def assert_contains(box, value):
    assert box.lo.shape == np.shape(value)
    assert np.all((box.lo <= value) & (value <= box.hi))


def assert_contains_exactly(box, exact):
    """The second is of mpmath's numbers, of many digits."""
    for k, value in np.ndenumerate(np.array(exact, object)):
        assert mpmath.mpf(float(box.lo[k])) <= value <= mpmath.mpf(float(box.hi[k]))


FUNCTIONS = {
    "eigvalsh": np.linalg.eigvalsh,
    "upper": lambda a: np.linalg.eigvalsh(a, "U"),
    "singular values": lambda a: np.linalg.svd(a, compute_uv=False),
    "spectral norm": lambda a: np.linalg.norm(a, 2),
    "pinv": np.linalg.pinv,
    "pinv of symmetric ones": lambda a: np.linalg.pinv(a, hermitian=True),
    "lstsq": lambda a: np.linalg.lstsq(a, np.arange(1.0, 1.0 + a.shape[0]), rcond=None)[0],
    "expm": scipy.linalg.expm,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_matrices_in_a_box(name):
    f = FUNCTIONS[name]
    for radius in (1e-10, 1e-2):
        a, others = matrices(3, (4, 4), radius)
        found = wg.enclose(f)(around(a, radius))
        for other in others:
            assert_contains(found, f(other))
        assert np.max(found.width) < 2e3 * radius
    a, others = matrices(3, (2, 3, 3), 1e-6)
    stack = wg.enclose(lambda x: np.stack([f(x[0]), f(x[1])]) if name == "lstsq" else _of_stack(f, x))(around(a, 1e-6))
    for other in others:
        assert_contains(stack, np.stack([f(other[0]), f(other[1])]))
    if name == "upper":
        assert_contains(wg.jit(wg.enclose(f))(around(a[0, :2, :2], 1e-6)), f(a[0, :2, :2]))


def _of_stack(f, x):
    return np.linalg.norm(x, 2, axis=(1, 2)) if f is FUNCTIONS["spectral norm"] else f(x)


@pytest.mark.parametrize("shape", [(5, 3), (2, 4)])
def test_of_other_shapes(shape):
    a, others = matrices(5, shape, 1e-4)
    for name in ("singular values", "spectral norm", "pinv", "lstsq"):
        found = wg.enclose(FUNCTIONS[name])(around(a, 1e-4))
        for other in others:
            assert_contains(found, FUNCTIONS[name](other))


def test_exact_answers():
    a = np.random.default_rng(1).normal(size=(5, 5))
    symmetric = a + a.T
    with mpmath.workdps(50):
        values = mpmath.eigsy(mpmath.matrix(symmetric.tolist()), eigvals_only=True)
        singular = mpmath.svd_r(mpmath.matrix(a.tolist()), compute_uv=False)
        exponential = mpmath.expm(mpmath.matrix(a.tolist()))
        assert_contains_exactly(np.linalg.eigvalsh(wg.interval(symmetric)), list(values))
        assert_contains_exactly(np.linalg.svd(wg.interval(a), compute_uv=False), list(singular))
        assert_contains_exactly(wg.enclose(scipy.linalg.expm)(wg.interval(a)), exponential.tolist())


def test_hard_matrices():
    """Equal eigenvalues; a large matrix beside a small one; singular ones; intervals without end; none at all."""
    equal = np.linalg.eigvalsh(wg.interval(np.eye(3)))
    assert_contains(equal, np.ones(3))
    assert np.max(equal.width) < 1e-14
    assert_contains(np.linalg.eigvalsh(wg.interval(np.diag([1e12, 1.0, -1e-3]))), np.array([-1e-3, 1.0, 1e12]))
    apart = np.linalg.eigvalsh(wg.interval(np.diag([1.0, 10.0]), np.diag([2.0, 10.1])))
    np.testing.assert_allclose([apart.lo, apart.hi], [[1.0, 10.0], [2.0, 10.1]], rtol=1e-14)
    flat = np.ones((3, 2))
    assert np.all(np.linalg.svd(wg.interval(flat), compute_uv=False).lo >= 0)
    unknown = np.linalg.pinv(wg.interval(flat))
    assert np.all(np.isinf(unknown.lo) & np.isinf(unknown.hi))
    endless = np.linalg.eigvalsh(wg.interval(np.zeros((2, 2)), np.array([[1.0, np.inf], [np.inf, 1.0]])))
    assert np.all(np.isinf(endless.width))
    assert np.linalg.eigvalsh(wg.interval(np.zeros((0, 0)))).shape == (0,)


STACKED = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "cholesky": lambda a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)),
    "solve": lambda a: np.linalg.solve(a, np.arange(8.0).reshape(4, 1, 2, 1)),
    "solve for one vector": lambda a: np.linalg.solve(a, np.array([1.0, -2.0])),
}


@pytest.mark.parametrize("name", STACKED)
def test_stacks(name):
    f = STACKED[name]
    a = np.random.default_rng(2).normal(size=(3, 2, 2)) + 3 * np.eye(2)
    found = f(around(a, 1e-9))
    assert_contains(found, f(a))
    assert np.max(found.width) < 1e-6


def test_refusals_name_what_there_is():
    a = wg.interval(np.eye(2))
    for f, instead in (
        (np.linalg.eigh, "eigvalsh"),
        (np.linalg.svd, "compute_uv=False"),
        (np.linalg.qr, "cholesky"),
        (wg.enclose(scipy.linalg.lu), "solve"),
        (np.linalg.eigvals, "eigvalsh"),
    ):
        with pytest.raises(wg.errors.UnsupportedFunctionError, match=instead):
            f(a)


def test_numbers_alone_are_enclosed():
    third = wg.enclose(lambda x: x / 3)(1.0)
    assert Fraction(float(third.lo)) < Fraction(1, 3) < Fraction(float(third.hi))
    both = wg.jit(wg.enclose(lambda x: x[0] / x[1]))((np.array([1.0, 2.0]), 3.0))
    assert np.all(both.lo < both.hi)
