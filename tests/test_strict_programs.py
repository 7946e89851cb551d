"""Programs on arrays that refuse NumPy's (`strict_array.py`): constructors, writes and operators follow the values they
meet, and nothing goes from one memory to the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from strict_array import StrictArray, counted, host, strict

import wengert as wg

X = np.array([0.3, 1.2, 0.8, 0.6])


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def filled_one_by_one(x):
    out = np.zeros(4)
    for k in range(4):
        out[k] = np.sin(x[k]) * (k + 1)
    return np.sum(out * x)


def written_in_slices(x):
    u = np.ones(6)
    u[1:-1] = x
    u[0] = x[0] * 2.0
    u[2:4] += x[:2] ** 2
    return np.sum(u[1:] * u[:-1])


def list_of_numbers(x):
    return np.sum(np.array([x[0], x[1] ** 2, 3.0]) * np.array([x[2], 1.0, x[3]]))


def constants_of_floating_type(x):
    return np.sum(np.linspace(0.0, 1.0, 4) * x) + np.sum(np.eye(4) @ x + np.full(4, 2.5) * x**2 + np.tri(4) @ x)


def alike(x):
    y = np.zeros_like(x)
    y[1:] = x[1:] * x[:-1]
    return np.sum((y + np.ones_like(x) + np.full_like(x, 0.5)) ** 2)


def masks(x):
    return np.sum(np.where(x > 0.5, x**2, 0.0)) + np.sum(x[x > 0.4] ** 3) + np.max(x) * np.min(x)


def running_sums(x):
    return np.sum(np.cumsum(x) ** 2) + np.prod(x) + np.sum(np.cumprod(x))


def norms(x):
    return np.linalg.norm(x) + np.std(x) + np.var(x) + np.mean(np.abs(x - 0.4)) + np.log(np.sum(np.exp(x)))


def solved(x):
    a = x[:, None] * x + 4.0 * np.eye(4)
    return np.sum(np.linalg.solve(a, x)) + np.linalg.slogdet(a)[1] + np.trace(np.linalg.inv(a))


def sorted_values(x):
    return np.sum(np.sort(x) * np.arange(4.0)) + np.sum(np.diff(np.sort(x)) ** 2)


def joined(x):
    both = np.concatenate([x, x**2])
    return (
        np.sum(np.stack([both, both[::-1]]) ** 2)
        + np.sum(np.outer(x, x) @ x)
        + np.einsum("i,ij,j", x, np.outer(x, x), x)
    )


def carried(x):
    h = np.zeros(4)
    for _ in range(3):
        h = np.tanh(h + 0.5 * x)
    return np.sum(h) / (1 + np.sum(x))


def transformed(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2) + np.sum(np.real(np.fft.rfft(x)) ** 2)


def reshaped(x):
    return np.sum((x * x).reshape(2, 2).ravel() * np.linspace(1.0, 2.0, 4).reshape(x.shape))


def least_squares(x):
    a = np.outer(x, x) ** 2 + np.eye(4) + 0.1 * x
    return np.sum(np.linalg.lstsq(a[:, :2], x)[0] ** 2) + np.sum(np.linalg.pinv(a) ** 2)


def in_pieces(x):
    return np.sum(np.piecewise(x, [x < 0.7, x >= 0.7], [lambda t: t**2, lambda t: t**3]))


PROGRAMS: list[Callable] = [
    rosenbrock, filled_one_by_one, written_in_slices, list_of_numbers, constants_of_floating_type, alike, masks,
    running_sums, norms, solved, sorted_values, joined, carried, transformed, reshaped,
    in_pieces, least_squares,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_stay_where_the_arguments_are(f):
    v = np.cos(X)
    operators = {
        "grad": lambda x, v: wg.grad(f)(x),
        "jvp": lambda x, v: wg.jvp(f, (x,), (v,))[1],
        "hvp": lambda x, v: wg.hvp(f)(x, v),
        "hessian": lambda x, v: wg.hessian(f)(x),
        "vjp": lambda x, v: wg.vjp(f, x)[1](1.0)[0],
        "per example": lambda x, v: wg.vmap(wg.grad(f))(np.stack([x, v + 1.5])),
    }
    np.testing.assert_allclose(wg.grad(f)(X), wg.numerical.grad(f)(X), rtol=1e-6, atol=1e-7)
    for name, operator in operators.items():
        with counted() as count:
            got = operator(strict(X), strict(v))
            assert count.transfers == 0, name
        np.testing.assert_allclose(host(got), operator(X, v), rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("f", PROGRAMS[:4])
def test_single_precision_stays(f):
    got = wg.grad(f)(strict(X.astype(np.float32)))
    assert got.dtype == np.float32
    np.testing.assert_allclose(host(got), wg.grad(f)(X), rtol=2e-4, atol=1e-4)


def test_jacobians():
    f = lambda x: np.stack([x[0] * x[1], np.sum(x), x[2] ** 3])
    with counted() as count:
        found = [wg.jacobian(f, mode=mode)(strict(X)) for mode in ("auto", "forward", "reverse")]
        y, J = wg.linearize(f, strict(X))
        found.append(J.dense())
        product = J @ strict(X)
        assert count.transfers == 0
    right = wg.jacobian(f)(X)
    for got in found:
        np.testing.assert_allclose(host(got), right)
    np.testing.assert_allclose(host(product), right @ X)


def test_integers_follow_what_they_meet():
    """Numbers of things are wanted by Python, so they are made on the host, and moved where they meet others."""

    def f(x):
        order = np.arange(len(x))
        return np.sum(order * x) + sum(x[k] * int(order[k]) for k in range(len(x)))

    np.testing.assert_allclose(host(wg.grad(f)(strict(X))), 2 * np.arange(4.0))


def test_constants_of_the_host_are_moved():
    A = np.arange(16.0).reshape(4, 4)
    np.testing.assert_allclose(host(wg.grad(lambda x: x @ (A @ x))(strict(X))), (A + A.T) @ X)


def test_numbers_beside_arrays():
    gradient = wg.grad(lambda p: p["b"] * np.sum(p["a"] ** 2))({"a": strict(X), "b": 2.0})
    np.testing.assert_allclose(host(gradient["a"]), 4 * X)
    np.testing.assert_allclose(host(gradient["b"]), X @ X)


def test_arguments_in_two_memories_are_refused():
    with pytest.raises(wg.errors.MismatchError, match="differentiated together"):
        wg.grad(lambda p: np.sum(p["a"] ** 2) + np.sum(p["c"] ** 3))({"a": strict(X), "c": X})


def test_the_witness_is_strict():
    x = strict(X)
    for mixed in (lambda: x + X, lambda: X * x, lambda: np.where(x > 0, x, X), lambda: np.stack([x, X])):
        with pytest.raises(TypeError, match="Unsupported type"):
            mixed()
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)
    with pytest.raises(TypeError, match="unexpected keyword"):
        np.max(x, initial=0)
    assert isinstance(np.sum(x), StrictArray)


def gathered(x, places):
    return np.sum(x[places] ** 2)


def assigned(x, places):
    y = x * 2
    y[places] = 1.0
    return np.sum(y * x)


def added(x, places):
    y = x * 2
    np.add.at(y, places, 1.0)
    return np.sum(y * x)


def taken(x, places):
    return np.sum(np.take(x, places) * 2)


@pytest.mark.parametrize("way", [wg.grad, wg.jit, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
@pytest.mark.parametrize("f", [gathered, assigned, added, taken])
@pytest.mark.parametrize("where", [np.array, strict])
def test_places_outside_of_an_array_are_refused_as_numpy_does(f, way, where):
    g = way(f)
    right = way(f)(X, np.array([0, -4]))
    np.testing.assert_allclose(host(g(strict(X), where(np.array([0, -4])))), right)
    for bad in ([0, 4], [-5, 1]):
        with pytest.raises(IndexError, match=f"index {bad[0] or bad[1]} is out of bounds for axis 0 with size 4"):
            g(strict(X), where(np.array(bad)))


def test_a_place_outside_is_found_in_a_loop_and_along_any_axis():
    def f(x, places):
        total = 0.0
        for k in range(20):
            total = total + np.sum(x[:, places[k]] ** 2) * k
        return total

    x, places = np.arange(12.0).reshape(3, 4), np.tile([0, 3], (20, 1))
    for g in (wg.grad(f), wg.jit(wg.grad(f))):
        np.testing.assert_allclose(host(g(strict(x), strict(places))), wg.grad(f)(x, places))
        bad = places.copy()
        bad[17] = [1, 4]
        with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
            g(strict(x), strict(bad))
