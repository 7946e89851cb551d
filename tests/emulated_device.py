"""A device that runs kernels on the processor, thread after thread, for machines without a GPU.

It compiles the same text that is otherwise compiled to PTX; only what says which thread runs is another.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from strict_array import StrictArray

from wengert.backend.gpu.device import DEVICES, without_threads
from wengert.backend.llvm.machine.engine import target_machine

_THREAD = """
@wg_now = global i64 0
@wg_all = global i64 0
define i64 @wg_thread() {
  %i = load i64, ptr @wg_now
  ret i64 %i
}
define i64 @wg_threads() {
  %i = load i64, ptr @wg_all
  ret i64 %i
}
"""


class EmulatedDevice:
    """Few threads, so that each has several elements."""

    width, blocks = 4, 3
    launches = 0

    def load(self, text: str, name: str) -> Callable:
        machine = target_machine()
        module = llvm.parse_assembly(_THREAD + without_threads(text).replace("ptx_kernel ", ""))
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        builder.getModulePassManager().run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        now, every = [ctypes.c_int64.from_address(engine.get_global_value_address(n)) for n in ("wg_now", "wg_all")]
        address = engine.get_function_address(name)

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            EmulatedDevice.launches += 1
            given = [_argument(x) for x in arguments]
            function = ctypes.CFUNCTYPE(None, *[type(x) for x in given])(address)
            blocks, width = -(-threads // self.width), min(self.width, threads)
            every.value = blocks * width  # whole blocks, as on a GPU
            for thread in range(blocks * width):
                now.value = thread
                function(*given)

        launch.engine = engine  # type: ignore[attr-defined]
        return launch

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> StrictArray:
        memory = np.empty(shape, dtype)
        memory.fill(77)
        return StrictArray(memory)


def _argument(x: Any) -> Any:
    if isinstance(x, StrictArray):
        return ctypes.c_void_p(x._memory.ctypes.data)
    return ctypes.c_int64(int(x)) if isinstance(x, np.int64) else ctypes.c_double(x)


_device = EmulatedDevice()
DEVICES["strict_array"] = lambda: _device
