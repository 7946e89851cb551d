"""`wg.checkpoint`: the same derivatives as without, from less memory."""

import tracemalloc

import numpy as np
import pytest

import wengert as wg
from wengert.errors import InPlaceError, UnsupportedFunctionError
from wengert.ops.op import TABLE


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
    np.testing.assert_array_equal(wg.vmap(wg.checkpoint(inside))(np.ones((2, 3))), [3, 3])

    def outside(x):
        x[0] = 3.0
        return np.sum(x**2)

    np.testing.assert_array_equal(wg.grad(wg.checkpoint(outside))(np.ones(2)), [0, 2])
    with pytest.raises(InPlaceError, match="copy"):
        wg.jit(wg.grad(wg.checkpoint(outside)))(np.ones(2))


def test_an_array_from_outside_is_not_written_to():
    log = np.zeros(2)

    def noting(x):
        log[0] += 1
        return np.sin(x)

    with pytest.raises(InPlaceError, match="noting"):
        wg.grad(wg.checkpoint(noting))(0.5)
    log[1] = 1.0  # and can be written to afterwards


class Cell:
    """A recurrent cell that has its state in itself."""

    def __init__(self, w):
        self.w, self.state, self.calls = w, 0.0, 0

    def step(self, x):
        self.calls += 1
        self.state = np.tanh(self.w * x + self.state)
        return self.state * self.calls


def _with_state_in_an_object(w, wrap):
    cell = Cell(w)
    step = wrap(cell.step)
    return np.sum(step(step(w))) + np.sum(cell.state) * cell.calls


def _with_a_list(w, wrap):
    log = []

    def step(x):
        log.append(np.sin(x))
        return x * len(log)

    step = wrap(step)
    return np.sum(step(step(w))) + np.sum(log[0])


def _with_a_variable(w, wrap):
    n = 0

    def step(x):
        nonlocal n
        n += 1
        return x * np.sin(x) * n

    step = wrap(step)
    return np.sum(step(step(w)))


@pytest.mark.parametrize("f", [_with_state_in_an_object, _with_a_list, _with_a_variable])
def test_what_is_changed_outside_is_changed_once(f):
    w = np.array([1.3, 0.7])
    same, checkpointed = (lambda w, wrap=wrap: f(w, wrap) for wrap in (lambda g: g, wg.checkpoint))
    np.testing.assert_allclose(wg.grad(checkpointed)(w), wg.grad(same)(w))
    np.testing.assert_allclose(wg.hessian(checkpointed)(w), wg.hessian(same)(w))
    np.testing.assert_allclose(wg.jvp(checkpointed, (w,), (w,))[1], wg.jvp(same, (w,), (w,))[1])
    of_a_batch = lambda w: np.sum(wg.vmap(lambda s: checkpointed(s * w))(np.ones(2)))
    np.testing.assert_allclose(wg.grad(of_a_batch)(w), 2 * wg.grad(same)(w))
    with pytest.raises(UnsupportedFunctionError, match="changes a variable or an object"):
        wg.jit(wg.grad(checkpointed))(w)


def test_other_numbers_the_second_time():
    numbers = iter([2.0, 3.0])
    f = wg.checkpoint(lambda x: np.sin(x) * next(numbers))
    with pytest.raises(UnsupportedFunctionError, match="other numbers"):
        wg.grad(f)(0.5)


@pytest.mark.parametrize("keep", ["matmul", np.matmul, ["tanh", np.dot], np.exp])
def test_what_is_kept_is_not_computed_again(keep, monkeypatch):
    A = np.array([[0.3, -1.0], [0.8, 0.5]])
    layer = lambda x: np.tanh(A @ np.sin(A @ x))
    kept = wg.checkpoint(layer, keep=keep)
    f, g = (lambda x, h=h: np.sum(h(h(x))) for h in (layer, kept))
    x = np.array([0.4, 0.9])
    for derive in (wg.grad, wg.hessian, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))):
        np.testing.assert_allclose(derive(g)(x), derive(f)(x))
    np.testing.assert_allclose(wg.vmap(wg.grad(g))(np.stack([x, 2 * x]))[1], wg.grad(f)(2 * x))
    calls, product = [], TABLE["matmul"].impl
    monkeypatch.setattr(TABLE["matmul"], "impl", lambda a, b: calls.append(1) or product(a, b))
    wg.vjp(g, x)
    before = len(calls)
    assert before == 4
    wg.grad(g)(x)
    assert len(calls) - before == (8 if keep is np.exp else 4)


def test_what_to_keep():
    @wg.checkpoint(keep=np.linalg.solve)
    def f(x):
        return np.sum(np.linalg.solve(np.diag(x), x**3))

    np.testing.assert_allclose(wg.grad(f)(np.array([1.0, 2.0])), [2, 4])
    for wrong in ("blah", "loop", lambda x: x):
        with pytest.raises(ValueError, match="no operation"):
            wg.checkpoint(f, keep=wrong)
