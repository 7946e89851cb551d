"""Calls of objects that cannot be hashed, as instances of data classes are."""

import dataclasses

import numpy as np

import wengert as wg


@dataclasses.dataclass
class Curve:
    a: float
    b: float

    def __call__(self, t):
        return self.a * t + self.b * t**2


def test_called_in_compiled_code():
    def f(a):
        return np.sum(Curve(a, a * a)(np.array([0.5, 3.0])))

    np.testing.assert_allclose(wg.jit(f)(2.0), f(2.0), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(2.0), 3.5 + 2 * 2.0 * 9.25, rtol=1e-14)


def test_settings_that_are_quiet():
    def f(x):
        before = np.seterr(invalid="ignore")
        y = np.sqrt(x)
        np.seterr(**before)
        return y

    assert wg.jit(f)(4.0) == 2.0
