"""Compiled functions and derivatives travel to other processes: they are compiled anew where they arrive."""

from __future__ import annotations

import linecache
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from interop.transported import decorated, filled, wrapped

import wengert as wg
from wengert import tree

X = np.arange(3.0)


def test_pickle():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    copy = pickle.loads(pickle.dumps(wrapped))
    assert copy is not wrapped
    wrapped(X)
    assert copy(X) == pickle.loads(pickle.dumps(wrapped))(X) == filled(X)


def test_options_travel():
    f = wg.jit(filled, static_argnums=(1,), fallback=True)
    copy = pickle.loads(pickle.dumps(f))
    assert copy.__reduce__()[1][1:] == f.__reduce__()[1][1:]


def test_derivatives_of_named_functions_need_only_pickle():
    operators = [wg.grad, wg.value_and_grad, wg.hessian, wg.jacfwd, wg.jacrev, wg.laplacian, wg.value_grad_and_hessian]
    for operator in [*operators, lambda f: wg.jacfwd(wg.grad(f)), lambda f: wg.vmap(f, out_axes=0)]:
        f = wg.jit(operator(filled))
        copy = pickle.loads(pickle.dumps(f))
        assert copy._f.__name__ == "filled"
        x = X if operator(filled).title != "mapped" else np.ones((2, 3))
        for a, b in zip(tree.leaves(copy(x)), tree.leaves(f(x)), strict=True):
            np.testing.assert_array_equal(a, b)
    for operator in (wg.hvp, wg.grad_and_hvp):
        f = wg.jit(operator(filled))
        for a, b in zip(tree.leaves(pickle.loads(pickle.dumps(f))(X, X)), tree.leaves(f(X, X)), strict=True):
            np.testing.assert_array_equal(a, b)
    f = wg.jit(wg.value_and_grad(wg.jit(filled), argnums=0))
    value, gradient = pickle.loads(pickle.dumps(f))(X)
    assert value == filled(X)
    np.testing.assert_array_equal(gradient, 2 * X)


def test_source_that_lies_in_no_file_travels():
    """As functions of a notebook do: there is source, but the worker cannot read it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    text = "def square(v):\n    return v * v\n\n"
    text += "def f(x):\n    out = np.zeros(3)\n    out[:] = square(x)\n    return np.sum(out)\n"
    name = "<notebook cell 7>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np, "__name__": "__main__"}
    exec(compile(text, name, "exec"), names)
    sent = cloudpickle.dumps(wg.jit(wg.grad(names["f"])))
    del linecache.cache[name]
    np.testing.assert_allclose(pickle.loads(sent)(X), 2 * X)


def test_cloudpickle():
    cloudpickle = pytest.importorskip("cloudpickle")
    k = 3.0

    def local(x):
        out = np.zeros(3)
        for i in range(3):
            out[i] = x[i] ** k
        return np.sum(out)

    for f in (wg.jit(local), wg.grad(local), wg.jit(wg.grad(local)), wg.grad(wg.jit(local)), wg.hessian(local)):
        expected = f(X)
        np.testing.assert_allclose(pickle.loads(cloudpickle.dumps(f))(X), expected)


@pytest.mark.slow
def test_processes():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(wrapped, [X, X + 1])) == [filled(X), filled(X + 1)]
        assert list(pool.map(decorated, [X])) == [decorated(X)]
        np.testing.assert_array_equal(next(pool.map(wg.jit(wg.grad(filled)), [X])), 2 * X)


def test_threads_share_one_compiled_function():
    gradient = wg.jit(wg.grad(filled))
    points = [X + k for k in range(20)]
    with ThreadPoolExecutor(4) as pool:
        for x, g in zip(points, pool.map(gradient, points), strict=True):
            np.testing.assert_allclose(g, 2 * x)


def test_results_speak_dlpack():
    for result in (wg.grad(filled)(X), wg.jit(wg.grad(filled))(X)):
        np.testing.assert_array_equal(np.from_dlpack(result), 2 * X)


class Foreign:
    """An array of a library that speaks DLPack and nothing else."""

    def __init__(self, values):
        self._values = np.array(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


def test_arrays_that_speak_dlpack_are_arguments():
    x = Foreign([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(wg.grad(filled)(x), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(wg.jit(wg.grad(filled))(x), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(wg.grad(lambda p: filled(p["x"]))({"x": x})["x"], [2.0, 4.0, 6.0])
    with pytest.raises(wg.errors.NotDifferentiableInputError):
        wg.grad(filled)(Foreign([1, 2, 3]))
