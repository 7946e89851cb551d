"""Where temporaries and results lie: an arena that is kept, pieces and stacks that are made where they will lie."""

import gc
import threading

import numpy as np

import wengert as wg


def squares(x):
    y = np.exp(x)
    z = y @ y.T
    return np.sum(z * np.sin(y[:, :1]))


def test_threads_do_not_share_the_arena():
    x = np.random.default_rng(0).normal(size=(60, 60)) / 8
    f = wg.jit(wg.grad(squares))
    wanted = f(x)
    wrong = []

    def work():
        for _ in range(20):
            if not np.array_equal(f(x), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_an_exception_gives_the_arena_back():
    @wg.jit
    def f(x, i):
        y = np.exp(x) @ x
        z = y[i] + np.cumsum(y, axis=0)
        return z @ z

    x = np.eye(40)
    before = f(x, 3)
    for _ in range(3):
        try:
            f(x, 40)
        except IndexError:
            pass
    np.testing.assert_array_equal(f(x, 3), before)


def test_dropped_programs_free_theirs():
    x = np.ones((300, 300))

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def once(k):
        f = wg.jit(lambda x: np.sum((np.exp(x * k) @ x) * np.sin(x)))
        f(x)

    for k in range(12):  # (what compiling needs at most)
        once(k)
    gc.collect()
    before = resident()
    for k in range(12):
        once(k)
    gc.collect()
    assert resident() - before < 12 * x.nbytes


def test_pieces_are_made_in_place():
    def f(x):
        a, b = np.tanh(x) @ x, np.cumsum(x, axis=0)
        c = np.concatenate([a, b, x * 2, a[:1]])
        d = np.concatenate([b.reshape(-1), np.cumsum(c[:, 0])])
        return c, d, c.reshape(-1)[3:] * 1.0

    x = np.random.default_rng(0).normal(size=(9, 9))
    for got, wanted in zip(wg.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_piece_that_is_changed_later_is_not_in_place():
    def f(x):
        a = np.cumsum(x)
        b = np.cumsum(x[::-1])
        c = np.concatenate([a, b, a])
        a = a * 0 + np.cumsum(c)[: len(x)]
        return a, b + c[: len(x)], c

    x = np.arange(12.0)
    for got, wanted in zip(wg.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_results_in_another_shape_are_made_in_place():
    def f(x):
        y = np.cumsum(np.exp(x), axis=0)
        return y.reshape(2, -1), y

    x = np.random.default_rng(0).normal(size=(6, 5))
    for got, wanted in zip(wg.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_stacks_of_loops():
    def f(x, n):
        rows = np.zeros((n, 4))
        total = np.zeros(4)
        for k in range(n):
            y = np.cumsum(x * (k + 1))
            rows[k] = y
            total = total + y @ np.ones((4, 4))
        return total, rows

    x = np.arange(1.0, 5)
    f_jit = wg.jit(f, static_argnums=(1,))
    for n in (1, 2, 9):
        for got, wanted in zip(f_jit(x, n), f(x, n), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)

    def g(x, n):
        return np.sum(np.sin(f(x, n)[0]) + f(x, n)[1][n - 1])

    for n in (1, 2, 9):
        exact = wg.grad(g)(x, n)
        np.testing.assert_allclose(wg.jit(wg.grad(g), static_argnums=(1,))(x, n), exact, rtol=1e-11)
