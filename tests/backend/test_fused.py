"""Several arrays in one loop: the same numbers, whatever is read and written at which place."""

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.kernel import write_kernel
from wengert.backend.llvm.outline import outline

X = np.random.default_rng(0).normal(size=7)
A = np.random.default_rng(1).normal(size=(5, 7))


def chain(x):
    a = np.sin(x)
    b = np.cos(x)
    c = a * b + x
    d = a - b * c
    return c * d, d + c, a


def parts(x):
    y = np.zeros((7, 3))
    a = x * x + 1
    b = np.exp(a) - a
    y[:, 0] = a * b
    y[:, 1] = b
    y[:, 2] = a - b
    return y, a + b


def in_place_of_an_operand(x):
    a = x * 2
    b = a + np.sin(a)
    c = b * a
    d = c[::-1] + b
    e = d * c
    return e + d * e, c


def reversed_reads(x):
    a = np.tanh(x)
    b = a[::-1] * x
    c = b + a
    d = c * b[::-1]
    return d + c, d * b


def rows_swapped(x):
    y = np.outer(x, x) + 1
    r = y[0] * 2
    s = y[1] + r
    y[0] = s * r
    y[1] = s - r
    return y, s * s


def written_and_read_again(x):
    y = np.zeros((3, 7))
    a = np.sin(x)
    b = a * a + x
    y[0] = a
    y[1] = b * a
    c = y[0] * b + y[1]
    d = c * c - a
    y[2] = d
    y[0] = c + d
    return y, c * d


def broadcast(x):
    y = A * x
    z = y + y[0]
    w = z * y - A
    return w * z, w + y, np.sum(w), np.max(z)


def scalars_between(x):
    a = np.sin(x)
    s = np.sum(a) * 2
    b = a * s
    c = b + a
    t = c[3] + x[0]
    d = c * t
    return d + c, d * b


FUNCTIONS = [chain, parts, in_place_of_an_operand, reversed_reads, rows_swapped, written_and_read_again, broadcast,
             scalars_between]  # fmt: skip


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_same_numbers(f, large, monkeypatch):
    if large:
        monkeypatch.setattr(outline, "LARGE", 0)
    wanted = f(X)
    for got, value in zip(wg.jit(f)(X), wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-13)

    def scalar(x):
        return sum(np.sum(np.sin(y)) for y in f(x))

    np.testing.assert_allclose(wg.jit(wg.grad(scalar))(X), wg.grad(scalar)(X), rtol=1e-11)


def test_what_nobody_reads_later_is_not_written():
    text = write_kernel(wg.jit(lambda x: chain(x)[:2]).lower(np.ones(1000)).program).text
    assert text.count("store double") == 2


@pytest.mark.parametrize("n", [5, 100, 9000])
@pytest.mark.parametrize("bad", [None, np.nan, np.inf])
def test_sums_and_extremes_of_what_is_made(n, bad):
    x = np.random.default_rng(n).normal(size=n)
    if bad is not None:
        x[n // 2] = bad

    def f(x):
        y = np.abs(x) * 2 - 1
        return y, np.sum(y), np.max(y), np.min(y)

    for got, wanted in zip(wg.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_the_order_of_a_softmax_is_kept():
    """The largest of ties share; sums of products that are computed again are those that were."""
    x = np.repeat(np.random.default_rng(0).normal(size=3000), 2)

    def logsumexp(x):
        m = np.max(x)
        return m + np.log(np.sum(np.exp(x - m)))

    weights = np.exp(x - x.max())
    np.testing.assert_allclose(wg.jit(wg.grad(logsumexp))(x), weights / weights.sum(), rtol=1e-11)


# ------------------------------------------------------------------------------------------------ runs that repeat


def unrolled(x, W):
    y = x
    total = np.zeros((6, 4))
    for k in range(6):
        a = np.sin(y) * W[k]
        b = np.cos(y) + a
        M = np.zeros((2, 2))
        M[0, 0] = np.sum(a)
        M[0, 1] = b[0] * b[1]
        M[1, 0] = a[2]
        M[1, 1] = 1.0
        N = M @ M
        y = a * N[0, 1] + b * N[1, 1] + y
        total[k] = y * a
    return total, y


@pytest.mark.parametrize("operator", [lambda f: f, lambda f: wg.jacobian(f, mode="forward"), wg.jacobian])
def test_runs_that_occur_again(operator):
    x, W = np.random.default_rng(0).normal(size=4), np.random.default_rng(1).normal(size=(6, 4)) * 0.3
    f = operator(unrolled)
    for got, wanted in zip(wg.jit(f)(x, W), f(x, W), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)


def test_runs_that_occur_again_share_a_function(monkeypatch):
    monkeypatch.setattr(outline, "LARGE", 0)

    def f(x, steps):
        for _ in range(steps):
            a, b = np.sin(x), np.cos(x)
            c = a * b + x
            d = np.exp(-c * c) * b
            e = d + c * a
            x = np.tanh(e @ np.full((4, 4), 0.125) + d)
        return x

    x = np.linspace(0, 1, 4)

    def lines(steps):
        return write_kernel(wg.jit(lambda x: f(x, steps)).lower(x).program).text.count("\n")

    np.testing.assert_allclose(wg.jit(lambda x: f(x, 12))(x), f(x, 12), rtol=1e-9)
    assert lines(24) < 1.5 * lines(12)


def test_faults_in_runs_name_the_line():
    def f(x):
        for _ in range(40):
            a, b = np.sin(x), np.cos(x)
            c = a * b + x
            d = np.exp(-c * c) * b
            M = np.outer(d, d) + c
            x = np.linalg.solve(M * 0, c) + d
        return x

    with pytest.raises(np.linalg.LinAlgError):
        wg.jit(f)(np.linspace(0, 1, 4))


def test_an_array_is_read_after_all_of_it_was_written():
    def f(x):
        y = x[::-1]
        y += np.zeros(5)
        y *= 0.5
        z = x * 0.5 + 0.25
        return z * 0.5, y + z, x

    x, own = np.linspace(0.1, 1.4, 5), np.linspace(0.1, 1.4, 5)
    for got, wanted in zip(wg.jit(f)(x), f(own), strict=True):
        np.testing.assert_array_equal(got, wanted)
