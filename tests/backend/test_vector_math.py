"""Functions of vectors that are written here, against numbers of fifty digits."""

import mpmath
import numpy as np
import pytest
import scipy.special

import wengert as wg

RANDOM = np.random.default_rng(5)
FUNCTIONS = {
    "exp": wg.jit(lambda x: np.exp(x)),
    "log": wg.jit(lambda x: np.log(x)),
    "tanh": wg.jit(lambda x: np.tanh(x)),
    "sinh": wg.jit(lambda x: np.sinh(x)),
    "erf": wg.jit(lambda x: scipy.special.erf(x)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "units"), [("exp", 1.5), ("log", 1.5), ("tanh", 2.0), ("sinh", 2.5), ("erf", 1.5)])
def test_errors(name, units, dtype):
    most = 700.0 if dtype is np.float64 else 85.0
    x = np.concatenate([RANDOM.uniform(-s, s, 21) for s in (1e-4, 0.4, 2.0, 25.0, most)]).astype(dtype)
    x = np.abs(x) if name == "log" else x
    with mpmath.workdps(50):
        for a, b in zip(x, FUNCTIONS[name](x), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(float(a)))
            unit = float(np.spacing(dtype(abs(float(exact)))))
            assert abs(mpmath.mpf(float(b)) - exact) < units * unit, (a, b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_cases_are_numpys(name):
    x = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 710.4, -710.4, 711.0, -746.0, 1e308, 1.0]
    )
    with np.errstate(all="ignore"):
        wanted, found = getattr(np, name, scipy.special.erf)(x), FUNCTIONS[name](x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(found)]))
    np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=0)
    if name in ("tanh", "erf"):
        single = np.clip(x, -3e38, 3e38).astype(np.float32)
        np.testing.assert_allclose(FUNCTIONS[name](single), wanted.astype(np.float32), rtol=2e-7, atol=0)
