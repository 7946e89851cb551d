"""`a in b`, where one of them is known only when the compiled program runs. The reference is Python."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.array([2.0, 5.0, 7.0])
TESTS = {
    "tuple": lambda k, x: k in (1, 5, 9), "list": lambda k, x: k in [5.0, 2], "not in": lambda k, x: k not in (1, 5),
    "texts": lambda k, x: k in ("a", 5, None), "set": lambda k, x: k in {2, 7}, "dict": lambda k, x: k in {5: "a"},
    "range": lambda k, x: k in range(2, 6), "long range": lambda k, x: k in range(2, 1000, 3),
    "backwards": lambda k, x: k in range(1000, 1, -3), "empty": lambda k, x: k in tuple(TESTS)[:0],
    "array": lambda k, x: k in x,
    "computed": lambda k, x: 7 in (k, k + 2), "chained": lambda k, x: 1 < k in (5, 7), "of data": lambda k, x: 5 in x,
    "float in range": lambda k, x: k * 1.0 in range(2, 1000),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTS)
def test_as_in_python(name):
    def f(x, v):
        k = int(v)
        if TESTS[name](k, x):
            return np.sum(x) * v
        return v

    compiled, slope = wg.jit(f), wg.jit(wg.grad(f, 1))
    for v in (2.0, 5.0, 7.0, 8.0, 998.0):
        assert compiled(X, v) == f(X, v)
        assert slope(X, v) == (np.sum(X) if TESTS[name](int(v), X) else 1.0)


def test_as_a_value():
    assert wg.jit(lambda v: int(v) in (1, 2))(2.0) is True or wg.jit(lambda v: int(v) in (1, 2))(2.0) == np.True_
    np.testing.assert_array_equal(wg.vmap(wg.jit(lambda v: int(v) in (1, 2)))(np.array([1.0, 3.0])), [True, False])
