"""Eigenvalues and singular values that coincide: what is a smooth function of the matrix is right, all else an error.

References are closed forms: Fréchet derivatives of the exponential and polar factors, which need no eigenvectors, and
differences where the function is smooth.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from harness import check

import wengert as wg
from wengert.api import numerical
from wengert.errors import RepeatedValuesError
from wengert.ops import matrix_functions as f
from wengert.ops import spectra

RNG = np.random.default_rng(11)


def a(*shape):
    return RNG.normal(size=shape)


def symmetric(*values):
    """A symmetric matrix with these eigenvalues."""
    q = np.linalg.qr(a(len(values), len(values)))[0]
    x = q * values @ q.T
    return (x + x.T) / 2


def direction(n):
    x = a(n, n)
    return x + x.T


def by_vectors(g):
    """A matrix function put together from eigenvectors, as users write it."""

    def function(x):
        w, v = np.linalg.eigh(x)
        return (v * g(w)[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))

    return function


MATRICES = {
    "identity": np.eye(3),
    "zero": np.zeros((3, 3)),
    "diagonal": np.diag([2.0, 1.0, 2.0]),
    "one pair": symmetric(2.0, 2.0, 5.0),
    "two pairs": symmetric(1.0, 1.0, 4.0, 4.0),
    "triple": symmetric(1.0, -2.0, 1.0, 1.0),
}


@pytest.fixture(params=MATRICES)
def x(request):
    return MATRICES[request.param]


# ------------------------------------------------------------------------------------------------- values alone


def test_sums_over_eigenvalues(x):
    """Gradient and Hessian of Σ exp(w) = tr exp(a), against the derivatives of the exponential."""

    def total(x):
        return np.sum(np.exp(np.linalg.eigvalsh(x)))

    exact = wg.grad(lambda x: np.trace(f.expm((x + x.T) / 2)))
    np.testing.assert_allclose(wg.grad(total)(x), exact(x), atol=1e-11)
    for _ in range(3):
        e = direction(len(x))
        np.testing.assert_allclose(wg.jvp(total, (x,), (e,))[1], np.sum(exact(x) * e), rtol=1e-11)
        second = wg.jvp(exact, (x,), (e,))[1]
        np.testing.assert_allclose(wg.hvp(total)(x, e), second, rtol=1e-10, atol=1e-9)
        along = wg.jvp(lambda x, e=e: wg.jvp(total, (x,), (e,))[1], (x,), (e,))[1]
        np.testing.assert_allclose(along, np.sum(second * e), rtol=1e-10)
    hessian = wg.hessian(total)(x)
    np.testing.assert_allclose(hessian, wg.jacobian(exact)(x), rtol=1e-10, atol=1e-9)
    value, gradient, again = wg.value_grad_and_hessian(total)(x)
    assert type(value) is np.float64
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, exact(x), atol=1e-11)
    np.testing.assert_allclose(again, hessian)


def test_symmetric_functions_that_are_no_sums():
    """The second elementary symmetric polynomial of the eigenvalues is (tr² a − tr a²) / 2."""

    def elementary(x):
        w = np.linalg.eigvalsh(x)
        return (np.sum(w) ** 2 - np.sum(w**2)) / 2

    for x in (2 * np.eye(3), symmetric(1.0, 1.0, 3.0)):
        np.testing.assert_allclose(wg.grad(elementary)(x), np.trace(x) * np.eye(3) - x, atol=1e-13)
        e = direction(3)
        np.testing.assert_allclose(wg.hvp(elementary)(x, e), np.trace(e) * np.eye(3) - e, atol=1e-12)


def test_equal_eigenvalues_share_the_derivative():
    """As ties do, in reverse mode; forwards, along a direction, each has its own."""
    np.testing.assert_allclose(wg.grad(lambda x: np.linalg.eigvalsh(x)[-1])(np.eye(2)), np.eye(2) / 2, atol=1e-15)
    np.testing.assert_allclose(wg.grad(lambda x: np.linalg.norm(x, 2))(np.eye(2)), np.eye(2) / 2, atol=1e-15)
    e = direction(3)
    dot = wg.jvp(np.linalg.eigvalsh, (np.eye(3),), (e,))[1]
    np.testing.assert_allclose(np.sort(dot), np.linalg.eigvalsh(e), rtol=1e-12)


@pytest.mark.parametrize("mode", ["reverse-forward", "reverse-reverse"])
def test_other_second_derivatives_are_refused(mode):
    with pytest.raises(RepeatedValuesError, match="forwards on reverse"):
        wg.hvp(lambda x: np.sum(np.linalg.eigvalsh(x) ** 3), mode=mode)(np.eye(2), np.eye(2))
    with pytest.raises(RepeatedValuesError):
        wg.jvp(wg.hessian(lambda x: np.sum(np.linalg.eigvalsh(x) ** 3)), (np.eye(2),), (np.eye(2),))


# --------------------------------------------------------------------------------------------------- eigenvectors


@pytest.mark.parametrize("g", [np.exp, lambda w: w**3 - w, lambda w: w], ids=["exp", "cubic", "linear"])
def test_matrix_functions_forwards(x, g):
    """v g(w) vᵀ along a direction, and along many at once."""
    exact = lambda x: scipy.linalg.funm(x, g)
    e = direction(len(x))
    expected = wg.jvp(exact, (x,), (e,))[1]
    value, dot = wg.jvp(by_vectors(g), (x,), (e,))
    np.testing.assert_allclose(value, by_vectors(g)(x), atol=1e-13)
    np.testing.assert_allclose(dot, expected, rtol=1e-11, atol=1e-11)
    several = np.stack([direction(len(x)) for _ in range(3)])
    found = wg.vmap(lambda e: wg.jvp(by_vectors(g), (x,), (e,))[1])(several)
    np.testing.assert_allclose(found, [wg.jvp(exact, (x,), (e,))[1] for e in several], rtol=1e-11, atol=1e-11)
    stack = wg.jvp(by_vectors(g), (np.stack([x, x + np.diag(np.arange(len(x)))]),), (np.stack([e, e]),))[1]
    np.testing.assert_allclose(stack[0], expected, rtol=1e-11, atol=1e-11)


def test_jacobians_forwards(x):
    """With the value, which is not a batch."""
    value, jacobian = wg.value_and_jacobian(by_vectors(np.exp), mode="forward")(x)
    assert type(value) is np.ndarray
    np.testing.assert_allclose(value, f.expm(x), atol=1e-12)
    exact = wg.jacobian(lambda x: f.expm((x + x.T) / 2))(x)
    np.testing.assert_allclose(jacobian, exact, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weights", [np.eye(3)[[1, 0, 2]], np.diag([1.0, 2.0, 3.0]), a(3, 3)],
                         ids=["off the diagonal", "diagonal", "any"])  # fmt: skip
@pytest.mark.parametrize("x", [np.eye(3), np.zeros((3, 3)), symmetric(2.0, 2.0, 5.0)], ids=["1", "0", "pair"])
def test_matrix_functions_backwards_are_refused(x, weights):
    """What is missing is nowhere to be had, even where all cotangents happen to vanish."""
    for g in (np.exp, lambda w: w):
        with pytest.raises(RepeatedValuesError, match="funm"):
            wg.grad(lambda x, g=g: np.sum(weights * by_vectors(g)(x)))(x)


def test_what_needs_no_rotation_is_right_backwards(x):
    w, v = np.linalg.eigh(x)
    expected = v * np.exp(w) @ v.T
    np.testing.assert_allclose(wg.grad(lambda x: np.trace(by_vectors(np.exp)(x)))(x), expected, atol=1e-11)
    np.testing.assert_allclose(wg.grad(lambda x: np.sum(np.exp(np.linalg.eigh(x)[0])))(x), expected, atol=1e-11)
    log_det = wg.grad(lambda x: np.sum(np.log(3 + np.linalg.eigh(x)[0])))(x)
    np.testing.assert_allclose(log_det, np.linalg.inv(3 * np.eye(len(x)) + x), atol=1e-12)


def test_projection_onto_a_whole_eigenspace():
    x, e, weights = symmetric(1.0, 1.0, 4.0, 4.0), direction(4), a(4, 4)

    def projection(x):
        v = np.linalg.eigh(x)[1][:, :2]
        return v @ v.T

    expected = numerical.jvp(projection, (x,), (e,), method="richardson")
    np.testing.assert_allclose(wg.jvp(projection, (x,), (e,))[1], expected, atol=1e-8)
    gradient = wg.grad(lambda x: np.sum(weights * projection(x)))(x)
    np.testing.assert_allclose(np.sum(gradient * e), np.sum(weights * expected), atol=1e-7)
    with pytest.raises(RepeatedValuesError, match="second"):
        wg.hessian(lambda x: np.sum(weights * projection(x)))(x)


def test_what_depends_on_the_choice_of_vectors_is_refused():
    for g in (lambda x: np.linalg.eigh(x)[1][0, 0], lambda x: np.linalg.svd(x)[0][0, 1]):
        with pytest.raises(RepeatedValuesError):
            wg.grad(g)(np.eye(2))


def test_linear_programs_are_watched_too():
    """A recorded program has vectors in general position: forwards it raises where it would be wrong."""
    J = wg.linearize(by_vectors(np.exp), np.eye(3))[1]
    with pytest.raises(RepeatedValuesError):
        J.push(direction(3))
    total = wg.linearize(lambda x: np.sum(np.exp(np.linalg.eigh(x)[0])), np.eye(3))[1]
    e = direction(3)
    np.testing.assert_allclose(total.push(e), np.e * np.trace(e), rtol=1e-12)


def test_hermitian_matrices():
    x, e = np.eye(3) + 0j, a(3, 3) + 1j * a(3, 3)
    e = e + e.conj().T
    dot = wg.jvp(by_vectors(np.exp), (x,), (e,))[1]
    np.testing.assert_allclose(dot, scipy.linalg.expm_frechet(x, e)[1], rtol=1e-11, atol=1e-12)
    gradient = wg.grad(lambda x: np.real(np.trace(by_vectors(np.exp)(x))))(x)
    np.testing.assert_allclose(gradient, np.e * np.eye(3), atol=1e-13)


def test_single_precision():
    x, e = np.eye(3, dtype=np.float32), direction(3).astype(np.float32)
    dot = wg.jvp(by_vectors(np.exp), (x,), (e,))[1]
    assert dot.dtype == np.float32
    np.testing.assert_allclose(dot, np.e * e, rtol=1e-5)
    assert wg.grad(lambda x: np.sum(np.linalg.eigh(x)[0] ** 2))(x).dtype == np.float32


def test_generalised_eigenvalues():
    """Of (2 b, b) all are 2: their sum is tr(b⁻¹ a)."""
    b = symmetric(1.0, 2.0, 4.0)
    total = lambda a, b: np.sum(scipy.linalg.eigh(a, b)[0])
    found = wg.grad(total, (0, 1))(2 * b, b)
    expected = wg.grad(lambda a, b: np.trace(np.linalg.solve(b, a)), (0, 1))(2 * b, b)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, (y + y.T) / 2, atol=1e-12)


def test_a_stack_of_which_some_are_repeated():
    x = np.stack([np.eye(3), symmetric(1.0, 2.0, 4.0), symmetric(3.0, 3.0, 1.0)])
    gradient = wg.grad(lambda x: np.sum(np.exp(np.linalg.eigh(x)[0])))(x)
    np.testing.assert_allclose(gradient, [f.expm(m) for m in x], atol=1e-11)
    per_example = wg.vmap(wg.grad(lambda x: np.sum(np.exp(np.linalg.eigh(x)[0]))))(x)
    np.testing.assert_allclose(per_example, gradient, atol=1e-12)


def test_eigenvectors_that_are_not_orthogonal():
    with pytest.raises(RepeatedValuesError, match="eigvals"):
        wg.grad(lambda x: np.real(np.sum(np.linalg.eig(x)[1])))(np.eye(2))
    np.testing.assert_allclose(wg.grad(lambda x: np.real(np.sum(np.linalg.eigvals(x) ** 2)))(np.eye(2)), 2 * np.eye(2))


def test_eigenvalues_of_a_matrix_that_cannot_be_diagonalised():
    for x in (np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([1.0, 1.0], 1)):
        with pytest.raises(RepeatedValuesError, match="diagonalised"):
            wg.grad(lambda x: np.real(np.sum(np.linalg.eigvals(x) ** 2)))(x)
        with pytest.raises(RepeatedValuesError):
            wg.jvp(lambda x: np.linalg.eig(x)[1], (x,), (x,))


def test_close_eigenvalues_are_announced():
    x = np.diag([1.0, 1.0 + 1e-12, 3.0])
    with pytest.warns(RuntimeWarning, match="close"):
        wg.grad(lambda x: np.linalg.eigh(x)[1][0, 0])(x)


def test_generic_values_do_not_warn(recwarn):
    check(lambda x: np.linalg.eigh(x + x.T), a(4, 4))
    check(spectra.svd, a(4, 3))
    assert not recwarn.list


# -------------------------------------------------------------------------------------------------- singular vectors

SINGULAR = {
    "identity": np.eye(3),
    "orthogonal": 2 * np.linalg.qr(a(3, 3))[0],
    "pair": np.linalg.qr(a(3, 3))[0] * [2.0, 2.0, 1.0] @ np.linalg.qr(a(3, 3))[0],
    "rank one": np.outer(a(3), a(3)),
    "rank two": np.diag([2.0, 2.0, 0.0]),
    "zero": np.zeros((3, 3)),
    "tall": np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    "tall of rank one": np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
    "wide of rank one": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
}


def reassembled(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * s) @ vh


@pytest.mark.parametrize("name", SINGULAR)
def test_products_of_singular_factors(name):
    """u s vᵀ is the matrix itself, however its values are repeated; backwards it may be refused, never wrong."""
    x = SINGULAR[name]
    e, weights = a(*x.shape), a(*x.shape)
    np.testing.assert_allclose(wg.jvp(reassembled, (x,), (e,))[1], e, atol=1e-13)
    identity = np.eye(x.size).reshape(*x.shape, *x.shape)
    np.testing.assert_allclose(wg.jacfwd(reassembled)(x), identity, atol=1e-13)
    with pytest.raises(RepeatedValuesError):
        wg.grad(lambda x: np.sum(weights * reassembled(x)))(x)


@pytest.mark.parametrize("name", SINGULAR)
def test_functions_of_singular_values(name):
    """Σ s² = |a|², and Σ s⁴ = |aᵀ a|², to second order."""
    x = SINGULAR[name]
    for ours, exact in (
        (lambda x: np.sum(np.linalg.svdvals(x) ** 2), lambda x: np.sum(x**2)),
        (lambda x: np.sum(np.linalg.svdvals(x) ** 4), lambda x: np.sum((x.T @ x) ** 2)),
    ):
        np.testing.assert_allclose(wg.grad(ours)(x), wg.grad(exact)(x), atol=1e-12)
        np.testing.assert_allclose(wg.hessian(ours)(x), wg.hessian(exact)(x), atol=1e-11)
    by_factors = wg.grad(lambda x: np.sum(np.linalg.svd(x, full_matrices=False)[1] ** 2))(x)
    np.testing.assert_allclose(by_factors, 2 * x, atol=1e-13)


@pytest.mark.parametrize("name", ["identity", "orthogonal", "pair", "tall"])
def test_polar_factors_of_repeated_singular_values(name):
    """u vᵀ does not mind, in any mode, to first order."""

    def turned(x):
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return u @ vh

    x = SINGULAR[name]
    e, weights = a(*x.shape), a(*x.shape)
    exact = lambda x: scipy.linalg.polar(x)[0]
    np.testing.assert_allclose(wg.jvp(turned, (x,), (e,))[1], wg.jvp(exact, (x,), (e,))[1], atol=1e-12)
    gradient = wg.grad(lambda x: np.sum(weights * turned(x)))(x)
    np.testing.assert_allclose(gradient, wg.grad(lambda x: np.sum(weights * exact(x)))(x), atol=1e-12)
    with pytest.raises(RepeatedValuesError):
        wg.hessian(lambda x: np.sum(weights * turned(x)))(x)


def test_odd_functions_of_singular_values():
    """u f(s) vᵀ with f = s³ is a aᵀ a."""

    def cubed(x):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return (u * s**3) @ vh

    for x in SINGULAR.values():
        e = a(*x.shape)
        expected = wg.jvp(lambda x: x @ x.T @ x, (x,), (e,))[1]
        np.testing.assert_allclose(wg.jvp(cubed, (x,), (e,))[1], expected, atol=1e-12)


def test_nuclear_norms():
    np.testing.assert_allclose(wg.grad(lambda x: np.linalg.norm(x, "nuc"))(np.diag([3.0, 0.0])), np.diag([1.0, 0.0]))
    for name in ("identity", "orthogonal", "pair", "tall"):
        x = SINGULAR[name]
        expected = scipy.linalg.polar(x)[0]
        for g in (lambda x: np.linalg.norm(x, "nuc"), lambda x: np.sum(np.linalg.svd(x, full_matrices=False)[1])):
            np.testing.assert_allclose(wg.grad(g)(x), expected, atol=1e-13)


def test_complex_singular_values():
    x = np.linalg.qr(a(3, 3) + 1j * a(3, 3))[0]
    e = a(3, 3) + 1j * a(3, 3)
    np.testing.assert_allclose(wg.jvp(reassembled, (x,), (e,))[1], e, atol=1e-13)
    np.testing.assert_allclose(wg.jvp(reassembled, (0 * x,), (e,))[1], e, atol=1e-13)
    gradient = wg.grad(lambda x: np.sum(np.linalg.svd(x)[1] ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * x.conj(), atol=1e-13)


# ------------------------------------------------------------------------------------------------- compiled programs


def test_compiled_programs_keep_watch():
    """The watch is no dead code: its results are used."""
    weights = a(3, 3)
    wrong = lambda x: np.sum(weights * by_vectors(np.exp)(x))
    for compiled in (wg.jit(wg.grad(wrong)), wg.grad(wg.jit(wrong))):
        with pytest.raises(RepeatedValuesError):
            compiled(np.eye(3))
        x = symmetric(1.0, 2.0, 4.0)
        np.testing.assert_allclose(compiled(x), wg.grad(wrong)(x), rtol=1e-10, atol=1e-11)
    right = wg.jit(wg.grad(lambda x: np.trace(by_vectors(np.exp)(x))))
    np.testing.assert_allclose(right(np.eye(3)), np.e * np.eye(3), atol=1e-12)
    total = lambda x: np.sum(np.linalg.eigh(x)[0] ** 3)
    x = symmetric(1.0, 2.0, 4.0)
    np.testing.assert_allclose(wg.jit(wg.hessian(total))(x), wg.hessian(total)(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "values", [np.linalg.eigvalsh, lambda a: np.linalg.svd(a, compute_uv=False)], ids=["eigvalsh", "svdvals"]
)
def test_compiled_derivatives_of_equal_values_are_the_eager_ones(values):
    """Forwards each value has its own derivative along the line, backwards equal ones share theirs."""
    a, e = np.diag([1.0, 1.0, 2.0]), np.array([[1.0, 2.0, 3.0], [2.0, -1.0, 0.5], [3.0, 0.5, 2.0]])
    along = np.append(np.linalg.eigvalsh(e[:2, :2]), 2.0)  # first order perturbation theory
    if values is not np.linalg.eigvalsh:
        along = np.array([2.0, *along[:2]])  # in descending order, but for those that are equal

    def pushed(f, a, e):
        return wg.jvp(f, (a,), (e,))[1]

    for g in (pushed, wg.jit(pushed, static_argnums=0)):
        for function in (values, wg.jit(values)):
            np.testing.assert_allclose(np.sort(g(function, a, e)), np.sort(along), atol=1e-12)

    def weighted(a):
        return values(a) @ np.array([1.0, 5.0, 7.0])

    identity = np.eye(3)
    for function in (weighted, wg.jit(weighted)):
        np.testing.assert_allclose(wg.grad(function)(identity), 13 / 3 * identity, atol=1e-12)
        np.testing.assert_allclose(wg.jit(wg.grad(function))(identity), 13 / 3 * identity, atol=1e-12)
