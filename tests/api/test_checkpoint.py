"""`wg.checkpoint`: the same derivatives as without, from less memory."""

import tracemalloc

import numpy as np
import pytest

import wengert as wg
from wengert.errors import InPlaceError


def step(y, a):
    return y + 0.1 * np.sin(a * y) * np.cos(y)


def simulation(step, count=30):
    def f(a, y):
        for _ in range(count):
            y = step(y, a)
        return np.sum(y**2)

    return f


Y = np.linspace(0.1, 1, 3)
WAYS = {
    "grad": wg.grad,
    "jacfwd": wg.jacfwd,
    "grad of grad": lambda f: wg.grad(wg.grad(f)),
    "forward over reverse": lambda f: wg.jacfwd(wg.grad(f)),
    "reverse over forward": lambda f: wg.grad(wg.jacfwd(f)),
    "jit(grad)": lambda f: wg.jit(wg.grad(f)),
    "grad(jit)": lambda f: wg.grad(wg.jit(f)),
    "jit(grad(grad))": lambda f: wg.jit(wg.grad(wg.grad(f))),
    "with respect to the state": lambda f: wg.hessian(f, 1),
    "vmap(grad)": lambda f: lambda a, y: wg.vmap(wg.grad(f), in_axes=(0, None))(np.array([a, 2 * a]), y),
    "jit(vmap(grad))": lambda f: lambda a, y: wg.jit(wg.vmap(wg.grad(f), in_axes=(0, None)))(np.array([a, 2 * a]), y),
    "grad(vmap)": lambda f: lambda a, y: wg.grad(lambda y: np.sum(wg.vmap(f, in_axes=(None, 0))(a, y)))(
        np.stack([y, 2 * y])
    ),
    "linearize": lambda f: lambda a, y: wg.linearize(lambda a: f(a, y), a)[1] @ np.ones(1),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_same_derivatives(way):
    wanted = WAYS[way](simulation(step))(1.1, Y)
    np.testing.assert_allclose(WAYS[way](simulation(wg.checkpoint(step)))(1.1, Y), wanted, rtol=1e-12)


def test_less_memory():
    y = np.linspace(0.1, 1, 20_000)
    peaks = []
    for each in (step, wg.checkpoint(step)):
        gradient = wg.grad(simulation(each, 60))
        tracemalloc.start()
        gradient(1.1, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 0.5 * peaks[0]


def test_closures_containers_and_keywords():
    f = lambda k: wg.checkpoint(lambda p, scale=1.0: {"u": [scale * p["x"] * k, k]})({"x": 2.0}, scale=3.0)["u"][0]
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        assert g(5.0) == 6.0
    assert f(5.0) == 30.0


def test_recursion():
    """Divide and conquer by hand: of a tree of calls only the way from the root is kept."""

    def power(x, n):
        if n == 0:
            return 1.1 * x + 0.1 * np.sin(x)
        half = wg.checkpoint(power)
        return half(half(x, n - 1), n - 1)

    wanted = (power(0.3 + 1e-6, 4) - power(0.3 - 1e-6, 4)) / 2e-6
    assert wg.grad(power)(0.3, 4) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_numbers_are_drawn_once(make):
    rng = make(0)
    noisy = wg.checkpoint(lambda x: x * np.sum(rng.normal(size=3)))
    f = lambda x: noisy(noisy(x))
    for g in (wg.grad(f), wg.jit(wg.grad(f))):
        rng = make(0)
        found, after = g(2.0), rng.normal()
        rng = make(0)
        assert found == pytest.approx(np.sum(rng.normal(size=3)) * np.sum(rng.normal(size=3)))
        assert after == rng.normal()


def test_writing():
    def inside(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] ** 2
        return np.sum(y)

    for g in (wg.grad(wg.checkpoint(inside)), wg.jit(wg.grad(wg.checkpoint(inside)))):
        np.testing.assert_array_equal(g(np.arange(3.0)), [0, 2, 4])

    def outside(x):
        x[0] = 3.0
        return np.sum(x**2)

    for g in (wg.grad(wg.checkpoint(outside)), wg.jit(wg.grad(wg.checkpoint(outside)))):
        with pytest.raises(InPlaceError, match="copy"):
            g(np.ones(2))
