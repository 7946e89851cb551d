"""The quick way to call a kernel: C functions for CPython, for the types of its inputs and outputs.

Most calls come with just what the kernel wants: arrays of the right dtype and shape, contiguous and aligned. The entry
sees that by reading the objects' fields, calls the kernel, and makes the arrays of the results, all in native code.

There are two such functions. `take` does that; what stands for the user's function (`dispatch.py`) calls it with the
leaves of the arguments. `enter` gives Python the list of all results; arguments that are not as usual it hands to the
plain way (`native.py`), which converts, or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, VOID, is_native
from wengert.backend.llvm.calls import many
from wengert.backend.llvm.calls.faults import RECORD
from wengert.backend.llvm.calls.objects import (
    DATA,
    DESCR,
    DONE,
    FLAGS,
    GOOD,
    IS_POSSIBLE,
    LENGTHS,
    NDIM,
    RAISED,
    TYPE,
    UNUSUAL,
    VALUE,
    ObjectWriter,
)
from wengert.backend.llvm.machine.hints import rare
from wengert.backend.llvm.machine.internal import internal_function
from wengert.ir.node import Dyn, Type

_AS_IT_LIES, _INTEGER, _TRUTH = range(3)
_PYTHONS = {"d": ("float", _AS_IT_LIES), "D": ("complex", _AS_IT_LIES), np.dtype(np.int64).char: ("int", _INTEGER),
            "?": ("bool", _TRUTH)}  # fmt: skip
"""Which class of Python stands for a dtype, and how to come by its value."""


def has_entry(inputs: Sequence[Type], outputs: Sequence[Type]) -> bool:
    """Whether there is an entry for such inputs and outputs: not for scalars of unusual dtypes."""
    return IS_POSSIBLE and all(is_native(t.dtype) for t in (*inputs, *outputs))


class Entry(ObjectWriter):
    """Writes the entry of a kernel, `enter(self, args, count)`, into a module.

    `plain` and `fail` are names of global symbols at whose address lie the Python functions to fall back to: the plain
    way, and what to call with the address of the fault record (status first) if the kernel failed.
    """

    def __init__(
        self, module: ir.Module, kernel: ir.Function, inputs: list[Type], outputs: list[Type], releases_gil: bool
    ):
        super().__init__(module)
        self.kernel = kernel
        self.inputs, self.outputs, self.releases_gil = inputs, outputs, releases_gil

    def write(self) -> None:
        """Write it, if there is one."""
        if has_entry(self.inputs, self.outputs):
            self._enter(self._take())

    def _take(self) -> ir.Function:
        """`take(args, count, results)`: the whole call, with new references to the results; see the statuses."""
        number = None if all(t.ndim for t in self.inputs) else self._number()
        function = self.begin("take", I32, [POINTER, I64, POINTER], is_inner=False)
        function.attributes.add("noinline")
        args, count, self.results = function.args
        self.record = self.stack(I64, RECORD + 1)
        self.expect(self.b.icmp_signed("==", count, I64(len(self.inputs))))
        self.taken = many.ArrayTable(self.module, "inputs", self.inputs, self._dtype)
        self.made = many.ArrayTable(self.module, "outputs", self.outputs, self._dtype)
        values: list[Any] = [self.at(self.record, 8)]
        places = self._all_taken(args)
        if number is not None:
            numbers = many.NumberTable(self.module, self.inputs, self._of_number)
            found, buffers = self.stack(POINTER, len(numbers.rows)), self.stack(I64, len(numbers.rows))
            taken = self.b.call(many.take_numbers(numbers, number), [args, found, buffers])
            self.expect(self.b.icmp_signed("!=", taken, I32(0)))
        for k, type in enumerate(self.inputs):
            if k in self.taken.rows:
                values.append((places, self.taken.rows[k]))
            elif type.ndim:
                values += self._array(self.b.load(self.at(args, 8 * k), typ=POINTER), type)
            else:
                values.append((found, numbers.rows[k]))
        places = self._all_made()  # only now, when it is certain that the arguments are as they should be
        made: list[tuple[Type, ir.Value | None, ir.Value]] = []
        self.unwinding: list[ir.Block] = []
        for k, type in enumerate(self.outputs):
            if k in self.made.rows:
                values.append((places, self.made.rows[k]))
            else:
                made.append(self._room(type, made))
                values.append(made[-1][2])
        # Addresses are loaded only now, so that they need not be kept in registers.
        status = self._kernel([self.field(v[0], 8 * v[1], POINTER) if v.__class__ is tuple else v for v in values])
        good = function.append_basic_block("good")
        bad = function.append_basic_block("bad")
        self.b.cbranch(self.b.icmp_signed("==", status, I32(0)), good, bad).set_weights([100000, 1])
        self.b.position_at_end(bad)
        self._failed(status, made)
        self.b.position_at_end(good)
        self._results(made)
        self.b.position_at_end(self.slow)
        self.b.ret(I32(UNUSUAL))
        return function

    def _all_taken(self, args: ir.Value) -> ir.Value | None:
        """Where the elements lie of those arguments that a table knows, if there are any."""
        if not self.taken.numbers:
            return None
        places = self.stack(POINTER, len(self.taken.numbers))
        take_all = many.take_all(self.taken, self._fits(), _data)
        self.expect(self.b.icmp_signed("!=", self.b.call(take_all, [args, places]), I32(0)))
        return places

    def _all_made(self) -> ir.Value | None:
        """Where the elements lie of those results that a table knows, if there are any."""
        if not self.made.numbers:
            return None
        b, places = self.b, self.stack(POINTER, len(self.made.numbers))
        self.drop_all = many.drop_all(self.made, self.external("Py_DecRef", VOID, [POINTER]))
        make_all = many.make_all(self.made, self.drop_all, self._called_new, _data)
        with b.if_then(b.icmp_signed("==", b.call(make_all, [self.results, places]), I32(0)), likely=False):
            b.ret(I32(RAISED))
        return places

    def _enter(self, take: ir.Function) -> None:
        """`enter(self, args, count)`: a list of the results."""
        function = self.begin("enter", POINTER, [POINTER, POINTER, I64], is_inner=False)
        _, args, count = function.args
        b = self.b
        results = self.stack(POINTER, max(len(self.outputs), 1))
        status = b.call(take, [args, count, results])
        with b.if_then(b.icmp_signed("==", status, I32(RAISED)), likely=False):
            b.ret(POINTER(None))
        self.expect(b.icmp_signed("==", status, I32(DONE)))
        whole = b.call(self.external("PyList_New", POINTER, [I64]), [I64(len(self.outputs))])
        put = self.external("PyList_SetItem", I32, [POINTER, I64, POINTER])
        for k in range(len(self.outputs)):
            b.call(put, [whole, I64(k), self.field(results, 8 * k, POINTER)])
        b.ret(whole)
        b.position_at_end(self.slow)
        call = self.external("PyObject_Vectorcall", POINTER, [POINTER, POINTER, I64, POINTER])
        b.ret(b.call(call, [self.object("wg_plain"), args, count, POINTER(None)]))

    def _dtype(self, type: Type) -> ir.Value:
        """NumPy's own object for a dtype."""
        return self.object(f"wg_dtype_{type.dtype.char}")

    # ----------------------------------------------------------------------------------------------------- arguments

    def _array(self, argument: ir.Value, type: Type) -> list[ir.Value]:
        """Data, and lengths where they are not known."""
        b = self.b
        self.expect(self.is_(self.field(argument, TYPE, POINTER), "wg_type_ndarray"))
        self.expect(b.icmp_unsigned("==", self.field(argument, DESCR, POINTER), self._dtype(type)))
        flags = b.and_(self.field(argument, FLAGS, I32), I32(GOOD))
        right = b.icmp_signed("==", flags, I32(GOOD))
        self.expect(b.and_(right, b.icmp_signed("==", self.field(argument, NDIM, I32), I32(type.ndim))))
        lengths = self.field(argument, LENGTHS, POINTER)
        found = []
        for k, n in enumerate(type.shape):
            length = self.field(lengths, 8 * k, I64)
            if not isinstance(n, Dyn):
                self.expect(b.icmp_signed("==", length, I64(n)))
                continue
            found.append(length)
            if n.bound is not None:
                self.expect(b.icmp_signed("<=", length, I64(n.bound)))
        return [self.field(argument, DATA, POINTER), *found]

    def _fits(self) -> ir.Function:
        """`fits(argument, dtype, ndim, shape)`: not zero for such an array. It is shorter than to write it for each."""
        found = self.module.globals.get("fits")
        if found is not None:
            return found
        function = internal_function(self.module, "fits", I32, [POINTER, POINTER, I32, POINTER])
        argument, dtype, ndim, shape = function.args
        outer, b = (self.b, self.function, self.slow), ir.IRBuilder(function.append_basic_block("start"))
        self.b, self.function, self.slow = b, function, function.append_basic_block("no")
        self.expect(self.is_(self.field(argument, TYPE, POINTER), "wg_type_ndarray"))
        self.expect(b.icmp_unsigned("==", self.field(argument, DESCR, POINTER), dtype))
        flags = b.and_(self.field(argument, FLAGS, I32), I32(GOOD))
        right = b.icmp_signed("==", flags, I32(GOOD))
        self.expect(b.and_(right, b.icmp_signed("==", self.field(argument, NDIM, I32), ndim)))
        lengths, head, count = self.field(argument, LENGTHS, POINTER), b.block, b.zext(ndim, I64)
        loop, yes = function.append_basic_block("loop"), function.append_basic_block("yes")
        b.branch(loop)
        b.position_at_end(loop)
        k = b.phi(I64)
        k.add_incoming(I64(0), head)
        wanted, there = [b.load(b.gep(p, [k], source_etype=I64), typ=I64) for p in (shape, lengths)]
        self.expect(b.icmp_signed("==", wanted, there))
        k.add_incoming(following := b.add(k, I64(1), flags=("nuw", "nsw")), b.block)
        b.cbranch(b.icmp_signed("<", following, count), loop, yes).set_metadata("llvm.loop", rare(self.module))
        b.position_at_end(yes)
        b.ret(I32(1))
        b.position_at_end(self.slow)
        b.ret(I32(0))
        self.b, self.function, self.slow = outer
        return function

    def _number(self) -> ir.Function:
        """`number(argument, numpys, pythons, dtype, kind, buffer)`: where the value of a number lies, or null.

        It may be of NumPy's class, of Python's (integers and truth values come into the buffer), or an array of this
        dtype without axes.
        """
        function = self.begin("number", POINTER, [POINTER, POINTER, POINTER, POINTER, I64, POINTER])
        argument, numpys, pythons, dtype, kind, buffer = function.args
        b, own = self.b, self.field(argument, TYPE, POINTER)
        is_pythons = b.icmp_unsigned("==", own, pythons)
        has_value = b.and_(is_pythons, b.icmp_signed("==", kind, I64(_AS_IT_LIES)))
        with b.if_then(b.or_(b.icmp_unsigned("==", own, numpys), has_value), likely=True):
            b.ret(self.at(argument, VALUE))
        with b.if_then(is_pythons):
            with b.if_then(b.icmp_signed("==", kind, I64(_TRUTH))):
                b.store(b.zext(self.is_(argument, "wg_true"), I8), buffer)
                b.ret(buffer)
            overflow = self.stack(I32, 1)
            read = self.external("PyLong_AsLongLongAndOverflow", I64, [POINTER, POINTER])
            b.store(b.call(read, [argument, overflow]), buffer)
            self.expect(b.icmp_signed("==", b.load(overflow, typ=I32), I32(0)))
            b.ret(buffer)
        self.expect(self.is_(own, "wg_type_ndarray"))
        self.expect(b.icmp_unsigned("==", self.field(argument, DESCR, POINTER), dtype))
        self.expect(b.icmp_signed("==", self.field(argument, NDIM, I32), I32(0)))
        self.expect(b.icmp_signed("==", b.and_(self.field(argument, FLAGS, I32), I32(GOOD)), I32(GOOD)))
        b.ret(self.field(argument, DATA, POINTER))
        b.position_at_end(self.slow)
        b.ret(POINTER(None))
        return function

    def _of_number(self, type: Type) -> list[ir.Value]:
        """What `number` is told of a type."""
        pythons, kind = _PYTHONS.get(type.dtype.char, ("", _AS_IT_LIES))
        own = self.object(f"wg_type_python_{pythons}") if pythons else POINTER(None)
        return [self.object(f"wg_type_{type.dtype.type.__name__}"), own, self._dtype(type), I64(kind)]

    # ------------------------------------------------------------------------------------------------------- results

    def _room(self, type: Type, made: list) -> tuple[Type, ir.Value | None, ir.Value]:
        """The array of a result and where its data are; for others a place on the stack."""
        b = self.b
        if not type.is_static:
            words = self.stack(I64, 1 + type.ndim)
            b.store(POINTER(None), words)
            return type, None, words
        if not type.ndim:
            return type, None, self.stack(I64, 2)
        lengths = self.stack(I64, type.ndim)
        for k, n in enumerate(type.shape):
            b.store(I64(n), self.at(lengths, 8 * k))
        array = self._new_array(type, lengths, lambda: b.branch(self._unwinding(made)))
        return type, array, self.field(array, DATA, POINTER)

    def _unwinding(self, made: list) -> ir.Block:
        """The block that drops what was made so far and raises. Each drops one array and goes on to the one before it:
        n results take n blocks, not n²/2 calls."""
        while len(self.unwinding) <= len(made):
            block = self.function.append_basic_block("unwind")
            with self.b.goto_block(block):
                if self.unwinding:
                    self._drop_made(made[len(self.unwinding) - 1 : len(self.unwinding)])
                    self.b.branch(self.unwinding[-1])
                else:
                    self._drop_table()
                    self.b.ret(I32(RAISED))
            self.unwinding.append(block)
        return self.unwinding[-1]

    def _new_array(self, type: Type, lengths: ir.Value, on_failure: Callable[[], None]) -> ir.Value:
        b = self.b
        array = self._called_new(b, I32(type.dtype.num), I32(type.ndim), lengths)
        with b.if_then(b.icmp_unsigned("==", array, POINTER(None)), likely=False):
            on_failure()
        return array

    def _called_new(self, b: ir.IRBuilder, num: ir.Value, ndim: ir.Value, lengths: ir.Value) -> ir.Value:
        new = self.external(
            "wg_PyArray_New", POINTER, [POINTER, I32, POINTER, I32, POINTER, POINTER, I32, I32, POINTER]
        )
        null = POINTER(None)
        return b.call(new, [self.object("wg_type_ndarray"), ndim, lengths, num, null, null, I32(0), I32(0), null])

    def _kernel(self, values: list[ir.Value]) -> ir.Value:
        b = self.b
        if not self.releases_gil:
            return b.call(self.kernel, values)
        state = b.call(self.external("PyEval_SaveThread", POINTER, []), [])
        status = b.call(self.kernel, values)
        b.call(self.external("PyEval_RestoreThread", VOID, [POINTER]), [state])
        return status

    def _drop_made(self, made: list) -> None:
        for type, array, place in made:
            if array is not None:
                self.drop(array)
            elif not type.is_static:
                free = self.external("free", VOID, [POINTER])
                self.b.call(free, [self.b.load(place, typ=POINTER)])

    def _drop_table(self) -> None:
        if self.made.numbers:
            self.b.call(self.drop_all, [self.results, self.made.count])

    def _failed(self, status: ir.Value, made: list) -> None:
        b = self.b
        b.store(b.zext(status, I64), self.record)
        self._drop_made(made)
        self._drop_table()
        address = b.call(self.external("PyLong_FromVoidPtr", POINTER, [POINTER]), [self.record])
        call = self.external("PyObject_CallOneArg", POINTER, [POINTER, POINTER])
        b.call(call, [self.object("wg_fail"), address])
        self.drop(address)
        b.ret(I32(RAISED))

    def _results(self, made: list) -> None:
        b = self.b
        others = [k for k in range(len(self.outputs)) if k not in self.made.rows]
        for done, (k, (type, array, place)) in enumerate(zip(others, made, strict=True)):
            if array is None and not type.ndim:
                new = self.external("wg_PyArray_Scalar", POINTER, [POINTER, POINTER, POINTER])
                array = b.call(new, [place, self._dtype(type), POINTER(None)])
            elif array is None:
                array = self._received(type, place, lambda done=done: self._drop_rest(others, made, done))  # type: ignore[misc]
            b.store(array, self.at(self.results, 8 * k))
        b.ret(I32(DONE))

    def _drop_rest(self, others: list[int], made: list, done: int) -> None:
        """Drop the results that are there already, and what the others were to be made of."""
        for k in others[:done]:
            self.drop(self.field(self.results, 8 * k, POINTER))
        self._drop_made(made[done:])
        self._drop_table()
        self.b.ret(I32(RAISED))

    def _received(self, type: Type, words: ir.Value, on_failure: Callable[[], None]) -> ir.Value:
        """A result whose lengths the kernel found: its memory becomes an array's."""
        b = self.b
        lengths = self.stack(I64, type.ndim)
        place = 1
        nbytes: ir.Value = I64(type.dtype.itemsize)
        for k, n in enumerate(type.shape):
            length: ir.Value = I64(n) if isinstance(n, int) else self.field(words, 8 * place, I64)
            place += not isinstance(n, int)
            b.store(length, self.at(lengths, 8 * k))
            nbytes = b.mul(nbytes, length)
        array = self._new_array(type, lengths, on_failure)
        memory = b.load(words, typ=POINTER)
        copy = self.external("memcpy", POINTER, [POINTER, POINTER, I64])
        b.call(copy, [self.field(array, DATA, POINTER), memory, nbytes])
        b.call(self.external("free", VOID, [POINTER]), [memory])
        b.store(POINTER(None), words)
        return array


def _data(b: ir.IRBuilder, array: ir.Value) -> ir.Value:
    """Where the elements of an array lie."""
    return b.load(b.gep(array, [I64(DATA)], source_etype=I8), typ=POINTER)
