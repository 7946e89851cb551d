"""Arguments and results by the hundred: tables that say what they are, and loops over the tables.

Code that is written out for each array keeps all their addresses alive until the kernel is called; LLVM's time for such
a function grows with the square of their number. So from a few arrays on, small functions go through tables:

    take_all(args, places)               for each argument that is an array: whether it fits, and where its elements lie
    take_numbers(args, places, buffers)  for each argument that is a number: whether it fits, and where its value lies
    make_all(results, places)            for each result that is an array: a new one, and where its elements lie
    drop_all(results)                    those arrays are given up again

Only arrays of static shape are in the tables; others are written out (`entry.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, VOID
from wengert.backend.llvm.machine.hints import rare
from wengert.backend.llvm.machine.internal import internal_constant, internal_function
from wengert.ir.node import Type

MANY = 4
"""From so many arrays on, loops go through tables."""


class _Table:
    """A constant table, a row for each of some arguments or results (`numbers`)."""

    row: ir.LiteralStructType

    def __init__(self, module: ir.Module, numbers: list[int]):
        self.module, self.numbers = module, numbers
        self.rows = {k: j for j, k in enumerate(numbers)}

    def fill(self, name: str, rows: Sequence[Sequence[ir.Value]]) -> None:
        constants = [ir.Constant(self.row, [I64(k), *row]) for k, row in zip(self.numbers, rows, strict=True)]
        self.constant = self.place(ir.Constant(ir.ArrayType(self.row, len(rows)), constants), name)

    def place(self, constant: ir.Constant, name: str) -> ir.GlobalVariable:
        return internal_constant(self.module, self.module.get_unique_name(name), constant)

    def function(self, name: str, result: ir.Type, arguments: int) -> tuple[ir.Function, ir.IRBuilder]:
        made = internal_function(self.module, name, result, [POINTER] * arguments, "noinline")
        return made, ir.IRBuilder(made.append_basic_block("start"))

    @contextmanager
    def loop(self, b: ir.IRBuilder, count: ir.Value) -> Iterator[tuple[ir.Value, list[ir.Value]]]:
        """A loop over the first rows: the number of a row, and what is in it."""
        head, body, end = b.block, b.append_basic_block("row"), b.append_basic_block("end")
        b.cbranch(b.icmp_signed(">", count, I64(0)), body, end)
        b.position_at_end(body)
        j = b.phi(I64)
        j.add_incoming(I64(0), head)
        row = b.gep(self.constant, [j], source_etype=self.row)
        fields = [
            b.load(b.gep(row, [I32(0), I32(k)], source_etype=self.row), typ=type)
            for k, type in enumerate(self.row.elements)
        ]
        yield j, fields
        following = b.add(j, I64(1), flags=("nuw", "nsw"))
        j.add_incoming(following, b.block)
        b.cbranch(b.icmp_signed("<", following, count), body, end).set_metadata("llvm.loop", rare(self.module))
        b.position_at_end(end)

    @property
    def count(self) -> ir.Constant:
        return I64(len(self.numbers))


class ArrayTable(_Table):
    """The arrays of static shape among arguments or results, if there are many.

    In a row: its number among all arguments or results, NumPy's dtype, its number there, rank, lengths.
    """

    row = ir.LiteralStructType([I64, POINTER, I64, I64, POINTER])

    def __init__(self, module: ir.Module, name: str, types: Sequence[Type], dtype: Callable[[Type], ir.Value]):
        found = [k for k, t in enumerate(types) if t.ndim and t.is_static]
        super().__init__(module, found if len(found) >= MANY else [])
        self._shapes: dict[tuple, ir.GlobalVariable] = {}
        if self.numbers:
            self.fill(name, [self._row(types[k], dtype(types[k])) for k in self.numbers])

    def _row(self, type: Type, dtype: ir.Value) -> list[ir.Value]:
        if type.shape not in self._shapes:
            lengths = ir.Constant(ir.ArrayType(I64, type.ndim), [I64(n) for n in type.shape])
            self._shapes[type.shape] = self.place(lengths, "shape")
        return [dtype, I64(type.dtype.num), I64(type.ndim), self._shapes[type.shape]]


class NumberTable(_Table):
    """The arguments that are numbers: which classes they may have, and how to come by their values (`entry.py`)."""

    row = ir.LiteralStructType([I64, POINTER, POINTER, POINTER, I64])

    def __init__(self, module: ir.Module, types: Sequence[Type], told: Callable[[Type], list[ir.Value]]):
        super().__init__(module, [k for k, t in enumerate(types) if not t.ndim])
        self.fill("numbers", [told(types[k]) for k in self.numbers])


def _at(b: ir.IRBuilder, array: ir.Value, k: ir.Value) -> ir.Value:
    return b.gep(array, [k], source_etype=POINTER)


def take_all(table: ArrayTable, fits: ir.Function, data: Callable[[ir.IRBuilder, ir.Value], ir.Value]) -> ir.Function:
    """`take_all(args, places)`: not zero if all arrays are as the kernel wants them."""
    function, b = table.function("take_all", I32, 2)
    args, places = function.args
    with table.loop(b, table.count) as (j, (number, dtype, _, ndim, shape)):
        argument = b.load(_at(b, args, number), typ=POINTER)
        right = b.call(fits, [argument, dtype, b.trunc(ndim, I32), shape])
        with b.if_then(b.icmp_signed("==", right, I32(0)), likely=False):
            b.ret(I32(0))
        b.store(data(b, argument), _at(b, places, j))
    b.ret(I32(1))
    return function


def take_numbers(table: NumberTable, number: ir.Function) -> ir.Function:
    """`take_numbers(args, places, buffers)`: not zero if all numbers are as the kernel wants them."""
    function, b = table.function("take_numbers", I32, 3)
    args, places, buffers = function.args
    with table.loop(b, table.count) as (j, (k, *told)):
        argument = b.load(_at(b, args, k), typ=POINTER)
        place = b.call(number, [argument, *told, _at(b, buffers, j)])
        with b.if_then(b.icmp_unsigned("==", place, POINTER(None)), likely=False):
            b.ret(I32(0))
        b.store(place, _at(b, places, j))
    b.ret(I32(1))
    return function


def drop_all(table: ArrayTable, decref: ir.Function) -> ir.Function:
    """`drop_all(results, count)`: the arrays of the first rows are given up."""
    made = internal_function(table.module, "drop_all", VOID, [POINTER, I64], "noinline")
    results, count = made.args
    b = ir.IRBuilder(made.append_basic_block("start"))
    with table.loop(b, count) as (_, (number, *_)):
        b.call(decref, [b.load(_at(b, results, number), typ=POINTER)])
    b.ret_void()
    return made


def make_all(
    table: ArrayTable,
    drop: ir.Function,
    new: Callable[[ir.IRBuilder, Any, ir.Value, ir.Value], ir.Value],
    data: Callable[[ir.IRBuilder, ir.Value], ir.Value],
) -> ir.Function:
    """`make_all(results, places)`: not zero if there was memory for all arrays; otherwise there is none of them."""
    function, b = table.function("make_all", I32, 2)
    results, places = function.args
    with table.loop(b, table.count) as (j, (number, _, num, ndim, shape)):
        array = new(b, b.trunc(num, I32), b.trunc(ndim, I32), shape)
        with b.if_then(b.icmp_unsigned("==", array, POINTER(None)), likely=False):
            b.call(drop, [results, j])
            b.ret(I32(0))
        b.store(array, _at(b, results, number))
        b.store(data(b, array), _at(b, places, j))
    b.ret(I32(1))
    return function
