"""Every operator: which arguments, which containers, which auxiliary data, which types; and whose memory.

The function throughout is built from products, so that every expected derivative can be written down by hand.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.tree import flatten, leaves
from wengert.tree import map as mapped

X = np.array([1.0, 2.0, 3.0])
Y = np.array([0.5, -1.0, 4.0])


def f(x: Any, y: Any, scale: Any = 1.0) -> Any:
    """scale · Σ x²y: gradient 2xy and x², Hessian diag 2y, diag 2x, 0."""
    return scale * np.sum(x * x * y)


def g(x: Any, y: Any, scale: Any = 1.0) -> Any:
    """scale · x²y elementwise."""
    return scale * x * x * y


def with_aux(function: Any) -> Any:
    return lambda *args, **kwargs: (function(*args, **kwargs), {"x": args[0], "note": "aux"})


def same(got: Any, expected: Any) -> None:
    """Equal containers, types of containers, shapes and values."""
    assert type(got) is type(expected) or not isinstance(expected, (tuple, list, dict)), (got, expected)
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            same(got[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            same(a, b)
    else:
        assert np.shape(got) == np.shape(expected), (got, expected)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


# --------------------------------------------------------------------------------------- argnums, aux, keywords

GRADIENTS = {0: 2 * X * Y, 1: X * X, -1: X * X, -2: 2 * X * Y, (0,): (2 * X * Y,), (1, 0): (X * X, 2 * X * Y),
             (0, -1): (2 * X * Y, X * X), np.int64(1): X * X, (np.int32(1),): (X * X,)}  # fmt: skip
HESSIANS = {
    0: np.diag(2 * Y),
    1: np.zeros((3, 3)),
    -1: np.zeros((3, 3)),
    (0,): ((np.diag(2 * Y),),),
    (0, 1): ((np.diag(2 * Y), np.diag(2 * X)), (np.diag(2 * X), np.zeros((3, 3)))),
    (1, 0): ((np.zeros((3, 3)), np.diag(2 * X)), (np.diag(2 * X), np.diag(2 * Y))),
}


@pytest.mark.parametrize("argnums", GRADIENTS, ids=str)
def test_gradients_of_arguments(argnums):
    expected = GRADIENTS[argnums]
    same(wg.grad(f, argnums)(X, Y), expected)
    same(wg.grad(f, argnums=argnums)(X, Y, scale=1.0), expected)
    same(wg.value_and_grad(f, argnums)(X, Y), (f(X, Y), expected))
    same(wg.jacrev(f, argnums)(X, Y), expected)
    same(wg.jacfwd(f, argnums)(X, Y), expected)


def test_argnums_may_be_any_sequence():
    same(wg.grad(f, [1, 0])(X, Y), GRADIENTS[1, 0])
    same(wg.grad(f, range(1))(X, Y), GRADIENTS[0,])


@pytest.mark.parametrize("argnums", HESSIANS, ids=str)
def test_hessians_of_arguments(argnums):
    expected = HESSIANS[argnums]
    gradient = wg.grad(f, argnums)(X, Y)
    same(wg.hessian(f, argnums)(X, Y), expected)
    same(wg.grad_and_hessian(f, argnums)(X, Y), (gradient, expected))
    same(wg.value_grad_and_hessian(f, argnums)(X, Y), (f(X, Y), gradient, expected))


@pytest.mark.parametrize("mode", ["forward-reverse", "reverse-forward", "reverse-reverse"])
def test_hessian_vector_products_of_arguments(mode):
    v, w = np.array([1.0, -1.0, 2.0]), np.array([3.0, 0.5, 1.0])
    same(wg.hvp(f, mode=mode)(X, Y, v), 2 * Y * v)
    same(wg.hvp(f, 1, mode=mode)(X, Y, v), 0 * v)
    both = (2 * Y * v + 2 * X * w, 2 * X * v)
    same(wg.hvp(f, (0, 1), mode=mode)(X, Y, (v, w)), both)
    same(wg.grad_and_hvp(f, (0, 1), mode=mode)(X, Y, (v, w)), ((2 * X * Y, X * X), both))
    same(wg.hvp(f, mode=mode)(X, Y, v, scale=3.0), 6 * Y * v)
    aux = {"x": X, "note": "aux"}
    same(wg.hvp(with_aux(f), mode=mode, has_aux=True)(X, Y, v)[0], 2 * Y * v)
    assert wg.hvp(with_aux(f), mode=mode, has_aux=True)(X, Y, v)[1]["note"] == "aux"
    (gradient, found), product = wg.grad_and_hvp(with_aux(f), mode=mode, has_aux=True)(X, Y, v)
    same(gradient, 2 * X * Y)
    same(product, 2 * Y * v)
    assert found.keys() == aux.keys()
    same(found["x"], X)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_of_arguments(mode):
    same(wg.jacobian(g, 0, mode)(X, Y), np.diag(2 * X * Y))
    same(wg.jacobian(g, -1, mode)(X, Y), np.diag(X * X))
    same(wg.jacobian(g, (1, 0), mode)(X, Y, scale=2.0), (2 * np.diag(X * X), 4 * np.diag(X * Y)))
    same(wg.value_and_jacobian(g, 0, mode)(X, Y), (g(X, Y), np.diag(2 * X * Y)))
    J, aux = wg.jacobian(with_aux(g), 0, mode, has_aux=True)(X, Y)
    same(J, np.diag(2 * X * Y))
    assert aux["note"] == "aux"
    same(aux["x"], X)
    (value, aux), J = wg.value_and_jacobian(with_aux(g), 0, mode, has_aux=True)(X, Y)
    same(value, g(X, Y))
    same(J, np.diag(2 * X * Y))
    same(aux["x"], X)


def test_auxiliary_data_follow_the_conventions_of_jax():
    one = np.ones(3)
    gradient, aux = wg.grad(with_aux(f), has_aux=True)(X, Y)
    same(gradient, 2 * X * Y)
    assert type(aux["x"]) is np.ndarray
    (value, aux), gradient = wg.value_and_grad(with_aux(f), has_aux=True)(X, Y)
    same((value, gradient, aux["x"]), (f(X, Y), 2 * X * Y, X))
    y, y_dot, aux = wg.jvp(with_aux(g), (X, Y), (one, 0 * one), has_aux=True)
    same((y, y_dot, aux["x"]), (g(X, Y), 2 * X * Y, X))
    y, pullback, aux = wg.vjp(with_aux(g), X, Y, has_aux=True)
    same((y, pullback(one), aux["x"]), (g(X, Y), (2 * X * Y, X * X), X))
    y, J, aux = wg.linearize(with_aux(g), X, Y, has_aux=True)
    same((y, J.pull(one), aux["x"]), (g(X, Y), (2 * X * Y, X * X), X))
    H, aux = wg.hessian(with_aux(f), has_aux=True)(X, Y)
    same((H, aux["x"]), (np.diag(2 * Y), X))
    (gradient, aux), H = wg.grad_and_hessian(with_aux(f), has_aux=True)(X, Y)
    same((gradient, H, aux["x"]), (2 * X * Y, np.diag(2 * Y), X))
    (value, aux), gradient, H = wg.value_grad_and_hessian(with_aux(f), has_aux=True)(X, Y)
    same((value, gradient, H, aux["x"]), (f(X, Y), 2 * X * Y, np.diag(2 * Y), X))
    lap, aux = wg.laplacian(with_aux(f), has_aux=True)(X, Y)
    same((lap, aux["x"]), (2 * np.sum(Y), X))
    along, aux = wg.directional(with_aux(f), has_aux=True)(X, Y, one)
    same((along, aux["x"]), (np.sum(2 * X * Y), X))
    slope, aux = wg.derivative(lambda t: (t**3, t), has_aux=True)(2.0)
    assert (slope, aux) == (12.0, 2.0)
    slope, aux = wg.derivative(lambda t: (t**3, t), order=2, has_aux=True)(2.0)
    assert (slope, aux) == (12.0, 2.0)


def test_auxiliary_data_may_be_anything():
    marker = object()
    for aux in (None, (), "text", 3, marker, [marker, None], {"f": len}, np.arange(3)):
        _, got = wg.grad(lambda x: (x**2, aux), has_aux=True)(1.0)  # noqa: B023
        assert got is aux or np.all(got == aux)


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)], ids=str)
def test_directional_and_laplacian(argnums):
    v = np.array([1.0, 0.0, -1.0])
    along = {0: np.sum(2 * X * Y * v), 1: np.sum(X * X * v), (0, 1): np.sum((2 * X * Y + X * X) * v)}[argnums]
    vector = (v, v) if isinstance(argnums, tuple) else v
    same(wg.directional(f, argnums)(X, Y, vector), along)
    same(wg.directional(f, argnums)(X, Y, vector, scale=2.0), 2 * along)
    same(wg.laplacian(f, argnums)(X, Y), {0: 2 * np.sum(Y), 1: 0.0, (0, 1): 2 * np.sum(Y)}[argnums])
    same(wg.laplacian(f, argnums)(X, Y, scale=2.0), {0: 4 * np.sum(Y), 1: 0.0, (0, 1): 4 * np.sum(Y)}[argnums])


def test_derivative_of_chosen_argument():
    assert wg.derivative(lambda a, t, k=1.0: k * a * t**3, argnums=1)(2.0, 3.0, k=5.0) == 5 * 2 * 27
    assert wg.derivative(lambda a, t: a * t**3, order=2, argnums=-1)(2.0, 3.0) == 2 * 6 * 3
    assert wg.derivative(np.sin, order=0) is np.sin
    same(wg.derivative(lambda t: np.stack([t, t**2]))(3.0), np.array([1.0, 6.0]))
    same(wg.derivative(lambda t: {"a": t, "b": (t**2,)})(3.0), {"a": 1.0, "b": (6.0,)})


def test_vector_fields():
    """F = (yz, xyz, x²): div F = xz, curl F = (−xy, y − 2x, yz − z)."""

    def field(p):
        x, y, z = p
        return np.stack([y * z, x * y * z, x * x])

    p = np.array([2.0, 3.0, 5.0])
    x, y, z = p
    same(wg.divergence(field)(p), x * z)
    same(wg.curl(field)(p), np.array([-x * y, y - 2 * x, y * z - z]))
    same(wg.curl_and_divergence(field)(p), (np.array([-x * y, y - 2 * x, y * z - z]), x * z))
    potential = lambda p: np.sin(p[0]) * p[1] ** 2 + np.exp(p[2] * p[0])
    same(wg.curl(wg.grad(potential))(p / 5), np.zeros(3))
    same(wg.divergence(lambda p: wg.curl(field)(p))(p), 0.0)
    same(wg.divergence(wg.grad(potential))(p / 5), wg.laplacian(potential)(p / 5))
    same(wg.divergence(lambda s, p: s * p, argnums=1)(2.0, np.ones(4)), 8.0)


def test_laplacian_of_many_inputs_and_of_arrays(rng):
    """More inputs than are done at once; results of any shape."""
    x = rng.normal(size=150)
    same(wg.laplacian(lambda x: np.sum(x**4))(x), 12 * np.sum(x**2))
    same(wg.laplacian(lambda x: np.stack([np.sum(x**2), np.prod(x[:2])]))(x), np.array([300.0, 0.0]))
    same(wg.laplacian(lambda p: p["a"] ** 2 * np.sum(p["b"] ** 2))({"a": 3.0, "b": np.ones(2)}), 2 * 2 + 2 * 9 * 2)


# ------------------------------------------------------------------------------------------------------- containers

Point = namedtuple("Point", "x y")


@dataclass
class Model:
    weight: Any
    bias: Any
    name: str = field(default="model", metadata={"static": True})


@dataclass(frozen=True)
class Checked:
    value: Any

    def __post_init__(self):
        float(self.value)  # a traced value would refuse


CONTAINERS = {
    "tuple": (2.0, X),
    "list": [2.0, X],
    "dict": {"b": X, "a": 2.0},
    "ordered dict": OrderedDict(b=2.0, a=X),
    "named tuple": Point(2.0, X),
    "dataclass": Model(X, 2.0, "kept"),
    "nested": {"layers": [Model(X, 2.0), Point(3.0, (Y,))], "rest": ()},
    "none": {"a": None, "b": X, "c": [None, 1.0]},
    "matrix and number": (np.ones((2, 2)), 3.0),
    "empty leaf": {"x": X, "none": np.zeros((0, 2))},
}


def cubes(tree: Any) -> Any:
    """Σ x³ over all leaves: gradient 3x², Hessian diag 6x."""
    total = 0.0
    for leaf in leaves(tree):
        total = total + np.sum(leaf**3)
    return total


def assert_same_tree(got: Any, expected: Any) -> None:
    (a, structure), (b, expected_structure) = flatten(got), flatten(expected)
    assert structure == expected_structure
    for x, y in zip(a, b, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers(name):
    p = CONTAINERS[name]
    gradient = mapped(lambda x: 3 * x**2, p)
    ones = mapped(lambda x: np.ones_like(x)[()], p)
    second = mapped(lambda x: 6 * x, p)
    total = sum(np.sum(x) for x in leaves(gradient))
    assert_same_tree(wg.grad(cubes)(p), gradient)
    assert_same_tree(wg.value_and_grad(cubes)(p), (cubes(p), gradient))
    assert_same_tree(wg.grad(lambda a, p: cubes(p), (1, 0))(1.0, p), (gradient, 0.0))
    assert_same_tree(wg.jvp(cubes, (p,), (ones,)), (cubes(p), total))
    assert_same_tree(wg.vjp(cubes, p)[1](1.0), (gradient,))
    assert_same_tree(wg.linearize(cubes, p)[1].pull(1.0), (gradient,))
    assert_same_tree(wg.linearize(cubes, p)[1].push(ones), total)
    assert_same_tree(wg.directional(cubes)(p, ones), total)
    for mode in ("auto", "forward", "reverse"):
        assert_same_tree(wg.jacobian(cubes, mode=mode)(p), gradient)
    for mode in ("forward-reverse", "reverse-forward", "reverse-reverse"):
        assert_same_tree(wg.hvp(cubes, mode=mode)(p, ones), second)
    assert wg.laplacian(cubes)(p) == pytest.approx(sum(np.sum(x) for x in leaves(second)))
    assert wg.linearize(cubes, p)[1].shape == (1, sum(np.size(x) for x in leaves(p)))


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_as_results(name):
    """t ↦ t·p has derivative p, in p's containers; its Jacobian has them outside."""
    p = CONTAINERS[name]
    h = lambda t: mapped(lambda x: t * x, p)
    assert_same_tree(wg.jvp(h, (2.0,), (1.0,)), (h(2.0), p))
    assert_same_tree(wg.derivative(h)(2.0), p)
    for mode in ("auto", "forward", "reverse"):
        assert_same_tree(wg.jacobian(h, mode=mode)(2.0), p)
    ct = mapped(lambda x: np.ones_like(x)[()], p)
    assert_same_tree(wg.vjp(h, 2.0)[1](ct), (sum(np.sum(x) for x in leaves(p)),))
    y, J = wg.linearize(h, 2.0)
    assert_same_tree(y, h(2.0))
    assert_same_tree(J.push(1.0), p)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_have_the_result_outside_and_the_argument_inside(mode):
    def h(p):
        return {"u": p.x * X, "v": [p.y[0] * p.x]}

    J = wg.jacobian(h, mode=mode)(Point(2.0, np.ones((2, 3))))
    assert type(J["u"]) is Point
    same(J["u"].x, X)
    same(J["u"].y, np.zeros((3, 2, 3)))
    same(J["v"][0].x, np.ones(3))
    expected = np.zeros((3, 2, 3))
    expected[:, 0] = 2 * np.eye(3)
    same(J["v"][0].y, expected)


def test_hessians_have_the_containers_twice():
    H = wg.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"]))({"a": 3.0, "b": X})
    same(H["a"]["a"], 2 * np.sum(X))
    same(H["a"]["b"], np.full(3, 6.0))
    same(H["b"]["a"], np.full(3, 6.0))
    same(H["b"]["b"], np.zeros((3, 3)))


def test_static_fields_are_structure():
    gradient = wg.grad(lambda m: np.sum(m.weight) * m.bias if m.name == "kept" else 0.0)(Model(X, 2.0, "kept"))
    assert type(gradient) is Model
    assert gradient.name == "kept"
    same(gradient.weight, np.full(3, 2.0))
    same(gradient.bias, np.sum(X))


def test_dataclasses_are_not_constructed_with_traced_values():
    assert wg.grad(lambda c: c.value**2)(Checked(3.0)).value == 6


def test_none_is_an_empty_container():
    assert wg.grad(lambda x, y: y**2, (0, 1))(None, 3.0) == (None, 6.0)
    assert wg.grad(lambda x, y: y**2)(None, 3.0) is None


# ------------------------------------------------------------------------------------------------------ numbers, types


def test_python_numbers_numpy_numbers_and_0d_arrays():
    for x in (2.0, np.float64(2), np.array(2.0)):
        for got in (
            wg.grad(lambda x: x**3)(x),
            wg.jvp(lambda x: x**3, (x,), (1.0,))[1],
            wg.jvp(lambda x: x**3, (x,), (1,))[1],
            wg.vjp(lambda x: x**3, x)[1](1)[0],
            wg.hessian(lambda x: x**3)(x),
            wg.jacfwd(lambda x: x**3)(x),
            wg.jacrev(lambda x: x**3)(x),
            wg.derivative(lambda x: x**3)(x),
        ):
            assert got == 12
            assert got.shape == ()
            assert got.dtype == np.float64


def test_float32_stays_float32():
    x = X.astype(np.float32)
    y = Y.astype(np.float32)
    one = np.ones(3)
    results = [
        wg.grad(f)(x, y, 2.0),
        wg.value_and_grad(f)(x, y)[0],
        wg.jvp(g, (x, y), (one, one))[1],
        wg.vjp(g, x, y)[1](one)[0],
        wg.jacfwd(g)(x, y),
        wg.jacrev(g)(x, y),
        wg.jacobian(g)(x, y),
        wg.hessian(f)(x, y),
        wg.hvp(f)(x, y, one),
        wg.hvp(f, mode="reverse-forward")(x, y, one),
        wg.hvp(f, mode="reverse-reverse")(x, y, one),
        wg.laplacian(f)(x, y),
        wg.directional(f)(x, y, one),
        wg.linearize(g, x, y)[1] @ np.ones(6, np.float32),
        wg.linearize(g, x, y)[1].T @ np.ones(3, np.float32),
        wg.linearize(g, x, y)[1].dense(),
        wg.derivative(np.sin)(np.float32(1)),
        wg.grad(lambda x: 1.0)(x),
        wg.jacfwd(lambda x: x * 0 + 1)(x),
    ]
    for k, result in enumerate(results):
        assert result.dtype == np.float32, k


def test_mixed_precision_gives_each_argument_its_own():
    gx, gy = wg.grad(lambda x, y: np.sum(x * y), (0, 1))(X.astype(np.float32), Y)
    assert gx.dtype == np.float32
    assert gy.dtype == np.float64


def test_complex_arguments():
    """Re(z²) with the pairing Re(ct · z_dot): the cotangent of z² for ct = 1 is 2z."""
    z = np.array([1 + 2j, -0.5j])
    y, pullback = wg.vjp(lambda z: z * z, z)
    np.testing.assert_allclose(pullback(np.ones(2, complex))[0], 2 * z)
    np.testing.assert_allclose(wg.jvp(lambda z: z * z, (z,), (np.ones(2),))[1], 2 * z)


# ------------------------------------------------------------------------------------------------------------ shapes


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("inner", [(), (3,), (2, 3), (0,), (2, 0), (1, 1, 2)], ids=str)
@pytest.mark.parametrize("outer", [(), (2,), (3, 1), (0,), (0, 2)], ids=str)
def test_shapes_of_jacobians(mode, inner, outer, rng):
    """J of x ↦ C · x, a general linear map of arrays, is C."""
    x, C = rng.normal(size=inner), rng.normal(size=outer + inner)
    h = lambda x: np.sum(C * x, axis=tuple(range(len(outer), C.ndim)))
    J = wg.jacobian(h, mode=mode)(x)
    assert J.shape == outer + inner
    np.testing.assert_allclose(J, C)
    value, J = wg.value_and_jacobian(h, mode=mode)(x)
    assert np.shape(value) == outer
    np.testing.assert_allclose(J, C)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)], ids=str)
def test_empty_arrays(shape):
    x = np.zeros(shape)
    h = lambda x: np.sum(np.exp(x) * x)
    assert wg.grad(h)(x).shape == shape
    assert wg.hessian(h)(x).shape == shape + shape
    assert wg.hvp(h)(x, x).shape == shape
    assert wg.laplacian(h)(x) == 0
    assert wg.jvp(np.exp, (x,), (x,))[1].shape == shape
    assert wg.vjp(np.exp, x)[1](x)[0].shape == shape
    y, J = wg.linearize(np.exp, x)
    assert J.shape == (0, 0)
    assert (J @ np.zeros(0)).shape == (0,)
    assert J.dense().shape == (0, 0)


def test_functions_that_do_not_depend_on_their_argument():
    for constant in (lambda x: 2.0, lambda x: np.float64(2), lambda x: np.sum(np.floor(x)), lambda x: np.sum(Y)):
        same(wg.grad(constant)(X), np.zeros(3))
        same(wg.hessian(constant)(X), np.zeros((3, 3)))
        same(wg.hvp(constant)(X, X), np.zeros(3))
        same(wg.hvp(constant, mode="reverse-forward")(X, X), np.zeros(3))
        same(wg.hvp(constant, mode="reverse-reverse")(X, X), np.zeros(3))
        same(wg.laplacian(constant)(X), 0.0)
        same(wg.jvp(constant, (X,), (X,))[1], 0.0)
        same(wg.jacfwd(constant)(X), np.zeros(3))
        same(wg.jacrev(constant)(X), np.zeros(3))
        same(wg.linearize(constant, X)[1].dense(), np.zeros((1, 3)))
        same(wg.linearize(constant, X)[1] @ X, np.zeros(1))


def test_the_differentiated_function_keeps_its_name():
    for operator in (wg.grad, wg.value_and_grad, wg.jacobian, wg.hessian, wg.hvp, wg.laplacian, wg.directional):
        assert operator(f).__name__ == "f"
        assert operator(f).__doc__ == f.__doc__


# ------------------------------------------------------------------------------------------------------------ memory

LINEAR = {
    "identity": lambda x: x,
    "addition": lambda x: x + 1.0,
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(-1),
    "slice": lambda x: x[:],
    "reversed": lambda x: x[::-1],
    "pair": lambda x: (x, x),
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "sum": lambda x: np.sum(x),
    "large sum": lambda x: np.sum(np.broadcast_to(x, (200, *x.shape)), axis=0),
    "product": lambda x: x * x,
    "real": lambda x: np.real(x),
}


@pytest.mark.parametrize("name", LINEAR)
def test_results_belong_to_the_caller(name):
    """Derivatives can be written to, share memory neither with arguments nor with each other, and arguments stay."""
    h = LINEAR[name]
    x, v = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    y = h(x)
    ct = mapped(lambda y: np.ones_like(y), y)
    given = [x, v, *leaves(ct)]
    before = [a.copy() for a in given]
    scalar = lambda x: sum(np.sum(leaf) for leaf in leaves(h(x)))
    _, J = wg.linearize(h, x)
    results = {
        "jvp": wg.jvp(h, (x,), (v,))[1],
        "vjp": wg.vjp(h, x)[1](ct),
        "grad": wg.grad(scalar)(x),
        "grads": wg.grad(lambda a, b: scalar(a) + scalar(b), (0, 1))(x, v),
        "jacfwd": wg.jacfwd(h)(x),
        "jacrev": wg.jacrev(h)(x),
        "jacobian": wg.jacobian(lambda a, b: h(a + b), (0, 1))(x, v),
        "hvp": wg.hvp(scalar)(x, v),
        "directional": wg.directional(h)(x, v),
        "push": J.push(v),
        "pull": J.pull(ct),
        "J @ v": J @ v.ravel(),
        "J.T @ r": J.T @ np.ones(J.shape[0]),
        "J @ V": J @ np.ones((6, 2)),
        "dense": J.dense(),
    }
    for operator, result in results.items():
        arrays = [leaf for leaf in leaves(result) if isinstance(leaf, np.ndarray)]
        for k, array in enumerate(arrays):
            assert array.flags.writeable, operator
            for other in [*given, *arrays[:k]]:
                assert not np.shares_memory(array, other), operator
        for array in arrays:
            array[...] = np.nan
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_what_is_kept_does_not_change_when_arguments_are_overwritten():
    """J of x² at the point where it was taken, whatever happens to the array afterwards."""
    x = X.copy()
    _, pullback = wg.vjp(lambda x: x * x, x)
    _, J = wg.linearize(lambda x: x * x, x)
    x[:] = np.nan
    same(pullback(np.ones(3))[0], 2 * X)
    same(J @ np.ones(3), 2 * X)
    same(J.dense(), np.diag(2 * X))


@pytest.mark.parametrize("D", [wg.jacfwd, wg.jacrev])
def test_the_same_inside_a_differentiated_function(D):
    """Here the arrays that are overwritten are traced."""

    def kept(x):
        z = x * 1.0
        _, pullback = wg.vjp(lambda z: z * z, z)
        _, J = wg.linearize(lambda z: z * z, z)
        z[0] = 100.0
        return pullback(np.ones(3))[0] + J @ np.ones(3)

    def passed_on(x):
        ct = x * 2.0
        (pulled,) = wg.vjp(lambda z: z + 1, x)[1](ct)
        _, pushed = wg.jvp(lambda z: z + 1, (x,), (ct,))
        ct[0] = 7.0
        pulled[1] = 5.0 * pulled[1]
        return pushed + pulled

    def shared(x):
        a, b = wg.grad(lambda a, b: np.sum(x * (a + b)), (0, 1))(x, x)
        a[0] = 0.0
        return b

    same(D(kept)(X), 4 * np.eye(3))
    same(D(passed_on)(X), np.diag([4.0, 12.0, 4.0]))
    same(D(shared)(X), np.eye(3))


def test_large_broadcast_results_are_writeable():
    """Beyond the size at which broadcasting makes views."""
    x = np.ones(10_000)
    for result in (
        wg.grad(np.sum)(x),
        wg.vjp(lambda x: np.sum(x), x)[1](1.0)[0],
        wg.jacrev(np.sum)(x),
        wg.linearize(np.sum, x)[1].T @ np.ones(1),
        wg.linearize(np.sum, x)[1].pull(1.0)[0],
        wg.derivative(lambda t: np.broadcast_to(t, (10_000,)))(1.0),
    ):
        result[0] = 7.0
        assert result[1] == 1


def test_read_only_arguments():
    x = np.arange(3.0)
    x.flags.writeable = False
    np.testing.assert_array_equal(wg.grad(lambda x: np.sum(x * x))(x), 2 * x)
    np.testing.assert_array_equal(wg.jvp(lambda x: x * x, (x,), (x,))[1], 2 * x * x)


def test_memory_layouts():
    base = np.arange(24.0).reshape(2, 3, 4)
    for x in (base[:, ::2], base.T, np.asfortranarray(base), base[::-1], base[0, 0, 0]):
        np.testing.assert_allclose(wg.grad(lambda x: np.sum(x**2))(x), 2 * x)
        np.testing.assert_allclose(wg.hvp(lambda x: np.sum(x**3))(x, np.ones_like(x)), 6 * x)


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.array, complex])
def test_what_a_result_does_not_depend_on_has_gradient_zero(x, kind):
    """Wherever it is: zero is not made of the argument."""
    for f in (lambda x, y: 5.0 * x, lambda x, y: np.where(np.isnan(y), 0.0, 3.0) * x):
        slope = wg.grad(f, argnums=1)(2.0, kind(x))
        assert slope == 0
        assert np.asarray(slope).dtype == np.asarray(kind(x)).dtype
    assert wg.vjp(lambda y: 5.0, kind(x))[1](1.0)[0] == 0
