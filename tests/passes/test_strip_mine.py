"""Large arrays in strips: the same results whatever the length of the axis, and sums carried from strip to strip."""

import random

import numpy as np
import pytest
from fuzz.interpreted import interpreted
from ir_comparing import number_of

import wengert as wg
from wengert.ir.check import check
from wengert.passes import strip_mine


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Arrays of a few numbers count as large."""
    monkeypatch.setattr(strip_mine, "LARGE", 256)
    monkeypatch.setattr(strip_mine, "READ_OFTEN", 256)
    monkeypatch.setattr(strip_mine, "STRIP", 512)


def has_loop(f, *args) -> bool:
    return number_of("loop", f, *args) > 0


def agrees(f, *args) -> None:
    wanted = f(*args)
    for found in (wg.jit(f)(*args), interpreted(f)(*args)):
        for got, exact in zip(
            found if isinstance(found, tuple) else (found,),
            wanted if isinstance(wanted, tuple) else (wanted,),
            strict=True,
        ):
            np.testing.assert_allclose(got, exact, rtol=1e-11, atol=1e-11)


def mixture(x, m, Q):
    d = x[:, None] - m
    y = np.einsum("kij,nkj->nki", Q, d)
    w = np.exp(-0.5 * np.sum(y * y, axis=2))
    return np.sum(np.log(np.sum(w, axis=1)))


def inputs(n: int, k: int = 3, d: int = 4):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.normal(size=(k, d, d)) / d


@pytest.mark.parametrize("n", [16, 17, 31, 48, 97, 100])
def test_a_mixture(n):
    args = inputs(n)
    assert has_loop(wg.grad(mixture, (0, 1, 2)), *args)
    agrees(mixture, *args)
    agrees(wg.grad(mixture, (0, 1, 2)), *args)


def test_values_that_are_needed_whole_are_put_together():
    def f(x, m, Q):
        y = np.tanh(np.einsum("kij,nkj->nki", Q, x[:, None] - m))
        return y * np.sum(y, axis=0), np.max(y, axis=0), np.min(y * y)

    for n in (32, 37):
        args = inputs(n)
        assert has_loop(f, *args)
        agrees(f, *args)


def test_nothing_is_done_to_small_arrays(monkeypatch):
    monkeypatch.setattr(strip_mine, "LARGE", 1 << 21)
    assert not has_loop(mixture, *inputs(64))


def test_an_index_out_of_range_raises():
    def f(x, m, Q, rows):
        y = np.einsum("kij,nkj->nki", Q, x[rows][:, None] - m)
        return np.sum(np.tanh(y) * y, axis=0)

    args = inputs(40)
    rows = np.arange(40)
    agrees(f, *args, rows)
    rows[33] = 40
    with pytest.raises(IndexError):
        wg.jit(f)(*args, rows)


OPS = 12


def made_up(plan, n: int, k: int, d: int):
    def f(x, m, Q):
        values = [x[:, None] - m]
        outs = []
        for op, i, j in plan:
            v, w = values[i % len(values)], values[j % len(values)]
            if op == 0:
                values.append(np.tanh(v) * w)
            elif op == 1:
                values.append(np.einsum("kij,nkj->nki", Q, v))
            elif op == 2:
                values.append(v - np.max(v, axis=2, keepdims=True))
            elif op == 3:
                values.append(np.exp(-v * v) / (1 + np.sum(w * w, axis=(1, 2), keepdims=True)))
            elif op == 4:
                values.append(v @ Q[0])
            elif op == 5:
                outs.append(np.sum(v * w, axis=0))
            elif op == 6:
                outs.append(np.einsum("nki,nkj->kij", v, w))
            elif op == 7:
                values.append(np.concatenate([v[:, :, :1], w[:, :, 1:]], axis=2))
            elif op == 8:
                outs.append(v[:, 0])
            elif op == 9:
                outs.append(np.max(v, axis=0))
            elif op == 10:
                values.append(np.where(v > 0, v, w).reshape(n, k * d).reshape(n, k, d))
            else:
                z = np.zeros((n, k, d))
                z[:, :, 0] = v[:, :, 1]
                z[:, :, 1:] = w[:, :, :-1]
                values.append(z + 0 * v)
        return (*outs, values[-1], np.sum(values[-1]))

    return f


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed):
    choose = random.Random(seed)
    n, k, d = choose.choice([16, 17, 24, 31, 40]), choose.choice([1, 2, 3]), choose.choice([2, 3, 4])
    plan = tuple(
        (choose.randrange(OPS), choose.randrange(99), choose.randrange(99)) for _ in range(choose.randint(3, 9))
    )
    f = made_up(plan, n, k, d)
    args = inputs(n, k, d)
    agrees(f, *args)

    def total(*args):
        return sum(np.sum(np.sin(y)) for y in f(*args))

    exact = wg.grad(total, (0, 1, 2))(*args)
    for got, wanted in zip(wg.jit(wg.grad(total, (0, 1, 2)))(*args), exact, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", [16, 24, 29, 64])
def test_a_large_array_that_several_read_is_read_once(n):
    rng = np.random.default_rng(n)
    A, x, y = rng.random((n, n)), rng.random(n), rng.random(n)

    def both(A, x, y):
        return x @ A, A @ y, np.max(A, axis=0), np.sum(A)

    assert has_loop(both, A, x, y)
    agrees(both, A, x, y)

    def form(x, A):
        return np.log(1 + x @ A @ x) * np.sum(x)

    assert has_loop(wg.grad(form), x, A)
    agrees(wg.grad(form), x, A)
    agrees(wg.grad(form, argnums=(0, 1)), x, A)
    agrees(wg.hessian(form), x, A)


def test_one_reader_after_the_other_cannot_share():
    rng = np.random.default_rng(5)
    A, x = rng.random((20, 20)), rng.random(20)

    def f(A, x):
        return A @ np.tanh(A @ x)

    assert not has_loop(f, A, x)
    agrees(f, A, x)
    agrees(wg.grad(lambda A, x: np.sum(f(A, x) ** 2), argnums=(0, 1)), A, x)


def depth_of_loops(block) -> int:
    inside = [(node.op.name == "loop") + depth_of_loops(b) for node in block.nodes for b in node.blocks]
    return max(inside, default=0)


@pytest.mark.parametrize("n", [29, 64])
def test_iterations_of_a_loop_go_through_a_large_array_once(n):
    rng = np.random.default_rng(n)
    X, y, w = rng.normal(size=(n, 5)), rng.normal(size=n), rng.normal(size=5)

    def steps(w, X, y):
        g = wg.grad(lambda w: np.mean((np.tanh(X @ w) - y) ** 2))
        for _ in range(4):
            w = w - 0.1 * g(w)
        return w

    def newton(w, X, y):
        for _ in range(3):
            p = 1 / (1 + np.exp(-(X @ w)))
            H = X.T @ (X * (p * (1 - p))[:, None]) + np.eye(5)
            w = w - np.linalg.solve(H, X.T @ (p - y))
        return w

    for f in (steps, newton):
        program = wg.jit(f).lower(w, X, y).program
        check(program)
        assert depth_of_loops(program.block) >= 2
        agrees(f, w, X, y)
        agrees(wg.grad(lambda w, X, y, f=f: np.sum(f(w, X, y) ** 2), (0, 1, 2)), w, X, y)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_in_loops(seed):
    choose = random.Random(seed)
    n, k, d = choose.choice([16, 17, 24, 31]), choose.choice([1, 2, 3]), choose.choice([2, 3, 4])
    plan = tuple(
        (choose.randrange(OPS), choose.randrange(99), choose.randrange(99)) for _ in range(choose.randint(3, 6))
    )
    body = made_up(plan, n, k, d)
    x, m, Q = inputs(n, k, d)

    def f(x, m, Q):
        s = 0.0
        for i in range(3):
            outs = body(x * 0.5, m, Q)
            s = s + sum(np.sum(np.sin(y)) for y in outs) * (i + 1)
            m = m + 0.1 * np.sin(s)
        return s, m

    agrees(f, x, m, Q)
