"""Large kernels as several functions: same results, one function for what is the same, and faults at the right line."""

import math
import re

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.kernel import write_kernel
from wengert.backend.llvm.outline import outline, repeats


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Every kernel counts as large."""
    monkeypatch.setattr(outline, "LARGE", 0)


def functions(f, *args) -> int:
    text = write_kernel(wg.jit(f).lower(*args).program).text
    return len(re.findall(r'^define .*@"part\d+"', text, re.MULTILINE))


def test_what_is_the_same_is_written_once():
    def f(x, A):
        for _ in range(20):
            x = np.tanh(A @ x)
        return x

    x, A = np.ones(5), np.random.default_rng(0).normal(size=(5, 5))
    np.testing.assert_allclose(wg.jit(f)(x, A), f(x, A), rtol=1e-13)
    assert functions(f, x, A) <= 4


def test_strides_and_constants_tell_functions_apart():
    def f(x):
        a = np.exp(x[0]) * np.ones(4)
        b = np.exp(x[:, 1]) * np.ones(4)
        return np.stack([a * 2, a * 3, b * 2, a + b, b[::-1] * a])

    x = np.random.default_rng(0).normal(size=(4, 4))
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)


def test_writes_in_place():
    def f(x):
        y = np.zeros((6, 4))
        for k in range(6):
            y[k] = x * k
            y[k, 1:] += y[k, :-1]
        y[1] = y[2] + y[0]
        return y, y[:, ::-1] * y

    x = np.arange(4.0)
    for got, wanted in zip(wg.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_inside_of_loops_and_branches():
    def f(x, n):
        total = np.zeros(3)
        for k in range(n):
            y = np.sin(x + k)
            if np.sum(y) > 0:
                total += y
            else:
                total = total * 0.5 + np.cos(y)
        return total

    x = np.array([0.1, 0.2, 0.3])
    for n in (0, 1, 7):
        np.testing.assert_allclose(wg.jit(f)(x, n), f(x, n), rtol=1e-13)


def test_a_fault_names_its_own_line():
    def f(x, i, j):
        a = np.zeros(3)
        a[i] = x[0]
        b = np.zeros(3)
        b[j] = x[0]
        return a + b

    j = wg.jit(f)
    x = np.ones(2)
    np.testing.assert_array_equal(j(x, 0, 1), [1, 1, 0])
    for bad in ((0, 3), (3, 0)):
        with pytest.raises(IndexError):
            j(x, *bad)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "?"])
def test_dtypes(dtype):
    def f(x, s):
        y = x[1:] + x[:-1]
        return np.concatenate([y * s, (y * s)[::-1]]), np.sum(y), np.max(np.abs(y))

    x = np.arange(6).astype(dtype)
    s = x[2]
    for got, wanted in zip(wg.jit(f)(x, s), f(x, s), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert got.dtype == wanted.dtype


def test_one_number_for_a_part():
    def f(x):
        y = np.zeros((5, 4))
        for k in range(4):
            y[:, k] = x[k]
            y[k, 1:3] = x[0] * k
            y[k + 1] += 0.5
        return y

    x = np.arange(4.0)
    np.testing.assert_array_equal(wg.jit(f)(x), f(x))


@pytest.fixture
def cut_early(monkeypatch):
    """Blocks with a few nodes count as long, and are cut into short pieces."""
    for module in (outline, repeats):
        monkeypatch.setattr(module, "LONG", 30)
    monkeypatch.setattr(repeats, "LONGEST", 12)


def mixed(x, y):
    """Straight-line code that repeats little, in numbers of Python's own."""
    a, b = x, y
    for g in (math.sin, math.tanh, math.cos, math.atan) * 3:
        a, b = b + 0.1 * g(a * b), max(g(a), a * b * 0.3)
    return a * b + x


def test_numbers_are_computed_in_pieces(cut_early, monkeypatch):
    monkeypatch.setattr(outline, "LARGE", 100)
    gradient = wg.grad(mixed, argnums=(0, 1))
    np.testing.assert_allclose(wg.jit(gradient)(0.4, 1.3), gradient(0.4, 1.3), rtol=1e-13)
    assert functions(gradient, 0.4, 1.3) >= 4


def test_a_piece_raises_what_python_raises(cut_early):
    def f(x, y):
        for k in range(6):
            x = x * 1.5 + math.sin(y + k)
        y = y / (x - x + y)
        for k in range(6):
            x = x - math.cos(y * k) / 3
        return math.sqrt(x) + y

    compiled = wg.jit(f)
    assert compiled(4.0, 0.5) == pytest.approx(f(4.0, 0.5), rel=1e-13)
    for point in ((4.0, 0.0), (-90.0, 0.5)):
        with pytest.raises((ZeroDivisionError, ValueError)) as expected:
            f(*point)
        with pytest.raises(expected.type):
            compiled(*point)


@pytest.mark.parametrize("start", [0, 1, 2])
def test_pieces_lie_between_words_and_what_stands_alone(cut_early, start):
    kinds = [5] * start + [0, *range(1, 20), 0, 0, *range(3, 40)]
    words = {start + 5: start + 14}
    pieces = repeats._pieces(kinds, words)
    taken = [i for first, end in {**words, **pieces}.items() for i in range(first, end)]
    assert len(taken) == len(set(taken))
    assert all(kinds[i] for i in taken)
    assert max(end - first for first, end in pieces.items()) <= repeats.LONGEST
    assert len(taken) > len(kinds) // 2


def test_statements_that_share_a_loop_are_written_once_in_long_pieces(cut_early):
    """Layers of a network: sum and tanh are kept both, and come from one loop for each of twenty layers."""

    def loss(p, x):
        for w, b in p:
            x = np.tanh(x @ w + b)
        return np.sum(x**2)

    draw = np.random.default_rng(0).normal
    layers = [(draw(size=(3, 3)) / 2, draw(size=3)) for _ in range(20)]
    x = draw(size=(2, 3))
    step = lambda p, x: wg.grad(loss)(p, x)
    for got, wanted in zip(wg.jit(step)(layers, x), step(layers, x), strict=True):
        np.testing.assert_allclose(got[0], wanted[0], rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(got[1], wanted[1], rtol=1e-11, atol=1e-14)
    text = write_kernel(wg.jit(step).lower(layers, x).program).text
    assert 1 <= text.count('call double @"wg_tanh"') <= 3
