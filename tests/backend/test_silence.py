"""Nothing is printed while programs are compiled: neither by us nor, on the file that is called stderr, by LLVM."""

import numpy as np
import pytest
import scipy.special as sp

import wengert as wg

X = np.linspace(0.1, 0.9, 200)
ROWS = np.arange(200)[::-1].copy()

PROGRAMS = {
    "calls without vector variants": lambda x: sp.gamma(x) + sp.erfinv(x) + np.fmod(x, 0.3) + np.ldexp(x, 2),
    "in single precision": lambda x: sp.gamma(x.astype(np.float32)) + np.sin(x.astype(np.float32)),
    "some of each": lambda x: np.sin(x) * sp.j0(x) + np.where(x > 0.5, np.log(x), sp.digamma(x)),
    "reductions": lambda x: np.nanmax(x) + np.nanmin(np.outer(x, x), axis=1) + np.median(x) + np.max(x) + np.prod(x),
    "scans": lambda x: np.cumsum(x) + np.cumprod(x) + np.maximum.accumulate(x),
    "gathers": lambda x: np.sin(x)[ROWS] * x + np.roll(x, 3),
    "integers": lambda x: x + (x * 100).astype(int) % 7 + np.left_shift((x * 9).astype(int), 2),
    "powers of integers": lambda x: x * (x * 9).astype(int) ** (x * 3).astype(int),
    "complex numbers": lambda x: np.abs(np.exp(1j * x)) + np.real(1j * x**2),
    "rows with zeros": lambda x: np.sum(np.stack([x**2, 0 * x, np.zeros(200), np.zeros(200), np.sin(x)], 1) ** 2, 1),
    "products": lambda x: np.outer(x, x) @ x + np.convolve(x, x)[:200],
}


def recurrence(x):
    y = np.zeros(200)
    y[0] = x[0]
    for i in range(1, 200):
        y[i] = 0.5 * y[i - 1] + sp.expit(x[i]) if x[i] > 0.3 else x[ROWS[i]]
    return y


@pytest.mark.parametrize("name", [*PROGRAMS, "a loop"])
def test_nothing_is_printed(name, capfd):
    f = PROGRAMS.get(name, recurrence)
    wg.jit(f)(X)
    wg.jit(wg.grad(lambda x: np.sum(f(x))))(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("count", [9, 18, 30])
def test_nothing_is_printed_about_columns_of_many_arrays(count, capfd):
    arrays = list(np.random.default_rng(0).normal(size=(count, 2925, 2)))
    f = lambda arrays: np.stack([a[:, 0] for a in arrays], axis=1)
    np.testing.assert_array_equal(wg.jit(f)(arrays), f(arrays))
    assert capfd.readouterr() == ("", "")
