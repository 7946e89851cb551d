"""Tiles: a few rows of a product of matrices, in a few vectors of columns, all of which are sums in registers.

Where the second factor lies in memory by columns, as a transposed matrix does, a tile is a few rows by a few columns,
and each of its sums is over a vector of products (`Dots`), so that nothing has to be transposed.

Products of matrices are made of them (`blas.py`). LLVM's own choice for loops of few, known iterations is often poor:
it unrolls first, and gathers what it then finds; so tiles are written in vectors. A tile of many sums is a function of
the module, which takes distances and the number of products as arguments: LLVM's time grows with the code, and programs
have many products whose tiles are the same. One of few sums stands where it is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import (
    I32,
    I64,
    POINTER,
    VOID,
    element_pointer,
    known,
    load_element,
    register_type,
    times,
)
from wengert.backend.llvm.linalg.matrices import Matrix
from wengert.backend.llvm.machine.hints import not_unrolled
from wengert.backend.llvm.machine.internal import internal_function

SMALL = 4
"""A tile of not more sums than this stands where it is used."""


def widths_of(n: int, lanes: int) -> list[int]:
    """Lengths of vectors that make up n elements: as many full ones as there are, then halves."""
    found = []
    while n:
        found += [lanes] * (n // lanes)
        n, lanes = n % lanes, lanes // 2
    return found


class Tile(NamedTuple):
    """So many rows, in vectors of such lengths."""

    dtype: np.dtype
    rows: int
    widths: tuple[int, ...]

    @property
    def types(self) -> list[ir.VectorType]:
        return [ir.VectorType(register_type(self.dtype), width) for width in self.widths]

    def write(
        self, cx: Any, x: Matrix, y: Matrix, z: Matrix, listed: ir.Value | None = None, placed: bool = False
    ) -> None:
        """z = x·y for matrices of the tile's size, where rows of y lie in a row. With numbers that are `listed` in
        memory, as many as x has columns, these columns of x and rows of y are multiplied; if y is `placed`, they say
        at which element each row of y begins, and all columns of x count."""
        in_a_row = known(x.right) == 1
        if known(z.right) != 1 or (self.rows * len(self.widths) <= SMALL and not placed):
            self._write(cx.builder, x, y, z, listed, placed)
            return
        values = [x.pointer, x.down, x.right, y.pointer, y.down, z.pointer, z.down, x.columns]
        if in_a_row:
            del values[2]
        if listed is not None:
            values.append(listed)
        cx.builder.call(self._function(cx.module, in_a_row, listed is not None, placed), values)

    def _function(self, module: ir.Module, in_a_row: bool, has_list: bool, placed: bool) -> ir.Function:
        """The tile as a function; with numbers of x that lie in a row, or with their distance as an argument."""
        kinds = [*(["row"] if in_a_row else []), *(["placed" if placed else "listed"] if has_list else [])]
        name = "_".join(map(str, ("tile", self.dtype.char, self.rows, *self.widths, *kinds)))
        found = module.globals.get(name)
        if found is not None:
            return found
        parts = [POINTER, I64, *([] if in_a_row else [I64]), POINTER, I64, POINTER, I64, I64]
        parts += [POINTER] if has_list else []
        function = internal_function(module, name, VOID, parts, "nounwind", "noinline")
        builder = ir.IRBuilder(function.append_basic_block())
        values = list(function.args)
        listed = values.pop() if has_list else None
        if in_a_row:
            values.insert(2, I64(1))
        x, down, right, y, y_down, z, z_down, count = values
        rows, columns = I64(self.rows), I64(sum(self.widths))
        self._write(
            builder,
            Matrix(x, rows, count, down, right, self.dtype),
            Matrix(y, count, columns, y_down, I64(1), self.dtype),
            Matrix(z, rows, columns, z_down, I64(1), self.dtype),
            listed,
            placed,
        )
        builder.ret_void()
        return function

    def _write(self, b: ir.IRBuilder, x: Matrix, y: Matrix, z: Matrix, listed: ir.Value | None, placed: bool) -> None:
        types, align, count = self.types, self.dtype.itemsize, x.columns
        starts = [sum(self.widths[:k]) for k in range(len(types))]
        zeros = [ir.Constant(t, [0.0] * t.count) for _ in range(self.rows) for t in types]

        def at(pointer: ir.Value, offset: ir.Value) -> ir.Value:
            return pointer if known(offset) == 0 else element_pointer(b, pointer, offset, self.dtype)

        rows = [at(x.pointer, times(b, x.down, I64(r))) for r in range(self.rows)]
        targets = [at(z.pointer, times(b, z.down, I64(r))) for r in range(self.rows)]
        n = known(count)
        sums: list[ir.Value] = zeros
        if n != 0:
            head, body, after = b.block, b.append_basic_block("sum"), b.append_basic_block("summed")
            if n is None:
                b.cbranch(b.icmp_signed(">", count, I64(0)), body, after)
            else:
                b.branch(body)
            b.position_at_end(body)
            k, following = b.phi(I64), b.phi(POINTER)
            k.add_incoming(I64(0), head)
            following.add_incoming(y.pointer, head)
            before = [b.phi(zero.type) for zero in zeros]
            which, row_of_y = k, following
            if listed is not None:
                found_there = load_element(b, listed, k, np.dtype(np.int64))
                which = k if placed else found_there
                start = found_there if placed else times(b, which, y.down)
                row_of_y = element_pointer(b, y.pointer, start, self.dtype)
            loaded = [b.load(at(row_of_y, I64(s)), typ=t, align=align) for t, s in zip(types, starts, strict=True)]
            offset, found = times(b, which, x.right), []
            for row in rows:
                factor = b.load(element_pointer(b, row, offset, self.dtype), typ=types[0].element, align=align)
                spread: dict[int, ir.Value] = {}
                for t, v in zip(types, loaded, strict=True):
                    if t.count not in spread:
                        spread[t.count] = _in_all_lanes(b, factor, t)
                    term = b.fmul(spread[t.count], v, flags=("contract",))
                    found.append(b.fadd(before[len(found)], term, flags=("contract",)))
            one_more = b.add(k, I64(1), flags=("nuw", "nsw"))
            k.add_incoming(one_more, body)
            following.add_incoming(element_pointer(b, following, y.down, self.dtype), body)
            for phi, zero, new in zip(before, zeros, found, strict=True):
                phi.add_incoming(zero, head)
                phi.add_incoming(new, body)
            back = b.cbranch(b.icmp_signed("<", one_more, count), body, after)
            if n is None:
                back.set_metadata("llvm.loop", not_unrolled(b.module))
            b.position_at_end(after)
            sums = found
            if n is None:
                sums = [b.phi(zero.type) for zero in zeros]
                for phi, zero, new in zip(sums, zeros, found, strict=True):
                    phi.add_incoming(zero, head)
                    phi.add_incoming(new, body)
        places = [(row, s) for row in targets for s in starts]
        for (row, s), value in zip(places, sums, strict=True):
            if known(z.right) == 1:
                b.store(value, at(row, I64(s)), align=align)
                continue
            for lane in range(value.type.count):
                element = b.extract_element(value, I32(lane))
                b.store(element, at(row, times(b, z.right, I64(s + lane))), align=align)


class Dots(NamedTuple):
    """So many rows of one factor by so many columns of the other; both lie in a row in memory."""

    dtype: np.dtype
    rows: int
    columns: int

    def write(self, cx: Any, x: Matrix, y: Matrix, z: Matrix) -> None:
        """z = x·y for matrices of this size."""
        values = [x.pointer, x.down, y.pointer, y.right, z.pointer, z.down, z.right, x.columns]
        cx.builder.call(self._function(cx.module), values)

    def _function(self, module: ir.Module) -> ir.Function:
        name = f"dots_{self.dtype.char}_{self.rows}_{self.columns}"
        found = module.globals.get(name)
        if found is not None:
            return found
        parts = [POINTER, I64, POINTER, I64, POINTER, I64, I64, I64]
        function = internal_function(module, name, VOID, parts, "nounwind", "noinline")
        b = ir.IRBuilder(function.append_basic_block())
        x, x_apart, y, y_apart, z, z_down, z_right, count = function.args
        number = register_type(self.dtype)
        vector = ir.VectorType(number, 64 // self.dtype.itemsize)
        rows = [element_pointer(b, x, times(b, x_apart, I64(r)), self.dtype) for r in range(self.rows)]
        columns = [element_pointer(b, y, times(b, y_apart, I64(c)), self.dtype) for c in range(self.columns)]
        in_vectors = b.and_(count, I64(-vector.count))
        zeros = [ir.Constant(vector, [0.0] * vector.count)] * (self.rows * self.columns)
        sums = self._summed(b, rows, columns, I64(0), in_vectors, vector.count, vector, zeros)
        of_lanes = f"llvm.vector.reduce.fadd.v{vector.count}f{8 * self.dtype.itemsize}"
        add = module.globals.get(of_lanes) or ir.Function(module, ir.FunctionType(number, [number, vector]), of_lanes)
        totals = [b.call(add, [number(-0.0), total], fastmath=("reassoc",)) for total in sums]
        totals = self._summed(b, rows, columns, in_vectors, count, 1, number, totals)
        for k, total in enumerate(totals):
            place = b.add(times(b, z_down, I64(k // self.columns)), times(b, z_right, I64(k % self.columns)))
            b.store(total, element_pointer(b, z, place, self.dtype), align=self.dtype.itemsize)
        b.ret_void()
        return function

    def _summed(
        self, b: ir.IRBuilder, rows: list, columns: list, start: ir.Value, stop: ir.Value, step: int, type: ir.Type,
        sums: list[ir.Value],
    ) -> list[ir.Value]:  # fmt: skip
        """Each sum and the products from start to stop, so many at a time."""
        head, body, after = b.block, b.append_basic_block("products"), b.append_basic_block("summed")
        b.cbranch(b.icmp_signed("<", start, stop), body, after)
        b.position_at_end(body)
        k = b.phi(I64)
        before = [b.phi(type) for _ in sums]
        load = lambda start: b.load(element_pointer(b, start, k, self.dtype), typ=type, align=self.dtype.itemsize)
        factors, found = [load(column) for column in columns], []
        for row in rows:
            v = load(row)
            for w in factors:
                term = b.fmul(v, w, flags=("contract",))
                found.append(b.fadd(before[len(found)], term, flags=("contract",)))
        following = b.add(k, I64(step), flags=("nuw", "nsw"))
        k.add_incoming(start, head)
        k.add_incoming(following, body)
        back = b.cbranch(b.icmp_signed("<", following, stop), body, after)
        back.set_metadata("llvm.loop", not_unrolled(b.module))
        b.position_at_end(after)
        ends = [b.phi(type) for _ in sums]
        for phi, end, first, new in zip(before, ends, sums, found, strict=True):
            phi.add_incoming(first, head)
            phi.add_incoming(new, body)
            end.add_incoming(first, head)
            end.add_incoming(new, body)
        return ends


def _in_all_lanes(b: ir.IRBuilder, value: ir.Value, type: ir.VectorType) -> ir.Value:
    """A number in all lanes."""
    undefined = ir.Constant(type, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(I32, type.count), [0] * type.count)
    return b.shuffle_vector(b.insert_element(undefined, value, I32(0)), undefined, lanes)
