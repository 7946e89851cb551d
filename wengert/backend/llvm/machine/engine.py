"""From LLVM IR to object code, and from object code to code in memory.

One engine per program, so that a program that is dropped takes its code with it.
"""

from __future__ import annotations

import ctypes
import functools
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from wengert.backend.llvm.calls.arena import NAME
from wengert.backend.llvm.machine import symbols

KERNEL = "kernel"
"""The symbol of the function that a program is. What calls it lies in other object code (`calls/ways.py`)."""

SHORT, LONG, HUGE = 380, 1380, 4880
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
def host() -> tuple[str, str]:
    """The processor and what it can do."""
    features = llvm.get_host_cpu_features()
    return llvm.get_host_cpu_name(), features.flatten() + (_HABITS if features.get("avx2") else "")


def target_machine(level: int = 3) -> llvm.TargetMachine:
    """This computer, for code that is loaded into this process."""
    target = _initialised()
    cpu, features = host()
    return target.create_target_machine(cpu=cpu, features=features, opt=level, codemodel="jitdefault", jit=True)


def machine_for_files() -> llvm.TargetMachine:
    """This computer, for object code that others link, wherever it comes to lie."""
    cpu, features = host()
    return _initialised().create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")


def _release_vector_functions(module: llvm.ModuleRef) -> None:
    """Vector functions were kept for loops that might call them: those that nobody does need no code."""
    for value in module.global_variables:
        if value.name == "llvm.compiler.used":
            value.name, value.linkage = "wg_were_kept", "internal"


def effort(text: str, level: int = 3) -> tuple[int, bool, bool]:
    """How much is done for a module: the level, vectors of straight-line code, several copies of loops' bodies."""
    lines = text.count("\n")
    most = 3 if lines < LONG else 2 if lines < HUGE else 1
    return min(level, most), level > 1 and lines < SHORT, level > 1 and lines < LONG


class Object(NamedTuple):
    """Object code, the symbols that it takes from outside, and whether it has an arena."""

    code: bytes
    symbols: list[str]
    has_arena: bool


class OptimisedModule:
    """Optimised LLVM IR; at level 0, with next to nothing done to it, in a tenth of the time."""

    def __init__(self, text: str, machine: llvm.TargetMachine | None = None, level: int = 3):
        self._machine = machine = machine or target_machine(level)
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        speed_level, straight_line_vectors, interleaving = effort(text, level)
        options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
        options.loop_vectorization = level > 1
        options.slp_vectorization = straight_line_vectors
        options.loop_interleaving = interleaving
        options.loop_unrolling = level > 1
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        passes.run(module, builder)
        # Calls of vector functions are there only now.
        inlining = llvm.create_new_module_pass_manager()
        inlining.add_always_inliner_pass()
        inlining.add_global_dead_code_eliminate_pass()
        _release_vector_functions(module)
        inlining.run(module, builder)
        # llvmlite's class inherits a `_dispose` that does nothing before the one that frees (80 kB for each module).
        for manager in (passes, inlining):
            NewPassManager._dispose(manager)
            manager.detach()
        self._module = module

    @property
    def text(self) -> str:
        return str(self._module)

    @property
    def assembly(self) -> str:
        return self._machine.emit_assembly(self._module)

    def link(self, other: OptimisedModule) -> None:
        """Take in another module, which is no more afterwards."""
        self._module.link_in(other._module)

    def rename(self, names: Callable[[str], str]) -> list[str]:
        """Give functions from outside other names; return all that are called, by their old names."""
        called = set(re.findall(r'call [^@\n]*@"?([\w.]+)', str(self._module)))
        found = []
        for value in self._module.functions:
            if value.is_declaration and value.name in called and not value.name.startswith("llvm."):
                old, new = value.name, names(value.name)
                value.name = new
                if value.name != new:
                    raise ValueError(f"there are two functions {new}")
                found.append(old)
        return found

    def object(self) -> Object:
        """The object code."""
        values = [*self._module.functions, *self._module.global_variables]
        outside = [v.name for v in values if v.is_declaration and not v.name.startswith("llvm.")]
        return Object(self._machine.emit_object(self._module), outside, any(v.name == NAME for v in values))


class MachineCode:
    """Code in memory, for as long as this object lives."""

    def __init__(self, objects: Sequence[Object], addresses: Mapping[str, int]):
        """`addresses` says where the symbols lie that are the program's own. Of several objects the first is a kernel,
        which the others may call."""
        # An engine looks for symbols by the names of a module, so there is one that has nothing but these.
        names = dict.fromkeys([name for object in objects for name in object.symbols if name != KERNEL])
        shell = llvm.parse_assembly("".join([f'@"{name}" = external global i8\n' for name in names]))
        machine = target_machine()
        shell.triple = machine.triple
        shell.data_layout = str(machine.target_data)
        self._engine = llvm.create_mcjit_compiler(shell, machine)
        for value in shell.global_variables:
            place = addresses.get(value.name)
            if place is None:
                place = symbols.address(value.name)
            if place is None:
                raise LookupError(f"native code refers to {value.name}, which is not to be found")
            self._engine.add_global_mapping(value, place)
        for object in objects:
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(object.code))
        self._engine.finalize_object()
        if any(object.has_arena for object in objects):
            arena = ctypes.c_void_p.from_address(self._engine.get_global_value_address(NAME))
            weakref.finalize(self, _free_arena, arena).atexit = False  # the system does it then

    def address(self, name: str) -> int:
        return self._engine.get_function_address(name)
