"""Where kernels are loaded and launched: CUDA through CuPy, which lends the driver, streams and memory.

Each GPU is a device of its own, with kernels of its own: what is loaded for one cannot be launched on another.
`DEVICES` says by the library of the arrays which device an array lies on; tests have some of their own, which run the
same kernels on the processor.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from wengert.backend.gpu import blas
from wengert.backend.gpu.ptx import joins, kept_ptx

_MOST_KERNELS = 4096
_recording = threading.Lock()


@functools.cache
def _driver() -> Any:
    """The library of the driver, which CuPy has loaded."""
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


class _Config(ctypes.Structure):
    """How a kernel is launched, as the driver has it (`CUlaunchConfig`)."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    )  # fmt: skip


class _Now(threading.local):
    """What a thread records: the memory that cuBLAS works with meanwhile, `None` if nothing is recorded."""

    workspace: int | None = None


_now = _Now()


class Cuda:
    """A GPU of CuPy's, by its number."""

    width = 256
    """Threads of a block."""
    lanes = 32
    """Threads that run in step, and can read each other's registers."""

    def __init__(self, cupy: Any, number: int):
        self._cupy, self.number = cupy, number
        self._loaded: dict[str, Callable] = {}
        self.is_alone = cupy.cuda.runtime.getDeviceCount() == 1

    @functools.cached_property
    def blocks(self) -> int:
        """So many blocks at most: enough to keep all processors busy while data come from memory."""
        return 16 * self._cupy.cuda.Device(self.number).attributes["MultiProcessorCount"]

    @functools.cached_property
    def processor(self) -> str:
        return f"sm_{self._cupy.cuda.Device(self.number).compute_capability}"

    @property
    def is_current(self) -> bool:
        """Whether what this thread makes and launches is on this GPU."""
        return self.is_alone or self._cupy.cuda.runtime.getDevice() == self.number

    def current(self) -> AbstractContextManager:
        """Make and launch on this GPU, inside of `with`."""
        return self._cupy.cuda.Device(self.number)

    def load(self, text: str, name: str) -> Callable:
        """A kernel, ready to be launched: `launch(threads, arguments)`. Equal texts are one kernel."""
        found = self._loaded.get(text)
        if found is None:
            if len(self._loaded) >= _MOST_KERNELS:
                self._loaded.clear()
            found = self._loaded[text] = self._load(text, name)
        return found

    def _load(self, text: str, name: str) -> Callable:
        module = self._cupy.cuda.function.Module()
        module.load(kept_ptx(text, self.processor).encode())
        function = module.get_function(name)
        width, fill = self.width, self.lanes if joins(text) else 1

        def blocks(threads: int) -> tuple[int, int]:
            return -(-threads // width), min(width, threads + -threads % fill)

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            # (CuPy passes the module's handle along, so it lives as long as the function does)
            grid, block = blocks(threads)
            function((grid,), (block,), tuple(arguments))

        launch.module, launch.function, launch.blocks = module, function, blocks  # type: ignore[attr-defined]
        return launch

    def start(self, kernel: Callable, threads: int, arguments: Sequence[Any]) -> None:
        """Launch a kernel that was loaded here."""
        kernel(threads, arguments)

    def place_of(self, x: Any) -> int:
        """Where in memory an array begins."""
        return x.data.ptr

    def memory_of(self, x: Any) -> int:
        """The piece of memory that an array lies in, which is that of its views too."""
        return x.data.mem.ptr

    @property
    def is_recording(self) -> bool:
        """Whether this thread's launches are recorded now instead of being run."""
        return _now.workspace is not None

    def multiply(self, x: Any, y: Any, out: Any) -> bool:
        """`out[...] = x @ y`, for matrices of one dtype; whether that was possible."""
        product = blas.product(x, y, out)
        if product is None:
            return False
        stream = self._cupy.cuda.get_current_stream().ptr
        product.run([a.data.ptr for a in (x, y, out)], self.number, stream, _now.workspace)
        return True

    def slow_operand(self, x: Any, y: Any) -> int | None:
        """Which of two operands is better copied before they are multiplied, `None` for neither."""
        return blas.slow_operand(x, y)

    def launcher(self, kernel: Any, threads: int, count: int) -> Callable[[Sequence[int], int], None]:
        """A launch of a kernel with so many operands, which is given where they lie, and the stream. It is no use to
        several threads at a time."""
        driver, function = _driver(), kernel.function
        values = (ctypes.c_uint64 * count)()
        pointers = (ctypes.c_void_p * count)(*[ctypes.addressof(values) + 8 * k for k in range(count)])
        grid, block = kernel.blocks(threads)
        config = _Config((grid, 1, 1), (block, 1, 1))
        start, config_there, handle = driver.cuLaunchKernelEx, ctypes.byref(config), ctypes.c_void_p(function.ptr)

        def launch(places: Sequence[int], stream: int) -> None:
            values[:] = places  # type: ignore[call-overload]
            config.stream = stream
            if start(config_there, handle, pointers, None):
                # In a thread that has done nothing with the device, there is no context: CuPy's way makes one.
                function((grid,), (block,), tuple(places))

        launch.kernel = kernel  # type: ignore[attr-defined]
        return launch

    def multiplier(self, x: Any, y: Any, out: Any) -> Callable[[Sequence[int], int], None]:
        """A product of matrices that lie like these, which is given where they lie, and the stream."""
        product: Any = blas.product(x, y, out)
        return lambda places, stream: product.run(places, self.number, stream, None)

    def repeat_launches(self, steps: Sequence[tuple[Callable, Sequence[int]]], places: Sequence[int]) -> None:
        """Launch kernels and products, whose operands are numbers of places."""
        stream = self._cupy.cuda.get_current_stream().ptr
        for start, operands in steps:
            start([places[k] for k in operands], stream)

    def store(self, place: Any, value: Any) -> None:
        """Write a value, or a number, to where it belongs."""
        place[...] = value

    def record(
        self, args: Sequence[Any], run: Callable[[Sequence[Any]], list[Any]]
    ) -> tuple[list[Any], list[Any], Any]:
        """Record what `run` launches, with operands in memory of its own: where arguments and results are, and the
        graph."""
        cuda, pool = self._cupy.cuda, self._cupy.cuda.MemoryPool()
        stream = cuda.Stream(non_blocking=True)
        with _recording, stream, cuda.using_allocator(pool.malloc):
            places = [self._cupy.empty_like(a) if isinstance(a, self._cupy.ndarray) else a for a in args]
            work = cuda.alloc(blas.WORKSPACE)
            _now.workspace = work.ptr
            stream.begin_capture()
            try:
                results = run(places)
            finally:
                _now.workspace = None
                graph = stream.end_capture()
        free, _ = cuda.runtime.memGetInfo()
        if pool.total_bytes() > free // 2:
            raise MemoryError("a recording would keep most of the memory")
        return places, results, (graph, work, pool, cuda.Event(disable_timing=True))

    def repeat(self, recorded: Any, places: Sequence[Any], args: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Run a recording for arguments that lie as those did. Its memory is in use until it has ended."""
        graph, _, _, event = recorded
        array = self._cupy.ndarray
        stream = self._cupy.cuda.get_current_stream()
        stream.wait_event(event)
        for place, a in zip(places, args, strict=True):
            if isinstance(place, array):
                place[...] = a
        graph.launch(stream)
        found = [r.copy(order="K") if isinstance(r, array) else r for r in results]
        event.record(stream)
        return found

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self._cupy.ndarray(shape, dtype)


DEVICES: dict[str, Callable[[Any], Any]] = {}
"""By the name of the library of an array: the device that it lies on."""


@functools.cache
def _cuda(number: int) -> Cuda:
    return Cuda(importlib.import_module("cupy"), number)


DEVICES["cupy"] = lambda x: _cuda(x.data.device_id)


def device_of(x: Any) -> Any:
    """The device on which an array lies; `None` if there is none for its library."""
    found = DEVICES.get(type(x).__module__.partition(".")[0])
    return None if found is None else found(x)
