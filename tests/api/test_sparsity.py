"""Patterns of Jacobians and Hessians, compared with patterns that are known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

import wengert as wg
from wengert.errors import StagingError

X = np.array([0.3, -0.7, 0.55, 1.2, 0.8, -0.4])
N = len(X)
ROWS, COLUMNS = np.indices((N, N))
BAND = abs(ROWS - COLUMNS) <= 1
EYE = np.eye(N, dtype=bool)
WEIGHTS = np.where(BAND, 1.5, 0.0)
PLACES = np.array([4, 0, 0, 2])


def pattern(f, *args, **options) -> np.ndarray:
    """The pattern, the same at the point and for all values."""
    everywhere = wg.sparsity(f, **options)(*args)
    at_point = wg.sparsity(f, local=True, **options)(*args)
    assert isinstance(everywhere, scipy.sparse.csr_array)
    assert everywhere.dtype == bool
    assert everywhere.has_canonical_format
    np.testing.assert_array_equal(everywhere.toarray(), at_point.toarray())
    return everywhere.toarray()


def unrolled(x):
    return np.array([x[i] * x[i - 1] if i else x[0] for i in range(len(x))])


def counted(x):
    y = np.zeros(len(x))
    for i in range(len(x) - 1):
        y[i + 1] = x[i] * x[i + 1] + y[i] * 0.0
    return y


def scattered(x):
    y = np.zeros(5)
    np.add.at(y, PLACES, x[:4])
    return y


def in_place(x):
    y = 2 * x
    inner = y[1:-1]
    inner += x[:-2] * x[2:]
    return y


def running(x):
    s, out = 0.0, np.zeros(len(x))
    for i, v in enumerate(x):
        s = s + v * v
        out[i] = s
    return out


LOWER = ROWS >= COLUMNS
TRIDIAGONAL_BELOW = (ROWS == COLUMNS) | (ROWS == COLUMNS + 1)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (np.sin, EYE),
        (lambda x: x[1:] * x[:-1], TRIDIAGONAL_BELOW[1:]),
        (lambda x: x[::-1], EYE[::-1]),
        (lambda x: np.roll(x, 1) + x, EYE | np.roll(EYE, 1, 0)),
        (np.cumsum, LOWER),
        (np.cumprod, LOWER),
        (lambda x: x * np.mean(x), np.ones((N, N), bool)),
        (lambda x: WEIGHTS @ x, BAND),
        (lambda x: x @ WEIGHTS, BAND),
        (lambda x: np.einsum("ij,j->i", WEIGHTS, np.exp(x)), BAND),
        (lambda x: scipy.sparse.csr_array(WEIGHTS) @ x**2, BAND),
        (lambda x: np.convolve(x, [1.0, 2.0], mode="full"), np.vstack([TRIDIAGONAL_BELOW, COLUMNS[-1] == N - 1])),
        (lambda x: x[PLACES] ** 2, EYE[PLACES]),
        (scattered, np.array([[i < 4 and PLACES[i] == k for i in range(N)] for k in range(5)])),
        (lambda x: np.where(np.arange(N) > 2, x, 0.0), EYE & (ROWS > 2)),
        (lambda x: np.floor(x + 9) * x[0], COLUMNS == 0),
        (lambda x: wg.stop_gradient(x) * x[1], COLUMNS == 1),
        (lambda x: (x > -9) * x[2], COLUMNS == 2),
        (lambda x: np.outer(x[:2], x[4:]).ravel(), [[1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0],
                                                    [0, 1, 0, 0, 0, 1]]),
        (lambda x: np.sum(x.reshape(2, 3) ** 2, axis=0), np.hstack([np.eye(3), np.eye(3)])),
        (lambda x: np.concatenate([x[3:], x[:3] * x[3]]), np.vstack([EYE[3:], EYE[:3] | EYE[3]])),
        (unrolled, TRIDIAGONAL_BELOW),
        (counted, TRIDIAGONAL_BELOW & (ROWS > 0)),
        (in_place, EYE | BAND & ~EYE & (ROWS > 0) & (ROWS < N - 1)),
        (running, LOWER),
        (lambda x: np.zeros(3), np.zeros((3, N))),
        (lambda x: np.linalg.solve(WEIGHTS + 3 * np.eye(N), x), np.ones((N, N))),
    ],
)  # fmt: skip
def test_jacobians(f, expected):
    np.testing.assert_array_equal(pattern(f, X), np.asarray(expected, bool))


ENDS = (ROWS == COLUMNS) & (ROWS < N - 1)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (np.sum, ~BAND & BAND),
        (lambda x: np.sum(x * x), EYE),
        (lambda x: x @ x, EYE),
        (lambda x: np.sum(x[1:] * x[:-1]), BAND & ~EYE),
        (lambda x: x[0] * x[1] * x[2] + 3 * x[4], (ROWS < 3) & (COLUMNS < 3) & ~EYE),
        (lambda x: x[0] / x[1], (ROWS < 2) & (COLUMNS < 2) & ((ROWS == 1) | (COLUMNS == 1))),
        (lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2), BAND),
        (lambda x: x @ WEIGHTS @ x, BAND),
        (lambda x: np.sum(np.maximum(x, 0)), EYE & False),
        (lambda x: np.sum(np.abs(x) * x), EYE),
        (lambda x: math.sin(x[0]) + np.prod(x[1:3]), (EYE & (ROWS == 0)) | (BAND & ~EYE & (ROWS + COLUMNS == 3))),
        (lambda x: np.sum(counted(x)), BAND & ~EYE),
        (lambda x: np.sum(np.exp(x[PLACES])), EYE & np.isin(ROWS, PLACES)),
        (lambda x: np.sum(wg.stop_gradient(x) * x), EYE & False),
    ],
)
def test_hessians(f, expected):
    np.testing.assert_array_equal(pattern(f, X, order=2), np.asarray(expected, bool))


def test_a_branch_is_united_unless_it_is_asked_at_a_point():
    def f(x):
        if x[0] > 0:
            return x * x[1]
        return x[::-1]

    both = EYE | EYE[::-1] | (COLUMNS == 1)
    np.testing.assert_array_equal(wg.sparsity(f)(X).toarray(), both)
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(X).toarray(), EYE | (COLUMNS == 1))
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(-X).toarray(), EYE[::-1])


def test_where_is_united_unless_it_is_asked_at_a_point():
    f = lambda x: np.where(x > 0, x, x[0])
    np.testing.assert_array_equal(wg.sparsity(f)(X).toarray(), EYE | (COLUMNS == 0))
    chosen = np.where((X > 0)[:, None], EYE, COLUMNS == 0)
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(X).toarray(), chosen)


@pytest.mark.parametrize("order", [1, 2])
def test_a_loop_of_unknown_length_may_run_any_number_of_times(order):
    """Each iteration reaches one element further, and how many there are depends on the values."""

    def f(x):
        y = 1.0 * x
        total = 0.0
        while total < 4.0:
            y[1:] = y[1:] + y[:-1] * x[1:]
            total = total + 1.0 + np.abs(x[0])
        return y if order == 1 else np.sum(y)

    found = wg.sparsity(f, order)(X).toarray()
    if order == 1:
        np.testing.assert_array_equal(found, LOWER)
    for x in (X, 5 * X, 0 * X + 0.01):
        dense = wg.jacobian(f)(x) if order == 1 else wg.hessian(f)(x)
        assert not ((dense != 0) & ~found).any()


def test_a_place_that_depends_on_values_may_be_any():
    f = lambda x: x[np.argsort(x)][:2]
    assert wg.sparsity(f)(X).toarray().all()
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(X).toarray(), EYE[np.argsort(X)[:2]])


def test_a_length_that_depends_on_values_is_refused():
    f = lambda x: x[x > 0] ** 2
    with pytest.raises(StagingError, match="local=True"):
        wg.sparsity(f)(X)
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(X).toarray(), EYE[X > 0])


def test_lengths_that_make_no_difference_need_not_be_known():
    """Residuals of `lstsq` are none if the matrix has not full rank; the solution does not depend on them."""
    design = np.vander([0.0, 1.0, 2.0], 2)

    def f(x):
        np.sign(x[x != 0])  # of which nothing is used
        return np.linalg.lstsq(design, x[:3], rcond=None)[0]

    np.testing.assert_array_equal(wg.sparsity(f)(X).toarray(), np.arange(N) < [[3], [3]])


def test_indices_among_the_arguments_are_known_and_numbers_are_not():
    f = lambda x, i, w: w * x[i]
    found = wg.sparsity(f)(X, PLACES, np.zeros(4))
    np.testing.assert_array_equal(found.toarray(), EYE[PLACES])
    np.testing.assert_array_equal(wg.sparsity(f, local=True)(X, PLACES, np.zeros(4)).toarray(), 0 * EYE[PLACES])


class Pair(NamedTuple):
    u: np.ndarray
    v: float


def test_containers_give_blocks():
    f = lambda p, w: {"a": p.u * p.v, "b": p.u[0] * w}
    found = wg.sparsity(f, argnums=(0, 1))(Pair(X, 2.0), np.ones((2, 2)))
    shapes = {key: (blocks[0].u.shape, blocks[0].v.shape, blocks[1].shape) for key, blocks in found.items()}
    assert shapes == {"a": ((6, 6), (6, 1), (6, 4)), "b": ((4, 6), (4, 1), (4, 4))}
    np.testing.assert_array_equal(found["a"][0].u.toarray(), EYE)
    assert [found["a"][0].v.nnz, found["a"][1].nnz, found["b"][0].v.nnz] == [6, 0, 0]
    np.testing.assert_array_equal(found["b"][1].toarray(), np.eye(4))
    second = wg.sparsity(lambda p: np.sum(p.u * p.v), order=2)(Pair(X, 2.0))
    assert second.u.v.shape == (6, 1)
    assert [second.u.u.nnz, second.u.v.nnz, second.v.u.nnz, second.v.v.nnz] == [0, 6, 6, 0]


def test_numbers_have_size_one():
    assert wg.sparsity(lambda x: x**2)(2.0).toarray().tolist() == [[True]]
    assert wg.sparsity(lambda x: 3 * x, order=2)(2.0).toarray().tolist() == [[False]]
    assert wg.sparsity(lambda x: np.zeros((0, 2)) * x)(2.0).shape == (0, 1)
    assert wg.sparsity(lambda x: np.sum(x) * np.ones(2))(np.zeros(0)).shape == (2, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_types(dtype):
    np.testing.assert_array_equal(pattern(lambda x: x[1:] * np.exp(x[:-1]), X.astype(dtype)), TRIDIAGONAL_BELOW[1:])


def test_compiled_functions_are_looked_through():
    np.testing.assert_array_equal(pattern(wg.jit(counted), X), TRIDIAGONAL_BELOW & (ROWS > 0))
    g = wg.jit(lambda x: np.where(x > 0, x, x[0]))
    np.testing.assert_array_equal(wg.sparsity(g)(X).toarray(), EYE | (COLUMNS == 0))


def test_a_compiled_function_of_a_number_says_nothing_of_the_op_after_it():
    square = wg.jit(lambda q: q * q)
    f = lambda x: np.concatenate([np.ravel(square(np.sum(x[1:]))), 2.0 * x])
    expected = np.vstack([np.arange(3) > 0, np.eye(3, dtype=bool)])
    for local in (False, True):
        found = wg.sparsity(f, local=local)(np.array([0.4, -0.2, -1.1])).toarray()
        np.testing.assert_array_equal(found != 0, expected)


def test_rules_of_users_decide():
    @wg.custom_jvp
    def opaque(x):
        return np.asarray(x) * 1.0

    opaque.defjvp(lambda primals, tangents: (primals[0] * 1.0, tangents[0] + tangents[0][0]))

    @wg.custom_vjp
    def other(x):
        return x * 1.0

    other.defvjp(lambda x: (x * 1.0, None), lambda kept, ct: (ct + np.sum(ct) * (np.arange(N) == 2),))
    np.testing.assert_array_equal(pattern(opaque, X), EYE | (COLUMNS == 0))
    np.testing.assert_array_equal(pattern(other, X), EYE | (COLUMNS == 2))


def test_random_numbers_are_not_known():
    """A mask that is drawn is another one in the next call."""
    rng = np.random.default_rng(0)
    state = rng.bit_generator.state
    found = wg.sparsity(lambda x: x * (rng.random(N) > 0.5))(X)
    np.testing.assert_array_equal(found.toarray(), EYE)
    assert rng.bit_generator.state == state


def test_a_million_unknowns_take_seconds():
    """One operation on a million elements is one operation on sets, not a million."""
    side = 300

    def brusselator(w):
        u, v = w
        a = u * u * v
        lap = [np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z for z in (u, v)]
        return np.stack([1 + a - 4.4 * u + lap[0], 3.4 * u - a + lap[1]])

    found = wg.sparsity(brusselator)(np.ones((2, side, side)))
    assert found.nnz == 6 * 2 * side * side


def test_an_order_that_is_neither():
    with pytest.raises(ValueError, match="order is 1"):
        wg.sparsity(np.sin, order=3)


def by_rows(x):
    y = np.zeros((4, 3))
    y[np.arange(4), np.argmax(x, axis=1)] = x[:, 0] * x[:, 1]
    return y


def by_columns(x):
    y = np.zeros((3, 4))
    np.add.at(y, (np.argsort(x[0]), slice(1, 3)), x[:2].T ** 2)
    return y


@pytest.mark.parametrize(
    ("f", "entries"),
    [
        (lambda x: np.sort(x, axis=1) ** 2, 4 * 3 * 3),
        (lambda x: np.sort(x, axis=0) ** 2, 3 * 4 * 4),
        (lambda x: np.choose((x > 0).astype(int), [x, x**2]), 12),
        (lambda x: np.take_along_axis(x, np.argmax(x, axis=1)[:, None], 1), 4 * 3),
        (lambda x: x[np.argsort(x[:, 0]), None, ::2], 8 * 4),
        (lambda x: x[..., np.argmin(x[0])], 4 * 3),
        (by_rows, 4 * 3 * 2),
        (by_columns, 2 * 3 * 3),
    ],
)
def test_places_that_are_known_along_some_axes_only(f, entries):
    """Rows that are sorted, or written to, at places that values decide: other rows are not touched."""
    x = np.random.default_rng(3).normal(size=(4, 3))
    assert wg.sparsity(f)(x).nnz == entries
    total = lambda x: np.sum(np.sin(f(x)))
    derivatives = [wg.jacobian(f, sparse=True), wg.jacobian(f, mode="reverse", sparse=True)]
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(4, 3))
        dense = wg.jacfwd(f)(x).reshape(-1, 12)
        for derivative in derivatives:
            np.testing.assert_allclose(derivative(x).toarray(), dense, atol=1e-14)
        second = wg.hessian(total)(x).reshape(12, 12)
        np.testing.assert_allclose(wg.hessian(total, sparse=True)(x).toarray(), second, atol=1e-13)


def test_elements_written_one_by_one_at_a_point():
    def f(x):
        y, w = np.zeros((3, 4)), np.zeros(3, np.float32)
        for i in range(3):
            for j in range(-1, 3):
                y[i, j] = x[j] * 0.0 + x[i - 1] if j % 2 else x[i] ** 2 / x[j] + min(x[i], x[j])
        w[1] = x[2]
        w[-1] = w[1] * x[0]
        return y, w

    x = np.array([1.0, 2.0, 3.0, 4.0])
    for found, dense in zip(wg.sparsity(f, local=True)(x), wg.jacobian(f)(x), strict=True):
        np.testing.assert_array_equal(found.toarray(), dense.reshape(-1, 4) != 0)


def test_a_loop_writes_a_large_array_at_numbers_and_counters():
    """Iterations that run at once read with a batch of places beside plain ones."""

    def f(x, a, n):
        u = np.arange(289.0).reshape(17, 17) * a + 0
        for i in range(n):
            for j in range(-2, 6):
                u[j, i] = 0.5
        return 2 * x

    np.testing.assert_array_equal(wg.jacobian(f, sparse=True)(X, 0.5, 4).toarray(), 2 * np.eye(N))
