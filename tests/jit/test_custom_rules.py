"""Derivative rules of the user's own in compiled programs: every placement of `jit`, in loops, branches and batches.

The functions compute something whose own derivative would be wrong (they round, or cut off), so that a right result can
only come from the rule; the references are closed forms.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError


def _cut(x):
    """Locally constant: differentiating it gives zero."""
    return np.round(np.sin(x) * 1e15) / 1e15


def _cut_cosine(x):
    return np.round(np.cos(x) * 1e15) / 1e15


@wg.custom_jvp
def sine_jvp(x):
    return _cut(x)


@wg.custom_jvp
def cosine_jvp(x):
    return _cut_cosine(x)


@sine_jvp.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return sine_jvp(x), cosine_jvp(x) * t


@cosine_jvp.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return cosine_jvp(x), -sine_jvp(x) * t


@wg.custom_vjp
def sine_vjp(x):
    return _cut(x)


@wg.custom_vjp
def cosine_vjp(x):
    return _cut_cosine(x)


sine_vjp.defvjp(lambda x: (sine_vjp(x), x), lambda x, ct: (cosine_vjp(x) * ct,))
cosine_vjp.defvjp(lambda x: (cosine_vjp(x), x), lambda x, ct: (-sine_vjp(x) * ct,))

SINES = pytest.mark.parametrize("sine", [sine_jvp, sine_vjp], ids=["jvp", "vjp"])
X = np.array([0.3, 1.1, -0.7])


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def placements(operator, f):
    jit = wg.jit
    return [operator(f), jit(operator(f)), operator(jit(f)), jit(operator(jit(f)))]


def tangent(f):
    return lambda x: wg.jvp(f, (x,), (np.ones_like(x),))[1]


@SINES
def test_value(sine):
    close(wg.jit(sine)(X), np.sin(X))
    close(wg.jit(lambda x: sine(x * 2) * x)(X), np.sin(2 * X) * X)


@SINES
def test_first_derivatives(sine):
    want = np.cos(X * X) * 2 * X
    for g in placements(wg.grad, lambda x: np.sum(sine(x * x))):
        close(g(X), want)
    for g in placements(tangent, lambda x: sine(x * x)):
        close(g(X), want)
    for operator in (wg.jacfwd, wg.jacrev):
        for g in placements(operator, lambda x: sine(x * x)):
            close(g(X), np.diag(want))


@SINES
@pytest.mark.parametrize("x", [0.3, -1.2])
def test_higher_derivatives(sine, x):
    f = lambda x: sine(2 * x)
    for g in placements(lambda f: wg.grad(wg.grad(f)), f):
        close(g(x), -4 * np.sin(2 * x))
    for g in placements(lambda f: tangent(wg.grad(f)), f):
        close(g(x), -4 * np.sin(2 * x))
    for g in placements(lambda f: wg.grad(tangent(f)), f):
        close(g(x), -4 * np.sin(2 * x))
    for g in placements(lambda f: wg.grad(wg.grad(wg.grad(f))), f):
        close(g(x), -8 * np.cos(2 * x))
    close(wg.grad(wg.jit(wg.grad(wg.jit(f))))(x), -4 * np.sin(2 * x))


@SINES
def test_batches(sine):
    want = np.cos(X * X) * 2 * X
    f = lambda x: sine(x * x)
    close(wg.vmap(f)(X), np.sin(X * X))
    for g in placements(wg.vmap, f):
        close(g(X), np.sin(X * X))
    for g in placements(lambda f: wg.vmap(wg.grad(f)), f):
        close(g(X), want)
    close(wg.vmap(wg.jit(wg.grad(f)))(X), want)
    for g in placements(lambda f: wg.grad(lambda x: np.sum(wg.vmap(f)(x))), f):
        close(g(X), want)
    for g in placements(lambda f: wg.vmap(wg.grad(wg.grad(f))), sine):
        close(g(X), -np.sin(X))
    rows = np.stack([X, 2 * X])
    for g in placements(lambda f: wg.vmap(wg.vmap(f)), f):
        close(g(rows), np.sin(rows * rows))
    close(wg.jit(wg.vmap(lambda x, w: sine(x * w), (0, None)))(X, 2.0), np.sin(2 * X))
    shared = lambda w: np.sum(wg.vmap(lambda x, w: sine(x * w), (0, None))(X, w))
    for g in placements(wg.grad, shared):
        close(g(2.0), np.sum(np.cos(2 * X) * X))


@SINES
def test_in_loops_and_branches(sine):
    def loop(x):
        s = x
        for _ in range(20):
            s = sine(s) + 0.5 * x
        return s

    def loop_in_numpy(x):
        s, d = x, 1.0
        for _ in range(20):
            s, d = np.sin(s) + 0.5 * x, np.cos(s) * d + 0.5
        return d

    def branch(x):
        if x > 0.5:
            return sine(3 * x)
        return sine(x) ** 2

    def search(x):
        while x < 5:
            x = x + sine(x) ** 2 + 0.5
        return x

    def search_in_numpy(x):
        d = 1.0
        while x < 5:
            x, d = x + np.sin(x) ** 2 + 0.5, d * (1 + np.sin(2 * x))
        return d

    cases = [
        (loop, loop_in_numpy),
        (branch, lambda x: 3 * np.cos(3 * x) if x > 0.5 else np.sin(2 * x)),
        (search, search_in_numpy),
    ]
    for f, derivative in cases:
        for x in (0.3, 1.1):
            for operator in (wg.grad, tangent):
                for g in placements(operator, f):
                    close(g(x), derivative(x))
        want = [derivative(x) for x in (0.3, 1.1)]
        close(wg.jit(wg.vmap(wg.grad(f)))(np.array([0.3, 1.1])), want)
        close(wg.vmap(wg.grad(wg.jit(f)))(np.array([0.3, 1.1])), want)


def test_clipped_gradient():
    @wg.custom_vjp
    def clip(x):
        return x

    clip.defvjp(lambda x: (clip(x), None), lambda _, ct: (np.clip(ct, -1, 1),))
    close(wg.jit(lambda x: clip(x) * 2)(3.0), 6.0)
    for g in placements(wg.grad, lambda x: 5 * clip(x) ** 2):
        close(g(3.0), 1.0)


def test_several_arguments_containers_and_structure():
    @wg.custom_vjp
    def weighted(p, n, scale):
        return {"y": np.round(p["a"] * 1e15) / 1e15 * n * scale, "z": p["b"] ** 2}

    def forward(p, n, scale):
        return weighted(p, n, scale), (p, n, scale)

    def backward(kept, ct):
        p, n, scale = kept
        return {"a": ct["y"] * n * scale, "b": 2 * p["b"] * ct["z"]}, None, np.sum(ct["y"] * p["a"] * n)

    weighted.defvjp(forward, backward)

    def f(a, b, scale):
        out = weighted({"a": a, "b": b}, 3, scale)
        return np.sum(out["y"] ** 2) + np.sum(out["z"])

    a, b, scale = X, np.array([1.0, 2.0]), 0.5
    y = 3 * scale * a
    want = (2 * y * 3 * scale, 2 * b, np.sum(2 * y * 3 * a))
    for g in placements(lambda f: wg.grad(f, (0, 1, 2)), f):
        for got, expected in zip(g(a, b, scale), want, strict=True):
            close(got, expected)


def test_rules_with_control_flow():
    @wg.custom_jvp
    def ramp(x):
        return np.maximum(x, 0.0)

    @ramp.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        if x > 0:
            return x, 3.0 * t
        return 0.0 * x, 0.1 * t

    for g in placements(tangent, lambda x: ramp(x) * 2):
        close(g(1.5), 6.0)
        close(g(-1.5), 0.2)

    @wg.custom_vjp
    def ramp(x):
        return np.maximum(x, 0.0)

    def backward(x, ct):
        if x > 0:
            return (3.0 * ct,)
        return (0.1 * ct,)

    ramp.defvjp(lambda x: (ramp(x), x), backward)
    for g in placements(wg.grad, lambda x: ramp(x) * 2):
        close(g(1.5), 6.0)
        close(g(-1.5), 0.2)
    close(wg.jit(wg.vmap(wg.grad(ramp)))(np.array([1.0, -1.0])), [3.0, 0.1])


def test_functions_as_arguments():
    @wg.custom_jvp
    def root(f, a):
        x = 1.0
        for _ in range(60):
            x = x - f(x, a) / (2 * x)
        return x

    root = wg.custom_jvp(root._function, nondiff_argnums=(0,))

    @root.defjvp
    def _(f, primals, tangents):
        (a,), (t,) = primals, tangents
        x = root(f, a)
        return x, t / (2 * x)

    square = lambda x, a: x * x - a
    for g in placements(wg.grad, lambda a: root(square, a)):
        close(g(2.0), 0.5 / np.sqrt(2))


def test_outside_arrays_and_compiled_functions():
    table = np.array([1.0, 2.0, 3.0])
    double = wg.jit(lambda x: 2 * x)

    @wg.custom_jvp
    def looked_up(x):
        return np.sum(np.round(table * x))

    looked_up.defjvp(lambda primals, tangents: (looked_up(*primals), double(tangents[0]) * np.sum(table)))
    for g in placements(wg.grad, looked_up):
        close(g(2.0), 12.0)


def test_what_a_rule_reads_outside_is_never_stale():
    table, scale = np.array([1.0, 2.0]), [3.0]

    @wg.custom_vjp
    def looked_up(x):
        return np.sum(np.round(table * x)) * scale[0]

    looked_up.defvjp(lambda x: (looked_up(x), x), lambda x, ct: (ct * np.sum(table) * scale[0] * np.cos(x),))
    every = placements(wg.grad, looked_up)
    for g in every:
        close(g(0.5), 9.0 * np.cos(0.5))
    table[0] = 5.0
    for g in every:
        close(g(0.5), 21.0 * np.cos(0.5))
    scale[0] = 1.0
    for g in every:
        close(g(0.5), 7.0 * np.cos(0.5))

    def in_a_loop(x):
        for _ in range(20):
            x = x + 0.01 * looked_up(x)
        return x

    def by_hand(x):
        d = 1.0
        for _ in range(20):
            d, x = d * (1 + 0.01 * np.sum(table) * np.cos(x)), x + 0.01 * np.sum(np.round(table * x))
        return d

    every = placements(wg.grad, in_a_loop)
    for g in every:
        close(g(0.5), by_hand(0.5))
    table[1] = 0.5
    for g in every:
        close(g(0.5), by_hand(0.5))


def test_closing_over_what_is_differentiated_is_an_error():
    def f(a, x):
        @wg.custom_jvp
        def times(x):
            return a * x

        times.defjvp(lambda primals, tangents: (times(*primals), tangents[0]))
        return times(x)

    close(wg.jit(f)(2.0, 3.0), 6.0)
    for g in (wg.grad(wg.jit(f)), wg.jit(wg.grad(f))):
        with pytest.raises(WengertError):
            g(2.0, 3.0)


def test_writing_into_an_argument_is_an_error():
    @wg.custom_jvp
    def reset(x):
        x[0] = 0.0
        return np.sum(x)

    reset.defjvp(lambda primals, tangents: (reset(*primals), np.sum(tangents[0])))
    with pytest.raises(WengertError, match="writes into an array"):
        wg.jit(lambda x: reset(x * 2))(X)


def test_stop_gradient():
    def f(x):
        s = 0.0
        for _ in range(10):
            s = s + x * wg.stop_gradient(x * s + 1)
        return s

    def by_hand(x):
        s, d = 0.0, 0.0
        for _ in range(10):
            c = x * s + 1
            s, d = s + x * c, d + c
        return d

    for operator in (wg.grad, tangent):
        for g in placements(operator, f):
            close(g(0.4), by_hand(0.4))
    close(wg.jit(wg.vmap(wg.grad(f)))(X), [by_hand(x) for x in X])


def test_arguments_that_are_integers():
    """Their tangents are zeros that the rule multiplies with what only the program knows."""

    @wg.custom_jvp
    def scaled(u, v):
        return u * np.tanh(u * v)

    @scaled.defjvp
    def rule(primals, tangents):
        (u, v), (u_dot, v_dot) = primals, tangents
        h = np.tanh(u * v)
        return u * h, (h + u * v * (1 - h * h)) * u_dot + u * u * (1 - h * h) * v_dot

    def f(x, n):
        return scaled(2, x) + scaled(n, x) + scaled(np.int64(3), x)

    def plain(x, n):
        return 2 * np.tanh(2 * x) + n * np.tanh(n * x) + 3 * np.tanh(3 * x)

    want = wg.grad(plain)(0.3, 4)
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jacfwd(f), wg.jit(wg.jacfwd(f))):
        close(g(0.3, 4), want)
    batch = np.array([0.3, 0.7])
    for g in (wg.vmap(wg.grad(f), (0, None)), wg.jit(wg.vmap(wg.grad(f), (0, None)))):
        close(g(batch, 4), [wg.grad(plain)(x, 4) for x in batch])
    close(
        wg.jit(wg.vmap(wg.grad(f)))(batch, np.array([4, 5])),
        [wg.grad(plain)(x, n) for x, n in zip(batch, (4, 5), strict=True)],
    )


def test_a_forward_rule_that_branches():
    @wg.custom_jvp
    def scaled(x, w):
        return np.abs(x) * w

    @scaled.defjvp
    def _(primals, tangents):
        (x, w), (x_dot, w_dot) = primals, tangents
        if np.sum(x) > 0:
            y_dot = np.sign(x) * w * x_dot
        else:
            y_dot = 3.0 * np.sign(x) * w * x_dot
        return scaled(x, w), y_dot + np.abs(x) * w_dot

    def f(x, w):
        return np.sum(scaled(x, w) ** 2)

    for x in (np.array([1.0, -2.0, 4.0]), np.array([-1.0, 2.0, -4.0])):
        factor = 1.0 if np.sum(x) > 0 else 3.0
        for gradient in (wg.grad(f, (0, 1)), wg.jit(wg.grad(f, (0, 1))), wg.grad(wg.jit(f), (0, 1))):
            found = gradient(x, 2.0)
            np.testing.assert_allclose(found[0], factor * 8.0 * x, rtol=1e-14)
            np.testing.assert_allclose(found[1], 4.0 * np.sum(x * x), rtol=1e-14)
        np.testing.assert_allclose(wg.jit(wg.hessian(f))(x, 2.0), wg.hessian(f)(x, 2.0), rtol=1e-13)


def test_arrays_of_computed_lengths():
    @wg.custom_jvp
    def forwards(x):
        return _cut(x)

    @forwards.defjvp
    def _(primals, tangents):
        return forwards(primals[0]), np.cos(primals[0]) * tangents[0]

    @wg.custom_vjp
    def backwards(x):
        return _cut(x)

    backwards.defvjp(lambda x: (backwards(x), x), lambda x, ct: (np.cos(x) * ct,))
    x = np.linspace(-1.0, 1.0, 6)
    for f in (forwards, backwards, wg.jit(forwards), wg.jit(backwards)):
        total = lambda x, n, f=f: np.sum(f(x[n[0] :]))
        for gradient in (wg.jit(wg.grad(total)), wg.grad(wg.jit(total))):
            want = np.where(np.arange(6) < 2, 0.0, np.cos(x))
            np.testing.assert_allclose(gradient(x, np.array([2])), want, rtol=1e-12)
