"""Loops in strips: the same numbers as for all rows at once, and nothing else is done to loops that mix rows."""

import numpy as np
import pytest

import wengert as wg
from wengert.ir.check import check
from wengert.ir.node import all_nodes
from wengert.passes import strip_mine


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Arrays of a few numbers count as large, and strips are short."""
    monkeypatch.setattr(strip_mine, "LARGE", 256)
    monkeypatch.setattr(strip_mine, "STRIP", 512)
    monkeypatch.setattr(strip_mine, "NARROWEST", 1)


def loops_inside(f, *args) -> int:
    """How many loops are inside of others, of a function whose loops stand side by side."""
    program = wg.jit(f).lower(*args).program
    check(program)
    outer = [node for node in program.block.nodes if node.op.name == "loop"]
    return sum(n.op.name == "loop" for node in outer for block in node.blocks for n in all_nodes(block))


def agrees(f, *args) -> None:
    found, wanted = wg.jit(f)(*args), f(*args)
    for got, exact in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, wanted)], strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-11, atol=1e-12)


def thomas(a, b, c, d):
    """Tridiagonal systems along the last axis."""
    n = d.shape[-1]
    cp, dp, x = np.zeros_like(d), np.zeros_like(d), np.zeros_like(d)
    cp[..., 0] = c[..., 0] / b[..., 0]
    dp[..., 0] = d[..., 0] / b[..., 0]
    for i in range(1, n):
        m = b[..., i] - a[..., i] * cp[..., i - 1]
        cp[..., i] = c[..., i] / m
        dp[..., i] = (d[..., i] - a[..., i] * dp[..., i - 1]) / m
    x[..., -1] = dp[..., -1]
    for i in range(n - 2, -1, -1):
        x[..., i] = dp[..., i] - cp[..., i] * x[..., i + 1]
    return np.sum(x**2)


@pytest.mark.parametrize("rows", [16, 19, 64])
def test_systems_for_all_rows(rows, rng):
    args = [0.3 * rng.random((rows, 3, 6)), 2 + rng.random((rows, 3, 6)), 0.3 * rng.random((rows, 3, 6)),
            rng.normal(size=(rows, 3, 6))]  # fmt: skip
    gradient = wg.grad(thomas, (0, 1, 2, 3))
    assert loops_inside(thomas, *args) >= 3  # two, and the one over strips in a group of them
    assert loops_inside(gradient, *args) >= 5
    agrees(thomas, *args)
    agrees(gradient, *args)


def with_branches(x, w):
    """What an iteration does depends on its number, and on a number that it carries."""
    total, t = np.zeros_like(x), 0.5
    for k in range(w.shape[0]):
        if k == 0:
            total = total + w[k]
        elif t < 0.8:
            total = np.where(x > 0, total * w[k], x)
        else:
            total = np.sin(total) - t * w[k]
        t = t + 0.1
    return np.sum(total * x)


@pytest.mark.parametrize("n", [32, 45, 128])
def test_branches_and_numbers(n, rng):
    """The rows of w are along its other axis."""
    args = rng.normal(size=n), rng.normal(size=(6, n))
    gradient = wg.grad(with_branches, (0, 1))
    assert loops_inside(with_branches, *args) > 1
    agrees(with_branches, *args)
    agrees(gradient, *args)


def steps(x):
    for _ in range(8):
        x = x - 0.1 * x * np.tanh(x)
    return np.sum(x**2)


@pytest.mark.parametrize("n", [64, 101])
def test_residuals_are_kept_for_a_strip(n, rng):
    x = rng.normal(size=n)
    program = wg.jit(wg.grad(steps)).lower(x).program
    kept = [v.type.shape for node in all_nodes(program.block) for v in node.outs if v.type.shape[:1] == (8,)]
    assert kept
    assert all(np.prod(shape) < 8 * n // 2 for shape in kept)
    agrees(wg.grad(steps), x)
    agrees(wg.hvp(steps), x, np.cos(x))


def neighbours(x):
    for _ in range(8):
        x = x + 0.1 * np.roll(x, 1)
    return np.sum(x**2)


def total_of_rows(x):
    for _ in range(8):
        x = x - 0.1 * np.mean(x)
    return np.sum(x**2)


def mixed(x):
    for _ in range(8):
        x = 0.1 * x[::-1] + x
    return np.sum(x**2)


def product(x):
    for _ in range(8):
        x = np.tanh(x @ (np.eye(4) + 0.1))
    return np.sum(x**2)


def also_small(x):
    """An array that has nothing to do with rows would be made for every strip."""
    y = np.ones(5)
    for k in range(8):
        y = y * 1.1 + k
        x = x + y[2]
    return np.sum(x**2)


def needs_a_number(x):
    s = 1.0
    for _ in range(8):
        x = x * s
        s = s * 0.9
    return np.sum(x**2) * s


@pytest.mark.parametrize(
    "f", [neighbours, total_of_rows, mixed, product, also_small, needs_a_number], ids=lambda f: f.__name__
)
def test_what_mixes_rows_is_left_alone(f, rng):
    x = rng.normal(size=(64, 4))
    assert loops_inside(f, x) == 0
    agrees(f, x)
    agrees(wg.grad(f), x)


def test_what_is_printed_is_printed_once(capsys, rng):
    def f(x):
        for k in range(3):
            print("iteration", k)
            x = np.sin(x) + k
        return np.sum(x)

    x = rng.normal(size=64)
    wg.jit(f)(x)
    capsys.readouterr()
    wg.jit(f)(x)
    assert capsys.readouterr().out.count("iteration") == 3


def test_an_index_out_of_range_raises(rng):
    def f(x, w, n):
        for k in range(n):
            x = x * w[k]
        return np.sum(x**2)

    compiled = wg.jit(f, static_argnums=2)
    x, w = rng.normal(size=64), rng.normal(size=(5, 64))
    agrees(lambda x, w: f(x, w, 5), x, w)
    with pytest.raises(IndexError):
        compiled(x, w, 6)


def test_rows_that_are_too_short_for_vectors(monkeypatch, rng):
    monkeypatch.setattr(strip_mine, "NARROWEST", 64)
    args = rng.normal(size=32), rng.normal(size=(40, 32))
    assert loops_inside(with_branches, *args) == 0
