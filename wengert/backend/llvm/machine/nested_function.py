"""Code that is written in the midst of a function, but as a function of its own.

Whoever writes the code need not know: values of the function around are used as if they were at hand. Afterwards those
that were used are found, and become arguments; addresses that are computed from others are computed again inside, so
that LLVM sees from where they come.

That works because both functions share one list of names: in a text of LLVM a value is its name, so an argument that
has the name of the value outside is that value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32
from wengert.backend.llvm.context import Context
from wengert.backend.llvm.machine.internal import internal_function


class NestedFunction:
    """A function, which returns a status, of some arguments and of whatever else it uses.

    Its first argument is the place for fault values. `arguments` are the function's own ones while it is written;
    `used`, afterwards, the values that a call has to hand over behind them.
    """

    def __init__(self, cx: Context, name: str, arguments: Sequence[ir.Type]):
        self.cx = cx
        unique = cx.module.get_unique_name(name)
        self.function = internal_function(cx.module, unique, I32, arguments, "nounwind", "noinline")
        self.function.scope = cx.function.scope
        self.function.args = self.arguments = tuple([ir.Argument(self.function, t) for t in arguments])
        self.used: list[ir.Value] = []
        self.may_fail = False

    @contextmanager
    def written(self) -> Iterator[None]:
        """The context is the body of the function."""
        cx = self.cx
        with cx.inside(self.function, self.arguments[0]):
            yield
            cx.finish()
            self.may_fail = cx.may_leave
            self._take_in(cx.entry)

    def _take_in(self, entry: ir.Block) -> None:
        found: dict[int, ir.Value] = {}
        for instruction in self.instructions():
            for operand in _operands(instruction):
                self._need(operand, found)
        new = []
        at_entry = ir.IRBuilder(entry)
        at_entry.position_at_start(entry)
        for value in found.values():
            if isinstance(value, ir.GEPInstr):
                same: ir.Value = at_entry.gep(
                    value.pointer, value.indices, inbounds=value.inbounds, source_etype=value.source_etype
                )
            else:
                same = ir.Argument(self.function, value.type)
                if isinstance(value, ir.Argument) and "noalias" in value.attributes:
                    same.add_attribute("noalias")
                self.used.append(value)
                new.append(same)
            same._name = value.name
        function = self.function
        function.args = (*self.arguments, *new)
        function.ftype = ir.FunctionType(I32, [a.type for a in function.args])
        function.type = function.ftype.as_pointer()

    def _need(self, value: ir.Value, found: dict[int, ir.Value]) -> None:
        """Note a value from outside, after those from which it is computed."""
        if not isinstance(value, ir.Instruction | ir.Argument) or id(value) in found:
            return
        if (value.function if isinstance(value, ir.Instruction) else value.parent) is self.function:
            return
        if isinstance(value, ir.GEPInstr):
            for operand in value.operands:
                self._need(operand, found)
        found[id(value)] = value

    def instructions(self) -> Iterator[ir.Instruction]:
        for block in self.function.blocks:
            yield from block.instructions


def _operands(instruction: ir.Instruction) -> Sequence[ir.Value]:
    if isinstance(instruction, ir.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands
