"""Where kernels are loaded and launched: CUDA through CuPy, which lends the driver, streams and memory.

Each GPU is a device of its own, with kernels of its own: what is loaded for one cannot be launched on another.
`DEVICES` says by the library of the arrays which device an array lies on; tests have some of their own, which run the
same kernels on the processor.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from wengert.backend.gpu import blas
from wengert.backend.gpu.ptx import joins, kept_ptx

_MOST_KERNELS = 4096
_recording = threading.Lock()


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

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            # (CuPy passes the module's handle along, so it lives as long as the function does)
            function((-(-threads // width),), (min(width, threads + -threads % fill),), tuple(arguments))

        launch.module = module  # type: ignore[attr-defined]
        return launch

    def start(self, kernel: Callable, threads: int, arguments: Sequence[Any]) -> None:
        """Launch a kernel that was loaded here."""
        kernel(threads, arguments)

    def place_of(self, x: Any) -> int:
        """Where in memory an array begins."""
        return x.data.ptr

    @property
    def is_recording(self) -> bool:
        """Whether this thread's launches are recorded now instead of being run."""
        return _now.workspace is not None

    def multiply(self, x: Any, y: Any, out: Any) -> bool:
        """`out[...] = x @ y`, for matrices of one dtype; whether that was possible."""
        cuda = self._cupy.cuda
        stream = cuda.get_current_stream().ptr
        return blas.multiply(x, y, out, cuda.runtime.getDevice(), stream, _now.workspace)

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
        return self._cupy.empty(shape, dtype)


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
