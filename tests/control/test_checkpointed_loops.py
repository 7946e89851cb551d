"""Compiled loops reversed with few states kept: the same derivatives, and no more iterations than the schedule has."""

from itertools import takewhile

import numpy as np
import pytest

import wengert as wg
from wengert.control.blocks import block_of
from wengert.control.budget import Budget, under
from wengert.control.loop import loop
from wengert.graphs.checkpoints import least_evaluations
from wengert.ir.node import Type, Var
from wengert.modes.tape import record
from wengert.ops import elementwise as e
from wengert.ops.op import call

X = np.linspace(0.2, 1.3, 5)


def counted(x):
    y = x
    for k in range(23):
        y = np.sin(y) * x + 0.01 * k * y
    return np.sum(y)


def nested(x):
    y = x
    for k in range(9):
        z = y * 1.0
        for j in range(6):
            z = np.sin(z) * x + 0.1 * j
        y = y * 0.5 + z * 0.3 * np.cos(k * y)
    return np.sum(y)


def writing(x):
    u = np.zeros(8)
    u[:5] = x
    for k in range(20):
        u[1:-1] = u[1:-1] + 0.1 * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
        u[k % 8] += 0.1 * x[0] * u[k % 8]
    return np.sum(u**2)


def ending_early(x):
    y = x
    for k in range(50):
        y = np.sin(y) * 1.1 + 0.001 * k
        if np.sum(y) < 2.5:
            break
    return np.sum(y * y)


def with_a_test(x):
    y, n = x, 0
    while np.sum(y * y) > 1e-2:
        y = y * 0.9 * np.cos(0.1 * y * x)
        n += 1
    return np.sum(y) * n


def recording(x):
    out = np.zeros(12)
    y = x
    for k in range(12):
        y = np.sin(y) * x
        out[k] = np.sum(y * y)
    return np.sum(out * np.arange(12))


def of_integers(x):
    y, n, s, flag = x, 3, 0.0, True
    for k in range(17):
        n = (n * 5 + k) % 7
        if flag:
            y = np.sin(y) * (1 + n)
        flag = n > 2
        s = s + n * y[n % 5]
    return s


def of_complex_numbers(x):
    z = x + 0.3j
    for _ in range(12):
        z = z * z * 0.5 + 0.1j * x
    return np.sum(np.abs(z) ** 2)


PROGRAMS = [counted, nested, writing, ending_early, with_a_test, recording, of_integers, of_complex_numbers]


@pytest.mark.parametrize("f", PROGRAMS)
def test_same_gradient(f):
    expected = wg.grad(f)(X)
    np.testing.assert_allclose(wg.jit(wg.grad(f, checkpoints=1))(X), expected, rtol=1e-11)
    np.testing.assert_allclose(wg.grad(wg.jit(f), checkpoints=3)(X), expected, rtol=1e-11)


@pytest.mark.parametrize("f", [counted, with_a_test])
def test_every_composition(f):
    v = X[::-1].copy()
    hv = wg.hvp(f)(X, v)
    np.testing.assert_allclose(wg.jit(wg.hvp(f, checkpoints=3))(X, v), hv, rtol=1e-9)
    np.testing.assert_allclose(wg.hvp(wg.jit(f), checkpoints=2, mode="reverse-forward")(X, v), hv, rtol=1e-9)
    both = np.stack([X, 0.9 * X])
    each = np.stack([wg.grad(f)(x) for x in both])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f, checkpoints=3)))(both), each, rtol=1e-9)
    y, pull = wg.vjp(wg.jit(f), X, checkpoints=2)
    np.testing.assert_allclose(pull(np.float64(2.0))[0], 2 * wg.grad(f)(X), rtol=1e-11)


@pytest.mark.slow
def test_gradient_of_a_gradient():
    def g(x, **budget):
        return np.sum(wg.grad(counted, **budget)(x) ** 2)

    expected = wg.grad(g)(X)
    compiled = wg.jit(wg.grad(lambda x: g(x, checkpoints=3), checkpoints=2))
    np.testing.assert_allclose(compiled(X), expected, rtol=1e-10)


def test_random_numbers_are_drawn_once():
    def f(x, rng):
        y = x
        for _ in range(30):
            y = np.sin(y) * x + 0.1 * rng.normal(size=5) * y
        return np.sum(y)

    expected = wg.grad(f)(X, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    np.testing.assert_allclose(wg.jit(wg.grad(f, checkpoints=3))(X, rng), expected, rtol=1e-12)
    plain = np.random.default_rng(5)
    f(X, plain)
    assert rng.normal() == plain.normal()


@pytest.mark.parametrize("iterations", [1, 2, 7, 20])
def test_number_of_iterations(iterations, monkeypatch):
    """The optimum, and what lies behind the last state that is kept: this is not recorded in the first sweep."""
    number = Var(Type((), np.dtype(np.int64), True), None, (0, None), False)
    body = block_of(lambda k, y: [e.sin(y)], [number, Var(Type((), np.dtype(np.float64)), None, None, False)])
    count, sine = [], e.sin.impl
    for slots in (1, 2, 3, 8):
        with under(Budget(checkpoints=slots)), monkeypatch.context() as patch:
            patch.setattr(e.sin, "impl", lambda x: count.append(x) or sine(x))
            values, program = record(lambda x: call(loop, iterations, x, body=body, carried=1), [np.float64(0.5)])
            (ct,) = program.pull([np.float64(1.0)])
        y, expected = 0.5, 1.0
        for _ in range(iterations):
            y, expected = np.sin(y), expected * np.cos(y)
        np.testing.assert_allclose([values[0], ct], [y, expected], rtol=1e-13)
        actions = list(wg.checkpoint_schedule(iterations, slots))
        last_kept = max(
            [a.start for a in takewhile(lambda a: a.what != "reverse", actions) if a.what == "store"] or [0]
        )
        again = iterations - 1 - last_kept
        assert len(count) == least_evaluations(iterations, slots) + iterations + 1 + again
        count.clear()


@pytest.mark.parametrize("f", [nested, writing, with_a_test])
def test_within_memory(f):
    expected = wg.grad(f)(X)
    for memory in ("1kB", 600):
        np.testing.assert_allclose(wg.jit(wg.grad(f, memory=memory))(X), expected, rtol=1e-11)


def test_least_memory():
    with pytest.raises(wg.errors.BudgetError, match="least possible is memory=") as error:
        wg.jit(wg.grad(counted, memory="1B"))(X)
    least = str(error.value).partition('memory="')[2].partition('"')[0]
    compiled = wg.jit(wg.grad(counted, memory=least))
    np.testing.assert_allclose(compiled(X), wg.grad(counted)(X), rtol=1e-12)
    (what, how), *_ = compiled.lower(X).report
    assert "for k in range(23)" in what
    assert "1 checkpoint of 40 B" in how
    with pytest.raises(wg.errors.BudgetError):
        wg.jit(wg.grad(counted, memory=int(least[:-1]) - 1))(X)


def test_what_is_asked_for():
    for wrong in ({"checkpoints": 0}, {"checkpoints": 1.5}, {"checkpoints": 2, "memory": "1MB"}, {"memory": "1 yard"}):
        with pytest.raises(ValueError, match="checkpoints|memory"):
            wg.grad(counted, **wrong)
