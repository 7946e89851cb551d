"""Sorting, spectra and pseudo-inverses: NumPy's order, also of equal elements; Python only where values coincide."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import RepeatedValuesError

RANDOM = np.random.default_rng(3)


def ways(function, *args):
    """How each op of a compiled function is computed."""
    return dict(wg.jit(function).lower(*args).report)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.uint16, np.bool_])
def test_positions_are_those_of_numpy(dtype):
    """With ties, of which NumPy's order depends on the processor, and along each axis."""
    x = np.round(3 * RANDOM.normal(size=(7, 90))).astype(dtype)
    compiled = wg.jit(
        lambda x: (np.argsort(x), np.argsort(x[:, ::-1], axis=0), np.argsort(x, axis=None, kind="stable"))
    )
    for got, expected in zip(compiled(x), compiled.__wrapped__(x), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert ways(lambda x: np.argsort(x), x)["argsort"] == "native"


def test_no_number_comes_last():
    x = RANDOM.normal(size=50)
    x[[3, 40]] = np.nan
    x[7], x[8] = np.inf, -0.0
    np.testing.assert_array_equal(wg.jit(lambda x: np.sort(x))(x), np.sort(x))


def test_of_computed_lengths_and_in_loops():
    def lengths(x):
        y = x[x > 0]
        return y[np.argsort(y)]

    def loop(x):
        total = 0.0
        for k in range(4):
            x = np.sort(np.sin(x + k))
            total = total + x[1] * x[-2]
        return total

    x = RANDOM.normal(size=30)
    fast = wg.jit(lengths)
    for part in (x, -np.abs(x), np.abs(x)):
        np.testing.assert_array_equal(fast(part), np.sort(part[part > 0]))
    np.testing.assert_allclose(wg.jit(loop)(x), loop(x), rtol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(loop))(x), wg.grad(loop)(x), rtol=1e-12)


def test_sorted_of_numbers_and_of_what_is_none():
    """Nothing is smaller than NaN: what Python makes of it is left to Python."""

    def three(a, b, c):
        return [float(v) for v in sorted([a, b, c])]

    fast = wg.jit(lambda a, b, c: np.array(sorted([a, b, c])))
    for numbers in ((3.0, 1.0, 2.0), (2.0, np.nan, 1.0), (np.nan, 2.0, 1.0), (0.0, -0.0, 0.0)):
        np.testing.assert_array_equal(fast(*numbers), three(*numbers))


def test_medians_need_no_python():
    x = RANDOM.normal(size=(9, 4))
    x[2, 3] = x[3, 3] = x[4, 3]  # a tie
    compiled = wg.jit(wg.grad(lambda x: np.sum(np.median(x, axis=0) ** 2)))
    np.testing.assert_allclose(compiled(x), wg.grad(lambda x: np.sum(np.median(x, axis=0) ** 2))(x), rtol=1e-14)
    assert "callback" not in ways(lambda x: np.quantile(x, [0.2, 0.7], axis=0), x).values()


def projection(a):
    """Onto the eigenvectors of the two largest eigenvalues: smooth where these differ from the others."""
    w, v = np.linalg.eigh(a)
    return np.sum(w[-2:]) + np.sum((v[:, -2:] @ v[:, -2:].T) ** 2 * np.arange(a.shape[0]))


def left_vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(s) + np.sum((u @ vh) ** 3)


def symmetric(values):
    q = np.linalg.qr(RANDOM.normal(size=(len(values), len(values))))[0]
    return (q * values) @ q.T


@pytest.mark.parametrize(
    ("function", "matrices"),
    [
        (projection, [symmetric([1.0, 2.0, 3.0, 5.0]), symmetric([1.0, 1.0, 3.0, 5.0]), symmetric([1.0, 2.0, 4, 4])]),
        (left_vectors, [symmetric([1.0, 2.0, 3.0]), symmetric([2.0, 2.0, 3.0]), symmetric([3.0, 3.0, 3.0])]),
    ],
)  # fmt: skip
def test_one_program_for_different_and_for_repeated_values(function, matrices):
    compiled, eager = wg.jit(wg.grad(function)), wg.grad(function)
    for a in matrices:
        np.testing.assert_allclose(compiled(a), eager(a), rtol=1e-9, atol=1e-9)
    assert "callback" not in ways(wg.grad(function), matrices[0]).values()


def test_stacks_and_what_is_refused():
    def top(a):
        return np.sum(np.linalg.eigh(a)[1][..., 0, -1] ** 2)

    stack = np.stack([symmetric([1.0, 2.0, 4.0]), symmetric([3.0, 2.0, 7.0])])
    compiled = wg.jit(wg.grad(top))
    np.testing.assert_allclose(compiled(stack), wg.grad(top)(stack), rtol=1e-10, atol=1e-12)
    stack[1] = np.eye(3)
    with pytest.raises(RepeatedValuesError):
        compiled(stack)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_pseudo_inverses(shape):
    """Also of deficient rank, for each cutoff, and of nothing but zeros."""
    a = RANDOM.normal(size=shape)
    compiled = wg.jit(lambda a: (np.linalg.pinv(a), np.linalg.pinv(a, 0.3)))
    deficient = np.outer(a[:, 0], a[0]) + np.outer(a[:, 1], a[1])
    for matrix in (a, deficient, np.zeros(shape)):
        for got, cutoff in zip(compiled(matrix), (1e-15, 0.3), strict=True):
            np.testing.assert_allclose(got, np.linalg.pinv(matrix, cutoff), rtol=1e-9, atol=1e-12)
    single = wg.jit(lambda a: np.linalg.pinv(a))(a.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, np.linalg.pinv(a), rtol=1e-3, atol=1e-4)
    assert ways(lambda a: np.linalg.pinv(a), a)["pinv"] == "lapack"
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.full(shape, np.nan))


@pytest.mark.parametrize("function", [np.linalg.svd, np.linalg.svdvals, np.linalg.eigvalsh, np.linalg.eigh])
def test_what_is_no_number(function):
    """As NumPy: what it raises is raised, and what it gives is given."""
    bad = np.full((3, 3), np.nan)
    compiled = wg.jit(lambda a: function(a)[0])
    try:
        expected = function(bad)[0]
    except np.linalg.LinAlgError:
        with pytest.raises(np.linalg.LinAlgError):
            compiled(bad)
    else:
        np.testing.assert_array_equal(compiled(bad), expected)
