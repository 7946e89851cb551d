"""Derivative operators never change the caller's arrays, whoever writes to them, and under whatever name."""

import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import operator

import numpy as np
import pytest

import wengert as wg
from wengert.capture.instrument import instrument, written_arguments

X = np.array([0.3, -0.7, 1.1])


def halved(u):
    u[0] *= 0.5


def handed_on(u, k):
    if k:
        handed_on(u, k - 1)
    else:
        halved(u=u)


def by_itself(x, A):
    A[1] = 2.0 * A[0]
    return np.sum(A * x)


def by_another_name(x, A):
    w = A
    w += 1.0
    return np.sum(A * x)


def through_a_view(x, A):
    v = np.ravel(A[1:].T)
    v[0] = 5.0
    for row in A:
        row *= 2.0
    return np.sum(A * x)


def in_a_helper(x, A):
    halved(A)
    return np.sum(A * x)


def in_a_helper_of_a_helper(x, A):
    handed_on(A, 2)
    return np.sum(A * x)


def in_a_closure(x, A):
    def inner():
        A[2, 1] = 3.0

    inner()
    return np.sum(A * x)


def by_numpy(x, A):
    np.add.at(A, [0, 0], 1.0)
    np.copyto(A[2], 7.0)
    np.multiply(A, 2.0, out=A)
    A.fill(1.5)
    return np.sum(A * x)


def by_a_method_of_a_row(x, A):
    A[1].fill(0.5)
    A[0][::-1].sort()
    A.T[0].put([0], 3.0)
    return np.sum(A * x)


def by_a_method_of_the_class(x, A):
    np.ndarray.sort(A)
    np.ndarray.fill(A[0], 2.0)
    return np.sum(A * x)


def as_the_target_of_a_loop(x, A):
    for A[0, 1] in (1.0, 2.0):
        pass
    return np.sum(A * x)


def of_traced_values(x, A):
    halved(A)
    store(A, x)
    return np.sum(A * x)


def store(A, x):
    A[0] = x * x


def in_a_method(x, A):
    Owner(A).change()
    return np.sum(A * x)


class Owner:
    def __init__(self, array):
        self.array = array

    def change(self):
        self.array[0] = 4.0


def of_a_result_without_a_name(x, A):
    np.atleast_2d(A)[0] = 0.5
    np.asarray(A)[1, 0] = 3.0
    A.reshape(-1)[5] = 4.0
    return np.sum(A * x)


def of_the_same_array(x, A):
    v, w, u = np.asarray(A), np.array(A, copy=None), np.require(A)
    v[0] = 0.5
    w[1, 0] = 3.0
    u[1, 1] = 4.0
    return np.sum(A * x)


def where_results_go(x, A):
    np.add(A, 1.0, A)
    np.clip(A, 1.0, 5.0, A)
    operator.setitem(A, 0, 2.0)
    operator.imul(A, 2.0)
    A.__setitem__(1, 3.0)
    return np.sum(A * x)


def through_a_library(x, A):
    for row in itertools.chain(A[:1], A[1:2]):
        row += 1.0
    for row in itertools.islice(A, 1):
        row *= 2.0
    for row, k in itertools.product([A], [1.0]):
        row += k
    collections.deque(A)[0] += 3.0
    dataclasses.replace(Held(A), size=2).array[1] = 4.0
    copy.copy(Held(A)).array[2] -= 1.0
    functools.reduce(lambda v, w: w, [A, A])[0, 0] = 7.0
    with contextlib.nullcontext(A) as v:
        v *= 0.5
    return np.sum(A * x)


@dataclasses.dataclass
class Held:
    array: np.ndarray
    size: int = 1


def by_a_method_that_is_called_later(x, A):
    fill = A[0].fill
    functools.partial(A[1].fill, 2.0)()
    fill(5.0)
    return np.sum(A * x)


def through_letters(x, A):
    u = np.einsum("ij->ji", A)
    u += True
    np.einsum("ii->i", A)[:] = 3.0
    return np.sum(A * x)


def in_containers_put_together(x, A):
    (u, *_) = (A[:1],) + (x,)
    u[0] = x[0] + 7.0
    v = []
    v += [A]
    v[0][1] *= 2.0
    ([A] * 2)[1][2, 0] = 3.0
    ({"u": A} | {"v": x})["u"][2, 1] = 4.0
    copy.copy([A])[0][2, 2] -= 1.0
    dict(u=A).copy()["u"][1, 1] = 5.0
    return np.sum(A * x)


def given_by_functions_inside(x, A):
    def rows():
        yield A[0]
        yield from A[1:]

    def get():
        return lambda: A

    class Table:
        array = A

        @property
        def first(self):
            return A[0]

    for row in rows():
        row += 1.0
    get()()[1] *= 2.0
    (lambda: A)()[2, 0] = 3.0
    Table.array[2, 1] = 4.0
    Table().first[1] = 5.0
    return np.sum(A * x)


def by_defaults_and_attributes(x, A):
    def store(k, u=A, *, v=A[1]):
        u[0] = k
        v[2] = k

    held = Held(x)
    setattr(held, "array", A[2])  # noqa: B010
    held.array[1] = 4.0
    store(7.0)
    A[:, 1].__setitem__(0, 9.0)
    return np.sum(A * x)


def by_functions_that_libraries_call(x, A):
    np.apply_along_axis(lambda row: row.sort() or 1.0, 1, A[:, ::-1])
    np.fromfunction(lambda i, u=A: u.__setitem__(1, 7.0) or i, (2,))
    return np.sum(A * x)


PROGRAMS = [
    in_containers_put_together, given_by_functions_inside, by_defaults_and_attributes, by_functions_that_libraries_call,
    through_a_library, by_a_method_that_is_called_later, through_letters,
    of_a_result_without_a_name, of_the_same_array, where_results_go, by_itself, by_another_name,
    through_a_view, in_a_helper, in_a_helper_of_a_helper, in_a_closure, by_numpy, by_a_method_of_a_row,
    by_a_method_of_the_class, as_the_target_of_a_loop,
    of_traced_values, in_a_method,
]  # fmt: skip
OPERATORS = {
    "grad": lambda f: wg.grad(f),
    "jacfwd": lambda f: wg.jacfwd(f),
    "hessian": lambda f: wg.hessian(f),
    "jvp": lambda f: lambda x, A: wg.jvp(lambda x: f(x, A.copy()), (x,), (X,))[1],
    "hvp, reverse-forward": lambda f: lambda x, A: wg.hvp(f, mode="reverse-forward")(x, A, X),
    "hvp, reverse-reverse": lambda f: lambda x, A: wg.hvp(f, mode="reverse-reverse")(x, A, X),
    "partial": lambda f: wg.grad(functools.partial(f)),
    "decorated": lambda f: wg.grad(passed_on(f)),
    "by name": lambda f: lambda x, A: wg.grad(passed_on(f))(x, A=A),
}


def passed_on(f):
    @functools.wraps(f)
    def wrapper(*args, **options):
        return f(*args, **options)

    return wrapper


@pytest.mark.parametrize("place", ["nowhere", "outside", "inside"])
@pytest.mark.parametrize("transformed", OPERATORS.values(), ids=list(OPERATORS))
@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_the_callers_arrays_stay_and_the_derivative_is_right(f, transformed, place):
    inner = wg.jit(f) if place == "inside" else f
    derivative = wg.jit(transformed(inner)) if place == "outside" else transformed(inner)
    A = np.arange(9.0).reshape(3, 3)
    expected = transformed(lambda x, A: f(x, A.copy()))(X, np.arange(9.0).reshape(3, 3))
    np.testing.assert_allclose(derivative(X.copy(), A), expected, rtol=1e-12)
    np.testing.assert_array_equal(A, np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_the_derivative_is_that_of_the_function(f):
    numerical = wg.numerical.grad(lambda x: f(x, np.arange(9.0).reshape(3, 3)))(X)
    np.testing.assert_allclose(wg.grad(f)(X, np.arange(9.0).reshape(3, 3)), numerical, rtol=1e-6)


def test_what_is_only_read_is_not_put_into_cells():
    def predicted(w, X):
        return X @ w

    def loss(w, X, y):
        r = predicted(w, X) - y
        return np.mean(r * r)

    def shifted(x, A):
        y = 2 * A + x
        y[0] = 1.0
        z = predicted(A, x) - A.copy()
        z += 1.0
        return np.sum(y) + np.sum(z)

    arrays = (False, False)
    assert written_arguments(instrument(loss), (False, False, False), {}) == ((), [])
    assert written_arguments(instrument(shifted), arrays, {}) == ((), [])
    assert written_arguments(instrument(by_itself), arrays, {}) == ((1,), [])
    assert written_arguments(instrument(by_itself), (False,), {"A": False}) == ((), ["A"])
    assert written_arguments(instrument(in_a_helper_of_a_helper), arrays, {}) == ((1,), [])


def copied_and_changed(x, p):
    q = p.copy()
    q["u"] *= x[0]
    return np.sum(q["u"] * x)


def joined_and_changed(x, p):
    (p["list"] + [x])[0][0] = x[1]
    return np.sum(p["list"][0] * x)


@pytest.mark.parametrize("f", [copied_and_changed, joined_and_changed])
@pytest.mark.parametrize("operator", [wg.grad, wg.jacfwd, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_arrays_in_containers_stay(f, operator):
    p = {"u": np.arange(3.0), "list": [np.arange(3.0), X]}
    numerical = wg.numerical.grad(lambda x: f(x, copy.deepcopy(p)))(X)
    np.testing.assert_allclose(operator(f)(X, p), numerical, rtol=1e-6)
    np.testing.assert_array_equal(p["u"], np.arange(3.0))
    np.testing.assert_array_equal(p["list"][0], np.arange(3.0))


class Meter:
    """State: neither an argument of which a copy is made, nor a container."""

    def __init__(self):
        self.calls, self.mean = 0, np.zeros(3)

    def loss(self, x):
        self.calls += 1
        self.mean[:] += 1.0
        return np.sum(self.mean * x**2)


@pytest.mark.parametrize("operator", [wg.grad, wg.jacfwd, wg.jacrev, wg.hessian, wg.value_and_grad])
@pytest.mark.parametrize("way", ["argument", "method", "closure"])
def test_state_changes_as_in_python(operator, way):
    meter = Meter()
    calls = {
        "argument": lambda: operator(lambda x, meter: meter.loss(x))(X, meter),
        "method": lambda: operator(meter.loss)(X),
        "closure": lambda: operator(lambda x: meter.loss(x))(X),
    }
    for n in (1, 2):
        calls[way]()
        assert meter.calls == n
        np.testing.assert_array_equal(meter.mean, np.full(3, float(n)))


def test_views_that_others_make_of_the_callers_arrays_cannot_be_written_to():
    """Nobody follows such a write."""

    def f(x, A):
        windows = np.lib.stride_tricks.sliding_window_view(A, 2, 0, writeable=True)
        windows[0] = 3.0
        return np.sum(A * x)

    A = np.arange(9.0).reshape(3, 3)
    with pytest.raises(ValueError, match="read-only"):
        wg.grad(f)(X, A)
    np.testing.assert_array_equal(A, np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("same", [np.asarray, np.asanyarray, np.ascontiguousarray, lambda A: np.array(A, copy=None)])
def test_another_name_of_an_array_from_outside_is_that_array(same):
    A = np.arange(3.0)

    def f(x):
        v = same(A)
        v[0] = 5.0
        return np.sum(A * x)

    value, dot = wg.jvp(f, (X,), (X,))
    np.testing.assert_allclose((value, dot), np.sum(A * X))
    np.testing.assert_array_equal(A, [5.0, 1.0, 2.0])  # as without a derivative
