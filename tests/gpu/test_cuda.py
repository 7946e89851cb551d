"""What is run on a real GPU (`make test-gpu`): the walk over all ops and modes, the programs, and compiled kernels.

The same tests run everywhere with arrays that are as strict as CuPy's (`strict_array.py`) and kernels on the processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.on_device import outcomes, useful_program
from fuzz.program import text_of
from op_calls import floats
from test_device_loops import PROGRAMS as LOOPS
from test_device_loops import WAYS
from test_device_math import FUNCTIONS, OF_TWO, points
from test_strict_ops import SMOOTH, as_function, derivatives
from test_strict_programs import PROGRAMS, X

import wengert as wg
from wengert.errors import UnsupportedFunctionError

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except Exception:
    pytest.skip("there is no GPU", allow_module_level=True)


def host(x: Any) -> np.ndarray:
    assert isinstance(x, cupy.ndarray), type(x)
    return cupy.asnumpy(x)


@pytest.mark.parametrize(("name", "c"), SMOOTH)
def test_ops(name, c):
    f, g = as_function(name, c, cupy.asarray), as_function(name, c, None)
    xs = [np.asarray(c.args[k], float) for k in floats(c)]
    ds = [0.3 * np.cos(np.arange(x.size)).reshape(x.shape) for x in xs]
    try:
        found = derivatives(f, [cupy.asarray(x) for x in xs], [cupy.asarray(d) for d in ds])
    except UnsupportedFunctionError as error:
        pytest.skip(str(error).splitlines()[0])
    for got, right in zip(found, derivatives(g, xs, ds), strict=True):
        np.testing.assert_allclose(host(got), right, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("way", ["eager", "compiled", "inside"])
def test_programs(f, way):
    x = cupy.asarray(X)
    derivative = {"eager": wg.grad(f), "compiled": wg.jit(wg.grad(f)), "inside": wg.grad(wg.jit(f))}[way]
    for _ in range(2):
        np.testing.assert_allclose(host(derivative(x)), wg.grad(f)(X), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "args"), LOOPS)
def test_loops(f, args, way):
    g = WAYS[way](f)
    compiled, given = wg.jit(g), [cupy.asarray(x) for x in args]
    tolerance = dict(rtol=2e-5 if args[0].dtype == np.float32 else 1e-11, atol=1e-13)
    for _ in range(3):
        np.testing.assert_allclose(host(compiled(*given)), g(*args), **tolerance)


@pytest.mark.parametrize("start", range(1000, 1200, 20))
def test_random_programs(start):
    failed = runs = 0
    for seed in range(start, start + 20):
        program = useful_program(seed)
        if program is None:
            continue
        found = outcomes(program, cupy.asarray, lambda y: cupy.asnumpy(y) if isinstance(y, cupy.ndarray) else y)
        for way, outcome in found.items():
            assert not outcome.startswith("wrong"), f"seed {seed}, {way}: {outcome}\n{text_of(program)}"
            failed, runs = failed + (outcome != "same"), runs + 1
    assert failed <= 0.25 * runs


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementary_functions(name):
    x = points(name)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(host(wg.jit(FUNCTIONS[name])(cupy.asarray(x))), FUNCTIONS[name](x), rtol=1e-14)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name, rng):
    x, y = np.abs(rng.normal(size=(2, 1000))) * 3
    np.testing.assert_allclose(
        host(wg.jit(OF_TWO[name])(cupy.asarray(x), cupy.asarray(y))), OF_TWO[name](x, y), rtol=1e-14
    )


@pytest.mark.parametrize("n", [1, 255, 256, 257, 100_003, 10_000_019])
def test_reductions(n):
    x = np.random.default_rng(n).normal(size=n)
    there = cupy.asarray(x)
    total = wg.jit(lambda x: np.sum(x * x))
    first = host(total(there))
    np.testing.assert_allclose(first, np.sum(x * x), rtol=1e-13)
    assert all(host(total(there)) == first for _ in range(5))  # the same digits every time
    assert host(wg.jit(np.max)(there)) == x.max()
    assert host(wg.jit(lambda x: np.sum(x > 0))(there)) == np.sum(x > 0)


def test_gradient_of_large_arrays():
    f = lambda x: np.sum(np.sin(x) * np.exp(-x) + np.tanh(x) / (1 + x**2))
    x = np.random.default_rng(0).normal(size=1_000_003)
    np.testing.assert_allclose(host(wg.jit(wg.grad(f))(cupy.asarray(x))), wg.grad(f)(x), rtol=1e-11, atol=1e-12)
    single = wg.jit(wg.grad(f))(cupy.asarray(x.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(host(single), wg.grad(f)(x), rtol=2e-4, atol=2e-5)


def test_other_streams():
    f = wg.jit(lambda x: np.sum(np.exp(x)))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = f(cupy.asarray(X))
        stream.synchronize()
    np.testing.assert_allclose(host(y), np.sum(np.exp(X)), rtol=1e-14)


def test_the_chosen_device():
    f = lambda x: np.sum(np.ones(3) * x)
    with wg.device("cuda"):
        assert isinstance(wg.grad(f)(2.0), cupy.ndarray)
    assert not isinstance(wg.grad(f)(2.0), cupy.ndarray)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_arrays_of_frameworks_stay_where_they_are(library):
    module = pytest.importorskip(library)
    x = module.asarray(X)
    if library == "torch":
        x = x.cuda()
    if x.__dlpack_device__()[0] != 2:
        pytest.skip(f"{library} does not see the GPU")
    for way in (wg.grad, lambda f: wg.jit(wg.grad(f))):
        np.testing.assert_allclose(host(way(lambda x: np.sum(np.sin(x) ** 2))(x)), np.sin(2 * X), rtol=1e-6)
