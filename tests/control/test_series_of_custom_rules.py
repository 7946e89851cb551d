"""Series of functions with a derivative rule of their own follow the rule, not the function."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def hidden(function):
    """A function whose derivative cannot be found by looking at it."""
    return lambda x: function(wg.stop_gradient(x))


@wg.custom_jvp
def sine(x):
    return hidden(np.sin)(x)


@sine.defjvp
def _(primals, tangents):
    return sine(*primals), cosine(*primals) * tangents[0]


@wg.custom_jvp
def cosine(x):
    return hidden(np.cos)(x)


@cosine.defjvp
def _(primals, tangents):
    return cosine(*primals), -sine(*primals) * tangents[0]


@wg.custom_vjp
def exponential(x):
    return hidden(np.exp)(x)


def _forward(x):
    y = exponential(x)
    return y, y


exponential.defvjp(_forward, lambda y, ct: (y * ct,))

X = 0.7
PAIRS = {
    "forward rule": (lambda x: sine(x * x) * x, lambda x: np.sin(x * x) * x),
    "reverse rule": (lambda x: exponential(np.sin(x)) + x, lambda x: np.exp(np.sin(x)) + x),
    "both": (lambda x: sine(exponential(x)), lambda x: np.sin(np.exp(x))),
}
PLACES = {
    "eager": lambda f: wg.taylor(f, X, 8),
    "jit outside": lambda f: wg.jit(lambda x: wg.taylor(f, x, 8))(X),
    "jit inside": lambda f: wg.taylor(wg.jit(f), X, 8),
    "vmap": lambda f: [y[1] for y in wg.vmap(lambda x: wg.taylor(f, x, 8))(np.array([0.2, X]))],
    "ode": lambda f: wg.taylor_ode(lambda t, y: f(y), X, 8),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("place", PLACES)
def test_the_rule_is_followed(pair, place):
    got, want = [np.array(PLACES[place](f), float) for f in PAIRS[pair]]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("pair", PAIRS)
def test_reverse_over_series(pair):
    got, want = [wg.jacrev(lambda x, f=f: np.stack(wg.taylor(f, x, 5)))(X) for f in PAIRS[pair]]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_several_arguments_and_results():
    @wg.custom_jvp
    def both(x, y):
        x, y = wg.stop_gradient(x), wg.stop_gradient(y)
        return x * y, x + y

    @both.defjvp
    def _(primals, tangents):
        (x, y), (a, b) = primals, tangents
        return both(x, y), (x * b + a * y, a + b)

    got = wg.jet(lambda x, y: both(x, y), [2.0, 1.0, 0.5], [3.0, -1.0, 4.0])
    want = wg.jet(lambda x, y: (x * y, x + y), [2.0, 1.0, 0.5], [3.0, -1.0, 4.0])
    np.testing.assert_allclose(np.array(got, float), np.array(want, float))
    got = wg.jet(lambda x: both(x, 2.0), [2.0, 1.0, 0.5])
    np.testing.assert_allclose(np.array(got, float), [[4, 4], [2, 1], [1, 0.5]])


def test_closures_are_refused():
    def f(x):
        @wg.custom_jvp
        def g(y):
            return x * y

        @g.defjvp
        def _(primals, tangents):
            return g(*primals), x * tangents[0]

        return g(2.0 * x)

    with pytest.raises(wg.errors.WengertError, match="not among its arguments"):
        wg.taylor(f, 1.0, 3)
