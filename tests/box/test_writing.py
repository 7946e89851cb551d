"""Arrays are written to in place, with NumPy's semantics: by every index, operator and function that writes.

Views, and who sees what is written through them, are in `test_views.py`.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from harness import random_like
from programs import check_program

import wengert as wg
from wengert.errors import InPlaceError

RNG = np.random.default_rng(3)
SHAPE = (3, 4, 5)
X = RNG.normal(size=SHAPE) + 2.0
x6 = np.array([1.5, -0.5, 2.5, 0.7, -1.2, 3.1])
x23 = np.array([[1.5, -0.5, 2.5], [0.7, -1.2, 3.1]])
x34 = RNG.normal(size=(3, 4))

# ---------------------------------------------------------------------------------------------------------- every index

INDICES = {
    "int": 1,
    "negative int": -1,
    "NumPy int": np.int64(2),
    "all ints": (0, -1, 2),
    "two ints": (2, 1),
    "slice": slice(1, 3),
    "negative bounds": slice(-2, None),
    "step": slice(None, None, 2),
    "reversed": slice(None, None, -1),
    "negative step": (slice(None), slice(3, 0, -2)),
    "out of range slice": slice(1, 99),
    "empty slice": slice(2, 1),
    "Ellipsis": Ellipsis,
    "Ellipsis and int": (Ellipsis, 0),
    "int and Ellipsis": (0, Ellipsis, slice(1, 3)),
    "no axes": (),
    "newaxis": (None, 1),
    "newaxis last": (slice(None), 1, Ellipsis, None),
    "mask of all": X > 2.0,
    "mask of the first axis": np.array([True, False, True]),
    "mask of two axes": X[..., 0] > 2.0,
    "mask of a middle axis": (slice(None), np.array([True, False, True, True])),
    "mask of none": np.zeros(SHAPE, bool),
    "True": True,
    "False": False,
    "integer array": np.array([0, 2]),
    "negative integer array": (slice(None), np.array([-1, -3])),
    "list": [2, 0],
    "2-d integer array": np.array([[0], [2]]),
    "empty list": [],
    "two arrays": (np.array([0, 2]), np.array([1, 3])),
    "broadcast arrays": (np.array([[0], [2]]), np.array([1, 3])),
    "np.ix_": np.ix_([0, 2], [3, 1], [0, 4]),
    "array and slice": (np.array([2, 0]), slice(1, 3)),
    "slice between arrays": (np.array([0, 2]), slice(None), np.array([1, 3])),
    "int and array": (1, slice(None), np.array([4, 0])),
    "array, Ellipsis, int": (np.array([1, 2]), Ellipsis, 0),
    "mask and slice": (np.array([True, False, True]), slice(None, None, -2)),
    "mask and array": (np.array([True, False, True]), np.array([0, 3])),
    "newaxis and array": (None, np.array([0, 1]), Ellipsis),
    "np.s_": np.s_[..., 1:, ::2],
}
KINDS = {
    "both": lambda idx: lambda x, v: _written(x * x, idx, v * v),
    "into constants": lambda idx: lambda v: _written(np.arange(60.0).reshape(SHAPE), idx, v * v),
    "constants": lambda idx: lambda x: _written(x * x, idx, 3.5),
}


def _written(a, idx, v):
    a[idx] = v
    return a


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", INDICES)
def test_writing_at_every_index(name, kind):
    idx = INDICES[name]
    v = random_like(np.zeros(X[idx].shape), RNG)
    args = {"both": (X, v), "into constants": (v,), "constants": (X,)}[kind]
    check_program(KINDS[kind](idx), *args, second=name in ("int", "step", "two arrays"))


REPEATS = {
    "1-d": (x6, [1, 3, 1, 1]),
    "2-d": (x34, (np.array([0, 2, 0, 0]), np.array([1, 1, 1, 3]))),
    "rows": (x34, [1, 0, 1]),
    "columns": (x34, (slice(None), [2, 2, 0, 2])),
    "negative and positive": (x6, [0, -6, 5, -1]),
    "many": (x6, np.array([[1, 2, 1], [2, 2, 4]])),
}


@pytest.mark.parametrize("name", REPEATS)
def test_where_an_index_repeats_the_last_write_counts(name):
    x, idx = REPEATS[name]
    check_program(lambda x, v: _written(x * x, idx, v * v), x, random_like(x[idx], RNG))


VALUES = {
    "scalar": lambda x, v: v[0],
    "number": lambda x, v: 2.0,
    "int": lambda x, v: 7,
    "NumPy scalar": lambda x, v: np.float64(2.5),
    "0-d array": lambda x, v: np.array(1.5),
    "row": lambda x, v: v,
    "column": lambda x, v: v[:2, None],
    "leading axes of length one": lambda x, v: v[None, None, None] * v[0],
    "list of traced": lambda x, v: [v[0], v[1] * v[2], v[2]],
    "list of traced and numbers": lambda x, v: [v[0], 2.0, 3],
    "tuple of rows": lambda x, v: (v, v * v),
    "list of lists": lambda x, v: [[v[0], 1.0, v[1]], [0.0, v[2], v[2]]],
    "of itself": lambda x, v: x[1::-1, ::-1],
    "transposed product": lambda x, v: (x.T @ x)[:2],
    "generator unpacked": lambda x, v: [*(a * a for a in v)],
    "range": lambda x, v: range(3),
    "plain array": lambda x, v: np.arange(6).reshape(2, 3),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_broadcast(name):
    make = VALUES[name]

    def f(x, v):
        a = x * x
        a[:2] = make(x, v)
        return a

    check_program(f, np.concatenate([x23, x23 + 1]), np.array([1.2, -0.3, 0.8]))


def test_the_same_value_in_many_places():
    def f(x):
        a = np.empty((2, 3))
        a[0, 0] = a[1, 2] = x[0] * x[1]
        a[0, 1:] = a[1, :2] = x[2] ** 2
        return a

    check_program(f, np.array([1.2, -0.3, 0.8]))


def test_targets_of_every_kind():
    def f(x):
        a, b = np.zeros(3), np.zeros(3)
        a[0], b[0] = x[0], x[1] ** 2
        (a[1], b[1]), a[2] = (x[1], x[2]), x[0] * x[2]
        first, *b[1:] = x
        for b[0] in x * x:
            a[1] += b[0]
        with_star = [*a, *b]
        return np.array(with_star)

    check_program(f, np.array([1.2, -0.3, 0.8]))


# ------------------------------------------------------------------------------------------------- augmented assignment


def add_name(x, v):
    a = x * x
    a += v
    return a


def add_to_argument(x, v):
    x += v * v
    return x * x


def subtract_items(x, v):
    a = np.ones((2, 3))
    a[0] -= v
    a[1, 2] -= v[0]
    a[:, ::2] -= x[:, ::2]
    return a


def multiply_slice(x, v):
    a = x * x
    a[1:, :] *= v
    a[..., -1] *= a[..., 0]
    return a


def divide(x, v):
    a = x + 5.0
    a /= v
    a[0, :2] /= a[1, :2]
    return a


def power(x, v):
    a = x * x + 1.0
    a **= 2
    a[0] **= v
    return a


def matrix_product(x, v):
    a = np.eye(3) * v
    a @= x.T @ x
    a[:2] @= x.T @ x + 1.0
    return a


def remainder(x, v):
    a = x * 3.0
    a %= 2.0
    a[0] //= 0.4
    a[0] += v
    return a


def repeated_array(x, v):
    a = x[0] * x[1]
    a[[0, 0, 2]] += v
    return a


def masked(x, v):
    a = x * x
    a[a > 1.0] *= v[0]
    a[a < 1.0] += a[0, 0]
    return a


def scalars(x, v):
    total = 0.0
    for value in v:
        total += value * value
    product = x[0, 0]
    keep = product
    product *= total
    return product, keep, total


def name_of_a_view(x, v):
    a = x * x
    row = a[1]
    row += v
    row[1:] *= 2.0
    return a


def attributes(x, v):
    state = SimpleNamespace(a=np.zeros((2, 3)), total=0.0)
    state.a += x * x
    state.a[0] -= v
    state.a[1, 1] *= v[1]
    state.total += v[2]
    state.a[0, :] = state.a[0, :] * state.total
    return state.a


def items_of_containers(x, v):
    arrays = {"a": np.ones(3), "b": [np.zeros(3), np.ones(3)]}
    arrays["a"] += v
    arrays["b"][0] += x[0]
    arrays["b"][1][1:] *= v[1:]
    arrays["b"][0][0] = v[2]
    arrays["count"] = 0
    arrays["count"] += v[0]
    return arrays["a"] * arrays["count"], arrays["b"][0] * arrays["b"][1]


def evaluation_order(x, v):
    a = x[0] * x[0]

    def change():
        a[0] = 10.0 * v[0]
        return v[1]

    a[0] += change()  # Python reads a[0] first
    return a


def walrus_and_chain(x, v):
    a = np.zeros(3)
    a[(k := 1)] = (y := v[0] * x[0, 0])
    a[k + 1] += y * y
    a[0] = a[1] = v[2]
    return a


def annotated(x, v):
    a: np.ndarray = np.zeros(3)
    a[0]: float = v[0] * v[1]
    return a


AUGMENTED = [
    add_name, add_to_argument, subtract_items, multiply_slice, divide, power, matrix_product, remainder, repeated_array,
    masked, scalars, name_of_a_view, attributes, items_of_containers, evaluation_order, walrus_and_chain, annotated,
]  # fmt: skip


@pytest.mark.parametrize("f", AUGMENTED, ids=lambda f: f.__name__)
def test_augmented_assignment(f):
    check_program(f, x23, np.array([1.2, 0.3, 0.8]))


def test_the_shape_of_an_augmented_array_stays():
    def f(x):
        a = x * x
        a += np.ones((2, 3))
        return a

    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        wg.jvp(f, (np.ones(3),), (np.ones(3),))


# -------------------------------------------------------------------------------------------------- arrays of all kinds


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (2, 0, 2), (2, 3, 2)], ids=str)
def test_shapes(shape):
    def f(x):
        a = np.zeros(shape)
        a[...] = x * x
        a[()] = a * 2.0 + x
        return a

    check_program(f, np.full(shape, 1.5) if shape else 1.5)


def test_a_0_d_array_is_written_to():
    def f(x):
        total = np.zeros(())
        total[()] = x * x
        total[...] = total * x
        total += x
        return total

    check_program(f, 1.5)


def test_float32_arrays_stay_float32():
    def f(x):
        a = np.zeros(3, np.float32)
        a[0] = x[0]
        a[1:] = x[1:] * x[0]
        a += x
        return a

    x = np.array([1.5, -0.5, 2.5])
    for precision in (np.float32, np.float64):
        y, y_dot = wg.jvp(f, (x.astype(precision),), (np.ones(3, precision),))
        assert y.dtype == y_dot.dtype == np.float32
        np.testing.assert_allclose(y, f(x.astype(precision)), rtol=1e-6)
        jacobian = wg.jacrev(f)(x.astype(precision))
        assert jacobian.dtype == precision
        np.testing.assert_allclose(jacobian @ np.ones(3), y_dot, rtol=1e-6)
        np.testing.assert_allclose(jacobian, [[2, 0, 0], [-0.5, 2.5, 0], [2.5, 0, 2.5]], rtol=1e-6)


def test_a_float64_result_into_a_float32_array():
    def f(x):
        a = np.zeros(2, np.float32)
        np.multiply(x, x, out=a)
        return a

    y, y_dot = wg.jvp(f, (np.array([1.5, 2.0]),), (np.ones(2),))
    assert y.dtype == y_dot.dtype == np.float32
    np.testing.assert_array_equal(y_dot, [3.0, 4.0])


def test_complex_arrays():
    def f(x):
        a = np.zeros(3, complex)
        a[:2] = x
        a[2] = 1j * x[0] * x[1]
        a *= 1j
        return np.concatenate([a.real, a.imag])

    check_program(f, np.array([1.5, -0.5]))


def test_a_complex_value_into_a_real_array_is_an_error():
    def f(x):
        a = np.zeros(2)
        a[0] = x[0] * 1j
        return a

    with pytest.raises((TypeError, ValueError)):
        wg.jvp(f, (np.ones(2),), (np.ones(2),))


@pytest.mark.parametrize("make", [
    lambda: np.zeros(3, int), lambda: np.arange(3), lambda: np.zeros(3, bool), lambda: np.array([1, 2, 3]),
    lambda: np.full(3, 2), lambda: np.zeros_like([1, 2, 3]),
], ids=["zeros", "arange", "bool", "array", "full", "zeros_like"])  # fmt: skip
@pytest.mark.parametrize("write", [
    lambda a, x: _written(a, 0, x[0]), lambda a, x: _written(a, slice(None), x), lambda a, x: _written(a, 0, [x[0]]),
    lambda a, x: np.copyto(a, x), lambda a, x: np.put(a, [0], x[0]), lambda a, x: np.add.at(a, [0], x[0]),
    lambda a, x: np.add(a, x, out=a),
], ids=["item", "slice", "list", "copyto", "put", "add.at", "out"])  # fmt: skip
def test_integer_arrays_cannot_hold_a_derivative(make, write):
    def f(x):
        write(make(), x)
        return x

    with pytest.raises(InPlaceError, match="remedy"):
        wg.grad(lambda x: np.sum(f(x)))(np.ones(3))
    with pytest.raises(InPlaceError, match="remedy"):
        wg.jvp(f, (np.ones(3),), (np.ones(3),))


def test_integer_arrays_by_statement():
    def by_item(x):
        a = np.zeros(3, int)
        a[0] = x[0]
        return x

    def by_sum(x):
        a = np.arange(3)
        a += x
        return x

    def by_item_sum(x):
        a = np.arange(3)
        a[1] += x[0]
        return x

    for f in (by_item, by_sum, by_item_sum):
        with pytest.raises(InPlaceError, match=r"int64[\s\S]*remedy[\s\S]*test_writing.py"):
            wg.jvp(f, (np.ones(3),), (np.ones(3),))


def test_plain_numbers_are_cast_as_by_numpy():
    def f(x):
        a = np.zeros(3, int)
        a[0] = 2.7
        a[1:] = np.array([1.2, -1.9])
        a[2] += 3
        mask = np.zeros(3, bool)
        mask[a > 0] = 5
        b = np.zeros(3, np.float32)
        b[:] = 1 / 3
        return x * a * mask + b

    check_program(f, np.array([1.5, -0.5, 2.5]))


# ----------------------------------------------------------------------------------------------- errors leave no traces

ERRORS = {
    "int": (lambda a, x: a.__setitem__(7, x[0]), IndexError),
    "negative int": (lambda a, x: a.__setitem__(-4, x[0]), IndexError),
    "too many": (lambda a, x: a.__setitem__((0, 0), x[0]), IndexError),
    "array": (lambda a, x: a.__setitem__([0, 3], x[:2]), IndexError),
    "mask": (lambda a, x: a.__setitem__(np.array([True, False]), x[0]), IndexError),
    "float index": (lambda a, x: a.__setitem__(1.0, x[0]), IndexError),
    "string index": (lambda a, x: a.__setitem__("a", x[0]), IndexError),
    "shape": (lambda a, x: a.__setitem__(slice(0, 2), x), ValueError),
    "shape of an array index": (lambda a, x: a.__setitem__([0, 1], x), ValueError),
    "array into element": (lambda a, x: a.__setitem__(0, x), ValueError),
    "rank": (lambda a, x: a.__setitem__(slice(None), np.stack([x, x])), ValueError),
    "iadd": (lambda a, x: a.__iadd__(np.stack([x, x])), ValueError),
    "out": (lambda a, x: np.add(np.stack([x, x]), 1.0, out=a), ValueError),
    "put": (lambda a, x: np.put(a, [5], x[0]), IndexError),
    "copyto": (lambda a, x: np.copyto(a, np.stack([x, x])), ValueError),
    "add.at": (lambda a, x: np.add.at(a, [5], x[0]), IndexError),
    "put_along_axis": (lambda a, x: np.put_along_axis(a, np.array([5]), x[0], 0), IndexError),
}
ARRAYS = {"constants": lambda x: np.arange(3.0), "traced": lambda x: x * x, "argument": lambda x: x}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_numpy_and_leave_the_array_unchanged(name, kind):
    write, error = ERRORS[name]
    make = ARRAYS[kind]

    def f(x):
        y = x * 1.0
        a = make(x)
        with pytest.raises(error):
            write(a, y)
        return a * 1.0

    x = np.array([1.5, -0.5, 2.5])
    check_program(f, x)
    np.testing.assert_array_equal(f(x), make(x) * 1.0)


def test_errors_name_the_line():
    table = np.zeros(3)

    def f(x):
        table[0] = x[0]  # here
        return x

    with pytest.raises(InPlaceError, match=r"test_writing.py:\d+: table\[0\] = x\[0\]  # here"):
        wg.grad(lambda x: np.sum(f(x)))(np.ones(3))
    np.testing.assert_array_equal(table, 0.0)


# --------------------------------------------------------------------------------------- old values stay what they were


def test_what_was_computed_before_a_write_stays():
    def f(x):
        a = x * x
        b = np.sin(a)  # the coefficient cos(a) is of the old a
        c = a * x
        d = a + 0.0
        e = +a
        a[0] = 5.0
        a[1:] *= x[1:]
        return b, c, d, e, a, np.sin(a)

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_copies_are_not_written_to():
    def f(x):
        a = x * x
        copies = [a.copy(), np.copy(a), np.array(a), a * 1, a[[0, 1, 2]], a[a > -1.0], a.flatten(), np.concatenate([a])]
        a[0] = x[1]
        for k, c in enumerate(copies):
            c[1] = k * x[2]
        return a, *copies

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_elements_are_numbers_not_views():
    def f(x):
        a = x * x
        first = a[0]
        total = a.sum()
        a[0] = 7.0
        first += x[1]
        total *= 2.0
        return a, first, total

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_the_caller_of_a_function_sees_its_writes():
    def scale(a, factor):
        a[1:] *= factor
        a += 1.0

    def f(x):
        a = np.zeros(3)
        a[:] = x
        scale(a, x[0])
        b = x * x
        scale(b, 3.0)
        scale(b[:2], x[2])
        return a, b

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_the_same_array_as_two_arguments():
    def f(x, y):
        x[0] = 5.0 * y[1]
        return x * y

    a = np.array([1.5, -0.5, 2.5])
    expected = f(a.copy(), a.copy())
    np.testing.assert_allclose(wg.jvp(f, (a, a), (np.ones(3), np.ones(3)))[0], expected)
    np.testing.assert_array_equal(a, [1.5, -0.5, 2.5])


def test_a_result_that_is_written_to_later_by_its_owner():
    def f(x):
        a = x * x
        y = wg.jvp(lambda a: _written(a, 0, 2.0), (a,), (x,))[1]
        y[1] = x[0]
        g = wg.grad(lambda a: np.sum(a**3))(a)
        g[2] *= x[2]
        return a, y, g

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_writing_across_levels_of_differentiation():
    def inner(y, x, buffer):
        buffer[0] = y * x[0]
        buffer[1] += y**2
        return np.sum(buffer**2)

    def f(x):
        buffer = np.zeros(3)
        buffer[2] = x[2]
        slope = wg.grad(lambda y: inner(y, x, buffer.copy()))(x[1])
        buffer[1] = slope
        return buffer

    def functional(x):
        return np.stack([0.0 * x[0], 2 * x[1] * x[0] ** 2 + 4 * x[1] ** 3, x[2]])

    check_program(f, np.array([1.5, -0.5, 2.5]), reference=functional)


def test_a_value_of_an_inner_differentiation_must_not_be_left_in_an_outer_array():
    def f(x):
        buffer = x * x

        def inner(y):
            buffer[0] = y * y
            return y

        wg.grad(inner)(x[1])
        return np.sum(buffer)

    with pytest.raises(wg.errors.EscapedValueError):
        wg.grad(f)(np.ones(3))


def filled(x):
    y, z = np.ndarray(3), np.ndarray((2, 2), dtype=float, order="F")
    y[:], z[...] = 0.0, x * 2
    y[np.arange(3) > 0] = x**2
    return y @ np.arange(3) + z[0, 1] + np.ndarray(2, float, np.array([1.0, 2.0]))[1]


def test_arrays_that_are_made_by_their_class():
    for derivative in (wg.grad(filled), wg.jit(wg.grad(filled)), wg.grad(wg.jit(filled))):
        np.testing.assert_allclose(derivative(1.5), 6 * 1.5 + 2, rtol=1e-15)
    assert wg.jit(filled)(1.5) == filled(1.5)
