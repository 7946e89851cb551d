"""The list is right: values are those of the evaluation, tangents those of `jvp`, adjoints those of `grad`."""

import gc
import math
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg
from wengert.explain.recording import Variable
from wengert.explain.sweeps import partials
from wengert.explain.symbolic import tangent_of
from wengert.explain.trace import Row


class Point(NamedTuple):
    x: float
    y: float


def scalars(x, y):
    return np.exp(-x) * math.sin(y) / (1 + x**2) + np.maximum(x, y)


def arrays(A, x):
    q = np.tanh(A @ x)
    return np.sum(np.where(q > 0, q, 0.1 * q)) + np.linalg.norm(q) + np.max(q) + np.log(np.linalg.det(A @ A.T))


def in_place(x, n):
    out = np.zeros(n)
    out[0] = x[0]
    for i in range(1, n):
        out[i] = out[i - 1] * math.exp(-x[1])
        out[: i - 1] += x[2] * out[i]
    return out.sum()


def of_containers(p, scale):
    return {"sum": p["point"].x * scale, "parts": [p["point"].y ** 2, p["w"] @ p["w"]]}


def decisions(x):
    while x < 10:
        x = x * x if x > 2 else x + 1
    return np.sqrt(x)


def with_solve(A, b):
    w, V = np.linalg.eigh(A + A.T)
    return np.linalg.solve(A, b) @ V @ np.exp(w)


@wg.custom_jvp
def rounded_exp(x):
    return np.exp(x)


@rounded_exp.defjvp
def rule(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return rounded_exp(x), rounded_exp(x) * x_dot


def with_custom(x):
    return rounded_exp(x) * x


def nested(x):
    return wg.grad(lambda u: np.sin(u) * u**2)(x)


jitted = wg.jit(lambda x: np.sum(np.sin(x) * x))


def with_jit(x):
    return jitted(x) * 2


A = np.array([[2.0, 1.0, 0.3], [0.2, 3.0, -1.0], [0.5, 0.1, 1.5]])
X = np.array([0.3, -0.7, 1.1])
CASES = [
    (scalars, (0.7, 1.3)),
    (arrays, (A, X)),
    (in_place, (X, 6)),
    (decisions, (0.5,)),
    (with_solve, (A, X)),
    (with_custom, (0.4,)),
    (nested, (0.9,)),
    (with_jit, (X,)),
    (lambda x: x, (2.0,)),
    (lambda x, y: x * x + 0 * y, (3.0, 1.0)),
]


def floats(args):
    return [k for k, a in enumerate(args) if not isinstance(a, int)]


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_values_tangents_and_adjoints(f, args, rng):
    chosen = floats(args)
    dots = tuple(rng.normal(size=np.shape(args[k]))[()] for k in chosen)
    t = wg.trace(f, *args, tangent=dots, cotangent=1.0)
    np.testing.assert_allclose(t.value, f(*args), rtol=1e-14)
    restricted = lambda *xs: f(*xs, *args[len(xs) :])
    value, y_dot = wg.jvp(restricted, tuple(args[k] for k in chosen), dots)
    np.testing.assert_allclose(t.tangent, y_dot, rtol=1e-12)
    gradient = wg.grad(f, argnums=tuple(chosen))(*args)
    for ours, theirs in zip(t.gradient, gradient, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    # ⟨ȳ, ẏ⟩ = ⟨x̄, ẋ⟩
    np.testing.assert_allclose(t.tangent, sum(np.sum(g * d) for g, d in zip(t.gradient, dots, strict=True)), rtol=1e-10)


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_every_cut_carries_the_derivative(f, args, rng):
    """Between any two steps, Σ v̄ v̇ over what is still needed is ẏ."""
    chosen = floats(args)
    dots = tuple(rng.normal(size=np.shape(args[k]))[()] for k in chosen)
    t = wg.trace(f, *args, tangent=dots, cotangent=1.0)
    steps = t.listing.steps
    for cut in range(len(steps) + 1):
        known = set(t.listing.inputs) | {v for s in steps[:cut] for v in s.results}
        bars: dict = {v: [] for v in known}  # what the steps after the cut, and the output, send to what is known
        for output in t.listing.outputs:
            if output in bars:
                bars[output].append(1.0)
        for c in t.contributions:
            if c.target in bars and c.step in steps[cut:]:
                bars[c.target].append(c.part)
        total = sum(np.sum(part * t.tangents[v]) for v, parts in bars.items() for part in parts if v in t.tangents)
        np.testing.assert_allclose(total, t.tangent, rtol=1e-9)


def test_containers_and_several_results():
    p = {"point": Point(2.0, 3.0), "w": np.array([1.0, 2.0])}
    ones = {"point": Point(1.0, 1.0), "w": np.ones(2)}
    t = wg.trace(of_containers, p, 4, tangent=ones, cotangent={"sum": 1.0, "parts": [0.0, 1.0]})
    assert t.value == {"sum": 8.0, "parts": [9.0, 5.0]}
    assert t.tangent == {"sum": 4.0, "parts": [6.0, 6.0]}
    (g,) = t.gradient
    assert g["point"] == Point(4.0, 0.0)
    np.testing.assert_array_equal(g["w"], [2.0, 4.0])
    assert [v.name for v in t.listing.inputs] == ["p['point'].x", "p['point'].y", "p['w']"]
    assert "y₁" in str(t)
    assert "y₃" in str(t)


def test_rows_say_what_was_done_where():
    t = wg.trace(in_place, X, 3)
    assert all(isinstance(row, Row) for row in t.rows)
    assert t.rows[0].operation == "input"
    stores = [row for row in t.rows if row.operation == "store"]
    assert stores[0].place.text == "out[0] = x[0]"
    assert stores[0].place.loops == 0
    assert stores[1].place.text == "out[i] = out[i - 1] * math.exp(-x[1])"
    assert stores[1].place.loops == 1
    assert {row.place.function for row in t.rows[1:]} == {"in_place"}
    assert stores[0].shape == (3,)


def test_what_has_no_derivative_is_listed_and_recognised():
    t = wg.trace(arrays, A, X)
    mask = next(row for row in t.rows if row.operation == "greater")
    choice = next(row for row in t.rows if row.operation == "where")
    assert choice.operands[0] == mask.name


def test_values_are_those_of_their_time():
    """Later writes, by the function or by the caller, do not change the list."""

    def f(x):
        scale = np.array([1.0, 2.0])
        y = x * scale
        scale[0] = 5.0
        return np.sum(y * scale)

    x = np.array([3.0, 4.0])
    t = wg.trace(f, x, cotangent=1.0)
    x[:] = 0
    np.testing.assert_array_equal(t.rows[0].value, [3.0, 4.0])
    np.testing.assert_array_equal(t.rows[1].operands[1], [1.0, 2.0])
    np.testing.assert_array_equal(t.gradient[0], [5.0, 4.0])


def test_local_partials():
    t = wg.trace(lambda x, y: x**2 * y, 3.0, 5.0)
    square, product = t.listing.steps
    assert {p: q.value for p, q in partials(square).items()} == {0: 6.0}
    assert {p: q.value for p, q in partials(product).items()} == {0: 5.0, 1: 9.0}
    (matmul,) = wg.trace(lambda A, x: A @ x, A, X).listing.steps
    assert [(q.value, q.shape) for q in partials(matmul).values()] == [(None, (3, 9)), (None, (3, 3))]


def test_expressions_are_the_rules():
    """Evaluating the expression that is shown gives the tangent."""
    for name in ("exp", "sin", "cos", "tanh", "sqrt", "log", "arctan", "cosh", "square", "reciprocal", "expm1"):
        t = wg.trace(getattr(np, name), 0.7, tangent=1.0)
        (step,) = t.listing.steps
        (expression,) = tangent_of(step)
        assert _evaluated(expression, {step.operands[0]: 0.7, step.results[0]: step.results[0].value}) == pytest.approx(
            t.tangent
        )


def _evaluated(e, values):
    if hasattr(e, "variable"):
        return 1.0 if e.kind == "dot" else values[e.variable]
    if not hasattr(e, "args"):
        return e.value
    op = {"sech_squared": lambda x: 1 / np.cosh(x) ** 2}.get(e.name) or getattr(np, e.name)
    return op(*[_evaluated(a, values) for a in e.args])


def test_no_floating_point_number():
    with pytest.raises(wg.errors.NotDifferentiableInputError, match="2.0 instead of 2"):
        wg.trace(lambda x: x, 2)


def test_wrong_seeds():
    with pytest.raises(wg.errors.MismatchError):
        wg.trace(np.sum, X, cotangent=np.ones(3))
    with pytest.raises(wg.errors.MismatchError):
        wg.trace(np.sum, X, tangent=np.ones(2))


def test_long_and_large():
    def f(x):
        for _ in range(500):
            x = np.sin(x)
        return np.sum(x)

    t = wg.trace(f, np.ones((30, 400)), cotangent=1.0)
    text = str(t)
    assert "441 more operations" in text
    assert len(text) < 20_000
    assert "30×400" in text
    assert len(t) == 502


def test_a_list_that_nobody_holds_is_gone_at_once():
    """Its values, too, though Python does not look for cycles."""
    kept = []

    def f(x):
        y = np.sin(x)
        kept.append(weakref.ref(wg.stop_gradient(y)))
        return np.sum(y * y)

    gc.disable()
    try:
        str(wg.trace(f, np.ones(30), cotangent=1.0))
        wg.profile(f, np.ones(30))
        assert len(kept) > 1
        assert not any(y() is not None for y in kept)
    finally:
        gc.enable()


def test_variables_are_compared_by_identity():
    """Two variables of the same value are two."""
    a, b = Variable(1, np.ones(2)), Variable(1, np.ones(2))
    assert a != b
    assert len({a, b}) == 2
