"""What becomes of a function for arguments of certain types, to look at: `jit(f).lower(x)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert import tree
from wengert.backend.execute import module, native, optimised
from wengert.backend.gpu.plan import DevicePlan, plan_of
from wengert.backend.python import python_source
from wengert.capture.effects import refuse
from wengert.capture.program import Captured
from wengert.errors import StagingError
from wengert.ir.node import Block, Const, Node, Program
from wengert.ir.show import show


class Lowered:
    """What becomes of a function for arguments of certain types; see `Jitted.lower`."""

    def __init__(self, found: Captured, names: Sequence[str], like: Any = None):
        self._found, self._names, self._like = found, names, like

    def __repr__(self) -> str:
        return f"<{self._found.name} lowered: ir, llvm, assembly, python, report>"

    @property
    def program(self) -> Program:
        """The program as data."""
        return optimised(self._found.block, self._found.name)

    def fixed(self) -> Callable:
        """The function in native code, for arguments like these and the world as it is now.

        Arrays and numbers that the function found outside are fetched here once and for all, and are not compared again
        at each call: for those who call it many times, and know that nothing changes meanwhile.
        """
        found = self._found
        if found.writes:
            raise StagingError(f"{found.name} writes into its arguments", remedy="return what it writes")
        if found.left:
            raise refuse(found.left[0].place.what)
        if found.pinned:
            names = ", ".join([str(self._names[k]) for k in found.pinned])
            raise StagingError(
                f"{found.name} can be compiled for one value of {names} only",
                remedy="call it with jit, which compiles it for each value",
            )
        code, outside = native(found.block, found.name), found.fetched()

        def fixed(*args: Any) -> Any:
            leaves = tree.leaves(args)
            return found.output(leaves, code(*leaves, *outside))

        return fixed

    @property
    def ir(self) -> str:
        """The program as text."""
        return show(self.program)

    @property
    def python(self) -> str:
        """The program as NumPy source that runs on its own. Arrays that the function finds outside are arguments."""
        names = [*self._names, *[f"outer{k}" for k in range(len(self._found.inputs))]]
        return python_source(self.program, names)

    def python_with_constants(self, name: str) -> str:
        """The same with another name, in which arrays that the function finds outside are constants as they are now."""
        found = self._found
        if not found.inputs:
            return python_source(Program(name, self.program.block), list(self._names))
        block = with_constants(found.block, [path() for path in found.inputs])
        return python_source(optimised(block, name), list(self._names))

    @property
    def ptx(self) -> str:
        """The kernels for a GPU, one after the other, for arrays in C order."""
        return self._plan.ptx

    @property
    def llvm(self) -> str:
        """The optimised LLVM code."""
        return module(self._found.block, self._found.name).text

    @property
    def assembly(self) -> str:
        """The machine code as text."""
        return module(self._found.block, self._found.name).assembly

    @property
    def report(self) -> Any:
        """What operators have chosen, and how each operation was compiled: as native code, by a library, or by calling
        NumPy."""
        how = native(self._found.block, self._found.name).report if self._like is None else self._plan.report
        return [*self._found.notes, *how]

    @property
    def _plan(self) -> DevicePlan:
        return plan_of(self._found.block, self._found.name, self._like)


def with_constants(block: Block, values: Sequence[Any]) -> Block:
    """A block with constants in place of its last parameters."""
    n = len(block.params) - len(values)
    known: dict[Any, Any] = {p: Const(v, p.type) for p, v in zip(block.params[n:], values, strict=True)}
    nodes = [
        Node(node.op, tuple([known.get(a, a) for a in node.args]), node.params, node.outs,
             tuple([known.get(s, s) for s in node.sizes]), node.source)
        for node in block.nodes
    ]  # fmt: skip
    return Block(block.params[:n], nodes, [known.get(r, r) for r in block.results])
