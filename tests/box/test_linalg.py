"""numpy.linalg: NumPy's values, and derivatives in every mode, generic, stacked and not square."""

from __future__ import annotations

import numpy as np
import pytest
from harness import check

import wengert as wg
from wengert.errors import RepeatedValuesError, UnsupportedFunctionError
from wengert.ops.op import Traced

L = np.linalg
RNG = np.random.default_rng(5)


def a(*shape):
    return RNG.normal(size=shape)


def regular(*shape):
    return a(*shape) + 3 * np.eye(shape[-1])


def gram(x):
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-2])


def symmetric(x):
    return x + np.conj(np.swapaxes(x, -1, -2))


def parts(*zs):
    """Real and imaginary parts."""
    return [part for z in zs for part in (np.real(z), np.imag(z))]


# ---------------------------------------------------------------------------------------------------- linear systems


@pytest.mark.parametrize(
    ("first", "second"),
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1)),
     ((2, 1, 3, 3), (4, 3, 1)), ((1, 1), (1,))],
    ids=str,
)  # fmt: skip
def test_solve(first, second):
    x, b = regular(*first), a(*second)
    check(L.solve, x, b)
    check(lambda x: L.solve(x, b), x, second=False)
    check(lambda b: L.solve(x, b), b, second=False)


def test_solve_with_integers_and_lists():
    check(lambda b: L.solve([[2, 1], [1, 3]], b), a(2))
    check(lambda x: L.solve(x, [1, 2]), regular(2, 2))
    check(lambda x: L.solve([[x[0], 1.0], [0.0, x[1]]], x), np.array([2.0, 3.0]))
    with pytest.raises(L.LinAlgError):
        wg.jvp(lambda x: L.solve(x, [1, 2]), (np.ones((2, 3)),), (np.ones((2, 3)),))


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1)], ids=str)
@pytest.mark.parametrize("f", [L.inv, L.det, lambda x: L.slogdet(x)[1], lambda x: L.matrix_power(x, -3), L.cond],
                         ids=["inv", "det", "slogdet", "matrix_power", "cond"])  # fmt: skip
def test_square(f, shape):
    check(f, regular(*shape))


def test_slogdet_has_named_parts():
    check(L.slogdet, a(3, 3))
    x = regular(3, 3)
    np.testing.assert_allclose(wg.grad(lambda x: L.slogdet(x).logabsdet)(x), L.inv(x).T, rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 2, 3), (3, 3)], ids=str)
def test_pseudo_inverse(shape):
    check(L.pinv, a(*shape))


def test_pseudo_inverse_of_deficient_rank():
    """Along a path of constant rank, and with Penrose's equation a a⁺ a = a."""
    x, y = a(4, 2), a(2, 3)
    check(lambda x, y: L.pinv(x @ y, rcond=1e-10), x, y, single=False, rtol=1e-6)
    check(lambda x, y: (x @ y) @ L.pinv(x @ y, rtol=1e-10) @ (x @ y), x, y, single=False,
          reference=lambda args, dots: args[0] @ dots[1] + dots[0] @ args[1])  # fmt: skip
    check(lambda x: L.pinv(symmetric(x), hermitian=True), a(3, 3))
    check(lambda x: L.pinv(x, rtol=None), a(3, 2))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 3, 4)], ids=str)
def test_pseudo_inverse_that_cuts_off_values_that_are_not_zero(shape):
    """It is that of the matrix without them, which changes as their vectors turn into those of the others."""
    x = a(*shape)
    values = np.atleast_2d(L.svd(x, compute_uv=False))
    cut = float(np.mean(values[:, 1:3] / values[:, :1], axis=1)[0]) if len(values) == 1 else 0.5
    check(lambda x: L.pinv(x, rcond=cut), x, rtol=1e-6)
    f = lambda x: L.pinv(x, rcond=cut) @ np.ones(shape[-2])
    np.testing.assert_allclose(wg.jit(wg.jacrev(f))(x), wg.jacfwd(f)(x), rtol=1e-10, atol=1e-12)


def test_pseudo_inverse_that_cuts_off_some_of_several_equal_values():
    """Second derivatives of the inverse of diag(2, 2, 1/2, 1/4), cut off at one, are those of the block's inverse."""
    x, v = np.diag([2.0, 2.0, 0.5, 0.25]), np.zeros((4, 4))
    v[:2, :2] = a(2, 2)
    f, block = lambda x: L.pinv(x, rcond=0.4)[0, 1], lambda x: L.inv(x[:2, :2])[0, 1]
    np.testing.assert_allclose(wg.hvp(f)(x, v)[:2, :2], wg.hvp(block)(x, v)[:2, :2], rtol=1e-12, atol=1e-13)


def test_least_squares_that_cuts_off_values():
    x, b = a(5, 3), a(5)
    values = L.svd(x, compute_uv=False)
    cut = float((values[1] + values[2]) / 2 / values[0])
    check(lambda x: L.lstsq(x, b, rcond=cut)[0], x, rtol=1e-6)
    for rcond in (0.0, 1.0, 2.0):  # LAPACK takes its own
        np.testing.assert_allclose(wg.jvp(lambda x: L.lstsq(x, b, rcond)[0], (x,), (x,))[0], L.lstsq(x, b, rcond)[0])  # noqa: B023


@pytest.mark.parametrize("columns", [(), (2,)], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (2, 4)], ids=str)
def test_least_squares(shape, columns):
    x, b = a(*shape), a(shape[0], *columns)
    check(lambda x, b: L.lstsq(x, b)[:2], x, b)
    check(lambda x: L.lstsq(x, b)[3], x)

    def rank(x):
        assert L.lstsq(x, b)[2] == min(shape)
        return x

    check(rank, x)


def test_tensor_equations():
    x = a(2, 3, 6) + 3 * np.eye(6).reshape(2, 3, 6)
    check(L.tensorsolve, x, a(2, 3))
    check(lambda x, b: L.tensorsolve(x, b, axes=(0,)), np.moveaxis(x, -1, 0).copy(), a(2, 3))
    check(lambda x: L.tensorinv(x, 2), x)
    check(lambda x: L.tensorinv(x, 1), np.moveaxis(x, -1, 0).copy())


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"], ids=str)
def test_condition_numbers(p):
    check(lambda x: L.cond(x, p), regular(3, 3))
    if p in (None, 2, -2):
        check(lambda x: L.cond(x, p), a(2, 4, 3))


def test_ranks_are_plain_integers():
    x = np.outer(a(3), a(3))

    def f(x):
        assert L.matrix_rank(x) == 1
        assert not isinstance(L.matrix_rank(x), Traced)
        assert L.matrix_rank(x, rtol=1e-3) == 1
        return np.sum(x) * L.matrix_rank(x)

    np.testing.assert_array_equal(wg.grad(f)(x), np.ones((3, 3)))


def test_least_squares_of_deficient_rank():
    """The solution of least norm is a⁺ b; along matrices of one rank it is smooth."""
    b = a(4)
    solution = lambda x, y: L.lstsq(x @ y, b, rcond=1e-10)[0]
    check(solution, a(4, 2), a(2, 3), single=False, rtol=1e-6)
    x, y = a(4, 2), a(2, 3)
    ours = wg.grad(lambda z: np.sum(L.lstsq(z, b, rcond=1e-10)[0]))(x @ y)
    np.testing.assert_allclose(ours, wg.grad(lambda z: np.sum(L.pinv(z, 1e-10) @ b))(x @ y), rtol=1e-10, atol=1e-13)


# ---------------------------------------------------------------------------------------------------- factorisations


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1)], ids=str)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(shape, upper):
    check(lambda x: L.cholesky(gram(x), upper=upper), a(*shape))


def test_gradients_of_functions_of_symmetric_matrices_are_symmetric():
    """The convention: as if they symmetrised their argument."""
    x, weights = gram(a(3, 3)), a(3, 3)
    for f in (L.cholesky, lambda x: L.eigh(x)[1], lambda x: L.cholesky(x, upper=True)):
        gradient = wg.grad(lambda x, f=f: np.sum(weights * f(x)))(x)
        np.testing.assert_allclose(gradient, gradient.T, rtol=1e-10, atol=1e-13)
        by_hand = wg.grad(lambda x, f=f: np.sum(weights * f((x + x.T) / 2)))(x)
        np.testing.assert_allclose(gradient, by_hand, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 4), (2, 4, 3), (2, 2, 3)], ids=str)
def test_qr(shape):
    check(L.qr, a(*shape))
    check(lambda x: L.qr(x, mode="r"), a(*shape))
    if shape[-2] <= shape[-1]:
        check(lambda x: L.qr(x, "complete"), a(*shape))


@pytest.mark.parametrize("shape", [(4, 2), (5, 3), (4, 1), (2, 4, 2)], ids=str)
def test_complete_qr(shape):
    """LAPACK's last columns are a function of the first ones: they have derivatives like any."""
    check(lambda x: L.qr(x, "complete"), a(*shape))


def test_a_complete_q_that_jumps():
    with pytest.raises(RepeatedValuesError, match="reduced"):
        wg.jvp(lambda x: L.qr(x, "complete")[0], (np.eye(3, 2),), (a(3, 2),))
    with pytest.raises(UnsupportedFunctionError):
        wg.jvp(lambda x: L.qr(x, "raw")[0], (a(3, 2),), (a(3, 2),))


# ------------------------------------------------------------------------------------ eigenvalues and singular values


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1)], ids=str)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_symmetric_eigenvalues(shape, triangle):
    x = a(*shape)
    check(lambda x: L.eigh(symmetric(x), triangle), x)
    check(lambda x: L.eigvalsh(symmetric(x), triangle), x)
    assert wg.grad(lambda x: np.sum(L.eigh(symmetric(x)).eigenvectors[..., 0]))(x).shape == shape


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 4), (2, 3, 2)], ids=str)
def test_singular_values(shape):
    x = a(*shape)
    check(lambda x: L.svd(x, full_matrices=False), x)
    check(L.svdvals, x)
    check(lambda x: L.svd(x, compute_uv=False), x)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 1), (2, 4, 3)], ids=str)
def test_all_singular_vectors(shape):
    """Of the vectors that belong to no singular value, only the space they span has a derivative."""

    def projections(x):
        u, s, vh = L.svd(x)
        k = min(shape[-2:])
        left, right = u[..., k:], np.swapaxes(vh, -1, -2)[..., k:]
        spaces = (left @ np.swapaxes(left, -1, -2), right @ np.swapaxes(right, -1, -2))
        return (u[..., :k], s, vh[..., :k, :], *spaces)

    check(projections, a(*shape))

    def rest(x):
        u, _, vh = L.svd(x)
        return u[..., -1, -1] if shape[-2] > shape[-1] else vh[..., -1, -1]

    if abs(shape[-2] - shape[-1]) > 1:
        with pytest.raises(RepeatedValuesError, match="basis"):
            wg.grad(lambda x: np.sum(rest(x)))(a(*shape))


def test_all_singular_vectors_of_deficient_rank():
    """The whole null space of aᵀ is a smooth function along matrices of one rank."""
    x = np.zeros((4, 2))
    x[0, 0] = 1.0
    u, s, vh = wg.jvp(L.svd, (x,), (a(4, 2),))[0]
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-14)
    np.testing.assert_allclose((u[:, :2] * s) @ vh, x, atol=1e-15)


def test_singular_values_of_symmetric_matrices():
    check(lambda x: L.svd(symmetric(x), hermitian=True), a(2, 3, 3))
    check(lambda x: L.svd(symmetric(x), hermitian=True, compute_uv=False), a(3, 3))


REAL = np.array([[1.0, 1.0, 0.2], [0.1, 3.0, 0.0], [0.1, 0.2, 6.0]])
TURNING = np.array([[0.0, 1.0, 0.2], [-1.0, 0.3, 0.0], [0.1, 0.2, 2.0]])


@pytest.mark.parametrize("x", [REAL, TURNING, np.stack([REAL, TURNING])], ids=["real", "complex", "stack"])
def test_eigenvalues(x):
    """Also eigenvectors, which LAPACK scales to length one with a real largest component."""
    check(lambda x: parts(*L.eig(x)), x)
    check(lambda x: parts(L.eigvals(x)), x)
    check(lambda x: np.real(np.sum(L.eigvals(x) ** 2)), x, reference=lambda args, dots: 2 * np.sum(
        np.swapaxes(args[0], -1, -2) * dots[0]))  # fmt: skip


def test_spectral_norms_at_special_points():
    np.testing.assert_allclose(wg.grad(lambda x: L.norm(x, 2))(np.diag([3.0, 1.0, 1.0])), np.diag([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(wg.grad(lambda x: L.norm(x, "nuc"))(np.diag([3.0, 3.0])), np.eye(2), atol=1e-14)
    np.testing.assert_allclose(wg.grad(lambda x: L.norm(x, "nuc"))(np.diag([3.0, 0.0])), np.diag([1.0, 0.0]))
    for order in (2, -2, "nuc"):
        assert not np.any(wg.grad(lambda x, order=order: L.norm(x, order))(np.zeros((2, 3))))


# ------------------------------------------------------------------------------------------- complex numbers, batches

COMPLEX = {
    "solve": (L.solve, (3, 3), (3, 2)),
    "inv": (L.inv, (3, 3)),
    "det": (L.det, (2, 3, 3)),
    "logabsdet": (lambda x: L.slogdet(x)[1], (3, 3)),
    "sign": (lambda x: L.slogdet(x)[0], (3, 3)),
    "cholesky": (lambda x: L.cholesky(gram(x)), (3, 3)),
    "q": (lambda x: L.qr(x)[0], (4, 3)),
    "r": (lambda x: L.qr(x)[1], (3, 3)),
    "eigvalsh": (lambda x: L.eigvalsh(symmetric(x)), (3, 3)),
    "projection": (lambda x: np.abs(L.eigh(symmetric(x))[1]) ** 2, (3, 3)),
    "eigvals": (L.eigvals, (3, 3)),
    "eigenvectors": (lambda x: L.eig(x)[1], (3, 3)),
    "svdvals": (L.svdvals, (3, 2)),
    "low rank": (lambda x: L.svd(x, full_matrices=False)[0][:, :1] @ L.svd(x, full_matrices=False)[2][:1], (4, 3)),
    "pinv": (L.pinv, (4, 3)),
    "norm": (lambda x: L.norm(x, "nuc"), (3, 3)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_matrices(name):
    """Central differences, and Re(ct · J v) = Re(Jᵀ ct · v)."""
    f, *shapes = COMPLEX[name]
    xs, vs = ([a(*shape) + 1j * a(*shape) for shape in shapes] for _ in range(2))
    y, y_dot = wg.jvp(f, tuple(xs), tuple(vs))
    plus, minus = (f(*[x + h * v for x, v in zip(xs, vs, strict=True)]) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(y, f(*xs), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(y_dot, (plus - minus) / 2e-5, rtol=1e-6, atol=1e-6)
    assert y_dot.dtype == y.dtype
    ct = np.asarray(a(*y.shape) + (1j * a(*y.shape) if np.iscomplexobj(y) else 0))
    bars = wg.vjp(f, *xs)[1](ct)
    pulled = sum(np.sum(np.real(bar * v)) for bar, v in zip(bars, vs, strict=True))
    np.testing.assert_allclose(np.sum(np.real(ct * y_dot)), pulled, rtol=1e-10)


@pytest.mark.parametrize("f", [L.inv, L.det, lambda x: L.cholesky(gram(x)), lambda x: L.eigh(symmetric(x))[0],
                               lambda x: L.svd(x)[1], lambda x: L.solve(x, x[0]), lambda x: L.qr(x)[1]])  # fmt: skip
def test_per_example_gradients(f):
    x = regular(3, 2, 2)
    gradient = wg.grad(lambda x: np.sum(np.sin(f(x))))
    np.testing.assert_allclose(wg.vmap(gradient)(x), [gradient(example) for example in x], rtol=1e-11, atol=1e-12)
