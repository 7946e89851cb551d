"""`jit(f, verify=True)`: what a compiled function does differently is found at its first call."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.scalars.lane import RULES

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture
def wrong_tangent(monkeypatch):
    """The compiled tangent function is another."""
    monkeypatch.setenv("WENGERT_CACHE", "0")
    monkeypatch.setenv("WENGERT_VERIFY", "0")
    monkeypatch.setitem(RULES, (np.arctan, "f"), lambda x: x + x)


def model(x):
    return np.sum(np.arctan(x) * x)


def writing(x):
    x[0] = np.arctan(x[1])


def choosing(x):
    if np.arctan(x) < 1.5:
        raise ValueError("too small")
    return x


def test_a_wrong_value_is_found(wrong_tangent):
    assert not np.isclose(wg.jit(model)(X), model(X))
    with pytest.raises(wg.errors.VerificationError, match=r"(?s)plain Python.*compiled") as caught:
        wg.jit(model, verify=True)(X)
    assert caught.value.expected == model(X)
    assert caught.value.got != model(X)


def test_wrong_writes_and_exceptions_are_found(wrong_tangent):
    with pytest.raises(wg.errors.VerificationError, match="arguments"):
        wg.jit(writing, verify=True)(X.copy())
    with pytest.raises(wg.errors.VerificationError, match="too small"):
        wg.jit(choosing, verify=True)(1.0)


def test_wrong_derivatives_are_found(monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", "0")
    monkeypatch.setitem(RULES, (np.cos, "f"), lambda x: x)
    f = lambda x: np.sum(np.sin(x))
    assert wg.jit(f, verify=True)(X) == pytest.approx(f(X))
    for gradient in (wg.jit(wg.grad(f), verify=True), wg.grad(wg.jit(f, verify=True))):
        with pytest.raises(wg.errors.VerificationError):
            gradient(X)
    with pytest.raises(wg.errors.VerificationError):
        wg.jvp(wg.jit(f, verify=True), (X,), (np.ones(3),))


def test_every_specialisation_is_compared(wrong_tangent):
    compiled = wg.jit(lambda x: np.arctan(x) if x.dtype == np.float32 else x, verify=True)
    np.testing.assert_array_equal(compiled(X), X)
    compiled(X)
    with pytest.raises(wg.errors.VerificationError):
        compiled(X.astype(np.float32))


SCALE = 2.0
STATE = np.zeros(3)


def test_right_functions_pass(monkeypatch):
    def several(x, n):
        y = {"a": x * SCALE, "b": [n + 1, x[0] > 0]}
        for _ in range(3):
            x[1] += 1.0
        STATE[0] += 1.0
        return y

    compiled = wg.jit(several, verify=True)
    for _ in range(2):
        x, z = X.copy(), X.copy()
        got, want = compiled(x, 3), several(z, 3)
        np.testing.assert_array_equal(got["a"], want["a"])
        np.testing.assert_array_equal(x, z)
    assert STATE[0] == 4.0
    with pytest.raises(ZeroDivisionError):
        wg.jit(lambda x: 1 / x, verify=True)(0.0)
    monkeypatch.setenv("WENGERT_VERIFY", "1")
    for f in (lambda x: np.sum(np.exp(x)), lambda x: x[0] * math.sqrt(3.0)):
        np.testing.assert_allclose(wg.grad(wg.jit(f))(X), wg.grad(f)(X))
        np.testing.assert_allclose(wg.jit(wg.hessian(f))(X), wg.hessian(f)(X), atol=1e-12)
        np.testing.assert_allclose(wg.vmap(wg.jit(f))(np.stack([X, X])), [f(X), f(X)])


def test_the_environment_asks_for_it(wrong_tangent, monkeypatch):
    monkeypatch.setenv("WENGERT_VERIFY", "1")
    with pytest.raises(wg.errors.VerificationError):
        wg.jit(model)(X)
    assert wg.jit(model, verify=False)(X) != model(X)
    monkeypatch.setenv("WENGERT_VERIFY", "0")
    assert wg.jit(model)(X) != model(X)


def test_what_has_effects_outside_is_not_run_twice(capsys):
    compiled = wg.jit(lambda x: print(x), verify=True)
    with pytest.warns(RuntimeWarning, match="not verified"):
        compiled(1.0)
    assert capsys.readouterr().out == "1.0\n"


def through_ravel(x):
    y = x * 1.0
    x.ravel()[0] = 100.0  # a view of an array that lies in order, and else a copy
    return y + x


@pytest.mark.parametrize("lie", [np.ascontiguousarray, np.asfortranarray])
def test_copies_lie_in_memory_as_the_arguments_do(lie):
    x = lie(np.arange(6.0).reshape(2, 3))
    want = through_ravel(lie(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(wg.jit(through_ravel, verify=True)(x), want)


def test_copies_overlap_as_the_arguments_do():
    def doubled(a, b):
        for i in range(len(a)):
            a[i] = 2 * b[i]

    x = np.ones(8)
    wg.jit(doubled, verify=True)(x[1:], x[:-1])
    np.testing.assert_array_equal(x, 2.0 ** np.arange(8))


def test_the_function_is_followed_where_derivatives_are_compared():
    def made(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = math.sin(x[i]) * x[i]
        return y @ y

    f = wg.jit(made, verify=True)
    np.testing.assert_allclose(wg.grad(f)(X), wg.grad(made)(X), rtol=1e-12)
    np.testing.assert_allclose(wg.jvp(f, (X,), (X,))[1], wg.jvp(made, (X,), (X,))[1], rtol=1e-12)
