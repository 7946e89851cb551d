"""`wg.qp` and `wg.lp`: the conditions of optimality, references, differences, SciPy's linear programs."""

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from implicit_problems import check

import wengert as wg
from wengert.errors import ConvergenceError, MismatchError


def problem(n, m, p, seed):
    """One with an answer inside."""
    rng = np.random.default_rng(seed)
    B, x = rng.normal(size=(n, n)), rng.normal(size=n)
    G, A = rng.normal(size=(m, n)), rng.normal(size=(p, n))
    h = G @ x + rng.uniform(0, 1, m) * (rng.random(m) < 0.7) + 0.01
    return B @ B.T + 0.1 * np.eye(n), rng.normal(size=n), G, h, A, A @ x


SIZES = [(1, 0, 0), (3, 4, 1), (5, 0, 2), (6, 9, 0), (12, 20, 3)]


@pytest.mark.parametrize("sizes", SIZES)
def test_conditions(sizes):
    compiled = wg.jit(wg.qp, static_argnames="full")
    for seed in range(5):
        P, q, G, h, A, b = data = problem(*sizes, seed)
        for solve in (wg.qp, compiled):
            x, z, y = solve(*data, full=True)
            np.testing.assert_allclose(P @ x + q + G.T @ z + A.T @ y, 0, atol=1e-10)
            np.testing.assert_allclose(A @ x, b, atol=1e-10)
            assert np.all(G @ x <= h + 1e-10)
            assert np.all(z >= -1e-10)
            np.testing.assert_allclose(z * (h - G @ x), 0, atol=1e-9)


@pytest.mark.parametrize("sizes", SIZES[1:])
def test_derivatives(sizes):
    data = problem(*sizes, 3)
    rng = np.random.default_rng(1)
    w = rng.normal(size=sizes[0])
    f = lambda *data: w @ wg.qp(*data)
    gradient = wg.grad(f, tuple(range(6)))(*data)
    compiled = wg.jit(wg.grad(f, tuple(range(6))))(*data)
    for k, (g, c) in enumerate(zip(gradient, compiled, strict=True)):
        d = rng.normal(size=g.shape)
        d = d + d.T if k == 0 else d
        moved = lambda s, k=k, d=d: f(*[x + s * d if i == k else x for i, x in enumerate(data)])
        assert np.sum(g * d) == pytest.approx((moved(1e-6) - moved(-1e-6)) / 2e-6, rel=1e-5, abs=1e-7)
        np.testing.assert_allclose(c, g, rtol=1e-9, atol=1e-11)


def test_references():
    two = np.eye(2)
    check(
        "QP with an active bound",
        lambda p: wg.qp(2 * two, -2 * p, np.concatenate([np.ones((1, 2)), -two]), np.array([1.0, 0.0, 0.0])),
    )
    check(
        "equality-constrained QP",
        lambda p: wg.qp(
            np.array([[2.0, 1.0], [1.0, 4.0]]), np.array([-1.0, 0.0]), A=np.stack([np.stack([p[0], 1.0])]), b=p[1:]
        ),
    )
    check(
        "projection to the simplex",
        lambda p: wg.qp(2 * np.eye(3), -2 * p, -np.eye(3), np.zeros(3), np.ones((1, 3)), np.ones(1)),
    )


def test_batches():
    P, q, G, h, A, b = problem(4, 6, 1, 0)
    qs = np.random.default_rng(2).normal(size=(7, 4))
    one = lambda q: wg.qp(P, q, G, h, A, b)
    wanted = np.array([one(q) for q in qs])
    for f in (wg.vmap(one), wg.jit(wg.vmap(one))):
        np.testing.assert_allclose(f(qs), wanted, rtol=1e-9, atol=1e-10)
    slopes = np.array([wg.jacobian(one)(q) for q in qs])
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.jacobian(one)))(qs), slopes, rtol=1e-8, atol=1e-9)


def test_programs_do_not_grow_with_the_batch():
    """Neither by the factors of matrices, nor by asking for each example whether a factorisation will succeed."""
    P, q, G, h, A, b = problem(8, 24, 2, 0)
    one = lambda q: np.sum(wg.qp(P, q, G, h, A, b))
    of_batch = wg.jit(wg.vmap(wg.grad(one)))
    few, many = [str(of_batch.lower(np.zeros((n, 8))).ir).split("\nconstants")[0] for n in (4, 40)]
    assert many.count("\n") == few.count("\n")


def test_linear_programs():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        G = np.concatenate([rng.normal(size=(6, 3)), np.eye(3), -np.eye(3)])
        h = np.concatenate([rng.uniform(0.2, 1, 6), np.full(6, 2.0)])
        c = rng.normal(size=3)
        np.testing.assert_allclose(wg.lp(c, G, h), so.linprog(c, G, h, bounds=(None, None)).x, atol=1e-8)
        by_scipy = wg.jacobian(lambda h, c=c, G=G: so.linprog(c, G, h, bounds=(None, None)).x)(h)
        np.testing.assert_allclose(wg.jacobian(wg.lp, 2)(c, G, h), by_scipy, atol=1e-6)


def test_no_answer():
    for f in (wg.qp, wg.jit(wg.qp)):
        with pytest.raises(ConvergenceError, match="has not converged"), np.errstate(all="ignore"):
            f(np.eye(1), np.zeros(1), np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0]))
    with pytest.raises(MismatchError, match="G with h"):
        wg.qp(np.eye(2), np.zeros(2), np.eye(2))
    with pytest.raises(MismatchError, match=r"P has the shape \(2, 2\), where \(3, 3\)"):
        wg.qp(np.eye(2), np.zeros(3))


def test_an_axis_in_front_and_matrices_that_are_not_symmetric():
    q = np.array([[-3.0, -1.0], [1.0, -2.0], [0.5, 0.5]])
    G, h = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 0.1, 0.2])
    P = np.array([[2.0, 1.0], [0.0, 1.0]])
    one = lambda q: wg.qp((P + P.T) / 2, q, G, h)
    np.testing.assert_allclose(wg.qp(P, q, G, h), [one(row) for row in q], atol=1e-9)
    slopes = wg.jacobian(lambda q: np.sum(wg.qp(P, q, G, h), 0))(q)
    np.testing.assert_allclose(slopes, np.stack([wg.jacobian(one)(row) for row in q], 1), atol=1e-9)
    x, z, _ = wg.qp(np.stack([P, 2 * P]), q[:2], G, h, full=True)
    assert (x.shape, z.shape) == ((2, 2), (2, 3))


# ------------------------------------------------------------------------------------------------- sparse matrices


@pytest.mark.parametrize("sizes", SIZES)
def test_sparse_matrices_as_dense_ones(sizes):
    P, q, G, h, A, b = problem(*sizes, 0)
    w = np.arange(1.0, 1 + sizes[0])

    def of_dense(q, h, b, s):
        return P * s, q, G * s**2, h, A, b

    def of_sparse(q, h, b, s):
        return sp.csr_array(P) * s, q, sp.csc_matrix(G) * s**2, h, sp.coo_array(A), b

    by_dense, by_sparse = lambda *p: w @ wg.qp(*of_dense(*p)), lambda *p: w @ wg.qp(*of_sparse(*p))
    point, places = (q, h, b, 1.1), (0, 1, 2, 3)
    for found, wanted in zip(wg.qp(*of_sparse(*point), full=True), wg.qp(*of_dense(*point), full=True), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    wanted = wg.grad(by_dense, places)(*point)
    for operator in (wg.grad(by_sparse, places), wg.jit(wg.grad(by_sparse, places))):
        for one, other in zip(operator(*point), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(wg.hessian(by_sparse)(*point), wg.hessian(by_dense)(*point), rtol=1e-5, atol=1e-6)
    several = np.stack([q, 2 * q])
    wanted = wg.qp(*of_dense(several, h, b, 1.1))
    np.testing.assert_allclose(wg.qp(*of_sparse(several, h, b, 1.1)), wanted, atol=1e-9)


def test_many_unknowns_between_bounds():
    """An obstacle problem: where the solution touches no bound it solves the equation, elsewhere it is the bound."""
    n = 2000
    P = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    q, h = -np.sin(np.linspace(0, 9, n)), np.full(2 * n, 0.3) + 0.01 * np.random.default_rng(0).random(2 * n)
    G = sp.vstack([sp.eye_array(n), -sp.eye_array(n)])
    x, z, _ = wg.qp(P, q, G, h, full=True)
    np.testing.assert_allclose(P @ x + q + G.T @ z, 0, atol=1e-12)
    held = np.flatnonzero(np.minimum(h[:n] - x, h[n:] + x) < 1e-12)
    free = np.setdiff1d(np.arange(n), held)
    w = np.cos(np.arange(n))
    gradient = wg.grad(lambda q: w @ wg.qp(P, q, G, h))(q)
    inner = sp.csc_array(P)[np.ix_(free, free)]
    np.testing.assert_allclose(gradient[free], -sl.spsolve(inner, w[free]), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(gradient[held], 0)


def test_sparse_programs_without_an_answer():
    eye = sp.eye_array(2)
    with pytest.raises(ConvergenceError, match="convex"):
        wg.qp(-eye, np.zeros(2), eye, np.ones(2))
    with pytest.raises(ConvergenceError, match="convex"):
        wg.qp(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2), eye, np.ones(2))
    with pytest.raises(ConvergenceError, match="wg.qp has not converged"):
        wg.qp(eye, np.zeros(2), sp.csr_array([[1.0, 0.0], [-1.0, 0.0]]), -np.ones(2))
    with pytest.raises(ConvergenceError, match="wg.lp has not converged"):
        wg.lp(-np.ones(2), -eye, np.zeros(2))
    with pytest.raises(ConvergenceError, match="touched"):
        wg.grad(lambda q: wg.qp(eye, q, eye, np.zeros(2)).sum())(np.zeros(2))
    with pytest.raises(MismatchError, match="P has the shape"):
        wg.qp(eye, np.zeros(3))
    G, h = sp.csr_array([[1.0, 2.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([2.0, 0.0, 0.0])
    np.testing.assert_allclose(wg.lp(-np.ones(2), G, h), [2.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_an_answer_needs_no_derivative(kind, rng):
    """Multipliers that are not unique, weights so large that steps are rounding errors: x is there all the same."""
    P, q = np.array([[3.0, 0.5], [0.5, 2.0]]), np.array([-4.0, -3.0])
    G, h = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(wg.qp(kind(P), q, kind(G), h), [0.625, 0.375], atol=1e-9)
    for k in range(20):
        n, m = 6, 4
        root = rng.normal(size=(n, 2))
        P, q, x = root @ root.T, rng.normal(size=n) * 10.0 ** rng.integers(-3, 4), np.round(rng.normal(size=n))
        rows = np.round(1.5 * rng.normal(size=(m, n)))
        G = np.concatenate([rows, rows[:1], np.eye(n), -np.eye(n)])
        h = np.concatenate([rows @ x, rows[:1] @ x, np.maximum(x, 0) + 1, np.maximum(-x, 0)])
        x, z, _ = wg.qp(kind(P), q, kind(G), h, full=True)
        scale = 1 + np.max(np.abs(q))
        np.testing.assert_allclose(P @ x + q + G.T @ z, 0, atol=1e-7 * scale, err_msg=str(k))
        assert np.max(G @ x - h) < 1e-7 * scale
        np.testing.assert_allclose(z * (h - G @ x), 0, atol=1e-7 * scale)


def test_programs_without_a_unique_answer_say_so():
    """All points of an edge are smallest; three constraints meet in a corner of the plane."""
    with pytest.raises(ConvergenceError, match=r"wg\.lp has no answer, or no unique one"):
        wg.lp(-np.ones(2), np.ones((1, 2)), np.array([2.0]))
    corner = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(ConvergenceError, match=r"wg\.lp"):
        wg.jacrev(lambda a: wg.lp(-np.ones(2), corner, np.array([1.0, 1.0, a])))(2.0)
