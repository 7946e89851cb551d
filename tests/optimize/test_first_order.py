"""First-order methods against their published formulas, written out for one number after the other in plain Python."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert import optimize

GRADIENTS = np.random.default_rng(5).normal(size=(6, 3)) * np.array([1.0, 10.0, 0.01])
START = np.array([0.5, -1.0, 2.0])


def by_hand(rule, state, p, gradients):
    """A rule for one number, `rule(p, g, t, state)` with t from 1 on, for a sequence of gradients."""
    for t, g in enumerate(gradients, 1):
        p, state = rule(float(p), float(g), t, state)
    return p


def momentum(p, g, t, v):
    v = 0.9 * v + g
    return p - 0.1 * v, v


def nesterov(p, g, t, v):  # PyTorch's form
    v = 0.9 * v + g
    return p - 0.1 * (g + 0.9 * v), v


def adagrad(p, g, t, s):
    s = s + g * g
    return p - 0.1 * g / (math.sqrt(s) + 1e-10), s


def rmsprop(p, g, t, s):
    s = 0.99 * s + 0.01 * g * g
    return p - 0.1 * g / (math.sqrt(s) + 1e-8), s


def adadelta(p, g, t, state):
    s, u = state
    s = 0.9 * s + 0.1 * g * g
    d = math.sqrt(u + 1e-6) / math.sqrt(s + 1e-6) * g
    return p - d, (s, 0.9 * u + 0.1 * d * d)


def adam(p, g, t, state, decay=0.0):
    m, v = state
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    step = (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return p - 0.1 * decay * p - 0.1 * step, (m, v)


def lion(p, g, t, m):
    c = 0.9 * m + 0.1 * g
    return p - 0.1 * ((c > 0) - (c < 0)), 0.99 * m + 0.01 * g


def rprop(p, g, t, state):
    before, size = state
    if g * before > 0:
        size = min(1.2 * size, 50.0)
    elif g * before < 0:
        size, g = max(0.5 * size, 1e-6), 0.0
    return p - size * ((g > 0) - (g < 0)), (g, size)


CASES = {
    "sgd": (optimize.sgd(0.1), lambda p, g, t, s: (p - 0.1 * g, s), None),
    "momentum": (optimize.momentum(0.1), momentum, 0.0),
    "nesterov": (optimize.nesterov(0.1), nesterov, 0.0),
    "adagrad": (optimize.adagrad(0.1), adagrad, 0.0),
    "rmsprop": (optimize.rmsprop(0.1), rmsprop, 0.0),
    "adadelta": (optimize.adadelta(), adadelta, (0.0, 0.0)),
    "adam": (optimize.adam(0.1), adam, (0.0, 0.0)),
    "adamw": (optimize.adamw(0.1, weight_decay=0.3), lambda p, g, t, s: adam(p, g, t, s, 0.3), (0.0, 0.0)),
    "lion": (optimize.lion(0.1), lion, 0.0),
    "rprop": (optimize.rprop(0.1), rprop, (0.0, 0.1)),
}


@pytest.mark.parametrize("name", CASES)
def test_published_updates_eager_and_compiled(name):
    opt, rule, first = CASES[name]
    expected = [by_hand(rule, first, p, gs) for p, gs in zip(START, GRADIENTS.T, strict=True)]
    for update in (opt.update, wg.jit(opt.update)):
        params = {"a": START[0], "b": (START[1:],)}
        state = opt.init(params)
        for g in GRADIENTS:
            params, state = update({"a": g[0], "b": (g[1:],)}, state, params)
        np.testing.assert_allclose([params["a"], *params["b"][0]], expected, rtol=1e-12)
        assert int(state["count"]) == len(GRADIENTS)


def test_a_training_step_compiles_whole_and_learns(rng):
    x, w = rng.normal(size=(64, 3)), np.array([1.0, -2.0, 0.5])
    y = x @ w + 0.3
    loss = lambda p, x, y: np.mean((x @ p["w"] + p["b"] - y) ** 2)
    opt = optimize.chain(optimize.clip_by_global_norm(1.0), optimize.adam(optimize.cosine_decay(0.1, 400)))
    average = optimize.exponential_average(0.9)

    @wg.jit
    def step(params, state, mean, x, y):
        params, state = opt.update(wg.grad(loss)(params, x, y), state, params)
        return params, state, average.update(params, mean)

    params = {"w": np.zeros(3), "b": np.zeros(())}
    state, mean = opt.init(params), average.init(params)
    for _ in range(400):
        params, state, mean = step(params, state, mean, x, y)
    np.testing.assert_allclose(params["w"], w, atol=1e-4)
    np.testing.assert_allclose(average.value(mean)["b"], 0.3, atol=1e-3)


def test_parameters_keep_their_types():
    params = {"a": np.ones(2, np.float32), "b": 1.0}
    for opt in (optimize.adam(0.1), optimize.sgd(optimize.warmup(0.1, 10)), optimize.rprop(0.1)):
        new, _ = opt.update({"a": np.ones(2, np.float32), "b": 2.0}, opt.init(params), params)
        assert new["a"].dtype == np.float32


def test_gradients_in_other_containers_are_refused():
    opt = optimize.sgd(0.1)
    with pytest.raises(wg.errors.MismatchError, match="in this order"):
        opt.update(np.ones(2), opt.init({"a": np.ones(2)}), {"a": np.ones(2)})


def test_schedules():
    counts = np.arange(31)
    schedule = optimize.warmup(optimize.cosine_decay(2.0, 20, end=0.5), 10)
    expected = [2.0 * t / 10 if t < 10 else 0.5 + 0.75 * (1 + math.cos(math.pi * (t - 10) / 20)) for t in counts]
    np.testing.assert_allclose([schedule(t) for t in counts], expected)
    np.testing.assert_allclose(wg.jit(schedule)(25), expected[25])
    decay = optimize.exponential_decay(1.0, 0.5, 10, staircase=True)
    np.testing.assert_allclose([decay(0), decay(9), decay(10), decay(25)], [1, 1, 0.5, 0.25])
    steps = optimize.piecewise([1.0, 0.1, 0.01], [10, 20])
    np.testing.assert_allclose([steps(t) for t in (0, 9, 10, 19, 20)], [1, 1, 0.1, 0.1, 0.01])
    np.testing.assert_allclose(optimize.linear_ramp(1.0, 3.0, 4)(np.array([0, 2, 9])), [1, 2, 3])


# ----------------------------------------------------------------------------------------- methods that use curvature

CURVED = np.array([[3.0, 1.0], [1.0, 40.0]])


def bowl(p):
    return 0.5 * (p["x"] - 1) @ CURVED @ (p["x"] - 1)


@pytest.mark.parametrize("wrap", [lambda f: f, wg.jit], ids=["eager", "jit"])
def test_second_derivatives_make_one_step_enough(wrap):
    p = {"x": np.array([5.0, -3.0])}
    product = lambda p: lambda v: wg.hvp(bowl)(p, v)
    natural, newton = optimize.natural_gradient(1.0, damping=0.0), optimize.newton(damping=0.0)
    free = optimize.hessian_free(damping=0.0)
    steps = [
        lambda p: natural.update(wg.grad(bowl)(p), natural.init(p), p, product=product(p))[0],
        lambda p: newton.update(wg.grad(bowl)(p), newton.init(p), p, hessian=wg.hessian(bowl)(p))[0],
        lambda p: free.update(wg.grad(bowl)(p), free.init(p), p, product=product(p), loss=bowl)[0],
    ]
    for step in steps:
        np.testing.assert_allclose(wrap(step)(p)["x"], 1.0, atol=1e-10)


def test_newton_leaves_saddles():
    saddle = lambda p: 0.5 * (p[0] ** 2 - p[1] ** 2)
    p, opt = np.array([1.0, 0.1]), optimize.newton(damping=0.0)
    new, _ = opt.update(wg.grad(saddle)(p), opt.init(p), p, hessian=wg.hessian(saddle)(p))
    np.testing.assert_allclose(new, [0.0, 0.2])


def test_smd_follows_schraudolph():
    h = np.array([1.0, 10.0])
    loss = lambda p: 0.5 * np.sum(h * p**2)
    opt, p = optimize.smd(0.02, meta_rate=0.1, decay=0.9), np.array([1.0, -1.0])
    state = opt.init(p)
    rate, v, q = np.full(2, 0.02), np.zeros(2), p.copy()
    for _ in range(20):
        p, state = opt.update(wg.grad(loss)(p), state, p, product=lambda v, p=p: wg.hvp(loss)(p, v))
        g = h * q
        bent = h * v
        rate = rate * np.maximum(0.5, 1 - 0.1 * v * g)
        q, v = q - rate * g, 0.9 * v - rate * (g + 0.9 * bent)
    np.testing.assert_allclose(p, q, rtol=1e-12)


def test_stochastic_lbfgs_learns_from_mini_batches(rng):
    x, w = rng.normal(size=(200, 4)) * np.array([1.0, 5.0, 0.3, 1.0]), np.arange(4.0)
    y = x @ w
    loss = lambda p, x, y: np.mean((x @ p - y) ** 2)
    opt = optimize.stochastic_lbfgs(0.3)

    @wg.jit
    def step(p, state, x, y):
        return opt.update(wg.grad(loss)(p, x, y), state, p, gradient=lambda p: wg.grad(loss)(p, x, y))

    p = np.zeros(4)
    state = opt.init(p)
    for k in range(150):
        rows = slice(20 * (k % 10), 20 * (k % 10) + 20)
        p, state = step(p, state, x[rows], y[rows])
    np.testing.assert_allclose(p, w, atol=1e-3)


def test_what_is_missing_is_said():
    for opt in (optimize.smd(), optimize.natural_gradient(), optimize.hessian_free(), optimize.newton(),
                optimize.stochastic_lbfgs()):  # fmt: skip
        with pytest.raises(wg.errors.MismatchError, match="needs"):
            opt.update(np.ones(2), opt.init(np.ones(2)), np.ones(2))
