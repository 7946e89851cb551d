"""What stands for a user's compiled function: a builtin function that takes any call apart by recipes.

A kernel's own entry (`entry.py`) takes arrays and numbers, one after the other. People call functions with dicts, lists
and tuples of arrays, with names, with further things that only choose the program. `recipe.py` says in words (numbers
and addresses) how the call that was compiled looked, and how its result is put together. Here is the function that
reads them, the same for all programs:

    dispatch(site, args, count, names)
        for each way of the site:              # one for each program and form of call that came up
            the numbers of arguments and their names are those of the recipe, or it is not this way
            the steps of the recipe take containers apart, down to the leaves, or it is not this way
            arrays from outside are fetched, and guards asked          (a call of Python, if there are any)
            take(leaves, results)                                      (`entry.py`: looks at types, runs the kernel)
            the other steps make the containers of the result
        if it is none of these: call Python, with all that was given

Whatever it finds in a container it holds on to, since other threads may empty the container meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llvmlite import ir

from wengert.backend.llvm.arrays.buffer import I32, I64, POINTER, VOID
from wengert.backend.llvm.calls.objects import (
    BYTES,
    DESCR,
    DONE,
    FLAGS,
    GOOD,
    LENGTHS,
    LIST_ITEMS,
    NDIM,
    RAISED,
    SIZE,
    STRIDES,
    TUPLE_ITEMS,
    TYPE,
    UNUSUAL,
    ObjectWriter,
)
from wengert.backend.llvm.calls.recipe import C_ORDER, THESE_STRIDES, CallWay, Make, RecipeStep
from wengert.backend.llvm.machine.hints import finished, rare

_TAKE = ir.FunctionType(I32, [POINTER, I64, POINTER])
_EQUAL = 2
"""Py_EQ."""


def dispatcher() -> str:
    """The module that has `dispatch`."""
    return _Dispatcher().text()


class _Dispatcher(ObjectWriter):
    def __init__(self) -> None:
        super().__init__(ir.Module("dispatch"))

    def text(self) -> str:
        self.same = self._same()
        self.walk = self._walk()
        self.in_order = self._in_order()
        self.built = self._built()
        self.run = self._run()
        self._dispatch(self._attempt())
        return finished(str(self.module))

    # ------------------------------------------------------------------------------------------------------ building

    @contextmanager
    def loop(self, count: ir.Value) -> Iterator[ir.Value]:
        """A loop; gives the number of the iteration."""
        b, place = self.b, self.stack(I64, 1)
        b.store(I64(0), place)
        head, body, end = [self.function.append_basic_block(n) for n in ("head", "body", "end")]
        b.branch(head)
        b.position_at_end(head)
        k = b.load(place, typ=I64)
        b.cbranch(b.icmp_signed("<", k, count), body, end)
        b.position_at_end(body)
        yield k
        b.store(b.add(k, I64(1)), place)
        b.branch(head).set_metadata("llvm.loop", rare(self.module))
        b.position_at_end(end)

    def word(self, words: ir.Value, k: int, type: ir.Type = I64) -> ir.Value:
        return self.field(words, 8 * k, type)

    def item(self, array: ir.Value, k: ir.Value) -> ir.Value:
        return self.b.gep(array, [k], source_etype=POINTER)

    def get(self, array: ir.Value, k: ir.Value) -> ir.Value:
        return self.b.load(self.item(array, k), typ=POINTER)

    def room(self, count: ir.Value) -> ir.Value:
        """Memory for so many addresses, on the stack: `recipe.py` sees to it that there are not too many."""
        place = self.b.alloca(POINTER, size=self.b.add(count, I64(1)))
        place.type = POINTER
        place.align = 8
        return place

    def advance(self, place: ir.Value, by: ir.Value) -> ir.Value:
        """Count up; gives the number before."""
        before = self.b.load(place, typ=I64)
        self.b.store(self.b.add(before, by), place)
        return before

    def null(self, pointer: ir.Value) -> ir.Value:
        return self.b.icmp_unsigned("==", pointer, POINTER(None))

    def cases(self, number: ir.Value, cases: dict[int, Callable[[], None]]) -> None:
        """Do what belongs to a number, then go on."""
        b = self.b
        after = self.function.append_basic_block("after")
        switch = b.switch(number, self.slow)
        for value, write in cases.items():
            block = self.function.append_basic_block("case")
            switch.add_case(I64(value), block)
            b.position_at_end(block)
            write()
            b.branch(after)
        b.position_at_end(after)

    # ---------------------------------------------------------------------------------------------------- taking apart

    def _same(self) -> ir.Function:
        """`same(found, wanted)`: whether they are one object, or equal texts or integers."""
        function = self.begin("same", I32, [POINTER, POINTER])
        found, wanted = function.args
        b = self.b
        with b.if_then(b.icmp_unsigned("==", found, wanted), likely=True):
            b.ret(I32(1))
        own = self.field(found, TYPE, POINTER)
        self.expect(b.icmp_unsigned("==", own, self.field(wanted, TYPE, POINTER)))
        self.expect(b.or_(self.is_(own, "wg_type_python_str"), self.is_(own, "wg_type_python_int")))
        compare = self.external("PyObject_RichCompareBool", I32, [POINTER, POINTER, I32])
        b.ret(b.call(compare, [found, wanted, I32(_EQUAL)]))
        b.position_at_end(self.slow)
        b.ret(I32(0))
        return function

    def is_same(self, found: ir.Value, wanted: ir.Value) -> ir.Value:
        return self.b.icmp_signed("==", self.b.call(self.same, [found, wanted]), I32(1))

    def _walk(self) -> ir.Function:
        """`walk(steps, count, slots, place, leaves)`: not zero if the arguments are as the steps say.

        `slots` has the arguments, and gets what is found in them; `place` has the number of slots in use.
        """
        function = self.begin("walk", I32, [POINTER, I64, POINTER, POINTER, POINTER])
        steps, count, slots, place, leaves = function.args
        b = self.b
        at, key, value = self.stack(I64, 1), self.stack(POINTER, 1), self.stack(POINTER, 1)

        def push(thing: ir.Value) -> None:
            self.keep(thing)
            b.store(thing, self.item(slots, self.advance(place, I64(1))))

        def push_all(items: ir.Value) -> None:
            self.expect(b.icmp_signed("==", self.field(thing, SIZE, I64), n))
            with self.loop(n) as j:
                push(self.get(items, j))

        def is_of(own: ir.Value) -> None:
            self.expect(b.icmp_unsigned("==", self.field(thing, TYPE, POINTER), own))

        def of_tuple() -> None:
            is_of(a)
            push_all(self.at(thing, TUPLE_ITEMS))

        def of_list() -> None:
            is_of(a)
            push_all(self.field(thing, LIST_ITEMS, POINTER))

        def of_dict() -> None:
            is_of(self.object("wg_type_python_dict"))
            self.expect(b.icmp_signed("==", self.field(thing, SIZE, I64), n))
            b.store(I64(0), at)
            following = self.external("PyDict_Next", I32, [POINTER, POINTER, POINTER, POINTER])
            with self.loop(n) as j:
                self.expect(b.icmp_signed("!=", b.call(following, [thing, at, key, value]), I32(0)))
                self.expect(self.is_same(b.load(key, typ=POINTER), self.get(a, j)))
                push(b.load(value, typ=POINTER))

        def attribute() -> None:
            found = b.call(self.external("PyObject_GetAttr", POINTER, [POINTER, POINTER]), [thing, a])
            with b.if_then(self.null(found), likely=False):
                b.call(self.external("PyErr_Clear", VOID, []), [])
                b.branch(self.slow)
            b.store(found, self.item(slots, self.advance(place, I64(1))))

        def leaf() -> None:
            own = b.inttoptr(n, POINTER)
            free = b.icmp_signed("==", n, I64(0))
            self.expect(b.or_(free, b.icmp_unsigned("==", self.field(thing, TYPE, POINTER), own)))
            b.store(thing, self.item(leaves, b.ptrtoint(a, I64)))

        with self.loop(count) as k:
            step = b.gep(steps, [b.mul(k, I64(RecipeStep.WORDS))], source_etype=I64)
            thing = self.get(slots, self.word(step, 1))
            a, n = self.word(step, 2, POINTER), self.word(step, 3)
            self.cases(
                self.word(step, 0),
                {
                    RecipeStep.LEAF: leaf,
                    RecipeStep.SAME: lambda: self.expect(self.is_same(thing, a)),
                    RecipeStep.TUPLE: of_tuple,
                    RecipeStep.LIST: of_list,
                    RecipeStep.DICT: of_dict,
                    RecipeStep.CLASS: lambda: is_of(a),
                    RecipeStep.ATTRIBUTE: attribute,
                },
            )
        b.ret(I32(1))
        b.position_at_end(self.slow)
        b.ret(I32(0))
        return function

    def _attempt(self) -> ir.Function:
        """`attempt(way, args, count, names, place)`: a call, if it is one for this way. See the statuses."""
        function = self.begin("attempt", I32, [POINTER, POINTER, I64, POINTER, POINTER])
        way, args, count, names, place = function.args
        b = self.b
        self.expect(b.icmp_signed("==", count, self.word(way, CallWay.POSITIONAL)))
        named = self.word(way, CallWay.NAMED)
        with b.if_else(self.null(names)) as (without, with_names):
            with without:
                self.expect(b.icmp_signed("==", named, I64(0)))
            with with_names:
                self.expect(b.icmp_signed("==", self.field(names, SIZE, I64), named))
                with self.loop(named) as k:
                    found = self.get(self.at(names, TUPLE_ITEMS), k)
                    self.expect(self.is_same(found, self.get(self.word(way, CallWay.NAMES, POINTER), k)))
        given, steps = b.add(count, named), self.word(way, CallWay.STEP_COUNT)
        with b.if_then(b.icmp_signed("==", steps, I64(0))):  # the arguments are the leaves
            b.ret(b.call(self.run, [way, args, place]))
        slots, used = self.room(self.word(way, CallWay.SLOTS)), self.stack(I64, 1)
        leaves, status = self.room(self.word(way, CallWay.LEAVES)), self.stack(I32, 1)
        with self.loop(given) as k:
            b.store(self.get(args, k), self.item(slots, k))
        b.store(given, used)
        b.store(I32(UNUSUAL), status)
        good = b.call(self.walk, [self.word(way, CallWay.STEPS, POINTER), steps, slots, used, leaves])
        with b.if_then(b.icmp_signed("!=", good, I32(0)), likely=True):
            b.store(b.call(self.run, [way, leaves, place]), status)
        found = self.item(slots, given)
        with self.loop(b.sub(b.load(used, typ=I64), given)) as k:
            self.drop(self.get(found, k))
        b.ret(b.load(status, typ=I32))
        b.position_at_end(self.slow)
        b.ret(I32(UNUSUAL))
        return function

    # --------------------------------------------------------------------------------------------------------- running

    def _run(self) -> ir.Function:
        """`run(way, leaves, place)`: the call of a kernel with the leaves of arguments, and the result it gives."""
        function = self.begin("run", I32, [POINTER, POINTER, POINTER])
        way, leaves, place = function.args
        b = self.b
        count, more = self.word(way, CallWay.LEAVES), self.word(way, CallWay.MORE, POINTER)
        held, inputs, total = self.stack(POINTER, 1), self.stack(POINTER, 1), self.stack(I64, 1)
        b.store(POINTER(None), held)
        b.store(leaves, inputs)
        b.store(count, total)
        with b.if_then(b.not_(self.null(more))):
            found = b.call(self.external("PyObject_CallNoArgs", POINTER, [POINTER]), [more])
            with b.if_then(self.null(found), likely=False):
                b.ret(I32(RAISED))
            with b.if_then(b.not_(self.is_(self.field(found, TYPE, POINTER), "wg_type_python_tuple")), likely=False):
                self.drop(found)
                b.ret(I32(UNUSUAL))
            size = self.field(found, SIZE, I64)
            b.store(found, held)
            with b.if_then(b.icmp_signed(">", size, I64(0))):
                joined = self.room(b.add(count, size))
                with self.loop(count) as k:
                    b.store(self.get(leaves, k), self.item(joined, k))
                rest = self.item(joined, count)
                with self.loop(size) as k:
                    b.store(self.get(self.at(found, TUPLE_ITEMS), k), self.item(rest, k))
                b.store(joined, inputs)
                b.store(b.add(count, size), total)
        results, status = self.room(self.word(way, CallWay.RESULTS)), self.stack(I32, 1)
        take = self.word(way, CallWay.TAKE, POINTER)
        take.type = _TAKE.as_pointer()  # for llvmlite
        given, number = b.load(inputs, typ=POINTER), b.load(total, typ=I64)
        b.store(I32(UNUSUAL), status)
        with b.if_then(b.icmp_signed("==", self.word(way, CallWay.ORDERED), I64(0)), likely=True):
            b.store(b.call(take, [given, number, results]), status)
        types = self.word(way, CallWay.TYPES, POINTER)
        unusual = b.icmp_signed("==", b.load(status, typ=I32), I32(UNUSUAL))
        with b.if_then(b.and_(unusual, b.not_(self.null(types))), likely=False):
            copies = self.room(number)
            good = b.call(self.in_order, [types, given, number, copies])
            with b.if_then(b.icmp_signed("==", good, I32(DONE))):
                b.store(b.call(take, [copies, number, results]), status)
                with self.loop(number) as k:
                    self.drop(self.get(copies, k))
            with b.if_then(b.icmp_signed("==", good, I32(RAISED))):
                b.store(I32(RAISED), status)
        with b.if_then(b.icmp_signed("==", b.load(status, typ=I32), I32(DONE)), likely=True):
            made = b.call(self.built, [way, leaves, results])
            b.store(made, place)
            b.store(b.select(self.null(made), I32(RAISED), I32(DONE)), status)
        with b.if_then(b.not_(self.null(b.load(held, typ=POINTER)))):
            self.drop(b.load(held, typ=POINTER))
        b.ret(b.load(status, typ=I32))
        b.position_at_end(self.slow)
        b.unreachable()
        return function

    def _in_order(self) -> ir.Function:
        """`in_order(types, inputs, count, copies)`: whether all that is wrong is how arrays lie in memory (DONE, and
        there are copies, or the things themselves, to be dropped later), or something else (UNUSUAL).

        `types` says, for each input, which array it has to be, or null (`recipe.py`).
        """
        function = self.begin("in_order", I32, [POINTER, POINTER, I64, POINTER])
        types, inputs, count, copies = function.args
        b, wrong = self.b, self.stack(I64, 1)
        b.store(I64(0), wrong)

        def are_equal(lengths: ir.Value, wanted: ir.Value) -> None:
            with self.loop(rank) as j:
                one, other = [b.load(b.gep(words, [j], source_etype=I64), typ=I64) for words in (lengths, wanted)]
                self.expect(b.icmp_signed("==", one, other))

        with self.loop(count) as k:
            type, thing = self.get(types, k), self.get(inputs, k)
            with b.if_then(b.not_(self.null(type))):
                self.expect(self.is_(self.field(thing, TYPE, POINTER), "wg_type_ndarray"))
                self.expect(b.icmp_unsigned("==", self.field(thing, DESCR, POINTER), self.word(type, 0, POINTER)))
                order, rank = self.word(type, 1), self.word(type, 2)
                self.expect(b.icmp_signed("==", b.zext(self.field(thing, NDIM, I32), I64), rank))
                wanted = self.at(type, 24)
                are_equal(self.field(thing, LENGTHS, POINTER), wanted)
                flags = b.and_(self.field(thing, FLAGS, I32), I32(GOOD))
                is_good = b.icmp_signed("==", flags, I32(GOOD))
                self.expect(b.or_(is_good, b.icmp_signed("!=", order, I64(C_ORDER))))
                with b.if_then(b.icmp_signed("==", order, I64(THESE_STRIDES))):
                    are_equal(self.field(thing, STRIDES, POINTER), b.gep(wanted, [rank], source_etype=I64))
                self.advance(wrong, b.zext(b.not_(is_good), I64))
        self.expect(b.icmp_signed(">", b.load(wrong, typ=I64), I64(0)))
        copy = self.external("wg_PyArray_NewCopy", POINTER, [POINTER, I32])
        with self.loop(count) as k:
            type, thing = self.get(types, k), self.get(inputs, k)
            bad = self.stack(I32, 1)
            b.store(I32(0), bad)
            with b.if_then(b.not_(self.null(type))):
                flags = b.and_(self.field(thing, FLAGS, I32), I32(GOOD))
                b.store(b.zext(b.icmp_signed("!=", flags, I32(GOOD)), I32), bad)
            with b.if_else(b.icmp_signed("!=", b.load(bad, typ=I32), I32(0))) as (copied, itself):
                with copied:
                    new = b.call(copy, [thing, I32(0)])
                    with b.if_then(self.null(new), likely=False):
                        with self.loop(k) as j:
                            self.drop(self.get(copies, j))
                        b.ret(I32(RAISED))
                    b.store(new, self.item(copies, k))
                with itself:
                    self.keep(thing)
                    b.store(thing, self.item(copies, k))
        b.ret(I32(DONE))
        b.position_at_end(self.slow)
        b.ret(I32(UNUSUAL))
        return function

    # ------------------------------------------------------------------------------------------------ putting together

    def _built(self) -> ir.Function:
        """`built(way, leaves, results)`: what the function returns; it takes the references to the results."""
        function = self.begin("built", POINTER, [POINTER, POINTER, POINTER])
        way, leaves, results = function.args
        b = self.b
        count = self.word(way, CallWay.MAKE_COUNT)
        with b.if_then(b.icmp_signed("==", count, I64(0))):  # the only result
            b.ret(b.load(results, typ=POINTER))
        makes, height = self.word(way, CallWay.MAKES, POINTER), self.stack(I64, 1)
        stack = self.room(count)
        b.store(I64(0), height)

        def push(thing: ir.Value) -> None:
            b.store(thing, self.item(stack, self.advance(height, I64(1))))

        def push_kept(thing: ir.Value) -> None:
            self.keep(thing)
            push(thing)

        def filled(kind: str) -> ir.Value:
            whole = b.call(self.external(f"Py{kind}_New", POINTER, [I64]), [n])
            self.expect(b.not_(self.null(whole)))
            put = self.external(f"Py{kind}_SetItem", I32, [POINTER, I64, POINTER])
            with self.loop(n) as j:
                b.call(put, [whole, j, self.get(items(), j)])
            return whole

        def items() -> ir.Value:
            return self.item(stack, b.sub(b.load(height, typ=I64), n))

        def push_whole(whole: ir.Value) -> None:
            self.advance(height, b.neg(n))
            push(whole)

        def of_dict() -> None:
            whole = b.call(self.external("PyDict_New", POINTER, []), [])
            self.expect(b.not_(self.null(whole)))
            put = self.external("PyDict_SetItem", I32, [POINTER, POINTER, POINTER])
            with self.loop(n) as j:
                value = self.get(items(), j)
                failed = b.call(put, [whole, self.get(a, j), value])
                self.drop(value)
                self.expect(b.icmp_signed("==", failed, I32(0)))
            push_whole(whole)

        def called() -> None:
            call = self.external("PyObject_Vectorcall", POINTER, [POINTER, POINTER, I64, POINTER])
            whole = b.call(call, [a, items(), n, POINTER(None)])
            with self.loop(n) as j:
                self.drop(self.get(items(), j))
            self.expect(b.not_(self.null(whole)))
            push_whole(whole)

        with self.loop(count) as k:
            make = b.gep(makes, [b.mul(k, I64(Make.WORDS))], source_etype=I64)
            a, n = self.word(make, 1, POINTER), self.word(make, 2)
            self.cases(
                self.word(make, 0),
                {
                    Make.RESULT: lambda: push(self.get(results, n)),
                    Make.LEAF: lambda: push_kept(self.get(leaves, n)),
                    Make.CONSTANT: lambda: push_kept(a),
                    Make.TUPLE: lambda: push_whole(filled("Tuple")),
                    Make.LIST: lambda: push_whole(filled("List")),
                    Make.DICT: of_dict,
                    Make.CALL: called,
                },
            )
        b.ret(b.load(stack, typ=POINTER))
        b.position_at_end(self.slow)  # there is no memory, or what was called has raised: what is on the stack is lost
        b.ret(POINTER(None))
        return function

    # ------------------------------------------------------------------------------------------------------------- all

    def _dispatch(self, attempt: ir.Function) -> None:
        function = self.begin("dispatch", POINTER, [POINTER, POINTER, I64, POINTER], is_inner=False)
        site, args, count, names = function.args
        b = self.b
        place = self.stack(POINTER, 1)
        b.store(POINTER(None), place)
        self.expect(b.icmp_signed("==", b.load(self.object("wg_chosen"), typ=I64), I64(0)))
        with self.loop(self.field(site, BYTES + 8, I64)) as k:
            way = self.get(self.at(site, BYTES + 16), k)
            status = b.call(attempt, [way, args, count, names, place])
            with b.if_then(b.icmp_signed("!=", status, I32(UNUSUAL)), likely=True):
                b.ret(b.load(place, typ=POINTER))
        b.branch(self.slow)
        b.position_at_end(self.slow)
        call = self.external("PyObject_Vectorcall", POINTER, [POINTER, POINTER, I64, POINTER])
        b.ret(b.call(call, [self.field(site, BYTES, POINTER), args, count, names]))
