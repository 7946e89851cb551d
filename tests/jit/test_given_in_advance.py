"""What a function was given before it is called (defaults, partials, arrays whose method it is, objects of SciPy's) may
change between calls: compiled functions see that, and what they write there others see."""

import functools

import numpy as np
import pytest
import scipy.interpolate

import wengert as wg

X = np.array([1.0, 2.0])


def product(A, x):
    return A @ x


def reads_items(settings, x):
    return settings["rate"] * settings["weights"][0] * x


WAYS = {
    "default": lambda A: lambda x, A=A: A @ x,
    "keyword_default": lambda A: _with_keyword(A),
    "partial": lambda A: functools.partial(product, A),
    "partial_keyword": lambda A: functools.partial(lambda x, A: A @ x, A=A),
    "partial_of_numpy": lambda A: functools.partial(np.dot, A),
    "method_of_array": lambda A: A.dot,
    "operator_of_array": lambda A: A.__matmul__,
    "partial_of_container": lambda A: functools.partial(reads_items, {"rate": 2.0, "weights": [A[0]]}),
    "default_container": lambda A: lambda x, known=(3.0, [A]): known[1][0] @ x * known[0],
    "spline": lambda A: (lambda s: lambda x, s=s: s(x))(_spline(A)),
    "polynomial": lambda A: _polynomial(A),
}


def _with_keyword(A):
    def f(x, *, A=A):
        return A @ x

    return f


def _spline(A):
    spline = scipy.interpolate.CubicSpline(np.arange(4.0), np.arange(4.0) ** 2)
    spline.c = A.reshape(4, 1)
    spline.x = np.array([0.0, 5.0])
    return spline


def _polynomial(A):
    polynomial = np.poly1d([1.0, 2.0, 3.0, 4.0])
    polynomial._coeffs = A.reshape(4)
    return polynomial


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_change(way):
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    f = WAYS[way](A)
    compiled, tangent = wg.jit(f), wg.jit(lambda x: wg.jvp(f, (x,), (np.ones(2),))[1])
    for change in (0.0, 0.0, 5.0, -1.0):
        A[0] += change
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-13)
        np.testing.assert_allclose(tangent(X), (f(X + 1e-6) - f(X - 1e-6)) / 2e-6, rtol=1e-7)


def test_defaults_that_are_written_to():
    def counting(zeros, zero):
        def f(x, seen=zeros, *, times=zero):
            seen += x
            times[0] += 1
            return seen * times

        return f

    plain, compiled = counting(np.zeros(2), np.zeros(1)), wg.jit(counting(np.zeros(2), np.zeros(1)))
    for k in range(4):
        np.testing.assert_array_equal(compiled(X * k), plain(X * k))


def test_numbers_and_containers_in_a_partial():
    settings = {"rate": 2.0, "weights": [1.0]}
    f = functools.partial(reads_items, settings)
    compiled = wg.jit(f)
    assert compiled(3.0) == f(3.0)
    settings["rate"] = 5.0
    assert compiled(3.0) == f(3.0)
    settings["weights"][0] = 7.0
    assert compiled(3.0) == f(3.0)
