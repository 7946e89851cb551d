"""Objects of users' classes that say what ufuncs and conversions mean for them, together with traced values."""

import numpy as np

import wengert as wg


class Wrapped(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, a):
        self.a = a

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return Wrapped(ufunc(*[x.a if isinstance(x, Wrapped) else x for x in inputs], **options))

    def __float__(self):
        return float(np.sum(self.a))


def test_operators_and_ufuncs_on_either_side():
    def f(x):
        v = Wrapped(x * 1.0)
        return np.sum((x * v - np.exp(v) * x + np.arctan2(x, v)).a) * float(v)

    x = np.array([0.3, -0.4, 1.2])
    g = lambda x: np.sum(x * x - np.exp(x) * x + np.arctan2(x, x)) * np.sum(x)
    for way in (wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))):
        np.testing.assert_allclose(way(f)(x), wg.grad(g)(x), rtol=1e-13)
    np.testing.assert_allclose(wg.vmap(f)(np.stack([x, 2 * x])), [g(x), g(2 * x)], rtol=1e-13)
