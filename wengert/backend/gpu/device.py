"""Where kernels are compiled, loaded and launched: CUDA through CuPy, which lends the driver, streams and memory.

LLVM writes PTX, the language of the driver's own compiler: no CUDA toolkit is needed. `DEVICES` says by the library of
the arrays which device that is; tests have one of their own, which runs the same kernels on the processor.
"""

from __future__ import annotations

import functools
import importlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from wengert.backend.gpu import blas

_THREAD = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

define internal i64 @wg_thread() alwaysinline {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %n64 = zext i32 %n to i64
  %b64 = zext i32 %b to i64
  %start = mul i64 %b64, %n64
  %i = add i64 %start, %t64
  ret i64 %i
}

declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)

define internal i64 @wg_from_lane(i64 %x, i32 %step) alwaysinline {
  %low = trunc i64 %x to i32
  %shifted = lshr i64 %x, 32
  %high = trunc i64 %shifted to i32
  %a = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %low, i32 %step, i32 31)
  %b = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %high, i32 %step, i32 31)
  %a64 = zext i32 %a to i64
  %b64 = zext i32 %b to i64
  %up = shl i64 %b64, 32
  %y = or i64 %up, %a64
  ret i64 %y
}

define internal i64 @wg_threads() alwaysinline {
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %n64 = zext i32 %n to i64
  %b64 = zext i32 %b to i64
  %i = mul i64 %n64, %b64
  ret i64 %i
}
"""


@functools.cache
def _target() -> llvm.Target:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("nvptx64-nvidia-cuda")


def without_threads(text: str) -> str:
    """A kernel without the declarations of what says which thread it is, and without those that LLVM adds itself."""
    return "\n".join(
        line
        for line in text.splitlines()
        if not line.startswith(
            (
                'declare i64 @"wg_thread',
                'declare i64 @"wg_from_lane',
                "target triple",
                "target datalayout",
                "; ModuleID",
            )
        )
    )


def joins(text: str) -> bool:
    """Whether threads of a kernel read each other's registers: then all that run in step must be there."""
    return 'call i64 @"wg_from_lane"' in text


def ptx_of(text: str, processor: str = "sm_70") -> str:
    """A kernel as PTX.

    What is computed is not changed by optimisation: products and sums are fused only where the code says so.
    """
    machine = _target().create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(_THREAD + without_threads(text))
    module.triple = "nvptx64-nvidia-cuda"
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return _with_constants_in_memory(machine.emit_assembly(module))


_WIDE = re.compile(r"0d[0-9A-Fa-f]{8}(?!00000000)[0-9A-Fa-f]{8}")
_ARITHMETIC = re.compile(r"\s+(fma|mul|add|sub)\.rn\.f64\s")
_MOST_CONSTANTS = 4096


def _with_constants_in_memory(ptx: str) -> str:
    """A kernel in which numbers that do not fit into an instruction are in constant memory.

    Instructions read them there for nothing. Otherwise two more instructions make each of them anew: in polynomials two
    of three.
    """
    before, entry, kernel = ptx.partition(".visible .entry")
    names: dict[str, str] = {}

    def name(found: re.Match) -> str:
        if found[0] not in names and len(names) == _MOST_CONSTANTS:
            return found[0]
        return names.setdefault(found[0], f"wg_constant_{len(names)}")

    lines = kernel.split("\n")
    first = next((k for k, line in enumerate(lines) if line == "{"), 0) + 1
    for k, line in enumerate(lines):
        if _ARITHMETIC.match(line):
            lines[k] = _WIDE.sub(lambda found: f"%{name(found)}", line)
    placed = "".join([f".const .align 8 .f64 {place} = {number};\n" for number, place in names.items()])
    loads = [f"\t.reg .f64 %{place};\n\tld.const.f64 %{place}, [{place}];" for place in names.values()]
    return f"{before}{placed}{entry}" + "\n".join([*lines[:first], *loads, *lines[first:]])


_MOST_KERNELS = 4096
_recording = threading.Lock()


class _Now(threading.local):
    """What a thread records: the memory that cuBLAS works with meanwhile, `None` if nothing is recorded."""

    workspace: int | None = None


_now = _Now()


class Cuda:
    """The current GPU of CuPy."""

    width = 256
    """Threads of a block."""
    lanes = 32
    """Threads that run in step, and can read each other's registers."""

    def __init__(self, cupy: Any):
        self._cupy = cupy
        self._loaded: dict[str, Callable] = {}

    @functools.cached_property
    def blocks(self) -> int:
        """So many blocks at most: enough to keep all processors busy while data come from memory."""
        return 16 * self._cupy.cuda.Device().attributes["MultiProcessorCount"]

    @functools.cached_property
    def processor(self) -> str:
        return f"sm_{self._cupy.cuda.Device().compute_capability}"

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
        module.load(ptx_of(text, self.processor).encode())
        function = module.get_function(name)
        width, fill = self.width, self.lanes if joins(text) else 1

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            # (CuPy passes the module's handle along, so it lives as long as the function does)
            function((-(-threads // width),), (min(width, threads + -threads % fill),), tuple(arguments))

        launch.module = module  # type: ignore[attr-defined]
        return launch

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


DEVICES: dict[str, Callable[[], Any]] = {}
"""By the name of the library of the arrays: the device, made when it is first needed."""


@functools.cache
def _cuda() -> Cuda:
    return Cuda(importlib.import_module("cupy"))


DEVICES["cupy"] = _cuda


def device_of(x: Any) -> Any:
    """The device on which an array lies; `None` if there is none for its library."""
    made = DEVICES.get(type(x).__module__.partition(".")[0])
    return None if made is None else made()
