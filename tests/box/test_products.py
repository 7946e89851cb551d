"""Products, contractions, norms, convolutions and polynomials: NumPy's values, and derivatives in every mode."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from harness import by_numpy_alone, check
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert.errors import InPlaceError

RNG = np.random.default_rng(7)


def a(*shape):
    return RNG.normal(size=shape)


def complex_check(f, *args):
    """Directional derivative of a function of complex arrays, and Re(ct · J v) = Re(Jᵀ ct · v)."""
    rng = np.random.default_rng(1)
    args = [x + 1j * rng.normal(size=x.shape) for x in args]
    plain = by_numpy_alone(f, *args)
    vs = [rng.normal(size=x.shape) + 1j * rng.normal(size=x.shape) for x in args]
    y, y_dot = wg.jvp(f, args, vs)
    plus, minus = [f(*[x + h * v for x, v in zip(args, vs, strict=True)]) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(y, plain, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(y_dot, (plus - minus) / 2e-6, rtol=1e-6, atol=1e-7)
    ct = np.asarray(rng.normal(size=y.shape) + (1j * rng.normal(size=y.shape) if np.iscomplexobj(y) else 0))
    bars = wg.vjp(f, *args)[1](ct)
    np.testing.assert_allclose(
        np.sum(np.real(ct * y_dot)), sum(np.sum(np.real(b * v)) for b, v in zip(bars, vs, strict=True)), rtol=1e-11
    )


PAIRS = {
    np.dot: [((), ()), ((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
             ((2, 2, 3), (3,)), ((2, 2, 3), (3, 2)), ((3,), (2, 3, 2)), ((2, 3), (2, 3, 2)), ((0,), (0,)),
             ((2, 0), (0, 3))],
    np.matmul: [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3,)), ((2, 2, 3), (3, 2)),
                ((3,), (2, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)), ((2, 3), (2, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3))],
    np.vdot: [((3,), (3,)), ((2, 3), (2, 3)), ((), ())],
    np.inner: [((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 3), (2, 2, 3)), ((2, 2, 3), (4, 3))],
    np.outer: [((), ()), ((2,), (3,)), ((2, 2), (3,))],
    np.vecdot: [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))],
    np.kron: [((), (2,)), ((2,), (3,)), ((2, 2), (2, 3)), ((2,), (2, 3)), ((2, 1, 2), (2, 2))],
    np.cross: [((3,), (3,)), ((2, 3), (3,)), ((4, 1, 3), (2, 3))],
    np.linalg.matmul: [((2, 3), (3, 2))],
    np.linalg.outer: [((2,), (3,))],
    np.linalg.cross: [((2, 3), (2, 3))],
    np.linalg.vecdot: [((2, 3), (2, 3))],
    np.linalg.tensordot: [((2, 3, 4), (3, 4, 2))],
}  # fmt: skip


@pytest.mark.parametrize(("f", "shapes"), [(f, s) for f, pairs in PAIRS.items() for s in pairs],
                         ids=lambda x: getattr(x, "__name__", str(x)))  # fmt: skip
def test_pairs(f, shapes):
    check_pair(f, shapes)


def check_pair(f, shapes):
    x, y = a(*shapes[0]), a(*shapes[1])
    check(f, x, y)
    check(lambda x: f(x, y), x, second=False)
    check(lambda y: f(x, y), y, second=False)


@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((4, 2, 3), (3,)), ((2, 3), (4, 3)), ((4, 2, 3), (4, 3))], ids=str)
def test_matvec(shapes):
    check_pair(lambda x, y: np.matvec(x, y), shapes)


@pytest.mark.parametrize("shapes", [((3,), (3, 2)), ((4, 3), (3, 2)), ((3,), (4, 3, 2)), ((4, 3), (4, 3, 2))], ids=str)
def test_vecmat(shapes):
    check_pair(lambda x, y: np.vecmat(x, y), shapes)


@pytest.mark.parametrize("f", [np.dot, np.matmul, np.vdot, np.inner, np.outer, np.vecdot, np.kron, np.convolve])
def test_complex_pairs(f):
    complex_check(f, a(3), a(3))


def test_complex_matvec_and_vecmat():
    complex_check(lambda x, y: np.matvec(x, y), a(2, 3), a(3))
    complex_check(lambda x, y: np.vecmat(x, y), a(3), a(3, 2))


def test_complex_matrix_products():
    complex_check(lambda x, y: np.einsum("ij,kj->ik", x, y), a(2, 3), a(2, 3))
    complex_check(np.trace, a(3, 3))
    complex_check(lambda x, y: np.correlate(x, y, "full"), a(4), a(2))
    complex_check(lambda x, y: np.correlate(x, y, "same"), a(2), a(5))
    # A real factor beside a complex one gets a real cotangent.
    z = a(3) + 1j * a(3)
    assert wg.grad(lambda x: np.abs(np.dot(x, z)))(a(3)).dtype == np.float64


@pytest.mark.parametrize("name", ["matmul", "vecdot", "matvec", "vecmat"])
def test_scalars_are_refused_as_by_numpy(name):
    f = by_numpy_alone(getattr, np, name)
    with pytest.raises(ValueError):
        wg.jvp(lambda x: f(x, np.ones((2, 2))), (1.0,), (1.0,))
    with pytest.raises(ValueError):
        wg.jvp(lambda x: f(np.ones((2, 2)), x), (1.0,), (1.0,))


def test_sequences_with_traced_values():
    check(lambda x: np.dot([1.0, 2.0], x) + np.dot([[x[0], 3.0], [1.0, x[1]]], x), a(2))
    check(lambda x: [1.0, 2.0] @ x, a(2))


def test_axes_of_cross_and_vecdot():
    x, y = a(3, 2), a(3, 2)
    check(lambda x, y: np.cross(x, y, axis=0), x, y)
    check(lambda x, y: np.cross(x, y, axisa=0, axisb=0, axisc=-1), x, y)
    check(lambda x, y: np.cross(x, y, axisa=0, axisb=0, axisc=0), x, y)
    check(lambda x, y: np.vecdot(x, y, axis=0), x, y)
    check(lambda x, y: np.vecdot(x, y, axis=0, keepdims=True), x, y)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), (3,)), ((3,), (2,)), ((4, 2), (3,))])
def test_cross_in_the_plane(shapes):
    """As long as NumPy has it."""
    x, y = a(*shapes[0]), a(*shapes[1])
    try:
        np.cross(x, y)
    except ValueError as error:
        for f in (np.cross, wg.jit(np.cross)):
            with pytest.raises(ValueError, match=re.escape(str(error))):
                wg.jacobian(f)(x, y)
    else:
        check(np.cross, x, y)


@pytest.mark.parametrize(("shapes", "axes"), [
    (((2, 3, 4), (3, 4, 2)), 2), (((2, 3), (4,)), 0), (((2, 3), (3, 4)), 1), (((2, 3, 4), (4, 3)), ([1, 2], [1, 0])),
    (((2, 3, 4), (4, 3)), ([-2], [-1])), (((2, 3), (3, 2)), (0, 1)), (((), ()), 0), (((2, 0), (0, 3)), 1),
])  # fmt: skip
def test_tensordot(shapes, axes):
    check(lambda x, y: np.tensordot(x, y, axes=axes), a(*shapes[0]), a(*shapes[1]))


@pytest.mark.parametrize(("f", "shape"), [
    (np.trace, (3, 3)), (lambda x: np.trace(x, 1), (3, 4)), (lambda x: np.trace(x, -1, 1, 2), (2, 3, 4)),
    (lambda x: np.trace(x, offset=-2), (4, 2)), (lambda x: np.trace(x, 5), (3, 3)),
    (np.linalg.trace, (2, 3, 3)), (np.linalg.diagonal, (2, 3, 4)), (lambda x: np.linalg.diagonal(x, offset=1), (3, 3)),
    (np.linalg.matrix_transpose, (2, 3, 4)), (lambda x: np.linalg.matrix_power(x, 5), (2, 2)),
    (lambda x: np.linalg.matrix_power(x, 3), (2, 2, 2)), (lambda x: np.linalg.matrix_power(x, 1), (2, 2)),
    (lambda x: np.linalg.matrix_power(x, 0) * x[0, 0], (2, 2)), (lambda x: np.trace(x, -5), (3, 3)),
])  # fmt: skip
def test_square_and_other_matrices(f, shape):
    check(f, a(*shape))


def test_trace_in_another_precision():
    x = np.ones((2, 2), np.float32)
    y, y_dot = wg.jvp(lambda x: np.trace(x, dtype=np.float64), (x,), (x,))
    assert y.dtype == y_dot.dtype == np.float64


def test_multi_dot():
    check(lambda *xs: np.linalg.multi_dot(xs), a(2, 5), a(5, 3), a(3, 4), a(4, 2))
    check(lambda *xs: np.linalg.multi_dot(xs), a(3), a(3, 4), a(4))
    check(lambda x, y: np.linalg.multi_dot([x, y]), a(2, 3), a(3, 2))


# --------------------------------------------------------------------------------------------------------------- einsum


@pytest.mark.parametrize(("expression", "shapes"), [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ba", [(2, 3)]), ("ij->", [(2, 3)]),
    ("i->i", [(3,)]), ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("iij->ji", [(2, 2, 3)]), ("iii->i", [(3, 3, 3)]),
    ("ijij->ij", [(2, 3, 2, 3)]),
    ("...ij,...jk->...ik", [(2, 2, 3), (3, 4)]), ("...i,...i", [(2, 3), (3,)]), ("i...->...", [(3, 2, 2)]),
    ("...", [(2, 3)]), ("...,...", [(2, 1), (3,)]), ("ij,kj,kl->il", [(2, 3), (4, 3), (4, 2)]),
    (",ij->ji", [(), (2, 3)]),
    ("i,j,k->kji", [(2,), (3,), (2,)]), ("ij,ij->i", [(2, 1), (2, 3)]), ("ij,ij->ij", [(1, 3), (2, 1)]),
    ("i,i", [(1,), (3,)]),
    ("i,j->", [(2,), (3,)]), ("i,->i", [(2,), ()]), ("ij->j", [(0, 3)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]), (" i j , j -> i ", [(2, 3), (3,)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 2), (2, 2, 2, 2)]), ("a...a->...", [(2, 3, 2)]),
    ("i...,i...->...", [(3, 1, 2), (3, 2)]),
    ("ijj,jk->k", [(2, 3, 3), (3, 2)]), ("ij,ij", [(1, 1), (1, 1)]), ("ij->ij", [(1, 1)]), ("Ab,bA", [(2, 3), (3, 2)]),
], ids=str)  # fmt: skip
def test_einsum(expression, shapes):
    xs = [a(*shape) for shape in shapes]
    check(lambda *xs: np.einsum(expression, *xs), *xs)
    check(lambda *xs: np.einsum(expression, *xs, optimize=True), *xs, second=False)
    check(lambda x: np.einsum(expression, x, *xs[1:]), xs[0], second=False)


def test_einsum_of_one_array_several_times():
    check(lambda x: np.einsum("ij,jk,ki", x, x, x), a(3, 3))
    check(lambda x: np.einsum("i,i,i,i->i", x, x, x, np.ones(2)), a(2))


def test_einsum_with_lists_of_axes():
    x, y = a(2, 3), a(3)
    check(lambda x, y: np.einsum(x, [0, 1], y, [1], [0]), x, y)
    check(lambda x, y: np.einsum(x, [0, 1], y, [1]), x, y)
    check(lambda x: np.einsum(x, [Ellipsis, 7], [7, Ellipsis]), a(2, 2, 3))
    check(lambda x: np.einsum(x, [5, 5]), a(3, 3))


def test_einsum_options_and_errors():
    x = a(2, 3)
    y = wg.jvp(lambda x: np.einsum("ij->i", x.astype(np.float32), dtype=np.float64), (x,), (x,))[1]
    assert y.dtype == np.float64
    for bad in ("ij,jk->ik", "i->i", "ij->k", "ij->ii", "ij$->i"):
        with pytest.raises(ValueError):
            np.einsum(bad, x)
        with pytest.raises(ValueError):
            wg.jvp(lambda x, bad=bad: np.einsum(bad, x), (x,), (x,))
    plain = np.zeros(2)
    with pytest.raises(InPlaceError, match="out="):
        wg.jvp(lambda x: np.einsum("ij->i", x, out=plain), (x,), (x,))
    assert not np.any(plain)
    paths = []
    wg.jvp(lambda x: [paths.append(np.einsum_path("ij,jk,kl->il", x, x.T, x)), x][1], (x,), (x,))
    assert paths[0][0] == np.einsum_path("ij,jk,kl->il", x, x.T, x)[0]


@given(st.data())
def test_any_einsum(data):
    letters = "abcd"
    sizes = {c: data.draw(st.integers(1, 3)) for c in letters}
    terms = data.draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    output = (
        "".join(data.draw(st.permutations(data.draw(st.lists(st.sampled_from(used), unique=True))))) if used else ""
    )
    xs = [a(*[sizes[c] for c in term]) for term in terms]
    check(lambda *xs: np.einsum(",".join(terms) + "->" + output, *xs), *xs, second=False)


# ---------------------------------------------------------------------------------------------------------------- norms


@pytest.mark.parametrize("order", [None, 2, 1, math.inf, -math.inf, 3, 4, 2.5, 0.5, -1, -2.0, 0])
def test_vector_norms(order):
    x = a(2, 4)
    check(lambda x: np.linalg.norm(x, order, axis=1), x)
    check(lambda x: np.linalg.norm(x, order), x[0])
    check(lambda x: np.linalg.norm(x, order, axis=0, keepdims=True), x, second=False)
    if order is not None:
        check(lambda x: np.linalg.vector_norm(x, ord=order), x)
        complex_check(lambda x: np.linalg.norm(x, order), x[1])


@pytest.mark.parametrize("order", [None, "fro", 1, -1, math.inf, -math.inf])
def test_matrix_norms(order):
    check(lambda x: np.linalg.norm(x, order), a(2, 3))
    check(lambda x: np.linalg.norm(x, order, axis=(2, 0)), a(2, 2, 3))
    check(lambda x: np.linalg.norm(x, order, axis=(-1, 0), keepdims=True), a(2, 2, 3), second=False)
    check(lambda x: np.linalg.matrix_norm(x, ord=order or "fro"), a(2, 2, 3), second=False)
    complex_check(lambda x: np.linalg.norm(x, order), a(2, 3))


def test_norm_of_any_rank():
    check(np.linalg.norm, a(2, 2, 3))
    check(lambda x: np.linalg.norm(x, keepdims=True), a(2, 2, 3), second=False)
    check(np.linalg.norm, a(0))
    assert wg.grad(np.linalg.norm)(-2.0) == -1.0


@pytest.mark.parametrize("order", [2, 3, 1, 4.0])
def test_norm_at_zero_has_the_subgradient_of_least_norm(order):
    x = np.zeros(3)
    np.testing.assert_array_equal(wg.grad(lambda x: np.linalg.norm(x, order))(x), x)
    np.testing.assert_array_equal(wg.jvp(lambda x: np.linalg.norm(x, order), (x,), (x + 1,))[1], 0.0)


def test_norm_is_smooth_where_one_component_is_zero():
    hessian_entry = wg.grad(lambda x: wg.grad(lambda x: np.linalg.norm(x))(x)[1])(np.array([2.0, 0.0]))[1]
    assert hessian_entry == 0.5
    z = np.array([2.0 + 0j, 0.0])
    e1 = np.array([0, 1.0 + 0j])
    assert wg.jvp(lambda z: wg.jvp(np.linalg.norm, (z,), (e1,))[1], (z,), (e1,))[1] == 0.5


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-310])
def test_norm_of_huge_and_tiny_numbers(scale):
    value, gradient = wg.value_and_grad(np.linalg.norm)(np.array([3.0, 4.0]) * scale)
    assert value == pytest.approx(5 * scale, rel=1e-12)
    np.testing.assert_allclose(gradient, [0.6, 0.8], rtol=1e-12)


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms_that_need_singular_values(order):
    check(lambda x: np.linalg.norm(x, order), a(3, 2))
    check(lambda x: np.linalg.norm(x, order, axis=(2, 0), keepdims=True), a(3, 2, 2))
    check(lambda x: np.linalg.matrix_norm(x, ord=order), a(2, 3, 3))


# ----------------------------------------------------------------------------------------- convolution and polynomials


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 2), (5, 3), (2, 5), (3, 5), (4, 4), (1, 3), (1, 1), (6, 4), (4, 6)])
def test_convolve_and_correlate(mode, sizes):
    x, y = a(sizes[0]), a(sizes[1])
    check(lambda x, y: np.convolve(x, y, mode), x, y)
    check(lambda x, y: np.correlate(x, y, mode), x, y)


def test_convolution_with_a_constant():
    x, y = a(5), a(3)
    check(lambda x: np.convolve(x, y), x)
    check(lambda y: np.convolve(x, y, "same"), y)
    check(lambda x: np.convolve(x, [1, 2]), x)
    check(lambda x: np.correlate(x, x), x)
    check(lambda x: np.convolve(x, x), a())
    with pytest.raises(ValueError):
        wg.jvp(lambda x: np.convolve(x, []), (x,), (x,))
    with pytest.raises(ValueError):
        wg.jvp(lambda x: np.convolve(x, x, "round"), (x,), (x,))


def test_polynomials():
    p, q = a(4), a(2)
    check(np.polyval, p, a(2, 3))
    check(np.polyval, p, a())
    check(lambda x: np.polyval([1, 2, 3], x), a(3))
    check(lambda p: np.polyval(p, 2), p)
    check(lambda x: np.polyval([x[0], 2.0, x[1]], x[2]), a(3))
    check(np.polyadd, p, q)
    check(np.polysub, q, p)
    check(np.polymul, p, q)
    check(lambda p: np.polyder(p, 2), p)
    check(np.polyder, q)
    check(lambda p: np.polyint(p, 2, [1.0, 2.0]), p)
    check(lambda p, k: np.polyint(p, 1, k), p, a())
    check(np.vander, a(3))
    check(lambda x: np.vander(x, 4, increasing=True), a(3))
