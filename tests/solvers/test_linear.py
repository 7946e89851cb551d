"""`wg.linear_solve` and SciPy's iterative solvers: the same as with the matrix."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg as sl

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError, UnsupportedFunctionError

N = 12
B = np.sin(np.arange(N) + 1.0)


def along(u, k):
    """A map that is not symmetric."""
    return k * (2.5 * u - np.concatenate([u[1:], [0.0]]) - 0.6 * np.concatenate([[0.0], u[:-1]])) + 0.1 * u


def matrix(k):
    return np.stack([along(e, k) for e in np.eye(N)], 1)


by_matrix = lambda k, b: np.sum(np.linalg.solve(matrix(k), k * b) ** 3)


@pytest.mark.parametrize("method", ["auto", "gmres", "bicgstab", "direct"])
def test_functions(method):
    f = lambda k, b: np.sum(wg.linear_solve(lambda u: along(u, k), k * b, method=method) ** 3)
    for derive in (
        wg.grad,
        wg.jacfwd,
        lambda f: wg.jit(wg.grad(f)),
        lambda f: wg.grad(wg.grad(f)),
        lambda f: wg.jacfwd(wg.grad(f)),
        lambda f: wg.grad(f, 1),
        lambda f: wg.hessian(f, 1),
        lambda f: lambda k, b: wg.vmap(wg.grad(f), in_axes=(0, None))(np.array([k, 2 * k]), b),
    ):
        np.testing.assert_allclose(derive(f)(1.3, B), derive(by_matrix)(1.3, B), rtol=1e-7, atol=1e-9)


def test_symmetric_and_of_any_shape():
    poisson = lambda u: 4 * u - np.roll(u, 1, 0) - np.roll(u, -1, 0) - np.roll(u, 1, 1) - np.roll(u, -1, 1) + u
    b = np.random.default_rng(0).normal(size=(4, 5))
    x = wg.linear_solve(poisson, b, method="cg")
    np.testing.assert_allclose(poisson(x), b, atol=1e-10)
    slopes = wg.jacobian(lambda b: wg.linear_solve(poisson, b, method="cg"))(b).reshape(20, 20)
    np.testing.assert_allclose(slopes @ wg.jacobian(poisson)(b).reshape(20, 20), np.eye(20), atol=1e-9)


def test_matrices():
    A = matrix(1.3)
    for given in (A, scipy.sparse.csr_array(A)):
        np.testing.assert_allclose(
            wg.jacobian(lambda b, A=given: wg.linear_solve(A, b))(B), np.linalg.inv(A), atol=1e-10
        )


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_scipy(name):
    solve = getattr(sl, name)
    S = matrix(1.0) @ matrix(1.0).T
    exact = lambda k: np.sum(np.linalg.solve(k * S, B) ** 2)
    dense = lambda k: np.sum(solve(k * S, B, rtol=1e-13)[0] ** 2)
    operator = lambda k: np.sum(
        solve(sl.LinearOperator((N, N), matvec=lambda v: k * (S @ v), dtype=float), B, rtol=1e-13)[0] ** 2
    )
    for f in (dense, operator):
        assert wg.grad(f)(1.3) == pytest.approx(wg.grad(exact)(1.3), rel=1e-7)
        assert wg.jit(wg.grad(f))(1.3) == pytest.approx(wg.grad(exact)(1.3), rel=1e-7)
    assert dense(1.3) == np.sum(solve(1.3 * S, B, rtol=1e-13)[0] ** 2)


def test_other_iterations_of_scipy():
    exact = lambda k: np.sum(np.linalg.solve(matrix(k), k * B) ** 3)
    operator = lambda k: sl.LinearOperator((N, N), lambda v: along(v, k), rmatvec=lambda v: matrix(k).T @ v)
    for name in ("bicg", "cgs", "qmr", "lgmres", "gcrotmk", "tfqmr"):
        f = lambda k, name=name: np.sum(getattr(sl, name)(operator(k), k * B, rtol=1e-12)[0] ** 3)
        assert wg.grad(f)(1.3) == pytest.approx(wg.grad(exact)(1.3), rel=1e-6), name
    entries = lambda k: np.sum(sl.gmres(scipy.sparse.csr_array(k * matrix(1.0)), B, rtol=1e-12)[0])
    assert wg.grad(entries)(2.0) == pytest.approx(-np.sum(np.linalg.solve(matrix(1.0), B)) / 4, rel=1e-8)


@pytest.mark.parametrize("solve", [sl.lsqr, sl.lsmr])
def test_least_squares_of_scipy(solve):
    tall = np.random.default_rng(0).normal(size=(9, 4))
    b = np.arange(9.0)
    normal = lambda k, d: np.linalg.solve(
        (k * tall + 1).T @ (k * tall + 1) + d**2 * np.eye(4), (k * tall + 1).T @ (b + k)
    )
    options = {"atol": 1e-14, "btol": 1e-14}
    ways = [
        lambda k, d: solve(k * tall + 1, b + k, d, **options)[0],
        lambda k, d: solve(scipy.sparse.csr_array(k * tall + 1), b + k, damp=d, **options)[0],
        lambda k, d: solve(
            sl.LinearOperator((9, 4), lambda v: (k * tall + 1) @ v, rmatvec=lambda v: (k * tall + 1).T @ v),
            b + k, damp=d, **options,
        )[0],
    ]  # fmt: skip
    for f in ways:
        for argument in (0, 1):
            expected = wg.jacfwd(normal, argument)(0.7, 0.3)
            np.testing.assert_allclose(wg.jacrev(f, argument)(0.7, 0.3), expected, rtol=1e-7)
            np.testing.assert_allclose(wg.jacfwd(f, argument)(0.7, 0.3), expected, rtol=1e-7)
    second = wg.jacfwd(wg.jacfwd(normal))(0.7, 0.3)
    np.testing.assert_allclose(wg.jacfwd(wg.jacrev(ways[0]))(0.7, 0.3), second, rtol=1e-6)
    np.testing.assert_allclose(wg.jit(wg.jacrev(ways[0]))(0.7, 0.3), wg.jacfwd(normal)(0.7, 0.3), rtol=1e-7)
    # The size of the residual has a derivative; what the method estimates on its way has none.
    size = lambda k: solve(k * tall + 1, b, **options)[3]
    step = 1e-6
    assert wg.grad(size)(0.7) == pytest.approx((size(0.7 + step) - size(0.7 - step)) / (2 * step), rel=1e-6)
    with pytest.raises(UnsupportedFunctionError, match="cond"):
        wg.grad(lambda k: solve(k * tall + 1, b, **options)[6] * k)(0.7)
    wide = lambda k: np.sum(solve(k * tall.T, np.ones(4), **options)[0])
    with pytest.raises(ConvergenceError, match="singular"):
        wg.grad(wide)(0.7)


def test_factors_that_are_kept():
    A = matrix(1.3)
    for f in (
        lambda b: sl.splu(scipy.sparse.csc_array(A)).solve(b),
        lambda b: sl.factorized(scipy.sparse.csc_array(A))(b),
        wg.jit(lambda b: sl.splu(scipy.sparse.csc_array(A)).solve(b)),
    ):
        np.testing.assert_allclose(wg.jacrev(f)(B), np.linalg.inv(A), atol=1e-12)
        np.testing.assert_allclose(wg.jacfwd(f)(B), np.linalg.inv(A), atol=1e-12)
    transposed = lambda b: sl.splu(scipy.sparse.csc_array(A)).solve(b, "T")
    np.testing.assert_allclose(wg.jacrev(transposed)(B), np.linalg.inv(A).T, atol=1e-12)
    np.testing.assert_allclose(wg.vmap(transposed)(np.eye(N)), np.linalg.inv(A), atol=1e-12)
    columns = lambda b: np.sum(sl.splu(scipy.sparse.csc_array(A)).solve(np.stack([b, b * b], 1))[:, 1])
    np.testing.assert_allclose(wg.grad(columns)(B), 2 * B * np.sum(np.linalg.inv(A), 0), atol=1e-12)
    of_matrix = lambda k: sl.splu(scipy.sparse.csc_array(k * A)).solve(B)
    np.testing.assert_allclose(wg.jacfwd(of_matrix)(2.0), -np.linalg.solve(A, B) / 4, atol=1e-12)


def test_mistakes():
    with pytest.raises(ConvergenceError, match="has not converged"):
        wg.linear_solve(lambda u: along(u, 1.0), B, method="gmres", maxiter=1, tol=1e-15) + wg.linear_solve(
            lambda u: np.roll(u, 1), B, method="cg", maxiter=2
        )
    with pytest.raises(MismatchError, match="shape"):
        wg.linear_solve(lambda u: u[1:], B)


@pytest.mark.parametrize("method", ["auto", "gmres"])
def test_containers(method):
    """A block system, in the containers of its right-hand side."""
    a = np.array([1.3, 0.7])
    product = lambda a: lambda v: {"u": 2 * v["u"] + v["v"] * a, "v": 4 * v["v"] + np.sum(v["u"])}
    matrix = lambda a: np.block([[2 * np.eye(2), a[:, None]], [np.ones((1, 2)), np.full((1, 1), 4.0)]])

    def by_function(a):
        found = wg.linear_solve(product(a), {"u": a, "v": 1.0}, method=method)
        return np.append(found["u"], found["v"])

    by_matrix = lambda a: np.linalg.solve(matrix(a), np.append(a, 1.0))
    np.testing.assert_allclose(by_function(a), by_matrix(a), atol=1e-12)
    for derive in (wg.jacfwd, wg.jacrev, lambda f: wg.jit(wg.jacrev(f))):
        np.testing.assert_allclose(derive(by_function)(a), wg.jacobian(by_matrix)(a), atol=1e-10)
    with pytest.raises(MismatchError, match="container"):
        wg.linear_solve(lambda v: v["u"], {"u": a})


def test_sparse_matrices_wherever_a_solver_may_find_them():
    """In closures, among the arguments, and as constants: traced entries are found, others do not matter."""
    rows, columns = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 1, 2, 1, 2, 0])
    entries, b = np.array([3.0, 4.0, 5.0, 0.3, 0.2, 0.1]), np.array([1.0, 2.0, 0.5])
    matrix = lambda d: scipy.sparse.csr_array((d, (rows, columns)), shape=(3, 3))

    def in_a_closure(d):
        A = matrix(d)
        return scipy.optimize.root(lambda u: A @ u - b, np.zeros(3), tol=1e-14).x

    def as_an_argument(d):
        return scipy.optimize.lsq_linear(matrix(d), b).x

    def with_bounds(d):
        return scipy.optimize.linprog(-np.ones(3), A_ub=matrix(d), b_ub=b, bounds=(None, None)).x

    def preconditioned(d):
        return sl.gmres(matrix(d), b, M=scipy.sparse.diags_array(1 / np.arange(3.0, 6.0)), rtol=1e-14)[0]

    dense = np.zeros((3, 3))
    dense[rows, columns] = entries
    inverse = np.linalg.inv(dense)
    expected = -inverse[:, rows] * (inverse @ b)[columns]
    for f in (in_a_closure, as_an_argument, with_bounds, preconditioned):
        np.testing.assert_allclose(wg.jacrev(f)(entries), expected, atol=1e-8, err_msg=f.__name__)
        np.testing.assert_allclose(wg.jit(wg.jacfwd(f))(entries), expected, atol=1e-8, err_msg=f.__name__)


def test_singular_sparse_matrices_are_told_as_scipy_does():
    with pytest.warns(sl.MatrixRankWarning):
        wg.grad(lambda a: np.sum(sl.spsolve(scipy.sparse.csc_array(np.ones((2, 2))) * a, np.ones(2))))(1.0)


def test_preconditioners_and_starts_have_no_derivative():
    """What is found does not depend on them, wherever they come from."""
    n = 6
    band = lambda a: np.diag(np.full(n, 2.0) + a) - np.eye(n, k=1) - np.eye(n, k=-1)

    def by_iterations(a):
        A = band(a)
        M = scipy.sparse.linalg.LinearOperator((n, n), matvec=lambda v: v / np.diag(A))
        first = scipy.sparse.linalg.cg(A, np.ones(n) * a, rtol=1e-13, M=M, x0=np.full(n, a))[0]
        incomplete = scipy.sparse.linalg.spilu(scipy.sparse.csc_array(band(0.5)))
        M = scipy.sparse.linalg.LinearOperator((n, n), incomplete.solve)
        return np.sum(first * scipy.sparse.linalg.gmres(A, np.ones(n), rtol=1e-13, M=M)[0])

    directly = lambda a: np.sum(np.linalg.solve(band(a), np.ones(n) * a) * np.linalg.solve(band(a), np.ones(n)))
    expected = wg.grad(directly)(1.3)
    for slope in (wg.grad(by_iterations), wg.jit(wg.grad(by_iterations)), wg.jacfwd(by_iterations)):
        np.testing.assert_allclose(slope(1.3), expected, rtol=1e-9)
    np.testing.assert_allclose(wg.vmap(wg.grad(by_iterations))(np.array([1.3, 1.3])), [expected] * 2, rtol=1e-9)


def test_functions_without_a_rule_name_themselves():
    def largest(a):
        return sl.eigsh(scipy.sparse.csr_array(np.diag(a * np.arange(8.0))), k=2, return_eigenvectors=False).sum()

    with pytest.raises(UnsupportedFunctionError, match="eigsh of a sparse matrix with traced entries"):
        wg.grad(largest)(2.0)
    for function in (sl.svds, sl.eigs, sl.onenormest):  # which take anything that is an operator
        with pytest.raises(UnsupportedFunctionError, match=f"{function.__name__} has no derivative rule"):
            wg.grad(lambda a, f=function: f(np.diag(a * np.arange(8.0))))(2.0)


@pytest.mark.filterwarnings("ignore:.*encountered in")
@pytest.mark.parametrize("compiled", [False, True])
def test_iterations_that_break_down(compiled):
    """Conjugate gradients divide by pᵀ A p, which is zero here at once: there is no answer, and none is given."""
    indefinite, turn = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])
    cases = {
        "stopped after": lambda b: wg.linear_solve(lambda v: indefinite @ v, b, method="cg"),
        "broke down": lambda b: wg.linear_solve(lambda v: turn @ v, b, method="bicgstab"),
        "cg has not converged": lambda b: wg.jvp(lambda b: sl.cg(indefinite, b)[0], (b,), (b,))[1],
    }
    for said, solve in cases.items():
        with pytest.raises(ConvergenceError, match=said):
            (wg.jit(solve) if compiled else solve)(np.ones(2))
