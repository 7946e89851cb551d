"""Arrays whose bytes are not in the machine's order: values, dtypes and effects are NumPy's."""

import numpy as np
import pytest

import wengert as wg

X = np.array([1.0, 2.5, -3.0])
SWAPPED = "S"  # of numpy.dtype.newbyteorder: the other one
OTHER = X.dtype.newbyteorder(SWAPPED)
TABLE = np.array([10.0, 20.0, 30.0]).astype(OTHER)


def filled(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1]
    y[0] = 7.0
    return y


def written(x):
    x[0] = 5.0
    x[1:] *= 2.0
    return x


def looped(x):
    s = 0.0
    for i in range(40):
        if x[i % 3] > 0:
            s += x[i % 3] * TABLE[i % 3]
    return s


PROGRAMS = {
    "computed": lambda x: np.sin(x) * 2.0,
    "summed": lambda x: np.sum(x * x),
    "itself": lambda x: x,
    "a copy": lambda x: x.copy(),
    "a part": lambda x: x[1:],
    "an element": lambda x: x[0],
    "reversed": lambda x: x[::-1],
    "joined": lambda x: np.concatenate([x, x]),
    "chosen": lambda x: np.where(x > 0, x, 0.0),
    "a product": lambda x: np.outer(x, x) @ x,
    "a solution": lambda x: np.linalg.solve(np.diag(np.array([1.0, 2.0, 4.0])), x),
    "cast": lambda x: x.astype(OTHER),
    "cast and computed": lambda x: x.astype(OTHER) * 2.0,
    "cast to single precision": lambda x: x.astype(np.dtype(np.float32).newbyteorder(SWAPPED)),
    "with a constant": lambda x: x + np.array([1.0, 2.0, 3.0], OTHER),
    "with integers": lambda x: x * np.array([1, 2, 3], np.dtype(np.int32).newbyteorder(SWAPPED)),
    "with an array from outside": lambda x: x * TABLE,
    "nothing but an array from outside": lambda x: TABLE[1:],
    "indexed": lambda x: x[np.array([2, 0, 2], np.dtype(np.int64).newbyteorder(SWAPPED))],
    "zeros": lambda x: np.zeros_like(x),
    "filled": filled,
    "written": written,
    "looped": looped,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("dtype", "order"), [("float64", "="), *[(d, SWAPPED) for d in ("f8", "f4", "c16", "i2")]])
def test_a_compiled_function_is_the_function(name, dtype, order):
    if dtype == "c16" and name in ("chosen", "looped", "cast", "cast and computed", "cast to single precision"):
        pytest.skip("complex numbers have no order, and are not cast to real ones")
    if dtype == "i2" and name == "written":
        pytest.skip("a product with a floating-point number is not cast to an integer")
    f = PROGRAMS[name]
    x = X.astype(np.dtype(dtype).newbyteorder(order))
    plain, given = x.copy(), x.copy()
    expected, found = f(plain), wg.jit(f)(given)
    np.testing.assert_allclose(np.asarray(found, expected.dtype), expected, rtol=1e-6)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(given, plain)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    def f(x):
        return np.sum(PROGRAMS[name](x) * 1.5)

    wanted = wg.grad(f)(X.copy())
    x = X.astype(OTHER)
    for g in (wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.grad(f)):
        found = g(x.copy())
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        assert found.dtype == np.float64  # in the processor's order, as all that is computed


def test_one_function_for_both_orders():
    f = wg.jit(lambda x: 2.0 * x)
    for _ in range(2):
        for x in (X, X.astype(OTHER), np.asfortranarray(np.outer(X, X).astype(OTHER))):
            np.testing.assert_array_equal(f(x), 2.0 * x)
