"""From LLVM IR to code in memory.

One engine per program, so that a program that is dropped takes its code with it. Functions from outside are told to
the engine by address: those a context declared with one, and those of `natives.py`.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Mapping

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from wengert.backend.llvm import natives
from wengert.backend.llvm.arena import NAME

SHORT, LONG, HUGE = 500, 1500, 5000
"""Lines of IR. Making vectors of straight-line code takes ten times as long as all else, so only short modules get it;
long ones do without several copies of each loop's body; in huge ones, passes that take quadratic time are left out."""

_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None


def _free_arena(place: ctypes.c_void_p) -> None:
    _free(place)
    place.value = None


@functools.cache
def _initialised() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


_HABITS = ",+prefer-no-gather,+prefer-no-scatter"
"""Loading elements one by one is faster on many processors: since 2023 their microcode makes gathers slow on purpose
("Downfall"), on some by ten times."""


@functools.cache
def _host() -> tuple[str, str]:
    features = llvm.get_host_cpu_features()
    return llvm.get_host_cpu_name(), features.flatten() + (_HABITS if features.get("avx2") else "")


def target_machine() -> llvm.TargetMachine:
    target = _initialised()
    cpu, features = _host()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, codemodel="jitdefault", jit=True)


class Code:
    """Optimised code in memory, for as long as this object lives."""

    def __init__(self, text: str, addresses: Mapping[str, int]):
        machine = target_machine()
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        lines = text.count("\n")
        options = llvm.create_pipeline_tuning_options(speed_level=3 if lines < LONG else 2 if lines < HUGE else 1)
        options.loop_vectorization = True
        options.slp_vectorization = lines < SHORT
        options.loop_interleaving = lines < LONG
        options.loop_unrolling = True
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        passes.run(module, builder)
        # Calls of vector functions are there only now.
        inlining = llvm.create_new_module_pass_manager()
        inlining.add_always_inliner_pass()
        inlining.run(module, builder)
        # llvmlite's class inherits a `_dispose` that does nothing before the one that frees (80 kB for each module).
        for manager in (passes, inlining):
            NewPassManager._dispose(manager)
            manager.detach()
        self.module = module
        self._machine = target_machine()  # the engine takes the other one
        self.engine = llvm.create_mcjit_compiler(module, machine)
        for value in [*module.functions, *module.global_variables]:
            if value.is_declaration:
                place = addresses.get(value.name)
                if place is None:
                    place = natives.address(value.name)
                if place is not None:
                    self.engine.add_global_mapping(value, place)
        self.engine.finalize_object()
        if any(v.name == NAME for v in module.global_variables):
            arena = ctypes.c_void_p.from_address(self.engine.get_global_value_address(NAME))
            weakref.finalize(self, _free_arena, arena).atexit = False  # the system does it then

    def address(self, name: str) -> int:
        return self.engine.get_function_address(name)

    @property
    def llvm(self) -> str:
        return str(self.module)

    @property
    def assembly(self) -> str:
        return self._machine.emit_assembly(self.module)
