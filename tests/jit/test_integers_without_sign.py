"""Integers without a sign as places, bounds, shifts and numbers of Python's, in compiled functions: what wraps around
below zero is large, and not counted from the end."""

import math

import numpy as np
import pytest

import wengert as wg

X = np.arange(1.0, 8.0)
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")


def stored(x, k):
    y = np.zeros(7)
    y[-k] = x[0]
    return np.sum(y * x)


def added(x, k):
    y = x * 1.0
    np.add.at(y, -k, x[0])
    return np.sum(y * x)


def put(x, k):
    y = x * 1.0
    np.put(y, -k, 3 * x[0])
    return np.sum(y * x)


def counted(x, k):
    s = x[0]
    for j in range(k - k.dtype.type(3)):
        s = s + x[j]
        if j > 3:
            break
    return s


def started(x, k):
    s = 0 * x[0]
    for j in range(k - k.dtype.type(1), 6):
        s = s + x[j]
    return s


PROGRAMS = {
    "a place": lambda x, k: x[-k],
    "a difference": lambda x, k: x[k - k.dtype.type(2)],
    "of a row": lambda x, k: np.outer(x, x)[-k, 0],
    "of a column": lambda x, k: np.sum(np.outer(x, x)[:, -k]),
    "several": lambda x, k: np.sum(x[np.array([k, -k])]),
    "of a list": lambda x, k: [x[0], x[1], x[2]][-k],
    "of a tuple": lambda x, k: (1.0, 2.0, 3.0)[-k] * x[0],
    "taken": lambda x, k: np.take(x, -k),
    "clipped": lambda x, k: np.take(x, -k, mode="clip"),
    "wrapped": lambda x, k: np.take(x, -k, mode="wrap"),
    "a bound": lambda x, k: np.sum(x[-k:]),
    "a shift": lambda x, k: np.sum(np.roll(x, -k) * x),
    "stored": stored,
    "added": added,
    "put": put,
    "counted": counted,
    "started": started,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.uint64, np.uint8])
def test_places_and_bounds(name, dtype):
    f = PROGRAMS[name]
    compiled, slope = wg.jit(f), wg.jit(wg.grad(f))
    for k in (dtype(0), dtype(1), dtype(5)):
        try:
            expected = f(X.copy(), k)
        except (IndexError, OverflowError):  # (of which NumPy's arrays and Python's lists have one each)
            with pytest.raises((IndexError, OverflowError)):
                compiled(X, k)
            continue
        np.testing.assert_allclose(compiled(X, k), expected)
        if dtype is np.uint8:
            continue
        h = 0.5  # all are polynomials of degree two
        differences = [(f(X + h * e, k) - f(X - h * e, k)) / (2 * h) for e in np.eye(7)]
        np.testing.assert_allclose(slope(X, k), differences, atol=1e-12)


def test_integers_of_python_have_a_sign():
    f = wg.jit(lambda x, k: x * int(-k))
    with pytest.raises(OverflowError, match="64 bits"):
        f(2.0, np.uint64(1))
    assert f(2.0, np.uint64(0)) == 0.0


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int64])
def test_functions_of_math_have_double_precision(dtype):
    def f(x, k):
        return x * (
            math.sqrt(k) + math.log(k) + math.pow(k, -1) + math.fabs(k) / 3 + math.atan2(k, 3) + math.fsum([k, k])
        )

    assert wg.jit(f)(2.0, dtype(5)) == pytest.approx(f(2.0, dtype(5)), rel=1e-15)
