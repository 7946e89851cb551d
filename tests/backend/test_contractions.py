"""Products of arrays of every form, against `np.einsum`; and of numbers that processors are slow with."""

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.machine.hints import vector_bytes

SIZES = {"a": 3, "b": 4, "c": 5, "d": 9, "e": 2, "f": 1, "g": 40, "h": 64}
FORMS = [
    *("ab,bc->ac", "ab,cb->ac", "ba,bc->ac", "ab,bc->ca", "ab,ab->a", "ab,ab->b", "ab,ab->", "a,b->ba", "ab,b->a"),
    *("abc,dac->dab", "dab,dac->abc", "eabc,dac->edb", "eabc,dca->edb", "abc,cb->a", "abc,bc->a", "abcd,dc->ba"),
    *("abe,ebc->ac", "ab,ab->ab", "fab,bc->fac", "af,fc->ac", "dabc,ac->dab", "ga,ab->gb", "ga,ba->gb", "ag,ah->gh"),
    *("gh,ha->ga", "gh,ah->ga", "hg,ha->ga", "gd,dh->gh", "agh,ga->ah", "ab,bg,gc->ac", "ab,cb,dc,a->d", "ab,bc->c"),
]


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8"])
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, dtype):
    random = np.random.default_rng(0)
    shapes = [[SIZES[c] for c in own] for own in form.split("->")[0].split(",")]
    args = [(5 * random.normal(size=shape)).astype(dtype) for shape in shapes]
    wanted = np.einsum(form, *[a.astype("c16" if dtype == "c16" else "f8") for a in args])
    found = wg.jit(lambda *args: np.einsum(form, *args))(*args)
    tolerance = 2e-4 if dtype == "f4" else 1e-11
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 100)
    assert found.dtype == dtype
    # With strides of their own.
    found = wg.jit(lambda *args: np.einsum(form, *[np.swapaxes(a, 0, -1) for a in args]))(
        *[np.ascontiguousarray(np.swapaxes(a, 0, -1)) for a in args]
    )
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 100)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        *[((7, 5), (5, 6)), ((3, 7, 5), (5, 6)), ((7, 5), (3, 5, 6)), ((3, 7, 5), (3, 5, 6)), ((1, 7, 5), (3, 5, 6))],
        *[
            ((5,), (5,)),
            ((5,), (5, 6)),
            ((7, 5), (5,)),
            ((2, 7, 5), (5,)),
            ((5,), (2, 5, 6)),
            ((2, 1, 7, 5), (3, 5, 1)),
        ],
        *[((40, 3), (3, 40)), ((64, 64), (64, 64)), ((9, 200), (200, 33)), ((130, 70), (70, 90))],
    ],
)
def test_matmul(x, y):
    random = np.random.default_rng(0)
    a, b = random.normal(size=x), random.normal(size=y)
    np.testing.assert_allclose(wg.jit(np.matmul)(a, b), a @ b, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("m", [8, 9, 13, 27, 31])
@pytest.mark.parametrize("n", [3, 14, 16, 33])
def test_any_number_of_rows(m, n):
    """Several products of other sizes in one program, whose rows are not a multiple of those that are done at once."""
    random = np.random.default_rng(m)
    x, y, z = random.normal(size=(m, 11)), random.normal(size=(11, n)), random.normal(size=(n, m))

    def f(x, y, z):
        return x @ y, x.T @ (x @ y), (x @ y) @ z, (z @ x)[:, ::2], (x[:, ::2] @ y[::2]).T

    for found, wanted in zip(wg.jit(f)(x, y, z), f(x, y, z), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_large_products(dtype):
    """By rows and by columns, of whole matrices and parts of others, with sizes that no block divides."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(77, 301)).astype(dtype), random.normal(size=(301, 130)).astype(dtype)

    def f(x, y, x_turned, y_turned):
        return [
            x @ y, x_turned.T @ y, x @ y_turned.T, x_turned.T @ y_turned.T, x[:33, 1:] @ y[1:], x[:, :300] @ y[1:, 2:],
            x[3:, 1:150].T @ x[3:, 2:], y[:, ::2].T @ x.T,
        ]  # fmt: skip

    args = (x, y, np.ascontiguousarray(x.T), np.ascontiguousarray(y.T))
    for found, wanted in zip(wg.jit(f)(*args), f(*[a.astype("f8") for a in args]), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-4 if dtype == "f4" else 1e-12)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_factors_that_lie_by_columns(dtype):
    """Long sums over rows of both factors, any number of them, in whole matrices and parts of others."""
    random = np.random.default_rng(0)
    sizes = [(2, 300, 40), (5, 513, 33), (7, 1030, 67), (16, 512, 96), (23, 257, 130), (64, 129, 70), (100, 300, 9)]
    pairs = [(random.normal(size=(m, k + 3)), random.normal(size=(n, k + 3))) for m, k, n in sizes]
    pairs = [(x.astype(dtype), y.astype(dtype)) for x, y in pairs]
    f = lambda pairs: [z for x, y in pairs for z in (x @ y.T, x[:, 3:] @ y[:, 3:].T)]
    compiled = wg.jit(f)
    for found, wanted in zip(compiled(pairs), f([(x.astype("f8"), y.astype("f8")) for x, y in pairs]), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-4 if dtype == "f4" else 1e-12)
    assert "dots_" in compiled.lower(pairs).llvm or vector_bytes() < 64
    x, y = pairs[3]
    x[1, 500], x[2, 3], y[4, 5] = np.inf, np.nan, 3 * np.finfo(dtype).smallest_subnormal
    with np.errstate(all="ignore"):
        for found, wanted in zip(compiled(pairs), f(pairs), strict=True):
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            np.testing.assert_array_equal(np.isposinf(found), np.isposinf(wanted))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_subnormal_factors(dtype):
    """They count: where the other factor is large, also in the result."""
    random = np.random.default_rng(0)
    tiny = np.finfo(dtype).smallest_subnormal
    x = random.normal(size=(24, 40)).astype(dtype)
    x[random.uniform(size=x.shape) < 0.3] = 5 * tiny
    y = random.normal(size=(40, 48)).astype(dtype)
    product = wg.jit(lambda x, y: x @ y)
    np.testing.assert_allclose(product(x, y), x @ y, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5)
    by_columns, apart = np.ascontiguousarray(x.T), np.repeat(x, 2, axis=1)
    for found in (
        wg.jit(lambda x, y: x.T @ y)(by_columns, y),
        wg.jit(lambda x, y: x[:, ::2] @ y)(apart, y),
        wg.jit(lambda x, y: x[:, :40] @ y)(np.concatenate([x, x], axis=1), y),
        wg.jit(lambda x, y: x @ y.T)(np.tile(x, 4), np.tile(y.T, 4)) / 4,
    ):
        np.testing.assert_allclose(found, x @ y, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5)
    x[:] = 5 * tiny
    y = np.abs(y) + np.dtype(dtype).type(1)
    exact = x.astype(np.longdouble) @ y.astype(np.longdouble)  # BLAS rounds to a subnormal at every step
    assert np.all(np.abs(product(x, y).astype(np.longdouble) - exact) <= 2 * np.longdouble(tiny))
    large = (np.abs(y) * np.finfo(dtype).max / 1e6).astype(dtype)
    np.testing.assert_allclose(product(x, large), x @ large, rtol=1e-4 if dtype == "f4" else 1e-9)
    x[3, 4], x[5, 6] = np.nan, np.inf
    with np.errstate(all="ignore"):
        found, wanted = product(x, large), x @ large
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
