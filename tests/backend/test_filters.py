"""Linear filters in native code: SciPy's numbers, whichever is longer, the signal or the coefficients."""

import numpy as np
import pytest
import scipy.signal

import wengert as wg
from wengert import tree

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


SHAPES = [((7, 40), (3, 4)), ((12, 30), (12, 25)), ((3, 4), (7, 9)), ((2, 6, 37), (1, 2, 3)), ((4, 5, 9), (2, 3, 2))]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pictures(dtype, rng):
    """Convolutions along several axes and their derivatives need neither Python nor copies of the pictures."""
    pairs = [(rng.normal(size=n).astype(dtype), rng.normal(size=m).astype(dtype)) for n, m in SHAPES]

    def f(pairs):
        found = []
        for a, v in pairs:
            for mode in ("full", "same", "valid"):
                g = lambda a, v, mode=mode: scipy.signal.convolve(a, v, mode, method="direct")
                y, pull = wg.vjp(g, a, v[..., ::-1])
                found.append((y, pull(np.cos(y))))
        return found

    compiled = wg.jit(f)
    for a, b in zip(tree.leaves(compiled(pairs)), tree.leaves(f(pairs)), strict=True):
        assert a.dtype == b.dtype == dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=np.max(np.abs(b)) * (3e-5 if dtype == np.float32 else 1e-13))
    assert "callback" not in [how for op, how in compiled.lower(pairs).report if op == "convolve_nd"]
    each = wg.vmap(lambda a, v: scipy.signal.correlate2d(a, v, "same"))
    a, v = rng.normal(size=(3, 6, 9)), rng.normal(size=(3, 2, 4))
    np.testing.assert_allclose(wg.jit(each)(a, v), each(a, v), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_infinite_coefficients_of_pictures(mode, rng):
    a, v = rng.normal(size=(9, 9)), rng.normal(size=(3, 3))
    v[0, 2] = a[4, 0] = np.inf
    f = lambda a, v: scipy.signal.convolve2d(a, v, mode)
    with np.errstate(invalid="ignore"):
        expected = wg.vjp(f, a, v)[0]  # SciPy itself multiplies with zeros around the picture
        np.testing.assert_allclose(wg.jit(f)(a, v), expected, rtol=1e-12)
    assert 0 < np.sum(np.isfinite(expected)) < expected.size or mode == "valid"
