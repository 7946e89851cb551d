"""Sparse matrices of traced entries do what SciPy's do: each expression, on plain numbers, is its own reference."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from harness import check

import wengert as wg
from wengert import tree
from wengert.capture.hooks import instrument
from wengert.errors import ConcretizationError, UnsupportedFunctionError

M = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, -0.5, 2.0]])
B = np.array([1.0, 2.0, -3.0])
ROWS, COLUMNS = np.array([2, 0, 1, 0, 2, 2]), np.array([1, 2, 1, 0, 1, 2])
"""Unsorted places, and one of them twice."""
P = np.array([1.3, 0.7])


def made(p, kind=sp.csr_array):
    return kind((np.concatenate([p, [2.0, 1.0, 3.0, -1.0]]), (ROWS, COLUMNS)), shape=(3, 3))


EXPRESSIONS = {
    "entries in any order": lambda p: made(p) @ B,
    "csc": lambda p: made(p, sp.csc_matrix) @ B,
    "bsr": lambda p: made(p, sp.bsr_array) @ B,
    "without a shape": lambda p: sp.csc_array((p, (np.array([1, 0]), np.array([0, 2])))).toarray(),
    "csr by pointers": lambda p: sp.csr_array((p, np.array([2, 0]), np.array([0, 1, 1, 2])), shape=(3, 3)) @ B,
    "diagonals by columns": lambda p: sp.dia_array((np.outer(p, B), [0, -1]), shape=(3, 3)).toarray(),
    "blocks": lambda p: sp.bsr_array((np.ones((2, 2, 2)) * p[0], [1, 0], [0, 1, 2]), shape=(4, 4)).toarray(),
    "spdiags": lambda p: sp.spdiags(np.outer(p, B), [0, 1], 3, 3) @ B,
    "A * c": lambda p: (sp.csr_array(M) * p[0]) @ B,
    "A / c": lambda p: (sp.coo_matrix(M) / p[0]) @ B,
    "A.multiply": lambda p: sp.csr_matrix(M).multiply(B * p[0]).toarray(),
    "A *= c": lambda p: scaled(p) @ B,
    "two sparse": lambda p: (made(p) @ (sp.csc_array(M) * p[0])).toarray(),
    "a constant times": lambda p: (sp.csr_matrix(M) @ made(p)).toarray(),
    "star of matrices": lambda p: (made(p, sp.csr_matrix) * sp.csr_matrix(M)).toarray(),
    "star of matrices, right": lambda p: (sp.csr_matrix(M) * made(p, sp.csr_matrix)).toarray(),
    "star of arrays": lambda p: (made(p) * sp.csr_array(M)).toarray(),
    "power of a matrix": lambda p: (made(p, sp.csr_matrix) ** 2).toarray(),
    "powers of entries": lambda p: made(p).power(2).sum(),
    "abs and sums": lambda p: abs(made(p)).sum(axis=0) + made(p).sum(axis=1),
    "mean": lambda p: made(p).mean(),
    "diagonals": lambda p: made(p).diagonal(1) * made(p).trace(),
    "element": lambda p: made(p)[2, 1] + made(p)[1, 0],
    "slices": lambda p: made(p)[1:, ::-1].toarray(),
    "rows": lambda p: made(p)[[2, 0]] @ B,
    "kron": lambda p: sp.kron(made(p), sp.csr_array(M) * p[1]).toarray(),
    "kronsum": lambda p: sp.kronsum(made(p), made(p) * 2).toarray(),
    "vstack": lambda p: sp.vstack([made(p), sp.csr_array(M), p[0] * sp.eye_array(3)]) @ B,
    "bmat": lambda p: sp.bmat([[made(p), None], [made(p).T, sp.eye_array(3)]]).toarray(),
    "block_diag": lambda p: sp.block_diag([made(p), np.ones((2, 2)), p[0] * np.ones((1, 2))]).toarray(),
    "triangles": lambda p: (sp.tril(made(p)) - sp.triu(made(p), k=1)).toarray(),
    "square roots": lambda p: made(p).multiply(made(p)).sqrt().sum(),
    "over dense": lambda p: (made(p) / (1 + np.arange(9.0).reshape(3, 3) * p[0])).toarray(),
    "real of complex": lambda p: ((1 + 2j) * made(p)).imag.toarray(),
    "sum of a list": lambda p: sum([made(p), sp.csr_array(M)]) @ B,
    "asked for its kind": lambda p: p * 2 if sp.issparse(made(p)) else p,
    "spsolve": lambda p: sl.spsolve((made(p) + 9 * sp.eye_array(3)).tocsc(), B * p[1]),
    "triangular": lambda p: sl.spsolve_triangular(sp.tril(made(p) + 9 * sp.eye_array(3)).tocsr(), B * p[1]),
    "splu": lambda p: sl.splu(sp.csc_array(M) * p[0]).solve(B),
    "conjugates": lambda p: np.conj(made(p) * (1 + 2j)).toarray().imag @ B,
    "ufuncs": lambda p: np.abs(np.sin(made(p)) - np.negative(made(p))) @ B,
    "an array on the left": lambda p: B * made(p, sp.csr_matrix) + (B + made(p)) @ B + B @ made(p) + B / p[0],
    "norms": lambda p: sl.norm(made(p)) + sl.norm(made(p), 1),
}  # fmt: skip


def scaled(p):
    A = sp.csr_array(M)
    A *= p[0]
    A += sp.eye_array(3)
    return A


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_as_scipy_does(name):
    f = EXPRESSIONS[name]
    check(instrument(f), P, single=False)
    np.testing.assert_allclose(wg.jit(f)(P), f(P), rtol=1e-12)
    np.testing.assert_allclose(wg.jit(wg.jacobian(f))(P), wg.jacobian(f)(P), rtol=1e-10, atol=1e-13)
    several = np.stack([P, 2 * P])
    np.testing.assert_allclose(wg.vmap(f)(several), np.stack([f(p) for p in several]), rtol=1e-12)


def test_what_has_no_rule_says_so():
    with pytest.raises(UnsupportedFunctionError, match="max"):
        wg.grad(lambda p: made(p).max())(P)
    with pytest.raises(UnsupportedFunctionError, match="one axis"):
        wg.grad(lambda p: made(p)[1].sum())(P)
    with pytest.raises(ValueError, match="mismatch"):
        wg.grad(lambda p: (made(p) @ sp.csr_array(np.ones((2, 2)))).sum())(P)
    with pytest.raises(ValueError, match="triangular"):
        wg.grad(lambda p: sl.spsolve_triangular(made(p), B)[0])(P)


def test_what_is_put_into_a_matrix_entry_by_entry_says_what_to_do_instead():
    def written(p):
        A = sp.lil_matrix((3, 3))
        A[0, 0] = p[0]
        return A.tocsr() @ B

    def on_the_diagonal(p):
        A = sp.csr_matrix((2, 2))
        A.setdiag(p)
        return A @ B[:2]

    for f in (written, on_the_diagonal):
        for operator in (wg.jacobian(f), wg.jit(f)):
            with pytest.raises(ConcretizationError, match="coo_array"):
                operator(P)


# ------------------------------------------------------------------------------------------------- entries and formats

_ROWS, _COLUMNS = np.array([0, 1, 0, 2, 0]), np.array([1, 0, 1, 2, 1])  # three entries at one place
_WEIGHTS = np.array([1.0, -2.0, 3.0])


def _summed(kind):
    return lambda v: sp_of(kind)((v * np.arange(1.0, 6.0), (_ROWS, _COLUMNS)), shape=(3, 3))


def sp_of(kind):
    return getattr(sp, kind)


ENTRIES = {
    "csr_array": lambda v: _summed("csr_array")(v).data @ _WEIGHTS,
    "csc_matrix": lambda v: _summed("csc_matrix")(v).data @ _WEIGHTS,
    "coo_array": lambda v: np.sum(_summed("coo_array")(v).data ** 2),
    "coo, then csc": lambda v: _summed("coo_array")(v).tocsc().data @ _WEIGHTS,
    "csc, then csr": lambda v: _summed("csc_array")(v).tocsr().data @ _WEIGHTS,
    "csr, then coo": lambda v: _summed("csr_matrix")(v).tocoo().data @ _WEIGHTS,
    "transposed": lambda v: _summed("csr_array")(v).T.data @ _WEIGHTS,
    "number of entries": lambda v: v * _summed("csr_array")(v).nnz,
    "by pointers": lambda v: np.sum(
        sp.csr_array((v * np.arange(1.0, 6.0), [0, 0, 1, 2, 2], [0, 2, 4, 5]), shape=(3, 3)).data ** 2
    ),
    "summed in place": lambda v: (
        summed_in_place(sp.csr_array((v * np.arange(1.0, 6.0), [1, 0, 1, 2, 2], [0, 3, 4, 5]), shape=(3, 3)))
        @ np.arange(4.0)
    ),
    "powers": lambda v: _summed("csc_array")(v).power(2).data @ _WEIGHTS,
    "set": lambda v: set_entries(_summed("csr_array")(v), v).sum(),
    "a copy": lambda v: written_copy(_summed("csr_array")(v)),
    "rows": lambda v: np.sum(_summed("csr_array")(v)[:2].data ** 2),
    "of ones": lambda v: v * np.sum(_summed("csc_array")(np.ones(5) * v / v).data ** 2),
}


def summed_in_place(A):
    A.sum_duplicates()
    return A.data


def set_entries(A, v):
    A.data = A.data**2 * v
    A.data[0] = v
    return A


def written_copy(A):
    B = A.copy()
    B.data[:] = 0.0
    return A.sum() + B.sum()


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_entries_are_those_that_scipy_holds(name, is_compiled):
    f = ENTRIES[name]
    f = wg.jit(f) if is_compiled else f
    slope = (ENTRIES[name](1.3 + 1e-6) - ENTRIES[name](1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(wg.value_and_grad(f)(1.3), (ENTRIES[name](1.3), slope), rtol=1e-6)


@pytest.mark.parametrize(
    "way", [lambda A: A + A.T, lambda A: A @ A, lambda A: A.tobsr(), lambda A: A.multiply(np.eye(3))]
)
def test_entries_are_refused_whose_order_is_not_known(way):
    with pytest.raises(UnsupportedFunctionError, match=r"the attribute data .*has no derivative rule"):
        wg.grad(lambda v: np.sum(way(_summed("csr_array")(v)).data))(1.3)


def test_places_in_a_table_of_floats_that_was_written_to():
    table = np.array([[0, 1, 0.1], [1, 2, 0.3], [0, 2, 0.5]])

    def f(v):
        branches = table.copy()
        branches[0, 2] = v
        A = sp.csr_matrix((branches[:, 2] ** 2, (branches[:, 0], branches[:, 1])), shape=(3, 3))
        return A.toarray() @ B

    np.testing.assert_allclose(wg.jacfwd(f)(0.4), [0.8 * B[1], 0.0, 0.0])
    with pytest.raises(ConcretizationError, match="where the entries of a sparse matrix stand"):
        wg.jit(f)(0.4)


MATRICES = {
    "as made": made,
    "coordinates, one twice": lambda p: made(p, sp.coo_matrix),
    "by columns": lambda p: made(p, sp.csc_array),
    "diagonals": lambda p: sp.diags_array([p, 3 * p], offsets=[0, 1], shape=(2, 3)),
    "of another": lambda p: sp.csc_matrix(sp.diags_array(p, format="csr")),
    "sums and products": lambda p: made(p).T @ made(p) + p[0] * sp.eye_array(3),
    "in a container": lambda p: {"matrix": -made(p)[1:], "vector": p},
    "from a branch": lambda p: made(p) if p[0] > 1 else 2 * made(p),
    "a Jacobian and what is made of it": lambda p: [JACOBIAN(p), 2 * JACOBIAN(p), JACOBIAN(p) + JACOBIAN(p),
                                                    JACOBIAN(p).multiply(JACOBIAN(p)), sp.vstack([JACOBIAN(p)] * 2)],
}  # fmt: skip
JACOBIAN = wg.jacobian(lambda p: p * p[0], sparse=True)


@pytest.mark.parametrize("name", MATRICES)
def test_functions_return_matrices(name):
    """Compiled, with the class and format that SciPy's matrices have; their derivatives are such matrices, too."""

    def compare(found, expected):
        for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
            assert type(x) is type(y)
            np.testing.assert_allclose(*[m.toarray() if sp.issparse(m) else m for m in (x, y)], rtol=1e-14)

    f = MATRICES[name]
    compare(wg.jit(f)(P), f(P))
    value, slope = wg.jit(lambda p: wg.jvp(f, (p,), (P,)))(P)
    compare(value, f(P))
    h = 1e-7
    ahead, behind = tree.leaves(f(P * (1 + h))), tree.leaves(f(P * (1 - h)))
    for x, a, b in zip(tree.leaves(slope), ahead, behind, strict=True):
        dense = [m.toarray() if sp.issparse(m) else m for m in (x, a, b)]
        np.testing.assert_allclose(dense[0], (dense[1] - dense[2]) / (2 * h), atol=1e-6)


def test_where_entries_stand_is_known():
    found = wg.jit(lambda p: [a for m in (made(p), made(p, sp.csc_array)) for a in (m.indices, m.indptr, m.data)])(P)
    for x, y in zip(found, [a for m in (made(P), made(P, sp.csc_array)) for a in (m.indices, m.indptr, m.data)],
                    strict=True):  # fmt: skip
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "dia_array", "bsr_array", "csr_matrix"])
def test_formats_of_what_is_computed(kind):
    """They are SciPy's: each is asked of SciPy on plain numbers."""
    other, dense = sp.csc_array(M), np.arange(1.0, 10.0).reshape(3, 3)

    def results(p):
        a = getattr(sp, kind)(made(p, sp.coo_array))
        return [a @ other, other @ a, a @ a, a.T @ a, a + other, other - a, a + a, a.multiply(other), a.multiply(a),
                a.multiply(dense), a / dense, a * p[0], -a, abs(a), a.power(2), a.sqrt(), a.T, sp.vstack([a, other]),
                sp.kron(a, other), sp.kron(a, sp.eye_array(3), format="csc"), sp.tril(a), a.tocoo()]  # fmt: skip

    for k, (found, expected) in enumerate(zip(wg.jit(results)(P), results(P), strict=True)):
        assert type(found) is type(expected), k
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-14)


@pytest.mark.filterwarnings("ignore:k >= N")
@pytest.mark.parametrize("f", [sl.eigsh, sl.expm, sp.csgraph.dijkstra], ids=lambda f: f.__name__)
def test_functions_without_a_rule_are_named(f):
    for derivative in (wg.grad, wg.jit):
        with pytest.raises(UnsupportedFunctionError, match=f"{f.__name__} of a sparse matrix with traced entries"):
            derivative(lambda p: np.sum(f(made(p))[0]))(P)


def test_comparisons_are_refused():
    for compare in (lambda p: made(p) != 0, lambda p: made(p) == made(p), lambda p: made(p) > 1):
        with pytest.raises(UnsupportedFunctionError, match="comparison"):
            wg.jit(compare)(P)


def test_an_array_of_blocks_is_gone_through():
    v = np.array([0.3, 0.8])
    y, y_dot = wg.jvp(lambda v: sp.block_diag(v).toarray(), (v,), (v,))
    np.testing.assert_array_equal(y, np.diag(v))
    np.testing.assert_array_equal(y_dot, np.diag(v))
