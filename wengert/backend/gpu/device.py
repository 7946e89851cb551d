"""Where kernels are compiled, loaded and launched: CUDA through CuPy, which lends the driver, streams and memory.

LLVM writes PTX, the language of the driver's own compiler: no CUDA toolkit is needed. `DEVICES` says by the library of
the arrays which device that is; tests have one of their own, which runs the same kernels on the processor.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

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
        if not line.startswith(('declare i64 @"wg_thread', "target triple", "target datalayout", "; ModuleID"))
    )


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
    return machine.emit_assembly(module)


_MOST_KERNELS = 4096


class Cuda:
    """The current GPU of CuPy."""

    width = 256
    """Threads of a block."""

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
        width = self.width

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            # (CuPy passes the module's handle along, so it lives as long as the function does)
            function((-(-threads // width),), (min(width, threads),), tuple(arguments))

        launch.module = module  # type: ignore[attr-defined]
        return launch

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
