"""Questions by which functions find out whether they were given a number or a sequence, in every mode and compiled."""

import numpy as np
import pytest

import wengert as wg


def by_iter(x):
    try:
        iter(x)
    except TypeError:
        return x * x
    return np.sum(np.asarray(x) ** 3)


def by_len(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    return n * x**2


def by_broadcast(x):
    b = np.broadcast(x, np.zeros((2, 1)))
    return np.sum(np.broadcast_to(x, b.shape) * x) * b.size / b.nd


def by_pairs(x):
    total = 0.0
    for a, b in np.broadcast(x, np.array([1.0, 2.0, 4.0])):
        total = total + a * a * b
    return total


def by_broadcast_arrays(x):
    a, b = np.broadcast_arrays(x, 2.0)
    return np.sum(a * b) * a.size + a.ndim + b.shape[0] if a.shape else a * a * b


def by_checking(x):
    return np.sum(np.asarray_chkfinite(x) ** 2)


@pytest.mark.parametrize(
    "f", [by_iter, by_len, by_broadcast, by_pairs, by_broadcast_arrays, by_checking], ids=lambda f: f.__name__
)
def test_a_number(f):
    x, h = 0.75, 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(x), f(x))


def test_an_array_is_broadcast():
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(wg.grad(by_pairs)(x), 2 * x * np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(wg.jit(wg.grad(by_pairs))(x), 2 * x * np.array([1.0, 2.0, 4.0]))


def test_what_is_not_finite():
    with pytest.raises(ValueError, match="infs or NaNs"):
        wg.jit(by_checking)(np.array([1.0, np.inf]))


def checked(x):
    try:
        if not np.allclose(x, np.abs(x)):
            raise ValueError("negative")
        y = x * 2.0
    except ValueError:
        y = -x * 3.0
    return np.sum(y * x)


@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), np.array([1.0, -2.0])])
def test_agreement_is_asked_in_a_try(x):
    np.testing.assert_allclose(wg.jit(checked)(x), checked(x))
    np.testing.assert_allclose(wg.jit(wg.grad(checked))(x), wg.grad(checked)(x))


def refused_by_compiled_code(x):
    raise TypeError("float or None object expected; got wengert.modes.tape.Tape")  # as mypyc says it


def test_compiled_code_that_names_our_classes():
    with pytest.raises(wg.errors.UnsupportedFunctionError) as caught:
        wg.grad(refused_by_compiled_code)(1.0)
    text = str(caught.value)
    assert text.splitlines()[0].endswith("float or None object expected; got a traced value")
    assert "remedy" in text
    assert "test_numbers_or_sequences.py" in text
