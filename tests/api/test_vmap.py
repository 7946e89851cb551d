"""`vmap`: a function of one example applied to many is the function applied to each."""

import math

import numpy as np
import pytest
import scipy.special

import wengert as wg
from wengert.errors import ConcretizationError, MismatchError

RNG = np.random.default_rng(7)
N = 6
X = RNG.normal(size=(N, 4))
MATRICES = RNG.normal(size=(N, 4, 5))
INDICES = RNG.integers(-4, 4, size=(N, 3))
POSITIONS = RNG.integers(0, 4, size=N)


def one_by_one(f, *args):
    return np.stack([f(*[a[k] for a in args]) for k in range(N)])


def filled(x):
    """In-place writes: each example has its own."""
    out = np.zeros(4)
    for i in range(4):
        out[i] = x[i] * x[i - 1]
    out[1:3] += x[:2]
    out[[0, 0]] = x[[1, 2]]
    return out


UNARY = {
    "sort": np.sort,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "norm": np.linalg.norm,
    "var": np.var,
    "max": np.max,
    "prod": np.prod,
    "logsumexp": np.logaddexp.reduce,
    "where": lambda x: np.where(x > 0, x, 0.5 * x),
    "clip": lambda x: np.clip(x, -0.5, 0.5),
    "quantile": lambda x: np.quantile(x, 0.3),
    "median": np.median,
    "diff": np.diff,
    "pad": lambda x: np.pad(x, 2, mode="reflect"),
    "convolve": lambda x: np.convolve(x, x),
    "einsum": lambda x: np.einsum("i,j->ij", x, x),
    "interp": lambda x: np.interp(x, np.arange(3.0), np.arange(3.0) ** 2),
    "tril": lambda x: np.tril(np.outer(x, x)),
    "roll": lambda x: np.roll(x, 1),
    "stack": lambda x: np.stack([x, 2 * x]),
    "gradient": np.gradient,
    "kron": lambda x: np.kron(x, x),
    "cross": lambda x: np.cross(x[:3], x[1:]),
    "math": lambda x: x[0] ** 2 + math.sin(x[1]),
    "writes": filled,
    "matmul": lambda x: x @ MATRICES[0],
    "reshape": lambda x: x.reshape(2, 2).T @ x[:2],
    "mask": lambda x: x[np.array([True, False, True, True])],
    "constant": lambda x: np.ones(2),
}


@pytest.mark.parametrize("name", UNARY)
def test_values(name):
    f = UNARY[name]
    np.testing.assert_allclose(wg.vmap(f)(X), one_by_one(f, X), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", UNARY)
def test_gradients_of_each_example(name):
    f = UNARY[name]
    g = wg.grad(lambda x: np.sum(np.sin(f(x))))
    np.testing.assert_allclose(wg.vmap(g)(X), one_by_one(g, X), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", ["writes", "logsumexp", "matmul", "prod", "sort"])
def test_every_operator_under_vmap(name):
    f = UNARY[name]
    scalar = lambda x: np.sum(np.sin(f(x)))
    v = RNG.normal(size=4)
    for g in (
        wg.jacfwd(f),
        wg.jacrev(f),
        wg.hessian(scalar),
        lambda x: wg.hvp(scalar)(x, v),
        lambda x: wg.jvp(f, (x,), (v,))[1],
        wg.laplacian(scalar),
    ):
        np.testing.assert_allclose(wg.vmap(g)(X), one_by_one(g, X), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["writes", "logsumexp", "matmul", "prod", "sort"])
def test_vmap_under_every_operator(name):
    f = UNARY[name]
    mapped = lambda x: np.sum(np.cos(wg.vmap(f)(x)))
    each = lambda x: sum(np.sum(np.cos(f(row))) for row in x)
    np.testing.assert_allclose(wg.grad(mapped)(X), wg.grad(each)(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(wg.jvp(mapped, (X,), (X,))[1], wg.jvp(each, (X,), (X,))[1], rtol=1e-11)
    np.testing.assert_allclose(wg.hvp(mapped)(X, X), wg.hvp(each)(X, X), rtol=1e-10, atol=1e-11)


INDEXED = {
    "x[i]": (lambda x, i: x[i], X, INDICES),
    "x[scalar]": (lambda x, i: x[i], X, POSITIONS),
    "A[i]": (lambda a, i: a[i], MATRICES, INDICES),
    "A[:, i]": (lambda a, i: a[:, i], MATRICES, INDICES),
    "A[i, j]": (lambda a, i, j: a[i, j], MATRICES, INDICES, INDICES),
    "A[i, :, None]": (lambda a, i: a[i, :, None], MATRICES, INDICES),
    "A[None, i]": (lambda a, i: a[None, i], MATRICES, INDICES),
    "A[:, i, None]": (lambda a, i: a[:, i, None], MATRICES, INDICES),
    "A[0, i]": (lambda a, i: a[0, i], MATRICES, INDICES),
    "take": (lambda x, i: np.take_along_axis(x, i, 0), X, INDICES % 4),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_that_differ_between_examples(name):
    f, x, *indices = INDEXED[name]
    np.testing.assert_allclose(wg.vmap(f)(x, *indices), one_by_one(f, x, *indices))
    g = wg.grad(lambda x, *i: np.sum(f(x, *i) ** 2))
    np.testing.assert_allclose(wg.vmap(g)(x, *indices), one_by_one(g, x, *indices))


def test_only_the_index_differs():
    table = RNG.normal(size=5)
    np.testing.assert_array_equal(wg.vmap(lambda t, i: t[i], (None, 0))(table, INDICES), table[INDICES])


def test_axes():
    product = lambda a, b: a * b
    outer = wg.vmap(wg.vmap(product, (None, 0)), (0, None))
    np.testing.assert_allclose(outer(X[0], X[1]), np.outer(X[0], X[1]))
    np.testing.assert_allclose(wg.vmap(np.sum, 1)(X), X.sum(axis=0))
    np.testing.assert_allclose(wg.vmap(np.sum, -1)(X), X.sum(axis=0))
    np.testing.assert_allclose(wg.vmap(lambda x: x, 0, 1)(X), X.T)
    np.testing.assert_allclose(wg.vmap(lambda x: x, 0, -1)(X), X.T)


def test_containers_of_axes():
    def f(x, d):
        return {"a": x * d["shared"], "b": (d["own"], d["shared"])}

    d = {"own": X[:, 0], "shared": X[0]}
    y = wg.vmap(f, (0, {"own": 0, "shared": None}), {"a": 1, "b": (0, None)})(X, d)
    np.testing.assert_allclose(y["a"], (X * X[0]).T)
    np.testing.assert_allclose(y["b"][0], X[:, 0])
    np.testing.assert_allclose(y["b"][1], X[0])


def test_gradients_per_example_add_up_to_the_gradient_of_the_batch():
    y = RNG.normal(size=N)
    loss = lambda w, x, y: (np.tanh(x @ w) - y) ** 2
    w = RNG.normal(size=4)
    each = wg.vmap(wg.grad(loss), (None, 0, 0))(w, X, y)
    assert each.shape == (N, 4)
    whole = wg.grad(lambda w: np.sum((np.tanh(X @ w) - y) ** 2))(w)
    np.testing.assert_allclose(each.sum(axis=0), whole, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wg.vmap(np.dot)(X, X[:3]), "disagree"),
        (lambda: wg.vmap(np.sin, (0, 0))(X), "in_axes has 2 entries"),
        (lambda: wg.vmap(np.sin, None)(X), "no argument has examples"),
        (lambda: wg.vmap(np.sin, 3)(X), "axis 3"),
        (lambda: wg.vmap(np.sin, ({"a": 0},))(X), "does not fit"),
        (lambda: wg.vmap(lambda x: x, 0, None)(X), "differs between examples"),
    ],
)
def test_mismatches(call, message):
    with pytest.raises(MismatchError, match=message):
        call()


def test_derivatives_of_reductions_along_one_vector_for_all_examples():
    """Coefficients differ between the examples and the vector does not: both are of one shape all the same."""
    functions = [scipy.special.logsumexp, scipy.special.softmax, np.max, np.min, np.prod, np.std, np.linalg.norm]
    v = np.array([1.0, -2.0, 0.5, 3.0])

    def along(x):
        return [wg.jvp(f, (x,), (v,))[1] for f in functions]

    def back(x):
        return [wg.vjp(lambda x, f=f: wg.jvp(f, (x,), (v,))[1], x)[1](np.ones(np.shape(f(x))))[0] for f in functions]

    x = np.array([[0.3, 1.0, 2.0, 0.1], [3.0, 1.5, 0.2, 0.7], [5.0, 1.0, 7.0, 6.0]])
    for g in (along, back):
        for transformed in (wg.vmap(g), wg.jit(wg.vmap(g)), wg.vmap(wg.jit(g))):
            for k, found in enumerate(transformed(x)):
                np.testing.assert_allclose(found, [g(row)[k] for row in x], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f", [lambda x: f"{x:.1f}", lambda x: {"v": 2 * x, "name": str(x)}, lambda x: (repr(x), x)])
def test_texts_of_examples(f):
    """Each example has its own; they had that of the batch."""
    x = np.array([1.0, 2.0, 3.0])
    expected = [f(v) for v in x]
    for got in (wg.vmap(f)(x), wg.vmap(wg.jit(f))(x)):
        for k, one in enumerate(expected):
            assert wg.tree.leaves(wg.tree.map(lambda y, k=k: y[k], got)) == wg.tree.leaves(one)
    with pytest.raises(ConcretizationError, match="a text of values that differ"):
        wg.jit(wg.vmap(f))(x)


@pytest.mark.parametrize("f", [lambda x: len(f"{x:.3f}"), lambda x: len(f"{x:.1f} m".split(".")[0]) * x,
                               lambda x: {str(np.float64(-22.25)): x}.get(str(x), 0.0),
                               lambda x: len(repr(x)) * 1.0])  # fmt: skip
def test_numbers_that_texts_of_examples_decide(f):
    x = np.array([1.5, -22.25, 333.0])
    np.testing.assert_array_equal(wg.vmap(f)(x), [f(v) for v in x])
