# ruff: noqa: NPY002
"""Random numbers in compiled functions, and on traced values: NumPy's own, in order, at every call."""

import random

import numpy as np
import pytest

import wengert as wg
from wengert.errors import StagingError

X = np.array([1.0, 2.0, 3.0])


def same_stream(f, *args, make=lambda: np.random.default_rng(0)):
    """A function and the compiled one draw the same numbers, and leave their generators in the same state."""
    one, other, compiled = make(), make(), wg.jit(f)
    for _ in range(3):
        want, got = f(*args, one), compiled(*args, other)
        np.testing.assert_allclose(got, want, rtol=1e-14)
    assert one.random() == other.random()


METHODS = {
    "normal": lambda x, g: x * g.normal(),
    "normal of arrays": lambda x, g: g.normal([0.0, 1.0], [1.0, 2.0], size=(3, 2)) * x,
    "located": lambda x, g: g.normal(loc=x, scale=2.0, size=3),
    "uniform": lambda x, g: g.uniform(-x, x, 4),
    "exponential": lambda x, g: g.exponential(x),
    "lognormal": lambda x, g: g.lognormal(x, 0.5, size=2),
    "gumbel": lambda x, g: g.gumbel(x, 0.5),
    "laplace": lambda x, g: g.laplace(x, 0.5, (2, 2)),
    "gamma": lambda x, g: g.gamma(x, x),
    "beta": lambda x, g: g.beta(x, 3.0, size=2),
    "poisson": lambda x, g: g.poisson(x) + x,
    "integers": lambda x, g: g.integers(10, size=3) * x,
    "index": lambda x, g: np.arange(5.0)[g.integers(5)] * x,
    "permutation": lambda x, g: g.permutation(5) * x,
    "permutation of values": lambda x, g: g.permutation(x * np.arange(4.0)),
    "choice": lambda x, g: g.choice(5, 3, replace=False) * x,
    "choice of a range": lambda x, g: x * g.choice(range(7)) + g.choice(range(2, 9, 3), 2).sum(),
    "choice of values": lambda x, g: g.choice(x * np.arange(4.0), 2),
    "choice by weights": lambda x, g: g.choice(2, p=np.array([x, 1.0]) / (x + 1)) * x,
    "several": lambda x, g: g.normal() + 10 * g.random() + 100 * g.standard_exponential(),
    "unused": lambda x, g: (g.random(7), x)[1],
    "multivariate": lambda x, g: g.multivariate_normal([x, 1.0], np.eye(2)),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_generator_that_is_given(name):
    same_stream(METHODS[name], 2.0)


def test_in_loops_and_branches():
    def walk(x, g):
        for _ in range(40):
            x = 0.9 * x + g.normal()
        return x

    def until(x, g):
        steps = 0
        while x < 10.0:
            x = x + g.exponential()
            steps += 1
        return x + 100.0 * steps

    def metropolis(x, g):
        for _ in range(30):
            y = x + g.normal(0.0, 0.5)
            if g.random() < np.exp(0.5 * (x * x - y * y)):
                x = y
        return x

    for f in (walk, until, metropolis):
        same_stream(f, 0.5)


def test_shuffling_in_place():
    def f(x, g):
        y = x * 2
        g.shuffle(y)
        return y

    same_stream(f, np.arange(6.0))
    np.testing.assert_array_equal(
        wg.grad(lambda x, g: f(x, g)[0])(X, np.random.default_rng(0)), 2 * (f(X, np.random.default_rng(0))[0] == 2 * X)
    )


def test_a_generator_that_is_made_inside():
    def f(x, seed):
        g = np.random.default_rng(seed)
        s = 0.0
        for _ in range(30):
            s = s + x * g.normal()
        return s

    compiled = wg.jit(f)
    for seed in (3, 4, 3):
        assert compiled(2.0, seed) == pytest.approx(f(2.0, seed), rel=1e-14)
    fixed = lambda x: x * np.random.RandomState(7).randn(3)
    np.testing.assert_array_equal(wg.jit(fixed)(2.0), fixed(2.0))
    fresh = wg.jit(lambda x: x * np.random.default_rng().random())
    assert fresh(1.0) != fresh(1.0)


SHARED = np.random.default_rng(1)


def test_a_generator_that_is_found_outside():
    global SHARED
    compiled = wg.jit(lambda x: x * SHARED.random())
    plain = np.random.default_rng(1)
    assert [compiled(1.0) for _ in range(3)] == [plain.random() for _ in range(3)]
    SHARED = np.random.default_rng(9)  # another one: noticed
    assert compiled(1.0) == np.random.default_rng(9).random()

    class Model:
        def __init__(self):
            self.rng = np.random.default_rng(2)

        def step(self, x):
            return x + self.rng.normal(size=2)

    one, other = Model(), Model()
    step = wg.jit(other.step)
    for _ in range(3):
        np.testing.assert_array_equal(step(1.0), one.step(1.0))


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng, np.random.RandomState])
def test_shuffled_lists(make):
    def f(x):
        g, table, values = make(3), list(range(6)), [x, 2 * x, x**2]
        g.shuffle(table)
        g.shuffle(values)
        return x * table[2] + np.arange(6.0)[table[4]] + values[0] * values[1] ** 2 + g.random()

    assert wg.jit(f)(1.3) == pytest.approx(f(1.3), rel=1e-14)
    slope = (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), lambda x: wg.jvp(f, (x,), (1.0,))[1]):
        assert gradient(1.3) == pytest.approx(slope, rel=1e-8)

    def of_words(x):
        words = ["a", "b"]
        make(3).shuffle(words)
        return x if words[0] == "a" else 2 * x

    with pytest.raises(wg.errors.StagingError, match="other things than numbers"):
        wg.jit(of_words)(1.0)
    assert wg.grad(of_words)(1.0) == of_words(1.0)


def test_the_state_of_a_generator_while_derivatives_are_taken():
    def f(x):
        state = random.getstate()
        random.seed(4)
        y = random.sample([x, 2 * x, 3 * x], 2)[0] * random.choice([x, x**2]) + random.choices([x], k=2)[1]
        random.setstate(state)
        return y

    before = random.getstate()
    assert wg.grad(f)(1.3) == pytest.approx((f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5, rel=1e-8)
    assert random.getstate() == before


def test_the_legacy_generator_and_python_own():
    def legacy(x):
        return x * np.random.normal(1.0, 2.0, 2) + np.random.rand() + np.random.randint(3) + np.random.randn(2)

    def seeded(x):
        np.random.seed(5)
        return x * np.random.random()

    def pythons(x):
        return x * random.random() + random.gauss(x, 1) + random.uniform(0, x) + random.randint(1, 6)

    state = np.random.get_state()
    try:
        for f in (legacy, seeded):
            np.random.seed(0)
            want = [f(1.0) for _ in range(3)]
            np.random.seed(0)
            compiled = wg.jit(f)
            np.testing.assert_array_equal([compiled(1.0) for _ in range(3)], want)
    finally:
        np.random.set_state(state)
    before = random.getstate()
    try:
        random.seed(0)
        want = [pythons(1.5) for _ in range(3)]
        random.seed(0)
        compiled = wg.jit(pythons)
        np.testing.assert_allclose([compiled(1.5) for _ in range(3)], want, rtol=1e-14)
    finally:
        random.setstate(before)
    same_stream(lambda x, g: x * g.choice([1.0, 2.0, 5.0]), 2.0, make=lambda: random.Random(0))


def test_derivatives_in_location_and_scale():
    def f(m, s, g):
        return np.sum(g.normal(m, s, size=(4, 3)) ** 2) + np.sum(g.uniform(m, m + s))

    z = np.random.default_rng(0)
    noise, u = z.standard_normal((4, 3)), z.random(3)
    y = X + 2.0 * noise
    in_location, in_scale = np.sum(2 * y, axis=0) + 1, np.sum(2 * y * noise) + np.sum(u)
    for gradient in (wg.grad(f, (0, 1)), wg.jit(wg.grad(f, (0, 1))), wg.grad(wg.jit(f), (0, 1))):
        m_bar, s_bar = gradient(X, 2.0, np.random.default_rng(0))
        np.testing.assert_allclose(m_bar, in_location)
        np.testing.assert_allclose(s_bar, in_scale)
    for name, g in [("exponential", lambda r: r.exponential()), ("rayleigh", lambda r: r.rayleigh())]:
        draw = lambda s, r, name=name: getattr(r, name)(s)
        assert wg.grad(draw)(3.0, np.random.default_rng(0)) == pytest.approx(g(np.random.default_rng(0)))


def test_shape_parameters_are_refused_by_name():
    for name, f in {
        "standard_gamma": lambda a, g: g.gamma(a, 2.0),
        "beta": lambda a, g: g.beta(a, 2.0),
        "poisson": lambda a, g: a * g.poisson(a),
    }.items():
        for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
            with pytest.raises(wg.errors.UnsupportedFunctionError, match=name):
                derivative(3.0, np.random.default_rng(0))
    scale = wg.grad(lambda s, g: g.gamma(3.0, s))(2.0, np.random.default_rng(0))
    assert scale == pytest.approx(np.random.default_rng(0).standard_gamma(3.0))
    kept = wg.jit(wg.grad(lambda a, g: a * g.gamma(wg.stop_gradient(a))))(3.0, np.random.default_rng(0))
    assert kept == pytest.approx(np.random.default_rng(0).gamma(3.0))


def test_in_a_batch_all_examples_have_the_same_draw():
    f = lambda x: x + np.random.default_rng(4).normal()
    z = np.random.default_rng(4).normal()
    for batched in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
        np.testing.assert_allclose(batched(X), X + z)
    located = wg.jit(wg.vmap(lambda x: np.random.default_rng(4).normal(x, 2.0)))
    np.testing.assert_allclose(located(X), X + 2 * z)
    shaped = lambda x: np.random.default_rng(4).gamma(x)  # which is drawn for one after the other
    for batched in (wg.vmap(shaped), wg.jit(wg.vmap(shaped))):
        np.testing.assert_array_equal(batched(X), [shaped(x) for x in X])


def drawn_in_branches(x, rng):
    total = 0.0
    for k in range(4):
        if x * k < 1.0:
            total = total + x * rng.normal()
    return total + x * rng.normal()


def accepted_or_not(x, rng):
    places, total = rng.uniform(0, 1, 4), 0.0
    for k in range(4):
        new = places[k] + rng.normal(0, 0.5)
        gain = np.cos(x * new) - np.cos(x * places[k])
        if gain > 0 or rng.uniform() < np.exp(gain):
            places[k] = new
        total = total + x * places[k]
    return total


def as_often_as_needed(x, rng):
    total = 0.0
    while total < 3.0:
        total = total + x * rng.uniform()
    return total + x * rng.normal()


@pytest.mark.parametrize("draws", [drawn_in_branches, accepted_or_not, as_often_as_needed])
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_examples_that_go_different_ways_draw_as_if_alone(draws, make):
    """The generator is at another place for each of them: what is drawn next is not the same for all."""
    f = lambda x: draws(x, make(4))
    x = np.array([0.3, 0.6, 1.7])
    for batched in (wg.vmap(f), wg.jit(wg.vmap(f)), wg.vmap(wg.jit(f))):
        np.testing.assert_allclose(batched(x), [f(v) for v in x], rtol=1e-12)
    slopes = [wg.grad(f)(v) for v in x]
    for batched in (wg.jit(wg.vmap(wg.grad(f))), wg.jit(wg.grad(lambda x: np.sum(wg.vmap(wg.jit(f))(x))))):
        np.testing.assert_allclose(batched(x), slopes, rtol=1e-12)


def test_a_generator_made_inside_is_one():
    def f(x):
        rng = np.random.default_rng(3)
        if not isinstance(rng, (np.random.RandomState, np.random.Generator)):
            raise TypeError("no generator")
        return x * rng.normal()

    assert wg.jit(f)(2.0) == f(2.0)


def test_states_that_are_kept_and_put_back():
    def with_numbers_of_its_own(x):
        state = random.getstate()
        random.seed(3)
        y = random.gauss(0.0, 1.0) * x
        random.setstate(state)
        return y + random.random() * x

    def twice_the_same(x):
        rng = np.random.RandomState(0)
        state = rng.get_state()
        first = rng.normal(0.0, x)
        rng.set_state(state)
        return first * rng.normal(0.0, x)

    for f in (with_numbers_of_its_own, twice_the_same):
        random.seed(1)
        want = [f(2.0) for _ in range(3)]
        random.seed(1)
        compiled = wg.jit(f)
        assert [compiled(2.0) for _ in range(3)] == pytest.approx(want, rel=1e-15)
        random.seed(1)
        slope = wg.jit(wg.grad(f))
        assert [slope(2.0) for _ in range(3)] == pytest.approx([w * (1 + (f is twice_the_same)) / 2.0 for w in want])


def test_the_state_is_not_looked_into():
    with pytest.raises(StagingError, match="state"):
        wg.jit(lambda x: x * random.getstate()[0])(1.0)
