"""Loops and conditions in native code, against the interpreter."""

import numpy as np
import pytest
from backend.building import Builder, constant

rng = np.random.default_rng(1)


def test_scalar_loop():
    b = Builder(0.5, 10)
    x, n = b.params

    def body(c, k, s):
        return [c.op("add", c.op("multiply", s, 0.5), c.op("sin", s))]

    (s,) = b.loop(n, [x], [], body)
    native = b.check(s)
    assert native(0.5, 0)[0] == 0.5
    assert native(0.5, -3)[0] == 0.5


def test_static_loop_with_stacked_scalars_and_arrays():
    b = Builder(np.arange(4.0))
    (x,) = b.params

    def body(c, k, a, w):
        t = c.op("multiply", c.op("add", a, w), 0.5)
        return [t, c.index(a, 1), c.op("exp", c.op("negative", t)), k]

    b.check(*b.loop(5, [x], [x], body))


def test_dynamic_count_and_stacks():
    b = Builder(np.arange(4.0), 6)
    x, n = b.params

    def body(c, k, a):
        t = c.op("multiply", a, 1.5)
        return [t, c.index(t, 1), t]

    native = b.check(*b.loop(n, [x], [], body))
    a, s, t = native(np.arange(4.0), 0)
    assert s.shape == (0,)
    assert t.shape == (0, 4)


def test_swap_of_carried_arrays():
    b = Builder(np.arange(4.0), np.ones(4))
    x, y = b.params
    b.check(*b.loop(3, [x, y], [], lambda c, k, p, q: [q, p]))
    b = Builder(np.arange(4.0), np.ones(4), np.full(4, 2.0))
    b.check(*b.loop(4, [*b.params], [], lambda c, k, p, q, r: [q, r, c.op("add", p, 1.0)]))


def test_views_of_carried_arrays():
    b = Builder(np.arange(9.0).reshape(3, 3))
    (x,) = b.params
    b.check(*b.loop(3, [x], [], lambda c, k, a: [c.op("transpose", a, axes=(1, 0))]))
    b = Builder(np.arange(9.0))
    (x,) = b.params
    b.check(*b.loop(3, [x], [], lambda c, k, a: [c.op("flip", a, axis=(0,))]))
    b = Builder(np.arange(9.0))
    (x,) = b.params

    def roll(c, k, a):
        return [c.op("concatenate", c.index(a, slice(1, None)), c.index(a, slice(0, 1)), axis=0), a]

    b.check(*b.loop(3, [x], [], roll))


def test_stencil_reads_old_values():
    b = Builder(rng.random(20))
    (x,) = b.params

    def body(c, k, a):
        inner = c.op("add", c.index(a, slice(None, -2)), c.index(a, slice(2, None)))
        return [c.store(a, c.op("multiply", inner, 0.5), slice(1, -1))]

    b.check(*b.loop(7, [x], [], body))


def test_nested_loops():
    b = Builder(rng.random((4, 5)))
    (x,) = b.params

    def outer(c, i, a):
        def inner(d, j, a, i):
            v = d.op("add", d.index(a, i, j), d.op("multiply", d.op("add", i, j), 0.25))
            return [d.store(a, v, i, j), v]

        a, v = c.loop(5, [a], [i], inner)
        return [a, c.op("sum", v, axis=(0,))]

    b.check(*b.loop(4, [x], [], outer))


def test_while_with_stack():
    b = Builder(100.0, np.arange(3.0))
    x, y = b.params

    def test(c, s, a, w):
        return c.op("greater", s, 1.0)

    def body(c, s, a, w):
        return [c.op("multiply", s, 0.7), c.op("add", a, w), s, a]

    native = b.check(*b.while_([x, y], [y], test, body))
    s, a, count, stack, arrays = native(0.5, np.arange(3.0))
    assert count == 0
    assert stack.shape == (0,)
    assert arrays.shape == (0, 3)


def test_while_with_a_stack_that_grows_large():
    b = Builder(0)
    (n,) = b.params
    s, count, ys = b.while_([n], [], lambda c, s: c.op("less", s, 1000), lambda c, s: [c.op("add", s, 1), s])
    b.check(s, count, ys)


@pytest.mark.parametrize("sample", [True, False])
def test_cond(sample):
    b = Builder(sample, np.arange(4.0), 2.0)
    p, x, s = b.params
    b.check(
        *b.cond(p, [x, s], lambda c, x, s: [c.op("multiply", x, s), s], lambda c, x, s: [x, c.op("add", s, 1.0)]),
        inputs=[sample, np.arange(4.0), 2.0],
    )
    native = b.check(*b.cond(b.op("logical_not", p), [x], lambda c, x: [c.op("flip", x, axis=(0,))], lambda c, x: [x]))
    native(not sample, np.arange(4.0), 2.0)


@pytest.mark.parametrize("sample", [True, False])
def test_cond_swaps(sample):
    b = Builder(sample, np.arange(4.0), np.ones(4))
    p, x, y = b.params
    x1, y1 = b.op("exp", x), b.op("exp", y)
    b.check(*b.cond(p, [x1, y1], lambda c, x, y: [y, x], lambda c, x, y: [x, y]))


def test_cond_in_a_loop_writes():
    b = Builder(rng.standard_normal(8))
    (x,) = b.params

    def body(c, k, a):
        v = c.index(a, k)
        return c.cond(
            c.op("less", v, 0.0), [a, k, v],
            lambda d, a, k, v: [d.store(a, d.op("negative", v), k)],
            lambda d, a, k, v: [a],
        )  # fmt: skip

    b.check(*b.loop(8, [x], [], body))


def test_calls_are_written_out():
    b = Builder(np.arange(3.0), 2.0)
    x, s = b.params
    f = b.inner(x, s)
    body = f.block(f.op("multiply", *f.params), f.params[1])
    y, _ = b.op("call", x, s, body=body, name="f")
    z, t = b.op("call", y, s, body=body, name="f")
    b.check(z, t, y)


def test_call_in_a_loop_body():
    b = Builder(np.arange(3.0))
    (x,) = b.params

    def body(c, k, a):
        f = c.inner(a)
        inner = f.block(f.store(f.params[0], f.op("sum", f.params[0], axis=(0,)), 1))
        return c.op("call", a, body=inner, name="f")

    b.check(*b.loop(3, [x], [], body))


def test_loop_results_used_twice():
    b = Builder(np.arange(3.0))
    (x,) = b.params
    (y,) = b.loop(3, [x], [], lambda c, k, a: [c.op("add", a, 1.0)])
    (z,) = b.loop(3, [y], [], lambda c, k, a: [c.store(a, 9.0, k)])
    b.check(y, z, b.op("add", y, z))


def test_loop_of_nothing():
    b = Builder(np.arange(3.0))
    (x,) = b.params
    b.check(*b.loop(0, [x], [], lambda c, k, a: [c.op("add", a, 1.0), c.op("sum", a, axis=(0,))]))


def test_complex_and_bool_are_carried():
    b = Builder(1j, True, np.array([True, False]))
    z, p, m = b.params

    def body(c, k, z, p, m):
        return [c.op("multiply", z, 1 + 1j), c.op("logical_not", p), c.op("logical_xor", m, p)]

    b.check(*b.loop(5, [z, p, m], [], body))


def test_require():
    b = Builder(2.0)
    (x,) = b.params
    b.op("require", b.op("less", x, 3.0), error="ValueError", message="x {is} too large", line=12)
    native = b.check(b.op("exp", x))
    with pytest.raises(ValueError, match=r"x \{is\} too large \(at user.py:12\)"):
        native(4.0)


def test_reverse_loop_of_a_recurrence():
    """What reverse mode makes of a loop: a loop that stacks, and one backwards that adds at places."""
    n = 6
    b = Builder(rng.random(n), rng.random(n))
    x, w = b.params
    s, stack = b.loop(n, [0.0], [x], lambda c, k, s, x: [c.op("add", c.op("sin", s), c.index(x, k)), s])

    def back(c, k, ct, g, stack):
        j = c.op("subtract", n - 1, k)
        g = c.store(g, ct, j, name="add_at")
        return [c.op("multiply", ct, c.op("cos", c.index(stack, j))), g]

    ct, g = b.loop(n, [1.0, constant(np.zeros(n))], [stack], back)
    b.check(s, ct, g, b.op("multiply", g, w))
