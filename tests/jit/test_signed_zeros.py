"""Arrays of equal numbers become one number in a program, but 0.0 and -0.0 are equal and not the same."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

N = 25
"""More elements than constants are compared without a second look."""


def filled():
    z = np.zeros(N)
    z[20:] = -0.0
    return z


PROGRAMS = {
    "a list": lambda x: np.copysign(x, np.array([0.0] * 20 + [-0.0] * 5)),
    "written": lambda x: np.copysign(x, filled()),
    "chosen": lambda x: np.copysign(x, np.where(np.arange(N) < 20, 0.0, -0.0)),
    "negative": lambda x: np.copysign(x, -np.zeros(N)),
    "an angle": lambda x: x + np.arctan2(np.array([0.0] * 20 + [-0.0] * 5), -1.0),
    "below and above the cut": lambda x: x * np.log(np.array([complex(-1, 0.0)] * 20 + [complex(-1, -0.0)] * 5)).imag,
    "broadcast": lambda x: np.copysign(x.reshape(5, 5), np.broadcast_to(np.array([0.0, -0.0] * 2 + [0.0]), (5, 5))),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_signs_of_zeros_are_kept(f):
    x = np.arange(1.0, N + 1)
    np.testing.assert_array_equal(wg.jit(f)(x), f(x))
    slope = lambda x: np.sum(f(x) ** 3)
    np.testing.assert_allclose(wg.jit(wg.grad(slope))(x), wg.grad(slope)(x), rtol=1e-12)


def test_a_broadcast_array_is_not_written_out():
    f = lambda x: np.sin(x) * np.broadcast_to(np.arange(300.0)[:, None], (300, 1000))
    x = np.linspace(0, 1, 300_000).reshape(300, 1000)
    g = wg.jit(f)
    np.testing.assert_allclose(g(x), f(x), rtol=1e-14)
    assert "f64[300, 1] =" in g.lower(x).ir
