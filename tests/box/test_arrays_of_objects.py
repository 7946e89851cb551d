"""Arrays of objects that hold traced numbers: beside other traced values they are arrays of numbers."""

import numpy as np
import pytest

import wengert as wg


def objects(*values):
    a = np.empty(len(values), object)
    for k, v in enumerate(values):
        a[k] = v
    return a


PROGRAMS = {
    "times a number": lambda x: np.sum(objects(x, 2.0) * x),
    "a number times": lambda x: np.sum(x * objects(x, 2.0)),
    "plus an array": lambda x: np.sum(objects(x, 2.0) + np.array([x, 1.0])),
    "an array minus": lambda x: np.sum((np.array([x, 1.0]) - objects(x * x, 2.0)) * np.array([1.0, 3.0])),
    "quotient": lambda x: np.sum(objects(x * x, 2.0) / np.array([x, 4.0])),
    "power": lambda x: np.sum(np.array([x, 2.0]) ** objects(x, 3.0)),
    "product": lambda x: objects(x, 2.0) @ np.array([1.0, x]),
    "function": lambda x: np.dot(objects(x, 2.0), np.array([x, x])),
    "ufunc": lambda x: np.sum(np.multiply(objects(x, 2.0), np.array([x, 1.0]))),
    "joined": lambda x: np.sum(np.concatenate([objects(x, 2.0), np.array([x * x])]) ** 2),
    "written": lambda x: np.sum(np.array([x, 2.0], dtype=object) * x),
    "alone": lambda x: np.sum(objects(x, 2.0)) * x,
    "constant": lambda x: np.sum(objects(3.0, 2.0).astype(float) * x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f, x = PROGRAMS[name], 1.5
    want = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(wg.grad(f)(x), want, rtol=1e-8)
    np.testing.assert_allclose(wg.jvp(f, (x,), (1.0,))[1], want, rtol=1e-8)
    np.testing.assert_allclose(wg.vmap(f)(np.array([x, 2.5])), [f(x), f(2.5)])
    np.testing.assert_allclose(wg.jit(f)(x), f(x))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), want, rtol=1e-8)


def test_chosen():
    def f(x):
        return np.sum(np.where(np.array([x, 1.0]) > 1.2, objects(x * x, 2.0), np.array([1.0, x])))

    assert wg.grad(f)(1.5) == wg.jvp(f, (1.5,), (1.0,))[1] == 4.0


def test_arrays_of_traced_arrays_are_refused():
    def f(x):
        return np.sum((objects(x * np.ones(2), 2.0) * x)[0])

    with pytest.raises(wg.errors.UnsupportedFunctionError, match=r"array of objects[\s\S]*np\.stack"):
        wg.grad(f)(1.5)
