"""Linear filters in native code: SciPy's numbers, whichever is longer, the signal or the coefficients."""

import numpy as np
import pytest
import scipy.signal

import wengert as wg

X = np.random.default_rng(5).normal(size=(3, 20))


@pytest.mark.parametrize("b", [[0.5, 0.2, -0.1], list(np.linspace(1, 2, 25))])
@pytest.mark.parametrize("a", [[2.0, -0.3, 0.1], list(0.8 ** np.arange(30.0))])
def test_recursive_filters(a, b):
    a, b, x = np.array(a), np.array(b), X[0]

    def filtered(b, a, x):
        return scipy.signal.lfilter(b, a, x)

    compiled = wg.jit(filtered)
    np.testing.assert_allclose(compiled(b, a, x), filtered(b, a, x), rtol=1e-11, atol=1e-12)
    assert "callback" not in dict(compiled.lower(b, a, x).report).values()


def test_derivatives_and_rows():
    def energy(a, x):
        return np.sum(scipy.signal.lfilter([1.0, 0.5], a, x) ** 2)

    a = np.array([1.5, -0.3, 0.1])
    for x in (X[0], X):
        for got, want in zip(wg.jit(wg.grad(energy, (0, 1)))(a, x), wg.grad(energy, (0, 1))(a, x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
