"""Programs for tests, built by hand: each op runs at once on sample values, which says what its results' types are.

b = Builder(np.ones(3), 2.0)        # sample inputs
x, s = b.params
y = b.op("multiply", x, s)
check(b.program(y))                 # compiles, and compares with the interpreter on the sample inputs
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert
import wengert.control.call
import wengert.control.cond
import wengert.control.loop
import wengert.control.while_  # noqa: F401
from wengert.backend.llvm.native import compile_program
from wengert.ir.interpret import run
from wengert.ir.node import Block, Const, Dyn, Node, Program, Ref, Source, Type, Var, map_refs
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE

PYTHON = (bool, int, float, complex)


def type_of(value: Any) -> Type:
    array = np.asarray(value)
    return Type(array.shape, array.dtype, isinstance(value, PYTHON) and not isinstance(value, np.generic))


def constant(value: Any) -> Const:
    return Const(value, type_of(value))


class Builder:
    """A block under construction. `dynamic` says which axes of which values have a Dyn: {var: {axis: bound}}."""

    def __init__(self, *samples: Any, types: list[Type] | None = None):
        self.samples = samples
        self.params = [Var(t) for t in (types or [type_of(s) for s in samples])]
        self.nodes: list[Node] = []
        self.values: dict[Any, Any] = dict(zip(self.params, samples, strict=True))

    def operand(self, x: Any) -> Any:
        return x if isinstance(x, (Var, Const)) else constant(x)

    def value(self, x: Any) -> Any:
        return x.value if isinstance(x, Const) else self.values[x]

    def op(
        self, name: str, /, *args: Any, sizes: Any = (), dyn: Any = None, line: int | None = None, **params: Any
    ) -> Any:
        """Append a node. `sizes` are operands for Refs in the parameters; `dyn` maps axes of the result to bounds."""
        operands = [self.operand(a) for a in args]
        size_operands = [self.operand(s) for s in sizes]
        real = map_refs(params, lambda ref: int(self.value(size_operands[ref.k])))
        with np.errstate(all="ignore"):
            found = TABLE[name].impl(*[self.value(a) for a in operands], **real)
        results = found if isinstance(found, tuple) else (found,)
        if dyn is None and TABLE[name].elementwise:
            dyn = self._dynamic_axes(operands, np.ndim(results[0]))
        outs = []
        for r in results:
            t = type_of(r)
            if dyn:
                shape = tuple(Dyn(dyn[k]) if k in dyn else n for k, n in enumerate(t.shape))
                t = Type(shape, t.dtype, t.weak)
            v = Var(t)
            self.values[v] = r
            outs.append(v)
        source = Source("user.py", line) if line is not None else None
        self.nodes.append(Node(TABLE[name], tuple(operands), params, tuple(outs), tuple(size_operands), source))
        return outs[0] if len(outs) == 1 and not isinstance(found, tuple) else outs

    def _dynamic_axes(self, operands: list, rank: int) -> dict:
        return {
            rank - o.type.ndim + k: n.bound for o in operands for k, n in enumerate(o.type.shape) if isinstance(n, Dyn)
        }

    def index(self, x: Any, *items: Any, dyn: Any = None) -> Any:
        """x[items]; items that are operands stand for arrays."""
        pattern = tuple([ARRAY if isinstance(i, (Var, Const)) else i for i in items])
        return self.op("index", x, *[i for i in items if isinstance(i, (Var, Const))], pattern=pattern, dyn=dyn)

    def store(self, x: Any, v: Any, *items: Any, name: str = "store", sizes: Any = ()) -> Any:
        pattern = tuple([ARRAY if isinstance(i, (Var, Const)) else i for i in items])
        return self.op(name, x, v, *[i for i in items if isinstance(i, (Var, Const))], pattern=pattern, sizes=sizes)

    def inner(self, *operands: Any, first: tuple = ()) -> Builder:
        """A builder for a block inside, whose parameters have the values of these operands."""
        samples = [*first, *[self.value(self.operand(o)) for o in operands]]
        types = [*[type_of(f) for f in first], *[self.operand(o).type for o in operands]]
        return Builder(*samples, types=types)

    def block(self, *results: Any) -> Block:
        return Block(self.params, self.nodes, [self.operand(r) for r in results])

    def loop(self, count: Any, carried: list, consts: list, body: Any, dyn: Any = None) -> Any:
        """`body(b, k, *carried, *consts)` returns the results, new carried values first."""
        inner = self.inner(*carried, *consts, first=(0,))
        results = body(inner, *inner.params)
        found = self.op("loop", count, *carried, *consts, body=inner.block(*results), carried=len(carried))
        if dyn or not isinstance(self.operand(count), Const):
            for v in found[len(carried) :]:
                v.type = Type((Dyn(None), *v.type.shape[1:]), v.type.dtype)
        return found

    def while_(self, carried: list, consts: list, test: Any, body: Any) -> Any:
        asked, inner = self.inner(*carried, *consts), self.inner(*carried, *consts)
        tested = asked.block(test(asked, *asked.params))
        results = body(inner, *inner.params)
        found = self.op("while", *carried, *consts, body=inner.block(*results), carried=len(carried), test=tested)
        for v in found[len(carried) + 1 :]:
            v.type = Type((Dyn(None), *v.type.shape[1:]), v.type.dtype)
        found[len(carried)].type = Type((), np.dtype(np.int64), True)
        return found

    def cond(self, pred: Any, args: list, then: Any, orelse: Any) -> Any:
        blocks = {}
        for name, branch in (("then", then), ("orelse", orelse)):
            inner = self.inner(*args)
            blocks[name] = inner.block(*branch(inner, *inner.params))
        return self.op("cond", pred, *args, **blocks)

    def program(self, *results: Any, name: str = "test") -> Program:
        return Program(name, self.block(*results))

    def check(self, *results: Any, inputs: Any = None, rtol: float = 1e-12, atol: float = 1e-13) -> Any:
        """Compile, run on the sample inputs (or others), and compare with the interpreter."""
        program = self.program(*results)
        native = compile_program(program)
        compare(native, program, self.samples if inputs is None else inputs, rtol, atol)
        return native


def compare(native: Any, program: Program, inputs: Any, rtol: float = 1e-12, atol: float = 1e-13) -> None:
    before = [np.array(x) for x in inputs]
    with np.errstate(all="ignore"):
        expected = run(program.block, inputs)
    for _ in range(2):  # a second call finds what the first left behind
        got = native(*inputs)
        assert len(got) == len(expected)
        for g, e, r in zip(got, expected, program.block.results, strict=True):
            assert np.shape(g) == np.shape(e), (np.shape(g), np.shape(e))
            assert np.asarray(g).dtype == r.type.dtype
            if (r.type.dtype.kind == "f" and r.type.dtype.itemsize == 4) or r.type.dtype == np.complex64:
                rtol, atol = max(rtol, 2e-5), max(atol, 1e-6)
            np.testing.assert_allclose(g, e, rtol=rtol, atol=atol)
    for x, y in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(x, y)


__all__ = ["ARRAY", "Builder", "Const", "Dyn", "Ref", "Type", "Var", "compare", "compile_program", "constant", "run"]
