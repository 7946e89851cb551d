"""Ops that hold code against the same program written as Python loops: values, every derivative, batches.

The blocks are captured by hand, without `jit`, so this tests the rules of `control/` alone, run by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz.interpreted import interpreted

import wengert as wg
from wengert.control.blocks import block_of
from wengert.control.call import call as call_op
from wengert.control.cond import cond
from wengert.control.loop import loop
from wengert.control.while_ import while_
from wengert.ir.build import var_like
from wengert.ir.node import Block
from wengert.ops.op import call

X = np.linspace(0.1, 1.0, 5)


def block(function: Callable, *examples: Any) -> Block:
    return block_of(function, [var_like(x) for x in examples])


# -------------------------------------------------------------------------------------------------------- the programs


def _recurrence(k: Any, s: Any, out: Any, x: Any) -> list[Any]:
    s = np.sin(s) * x[k] + s
    out[k] = s
    return [s, out, s * x[k]]


RECURRENCE = block(_recurrence, 0, np.float64(1), X, X)


def recurrence(x):
    s, out, ys = call(loop, 5, np.float64(0.3), np.zeros(5), x, body=RECURRENCE, carried=2)
    return s * np.sum(out * out) + np.sum(ys * np.arange(5))


def recurrence_in_python(x):
    s, total = 0.3, 0.0
    squares = 0.0
    for k in range(5):
        s = np.sin(s) * x[k] + s
        squares = squares + s * s
        total = total + k * (s * x[k])
    return s * squares + total


TEST = block(lambda s, n, x: [s < 3.0], np.float64(1), 0, X)
GROWTH = block(lambda s, n, x: [np.sin(s) * x[n % 5] + s * 1.1, n + 1], np.float64(1), 0, X)


def growth(x):
    s, n, count = call(while_, 0.3 * np.sum(x), 0, x, test=TEST, body=GROWTH, carried=2)
    return s * s


def growth_in_python(x):
    s, n = 0.3 * np.sum(x), 0
    while s < 3.0:
        s, n = np.sin(s) * x[n % 5] + s * 1.1, n + 1
    return s * s


THEN = block(lambda s, x, k: [s * x[k], x], np.float64(1), X, 0)
ELSE = block(lambda s, x, k: [np.exp(-s) + x[k] ** 2, 2 * x], np.float64(1), X, 0)


def _choosing(k: Any, s: Any, x: Any) -> list[Any]:
    s, twice = call(cond, s > 0.5, s, x, k, then=THEN, orelse=ELSE)
    return [s + 0.01 * np.sum(twice)]


CHOOSING = block(_choosing, 0, np.float64(1), X)


def choosing(x):
    return call(loop, 5, 0.7 + x[0], x, body=CHOOSING, carried=1)[0]


def choosing_in_python(x):
    s = 0.7 + x[0]
    for k in range(5):
        s, twice = (s * x[k], x) if s > 0.5 else (np.exp(-s) + x[k] ** 2, 2 * x)
        s = s + 0.01 * np.sum(twice)
    return s


def prefixes_in_python(x):
    total = 0.0
    for i in range(5):
        total = total + np.sum(x[:i] * x[:i]) * x[i]
    return total


WHOLE = block(lambda x: [choosing(x)], X)


def called(x):
    return call(call_op, x, body=WHOLE, name="choosing")[0]


PROGRAMS = [
    pytest.param(recurrence, recurrence_in_python, id="loop"),
    pytest.param(growth, growth_in_python, id="while"),
    pytest.param(choosing, choosing_in_python, id="cond"),
    pytest.param(called, choosing_in_python, id="call"),
]

# --------------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(("f", "reference"), PROGRAMS)
def test_values(f, reference):
    np.testing.assert_allclose(f(X), reference(X), rtol=1e-14)


@pytest.mark.parametrize("operator", [wg.grad, wg.jacfwd, wg.hessian, lambda f: wg.jacrev(wg.grad(f))])
@pytest.mark.parametrize(("f", "reference"), PROGRAMS)
def test_derivatives(f, reference, operator):
    np.testing.assert_allclose(operator(f)(X), operator(reference)(X), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("f", "reference"), PROGRAMS)
def test_third_derivatives(f, reference):
    along = lambda f: lambda t: f(X + t * np.cos(X))
    expected = wg.derivative(along(reference), order=3)(0.1)
    np.testing.assert_allclose(wg.derivative(along(f), order=3)(0.1), expected, rtol=1e-9)


@pytest.mark.parametrize(("f", "reference"), PROGRAMS)
def test_linearised_programs_run_both_ways(f, reference):
    y, J = wg.linearize(lambda x: f(x) * np.ones(2), X)
    v, r = np.cos(X), np.array([0.3, -1.2])
    np.testing.assert_allclose(r @ (J @ v), (J.T @ r) @ v, rtol=1e-12)
    np.testing.assert_allclose(J @ v, wg.jvp(lambda x: reference(x) * np.ones(2), (X,), (v,))[1], rtol=1e-11)


@pytest.mark.parametrize(("f", "reference"), PROGRAMS)
def test_batches(f, reference):
    examples = np.stack([X, 0.9 * X, 1.1 * X])
    np.testing.assert_allclose(wg.vmap(f)(examples), [reference(x) for x in examples], rtol=1e-13)


@pytest.mark.parametrize(("f", "reference"), [p for p in PROGRAMS if p.id != "while"])
def test_gradients_in_batches(f, reference):
    examples = np.stack([X, 0.9 * X, 1.1 * X])
    expected = [wg.grad(reference)(x) for x in examples]
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(examples), expected, rtol=1e-11)


def test_lengths_that_change_from_round_to_round():
    jitted = wg.jit(prefixes_in_python)
    np.testing.assert_allclose(jitted(X), prefixes_in_python(X), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.hessian(prefixes_in_python))(X), wg.hessian(prefixes_in_python)(X), rtol=1e-11)


def test_a_loop_that_never_runs():
    f = lambda x: call(loop, 0, 2.0 * x[0], np.zeros(5), x, body=RECURRENCE, carried=2)[0]
    assert f(X) == 2.0 * X[0]
    np.testing.assert_array_equal(wg.grad(f)(X), [2.0, 0, 0, 0, 0])


def test_a_value_that_nothing_depends_on_has_no_cotangent():
    f = lambda x: call(loop, 5, np.float64(0.3), np.zeros(5), x, body=RECURRENCE, carried=2)[1][0]
    np.testing.assert_allclose(wg.grad(f)(X), [np.sin(0.3), 0, 0, 0, 0], rtol=1e-14)


def test_numbers_of_pythons_that_a_loop_keeps_stay_such():
    """How often a `while` ran is kept by the loop around it, and counts the iterations of the one that reverses it."""

    def f(x):
        u = x.copy()
        for i in range(1, 6):
            e, j = u[i], i - 1
            while j >= 0 and u[j] > e:
                u[j + 1] = u[j]
                j -= 1
            u[j + 1] = e
        return np.sum(u * np.arange(6))

    x = np.array([0.3, 0.1, 0.7, 0.2, 0.5, 0.05])
    np.testing.assert_array_equal(interpreted(wg.grad(f))(x), np.argsort(np.argsort(x)))
