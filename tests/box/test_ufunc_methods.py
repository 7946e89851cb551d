"""The methods of ufuncs on traced values."""

import numpy as np
import pytest
from harness import check

import wengert as wg
from wengert.errors import InPlaceError, UnsupportedFunctionError

X = np.array([[0.3, 1.3, 2.5], [1.7, 0.4, 0.65]])
MASK = np.array([[True, False, True], [True, True, False]])
REORDERABLE = [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.hypot]
ORDERED = [np.subtract, np.divide, np.remainder, np.fmod, np.copysign, np.heaviside]
VECTORISED = [np.power, np.arctan2]
"""On this machine (x86-64, AVX-512) NumPy 2.4 reduces a contiguous axis with these wrongly:
np.power.reduce([.3, 1.2, 2.5]) is .3**2.5 there. So the fold is written out as the reference."""


@pytest.mark.parametrize("ufunc", REORDERABLE + ORDERED)
def test_reduce(ufunc):
    check(lambda x: ufunc.reduce(x), X)
    check(lambda x: ufunc.reduce(x, axis=-1, keepdims=True), X)
    check(lambda x: ufunc.reduce(x, 1), X)
    check(lambda x: ufunc.reduce(x, axis=None), X[0])
    check(lambda x, i: ufunc.reduce(x, axis=1, initial=i, where=MASK), X, 1.3)
    check(lambda x: ufunc.reduce(x, axis=()), X)
    check(lambda x: ufunc.reduce(x), 0.7)


@pytest.mark.parametrize("ufunc", REORDERABLE)
def test_reduce_over_several_axes(ufunc):
    check(lambda x: ufunc.reduce(x, axis=(0, 1)), X)
    check(lambda x: ufunc.reduce(x, axis=None, keepdims=True), X)


@pytest.mark.parametrize("ufunc", VECTORISED)
def test_fold(ufunc):
    def step(x):
        return ufunc(ufunc(x[0], x[1]), x[2])

    x = X[0]
    for f, written_out in [
        (lambda x: ufunc.reduce(x), step),
        (lambda x: ufunc.accumulate(x), lambda x: np.stack([x[0], ufunc(x[0], x[1]), step(x)])),
        (lambda x: ufunc.reduceat(x, [1, 0]), lambda x: np.stack([x[1], step(x)])),
    ]:
        y, y_dot = wg.jvp(f, (x,), (np.ones(3),))
        expected, expected_dot = wg.jvp(written_out, (x,), (np.ones(3),))
        np.testing.assert_allclose(y, expected, rtol=1e-14)
        np.testing.assert_allclose(y_dot, expected_dot, rtol=1e-13)
        check(written_out, x)
    check(lambda x: ufunc.outer(x, x[1:]), x)


def test_reduce_is_refused_where_numpy_refuses():
    for call, error in [
        (lambda x: np.subtract.reduce(x, axis=(0, 1)), ValueError),
        (lambda x: np.subtract.reduce(x, where=MASK), ValueError),
        (lambda x: np.subtract.reduce(x[:0]), ValueError),
        (lambda x: np.subtract.reduce(x, axis=2), np.exceptions.AxisError),
        (lambda x: np.greater.reduce(x), TypeError),
        (lambda x: np.exp.reduce(x), ValueError),
        (lambda x: np.add.accumulate(x[0, 0]), TypeError),
        (lambda x: np.add.accumulate(x, axis=None), ValueError),
        (lambda x: np.exp.outer(x, x), ValueError),
        (lambda x: np.add.reduceat(x, [0, 2]), IndexError),
        (lambda x: np.add.outer(x, x, where=False), UnsupportedFunctionError),
    ]:
        with pytest.raises(error):
            wg.jvp(call, (X,), (X,))


def test_reduce_of_nothing():
    nothing = np.zeros((0, 3))
    for ufunc in (np.add, np.multiply, np.logaddexp, np.logaddexp2, np.hypot):
        y, _ = wg.jvp(ufunc.reduce, (nothing,), (nothing,))
        np.testing.assert_array_equal(y, ufunc.reduce(nothing))
    check(lambda x, i: np.subtract.reduce(x, initial=i), nothing, 1.5)


def test_truth():
    x = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]])
    for ufunc in (np.logical_and, np.logical_or, np.logical_xor):
        for axis in (0, 1, None):
            y, _ = wg.jvp(lambda x, u=ufunc, a=axis: u.reduce(x, axis=a) + 0 * x[0, 0], (x,), (x,))
            np.testing.assert_array_equal(y, ufunc.reduce(x, axis=axis))
        y, _ = wg.jvp(lambda x, u=ufunc: u.accumulate(x, axis=1) + 0 * x, (x,), (x,))
        np.testing.assert_array_equal(y, ufunc.accumulate(x, axis=1))


def test_dtype():
    x = X.astype(np.float32)
    for f in (np.add.reduce, np.subtract.reduce, np.hypot.accumulate, np.add.accumulate):
        y, y_dot = wg.jvp(lambda x, f=f: f(x, dtype=np.float64), (x,), (x,))
        assert y.dtype == y_dot.dtype == np.float64
        np.testing.assert_allclose(y, f(x, dtype=np.float64), rtol=1e-15)


@pytest.mark.parametrize("ufunc", REORDERABLE + ORDERED)
def test_accumulate(ufunc):
    check(lambda x: ufunc.accumulate(x), X)
    check(lambda x: ufunc.accumulate(x, axis=-1), X)
    check(lambda x: ufunc.accumulate(x), X[:0])


@pytest.mark.parametrize("ufunc", REORDERABLE + ORDERED)
def test_outer(ufunc):
    y = np.array([0.9, 1.4])
    check(lambda x, y: ufunc.outer(x, y), X, y)
    check(lambda y: ufunc.outer([1.1, 2.3, 0.8], y), y)
    check(lambda y: ufunc.outer(y, 1.6), y)


@pytest.mark.parametrize("ufunc", REORDERABLE + ORDERED)
def test_reduceat(ufunc):
    x = np.array([0.3, 1.3, 2.5, 1.7, 0.4, 0.65])
    check(lambda x: ufunc.reduceat(x, [0, 3, 1, 1, 5]), x)
    check(lambda x: ufunc.reduceat(x, [0, 2], axis=1), X)
    check(lambda x: ufunc.reduceat(x, []), x)


def test_at_of_a_plain_array_is_refused_with_a_remedy():
    a, where = np.zeros(4), np.array([0, 2])
    with pytest.raises(InPlaceError, match="remedy: create"):
        wg.grad(lambda x: np.add.at(a, where, x))(np.ones(2))
    assert not np.any(a)


def test_at():
    where = np.array([0, 2, 0])

    def f(x):
        y = x * x
        np.multiply.at(y, where, 2.0)
        np.negative.at(y, where)
        np.add.at(y, where, x[:3])
        return y

    check(f, np.array([1.5, -0.5, 2.5, 0.7]))


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize(
    "values", [True, np.array([True, True, False]), np.uint8(200), np.array([200, 200, 1], np.uint8)]
)
def test_values_at_one_place_are_added_in_the_type_of_the_sum(ufunc, values):
    """Not in their own, in which True + True is True, and 200 + 200 is 144."""

    def f(x, where):
        y = x * 1.0
        ufunc.at(y, where, values)
        return y

    x, where = np.array([0.5, -0.3, 0.7]), np.array([0, 0, 2])
    fixed = lambda x: f(x, where)
    for g in (wg.jit(fixed), lambda x: wg.jvp(fixed, (x,), (x,))[0], lambda x: wg.jit(f)(x, where)):
        np.testing.assert_allclose(g(x), fixed(x), rtol=1e-15)


def test_methods_write_into_arrays():
    def f(a):
        total, sums, rows = np.zeros(4), np.zeros((3, 4)), np.zeros((2, 4))
        np.add.accumulate(a * a, axis=1, out=sums)
        np.multiply.accumulate(a, axis=0, out=a)
        np.add.reduce(sums * a, 0, None, total)
        np.add.reduceat(a, [0, 1], axis=0, out=rows)
        return np.concatenate([total, rows.ravel(), a[2]])

    def with_returned_results(a):
        sums, product = np.cumsum(a * a, axis=1), np.cumprod(a, axis=0)
        return np.concatenate([(sums * product).sum(0), product[0], product[1] + product[2], product[2]])

    a = 0.3 * np.arange(1.0, 13.0).reshape(3, 4)
    given = a.copy()
    np.testing.assert_allclose(wg.jit(f)(given), with_returned_results(a), rtol=1e-13)
    np.testing.assert_allclose(given, np.cumprod(a, axis=0), rtol=1e-13)
    for operator in (wg.jacrev, wg.jacfwd):
        expected = operator(with_returned_results)(a)
        np.testing.assert_allclose(operator(f)(a), expected, rtol=1e-12)
        np.testing.assert_allclose(wg.jit(operator(f))(a), expected, rtol=1e-12)


@pytest.mark.parametrize("x", [np.array([250, 3, 9], np.uint8), np.array([-100, 100, 7], np.int8)])
def test_what_is_computed_in_an_integer_type_that_is_asked_for(x):
    """As NumPy: operands are converted before, so that a wide type does not overflow and a narrow one does."""
    for f in (
        lambda x: np.add(x, x, dtype=np.int64),
        lambda x: np.power(x, 2, dtype=np.int64),
        lambda x: np.add(x, x, dtype=np.int32, where=x > 3, out=np.zeros(3, np.int32)),
        lambda x: np.multiply.outer(x, x, dtype=np.int32),
        lambda x: np.add.reduce(x, dtype=x.dtype),
        lambda x: np.multiply.reduce(x, dtype=np.int16),
        lambda x: np.maximum.accumulate(x, dtype=np.int16),
    ):
        found, expected = wg.jit(f)(x), f(x)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_single_precision_is_widened_before_it_is_computed_with():
    x = np.array([1.1, 2.2], np.float32)
    f = lambda x: np.multiply(x, x, dtype=np.float64)
    np.testing.assert_array_equal(wg.jit(f)(x), f(x))
    np.testing.assert_array_equal(wg.jvp(f, (x,), (x,))[0], f(x))
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input 0"):
        wg.jit(lambda x: np.add(x, x, dtype=int))(x)


@pytest.mark.parametrize("where", [True, np.array([True, False])])
def test_results_that_an_array_cannot_hold(where):
    """Floats are not put into an array of integers (only if that is asked for), whatever is left out."""

    def f(x, **casting):
        np.add(x, 0.5, out=x, where=where, **casting)
        return x

    for g in (f, wg.jit(f)):
        with pytest.raises(TypeError, match="Cannot cast"):
            g(np.arange(2))
    if where is not True:
        unsafe = lambda x: f(x + 3, casting="unsafe") * 2
        np.testing.assert_array_equal(wg.jit(unsafe)(np.arange(2)), unsafe(np.arange(2)))
