"""Arrays of other libraries: nothing in the core asks for `numpy.ndarray` where NumPy's protocols suffice.

Two witnesses: Dask, whose arrays are lazy (computing one during differentiation is caught), and `Foreign`, an array
class of our own that refuses to become a NumPy array, so that any `np.asarray` in the core would fail. What works
with both works with CuPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

import wengert as wg

A = np.array([[1.0, 0.5, -0.3], [0.2, -1.0, 0.7], [0.1, 0.4, 2.0]])
X = np.array([0.3, 1.2, 0.8])

FUNCTIONS: dict[str, Callable] = {
    "sum of squares": lambda x: np.sum(x * x),
    "linear": lambda x: np.sum(3.0 * x),
    "transcendental": lambda x: np.sum(np.sin(x) * np.exp(-x) + np.log(x) / np.sqrt(x)),
    "power": lambda x: np.sum(x**3 + 2.0**x + x**x),
    "mean": lambda x: np.mean(np.tanh(x)),
    "quadratic form": lambda x: x @ (A @ x),
    "dot": lambda x: np.dot(x, np.sin(x)),
    "outer": lambda x: np.sum(np.cos(x[:, None] * x[None, :])),
    "broadcast": lambda x: np.sum(np.arctan2(x, np.ones((2, 3)))),
    "slices": lambda x: np.sum((x[1:] - x[:-1]) ** 2),
    "elements": lambda x: x[0] * x[1] ** 2 + np.exp(x[-1]),
    "reversed": lambda x: np.sum(x[::-1] * x**2),
    "axis": lambda x: np.sum(np.sum(x[:, None] * x, axis=0) ** 2),
    "reshape": lambda x: np.sum(np.exp(x.reshape(3, 1)) @ x.reshape(1, 3)),
    "transpose": lambda x: np.sum((x[:, None] * A).T @ x),
    "where": lambda x: np.sum(np.where(x > 0.5, x**2, -x)),
    "maximum": lambda x: np.sum(np.maximum(x, 0.5) * np.abs(x - 1)),
    "concatenate": lambda x: np.sum(np.concatenate([x, x**2]) ** 2),
    "stack": lambda x: np.sum(np.stack([x, np.sin(x)]) ** 2),
    "methods": lambda x: (x * x).sum() + (x.T * 2.0).mean(),
}


@cache
def expected(name: str) -> tuple:
    """Gradient, derivative along X, and Hessian times X, over NumPy arrays."""
    f = FUNCTIONS[name]
    return wg.grad(f)(X), wg.jvp(f, (X,), (X,))[1], wg.hvp(f)(X, X)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_expected_values(name):
    """By differences, once, since all else is compared with what NumPy arrays give."""
    f = FUNCTIONS[name]
    np.testing.assert_allclose(expected(name)[0], wg.numerical.grad(f)(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(expected(name)[1], wg.numerical.grad(f)(X) @ X, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(expected(name)[2], wg.numerical.hessian(f)(X) @ X, rtol=1e-4, atol=1e-4)


# --------------------------------------------------------------------------------------------- an array class of ours


class Foreign:
    """An array that speaks NumPy's protocols and nothing else: it never becomes an ndarray by itself."""

    __array_priority__ = 10.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any):
        assert not isinstance(data, Foreign)
        self.data = np.asarray(data)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("this array does not become a NumPy array")

    def __float__(self) -> float:
        raise TypeError("this array does not become a number")

    __int__ = __index__ = __complex__ = __float__  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def ndim(self) -> int:
        return self.data.ndim

    @property
    def size(self) -> int:
        return self.data.size

    @property
    def T(self) -> Foreign:
        return Foreign(self.data.T)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, idx: Any) -> Foreign:
        return Foreign(self.data[_unwrapped(idx)])

    def reshape(self, *shape: Any) -> Foreign:
        return Foreign(self.data.reshape(*shape))

    def astype(self, dtype: Any) -> Foreign:
        return Foreign(self.data.astype(dtype))

    def transpose(self, *axes: Any) -> Foreign:
        return Foreign(self.data.transpose(*axes))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(not isinstance(x, (Foreign, np.ndarray, np.generic, int, float)) for x in inputs):
            return NotImplemented
        return _wrapped(getattr(ufunc, method)(*_unwrapped(inputs), **_unwrapped(kwargs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(not issubclass(kind, (Foreign, np.ndarray)) for kind in types):
            return NotImplemented
        return _wrapped(function(*_unwrapped(args), **_unwrapped(kwargs)))

    def __repr__(self) -> str:
        return f"Foreign({self.data!r})"


def _unwrapped(x: Any) -> Any:
    if isinstance(x, Foreign):
        return x.data
    if isinstance(x, (tuple, list)):
        return type(x)(_unwrapped(item) for item in x)
    return {key: _unwrapped(value) for key, value in x.items()} if isinstance(x, dict) else x


def _wrapped(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)):
        return Foreign(x)
    return type(x)(_wrapped(item) for item in x) if isinstance(x, (tuple, list)) else x


def _operator(ufunc: Any) -> tuple[Callable, Callable]:
    def knows(x: Any) -> bool:
        return isinstance(x, (Foreign, np.ndarray, np.generic, int, float))

    return (
        lambda self, other: ufunc(self, other) if knows(other) else NotImplemented,
        lambda self, other: ufunc(other, self) if knows(other) else NotImplemented,
    )


for _name, _ufunc in [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide),
                      ("pow", np.power), ("matmul", np.matmul)]:  # fmt: skip
    _forward, _reflected = _operator(_ufunc)
    setattr(Foreign, f"__{_name}__", _forward)
    setattr(Foreign, f"__r{_name}__", _reflected)
for _name, _ufunc in [("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal),
                      ("eq", np.equal), ("ne", np.not_equal)]:  # fmt: skip
    setattr(Foreign, f"__{_name}__", _operator(_ufunc)[0])
Foreign.__neg__ = lambda self: np.negative(self)  # type: ignore[attr-defined]


def assert_foreign(got: Any, expected: Any) -> None:
    assert type(got) is Foreign
    assert got.shape == np.shape(expected)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got.data, expected, rtol=1e-12, atol=1e-13)


def test_the_witness_refuses_conversion():
    for convert in (np.asarray, np.array, float, lambda x: np.ones(3).__setitem__(0, x)):
        with pytest.raises((TypeError, ValueError)):
            convert(Foreign(1.0))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_reverse(name):
    f, x = FUNCTIONS[name], Foreign(X)
    assert_foreign(wg.grad(f)(x), expected(name)[0])
    value, gradient = wg.value_and_grad(f)(x)
    assert_foreign(value, FUNCTIONS[name](X))
    assert_foreign(gradient, expected(name)[0])
    y, pullback = wg.vjp(f, x)
    assert_foreign(pullback(Foreign(2.0))[0], 2 * expected(name)[0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward(name):
    y, y_dot = wg.jvp(FUNCTIONS[name], (Foreign(X),), (Foreign(X),))
    assert_foreign(y, FUNCTIONS[name](X))
    assert_foreign(y_dot, expected(name)[1])


@pytest.mark.parametrize("mode", ["forward-reverse", "reverse-forward", "reverse-reverse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_order(name, mode):
    assert_foreign(wg.hvp(FUNCTIONS[name], mode=mode)(Foreign(X), Foreign(X)), expected(name)[2])


def test_functions_without_influence():
    """Zeros come in the array class of the argument."""
    assert_foreign(wg.grad(lambda x: 1.0)(Foreign(X)), np.zeros(3))
    assert_foreign(wg.grad(lambda x, y: np.sum(x), (0, 1))(Foreign(X), Foreign(X))[1], np.zeros(3))
    assert_foreign(wg.hvp(lambda x: np.sum(x))(Foreign(X), Foreign(X)), np.zeros(3))


def test_foreign_arrays_in_containers_and_beside_numpy():
    p = {"a": Foreign(X), "b": X, "c": 2.0}
    gradient = wg.grad(lambda p: p["c"] * np.sum(p["a"] * p["b"] ** 2))(p)
    assert_foreign(gradient["a"], 2 * X**2)


def test_single_precision_stays():
    gradient = wg.grad(lambda x: np.sum(np.sin(x) * 2.0))(Foreign(X.astype(np.float32)))
    assert type(gradient) is Foreign
    assert gradient.dtype == np.float32


def test_rules_of_the_users_own():
    sine = wg.custom_vjp(lambda x: np.sin(x))
    sine.defvjp(lambda x: (np.sin(x), x), lambda x, bar: (np.cos(x) * bar,))
    assert_foreign(wg.grad(lambda x: np.sum(sine(x)))(Foreign(X)), np.cos(X))
    assert_foreign(wg.jvp(lambda x: np.sum(sine(x)), (Foreign(X),), (Foreign(X),))[1], np.sum(np.cos(X) * X))


# --------------------------------------------------------------------------------------------------------------- Dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@contextmanager
def nothing_is_computed() -> Iterator[None]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=refuse):
        yield


def test_the_witness_refuses_to_compute():
    with nothing_is_computed(), pytest.raises(AssertionError, match="computed"):
        da.from_array(X, chunks=2).sum().compute()


def assert_lazy(got: Any, shape: tuple[int, ...]) -> None:
    assert isinstance(got, da.Array)
    assert got.shape == shape


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dask_gradients_are_lazy_and_right(name):
    f, x = FUNCTIONS[name], da.from_array(X, chunks=2)
    with nothing_is_computed():
        gradient, along, product = wg.grad(f)(x), wg.jvp(f, (x,), (x,))[1], wg.hvp(f)(x, x)
        pulled = wg.vjp(f, x)[1](1.0)[0]
    assert_lazy(gradient, (3,))
    assert_lazy(along, ())
    assert_lazy(product, (3,))
    assert_lazy(pulled, (3,))
    with dask.config.set(scheduler="synchronous"):
        gradient, along, product, pulled = dask.compute(gradient, along, product, pulled)
    for got, right in zip((gradient, along, product), expected(name), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(pulled, gradient)


@pytest.mark.slow
def test_dask_on_a_local_cluster(rng):
    distributed = pytest.importorskip("distributed")
    data, w = rng.normal(size=(1000, 5)), rng.normal(size=5)

    def loss(w, data):
        return np.mean(np.log1p(np.exp(-(data @ w))))

    right = wg.grad(loss)(w, data)
    s = 1 / (1 + np.exp(data @ w))
    np.testing.assert_allclose(right, -(s @ data) / len(data))
    client = distributed.Client(processes=False, dashboard_address=None, n_workers=1, threads_per_worker=2)
    with client:
        rows = da.from_array(data, chunks=(250, 5))
        gradient = wg.grad(loss)(da.from_array(w, chunks=5), rows)
        product = wg.hvp(loss)(da.from_array(w, chunks=5), rows, da.from_array(w, chunks=5))
        assert isinstance(gradient, da.Array)
        np.testing.assert_allclose(client.compute(gradient).result(), right)
        np.testing.assert_allclose(client.compute(product).result(), wg.hvp(loss)(w, data, w))
        # data in chunks, parameters in memory
        small = wg.grad(loss)(w, rows)
        np.testing.assert_allclose(client.compute(small).result() if isinstance(small, da.Array) else small, right)
    client.cluster.close()


class OnlyDLPack:
    """As arrays of JAX: with a shape and a dtype, without NumPy's protocols; a copy would go through `__array__`."""

    def __init__(self, values):
        self._values = values
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()

    def __array__(self, *args, **kwargs):
        raise AssertionError("it was copied")


def test_arrays_that_speak_dlpack_are_read_in_their_memory():
    x = np.array([0.1, 0.5, 0.9])
    f = lambda x: np.sum(np.sin(x) ** 2)
    for way in (wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))):
        np.testing.assert_allclose(way(f)(OnlyDLPack(x)), np.sin(2 * x), rtol=1e-14)
    assert wg.jit(f)(OnlyDLPack(x)) == pytest.approx(f(x))
