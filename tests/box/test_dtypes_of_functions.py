"""Functions of short integers, truth values, single precision and complex numbers: values and dtypes as in NumPy."""

import math

import numpy as np
import pytest
from scipy.spatial import distance

import wengert as wg

BYTES = np.array([200, 1, 2, 0, 5, 2], np.uint8)
SHORT = np.array([100, -1, 2, 0, 5, 2], np.int8)
TRUTH = np.array([True, False, True, True, False, True])
SINGLE = np.array([0.7, 0.4, 1.3, 2.2, 1.1, 3.9], np.float32)
COMPLEX = np.array([1 + 2j, -1j, 0, 2, 3 - 1j, 1j])

CALLS = [
    (lambda x: np.linspace(x[0], x[1], 5, endpoint=False, retstep=True), (BYTES, SHORT, TRUTH, SINGLE)),
    (lambda x: np.linspace(-3.5, x[0], 4, dtype=int), (SHORT, SINGLE)),
    (lambda x: np.geomspace(1, x[0] + 2, 4), (SHORT, SINGLE)),
    (lambda x: np.pad(x, 2, mode="linear_ramp"), (BYTES, SHORT, TRUTH, SINGLE)),
    (lambda x: (math.floor(x[0]) * 2, round(x[0]) * 2, int(x[0]) * 2), (BYTES, SHORT, SINGLE)),
    (lambda x: np.frompyfunc(lambda v: v * 2, 1, 1)(x).astype(float), (BYTES, SHORT)),
    (lambda x: (np.prod(x, initial=2.5), np.sum(x, initial=1.5)), (BYTES, SHORT)),
    (lambda x: np.max(x, initial=2, where=x < 9), (BYTES, SHORT, TRUTH, SINGLE)),
    (lambda x: (np.fabs(x), np.power(x, 2)), (BYTES, SHORT, TRUTH, SINGLE)),
    (lambda x: np.vecdot(x.reshape(2, 3), x.reshape(2, 3)), (BYTES, SHORT, TRUTH, SINGLE)),
    (lambda x: np.sort_complex(x), (BYTES, SHORT, TRUTH, SINGLE, COMPLEX)),
    (lambda x: np.histogram(x, [0, 1, 2, 5], weights=x), (BYTES, SHORT, SINGLE)),
    (lambda x: np.histogram(x, 4, range=(0, 4)), (BYTES, SINGLE)),
    (lambda x: tuple(np.unique_counts(x)), (BYTES, SHORT, SINGLE)),
    (lambda x: x.astype(bool), (BYTES, SHORT, SINGLE, COMPLEX)),
    (lambda x: np.atleast_1d(x, x[:2]), (SINGLE, COMPLEX)),
    (lambda x: np.broadcast_arrays(x, x[:2, None]), (BYTES, SINGLE)),
    (lambda x: distance.cdist(x.reshape(2, 3), x.reshape(2, 3) + 1), (BYTES, SINGLE)),
    (lambda x: max(x[1], 2) * 100 + (3 if x[0] > 5 else x[0]) * 100, (BYTES, SHORT)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), [(f, x) for f, xs in CALLS for x in xs])
def test_as_in_numpy(f, x):
    found, expected = wg.jit(f)(x), f(x)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for y, z in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-6 if x.dtype == np.float32 else 1e-13)
        assert np.asarray(y).dtype == np.asarray(z).dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda z: np.interp(z, [0, 1, 2], [3.0, 1.0, 2.0]),
        lambda z: np.bincount([0, 1, 1, 0, 2, 2], weights=z),
        lambda z: np.digitize(z, [1, 2, 3]),
    ],
)
def test_complex_numbers_are_refused_as_numpy_does(f):
    for g in (f, wg.jit(f)):
        with pytest.raises(TypeError, match=r"complex"):
            g(COMPLEX)
