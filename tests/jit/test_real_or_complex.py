"""Eigenvalues and roots of polynomials in compiled functions: real for some values, complex for others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from jit.everywhere import agrees

import wengert as wg
from wengert.errors import StagingError


def spectral_radius(x):
    companion = np.diag(np.ones(2), -1)
    companion[0] = -x
    w = np.linalg.eigvals(companion)
    return np.max(np.abs(w)) + np.sum(w).real * w.size


def propagator(x):
    w, v = np.linalg.eig(np.array([[0.0, 1.0], [-x[0], -x[1]]]))
    return np.real((v * np.exp(w * 0.3)) @ np.linalg.inv(v))[0, 1] * x[2]


def largest_root(x):
    r = np.roots([0, 1.0, -x[0] - x[1], x[0] * x[1] - 0.1])
    return r.max() + np.sort(r)[0] * x[2]


def of_scipy(x):
    w, v = scipy.linalg.eig(np.array([[x[0], 1.0], [0.3, x[1]]]))
    return np.abs(w)[0] * np.abs(v / v.sum())[0, 0] + scipy.linalg.eigvals(np.outer(x, x) + np.diag(x)).real.max()


def in_a_branch(x):
    total = x[2]
    for k in range(3):
        w = np.linalg.eigvals(np.array([[0.0, 1.0], [-x[0] * (k + 1), -x[1] / 5]]))
        total = total + np.abs(w[0]) * k if w.real.max() < 0 else total - 1
    return total


@pytest.mark.parametrize("f", [spectral_radius, propagator, largest_root, of_scipy, in_a_branch])
def test_programs(f):
    agrees(f, np.array([1.1, 2.9, 3.3]), batch=f is not propagator)


@pytest.mark.parametrize("f", [
    lambda x: np.linalg.eigvals(np.array([[0.0, x[0]], [x[1], 0.0]])),
    lambda x: tuple(np.linalg.eig(np.array([[0.0, x[0]], [x[1], 0.0]]))),
    lambda x: tuple(scipy.linalg.eig(np.array([[0.0, x[0]], [x[1], 0.0]]))),
    lambda x: np.roots([1.0, 0.0, -x[0] * x[1]]),
])  # fmt: skip
def test_types_are_those_of_numpy_in_each_call(f):
    compiled = wg.jit(f)
    for signs in ([1, 1], [1, -1], [-1, -1], [-1, 1]):
        x = np.array([1.3, 2.1]) * signs
        found, expected = compiled(x), f(x)
        for y, z in zip(*[v if isinstance(v, tuple) else (v,) for v in (found, expected)], strict=True):
            assert y.dtype == z.dtype
            np.testing.assert_allclose(y, z, rtol=1e-12, atol=1e-14)


def test_both_in_one_call_are_refused():
    def f(x):
        return sum(np.abs(np.roots([1.0, 1.0, c])).max() for c in (x[0], -x[1]))

    with pytest.raises(StagingError, match="real numbers and complex ones"):
        wg.jit(f)(np.array([1.1, 2.2]))
    with pytest.raises(ValueError, match="begins with zero"):
        wg.jit(lambda x: np.roots(x))(np.array([0.0, 1.0, 2.0]))
