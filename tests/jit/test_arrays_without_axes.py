"""Arrays without axes in compiled programs: read with a new axis, written to, and differentiated."""

import numpy as np
import pytest

import wengert as wg


def new_axis(x):
    return np.sum(np.sin(np.asarray(x)[None]) ** 2)


def new_axes(x):
    return np.sum(np.exp(np.asarray(x)[None, ..., None]) * np.array([[1.0], [2.0]]))


def written(x):
    y = np.zeros(())
    y[...] = x * x
    y[()] += np.sin(x)
    y[None] *= x
    return y * 1.0


def written_with_axes(x):
    y = np.ones(())
    y[None, ...] = np.array([[x * x]])
    return y + x


def in_a_loop(x):
    y = np.zeros(())
    y[...] = x
    for i in range(20):
        y[...] = y * 0.9 + 0.1 * np.sin(y) * i / 20
    return y * y


def reshaped(x):
    v = np.array([x, 2 * x])
    a = np.reshape(v[0:1], ())[()]
    return a * a * v[1]


def another_name(x):
    y = np.array(x)
    z = y
    z += x * x
    return y * 1.0


def another_name_of_a_constant(x):
    y = np.array(0.5)
    z = y
    z *= x
    return y * z


def another_name_in_a_loop(x):
    y = np.full((), 2 * x)
    for _ in range(3):
        z = y
        z *= np.sin(x)
    return y + 0.0


def in_a_list(x):
    items = [np.array(x), np.array(2 * x)]
    for _ in range(4):
        items[0] += items[1]
        items[1] *= 0.5
    return items[0] * items[1]


def read_before(x):
    y = np.array(x)
    number, copy = y[()], y.copy()
    y += 1
    return number * y * copy


FUNCTIONS = [new_axis, new_axes, written, written_with_axes, in_a_loop, reshaped, another_name,
             another_name_of_a_constant, another_name_in_a_loop, in_a_list, read_before]  # fmt: skip
PLACES = {
    "without": lambda operator, f: operator(f),
    "outside": lambda operator, f: wg.jit(operator(f)),
    "inside": lambda operator, f: operator(wg.jit(f)),
    "both": lambda operator, f: wg.jit(operator(wg.jit(f))),
}


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_values_and_derivatives(f, place):
    h, x = 1e-5, 0.7
    slope = (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12 * h)
    put = PLACES[place]
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
    np.testing.assert_allclose(put(wg.grad, f)(x), slope, rtol=1e-8)
    np.testing.assert_allclose(put(lambda f: lambda x: wg.jvp(f, (x,), (1.0,))[1], f)(x), slope, rtol=1e-8)
    bend = (wg.grad(f)(x + h) - wg.grad(f)(x - h)) / (2 * h)
    np.testing.assert_allclose(put(wg.hessian, f)(x), bend, rtol=1e-6)
    xs = np.array([0.7, -0.2, 1.1])
    np.testing.assert_allclose(put(wg.vmap, f)(xs), [f(x) for x in xs], rtol=1e-13)


def an_argument_under_another_name(x):
    y = x
    y += 1.0
    y *= 2.0
    return x * y


@pytest.mark.parametrize("place", PLACES)
def test_arguments_are_written_to(place):
    put = PLACES[place]
    x = np.array(2.0)
    np.testing.assert_allclose(an_argument_under_another_name(x), 36.0)
    np.testing.assert_allclose(x, 6.0)
    x = np.array(2.0)
    np.testing.assert_allclose(wg.jit(an_argument_under_another_name)(x), 36.0)
    np.testing.assert_allclose(x, 6.0)
    for operator in (wg.grad, wg.jacfwd):
        x = np.array(2.0)
        np.testing.assert_allclose(put(operator, an_argument_under_another_name)(x), 24.0)
        assert x == 2.0
    np.testing.assert_allclose(put(wg.hessian, an_argument_under_another_name)(np.array(2.0)), 8.0)


def test_arguments_beside_one_without_axes():
    """Each argument has its own derivative, whatever the one before it is."""
    f = lambda a, b, c: np.sum((a + b) ** 2) * c
    args = np.array(0.3), np.array([0.4, 1.7]), np.array(2.0)
    wanted = [4 * (0.7 + 2.0), 4 * np.array([0.7, 2.0]), 0.7**2 + 4.0]
    for gradient in (wg.grad(f, (0, 1, 2)), wg.jit(wg.grad(f, (0, 1, 2))), wg.grad(wg.jit(f), (0, 1, 2))):
        for found, right in zip(gradient(*args), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-14)
    assert wg.jvp(f, args, (np.array(1.0), np.zeros(2), np.array(0.0)))[1] == pytest.approx(wanted[0])


def test_an_array_made_of_a_scalar_is_its_own():
    """NumPy's scalars cannot be written to: what is written to the array stays there."""

    def f(a):
        u = np.asarray(a)[None]
        u[0] *= a
        return a + 0 * u[0]

    x = np.array([3.0, 2.0])
    assert wg.jit(f)(np.float64(3.0)) == 3.0
    for g in (wg.vmap(f), wg.vmap(wg.jit(f))):
        np.testing.assert_array_equal(g(x), x)
