"""`np.emath` in compiled functions: compiled for real results, and once more where a call has complex ones."""

import numpy as np
import pytest
from numpy.lib import scimath

import wengert as wg
from wengert.errors import StagingError

FUNCTIONS = {
    "sqrt": lambda x: np.abs(scimath.sqrt(x)),
    "log": lambda x: scimath.log(x).real,
    "log2": lambda x: np.sum(scimath.log2(x)).real,
    "log10": lambda x: abs(scimath.log10(x)),
    "arcsin": lambda x: np.sum(scimath.arcsin(x / 2)).real,
    "arccos": lambda x: abs(scimath.arccos(x / 3)),
    "arctanh": lambda x: scimath.arctanh(x / 2.5).real,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_real_and_complex_results(name):
    f = FUNCTIONS[name]
    value, slope, of_value = wg.jit(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))
    for x in (1.5, -3.5, 1.7):
        np.testing.assert_allclose(value(x), f(x), rtol=1e-14)
        want = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose([slope(x), of_value(x), wg.grad(f)(x)], [want] * 3, rtol=1e-6, atol=1e-8)
    points = np.array([1.5, 1.7])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(f)))(points), [wg.grad(f)(x) for x in points], rtol=1e-12)


def test_types_of_results():
    for x in (4.0, -4.0, np.array([1.0, 4.0]), np.array([1.0, -4.0]), np.float32(-2)):
        found, want = wg.jit(scimath.sqrt)(x), scimath.sqrt(x)
        assert type(found) is type(want)
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-7)


def test_both_in_one_call_are_refused():
    with pytest.raises(StagingError, match="real numbers and complex ones"):
        wg.jit(lambda x: [scimath.sqrt(v) for v in (x, -x)])(2.0)
