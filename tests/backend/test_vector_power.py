"""pow of vectors against numbers of fifty digits, and NumPy's special cases."""

import mpmath
import numpy as np
import pytest

import wengert as wg

N = 205  # whole vectors, halves of them and single elements


@wg.jit
def power(x, y):
    return np.power(x, y)


def exponents(x, most, rng):
    """Exponents up to the largest for which results are numbers."""
    return rng.uniform(-1, 1, len(x)) * most / np.abs(np.log(x))


def bases(kind, most, rng):
    if kind == "ordinary":
        return rng.uniform(0.1, 9.0, N)
    if kind == "of all sizes":
        return np.exp(rng.uniform(-most, most, N))
    if kind == "near one":
        return 1 + rng.uniform(1e-5, 1e-4, N) * rng.choice([-1, 1], N)
    return np.sqrt(2.0) * (1 + rng.normal(size=N) * 1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["ordinary", "of all sizes", "near one", "near the root of two"])
def test_errors_are_as_small_as_said(kind, dtype, rng):
    most = 700.0 if dtype is np.float64 else 85.0
    x = bases(kind, most, rng).astype(dtype)
    y = exponents(x.astype(float), most, rng).astype(dtype)
    found = power(x, y)
    assert found.dtype == dtype
    with mpmath.workdps(50):
        for a, b, c in zip(x, y, found, strict=True):
            exact = mpmath.mpf(float(a)) ** mpmath.mpf(float(b))
            unit = float(np.spacing(dtype(float(exact))))
            assert abs(mpmath.mpf(float(c)) - exact) < (1.7 if "root" in kind else 1.3) * unit, (a, b, c)


SPECIAL = [
    0.0,
    1.0,
    2.0,
    0.5,
    3.0,
    2.5,
    np.inf,
    1e30,
    1e-30,
    1e16,
    2.0**52 + 1,
    2.0**53 + 2,
    0.9999,
    1.0001,
    1074,
    1e-45,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_special_cases_are_numpys(dtype):
    least, most = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    positive = [*SPECIAL, least, 100 * least, most]
    numbers = np.array([*positive, *[-n for n in positive], np.nan], dtype)
    x, y = [a.ravel() for a in np.meshgrid(numbers, numbers)]
    with np.errstate(all="ignore"):
        wanted, found = np.power(x, y), power(x, y)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    finite = np.isfinite(wanted)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(wanted[finite]))
    assert np.all(np.abs(found[finite] - wanted[finite]) <= 2 * unit)


def test_whole_exponents_are_exact_where_results_are():
    x = np.repeat(np.arange(-9.0, 10.0), 12)
    y = np.tile(np.arange(12.0), 19)
    np.testing.assert_array_equal(power(x, y), [float(int(a) ** int(b)) for a, b in zip(x, y, strict=True)])


def test_one_unusual_element_does_not_change_the_others(rng):
    x, y = rng.uniform(0.1, 9.0, 64), rng.uniform(-3, 3, 64)
    expected = power(x, y)
    for k, number in ((3, -2.0), (17, 0.0), (40, np.nan)):
        changed = x.copy()
        changed[k] = number
        with np.errstate(all="ignore"):
            found = power(changed, y)
        np.testing.assert_array_equal(np.delete(found, k), np.delete(expected, k))
