"""Operators are given functions of libraries, builtins and methods directly: they mean what they mean in a function."""

import functools
import math
import operator

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats

import wengert as wg

A = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.0]])
V = np.array([0.3, 0.5, 0.9])

CASES = [
    (scipy.special.softmax, V),
    (scipy.special.logsumexp, V),
    (scipy.special.gammaln, V),
    (scipy.linalg.expm, A),
    (scipy.linalg.inv, A),
    (np.linalg.norm, V),
    (np.linalg.det, A),
    (np.linalg.slogdet, A),
    (np.linalg.cholesky, A),
    (np.sum, V),
    (np.sin, V),
    (np.sort, V),
    (np.ndarray.sum, V),
    (np.ndarray.cumsum, V),
    (np.add.reduce, V),
    (np.multiply.accumulate, V),
    (A.dot, V),
    (A.__matmul__, V),
    (functools.partial(np.sum, axis=0), A),
    (functools.partial(np.einsum, "ij,j->i", A), V),
    (functools.partial(functools.partial(np.clip, a_min=0.4), a_max=0.6), V),
    (functools.partial(functools.reduce, operator.mul), V),
    (np.polynomial.Polynomial([1.0, 2.0, 3.0]), V),
    (np.poly1d([1.0, 2.0, 3.0]), V),
    (scipy.interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 3), V),
    (scipy.stats.norm.logpdf, V),
    (scipy.stats.norm(0.0, 2.0).logpdf, V),
    (np.vectorize(lambda a: a * a if a > 0.4 else a), V),
    (operator.itemgetter(1), V),
    (sum, V),
    (max, V),
    (math.sin, 0.3),
    (math.sqrt, 0.3),
    (abs, -0.3),
    (float, 0.3),
]


def name_of(case):
    f = getattr(case[0], "func", case[0])
    return getattr(f, "__name__", type(f).__name__)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_values_and_derivatives(case):
    f, x = case
    in_a_function = wg.jvp(lambda x: f(x), (x,), (np.ones_like(x) if np.ndim(x) else 1.0,))
    for y, expected in zip(_leaves(wg.jit(f)(x)), _leaves(f(x)), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-12)
        assert np.asarray(y).dtype == np.asarray(expected).dtype
    direct = wg.jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else 1.0,))
    compiled = wg.jit(lambda x: wg.jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else 1.0,)))(x)
    for other in (direct, compiled):
        for y, expected in zip(_leaves(other), _leaves(in_a_function), strict=True):
            np.testing.assert_allclose(y, expected, rtol=1e-12)


def _leaves(x):
    return [leaf for item in x for leaf in _leaves(item)] if isinstance(x, (tuple, list)) else [x]


def test_gradients():
    np.testing.assert_allclose(wg.grad(np.linalg.norm)(V), V / np.linalg.norm(V), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(np.linalg.det))(A), np.linalg.det(A) * np.linalg.inv(A).T, rtol=1e-13)
    np.testing.assert_allclose(wg.grad(scipy.special.logsumexp)(V), scipy.special.softmax(V), rtol=1e-14)
    assert wg.jit(wg.grad(max, (0, 1)))(1.0, 2.0) == (0.0, 1.0)
    assert wg.grad(math.hypot)(3.0, 4.0) == pytest.approx(0.6, rel=1e-15)


@pytest.mark.parametrize(
    ("f", "curvature"),  # second derivatives at zero, of √(x² + c²): 1/c
    [
        (lambda x: math.hypot(x, 2.0), 0.5),
        (lambda x: math.hypot(x, 0.0, 2.0), 0.5),
        (lambda x: math.hypot(0.0, 3.0, x, 4.0), 0.2),
        (lambda x: math.dist([x, 1.0, 0.0], [0.0, 1.0, 2.0]), 0.5),
        (lambda x: np.hypot.reduce(np.array([0.0, x, 2.0])), 0.5),
        (lambda x: np.hypot.reduce(np.array([[x, 9.0], [2.0, x]]), axis=0, where=np.array([True, False]))[0], 0.5),
    ],
)
def test_lengths_are_smooth_where_the_first_numbers_are_zero(f, curvature):
    for g in (f, wg.jit(f)):
        assert wg.hessian(g)(0.0) == pytest.approx(curvature, rel=1e-15)
        assert wg.derivative(g, order=4)(0.0) == pytest.approx(-3 * curvature**3, rel=1e-14)
    assert wg.jit(wg.hessian(f))(0.0) == pytest.approx(curvature, rel=1e-15)


@pytest.mark.parametrize("f", [lambda x: math.hypot(2 * x, x, -2 * x), lambda x: math.dist([x, x, x], [0, 3 * x, -x])])
@pytest.mark.parametrize("x", [1e-170, 1.0, 1e170])
def test_lengths_of_large_and_small_numbers(f, x):
    for around in (lambda g: g, wg.jit):
        value, slope = around(wg.value_and_grad(f))(x)
        assert (value, slope) == pytest.approx((3 * x, 3.0), rel=1e-15)


def test_in_a_batch():
    X = np.stack([V, V[::-1], V * V])
    np.testing.assert_allclose(wg.vmap(scipy.special.logsumexp)(X), [scipy.special.logsumexp(x) for x in X], rtol=1e-14)
    np.testing.assert_allclose(
        wg.jit(wg.vmap(scipy.special.softmax))(X), [scipy.special.softmax(x) for x in X], rtol=1e-14
    )


def test_functions_that_write_to_their_arguments():
    for f, others in ((np.copyto, (2.0,)), (np.ndarray.sort, ()), (np.add.at, (np.array([0, 0]), 1.0))):
        plain, compiled = V[::-1].copy(), V[::-1].copy()
        f(plain, *others)
        wg.jit(f)(compiled, *others)
        np.testing.assert_array_equal(compiled, plain)
