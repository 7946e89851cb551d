"""A device that runs kernels on the processor, thread after thread, for machines without a GPU.

It compiles the same text that is otherwise compiled to PTX; only what says which thread runs is another.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from strict_array import Current, StrictArray

from wengert.backend.gpu.device import DEVICES
from wengert.backend.gpu.ptx import joins, without_given
from wengert.backend.llvm.machine.engine import target_machine

_ONE_BY_ONE = """define i64 @wg_thread() {
  %i = load i64, ptr @wg_now
  ret i64 %i
}
"""
_THREAD = f"""
@wg_now = global i64 0
@wg_all = global i64 0
{_ONE_BY_ONE}
define float @wg_near_inverse_single(float %x) {{
  %y = fdiv float 1.0, %x
  ret float %y
}}
define double @wg_near_inverse(double %x) {{
  %inverse = fdiv double 1.0, %x
  %bits = bitcast double %inverse to i64
  %known = and i64 %bits, -4294967296
  %y = bitcast i64 %known to double
  ret double %y
}}
define double @wg_near_inverse_root(double %x) {{
  %bits = bitcast double %x to i64
  %shifted = lshr i64 %bits, 1
  %start = sub i64 6910469410427058089, %shifted
  %y0 = bitcast i64 %start to double
  %half = fmul double 0.5, %x
  %a0 = fmul double %half, %y0
  %b0 = fmul double %a0, %y0
  %c0 = fsub double 1.5, %b0
  %y1 = fmul double %y0, %c0
  %a1 = fmul double %half, %y1
  %b1 = fmul double %a1, %y1
  %c1 = fsub double 1.5, %b1
  %y2 = fmul double %y1, %c1
  %a2 = fmul double %half, %y2
  %b2 = fmul double %a2, %y2
  %c2 = fsub double 1.5, %b2
  %y3 = fmul double %y2, %c2
  %more = bitcast double %y3 to i64
  %known = and i64 %more, -4294967296
  %y = bitcast i64 %known to double
  ret double %y
}}
define i64 @wg_threads() {{
  %i = load i64, ptr @wg_all
  ret i64 %i
}}
"""


_IN_STEP = """
@wg_thread_there = global ptr null
@wg_from_lane_there = global ptr null
define i64 @wg_thread() {
  %f = load ptr, ptr @wg_thread_there
  %i = call i64 %f()
  ret i64 %i
}
define i64 @wg_from_lane(i64 %x, i32 %step) {
  %f = load ptr, ptr @wg_from_lane_there
  %y = call i64 %f(i64 %x, i32 %step)
  ret i64 %y
}
"""


class _Lanes:
    """Threads that run in step, as threads of Python's, which wait for each other where they exchange numbers."""

    def __init__(self, lanes: int):
        self._lanes, self._own = lanes, threading.local()
        self._barrier = threading.Barrier(lanes)
        self._given = [0] * lanes
        self.thread = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: self._own.thread)
        self.from_lane = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int32)(self._exchange)

    def _exchange(self, x: int, step: int) -> int:
        lane = self._own.thread % self._lanes
        self._given[lane] = x
        self._barrier.wait(60)
        y = self._given[lane + step] if lane + step < self._lanes else x
        self._barrier.wait(60)
        return y

    def run(self, first: int, function: Callable, given: Sequence[Any]) -> None:
        def one(lane: int) -> None:
            self._own.thread = first + lane
            function(*given)

        started = [threading.Thread(target=one, args=(lane,)) for lane in range(self._lanes)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()


class EmulatedDevice:
    """Few threads, so that each has several elements. Of several devices, each reads its own memory only."""

    width, blocks, lanes = 4, 3, 4
    launches = 0
    is_alone = True

    def __init__(self, number: int):
        self.number = number

    @property
    def is_current(self) -> bool:
        return Current.device == self.number

    @contextmanager
    def current(self) -> Iterator[None]:
        before, Current.device = Current.device, self.number
        try:
            yield
        finally:
            Current.device = before

    def load(self, text: str, name: str) -> Callable:
        machine = target_machine()
        prelude = _THREAD if not joins(text) else _THREAD.replace(_ONE_BY_ONE, "") + _IN_STEP
        module = llvm.parse_assembly(prelude + without_given(text).replace("ptx_kernel ", ""))
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        builder.getModulePassManager().run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        now, every = [ctypes.c_int64.from_address(engine.get_global_value_address(n)) for n in ("wg_now", "wg_all")]
        address = engine.get_function_address(name)
        lanes = _Lanes(self.lanes) if joins(text) else None
        for symbol in ("thread", "from_lane") if lanes is not None else ():
            there = ctypes.c_void_p.from_address(engine.get_global_value_address(f"wg_{symbol}_there"))
            there.value = ctypes.cast(getattr(lanes, symbol), ctypes.c_void_p).value

        def launch(threads: int, arguments: Sequence[Any]) -> None:
            if self.recorded is not None:
                self.recorded.append((launch, threads, arguments))
                return
            EmulatedDevice.launches += 1
            assert all(x.device == self.number for x in arguments if isinstance(x, StrictArray))
            run(threads, [_argument(x) for x in arguments])

        def run(threads: int, given: Sequence[Any]) -> None:
            function = ctypes.CFUNCTYPE(None, *[type(x) for x in given])(address)
            blocks, width = -(-threads // self.width), min(self.width, threads)
            every.value = blocks * width  # whole blocks, as on a GPU
            if lanes is not None:
                for first in range(0, blocks * self.width, self.lanes):
                    lanes.run(first, function, given)
                return
            for thread in range(blocks * width):
                now.value = thread
                function(*given)

        launch.engine, launch.run = engine, run  # type: ignore[attr-defined]
        return launch

    def start(self, kernel: Callable, threads: int, arguments: Sequence[Any]) -> None:
        kernel(threads, arguments)

    def launcher(self, kernel: Any, threads: int, count: int) -> Callable:
        def launch(places: Sequence[int]) -> None:
            assert len(places) == count
            EmulatedDevice.launches += 1
            kernel.run(threads, [ctypes.c_void_p(p) for p in places])

        return launch

    def multiplier(self, x: StrictArray, y: StrictArray, out: StrictArray) -> Callable:
        def multiply(places: Sequence[int]) -> None:
            left, right, product = [
                np.lib.stride_tricks.as_strided(_at(p, a._memory.dtype), a.shape, a.strides)
                for p, a in zip(places, (x, y, out), strict=True)
            ]
            product[...] = left @ right

        return multiply

    def slow_operand(self, x: StrictArray, y: StrictArray) -> int | None:
        return EmulatedDevice.slow

    slow: int | None = None
    """Which operand of products is copied first, in tests of that."""
    repeated = 0

    def repeat_launches(self, steps: Sequence[tuple[Callable, Sequence[int]]], places: Sequence[int]) -> None:
        EmulatedDevice.repeated += 1
        for start, operands in steps:
            start([places[k] for k in operands])

    def place_of(self, x: StrictArray) -> int:
        return x._memory.ctypes.data

    def memory_of(self, x: StrictArray) -> int:
        memory = x._memory
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        return memory.ctypes.data

    recorded: list[Any] | None = None
    repeats = 0

    @property
    def is_recording(self) -> bool:
        return self.recorded is not None

    def multiply(self, x: StrictArray, y: StrictArray, out: StrictArray) -> bool:
        def product(_: int, operands: Sequence[StrictArray]) -> None:
            a, b, c = operands
            c._memory[...] = a._memory @ b._memory

        if self.recorded is not None:
            self.recorded.append((product, 0, [x, y, out]))
        else:
            product(0, [x, y, out])
        return True

    def store(self, place: StrictArray, value: Any) -> None:
        def copy(_: int, operands: Sequence[Any]) -> None:
            target, y = operands
            target._memory[...] = y._memory if isinstance(y, StrictArray) else y

        if self.recorded is not None:
            self.recorded.append((copy, 0, [place, value]))
        else:
            copy(0, [place, value])

    def record(self, args: Sequence[Any], run: Callable) -> tuple[list[Any], list[Any], Any]:
        places = [self.empty(a.shape, a.dtype) if isinstance(a, StrictArray) else a for a in args]
        for place, a in zip(places, args, strict=True):
            if isinstance(a, StrictArray):
                place._memory = np.empty_like(a._memory)
        self.recorded = []
        try:
            results = run(places)
            return places, results, self.recorded
        finally:
            self.recorded = None

    def repeat(self, graph: list[Any], places: Sequence[Any], args: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        EmulatedDevice.repeats += 1
        for place, a in zip(places, args, strict=True):
            if isinstance(place, StrictArray):
                place._memory[...] = a._memory
        for launch, threads, arguments in graph:
            launch(threads, arguments)
        return [StrictArray(r._memory.copy()) if isinstance(r, StrictArray) else r for r in results]

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> StrictArray:
        memory = np.empty(shape, dtype)
        memory.fill(77)
        return StrictArray(memory)


def _at(place: int, dtype: np.dtype) -> np.ndarray:
    """The number at an address."""
    return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(place), dtype)


def _argument(x: Any) -> Any:
    if isinstance(x, StrictArray):
        return ctypes.c_void_p(x._memory.ctypes.data)
    return ctypes.c_int64(int(x)) if isinstance(x, np.int64) else ctypes.c_double(x)


_devices = [EmulatedDevice(0), EmulatedDevice(1)]
DEVICES["strict_array"] = lambda x: _devices[x.device]
