"""Several GPUs: each has kernels and constants of its own (`backend/gpu/device.py`), and PTX is kept on disk."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from strict_array import Current, host, strict

import wengert as wg
from wengert import disk
from wengert.backend.gpu import ptx
from wengert.backend.gpu.kernel import write_kernel
from wengert.backend.gpu.launch import usual
from wengert.backend.gpu.plan import DevicePlan
from wengert.errors import DeviceError


@pytest.fixture
def on_each(monkeypatch):
    """Two devices; a function that puts an array on one of them."""
    monkeypatch.setattr(EmulatedDevice, "is_alone", False)

    def put(x, number):
        before, Current.device = Current.device, number
        try:
            return strict(x)
        finally:
            Current.device = before

    return put


WEIGHTS = np.arange(1.0, 6.0)


def weighted(x):
    """A constant of the program, a kernel, and a reduction."""
    return np.sum(np.sin(x) ** 2 * WEIGHTS)


def swept(x):
    u = x * 1.0
    for k in range(12):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) + 0.01 * k
    return np.sum(u**3)


@pytest.mark.parametrize("f", [weighted, swept])
def test_a_function_runs_where_its_argument_lies(rng, on_each, f):
    g = wg.jit(wg.grad(f))
    for number in (0, 1, 0, 1, 1, 0):
        x = rng.normal(size=5)
        y = g(on_each(x, number))
        assert y.device == number
        np.testing.assert_allclose(host(y), wg.grad(f)(x), rtol=1e-12)


def test_one_kernel_on_two_devices(rng, on_each):
    g = wg.jit(lambda x, y: np.exp(x) * y)
    for number in (1, 0, 1):
        x, y = rng.normal(size=(2, 7))
        z = g(on_each(x, number), on_each(y, number))
        assert z.device == number
        np.testing.assert_allclose(host(z), np.exp(x) * y, rtol=1e-14)


def test_arrays_of_one_call_lie_on_one_device(rng, on_each):
    g = wg.jit(lambda x, y: np.exp(x) * y)
    x = rng.normal(size=7)
    g(on_each(x, 0), on_each(x, 0))
    for _ in range(2):
        with pytest.raises(DeviceError, match="array 1 of its arguments lies on device 1, others on device 0"):
            g(on_each(x, 0), on_each(x, 1))


def _kernel(f):
    """The text of the one kernel of a function."""
    x = strict(np.ones(5))
    block = wg.jit(f).lower(x)._found.called
    (region,) = DevicePlan(block, "f", x).steps
    return write_kernel(region, [usual(a) for a in region.inputs], "wg_kernel")


def test_ptx_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", "1")
    monkeypatch.setenv("WENGERT_CACHE_DIR", str(tmp_path / "kept"))
    texts = [_kernel(np.sin), _kernel(np.exp)]
    made = {(text, p): ptx.kept_ptx(text, p) for text in texts for p in ("sm_70", "sm_90")}
    assert len(set(made.values())) == 4
    assert disk.usage()[0] >= 4
    monkeypatch.setattr(ptx, "ptx_of", None)
    assert {key: ptx.kept_ptx(*key) for key in made} == made
