"""The quick way to call a kernel: a C function for CPython, written together with the kernel.

Most calls come with just what the kernel wants: arrays of the right dtype and shape, contiguous and aligned. The entry
sees that by reading the objects' fields, calls the kernel, and makes the arrays of the results, all in native code. In
any other case it hands its arguments to the plain way (`native.py`), which converts, or says what is wrong.

There are two such functions. `enter` gives the list of all results. `direct` gives what most functions return: one
result as it is, several as a tuple, or, where the program computes nothing, an argument. So it can stand for the user's
function itself: what it was made with says whom to call, with all that was given, where things are not as usual.

`PyArrayObject`, and Python's and NumPy's scalars, have had these layouts since NumPy 1.0; builds of CPython without a
GIL have other object heads and use the plain way always, as does everything that is not CPython with 64 bits.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I8, I32, I64, POINTER, VOID, is_native
from wengert.backend.llvm.calls import many
from wengert.backend.llvm.calls.faults import RECORD
from wengert.backend.llvm.machine.hints import rare
from wengert.ir.node import Dyn, Type

IS_POSSIBLE = (
    sys.implementation.name == "cpython"
    and ctypes.sizeof(ctypes.c_void_p) == 8
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)

_TYPE, _DATA, _NDIM, _LENGTHS, _DESCR, _FLAGS, _VALUE = 8, 16, 24, 32, 56, 64, 16
_SIZE, _ITEMS = 16, 24
"""Where the fields lie: of any object its type; of an array data, rank, lengths, dtype, flags; a scalar's value; of a
tuple its size and items."""

_GOOD = 0x0001 | 0x0100
"""NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED."""

_METH_FASTCALL, _METH_KEYWORDS = 0x0080, 0x0002

_DONE, _UNUSUAL, _RAISED = 0, 1, 2
"""How a call went: the results are there; the arguments are not for the quick way; a Python exception is set."""


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class Entry:
    """Writes the entry of a kernel, `enter(self, args, count)`, into its module.

    `plain` and `fail` are names of global symbols at whose address lie the Python functions to fall back to: the plain
    way, and what to call with the address of the fault record (status first) if the kernel failed.
    """

    def __init__(
        self, module: ir.Module, kernel: ir.Function, inputs: list[Type], outputs: list[Type], releases_gil: bool
    ):
        self.module, self.kernel = module, kernel
        self.inputs, self.outputs, self.releases_gil = inputs, outputs, releases_gil

    def write(self) -> bool:
        """Whether there is an entry: not for scalars of unusual dtypes."""
        if not IS_POSSIBLE or not all(is_native(t.dtype) for t in (*self.inputs, *self.outputs)):
            return False
        take = self._take()
        self._enter(take)
        self._direct(take)
        return True

    def _begin(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        function = self.function = ir.Function(self.module, ir.FunctionType(result, arguments), name)
        self.top = ir.IRBuilder(function.append_basic_block("entry"))
        start = function.append_basic_block("start")
        self.top.position_before(self.top.branch(start))
        self.b = ir.IRBuilder(start)
        self.slow = function.append_basic_block("slow")
        return function

    def _take(self) -> ir.Function:
        """`take(args, count, results)`: the whole call, with new references to the results; see the statuses."""
        function = self._begin("take", I32, [POINTER, I64, POINTER])
        function.linkage = "internal"
        function.attributes.add("noinline")
        args, count, self.results = function.args
        self.record = self._stack(I64, RECORD + 1)
        self._expect(self.b.icmp_signed("==", count, I64(len(self.inputs))))
        self.taken = many.ArrayTable(self.module, "inputs", self.inputs, self._dtype)
        self.made = many.ArrayTable(self.module, "outputs", self.outputs, self._dtype)
        places = self._all_at_once(args)
        values: list[Any] = [self._at(self.record, 8)]
        for k, type in enumerate(self.inputs):
            if k in self.taken.rows:
                values.append((places[0], self.taken.rows[k]))
                continue
            argument = self.b.load(self._at(args, 8 * k), typ=POINTER)
            values += self._array(argument, type) if type.ndim else [self._scalar(argument, type)]
        made: list[tuple[Type, ir.Value | None, ir.Value]] = []
        self.unwinding: list[ir.Block] = []
        for k, type in enumerate(self.outputs):
            if k in self.made.rows:
                values.append((places[1], self.made.rows[k]))
            else:
                made.append(self._room(type, made))
                values.append(made[-1][2])
        # Addresses are loaded only now, so that they need not be kept in registers.
        status = self._kernel([self._field(v[0], 8 * v[1], POINTER) if v.__class__ is tuple else v for v in values])
        good = function.append_basic_block("good")
        bad = function.append_basic_block("bad")
        self.b.cbranch(self.b.icmp_signed("==", status, I32(0)), good, bad).set_weights([100000, 1])
        self.b.position_at_end(bad)
        self._failed(status, made)
        self.b.position_at_end(good)
        self._results(made)
        self.b.position_at_end(self.slow)
        self.b.ret(I32(_UNUSUAL))
        return function

    def _all_at_once(self, args: ir.Value) -> tuple[ir.Value | None, ir.Value | None]:
        """Where the elements lie of those arguments and results that tables know, if there are any."""
        b, taken, made = self.b, None, None
        if self.taken.numbers:
            taken = self._stack(POINTER, len(self.taken.numbers))
            take_all = many.take_all(self.taken, self._fits(), _data)
            self._expect(b.icmp_signed("!=", b.call(take_all, [args, taken]), I32(0)))
        if self.made.numbers:
            made = self._stack(POINTER, len(self.made.numbers))
            self.drop_all = many.drop_all(self.made, self._function("Py_DecRef", VOID, [POINTER]))
            make_all = many.make_all(self.made, self.drop_all, self._called_new, _data)
            with b.if_then(b.icmp_signed("==", b.call(make_all, [self.results, made]), I32(0)), likely=False):
                b.ret(I32(_RAISED))
        return taken, made

    def _taken(self, take: ir.Function, args: ir.Value, count: ir.Value, held: ir.Value | None = None) -> ir.Value:
        """The call of `take`, after which the results are there. An object may be `held` until then."""
        b = self.b
        results = self._stack(POINTER, max(len(self.outputs), 1))
        status = b.call(take, [args, count, results])
        if held is not None:
            b.call(self._function("Py_DecRef", VOID, [POINTER]), [b.load(held, typ=POINTER)])
        with b.if_then(b.icmp_signed("==", status, I32(_RAISED)), likely=False):
            b.ret(POINTER(None))
        self._expect(b.icmp_signed("==", status, I32(_DONE)))
        return results

    def _enter(self, take: ir.Function) -> None:
        function = self._begin("enter", POINTER, [POINTER, POINTER, I64])
        _, args, count = function.args
        b = self.b
        results = self._taken(take, args, count)
        self._put_into("List", results)
        b.position_at_end(self.slow)
        call = self._function("PyObject_Vectorcall", POINTER, [POINTER, POINTER, I64, POINTER])
        b.ret(b.call(call, [self._object("wg_plain"), args, count, POINTER(None)]))

    def _direct(self, take: ir.Function) -> None:
        function = self._begin("direct", POINTER, [POINTER, POINTER, I64, POINTER])
        pair, args, count, names = function.args
        b = self.b
        item = self._function("PyTuple_GetItem", POINTER, [POINTER, I64])
        self._expect(b.icmp_unsigned("==", names, POINTER(None)))
        self._expect(b.icmp_signed("==", b.load(self._object("wg_chosen"), typ=I64), I64(0)))
        results = self._taken(take, *self._with_more(args, count, b.call(item, [pair, I64(2)])))
        if not self.outputs:
            which = b.call(item, [pair, I64(1)])
            place = b.call(self._function("PyLong_AsSsize_t", I64, [POINTER]), [which])
            self._expect(b.icmp_unsigned("<", place, count))
            argument = b.load(b.gep(args, [place], source_etype=POINTER), typ=POINTER)
            b.call(self._function("Py_IncRef", VOID, [POINTER]), [argument])
            b.ret(argument)
        elif len(self.outputs) == 1:
            b.ret(b.load(results, typ=POINTER))
        else:
            self._put_into("Tuple", results)
        b.position_at_end(self.slow)
        call = self._function("PyObject_Vectorcall", POINTER, [POINTER, POINTER, I64, POINTER])
        b.ret(b.call(call, [b.call(item, [pair, I64(0)]), args, count, names]))

    def _with_more(self, args: ir.Value, count: ir.Value, more: ir.Value) -> list[ir.Value]:
        """Where the arguments are, how many, and a place for what holds them, with those that a Python function adds.

        If there is one (it is not None) and it gives no tuple, or the number is not right, the slow way is gone.
        """
        b = self.b
        places = self._stack(POINTER, 1), self._stack(I64, 1), self._stack(POINTER, 1)
        for value, place in zip((args, count, POINTER(None)), places, strict=True):
            b.store(value, place)
        with b.if_then(b.not_(self._is(more, "wg_none"))):
            found = b.call(self._function("PyObject_CallNoArgs", POINTER, [POINTER]), [more])
            with b.if_then(b.icmp_unsigned("==", found, POINTER(None)), likely=False):
                b.ret(POINTER(None))
            b.store(found, places[2])
            drop = self._function("Py_DecRef", VOID, [POINTER])
            is_tuple = self._is(self._field(found, _TYPE, POINTER), "wg_type_python_tuple")
            with b.if_then(b.not_(is_tuple), likely=False):
                b.call(drop, [found])
                b.branch(self.slow)
            size = self._field(found, _SIZE, I64)
            total = b.add(count, size)
            with b.if_then(b.icmp_signed("!=", total, I64(len(self.inputs))), likely=False):
                b.call(drop, [found])
                b.branch(self.slow)
            with b.if_then(b.icmp_signed(">", size, I64(0))):
                joined = self._stack(POINTER, max(len(self.inputs), 1))
                copy = self._function("memcpy", POINTER, [POINTER, POINTER, I64])
                own = b.mul(count, I64(8))
                b.call(copy, [joined, args, own])
                rest = b.gep(joined, [own], source_etype=I8)
                b.call(copy, [rest, self._at(found, _ITEMS), b.mul(size, I64(8))])
                b.store(joined, places[0])
                b.store(total, places[1])
        return [b.load(places[0], typ=POINTER), b.load(places[1], typ=I64), places[2]]

    def _put_into(self, kind: str, results: ir.Value) -> None:
        """Return a list or tuple of the results."""
        b = self.b
        whole = b.call(self._function(f"Py{kind}_New", POINTER, [I64]), [I64(len(self.outputs))])
        put = self._function(f"Py{kind}_SetItem", I32, [POINTER, I64, POINTER])
        for k in range(len(self.outputs)):
            b.call(put, [whole, I64(k), self._field(results, 8 * k, POINTER)])
        b.ret(whole)

    # ------------------------------------------------------------------------------------------------------ building

    def _stack(self, type: ir.Type, count: int) -> ir.Value:
        place = self.top.alloca(type, size=I32(count))
        place.type = POINTER
        place.align = 16
        return place

    def _at(self, pointer: ir.Value, offset: int) -> ir.Value:
        return self.b.gep(pointer, [I64(offset)], source_etype=I8)

    def _field(self, pointer: ir.Value, offset: int, type: ir.Type) -> ir.Value:
        return self.b.load(self._at(pointer, offset), typ=type)

    def _object(self, name: str) -> ir.Value:
        """A Python object, by a symbol at its address (`symbols.py`)."""
        found = self.module.globals.get(name)
        if found is None:
            found = ir.GlobalVariable(self.module, I8, name)
            found.type = POINTER
        return found

    def _dtype(self, type: Type) -> ir.Value:
        """NumPy's own object for a dtype."""
        return self._object(f"wg_dtype_{type.dtype.char}")

    def _function(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        """A function from outside: of Python's C API, of NumPy's, or of the C library."""
        found = self.module.globals.get(name)
        return ir.Function(self.module, ir.FunctionType(result, arguments), name) if found is None else found

    def _expect(self, condition: ir.Value) -> None:
        """Go the plain way unless the condition holds."""
        following = self.function.append_basic_block("next")
        self.b.cbranch(condition, following, self.slow).set_weights([1000, 1])
        self.b.position_at_end(following)

    def _is(self, pointer: ir.Value, name: str) -> ir.Value:
        return self.b.icmp_unsigned("==", pointer, self._object(name))

    # ----------------------------------------------------------------------------------------------------- arguments

    def _array(self, argument: ir.Value, type: Type) -> list[ir.Value]:
        """Data, and lengths where they are not known."""
        b = self.b
        self._expect(self._is(self._field(argument, _TYPE, POINTER), "wg_type_ndarray"))
        self._expect(b.icmp_unsigned("==", self._field(argument, _DESCR, POINTER), self._dtype(type)))
        flags = b.and_(self._field(argument, _FLAGS, I32), I32(_GOOD))
        right = b.icmp_signed("==", flags, I32(_GOOD))
        self._expect(b.and_(right, b.icmp_signed("==", self._field(argument, _NDIM, I32), I32(type.ndim))))
        lengths = self._field(argument, _LENGTHS, POINTER)
        found = []
        for k, n in enumerate(type.shape):
            length = self._field(lengths, 8 * k, I64)
            if not isinstance(n, Dyn):
                self._expect(b.icmp_signed("==", length, I64(n)))
                continue
            found.append(length)
            if n.bound is not None:
                self._expect(b.icmp_signed("<=", length, I64(n.bound)))
        return [self._field(argument, _DATA, POINTER), *found]

    def _fits(self) -> ir.Function:
        """`fits(argument, dtype, ndim, shape)`: not zero for such an array. It is shorter than to write it for each."""
        found = self.module.globals.get("fits")
        if found is not None:
            return found
        function = ir.Function(self.module, ir.FunctionType(I32, [POINTER, POINTER, I32, POINTER]), "fits")
        function.linkage = "internal"
        argument, dtype, ndim, shape = function.args
        outer, b = (self.b, self.function, self.slow), ir.IRBuilder(function.append_basic_block("start"))
        self.b, self.function, self.slow = b, function, function.append_basic_block("no")
        self._expect(self._is(self._field(argument, _TYPE, POINTER), "wg_type_ndarray"))
        self._expect(b.icmp_unsigned("==", self._field(argument, _DESCR, POINTER), dtype))
        flags = b.and_(self._field(argument, _FLAGS, I32), I32(_GOOD))
        right = b.icmp_signed("==", flags, I32(_GOOD))
        self._expect(b.and_(right, b.icmp_signed("==", self._field(argument, _NDIM, I32), ndim)))
        lengths, head, count = self._field(argument, _LENGTHS, POINTER), b.block, b.zext(ndim, I64)
        loop, yes = function.append_basic_block("loop"), function.append_basic_block("yes")
        b.branch(loop)
        b.position_at_end(loop)
        k = b.phi(I64)
        k.add_incoming(I64(0), head)
        wanted, there = [b.load(b.gep(p, [k], source_etype=I64), typ=I64) for p in (shape, lengths)]
        self._expect(b.icmp_signed("==", wanted, there))
        k.add_incoming(following := b.add(k, I64(1), flags=("nuw", "nsw")), b.block)
        b.cbranch(b.icmp_signed("<", following, count), loop, yes).set_metadata("llvm.loop", rare(self.module))
        b.position_at_end(yes)
        b.ret(I32(1))
        b.position_at_end(self.slow)
        b.ret(I32(0))
        self.b, self.function, self.slow = outer
        return function

    def _scalar(self, argument: ir.Value, type: Type) -> ir.Value:
        """Where a scalar's value lies."""
        kind, b = type.dtype.kind, self.b
        own = self._field(argument, _TYPE, POINTER)
        right = self._is(own, f"wg_type_{type.dtype.type.__name__}")
        place = self._at(argument, _VALUE)
        if type.dtype.char == "d":
            right = b.or_(right, self._is(own, "wg_type_python_float"))
        elif type.dtype.char == "D":
            right = b.or_(right, self._is(own, "wg_type_python_complex"))
        elif kind == "b" or (kind == "i" and type.dtype.itemsize == 8):
            return self._python_integer(argument, own, right, kind)
        self._expect(right)
        return place

    def _python_integer(self, argument: ir.Value, own: ir.Value, right: ir.Value, kind: str) -> ir.Value:
        """A NumPy int64 or bool, or the int or bool that stands for it."""
        b = self.b
        value = self._stack(I64, 1)
        numpys = self.function.append_basic_block("numpy")
        pythons = self.function.append_basic_block("python")
        after = self.function.append_basic_block("after")
        b.cbranch(right, numpys, pythons)
        b.position_at_end(numpys)
        loaded = self._field(argument, _VALUE, I64 if kind == "i" else I8)
        b.store(loaded, value)
        b.branch(after)
        b.position_at_end(pythons)
        if kind == "b":
            yes = self._is(argument, "wg_true")
            self._expect(b.or_(yes, self._is(argument, "wg_false")))
            b.store(b.zext(yes, I8), value)
        else:
            self._expect(self._is(own, "wg_type_python_int"))
            overflow = self._stack(I32, 1)
            read = self._function("PyLong_AsLongLongAndOverflow", I64, [POINTER, POINTER])
            b.store(b.call(read, [argument, overflow]), value)
            self._expect(b.icmp_signed("==", b.load(overflow, typ=I32), I32(0)))
        b.branch(after)
        b.position_at_end(after)
        return value

    # ------------------------------------------------------------------------------------------------------- results

    def _room(self, type: Type, made: list) -> tuple[Type, ir.Value | None, ir.Value]:
        """The array of a result and where its data are; for others a place on the stack."""
        b = self.b
        if not type.is_static:
            words = self._stack(I64, 1 + type.ndim)
            b.store(POINTER(None), words)
            return type, None, words
        if not type.ndim:
            return type, None, self._stack(I64, 2)
        lengths = self._stack(I64, type.ndim)
        for k, n in enumerate(type.shape):
            b.store(I64(n), self._at(lengths, 8 * k))
        array = self._new_array(type, lengths, lambda: b.branch(self._unwinding(made)))
        return type, array, self._field(array, _DATA, POINTER)

    def _unwinding(self, made: list) -> ir.Block:
        """The block that drops what was made so far and raises. Each drops one array and goes on to the one before it:
        n results take n blocks, not n²/2 calls."""
        while len(self.unwinding) <= len(made):
            block = self.function.append_basic_block("unwind")
            with self.b.goto_block(block):
                if self.unwinding:
                    self._drop(made[len(self.unwinding) - 1 : len(self.unwinding)])
                    self.b.branch(self.unwinding[-1])
                else:
                    self._drop_table()
                    self.b.ret(I32(_RAISED))
            self.unwinding.append(block)
        return self.unwinding[-1]

    def _new_array(self, type: Type, lengths: ir.Value, on_failure: Callable[[], None]) -> ir.Value:
        b = self.b
        array = self._called_new(b, I32(type.dtype.num), I32(type.ndim), lengths)
        with b.if_then(b.icmp_unsigned("==", array, POINTER(None)), likely=False):
            on_failure()
        return array

    def _called_new(self, b: ir.IRBuilder, num: ir.Value, ndim: ir.Value, lengths: ir.Value) -> ir.Value:
        new = self._function(
            "wg_PyArray_New", POINTER, [POINTER, I32, POINTER, I32, POINTER, POINTER, I32, I32, POINTER]
        )
        null = POINTER(None)
        return b.call(new, [self._object("wg_type_ndarray"), ndim, lengths, num, null, null, I32(0), I32(0), null])

    def _kernel(self, values: list[ir.Value]) -> ir.Value:
        b = self.b
        if not self.releases_gil:
            return b.call(self.kernel, values)
        state = b.call(self._function("PyEval_SaveThread", POINTER, []), [])
        status = b.call(self.kernel, values)
        b.call(self._function("PyEval_RestoreThread", VOID, [POINTER]), [state])
        return status

    def _drop(self, made: list) -> None:
        for type, array, place in made:
            if array is not None:
                self.b.call(self._function("Py_DecRef", VOID, [POINTER]), [array])
            elif not type.is_static:
                free = self._function("free", VOID, [POINTER])
                self.b.call(free, [self.b.load(place, typ=POINTER)])

    def _drop_table(self) -> None:
        if self.made.numbers:
            self.b.call(self.drop_all, [self.results, self.made.count])

    def _failed(self, status: ir.Value, made: list) -> None:
        b = self.b
        b.store(b.zext(status, I64), self.record)
        self._drop(made)
        self._drop_table()
        address = b.call(self._function("PyLong_FromVoidPtr", POINTER, [POINTER]), [self.record])
        call = self._function("PyObject_CallOneArg", POINTER, [POINTER, POINTER])
        b.call(call, [self._object("wg_fail"), address])
        b.call(self._function("Py_DecRef", VOID, [POINTER]), [address])
        b.ret(I32(_RAISED))

    def _results(self, made: list) -> None:
        b = self.b
        others = [k for k in range(len(self.outputs)) if k not in self.made.rows]
        for done, (k, (type, array, place)) in enumerate(zip(others, made, strict=True)):
            if array is None and not type.ndim:
                new = self._function("wg_PyArray_Scalar", POINTER, [POINTER, POINTER, POINTER])
                array = b.call(new, [place, self._dtype(type), POINTER(None)])
            elif array is None:
                array = self._received(type, place, lambda done=done: self._drop_rest(others, made, done))  # type: ignore[misc]
            b.store(array, self._at(self.results, 8 * k))
        b.ret(I32(_DONE))

    def _drop_rest(self, others: list[int], made: list, done: int) -> None:
        """Drop the results that are there already, and what the others were to be made of."""
        for k in others[:done]:
            self.b.call(self._function("Py_DecRef", VOID, [POINTER]), [self._field(self.results, 8 * k, POINTER)])
        self._drop(made[done:])
        self._drop_table()
        self.b.ret(I32(_RAISED))

    def _received(self, type: Type, words: ir.Value, on_failure: Callable[[], None]) -> ir.Value:
        """A result whose lengths the kernel found: its memory becomes an array's."""
        b = self.b
        lengths = self._stack(I64, type.ndim)
        place = 1
        nbytes: ir.Value = I64(type.dtype.itemsize)
        for k, n in enumerate(type.shape):
            length: ir.Value = I64(n) if isinstance(n, int) else self._field(words, 8 * place, I64)
            place += not isinstance(n, int)
            b.store(length, self._at(lengths, 8 * k))
            nbytes = b.mul(nbytes, length)
        array = self._new_array(type, lengths, on_failure)
        memory = b.load(words, typ=POINTER)
        copy = self._function("memcpy", POINTER, [POINTER, POINTER, I64])
        b.call(copy, [self._field(array, _DATA, POINTER), memory, nbytes])
        b.call(self._function("free", VOID, [POINTER]), [memory])
        b.store(POINTER(None), words)
        return array


def _data(b: ir.IRBuilder, array: ir.Value) -> ir.Value:
    """Where the elements of an array lie."""
    return b.load(b.gep(array, [I64(_DATA)], source_etype=I8), typ=POINTER)


def python_function(address: int, name: str, keeper: Any) -> Any:
    """The native function `enter` at an address as a builtin function of Python. It keeps `keeper` alive.

    `keeper` must have a list `methods`, to which this adds: CPython needs them for as long as the function lives.
    """
    return _builtin(address, name, _METH_FASTCALL, keeper, keeper)


def direct_function(
    address: int, name: str, keeper: Any, otherwise: Callable, argument: int, more: Callable[[], tuple | None] | None
) -> Any:
    """The native function `direct`.

    It calls `otherwise` where things are not as usual; if the program has no results, it gives back the argument with
    some number. `more` gives a tuple of arguments that are added to those of the call, or None where things are not as
    usual.
    """
    return _builtin(address, name, _METH_FASTCALL | _METH_KEYWORDS, keeper, (otherwise, argument, more))


def _builtin(address: int, name: str, flags: int, keeper: Any, first: Any) -> Any:
    method = _Method(name.encode(), address, flags, None)
    keeper.methods.append(method)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(method), first, keeper)
