"""NumPy's functions that write: `out=`, `ufunc.at`, and those that fill an array they are given."""

import numpy as np
import pytest
from programs import check_program

import wengert as wg

x6 = np.array([1.5, -0.5, 2.5, 0.7, -1.2, 3.1])
x23 = x6.reshape(2, 3)

# ------------------------------------------------------------------------------------------- out= and writing functions


def out_of_ufuncs(x, v):
    a, b = np.empty((2, 3)), np.empty((2, 3))
    np.multiply(x, x, out=a)
    np.sin(a, b)
    np.add(a, b, out=(a,))
    np.exp(a * 0.1, out=a)
    return a, b


def out_with_where(x, v):
    a = np.full((2, 3), 7.0)
    np.sqrt(x, out=a, where=x > 0)
    np.negative(v, out=a[1], where=[True, False, True])
    return a


def out_with_where_of_numbers(x, v):
    a, b = np.array(7.0), np.zeros_like(np.var(x))
    np.divide(1.0, x[0, 0] - 1.5, out=a, where=x[0, 0] > 1.6)
    return a, np.divide(x[0, 1], np.var(x), out=b, where=np.var(x) > 1e-3)


def out_of_functions(x, v):
    a, b, c = np.empty(3), np.empty((2, 3)), np.empty((4, 3))
    np.sum(x * x, axis=0, out=a)
    np.cumsum(x, axis=1, out=b)
    np.concatenate([x, b], out=c)
    np.clip(c, -1.0, 2.0, out=c)
    return a, b, c


def out_of_products(x, v):
    a, b = np.empty((2, 2)), np.empty(2)
    np.matmul(x, x.T, out=a)
    np.dot(x, v, out=b)
    c = np.einsum("ij,j->i", x, v, out=np.empty(2))
    return a, b, c


def out_into_a_view(x, v):
    a = np.zeros((3, 3))
    np.multiply(x, v, out=a[1:])
    np.add(a[0], v, out=a[0])
    np.maximum(a[:, 0], 0.5, out=a[:, 0])
    return a


def out_into_an_argument(x, v):
    np.multiply(x, v, out=x)
    return x * x


def out_is_returned(x, v):
    a = np.zeros(3)
    b = np.add(v, x[0], out=a)
    b[0] = 5.0 * v[1]
    return a


def out_of_two(x, v):
    fraction, whole = np.empty(3), np.empty(3)
    np.modf(v, out=(fraction, whole))
    return fraction * v


def out_of_cells(x, v):
    a, b = np.arange(3.0), np.ones(3)
    np.add(a, b, out=a)
    a[1] = v[0]
    np.subtract(a, b, out=b)
    return a, b


def add_at(x, v):
    a = np.zeros(4)
    np.add.at(a, [0, 2, 0, 0], [v[0], v[1], v[2], v[0] * v[1]])
    np.add.at(a, slice(2, None), v[:2])
    return a


def add_at_2d(x, v):
    a = x * x
    np.add.at(a, (np.array([0, 0, 1]), np.array([2, 2, 0])), v)
    np.subtract.at(a, (slice(None), [1, 1]), v[:2])
    return a


def multiply_at(x, v):
    a = np.full(4, 2.0)
    np.multiply.at(a, [1, 1, 3], v)
    np.divide.at(a, [3, 3], v[1:])
    return a


def maximum_at(x, v):
    a = x[0] * 1.0
    np.maximum.at(a, [0, 1, 1, 2], [v[0], v[1] + 5.0, v[2] + 5.0, -9.0])
    return a


def negative_at(x, v):
    a = x * x
    np.negative.at(a, (0, [0, 0, 1]))
    np.exp.at(a, (1, 2))
    return a * v


def power_at(x, v):
    a = v * v + 1.0
    np.power.at(a, [0, 0, 2], 2.0)
    return a


def copyto(x, v):
    a = np.zeros((2, 3))
    np.copyto(a, x)
    np.copyto(a, v, where=a > 1.0)
    np.copyto(a[0], 3.0, where=[True, False, False])
    return a


def put(x, v):
    a = np.ones((2, 3))
    np.put(a, [0, 4, -1], v)
    np.put(a, [7, -8], v[:2] * 2.0, mode="wrap")
    np.put(a, [-3, 99], x[0], mode="clip")
    a.put([1, 2], v[2] * v[2])
    np.put(a, [], v)
    return a


def put_cycles_and_repeats(x, v):
    a = x * x
    np.put(a, [0, 1, 2, 3, 0], v[:2])
    return a


def putmask(x, v):
    a = x * 1.0
    np.putmask(a, a > 0.5, v)
    np.putmask(a, [[True, False, False], [False, False, True]], a * a)
    return a


def place(x, v):
    a = x * 1.0
    np.place(a, a > 0.5, v[:2])
    np.place(a, a < 0.1, [9.0, -9.0])
    return a


def put_along_axis(x, v):
    a = x * x
    np.put_along_axis(a, np.array([[2], [0]]), v[:2, None], axis=1)
    np.put_along_axis(a, np.array([[1, 0, 1]]), v * v, axis=0)
    np.put_along_axis(a, np.argmin(x, axis=1)[:, None], 9.0, axis=-1)
    return a


def fill_diagonal(x, v):
    a, tall, cube = np.zeros((3, 3)), np.ones((7, 3)), np.zeros((2, 2, 2))
    np.fill_diagonal(a, v)
    np.fill_diagonal(tall, v[0], wrap=True)
    np.fill_diagonal(cube, v[1] * v[2])
    wide = x * x
    np.fill_diagonal(wide, 0.0)
    return a, tall, cube, wide


def fill(x, v):
    a, b = np.empty((2, 3)), x * x
    a.fill(v[0])
    b.fill(2.0)
    b[0] = v
    return a, b


def sort_in_place(x, v):
    a = x * x
    a.sort()
    b = x * 1.0
    b.sort(axis=0)
    c = np.concatenate([v, x[0]])
    c.partition(2)
    return a, b, c[:3].sum() * c[2]


def sort_of_a_part(x, v):
    a = np.concatenate([x[0], v, x[1]])
    a[2:7].sort()
    a[::2].sort(kind="stable")
    return a


def flat(x, v):
    a = x * x
    a.flat[1] = v[0]
    a.flat[3:] = v * v
    a.flat[[0, 2]] = 2.0
    b = np.zeros((3, 2))
    b.flat = v
    b.flat[-1] += x[0, 0]
    return a, b, a.flat[2] * a.flat[3]


def setitem_as_a_method(x, v):
    a = np.zeros(3)
    a.__setitem__(1, v[0])
    a.__setitem__(slice(None, 1), v[2] * v[1])
    a.__iadd__(v)
    return a


def shuffle_by_swaps(x, v):
    a = v * v
    a[0], a[2] = a[2], a[0]
    a[[0, 1]] = a[[1, 0]]
    a[1:], a[:-1] = a[:-1] * 2.0, a[1:] * 3.0
    return a


WRITERS = [
    out_with_where_of_numbers, out_of_ufuncs, out_with_where,
    out_of_functions, out_of_products, out_into_a_view, out_into_an_argument,
    out_is_returned, out_of_two, out_of_cells, add_at, add_at_2d, multiply_at, maximum_at, negative_at, power_at,
    copyto, put, put_cycles_and_repeats, putmask, place, put_along_axis, fill_diagonal, fill, sort_in_place,
    sort_of_a_part, flat, setitem_as_a_method, shuffle_by_swaps,
]  # fmt: skip


@pytest.mark.parametrize("f", WRITERS, ids=lambda f: f.__name__)
def test_functions_that_write(f):
    check_program(f, x23, np.array([1.2, 0.3, 0.8]))


def test_writing_functions_return_nothing():
    def f(x):
        a = np.zeros(3)
        assert np.copyto(a, x) is None
        assert np.put(a, [0], x[1]) is None
        assert np.add.at(a, [0], x[0]) is None
        assert a.sort() is None
        assert a.fill(x[0]) is None
        assert np.fill_diagonal(np.zeros((3, 3)), x) is None
        return a

    check_program(f, x6[:3])


def test_out_of_methods():
    def f(x):
        total, running = np.zeros(3), np.zeros((2, 3))
        x.sum(axis=0, out=total)
        assert x.cumsum(axis=1, out=running) is running
        return np.sum(total**2) + np.sum(running**3)

    x = np.arange(6.0).reshape(2, 3) / 5
    expected = 2 * x.sum(axis=0) + np.cumsum(3 * np.cumsum(x, axis=1)[:, ::-1] ** 2, axis=1)[:, ::-1]
    np.testing.assert_allclose(wg.grad(f)(x), expected, rtol=1e-13)
    np.testing.assert_allclose(wg.jacfwd(f)(x), expected, rtol=1e-13)


def test_bytes_that_are_swapped_in_place_are_not_the_callers():
    def f(a, b):
        a.byteswap(inplace=True)
        return np.sum(a.byteswap() * b)

    a, b = np.array([3.0, 1.0]), np.array([0.5, 2.0])
    for derivative in (wg.grad(f, argnums=1), wg.jacfwd(f, argnums=1)):
        np.testing.assert_array_equal(derivative(a, b), [3.0, 1.0])
        np.testing.assert_array_equal(a, [3.0, 1.0])
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="byteswap"):
        wg.grad(f)(a, b)


def test_iterators():
    def f(a, b):
        for v in np.nditer(a, op_flags=["readwrite"]):
            v[...] = 2 * v
        return np.sum(a * b)

    a, b = np.array([3.0, 1.0]), np.array([0.5, 2.0])
    np.testing.assert_array_equal(wg.grad(f)(a, b), [1.0, 4.0])
    np.testing.assert_array_equal(wg.grad(f, argnums=1)(a, b), [6.0, 2.0])
    np.testing.assert_array_equal(a, [3.0, 1.0])
    np.testing.assert_array_equal(wg.grad(lambda a, b: sum([v * b[1] for v in np.nditer(a)]), argnums=1)(a, b), [0, 4])


def through_iterators(x):
    y = np.outer(x, x)
    with np.nditer(y, flags=["multi_index"], op_flags=["readwrite"]) as it:
        for v in it:
            if v > 1.5:
                v[...] = v * it.multi_index[0]
    total, it = 0.0, np.nditer(x, flags=["c_index"])
    while not it.finished:
        total += it[0] * it.index
        it.iternext()
    for u, w in np.nditer([y, x]):
        total += u * np.sin(w)
    for w in np.nditer(y.T, order="C"):
        total = total * 0.5 + w
    for w in np.nditer(y, order="F"):
        total = total * 0.5 + w
    return total


def test_iterators_as_numpy_has_them():
    x = np.array([1.0, 2.0, 0.5])
    slope = [(through_iterators(x + 1e-6 * e) - through_iterators(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert wg.jit(through_iterators)(x) == pytest.approx(through_iterators(x), rel=1e-14)
    for gradient in (wg.grad(through_iterators), wg.jit(wg.grad(through_iterators))):
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-7)


def test_iterators_that_are_refused():
    """Which comes first depends on memory; and a step in a loop of the program would be taken only once."""

    def while_small(x):
        it, total = np.nditer(x), 0.0
        while not it.finished and total < 2:
            total += it[0]
            it.iternext()
        return total

    x = np.ones((2, 3))
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="order"):
        wg.grad(lambda x: sum(v for v in np.nditer(x.T)))(x)
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="loop or branch"):
        wg.jit(while_small)(x[0])
    np.testing.assert_array_equal(wg.grad(while_small)(x[0]), [1, 1, 0])
