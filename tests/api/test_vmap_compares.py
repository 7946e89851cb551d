"""In a batch, an example is compared with what is no number as one number is."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg


def cleaned(v):
    if v is None or v == "" or v in ("none", None):
        return 0.0
    if v == None or v == b"":  # noqa: E711
        return 1.0 * v
    return v**2


@pytest.mark.parametrize("of", [lambda f: f, wg.jit])
def test_numbers_are_no_texts(of):
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(of(wg.vmap(cleaned))(x), x**2)
    np.testing.assert_allclose(of(wg.vmap(wg.grad(cleaned)))(x), 2 * x)


def test_elements_are_no_texts():
    seen = []

    def f(row):
        seen.append(row == "")
        return np.sum(row)

    wg.vmap(f)(np.ones((2, 3)))
    assert seen[0].tolist() == [False] * 3
