"""Kernels as PTX, the language of the driver's own compiler: written by LLVM, so that no CUDA toolkit is needed.

PTX is kept on disk (`disk.py`) for the next process. The driver keeps what it makes of it.
"""

from __future__ import annotations

import functools
import hashlib
import re

import llvmlite
import llvmlite.binding as llvm

from wengert import disk

_DEVICE = """
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

declare float @llvm.nvvm.rcp.approx.ftz.f(float)
declare double @llvm.nvvm.rcp.approx.ftz.d(double)

define internal float @wg_near_inverse_single(float %x) alwaysinline {
  %y = call float @llvm.nvvm.rcp.approx.ftz.f(float %x)
  ret float %y
}

define internal double @wg_near_inverse(double %x) alwaysinline {
  %y = call double @llvm.nvvm.rcp.approx.ftz.d(double %x)
  ret double %y
}

declare double @llvm.nvvm.rsqrt.approx.ftz.d(double)

define internal double @wg_near_inverse_root(double %x) alwaysinline {
  %y = call double @llvm.nvvm.rsqrt.approx.ftz.d(double %x)
  ret double %y
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


_GIVEN = re.compile(r'(declare \S+ @"wg_(thread|threads|from_lane|near_inverse\w*)"|target|; ModuleID)')


def without_given(text: str) -> str:
    """A kernel without the declarations of what devices have, and without those that LLVM adds itself."""
    return "\n".join([line for line in text.splitlines() if not _GIVEN.match(line)])


def joins(text: str) -> bool:
    """Whether threads of a kernel read each other's registers: then all that run in step must be there."""
    return 'call i64 @"wg_from_lane"' in text


def ptx_of(text: str, processor: str = "sm_70") -> str:
    """A kernel as PTX.

    What is computed is not changed by optimisation: products and sums are fused only where the code says so.
    """
    machine = _target().create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(_DEVICE + without_given(text))
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


def kept_ptx(text: str, processor: str) -> str:
    """A kernel as PTX, as some process has written it before, or else written now."""
    key = hashlib.blake2b(repr((text, processor, *_circumstances())).encode(), digest_size=32).digest()
    found = disk.read(key)
    if found is not None:
        return found.decode()
    made = ptx_of(text, processor)
    disk.write(key, made.encode())
    return made


def _circumstances() -> tuple:
    """What else decides how a kernel is written."""
    return llvmlite.__version__, llvm.llvm_version_info, disk.state_of_package()
