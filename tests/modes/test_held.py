"""Arrays that a linear program holds, and that are written to before it is run backwards.

Forward mode keeps nothing, so it says what is right: the gradient of a function that writes to its coefficients, in
whatever way, is that of forward mode, and both are the differences of plain NumPy.
"""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest
import scipy.linalg

import wengert as wg
from wengert.modes.held import arrays_in

X = np.array([0.3, 0.7, 1.2, 0.4])
START = np.array([3.0, 1.0, 4.0, 2.0])


@wg.jit
def cubes(y, c):
    return np.sum(y**3 * c)


@wg.jit
def in_loop(y, c):
    s = 0.0
    for _ in range(12):
        for i in range(len(y)):
            s = s + 0.1 * y[i] ** 2 * np.sin(s) * c[i] + 0.1 * y[i]
    return s


@wg.jit
def while_small(y, c):
    s = y[0]
    while s < 10:
        s = s * 1.5 + y[1] ** 2 * c[0]
    return s


@wg.jit
def by_case(y, c):
    if y[0] > 0:
        return y**2 * c
    return np.sin(y * c)


@wg.custom_vjp
def ruled(y, c):
    return np.sum(y**2 * c)


ruled.defvjp(lambda y, c: (np.sum(y**2 * c), (y, c)), lambda r, g: (2 * r[0] * g * r[1], r[0] ** 2 * g))
CALLED = [cubes, in_loop, while_small, by_case, ruled]


def by_differences(f):
    h = 1e-6
    return np.array([(f(X + e) - f(X - e)) / (2 * h) for e in np.eye(4) * h])


WRITES = {
    "fill": lambda G: G.fill(2.0),
    "sort": lambda G: G.sort(),
    "flat": lambda G: operator.setitem(G.flat, 2, 4.0),
    "all of flat": lambda G: setattr_flat(G),
    "__setitem__": lambda G: G.__setitem__(1, 7.0),
    "__iadd__": lambda G: G.__iadd__(3.0),
    "operator.iadd": lambda G: operator.iadd(G, 2.0),
    "sum out": lambda G: np.ones((3, 4)).sum(axis=0, out=G),
    "cumsum out": lambda G: np.ones(4).cumsum(out=G),
    "method of a plain array, out": lambda G: TABLE.sum(axis=0, out=G),
    "clip out": lambda G: G.clip(2.0, 3.0, out=G),
    "clip out by place": lambda G: np.clip(G, 2.0, 3.0, G),
    "dot out by place": lambda G: np.dot(TABLE.T, np.ones(3), G),
    "accumulate": lambda G: np.add.accumulate(np.ones(4), out=G),
    "reduce": lambda G: np.add.reduce(TABLE, out=G),
    "where out": lambda G: np.negative(G, where=G > 2, out=G),
    "as_strided": lambda G: np.lib.stride_tricks.as_strided(G, (2,), (16,)).fill(17.0),
    "memoryview": lambda G: operator.setitem(memoryview(G), 0, 17.0),
    "copyto by name": lambda G: np.copyto(dst=G, src=7.0),
    "overwrite": lambda G: (np.median(G, overwrite_input=True), G.fill(2.0)),
    "overwrite in scipy": lambda G: (scipy.linalg.solve(np.eye(4) * 2, G, overwrite_b=True), G.fill(2.0)),
    "shuffle": lambda G: np.random.default_rng(0).shuffle(G),
    "shuffle of Python's": lambda G: random.Random(0).shuffle(G),
    "draw": lambda G: np.random.default_rng(0).standard_normal(out=G),
    "nditer": lambda G: doubled(G),
    "shape": lambda G: reshaped(G),
    "at": lambda G: np.add.at(G, [0, 0, 1], 1.0),
}
TABLE = np.arange(12.0).reshape(3, 4)


def setattr_flat(G):
    G.flat = 3.0


def doubled(G):
    for a in np.nditer(G, op_flags=["readwrite"]):
        a[...] = 2 * a


def reshaped(G):
    G.shape = (2, 2)
    G[0] = 3.0
    G.shape = (4,)


@pytest.mark.parametrize("name", WRITES)
def test_a_coefficient_from_outside_is_written_to(name):
    G, write = START.copy(), WRITES[name]

    def f(x):
        G[:] = START
        s = np.sum(np.sin(x * G)) + cubes(x, G)
        write(G)
        s = s + np.sum(x * G) * x[0]
        G[:] = 3.0
        return s

    expected = by_differences(f)
    np.testing.assert_allclose(wg.grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(wg.jacfwd(f)(X), expected, rtol=1e-6)


@pytest.mark.parametrize("h", CALLED, ids=lambda h: h.__name__)
def test_an_array_that_a_call_was_given_is_written_to(h):
    G = START.copy()

    def f(x):
        G[:] = START
        s = np.sum(h(x, G)) * x[0]
        G[1] = 9.0
        s = s + np.sum(h(G * 0.1, x))
        np.copyto(G, 7.0)
        return s

    expected = by_differences(f)
    np.testing.assert_allclose(wg.grad(f)(X), expected, rtol=1e-5)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), expected, rtol=1e-5)
    twice = wg.jacfwd(lambda x: np.sum(wg.grad(f)(x) ** 2))(X)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(wg.grad(f)(x) ** 2))(X), twice, rtol=1e-9)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(wg.jacfwd(f)(x) ** 2))(X), twice, rtol=1e-9)


@wg.jit
def with_its_factors(x, c):
    d = np.exp(c * 0.1)
    return np.sum(np.sin(x * d) * d), d


def test_a_result_that_is_a_residual_too_is_written_to():
    def f(x):
        s, d = with_its_factors(x, START)
        d[0] = 100.0
        t, e = with_its_factors(x, x * START)
        e[1] = x[0]
        return s * x[1] + d.sum() + t + np.sum(e**2)

    expected = by_differences(f)
    np.testing.assert_allclose(wg.grad(f)(X), expected, rtol=1e-6)


@pytest.mark.parametrize("way", ["eager", "compiled", "argument"])
def test_a_pullback_and_a_jacobian_are_those_of_the_point_where_they_were_taken(way):
    G = START.copy()
    compiled = wg.jit(lambda x, c: np.sum(x**2 * c))
    f = {
        "eager": lambda x: np.sum(x**2 * G),
        "compiled": wg.jit(lambda x: np.sum(x**2 * G)),
        "argument": lambda x: compiled(x, G),
    }[way]
    x, expected = X.copy(), 2 * X * START
    _, pull = wg.vjp(f, x)
    _, J = wg.linearize(lambda x: np.exp(f(x) * np.ones(2)), x)
    expected_J = np.outer(np.exp(np.ones(2) * np.sum(X**2 * START)), expected)
    x[:], G[:] = 0.0, 7.0
    np.testing.assert_allclose(pull(1.0)[0], expected)
    np.testing.assert_allclose(J.dense(), expected_J)


def test_a_result_of_linearize_is_written_to():
    y, J = wg.linearize(np.exp, X)
    y[:] = 0.0
    np.testing.assert_allclose(J @ np.ones(4), np.exp(X))


def test_an_array_that_must_not_be_written_to_is_not_copied():
    A = np.arange(16.0).reshape(4, 4).copy()
    A.flags.writeable = False
    _, J = wg.linearize(lambda x: A @ x, X)
    assert any(held is A for held in arrays_in(J._program.nodes))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_pullback_in_a_differentiated_function(compiled):
    G = START.copy()

    def f(z):
        _, pull = wg.vjp(lambda x: np.sum(x**2 * G), z)
        G[:] = G * 7.0
        z[:] = 0.0
        r = np.sum(pull(1.0)[0] ** 2)
        G[:] = G / 7.0
        return r

    grad = wg.jit(wg.grad(f)) if compiled else wg.grad(f)
    np.testing.assert_allclose(grad(X), 8 * X * START**2)


def test_what_is_checkpointed_reads_an_array_that_is_written_to():
    G = START.copy()
    checkpointed = wg.checkpoint(lambda x: np.sum(x**2 * G))

    def f(z):
        _, pull = wg.vjp(checkpointed, z)
        G[:] = G * 7.0
        r = np.sum(pull(1.0)[0] ** 2)
        G[:] = START
        return r

    np.testing.assert_allclose(wg.jit(f)(X), np.sum((2 * X * START) ** 2))
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="gave other numbers"):
        f(X)
    G[:] = START
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="gave other numbers"):
        wg.grad(lambda x: wg.jvp(f, (x,), (x,))[1])(X)


@pytest.mark.parametrize("draw", [
    lambda g, out: g.random(out=out),
    lambda g, out: g.standard_normal(out=out),
    lambda g, out: g.standard_exponential(out=out),
    lambda g, out: g.standard_gamma(2.0, out=out),
])  # fmt: skip
def test_a_draw_into_an_array_in_a_compiled_function(draw):
    G = np.zeros(4)

    def f(x):
        g = np.random.default_rng(3)
        y = draw(g, G)
        z = np.zeros(3)
        draw(g, z)
        return np.sum(x * G) + np.sum(y) * x[0] + np.sum(z)

    expected = f(X)
    G[:] = 0.0
    np.testing.assert_allclose(wg.jit(f)(X), expected)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), wg.grad(f)(X))


def test_a_compiled_function_writes_to_an_array_from_outside():
    G = START.copy()

    @wg.jit
    def h(x, c):
        s = np.sum(x**2 * c)
        c *= 2.0
        return s + np.sum(x**2 * c)

    @wg.jit
    def g(x):
        s = np.sum(x**2 * G)
        G[:] = 7.0
        return s

    def f(x):
        G[:] = START
        return h(x, G) * x[0] + h(x, G[::-1]) + g(x)

    expected = by_differences(f)
    np.testing.assert_allclose(wg.grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(np.stack([X, X]))[1], expected, rtol=1e-6)


@pytest.mark.parametrize("way", [wg.jit, lambda f: lambda x: wg.jvp(f, (x,), (x,))[0], wg.grad, wg.jacfwd])
@pytest.mark.parametrize("write", [
    lambda G: np.dot(TABLE.T, np.ones(3), G),
    lambda G: np.sum(TABLE, 0, None, G),
    lambda G: np.concatenate([np.ones(2), np.zeros(2)], 0, G),
    lambda G: np.nan_to_num(G, False),
    lambda G: np.clip(G, 2.0, 3.0, G),
    lambda G: (np.median(G, overwrite_input=True), G.fill(1.5)),
])  # fmt: skip
def test_an_array_of_the_function_is_written_to_where_it_is_an_operand_by_place(way, write):
    def f(x):
        G = np.array([3.0, 1.0, 4.0, 2.0])
        s = np.sum(np.sin(x * G))
        write(G)
        return s + np.sum(G * x)

    expected = f(X) if way is wg.jit or way not in (wg.grad, wg.jacfwd) else by_differences(f)
    np.testing.assert_allclose(way(f)(X), expected, rtol=1e-6)
