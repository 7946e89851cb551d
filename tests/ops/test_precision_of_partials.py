"""Operands of fewer digits than the result cost the derivative no digits: partials are computed in the result's dtype.

The reference is the same operand in double precision, which holds the same number.
"""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

X = np.array([0.3, 1.2, 0.7])
SECOND = [np.float16(0.841), np.array([0.841, 0.3, 0.7], np.float16), np.float32(0.7), np.array([3, 5, 7], np.int16),
          np.int8(3), np.uint8(7)]  # fmt: skip
FUNCTIONS = {
    "divide": np.divide, "divided by": lambda x, y: y / x, "power": np.power, "exponent": lambda x, y: y**x,
    "arctan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp, "remainder": lambda x, y: 5 * x % y,
}  # fmt: skip


@pytest.mark.parametrize("y", SECOND, ids=lambda y: f"{y.dtype}{np.shape(y)}")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_operands_of_fewer_digits(name, y):
    def f(x, y):
        return np.sum(FUNCTIONS[name](x, y) * np.array([1.0, 2.0, 3.0]))

    want = wg.grad(f)(X, y.astype(float))
    for operator in (wg.grad(f), wg.jacfwd(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(operator(X, y), want, rtol=1e-12)
