"""Sparse Jacobians and Hessians are the dense ones, eagerly and compiled, in the form that SciPy wants."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import wengert as wg
from wengert import tree
from wengert.errors import PatternError

X = np.array([0.3, -0.7, 0.55, 1.2, 0.8, -0.4, 0.9])
N = len(X)
INDEX = np.array([4, 0, 0, 2, 6])


def banded(x):
    return x[1:] * np.sin(x[:-1])


def arrow(x):
    return np.concatenate([np.array([x @ x]), x[0] * x[1:] ** 2])


def tall(x):
    return np.concatenate([x[:2] * x[0], np.exp(x[:2]), x[:2] - x[1], [x[0] * x[1]]])


def looped(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = x[i] * x[i - 1] if x[i] > 0 else np.sin(x[i])
    return y


def scattered(x):
    y = np.zeros(8)
    np.add.at(y, INDEX, x[INDEX] ** 2)
    y[1::3] = x[:3] * x[3]
    return y


def dense_column(x):
    return x * x[3]


def linear(x):
    return x[::-1] * 2.0 + 1.0


def nothing(x):
    return np.floor(x)


FUNCTIONS = [banded, arrow, tall, looped, scattered, dense_column, linear, nothing, np.sum]


def close(sparse, dense):
    assert isinstance(sparse, scipy.sparse.csr_array)
    assert sparse.has_canonical_format
    dense = np.asarray(dense).reshape(sparse.shape)
    assert sparse.dtype == dense.dtype
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_jacobians(f, mode):
    expected = wg.jacobian(f)(X)
    close(wg.jacobian(f, mode=mode, sparse=True)(X), expected)
    close(wg.jacobian(wg.jit(f), mode=mode, sparse=True)(X), expected)
    close(wg.jit(wg.jacobian(f, mode=mode, sparse=True))(X), expected)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_all_entries_of_the_pattern_are_stored(f):
    pattern = wg.sparsity(f)(X)
    for found in (wg.jacobian(f, sparse=True)(X), wg.jit(wg.jacobian(f, sparse=True))(X)):
        np.testing.assert_array_equal(found.indices, pattern.indices)
        np.testing.assert_array_equal(found.indptr, pattern.indptr)


@pytest.mark.parametrize("f", [banded, tall, scattered, dense_column, linear, nothing, np.sum, np.cumsum])
def test_accumulation(f):
    expected = wg.jacobian(f)(X)
    close(wg.jacobian(f, mode="accumulate", sparse=True)(X), expected)
    close(wg.jit(wg.jacobian(f, mode="accumulate", sparse=True))(X), expected)


@pytest.mark.parametrize("compiled", [False, True])
def test_accumulation_of_small_products(compiled):
    """Many small matrices times small vectors: each term of a sum is a derivative of its own."""
    A = np.arange(24.0).reshape(2, 4, 3) / 7 - 1
    for f in (
        lambda x: np.einsum("nij,nj->ni", A, np.sin(x[:6]).reshape(2, 3)),
        lambda x: (A * x[0]) @ x[1:4],
        lambda x: np.matmul(A, x[:6].reshape(2, 3, 1)).ravel() * x[6],
        lambda x: x[:2] @ (x[1] * A[0, :2, :]),
        lambda x: np.tensordot(x[:6].reshape(2, 3), A[0], axes=(1, 1)),
    ):
        derivative = wg.jacobian(f, mode="accumulate", sparse=True)
        close((wg.jit(derivative) if compiled else derivative)(X), wg.jacobian(f)(X))


def test_accumulation_has_no_room_for_zeros():
    """The derivatives of parts that are written one by one end up in as many slots as there are derivatives."""

    def stencil(u):
        y = -2 * u
        y[1:] += u[:-1]
        y[:-1] += u[1:] * u[1:]
        return y

    derivative = wg.jit(wg.jacobian(stencil, sparse=True))
    close(derivative(X), wg.jacobian(stencil)(X))
    assert derivative.lower(X).report[0][1].startswith("accumulated: 3 derivatives")


def test_accumulation_reads_indices_that_are_found_outside():
    index = np.arange(6000) % N
    far = np.concatenate([X, X * 2, X * 3])
    derivative = wg.jit(wg.jacobian(lambda x: x[index] * x[index + N], sparse=True))
    for shift in (0, 1):
        index[:] = (np.arange(6000) + shift) % N
        close(derivative(far), wg.jacobian(lambda x: x[index] * x[index + N])(far))
    assert derivative.lower(far).report[0][1].startswith("accumulated: 2 derivatives")


def _small_terms(rng, n=30, terms=120, each=5):
    places = rng.integers(0, n, (terms, each))

    def f(p):
        v = p["x"][places]
        near = np.exp(-np.sum(v * v, axis=1)) * v[:, 0]
        return (
            np.sum(near) + np.sum(np.sin(p["x"] * p["y"])) + 0.5 * np.sum((2 * p["x"][places[:, 1]] - p["y"][1:2]) ** 3)
        )

    return f, {"x": rng.normal(size=n), "y": rng.normal(size=n)}


def test_sums_of_small_terms_are_added_up_by_blocks(rng):
    f, p = _small_terms(rng)
    expected = wg.hessian(f)(p)
    compiled = wg.jit(wg.hessian(f, sparse=True))
    assert compiled.lower(p).report[0][1].startswith("accumulated by blocks: ")
    for found in (compiled(p), wg.hessian(f, sparse=True)(p)):
        for a in "xy":
            for b in "xy":
                np.testing.assert_allclose(found[a][b].toarray(), expected[a][b], rtol=1e-12, atol=1e-13)
    forces = lambda x: wg.grad(f)({"x": x, "y": p["y"]})["x"][::-1].reshape(5, 6).T * np.arange(5)
    for derivative in (wg.jit(wg.jacobian(forces, sparse=True)), wg.jacobian(forces, sparse=True, mode="accumulate")):
        close(derivative(p["x"]), wg.jacobian(forces)(p["x"]).reshape(30, 30))


def test_no_way_is_tried_twice_if_the_function_does_something_outside(capsys, rng):
    def f(x):
        print("here")
        return np.sum(np.cos(x[rng_places]) * x[rng_places[::-1]])

    rng_places = rng.integers(0, 20, 200)
    derivative = wg.jit(wg.hessian(f, sparse=True))
    x = rng.normal(size=20)
    found = derivative(x).toarray()
    capsys.readouterr()
    derivative(x)
    assert capsys.readouterr().out == "here\n"
    np.testing.assert_allclose(found, wg.hessian(f)(x), rtol=1e-12, atol=1e-13)


def test_accumulation_is_refused_where_it_cannot_be():
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="accumulate"):
        wg.jit(wg.jacobian(np.sort, mode="accumulate", sparse=True))(X)
    with pytest.raises(ValueError, match="sparse"):
        wg.jacobian(banded, mode="accumulate")


def test_infinite_derivatives_stay_where_they_are():
    """A coefficient that is infinite meets no zeros of other directions."""
    f = lambda x: np.sqrt(x[1:]) + x[:-1] ** 2
    x = np.array([1.0, 0.0, 2.0])
    with np.errstate(divide="ignore"):
        found = wg.jacobian(f, mode="accumulate", sparse=True)(x).toarray()
    np.testing.assert_array_equal(found, [[2, np.inf, 0], [0, 0, 0.5 / np.sqrt(2.0)]])


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def wheel(x):
    return np.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4 * x[:-1])


def by_element(x):
    total = 0.0
    for i in range(len(x) - 1):
        if x[i] > 0:
            total = total + x[i] ** 2 * x[i + 1]
        else:
            total = total + np.cos(x[i])
    return total


HESSIANS = [rosenbrock, wheel, by_element, np.sum, np.prod, lambda x: x @ x]


@pytest.mark.parametrize("f", HESSIANS)
def test_hessians(f):
    expected = wg.hessian(f)(X)
    close(wg.hessian(f, sparse=True)(X), expected)
    close(wg.hessian(wg.jit(f), sparse=True)(X), expected)
    close(wg.jit(wg.hessian(f, sparse=True))(X), expected)
    gradient, second = wg.grad_and_hessian(f, sparse=True)(X)
    np.testing.assert_allclose(gradient, wg.grad(f)(X))
    close(second, expected)
    value, gradient, second = wg.value_grad_and_hessian(f, sparse=True)(X)
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(gradient, wg.grad(f)(X))
    close(second, expected)


@pytest.mark.parametrize("operator", [lambda f: f, wg.jit])
def test_matrices_share_their_index_arrays_and_nothing_else(operator):
    derivative = operator(wg.jacobian(banded, sparse=True))
    first, second = derivative(X), derivative(X + 1)
    assert first.indices is second.indices
    assert first.indptr is second.indptr
    assert not np.shares_memory(first.data, second.data)
    with pytest.raises(ValueError, match="read-only"):
        first.indices[0] = 1
    first.data *= 2
    close(derivative(X), wg.jacobian(banded)(X))


def test_scipy_works_with_them():
    J = wg.jacobian(lambda x: 3 * x + 0.1 * np.roll(x, 1) ** 2, sparse=True)(X)
    dense = J.toarray()
    np.testing.assert_allclose(J @ X, dense @ X)
    np.testing.assert_allclose((J.T @ J).toarray(), dense.T @ dense)
    np.testing.assert_allclose(scipy.sparse.linalg.spsolve(J, X), np.linalg.solve(dense, X))
    np.testing.assert_allclose(scipy.sparse.linalg.splu(J.tocsc()).solve(X), np.linalg.solve(dense, X))
    np.testing.assert_allclose((J + J.T).toarray(), dense + dense.T)
    np.testing.assert_allclose(J.copy().tocoo().toarray(), dense)
    own = J.copy()
    own.data[0] = 0
    own.eliminate_zeros()
    assert own.nnz == J.nnz - 1


class Pair(NamedTuple):
    u: np.ndarray
    v: np.ndarray


PAIR = Pair(np.array([0.5, 1.5, -0.3]), np.array([[0.2, 0.4], [-1.0, 2.0]]))


def of_pair(p, w):
    return {"a": p.u[:, None] * p.v[0], "b": (w * p.v.ravel(), np.sum(p.u))}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_containers(compiled, mode):
    derivative = wg.jacobian(of_pair, argnums=(0, 1), mode=mode, sparse=True)
    found = (wg.jit(derivative) if compiled else derivative)(PAIR, 1.5)
    expected = wg.jacobian(of_pair, argnums=(0, 1))(PAIR, 1.5)
    for row, wanted in ((found["a"], expected["a"]), *zip(found["b"], expected["b"], strict=True)):
        close(row[0].u, wanted[0].u)
        close(row[0].v, wanted[0].v)
        close(row[1], wanted[1])


@pytest.mark.parametrize("compiled", [False, True])
def test_hessians_of_containers(compiled):
    f = lambda p, w: w * np.sum(p.u[1:] ** 2 * p.u[:-1]) + p.u[0] * np.sum(p.v**3) + p.v[0, 1] * p.v[1, 0]
    derivative = wg.hessian(f, argnums=(0, 1), sparse=True)
    found = (wg.jit(derivative) if compiled else derivative)(PAIR, 1.5)
    expected = wg.hessian(f, argnums=(0, 1))(PAIR, 1.5)
    close(found[0].u[0].u, expected[0].u[0].u)
    close(found[0].u[0].v, expected[0].u[0].v)
    close(found[0].v[0].u, expected[0].v[0].u)
    close(found[0].v[0].v, expected[0].v[0].v)
    close(found[0].u[1], expected[0].u[1])
    close(found[1][0].u, expected[1][0].u)
    close(found[1][1], expected[1][1])


def test_auxiliary_data():
    f = lambda x, k: (banded(x) * k, {"sum": np.sum(x)})
    J, aux = wg.jacobian(f, has_aux=True, sparse=True)(X, 2.0)
    close(J, wg.jacobian(banded)(X) * 2)
    assert aux["sum"] == np.sum(X)
    (value, aux), J = wg.value_and_jacobian(f, has_aux=True, sparse=True)(X, 2.0)
    np.testing.assert_array_equal(value, banded(X) * 2)
    H, aux = wg.hessian(lambda x: (rosenbrock(x), x[0]), has_aux=True, sparse=True)(X)
    assert aux == X[0]
    close(H, wg.hessian(rosenbrock)(X))


def test_other_types():
    single = X.astype(np.float32)
    found = wg.jacobian(banded, sparse=True)(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), wg.jacobian(banded)(single), rtol=1e-6)
    close(wg.jacobian(banded, sparse=True, holomorphic=True)(X + 1j), wg.jacobian(banded, holomorphic=True)(X + 1j))
    close(wg.jacobian(lambda x: banded(x) * 1j, sparse=True)(X), wg.jacobian(lambda x: banded(x) * 1j)(X))
    with pytest.raises(wg.errors.UnsupportedFunctionError, match="holomorphic"):
        wg.jacobian(banded, sparse=True)(X + 1j)
    for sparse in (False, True):  # a cotangent of one would give the derivative of the real part
        with pytest.raises(wg.errors.UnsupportedFunctionError, match="holomorphic"):
            wg.jacobian(lambda x: banded(x) * 1j, mode="reverse", sparse=sparse)(X)


def test_no_rows_no_columns():
    assert wg.jacobian(banded, sparse=True)(np.zeros(1)).shape == (0, 1)
    assert wg.jacobian(lambda x: x * x, sparse=True)(np.zeros(0)).shape == (0, 0)
    assert wg.jit(wg.jacobian(lambda x: np.sum(x) * np.ones(3), sparse=True))(np.zeros(0)).shape == (3, 0)
    close(wg.jacobian(lambda x: x**2, sparse=True)(3.0), np.array(6.0))


# ------------------------------------------------------------------------------------------------ when patterns change


def test_indices_among_the_arguments_may_change():
    derivative = wg.jacobian(lambda x, i: x[i] ** 2, sparse=True)
    for i in (np.array([0, 1]), np.array([4, 2]), np.array([0, 1]), np.array([3])):
        close(derivative(X, i), 2 * X[i][:, None] * np.eye(N)[i])


@pytest.mark.parametrize("f", [
    lambda x, k: x[k:] * x[: len(x) - k],
    lambda x, k: np.sum(x[k:] ** 2) * x[:2],
    lambda x, k: np.ones(k) * sum(x[i] * x[i + 1] for i in range(k)),
])  # fmt: skip
def test_lengths_that_are_integers_among_the_arguments_may_change(f):
    derivative = wg.jacobian(f, sparse=True)
    for wrapped in (derivative, wg.jit(derivative)):
        for k in (1, 3, 1):
            expected = wg.jacobian(f)(X, k)
            close(wrapped(X, k), expected)
            np.testing.assert_array_equal(wg.sparsity(f)(X, k).toarray(), expected != 0)


def test_arrays_outside_may_change():
    weights = np.eye(N)
    derivative = wg.jacobian(lambda x: weights @ x**2, sparse=True)
    compiled = wg.jit(wg.jacobian(lambda x: weights @ x**2, sparse=True))
    for place in (None, (0, 3), (5, 1)):
        if place is not None:
            weights[place] = 2.0
        for found in (derivative(X), compiled(X)):
            close(found, 2 * weights * X)
            assert found.nnz == np.count_nonzero(weights)


def test_shapes_may_change():
    derivative = wg.jacobian(banded, sparse=True)
    for n in (3, 7, 3, 5):
        close(derivative(X[:n]), wg.jacobian(banded)(X[:n]))


def test_a_branch_that_is_taken_later_is_in_the_pattern():
    f = lambda x: x[::-1] * x[0] if x[0] > 0 else x**2
    derivative = wg.jacobian(f, sparse=True)
    for x in (-X, X, -X):
        close(derivative(x), wg.jacobian(f)(x))


# --------------------------------------------------------------------------------------------------- the user's pattern


@pytest.mark.parametrize("compiled", [False, True])
def test_a_pattern_may_be_too_large_and_not_too_small(compiled):
    transform = wg.jit if compiled else lambda f: f
    expected = wg.jacobian(banded)(X)
    exact = wg.sparsity(banded)(X)
    for pattern in (exact, exact.tocoo(), exact.toarray(), np.ones(exact.shape)):
        found = transform(wg.jacobian(banded, sparse=pattern))(X)
        assert found.nnz == np.count_nonzero(pattern.toarray() if scipy.sparse.issparse(pattern) else pattern)
        close(found, expected)
    less = exact.toarray()
    less[3, 4] = False
    with pytest.raises(PatternError, match="too small"):
        transform(wg.jacobian(banded, sparse=less))(X)
    for mistake in ("auto", 1, [["x"]]):
        with pytest.raises(ValueError, match="sparse is True, False or a pattern"):
            transform(wg.jacobian(banded, sparse=mistake))(X)
    np.testing.assert_array_equal(wg.jacobian(banded, sparse=np.False_)(X), expected)
    with pytest.raises(PatternError, match="7 x 7"):
        transform(wg.jacobian(banded, sparse=np.eye(N)))(X)


def test_the_pattern_of_a_hessian_may_be_given():
    band = abs(np.subtract.outer(np.arange(N), np.arange(N))) <= 1
    close(wg.hessian(rosenbrock, sparse=band)(X), wg.hessian(rosenbrock)(X))
    close(wg.hessian(rosenbrock, sparse=np.tril(band))(X), wg.hessian(rosenbrock)(X))
    with pytest.raises(PatternError, match="too small"):
        wg.hessian(rosenbrock, sparse=np.eye(N))(X)


@pytest.mark.parametrize("argnums", [0, (1, 0)])
def test_patterns_in_the_containers_of_what_is_derived(argnums):
    """As `wg.sparsity` gives them."""
    f = lambda p, q: {"u": p["a"] * q, "v": [p["b"] ** 2, q * np.sum(p["b"])]}
    args = {"a": X[:3], "b": X[3:5]}, 2.0
    given = wg.sparsity(f, argnums=argnums)(*args)
    expected = wg.jacobian(f, argnums)(*args)
    for transform in (lambda f: f, wg.jit):
        found = transform(wg.jacobian(f, argnums, sparse=given))(*args)
        assert tree.flatten(found)[1] == tree.flatten(given)[1]
        for block, dense in zip(tree.leaves(found), tree.leaves(expected), strict=True):
            np.testing.assert_allclose(block.toarray(), np.reshape(dense, block.shape))
    h = lambda p, q: sum(np.sum(x * x) for x in (f(p, q)["u"], *f(p, q)["v"]))
    given = wg.sparsity(h, 2, argnums=argnums)(*args)
    found = wg.hessian(h, argnums, sparse=given)(*args)
    for block, dense in zip(tree.leaves(found), tree.leaves(wg.hessian(h, argnums)(*args)), strict=True):
        np.testing.assert_allclose(block.toarray(), np.reshape(dense, block.shape))
    with pytest.raises(PatternError, match="3 x 3 and 3 x 2"):
        wg.jacobian(f, 0, sparse=wg.sparsity(lambda p: {"u": p["a"], "v": p["a"][:2]})(args[0]))(*args)


# ------------------------------------------------------------------------------------------------- in other operators


def test_derivatives_of_sparse_derivatives():
    f = lambda x: np.sum(wg.jacobian(banded, sparse=True)(x) @ x)
    g = lambda x: np.sum(wg.jacobian(banded)(x) @ x)
    np.testing.assert_allclose(f(X), g(X))
    np.testing.assert_allclose(wg.grad(f)(X), wg.grad(g)(X), atol=1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(X), wg.grad(g)(X), atol=1e-14)
    np.testing.assert_allclose(wg.jit(f)(X), g(X))


def test_linear_operators_are_sparse_matrices():
    for f in (banded, arrow, tall, looped, nothing, linear):
        _, J = wg.linearize(f, X)
        close(J.sparse(), J.dense())
        close(J.T.sparse(), J.dense().T)
    _, J = wg.linearize(lambda p: (p.u[:2] * p.v[0], p.u), PAIR)
    close(J.sparse(), J.dense())
    assert J.sparse().nnz < J.dense().size


def test_what_was_chosen_is_reported():
    ((operator, reason), *_) = wg.jit(wg.jacobian(arrow, sparse=True)).lower(np.arange(1.0, 41.0)).report
    assert operator == "jacobian"
    assert "both modes" in reason
    ((operator, reason), *_) = wg.jit(wg.hessian(rosenbrock, sparse=True)).lower(X).report
    assert operator == "hessian"
    assert reason.startswith("accumulated: 3 derivatives")
    ((operator, reason), *_) = wg.jit(wg.hessian(by_element, sparse=True)).lower(X).report
    assert reason.startswith("3 products")


def test_operators_can_be_pickled():
    derivative = wg.jacobian(banded, sparse=True)
    expected = derivative(X)
    close(pickle.loads(pickle.dumps(derivative))(X), expected.toarray())
    close(pickle.loads(pickle.dumps(wg.jit(wg.hessian(rosenbrock, sparse=True))))(X), wg.hessian(rosenbrock)(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.linalg.eigvalsh(np.diag(x)) ** 2),
        lambda x: np.sum(np.linalg.svd(np.outer(x[:3], x[3:]) + np.eye(3), compute_uv=False)),
        lambda x: np.linalg.eigh(np.diag(x[:3]) + 0.1 * x[3])[1][0, 0],
    ],
)
def test_derivatives_of_spectra_compiled(f):
    """What gives several results cannot be accumulated, and is done by products."""
    x = np.array([0.3, 1.4, 2.5, -0.6, 0.7, 1.9])
    want = wg.hessian(f)(x)
    np.testing.assert_allclose(wg.jit(wg.hessian(f, sparse=True))(x).toarray(), want, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(wg.jit(wg.jacobian(wg.grad(f), sparse=True))(x).toarray(), want, rtol=1e-8, atol=1e-10)
