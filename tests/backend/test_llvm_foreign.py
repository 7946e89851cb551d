"""Ops that a library or Python computes, in the midst of native code."""

import numpy as np
import pytest
from backend.building import Builder, Ref, compile_program, constant

rng = np.random.default_rng(4)


def how(native, name):
    return [h for n, h in native.report if n == name]


def test_products():
    b = Builder(rng.random((3, 4)), rng.random((4, 5)), rng.random(4))
    x, y, v = b.params
    native = b.check(
        b.op("matmul", x, y), b.op("matmul", x, v), b.op("matmul", b.op("transpose", y, axes=(1, 0)), v),
        b.op("matmul", v, v), b.op("exp", b.op("matmul", b.op("sin", x), b.op("flip", y, axis=(1,)))),
    )  # fmt: skip
    assert set(how(native, "matmul")) == {"blas"}


def test_operand_of_a_product_is_computed_once():
    b = Builder(rng.random((3, 3)))
    (x,) = b.params
    e = b.op("exp", x)
    b.check(b.op("matmul", e, b.op("transpose", e, axes=(1, 0))), b.op("add", e, 1.0))


def test_product_in_a_loop():
    b = Builder(rng.random((3, 3)), rng.random(3))
    a, v = b.params
    b.check(*b.loop(6, [v], [a], lambda c, k, v, a: [c.op("matmul", a, v), c.op("sum", v, axis=(0,))]))


def test_product_of_run_time_length():
    b = Builder(rng.random((6, 6)), rng.random(6), 4)
    a, v, n = b.params
    part = b.op("index", a, pattern=(slice(None), slice(None, Ref(0))), sizes=[n], dyn={1: 6})
    w = b.op("index", v, pattern=(slice(None, Ref(0)),), sizes=[n], dyn={0: 6})
    native = b.check(b.op("matmul", part, w))
    for k in range(7):
        np.testing.assert_allclose(native(*b.samples[:2], k)[0], b.samples[0][:, :k] @ b.samples[1][:k], atol=1e-14)


def test_solve():
    b = Builder(rng.random((4, 4)) + 4 * np.eye(4), rng.random(4))
    a, v = b.params
    native = b.check(b.op("solve", a, v), b.op("exp", b.op("inv", a)), b.op("det", a))
    with pytest.raises(np.linalg.LinAlgError):
        native(np.zeros((4, 4)), np.ones(4))


def test_callbacks():
    b = Builder(rng.random((3, 4)))
    (x,) = b.params
    t = b.op("transpose", x, axes=(1, 0))
    native = b.check(
        b.op("argpartition", x, axis=1, kth=2), b.op("softmax", t, axis=(0,)),
        b.op("argpartition", b.op("exp", t), axis=0, kth=2), b.op("logsumexp", x, axis=(1,)),
    )  # fmt: skip
    assert how(native, "argpartition") == ["callback", "callback"]


def test_callback_in_a_loop():
    b = Builder(rng.random(5))
    (x,) = b.params

    def body(c, k, a):
        order = c.op("argpartition", a, axis=0, kth=3)
        return [c.store(a, c.op("add", c.index(a, k), 0.3), k), c.index(a, order), order]

    b.check(*b.loop(5, [x], [], body))


def test_exceptions_pass_through():
    b = Builder(np.eye(3))
    (x,) = b.params
    native = b.check(b.op("cholesky", x))
    with pytest.raises(np.linalg.LinAlgError):
        native(-np.eye(3))
    np.testing.assert_allclose(native(4 * np.eye(3))[0], 2 * np.eye(3))


def test_half_precision_goes_through():
    x = np.arange(4, dtype=np.float16)
    b = Builder(x)
    (p,) = b.params
    b.check(b.op("multiply", p, p), b.index(p, slice(1, None)), b.op("flip", p, axis=(0,)), b.index(p, 1), p)


def test_special_functions():
    b = Builder(rng.random(6) + 0.5, rng.random(6) + 0.5)
    x, y = b.params
    native = b.check(b.op("gammaln", x), b.op("erf", x), b.op("digamma", y), b.op("beta", x, y), rtol=1e-9)
    assert {kind for _, kind in native.report} == {"special"}


def test_many_outputs():
    b = Builder(rng.random((4, 4)) + 4 * np.eye(4), constant(1).value)
    a, _ = b.params
    m = b.op("add", a, b.op("transpose", a, axes=(1, 0)))
    w, v = b.op("eigh", m, lower=True)
    b.check(w, b.op("absolute", v), rtol=1e-8)
    s, d = b.op("slogdet", a)
    compile_program(b.program(s, d))
    b.check(s, d)
