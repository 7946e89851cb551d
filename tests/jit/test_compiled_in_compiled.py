"""A compiled function that another compiled function calls gives what it gives on its own."""

from __future__ import annotations

import types

import numpy as np
import pytest

import wengert as wg


def other_attributes(x):
    s = types.SimpleNamespace(a=x[0])
    if s.a > 1:
        s.b = 1.0
    else:
        s.a = s.a * 2
    return s.a * len(vars(s))


def other_lengths(x):
    items = [x[0]]
    if x[0] > 1:
        items = [x[0], x[1], 2.0]
    return sum(items) * len(items)


def other_kinds(x):
    message = None if x[0] > 1 else "small"
    return x[0] ** 2 if message is None else x[1] * len(message)


@pytest.mark.parametrize("f", [other_attributes, other_lengths, other_kinds])
@pytest.mark.parametrize("called_before", [False, True])
def test_branches_that_cannot_be_put_together(f, called_before):
    """What is compiled once for each of the branches on its own is, too, as a part of another function."""
    points = np.array([[0.5, 0.7], [1.5, -0.2]])
    inner = wg.jit(f)
    if called_before:
        for x in points:
            inner(x)
    outer, gradient = wg.jit(lambda x: 2 * inner(x)), wg.jit(wg.grad(inner))
    back, forth = wg.jit(wg.grad(lambda x: inner(x) * x[1])), wg.jit(wg.jacfwd(inner))
    for x in [*points, *points]:
        assert outer(x) == 2 * f(x)
        np.testing.assert_allclose(gradient(x), wg.grad(f)(x))
        np.testing.assert_allclose(forth(x), wg.grad(f)(x))
        np.testing.assert_allclose(back(x), wg.grad(lambda x: f(x) * x[1])(x))


def test_what_is_refused_in_both_says_why():
    @wg.jit
    def inner(x):
        return x * float(input())

    for f in (inner, wg.jit(lambda x: inner(x))):
        with pytest.raises(wg.errors.StagingError, match="input"):
            f(2.0)
