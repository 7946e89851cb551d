"""Programs as functions of C: object code that needs nothing of Python, and what a caller must know of it.

Each program becomes a function that takes numbers by value and arrays by pointers, first its inputs, then the places of
its results, and returns 0 or the number of an error. The numbers of all functions of a file are different, and one more
function, `<name>_error`, has the messages. What the code takes from outside has the names that C knows: `sin`,
`dgemm_`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, element_type
from wengert.backend.llvm.calls.faults import FIRST, HOLES, OK, RECORD, Fault
from wengert.backend.llvm.context import CannotStandAlone
from wengert.backend.llvm.kernel import Written, write_function
from wengert.backend.llvm.machine.engine import OptimisedModule, machine_for_files
from wengert.backend.llvm.machine.hints import finished
from wengert.backend.llvm.machine.internal import internal_constant
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Node, Program, Type, all_nodes


@dataclass
class StandaloneFunction:
    """A function to be: its name in C, its program, and names for what it takes and gives."""

    name: str
    program: Program
    inputs: list[str]
    outputs: list[str]
    text: str = ""
    """What to say about it."""

    @property
    def input_types(self) -> list[Type]:
        return [p.type for p in self.program.block.params]

    @property
    def output_types(self) -> list[Type]:
        return [r.type for r in self.program.block.results]


@dataclass
class Standalone:
    """Object code, the libraries it needs (`m` for `-lm`), and the messages of its errors, from number 1 on."""

    code: bytes
    libraries: list[str]
    messages: list[str]


def by_value(type: Type) -> bool:
    """Whether an input is passed as a number; complex ones are pairs in memory."""
    return not type.ndim and type.dtype.kind != "c"


def compiled(name: str, functions: Sequence[StandaloneFunction]) -> Standalone:
    """The object code of some functions; `name` is that of the whole."""
    machine = machine_for_files()
    messages: list[str] = []
    whole: OptimisedModule | None = None
    for function in functions:
        written = _written(function.program)
        _write_c_function(function.name, written, len(messages))
        messages += [_message(fault) for fault in written.cx.faults]
        module = OptimisedModule(finished(str(written.module)), machine)
        if whole is None:
            whole = module
        else:
            whole.link(module)
    errors = OptimisedModule(_errors(f"{name}_error", messages), machine)
    if whole is None:
        whole = errors
    else:
        whole.link(errors)
    called = whole.rename(_c_name)
    return Standalone(whole.object().code, _libraries(called), messages)


def _written(program: Program) -> Written:
    try:
        return write_function(program, standalone=True)
    except CannotStandAlone as error:
        # Code of elementwise operations is written where they are used: their own line is in the program.
        own = [node.source for node in all_nodes(program.block) if error.name in _names(node)]
        source = next((s for s in own if s is not None), error.source)
        where = f" (at {source.file}:{source.line})" if source is not None else ""
        raise UnsupportedFunctionError(
            f"`{error.name}` is computed by code that lives in Python, and cannot be exported{where}",
            remedy="write it in terms of other functions, or export what comes before and after it",
        ) from None


def _names(node: Node) -> tuple[str, str]:
    return node.op.name, getattr(node.op.impl, "__name__", "")


def _write_c_function(name: str, written: Written, before: int) -> None:
    """The function that C calls: `before` is how many errors have numbers already."""
    parts = [element_type(t.dtype) if by_value(t) else POINTER for t in written.inputs]
    parts += [POINTER] * len(written.outputs)
    function = ir.Function(written.module, ir.FunctionType(I32, parts), name)
    b = ir.IRBuilder(function.append_basic_block())
    record = b.alloca(I64, size=I32(RECORD))
    record.type = POINTER
    values: list[ir.Value] = [record]
    for type, argument in zip(written.inputs, function.args, strict=False):
        if by_value(type):
            place = b.alloca(argument.type)
            b.store(argument, place)
            place.type = POINTER
            values.append(place)
        else:
            values.append(argument)
    values += function.args[len(written.inputs) :]
    status = b.call(written.function, values)
    number = b.add(status, I32(1 - FIRST + before))
    b.ret(b.select(b.icmp_signed("==", status, I32(OK)), I32(0), number))


def _message(fault: Fault) -> str:
    """What is said of an error. The numbers in it are known only when it happens."""
    text = fault.message.format(*["?"] * HOLES)
    where = f" (at {fault.source.file}:{fault.source.line})" if fault.source is not None else ""
    return f"{fault.kind}: {text}{where}"


def _errors(name: str, messages: Sequence[str]) -> str:
    """The text of a module with the function that gives the message of a number."""
    module = ir.Module(name)
    function = ir.Function(module, ir.FunctionType(POINTER, [I32]), name)
    texts = []
    for k, message in enumerate(["success", *messages, "no such error"]):
        data = bytearray(message.encode() + b"\0")
        value = ir.Constant(ir.ArrayType(I8, len(data)), data)
        texts.append(internal_constant(module, f"message{k}", value))
    b = ir.IRBuilder(function.append_basic_block())
    after = function.append_basic_block()
    choice = b.switch(function.args[0], after)
    for k, place in enumerate(texts[:-1]):
        block = function.append_basic_block()
        choice.add_case(I32(k), block)
        ir.IRBuilder(block).ret(place)
    ir.IRBuilder(after).ret(texts[-1])
    return str(module)


def _c_name(symbol: str) -> str:
    """The name in C of a function that generated code knows by a symbol of `natives.py`."""
    match = re.fullmatch(r"wg_(?:blas|lapack)_(\w+)", symbol)
    if match is not None:
        return f"{match[1]}_"
    return symbol.removeprefix("wg_")


_LIBRARIES = {"wg_lapack_": "lapack", "wg_blas_": "blas", "_ZGV": "mvec"}


def _libraries(called: Sequence[str]) -> list[str]:
    """What to link with, by the symbols that are used."""
    return [*[library for start, library in _LIBRARIES.items() if any(s.startswith(start) for s in called)], "m"]
