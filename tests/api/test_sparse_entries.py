"""Entries of larger sparse matrices, taken by slices where rows follow each other regularly, are the dense ones."""

import numpy as np
import pytest
import scipy.fft
import scipy.sparse

import wengert as wg

N = 300
X = 0.5 + 0.4 * np.sin(np.arange(float(N)))
SHUFFLED = np.random.default_rng(0).permutation(N)


def band(x):
    return x[2:] * np.sin(x[1:-1]) - x[:-2] ** 2


def periodic(x):
    return np.roll(x, 1) * x + np.roll(x, -1) ** 2


def two_fields(x):
    u, v = x[: N // 2], x[N // 2 :]
    return np.concatenate([u * v, np.diff(u) * v[1:], v**2])


def written(x):
    y = np.zeros(N + 3)
    y[1:-2] = x * x[0]
    y[5:200] += x[5:200] * x[6:201]
    y[::7] = 1.0
    return y


def half(x):
    return np.where(np.arange(N) < 120, x**2, np.append(x[1:], 1.0) * x)


def strided(x):
    return x[::2] * x[1::2] + x[0]


def gathered(x):
    return x[SHUFFLED] * x


def grid(x):
    a = x.reshape(15, 20)
    y = 4.0 * a**2
    y[1:] -= a[:-1] * a[1:]
    y[:, 1:] -= a[:, :-1]
    return y.ravel()


def many_kinds(x):
    return np.concatenate([x[k * 50 : k * 50 + 50] ** (k % 3 + 2) * x[k] for k in range(6)])


FUNCTIONS = [band, periodic, two_fields, written, half, strided, gathered, grid, many_kinds]


@pytest.mark.parametrize(
    ("f", "mode"),
    [*[(f, "auto") for f in FUNCTIONS], (band, "forward"), (written, "forward"), (band, "reverse"), (grid, "reverse")],
)
def test_jacobians(f, mode):
    dense = wg.jacobian(f)(X)
    found = wg.jit(wg.jacobian(f, sparse=True, mode=mode))(X)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("f", [band, periodic, two_fields, written, half, strided], ids=lambda f: f.__name__)
def test_hessians(f):
    whole = lambda x: np.sum(f(x) * np.cos(x[7]))
    x = X.astype(np.float32) if f is band else X
    dense = wg.hessian(whole)(X)
    found = wg.jit(wg.hessian(whole, sparse=True))(x)
    assert found.dtype == x.dtype
    accuracy = 1e-12 if x.dtype == float else 1e-4
    np.testing.assert_allclose(found.toarray(), dense, rtol=accuracy, atol=accuracy)


def test_complex_entries():
    z = X + 1j * X[::-1]
    dense = wg.jacobian(band, holomorphic=True)(z)
    found = wg.jit(wg.jacobian(band, sparse=True, holomorphic=True))(z)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13)


def test_derivatives_of_entries():
    """Entries are differentiated through the slices they are taken by."""
    total = lambda x: np.sum(wg.jacobian(band, sparse=True)(x).data ** 3)
    reference = lambda x: np.sum(wg.jacobian(band)(x) ** 3)
    expected = wg.grad(reference)(X)
    np.testing.assert_allclose(wg.jit(wg.grad(total))(X), expected, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(lambda x: wg.jvp(total, (x,), (X,))[1])(X), expected @ X, rtol=1e-12)


def test_matrices_share_what_they_have_in_common():
    jacobian = wg.jit(wg.jacobian(band, sparse=True))
    a, b = jacobian(X), jacobian(2 * X)
    assert a.indices is b.indices
    assert a.indptr is b.indptr
    assert a.data is not b.data
    np.testing.assert_allclose((a @ X), wg.jvp(band, (X,), (X,))[1], rtol=1e-13)
    assert a.has_canonical_format
    assert (a + b).shape == a.shape == (N - 2, N)
    c = a.copy()
    c.data[:] = 0.0
    assert abs(a).max() > 0


def test_batches_of_matrices_are_refused():
    f = lambda x: x[1:] * x[:-1]
    x = np.arange(12.0).reshape(3, 4)
    sparse = wg.jacobian(f, sparse=True)
    for g in (wg.vmap(sparse), wg.jit(wg.vmap(sparse))):
        with pytest.raises(wg.errors.UnsupportedFunctionError, match="batch of sparse matrices"):
            g(x)
    entries = wg.vmap(lambda x: sparse(x).data)(x)
    np.testing.assert_array_equal(entries, [sparse(row).data for row in x])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.cumsum(x[::2]) * np.cumprod(x)[:4],
        lambda x: np.convolve(x, [1.0, -2.0, 1.0], "same") * x,
        lambda x: np.linalg.solve(np.diag(x[:3]) + 0.1, x[3:6]),
        lambda x: scipy.sparse.csr_array(np.diag(np.arange(7.0)) + np.eye(7, k=2)) @ x * x,
        lambda x: scipy.fft.dct(x**2) / x,
        lambda x: np.interp([0.7, 3.2], np.arange(7.0), x) ** 2,
        lambda x: np.ones((2, 7)) @ np.sin(x),
    ],
)
@pytest.mark.parametrize("way", [lambda g: g, wg.jit], ids=["eager", "compiled"])
def test_linear_ops_are_weights_where_accumulation_is_asked_for(f, way):
    x = np.array([0.9, 0.3, 1.4, 0.7, 1.1, 0.2, 1.6])
    found = way(wg.jacobian(f, sparse=True, mode="accumulate"))(x)
    np.testing.assert_allclose(found.toarray(), wg.jacobian(f)(x), rtol=1e-12, atol=1e-13)
